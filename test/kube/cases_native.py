"""Groups of Kubernetes itself on a server that has them: every rule of theirs that Platoon keeps, and the Job controller's.

The control plane is one of its own, with the feature gates on that these groups need. Two racks of four nodes, 8 GPUs each.
"""
import contextlib
import json
import os
import random
import subprocess

import exhaustive
import kit
from cases_claims import Controllers
from cases_schedulers import KubeScheduler
from control_plane import ROOT, ControlPlane
from kit import Replica, apply, bound, pods_of, wait_until

GATES = {
    36: ["GenericWorkload", "GangScheduling", "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption", "WorkloadWithJob",
         "DRAWorkloadResourceClaims"],
    37: ["GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup", "PodGroupPreemptionPolicy",
         "DRAWorkloadResourceClaims", "WorkloadWithJob"],
}
VERSIONS = {36: ["v1alpha2"], 37: ["v1beta1", "v1alpha3"]}
STARTED = {36: "PodGroupScheduled", 37: "PodGroupInitiallyScheduled"}
GROUPS = "podgroups.scheduling.k8s.io"
COMPOSITES = "compositepodgroups.scheduling.k8s.io"
RACK = "example.com/rack"
CONTROLLERS = "*,-taint-eviction-controller,-node-lifecycle-controller,-garbage-collector-controller"


def gates(release):
    return "--feature-gates=" + ",".join(f"{name}=true" for name in GATES[release])


class Gated:
    """A control plane of the same release with its gates on. It is `plane.gated`."""

    def __init__(self, plane):
        self.plane, self.stack = plane, contextlib.ExitStack()

    def __enter__(self):
        minor = self.plane.minor
        if minor not in GATES:
            return self
        versions = ",".join(f"scheduling.k8s.io/{version}=true" for version in VERSIONS[minor])
        try:
            gated = self.stack.enter_context(ControlPlane(flags=[f"--runtime-config={versions}", gates(minor)]))
            kit.furnish(gated)
            self.stack.enter_context(Controllers(gated, CONTROLLERS, gates(minor)))
        except BaseException:
            self.stack.close()
            raise
        self.plane.gated = gated
        return self

    def __exit__(self, *_):
        self.stack.close()


def clear(plane):
    kinds = [GROUPS, COMPOSITES] if plane.minor >= 37 else [GROUPS]
    plane.kubectl("delete", "jobs,podgroups.scheduling.run.ai,pods", "--all", "--wait=false")
    plane.kubectl("delete", "pods", "--all", "--force", "--grace-period=0", check=False)
    for kind in kinds:
        plane.kubectl("delete", kind, "--all", "--wait=false", check=False)
        for item in listed(plane, kind):
            plane.kubectl("patch", kind, item["metadata"]["name"], "--type=merge", "-p", '{"metadata":{"finalizers":null}}',
                          check=False)
    plane.kubectl("delete", "priorityclasses", "low", "high", "--ignore-not-found")


def test_from(minor, replicas=1):
    """A test for releases from that one on, with a replica that runs, unless it starts its own."""
    def wrap(function):
        def run(plane):
            if plane.minor < minor:
                raise kit.Skip(f"Kubernetes 1.{plane.minor} does not have what it is about")
            gated = plane.gated
            try:
                with Replica(gated) if replicas else contextlib.nullcontext() as replica:
                    function(*([gated, replica] if replicas else [gated]))
            finally:
                clear(gated)
        kit.test_of("native_" + function.__name__, run, Gated)
        return function
    return wrap


# ---- objects ----

