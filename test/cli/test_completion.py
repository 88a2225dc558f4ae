#!/usr/bin/env python3
"""Completion in real shells, Platoon as a plugin of kubectl, and manual pages that say what the help says.

    test_completion.py PLATOON SOURCE_ROOT [NAME...]

The last line is `N passed, M failed`.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from runner import run_tests, test  # noqa: E402
from screen import Terminal, environment  # noqa: E402

PLATOON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ONLY = sys.argv[3:]
SCRATCH = tempfile.TemporaryDirectory()
BIN = os.path.join(SCRATCH.name, "bin")


def env(**changes):
    return environment(PATH=f"{BIN}:{os.environ['PATH']}", HOME=SCRATCH.name, **changes)


def run(*command, text=None, **changes):
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, timeout=60, check=False,
                          env=env(**changes))
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def commands():
    text = run(PLATOON, "--help").split("Commands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+)", text, re.M)


def ask(*words):
    """Candidates without descriptions, and the directive."""
    lines = run(PLATOON, "__complete", *words).splitlines()
    return [line.split("\t")[0] for line in lines[:-1]], lines[-1]


FILE = ("-f", "examples/first-gang.yaml")


@test
def answers():
    cases = [
        ((""), commands() + ["--help", "--version"], ":4"),
        (("pl",), ["plan"], ":4"),
        (("plan", "-o", ""), ["table", "wide", "json", "yaml"], ":4"),
        (("plan", "--output", "y"), ["yaml"], ":4"),
        (("plan", "--output=y"), ["--output=yaml"], ":4"),
        (("plan", "--rec"), ["--recursive"], ":4"),
        (("plan", "--nonsense=", ), [], ":4"),
        (("plan", "-f", "ex"), [], ":0"),
        (("plan", "--actions", "allocate,re"), ["allocate,reclaim"], ":4"),
        (("run", "--profile", ""), ["platoon", "kai"], ":4"),
        (("plan", "--color", ""), ["auto", "always", "never"], ":4"),
        (("help", "w"), ["why"], ":4"),
        (("completion", ""), ["bash", "zsh", "fish"], ":4"),
        (("simulate", "te"), [], ":0"),
        (("why", "p"), ["podgroup/", "pod/"], ":6"),
        (("why", *FILE, "podgroup/"), ["podgroup/chat", "podgroup/pretrain"], ":4"),
        (("why", *FILE, "podgroup/c"), ["podgroup/chat"], ":4"),
        (("why", "--filename=examples/first-gang.yaml", "queue/"), ["queue/research"], ":4"),
        (("why", *FILE, "-n", "elsewhere", "podgroup/"), [], ":4"),
        (("why", "-f", "/nonexistent", "podgroup/"), [], ":4"),
        (("nothing", ""), [], ":4"),
        (("\x1b[2J", ""), [], ":4"),
    ]
    for words, wanted, directive in cases:
        words = words if isinstance(words, tuple) else (words,)
        assert ask(*words) == (wanted, directive), f"{words}: {ask(*words)}"
    assert ask() == ask("")
    for command in commands():
        options = re.findall(r"^ .*?--([\w-]+)", run(PLATOON, command, "--help").split("Options:\n")[1].split("\n\n")[0], re.M)
        assert ask(command, "--")[0] == ["--" + option for option in options], command


@test
def contexts_come_from_the_kubeconfig():
    path = os.path.join(SCRATCH.name, "config")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{kind: Config, apiVersion: v1, contexts: [{name: lab, context: {}}, {name: live, context: {}}]}\n")
    assert ask("plan", "--kubeconfig", path, "--context", "")[0] == ["lab", "live"]
    lines = run(PLATOON, "__complete", "plan", "--context", "li", KUBECONFIG=f"/nonexistent:{path}").splitlines()
    assert lines == ["live", ":4"], lines


# ---- shells ----


def typed(shell, prepare, *lines):
    """Types into an interactive shell; each line ends with Enter."""
    terminal = Terminal(shell, ROOT, env=env(PS1="READY> ", INPUTRC="/dev/null"), columns=200)
    try:
        terminal.wait("READY>")
        terminal.send(prepare + "\r")
        terminal.wait("PREPARED")
        for line in lines:
            terminal.send(line)
            for _ in range(20):
                if not terminal.read(0.5):
                    break
            terminal.send("\r")
        terminal.send("exit\r")
        terminal.end()
        return terminal.output.decode(errors="replace")
    finally:
        terminal.close()


def check_interactive(shell, prepare):
    """A plan whose words were all completed by Tab must have been made."""
    out = os.path.join(SCRATCH.name, "out.json")
    if os.path.exists(out):
        os.remove(out)
    text = typed(shell, prepare, f"platoon pla\t --filen\t examples/first-g\t --outp\t js\t > {out}")
    assert os.path.exists(out), text
    with open(out, encoding="utf-8") as file:
        assert json.load(file)["bindings"], text


@test
def in_bash():
    run("bash", "-n", text=run(PLATOON, "completion", "bash"))
    script = run(PLATOON, "completion", "bash") + """
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _platoon; echo "${COMPREPLY[*]}"; }
ask platoon pl; ask platoon plan -o j; ask platoon plan --rec; ask platoon completion z
ask platoon plan --output = y; ask platoon why -f examples/first-gang.yaml podgroup/c; ask platoon plan -f examples/first
"""
    got = run("bash", text=script).splitlines()
    assert got == ["plan", "json", "--recursive", "zsh", "yaml", "podgroup/chat", "examples/first-gang.yaml"], got
    check_interactive(["bash", "--norc", "--noprofile", "-i"], "source <(platoon completion bash); echo PREPA''RED")


@test
def in_zsh():
    if not shutil.which("zsh"):
        raise AssertionError("zsh is not installed; run: make deps")
    run("zsh", "-n", text=run(PLATOON, "completion", "zsh"))
    check_interactive(["zsh", "-f", "-i"],
                      "autoload -U compinit; compinit -u; source <(platoon completion zsh); echo PREPA''RED")


@test
def in_fish():
    if not shutil.which("fish"):
        raise AssertionError("fish is not installed; run: make deps")
    script = "platoon completion fish | source\n"
    for line, wanted in (("platoon pl", ["plan"]), ("platoon plan --output ", ["json", "table", "wide", "yaml"]),
                         ("platoon why -f examples/first-gang.yaml podgroup/p", ["podgroup/pretrain"]),
                         ("platoon plan -f examples/first-g", ["examples/first-gang.yaml"])):
        got = run("fish", "-c", script + f"complete -C '{line}'").splitlines()
        assert sorted(word.split("\t")[0] for word in got) == wanted, f"{line}: {got}"


# ---- kubectl ----


@test
def as_a_plugin_of_kubectl():
    assert run("kubectl", "platoon", "plan", *FILE) == run(PLATOON, "plan", *FILE)
    assert "Usage: kubectl platoon plan [OPTION]..." in run("kubectl", "platoon", "plan", "--help")
    done = subprocess.run(["kubectl", "platoon", "plan", "--nonsense"], cwd=ROOT, capture_output=True, text=True, env=env(),
                          check=False)
    assert done.returncode != 0 and "Run `kubectl platoon plan --help`" in done.stderr, done
    assert run("kubectl", "platoon", "--version") == run(PLATOON, "--version")
    assert "kubectl-platoon" in run("kubectl", "plugin", "list")


@test
def kubectl_completes_the_plugin():
    done = subprocess.run(["kubectl", "__complete", "platoon", "plan", "-o", ""], cwd=ROOT, capture_output=True, text=True,
                          env=env(), check=True)
    assert done.stdout.split() == ["table", "wide", "json", "yaml", ":4"], done.stdout
    done = subprocess.run(["kubectl", "__complete", "platoon", "why", *FILE, "podgroup/c"], cwd=ROOT, capture_output=True,
                          text=True, env=env(), check=True)
    assert done.stdout.split() == ["podgroup/chat", ":4"], done.stdout


# ---- manual pages ----


@test
def manual_pages_say_what_the_help_says():
    if not shutil.which("scdoc"):
        raise AssertionError("scdoc is not installed; run: make deps")
    with open(os.path.join(ROOT, "share", "meson.build"), encoding="utf-8") as file:
        listed = re.findall(r"'([\w-]+)'", re.search(r"pages = \[(.*?)\]", file.read(), re.S).group(1))
    assert sorted(listed) == sorted(commands()), "share/meson.build does not list the commands that exist"
    for command in [None] + commands():
        source = run(PLATOON, "help", "--man", *([command] if command else []))
        page = run("scdoc", text=source)
        if shutil.which("man"):
            path = os.path.join(SCRATCH.name, "page.1")
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", path], capture_output=True, text=True, check=True,
                                  env=env(MANWIDTH="1000", MAN_KEEP_FORMATTING=""))
            assert done.stderr == "", f"{command}: {done.stderr}"
        plain = re.sub(r"\\f[BIRP]|\\&|\\", "", page)
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
            assert f'.SH {section}' in page or f'.SH "{section}"' in page, f"{command}: {section}"
        text = run(PLATOON, command, "--help") if command else run(PLATOON, "--help")
        for option in re.findall(r"--[a-z][\w-]+", text.split("Options:\n")[1].split("\n\n")[0]):
            assert option in plain, f"{command}: {option}"
        if command and "Examples:\n" in text:
            for example in text.split("Examples:\n")[1].strip().splitlines():
                assert example.strip() in plain, f"{command}: {example}"


def main():
    os.mkdir(BIN)
    for name in ("platoon", "kubectl-platoon", "kubectl_complete-platoon"):
        os.symlink(PLATOON, os.path.join(BIN, name))
    run_tests(ONLY, SCRATCH.cleanup)


if __name__ == "__main__":
    main()
