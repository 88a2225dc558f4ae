"""Jobs, StatefulSets and Deployments, from kube-controller-manager."""
from world import NODES, RACK, ZONE, required, segments, template, test


def job(name, pods, gpus=8, annotations=None, labels=None, pod=None, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "annotations": annotations or {}, "labels": labels or {}}, "spec": {
                "completionMode": "Indexed", "completions": pods, "parallelism": pods,
                "template": template(gpus, restartPolicy="Never", **(pod or {})), **spec}}


def minimum(count):
    return {"kai.scheduler/batch-min-member": str(count)}


def stateful_set(name, replicas, policy="Parallel", annotations=None, pod=None, gpus=8):
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"serviceName": name, "replicas": replicas, "podManagementPolicy": policy,
                     "selector": {"matchLabels": {"app": name}}, "template": template(gpus, labels={"app": name}, annotations=pod)}}


POD_INDEX = "apps.kubernetes.io/pod-index"
IGNORE_DISRUPTIONS = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}


def job_status(world, name):
    return [item for item in world.get("jobs") if item["metadata"]["name"] == name][0]["status"]


@test()
def job_gang_in_one_rack(world):
    world.apply(job("train", 4, annotations={**minimum(4), **required(RACK)}))
    world.wait_running("train-", 4)
    assert len(world.racks("train-")) == 1
    for pod in world.pods("train-"):
        world.end(pod["metadata"]["name"], 0)
    world.wait("the Job is complete", lambda: job_status(world, "train").get("succeeded") == 4)


@test()
def job_survives_preemption(world):
    """A Job that ignores disruptions is not failed by ours: every pod says what it was."""
    world.fill(*[name for name, _, _ in NODES[2:]])
    world.apply(job("victim", 2, annotations=minimum(2), podFailurePolicy=IGNORE_DISRUPTIONS, backoffLimit=0))
    world.wait_running("victim-", 2)
    world.apply(job("urgent", 2, annotations=minimum(2), labels={"priorityClassName": "inference"}))
    world.wait_running("urgent-", 2)

    def waits():  # after the pause that the controller of Jobs makes
        status, pods = job_status(world, "victim"), world.pods("victim-")
        return len(pods) == 2 and not status.get("failed") and not status.get("conditions") or f"{len(pods)} wait, {status}"
    world.wait("all of the victim wait again, none counts as failed", waits)
    world.plane.kubectl("delete", "job", "urgent")
    world.wait_running("victim-", 2)


@test()
def job_failed_pod_is_replaced_in_its_rack(world):
    world.apply(job("train", 4, annotations={**minimum(4), **required(RACK)}, backoffLimit=3))
    world.wait_running("train-", 4)
    rack, lost = world.racks("train-"), world.pods("train-")[0]["metadata"]["name"]
    world.end(lost, 1)
    world.wait("it is replaced", lambda: lost not in [pod["metadata"]["name"] for pod in world.pods("train-")])
    world.wait_running("train-", 4)
    assert world.racks("train-") == rack


@test()
def job_suspended_and_resumed(world):
    world.apply(job("train", 4, annotations=minimum(4), suspend=True))
    world.wait("it is seen", lambda: bool(job_status(world, "train").get("conditions")))
    assert not world.pods("train-")
    for suspend, count in ((False, 4), (True, 0), (False, 4)):
        world.plane.kubectl("patch", "job", "train", "-p", '{"spec":{"suspend":%s}}' % str(suspend).lower())
        world.wait_running("train-", count)


@test()
def job_scales(world):
    """Its parallelism is changed while it runs: the new pods join the gang in its rack, those that go take nothing along."""
    world.apply(job("train", 2, annotations={**minimum(2), **required(RACK)}, completionMode="NonIndexed", completions=None))
    world.wait_running("train-", 2)
    rack = world.racks("train-")
    for count in (4, 3):
        world.plane.kubectl("patch", "job", "train", "-p", '{"spec":{"parallelism":%d}}' % count)
        world.wait_running("train-", count)
        assert world.racks("train-") == rack


@test()
def stateful_set_failed_pod_is_replaced_in_its_rack(world):
    world.apply(stateful_set("db", 3, annotations=required(RACK)))
    world.wait_running("db-", 3)
    rack, uid = world.racks("db-"), [pod["metadata"]["uid"] for pod in world.pods("db-") if pod["metadata"]["name"] == "db-1"]
    world.end("db-1", 1)
    world.wait("it is made anew", lambda: [pod["metadata"]["uid"] for pod in world.pods("db-")
                                           if pod["metadata"]["name"] == "db-1"] not in ([], uid) or "not yet")
    world.wait_running("db-", 3)
    assert world.racks("db-") == rack


