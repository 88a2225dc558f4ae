"""A cluster where workloads have their real controllers: surroundings of the tests, and what they look at.

Two zones of two racks (r1 and r2, r3 and r4) of four nodes with 8 GPUs each. Platoon runs with its own account and webhooks.
"""
import json

import kit
from controllers import OPERATORS, start_controller_manager
from installed import Installed, Replica
from node_agents import NodeAgents

GPU = "nvidia.com/gpu"
UNREACHABLE, OUT_OF_SERVICE = "node.kubernetes.io/unreachable", "node.kubernetes.io/out-of-service"
# Pods are evicted soon after their node was given up; the usual five minutes would only be waited for.
SOON = [{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}
        for key in (UNREACHABLE, "node.kubernetes.io/not-ready")]
ZONE, RACK, HOST = "topology.kubernetes.io/zone", "example.com/rack", "kubernetes.io/hostname"
NODES = [(f"r{rack}-n{node}", f"z{(rack + 1) // 2}", f"r{rack}") for rack in range(1, 5) for node in range(4)]
# What its tests create, in the order in which it is deleted.
WORKLOADS = ["trainjobs.trainer.kubeflow.org", "pytorchjobs.kubeflow.org", "mpijobs.kubeflow.org", "rayclusters.ray.io", "jobsets.jobset.x-k8s.io",
             "leaderworkersets.leaderworkerset.x-k8s.io", "jobs.batch", "statefulsets.apps", "deployments.apps", "replicationcontrollers"]