def group(plane, name, minimum=None, key=None, parent=None, **spec):
    """A PodGroup: a gang with that minimum, `basic` without one."""
    if key:
        spec["schedulingConstraints"] = {"topology": [{"key": key}]}
    if parent:
        spec["parentCompositePodGroupName"] = parent
    if plane.minor >= 37:  # before, the server looks whether there is a Workload of that name
        spec["workloadRef"] = {"workloadName": "load", "templateName": name}
    policy = {"gang": {"minCount": minimum}} if minimum is not None else {"basic": {}}
    return {"apiVersion": "scheduling.k8s.io/" + VERSIONS[plane.minor][0], "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "default"}, "spec": {"schedulingPolicy": policy, **spec}}


def composite(name, minimum=None, key=None, parent=None, **spec):
    if key:
        spec["schedulingConstraints"] = {"topology": [{"key": key}]}
    if parent:
        spec["parentCompositePodGroupName"] = parent
    policy = {"gang": {"minGroupCount": minimum}} if minimum is not None else {"basic": {}}
    return {"apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "CompositePodGroup",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"workloadRef": {"workloadName": "load", "templateName": name}, "schedulingPolicy": policy, **spec}}


def pods(name, count, first=0, gpus=8, of=None, **spec):
    spec = {"schedulerName": "platoon", "terminationGracePeriodSeconds": 0, **spec}
    if of != "":
        spec["schedulingGroup"] = {"podGroupName": of or name}
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{i}", "namespace": "default"}, "spec": {
        **spec, "containers": [{"name": "main", "image": "model:1", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}}
            for i in range(first, first + count)]


def classes():
    return [{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
            for name, value in (("low", 10), ("high", 90))]


# ---- what is there ----

def listed(plane, kind):
    answer = plane.kubectl("get", kind, "-o", "json", check=False)
    return json.loads(answer.stdout)["items"] if answer.returncode == 0 else []


def condition(plane, kind, name, type_=None):
    """Status and reason of the condition that says whether a group has started."""
    type_ = type_ or ("CompositePodGroupInitiallyScheduled" if kind == COMPOSITES else STARTED[plane.minor])
    found = [item for group in listed(plane, kind) if group["metadata"]["name"] == name
             for item in group.get("status", {}).get("conditions", []) if item["type"] == type_]
    return (found[0]["status"], found[0]["reason"]) if found else None


def is_told(plane, kind, name, status, reason):
    def check():
        told = condition(plane, kind, name)
        return told == (status, reason) or f"{kind} {name}: {told}"
    return check


def nodes_of(plane, name):
    return [pod["spec"]["nodeName"] for pod in pods_of(plane, name) if pod["spec"].get("nodeName")]


def racks(plane, name):
    return {node.split("-")[0] for node in nodes_of(plane, name)}


WITNESSES = iter(range(1000))


def look_again(plane, replica):
    """A pod that came later is bound: what came before was looked at."""
    name = f"witness{next(WITNESSES)}"
    apply(plane, pods(name, 1, gpus=0, of=""))
    wait_until("the witness is bound", bound(plane, name, 1), replica)
    plane.kubectl("delete", "pod", name + "-0", "--force", "--grace-period=0")


def fill(plane, replica, *nodes):
    """Nobody else fits on these nodes."""
    for node in nodes:
        apply(plane, pods("full-" + node, 1, of="", nodeSelector={"kubernetes.io/hostname": node}))
        wait_until(f"{node} is full", bound(plane, "full-" + node, 1), replica)


def is_refused(plane, doc, word):
    answer = plane.kubectl("create", "-f", "-", text=json.dumps(doc), check=False)
    assert answer.returncode != 0 and word in answer.stderr, (answer.returncode, answer.stderr)


# ---- gangs ----

@test_from(36)
def pods_wait_for_their_group(plane, replica):
    apply(plane, pods("a", 2))
    look_again(plane, replica)
    assert not nodes_of(plane, "a")
    apply(plane, [group(plane, "a", 2)])
    wait_until("both are placed", bound(plane, "a", 2), replica)


@test_from(36)
def a_gang_waits_for_its_minimum(plane, replica):
    apply(plane, [group(plane, "a", 4)] + pods("a", 3))
    look_again(plane, replica)
    assert not nodes_of(plane, "a")
    assert condition(plane, GROUPS, "a") is None
    apply(plane, pods("a", 1, first=3))
    wait_until("all are placed", bound(plane, "a", 4), replica)
    wait_until("it is told", is_told(plane, GROUPS, "a", "True", "Scheduled"), replica)


@test_from(36)
def a_gang_without_room_places_nothing(plane, replica):
    fill(plane, replica, "r1-n0", "r1-n1", "r1-n2", "r2-n0", "r2-n1")
    apply(plane, [group(plane, "a", 4)] + pods("a", 4))
    wait_until("it is told", is_told(plane, GROUPS, "a", "False", "Unschedulable"), replica)
    look_again(plane, replica)
    assert not nodes_of(plane, "a")
    plane.kubectl("delete", "pod", "full-r2-n0-0", "--force", "--grace-period=0")
    wait_until("there is room", bound(plane, "a", 4), replica)


@test_from(36)
def more_than_the_minimum_takes_what_there_is(plane, replica):
    fill(plane, replica, "r1-n0", "r1-n1", "r1-n2")
    apply(plane, [group(plane, "a", 4)] + pods("a", 6))
    wait_until("five are placed", bound(plane, "a", 5), replica)
    look_again(plane, replica)
    assert len(nodes_of(plane, "a")) == 5


@test_from(36)
def a_late_pod_goes_alone(plane, replica):
    apply(plane, [group(plane, "a", 2)] + pods("a", 2))
    wait_until("the gang is placed", bound(plane, "a", 2), replica)
    apply(plane, pods("a", 1, first=2))
    wait_until("so is the late one", bound(plane, "a", 3), replica)


@test_from(36)
def a_replacement_is_placed(plane, replica):
    apply(plane, [group(plane, "a", 4)] + pods("a", 4))
    wait_until("the gang is placed", bound(plane, "a", 4), replica)
    plane.kubectl("delete", "pod", "a-0", "--force", "--grace-period=0")
    look_again(plane, replica)
    assert len(nodes_of(plane, "a")) == 3, "nothing goes because one is lost"
    apply(plane, pods("a", 1, first=4))
    wait_until("the replacement is placed", bound(plane, "a", 4), replica)
    assert condition(plane, GROUPS, "a") == ("True", "Scheduled")


@test_from(36)
def a_pod_that_succeeded_counts_no_more(plane, replica):
    """As in kube-scheduler, which does not say so."""
    apply(plane, [group(plane, "a", 4)] + pods("a", 4))
    wait_until("the gang runs", kit.runs(plane, "a", 4), replica)
    plane.kubectl("patch", "pod", "a-0", "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Succeeded"}}')
    plane.kubectl("delete", "pod", "a-1", "--force", "--grace-period=0")
    apply(plane, pods("a", 1, first=4))
    wait_until("it is said what does not count", lambda: "3/4 pods exist (ended or leaving ones do not count)" in json.dumps(
        listed(plane, "podgroups.scheduling.run.ai")) or "not yet", replica)
    if plane.minor >= 37:
        plane.kubectl("patch", GROUPS, "a", "--type=merge", "-p", '{"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}}')
        wait_until("with a lower minimum it is placed", bound(plane, "a", 4), replica)


@test_from(37)
def a_lower_minimum_frees_the_gang(plane, replica):
    apply(plane, [group(plane, "a", 4)] + pods("a", 3))
    look_again(plane, replica)
    assert not nodes_of(plane, "a")
    plane.kubectl("patch", GROUPS, "a", "--type=merge", "-p", '{"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}}')
    wait_until("three are enough", bound(plane, "a", 3), replica)


@test_from(37)
def a_higher_minimum_ends_nothing(plane, replica):
    apply(plane, [group(plane, "a", 3)] + pods("a", 3))
    wait_until("the gang is placed", bound(plane, "a", 3), replica)
    plane.kubectl("patch", GROUPS, "a", "--type=merge", "-p", '{"spec":{"schedulingPolicy":{"gang":{"minCount":5}}}}')
    look_again(plane, replica)
    assert len(nodes_of(plane, "a")) == 3
    assert condition(plane, GROUPS, "a") == ("True", "Scheduled")


@test_from(36)
def the_server_refuses_what_cannot_be(plane, _):
    is_refused(plane, group(plane, "none", 0), "minCount")
    twice = group(plane, "twice", 1)
    twice["spec"]["schedulingConstraints"] = {"topology": [{"key": RACK}, {"key": "kubernetes.io/hostname"}]}
    is_refused(plane, twice, "topology")
    apply(plane, [group(plane, "a", 1)])
    answer = plane.kubectl("patch", GROUPS, "a", "--type=json", "-p", json.dumps(
        [{"op": "replace", "path": "/spec/schedulingPolicy", "value": {"basic": {}}}]), check=False)
    assert answer.returncode != 0 and "schedulingPolicy" in answer.stderr, answer.stderr


# ---- topology ----

@test_from(36)
def a_key_keeps_the_gang_in_one_domain(plane, replica):
    fill(plane, replica, "r1-n0")
    apply(plane, [group(plane, "a", 4, RACK)] + pods("a", 4))
    wait_until("the gang is placed", bound(plane, "a", 4), replica)
    assert racks(plane, "a") == {"r2"}


@test_from(36)
def nodes_without_the_label_are_not_used(plane, replica):
    plane.kubectl("label", "nodes", "r1-n0", "r1-n1", "r2-n0", RACK + "-")
    try:
        apply(plane, [group(plane, "a", 4, RACK)] + pods("a", 4))
        wait_until("it is told", is_told(plane, GROUPS, "a", "False", "Unschedulable"), replica)
        look_again(plane, replica)
        assert not nodes_of(plane, "a")
    finally:
        plane.kubectl("label", "nodes", "r1-n0", "r1-n1", RACK + "=r1")
        plane.kubectl("label", "nodes", "r2-n0", RACK + "=r2")
    wait_until("with the label they are", bound(plane, "a", 4), replica)


@test_from(36)
def a_gang_grows_in_its_own_domain(plane, replica):
    apply(plane, [group(plane, "a", 2, RACK)] + pods("a", 2))
    wait_until("the gang is placed", bound(plane, "a", 2), replica)
    apply(plane, pods("a", 3, first=2))
    wait_until("it grows", bound(plane, "a", 4), replica)
    look_again(plane, replica)
    assert len(nodes_of(plane, "a")) == 4 and len(racks(plane, "a")) == 1, nodes_of(plane, "a")


# ---- trees ----

@test_from(37)
def two_of_three_groups_start(plane, replica):
    docs = [composite("root", 2)]
    for name in ("x", "y", "z"):
        docs += [group(plane, name, 4, RACK, "root")] + pods(name, 4)
    apply(plane, docs)
    wait_until("the root is told", is_told(plane, COMPOSITES, "root", "True", "Scheduled"), replica)
    look_again(plane, replica)
    assert sorted(len(nodes_of(plane, name)) for name in ("x", "y", "z")) == [0, 4, 4]
    assert not any(len(racks(plane, name)) > 1 for name in ("x", "y", "z"))


@test_from(37)
def a_level_lies_inside_the_one_above(plane, replica):
    fill(plane, replica, "r1-n0", "r1-n1", "r1-n2")
    docs = [composite("root", 2, RACK)]
    for name in ("x", "y"):
        docs += [group(plane, name, 2, "kubernetes.io/hostname", "root")] + pods(name, 2, gpus=4)
    apply(plane, docs)
    wait_until("x is placed", bound(plane, "x", 2), replica)
    wait_until("y is placed", bound(plane, "y", 2), replica)
    assert racks(plane, "x") == racks(plane, "y") == {"r2"}
    assert len(set(nodes_of(plane, "x"))) == len(set(nodes_of(plane, "y"))) == 1


@test_from(37)
def a_root_that_fails_places_nothing(plane, replica):
    fill(plane, replica, "r1-n0", "r2-n0")
    apply(plane, [composite("root", 2), group(plane, "x", 2, RACK, "root"), group(plane, "y", 4, RACK, "root")] +
          pods("x", 2) + pods("y", 4))
    wait_until("the root is told", is_told(plane, COMPOSITES, "root", "False", "Unschedulable"), replica)
    look_again(plane, replica)
    assert not nodes_of(plane, "x") and not nodes_of(plane, "y")


@test_from(37)
def no_group_takes_the_room_of_its_sibling(plane, replica):
    """kube-scheduler serves the first group beyond its minimum, and the second finds nothing."""
    fill(plane, replica, "r1-n0", "r1-n1", "r1-n2", "r1-n3")
    apply(plane, [composite("root", 2), group(plane, "x", 1, parent="root"), group(plane, "y", 2, parent="root")] +
          pods("x", 4) + pods("y", 2))
    wait_until("y is placed", bound(plane, "y", 2), replica)
    wait_until("x has the rest", bound(plane, "x", 2), replica)


@test_from(37)
def a_circle_is_invalid(plane, replica):
    apply(plane, [composite("p", 1, parent="q"), composite("q", 1, parent="p"), group(plane, "x", 1, parent="p")] +
          pods("x", 1))
    for kind, name in ((GROUPS, "x"), (COMPOSITES, "p"), (COMPOSITES, "q")):
        wait_until(f"{name} is told", is_told(plane, kind, name, "False", "Invalid"), replica)
    look_again(plane, replica)
    assert not nodes_of(plane, "x")


@test_from(37)
def five_levels_are_invalid(plane, replica):
    docs = [composite("c1", 1)] + [composite(f"c{i}", 1, parent=f"c{i - 1}") for i in (2, 3, 4)]
    apply(plane, docs + [group(plane, "x", 1, parent="c4")] + pods("x", 1))
    wait_until("x is told", is_told(plane, GROUPS, "x", "False", "Invalid"), replica)
    wait_until("c1 is told", is_told(plane, COMPOSITES, "c1", "False", "Invalid"), replica)
    look_again(plane, replica)
    assert not nodes_of(plane, "x")


# ---- priority and disruption ----

@test_from(36)
def another_priority_than_the_group_is_an_error(plane, replica):
    apply(plane, classes() + [group(plane, "a", 2, priorityClassName="low")] + pods("a", 1, priorityClassName="low") +
          pods("a", 1, first=1, priorityClassName="high"))
    wait_until("it is told", is_told(plane, GROUPS, "a", "False", "SchedulerError"), replica)
    look_again(plane, replica)
    assert not nodes_of(plane, "a")


def preempted(plane, replica, mode):
    """Two pods of a group of four leave room for a gang of two: how many of the four are left."""
    whole = {"all": {}} if plane.minor >= 37 else "PodGroup"
    single = {"single": {}} if plane.minor >= 37 else "Pod"
    fill(plane, replica, *[f"r1-n{i}" for i in range(4)])
    apply(plane, classes() + [group(plane, "a", 4, priorityClassName="low", disruptionMode=whole if mode == "all" else single)] +
          pods("a", 4, priorityClassName="low"))
    wait_until("the gang runs", kit.runs(plane, "a", 4), replica)
    apply(plane, [group(plane, "b", 2, RACK, priorityClassName="high")] +
          pods("b", 2, priorityClassName="high", nodeSelector={RACK: "r2"}))
    wait_until("the other is placed", bound(plane, "b", 2), replica)
    return len(nodes_of(plane, "a"))


@test_from(36)
def mode_all_goes_as_a_whole(plane, replica):
    assert preempted(plane, replica, "all") == 0
    assert condition(plane, GROUPS, "a", "DisruptionTarget") == ("True", "PreemptionByScheduler")


@test_from(36)
def mode_single_gives_what_is_needed(plane, replica):
    assert preempted(plane, replica, "single") == 2


@test_from(37)
def never_takes_nothing_from_anybody(plane, replica):
    patient = {**classes()[1], "preemptionPolicy": "Never"}
    apply(plane, [classes()[0], patient] + pods("low", 8, of="", priorityClassName="low"))
    wait_until("the cluster is full", bound(plane, "low", 8), replica)
    # The server takes the field for given before it reads the class, so both have to say it.
    apply(plane, [group(plane, "a", 1, priorityClassName="high", preemptionPolicy="Never")] +
          pods("a", 1, priorityClassName="high"))
    wait_until("it is told", is_told(plane, GROUPS, "a", "False", "Unschedulable"), replica)
    look_again(plane, replica)
    assert len(nodes_of(plane, "low")) == 8 and not nodes_of(plane, "a")


# ---- life ----

@test_from(36)
def what_has_started_stays_so_and_its_group_is_kept(plane, replica):
    apply(plane, [group(plane, "a", 2)] + pods("a", 2))
    wait_until("it is told", is_told(plane, GROUPS, "a", "True", "Scheduled"), replica)
    plane.kubectl("delete", GROUPS, "a", "--wait=false")
    look_again(plane, replica)
    assert len(nodes_of(plane, "a")) == 2
    assert condition(plane, GROUPS, "a") == ("True", "Scheduled"), "a finalizer keeps it while it has pods"
    plane.kubectl("delete", "pods", "a-0", "a-1", "--force", "--grace-period=0")
    wait_until("the group goes with its pods", lambda: not listed(plane, GROUPS) or "it is there", replica)


@test_from(37)
def a_job_gets_its_group_from_its_controller(plane, replica):
    apply(plane, [{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "default"}, "spec": {
        "completions": 4, "parallelism": 4, "completionMode": "Indexed",
        "scheduling": {"schedulingPolicy": {"gang": {}}, "schedulingConstraints": {"topology": [{"key": RACK}]}},
        "template": {"spec": {"schedulerName": "platoon", "restartPolicy": "Never", "containers": [
            {"name": "main", "image": "model:1", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}])
    wait_until("all are placed", bound(plane, "train", 4), replica)
    assert len(racks(plane, "train")) == 1
    made = listed(plane, GROUPS)
    assert len(made) == 1 and made[0]["spec"]["schedulingPolicy"]["gang"]["minCount"] == 4, made
    wait_until("it is told", is_told(plane, GROUPS, made[0]["metadata"]["name"], "True", "Scheduled"), replica)


@test_from(36)
def pods_of_another_scheduler_are_left_alone(plane, replica):
    apply(plane, [group(plane, "a", 1)] + pods("a", 1, schedulerName="other"))
    look_again(plane, replica)
    assert not nodes_of(plane, "a") and condition(plane, GROUPS, "a") is None
    assert not listed(plane, "podgroups.scheduling.run.ai")


# ---- beside kube-scheduler ----

def make_tree(plane, rng):
    """A random tree of 1 to 3 groups over racks and hosts, as (composites, groups, pods), for no scheduler yet."""
    above = plane.minor >= 37 and rng.random() < 0.7
    count = rng.randint(2, 3) if above else 1
    key = rng.choice([None, None, RACK]) if above else None
    root = [composite("root", rng.choice([None, rng.randint(1, count)]), key)] if above else []
    groups, members = [], []
    for name in ("x", "y", "z")[:count]:
        size = rng.randint(2, 5)
        groups.append(group(plane, name, rng.choice([None, rng.randint(1, size)]),
                            rng.choice([None, RACK, RACK, "kubernetes.io/hostname"]), "root" if above else None))
        members += pods(name, size, gpus=rng.choice([2, 4, 4]))
    return root, groups, members


def bind_fillers(plane, rng):
    """Takes some of the nodes, without asking a scheduler."""
    docs = []
    for rack in (1, 2):
        for node in range(4):
            taken = rng.choice([0, 2, 4, 4, 6, 8, 8])
            docs += pods(f"full-r{rack}-n{node}", 1, gpus=taken, of="", nodeName=f"r{rack}-n{node}") if taken else []
    if docs:
        apply(plane, docs)


def all_told(plane, names):
    """Every pod has a node, or was told why not, or belongs to a group of which nothing is said before it can start."""
    def check():
        open_ = [pod["metadata"]["name"] for name in names for pod in pods_of(plane, name) if not pod["spec"].get("nodeName") and
                 not any(item["type"] == "PodScheduled" for item in pod.get("status", {}).get("conditions", []))]
        return not open_ or f"{open_} are not decided"
    return check


def met(plane, root, groups):
    """The groups whose minimum has nodes, and whether the root's has."""
    started = {item["metadata"]["name"] for item in groups if len(nodes_of(plane, item["metadata"]["name"])) >=
               item["spec"]["schedulingPolicy"].get("gang", {"minCount": 1})["minCount"]}
    least = root[0]["spec"]["schedulingPolicy"].get("gang", {"minGroupCount": 1})["minGroupCount"] if root else 1
    return started, len(started) >= least


def key_of(item):
    return item["spec"].get("schedulingConstraints", {"topology": [{"key": None}]})["topology"][0]["key"]


def can_start(plane, root, groups, members):
    """Whether the minimum of the tree has room, by trying everything."""
    nodes = {item["metadata"]["name"]: item["metadata"]["labels"] for item in listed(plane, "nodes") if RACK in item["metadata"]["labels"]}
    free = {name: 8 for name in nodes}
    sizes = {}
    for pod in listed(plane, "pods") + members:
        gpus = int(pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"])
        if pod["spec"].get("nodeName"):
            free[pod["spec"]["nodeName"]] -= gpus
        else:
            sizes[pod["spec"]["schedulingGroup"]["podGroupName"]] = gpus
    parts = [(item["spec"]["schedulingPolicy"].get("gang", {"minCount": 1})["minCount"], sizes[item["metadata"]["name"]],
              key_of(item)) for item in groups]
    least = root[0]["spec"]["schedulingPolicy"].get("gang", {"minGroupCount": 1})["minGroupCount"] if root else 1
    return exhaustive.can_start(parts, least, key_of(root[0]) if root else None, nodes, free)


def placed_by(plane, tree, scheduler, start):
    """Everything is there before the scheduler starts, so that none decides by what comes first."""
    root, groups, members = tree
    members = [{**pod, "spec": {**pod["spec"], "schedulerName": scheduler}} for pod in members]
    names = [item["metadata"]["name"] for item in groups]
    apply(plane, root + groups + members)
    with start() as process:
        wait_until("all is decided", all_told(plane, names), process)
    found = met(plane, root, groups)
    plane.kubectl("delete", "pods", *[pod["metadata"]["name"] for pod in members], "--force", "--grace-period=0")
    for kind, items in ((GROUPS, groups), (COMPOSITES, root)):
        if items:
            plane.kubectl("delete", kind, *[item["metadata"]["name"] for item in items], "--timeout=60s")
    return found


@test_from(36, replicas=0)
def whatever_kube_scheduler_places_is_placed(plane):
    """The same trees on the same nodes, first by kube-scheduler, then by Platoon: its groups start here too, and some of ours
    do not start there. Here starts what has room at all, which is tried in every way."""
    counts = {"both": 0, "neither": 0, "only here": 0}
    for number in range(60 if kit.OPTIONS.long else 6):
        rng = random.Random(kit.OPTIONS.seed * 1000 + number)
        tree = make_tree(plane, rng)
        bind_fillers(plane, rng)
        possible = can_start(plane, *tree)
        groups_there, root_there = placed_by(plane, tree, "default-scheduler", lambda: KubeScheduler(plane, gates(plane.minor)))
        groups_here, root_here = placed_by(plane, tree, "platoon", lambda: Replica(plane))
        assert root_here or not root_there, f"instance {number}: kube-scheduler starts {groups_there}: {json.dumps(tree[:2])}"
        assert root_here == possible, f"instance {number}: {groups_here} start, possible: {possible}: {json.dumps(tree[:2])}"
        assert len(groups_here) >= len(groups_there), f"instance {number}: {groups_there} there, {groups_here} here"
        counts["both" if root_there else "only here" if root_here else "neither"] += 1
        plane.kubectl("delete", "pods", "--all", "--force", "--grace-period=0")
    print(f"# trees that start: {counts}")


@test_from(37, replicas=0)
def what_is_translated_for_it_is_accepted(plane):
    """By the API server, with its rules: the trees, gangs and pods that `platoon translate --to native` prints."""
    plane.kubectl("create", "namespace", "team", check=False)
    for name in ("tree", "gang", "volcano", "native", "workloads"):
        printed = subprocess.run([kit.PLATOON, "translate", "-f", os.path.join(ROOT, "test", "cli", "translate", name + ".yaml"),
                                  "--to", "native"], check=False, text=True, capture_output=True).stdout
        answer = plane.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", text=printed)
        assert answer.stdout.count("created") == printed.count("\nkind: "), (name, answer.stdout)
