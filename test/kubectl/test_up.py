#!/usr/bin/env python3
"""`platoon up` as a user meets it: one process, plain kubectl, gangs that run or say why not.

    test_up.py PLATOON SOURCE_ROOT [TEXT...]        TEXT picks tests by name

The last line is `N passed, M failed`.
"""
import json
import os
import re
import signal
import subprocess
import tempfile
import time

from harness import KUBECTL, finish, run_tests, test
from up import ONLY, PATIENCE, PLATOON, ROOT, Up, condition_of


def racks(up):
    return {node["metadata"]["name"]: node["metadata"]["labels"]["example.com/rack"] for node in up.get("nodes")["items"]}


@test
def the_page_and_a_gang(folder):
    """Every kubectl line of docs/up.md works, and what the page says about it is so."""
    with open(os.path.join(ROOT, "docs/up.md"), encoding="utf-8") as file:
        lines = [line for block in re.findall(r"```sh\n(.*?)```", file.read(), re.S) for line in block.splitlines()]
    with Up(folder, "--in-memory", "--nodes", "1x2x4", "--heartbeat", "1") as up:
        assert os.stat(up.env["KUBECONFIG"]).st_mode & 0o777 == 0o600
        assert up.steps[0] == "export KUBECONFIG=" + os.path.realpath(up.env["KUBECONFIG"])
        shown = {}
        for line in lines + up.steps[1:]:
            words = line.split()
            assert words[0] == "kubectl", line
            shown[line] = up.kubectl(*words[1:])
            if "apply -f examples/up-gang.yaml" in line:
                up.until("the gang runs", lambda: up.all_run("pretrain", 4))
            if "pytorchjob" in line and "delete -f" not in line or "delete pod llama" in line:
                up.until("the job runs", lambda: len(up.running("training.kubeflow.org/job-name=llama")) == 4)
            if "annotate node" in line:
                state = "True" if line.endswith("-") else "Unknown"
                up.until("the node follows", lambda: condition_of(up.get("node", "z1-r1-n1"), "Ready")["status"] == state)
            if "apply -f examples/up-impossible.yaml" in line:
                up.until("a refusal", lambda: up.get("podgroup", "too-wide")["status"].get("phase") == "Never")
        assert shown["kubectl get nodes -L example.com/rack"].count(" Ready ") == 8, shown
        assert "z1-r1-n1" in shown["kubectl get podgroups,pods -o wide"], shown
        assert "llama-worker-1" in shown["kubectl get pytorchjobs,podgroups,pods -o wide"], shown
        assert "NotReady" in shown["kubectl get nodes"], shown
        assert "Successfully assigned" in shown["kubectl get events"], shown
        assert "closest rack " in shown["kubectl get podgroup too-wide -o yaml"], shown
        assert "FailedScheduling" in shown["kubectl describe pod too-wide-0"], shown
        up.stop()


@test
def a_gang_stays_in_its_rack(folder):
    with Up(folder, "--in-memory", "--nodes", "1x2x4", "-f", "examples/up-gang.yaml") as up:
        pods = up.until("the gang runs", lambda: up.all_run("pretrain", 4))
        rack_of = racks(up)
        assert sorted(rack_of.values()) == ["z1-r1"] * 4 + ["z1-r2"] * 4, rack_of
        assert len({rack_of[pod["spec"]["nodeName"]] for pod in pods}) == 1, pods
        assert len({pod["spec"]["nodeName"] for pod in pods}) == 4, pods
        group = up.until("phase", lambda: (lambda g: g["status"]["phase"] == "Running" and g)(up.get("podgroup", "pretrain")))
        assert group["status"]["running"] == 4 and condition_of(group, "Scheduled")["status"] == "True", group
        events = [e for e in up.get("events")["items"] if e["involvedObject"]["kind"] == "Pod" and e["reason"] == "Scheduled"]
        assert len(events) == 4, events
        up.stop(signal.SIGTERM)


