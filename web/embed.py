#!/usr/bin/env python3
"""Bundles the dashboard and writes the C file that holds it.

    embed.py ESBUILD SOURCE_DIR OUTPUT.c DEPFILE

The packed files stand beside OUTPUT.c and are taken in with .incbin; the tags in OUTPUT.c are hashes of their content,
so that it is compiled again whenever they change. No package manager is asked: React comes from Debian's node-react and
node-react-dom.
"""
import gzip
import hashlib
import os
import subprocess
import sys

NODE_PATH = "/usr/share/nodejs"
FILES = [("index.html", "text/html; charset=utf-8"), ("app.css", "text/css; charset=utf-8"),
         ("app.js", "text/javascript; charset=utf-8"), ("icon.svg", "image/svg+xml")]


def bundle(esbuild, source, work):
    """app.js and app.css from main.tsx and style.css."""
    env = dict(os.environ, NODE_PATH=NODE_PATH)
    common = [esbuild, "--bundle", "--minify", "--target=es2021", "--log-level=warning", "--charset=utf8"]
    subprocess.run(common + [os.path.join(source, "main.tsx"), "--format=iife", "--jsx=automatic",
                             '--define:process.env.NODE_ENV="production"', "--legal-comments=none",
                             "--outfile=" + os.path.join(work, "app.js")], env=env, check=True)
    subprocess.run(common + [os.path.join(source, "style.css"), "--outfile=" + os.path.join(work, "app.css")], env=env, check=True)
    for name in ("index.html", "icon.svg"):
        with open(os.path.join(source, name), "rb") as file, open(os.path.join(work, name), "wb") as copy:
            copy.write(file.read())


def c_file(work):
    lines = ["/* Made by web/embed.py. */", '#include "serve/dashboard/files.h"', ""]
    entries = []
    for index, (name, kind) in enumerate(FILES):
        path = os.path.join(work, name)
        with open(path, "rb") as file:
            data = file.read()
        with open(path + ".gz", "wb") as file:
            file.write(gzip.compress(data, 9, mtime=0))
        tag = hashlib.sha256(data).hexdigest()[:16]
        for suffix, symbol in (("", "data"), (".gz", "gzip")):
            label = f"dashboard_{symbol}_{index}"
            lines += [f'__asm__(".section .rodata\\n{label}: .incbin \\"{path}{suffix}\\"\\n{label}_end: .byte 0\\n.text\\n");',
                      f"extern const char {label}[], {label}_end[];"]
        label = f"_{index}"
        entries.append(f'\t{{"{name}", "{kind}", "\\"{tag}\\"", dashboard_data{label}, dashboard_data{label}_end, '
                       f"dashboard_gzip{label}, dashboard_gzip{label}_end}},")
    lines += ["", "const struct dashboard_file dashboard_files[] = {"] + entries + ["};",
              "const size_t dashboard_file_count = sizeof(dashboard_files) / sizeof(dashboard_files[0]);", ""]
    return "\n".join(lines)


def main():
    esbuild, source, output, depfile = sys.argv[1:]
    output = os.path.abspath(output)
    work = output + ".d"
    os.makedirs(work, exist_ok=True)
    bundle(esbuild, os.path.abspath(source), work)
    with open(output, "w", encoding="utf-8") as file:
        file.write(c_file(work))
    inputs = sorted(os.path.join(folder, name) for folder, _, names in os.walk(source) for name in names
                    if name.endswith((".ts", ".tsx", ".css", ".html", ".svg", ".py")))
    with open(depfile, "w", encoding="utf-8") as file:
        file.write(f"{sys.argv[3]}: " + " ".join(inputs) + "\n")


if __name__ == "__main__":
    main()
