"""Platoon beside kube-scheduler on the same nodes, and in the place of KAI-Scheduler."""
import json
import os
import subprocess
import time

from control_plane import binaries
from kit import Replica, apply, gang, pods_of, runs, test, wait_until
from kubelets import Kubelets

GPU = "nvidia.com/gpu"


class KubeScheduler:
    """The scheduler of Kubernetes, of the same release."""

    def __init__(self, plane, *flags):
        self.path = plane.path("kube-scheduler.log")
        with open(self.path, "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(binaries("kube-scheduler"), "kube-scheduler"), f"--kubeconfig={plane.kubeconfig}",
                 "--leader-elect=false", "--secure-port=0", *flags], stdout=log, stderr=subprocess.STDOUT)

    def log(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)


def plain(name, gpus):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [
        {"name": "main", "image": "model:1", "resources": {"limits": {GPU: gpus}}}]}}


def pods(plane):
    return json.loads(plane.kubectl("get", "pods", "-o", "json", "--show-managed-fields").stdout)["items"]


def excess(plane):
    """GPUs by which nodes are overcommitted, in all."""
    used = {}
    for pod in pods(plane):
        if pod["spec"].get("nodeName"):
            amount = int(pod["spec"]["containers"][0]["resources"]["limits"][GPU])
            used[pod["spec"]["nodeName"]] = used.get(pod["spec"]["nodeName"], 0) + amount
    return sum(max(0, amount - 8) for amount in used.values())


def all_bound(plane):
    waiting = [pod["metadata"]["name"] for pod in pods(plane) if not pod["spec"].get("nodeName")]
    return not waiting or f"{waiting} wait"


def assert_strangers(plane):
    """Nobody wrote to a pod of the other."""
    for pod in pods(plane):
        name, managers = pod["metadata"]["name"], {item["manager"] for item in pod["metadata"]["managedFields"]}
        other = "kube-scheduler" if pod["spec"]["schedulerName"] == "platoon" else "platoon"
        assert not any(manager.startswith(other) for manager in managers), f"{name}: {managers}"
        if other == "platoon":
            assert "pod-group-name" not in pod["metadata"].get("annotations", {}), name
    for event in json.loads(plane.kubectl("get", "events", "-o", "json").stdout)["items"]:
        if event["reason"] == "Scheduled" and event["involvedObject"]["name"].startswith(("plain", "share")):
            component = event.get("reportingComponent") or event["source"]["component"]
            ours = event["involvedObject"]["name"].startswith("share")
            assert (component == "default-scheduler") != ours, f"{event['involvedObject']['name']} by {component}"


@test
def two_schedulers_share_the_nodes(plane):
    plane.kubectl("delete", "events", "--all")
    with KubeScheduler(plane), Kubelets(plane), Replica(plane, kubelets=False) as replica:
        # 64 GPUs. Four waves of 10 + 5 arrive on both sides at once.
        for wave in range(4):
            apply(plane, [plain(f"plain-{wave}-{i}", 2) for i in range(5)] + gang(f"share{wave}", 5, gpus=1))
            wait_until("all of the wave are bound", lambda: all_bound(plane), replica)
        raced = excess(plane)
        # Two that decide at the same moment may both take the last GPUs of a node; never more than one wave of that.
        print(f"   GPUs that both took at the same moment: {raced}")
        assert raced <= 10, "more than can be at stake at one moment"
        # Without a race nobody takes what the other has: four GPUs are left, then none.
        apply(plane, [plain("plain-more", 8)] + gang("shareall", 4, gpus=8))
        wait_until("Platoon says why", lambda: "short of GPUs" in plane.kubectl(
            "get", "podgroup", "shareall", "-o", "jsonpath={.status.conditions[*].message}").stdout or "no message", replica)
        time.sleep(1)
        assert not any(pod["spec"].get("nodeName") for pod in pods(plane) if pod["metadata"]["name"].startswith(
            ("plain-more", "shareall"))), "bound where no room is"
        assert excess(plane) == raced
        assert_strangers(plane)
        replica.stop()


KAI = """apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: default-parent}
spec: {resources: {cpu: {quota: -1, limit: -1, overQuotaWeight: 1}, gpu: {quota: -1, limit: -1, overQuotaWeight: 1}, memory: {quota: -1, limit: -1, overQuotaWeight: 1}}}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team}
spec: {parentQueue: default-parent, resources: {cpu: {quota: -1, limit: -1, overQuotaWeight: 1}, gpu: {quota: 8, limit: -1, overQuotaWeight: 1}, memory: {quota: -1, limit: -1, overQuotaWeight: 1}}}
---
apiVersion: v1
kind: Pod
metadata: {name: kai-alone, labels: {kai.scheduler/queue: team}}
spec: {schedulerName: kai-scheduler, containers: [{name: main, image: "model:1", resources: {limits: {nvidia.com/gpu: "1"}}}]}
---
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: kai-gang}
spec: {minMember: 2, queue: team, priorityClassName: train}
"""


@test
def it_stands_in_for_kai(plane):
    member = """---
apiVersion: v1
kind: Pod
metadata: {name: kai-gang-%d, labels: {kai.scheduler/queue: team}, annotations: {pod-group-name: kai-gang}}
spec: {schedulerName: kai-scheduler, containers: [{name: main, image: "model:1", resources: {limits: {nvidia.com/gpu: "4"}}}]}
"""
    with Replica(plane, "--scheduler-name", "kai-scheduler") as replica:
        plane.kubectl("apply", "-f", "-", text=KAI + "".join(member % i for i in range(2)))
        apply(plane, gang("not-ours", 1))
        wait_until("the gang runs", runs(plane, "kai-gang", 2), replica)
        wait_until("the pod runs", lambda: plane.kubectl("get", "pod", "kai-alone", "-o", "jsonpath={.status.phase}").stdout ==
                   "Running" or "not yet", replica)
        wait_until("its queue counts them all", lambda: json.loads(plane.kubectl("get", "queue", "team", "-o", "json").stdout).get(
            "status", {}).get("allocated", {}).get(GPU) == "9" or plane.kubectl(
                "get", "queue", "team", "-o", "jsonpath={.status}").stdout, replica)
        assert not any(pod["spec"].get("nodeName") for pod in pods_of(plane, "not-ours")), "a pod of another name was placed"
        replica.stop()
    plane.kubectl("delete", "queues", "team", "default-parent")
