#!/usr/bin/env python3
"""The scripts that judge everything else: a check that finds nothing, or a runner that counts wrongly, looks like success.

Each case builds a small tree or a list of fake test programs and looks at the exit status and the output.
"""
import json
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# name, what the fake test programs do (shell), expected last line, a text that must appear
RUNS = [
    ("cases of TAP are counted one by one",
     ["echo 1..2; echo 'ok 1 - a'; echo 'ok 2 - b'", "echo 1..1; echo 'ok 1 - c'"], "3 passed, 0 failed", "2 test programs"),
    ("a failed case shows its output",
     ["echo 1..2; echo 'ok 1 - a'; echo 'not ok 2 - b'; echo '# why it failed'; exit 1"],
     "1 passed, 1 failed", "why it failed"),
    ("a failed case counts although the program says 0",
     ["echo 1..1; echo 'not ok 1 - a'"], "0 passed, 1 failed", "FAILED t0"),
    ("several groups in one program add up",
     ["echo 1..1; echo 'ok 1 - a'; echo 1..1; echo 'ok 1 - b'"], "2 passed, 0 failed", ""),
    ("a skipped case is neither, and is named",
     ["echo 1..2; echo 'ok 1 - a'; echo 'not ok 2 # SKIP no network'"], "1 passed, 0 failed", "no network"),
    ("only skipped cases are not a success",
     ["echo 1..1; echo 'not ok 1 # SKIP no network'"], "0 passed, 0 failed", ""),
    ("a program that stops half-way fails",
     ["echo 1..3; echo 'ok 1 - a'"], "1 passed, 1 failed", "announced 3 cases, ran 1"),
    ("a program that is killed half-way fails once",
     ["echo 1..3; echo 'ok 1 - a'; kill -SEGV $$"], "1 passed, 1 failed", "killed by SIGSEGV"),
    ("a bad end after good cases, such as a leak, is a failure",
     ["echo 1..1; echo 'ok 1 - a'; echo leaked >&2; exit 23"], "1 passed, 1 failed", "leaked"),
    ("a plan of no cases is a failure", ["echo 1..0"], "0 passed, 1 failed", "ran no cases"),
    ("a last line with a sum is taken over",
     ["echo running; echo '40 passed, 0 failed'", "echo '1 passed, 2 failed'; exit 1"], "41 passed, 2 failed", "FAILED t1"),
    ("an empty sum is a failure", ["echo '0 passed, 0 failed'"], "0 passed, 1 failed", "ran no cases"),
    ("a good sum with a bad exit status is a failure", ["echo '2 passed, 0 failed'; exit 3"], "2 passed, 1 failed", "exit status 3"),
    ("a silent program is one case by its exit status", ["true", "exit 4"], "1 passed, 1 failed", "exit status 4"),
    ("a program that hangs is stopped", ["sleep 60"], "0 passed, 1 failed", "ran out of time"),
    ("standard input is empty", ["test -z \"$(cat)\""], "1 passed, 0 failed", ""),
    ("a program runs in the build directory, as under meson", ["test -f tests.json"], "1 passed, 0 failed", ""),
    ("no tests at all is a failure", [], "0 passed, 1 failed", "has no tests"),
]

