"""Claims whose devices have to go together: what is written for them is what the API server takes, and what was asked for."""
import json

from kit import Replica, apply, gang, pods_of, test, wait_until

API, DRIVER = "resource.k8s.io/v1", "parts.example.com"
KINDS = ("resourceclaims", "resourceslices", "deviceclasses")


def gpu(number, root, *draws):
    device = {"name": f"gpu-{number}", "attributes": {"type": {"string": "gpu"}, "root": {"string": root}}}
    if draws:
        device["consumesCounters"] = [{"counterSet": "gpu-0", "counters": {"slices": {"value": str(draws[0])}}}]
    return device


def part(number, slices):
    return {"name": f"part-{number}", "attributes": {"type": {"string": "part"}, "root": {"string": "root-0"}},
            "consumesCounters": [{"counterSet": "gpu-0", "counters": {"slices": {"value": str(slices)}}}]}


def published(node):
    """One GPU and its parts, which share four slices; two more behind one root, and one behind another."""
    pool = {"driver": DRIVER, "nodeName": node, "pool": {"name": node, "generation": 1, "resourceSliceCount": 2}}
    return [{"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"{node}-counters"}, "spec": {
                 **pool, "sharedCounters": [{"name": "gpu-0", "counters": {"slices": {"value": "4"}}}]}},
            {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"{node}-devices"}, "spec": {
                **pool, "devices": [gpu(0, "root-0", 4), gpu(1, "root-1"), gpu(2, "root-2"), gpu(3, "root-1"),
                                    part(0, 2), part(1, 2), part(2, 2)]}}]


def device_class(name):
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": {"selectors": [{"cel": {
        "expression": f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == '{name}'"}}]}}


CLAIMS = [
    {"requests": [{"name": "pair", "exactly": {"deviceClassName": "gpu", "count": 2}}],
     "constraints": [{"requests": ["pair"], "matchAttribute": f"{DRIVER}/root"}]},
    {"requests": [{"name": "some", "firstAvailable": [
        {"name": "whole", "deviceClassName": "gpu", "count": 4},
        {"name": "parts", "deviceClassName": "part", "count": 2,
         "tolerations": [{"key": "example.com/old", "operator": "Exists"}]}]}],
     "config": [{"requests": ["some"], "opaque": {"driver": DRIVER, "parameters": {"kind": "Any"}}},
                {"requests": ["some/whole"], "opaque": {"driver": DRIVER, "parameters": {"kind": "Whole"}}}]},
]


def gang_with_devices(name):
    docs = gang(name, len(CLAIMS), gpus=0)
    for number, pod in enumerate(doc for doc in docs[:] if doc["kind"] == "Pod"):
        claim = f"{name}-{number}"
        docs.append({"apiVersion": API, "kind": "ResourceClaim", "metadata": {"name": claim},
                     "spec": {"devices": CLAIMS[number]}})
        pod["spec"]["resourceClaims"] = [{"name": "devices", "resourceClaimName": claim}]
        pod["spec"]["containers"][0]["resources"] = {"claims": [{"name": "devices"}]}
    return docs


def allocated(plane, claim):
    status = json.loads(plane.kubectl("get", "resourceclaim", claim, "-o", "json").stdout).get("status", {})
    return status.get("allocation", {}).get("devices", {})


@test
def devices_that_have_to_go_together_are_allocated(plane):
    nodes = [node["metadata"]["name"] for node in json.loads(plane.kubectl("get", "nodes", "-o", "json").stdout)["items"]][:1]
    try:
        apply(plane, [device_class("gpu"), device_class("part")] + [doc for node in nodes for doc in published(node)])
        with Replica(plane) as replica:
            apply(plane, gang_with_devices("together"))
            wait_until("both pods have a node", lambda: [pod["spec"].get("nodeName") for pod in pods_of(
                plane, "together")] == nodes * 2 or pods_of(plane, "together"), replica)
        pair, some = allocated(plane, "together-0"), allocated(plane, "together-1")
        assert [result["device"] for result in pair["results"]] == ["gpu-1", "gpu-3"], pair
        assert [(result["request"], result["device"][:4]) for result in some["results"]] == [("some/parts", "part")] * 2, some
        assert some["results"][0]["tolerations"][0]["key"] == "example.com/old", some
        assert [item["opaque"]["parameters"]["kind"] for item in some["config"]] == ["Any"], some
    finally:
        plane.kubectl("delete", "podgroups,pods", "--all", "--wait=false", "--grace-period=0", "--force", check=False)
        for item in json.loads(plane.kubectl("get", "resourceclaims", "-o", "json").stdout)["items"]:
            plane.kubectl("patch", "resourceclaim", item["metadata"]["name"], "--type=merge", "-p",
                          '{"metadata":{"finalizers":null}}', check=False)
        for kind in KINDS:
            plane.kubectl("delete", kind, "--all", "--wait=false", check=False)
