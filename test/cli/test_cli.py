#!/usr/bin/env python3
"""The program as a user meets it: help, exit codes, output formats, completion, examples.

    test_cli.py PLATOON SOURCE_ROOT [--update]

Golden tables are in golden/. Sentences that explain a refusal are left out of the comparison: their wording belongs to
the engine. --update writes them anew. The last line is `N passed, M failed`.
"""
import json
import os
import pty
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from program import GROUP, PLATOON, ROOT, SCRATCH, expect, run, scratch  # noqa: E402
from runner import run_tests, test  # noqa: E402

UPDATE = "--update" in sys.argv
GOLDEN = os.path.join(ROOT, "test", "cli", "golden")
COMMANDS = ["plan", "why", "validate", "translate", "simulate", "top", "install", "completion", "help"]

NODE = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}\n---\n"
POD = """apiVersion: v1
kind: Pod
metadata: {name: %s, annotations: {pod-group-name: %s}}
spec: {schedulerName: platoon, containers: [{name: main, resources: {requests: {cpu: 1}}}]}
---
"""


@test
def help_of_everything():
    overall = expect(0, "--help", out=COMMANDS)
    assert expect(0, "help") == overall
    assert expect(0, "-h") == overall
    for command in COMMANDS:
        text = expect(0, command, "--help", out=["Usage: platoon " + command, "Options:", "--help", "Exit codes:", "Examples:"])
        assert expect(0, "help", command) == text
        assert max(map(len, text.splitlines())) <= 120
    expect(2, err="Usage: platoon COMMAND")
    expect(0, "--version", out="platoon ")


@test
def examples_of_the_help_run():
    for command in COMMANDS:
        text = expect(0, command, "--help")
        lines = [line.strip() for line in text.split("Examples:\n")[1].splitlines()]
        assert lines
        for line in lines:
            words = line.split()
            assert words[0] == "platoon", line
            code, _, err = run(*words[1:])
            assert code == 0, f"{line}: exit {code}\n{err}"


@test
def every_option_of_the_help_is_understood():
    values = {"FILE": "examples/first-gang.yaml", "FORMAT": "json", "LIST": "allocate", "STEPS": "1000", "LEVEL": "error",
              "DURATION": "10m", "IMAGE": "platoon:1", "WHEN": "never", "BOOL": "true", "SCHEDULER": "kai"}
    values.update({"STRATEGY": "spread", "NAME": "default", "PROFILE": "platoon", "SHAPE": "1x1x2", "COUNT": "1", "A": "1..1"})
    operands = {"simulate": ["test/scenarios/slurm"], "completion": ["bash"], "why": ["podgroup/chat"]}
    for command in COMMANDS:
        options = expect(0, command, "--help").split("Options:\n")[1].split("\n\n")[0]
        for letter, name, argument in re.findall(r"^  (?:-(\w), |    )--([\w-]+)(?: ([A-Z]+))?", options, re.M):
            if command == "install" and name in ("only", "values", "chart", "webhook-url"):  # tests of install
                continue
            if name in ("kubeconfig", "context"):  # need a cluster: a_live_cluster_is_read
                continue
            forms = [["--" + name]] + ([["-" + letter]] if letter else [])
            for form in forms:
                if command == "simulate" and name in ("report", "compare", "actions", "starvation-after", "nodes-file"):
                    continue  # for traces: test_trace.py
                if command == "simulate" and name in ("nodes", "gpus", "budget", "placement", "seeds", "faults"):
                    random = [] if name == "seeds" else ["--seeds", "1..1"]
                    expect(0, command, *random, *form, "crash" if name == "faults" else values[argument])
                    continue
                extra = ["--once"] if command == "top" and name != "once" else []
                extra += ["--to", "kai"] if command == "translate" and name != "to" else []
                file = ["-f", values["FILE"]] if command in ("plan", "why", "validate", "translate", "top") and name != "filename" else []
                value = {"config": os.devnull, "scheduler-name": "platoon"}.get(name, values.get(argument))
                expect(0, command, *extra, *file, *form, *([value] if argument else []), *operands.get(command, []))


