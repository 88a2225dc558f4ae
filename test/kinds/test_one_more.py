#!/usr/bin/env python3
"""A program with one more row in its registry (one_more.c): the kind is grouped in `up` and in `run`, `why` finds it, the
chart gives the right to read it, and the page of kinds has it.

    test_one_more.py PLATOON_WITH_ONE_MORE SOURCE_ROOT
"""
import os
import subprocess
import sys
import tempfile

PLATOON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path.insert(0, os.path.join(ROOT, "test", "cli"))

from cluster_api import Api, Process, until  # noqa: E402  pylint: disable=wrong-import-position
from runner import run_tests, test  # noqa: E402  pylint: disable=wrong-import-position

API = "toys.example.com/v1"


def platoon(*args):
    return subprocess.run([PLATOON, *args], capture_output=True, text=True, check=True).stdout


@test
def it_is_in_the_page_of_kinds():
    with open(os.path.join(ROOT, "docs", "reference", "kinds.md"), encoding="utf-8") as file:
        kept = file.read().splitlines()
    more = [line for line in platoon("help", "--reference", "kinds").splitlines() if line not in kept]
    assert len(more) == 1 and more[0].startswith("| Gizmo | toys.example.com | v1 | gizmos | gz | job | where served |"), more


@test
def the_chart_gives_the_right_to_read_it():
    rule = "- apiGroups: [toys.example.com]\n  resources: [gizmos]\n  verbs: [list, watch]\n"
    assert rule in platoon("install")
    with tempfile.TemporaryDirectory() as folder:
        platoon("install", "--chart", folder)
        with open(os.path.join(folder, "templates", "rights.yaml"), encoding="utf-8") as file:
            assert rule in file.read()


def add(api, name, scheduler):
    """A Gizmo that wants two pods at once, and its pods."""
    owner = api.create("gizmos", {"apiVersion": API, "kind": "Gizmo", "spec": {}, "metadata": {
        "name": name, "namespace": "default", "annotations": {"kai.scheduler/batch-min-member": "2"}}})
    reference = {"apiVersion": API, "kind": "Gizmo", "name": name, "uid": owner["metadata"]["uid"], "controller": True}
    for index in range(2):
        api.create("pods", {"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": f"{name}-{index}", "namespace": "default", "ownerReferences": [reference]},
            "spec": {"schedulerName": scheduler, "containers": [{"name": "main", "image": "x"}]}})


def placed(api, name):
    """The PodGroup of the two pods, once both have a node."""
    def pods():
        return [api.get(f"/api/v1/namespaces/default/pods/{name}-{index}") for index in range(2)]
    until(f"{name} is placed", lambda: all(pod["spec"].get("nodeName") for pod in pods()), pods)
    first, second = (pod["metadata"]["annotations"]["pod-group-name"] for pod in pods())
    assert first == second
    return api.get(f"/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups/{first}")


@test
def it_is_grouped_in_up_and_in_run():
    with tempfile.TemporaryDirectory() as folder:
        with Process(PLATOON, folder, "up", "--in-memory", "--data-dir", "d", "--port", "0", "--nodes", "1x1x2") as up:
            up.wait_for("The API listens")
            api = Api(os.path.join(folder, "d", "kubeconfig"))
            assert api.get(f"/apis/{API}")["resources"][0]["shortNames"] == ["gz"]
            with Process(PLATOON, folder, "run", "--kubeconfig", "d/kubeconfig", "--scheduler-name", "other", "--listen",
                         "127.0.0.1:0") as run:
                run.wait_for("connected to")
                for name, scheduler in (("up", "platoon"), ("run", "other")):
                    add(api, name, scheduler)
                    group = placed(api, name)
                    assert group["spec"]["minMember"] == 2, group
                    assert group["metadata"]["ownerReferences"][0]["kind"] == "Gizmo"
            config = os.path.join(folder, "d", "kubeconfig")
            answer = subprocess.run([PLATOON, "why", "gz/up", "--kubeconfig", config], capture_output=True, text=True, check=False)
            assert answer.returncode == 0 and "Placed" in answer.stdout, answer


run_tests(sys.argv[3:])
