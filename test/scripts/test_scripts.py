#!/usr/bin/env python3
"""The scripts that judge everything else: a check that finds nothing, or a runner that counts wrongly, looks like success.

Each case builds a small tree or a list of fake test programs and looks at the exit status and the output.
"""
import json
import os
import re
import shutil
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
    ("a header that stands alone", "check-headers",
     {"src/base/a.h": "#ifndef A_H\n#define A_H\n#include <stddef.h>\nsize_t a(void);\n#endif\n"}, 0, ""),
    ("a header that leans on its includer fails", "check-headers", {"src/base/a.h": "size_t a(void);\n"}, 1, "src/base/a.h:1:"),
    ("a header without a guard fails", "check-headers", {"src/base/a.h": "struct a { int b; };\n"}, 1, "src/base/a.h:1:"),
    ("ordinary text passes", "check-words", {"src/base/a.c": "/* a/work/b and todos */\n", "README.md": "text\n"}, 0, ""),
    ("an unfinished mark in a source fails", "check-words", {"src/base/a.c": "\n/* TO" + "DO later */\n"}, 1, "src/base/a.c:2:"),
    ("a path of a machine fails anywhere", "check-words", {"docs/a.md": "see /wor" + "k/notes\n"}, 1, "docs/a.md:1:"),
    ("files that are compiled", "check-layers",
     {"src/meson.build": "subdir('base')\n", "src/base/meson.build": "files('a.c', 'b/c.c')\n", "src/base/a.c": "",
      "src/base/b/c.c": ""}, 0, ""),
    ("an action is compiled by its row in the table of actions, and no other file", "check-layers",
     {"src/meson.build": "subdir('engine')\n", "src/engine/meson.build": "files()\n",
      "src/engine/cycle/actions.h": "#define CYCLE_ACTIONS(ROW) \\\n\tROW(REST, rest, \"rest\", \"rests\")\n",
      "src/engine/cycle/rest.c": "", "src/engine/evict/sleep.c": ""},
     1, "src/engine/evict/sleep.c:1: no meson.build"),
    ("a file that nobody compiles fails", "check-layers",
     {"src/meson.build": "subdir('base')\n", "src/base/meson.build": "files('a.c')\n", "src/base/a.c": "", "src/base/b.c": ""},
     1, "src/base/b.c:1: no meson.build"),
    ("a host in a script fails", "check-words", {"scripts/a": "curl http:" + "//example.com\n"}, 1, "scripts/a:1:"),
]