class World:
    """Surroundings: everything runs. It is `plane.world`."""

    def __init__(self, plane):
        self.plane, self.running = plane, set()

    def __enter__(self):
        plane = self.plane
        plane.world = self
        start_controller_manager(plane)
        self.installed = Installed(kit.PLATOON, plane)
        self.installed.apply()
        make_nodes(self.installed)
        self.agents = NodeAgents(plane).__enter__()
        self.platoon = None
        self.start_platoon()
        kit.wait_until("nodes are ready", self.nodes_ready)
        return self

    def __exit__(self, *_):
        self.agents.__exit__()
        self.platoon.__exit__()

    def nodes_ready(self):
        waiting = [node["metadata"]["name"] for node in self.get("nodes") if node["spec"].get("taints")]
        return not waiting or f"{waiting} have taints"

    def start_platoon(self):
        """Anew, so that it follows every kind there is: of a definition that comes later it learns after a while."""
        if self.platoon:
            self.platoon.stop()
        self.platoon = Replica(self.installed)
        self.platoon.wait_ready()

    def need(self, operator):
        if operator not in self.running:
            OPERATORS[operator](self.plane)
            self.running.add(operator)
            self.start_platoon()

    # ---- what is there ----

    def get(self, kind, selector=None):
        args = ["-l", selector] if selector else []
        return json.loads(self.plane.kubectl("get", kind, "-o", "json", *args).stdout)["items"]

    def pods(self, prefix):
        """Those that are not over and not on their way out, by name."""
        return [pod for pod in self.get("pods") if pod["metadata"]["name"].startswith(prefix)
                and "deletionTimestamp" not in pod["metadata"] and pod["status"].get("phase") not in ("Succeeded", "Failed")]

    @staticmethod
    def rack_of(pod):
        return pod["spec"]["nodeName"].split("-")[0]

    def racks(self, prefix):
        return {self.rack_of(pod) for pod in self.pods(prefix)}

    def wait(self, what, check):
        kit.wait_until(what, check, self.platoon)

    def wait_running(self, prefix, count):
        def check():
            pods = self.pods(prefix)
            running = [pod for pod in pods if pod["status"].get("phase") == "Running"]
            return len(running) == len(pods) == count or f"{len(running)} of {len(pods)} run, {count} are wanted"
        self.wait(f"{count} pods of {prefix} run", check)

    def wait_image(self, prefix, image, count):
        """All run, updated."""
        def check():
            images = [pod["spec"]["containers"][0]["image"] for pod in self.pods(prefix)]
            return images == [image] * count or images
        self.wait(f"all have image {image}", check)
        self.wait_running(prefix, count)

    def groups(self):
        return self.get("podgroups.scheduling.run.ai")

    def apply(self, *docs):
        kit.apply(self.plane, docs)

    # ---- what happens ----

    def fill(self, *nodes, gpus=8):
        """Takes GPUs of nodes, for good."""
        self.apply(*[{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"fill-{node}", "labels": {
            "fill": "", "kai.scheduler/preemptibility": "non-preemptible"}}, "spec": {
            "schedulerName": "platoon", "terminationGracePeriodSeconds": 0, "nodeSelector": {HOST: node},
            "containers": [container(gpus)]}} for node in nodes])
        self.wait_running("fill-", len(nodes))

    def end(self, pod, code):
        self.agents.exits[pod] = code

    def die(self, node):
        """Nothing is heard of the node any more: its pods are evicted by its taints, and never end."""
        self.agents.dead.add(node)
        self.wait(f"{node} is given up", lambda: self.taints(node, UNREACHABLE) == ["NoExecute", "NoSchedule"] or
                  self.taints(node, UNREACHABLE))

    def taints(self, node, key):
        found = [item for item in self.get("nodes") if item["metadata"]["name"] == node]
        return sorted(taint["effect"] for item in found for taint in item["spec"].get("taints", []) if taint["key"] == key)

    def give_up(self, node):
        """Says that the machine is off, as its administrator would: what was evicted from it goes."""
        self.plane.kubectl("taint", "node", node, f"{OUT_OF_SERVICE}=nodeshutdown:NoExecute")

    def clear(self):
        """Deletes the workloads as their users would. What belongs to them has to go, pods and PodGroups."""
        for node in self.agents.dead:
            self.plane.kubectl("taint", "node", node, f"{OUT_OF_SERVICE}-", check=False)
        for node in self.get("nodes"):
            if node["spec"].get("unschedulable"):
                self.plane.kubectl("uncordon", node["metadata"]["name"])
        self.agents.dead.clear()
        self.agents.exits.clear()
        served = self.plane.kubectl("api-resources", "-o", "name").stdout.split()
        for kind in (kind for kind in WORKLOADS if kind in served):
            self.plane.kubectl("delete", kind, "--all", "--wait=false")
        self.plane.kubectl("delete", "pods", "-l", "fill", "--wait=false")

        def empty():
            left = [f"{item['kind']} {item['metadata']['name']}"
                    for item in self.get("pods") + self.groups()]
            return not left or f"left: {left}"
        kit.wait_until("everything goes with its workload", empty, self.platoon)
        kit.wait_until("nodes are ready", self.nodes_ready)


def make_nodes(installed):
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", GPU: "8"}
    installed.create(
        {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "cluster"},
         "spec": {"levels": [{"nodeLabel": label} for label in (ZONE, RACK, HOST)]}},
        *[{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {ZONE: zone, RACK: rack, HOST: name}}}
          for name, zone, rack in NODES])
    status = json.dumps({"status": {"allocatable": amounts, "capacity": amounts}})
    for name, _, _ in NODES:
        installed.plane.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", status)


def container(gpus=8):
    return {"name": "main", "image": "model:1", "resources": {"limits": {GPU: gpus}}}


def template(gpus=8, labels=None, annotations=None, **spec):
    return {"metadata": {"labels": labels or {}, "annotations": annotations or {}},
            "spec": {"schedulerName": "platoon", "terminationGracePeriodSeconds": 1, "containers": [container(gpus)], **spec}}


def required(level):
    return {"kai.scheduler/topology": "cluster", "kai.scheduler/topology-required-placement": level}


def segments(size, level):
    return {"kai.scheduler/segment-size": str(size), "kai.scheduler/segment-topology-required-placement": level}


def test(*operators):
    """A test with these operators; nothing is left when it is over."""
    def register(function):
        def run(plane):
            world = plane.world
            for operator in operators:
                world.need(operator)
            try:
                function(world)
            finally:
                world.clear()
        kit.test_of(function.__name__, run, World)
        return function
    return register
