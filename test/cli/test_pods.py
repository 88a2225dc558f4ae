#!/usr/bin/env python3
"""What pods ask for, as a user writes it: the plan honours it, or says what it does not.

    test_pods.py PLATOON [NAME...]

The last line is `N passed, M failed`.
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from runner import run_tests, test  # noqa: E402

PLATOON = os.path.abspath(sys.argv[1])
ONLY = sys.argv[2:]


def run(*args, text=None):
    return subprocess.run([PLATOON, *args], input=text, capture_output=True, text=True, timeout=120, check=False)


def plan(*objects, options=()):
    """State, nodes and reasons of each group, by the name of its workload or pod."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
    done = run("plan", "-f", "-", "-o", "json", *options, text=text)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    nodes = {}
    for binding in answer["bindings"]:
        nodes.setdefault(binding["pod"], binding["node"])
    return {group["name"]: (group["state"], "; ".join(reason["message"] for reason in group["reasons"]))
            for group in answer["groups"]}, nodes


def node(name, labels=None, **amounts):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "8", **amounts},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name, *volumes, metadata=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", **(metadata or {})},
            "spec": {"schedulerName": "platoon", "containers": [{"name": "c", "image": "i"}],
                     **({"volumes": list(volumes)} if volumes else {}), **spec}}


def storage_class(name, provisioner="kubernetes.io/no-provisioner", default=False, mode="WaitForFirstConsumer"):
    marks = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}} if default else {}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name, **marks},
            "provisioner": provisioner, "volumeBindingMode": mode}


def claim_spec(class_, size="1Gi"):
    return {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}},
            **({"storageClassName": class_} if class_ is not None else {})}


def local_volume(name, host, class_="local", size="10Gi"):
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
            "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": class_,
                     "local": {"path": "/d"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [
                         {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}]}]}}},
            "status": {"phase": "Available"}}


def claim(name, class_, size="1Gi"):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"},
            "spec": claim_spec(class_, size)}


def ephemeral(class_, size="1Gi"):
    return {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim_spec(class_, size)}}}


def uses(name):
    return {"name": "data", "persistentVolumeClaim": {"claimName": name}}


def stateful_set(class_, size="1Gi"):
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "default"},
            "spec": {"replicas": 2, "serviceName": "db", "podManagementPolicy": "Parallel",
                     "selector": {"matchLabels": {"app": "db"}},
                     "template": {"metadata": {"labels": {"app": "db"}},
                                  "spec": {"schedulerName": "platoon", "containers": [{"name": "c", "image": "i"}]}},
                     "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim_spec(class_, size)}]}}


# ---- claims that a cluster makes ----


@test
def claims_of_a_stateful_set_are_made():
    nodes = [node("n0"), node("n1")]
    volumes = [local_volume("v0", "n1"), local_volume("v1", "n1")]
    _, bound = plan(*nodes, storage_class("local"), *volumes, stateful_set("local"))
    assert bound == {"db-0": "n1", "db-1": "n1"}, bound
    # The claim that is there counts: it is too large for any volume.
    groups, bound = plan(*nodes, storage_class("local"), *volumes, claim("data-db-0", "local", "20Gi"), stateful_set("local"))
    assert "db-0" not in bound and any("20Gi" in text for _, text in groups.values()), (groups, bound)


@test
def claims_of_ephemeral_volumes_are_made():
    nodes = [node("n0"), node("n1")]
    groups, bound = plan(*nodes, storage_class("local"), local_volume("v1", "n1"), pod("e", ephemeral("local")))
    assert bound == {"e": "n1"}, (groups, bound)
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "default"},
           "spec": {"parallelism": 2, "completions": 2, "template": {"spec": {
               "schedulerName": "platoon", "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}],
               "volumes": [ephemeral("local")]}}}}
    _, bound = plan(*nodes, storage_class("local"), local_volume("v0", "n0"), local_volume("v1", "n1"), job)
    assert sorted(bound.values()) == ["n0", "n1"], bound
    # A claim of that name that was made for something else.
    groups, bound = plan(*nodes, storage_class("local"), local_volume("v1", "n1"), claim("e-scratch", "local"),
                         pod("e", ephemeral("local")))
    assert groups["e"][0] == "Blocked" and "was not created for pod e" in groups["e"][1], groups


