"""Preemption of every kind of workload: its pods make room for a Job of higher priority, nothing of it stays behind in a room that does
not hold it, nothing fails for good, and all of it runs again when the other one is gone.
"""
from cases_builtin import job, minimum, stateful_set
from cases_jobset import jobset, replicated
from cases_kubeflow import mpi_job, pytorch_job
from cases_lws import lws
from cases_ray import ray_cluster
from cases_trainer import runtime, train_job
from world import NODES, RACK, required, template, test

# Status of kinds that can fail: what must not be said of them.
FAILED = {"Failed", "FailureTarget"}


def deployment(name, replicas):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "labels": {
        "priorityClassName": "train"}}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template(8, labels={"app": name})}}


def check_not_failed(world, kind):
    for item in world.get(kind):
        bad = [condition for condition in item.get("status", {}).get("conditions", [])
               if condition["type"] in FAILED and condition["status"] == "True"]
        assert not bad, f"{kind} {item['metadata']['name']}: {bad}"


def preempted(kind, make, pods, *operators):
    """A workload of two nodes, beside which the cluster is full; `pods` of it run, as some need no GPU."""
    def run(world):
        world.fill(*[name for name, _, _ in NODES[2:]])
        world.apply(*make())
        world.wait_running("victim-", pods)
        world.apply(job("urgent", 2, annotations=minimum(2), labels={"priorityClassName": "inference"}))
        world.wait_running("urgent-", 2)

        def waits():
            bound = [pod["metadata"]["name"] for pod in world.pods("victim-") if pod["spec"].get("nodeName")
                     and pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] != "0"]
            return not bound or f"{bound} still have nodes"
        world.wait("all of the victim waits", waits)
        check_not_failed(world, kind)
        world.plane.kubectl("delete", "job", "urgent")
        world.wait_running("victim-", pods)
        check_not_failed(world, kind)
    run.__name__ = f"preempted_{kind.split('.')[0]}"
    test(*operators)(run)


preempted("statefulsets", lambda: [stateful_set("victim", 2)], 2)
preempted("deployments", lambda: [deployment("victim", 2)], 2)
preempted("leaderworkersets", lambda: [lws("victim", 1, 2)], 2, "lws")
# Its Jobs have rules of their own, by which an eviction is a failure: it has to be allowed to start again.
preempted("jobsets", lambda: [jobset("victim", replicated("workers", 1, 2), failurePolicy={"maxRestarts": 3})], 2, "jobset")
preempted("pytorchjobs", lambda: [pytorch_job("victim", 1)], 2, "training-operator")
preempted("mpijobs", lambda: [mpi_job("victim", 2)], 3, "mpi-operator")
preempted("rayclusters", lambda: [ray_cluster("victim", 2, 2)], 3, "kuberay")
preempted("trainjobs", lambda: [runtime("plain"), train_job("victim", 2, required(RACK))], 2, "jobset", "trainer")