SETTINGS_SCENARIO = """
apiVersion: platoon.dev/v1alpha1
kind: Scenario
metadata: {name: other}
spec:
  objects:
  - {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, memory: 8Gi, pods: 10}}}
  - {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 8, memory: 8Gi, pods: 10}}}
  - {apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: team-a}, spec: {resources: {cpu: {quota: -1, limit: -1}}}}
  - {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {schedulerName: other, containers: [
     {name: c, image: i, resources: {requests: {cpu: 1}}}]}}
  - {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {schedulerName: other, containers: [
     {name: c, image: i, resources: {requests: {cpu: 1}}}]}}
%s
  expect: {pods: {default/a: {node: n1}, default/b: {node: n2}}}
"""


@test
def the_settings_of_run_decide_a_scenario():
    """Scenarios about cycles, those with steps, and what is recorded of a cluster for somebody without these settings."""
    config = scratch("scenario-run.yaml", "schedulerNames: [other]\ndefaultQueue: team-a\nplacementStrategy: {cpu: spread}\n")
    for name, steps in (("cycles", ""), ("steps", "  steps: [{advance: 5s}]")):
        path = scratch(f"scenario-{name}.yaml", SETTINGS_SCENARIO % steps)
        expect(1, "simulate", path)
        expect(1, "simulate", path, "--scheduler-name", "other", "--placement", "spread")  # there is no default-queue
        expect(0, "simulate", path, "--config", config)
    objects = scratch("objects.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8", "pods": "10"}}},
        {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "team-a"},
         "spec": {"resources": {"cpu": {"quota": -1, "limit": -1}}}},
        *({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels},
           "spec": {"schedulerName": "other", "containers": [{"name": "c", "image": "i"}]}}
          for name, labels in (("a", {}), ("b", {"team": "team-a"})))]}))
    labelled = scratch("record-run.yaml", "schedulerNames: [other]\ndefaultQueue: team-a\nqueueLabelKey: team\n")
    recorded = scratch("recorded.json", expect(0, "record", "-f", objects, "--config", labelled))
    assert len(json.loads(expect(0, "plan", "-f", recorded, "-o", "json"))["bindings"]) == 2
    recorded = scratch("recorded.json", expect(0, "record", "-f", objects))
    assert not json.loads(expect(0, "plan", "-f", recorded, "-o", "json"))["bindings"]


@test
def the_settings_of_run_decide_a_plan():
    """The same file, the same decisions: whose pods are placed, and in which queue those are that name none."""
    objects = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 8, memory: 8Gi, pods: 10}, conditions: [{type: Ready, status: "True"}]}