@test
def claims_without_a_class_get_the_default_class():
    objects = [node("n0"), node("n1"), storage_class("local", default=True), local_volume("v1", "n1")]
    groups, bound = plan(*objects, claim("data", None), pod("p", uses("data")), pod("e", ephemeral(None)))
    assert sorted(bound.values()) == ["n1"] and len(groups) == 2, (groups, bound)
    groups, _ = plan(*objects, claim("data", ""), pod("p", uses("data")))
    assert groups["p"][0] == "Blocked" and "no storage class" in groups["p"][1], groups


@test
def a_claim_is_judged_before_a_server_refuses_it():
    def told(item, *others):
        text = "\n---\n".join(json.dumps(each) for each in (item, *others))
        done = run("validate", "-f", "-", text=text)
        return done.returncode, done.stdout + done.stderr

    fine = claim("c", "local")
    assert told(fine, storage_class("local"))[0] == 0 and "warning:" not in told(fine, storage_class("local"))[1]
    assert "StorageClass \"local\" does not exist" in told(fine, storage_class("other"))[1]
    assert "does not exist" not in told(fine)[1]
    for field, value, words in (("accessModes", [], "at least one access mode"), ("accessModes", None, "at least one access mode"),
                                ("accessModes", ["ReadWriteOncePod", "ReadWriteOnce"], "cannot be combined"),
                                ("resources", {}, "needs a size"), ("resources", {"requests": {"storage": "0"}}, "more than nothing"),
                                ("resources", {"requests": {"storage": "ten"}}, "storage"), ("volumeMode", "Disk", "volumeMode")):
        code, text = told({**fine, "spec": {**fine["spec"], field: value}})
        assert code == 1 and words in text, (field, value, text)


# ---- GPUs that are shared ----


def workload(kind, name, template_metadata=None, **metadata):
    template = {"metadata": {"labels": {"app": name}, **(template_metadata or {})},
                "spec": {"schedulerName": "platoon", "containers": [{"name": "c", "image": "i"}]}}
    spec = {"template": template}
    if kind == "Deployment":
        spec.update(replicas=1, selector={"matchLabels": {"app": name}})
    else:
        template["spec"]["restartPolicy"] = "Never"
    return {"apiVersion": "apps/v1" if kind == "Deployment" else "batch/v1", "kind": kind,
            "metadata": {"name": name, "namespace": "default", **metadata}, "spec": spec}


@test
def a_share_of_a_gpu_is_never_ignored():
    """As annotation or label, of a pod, of a template, or of the workload above it."""
    share = {"gpu-fraction": "0.5"}
    shapes = {"annotation": pod("p", metadata={"annotations": share}),
              "label": pod("p", metadata={"labels": share}),
              "template": workload("Job", "w", {"annotations": share}),
              "label of a template": workload("Deployment", "w", {"labels": {"app": "w", **share}}),
              "job": workload("Job", "w", annotations=share),
              "label of a job": workload("Job", "w", labels=share),
              "deployment": workload("Deployment", "w", annotations={"gpu-memory": "4000"})}
    for what, shape in shapes.items():
        groups, bound = plan(node("n0"), shape)
        (state, why), = groups.values()
        assert not bound and state == "Blocked", (what, groups, bound)
        assert "GPUs are given to pods as a whole" in why and "metadata." in why, (what, why)
        done = run("validate", "-f", "-", text=json.dumps(shape))
        assert "blocked" in done.stdout + done.stderr, (what, done.stdout + done.stderr)


# ---- queues ----


def queue(name, parent=None, labels=None, gpu=None):
    unlimited = {"quota": -1, "limit": -1}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name, "labels": labels or {}},
            "spec": {**({"parentQueue": parent} if parent else {}),
                     "resources": {"gpu": gpu or unlimited, "cpu": unlimited, "memory": unlimited}}}


def group(name, minimum=1, labels=None, **spec):
    return {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "default", "labels": labels or {}}, "spec": {"minMember": minimum, **spec}}


def member(name, of, labels=None):
    return pod(name, metadata={"annotations": {"pod-group-name": of}, "labels": labels or {}})


