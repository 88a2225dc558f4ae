#!/usr/bin/env python3
"""What people see in a terminal: trees, maps, colours, progress, and `platoon top` on a live cluster.

    test_terminal.py PLATOON SOURCE_ROOT [NAME...]

The last line is `N passed, M failed`.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from runner import run_tests, test  # noqa: E402
from screen import Terminal, environment  # noqa: E402

PLATOON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ONLY = sys.argv[3:]
UP = None  # the cluster that some tests share


def run(*args, env=None, code=0):
    done = subprocess.run([PLATOON, *args], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
                          env=env or environment())
    assert done.returncode == code, f"{args}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def shown(*args, code=0, **env):
    """Everything a command writes to a terminal."""
    terminal = Terminal([PLATOON, *args], ROOT, env=environment(**env), stdout_only=True)
    try:
        got, text = terminal.end()
        assert got == code, text
        return text.replace("\r\n", "\n")
    finally:
        terminal.close()


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def cells(text):
    """What the map says: node name -> its slots."""
    return dict(re.findall(r"(\S+) +\[([^\]]*)\]", text))


NESTED = ("plan", "-f", "examples/nested-levels.yaml")


@test
def trees_have_branches_on_a_terminal():
    text = plain(shown(*NESTED))
    assert "\n├─ replica-0 " in text and "\n│  ├─ leader-0 " in text and "\n   └─ workers-1 " in text, text
    text = plain(shown(*NESTED, LANG="C"))
    assert "\n|- replica-0 " in text and "\n|  `- workers-0 " in text and "├" not in text, text
    assert "\n  replica-0 " in run(*NESTED), "a pipe gets blanks"
    wide = plain(shown(*NESTED, "-o", "wide"))
    assert "\n│     └─ serve-0-worker-1 " in wide, wide


@test
def the_map_is_the_plan():
    """Each node has as many marked slots as the pods the plan puts on it ask for."""
    plan = json.loads(run("plan", "-f", "examples/first-gang.yaml", "-o", "json"))
    wanted = {}
    with open(os.path.join(ROOT, "examples/first-gang.yaml"), encoding="utf-8") as file:
        gpus = dict(re.findall(r"name: (chat-\S+?),?\s.*?nvidia.com/gpu: \"?(\d+)", file.read(), re.S))
    for binding in plan["bindings"]:
        wanted[binding["node"]] = wanted.get(binding["node"], 0) + int(gpus[binding["pod"]])
    drawn = {node: row.count("A") for node, row in cells(run("plan", "-f", "examples/first-gang.yaml", "--map")).items()}
    assert drawn == wanted, (drawn, wanted)
    assert all(len(row) == 8 for row in cells(run("plan", "-f", "examples/first-gang.yaml", "--map")).values())
    assert "[" not in run("plan", "-f", "examples/first-gang.yaml"), "no map in a pipe unless it is asked for"
    assert cells(plain(shown("plan", "-f", "examples/first-gang.yaml")))["node-1"] == "AAAA····"


@test
def why_points_at_the_closest_domain():
    text = run("why", "podgroup/pretrain", "-f", "examples/first-gang.yaml", "--map", code=1)
    closest = json.loads(run("why", "podgroup/pretrain", "-f", "examples/first-gang.yaml", "-o", "json", code=1))
    domain = next(reason["domain"] for reason in closest["reasons"] if reason["code"] == "InsufficientDomain")
    assert f"rack {domain.split('/')[-1]}  <- closest\n" in text, text
    assert text.count("<- closest") == 1


@test
def a_big_cluster_is_drawn_as_domains():
    nodes = "".join(f"{{apiVersion: v1, kind: Node, metadata: {{name: n{i}, labels: {{rack: r{i // 50}}}}}, "
                    f"status: {{allocatable: {{cpu: 8, pods: 10}}}}}}\n---\n" for i in range(1000))
    topology = "{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: t}, spec: {levels: [{nodeLabel: rack}]}}\n"
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(nodes + topology)
        file.flush()
        text = plain(shown("plan", "-f", file.name))
        assert text.count("rack r") == 20 and "] 400 of 400 free, 50 nodes" in text, text
        whole = run("plan", "-f", file.name, "--map")
        assert len(cells(whole)) == 1000 and "[........]" in whole


@test
def colours_are_chosen():
    asked = run(*NESTED, "--color", "always")
    assert "\x1b[" in asked and "\x1b[" in run(*NESTED, "--color=always", env=environment(NO_COLOR="1"))
    assert plain(asked) == run(*NESTED)
    assert "\x1b[" not in shown(*NESTED, "--color", "never")
    assert "\x1b[" not in shown(*NESTED, NO_COLOR="1")
    # Red and green alone would look alike to some.
    assert not re.search(r"\x1b\[3[0-7]m", shown(*NESTED, "--map"))
    done = subprocess.run([PLATOON, *NESTED, "--color", "sometimes"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "use one of: auto always never" in done.stderr


@test
def progress_is_for_terminals():
    text = shown("simulate", "--seeds", "1..60")
    assert re.search(r"\[█*░*\] \d+ of 60 seeds, 0 failed", text), text
    assert text.endswith("60 passed, 0 failed\n")
    done = subprocess.run([PLATOON, "simulate", "--seeds", "1..60"], cwd=ROOT, capture_output=True, text=True, check=False,
                          timeout=120)
    assert done.stderr == "" and "\r" not in done.stdout
    # Without colours there is progress all the same: it is no colour.
    assert re.search(r"\[█*░*\] \d+ of 60 seeds", shown("simulate", "--seeds", "1..60", NO_COLOR="1"))


@test
def a_long_replay_shows_its_progress():
    with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8") as file:
        file.write("name,gang,gpu,arrival,duration\n" + "".join(f"p{i},g{i},1,{i},50\n" for i in range(6000)))
        file.flush()
        text = shown("simulate", file.name, "--nodes", "1x2x8")
        assert re.search(r"\[█*░*\] \d+ of 12000 arrivals and ends", text), text[-300:]
        done = subprocess.run([PLATOON, "simulate", file.name, "--nodes", "1x2x8"], cwd=ROOT, capture_output=True, text=True,
                              check=True, timeout=120)
        assert done.stderr == "" and "\r" not in done.stdout


# ---- top ----


def kubectl(*args, text=None):
    done = subprocess.run(["kubectl", *args], input=text, capture_output=True, text=True, timeout=60, check=False,
                          env=dict(os.environ, KUBECONFIG=os.path.join(UP.folder.name, ".platoon/kubeconfig")))
    assert done.returncode == 0, done.stderr
    return done.stdout


class Cluster:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([PLATOON, "up", "--in-memory", "--port", "0", "--nodes", "1x2x4", "-f",
                                         os.path.join(ROOT, "examples/up-gang.yaml"), "-f",
                                         os.path.join(ROOT, "examples/up-impossible.yaml")],
                                        cwd=self.folder.name, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if "get podgroups" in line:
                return

    def config(self):
        return os.path.join(self.folder.name, ".platoon/kubeconfig")

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        self.process.stdout.close()
        self.folder.cleanup()


def cluster():
    global UP
    if not UP:
        UP = Cluster()
    return UP


def top(**changes):
    return Terminal([PLATOON, "top", "--kubeconfig", cluster().config()], ROOT, env=environment(**changes))


@test
def top_shows_the_cluster():
    terminal = top()
    try:
        screen = terminal.wait("8 nodes; 32 of 64 nvidia.com/gpu in use", "a default/pretrain")
        truth = {}
        for pod in json.loads(kubectl("get", "pods", "-o", "json"))["items"]:
            node = pod["spec"].get("nodeName")
            if node:
                truth[node] = truth.get(node, 0) + 8
        assert {node: row.count("a") for node, row in cells(screen).items() if "a" in row} == truth, screen
        terminal.send("2")
        terminal.wait("default/pretrain  Running", "default/too-wide  Never")
        terminal.send("3")
        terminal.wait("[3 queues]", "default-queue", "unlimited")
        terminal.send("\t")
        screen = terminal.wait("[4 pending]", "default/too-wide", "closest rack ")
        assert "default/pretrain" not in screen
        assert max(map(len, screen.split("\n"))) <= 110
        terminal.send("?")
        terminal.wait("reverse the order", "Ctrl-C")
        terminal.send("q")
        assert terminal.end()[0] == 0 and terminal.restored()
    finally:
        terminal.close()


def job(metadata):
    return f"""
