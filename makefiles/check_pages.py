#!/usr/bin/env python3
"""Checks what Markdown pages refer to: relative links, sources, options. Fails and names what does not exist.

usage: check_pages.py ROOT [PAGE...]     the pages' paths are relative to ROOT; without any, all README.md below it

A name of a source in backquotes (`grid.cpp`) must be that of a file of the tree. A link to a folder must find a README.md there; a link to a heading (#name) must find it in the page. An option of Shellac in a page, a public header
or an example must be one of those that src/options/README.md lists, or set a parameter of a text in examples/equations
(-equation_lambda). Prints the files that pages link to and that are no pages themselves, one a line.
"""

import glob
import os
import re
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
IMAGE = re.compile(r'<img src="([^"]+)"')
OPTION = re.compile(r"(?<!\w)(-(?:mat_(?:laplace|helmholtz|diffusion|advection_diffusion|stencil|kernelsum)|"
                    r"pc_(?:stencilmg|stencilfft|kernelsum)|burgers|equation|shellac)_\w*[a-z])\b")
SOURCE = re.compile(r"`([\w/]+\.(?:cpp|hpp|c|h|py|sh))`")


def without_code(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors_of(path):
    """Names of the headings of a page, as GitHub and pandoc's gfm reader form them."""
    found = set()
    with open(path, encoding="utf-8") as file:
        for heading in re.findall(r"^#+ +(.*?) *$", re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M), re.M):
            name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            found.add(name)
    return found


def files_of(root):
    """The paths of the tree's files, relative to its root."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith((".", "build", "dist"))]
        found += [os.path.relpath(os.path.join(folder, file), root) for file in files]
    return found


def unknown_options(root, paths):
    """Options that are named somewhere and listed nowhere."""
    page = os.path.join(root, "src/options/README.md")
    if not os.path.isfile(page):
        return []
    with open(page, encoding="utf-8") as file:
        known = set(re.findall(r"^\| `(-\w+)`", file.read(), re.M))
    for path in glob.glob(os.path.join(root, "examples/equations/*.h")):
        with open(path, encoding="utf-8") as file:
            known |= {"-equation_" + name for name in re.findall(r"^parameter\((\w+)", file.read(), re.M)}
    found = []
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            lines = [line for line in file if "deprecated" not in line]
        for option in OPTION.findall("".join(lines)):
            if option not in known:
                found.append(f"{path}: {option}: no such option")
    return sorted(set(found))


def main(root, pages):
    tree = files_of(root)
    files, dead, sources = set(), [], {os.path.basename(path) for path in tree}
    pages = pages or sorted(path for path in tree if os.path.basename(path) == "README.md")
    for page in pages:
        with open(os.path.join(root, page), encoding="utf-8") as file:
            text = file.read()
        if page.startswith("src/"):
            for name in SOURCE.findall(text):
                if os.path.basename(name) not in sources:
                    dead.append(f"{page}: {name}: no such source")
        text = without_code(text)
        for target in LINK.findall(text) + IMAGE.findall(text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, heading = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            full = os.path.join(root, path)
            if os.path.isdir(full):
                path, full = os.path.join(path, "README.md"), os.path.join(full, "README.md")
            if not os.path.isfile(full):
                dead.append(f"{page}: {target}: no such file")
            elif heading and path.endswith(".md") and heading not in anchors_of(full):
                dead.append(f"{page}: {target}: no such heading")
            elif not path.endswith(".md"):
                files.add(path)
    texts = [path for path in tree if re.match(r"(include/.*\.h|examples/.*\.(cpp|hpp|c|py))$", path)]
    dead += unknown_options(root, pages + texts)
    if dead:
        sys.exit("the manual refers to what does not exist:\n" + "\n".join(dead))
    print("\n".join(sorted(files)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
