#!/usr/bin/env python3
"""Every file in examples does what its comment says, on the cluster of `platoon up`.

    test_examples.py PLATOON SOURCE_ROOT [NAME...]

The last line is `N passed, M failed`.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

PLATOON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ONLY = sys.argv[3:]

# Those with nodes of their own are planned: how many groups of each state.
PLANNED = {
    "elastic": {"Placed": 2},
    "first-gang": {"Placed": 1, "Never": 1},
    "nested-levels": {"Placed": 1},
}
# The others run: nodes, pods that run in the end, and pods that wait.
RUN = {
    "deployment": ("1x2x4", 6, 0),
    "elastic-training": ("1x2x4", 8, 0),
    "indexed-job": ("1x2x4", 8, 0),
    "jobset": ("1x2x4", 5, 0),
    "leaderworkerset": ("1x2x4", 8, 0),
    "mpijob": ("1x2x4", 5, 0),
    "notebook": ("1x2x4", 1, 0),
    "pd-serving": ("1x2x4", 10, 0),
    "pytorchjob": ("1x2x4", 4, 0),
    "raycluster": ("1x2x4", 6, 0),
    "rbg-canary": ("1x2x4", 3, 0),
    "rbg-segments": ("1x2x4", 9, 0),
    "rbg-topology": ("1x2x4", 12, 0),
    "team-queues": ("1x1x4", 3, 0),
    "team-queues+team-queues-second": ("1x1x4", 4, 1),
    "elastic-training+notebook": ("1x2x4", 8, 1),
    "tfjob-segments": ("1x4x4", 19, 0),
    "up-gang": ("1x2x4", 4, 0),
    "up-gang+up-rules": ("1x2x4", 4, 0),
    "up-impossible": ("1x2x4", 0, 5),
}


def names():
    return sorted(name[:-5] for name in os.listdir(os.path.join(ROOT, "examples")) if name.endswith(".yaml"))


def check_comment(name):
    with open(os.path.join(ROOT, "examples", name + ".yaml"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    assert lines[0].startswith("# ") and lines[1].startswith("# ") and len(lines[0]) > 20, "two lines of comment first"


def check_plan(name):
    done = subprocess.run([PLATOON, "plan", "-f", f"examples/{name}.yaml", "-o", "json"], cwd=ROOT, capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    states = [group["state"] for group in json.loads(done.stdout)["groups"]]
    assert {state: states.count(state) for state in states} == PLANNED[name], states


def check_run(name):
    nodes, running, waiting = RUN[name]
    with tempfile.TemporaryDirectory() as folder:
        files = [word for part in name.split("+") for word in ("-f", f"examples/{part}.yaml")]
        done = subprocess.run([PLATOON, "up", "--in-memory", "--data-dir", folder, "--port", "0", "--nodes", nodes,
                               "--until-placed", *files], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    last = dict(re.findall(r"^(\S+/.+?): (\w+, \d+ running, \d+ pending)", done.stdout, re.M))
    got = [sum(int(re.search(rf"(\d+) {word}", line).group(1)) for line in last.values()) for word in ("running", "pending")]
    assert got == [running, waiting], f"{got[0]} run and {got[1]} wait\n{done.stdout}{done.stderr}"
    assert done.returncode == (0 if running else 1), f"exit {done.returncode}\n{done.stdout}{done.stderr}"


def main():
    cases = [(name, check_comment) for name in names()]
    cases += [(name, check_plan if name in PLANNED else check_run) for name in sorted(PLANNED) + sorted(RUN)]
    known = set(PLANNED) | {part for name in RUN for part in name.split("+")}
    passed = failed = 0
    for name in sorted(set(names()) ^ known):
        print(f"FAIL {name}: examples and this test do not name the same files")
        failed += 1
    for name, check in cases:
        if ONLY and not any(text in name for text in ONLY):
            continue
        try:
            check(name)
            passed += 1
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"FAIL {name}: {type(error).__name__} {error}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(0 if passed and not failed else 1)


if __name__ == "__main__":
    main()
