#!/usr/bin/env python3
"""What people are told before they submit something: plans of services as they roll out, mistakes with the word that was meant.

    test_answers.py PLATOON SOURCE_ROOT [NAME]...

The last line is `N passed, M failed`.
"""
import json
import sys

sys.dont_write_bytecode = True
from program import expect, run, scratch  # noqa: E402
from runner import run_tests, test  # noqa: E402

NODE = """apiVersion: v1
kind: Node
metadata: {name: %s, labels: {example.com/rack: %s, kubernetes.io/hostname: %s}}
status: {allocatable: {cpu: 64, memory: 256Gi, pods: 110, nvidia.com/gpu: %d}}
---
"""


def nodes(count, gpus):
    """A file with so many nodes, one in each rack."""
    return scratch(f"nodes-{count}x{gpus}.yaml", "".join(NODE % (f"n{i}", f"r{i}", f"n{i}", gpus) for i in range(count)))


def plan_of(*files):
    """What is placed, the state of each group, and what is warned of."""
    _, out, err = run("plan", "-o", "json", *(word for file in files for word in ("-f", file)))
    plan = json.loads(out)
    return ({item["pod"] for item in plan["bindings"]}, {item["name"]: item["state"] for item in plan["groups"]}, err + out)


@test
def a_service_is_planned_as_it_rolls_out():
    """Segments of two prefill and one decode, in order: of three the first two fit six GPUs, decode comes after prefill."""
    placed, states, said = plan_of("examples/rbg-segments.yaml", nodes(3, 2))
    assert placed == {f"chat-prefill-{i}" for i in range(4)} | {"chat-decode-0", "chat-decode-1"}, placed
    assert states["chat-prefill-4"] == "Waiting" and "chat-decode-2" not in states, states
    assert "rbg/chat: 2/3 segments, 6/9 pods come up; segment 3 waits: pod chat-prefill-4 is not scheduled" in said, said
    placed, states, said = plan_of("examples/rbg-segments.yaml", nodes(3, 3))
    assert len(placed) == 9 and set(states.values()) == {"Placed"} and "come up" not in said, (placed, said)


@test
def what_holds_a_rollout_is_told():
    held = "1/2 segments, 3/6 pods come up; coordination rollout waits after 1 of 2 segments; approve with"
    placed, _, said = plan_of("examples/rbg-canary.yaml", nodes(4, 4))
    assert placed == {"assistant-router-0", "assistant-model-0", "assistant-model-1"} and held in said, (placed, said)
    # No approval helps what does not come up.
    placed, states, said = plan_of("examples/rbg-canary.yaml", nodes(4, 2))
    assert placed == {"assistant-router-0"} and "0/2 segments, 1/6 pods come up; role model: 0/2 instances" in said, said
    assert states["assistant-model-0"] == "Never", states


@test
def batches_under_a_topology_are_planned():
    """A batch of six in one host: two hosts take both, one takes the first and leaves the second where it is."""
    placed, states, said = plan_of("examples/rbg-topology.yaml", nodes(2, 6))
    assert len(placed) == 6 + 6 and states == {"pairs-pd-0": "Placed", "pairs-pd-1": "Placed"}, (placed, states)
    assert "ClusterTopology" not in said, said
    placed, states, said = plan_of("examples/rbg-topology.yaml", nodes(1, 6))
    assert states["pairs-pd-0"] == "Placed" and states["pairs-pd-1"] == "Waiting", states
    assert "rbg/pairs: 1/2 segments, 6/12 pods come up; segment 2 waits" in said, said


@test
def services_of_policies_and_sets_are_planned():
    placed, states, said = plan_of("examples/pd-serving.yaml", nodes(1, 24))
    assert len(placed) == 10 and states == {"qwen-pd-0": "Placed", "qwen-pd-1": "Placed"}, (placed, states)
    assert "CoordinatedPolicy" not in said, said
    group = ("apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroupSet\nmetadata: {name: two}\nspec: {replicas: 2, "
             "groupTemplate: {spec: {roles: [{name: r, replicas: 2, standalonePattern: {template: {spec: {containers: "
             "[{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}]}}}\n")
    placed, _, _ = plan_of(scratch("set.yaml", group), nodes(1, 3))
    assert len(placed) == 3, placed


@test
def without_nodes_all_of_a_service_is_made():
    _, states, said = plan_of("examples/rbg-segments.yaml")
    assert len(states) == 9 and "come up" not in said, (states, said)


@test
def a_service_is_judged_by_what_comes_of_it():
    expect(0, "validate", "-f", "examples/rbg-topology.yaml", out="2 objects checked, 0 errors, 0 warnings")
    expect(0, "validate", "-f", "examples/pd-serving.yaml", out="2 objects checked, 0 errors, 0 warnings")


CLUSTER = NODE % ("n1", "r1", "n1", 8) + """apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {name: cluster}
spec: {levels: [{nodeLabel: example.com/rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: default-queue}
spec: {resources: {gpu: {quota: -1, limit: -1}, cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}}}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: research}
spec: {resources: {gpu: {quota: -1, limit: -1}, cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}}}
---
"""
JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: default, labels: {%s}, annotations: {%s}}
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      schedulerName: platoon
      restartPolicy: Never
      %s
      containers: [{name: main, image: x, resources: {limits: {%s: 1}}}]