@test
def only_queues_without_others_below_them_take_pods():
    queues = [queue("dept"), queue("team", "dept"), queue("lost", "nowhere")]
    groups, bound = plan(node("n0"), *queues, pod("up", metadata={"labels": {"kai.scheduler/queue": "dept"}}),
                         pod("fine", metadata={"labels": {"kai.scheduler/queue": "team"}}),
                         pod("alone", metadata={"labels": {"kai.scheduler/queue": "lost"}}),
                         group("g", queue="dept"), member("g-0", "g"))
    assert bound == {"fine": "n0"}, bound
    assert groups["up"] == ("Blocked", "queue dept has queues below it, such as team: only those take pods"), groups
    assert groups["g"][0] == "Blocked" and groups["alone"][0] == "Blocked" and "nowhere" in groups["alone"][1], groups
    done = run("validate", "-f", "-", text="\n---\n".join(json.dumps(item) for item in (*queues, group("g", queue="dept"))))
    assert done.returncode == 1 and "Queue \"dept\" has queues below it" in done.stdout + done.stderr, done.stdout + done.stderr


@test
def nodes_without_volumes_are_told_once():
    """A claim counts for every size that others ask for, too: that is nobody's business."""
    def sized(name, size):
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"},
                "spec": {"storageClassName": "local", "accessModes": ["ReadWriteOnce"],
                         "resources": {"requests": {"storage": size}}}}
    pods = [pod(name, {"name": "v", "persistentVolumeClaim": {"claimName": name}}) for name in ("small", "large")]
    groups, bound = plan(node("n0"), node("n1"), storage_class("local"), sized("small", "1Gi"), sized("large", "3Gi"), *pods)
    assert not bound, bound
    for name in ("small", "large"):
        assert groups[name][1].count("2 without room for its volumes") == 1, groups


@test
def classes_of_every_installation_need_not_be_given():
    """`build` is non-preemptible, and may not use what is beyond the quota."""
    none = queue("none", gpu={"quota": 0, "limit": -1})
    label = {"priorityClassName": "build", "kai.scheduler/queue": "none"}
    spec = {"schedulerName": "platoon", "restartPolicy": "Never",
            "containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "default", "labels": label},
           "spec": {"template": {"spec": spec}}}
    groups, bound = plan(node("n0"), none, job, pod("single", metadata={"labels": label}, containers=spec["containers"]),
                         pod("train", metadata={"labels": {**label, "priorityClassName": "train"}}, containers=spec["containers"]))
    assert list(bound) == ["train"], bound
    held = [name for name, (state, why) in groups.items()
            if state == "Blocked" and "quota for non-preemptible pods of 0 GPUs" in why]
    assert len(held) == 2 and "single" in held and len(groups) == 3, groups


# ---- node pools ----


POOL = "kai.scheduler/node-pool"


@test
def a_pool_is_never_left():
    nodes = [node("a0", {POOL: "a"}), node("plain")]
    groups, bound = plan(*nodes, group("both", labels={POOL: "a"}), member("both-0", "both", {POOL: "a"}),
                         group("pods", 1), member("pods-0", "pods", {POOL: "a"}), pod("b", metadata={"labels": {POOL: "b"}}),
                         group("alone", labels={POOL: "a"}), member("alone-0", "alone"),
                         group("apart", labels={POOL: "a"}), member("apart-0", "apart", {POOL: "b"}))
    assert bound == {"both-0": "a0", "pods-0": "a0"}, bound
    for name in ("alone", "apart"):
        assert groups[name][0] == "Blocked" and "node-pool label differs" in groups[name][1], (name, groups[name])
    assert "in another node pool" in groups["b"][1], groups


