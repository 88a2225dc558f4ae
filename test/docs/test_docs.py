#!/usr/bin/env python3
"""What the documentation shows is what the program does.

    test_docs.py PLATOON SOURCE_ROOT [--update] [PAGE...]

Checked in README.md, CONTRIBUTING.md and docs:
  - `console` blocks: each line `$ command` is run, what follows must be its output. A line `...` stands for any lines.
    Sentences with reasons ("  - ...") may be worded differently. --update writes the present output into the pages.
  - `yaml` blocks that begin with `# file: NAME` are files that later commands of the page can use.
  - tables with the columns rule, wrong, path, right (docs/validate.md): wrong must be refused at the path, right must
    not.
  - `sh` blocks of pages with a comment `<!-- cluster: SHAPE -->` are run, one after the other, with the kubeconfig of a
    `platoon up` with such nodes.
  - docs/reference is what `platoon help --reference` prints.
  - links between pages, the list of reasons, the files named in the architecture.
The last line is `N passed, M failed`.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PLATOON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
UPDATE = "--update" in sys.argv
ONLY = [word for word in sys.argv[3:] if word != "--update"]
REASON = re.compile(r"^ +- ")
FENCE = re.compile(r"^```(\w*)\s*$")
RESULTS = []


def pages():
    found = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "test/scenarios/README.md"]
    for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in sorted(names) if name.endswith(".md")]
    return [page for page in found if os.path.exists(os.path.join(ROOT, page))]


def read(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read().split("\n")


def report(what, problem):
    RESULTS.append(problem is None)
    if problem is not None:
        print(f"FAIL {what}: {problem}")


def blocks(lines):
    """Fenced blocks as (language, number of the first line inside, number of the closing line)."""
    start = None
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if start is None and fence:
            start, language = number + 1, fence.group(1)
        elif start is not None and line == "```":
            yield language, start, number
            start = None


def make_scratch(folder):
    """A folder in which the commands of a page work as in the source folder, and may leave files."""
    os.mkdir(os.path.join(folder, "build"))
    os.symlink(PLATOON, os.path.join(folder, "build", "platoon"))
    for name in ("examples", "test", "docs"):
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))


CLUSTER = re.compile(r"^<!-- cluster: (\S+) -->$", re.M)


def start_cluster(lines, folder):
    """The cluster a page asks for, ready to be used, or None."""
    wanted = CLUSTER.search("\n".join(lines))
    if not wanted:
        return None
    up = subprocess.Popen([PLATOON, "up", "--in-memory", "--port", "0", "--nodes", wanted.group(1)], cwd=folder,
                          stdout=subprocess.PIPE, text=True)
    for line in up.stdout:
        if "get podgroups" in line:
            break
    return up


def stop_cluster(up):
    if up:
        up.terminate()
        up.wait(timeout=30)
        up.stdout.close()


def check_shell(page, lines, start, end, folder):
    code, got = run("set -euo pipefail\n" + "\n".join(lines[start:end]), folder)
    report(f"{page}:{start}: sh", None if code == 0 else f"exit {code}\n" + "\n".join(got))


def run(command, folder):
    config = os.path.join(folder, ".platoon", "kubeconfig")
    done = subprocess.run(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
                          env=dict(os.environ, LC_ALL="C.UTF-8", KUBECONFIG=config, PATH=f"{folder}/build:{os.environ['PATH']}"))
    return done.returncode, done.stdout.rstrip("\n").split("\n") if done.stdout else []


def alike(wanted, got):
    return wanted == got or bool(REASON.match(wanted) and REASON.match(got))


def matches(wanted, got):
    """Whether the output fits the page: `...` is any number of lines, and so is a run of reasons after its first."""
    if not wanted:
        return not got
    if wanted[0] == "...":
        return any(matches(wanted[1:], got[skip:]) for skip in range(len(got) + 1))
    if not got or not alike(wanted[0], got[0]):
        return False
    if not REASON.match(wanted[0]):
        return matches(wanted[1:], got[1:])
    rest = next((i for i, line in enumerate(wanted) if not REASON.match(line)), len(wanted))
    after = next((i for i, line in enumerate(got) if not REASON.match(line)), len(got))
    return matches(wanted[rest:], got[after:])


def commands(lines):
    """(command, output) of a console block; a line that ends with a backslash goes on in the next."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found and not found[-1][1] and found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0] + "\n" + line
        else:
            found[-1][1].append(line)
    return found