# name, script, files of the tree, expected exit status, a text that must appear
CHECKS = [
    ("the same folder and the ones below are allowed", "check-layers",
     {"src/admit/pod.c": '#include "admit/pod.h"\n#include "object/doc.h"\n#include <stdio.h>\n'}, 0, ""),
    ("an include that points upwards fails with its line", "check-layers",
     {"src/engine/place.c": '#include "base/arena.h"\n\n#include "loop/writes.h"\n'}, 1, "src/engine/place.c:3:"),
    ("the engine does not know documents", "check-layers",
     {"src/engine/gang.h": '#include "object/doc.h"\n'}, 1, "engine may not include"),
    ("the scheduler does not know who groups", "check-layers",
     {"src/schedule/a.c": '#include "grouping/grouping.h"\n'}, 1, 'schedule may not include "grouping/grouping.h"'),
    ("who groups does not know the scheduler", "check-layers",
     {"src/grouping/a.c": '#include "schedule/live.h"\n'}, 1, 'grouping may not include "schedule/live.h"'),
    ("a header without its folder fails", "check-layers", {"src/base/a.c": '#include "a.h"\n'}, 1, '"base/a.h"'),
    ("a new folder has to be entered in the table", "check-layers", {"src/extra/a.c": ""}, 1, "folder extra is missing"),
    ("uthash has one home", "check-layers", {"src/engine/a.c": "#include <uthash.h>\n"}, 1, "src/base/hash.h"),
    ("pure folders do not log", "check-layers", {"src/admit/a.c": '#include "base/log.h"\n'}, 1, "pure"),
    ("a header that stands alone", "check-headers",
     {"src/base/a.h": "#ifndef A_H\n#define A_H\n#include <stddef.h>\nsize_t a(void);\n#endif\n"}, 0, ""),
    ("a header that leans on its includer fails", "check-headers", {"src/base/a.h": "size_t a(void);\n"}, 1, "src/base/a.h:1:"),
    ("a header without a guard fails", "check-headers", {"src/base/a.h": "struct a { int b; };\n"}, 1, "src/base/a.h:1:"),
    ("ordinary text passes", "check-words", {"src/base/a.c": "/* a/work/b and todos */\n", "README.md": "text\n"}, 0, ""),
    ("an unfinished mark in a source fails", "check-words", {"src/base/a.c": "\n/* TO" + "DO later */\n"}, 1, "src/base/a.c:2:"),
    ("a path of a machine fails anywhere", "check-words", {"docs/a.md": "see /wor" + "k/notes\n"}, 1, "docs/a.md:1:"),
    ("a host in a script fails", "check-words", {"scripts/a": "curl http:" + "//example.com\n"}, 1, "scripts/a:1:"),
]


def run(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)


def check_run(programs, last_line, text):
    with tempfile.TemporaryDirectory() as folder:
        # A meson that knows exactly our programs, in front of the real one.
        tests = [{"name": f"t{i}", "cmd": ["sh", "-c", program], "env": {}, "workdir": None, "timeout": 1}
                 for i, program in enumerate(programs)]
        listing = os.path.join(folder, "tests.json")
        with open(listing, "w", encoding="utf-8") as file:
            json.dump(tests, file)
        fake = os.path.join(folder, "meson")
        with open(fake, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ncat '{listing}'\n")
        os.chmod(fake, 0o755)
        answer = run([os.path.join(TOP, "scripts/run-tests"), "--no-build", folder],
                     env=dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"]))
    good = last_line.endswith(" 0 failed") and not last_line.startswith("0 ")
    if not answer.stdout.endswith(f"{last_line}\n") or text not in answer.stdout or (answer.returncode == 0) != good:
        return f"exit status {answer.returncode}, expected the last line '{last_line}' and '{text}':\n{answer.stdout}"
    return None


def check_tree(script, files, status, text):
    with tempfile.TemporaryDirectory() as folder:
        for path, content in files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                file.write(content)
        answer = run([os.path.join(TOP, "scripts", script), folder])
    if answer.returncode != status or text not in answer.stdout:
        return f"exit status {answer.returncode}, expected {status} and '{text}':\n{answer.stdout}"
    return None


def check_results():
    """Steps that ran before are part of the sum."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("passed one\nfailed two\n")
        file.flush()
        answer = run([os.path.join(TOP, "scripts/run-tests"), "--no-build", "--results", file.name, "no-such-folder"])
    if not answer.stdout.endswith("1 passed, 2 failed\n") or "FAILED two" not in answer.stdout or answer.returncode == 0:
        return answer.stdout
    return None


def main():
    cases = [(name, check_run, rest) for name, *rest in RUNS]
    cases += [(name, check_tree, rest) for name, *rest in CHECKS]
    cases += [("earlier steps are added, a folder that is none fails", check_results, [])]
    failed = 0
    for name, check, arguments in cases:
        problem = check(*arguments)
        if problem:
            failed += 1
            print(f"{name}: {problem}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