---
{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: team-a}, spec: {resources: {cpu: {quota: -1, limit: -1}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: alone}, spec: {schedulerName: other, containers: [{name: c, image: i}]}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: work}, spec: {template: {spec: {schedulerName: other, restartPolicy: Never,
  containers: [{name: c, image: i}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: labelled, labels: {team: team-a}}, spec: {schedulerName: other,
  containers: [{name: c, image: i}]}}
"""
    with tempfile.TemporaryDirectory() as folder:
        path, config = os.path.join(folder, "objects.yaml"), os.path.join(folder, "run.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(objects)

        def bound(settings, *args):
            with open(config, "w", encoding="utf-8") as file:
                file.write(settings)
            plan = json.loads(expect(0, "plan", "-f", path, "--config", config, "-o", "json", *args))
            return sorted(binding["pod"].split("-")[0] for binding in plan["bindings"])

        assert bound("") == []
        assert bound("schedulerNames: [other]\n") == []  # there is no default-queue
        assert bound("schedulerNames: [other]\nqueueLabelKey: team\n") == ["labelled"]
        assert bound("schedulerNames: [other]\ndefaultQueue: team-a\n") == ["alone", "labelled", "work"]
        assert bound("defaultQueue: team-a\n", "--scheduler-name", "other") == ["alone", "labelled", "work"]
        with open(config, "w", encoding="utf-8") as file:
            file.write("queueLabelKey: a b\ndefaultQeue: x\n")
        expect(2, "plan", "-f", path, "--config", config, err="defaultQeue: there is no such setting; use defaultQueue")
        expect(2, "plan", "-f", path, "--config", config, err="queueLabelKey: must be the key of a label")


@test
def wrong_usage():
    expect(2, "pln", err="did you mean plan?")
    expect(2, "--versoin", err="did you mean --version?")
    expect(2, "frobnicate", err="unknown command frobnicate")
    expect(2, "help", "simulat", err="did you mean simulate?")
    nowhere = {"KUBECONFIG": "", "HOME": SCRATCH, "KUBERNETES_SERVICE_HOST": ""}
    code, _, err = run("plan", env=nowhere)
    assert code == 2 and "no kubeconfig" in err and "give files with -f" in err, err
    expect(2, "why", "pod/a", "pod/b", err="podgroup/NAME")
    expect(2, "why", "pg", "-f", "examples/first-gang.yaml", err="give kind and name")
    expect(2, "why", "node/x", "-f", "examples/first-gang.yaml", err="node \"x\" not found")
    expect(2, "why", "pg/chet", "-f", "examples/first-gang.yaml", err="did you mean chat?")
    expect(2, "validate", err="give at least one file")
    expect(2, "simulate", err="give at least one scenario")
    expect(2, "plan", "--fielname", "x", err="did you mean --filename?")
    expect(2, "plan", "-x", err="unknown option -x")
    expect(2, "plan", "-f", err="option -f needs a value")
    expect(2, "plan", "--output", err="option --output needs a value")
    expect(2, "plan", "-f", "x", "-o", "xml", err="table wide json yaml")
    expect(2, "validate", "-f", "x", "-o", "wide", err="table json yaml")
    expect(2, "plan", "-f", "x", "--budget", "0", err="--budget 0")
    expect(2, "plan", "-f", "x", "--budget", "-1", err="--budget -1")
    expect(2, "plan", "-f", "x", "--placement", "gpu=tight", err="--placement gpu=tight: use binpack")
    expect(2, "plan", "-f", "x", "--budget", "99999999999999999999999", err="whole number")
    expect(2, "plan", "-f", "x", "--starvation-after", "soon", err="a duration above 0")
    expect(2, "plan", "-f", "x", "--starvation-after", "0s", err="--starvation-after 0s")
    expect(2, "plan", "-f", "x", "--log-level", "loud", err="--log-level loud")
    expect(2, "plan", "-f", "x", "--actions", "allocate,fly", err='"fly" is not an action')
    expect(2, "plan", "extra", err="give files with -f")
    expect(2, "validate", "--verbose", err="unknown option --verbose")
    expect(2, "completion", err="bash, zsh or fish")
    expect(2, "completion", "basch", err="did you mean bash?")


STARVED = """apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 8Gi, pods: "10", nvidia.com/gpu: "4"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: busy, namespace: default}
spec:
  nodeName: n1
  containers: [{name: c, resources: {requests: {nvidia.com/gpu: "2"}}}]
status: {phase: Running}
---
"""
MEMBER = """apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: %(name)s, namespace: default, creationTimestamp: "%(since)s"}
spec: {minMember: %(pods)d}
---
"""
MEMBER_POD = """apiVersion: v1
kind: Pod
metadata: {name: %(name)s-%(index)d, namespace: default, creationTimestamp: "%(since)s", annotations: {pod-group-name: %(name)s}}
spec:
  schedulerName: platoon
  containers: [{name: c, resources: {requests: {nvidia.com/gpu: "2"}}}]