def check_console(page, lines, start, end, folder):
    """Runs one block; returns the block as it should be."""
    fresh = []
    for command, wanted in commands(lines[start:end]):
        code, got = run(command, folder)
        shown = [f"$ {command}"] + got
        problem = None
        if wanted and not matches(wanted, got):
            problem = "the output is\n" + "\n".join(got)
        elif code != 0:
            problem = f"exit {code}\n" + "\n".join(got)
        # What is left out on purpose stays left out.
        keep = not wanted or "..." in wanted or (problem is None and wanted == got)
        fresh += ("\n".join([f"$ {command}"] + wanted) if keep else "\n".join(shown)).split("\n")
        report(f"{page}:{start}: $ {command}", problem)
    return fresh


def check_page(page):
    lines = read(page)
    with tempfile.TemporaryDirectory() as folder:
        make_scratch(folder)
        replaced = []
        up = start_cluster(lines, folder)
        for language, start, end in list(blocks(lines)):
            first = lines[start] if end > start else ""
            if language == "yaml" and first.startswith("# file: "):
                path = os.path.join(folder, first.removeprefix("# file: ").strip())
                with open(path, "w", encoding="utf-8") as file:
                    file.write("\n".join(lines[start:end]) + "\n")
            elif language == "console":
                replaced.append((start, end, check_console(page, lines, start, end, folder)))
            elif language == "sh" and up:
                check_shell(page, lines, start, end, folder)
        stop_cluster(up)
    if UPDATE:
        for start, end, fresh in reversed(replaced):
            lines[start:end] = fresh
        with open(os.path.join(ROOT, page), "w", encoding="utf-8") as file:
            file.write("\n".join(lines))


def check_links(page):
    for number, line in enumerate(read(page), 1):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", line):
            if "://" in target:
                continue
            path = os.path.normpath(os.path.join(ROOT, os.path.dirname(page), target))
            report(f"{page}:{number}", None if os.path.exists(path) else f"the link leads nowhere: {target}")


# Tables of rules


HEADS = {
    "PodGroup": "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {{name: example, namespace: default}}\nspec: {{{}}}\n",
    "Topology": "apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {{name: example}}\nspec: {{{}}}\n",
    "PersistentVolumeClaim": "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: example}}\nspec: {{{}}}\n",
    "Queue": "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: example}}\nspec: {{{}}}\n",
    "Pod": "apiVersion: v1\nkind: Pod\nmetadata: {{name: example, namespace: default}}\nspec: {{{}}}\n",
    "Workloads": "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: example, namespace: default, {}}}\nspec: {{completions: 4, "
                 "parallelism: 4, template: {{spec: {{schedulerName: platoon, restartPolicy: Never, containers: "
                 "[{{name: a, image: i}}]}}}}}}\n",
    "Node": "apiVersion: v1\nkind: Node\nmetadata: {{name: example}}\n{}\n",
    "PriorityClass": "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: example}}\n{}\n",
    "Every object": "{}\n",
}


