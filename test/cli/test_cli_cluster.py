#!/usr/bin/env python3
"""Commands that read a cluster, and workloads that stand for the pods a cluster would make of them.

    test_cli_cluster.py PLATOON SOURCE_ROOT

The last line is `N passed, M failed`.
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from cluster_api import until  # noqa: E402
from program import GROUP, PATIENCE, PLATOON, ROOT, SCRATCH, expect, run, scratch  # noqa: E402
from runner import run_tests, test  # noqa: E402


def start_cluster(folder):
    """`platoon up` with a group that fits and one that does not, and its kubeconfig once both are decided."""
    cluster = subprocess.Popen([PLATOON, "up", "--in-memory", "--data-dir", folder, "--port", "0", "-f",
                                "examples/up-gang.yaml", "-f", "examples/up-impossible.yaml"],
                               cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert "listens" in cluster.stdout.readline()
    return cluster, os.path.join(folder, "kubeconfig")


def edited(kubeconfig, name, pattern, replacement):
    with open(kubeconfig, encoding="utf-8") as file:
        return scratch(name, re.sub(pattern, replacement, file.read(), flags=re.M))


@test
def a_live_cluster_is_read():
    folder = os.path.join(SCRATCH, "cluster")
    cluster, kubeconfig = start_cluster(folder)
    try:
        live = ("--kubeconfig", kubeconfig)
        until("it runs", lambda: run("why", "pg/pretrain", *live)[0] == 0 and "Running" in run("why", "pod/pretrain-0", *live)[1])
        code, out, err = run("why", "pg/pretrain", *live)
        assert code == 0 and "zone z1 / rack z1-r" in out, out + err
        expect(0, "why", "pod/pretrain-0", *live, out="it has node z1-r")
        told = json.loads(run("why", "podgroup/too-wide", *live, "-o", "json")[1])
        assert told["state"] == "Never" and told["closest"]["have"] == 4 and told["changes"], told
        assert told["message"] == json.loads(run("why", "pod/too-wide-0", *live, "-o", "json")[1])["message"]
        expect(1, "why", "queue/default-queue", *live, out=["RESOURCE", "default/too-wide: Never"])
        expect(0, "plan", *live, out="2 groups: 1 placed, 1 never")
        # A file stands in for the object of its name: without the level it fits as far as there is room.
        smaller = scratch("smaller.yaml", GROUP % ("too-wide, namespace: default", "minMember: 1"))
        expect(0, "plan", *live, "-f", smaller, out="1 placed, 1 placed with surplus waiting")
        env = {"KUBECONFIG": kubeconfig}
        assert run("plan", env=env)[0] == 0
        expect(2, "plan", *live, "--context", "nope", err="nope")
        wrong = edited(kubeconfig, "wrong-token", r"^    client-(certificate|key)-data:.*$", "")
        wrong = edited(wrong, "wrong-token", r"user:$", "user:\n    token: wrong")
        expect(2, "plan", "--kubeconfig", wrong, err="not accepted")
        wrong = edited(kubeconfig, "wrong-ca", r"^    certificate-authority-data:.*$", "")
        expect(2, "plan", "--kubeconfig", wrong, err="certificate")
    finally:
        cluster.terminate()
        cluster.wait(timeout=PATIENCE)
    expect(2, "plan", *live, err="is the cluster up")


QUEUES = "".join(f"---\n{{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {{name: {name}}}, spec: {{resources: "
                 "{gpu: {quota: -1, limit: -1}, cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}}}}\n"
                 for name in ("team-a", "team-b"))


@test
def single_pods_are_placed_by_what_their_owners_say():
    """No PodGroup says anything about them: the commands ask the owners and the defaults, as the scheduler does."""
    node = "---\n{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {allocatable: {cpu: 8, memory: 64Gi, pods: 20}}}\n"
    owner = ("---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, namespace: default, uid: u1, ownerReferences: "
             "[{apiVersion: apps/v1, kind: Deployment, name: web, uid: u0, controller: true}]}}\n---\n{apiVersion: apps/v1, kind: Deployment, "
             "metadata: {name: web, namespace: default, uid: u0, labels: {kai.scheduler/queue: team-b}}}\n")
    pod = ("---\n{apiVersion: v1, kind: Pod, metadata: {name: web-1-x, namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: "
           "ReplicaSet, name: web-1, uid: u1, controller: true}]}, spec: {schedulerName: platoon, containers: [{name: c, image: i}]}}\n")
    defaults = ("---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: platoon-grouping-defaults, namespace: kube-system}, data: "
                "{types: '[{\"typeName\": \"Deployment.apps\", \"priorityName\": \"urgent\"}]'}}\n---\n{apiVersion: scheduling.k8s.io/v1, "
                "kind: PriorityClass, metadata: {name: urgent}, value: 77}\n")
    path = scratch("owned.yaml", node + QUEUES + owner + pod + defaults)
    group, = json.loads(expect(0, "top", "-f", path, "-o", "json"))["groups"]
    assert (group["queue"], group["priority"]) == ("team-b", 77), group
    assert json.loads(expect(0, "plan", "-f", path, "-o", "json"))["warnings"] == [], "all of them have an effect"
    full = scratch("full.yaml", node + QUEUES.replace("limit: -1", "limit: 1") + owner + pod.replace("image: i", "image: i, resources: {requests: {cpu: 2}}"))
    expect(1, "why", "pod/web-1-x", "-f", full, out="queue team-b")
    up = subprocess.Popen([PLATOON, "up", "--in-memory", "--data-dir", os.path.join(SCRATCH, "owners"), "--port", "0", "-f", scratch(
        "deployment.yaml", QUEUES + "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default, labels: "
        "{kai.scheduler/queue: team-a}}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: "
        "{app: web}}, spec: {schedulerName: platoon, containers: [{name: c, image: i}]}}}}\n")], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert "listens" in up.stdout.readline()
        live = ("--kubeconfig", os.path.join(SCRATCH, "owners", "kubeconfig"))

        def groups():
            return json.loads(run("top", *live, "-o", "json")[1] or "{}").get("groups", [])

        until("both are bound", lambda: sum(group["bound"] for group in groups()) == 2)
        assert [group["queue"] for group in groups()] == ["team-a", "team-a"], groups()
        assert "Deployment" not in run("record", *live)[1], "a recording has the pods, not who made them"
    finally:
        up.terminate()
        up.wait(timeout=PATIENCE)
        up.stdout.close()


@test
def workloads_stand_for_their_pods():
    nodes = "".join(f"---\n{{apiVersion: v1, kind: Node, metadata: {{name: n{i}, labels: {{rack: r{i % 2}}}}}, "
                    "status: {allocatable: {cpu: 8, memory: 64Gi, pods: 20}}}\n" for i in range(4))
    topology = ("---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: cluster}, "
                "spec: {levels: [{nodeLabel: rack}]}}\n")
    job = """---
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: team
  annotations: {kai.scheduler/topology: cluster, kai.scheduler/segment-size: "2", %s: rack}
