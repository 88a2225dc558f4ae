"""What only the embedded server has."""
import os
import tempfile

from cases_kinds import CRD
from cluster import Embedded
from harness import only_embedded
from manifests import pod


@only_embedded("logs come from kubelets, and only simulated ones are there")
def node_side_of_pods(k):
    k.ok("create", "-f", "-", text=pod("p1"))
    k.ok("logs", "p1", out="simulated")
    k.fails("exec", "p1", "--", "ls", err="simulated")
    k.fails("attach", "p1", err="simulated")
    k.fails("logs", "nosuch", err="not found")


@only_embedded("it has the certificates that it was given")
def a_restart_keeps_certificates(k):
    """What kubectl trusts must survive a restart of the server."""
    folder = tempfile.mkdtemp(dir=k.folder)
    store = os.path.join(folder, "store.db")
    first = Embedded(k.server, folder, "--file", store)
    first.ok("create", "configmap", "kept", "--from-literal=a=b")
    port = first.url.rsplit(":", 1)[1]
    first.stop()
    with open(first.env["KUBECONFIG"], encoding="utf-8") as file:
        before = file.read()
    assert os.stat(first.env["KUBECONFIG"]).st_mode & 0o777 == 0o600
    second = Embedded(k.server, folder, "--file", store, "--port", port)
    with open(second.env["KUBECONFIG"], encoding="utf-8") as file:
        assert file.read() == before
    assert second.get("cm", "kept")["data"] == {"a": "b"}
    second.stop()


@only_embedded("they come with their definitions otherwise")
def kinds_of_other_projects(k):
    """They are there without a CRD: created, listed with their columns, scaled, explained, and defined on top."""
    k.ok("create", "-f", "-", text="""apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: job}
spec: {pytorchReplicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: pytorch, image: x}]}}}}}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: set}
spec: {replicas: 2, leaderWorkerTemplate: {size: 3, workerTemplate: {spec: {containers: [{name: main, image: x}]}}}}
---
apiVersion: workloads.x-k8s.io/v1alpha2
kind: RoleBasedGroupScalingAdapter
metadata: {name: adapter}
spec: {replicas: 1, scaleTargetRef: {name: group, role: decode}}
---
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: scaler}
spec: {maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: dep}}
""", out=["job created", "set created", "adapter created", "scaler created"])
    k.ok("patch", "pytorchjob", "job", "--subresource=status", "--type=merge", "-p",
         '{"status":{"conditions":[{"type":"Created","status":"True"},{"type":"Running","status":"True"}]}}')
    k.ok("get", "pytorchjobs", out=["STATE", "Running"])
    k.ok("get", "lws", out=["READY", "DESIRED", "UP-TO-DATE", "set"])
    k.ok("get", "rbgsa", "-o", "wide", out=["PHASE", "TARGET", "decode"])
    k.ok("get", "jobsets,rayclusters,pcs,podgangs,tfjobs,mpijobs.v2beta1.kubeflow.org", err="No resources found")
    k.ok("scale", "pytorchjob", "job", "--replicas=5", out="scaled")
    assert k.get("pytorchjob", "job")["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 5
    k.ok("scale", "rbgsa", "adapter", "--replicas=4", out="scaled")
    k.ok("explain", "lws", out="spec")
    k.ok("describe", "hpa", "scaler", out="50%")
    k.fails("patch", "horizontalpodautoscalers.v1.autoscaling", "scaler", "--type=merge", "-p", '{"spec":{"maxReplicas":"many"}}',
            err="spec.maxReplicas")
    # A chart that brings the definition along does not disturb.
    crd = CRD.replace("gangjobs", "leaderworkersets").replace("sched.example.com", "leaderworkerset.x-k8s.io").replace(
        "GangJob", "LeaderWorkerSet").replace("gangjob", "leaderworkerset").replace("[gj]", "[lws]")
    k.ok("apply", "-f", "-", text=crd, out="created")
    k.ok("get", "lws", "set", out="set")
    k.ok("delete", "crd", "leaderworkersets.leaderworkerset.x-k8s.io")
    k.ok("get", "lws", "set", out="set")