@test
def an_impossible_gang_says_why(folder):
    with Up(folder, "--in-memory", "--nodes", "1x2x4", "--heartbeat", "0") as up:
        up.kubectl("apply", "-f", "examples/up-impossible.yaml")
        group = up.until("a refusal", lambda: (lambda g: g.get("status", {}).get("phase") == "Never" and g)(
            up.get("podgroup", "too-wide")))
        condition = condition_of(group, "Scheduled")
        assert condition["status"] == "False" and condition["reason"] == "InsufficientDomain", condition
        assert "fits 4/5" in condition["message"], condition
        for pod in up.pods("too-wide"):
            assert condition_of(pod, "PodScheduled")["reason"] == "Unschedulable", pod
            assert "fits 4/5" in condition_of(pod, "PodScheduled")["message"], pod
            assert "nodeName" not in pod["spec"], pod
        # Nothing is written for ever about something that does not change.
        # Numbers are written at most once a second, so a pause is longer than that.
        up.until("a pause", lambda: (lambda before: time.sleep(1.5) or up.version() == before)(up.version()))
        version = up.version()
        time.sleep(2)
        assert up.version() == version
        # Four of them are enough once the group asks for less.
        up.kubectl("patch", "podgroup", "too-wide", "--type=merge", "-p", '{"spec":{"minMember":4}}')
        up.until("four run", lambda: sum(p["status"]["phase"] == "Running" for p in up.pods("too-wide")) == 4)
        up.stop()


