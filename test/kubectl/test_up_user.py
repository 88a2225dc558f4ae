#!/usr/bin/env python3
"""`platoon up` for somebody who knows kubectl and nothing else: what works there works, what does not says so.

    test_up_user.py PLATOON SOURCE_ROOT [TEXT...]        TEXT picks tests by name

The last line is `N passed, M failed`.
"""
import http.client
import json
import os
import ssl
import subprocess
import tempfile
import time

from harness import KUBECTL, finish, run_tests, test
from up import ONLY, PATIENCE, Up, condition_of


def said(up, *args, text=None, code=0):
    """Both outputs of kubectl together."""
    done = subprocess.run([KUBECTL, *args], input=text, capture_output=True, text=True, timeout=PATIENCE, env=up.env, check=False)
    assert (done.returncode == 0) == (code == 0), f"kubectl {' '.join(args)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@test
def a_new_user_types(folder):
    with Up(folder, "--in-memory", "--nodes", "1x2x2") as up:
        def k(*args, **more):
            return said(up, *args, **more)

        assert "Server Version: v1." in k("version") and "control plane is running at https://" in k("cluster-info")
        assert {"v1", "apps/v1", "batch/v1", "scheduling.run.ai/v2alpha2"} <= set(k("api-versions").split())
        # nobody has to know of a scheduler
        k("run", "web", "--image=nginx", "--port=80")
        k("create", "deployment", "dep", "--image=nginx:1", "--replicas=2")
        k("expose", "deployment", "dep", "--port=80")
        k("create", "job", "once", "--image=busybox", "--", "echo", "hi")
        k("create", "cronjob", "often", "--image=busybox", "--schedule=* * * * *", "--", "echo", "hi")
        k("create", "configmap", "map", "--from-literal=a=b")
        k("create", "secret", "generic", "secret", "--from-literal=a=b")
        assert "Warning: ResourceQuota" in k("create", "quota", "quota", "--hard=pods=9")
        assert "Warning: HorizontalPodAutoscaler" in k("autoscale", "deployment", "dep", "--min=2", "--max=5", "--cpu-percent=80")
        k("wait", "--for=jsonpath={.status.phase}=Running", "pod/web", f"--timeout={PATIENCE}s")
        k("wait", "--for=condition=Ready", "pod", "-l", "job-name=once", f"--timeout={PATIENCE}s")
        assert "successfully rolled out" in k("rollout", "status", "deployment/dep", f"--timeout={PATIENCE}s")
        everything = k("get", "all", "-A")
        for name in ("pod/web", "deployment.apps/dep", "replicaset.apps/dep-", "service/dep", "job.batch/once", "cronjob.batch/often",
                     "horizontalpodautoscaler.autoscaling/dep"):
            assert name in everything, f"{name}\n{everything}"
        assert "cpu: <unknown>/80%" in k("get", "hpa")
        # changes of a Deployment
        k("set", "image", "deployment/dep", "nginx=nginx:2")
        k("rollout", "status", "deployment/dep", f"--timeout={PATIENCE}s")
        k("rollout", "undo", "deployment/dep")
        k("rollout", "restart", "deployment/dep")
        k("rollout", "status", "deployment/dep", f"--timeout={PATIENCE}s")
        assert "Image:\tnginx:2" in k("rollout", "history", "deployment/dep", "--revision=2")
        # looking
        assert "web" in k("get", "pods", "--field-selector", "status.phase=Running", "--chunk-size=1")
        names = k("get", "pods", "--sort-by=.metadata.name", "-o", "name").split()
        assert names == sorted(names) and len(names) >= 4, names
        job = k("describe", "job", "once")
        assert "Selector:         batch.kubernetes.io/controller-uid=" in job and "Completions:      1" in job, job
        assert "  progressDeadlineSeconds" in k("explain", "deployment", "--recursive")
        assert "kubernetes.io/hostname=z1-r1-n1" in k("describe", "node", "z1-r1-n1")
        # what there is nobody for
        for args in (["logs", "web"], ["logs", "deploy/dep"], ["logs", "job/once"]):
            assert "simulated: there is no container" in k(*args), args
        for args in (["exec", "web", "--", "ls"], ["attach", "web"], ["cp", "web:/x", "y"], ["port-forward", "web", ":80"],
                     ["debug", "web", "--image=busybox"]):
            assert "simulated: there is no container" in k(*args, code=1), args
        assert "Metrics API not available" in k("top", "nodes", code=1)
        up.stop()


