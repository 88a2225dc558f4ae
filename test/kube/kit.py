"""What the tests on a real control plane share: replicas of Platoon, gangs, waiting, a list of tests."""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from control_plane import ROOT  # noqa: E402,F401  pylint: disable=unused-import

PLATOON = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
PATIENCE = 90
TESTS = []


class Case:
    """One test. `surroundings` is a context manager of the plane that tests share which stand together."""

    def __init__(self, name, function, surroundings):
        self.name, self.function, self.surroundings = name, function, surroundings


class Skip(Exception):
    """A test that cannot be run here; the reason is printed and it counts neither as passed nor as failed."""


class OPTIONS:
    seed = 1
    rounds = 0  # of tests that are played in rounds; 0: as few as say something
    long = False


def test_of(name, function, surroundings):
    TESTS.append(Case(name, function, surroundings))


def test(function):
    """A test on a cluster with nodes, which is left empty."""
    def run(plane):
        try:
            function(plane)
        finally:
            clear(plane)
    test_of(function.__name__, run, Furnished)
    return function


class Replica:
    """One `platoon run`."""

    def __init__(self, plane, *args, kubeconfig=None, kubelets=True, wrapper=()):
        self.path = plane.path(f"platoon-{time.monotonic_ns()}.log")
        if "--listen" not in args:
            args += ("--listen", "none")
        if kubelets:
            args += ("--simulate-kubelets",)
        with open(self.path, "wb") as log:
            self.process = subprocess.Popen(
                [*wrapper, PLATOON, "run", "--kubeconfig", kubeconfig or plane.kubeconfig, "--log-level", "info", *args],
                stdout=log, stderr=subprocess.STDOUT)

    def log(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(30)
        assert number == signal.SIGKILL or code == 0, f"platoon run ended with {code}:\n{self.log()[-3000:]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def wait_until(what, check, replica=None, pause=0.2):
    end = time.monotonic() + PATIENCE
    while True:
        seen = check()
        if seen is True:
            return
        if time.monotonic() > end:
            raise AssertionError(f"{what}: {seen}\n{replica.log()[-3000:] if replica else ''}")
        time.sleep(pause)


def gang(name, pods, gpus=8, level="example.com/rack"):
    docs = [{"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": name},
             "spec": {"minMember": pods, "queue": "default-queue",
                      "topologyConstraint": {"topology": "cluster", "requiredTopologyLevel": level}}}]
    for i in range(pods):
        docs.append({"apiVersion": "v1", "kind": "Pod",
                     "metadata": {"name": f"{name}-{i}", "annotations": {"pod-group-name": name}},
                     "spec": {"schedulerName": "platoon", "containers": [
                         {"name": "main", "image": "model:1",
                          "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}})
    return docs


def apply(plane, docs):
    plane.kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": docs}))


def pods_of(plane, name):
    items = json.loads(plane.kubectl("get", "pods", "-o", "json").stdout)["items"]
    return [pod for pod in items if pod["metadata"]["name"].startswith(name + "-")]


def runs(plane, name, pods):
    def check():
        found = pods_of(plane, name)
        running = [pod for pod in found if pod.get("status", {}).get("phase") == "Running"]
        return len(running) == pods or f"{len(running)} of {len(found)} run"
    return check


def bound(plane, name, pods):
    """Bound is enough where nobody runs them, as kubelets of a replica whose clock is behind do not yet."""
    def check():
        count = sum(1 for pod in pods_of(plane, name) if pod["spec"].get("nodeName"))
        return count == pods or f"{count} of {pods} are bound"
    return check


def racks_of(plane, name):
    return {pod["spec"]["nodeName"].rsplit("-", 1)[0] for pod in pods_of(plane, name)}


def install(plane, *args):
    """Our own manifests without the Deployment: the program runs beside the cluster. Webhooks only where asked for."""
    args = args or ("--webhooks", "false")
    objects = json.loads(subprocess.run([PLATOON, "install", "-o", "json", *args], check=True, text=True,
                                        stdout=subprocess.PIPE).stdout)
    objects["items"] = [item for item in objects["items"] if item["kind"] not in ("Deployment", "PodDisruptionBudget")]
    plane.kubectl("apply", "-f", "-", text=json.dumps(objects))


class Furnished:
    """Definitions, and two racks of four nodes."""

    def __init__(self, plane):
        self.plane = plane

    def __enter__(self):
        furnish(self.plane)
        return self

    def __exit__(self, *_):
        pass


def furnish(plane):
    install(plane)
    plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
    apply(plane, [
        {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "cluster"},
         "spec": {"levels": [{"nodeLabel": "example.com/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
        {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "default-queue"},
         "spec": {"resources": {kind: {"quota": -1, "limit": -1, "overQuotaWeight": 1} for kind in ("cpu", "gpu", "memory")}}},
    ] + [{"apiVersion": "v1", "kind": "Node",
          "metadata": {"name": f"r{rack}-n{node}",
                       "labels": {"example.com/rack": f"r{rack}", "kubernetes.io/hostname": f"r{rack}-n{node}"}}}
         for rack in (1, 2) for node in range(4)])
    status = json.dumps({"status": {"allocatable": amounts, "capacity": amounts,
                                    "conditions": [{"type": "Ready", "status": "True"}]}})
    for rack in (1, 2):
        for node in range(4):
            plane.kubectl("patch", "node", f"r{rack}-n{node}", "--subresource=status", "--type=merge", "-p", status)
            plane.kubectl("taint", "node", f"r{rack}-n{node}", "node.kubernetes.io/not-ready-", check=False)


def clear(plane):
    plane.kubectl("delete", "podgroups,pods", "--all", "--wait=false")
    plane.kubectl("delete", "pods", "--all", "--force", "--grace-period=0", check=False)
