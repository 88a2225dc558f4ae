#!/usr/bin/env python3
"""Compares the rows of one run of the benchmark with each other, and how they stand with what bench/ratios.json says.

    bench/ratios.py [--update] FILE      FILE is what `platoon-bench --json FILE` has written

Times depend on the machine and on what else it does; how the rows of one run stand to each other does so much less. Cold and warm
decisions are counted in passes over the columns of the cluster, rooms that are made on 5,000 nodes in those on 1,000, whole
cycles in the largest reclaim. A ratio more than TOLERANCE times what is stored is a failure; --update stores those of FILE.
"""
import json
import math
import os
import sys

BASELINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ratios.json")
TOLERANCE = 1.6
PASSES_AT = 16384  # nodes
SMALL, LARGE = 1000, 5000  # nodes
UNIT = "reclaim"  # the case that whole cycles are measured in, on LARGE nodes


def mean(values):
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def passes(rows):
    """Of each placement over all states of the cluster."""
    found = {}
    for row in rows:
        if row["nodes"] == PASSES_AT and row["coldRatio"] > 0 and row["warmRatio"] > 0:
            found.setdefault(f"{row['case']}, cold, in passes", []).append(row["coldRatio"])
            found.setdefault(f"{row['case']}, warm, in passes", []).append(row["warmRatio"])
    return {name: mean(values) for name, values in found.items()}


def rooms(rows):
    """Growth of what makes room, and whole cycles."""
    times = {(row["case"], row["nodes"]): row["us"] for row in rows if row["us"] > 0}
    found = {}
    for (case, nodes), time in times.items():
        if nodes == LARGE and (case, SMALL) in times:
            found[f"{case}, {LARGE} nodes against {SMALL}"] = time / times[case, SMALL]
        elif nodes == LARGE and (UNIT, LARGE) in times:
            found[f"{case}, against {UNIT} on {LARGE} nodes"] = time / times[UNIT, LARGE]
    return found


def main():
    """Reads, compares, prints."""
    files = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(files) != 1:
        sys.exit(__doc__)
    with open(files[0], encoding="utf-8") as file:
        run = json.load(file)
    ratios = {name: round(value, 2) for name, value in {**passes(run["rows"]), **rooms(run["evictions"])}.items()}
    if "--update" in sys.argv:
        with open(BASELINE, "w", encoding="utf-8") as file:
            json.dump(ratios, file, indent=1)
            file.write("\n")
        return 0
    with open(BASELINE, encoding="utf-8") as file:
        stored = json.load(file)
    worse = 0
    print(f"{'ratio':56} {'stored':>8} {'now':>8}")
    for name, before in stored.items():
        now = ratios.get(name)
        bad = now is None or now > before * TOLERANCE
        worse += bad
        word = "not measured" if now is None else "worse" if bad else "better" if now * TOLERANCE < before else ""
        print(f"{name:56} {before:>8.2f} {now or 0:>8.2f} {word}".rstrip())
    for name in ratios.keys() - stored.keys():
        print(f"{name}: not stored, see --update")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