---
apiVersion: batch/v1
kind: Job
metadata: {{{metadata}}}
spec:
  template:
    spec:
      schedulerName: platoon
      restartPolicy: Never
      containers: [{{name: main, image: x, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]
"""


@test
def top_is_live():
    terminal = top()
    try:
        terminal.send("2")
        terminal.wait("default/pretrain")
        kubectl("apply", "-f", "-", text=job("name: extra"))
        terminal.wait("extra", "40 of 64 nvidia.com/gpu in use")
        kubectl("delete", "job", "extra")
        end = time.monotonic() + 60
        while "extra" in "\n".join(terminal.lines()) and time.monotonic() < end:
            terminal.read()
        assert "extra" not in "\n".join(terminal.lines())
    finally:
        terminal.close()


@test
def top_knows_what_workloads_say():
    """The queue stands on the Job, not on its pod."""
    terminal = top()
    try:
        terminal.send("2")
        terminal.wait("default/pretrain")
        kubectl("apply", "-f", "-", text="""
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: side-queue}
spec:
  resources: {cpu: {quota: -1, limit: -1}, gpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}}
""" + job("name: aside, labels: {kai.scheduler/queue: side-queue}"))
        screen = terminal.wait("aside", "side-queue")
        row = next(line for line in screen.split("\n") if "aside" in line)
        assert "side-queue" in row, screen
        kubectl("delete", "job/aside", "queue/side-queue")
    finally:
        terminal.close()


@test
def top_filters_and_sorts():
    terminal = top()
    try:
        terminal.send("2/wide\r")
        screen = terminal.wait("filter: wide", "default/too-wide")
        assert "default/pretrain" not in screen
        terminal.send("/x\x7f\x7f\x7f\x7f\x7fpre\r")
        screen = terminal.wait("filter: pre", "default/pretrain")
        assert "too-wide" not in screen
        terminal.send("\x1b")
        terminal.wait("default/too-wide", "default/pretrain")
        terminal.send("ss")
        screen = terminal.wait("by pods", "too-wide", "pretrain")
        assert screen.index("too-wide") < screen.index("pretrain"), "five pods before four"
        terminal.send("r")
        screen = terminal.wait("by pods, reversed", "too-wide", "pretrain")
        assert screen.index("too-wide") > screen.index("pretrain")
    finally:
        terminal.close()


@test
def top_follows_the_size():
    terminal = top()
    try:
        terminal.wait("a default/pretrain", "zone z1")
        terminal.resize(9, 50)
        screen = terminal.wait("8 nodes", "lines 1-6 of", seconds=30)
        rows = screen.split("\n")
        assert len(rows) == 9 and max(map(len, rows)) <= 50, screen
        terminal.send("\x1b[B\x1b[B")
        terminal.wait("lines 3-8 of")
        terminal.send("\x1b[F")
        terminal.wait("a cell is one nvidia.com/gpu")
        terminal.resize(40, 140)
        terminal.wait("8 nodes", "a default/pretrain", "zone z1")
    finally:
        terminal.close()


@test
def top_gives_the_terminal_back():
    """Ctrl-C, signals from outside, a crash, and Ctrl-Z."""
    for name, strike, code in (("Ctrl-C", lambda t: t.send("\x03"), 0),
                               ("SIGTERM", lambda t: t.process.terminate(), 0),
                               ("SIGHUP", lambda t: t.process.send_signal(signal.SIGHUP), 0),
                               ("SIGSEGV", lambda t: t.process.send_signal(signal.SIGSEGV), None),
                               ("SIGABRT", lambda t: t.process.send_signal(signal.SIGABRT), None)):
        terminal = top()
        try:
            terminal.wait("8 nodes")
            assert not terminal.restored()
            strike(terminal)
            got, _ = terminal.end()
            assert terminal.restored(), name
            assert got == code if code is not None else got < 0, f"{name}: exit {got}"
        finally:
            terminal.close()


@test
def top_can_be_stopped_and_go_on():
    terminal = top()
    try:
        terminal.wait("8 nodes")
        terminal.process.send_signal(signal.SIGTSTP)
        end = time.monotonic() + 30
        while not terminal.restored() and time.monotonic() < end:
            terminal.read()
        assert terminal.restored()
        terminal.output = b""
        terminal.process.send_signal(signal.SIGCONT)
        terminal.wait("8 nodes", "a default/pretrain")
        terminal.send("q")
        assert terminal.end()[0] == 0 and terminal.restored()
    finally:
        terminal.close()


@test
def top_once():
    config = ("--kubeconfig", cluster().config())
    text = run("top", "--once", *config)
    assert "8 nodes; 32 of 64 nvidia.com/gpu in use; 4 of 9 pods bound; 2 groups, 1 waiting" in text, text
    assert "default/too-wide" in text.split("pending:")[1] and "default/pretrain" not in text.split("pending:")[1]
    data = json.loads(run("top", "-o", "json", *config))
    assert (data["used"], data["slots"], data["bound"], data["pods"]) == (32, 64, 4, 9), data
    states = {group["name"]: (group["state"], group["pending"]) for group in data["groups"]}
    assert states == {"pretrain": ("Running", False), "too-wide": ("Never", True)}, states
    assert data["queues"][0]["gpuMillis"]["used"] == 32000
    assert next(group for group in data["groups"] if group["pending"])["reasons"][0]["message"]


@test
def top_says_what_is_wrong():
    def refused(*args):
        done = subprocess.run([PLATOON, "top", *args], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
                              env=environment(HOME="/nonexistent"))
        assert done.returncode == 2, done
        return done.stderr
    assert "--once" in refused("--kubeconfig", cluster().config())
    assert "kubeconfig" in refused("--kubeconfig", "/nonexistent/config")
    assert "--once" in refused("-f", "examples/first-gang.yaml")


if __name__ == "__main__":
    run_tests(ONLY, lambda: UP and UP.close())
