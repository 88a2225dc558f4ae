"""Pods and nodes are read as protobuf: they have to be what JSON says, to the last field that is kept."""
import json
import os
import subprocess

from kit import PLATOON, apply, test

AFFINITY_TERM = {"labelSelector": {"matchLabels": {"app": "x"}, "matchExpressions": [
    {"key": "tier", "operator": "NotIn", "values": ["a", ""]}]}, "topologyKey": "zone", "namespaces": ["default"],
    "namespaceSelector": {}, "matchLabelKeys": ["version"]}

# Everything that Platoon keeps of a pod, with values that are easily lost: zero, false, "", numbers below zero, letters beyond
# ASCII.
POD = {
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {
        "name": "rich", "labels": {"app": "x", "empty": "", "version": "1"},
        "annotations": {"note": "größer als 東京", "empty": "", "lines": "a\nb\t\"c\"\\"},
        "finalizers": ["example.com/hold"],
        "ownerReferences": [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u-1", "controller": True, "blockOwnerDeletion": False},
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u-2"}]},
    "spec": {
        "schedulerName": "nobody", "priority": 0, "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0, "activeDeadlineSeconds": 9000000000 % 2147483647, "hostname": "h", "subdomain": "s",
        "nodeSelector": {"zone": "a", "empty": ""},
        "readinessGates": [{"conditionType": "example.com/ready"}], "schedulingGates": [{"name": "example.com/wait"}],
        "tolerations": [
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
            {"key": "b", "operator": "Equal", "value": "", "effect": "NoSchedule"},
            {"key": "c", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -5}, {"operator": "Exists"}],
        "topologySpreadConstraints": [{
            "maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3,
            "labelSelector": {"matchLabels": {"app": "x"}}, "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor",
            "matchLabelKeys": ["version"]}],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]},
                                          {"key": "gpu", "operator": "Exists"}, {"key": "n", "operator": "Gt", "values": ["5"]}],
                     "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]},
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 7, "preference": {"matchExpressions": [{"key": "z", "operator": "DoesNotExist"}]}}]},
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [AFFINITY_TERM]},
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 100, "podAffinityTerm": AFFINITY_TERM}]}},
        "volumes": [
            {"name": "claim", "persistentVolumeClaim": {"claimName": "c", "readOnly": True}},
            {"name": "own", "ephemeral": {"volumeClaimTemplate": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeMode": "Block",
                         "resources": {"requests": {"storage": "1Gi"}}, "selector": {"matchLabels": {"a": "b"}}}}}},
            {"name": "map", "configMap": {"name": "m", "optional": True}}, {"name": "empty", "emptyDir": {"sizeLimit": "1Gi"}},
            {"name": "host", "hostPath": {"path": "/x"}}],
        "initContainers": [
            {"name": "side", "image": "i:1", "restartPolicy": "Always", "resources": {"requests": {"cpu": "0", "memory": "1.5Gi"}}}],
        "containers": [
            {"name": "main", "image": "c:1", "ports": [{"containerPort": 80, "protocol": "UDP", "name": "p"},
                                                       {"containerPort": 81, "hostPort": 8081, "hostIP": "127.0.0.1"}],
             "resources": {"requests": {"cpu": "1500m", "memory": "1e9", "example.com/nic": "2"},
                           "limits": {"cpu": "2", "memory": "2e9", "example.com/nic": "2", "nvidia.com/gpu": "8"}}},
            {"name": "bare", "image": "c:2"}]},
}

STATUS = {"status": {
    "phase": "Running", "reason": "r", "message": "m", "nominatedNodeName": "n1", "podIP": "10.0.0.1",
    "podIPs": [{"ip": "10.0.0.1"}], "startTime": "2026-01-02T03:04:05Z",
    "conditions": [
        {"type": "Ready", "status": "False", "reason": "", "message": "m", "lastProbeTime": None,
         "lastTransitionTime": "1969-12-31T23:59:59Z", "observedGeneration": 3},
        {"type": "PodScheduled", "status": "True", "lastProbeTime": "2026-01-02T03:04:05Z", "lastTransitionTime": None}],
    "containerStatuses": [
        {"name": "main", "ready": False, "started": False, "restartCount": 0, "image": "", "imageID": "",
         "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "m"}},
         "lastState": {"terminated": {"exitCode": 0, "signal": 9, "reason": "Error", "startedAt": "2026-01-02T03:04:05Z",
                                      "finishedAt": None, "containerID": "x://1"}}},
        {"name": "bare", "ready": True, "started": True, "restartCount": 3, "image": "c:2", "imageID": "sha256:2",
         "state": {"running": {"startedAt": "2026-01-02T03:04:05Z"}}, "lastState": {}}]}}

NODE = {
    "apiVersion": "v1", "kind": "Node", "metadata": {"name": "rich-node", "labels": {"zone": "a"}, "annotations": {"a": ""}},
    "spec": {"unschedulable": True, "taints": [
        {"key": "a", "effect": "NoSchedule"}, {"key": "b", "value": "", "effect": "NoExecute", "timeAdded": "2026-01-02T03:04:05Z"}]},
}

NODE_STATUS = {"status": {
    "capacity": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "0"}, "allocatable": {"cpu": "7500m", "memory": "60Gi"},
    "conditions": [{"type": "Ready", "status": "Unknown", "lastHeartbeatTime": "2026-01-02T03:04:05Z",
                    "lastTransitionTime": "2026-01-02T03:04:05Z", "reason": "r", "message": ""}]}}


@test
def protobuf_says_what_json_says(plane):
    apply(plane, [NODE, POD])
    plane.kubectl("patch", "node", "rich-node", "--subresource=status", "--type=merge", "-p", json.dumps(NODE_STATUS))
    plane.kubectl("patch", "pod", "rich", "--subresource=status", "--type=merge", "-p", json.dumps(STATUS))
    try:
        command = os.path.join(os.path.dirname(os.path.realpath(PLATOON)), "..", "..", "test", "encodings")
        done = subprocess.run([command, plane.kubeconfig], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        assert done.returncode == 0, done.stdout
        kept = plane.kubectl("get", "pod", "rich", "-o", "json").stdout
        assert '"tolerationSeconds": 0' in kept and '"exitCode": 0' in kept, "the server did not take the pod as it is"
    finally:
        plane.kubectl("patch", "pod", "rich", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        plane.kubectl("delete", "node", "rich-node")
