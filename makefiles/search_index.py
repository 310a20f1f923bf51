#!/usr/bin/env python3
"""Prints the script of the manual's search: an index of the sections of all HTML pages in a folder, and what looks words up.

usage: search_index.py FOLDER > FOLDER/search.js
"""

import html.parser
import json
import pathlib
import sys

SCRIPT = """
const box = document.getElementById("search"), found = document.getElementById("found");
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\\s+/).filter(w => w.length > 1);
  const score = s => {
    const title = s.title.toLowerCase(), text = s.text.toLowerCase();
    if (!words.every(w => title.includes(w) || text.includes(w))) return 0;
    return 1 + words.filter(w => title.includes(w)).length;
  };
  const best = words.length ? sections.map(s => [score(s), s]).filter(p => p[0]).sort((a, b) => b[0] - a[0]).slice(0, 12) : [];
  found.replaceChildren(...best.map(([, s]) => {
    const item = document.createElement("li"), link = document.createElement("a"), page = document.createElement("small");
    link.href = up + s.at, link.textContent = s.title, page.textContent = s.page;
    link.append(page), item.append(link);
    return item;
  }));
});
"""


class Sections(html.parser.HTMLParser):
    """The sections of a page's main part: address, title, text."""

    def __init__(self, address):
        super().__init__()
        self.address, self.sections, self.inside, self.heading = address, [], False, False

    def handle_starttag(self, tag, attributes):
        if tag == "main":
            self.inside = True
        if self.inside and tag in ("h1", "h2", "h3", "h4"):
            anchor = dict(attributes).get("id")
            self.sections.append({"at": self.address + ("#" + anchor if anchor else ""), "title": "", "text": ""})
            self.heading = True

    def handle_endtag(self, tag):
        if tag == "main":
            self.inside = False
        if tag in ("h1", "h2", "h3", "h4"):
            self.heading = False

    def handle_data(self, data):
        if self.inside and self.sections:
            self.sections[-1]["title" if self.heading else "text"] += data


def sections_of(folder):
    for path in sorted(folder.rglob("*.html")):
        parser = Sections(path.relative_to(folder).as_posix())
        parser.feed(path.read_text())
        page = parser.sections[0]["title"] if parser.sections else ""
        for section in parser.sections:
            yield {**section, "page": page, "text": " ".join(section["text"].split())}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("const sections = " + json.dumps(list(sections_of(pathlib.Path(sys.argv[1]))), ensure_ascii=False) + ";" + SCRIPT)