---
"""


@test
def a_gang_that_has_waited_long_is_not_passed():
    text = STARVED
    for name, pods, since in (("wide", 2, "2024-01-01T00:00:00Z"), ("small", 1, "2024-06-01T00:00:00Z")):
        text += MEMBER % {"name": name, "pods": pods, "since": since}
        text += "".join(MEMBER_POD % {"name": name, "index": i, "since": since} for i in range(pods))
    path = scratch("starved.yaml", text)
    expect(0, "plan", "-f", path, out="1 to bind")
    expect(0, "plan", "-f", path, "--starvation-after", "10m", out=["0 to bind", "it has waited long"])
    expect(0, "plan", "-f", path, "--starvation-after", "876000h", out="1 to bind")  # nobody has waited a century
    expect(1, "why", "pg/wide", "-f", path, "--starvation-after", "10m", out="it has waited long")


@test
def unreadable_input():
    bad, worse = scratch("bad.yaml", "a: [1\n"), scratch("worse.json", "{]")
    expect(2, "plan", "-f", "no-such-file.yaml", err="no-such-file.yaml")
    expect(2, "plan", "-f", bad, "-f", worse, "-f", "examples/first-gang.yaml", err=["bad.yaml", "worse.json"])
    expect(2, "validate", "-f", bad, "-f", "examples/first-gang.yaml", out="18 objects checked", err="bad.yaml")
    expect(2, "simulate", bad, "test/scenarios/slurm", out="7 passed, 0 failed", err="bad.yaml")
    expect(2, "simulate", "examples/up-gang.yaml", out="0 passed, 0 failed", err="no scenario found")
    expect(0, "simulate", "examples/elastic.yaml", out="POLICY")  # with nodes: a cluster to replay
    expect(0, "simulate", "examples/up-gang.yaml", "--nodes", "1x2x4", "--placement", "spread", out="spread")
    expect(0, "simulate", "--seeds", "1..1", "--placement", "spread")
    folder = os.path.join(SCRATCH, "empty")
    os.mkdir(folder)
    expect(2, "simulate", folder, err="no scenario found")


@test
def output_that_does_not_arrive_is_no_success():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([PLATOON, "--help"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and b"cannot write" in done.stderr


@test
def standard_input():
    text = NODE + GROUP % ("g", "minMember: 1") + POD % ("p", "g")
    expect(0, "plan", "-f", "-", out=["default/g", "Placed", "1/1", "n1"], text=text)
    expect(0, "validate", "-f", "-", out="3 objects checked, 0 errors, 0 warnings", text=text)


@test
def why_lists_what_waits():
    rows = expect(1, "why", "-f", "examples/first-gang.yaml").splitlines()
    assert len(rows) == 2 and rows[1].startswith("default/pretrain  Never  closest rack r1 fits 0/5"), rows
    listed = json.loads(expect(1, "why", "-f", "examples/first-gang.yaml", "-o", "json"))
    assert [(item["name"], item["state"]) for item in listed] == [("pretrain", "Never")], listed
    expect(0, "why", "-f", "examples/first-gang.yaml", "-n", "other", out="nothing waits")


@test
def warnings_count_for_the_exit_code():
    expect(1, "validate", "-f", "-", out="(write Job if that is meant)", text="{apiVersion: batch/v1, kind: Jobb, metadata: {name: x}}")
    expect(1, "validate", "-f", "-", out="(write minMember)", text=GROUP % ("g", "minMembers: 2"))


@test
def folders():
    folder = os.path.join(SCRATCH, "tree")
    os.makedirs(os.path.join(folder, "below"))
    scratch("tree/group.yaml", GROUP % ("g", "minMember: 1"))
    scratch("tree/below/node.yaml", NODE)
    expect(0, "validate", "-f", folder, out="1 object checked")
    expect(0, "validate", "-R", "-f", folder, out="2 objects checked")


@test
def a_bad_group_blocks_only_itself():
    text = NODE + GROUP % ("good", "minMember: 1") + POD % ("p", "good") + GROUP % ("bad", "minMember: -1") + POD % ("q", "bad")
    expect(1, "plan", "-f", "-", out=["default/good  Placed", "default/bad", "spec.minMember"], text=text)
    expect(1, "validate", "-f", "-", out=["error: PodGroup bad: spec.minMember: ", "5 objects checked, 1 error, 0 warnings"], text=text)
    report = json.loads(expect(1, "validate", "-f", "-", "-o", "json", text=text))
    assert report["errors"] == 1 and report["checked"] == 5
    problem = report["problems"][0]
    assert problem["severity"] == "error" and problem["path"] == "spec.minMember" and "fix" in problem


@test
def workloads_are_judged_by_what_comes_of_them():
    job = ("---\napiVersion: batch/v1\nkind: %s\nmetadata: {name: %s, namespace: default, %s}\nspec: {parallelism: %d, "
           "completions: 4, template: {metadata: {annotations: {kai.scheduler/topolgy: a}}, spec: {schedulerName: %s, "
           "restartPolicy: Never, containers: [{name: a, image: i}]}}}\n")
    five = 'annotations: {kai.scheduler/batch-min-member: "five"}'
    text = job % ("Job", "bad", five, 4, "platoon") + job % ("Job", "other", five, 4, "default-scheduler")
    text += job % ("Jobb", "slip", "", 4, "platoon")
    said = expect(1, "validate", "-f", "-", text=text).splitlines()
    errors = [line for line in said if "error: " in line]
    assert len(errors) == 1 and 'Job default/bad: metadata.annotations[kai.scheduler/batch-min-member]: "five" is not' in errors[0], said
    assert sum("spec.template.metadata.annotations.kai.scheduler/topolgy" in line and "write kai.scheduler/topology" in line
               for line in said) == 3, said
    assert any("Jobb default/slip: kind: no kind Jobb is known" in line and "write Job if" in line for line in said), said
    assert said[-1] == "2 objects checked, 1 error, 4 warnings", said
    # However large it is, a workload is judged by its first pods.
    expect(1, "validate", "-f", "-", out="1 object checked, 1 error", text=job % ("Job", "huge", five, 1000000, "platoon"))


@test
def the_contract_of_a_plan():
    plan = json.loads(expect(0, "plan", "-f", "examples/first-gang.yaml", "-o", "json"))
    assert list(plan) == ["bindings", "reservations", "evictions", "groups", "admission", "warnings"]
    assert len(plan["bindings"]) == 5
    assert all(set(binding) == {"namespace", "pod", "node"} for binding in plan["bindings"])
    assert plan["bindings"] == sorted(plan["bindings"], key=lambda binding: (binding["namespace"], binding["pod"]))
    chat, pretrain = plan["groups"]
    assert (chat["name"], chat["state"], chat["placed"], chat["minimum"]) == ("chat", "Placed", 5, 5)
    assert [sub["name"] for sub in chat["subGroups"]] == ["prefill", "decode"]
    assert all(set(sub) == {"name", "placed", "minimum"} for sub in chat["subGroups"])
    assert (pretrain["state"], pretrain["placed"], pretrain["minimum"]) == ("Never", 0, 5)
    assert pretrain["reasons"]
    for reason in pretrain["reasons"]:
        assert set(reason) - {"change"} == {"code", "message", "level", "domain", "have", "need"}
        assert ("change" in reason) == (reason["code"] == "WouldFit")
        assert reason["code"] and reason["message"]
    assert plan["evictions"] == plan["admission"] == plan["warnings"] == []


@test
def the_same_plan_as_yaml():
    text = expect(0, "plan", "-f", "examples/first-gang.yaml", "-o", "yaml")
    assert text.startswith("bindings:") and "state: Never" in text


@test
def a_plan_is_repeatable():
    for example in sorted(name for name in os.listdir(os.path.join(ROOT, "examples")) if name.endswith(".yaml")):
        path = os.path.join("examples", example)
        assert expect(0, "plan", "-f", path, "-o", "json") == expect(0, "plan", "-f", path, "-o", "json")


@test
def a_scenario_can_be_planned():
    expect(0, "plan", "-f", "test/scenarios/adversarial/adv-01.json", out=["default/job", "10/10"])
    expect(2, "plan", "-f", "test/scenarios/adversarial", err="planned alone")


def scenario(name, placed):
    objects = [GROUP % ("g", "minMember: 1"), POD % ("p", "g"), NODE]
    items = "".join("  - " + part.replace("---\n", "").rstrip("\n").replace("\n", "\n    ") + "\n" for part in objects)
    return (f"apiVersion: platoon.dev/v1alpha1\nkind: Scenario\nmetadata: {{name: {name}}}\nspec:\n  objects:\n{items}"
            f"  run: {{actions: [allocate], cycles: 1}}\n  expect: {{groups: {{default/g: {{placed: {placed}}}}}}}\n---\n")


@test
def scenarios_in_one_file():
    path = scratch("both.yaml", scenario("good", 1) + scenario("wrong", 2))
    expect(1, "simulate", path, out="FAIL wrong: default/g: expected placed 2, got 1\n1 passed, 1 failed\n")
    expect(1, "simulate", "--verbose", path, out=["pass good", "FAIL wrong"])
    report = json.loads(expect(1, "simulate", path, "-o", "json"))
    assert (report["passed"], report["failed"]) == (1, 1)
    assert [case["name"] for case in report["scenarios"]] == ["good", "wrong"]
    assert report["scenarios"][1]["failures"] == ["default/g: expected placed 2, got 1"]


def on_terminal(env):
    """Output of a plan on a pseudo terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([PLATOON, "plan", "-f", "examples/first-gang.yaml"], cwd=ROOT, stdout=follower, env=env)
    os.close(follower)
    output = b""
    try:
        while chunk := os.read(leader, 65536):
            output += chunk
    except OSError:
        pass
    os.close(leader)
    assert process.wait(timeout=60) == 0
    return output


