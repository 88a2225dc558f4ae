#!/usr/bin/env python3
"""Random runs with faults: nothing is violated, a seed repeats exactly, and a broken scheduler is caught.

    test_fault.py PLATOON BROKEN_GANGS BROKEN_SEGMENTS BROKEN_CLAIMS SOURCE_ROOT

BROKEN_GANGS is the same program with a scheduler that does not look at the minimums of gangs, BROKEN_SEGMENTS one that
begins all segments of a RoleBasedGroup at once, BROKEN_CLAIMS one that does not wait for claims. The last line is `N passed, M failed`.
"""
import functools
import json
import os
import re
import signal
import subprocess
import sys
import time

PLATOON, BROKEN, BROKEN_SEGMENTS, BROKEN_CLAIMS, ROOT = (os.path.abspath(path) for path in sys.argv[1:6])
KINDS = ["conflict", "watch-loss", "crash", "slow-api", "node-flap", "clock-jump"]
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def simulate(program, *args):
    done = subprocess.run([program, "simulate", *args], cwd=ROOT, capture_output=True, text=True, timeout=500,
                          check=False)
    return done.returncode, done.stdout, done.stderr


@test
def every_fault_alone():
    for index, kind in enumerate(KINDS):
        first = 1000 * (index + 1)
        code, out, err = simulate(PLATOON, "--seeds", f"{first}..{first + 9}", "--faults", kind, "-o", "json")
        report = json.loads(out)
        assert code == 0 and report["passed"] == 10, f"{kind}:\n{out}{err}"
        struck = {name for name, count in report["faults"].items() if count > 0}
        assert struck == {kind}, f"asked for {kind}, got {report['faults']}"


@test
def all_faults_together():
    code, out, err = simulate(PLATOON, "--seeds", "1..100", "-o", "json")
    report = json.loads(out)
    assert code == 0 and report["passed"] == 100, f"{out}{err}"
    assert all(report["faults"][kind] > 0 for kind in KINDS), report["faults"]


@test
def scenarios_with_faults():
    for name in ("steps-node-lost", "steps-gang-starts-as-a-whole"):
        path = f"test/scenarios/platoon/{name}.yaml"
        code, out, err = simulate(PLATOON, "--seeds", "1..15", path)
        assert code == 0, f"{name}:\n{out}{err}"


@test
def a_seed_repeats_byte_for_byte():
    for seeds in ("7", "40..45"):
        first = simulate(PLATOON, "--verbose", "--seeds", seeds)
        assert first == simulate(PLATOON, "--verbose", "--seeds", seeds), f"seeds {seeds} differ"
        assert len(first[1].splitlines()) > 10, first[1]
    # A seed is the same alone and in a row, and other seeds are other runs.
    row = simulate(PLATOON, "--verbose", "--seeds", "44..45")[1]
    alone = simulate(PLATOON, "--verbose", "--seeds", "45")[1]
    trace = alone[: alone.index(" turns;")].rsplit("\n", 1)[0]
    assert trace in row, f"seed 45 alone:\n{trace}\nin a row:\n{row}"
    assert simulate(PLATOON, "--verbose", "--seeds", "44")[1] not in (alone, row)


@functools.lru_cache
def runs_without_gangs():
    """What forty seeds say of the scheduler that knows no gangs. Such runs rarely end by themselves, so they are not cheap."""
    return simulate(BROKEN, "--seeds", "1..40", "-o", "json")


@test
def a_scheduler_without_gangs_is_caught():
    code, out, err = runs_without_gangs()
    report = json.loads(out)
    assert code == 1, f"not one of 40 seeds has noticed it:\n{err}"
    said = [violation for failure in report["failures"] for violation in failure["violations"]]
    # The scheduler itself lets go of a gang that it finds cut short: what it starts in pieces it starts for ever.
    assert any("below its minimum" in violation or "without end" in violation for violation in said), said


