"""`platoon run` from day to day: gangs, reasons, replicas."""
import json
import os
import signal
import time

from definitions import definition
from kit import Replica, apply, bound, gang, pods_of, racks_of, runs, test, wait_until


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
        wait_until("the PodGroup says why", lambda: "short of GPUs" in plane.kubectl(
            "get", "podgroup", "wide", "-o", "jsonpath={.status.conditions[*].message}").stdout or "no message", replica)
        assert not any(pod["spec"].get("nodeName") for pod in pods_of(plane, "wide"))
        replica.stop()


@test
def a_pod_alone_is_a_binding_and_an_event(plane):
    pod = next(doc for doc in gang("alone", 1) if doc["kind"] == "Pod")
    del pod["metadata"]["annotations"]
    with Replica(plane) as replica:
        apply(plane, [pod])
        wait_until("it runs", runs(plane, "alone", 1), replica)
        assert plane.kubectl("get", "podgroups", "-o", "name").stdout == ""
        assert "pod-group-name" not in pods_of(plane, "alone")[0]["metadata"].get("annotations", {})
        wait_until("it is told once", lambda: plane.kubectl(
            "get", "events", "--field-selector", "reason=Scheduled,involvedObject.name=alone-0", "-o",
            "jsonpath={.items[*].count}").stdout == "1" or "no event", replica)
        replica.stop()


KARTA = {
    "apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "flow"},
    "spec": {
        "structureDefinition": {
            "rootComponent": {"name": "flow", "kind": {"group": "jobs.example.com", "version": "v1", "kind": "Flow"}},
            "childComponents": [{
                "name": "worker", "ownerRef": "flow", "scaleDefinition": {"replicasPath": ".spec.replicas"},
                "podSelector": {"componentTypeSelector": {"keyPath": ".metadata.labels.role", "value": "worker"}}}]},
        "optimizationInstructions": {"gangScheduling": {"podGroup": {
            "name": "all", "subGroups": [{"componentName": "worker"}]}}}},
}


@test
def a_karta_describes_a_kind_of_ones_own(plane):
    config = plane.path("kinds.yaml")

    def configure(text):
        with open(config + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(config + ".new", config)

    configure("workloadKinds: []\n")
    definitions = [definition("run.ai", "Karta", "kartas", ["v1alpha1"], scope="Cluster"),
                   definition("jobs.example.com", "Flow", "flows", ["v1"])]
    apply(plane, definitions)
    plane.kubectl("wait", "--for=condition=Established", "crd/kartas.run.ai", "crd/flows.jobs.example.com")
    flow = {"apiVersion": "jobs.example.com/v1", "kind": "Flow", "metadata": {"name": "f"}, "spec": {"replicas": 2}}
    apply(plane, [KARTA, flow])
    uid = plane.kubectl("get", "flow", "f", "-o", "jsonpath={.metadata.uid}").stdout
    pods = [doc for doc in gang("f", 2) if doc["kind"] == "Pod"]
    for pod in pods:
        del pod["metadata"]["annotations"]
        pod["metadata"]["labels"] = {"role": "worker"}
        pod["metadata"]["ownerReferences"] = [
            {"apiVersion": "jobs.example.com/v1", "kind": "Flow", "name": "f", "uid": uid, "controller": True}]
    with Replica(plane, "--config", config) as replica:
        wait_until("it is there", lambda: "connected to" in replica.log() or "not yet", replica)
        # A kind that it learns of while it runs.
        configure("workloadKinds:\n- {group: jobs.example.com, version: v1, kind: Flow, resource: flows}\n")
        time.sleep(3)
        apply(plane, pods[:1])
        wait_until("its leaf waits for two", lambda: plane.kubectl(
            "get", "podgroups", "-o", "jsonpath={.items[*].spec.subGroups[0].minMember}").stdout == "2" or "no leaf", replica)
        assert not pods_of(plane, "f")[0]["spec"].get("nodeName"), "half of the gang was placed"
        apply(plane, pods[1:])
        wait_until("it runs", runs(plane, "f", 2), replica)
        replica.stop()
    plane.kubectl("delete", "crd", "flows.jobs.example.com", "kartas.run.ai")


@test
def a_shard_says_what_holds_in_its_pool(plane):
    """It says that only workers are used, and no node is one; a pod of another pool is not concerned."""
    pool = "kai.scheduler/node-pool"
    node = json.loads(plane.kubectl("get", "nodes", "-o", "json").stdout)["items"][0]["metadata"]["name"]
    shard = {"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard", "metadata": {"name": "default"},
             "spec": {"args": {"restrict-node-scheduling": "true", "v": "3"}}}
    plain, labelled = [doc for doc in gang("plain", 1) + gang("labelled", 1) if doc["kind"] == "Pod"]
    for pod in (plain, labelled):
        del pod["metadata"]["annotations"]
    labelled["metadata"]["labels"] = {pool: "kube"}
    try:
        plane.kubectl("label", "node", node, f"{pool}=kube")
        apply(plane, [definition("kai.scheduler", "SchedulingShard", "schedulingshards", ["v1"], scope="Cluster")])
        plane.kubectl("wait", "--for=condition=Established", "crd/schedulingshards.kai.scheduler")
        apply(plane, [shard, plain, labelled])
        with Replica(plane) as replica:
            wait_until("the one in the pool runs", runs(plane, "labelled", 1), replica)
            assert pods_of(plane, "labelled")[0]["spec"]["nodeName"] == node
            wait_until("the other one is told why", lambda: "without the worker label" in plane.kubectl(
                "get", "pod", "plain-0", "-o", "jsonpath={.status.conditions[*].message}").stdout or "no reason", replica)
            plane.kubectl("delete", "schedulingshard", "default")
            wait_until("the other one runs", runs(plane, "plain", 1), replica)
            replica.stop()
    finally:
        plane.kubectl("label", "node", node, f"{pool}-", check=False)
        plane.kubectl("delete", "crd", "schedulingshards.kai.scheduler", check=False)


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


class BindingsRefused:
    """While it lasts the API server itself refuses to bind pods whose names end with this."""

    def __init__(self, plane, ending, message):
        self.plane, self.ending, self.message = plane, ending, message

    def is_known(self):
        """The server learns of a policy a moment after it is written: asked by a binding that would change nothing."""
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": f"probe{self.ending}"},
                "target": {"kind": "Node", "name": "r1-n0"}}
        answer = self.plane.kubectl("create", "--raw", f"/api/v1/namespaces/default/pods/probe{self.ending}/binding?dryRun=All",
                                    "-f", "-", text=json.dumps(body), check=False)
        return self.message in answer.stderr or answer.stderr + answer.stdout

    def __enter__(self):
        name, api = "no-bindings", "admissionregistration.k8s.io/v1"
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
        check = {"expression": f"!object.metadata.name.endsWith('{self.ending}')", "message": self.message, "reason": "Forbidden"}
        probe = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"probe{self.ending}"},
                 "spec": {"schedulerName": "nobody", "containers": [{"name": "main", "image": "model:1"}]}}
        apply(self.plane, [
            {"apiVersion": api, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
             "spec": {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [rule]}, "validations": [check]}},
            {"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
             "spec": {"policyName": name, "validationActions": ["Deny"]}}, probe])
        wait_until("the policy is known", self.is_known)
        return self

    def __exit__(self, *_):
        self.plane.kubectl("delete", "validatingadmissionpolicies,validatingadmissionpolicybindings", "no-bindings", "--ignore-not-found")


