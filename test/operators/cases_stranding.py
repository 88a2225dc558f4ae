"""Nothing is stranded: no workload has pods in a rack that cannot hold the rest of it, or waits, while a rack holds all of it.

Random fills of racks, random workloads that must be in one rack, from their real controllers: these create their pods a few at a
time, or the next when the last one is ready, and most say nothing of a minimum. ROUNDS of each kind, of which as many as there are
cells are played at once.
"""
import random

import cells
import kit
from cases_builtin import job, minimum, stateful_set
from cases_jobset import jobset, replicated
from cases_kubeflow import mpi_job
from cases_lws import GROUP_INDEX, lws
from cases_ray import ray_cluster
from world import RACK, required, template, test


def is_named(prefix):
    return lambda pod: pod["metadata"]["name"].startswith(prefix)


class Unit:
    """Pods that belong into one rack: how many there will be, with how many GPUs each."""

    def __init__(self, cell, name, count, gpus, idle=0, belongs=None):
        self.cell, self.name, self.count, self.gpus, self.idle = cell, name, count, gpus, idle
        self.belongs = belongs or is_named(name + "-")


def make_job(rng, cell, name):
    count, gpus = rng.randint(2, 6), rng.choice((2, 4, 8))
    least = minimum(rng.choice((1, count))) if rng.random() < 0.5 else {}
    return [job(name, count, gpus=gpus, annotations={**least, **required(RACK)})], [Unit(cell, name, count, gpus)]


def make_stateful_set(policy):
    def make(rng, cell, name):
        count, gpus = rng.randint(2, 5), rng.choice((4, 8))
        return ([stateful_set(name, count, policy=policy, annotations=required(RACK), gpus=gpus)],
                [Unit(cell, name, count, gpus)])
    return make


def make_lws(startup):
    def make(rng, cell, name):
        replicas, size, gpus = rng.randint(1, 2), rng.randint(2, 4), rng.choice((4, 8))

        def replica(index):
            return lambda pod: is_named(name + "-")(pod) and pod["metadata"]["labels"].get(GROUP_INDEX) == str(index)
        return ([lws(name, replicas, size, annotations=required(RACK), startup=startup, gpus=gpus)],
                [Unit(cell, f"{name}-{index}", size, gpus, belongs=replica(index)) for index in range(replicas)])
    return make


def make_lws_with_leader(rng, cell, name):
    """A leader without GPUs, and workers that are made when it is ready."""
    size, gpus = rng.randint(2, 5), rng.choice((4, 8))
    doc = lws(name, 1, size, annotations=required(RACK), startup="LeaderReady", gpus=gpus)
    doc["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = template(0)
    return [doc], [Unit(cell, name, size - 1, gpus, idle=1)]


def make_jobset(rng, cell, name):
    replicas, pods, gpus = rng.randint(1, 2), rng.randint(1, 3), rng.choice((4, 8))
    return ([jobset(name, replicated("workers", replicas, pods, gpus=gpus), annotations=required(RACK))],
            [Unit(cell, name, replicas * pods, gpus)])


def make_mpi_job(rng, cell, name):
    workers, gpus = rng.randint(2, 5), rng.choice((4, 8))
    return [mpi_job(name, workers, required(RACK), gpus=gpus)], [Unit(cell, name, workers, gpus, idle=1)]


def make_ray_cluster(rng, cell, name):
    workers, gpus = rng.randint(2, 4), rng.choice((4, 8))
    return ([ray_cluster(name, workers, workers, annotations=required(RACK), gpus=gpus)],
            [Unit(cell, name, workers, gpus, idle=1)])


def is_alive(pod):
    return pod["status"].get("phase") not in ("Succeeded", "Failed") and "deletionTimestamp" not in pod["metadata"]


def judge(unit, pods):
    """True: it runs, in one rack, or no rack holds it. Else what it is."""
    mine = [pod for pod in pods if unit.belongs(pod)]
    placed = [pod for pod in mine if pod["spec"].get("nodeName")]
    racks = sorted({pod["spec"]["nodeName"].split("-")[0] for pod in placed})
    if len(placed) == unit.count + unit.idle and len(racks) == 1:
        return True
    room = cells.Room(unit.cell, [pod for pod in pods if not unit.belongs(pod)]).racks_for(unit.count, unit.gpus)
    return not room or f"{unit.name}: {len(placed)} of {len(mine)} pods of {unit.count} have nodes, in {racks}; {room} would hold it"


def released(world):
    """Evictions of gangs that were below their minimum, or could not be completed."""
    lines = world.platoon.get("/metrics")[1].splitlines()
    return sum(int(line.split()[-1]) for line in lines if line.startswith("platoon_evictions_total")
               and ('"stalegangeviction"' in line or '"unfinished"' in line))


def play(world, kind, make, numbers):
    """Rounds at once, one in each cell. How many workloads there were, and how many of them run whole."""
    fills, docs, units = [], [], []
    for cell, number in enumerate(numbers):
        rng = random.Random(f"{kit.OPTIONS.seed} {kind} {number}")
        fills += cells.fill(rng, cell)
        for which in range(rng.randint(1, 2)):
            made, theirs = make(rng, cell, f"w{cell}{'ab'[which]}")
            docs += [cells.kept(doc, cell) for doc in made]
            units += theirs
    world.apply(*fills)
    # Their nodes are given, so only what Platoon sees of them is waited for.
    world.wait("what fills the racks runs", lambda: sum(
        pod["status"].get("phase") == "Running" for pod in world.get("pods", "fill")) == len(fills) or "not yet")
    before = released(world)
    world.apply(*docs)

    def settled():
        pods = [pod for pod in world.get("pods") if is_alive(pod)]
        open_ = [verdict for verdict in (judge(unit, pods) for unit in units) if verdict is not True]
        return not open_ or open_
    world.wait(f"nothing is stranded in rounds {numbers} of {kind}, seed {kit.OPTIONS.seed}", settled)
    assert released(world) == before, f"rounds {numbers} of {kind}, seed {kit.OPTIONS.seed}: gangs were let go again"
    pods = [pod for pod in world.get("pods") if is_alive(pod)]
    whole = sum(sum(1 for pod in pods if unit.belongs(pod) and pod["spec"].get("nodeName")) == unit.count + unit.idle for unit in units)
    return len(units), whole


def stranding(kind, make, *operators):
    def run(world):
        rounds, total, whole = kit.OPTIONS.rounds or cells.CELLS, 0, 0
        with cells.made(world):
            for first in range(0, rounds, cells.CELLS):
                units, placed = play(world, kind, make, range(first, min(first + cells.CELLS, rounds)))
                total, whole = total + units, whole + placed
                world.clear()
        print(f"# {kind}: {rounds} rounds, {total} gangs, {whole} whole, no rack would hold the other {total - whole}")
    run.__name__ = f"stranding_{kind}"
    test(*operators)(run)


stranding("job", make_job)
stranding("stateful_set_parallel", make_stateful_set("Parallel"))
stranding("stateful_set_ordered", make_stateful_set("OrderedReady"))
stranding("lws_leader_created", make_lws("LeaderCreated"), "lws")
stranding("lws_leader_ready", make_lws("LeaderReady"), "lws")
stranding("lws_leader_unlike", make_lws_with_leader, "lws")
stranding("jobset", make_jobset, "jobset")
stranding("ray_cluster", make_ray_cluster, "kuberay")
stranding("mpi_job", make_mpi_job, "mpi-operator")