# name, file below src, its text, a text that must appear; "" when the file is as it should be
LAYERS = [
    ("the same room and those named for it are allowed", "admit/pod.c",
     '#include "admit/pod.h"\n#include "object/doc.h"\n#include <stdio.h>\n', ""),
    ("an include against the table fails with its line", "engine/place.c",
     '#include "base/arena.h"\n\n#include "loop/writes.h"\n', "src/engine/place.c:3: engine may not include"),
    ("the scheduler does not know who groups", "schedule/a.c", '#include "grouping/grouping.h"\n',
     'schedule may not include "grouping/grouping.h"'),
    ("who groups does not know the scheduler", "grouping/a.c", '#include "schedule/live.h"\n',
     'grouping may not include "schedule/live.h"'),
    ("a folder of a room is that room", "engine/gang/gang.h", '#include "object/doc.h"\n', "engine may not include"),
    ("a space in an include hides nothing", "engine/a.c", ' # include  "cli/cli.h"\n', "engine may not include"),
    ("a header without its folder fails", "base/a.c", '#include "a.h"\n', '"base/a.h"'),
    ("a header by way of the folder above fails", "base/a.c", '#include "../cli/cli.h"\n', "with their folder"),
    ("an include by a macro fails", "base/a.c", "#include HEADER\n", "names its file"),
    ("a new room has to be entered in the table", "extra/a.c", "", "folder extra is missing"),

    ("a private header in its room", "rbg/write.c", '#include "rbg/internal.h"\n', ""),
    ("a private header of another room", "manager/manager.c", '#include "rbg/internal.h"\n', "private to src/rbg"),
    ("a private header with a longer name", "view/why.c", '#include "schedule/live_internal.h"\n', "private to src/schedule"),
    ("a header that only sounds private", "view/why.c", '#include "schedule/liveinternal.h"\n', ""),
    ("a folder of the engine reads what the engine shares", "engine/place/a.c", '#include "engine/cluster/internal.h"\n', ""),
    ("folders of serve keep theirs to themselves", "serve/api/a.c", '#include "serve/http/internal.h"\n',
     "private to src/serve/http"),
    ("and read their own", "serve/http/a.c", '#include "serve/http/internal.h"\n', ""),

    ("a third-party header at home", "base/hash.h", "#include <uthash.h>\n", ""),
    ("uthash has one home", "engine/a.c", "#include <uthash.h>\n", "base/hash.h"),
    ("xxhash has one home", "local/a.c", "#include <xxhash.h>\n", "base/hash.h"),
    ("curl has one home", "remote/client.c", "#include <curl/curl.h>\n", "remote/sockets.h"),
    ("any header of OpenSSL", "local/a.c", "#include <openssl/sha.h>\n", "serve/tls/"),
    ("who compares tokens asks for that", "serve/http/auth.c", "#include <openssl/crypto.h>\n", "belongs to"),
    ("who hides names asks for a digest", "cli/record_hide.c", "#include <openssl/evp.h>\n", "belongs to"),
    ("the connection speaks TLS", "serve/http/io.c", "#include <openssl/ssl.h>\n", ""),
    ("sqlite has one home", "local/write.c", "#include <sqlite3.h>\n", "local/disk.c"),
    ("zlib has one home", "cli/a.c", "#include <zlib.h>\n", "serve/http/gzip.c"),
    ("llhttp has one home", "serve/http/conn.c", "#include <llhttp.h>\n", "serve/http/parse.c"),
    ("yyjson has one home", "object/tree.c", "#include <yyjson.h>\n", "object/doc_internal.h"),
    ("yaml has one home", "object/yaml_write.c", "#include <yaml.h>\n", "object/yaml_read.c"),
    ("cmocka has none", "sim/a.c", "#include <cmocka.h>\n", "does not belong into src"),
    ("a library nobody named has none", "cli/a.c", "#include <ncurses.h>\n", "has no home"),
    ("a header of the system is nobody's", "serve/http/a.c", "#include <sys/epoll.h>\n#include <time.h>\n", ""),

    ("the clock", "engine/a.c", "long a(void)\n{\n\treturn time(NULL);\n}\n", "src/engine/a.c:3: engine is pure: time is the clock"),
    ("the clock with a space", "rollout/a.c", "int a(void)\n{\n\treturn clock_gettime (0, 0);\n}\n", "clock_gettime is the clock"),
    ("the clock of the day", "group/a.c", "int a(void)\n{\n\treturn gettimeofday(0, 0);\n}\n", "gettimeofday is the clock"),
    ("the clock that was handed in", "admit/a.c", "int a(const struct clock_source *c)\n{\n\treturn c->now_ns(c);\n}\n", "now_ns is the clock"),
    ("a function that is handed on", "engine/a.c", "#include \"a.h\"\nstatic long (*const a)(long *) = time;\n", "time is the clock"),
    ("and as an argument", "engine/a.c", "void a(void)\n{\n\tb(1, rand);\n}\n", "rand is chance"),
    ("chance", "engine/a.c", "int a(void)\n{\n\treturn rand();\n}\n", "rand is chance"),
    ("the environment", "admit/a.c", "int a(void)\n{\n\treturn !getenv(\"A\");\n}\n", "getenv is the environment"),
    ("opening a file", "group/a.c", "void *a(void)\n{\n\treturn fopen(\"a\", \"r\");\n}\n", "fopen is input and output"),
    ("reading a descriptor", "rollout/a.c", "long a(void)\n{\n\treturn read(0, 0, 0);\n}\n", "read is input and output"),
    ("writing a descriptor", "engine/a.c", "long a(void)\n{\n\tif (open(\"a\", 0))\n\t\treturn 1;\n\treturn 0;\n}\n", "open is input and output"),
    ("printing", "engine/a.c", "void a(void)\n{\n\tprintf(\"a\");\n}\n", "printf is input and output"),
    ("printing to a stream", "object/a.c", "void a(void)\n{\n\tput(stderr);\n}\n", "stderr is input and output"),
    ("a header for files", "group/a.c", "#include <fcntl.h>\n", "<fcntl.h> is not for it"),
    ("a header for the clock", "engine/a.h", "#include <time.h>\n", "<time.h> is not for it"),
    ("the log", "admit/a.c", '#include "base/log.h"\n', "does not log"),
    ("the log without its header", "group/a.c", "void a(void *l)\n{\n\tlog_write(l, 0);\n}\n", "log_write is the log"),
    ("rooms that are nearly pure", "api/a.c", "int a(void)\n{\n\treturn rand();\n}\n", "rand is chance"),
    ("files of such a room that are not", "base/clock.c", "#include <time.h>\nlong a(void)\n{\n\treturn time(0);\n}\n", ""),
    ("words that only look like it", "engine/a.c",
     "/* time(NULL) and\n * printf(x) */\n// rand()\n#include <stdio.h>\n"
     "static int lifetime(int a)\n{\n\treturn a; /* open(2) */\n}\n"
     "void b(struct c *c, bool (*accept)(int))\n{\n\tint time = lifetime(1);\n\tputs_of(\"read(0) getenv(\\\"A\\\")\");\n"
     "\tc->read(time);\n\tc->ops.write(snprintf(0, 0, \"rand()\"), '(');\n\taccept(1);\n}\n", ""),
    ("a function of the file itself", "rollout/a.c",
     "static int open(int a)\n{\n\treturn a;\n}\nint b(void)\n{\n\treturn open(1);\n}\n", ""),
    ("a format that is checked like printf", "admit/a.h",
     "void a(const char *f, ...) __attribute__((format(printf, 1, 2)));\n", ""),
    ("other rooms may", "serve/a.c", "#include <time.h>\nlong a(void)\n{\n\treturn time(0);\n}\n", ""),

    ("a variable of the file", "engine/a.c", "\nstatic int count;\n", "src/engine/a.c:2: count can change"),
    ("a variable of the program", "loop/a.c", "int count = 1;\n", "count can change"),
    ("a variable of a function", "group/a.c", "int a(void)\n{\n\tif (1) {\n\t\tstatic int calls;\n\t\treturn calls++;\n\t}\n\treturn 0;\n}\n",
     "src/group/a.c:4: calls can change"),
    ("the second of one line", "rollout/a.c", "static int one, *two = 0;\n", "two can change"),
    ("a table of several lines", "engine/a.c",
     "static struct row {\n\tint a;\n} rows[] = {\n\t{1},\n\t{2},\n};\n", "rows can change"),
    ("a pointer to constant text", "admit/a.c", "static const char *name = \"a\";\n", "name can change"),
    ("a table of such pointers", "admit/a.c", "static const char *names[] = {\n\t\"a\",\n\t\"b\",\n};\n", "names can change"),
    ("a pointer to a function", "engine/a.c", "static int (*hook)(int);\n", "hook can change"),
    ("a variable per thread", "engine/a.c", "static _Thread_local int depth;\n", "depth can change"),
    ("a variable in a header", "engine/a.h", "static int count;\n", "count can change"),
    ("a variable behind a function", "engine/a.c", "static int a(void)\n{\n\treturn 1;\n}\nstatic char text[8];\n", "text can change"),
    ("what cannot change, and what is no variable", "engine/a.c",
     "#define STEP(a) \\\n\tstatic int a##_count;\n"
     "struct row {\n\tconst char *name;\n\tint (*use)(int a);\n};\n"
     "enum color { RED, GREEN = 2 };\ntypedef int word;\nextern const int limits[];\n"
     "static const int small = 1, large = 2;\nstatic const char *const names[] = {\n\t\"static int a;\",\n};\n"
     "static const struct row rows[] = {\n\t{\"a\", 0},\n};\nstatic int (*const hooks[2])(int) = {0};\n"
     "static int use(int a, void (*visit)(int b));\nint use_all(const struct row *row,\n            int count);\n"
     "_Static_assert(sizeof(int) == 4, \"a\");\n"
     "static struct row *find(const char *name)\n{\n\tstatic const char *const all[] = {\"x\", \"y\"};\n"
     "\tstatic const struct {\n\t\tint a;\n\t} pairs[] = {{1}, {2}};\n\tint count = 0;\n\tchar *text;\n\treturn 0;\n}\n", ""),
    ("a function that a header declares by its type", "group/a.h", "typedef int visit(int a);\nvisit visit_pod, visit_job;\n", ""),
    ("the name of an API group", "loop/a.c", "const char *const a = \"coordination.k8s.io\";\n", "src/loop/a.c:1: \"coordination.k8s.io\" is spelled"),
    ("one with its version", "local/a.c", "\nconst char *const a = \"apps/v1\";\n", "src/local/a.c:2: \"apps/v1\" is spelled"),
    ("one in a text that is JSON", "local/a.c", "const char *const a = \"{\\\"apiVersion\\\":\\\"apps/v1\\\"}\";\n", "\"apps/v1\" is spelled"),
    ("one behind its resource", "local/a.c", "const char *const a = \"leases.coordination.k8s.io\";\n", "\"leases.coordination.k8s.io\" is spelled"),
    ("the words of a message", "loop/a.c", "int a(const struct problem *p)\n{\n\treturn strstr(p->message, \"conflict\") != NULL;\n}\n",
     "src/loop/a.c:3: messages are for people"),
    ("how a message begins", "loop/a.c", "bool a(const struct problem *p)\n{\n\treturn text_starts_with(p->message, ITS_GROUP);\n}\n",
     "messages are for people"),
    ("what a message of a condition is", "loop/a.c",
     "bool a(const struct val *c)\n{\n\treturn strcmp(val_str(val_get(c, \"message\"), \"\"), \"done\") == 0;\n}\n", "messages are for people"),
    ("whether a message has changed", "loop/a.c",
     "bool a(const struct problem *p, const struct problem *q)\n{\n\treturn strcmp(p->message, q->message) == 0;\n}\n", ""),
    ("names of groups where they may be", "local/a.c",
     "#include \"kinds/names.h\"\n/* \"apps/v1\" */\nconst char *const a = KINDS_APPS, *const b = \"apps\", *const c = \"grove.io/podgang\";\n", ""),
    ("what a signal handler of a command sets", "cli/a.c", "static volatile sig_atomic_t stopped;\n", ""),
]