@test
def a_run_that_never_rests_ends_all_the_same():
    report = json.loads(runs_without_gangs()[1])
    said = [violation for failure in report["failures"] for violation in failure["violations"]]
    assert any("still changing after" in violation for violation in said), said


@test
def segments_without_order_are_caught():
    code, out, err = simulate(BROKEN_SEGMENTS, "--seeds", "1..100", "-o", "json")
    assert code == 1, f"not one of 100 seeds has noticed it:\n{err}"
    said = [violation for failure in json.loads(out)["failures"] for violation in failure["violations"]]
    assert any("begins segment" in violation for violation in said), said


@test
def a_scheduler_that_does_not_wait_for_claims_is_caught():
    code, out, err = simulate(BROKEN_CLAIMS, "--seeds", "1..40", "-o", "json")
    assert code == 1, f"not one of 40 seeds has noticed it:\n{err}"
    said = [violation for failure in json.loads(out)["failures"] for violation in failure["violations"]]
    assert any("before its claim" in violation for violation in said), said


@test
def volumes_and_budgets_come_and_go():
    _, out, _ = simulate(PLATOON, "--verbose", "--seeds", "1..40")
    for words in (" local volumes", "  claims: one each", "  claims: ephemeral", "  claims: shared", "  budget b",
                  "PodDisruptionBudget b", "PersistentVolumeClaim "):
        assert words in out, f"no seed has {words!r}"


@test
def crashes_lose_what_was_not_committed():
    _, out, _ = simulate(PLATOON, "--verbose", "--seeds", "1..40", "--faults", "crash")
    for words in ("crashed before the commit", "crashed in the middle of a turn", "  crash\n"):
        assert words in out, f"no seed has {words!r}"


@test
def a_failed_seed_is_short_and_replays_exactly():
    _, out, _ = runs_without_gangs()
    failure = json.loads(out)["failures"][0]
    seed = str(failure["seed"])
    _, text, _ = simulate(BROKEN, "--seeds", seed)
    lines = text.splitlines()
    assert lines[0].startswith(f"FAIL seed {seed}: ") and len(lines) < 40, text
    replay = re.search(r"replay: platoon simulate (.*)", text).group(1).split()
    assert failure["replay"].split()[2:] == replay, failure["replay"]
    _, again, _ = simulate(BROKEN, *replay)
    shown = [line[2:] for line in again.splitlines() if line.startswith("  ") and "replay:" not in line]
    assert shown == failure["trace"], f"{again}\n{failure['trace']}"
    for violation in failure["violations"]:
        assert violation in again, f"{violation!r} is not in:\n{again}"


@test
def ctrl_c_tells_how_far_it_came():
    process = subprocess.Popen([PLATOON, "simulate", "--verbose", "--seeds", "1..100000000"], cwd=ROOT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()  # it has begun
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130, f"exit {process.returncode}"
    tail = out.splitlines()[-3:]
    assert re.match(r"stopped after [1-9]\d* of 100000000 seeds$", tail[0]), tail
    assert re.match(r"[1-9]\d* passed, 0 failed$", tail[2]), tail


@test
def wrong_options_are_refused():
    for args, wanted in (
        (["--seeds", "9..3"], "--seeds 9..3"),
        (["--seeds", "x"], "--seeds x"),
        (["--seeds", "1..5", "--faults", "crash,storm"], '"storm" is not a fault'),
        (["--seeds", "1..5", "test/scenarios/platoon"], "--seeds takes one scenario"),
        ([], "--seeds A..B"),
    ):
        code, _, err = simulate(PLATOON, *args)
        assert code == 2 and wanted in err, f"{args}: exit {code}\n{err}"


def main():
    failed = 0
    for function in TESTS:
        try:
            function()
        except (AssertionError, subprocess.SubprocessError, ValueError, AttributeError) as error:
            failed += 1
            print(f"FAIL {function.__name__}: {error}")
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
