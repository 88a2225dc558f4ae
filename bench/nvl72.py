#!/usr/bin/env python3
"""Measures how much of a cluster of NVL72 racks is in use, beside the most that is possible.

    bench/nvl72.py PLATOON [--racks N] [--rounds N] [--seeds N]

A rack has 18 nodes with 4 GPUs. Gangs have segments of 16, 4 or 1 nodes, each of which must be within one rack; more wait than
fits. In each round Platoon decides, a third of what runs ends, and new gangs come. Three figures, each in nodes in use:

  bound   the most that any choice of gangs and racks could have in use, beside what runs: an integer program (CBC)
  platoon what `platoon plan --actions allocate` places, in the order in which gangs came
  blind   the same without the constraint; only gangs count of which no segment is torn apart

Exits with 1 when Platoon has less than LIMIT of the bound, over all rounds.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

RACK, GPUS, LIMIT = 18, 4, 0.99
RACK_LABEL, SIZES = "example.com/rack", (16, 4, 1)
KAI, RUN_AI = "kai.scheduler/v1alpha1", "scheduling.run.ai"
NEEDS = {"requests": {"nvidia.com/gpu": str(GPUS)}}


def cluster(racks):
    yield {"apiVersion": KAI, "kind": "Topology", "metadata": {"name": "t"},
           "spec": {"levels": [{"nodeLabel": RACK_LABEL}, {"nodeLabel": "kubernetes.io/hostname"}]}}
    unlimited = {name: {"quota": -1, "limit": -1} for name in ("gpu", "cpu", "memory")}
    yield {"apiVersion": RUN_AI + "/v2", "kind": "Queue", "metadata": {"name": "q"}, "spec": {"resources": unlimited}}
    for rack in range(racks):
        for node in range(RACK):
            name = f"r{rack:03}n{node:02}"
            yield {"apiVersion": "v1", "kind": "Node",
                   "metadata": {"name": name, "labels": {RACK_LABEL: f"r{rack:03}", "kubernetes.io/hostname": name}},
                   "status": {"allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": str(GPUS)}}}


class Gang:
    """`count` segments of `size` nodes; where each of its pods runs, segment by segment."""

    def __init__(self, number, size, count):
        self.name, self.size, self.count = f"g{number:05}", size, count
        self.nodes = None

    @property
    def total(self):
        return self.size * self.count

    def objects(self, constrained):
        number = int(self.name[1:])
        created = f"2026-01-{1 + number // 86400:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        within = {"topologyConstraint": {"topology": "t", "requiredTopologyLevel": RACK_LABEL}} if constrained else {}
        yield {"apiVersion": RUN_AI + "/v2alpha2", "kind": "PodGroup",
               "metadata": {"name": self.name, "namespace": "default", "creationTimestamp": created},
               "spec": {"queue": "q", "subGroups": [{"name": f"s{i}", "minMember": self.size, **within}
                                                    for i in range(self.count)]}}
        for i in range(self.total):
            pod = {"apiVersion": "v1", "kind": "Pod",
                   "metadata": {"name": f"{self.name}-{i:03}", "namespace": "default", "creationTimestamp": created,
                                "annotations": {"pod-group-name": self.name},
                                "labels": {"kai.scheduler/subgroup-name": f"s{i // self.size}"}},
                   "spec": {"schedulerName": "platoon", "containers": [{"name": "c", "image": "i", "resources": NEEDS}]},
                   "status": {"phase": "Running" if self.nodes else "Pending"}}
            if self.nodes:
                pod["spec"]["nodeName"] = self.nodes[i]
            yield pod

    def is_whole(self):
        segments = (self.nodes[i:i + self.size] for i in range(0, self.total, self.size))
        return all(len({node[:4] for node in segment}) == 1 for segment in segments)


def decide(platoon, racks, gangs, constrained):
    """Binds the pods of the gangs that are placed."""
    items = [*cluster(racks), *(item for gang in gangs for item in gang.objects(constrained))]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": items}, file)
        file.flush()
        done = subprocess.run([platoon, "plan", "-f", file.name, "--actions", "allocate", "-o", "json"],
                              capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"platoon plan: {done.stderr}")
    nodes = {binding["pod"]: binding["node"] for binding in json.loads(done.stdout)["bindings"]}
    for gang in gangs:
        if not gang.nodes and f"{gang.name}-000" in nodes:
            gang.nodes = [nodes[f"{gang.name}-{i:03}"] for i in range(gang.total)]


def most(racks, gangs):
    """The most nodes in use. Whole numbers: y, whether a gang runs; x, how many segments of a size a rack takes."""
    free = [RACK] * racks
    for gang in gangs:
        for node in gang.nodes or []:
            free[int(node[1:4])] -= 1
    waiting = [gang for gang in gangs if not gang.nodes]
    # Racks with as much room are alike: one counts ways of filling them.
    kinds = {room: free.count(room) for room in set(free)}
    rows, whole, ones = [], [], [f"y{i}" for i in range(len(waiting))]
    for room, count in kinds.items():
        ways = [(a, b, room - 16 * a - 4 * b) for a in range(room // 16 + 1) for b in range((room - 16 * a) // 4 + 1)]
        names = [f"w{room}_{a}_{b}" for a, b, _ in ways]
        whole += names
        rows.append(" + ".join(names) + f" = {count}")
    for size, place in zip(SIZES, range(3)):
        terms = [f"- {gang.count} y{i}" for i, gang in enumerate(waiting) if gang.size == size]
        terms += [f"+ {ways} w{room}_{a}_{b}" for room in kinds for a in range(room // 16 + 1)
                  for b in range((room - 16 * a) // 4 + 1) for ways in [(a, b, room - 16 * a - 4 * b)[place]] if ways]
        if terms:
            rows.append(" ".join(terms) + " >= 0")
    goal = " + ".join(f"{gang.total} y{i}" for i, gang in enumerate(waiting)) or "0 none"
    text = f"Maximize\n obj: {goal}\nSubject To\n" + "".join(f" c{i}: {row}\n" for i, row in enumerate(rows))
    text += "Generals\n " + " ".join(whole) + "\nBinaries\n " + " ".join(ones) + "\nEnd\n"
    with tempfile.TemporaryDirectory() as folder:
        path, answer = os.path.join(folder, "p.lp"), os.path.join(folder, "answer")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        subprocess.run(["cbc", path, "seconds", "60", "solve", "solution", answer], stdout=subprocess.DEVNULL, check=True)
        with open(answer, encoding="ascii") as file:
            first = file.readline()
    if not first.startswith("Optimal"):
        sys.exit(f"cbc: {first.strip()}")
    return round(abs(float(first.split()[-1]))) + sum(gang.total for gang in gangs if gang.nodes)


def draw(chance, number, mix):
    size = chance.choices(SIZES, mix)[0]
    return Gang(number, size, chance.randint(1, {16: 4, 4: 6, 1: 1}[size]))


def measure(platoon, racks, rounds, seed):
    chance, number = random.Random(seed), 0
    gangs, sums = [], [0, 0, 0]
    mix = ((1, 2, 6), (3, 2, 2), (1, 4, 3))[seed % 3]
    for _ in range(rounds):
        gangs = [gang for gang in gangs if not gang.nodes or chance.random() > 0.33]
        while sum(gang.total for gang in gangs) < 1.25 * racks * RACK:
            gangs.append(draw(chance, number, mix))
            number += 1
        blind = [Gang(int(gang.name[1:]), gang.size, gang.count) for gang in gangs]
        for copy, gang in zip(blind, gangs):
            copy.nodes = gang.nodes
        bound = most(racks, gangs)
        decide(platoon, racks, gangs, True)
        decide(platoon, racks, blind, False)
        placed = sum(gang.total for gang in gangs if gang.nodes)
        if not all(gang.is_whole() for gang in gangs if gang.nodes):
            sys.exit("a segment was torn apart")
        whole = sum(gang.total for gang in blind if gang.nodes and gang.is_whole())
        sums = [a + b for a, b in zip(sums, (bound, placed, whole))]
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("platoon")
    parser.add_argument("--racks", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=6)
    args = parser.parse_args()
    total, everything = [0, 0, 0], args.racks * RACK * args.rounds
    print(f"NVL72: {args.racks} racks of {RACK} nodes, segments of 16, 4 and 1 nodes, {args.rounds} rounds each")
    print("mix      bound  platoon    blind  of the bound")
    for seed in range(1, args.seeds + 1):
        sums = measure(os.path.abspath(args.platoon), args.racks, args.rounds, seed)
        shares = [f"{100 * value / everything:7.2f}%" for value in sums]
        print(f"{seed:3}  {'  '.join(shares)}  {100 * sums[1] / sums[0]:11.2f}%", flush=True)
        total = [a + b for a, b in zip(total, sums)]
    share = total[1] / total[0]
    print(f"all  {100 * share:.2f}% of the bound; without regard to racks {100 * total[2] / total[0]:.2f}%")
    return 0 if share >= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
