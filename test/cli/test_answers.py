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


run_tests(sys.argv[3:])
