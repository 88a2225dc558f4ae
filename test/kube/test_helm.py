#!/usr/bin/env python3
"""The chart with the real Helm: it passes `helm lint --strict`, and what `helm template` gives is what `platoon install`
prints, object for object.

    test_helm.py PLATOON

Helm is built once from the module pinned in test/kube/helm. The last line is `N passed, M failed`.
"""
import os
import subprocess
import sys
import tempfile

import yaml

from control_plane import ROOT, binaries

CHART = os.path.join(ROOT, "deploy", "chart")
VALUES = (
    {},
    {"webhooks": False},
    {"profile": "kai", "schedulerNames": ["kai-scheduler"]},
    {"definitions": False, "priorityClasses": False},
    {"image": "registry.example/platoon:1", "replicas": 3, "serviceMonitor": True, "imagePullPolicy": "Always"},
    {"webhookURL": "https://192.0.2.1:9443", "schedulerNames": ["mine", "kai-scheduler"], "defaultQueue": ""},
    {"imagePullSecrets": [{"name": "key"}], "logLevel": "debug", "priorityClassName": "",
     "resources": {"limits": {"memory": "4Gi", "cpu": "2"}}, "nodeSelector": {"node-role.kubernetes.io/control-plane": ""},
     "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
     "workloadKinds": [{"group": "jobs.example.com", "version": "v1", "kind": "Flow", "resource": "flows"},
                       {"group": "other.example.com", "version": "v2", "kind": "River", "resource": "rivers"}],
     "podAnnotations": {"text": "with \"quotes\", a: colon and\na line"}},
)


def objects(text):
    return {(doc["kind"], doc["metadata"].get("namespace", ""), doc["metadata"]["name"]): doc
            for doc in yaml.safe_load_all(text) if doc}


def call(*args):
    answer = subprocess.run(args, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert answer.returncode == 0, f"{' '.join(args)}: {answer.stdout}{answer.stderr}"
    return answer.stdout


def compare(helm, platoon, values, namespace):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        # `platoon install` makes the namespace, the chart leaves that to --create-namespace.
        yaml.safe_dump({"createNamespace": True, **values}, file)
        file.flush()
        call(helm, "lint", "--strict", "--quiet", "--values", file.name, CHART)
        theirs = objects(call(helm, "template", "platoon", CHART, "--namespace", namespace, "--values", file.name))
        ours = objects(call(platoon, "install", "--namespace", namespace, "--values", file.name))
    assert ours and sorted(ours) == sorted(theirs), f"{sorted(set(ours) ^ set(theirs))}"
    for key, doc in ours.items():
        assert doc == theirs[key], f"{key} differs:\n{doc}\n{theirs[key]}"


def main():
    platoon = os.path.abspath(sys.argv[1])
    helm = os.path.join(binaries("helm"), "helm")
    passed = failed = 0
    for namespace in ("platoon-system", "gangs"):
        for values in VALUES:
            try:
                compare(helm, platoon, values, namespace)
                passed += 1
            except AssertionError as error:
                failed += 1
                print(f"not ok {namespace} {values}: {str(error)[:3000]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
