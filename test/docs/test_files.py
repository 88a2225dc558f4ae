#!/usr/bin/env python3
"""docs/architecture.md says what every file of src is for: one row `room/name` for a .c and its .h, and no row without.

    test_files.py ROOT              compares
    test_files.py ROOT --update     takes rows without a file away and adds the missing ones, with what the file says of
                                    itself; read them before you commit
"""
import os
import re
import sys

PAGE = "docs/architecture.md"
ROW = re.compile(r"^\| `([a-z0-9_]+(?:/[a-z0-9_]+)+)` \| (.*) \|$")
HEADING = "## Files\n"


def stems(root):
    """src without endings, sorted."""
    found = set()
    for folder, _, names in os.walk(os.path.join(root, "src")):
        for name in names:
            if name.endswith((".c", ".h")):
                found.add(os.path.relpath(os.path.join(folder, name[:-2]), os.path.join(root, "src")))
    return sorted(found)


def own_words(root, stem):
    """The first sentence of the file about itself."""
    for ending in (".c", ".h"):
        try:
            with open(os.path.join(root, "src", stem + ending), encoding="utf-8") as file:
                comment = re.match(r"/\*(.*?)\*/", file.read(), re.S)
        except OSError:
            continue
        if comment:
            text = " ".join(line.strip().lstrip("*").strip() for line in comment.group(1).splitlines()).strip()
            text = re.sub(r"^Owns ", "", re.split(r"(?<=[a-z)])\.(?: |$)", text)[0])
            text = text.rstrip(".").replace("|", "/")
            return text[0].lower() + text[1:] if re.match(r"[A-Z][a-z]+ ", text) else text
    return ""


def compare(rows, files):
    """Problems of a page with these (name, text) rows when src has these files."""
    names = [name for name, _ in rows]
    problems = [f"no row for {stem}" for stem in files if stem not in names]
    problems += [f"a row for {name}, which is not there" for name in sorted(set(names)) if name not in files]
    problems += [f"{names.count(name)} rows for {name}" for name in sorted(set(names)) if names.count(name) > 1]
    problems += [f"the row for {name} says nothing" for name, text in rows if not text.strip()]
    return problems


def read(root):
    with open(os.path.join(root, PAGE), encoding="utf-8") as file:
        return file.read().splitlines()


def rows_of(lines):
    return [match.groups() for match in map(ROW.match, lines) if match]


def update(root):
    """Rows before HEADING stay where they are; behind it stands a table per room with all that is left."""
    lines = read(root)
    # In the order of the table of rooms.
    rooms = [match.group(1) for match in (re.match(r"\| `(\w+)` \|.*\|.*\|$", line) for line in lines) if match]
    files = sorted(stems(root), key=lambda stem: (rooms.index(stem.split("/")[0]), os.path.dirname(stem), stem))
    at = lines.index(HEADING.strip()) if HEADING.strip() in lines else len(lines)
    end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("## ")), len(lines))
    known = dict(rows_of(lines))
    before = [line for line in lines[:at] if not ROW.match(line) or ROW.match(line).group(1) in files]
    taken = {name for name, _ in rows_of(before + lines[end:])}
    table, room = [HEADING.strip(), "", "What is not named above. A file and its header are one row."], None
    for stem in files:
        if stem in taken:
            continue
        if stem.split("/")[0] != room:
            room = stem.split("/")[0]
            table += ["", f"| file of `{room}` | owns |", "|---|---|"]
        table.append(f"| `{stem}` | {known.get(stem) or own_words(root, stem)} |")
    after = [""] + lines[end:] if end < len(lines) else []
    with open(os.path.join(root, PAGE), "w", encoding="utf-8") as file:
        file.write("\n".join(before + table + after) + "\n")


def check_itself():
    """The comparison finds what it is for."""
    cases = [([("a/b", "x")], ["a/b"], ""), ([], ["a/b"], "no row for a/b"), ([("a/c", "x")], [], "not there"),
             ([("a/b", "x"), ("a/b", "y")], ["a/b"], "2 rows"), ([("a/b", " ")], ["a/b"], "says nothing")]
    return [f"rows {rows} and files {files}: {compare(rows, files)}, expected '{text}'" for rows, files, text in cases
            if (not any(text in problem for problem in compare(rows, files)) if text else compare(rows, files))]


def main():
    root = sys.argv[1]
    if "--update" in sys.argv[2:]:
        update(root)
    problems = check_itself() + compare(rows_of(read(root)), stems(root))
    for problem in problems:
        print(f"{PAGE}: {problem}")
    print(f"{len(stems(root))} files, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