@test
def colours_on_a_terminal_only():
    env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    assert b"\033[" in on_terminal(dict(env, TERM="xterm"))
    assert b"\033[" not in on_terminal(dict(env, TERM="xterm", NO_COLOR="1"))
    assert b"\033[" not in on_terminal(dict(env, TERM="dumb"))
    assert "\033[" not in expect(0, "plan", "-f", "examples/first-gang.yaml")


def crowded(victims):
    """One full node of a queue beyond its quota, and a gang of another queue that wants all of it."""
    docs = [{"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name},
             "spec": {"resources": {"gpu": {"quota": quota, "limit": -1, "overQuotaWeight": 1}}}}
            for name, quota in (("owner", victims), ("guest", 0))]
    docs.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"},
                 "status": {"allocatable": {"cpu": "64", "pods": "110", "nvidia.com/gpu": str(victims)}}})
    for group, queue, count, gpus in (("sweep", "guest", victims, 1), ("train", "owner", 1, victims)):
        docs.append({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
                     "metadata": {"name": group, "namespace": "default"}, "spec": {"queue": queue, "minMember": count}})
        for i in range(count):
            pod = {"apiVersion": "v1", "kind": "Pod",
                   "metadata": {"name": f"{group}-{i}", "namespace": "default", "annotations": {"pod-group-name": group}},
                   "spec": {"schedulerName": "platoon", "containers": [
                       {"name": "main", "resources": {"requests": {"nvidia.com/gpu": gpus}}}]}}
            if queue == "guest":
                pod["spec"]["nodeName"] = "node-1"
                pod["status"] = {"phase": "Running"}
            docs.append(pod)
    return "\n---\n".join(json.dumps(doc) for doc in docs)