---
"""
GPU, PLACE = "nvidia.com/gpu", "kai.scheduler/topology: %s, kai.scheduler/topology-required-placement: %s"


def told(text):
    """What validate says, and what plan says, of these objects beside a small cluster."""
    file = scratch("told.yaml", CLUSTER + text)
    got, validated, _ = run("validate", "-f", file)
    assert got == 1, validated
    _, out, err = run("plan", "-f", file)
    return validated, out + err


@test
def mistakes_of_workloads_name_the_word_that_was_meant():
    """Labels, annotations, and what they name: told before it is submitted, by both commands."""
    for labels, annotations, spec, wanted, planned in (
            ("kai.scheduler/queue: reserch", "", "", "did you mean research?", "queue reserch does not exist; did you mean research?"),
            ("", PLACE % ("clustr", "example.com/rack"), "", "did you mean cluster?", "Topology clustr does not exist; did you mean cluster?"),
            ("", PLACE % ("cluster", "example.com/rak"), "", "did you mean example.com/rack?", "did you mean example.com/rack?"),
            ("", "kai.scheduler/batch-min-members: '2'", "", "write kai.scheduler/batch-min-member", "write kai.scheduler/batch-min-member"),
            ("", "kai.scheduler/topology-required-placement: example.com/rack", "", "the level is ignored", "the level is ignored"),
            ("", "kai.scheduler/batch-min-member: five", "", '"five" is not a number', '"five" is not a number'),
            ("", "", "priorityClassName: trian", 'no PriorityClass "trian"', 'no PriorityClass "trian"'),
            ("", "", "nodeSelector: {example.com/rak: r1}", "no node has the label example.com/rak (did you mean example.com/rack?)",
             "did you mean example.com/rack?"),
            ("", "", "nodeSelector: {example.com/rack: r2}", "no node has example.com/rack=r2 (did you mean r1?)", "no node has")):
        validated, plan = told(JOB % (labels, annotations, spec, GPU))
        assert wanted in validated and planned in plan, (wanted, validated, planned, plan)
    validated, plan = told(JOB % ("", "", "", "amd.com/gpu"))
    assert "Job default/train: its pods: spec.containers: no node has amd.com/gpu (did you mean nvidia.com/gpu?)" in validated, validated
    validated, plan = told("apiVersion: batch/v1\nkind: Jobb\nmetadata: {name: x}\n")
    assert "write Job if that is meant" in validated and "did you mean Job?" in plan, (validated, plan)


@test
def pods_are_judged_by_what_was_given_with_them():
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default, annotations: {%s}}\nspec: {schedulerName: platoon, %s}\n---\n"
    main = "containers: [{name: m, image: x, resources: {requests: {%s}}}]"
    claim = "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], "
    data = ("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: %s, namespace: default}\nspec: {accessModes: [ReadWriteOnce], "
            "resources: {requests: {storage: 1Gi}}}\n---\n")
    for objects, wanted in (
            (pod % ("", main % "memory: 5Ti"), "no node has 5Ti of memory: the largest has 256Gi"),
            (pod % ("", main % "nvidia.com/gpus: 1"), "no node has nvidia.com/gpus (did you mean nvidia.com/gpu?)"),
            (pod % ("", claim + main % ""), 'PersistentVolumeClaim "data" does not exist'),
            (data % "dta" + pod % ("", claim + main % ""), "did you mean dta?"),
            (pod % ("pod-group-name: nowhere", main % ""), 'PodGroup "nowhere" does not exist')):
        validated, _ = told(objects)
        assert wanted in validated, (wanted, validated)
    good = CLUSTER + data % "data" + pod % ("", claim + main % "cpu: 1")
    expect(0, "validate", "-f", scratch("good.yaml", good), out="0 errors, 0 warnings")
    # Alone, without a cluster around it, nothing is missing.
    expect(0, "validate", "-f", scratch("alone.yaml", pod % ("pod-group-name: nowhere", "nodeSelector: {a: b}, " + main % "memory: 5Ti")))


@test
def pods_without_their_group_are_not_left_out():
    """What waits is listed, and says why: the group was refused, or nobody has made it."""
    file = scratch("level.yaml", CLUSTER + JOB % ("", PLACE % ("cluster", "example.com/rak"), "", GPU))
    listed = json.loads(expect(1, "why", "-f", file, "-o", "json"))
    assert len(listed) == 1 and listed[0]["state"] == "Blocked" and "example.com/rak" in listed[0]["reason"], listed
    pods = "".join("apiVersion: v1\nkind: Pod\nmetadata: {name: p%d, annotations: {pod-group-name: gone}}\nspec: {schedulerName: "
                   "platoon, containers: [{name: m, image: x}]%s}\n---\n" % (i, node) for i, node in enumerate(("", "", ", nodeName: n1")))
    file = scratch("gone.yaml", CLUSTER + pods)
    plan = json.loads(expect(0, "plan", "-f", file, "-o", "json"))
    assert [(group["name"], group["state"], group["placed"]) for group in plan["groups"]] == [("gone", "Blocked", 0)], plan["groups"]
    assert plan["groups"][0]["reasons"][0]["code"] == "MissingObject" and not plan["evictions"], plan
    expect(1, "why", "pod/p0", "-f", file, out="names PodGroup gone, which does not exist")


run_tests(sys.argv[3:])