@test
def room_that_is_given_back_is_used(folder):
    with Up(folder, "--in-memory", "--nodes", "1x1x4", "-f", "examples/up-gang.yaml") as up:
        up.until("the gang runs", lambda: up.all_run("pretrain", 4))
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone", "annotations": {"platoon.dev/run-seconds": "1"}},
               "spec": {"schedulerName": "platoon", "priorityClassName": "train", "containers": [
                   {"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}
        up.kubectl("apply", "-f", "-", text=json.dumps(pod))
        up.until("it waits", lambda: condition_of(up.get("pod", "alone"), "PodScheduled").get("status") == "False")
        up.kubectl("delete", "-f", "examples/up-gang.yaml")
        assert not up.pods("pretrain")
        up.until("it ends", lambda: up.get("pod", "alone")["status"]["phase"] == "Succeeded")
        up.stop()


@test
def the_more_important_gang_takes_the_place(folder):
    with open(os.path.join(ROOT, "examples/up-gang.yaml"), encoding="utf-8") as file:
        urgent = file.read().replace("pretrain", "serve").replace("priorityClassName: train", "priorityClassName: inference")
    with Up(folder, "--in-memory", "--nodes", "1x1x4", "-f", "examples/up-gang.yaml") as up:
        up.until("the gang runs", lambda: up.all_run("pretrain", 4))
        up.kubectl("apply", "-f", "-", text=urgent)
        up.until("the urgent gang runs", lambda: up.all_run("serve", 4))
        assert not up.pods("pretrain")
        evicted = [event["message"] for event in up.get("events")["items"] if event["reason"] == "Evicted"]
        assert len(evicted) == 4 and all("for default/serve" in message for message in evicted), evicted
        up.stop()


@test
def a_crash_loses_nothing(folder):
    with Up(folder, "--nodes", "1x2x4") as up:
        up.kubectl("apply", "-f", "examples/up-gang.yaml")
        before = up.until("the gang runs", lambda: up.all_run("pretrain", 4))
        nodes = {node["metadata"]["uid"] for node in up.get("nodes")["items"]}
        up.process.kill()
        up.process.wait()
    with Up(folder, "--nodes", "1x2x4") as up:
        after = up.until("the gang runs", lambda: up.all_run("pretrain", 4))
        assert [(p["metadata"]["uid"], p["spec"]["nodeName"]) for p in after] == [
            (p["metadata"]["uid"], p["spec"]["nodeName"]) for p in before]
        assert {node["metadata"]["uid"] for node in up.get("nodes")["items"]} == nodes
        up.stop()


JOB = "training.kubeflow.org/job-name="
EXAMPLES = {  # file: selection and number of pods that run
    "deployment": ("app=chat", 6),
    "indexed-job": ("job-name=sweep", 8),
    "pytorchjob": (JOB + "llama", 4),
    "tfjob-segments": (JOB + "distributed-training", 19),
    "leaderworkerset": ("leaderworkerset.sigs.k8s.io/name=serve", 8),
    "jobset": ("jobset.sigs.k8s.io/jobset-name=pipeline", 5),
    "raycluster": ("ray.io/cluster=tune", 6),
}


def domains(pods, key_of, domain_of):
    """Where the pods of each group are: {key: set of domains}."""
    found = {}
    for pod in pods:
        found.setdefault(key_of(pod["metadata"]["labels"]), set()).add(domain_of(pod["spec"]["nodeName"]))
    return found


@test
def every_example_runs(folder):
    with Up(folder, "--in-memory", "--nodes", "1x2x4") as up:
        rack_of = racks(up)
        for name, (labels, count) in EXAMPLES.items():
            with open(os.path.join(ROOT, "examples", name + ".yaml"), encoding="utf-8") as file:
                lines = file.read().splitlines()
            assert lines[0].startswith("# ") and lines[1].startswith("# ") and not lines[2].startswith("#"), name
            up.kubectl("apply", "-f", f"examples/{name}.yaml")
            pods = up.until(name + " runs", lambda: (lambda found: len(found) == count and found)(up.running(labels)))
            if name == "tfjob-segments":
                workers = [p for p in pods if p["metadata"]["labels"]["training.kubeflow.org/replica-type"] == "worker"]
                places = domains(workers, lambda l: int(l["training.kubeflow.org/replica-index"]) // 4, rack_of.get)
                assert len(places) == 4 and all(len(found) == 1 for found in places.values()), places
            if name == "indexed-job":
                places = domains(pods, lambda l: int(l["batch.kubernetes.io/job-completion-index"]) // 2, str)
                assert len(places) == 4 and all(len(found) == 1 for found in places.values()), places
            if name in ("pytorchjob", "leaderworkerset", "jobset", "raycluster"):
                group = {"leaderworkerset": "leaderworkerset.sigs.k8s.io/group-index", "jobset": "job-name",
                         "raycluster": "ray.io/group", "pytorchjob": "training.kubeflow.org/job-name"}[name]
                places = domains(pods, lambda l, key=group: l[key], rack_of.get)
                places.pop("cpu", None)
                assert all(len(found) == 1 for found in places.values()), places
            up.kubectl("delete", "-f", f"examples/{name}.yaml")
            up.until(name + " is gone", lambda: not up.get("pods")["items"] and not up.get("podgroups")["items"])
        up.stop()


@test
def two_teams_share(folder):
    with Up(folder, "--in-memory", "--nodes", "1x1x4", "-f", "examples/team-queues.yaml") as up:
        up.until("vision borrows", lambda: len(up.running("job-name=vision")) == 3)
        up.kubectl("apply", "-f", "examples/team-queues-second.yaml")
        up.until("language has its share", lambda: len(up.running(JOB + "language")) == 2)
        up.until("vision keeps its own", lambda: len(up.running("job-name=vision")) == 2)
        # The pod that had to go was made again and says why it waits.
        up.until("the third waits", lambda: any(condition_of(pod, "PodScheduled").get("status") == "False"
                                                for pod in up.get("pods", "-l", "job-name=vision")["items"]))
        up.stop()


@test
def workloads_with_plain_kubectl(folder):
    with Up(folder, "--in-memory", "--nodes", "1x2x4", "-f", "examples/deployment.yaml", "-f", "examples/indexed-job.yaml") as up:
        up.kubectl("rollout", "status", "deployment/chat", "--timeout=60s")
        up.kubectl("scale", "deployment/chat", "--replicas=3")
        up.until("three are left", lambda: len(up.get("pods", "-l", "app=chat")["items"]) == 3)
        up.kubectl("rollout", "restart", "deployment/chat")
        up.kubectl("rollout", "status", "deployment/chat", "--timeout=60s")
        assert len(up.running("app=chat")) == 3
        assert "2 " in up.kubectl("rollout", "history", "deployment/chat")
        up.kubectl("rollout", "undo", "deployment/chat")
        up.kubectl("rollout", "status", "deployment/chat", "--timeout=60s")
        up.kubectl("wait", "--for=condition=complete", "job/sweep", "--timeout=60s")
        assert up.get("job", "sweep")["status"]["completedIndexes"] == "0-7"
        up.stop()


@test
def a_lost_node_is_replaced(folder):
    with Up(folder, "--in-memory", "--nodes", "1x2x5", "--heartbeat", "1", "-f", "examples/pytorchjob.yaml") as up:
        before = up.until("the job runs", lambda: (lambda found: len(found) == 4 and found)(up.running(JOB + "llama")))
        lost = before[0]["spec"]["nodeName"]
        rack_of = racks(up)
        up.kubectl("annotate", "node", lost, "platoon.dev/state=down")
        up.until("the node is gone", lambda: condition_of(up.get("node", lost), "Ready")["status"] == "Unknown")
        up.until("its pod is not ready", lambda: len(up.running(JOB + "llama")) == 3)
        up.kubectl("delete", "node", lost)  # nobody waits for it
        after = up.until("a new one runs", lambda: (lambda found: len(found) == 4 and found)(up.running(JOB + "llama")))
        assert lost not in {pod["spec"]["nodeName"] for pod in after}, after
        assert {rack_of[pod["spec"]["nodeName"]] for pod in after} == {rack_of[lost]}, after
        up.stop()


@test
def workloads_go_on_after_a_crash(folder):
    with Up(folder, "--nodes", "1x2x4", "-f", "examples/leaderworkerset.yaml", "-f", "examples/deployment.yaml") as up:
        up.process.kill()  # as early as it can be
        up.process.wait()
    with Up(folder, "--nodes", "1x2x4") as up:
        up.until("all run", lambda: len(up.running("leaderworkerset.sigs.k8s.io/name=serve")) == 8 and
                 len(up.running("app=chat")) == 6)
        uids = {pod["metadata"]["uid"] for pod in up.get("pods")["items"]}
        assert len(uids) == 14
        up.process.kill()
        up.process.wait()
    with Up(folder, "--nodes", "1x2x4") as up:
        time.sleep(1)
        assert {pod["metadata"]["uid"] for pod in up.get("pods")["items"]} == uids
        up.stop()


@test
def nodes_from_files(folder):
    listed = os.path.join(folder, "nodes.csv")
    with open(listed, "w", encoding="utf-8") as file:
        file.write("gpu_model,gpu_capacity_num,cpu_num,node_name\n")
        file.writelines(f"{'big' if i % 2 else 'small'},{8 if i % 2 else 4},{96},{i}\n" for i in range(40))
    with Up(folder, "--in-memory", "--nodes-file", listed) as up:
        nodes = up.get("nodes")["items"]
        assert len(nodes) == 40 and {node["metadata"]["name"] for node in nodes} == {f"node-{i}" for i in range(40)}
        found = {}
        for node in nodes:
            labels = node["metadata"]["labels"]
            found.setdefault(labels["example.com/rack"], []).append(labels["nvidia.com/gpu.product"])
        assert sorted(map(len, found.values())) == [4, 4, 16, 16], found
        assert all(len(set(models)) == 1 for models in found.values()), found
        up.stop()
    manifests = os.path.join(folder, "nodes.yaml")
    with open(manifests, "w", encoding="utf-8") as file:
        file.write("{apiVersion: v1, kind: Node, metadata: {name: mine}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}\n")
    with Up(folder, "--in-memory", "--nodes-file", manifests) as up:
        node = up.until("ready", lambda: (lambda n: condition_of(n, "Ready").get("status") == "True" and n)(up.get("node", "mine")))
        assert len(up.get("nodes")["items"]) == 1 and str(node["status"]["allocatable"]["cpu"]) == "4", node
        up.stop()
    for text, message in [("a,b\n1,2\n", "node_name"), ("node_name,cpu_num\nx,many\nx,1\n", "cpu_num"), ("node_name\n", "no nodes")]:
        with open(listed, "w", encoding="utf-8") as file:
            file.write(text)
        code, _, err = run("up", "--in-memory", "--data-dir", folder, "--nodes-file", listed)
        assert code == 2 and message in err, f"{text!r}: {code} {err}"
    code, _, err = run("up", "--in-memory", "--data-dir", folder, "--nodes-file", "examples/deployment.yaml")
    assert code == 2 and "is no Node" in err, err


DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      schedulerName: platoon
      containers:
      - {name: main, image: "web:1", resources: {limits: {nvidia.com/gpu: "8"}}}
"""


@test
def every_verb_of_kubectl(folder):
    """One Deployment through all that a user does with kubectl; controllers, scheduler and kubelets play their part."""
    path = os.path.join(folder, "web.yaml")

    def write(text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    with Up(folder, "--in-memory", "--nodes", "1x2x4") as up:
        k = up.kubectl

        def ready(count):
            k("wait", f"--for=jsonpath={{.status.readyReplicas}}={count}", "deploy/web", f"--timeout={PATIENCE}s")

        def nodes_of():
            return k("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}").split()

        # what there is, and who may
        assert {"deployments", "podgroups", "pytorchjobs", "rolebasedgroups"} <= {
            line.split()[0] for line in k("api-resources").splitlines()}
        assert "minMember" in k("explain", "podgroup.spec")
        assert k("auth", "can-i", "create", "deployments").strip() == "yes"
        # create, watch, get
        write(DEPLOYMENT)
        watch = subprocess.Popen([KUBECTL, "get", "pods", "-w", "-o", "name"], stdout=subprocess.PIPE, text=True, env=up.env)
        assert "deployment.apps/web created" in k("create", "-f", path)
        ready(2)
        names = k("get", "pods", "-o", "name").split()
        assert len(names) == 2 and k("get", "deploy", "web").split()[6] == "2/2"
        assert all(node in k("get", "pods", "-o", "wide") for node in nodes_of())
        assert "kind: Deployment" in k("get", "deploy", "web", "-o", "yaml")
        assert up.get("deploy", "web")["status"]["availableReplicas"] == 2
        assert k("get", "deploy", "web", "-o", "jsonpath={.spec.replicas}") == "2"
        for word in ("web:1", "2 desired"):
            assert word in k("describe", "deploy", "web"), word
        assert "Successfully assigned" in k("describe", names[0]) and "8 " in k("describe", "node", nodes_of()[0])
        assert "Successfully assigned" in k("events", "--for", names[0])
        # apply from the client's side, diff, apply from the server's
        k("apply", "-f", path)
        write(DEPLOYMENT.replace("replicas: 2", "replicas: 3"))
        assert "+  replicas: 3" in k("diff", "-f", path, code=1)
        assert "configured" in k("apply", "-f", path)
        ready(3)
        write(DEPLOYMENT.replace("replicas: 2", "replicas: 4"))
        k("apply", "--server-side", "--force-conflicts", "-f", path)
        ready(4)
        # scale, patch, label, annotate, edit
        k("scale", "deploy/web", "--replicas=5")
        ready(5)
        k("patch", "deploy", "web", "--type=merge", "-p", '{"spec":{"replicas":4}}')
        k("patch", "deploy", "web", "--type=json", "-p", '[{"op":"replace","path":"/spec/replicas","value":3}]')
        k("patch", "deploy", "web", "-p", '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"web:2"}]}}}}')
        k("rollout", "status", "deploy/web", f"--timeout={PATIENCE}s")
        pods = [p for p in up.get("pods", "-l", "app=web")["items"] if "deletionTimestamp" not in p["metadata"]]
        assert [p["spec"]["containers"][0]["image"] for p in pods] == ["web:2"] * 3, pods
        k("label", "deploy", "web", "team=a")
        k("annotate", "deploy", "web", "note=hello")
        up.env["KUBE_EDITOR"] = "sed -i s/hello/goodbye/"
        assert "edited" in k("edit", "deploy", "web")
        metadata = up.get("deploy", "web")["metadata"]
        assert metadata["labels"]["team"] == "a" and metadata["annotations"]["note"] == "goodbye", metadata
        # a node is emptied: its pods come back elsewhere
        node = nodes_of()[0]
        k("cordon", node)
        assert "SchedulingDisabled" in k("get", "node", node)
        assert "drained" in k("drain", node, "--force", "--ignore-daemonsets", f"--timeout={PATIENCE}s")
        ready(3)
        up.until("the node is empty", lambda: node not in nodes_of())
        k("uncordon", node)
        # delete, and nothing is left
        k("delete", "deploy", "web")
        up.until("all pods are gone", lambda: not up.get("pods")["items"])
        watch.terminate()
        seen = watch.communicate()[0].split()
        assert set(names) <= set(seen) and len(set(seen)) >= 8, seen
        up.stop()


def run(*args):
    done = subprocess.run([PLATOON, *args], capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT, check=False)
    return done.returncode, done.stdout, done.stderr


@test
def help_and_wrong_usage(folder):
    code, out, _ = run("up", "--help")
    assert code == 0 and max(map(len, out.splitlines())) <= 120, out
    for line in out.split("Examples:\n")[1].splitlines():
        code, _, err = run(*line.split()[1:], "--data-dir", folder)
        assert code == 0, f"{line}: {err}"
    code, out, _ = run("up", "--in-memory", "--port", "0", "--data-dir", folder, "--until-placed", "-f",
                       "examples/up-impossible.yaml")
    assert code == 1 and "Never" in out, out
    for wrong, message in [(["--nodes", "2x2"], "1x2x4"), (["--nodes", "0x1x1"], "1x2x4"), (["--nodes", "1x2x4x"], "1x2x4"),
                           (["--nodes", "200x200x200"], "20000"), (["--gpus", "-1"], "--gpus"), (["--port", "65536"], "--port"),
                           (["--until-placed"], "needs a workload or PodGroup"), (["-f", "nosuch.yaml"], "nosuch.yaml"), (["extra"], "-f")]:
        code, _, err = run("up", "--in-memory", "--data-dir", folder, *wrong)
        assert code == 2 and message in err, f"{wrong}: {code} {err}"
    bad = os.path.join(folder, "bad.yaml")
    with open(bad, "w", encoding="utf-8") as file:
        file.write("{apiVersion: v1, kind: Nonsense, metadata: {name: a}}\n---\n"
                   "{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: b}, spec: {minMember: -1}}\n")
    code, _, err = run("up", "--in-memory", "--port", "0", "--data-dir", folder, "-f", bad)
    assert code == 1 and "Nonsense" in err and "minMember" in err and "2 of 2 objects" in err, f"{code} {err}"


def main():
    def in_a_folder(function):
        with tempfile.TemporaryDirectory() as folder:
            function(folder)

    finish(*run_tests(ONLY, in_a_folder))


if __name__ == "__main__":
    main()
