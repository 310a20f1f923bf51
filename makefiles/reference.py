#!/usr/bin/env python3
"""Converts the docstrings of C headers, in PETSc's format, to one page of Markdown or to manual pages.

usage: reference.py HEADER... > reference.md
       reference.py -man FOLDER HEADER...     writes a manual page for each docstring: FOLDER/man3/NAME.3
       reference.py -check HEADER...          fails, and says what docstrings lack

A docstring stands between /*@ or /*@C and @*/ (functions), /*MC and M*/ (types) or /*E and E*/ (enumerations). Its first
line is `name - summary`; a line `Title:` begins a section; lines that begin with `+`, `.` or `-` in the first column are
the items of a list; `.seealso:` names related pages. The declaration that follows the docstring is shown as it stands.
"""

import os
import re
import sys

DOCSTRING = re.compile(r"/\*(@C?|MC|E|S)\n(.*?)\n(?:@|M|E|S)\*/\n(.*?)(?=\n\n|\n/\*|\Z)", re.S)
SECTION = re.compile(r"^   (\S.*):$")
ITEM = re.compile(r"^([+.-])\s+(.*)$")


def anchor(name):
    return re.sub(r"[^\w-]", "", name.lower())


def linked(text, names):
    """Names in backquotes become links where this page describes them."""

    def link(match):
        name = match.group(1)
        target = name[:-2] if name.endswith("()") else name
        return f"[`{name}`](#{anchor(target)})" if target in names else match.group(0)

    return re.sub(r"`([^`\n]+)`", link, text)


