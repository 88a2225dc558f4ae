"""Nodes that die: kube-controller-manager gives them up and evicts their pods, and gangs come back whole elsewhere."""
import cells
from cases_builtin import job, job_status, minimum
from cases_jobset import jobset, replicated
from cases_kubeflow import pytorch_job
from cases_lws import GROUP_INDEX, lws, racks_of_replicas
from world import RACK, SOON, required, test


def check_books(world):
    """No node has more than it has room for; what is on its way out is still there, but on a dead node."""
    used = {}
    for pod in world.get("pods"):
        node = pod["spec"].get("nodeName")
        if node and node not in world.agents.dead and pod["status"].get("phase") not in ("Succeeded", "Failed"):
            used[node] = used.get(node, 0) + cells.gpus_of(pod)
    assert all(gpus <= 8 for gpus in used.values()), used


def wait_elsewhere(world, prefix, count, lost):
    """All of it runs again in one rack, without the pod that was lost; at no moment is a node given away twice, or a part of it in
    another rack than the rest."""
    def check():
        check_books(world)
        pods = world.pods(prefix)
        racks = {world.rack_of(pod) for pod in pods if pod["spec"].get("nodeName") and
                 pod["spec"]["nodeName"] not in world.agents.dead}
        assert len(racks) <= 1, racks
        running = [pod for pod in pods if pod["status"].get("phase") == "Running"]
        names = [pod["metadata"]["name"] for pod in pods]
        return (len(running) == len(pods) == count and lost["metadata"]["name"] not in names
                or f"{len(running)} of {names} run, {count} are wanted, in {racks}")
    world.wait(f"{count} pods of {prefix} run again", check)
    return world.racks(prefix)


def fill_all_but_two(world):
    """The nodes of one rack, which is the tightest then. For gangs of two: with each lost pod the controller of Jobs pauses longer."""
    world.fill("r1-n2", "r1-n3")


@test()
def node_dies_and_a_job_moves_whole(world):
    """The rack cannot hold it any more. What is left of the gang does not wait to be released one day."""
    fill_all_but_two(world)
    world.apply(job("train", 2, annotations={**minimum(2), **required(RACK)}, pod={"tolerations": SOON}, backoffLimit=0))
    world.wait_running("train-", 2)
    rack, lost = world.racks("train-"), world.pods("train-")[0]
    world.die(lost["spec"]["nodeName"])
    world.give_up(lost["spec"]["nodeName"])
    assert wait_elsewhere(world, "train-", 2, lost) != rack
    assert not job_status(world, "train").get("failed"), job_status(world, "train")


@test()
def node_dies_and_a_job_stays_where_there_is_room(world):
    """Only the pod that was lost is placed again."""
    world.apply(job("train", 3, annotations={**minimum(3), **required(RACK)}, pod={"tolerations": SOON}, backoffLimit=0))
    world.wait_running("train-", 3)
    rack, lost = world.racks("train-"), world.pods("train-")[0]["spec"]["nodeName"]
    before = {pod["metadata"]["uid"] for pod in world.pods("train-") if pod["spec"]["nodeName"] != lost}
    world.die(lost)
    world.give_up(lost)

    def replaced():
        check_books(world)
        pods = [pod for pod in world.pods("train-") if pod["status"].get("phase") == "Running"]
        return len(pods) == 3 and lost not in [pod["spec"]["nodeName"] for pod in pods] or f"{len(pods)} run"
    world.wait("three run", replaced)
    assert world.racks("train-") == rack and before < {pod["metadata"]["uid"] for pod in world.pods("train-")}


