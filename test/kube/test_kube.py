#!/usr/bin/env python3
"""Platoon on a real control plane: etcd and kube-apiserver of the pinned release, nodes and kubelets simulated.

    test_kube.py PLATOON [--results FILE] [--seed N] [--long] [TEXT...]

TEXT picks tests by name. --long makes faults last longer, --seed chooses them. FILE gets a line `passed NAME` or
`failed NAME` per test. The last line is `N passed, M failed`.
"""
import argparse
import sys
import time
import traceback

import kit
from control_plane import ControlPlane
from installed import ACCOUNT
import cases_rights  # noqa: F401  pylint: disable=unused-import
import cases_install  # noqa: F401  pylint: disable=unused-import
import cases_definitions  # noqa: F401  pylint: disable=unused-import
import cases_webhooks  # noqa: F401  pylint: disable=unused-import
import cases_encodings  # noqa: F401  pylint: disable=unused-import
import cases_faults  # noqa: F401  pylint: disable=unused-import
import cases_kubectl  # noqa: F401  pylint: disable=unused-import
import cases_claims  # noqa: F401  pylint: disable=unused-import
import cases_run  # noqa: F401  pylint: disable=unused-import
import cases_schedulers  # noqa: F401  pylint: disable=unused-import
import cases_scenarios  # noqa: F401  pylint: disable=unused-import

FLAGS = ["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("platoon")
    parser.add_argument("--results")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("texts", nargs="*")
    return parser.parse_args()


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


def main():
    args = parse()
    kit.OPTIONS.seed, kit.OPTIONS.long = args.seed, args.long
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
                file.write(f"{'failed' if problem else 'passed'} kube-{name}\n")

    try:
        with ControlPlane(audited=[ACCOUNT], flags=FLAGS) as plane:
            run_all(plane, chosen, tell)
    except Exception:  # pylint: disable=broad-except
        tell("control-plane", traceback.format_exc(limit=-3), 0)
    print(f"{counts[0]} passed, {counts[1]} failed")
    return 1 if counts[1] or not counts[0] else 0


if __name__ == "__main__":
    sys.exit(main())