# A whole program beside a header with one function: who has to call it.
CALLERS = [
    ("a function that nobody calls", "int twice(int a);\n", "#include \"base/a.h\"\nint twice(int a)\n{\n\treturn 2 * a;\n}\n",
     "src/base/a.h:1: nothing in src calls twice"),
    ("one that is only spoken of", "/* As twice. */\nint twice(int a);\n", "int twice(int a)\n{\n\treturn a;\n}\n/* twice() */\n",
     "nothing in src calls twice"),
    ("one that is called", "int twice(int a);\n", "int twice(int a)\n{\n\treturn a;\n}\nint four(void)\n{\n\treturn twice(2);\n}\n", ""),
    ("one that stands in a table", "int twice(int a);\n", "int (*const all[])(int) = {twice};\n", ""),
    ("one that a macro calls", "int *twice(int a);\n#define TWICE(a) twice(a)\n", "", ""),
]

# What a page says that agrees with the table: made by the check itself.
PAGES = [
    ("a page that says what the table says", lambda text: text, 0, ""),
    ("a page that allows more", lambda text: text.replace("| `engine` | x | base |", "| `engine` | x | base, object |"), 1,
     "engine may include 'base', not 'base, object'"),
    ("a page without a room", lambda text: text.replace("| `rbg` |", "| `rgb` |"), 1, "no row for rbg"),
    ("a page with the rooms in another order",
     lambda text: "".join(sorted(text.splitlines(keepends=True))), 1, "not in the order"),
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


def check_layers(path, content, text):
    return check_tree("check-layers", {"src/" + path: content}, 1 if text else 0, text)


def check_callers(header, source, text):
    files = {"src/base/a.h": header, "src/base/a.c": source, "src/cli/main.c": "int main(void)\n{\n\treturn 0;\n}\n"}
    return check_tree("check-layers", files, 1 if text else 0, text)


def check_page(change, status, text):
    """A table of rooms with wrong uses becomes right by --write; then it is changed and looked at again."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "docs"))
        page, script = os.path.join(folder, "docs/architecture.md"), os.path.join(TOP, "scripts/check-layers")
        with open(os.path.join(TOP, "docs/architecture.md"), encoding="utf-8") as file:
            rooms = [line.split("`")[1] for line in file if re.match(r"\| `\w+` \|.*\|.*\|$", line)]
        with open(page, "w", encoding="utf-8") as file:
            file.writelines(f"| `{room}` | x | ? |\n" for room in rooms)
        wrong, written = run([script, folder]), run([script, "--write", folder])
        with open(page, encoding="utf-8") as file:
            content = file.read()
        with open(page, "w", encoding="utf-8") as file:
            file.write(change(content))
        answer = run([script, folder])
    if wrong.returncode == 0 or written.returncode != 0 or answer.returncode != status or text not in answer.stdout:
        return f"exit status {answer.returncode}, expected {status} and '{text}':\n{written.stdout}{answer.stdout}"
    return None


def check_tidy():
    """A file is looked at again when it, a header or the checks changed, in whatever tree, and not otherwise."""
    clean, dirty = "int a(int b);\n", "int a(int c);\n"
    checks = "Checks: '-*,readability-inconsistent-declaration-parameter-name'\nWarningsAsErrors: '*'\n"
    with tempfile.TemporaryDirectory() as folder:
        def look(tree, header, tidy="clang-tidy-14"):
            tree = os.path.join(folder, tree)
            files = {"src/a.h": header, "src/a.c": '#include "a.h"\nint a(int b)\n{\n\treturn b;\n}\n', ".clang-tidy": checks,
                     "build-clang/compile_commands.json": json.dumps(
                         [{"directory": f"{tree}/build-clang", "file": "../src/a.c",
                           "command": "ccache clang-14 -I../src -MD -MQ a.o -MF a.o.d -o a.o -c ../src/a.c"}])}
            for path, content in files.items():
                os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
                with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                    file.write(content)
            os.makedirs(f"{tree}/scripts", exist_ok=True)
            shutil.copy(os.path.join(TOP, "scripts/tidy"), f"{tree}/scripts/tidy")
            fake = os.path.join(folder, "clang-tidy-14")
            with open(fake, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\n[ "$1" = --version ] && exec {real} --version\nexec {tidy} "$@"\n')
            os.chmod(fake, 0o755)
            return run([f"{tree}/scripts/tidy"], env=dict(os.environ, PLATOON_CACHE=f"{folder}/cache",
                                                          PATH=folder + os.pathsep + os.environ["PATH"]))
        real = shutil.which("clang-tidy-14")
        # tree, header, what stands in for clang-tidy, expected exit status
        steps = [("one", dirty, real, 1), ("one", dirty, real, 1), ("one", clean, real, 0), ("one", clean, "false", 0),
                 ("two", clean, "false", 0), ("two", dirty, "true", 0), ("two", clean + "\n", "false", 1)]
        for i, (tree, header, tidy, status) in enumerate(steps):
            answer = look(tree, header, tidy)
            if answer.returncode != status:
                return f"step {i}: exit status {answer.returncode}, expected {status}:\n{answer.stdout}"
    return None


def main():
    cases = [(name, check_run, rest) for name, *rest in RUNS]
    cases += [(name, check_tree, rest) for name, *rest in CHECKS]
    cases += [(f"layers: {name}", check_layers, rest) for name, *rest in LAYERS]
    cases += [(f"callers: {name}", check_callers, rest) for name, *rest in CALLERS]
    cases += [(f"layers: {name}", check_page, rest) for name, *rest in PAGES]
    cases += [("what was clean is not looked at again", check_tidy, [])]
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