@test("lws")
def node_dies_and_a_replica_moves_whole(world):
    """Its controller makes the replica anew when the lost pod is gone; the other replica is not touched."""
    doc = lws("serve", 2, 4, annotations=required(RACK))
    doc["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["tolerations"] = SOON
    world.apply(doc)
    world.wait_running("serve-", 8)
    lost, kept = (next(iter(rack)) for rack in racks_of_replicas(world, "serve", 2))
    before = {pod["metadata"]["uid"] for pod in world.pods("serve-1")}
    world.die(f"{lost}-n1")
    world.give_up(f"{lost}-n1")

    def moved():
        check_books(world)
        pods = [pod for pod in world.pods("serve-") if pod["status"].get("phase") == "Running"]
        racks = {world.rack_of(pod) for pod in pods if pod["metadata"]["labels"][GROUP_INDEX] == "0"}
        return len(pods) == 8 and len(racks) == 1 and lost not in racks or f"{len(pods)} run, replica 0 in {racks}"
    world.wait("replica 0 runs elsewhere", moved)
    assert racks_of_replicas(world, "serve", 2)[1] == {kept}
    assert before == {pod["metadata"]["uid"] for pod in world.pods("serve-1")}


@test("jobset")
def node_dies_and_a_job_set_restarts_whole(world):
    doc = jobset("train", replicated("workers", 2, 2), annotations=required(RACK), failurePolicy={"maxRestarts": 3})
    doc["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["tolerations"] = SOON
    world.apply(doc)
    world.wait_running("train-", 4)
    rack, lost = world.racks("train-"), world.pods("train-")[0]
    world.die(lost["spec"]["nodeName"])
    world.give_up(lost["spec"]["nodeName"])
    assert wait_elsewhere(world, "train-", 4, lost) != rack


@test("training-operator")
def node_dies_and_a_training_job_moves_whole(world):
    """Of a master and a worker the node of one dies, in a rack that is full but for them."""
    fill_all_but_two(world)
    doc = pytorch_job("learn", 1, required(RACK))
    for replicas in doc["spec"]["pytorchReplicaSpecs"].values():
        replicas["template"]["spec"]["tolerations"] = SOON
    world.apply(doc)
    world.wait_running("learn-", 2)
    rack = world.racks("learn-")
    lost = [pod for pod in world.pods("learn-") if pod["metadata"]["name"] == "learn-worker-0"][0]
    world.die(lost["spec"]["nodeName"])
    world.give_up(lost["spec"]["nodeName"])

    def moved():
        check_books(world)
        pods = [pod for pod in world.pods("learn-") if pod["status"].get("phase") == "Running"]
        racks = {world.rack_of(pod) for pod in pods}
        uids = [pod["metadata"]["uid"] for pod in pods]
        return (len(pods) == 2 and len(racks) == 1 and racks != rack and lost["metadata"]["uid"] not in uids
                or f"{len(pods)} run, in {racks}")
    world.wait("both run in another rack", moved)
    status = world.get("pytorchjobs")[0]["status"]
    assert not [item for item in status["conditions"] if item["type"] == "Failed" and item["status"] == "True"], status


def lose_a_place(world, annotations):
    """A Job whose pod fails on a node that takes no others any more, in a rack that is full but for it. The rack, and the pod."""
    fill_all_but_two(world)
    world.apply(job("train", 2, annotations={**minimum(2), **required(RACK), **annotations}, backoffLimit=3))
    world.wait_running("train-", 2)
    rack, lost = world.racks("train-"), world.pods("train-")[0]
    world.plane.kubectl("cordon", lost["spec"]["nodeName"])
    world.end(lost["metadata"]["name"], 1)
    return rack, lost


AT_ONCE, IN_THE_END = "and all of it has elsewhere", "was below its minimum for too long"


def reasons(world):
    """How often pods were evicted for the one and for the other reason."""
    log = world.platoon.log()
    return log.count(AT_ONCE), log.count(IN_THE_END)


@test()
def lost_place_moves_a_gang_to_another_rack(world):
    """Nothing but another rack holds it: it is known as soon as the pod is there again."""
    at_once, in_the_end = reasons(world)
    rack, lost = lose_a_place(world, {})
    assert wait_elsewhere(world, "train-", 2, lost) != rack
    assert reasons(world) == (at_once + 1, in_the_end)


@test()
def lost_place_is_given_the_grace_that_the_gang_asks_for(world):
    """Then it is released as stale, and does not come back to the rack that does not hold it."""
    at_once, in_the_end = reasons(world)
    rack, lost = lose_a_place(world, {"kai.scheduler/staleness-grace-period": "15s"})
    assert wait_elsewhere(world, "train-", 2, lost) != rack
    assert reasons(world) == (at_once, in_the_end + 1)