def judge(text, context, folder):
    with open(os.path.join(folder, "example.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    _, lines = run("build/platoon validate -f context.yaml -f example.yaml" if context else
                   "build/platoon validate -f example.yaml", folder)
    return [line for line in lines if line.startswith("example.yaml")]


def cell(text):
    """The code of a cell without its backticks; \\| is a bar."""
    return text.strip().strip("`").replace("\\|", "|")


def check_row(page, number, kind, cells, folder, context):
    rule, wrong, path, right = cells
    severity = "warning" if rule.strip().startswith("*Warning.*") else "error"
    said = judge(HEADS[kind].format(cell(wrong)), context, folder)
    path = cell(path)
    fits = any(f": {severity}: " in line and f": {path}: " in line for line in said)
    report(f"{page}:{number}: wrong", None if fits else f"no {severity} at {path}: {said}")
    said = judge(HEADS[kind].format(cell(right)), context, folder)
    report(f"{page}:{number}: right", None if not said else f"refused: {said}")


def check_rules(page):
    kind, rows = None, 0
    lines = read(page)
    context = next(("\n".join(lines[start:end]) for language, start, end in blocks(lines)
                    if language == "yaml" and lines[start] == "# file: context.yaml"), None)
    with tempfile.TemporaryDirectory() as folder:
        make_scratch(folder)
        if context:
            with open(os.path.join(folder, "context.yaml"), "w", encoding="utf-8") as file:
                file.write(context)
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                kind = line.strip("# ")
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            if kind in HEADS and len(cells) == 4 and cells[1].strip().startswith("`"):
                check_row(page, number, kind, cells, folder, context)
                rows += 1
    report(f"{page}: rules", None if rows > 30 else f"only {rows} rows of rules")


def check_names():
    """Lists in the pages that must follow the code."""
    source = "\n".join(read("src/engine/explain/reasons.c"))
    codes = set(re.findall(r'\[REASON_\w+\] = "(\w+)"', source))
    section = "\n".join(read("docs/plan.md")).split("\n## Reasons\n")[1].split("\n## ")[0]
    listed = set(re.findall(r"^\| `(\w+)` \|", section, re.M))
    for code in sorted(codes - listed):
        report("docs/plan.md", f"the reason {code} is not explained")
    for code in sorted(listed - codes - {"Rejected"}):
        report("docs/plan.md", f"there is no reason {code}")
    report("docs/plan.md: reasons", None if codes else "no reasons found in src/engine/explain/reasons.c")
    text = "\n".join(read("docs/architecture.md"))
    for name in sorted(os.listdir(os.path.join(ROOT, "src", "engine"))):
        if name.endswith(".c"):
            report("docs/architecture.md", None if f"`{name[:-2]}`" in text else f"src/engine/{name} is not described")


def check_reference():
    """The pages of fields are those that the program would write now, and no field is without a meaning."""
    _, kinds = run("build/platoon help --reference".replace("build/platoon", PLATOON), ROOT)
    folder = os.path.join(ROOT, "docs", "reference")
    wanted = {kind.lower() + ".md" for kind in kinds if kind != "pods"}
    report("docs/reference", None if wanted == set(os.listdir(folder)) else f"has other pages than {sorted(wanted)}")
    for kind in kinds:
        _, text = run(f"{PLATOON} help --reference {kind}", ROOT)
        page = os.path.join(ROOT, "docs", "pods.md") if kind == "pods" else os.path.join(folder, kind.lower() + ".md")
        with open(page, encoding="utf-8") as file:
            same = file.read().rstrip("\n").split("\n") == text
        report(f"docs/reference/{kind.lower()}.md", None if same else "is not current; run scripts/reference")
        if kind in ("actions", "kinds", "pods"):
            continue  # not every kind has something in every column
        silent = [line for line in text if re.search(r"\|\s*\|$", line)]
        report(f"docs/reference/{kind.lower()}.md: meanings", None if not silent else f"nothing is said about {silent}")


def main():
    check_reference()
    for page in pages():
        if ONLY and not any(name in page for name in ONLY):
            continue
        check_page(page)
        check_links(page)
    if os.path.exists(os.path.join(ROOT, "docs", "validate.md")):
        check_rules("docs/validate.md")
    check_names()
    print(f"{sum(RESULTS)} passed, {len(RESULTS) - sum(RESULTS)} failed")
    sys.exit(0 if all(RESULTS) else 1)


if __name__ == "__main__":
    if not shutil.which("bash"):
        sys.exit("bash is needed")
    main()