spec:
  completionMode: Indexed
  completions: 4
  parallelism: 4
  template:
    spec:
      schedulerName: platoon
      restartPolicy: Never
      containers: [{name: main, image: i, resources: {requests: {cpu: "%s"}}}]
"""
    level = "kai.scheduler/segment-topology-required-placement"
    file = scratch("job.yaml", nodes + topology + job % (level, "8"))
    expect(0, "plan", "-f", file, out=["worker-1", "1 group: 1 placed. Pods: 4 to bind"])
    expect(0, "why", "job/train", "-n", "team", "-f", file, out=["Placed: PodGroup pg-train-", "rack r0", "rack r1"])
    file = scratch("job.yaml", nodes + topology + job % (level, "9"))
    expect(1, "why", "jobs.batch/train", "-n", "team", "-f", file, out=["Never", "missing   short of CPU"])
    # A dump that has the pods of the workload already is planned as it is.
    pod = ("---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team, ownerReferences: [{apiVersion: batch/v1, "
           "kind: Job, name: train, uid: u}]}, spec: {schedulerName: platoon, containers: [{name: main, image: i}]}}\n")
    file = scratch("job.yaml", nodes + topology + job % (level, "8") + pod)
    expect(0, "plan", "-f", file, out="1 group: 1 placed. Pods: 1 to bind")
    file = scratch("job.yaml", nodes + job.replace("parallelism: 4", "parallelism: -4") % (level, "8"))
    expect(0, "plan", "-f", file, err="Job train makes no pods")
    file = scratch("job.yaml", nodes + job.replace("completions: 4", "completions: four") % (level, "8"))
    expect(1, "plan", "-f", file, err="spec.completions")


run_tests([])