@test
def many_evictions_are_one_line():
    few = expect(0, "plan", "-f", "-", text=crowded(4))
    assert few.count(" leaves node-1 (reclaim) for default/train: its queue is entitled to it\n") == 4, few
    many = expect(0, "plan", "-f", "-", text=crowded(8))
    assert many.count("sweep-") == 3 and "  - 8 pods leave (reclaim) for default/train: its queue" in many, many
    assert " and 5 more\n" in many, many
    assert expect(0, "plan", "-o", "wide", "-f", "-", text=crowded(8)).count(" leaves node-1 (reclaim)") == 8


@test
def gpus_of_claims_are_cells_of_the_map():
    pool = {"driver": "gpu.example.com", "nodeName": "n1", "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1}}
    docs = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "8", "pods": "9"}}},
            {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu.example.com"}, "spec": {}},
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "n1"},
             "spec": {**pool, "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}]}}]
    expect(0, "top", "--once", "-f", "-", text="\n---\n".join(map(json.dumps, docs)), out=["..", "a cell is one GPU; . free"])


@test
def golden_tables():
    for code, folder, name, output in [(0, "examples", "first-gang", "table"), (0, "examples", "nested-levels", "table"),
                                       (0, "examples", "nested-levels", "wide"), (0, "examples", "elastic", "table"),
                                       (1, "test/cli", "odd-cases", "wide")]:
        text = expect(code, "plan", "-f", f"{folder}/{name}.yaml", "-o", output)
        table = "".join(line for line in text.splitlines(True) if not line.startswith("  - "))
        path = os.path.join(GOLDEN, f"{name}.{output}.txt")
        if UPDATE:
            os.makedirs(GOLDEN, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(table)
        with open(path, encoding="utf-8") as file:
            assert table == file.read(), f"{path} differs:\n{table}"


@test
def segments_are_suggested_in_every_format():
    expect(0, "suggest-segments", "-f", "examples/rbg-segments.yaml", out=["GROUP", "default/chat", "prefill=2 decode=1"])
    expect(0, "suggest-segments", "-f", "examples/rbg-segments.yaml", "-o", "yaml", out=["coordination:", "prefill: 2"])
    found = json.loads(expect(0, "suggest-segments", "-f", "examples/rbg-segments.yaml", "-f", "examples/rbg-topology.yaml",
                              "-o", "json"))
    sizes = {one["name"]: one["coordination"][0]["strategy"]["segmentPlacement"]["segmentSize"] for one in found}
    assert sizes == {"chat": {"prefill": 2, "decode": 1}, "pairs": {"prefill": 2, "decode": 1}}, sizes
    expect(2, "suggest-segments", "-f", "examples/first-gang.yaml", err="no RoleBasedGroup")


run_tests([])
