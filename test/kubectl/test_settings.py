#!/usr/bin/env python3
"""One set of settings in the real program: in `up` admission and controllers agree, in `run` the file, the ConfigMap of the
cluster and the webhook do, and `plan` and `why` with the same file say the same.

    test_settings.py PLATOON SOURCE_ROOT [TEXT...]
"""
import base64
import json
import os
import re
import ssl
import subprocess
import tempfile
import time
import urllib.request

from harness import finish, run_tests, test
from up import ONLY, PATIENCE, PLATOON, Up

DEFAULTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: platoon-grouping-defaults, namespace: kube-system}
data: {genericKartaFallback: "%s"}
"""
# The kind of nobody, and what describes it.
FLOW = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: flows.jobs.example.com}
spec: {group: jobs.example.com, scope: Namespaced, names: {plural: flows, singular: flow, kind: Flow, listKind: FlowList}, versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}
---
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: flow}
spec:
  structureDefinition:
    rootComponent: {name: flow, kind: {group: jobs.example.com, version: v1, kind: Flow}}
    childComponents:
    - {name: worker, ownerRef: flow, scaleDefinition: {replicasPath: .spec.replicas},
       podSelector: {componentTypeSelector: {keyPath: .metadata.labels.role, value: worker}}}
  optimizationInstructions: {gangScheduling: {podGroup: {name: all, subGroups: [{componentName: worker}]}}}
"""
QUEUE = """
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: %s}
spec: {resources: {cpu: {quota: -1, limit: -1, overQuotaWeight: 1}, gpu: {quota: -1, limit: -1, overQuotaWeight: 1}}}
"""


def job(name, scheduler, annotations="{}"):
    return f"""
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}}}
spec:
  parallelism: 2
  completions: 2
  completionMode: Indexed
  template:
    metadata: {{annotations: {annotations}}}
    spec:
      schedulerName: {scheduler}
      restartPolicy: Never
      containers: [{{name: main, image: x, resources: {{requests: {{cpu: "1"}}}}}}]
"""


SEGMENTS = ('{kai.scheduler/segment-size: "1", kai.scheduler/topology: cluster, '
            'kai.scheduler/segment-topology-required-placement: example.com/rack}')


def flow_pod(up, name):
    uid = up.get("flow", "f")["metadata"]["uid"]
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "labels": {"role": "worker"}, "ownerReferences": [
                {"apiVersion": "jobs.example.com/v1", "kind": "Flow", "name": "f", "uid": uid, "controller": True}]},
            "spec": {"schedulerName": "platoon", "containers": [{"name": "main", "image": "x"}]}}


def make_flow(up):
    up.kubectl("apply", "-f", "-", text=FLOW)
    up.kubectl("wait", "--for=condition=Established", "crd/flows.jobs.example.com")
    up.kubectl("apply", "-f", "-", text="apiVersion: jobs.example.com/v1\nkind: Flow\nmetadata: {name: f}\nspec: {replicas: 1}\n")


class Run:
    """`platoon run` on the API of an `up`, with a file of settings that can be replaced."""

    def __init__(self, up, settings, *options):
        self.path = os.path.join(up.folder, "run.yaml")
        self.log_path = os.path.join(up.folder, "run.log")
        self.replace(settings)
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([PLATOON, "run", "--kubeconfig", up.env["KUBECONFIG"], "--config", self.path,
                                             "--log-level", "info", *options], stdout=log, stderr=subprocess.STDOUT)
        self.wait_for("connected to")

    def replace(self, settings):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            file.write(settings)
        os.rename(self.path + ".new", self.path)

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for(self, pattern):
        end = time.monotonic() + PATIENCE
        while True:
            match = re.search(pattern, self.log())
            if match:
                return match.group(match.lastindex or 0)
            assert self.process.poll() is None and time.monotonic() < end, f"no {pattern} in {self.log()[-3000:]}"
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)


def group_of(up, workload):
    """The PodGroup of a workload, None while there is none."""
    return next((group for group in up.get("podgroups")["items"]
                 if group["metadata"]["name"].startswith(f"pg-{workload}-")), None)


@test
def segments_of_plain_manifests_in_up(folder):
    """schedulerName: default-scheduler is ours in `up`, to admission too."""
    with Up(folder, "--in-memory", "--nodes", "1x2x2") as up:
        up.kubectl("apply", "-f", "-", text=job("seg", "default-scheduler", SEGMENTS))
        pods = up.until("both are placed", lambda: (lambda pods: len(pods) == 2 and all(
            "nodeName" in pod["spec"] for pod in pods) and pods)(up.get("pods")["items"]))
        found = sorted(entry["value"] for pod in pods for entry in pod["spec"]["containers"][0].get("env", [])
                       if entry["name"] == "KAI_SEGMENT_INDEX")
        assert found == ["0", "1"], pods


@test
def admission_of_up_obeys_the_config_map(folder):
    with Up(folder, "--in-memory", "--nodes", "1x2x2") as up:
        make_flow(up)
        up.kubectl("apply", "-f", "-", text=DEFAULTS % "false")
        made = json.loads(up.kubectl("create", "-o", "json", "-f", "-", text=json.dumps(flow_pod(up, "f-0"))))
        assert "kai.scheduler/subgroup-name" not in made["metadata"]["labels"], made["metadata"]
        up.kubectl("apply", "-f", "-", text=DEFAULTS % "true")
        made = json.loads(up.kubectl("create", "-o", "json", "-f", "-", text=json.dumps(flow_pod(up, "f-1"))))
        assert made["metadata"]["labels"]["kai.scheduler/subgroup-name"] == "worker", made["metadata"]