@test
def where_queues_need_a_pool_one_without_is_of_no_pool():
    """As KAI-Scheduler has it, where every pool lists its queues by the label; without the profile such a queue is in all."""
    nodes = [node("a0", {POOL: "a"}), node("plain")]
    queues = [queue("top"), queue("below", "top"), queue("of-a", labels={POOL: "a"}),
              queue("torn", "top", labels={POOL: "a"})]

    def one(name, of, pool):
        return [group(name, 1, queue=of), member(f"{name}-0", name, {POOL: pool} if pool else {})]
    objects = [*nodes, *queues, *one("in-a", "below", "a"), *one("in-none", "below", ""), *one("labelled", "of-a", "a"),
               *one("cut", "torn", "a"), *one("astray", "of-a", "")]
    groups, bound = plan(*objects)
    assert bound == {"in-a-0": "a0", "in-none-0": "plain", "labelled-0": "a0", "cut-0": "a0"}, (groups, bound)
    for item in objects:
        if item["kind"] == "Pod":
            item["spec"]["schedulerName"] = "kai-scheduler"
    groups, bound = plan(*objects, options=("--profile", "kai"))
    assert bound == {"in-none-0": "plain", "labelled-0": "a0"}, (groups, bound)
    assert groups["in-a"][0] == "Blocked" and "name a queue of this one" in groups["in-a"][1], groups
    assert "queue torn is one of node pool a, and queue top above it in no node pool" in groups["cut"][1], groups
    assert groups["astray"][0] == "Blocked", groups
    said = group("said", 1, queue="below", labels={POOL: "a"})
    groups, bound = plan(*nodes, *queues, said, options=("--profile", "kai"))
    assert "queue below has no label kai.scheduler/node-pool, and the group is in node pool a" in groups["said"][1], groups


@test
def a_group_is_in_the_pool_of_its_pods():
    """Whether the workload says it, the PodGroup, or nobody but the pods: the queue counts in that pool."""
    nodes = [node("a0", {POOL: "a"}), node("b0", {POOL: "b"}), node("plain")]
    one = queue("one", gpu={"quota": 0, "limit": 1, "overQuotaWeight": 1})
    gpu = [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}]
    job = {"apiVersion": "batch/v1", "kind": "Job",
           "metadata": {"name": "j", "namespace": "default", "labels": {POOL: "a", "kai.scheduler/queue": "one"}},
           "spec": {"template": {"spec": {"schedulerName": "platoon", "restartPolicy": "Never", "containers": gpu}}}}
    groups, bound = plan(*nodes, one, job)
    assert list(bound.values()) == ["a0"], (groups, bound)

    def two(name, *pools):
        return [group(name, len(pools), queue="one"),
                *(pod(f"{name}-{i}", containers=gpu, metadata={"annotations": {"pod-group-name": name}, "labels": {POOL: pool}})
                  for i, pool in enumerate(pools))]
    groups, bound = plan(*nodes, one, *two("first", "a"), *two("second", "b"), *two("third", "a"), *two("mixed", "a", "b"))
    assert bound == {"first-0": "a0", "second-0": "b0"}, bound
    assert "queue one in node pool a: 1 GPU in use" in groups["third"][1], groups
    assert groups["mixed"][0] == "Blocked" and "differs from that of other pods" in groups["mixed"][1], groups
    of_a = queue("of-a", labels={POOL: "a"})
    groups, bound = plan(*nodes, of_a, group("g", queue="of-a"), member("g-0", "g", {POOL: "b"}),
                         group("h", queue="of-a"), member("h-0", "h", {POOL: "a"}))
    assert bound == {"h-0": "a0"}, bound
    assert groups["g"][0] == "Blocked" and "is one of another node pool" in groups["g"][1], groups


@test
def a_queue_of_a_pool_is_for_its_groups():
    objects = [node("a0", {POOL: "a"}), node("plain"), queue("of-a", labels={POOL: "a"}), queue("all")]
    named = {"in-a": ("of-a", "a"), "in-none": ("of-a", None), "in-all": ("all", "a")}
    pods = [pod(name, metadata={"labels": {"kai.scheduler/queue": of, **({POOL: pool} if pool else {})}})
            for name, (of, pool) in named.items()]
    groups, bound = plan(*objects, *pods, group("g", labels={POOL: "b"}, queue="of-a"), member("g-0", "g", {POOL: "b"}))
    assert bound == {"in-a": "a0", "in-all": "a0"}, bound
    assert groups["in-none"] == ("Blocked", "queue of-a is one of node pool a, and the group is in none"), groups
    assert groups["g"] == ("Blocked", "queue of-a is one of node pool a, and the group is in pool b"), groups


# ---- host ports ----


def listens(name, **port):
    return pod(name, metadata={"annotations": {"pod-group-name": "g"}},
               containers=[{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 8080, **port}]}])


