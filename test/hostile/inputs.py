"""Manifests for the hostile tests, as text. Values are put in as they are, so that they can be wrong."""
import json
import random
import sys

sys.dont_write_bytecode = True


def pod(name, group=None, leaf=None, requests="{cpu: 1}", labels=None, extra=None):
    annotations = f", annotations: {{pod-group-name: {group}}}" if group else ""
    if leaf:
        labels = f"{{kai.scheduler/subgroup-name: {leaf}}}"
    return f"""apiVersion: v1
kind: Pod
metadata: {{name: {name}{annotations}, namespace: default{f', labels: {labels}' if labels else ''}}}
spec:
  schedulerName: platoon
  {extra or f'containers: [{{name: main, resources: {{requests: {requests}}}}}]'}
---
"""


def node(name, allocatable="{cpu: 4, memory: 8Gi, pods: 10}", labels="{}"):
    return f"""apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {labels}}}
status: {{allocatable: {allocatable}}}
---
"""


def group(name, spec):
    return f"""apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {{name: {name}, namespace: default}}
spec: {{{spec}}}
---
"""


def within(topology_name, level):
    """A constraint for the spec of a group or subgroup."""
    return f"topologyConstraint: {{topology: {topology_name}, requiredTopologyLevel: {level}}}"


def queue(name, resources, parent=None):
    return f"""apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {{name: {name}}}
spec: {{resources: {resources}{f', parentQueue: {parent}' if parent else ''}}}
---
"""


def topology(name, labels):
    levels = ", ".join(f"{{nodeLabel: {label}}}" for label in labels)
    return f"""apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {{name: {name}}}
spec: {{levels: [{levels}]}}
---
"""


def priority(name, value):
    return f"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\n---\n"


def volume(name):
    spec = "spec: {capacity: {storage: 1Gi}}"
    return f"apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {name}}}\n{spec}\n---\n"


def claim(name):
    metadata = f"metadata: {{name: {name}, namespace: default}}"
    return f"apiVersion: v1\nkind: PersistentVolumeClaim\n{metadata}\nspec: {{}}\n---\n"


def small():
    """A topology, two nodes and a gang that fits, in a few hundred bytes."""
    return (topology("t", ["rack"]) + node("n1", labels="{rack: r1}") + node("n2", labels="{rack: r1}") +
            group("g", "minMember: 2, topologyConstraint: {topology: t, requiredTopologyLevel: rack}") +
            pod("p1", "g") + pod("p2", "g"))


def container():
    return [{"name": "main", "resources": {"requests": {"cpu": 1}}}]


def small_json():
    """The same as one JSON document."""
    def item(api, kind, name, **more):
        metadata = {"name": name, **more.pop("metadata", {})}
        return {"apiVersion": api, "kind": kind, "metadata": metadata, **more}

    def member(name):
        return item("v1", "Pod", name, metadata={"namespace": "default", "annotations": {"pod-group-name": "g"}},
                    spec={"schedulerName": "platoon", "containers": container()})

    def machine(name):
        return item("v1", "Node", name, metadata={"labels": {"rack": "r1"}},
                    status={"allocatable": {"cpu": 4, "memory": "8Gi", "pods": 10}})

    levels = item("kai.scheduler/v1alpha1", "Topology", "t", spec={"levels": [{"nodeLabel": "rack"}]})
    gang = item("scheduling.run.ai/v2alpha2", "PodGroup", "g", metadata={"namespace": "default"},
                spec={"minMember": 2, "topologyConstraint": {"topology": "t", "requiredTopologyLevel": "rack"}})
    return json.dumps({"apiVersion": "v1", "kind": "List",
                       "items": [levels, machine("n1"), machine("n2"), gang, member("p1"), member("p2")]})


def noise(count):
    return random.Random(7).randbytes(count)


def staircase(depth):
    """Block maps, each indented by one more space."""
    return "".join(" " * i + "a:\n" for i in range(depth))


def alias_bomb(levels, width):
    """Every list holds `width` times the one before it."""
    lines = ["l0: &l0 [" + ", ".join(["x"] * width) + "]"]
    lines += [f"l{i}: &l{i} [" + ", ".join([f"*l{i - 1}"] * width) + "]" for i in range(1, levels)]
    return "\n".join(lines) + "\n"


def merge_bomb(levels, width):
    """The same through << of maps with values that grow."""
    lines = ["l0: &l0 {" + ", ".join(f"k{i}: x" for i in range(width)) + "}"]
    lines += [f"l{i}: &l{i} {{" + ", ".join(f"m{j}: {{<<: *l{i - 1}}}" for j in range(width)) + "}"
              for i in range(1, levels)]
    return "\n".join(lines) + "\n"


def wide_group(count, pods):
    """One PodGroup with `count` leaves of one pod each, of which `pods` are needed and have their pod."""
    leaves = [{"name": f"s{i}", "minMember": 1} for i in range(count)]
    yield json.dumps({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
                      "metadata": {"name": "wide", "namespace": "default"},
                      "spec": {"minSubGroup": pods, "subGroups": leaves}}) + "\n"
    for i in range(pods):
        metadata = {"name": f"p{i}", "namespace": "default", "annotations": {"pod-group-name": "wide"},
                    "labels": {"kai.scheduler/subgroup-name": f"s{i * (count // pods)}"}}
        yield json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
                          "spec": {"schedulerName": "platoon", "containers": container()}}) + "\n"
    for i in range(pods // 50 + 1):
        yield json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}"},
                          "status": {"allocatable": {"cpu": 64, "memory": "8Gi", "pods": 110}}}) + "\n"


def node_list(count):
    """A NodeList as `kubectl get nodes -o json` gives it, in pieces: racks of 16 nodes, zones of 1024."""
    yield '{"apiVersion": "v1", "kind": "NodeList", "items": ['
    for i in range(count):
        yield ("," if i else "") + json.dumps(
            {"metadata": {"name": f"n{i}", "labels": {"zone": f"z{i >> 10}", "rack": f"r{i >> 4}"}},
             "status": {"allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}}})
    yield "]}"
