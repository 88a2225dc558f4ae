#!/usr/bin/env python3
"""What pods ask for, as a user writes it: the plan honours it, or says what it does not.

    test_pods.py PLATOON [NAME...]

The last line is `N passed, M failed`.
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from runner import run_tests, test  # noqa: E402

PLATOON = os.path.abspath(sys.argv[1])
ONLY = sys.argv[2:]


def run(*args, text=None):
    return subprocess.run([PLATOON, *args], input=text, capture_output=True, text=True, timeout=120, check=False)


def plan(*objects, options=()):
    """State, nodes and reasons of each group, by the name of its workload or pod."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
    done = run("plan", "-f", "-", "-o", "json", *options, text=text)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    nodes = {}
    for binding in answer["bindings"]:
        nodes.setdefault(binding["pod"], binding["node"])
    return {group["name"]: (group["state"], "; ".join(reason["message"] for reason in group["reasons"]))
            for group in answer["groups"]}, nodes


def node(name, labels=None, **amounts):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "8", **amounts},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name, *volumes, metadata=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", **(metadata or {})},
            "spec": {"schedulerName": "platoon", "containers": [{"name": "c", "image": "i"}],
                     **({"volumes": list(volumes)} if volumes else {}), **spec}}


def storage_class(name, provisioner="kubernetes.io/no-provisioner", default=False, mode="WaitForFirstConsumer"):
    marks = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}} if default else {}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name, **marks},
            "provisioner": provisioner, "volumeBindingMode": mode}


def claim_spec(class_, size="1Gi"):
    return {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}},
            **({"storageClassName": class_} if class_ is not None else {})}


def local_volume(name, host, class_="local", size="10Gi"):
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
            "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": class_,
                     "local": {"path": "/d"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [
                         {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}]}]}}},
            "status": {"phase": "Available"}}


def claim(name, class_, size="1Gi"):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"},
            "spec": claim_spec(class_, size)}


def ephemeral(class_, size="1Gi"):
    return {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim_spec(class_, size)}}}


def uses(name):
    return {"name": "data", "persistentVolumeClaim": {"claimName": name}}


def stateful_set(class_, size="1Gi"):
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "default"},
            "spec": {"replicas": 2, "serviceName": "db", "podManagementPolicy": "Parallel",
                     "selector": {"matchLabels": {"app": "db"}},
                     "template": {"metadata": {"labels": {"app": "db"}},
                                  "spec": {"schedulerName": "platoon", "containers": [{"name": "c", "image": "i"}]}},
                     "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim_spec(class_, size)}]}}


# ---- claims that a cluster makes ----


@test
def claims_of_a_stateful_set_are_made():
    nodes = [node("n0"), node("n1")]
    volumes = [local_volume("v0", "n1"), local_volume("v1", "n1")]
    _, bound = plan(*nodes, storage_class("local"), *volumes, stateful_set("local"))
    assert bound == {"db-0": "n1", "db-1": "n1"}, bound
    # The claim that is there counts: it is too large for any volume.
    groups, bound = plan(*nodes, storage_class("local"), *volumes, claim("data-db-0", "local", "20Gi"), stateful_set("local"))
    assert "db-0" not in bound and any("20Gi" in text for _, text in groups.values()), (groups, bound)


@test
def claims_of_ephemeral_volumes_are_made():
    nodes = [node("n0"), node("n1")]
    groups, bound = plan(*nodes, storage_class("local"), local_volume("v1", "n1"), pod("e", ephemeral("local")))
    assert bound == {"e": "n1"}, (groups, bound)
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "default"},
           "spec": {"parallelism": 2, "completions": 2, "template": {"spec": {
               "schedulerName": "platoon", "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}],
               "volumes": [ephemeral("local")]}}}}
    _, bound = plan(*nodes, storage_class("local"), local_volume("v0", "n0"), local_volume("v1", "n1"), job)
    assert sorted(bound.values()) == ["n0", "n1"], bound
    # A claim of that name that was made for something else.
    groups, bound = plan(*nodes, storage_class("local"), local_volume("v1", "n1"), claim("e-scratch", "local"),
                         pod("e", ephemeral("local")))
    assert groups["e"][0] == "Blocked" and "was not created for pod e" in groups["e"][1], groups


@test
def claims_without_a_class_get_the_default_class():
    objects = [node("n0"), node("n1"), storage_class("local", default=True), local_volume("v1", "n1")]
    groups, bound = plan(*objects, claim("data", None), pod("p", uses("data")), pod("e", ephemeral(None)))
    assert sorted(bound.values()) == ["n1"] and len(groups) == 2, (groups, bound)
    groups, _ = plan(*objects, claim("data", ""), pod("p", uses("data")))
    assert groups["p"][0] == "Blocked" and "no storage class" in groups["p"][1], groups


# ---- GPUs that are shared ----


def workload(kind, name, template_metadata=None, **metadata):
    template = {"metadata": {"labels": {"app": name}, **(template_metadata or {})},
                "spec": {"schedulerName": "platoon", "containers": [{"name": "c", "image": "i"}]}}
    spec = {"template": template}
    if kind == "Deployment":
        spec.update(replicas=1, selector={"matchLabels": {"app": name}})
    else:
        template["spec"]["restartPolicy"] = "Never"
    return {"apiVersion": "apps/v1" if kind == "Deployment" else "batch/v1", "kind": kind,
            "metadata": {"name": name, "namespace": "default", **metadata}, "spec": spec}


@test
def a_share_of_a_gpu_is_never_ignored():
    """As annotation or label, of a pod, of a template, or of the workload above it."""
    share = {"gpu-fraction": "0.5"}
    shapes = {"annotation": pod("p", metadata={"annotations": share}),
              "label": pod("p", metadata={"labels": share}),
              "template": workload("Job", "w", {"annotations": share}),
              "label of a template": workload("Deployment", "w", {"labels": {"app": "w", **share}}),
              "job": workload("Job", "w", annotations=share),
              "label of a job": workload("Job", "w", labels=share),
              "deployment": workload("Deployment", "w", annotations={"gpu-memory": "4000"})}
    for what, shape in shapes.items():
        groups, bound = plan(node("n0"), shape)
        (state, why), = groups.values()
        assert not bound and state == "Blocked", (what, groups, bound)
        assert "GPUs are given to pods as a whole" in why and "metadata." in why, (what, why)
        done = run("validate", "-f", "-", text=json.dumps(shape))
        assert "blocked" in done.stdout + done.stderr, (what, done.stdout + done.stderr)


run_tests(ONLY)