@test
def a_refusal_for_a_host_port_names_it():
    for first, second in (({}, {}), ({"hostIP": "10.0.0.1"}, {})):
        groups, _ = plan(node("n0"), group("g", 2), listens("g-0", **first), listens("g-1", **second))
        assert groups["g"][0] == "Never" and "host port 8080/TCP" in groups["g"][1], groups
    for second in ({"protocol": "UDP"}, {"hostPort": 8081}):
        _, bound = plan(node("n0"), group("g", 2), listens("g-0"), listens("g-1", **second))
        assert len(bound) == 2, (second, bound)


# ---- disruption budgets ----


def budget(**spec):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "guard", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "guarded"}}, **spec}}


def runs(name, host, created, app, owner=None):
    item = pod(name, metadata={"labels": {"app": app}, "uid": name, "creationTimestamp": f"2026-01-01T00:00:{created:02}Z"},
               nodeName=host, containers=[{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "8"}}}])
    if owner:
        api, kind = owner
        item["metadata"]["ownerReferences"] = [{"apiVersion": api, "kind": kind, "name": "o", "uid": "o", "controller": True}]
    item["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return item


def victim(spec, owner):
    """Whose room the urgent pod gets: the guarded pods are younger, so they would go first without a budget."""
    objects = [node("n0"), node("n1"), node("n2"), runs("old", "n0", 1, "other"), runs("g-0", "n1", 10, "guarded", owner),
               runs("g-1", "n2", 11, "guarded", owner),
               {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 90}]
    urgent = pod("urgent", priorityClassName="high",
                 containers=[{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "8"}}}])
    text = json.dumps({"apiVersion": "v1", "kind": "List",
                       "items": [*objects, urgent, *([budget(**spec)] if spec is not None else [])]})
    done = run("plan", "-f", "-", "-o", "json", text=text)
    (eviction,) = json.loads(done.stdout)["evictions"]
    return eviction["pod"]


@test
def budgets_count_as_the_disruption_controller_counts():
    replicas, job = ("apps/v1", "ReplicaSet"), ("batch/v1", "Job")
    guarded, free = "old", "g-1"
    for spec, owner, wanted in ((None, replicas, free), ({"minAvailable": 1}, replicas, free), ({"minAvailable": 2}, replicas, guarded),
                                ({"maxUnavailable": 1}, replicas, free), ({"maxUnavailable": "50%"}, replicas, free),
                                ({"minAvailable": "50%"}, replicas, free), ({"minAvailable": "51%"}, replicas, guarded),
                                ({"maxUnavailable": 0}, replicas, guarded),
                                # Neither of the two: nothing is expected, so nothing may leave.
                                ({}, replicas, guarded),
                                # Nobody makes these anew, so that a percentage has nothing to be one of.
                                ({"maxUnavailable": 1}, None, guarded), ({"minAvailable": "50%"}, None, guarded),
                                ({"minAvailable": 1}, None, free),
                                # A Job has no scale: the controller gives up.
                                ({"maxUnavailable": 1}, job, guarded), ({"minAvailable": 1}, job, free)):
        found = victim(spec, owner)
        assert found == wanted, (spec, owner, found)


@test
def victims_are_said_to_be_the_fewest_or_not_proved_to_be():
    def told(hosts):
        """The plan for people and the one for programs, where one pod needs the room of two that run on some node."""
        urgent = pod("urgent", priorityClassName="high",
                     containers=[{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "16"}}}])
        items = [*(node(f"n{i}", **{"nvidia.com/gpu": "16"}) for i in range(hosts)),
                 *(runs(f"p{i}-{k}", f"n{i}", k, "any") for i in range(hosts) for k in range(2)), urgent,
                 {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 90}]
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
        done = [run("plan", "-f", "-", *more, text=text) for more in ((), ("-o", "json"))]
        assert all(one.returncode == 0 for one in done), done
        return done[0].stdout, json.loads(done[1].stdout)["evictions"]

    text, evictions = told(4)
    assert len(evictions) == 2 and all(one["fewest"] for one in evictions) and "not proved" not in text, (text, evictions)
    text, evictions = told(100)  # more pods than every set of them is tried for
    assert len(evictions) == 2 and not any("fewest" in one for one in evictions), evictions
    assert text.count("not proved to be the fewest") == 2, text


run_tests(ONLY)
