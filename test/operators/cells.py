"""Cells: small clusters beside each other on one control plane, so that many rounds of a test are played at once. A cell is a zone
of three racks with four nodes of 8 GPUs; what belongs to it is kept there by a node selector.
"""
import contextlib
import copy

from world import GPU, HOST, RACK, ZONE

CELLS, RACKS, NODES = 8, 3, 4
FILLER = "fills"  # scheduler of the pods that take room: nobody, they are made with a node


def names(cell):
    return [f"c{cell}r{rack}-n{node}" for rack in range(RACKS) for node in range(NODES)]


@contextlib.contextmanager
def made(world):
    """The nodes of all cells, which go again."""
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", GPU: "8"}
    docs = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {
        ZONE: f"c{cell}", RACK: name.split("-")[0], HOST: name, "cell": ""}},
             "status": {"allocatable": amounts, "capacity": amounts}} for cell in range(CELLS) for name in names(cell)]
    # A node that is made with its status has it, as one that a kubelet registers.
    world.apply(*docs)
    world.wait("nodes of cells are ready", world.nodes_ready)
    try:
        yield
    finally:
        world.plane.kubectl("delete", "nodes", "-l", "cell", "--wait=false")


def fill(rng, cell):
    """Pods that take some of each node, or all of it."""
    docs = []
    for name in names(cell):
        taken = rng.choice((0, 0, 0, 2, 4, 8))
        if taken:
            docs.append({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"fill-{name}", "labels": {"fill": ""}}, "spec": {
                "schedulerName": FILLER, "nodeName": name, "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "model:1", "resources": {"limits": {GPU: taken}}}]}})
    return docs


def kept(doc, cell):
    """The workload with every template of pods kept in its cell."""
    doc = copy.deepcopy(doc)

    def walk(part):
        if isinstance(part, dict):
            if isinstance(part.get("containers"), list):
                part["nodeSelector"] = {ZONE: f"c{cell}"}
            for item in part.values():
                walk(item)
        elif isinstance(part, list):
            for item in part:
                walk(item)
    walk(doc)
    return doc


def gpus_of(pod):
    return sum(int(item.get("resources", {}).get("limits", {}).get(GPU, 0)) for item in pod["spec"]["containers"])


class Room:
    """What is free on the nodes of a cell, the pods of some workload not counted."""

    def __init__(self, cell, pods):
        self.free = {name: 8 for name in names(cell)}
        for pod in pods:
            if pod["spec"].get("nodeName") in self.free:
                self.free[pod["spec"]["nodeName"]] -= gpus_of(pod)

    def racks_for(self, count, gpus):
        """The racks with room for so many pods of so many GPUs."""
        slots = {}
        for name, free in self.free.items():
            slots[name.split("-")[0]] = slots.get(name.split("-")[0], 0) + free // gpus
        return [rack for rack, number in sorted(slots.items()) if number >= count]

