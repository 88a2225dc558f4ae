"""Running the tests of a list on one control plane: choosing them by name, telling what came out.

    runner.main(prefix, plane) -> exit status

`plane` makes a ControlPlane. FILE gets a line `passed PREFIX-NAME` or `failed PREFIX-NAME` per test. The last line is
`N passed, M failed`.
"""
import argparse
import sys
import time
import traceback

import kit


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("platoon")
    parser.add_argument("--results")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("texts", nargs="*")
    return parser.parse_intermixed_args()  # texts may stand behind options


def run_all(plane, chosen, tell):
    surroundings, opened = None, None
    for case in chosen:
        started = time.monotonic()
        try:
            # Tests that need the same surroundings stand together and share them.
            if case.surroundings is not surroundings:
                if opened:
                    opened.__exit__(None, None, None)
                opened = None
                surroundings = case.surroundings
                opened = surroundings(plane).__enter__()
            case.function(plane)
            tell(case.name, None, time.monotonic() - started)
        except kit.Skip as reason:
            print(f"skipped {case.name}: {reason}")
        except Exception:  # pylint: disable=broad-except
            tell(case.name, traceback.format_exc(limit=-3), time.monotonic() - started)
    if opened:
        opened.__exit__(None, None, None)


def main(prefix, make_plane):
    args = parse()
    kit.OPTIONS.seed, kit.OPTIONS.long, kit.OPTIONS.rounds = args.seed, args.long, args.rounds
    chosen = [case for case in kit.TESTS if not args.texts or any(text in case.name for text in args.texts)]
    counts = [0, 0]

    def tell(name, problem, seconds):
        counts[problem is not None] += 1
        if problem:
            print(problem)
        print(f"{'not ok' if problem else 'ok'} {name} ({seconds:.1f} s)")
        sys.stdout.flush()
        if args.results:
            with open(args.results, "a", encoding="utf-8") as file:
                file.write(f"{'failed' if problem else 'passed'} {prefix}-{name}\n")

    try:
        with make_plane() as plane:
            run_all(plane, chosen, tell)
    except Exception:  # pylint: disable=broad-except
        tell("control-plane", traceback.format_exc(limit=-3), 0)
    print(f"{counts[0]} passed, {counts[1]} failed")
    return 1 if counts[1] or not counts[0] else 0
