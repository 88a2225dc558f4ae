"""PyTorchJobs, from training-operator, and MPIJobs, from mpi-operator."""
import json

from world import RACK, required, template, test


def replicas(count, container, gpus=8):
    pod = template(gpus)
    pod["spec"]["containers"][0]["name"] = container
    return {"replicas": count, "restartPolicy": "OnFailure", "template": pod}


def pytorch_job(name, workers, annotations=None, **policy):
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"runPolicy": policy, "pytorchReplicaSpecs": {
                "Master": replicas(1, "pytorch"), "Worker": replicas(workers, "pytorch")}}}


def mpi_job(name, workers, annotations=None, gpus=8):
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"slotsPerWorker": 8, "mpiReplicaSpecs": {
                "Launcher": replicas(1, "launcher", 0), "Worker": {**replicas(workers, "worker", gpus), "restartPolicy": "Never"}}}}


def nodes(world, prefix):
    return {pod["metadata"]["name"]: pod["spec"].get("nodeName") for pod in world.pods(prefix)}


@test("training-operator")
def pytorch_job_starts_whole_or_not(world):
    """Master and workers together need four nodes: in no rack are there as many, until a filler goes."""
    world.fill("r1-n0", "r2-n0", "r3-n0", "r4-n0")
    world.apply(pytorch_job("learn", 3, required(RACK)))
    world.wait("its pods are there", lambda: len(world.pods("learn-")) == 4 or len(world.pods("learn-")))
    world.wait("its group was decided", lambda: any(
        condition["type"] == "Scheduled" and condition["status"] == "False" and condition["reason"] != "NotReady"
        for group in world.groups() for condition in group.get("status", {}).get("conditions", [])) or "not yet")
    assert not any(nodes(world, "learn-").values()), nodes(world, "learn-")
    world.plane.kubectl("delete", "pod", "fill-r3-n0", "--wait=false")
    world.wait_running("learn-", 4)
    assert world.racks("learn-") == {"r3"}


@test("training-operator")
def pytorch_worker_is_replaced_in_its_rack(world):
    world.apply(pytorch_job("learn", 3, required(RACK)))
    world.wait_running("learn-", 4)
    rack, lost = world.racks("learn-"), "learn-worker-1"
    uid = [pod["metadata"]["uid"] for pod in world.pods("learn-") if pod["metadata"]["name"] == lost][0]
    world.plane.kubectl("delete", "pod", lost, "--wait=false")
    world.wait("it is replaced", lambda: any(
        pod["metadata"]["name"] == lost and pod["metadata"]["uid"] != uid for pod in world.pods("learn-")) or "not yet")
    world.wait_running("learn-", 4)
    assert world.racks("learn-") == rack


@test("training-operator")
def pytorch_job_suspended_and_resumed(world):
    world.apply(pytorch_job("learn", 3, required(RACK), suspend=True))
    suspend = "[" + json.dumps({"op": "replace", "path": "/spec/runPolicy/suspend", "value": False}) + "]"
    world.plane.kubectl("patch", "pytorchjob", "learn", "--type=json", "-p", suspend)
    world.wait_running("learn-", 4)
    world.plane.kubectl("patch", "pytorchjob", "learn", "--type=json", "-p", suspend.replace("false", "true"))
    world.wait("its pods go", lambda: not world.pods("learn-") or "not yet")
    world.plane.kubectl("patch", "pytorchjob", "learn", "--type=json", "-p", suspend)
    world.wait_running("learn-", 4)
    assert len(world.racks("learn-")) == 1


@test("mpi-operator")
def mpi_job_launcher_and_workers_in_one_rack(world):
    """Three racks have room for three workers only."""
    world.fill("r1-n0", "r2-n0", "r4-n0")
    world.apply(mpi_job("ring", 4, required(RACK)))
    world.wait_running("ring-", 5)
    assert world.racks("ring-") == {"r3"}


def set_workers(world, kind, name, specs, count):
    world.plane.kubectl("patch", kind, name, "--type=json", "-p", json.dumps(
        [{"op": "replace", "path": f"/spec/{specs}/Worker/replicas", "value": count}]))


@test("training-operator")
def pytorch_job_scales(world):
    """More workers join in the rack of the gang."""
    world.apply(pytorch_job("learn", 1, required(RACK)))
    world.wait_running("learn-", 2)
    rack = world.racks("learn-")
    for workers in (3, 2):
        set_workers(world, "pytorchjobs", "learn", "pytorchReplicaSpecs", workers)
        world.wait_running("learn-", workers + 1)
        assert world.racks("learn-") == rack


@test("mpi-operator")
def mpi_job_scales(world):
    world.apply(mpi_job("ring", 2, required(RACK)))
    world.wait_running("ring-", 3)
    rack = world.racks("ring-")
    for workers in (4, 2):
        set_workers(world, "mpijobs", "ring", "mpiReplicaSpecs", workers)
        world.wait_running("ring-", workers + 1)
        assert world.racks("ring-") == rack


@test("mpi-operator")
def mpi_job_suspended_and_resumed(world):
    doc = mpi_job("ring", 2, required(RACK))
    doc["spec"]["runPolicy"] = {"suspend": True}
    world.apply(doc)
    for suspend, count in ((False, 3), (True, 0), (False, 3)):
        world.plane.kubectl("patch", "mpijobs", "ring", "--type=merge", "-p",
                            '{"spec":{"runPolicy":{"suspend":%s}}}' % str(suspend).lower())
        world.wait_running("ring-", count)


@test("mpi-operator")
def mpi_worker_is_replaced_in_its_rack(world):
    world.apply(mpi_job("ring", 3, required(RACK)))
    world.wait_running("ring-", 4)
    rack = world.racks("ring-")
    world.plane.kubectl("delete", "pod", "ring-worker-1", "--wait=false")
    world.wait("it is gone", lambda: "ring-worker-1" not in nodes(world, "ring-") or
               len([pod for pod in world.pods("ring-") if pod["metadata"].get("deletionTimestamp")]) == 0)
    world.wait_running("ring-", 4)
    assert world.racks("ring-") == rack