@test
def a_file_of_settings_in_up(folder):
    """Admission and scheduler of `up` read the same file as `run`, and a new one when it changes; a wrong one changes nothing."""
    path = os.path.join(folder, "settings.yaml")

    def write(text):
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def group(up, name):
        up.kubectl("apply", "-f", "-", text=job(name, "default-scheduler"))
        return up.until(f"{name} has a group", lambda: group_of(up, name))["spec"]["queue"]

    write("defaultQueue: team-a\n")
    with Up(folder, "--in-memory", "--nodes", "1x1x2", "--log-level", "info", "--config", path) as up:
        up.kubectl("apply", "-f", "-", text=QUEUE % "team-a" + "---" + QUEUE % "team-b")
        assert group(up, "first") == "team-a"
        write("defaultQueue: team-b\n")
        up.await_log("configuration read")
        assert group(up, "second") == "team-b"
        write("defaultQueues: team-a\n")
        up.await_log("the new configuration is wrong, the old one stays")
        assert group(up, "third") == "team-b"
    write("schedulerNames: []\n")
    done = subprocess.run([PLATOON, "up", "--in-memory", "--port", "0", "--data-dir", folder, "--config", path],
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2 and "schedulerNames: at least one name is needed" in done.stderr, done


def plan(up, *args):
    done = subprocess.run([PLATOON, *args, "--kubeconfig", up.env["KUBECONFIG"], "-o", "json"], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    assert done.returncode in (0, 1) and done.stdout, done
    return json.loads(done.stdout)


@test
def the_default_queue_of_run(folder):
    """Groups, single pods and the plan of the same file use the configured queue; a new file counts at once."""
    settings = "schedulerNames: [other]\ndefaultQueue: %s\nlisten: none\n"
    with Up(folder, "--in-memory", "--nodes", "1x1x2") as up:
        up.kubectl("delete", "queues.scheduling.run.ai", "--all")
        up.kubectl("apply", "-f", "-", text=QUEUE % "team-a" + "---" + QUEUE % "team-b")
        with Run(up, settings % "team-a") as run:
            up.kubectl("apply", "-f", "-", text=job("first", "other"))
            up.kubectl("run", "single", "--image=x", '--overrides={"spec":{"schedulerName":"other"}}')
            group = up.until("first has a group", lambda: group_of(up, "first"))
            assert group["spec"]["queue"] == "team-a", group["spec"]
            up.until("everything is placed", lambda: all("nodeName" in pod["spec"] for pod in up.get("pods")["items"]))
            # The same file, the same answers; without it these pods are somebody else's.
            asked = ("why", "queue/team-a")
            assert plan(up, *asked, "--config", run.path)["groups"], plan(up, *asked, "--config", run.path)
            run.replace(settings % "team-b")
            run.wait_for("configuration read")
            up.kubectl("apply", "-f", "-", text=job("second", "other"))
            group = up.until("second has a group", lambda: group_of(up, "second"))
            assert group["spec"]["queue"] == "team-b", group["spec"]


def ask(url, pod):
    """What the webhook makes of a new pod, as the API server asks it."""
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "operation": "CREATE", "namespace": "default", "name": pod["metadata"]["name"],
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"}, "object": pod}}
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = urllib.request.Request(url + "/mutate/pods", json.dumps(review).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10, context=context) as answer:
        response = json.loads(answer.read())["response"]
    assert response["allowed"], response
    return base64.b64decode(response.get("patch", "")).decode()


@test
def the_webhook_of_run_obeys_the_config_map(folder):
    """Also after it changes, and after the names of schedulers do."""
    settings = "schedulerNames: [%s]\nlisten: none\nwebhooks: {enabled: true, listen: '127.0.0.1:0'}\n" \
               "workloadKinds: [{group: jobs.example.com, version: v1, kind: Flow, resource: flows}]\n"
    with Up(folder, "--in-memory", "--nodes", "1x1x2") as up:
        make_flow(up)
        up.kubectl("apply", "-f", "-", text=DEFAULTS % "false")
        with Run(up, settings % "platoon") as run:
            url = run.wait_for(r"webhooks on (\S+)")
            up.until("there is a certificate", lambda: up.get("secrets", "--field-selector=metadata.name=platoon-webhook")["items"])
            pod = flow_pod(up, "f-0")
            up.until("it groups", lambda: "pod-group-name" in (answers(url, pod) or ""))
            assert "subgroup-name" not in ask(url, pod), ask(url, pod)
            up.kubectl("apply", "-f", "-", text=DEFAULTS % "true")
            up.until("it obeys", lambda: "worker" in ask(url, pod))
            run.replace(settings % "other")
            run.wait_for("configuration read")
            assert ask(url, pod) == "", ask(url, pod)


def answers(url, pod):
    """Once it has its certificate, and the mirror has the workload."""
    try:
        return ask(url, pod)
    except OSError:
        return None


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as top:
        def call(function):
            folder = os.path.join(top, function.__name__)
            os.mkdir(folder)
            function(folder)

        finish(*run_tests(ONLY, call))