BAD_POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bad"}, "spec": {"containers": [
    {"name": "A", "resources": {"requests": {"nvidia.com/gpu": "1"}}, "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}}


def post(up, path, body):
    data = os.path.join(up.folder, "data")
    with open(os.path.join(data, "token"), encoding="utf-8") as file:
        token = file.read().strip()
    server = up.kubectl("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}")
    connection = http.client.HTTPSConnection(server.split("//")[1], context=ssl.create_default_context(
        cafile=os.path.join(data, "ca.crt")))
    connection.request("POST", path, json.dumps(body), {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
    response = connection.getresponse()
    return response.status, json.loads(response.read())


@test
def what_is_wrong_is_refused_with_all_its_causes(folder):
    with Up(folder, "--in-memory") as up:
        status, answer = post(up, "/api/v1/namespaces/default/pods", BAD_POD)
        causes = {cause["field"]: cause["reason"] for cause in answer["details"]["causes"]}
        assert status == 422 and answer["kind"] == "Status" and answer["reason"] == "Invalid", answer
        assert causes == {"spec.containers[0].name": "FieldValueInvalid", "spec.containers[0].image": "FieldValueRequired",
                          "spec.containers[0].volumeMounts[0].name": "FieldValueNotFound",
                          "spec.containers[0].resources.limits": "FieldValueRequired"}, causes
        said(up, "run", "web", "--image=nginx")
        assert "pod updates may not change fields other than" in said(up, "patch", "pod", "web", "-p", '{"spec":{"hostname":"x"}}', code=1)
        said(up, "set", "image", "pod/web", "web=nginx:2")
        # A template that only its pods show to be wrong: the workload says so.
        said(up, "apply", "-f", "-", text=json.dumps({
            "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "job"}, "spec": {"pytorchReplicaSpecs": {
                "Worker": {"replicas": 1, "template": {"spec": BAD_POD["spec"]}}}}}))
        up.until("an event", lambda: "FailedCreate" in up.kubectl("get", "events"))
        up.stop()


DEFINITION = """---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
 group: example.com, scope: Namespaced, names: {plural: things, singular: thing, kind: Thing}, versions: [{name: v1, served: true,
  storage: true, schema: {openAPIV3Schema: {type: object, required: [spec], properties: {spec: {type: object, required: [size],
   x-kubernetes-validations: [{rule: "self.size < 5"}], properties: {size: {type: integer, minimum: 1, maximum: 10},
    mode: {type: string, enum: [a, b], default: a}, name: {type: string, pattern: "^[a-z]+$"}}}}}}}]}}"""


@test
def a_definition_holds_but_for_its_rules_in_cel(folder):
    with Up(folder, "--in-memory") as up:
        assert "Warning: the rules in CEL" in said(up, "apply", "-f", "-", text=DEFINITION)
        said(up, "wait", "--for=condition=Established", "crd/things.example.com")
        thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"size": 7, "extra": 1}}
        said(up, "apply", "--validate=false", "-f", "-", text=json.dumps(thing))
        assert up.get("thing", "t")["spec"] == {"size": 7, "mode": "a"}
        refused = said(up, "patch", "thing", "t", "--type=merge", "-p", '{"spec":{"size":11,"mode":"c","name":"X"}}', code=1)
        assert all(field in refused for field in ("spec.size", "spec.mode", "spec.name")), refused
        thing["spec"] = {"mode": "b"}
        assert "spec.size" in said(up, "replace", "-f", "-", text=json.dumps(thing), code=1)
        up.stop()


@test
def nodes_are_heard_of(folder):
    with Up(folder, "--in-memory", "--nodes", "1x1x3", "--heartbeat", "1") as up:
        def renewed():
            return up.get("lease", "-n", "kube-node-lease", "z1-r1-n1")["spec"]["renewTime"]

        up.until("leases", lambda: len(up.get("leases", "-n", "kube-node-lease")["items"]) == 3)
        before = renewed()
        up.until("a heartbeat", lambda: renewed() > before)
        said(up, "create", "deployment", "dep", "--image=x", "--replicas=6")
        said(up, "rollout", "status", "deployment/dep", f"--timeout={PATIENCE}s")
        node = up.get("pods")["items"][0]["spec"]["nodeName"]
        up.kubectl("annotate", "node", node, "platoon.dev/state=down")
        # It is silent first, and given up later.
        assert condition_of(up.get("node", node), "Ready")["status"] == "True"
        up.until("nothing is heard", lambda: condition_of(up.get("node", node), "Ready")["status"] == "Unknown")
        found = up.get("node", node)
        assert condition_of(found, "Ready")["reason"] == "NodeStatusUnknown", found
        assert {(t["key"], t["effect"]) for t in found["spec"]["taints"]} == {
            ("node.kubernetes.io/unreachable", "NoSchedule"), ("node.kubernetes.io/unreachable", "NoExecute")}, found
        up.until("its pods are made again elsewhere", lambda: all(
            pod["spec"].get("nodeName") != node for pod in up.get("pods")["items"]) and len(up.get("pods")["items"]) == 6)
        up.kubectl("annotate", "node", node, "platoon.dev/state-")
        up.until("it is back", lambda: condition_of(up.get("node", node), "Ready")["status"] == "True")
        assert "taints" not in up.get("node", node)["spec"] or not up.get("node", node)["spec"]["taints"]
        # A taint of one's own.
        other = up.get("pods")["items"][0]["spec"]["nodeName"]
        up.kubectl("taint", "node", other, "mine=x:NoExecute")
        up.until("its pods leave", lambda: all(pod["spec"].get("nodeName") != other for pod in up.get("pods")["items"]))
        up.stop()


@test
def heartbeats_do_not_fill_the_disk(folder):
    with Up(folder, "--nodes", "2x5x20", "--heartbeat", "1") as up:
        def size():
            return sum(os.path.getsize(os.path.join(folder, "data", name)) for name in ("store.db", "store.db-wal"))

        up.until("leases", lambda: len(up.get("leases", "-n", "kube-node-lease")["items"]) == 200)
        version = up.version()
        time.sleep(6)
        now = up.version()
        # No more than a hundred in a second, and some.
        assert 100 <= now - version <= 1000, now - version
        assert size() < 16 << 20, size()
        up.stop()


def main():
    def in_a_folder(function):
        with tempfile.TemporaryDirectory() as folder:
            function(folder)

    finish(*run_tests(ONLY, in_a_folder))


if __name__ == "__main__":
    main()
