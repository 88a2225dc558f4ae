"""What the API server refuses by the definitions alone: no webhook answers here. And which fields a pod has there."""
import copy
import json
import os
import re

from kit import test

PODGROUP, QUEUE = "scheduling.run.ai/v2alpha2", "scheduling.run.ai/v2"
TOPOLOGY, WORKLOADS = "kai.scheduler/v1alpha1", "workloads.x-k8s.io/v1alpha1"
LEVELS = [{"nodeLabel": "example.com/zone", "alias": "zone"}, {"nodeLabel": "example.com/rack"},
          {"nodeLabel": "kubernetes.io/hostname"}]
LAYERS = [{"name": "host", "key": "kubernetes.io/hostname"}, {"name": "rack", "key": "example.com/rack"}]
OPEN = {"gpu": {"quota": 0.5, "limit": -1, "overQuotaWeight": 1}, "cpu": {"quota": -1, "limit": 1000}}


def leaf(**fields):
    return {"name": "a", "minMember": 1, **fields}


def level(index, **fields):
    changed = copy.deepcopy(LEVELS)
    changed[index].update(fields)
    return {"levels": changed}


# Each spec is refused with the text; None: accepted.
RULES = [
    (PODGROUP, "PodGroup", [
        ({"minMember": 0}, None),
        ({"minMember": 0, "minSubGroup": 1, "subGroups": [leaf()]}, None),
        ({"minMember": 2, "preemptionDelay": "1m30s", "stalenessGracePeriod": "-1s"}, None),
        ({"preemptibility": "semi-preemptible", "subGroups": [leaf(parent="")]}, None),
        ({"minMember": -1}, "spec.minMember"),
        ({"minSubGroup": -1}, "spec.minSubGroup"),
        ({"minMember": 2, "minSubGroup": 1, "subGroups": [leaf()]}, "exclude each other"),
        ({"preemptibility": "sometimes"}, "spec.preemptibility"),
        ({"preemptionDelay": "soon"}, "spec.preemptionDelay"),
        ({"stalenessGracePeriod": "5 minutes"}, "spec.stalenessGracePeriod"),
        ({"subGroups": [{"minMember": 1}]}, "subGroups[0].name"),
        ({"subGroups": [leaf(name="")]}, "subGroups[0].name"),
        ({"subGroups": [leaf(name="Upper")]}, "subGroups[0].name"),
        ({"subGroups": [leaf(name="x" * 64)]}, "subGroups[0].name"),
        ({"subGroups": [leaf(minMember=-1)]}, "subGroups[0].minMember"),
        ({"subGroups": [leaf(), leaf(name="b", parent="No_Name")]}, "subGroups[1].parent"),
        ({"subGroups": [leaf(minSubGroup=1)]}, "exclude each other"),
    ]),
    (QUEUE, "Queue", [
        ({"resources": OPEN, "preemptMinRuntime": "0", "reclaimMinRuntime": "1h"}, None),
        ({"priority": 3}, "spec.resources"),
        ({"resources": {"gpu": {"quota": -2}}}, "save -1"),
        ({"resources": {"cpu": {"limit": -0.5}}}, "save -1"),
        ({"resources": {"memory": {"overQuotaWeight": -1}}}, "overQuotaWeight"),
        ({"resources": OPEN, "preemptMinRuntime": "long"}, "preemptMinRuntime"),
        ({"resources": OPEN, "parentQueue": "rules"}, "its own parent"),
    ]),
    (TOPOLOGY, "Topology", [
        ({"levels": LEVELS}, None),
        ({}, "spec.levels"),
        ({"levels": []}, "spec.levels"),
        ({"levels": [{"nodeLabel": f"example.com/l{i}"} for i in range(17)]}, "spec.levels"),
        ({"levels": [{"alias": "rack"}]}, "nodeLabel"),
        (level(0, nodeLabel="not a key"), "nodeLabel"),
        (level(0, nodeLabel="example.com/rack"), "must be unique"),
        ({"levels": LEVELS[::-1]}, "only be the last level"),
        (level(1, alias="zone"), "aliases must be unique"),
        (level(0, alias="example.com/rack"), "aliases must be unique"),
    ]),
    (WORKLOADS, "ClusterTopology", [
        ({"layers": LAYERS, "topologyScope": {"host": 1, "rack": 2}}, None),
        ({"Layers": LAYERS}, None),
        ({"layers": []}, "spec.layers"),
        ({"layers": [{"name": "host"}]}, "spec.layers[0].key"),
        ({"layers": [{"name": "host", "key": "no key"}]}, "spec.layers[0].key"),
        ({"layers": [LAYERS[0], {**LAYERS[1], "name": "host"}]}, "names of layers"),
        ({"layers": [LAYERS[0], {**LAYERS[0], "name": "rack"}]}, "keys of layers"),
        ({"layers": LAYERS, "topologyScope": "wide"}, "topologyScope"),
    ]),
]


def send(plane, verb, api_version, kind, spec):
    doc = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "rules"}, "spec": spec}
    return plane.kubectl(verb, "-f", "-", text=json.dumps(doc), check=False)


@test
def definitions_refuse_what_is_wrong_without_webhooks(plane):
    for api_version, kind, cases in RULES:
        for spec, text in cases:
            answer = send(plane, "create", api_version, kind, spec)
            if text is None:
                assert answer.returncode == 0, f"{kind} {spec}: {answer.stderr}"
                plane.kubectl("delete", kind.lower(), "rules", "--wait=true")
            else:
                assert answer.returncode != 0 and text in answer.stderr, f"{kind} {spec}: {answer.stdout} {answer.stderr}"


@test
def definitions_keep_topologies_as_they_are(plane):
    rows = [
        (TOPOLOGY, "Topology", {"levels": LEVELS}, [
            (level(0, alias="hall"), None),
            (level(0, nodeLabel="example.com/hall"), "cannot be changed"),
            ({"levels": LEVELS[:2]}, "cannot be changed"),
            ({"levels": [LEVELS[1], LEVELS[0], LEVELS[2]]}, "cannot be changed"),
        ]),
        (WORKLOADS, "ClusterTopology", {"layers": LAYERS}, [
            ({"layers": LAYERS[:1]}, "cannot be changed"),
            ({"layers": LAYERS, "topologyScope": {"host": 1, "rack": 2}}, "cannot be changed"),
        ]),
    ]
    for api_version, kind, before, changes in rows:
        assert send(plane, "create", api_version, kind, before).returncode == 0
        for spec, text in changes:
            answer = send(plane, "replace", api_version, kind, spec)
            assert text in answer.stderr if text else answer.returncode == 0, f"{kind} {spec}: {answer.stderr}"
        plane.kubectl("delete", kind.lower(), "rules")


@test
def every_field_of_a_pod_is_in_the_table(plane):
    """The page of what a pod can ask for names each field that this API server has."""
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "pods.md")
    with open(page, encoding="utf-8") as file:
        named = set(re.findall(r"`([^`]+)`", file.read()))
    document = json.loads(plane.kubectl("get", "--raw", "/openapi/v3/api/v1").stdout)
    schemas = document["components"]["schemas"]
    for kind, prefix in (("PodSpec", "spec."), ("Container", "containers[].")):
        fields = set(schemas["io.k8s.api.core.v1." + kind]["properties"])
        assert len(fields) > 20, fields
        missing = [name for name in sorted(fields)
                   if not any(path == prefix + name or path.startswith((prefix + name + ".", prefix + name + "["))
                              for path in named)]
        assert not missing, f"{kind}: no row for {missing}"