def events_of(plane, pod, reason):
    return plane.kubectl("get", "events", "--field-selector", f"reason={reason},involvedObject.name={pod}", "-o",
                         "jsonpath={.items[*].message}").stdout


def says(plane, kind, name, condition, reason, text):
    """Until the object has a condition of this type that is false for this reason, with this text."""
    def check():
        status = json.loads(plane.kubectl("get", kind, name, "-o", "json").stdout).get("status", {})
        return any(item["status"] == "False" and item["reason"] == reason and text in item["message"]
                   for item in status.get("conditions", []) if item["type"] == condition) or status
    return check


@test
def a_refused_binding_is_told_and_tried_again(plane):
    message = "no bindings of this pod today"
    with BindingsRefused(plane, "-2", message) as policy, Replica(plane) as replica:
        apply(plane, gang("held", 4))
        wait_until("the pod says why", says(plane, "pod", "held-2", "PodScheduled", "SchedulerError", message), replica)
        wait_until("so does its group", says(plane, "podgroup", "held", "Scheduled", "BindingRefused", message), replica)
        wait_until("and an event", lambda: message in events_of(plane, "held-2", "FailedScheduling") or "no event", replica)
        told = events_of(plane, "held-2", "Scheduled")
        assert told == "", f"told as placed without being bound: {told}\n{replica.log()[-3000:]}"
        time.sleep(5)
        refused = [line for line in replica.log().splitlines() if "binding refused" in line and "held-2" in line]
        assert 2 <= len(refused) < 12, f"{len(refused)} bindings of it were sent in 5 s, with growing pauses"
        policy.__exit__()
        wait_until("held is bound", bound(plane, "held", 4), replica)
        assert len(racks_of(plane, "held")) == 1, racks_of(plane, "held")
        wait_until("it is told as placed", lambda: events_of(plane, "held-2", "Scheduled") != "" or "no event", replica)
        replica.stop()


@test
def a_gang_that_is_refused_again_and_again_is_let_go(plane):
    with BindingsRefused(plane, "-2", "never"), Replica(plane, kubelets=False) as replica:
        apply(plane, gang("lost", 4))
        wait_until("three are bound", bound(plane, "lost", 3), replica)
        wait_until("no half of it stays", lambda: [pod["metadata"]["name"] for pod in pods_of(plane, "lost")
                                                   if not pod["metadata"].get("deletionTimestamp")] == ["lost-2"]
                   or "not yet", replica)
        replica.stop()
