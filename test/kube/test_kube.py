#!/usr/bin/env python3
"""Platoon on a real control plane: etcd and kube-apiserver of the pinned release, nodes and kubelets simulated.

    test_kube.py PLATOON [TEXT...]        TEXT picks tests by name

The last line is `N passed, M failed`.
"""
import json
import os
import signal
import subprocess
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from control_plane import ROOT, ControlPlane  # noqa: E402

PLATOON = os.path.abspath(sys.argv[1])
ONLY = sys.argv[2:]
PATIENCE = 90
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Replica:
    """One `platoon run`."""

    def __init__(self, plane, *args, kubeconfig=None):
        self.path = plane.path(f"platoon-{time.monotonic_ns()}.log")
        with open(self.path, "wb") as log:
            self.process = subprocess.Popen(
                [PLATOON, "run", "--kubeconfig", kubeconfig or plane.kubeconfig, "--simulate-kubelets", "--log-level", "info",
                 *args], stdout=log, stderr=subprocess.STDOUT)

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


def wait_until(what, check, replica=None):
    end = time.monotonic() + PATIENCE
    while True:
        seen = check()
        if seen is True:
            return
        if time.monotonic() > end:
            raise AssertionError(f"{what}: {seen}\n{replica.log()[-3000:] if replica else ''}")
        time.sleep(0.2)


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


def racks_of(plane, name):
    return {pod["spec"]["nodeName"].rsplit("-", 1)[0] for pod in pods_of(plane, name)}


def furnish(plane):
    """Definitions, and two racks of four nodes."""
    plane.kubectl("apply", "-f", "-", text=subprocess.run([PLATOON, "install"], check=True, text=True,
                                                          stdout=subprocess.PIPE).stdout)
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


@test
def a_gang_runs_in_one_rack(plane):
    with Replica(plane) as replica:
        apply(plane, gang("train", 4))
        wait_until("train runs", runs(plane, "train", 4), replica)
        assert len(racks_of(plane, "train")) == 1, racks_of(plane, "train")
        wait_until("its PodGroup says so", lambda: plane.kubectl(
            "get", "podgroup", "train", "-o", "jsonpath={.status.phase}").stdout == "Running" or "not Running", replica)
        replica.stop()


@test
def what_cannot_be_says_why(plane):
    with Replica(plane) as replica:
        apply(plane, gang("wide", 5))
        wait_until("the PodGroup says why", lambda: "room for" in plane.kubectl(
            "get", "podgroup", "wide", "-o", "jsonpath={.status.conditions[*].message}").stdout or "no message", replica)
        assert not any(pod["spec"].get("nodeName") for pod in pods_of(plane, "wide"))
        replica.stop()


@test
def another_replica_takes_over(plane):
    with Replica(plane, "--leader-elect") as first:
        wait_until("the first leads", lambda: "lease taken" in first.log() or first.log(), first)
        with Replica(plane, "--leader-elect") as second:
            apply(plane, gang("one", 4))
            wait_until("one runs", runs(plane, "one", 4), first)
            assert "lease taken" not in second.log()
            first.stop(signal.SIGKILL)
            apply(plane, gang("two", 4))
            wait_until("the second leads", lambda: "lease taken" in second.log() or "not yet", second)
            wait_until("two runs", runs(plane, "two", 4), second)
            second.stop()
    holder = plane.kubectl("get", "lease", "platoon", "-o", "jsonpath={.spec.holderIdentity}").stdout
    assert holder == "", f"a replica that ended by itself still holds the lease: {holder}"


@test
def the_api_server_may_go_and_come(plane):
    with Replica(plane) as replica:
        wait_until("connected", lambda: "connected" in replica.log() or replica.log(), replica)
        plane.stop("kube-apiserver", kill=True)
        time.sleep(2)
        plane.start_apiserver()
        apply(plane, gang("after", 4))
        wait_until("after runs", runs(plane, "after", 4), replica)
        replica.stop()


@test
def the_rights_of_the_manifests_suffice(plane):
    token = plane.kubectl("create", "token", "platoon", "-n", "platoon-system").stdout.strip()
    config = plane.write_kubeconfig(plane.path("account"), {"token": token})
    plane.kubectl("apply", "-f", "-", text=json.dumps({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "kubelets"},
        "rules": [{"apiGroups": ["", "coordination.k8s.io"], "resources": ["nodes", "nodes/status", "leases"],
                   "verbs": ["get", "list", "watch", "patch", "update", "create"]}]}))
    plane.kubectl("create", "clusterrolebinding", "kubelets", "--clusterrole=kubelets",
                  "--serviceaccount=platoon-system:platoon", check=False)
    with Replica(plane, "--leader-elect", "-n", "platoon-system", kubeconfig=config) as replica:
        apply(plane, gang("small", 2))
        wait_until("small runs", runs(plane, "small", 2), replica)
        assert "forbidden" not in replica.log(), replica.log()[-2000:]
        replica.stop()


def main():
    passed = failed = 0
    with ControlPlane() as plane:
        furnish(plane)
        for case in TESTS:
            if ONLY and not any(text in case.__name__ for text in ONLY):
                continue
            started = time.monotonic()
            try:
                case(plane)
                passed += 1
                print(f"ok {case.__name__} ({time.monotonic() - started:.1f} s)")
            except Exception:  # pylint: disable=broad-except
                failed += 1
                traceback.print_exc(limit=4, file=sys.stdout)
                print(f"not ok {case.__name__}")
            sys.stdout.flush()
            clear(plane)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
