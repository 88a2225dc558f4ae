"""JobSets, from their own controller: several Jobs that start, fail and end together."""
from world import RACK, ZONE, required, segments, template, test


def replicated(name, replicas, pods, gpus=8, annotations=None):
    return {"name": name, "replicas": replicas, "template": {"spec": {
        "parallelism": pods, "completions": pods, "backoffLimit": 0,
        "template": template(gpus, annotations=annotations, restartPolicy="Never")}}}


def jobset(name, *jobs, annotations=None, **spec):
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": name, "annotations": annotations or {}}, "spec": {"replicatedJobs": list(jobs), **spec}}


@test("jobset")
def jobset_starts_whole(world):
    """A driver and two Jobs of workers in one zone, each Job in a rack of its own by its segments."""
    world.apply(jobset("train", replicated("driver", 1, 1, gpus=0), replicated("workers", 2, 4, annotations=segments(4, RACK)),
                       annotations=required(ZONE)))
    world.wait_running("train-", 9)
    racks = [{world.rack_of(pod) for pod in world.pods(f"train-workers-{index}-")} for index in range(2)]
    assert [len(rack) for rack in racks] == [1, 1] and racks[0] != racks[1], racks


@test("jobset")
def jobset_restarts_after_a_failure(world):
    world.apply(jobset("train", replicated("workers", 2, 2), failurePolicy={"maxRestarts": 3}))
    world.wait_running("train-", 4)
    before = {pod["metadata"]["uid"] for pod in world.pods("train-")}
    world.end(world.pods("train-")[0]["metadata"]["name"], 1)
    world.wait("all pods are new", lambda: not before & {pod["metadata"]["uid"] for pod in world.pods("train-")} or "not yet")
    world.wait_running("train-", 4)


@test("jobset")
def jobset_suspended_and_resumed(world):
    world.apply(jobset("train", replicated("workers", 2, 2), suspend=True))
    for suspend, count in ((False, 4), (True, 0), (False, 4)):
        world.plane.kubectl("patch", "jobsets", "train", "--type=merge", "-p", '{"spec":{"suspend":%s}}' % str(suspend).lower())
        world.wait_running("train-", count)


@test("jobset")
def jobset_in_order(world):
    world.apply(jobset("train", replicated("first", 1, 1), replicated("second", 1, 2),
                       startupPolicy={"startupPolicyOrder": "InOrder"}))
    world.wait_running("train-", 3)


@test("jobset")
def jobset_exclusive_topology(world):
    """Pods of a Job are refused until its first one has a node, and then sent to the same rack."""
    world.apply(jobset("train", replicated("workers", 2, 4), annotations={"alpha.jobset.sigs.k8s.io/exclusive-topology": RACK}))
    world.wait_running("train-", 8)
    racks = [{world.rack_of(pod) for pod in world.pods(f"train-workers-{index}-")} for index in range(2)]
    assert [len(rack) for rack in racks] == [1, 1] and racks[0] != racks[1], racks