def escaped(text):
    """Options become code, and Markdown's own signs outside code lose their meaning."""
    text = re.sub(r"(?<![\w`])(-[a-z][a-z0-9]*_\w*[a-z0-9])", r"`\1`", text)
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([\\*_<>\[\]#|~^$])", r"\\\1", p) for p in parts)


def options_as_code(head):
    """The head of an item is code: an option, a value, a parameter."""
    return "`" + head.replace("`", "") + "`"


def items_of(lines):
    """Items of a list and the lines that continue them."""
    items = []
    for line in lines:
        match = ITEM.match(line)
        if match:
            items.append(match.group(2))
        elif items:
            items[-1] += " " + line.strip()
    return items


def render_block(lines, names):
    """One paragraph or one list; a paragraph may stand before a list without a blank line between."""
    first = next((i for i, line in enumerate(lines) if ITEM.match(line)), len(lines))
    out = []
    text = " ".join(line.strip() for line in lines[:first])
    if text:
        out += [linked(escaped(text), names), ""]
    rest = lines[first:]
    end = next((i for i, line in enumerate(rest) if line.startswith("   ") and not line.startswith("    ")), len(rest))
    for item in items_of(rest[:end]):
        head, dash, meaning = item.partition(" - ")
        if dash:
            out.append(f"- {options_as_code(head.strip())}: {linked(escaped(meaning.strip()), names)}")
        else:
            out.append(f"- {linked(escaped(item), names)}")
    if rest[:end]:
        out.append("")
    if rest[end:]:
        out += render_block(rest[end:], names)
    return out


def render(name, body, declaration, names):
    head, _, rest = body.partition("\n\n")
    summary = " ".join(head.split()).partition(" - ")[2]
    sections, title, block = [], "", []
    for line in rest.split("\n") + [""]:
        match = SECTION.match(line)
        if line.startswith(".seealso:"):
            sections.append(("See also", [line[len(".seealso:"):]]))
        elif match:
            if block:
                sections.append((title, block))
            title, block = match.group(1), []
        elif line.strip():
            if sections and sections[-1][0] == "See also" and not block:
                sections[-1][1].append(line)
            elif line.startswith("   Level:"):
                sections.append(("Level", [line.partition(":")[2]]))
            else:
                block.append(line)
        elif block:
            sections.append((title, block))
            block = []
    out = [f"### {name}", ""]
    if summary:
        out += [linked(escaped(summary[0].upper() + summary[1:]), names) + ("" if summary.endswith(".") else "."), ""]
    out += ["```c", declaration.replace("PETSC_EXTERN ", "").strip(), "```", ""]
    shown = None
    for title, block in sections:
        if title in ("Level", "See also"):
            shown = None
            text = linked(" ".join(part.strip() for part in block), names)
            out += [f"*{title}*: {text}", ""]
            continue
        if title and title != shown:
            out += [f"#### {title}", ""]
        shown = title
        if not title and len(block) == 1 and block[0].endswith("ollective"):
            out += [f"*{block[0].strip()}*", ""]
            continue
        out += render_block(block, names)
    return out


def roff(text):
    """A line of Markdown, as render() makes it, for man."""
    text = re.sub(r"\\([\\*_<>\[\]#|~^$])", r"\1", text).replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"`([^`]*)`", r"\\fB\1\\fR", re.sub(r"^([.'])", r"\\&\1", text))


def manual_page(name, body, declaration):
    lines = render(name, body, declaration, set())
    summary = lines[2] if not lines[2].startswith("```") else name
    out = [f'.TH {name} 3 "" Shellac', ".SH NAME", f"{name} \\- {roff(summary).rstrip('.')}", ".SH SYNOPSIS", ".nf",
           "#include <shellac.h>", ".sp"]
    in_code = None
    for line in lines[2:] if summary == name else lines[4:]:
        named = re.match(r"\*(Level|See also)\*: (.*)", line)
        item = re.match(r"- `([^`]*)`: (.*)", line)
        if line.startswith("```"):
            in_code = not in_code if in_code is not None else True
            if not in_code:
                out.append(".fi")
        elif in_code:
            out.append(roff(line))
        elif line.startswith("#### "):
            out.append(f".SH {line[5:].upper()}")
        elif named:
            out += [f".SH {named.group(1).upper()}", roff(named.group(2))]
        elif item:
            out += [".TP", f"\\fB{roff(item.group(1))}\\fR", roff(item.group(2))]
        elif line:
            out += [".PP", re.sub(r"^\*(.*)\*$", r"\\fI\1\\fR", roff(line))]
    return "\n".join(out) + "\n"


def docstrings(text):
    """The name, the docstring and the declaration of each."""
    return [(body.strip().split()[0], body.strip("\n"), declaration) for _, body, declaration in DOCSTRING.findall(text)]


def write_manual_pages(folder, paths):
    os.makedirs(os.path.join(folder, "man3"), exist_ok=True)
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for name, body, declaration in docstrings(file.read()):
                with open(os.path.join(folder, "man3", name + ".3"), "w", encoding="utf-8") as page:
                    page.write(manual_page(name, body, declaration))


def faults(kind, name, body, declaration):
    """What a docstring lacks: level, related pages; of a function whether it is collective, its parameters and errors."""
    wanted = {"   Level: ": "a level", ".seealso: ": "related pages"}
    if kind.startswith("@"):
        wanted.update({"ollective\n": "whether it is collective", "   Errors:\n": "its errors"})
    missing = [what for sign, what in wanted.items() if sign not in body + "\n"]
    if kind.startswith("@"):
        match = re.search(re.escape(name) + r"\((.*?)\);", declaration, re.S)
        if not match:
            return missing + ["a declaration that follows it"]
        for parameter in re.sub(r"\(\*(\w+)\)\([^()]*\)", r"\1", match.group(1)).split(","):
            word = re.search(r"(\w+)(?:\[\])?$", parameter.strip()).group(1)
            if word != "void" and not re.search(rf"^[+.-]\s+{word}\s+- ", body, re.M):
                missing.append(f"its parameter {word}")
        for word in re.findall(r"^[+.-]\s+(\w+)\s+- ", parameters_of(body), re.M):
            if not re.search(rf"\b{word}\b", match.group(1)):
                missing.append(f"the parameter {word} in its declaration")
    return missing


def parameters_of(body):
    """The lists of input and output parameters."""
    return "\n".join(re.findall(r"^   (?:Input|Output) Parameters?:\n((?:.+\n)+)", body, re.M))


def check(paths):
    lines = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for kind, body, declaration in DOCSTRING.findall(text):
            name = body.strip().split()[0]
            missing = faults(kind, name, body, declaration)
            if missing:
                lines.append(f"{path}: {name} lacks {', '.join(missing)}")
        for name in re.findall(r"^PETSC_EXTERN PetscErrorCode (\w+)\(", text, re.M):
            if not re.search(rf"^   {name} - ", text, re.M):
                lines.append(f"{path}: {name} has no docstring")
    if lines:
        sys.exit("\n".join(lines))


def main(paths):
    if paths[0] == "-check":
        return check(paths[1:])
    if paths[0] == "-man":
        return write_manual_pages(paths[1], paths[2:])
    found = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        topic = re.search(r"/\*\s*(.*?)\s*\*/\n", text, re.S)
        found.append((path, topic.group(1) if topic else "", docstrings(text)))
    names = {name for _, _, entries in found for name, _, _ in entries}

    out = ["The C interface, made from the headers in `include/shellac`."
           " `#include <shellac.h>` includes them all.", ""]
    for path, topic, entries in found:
        header = path.split("include/")[-1]
        intro = " ".join(line.strip() for line in topic.split("\n")) if entries else ""
        if not entries:
            continue
        out += [f"## {header}", ""]
        if intro and not intro.startswith("@"):
            out += [escaped(intro), ""]
        for name, body, declaration in entries:
            out += render(name, body, declaration, names)
    print("\n".join(out))


if __name__ == "__main__":
    main(sys.argv[1:])