@test()
def stateful_set_scales(world):
    world.apply(stateful_set("db", 2, annotations=required(ZONE)))
    world.wait_running("db-", 2)
    for replicas in (6, 3):
        world.plane.kubectl("scale", "statefulset", "db", f"--replicas={replicas}")
        world.wait_running("db-", replicas)
        assert len({rack in ("r1", "r2") for rack in world.racks("db-")}) == 1


@test()
def stateful_set_ordered_rolling_update(world):
    world.apply(stateful_set("db", 3, policy="OrderedReady"))
    world.wait_running("db-", 3)
    world.plane.kubectl("set", "image", "statefulset/db", "main=model:2")
    world.wait_image("db-", "model:2", 3)


@test()
def deployment_pods_stand_alone(world):
    world.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template(4, labels={"app": "web"})}})
    world.wait_running("web-", 3)
    world.plane.kubectl("set", "image", "deployment/web", "main=model:2")
    world.wait_image("web-", "model:2", 3)
    for replicas in (5, 2):
        world.plane.kubectl("scale", "deployment", "web", f"--replicas={replicas}")
        world.wait_running("web-", replicas)


@test()
def replicas_are_spread_over_zones(world):
    """Pods without GPUs of a ReplicationController and of a Service, which say nothing of zones. Those with GPUs are packed."""
    def zones(prefix):
        counts = {}
        for pod in world.pods(prefix):
            zone = "z1" if world.rack_of(pod) in ("r1", "r2") else "z2"
            counts[zone] = counts.get(zone, 0) + 1
        return counts
    plain = template(0, labels={"name": "web"})
    world.apply({"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "web"}, "spec": {
        "replicas": 6, "selector": {"name": "web"}, "template": plain}})
    world.wait_running("web-", 6)
    assert zones("web-") == {"z1": 3, "z2": 3}, zones("web-")
    world.apply({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "api"}, "spec": {
        "selector": {"tier": "api"}, "ports": [{"port": 80}]}})
    world.apply(*[{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"api-{index}", "labels": {
        "tier": "api", "name": f"api-{index}"}}, "spec": template(0)["spec"]} for index in range(6)])
    world.wait_running("api-", 6)
    assert zones("api-") == {"z1": 3, "z2": 3}, zones("api-")
    world.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "model"}, "spec": {
        "replicas": 4, "selector": {"matchLabels": {"app": "model"}}, "template": template(2, labels={"app": "model"})}})
    world.wait_running("model-", 4)
    assert len({pod["spec"]["nodeName"] for pod in world.pods("model-")}) == 1
    world.plane.kubectl("delete", "service", "api")
    world.plane.kubectl("delete", "pods", "-l", "tier=api", "--wait=false")


def check_segments(world, prefix, label, size):
    """Each in one rack, each in another; all in the zone that holds all of them."""
    racks = {}
    for pod in world.pods(prefix):
        racks.setdefault(int(pod["metadata"]["labels"][label]) // size, set()).add(world.rack_of(pod))
    assert sorted(racks.values(), key=sorted) == [{"r3"}, {"r4"}], racks


@test()
def filled_rack_segments_of_a_stateful_set(world):
    """The zone with one node less has room for one of two segments, and is the tighter one."""
    world.fill("r2-n0")
    world.apply(stateful_set("db", 8, annotations=required(ZONE), pod=segments(4, RACK)))
    world.wait_running("db-", 8)
    check_segments(world, "db-", POD_INDEX, 4)


@test()
def filled_rack_segments_of_an_elastic_job(world):
    """One segment is enough to start, and its zone has to hold the other one, too."""
    world.fill("r2-n0")
    world.apply(job("train", 8, annotations={**minimum(4), **required(ZONE)}, pod={"annotations": segments(4, RACK)}))
    world.wait_running("train-", 8)
    check_segments(world, "train-", "batch.kubernetes.io/job-completion-index", 4)


@test()
def stateful_set_segments(world):
    """By the index that a StatefulSet gives its pods, without being told its label."""
    world.apply(stateful_set("db", 8, annotations=required(ZONE), pod=segments(4, RACK)))
    world.wait_running("db-", 8)
    first = {world.rack_of(pod) for pod in world.pods("db-") if int(pod["metadata"]["labels"][POD_INDEX]) < 4}
    second = {world.rack_of(pod) for pod in world.pods("db-") if int(pod["metadata"]["labels"][POD_INDEX]) >= 4}
    assert len(first) == len(second) == 1 and first != second, (first, second)
