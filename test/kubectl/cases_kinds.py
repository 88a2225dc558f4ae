"""Kinds with kubectl: those of Kubernetes, ours, those of other projects and those that a definition brings."""
import re

from harness import test
from manifests import pod

CRD = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gangjobs.sched.example.com}
spec:
  group: sched.example.com
  scope: Namespaced
  names: {plural: gangjobs, singular: gangjob, kind: GangJob, listKind: GangJobList, shortNames: [gj], categories: [all, sched]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns:
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    - {name: Phase, type: string, jsonPath: .status.phase}
    - {name: Queue, type: string, jsonPath: .spec.queue, priority: 1}
    - {name: Hosts, type: string, jsonPath: ".spec.hosts[*].name", priority: 1}
    - {name: Last, type: string, jsonPath: ".spec.hosts[-1:].name", priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: A job of gangs.
        properties:
          spec:
            type: object
            required: [replicas]
            properties:
              replicas: {type: integer, minimum: 0, description: How many.}
              queue: {type: string, default: main}
              hosts: {type: array, items: {type: object, properties: {name: {type: string}}}}
              mode: {type: string, enum: [Strict, BestEffort]}
          status:
            type: object
            properties:
              phase: {type: string}
              replicas: {type: integer}
              conditions: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""

GANGJOB = """apiVersion: sched.example.com/v1
kind: GangJob
metadata: {name: gj1}
spec: {replicas: %d}
"""


@test
def strict_fields(k):
    bad = pod("p1", extra="  bogusField: 1\n").replace("    image:", "    imagee: x\n    image:")
    k.fails("create", "-f", "-", text=bad,
            err=['unknown field "spec.bogusField"', 'unknown field "spec.containers[0].imagee"', "strict decoding error"])
    k.ok("create", "-f", "-", "--validate=warn", text=bad, err='Warning: unknown field "spec.bogusField"')
    assert "bogusField" not in k.get("pod", "p1")["spec"]
    k.ok("create", "-f", "-", "--validate=ignore", text=bad.replace("p1", "p2"))
    assert "bogusField" not in k.get("pod", "p2")["spec"]
    k.fails("create", "-f", "-", text=pod("p3", extra="  hostNetwork: sure\n"), err="spec.hostNetwork")


@test
def custom_resources(k):
    k.ok("create", "-f", "-", text=CRD, out="created")
    k.ok("wait", "--for=condition=Established", "crd/gangjobs.sched.example.com", "--timeout=5s", out="condition met")
    k.ok("get", "crd", out="gangjobs.sched.example.com")
    path = k.file("gj.yaml", GANGJOB % 4)
    k.ok("create", "-f", path, out="gangjob.sched.example.com/gj1 created")
    k.ok("get", "gj", out=["REPLICAS", "PHASE", "gj1", "4"])
    k.ok("get", "gangjobs.v1.sched.example.com", "-o", "wide", out=["QUEUE", "main"])
    k.ok("get", "sched", out="gj1")
    k.ok("describe", "gj", "gj1", out="Replicas:  4")
    k.ok("explain", "gj.spec", out=["replicas\t<integer>", "How many."])
    k.ok("api-resources", out="gangjobs")
    k.ok("apply", "-f", path, err="missing the kubectl.kubernetes.io/last-applied-configuration")
    k.file("gj.yaml", GANGJOB % 6)
    k.ok("apply", "-f", path, out="configured")
    k.ok("apply", "-f", path, "--server-side", "--force-conflicts", out="serverside-applied")
    k.ok("scale", "gj", "gj1", "--replicas=8", out="scaled")
    k.ok("scale", "gj", "gj1", "--current-replicas=8", "--replicas=9", out="scaled")
    assert k.get("gj", "gj1")["spec"] == {"replicas": 9, "queue": "main"}
    k.fails("patch", "gj", "gj1", "-p", '{"spec":{"replicas":3}}', err="accepted media types include")
    k.ok("patch", "gj", "gj1", "--type=merge", "-p", '{"spec":{"replicas":3}}', out="patched")
    k.ok("patch", "gj", "gj1", "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Done","replicas":2}}')
    k.ok("get", "gj", "gj1", out="Done")
    k.ok("wait", "--for=jsonpath={.status.phase}=Done", "gj/gj1", "--timeout=3s", out="condition met")
    k.ok("patch", "gj", "gj1", "--type=merge", "-p", '{"spec":{"hosts":[{"name":"a1"},{"name":"b2"},{"name":"c3"}]}}')
    assert re.search(r"main +a1 +c3", k.ok("get", "gj", "-o", "wide")), "a column shows the first match"
    k.fails("patch", "gj", "gj1", "--type=merge", "-p", '{"spec":{"mode":"Nope"}}',
            err=["is invalid", "spec.mode", "Unsupported value", "BestEffort"])
    k.fails("patch", "gj", "gj1", "--type=merge", "-p", '{"spec":{"replicas":-1}}', err="greater than or equal to 0")
    k.fails("create", "-f", "-", text=GANGJOB.replace("gj1", "gj2").replace("replicas: %d", "queue: q"), err="Required value")
    k.fails("create", "-f", "-", text=(GANGJOB % 1).replace("gj1", "gj2").replace("}\n", "}\n", 1).replace(
        "spec: {", "spec: {bogus: 1, "), err='unknown field "spec.bogus"')
    k.ok("auth", "can-i", "create", "gj", out="yes")
    k.ok("delete", "-f", path, out="deleted")
    k.ok("delete", "crd", "gangjobs.sched.example.com", out="deleted")
    k.fails("get", "gj", err="could not find the requested resource")


@test
def our_kinds(k):
    k.ok("apply", "-f", "-", text="""apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {name: net}
spec: {levels: [{nodeLabel: zone}, {nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team}
spec: {resources: {gpu: {quota: 8, limit: -1, overQuotaWeight: 1}, cpu: {quota: -1, limit: -1, overQuotaWeight: 1}, memory: {quota: -1, limit: -1, overQuotaWeight: 1}}}
---
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: gang}
spec: {queue: team, minMember: 4, topologyConstraint: {topology: net, requiredTopologyLevel: rack}}
""", out=["topology.kai.scheduler/net created", "queue.scheduling.run.ai/team created", "podgroup.scheduling.run.ai/gang created"])
    k.ok("get", "pg", out=["QUEUE", "gang", "team", "4"])
    k.ok("get", "topologies", out=["OUTERMOST", "zone", "kubernetes.io/hostname"])
    k.ok("get", "queue", "team")
    k.ok("patch", "pg", "gang", "--type=merge", "-p", '{"spec":{"minMember":6}}')
    k.ok("patch", "pg", "gang", "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Running"}}')
    k.ok("get", "pg", "gang", out="Running")
    k.ok("delete", "topology/net", "queue/team", "pg/gang")


@test
def explaining(k):
    k.ok("explain", "pod", out=["KIND:       Pod", "spec\t<PodSpec>"])
    k.ok("explain", "pod.spec.containers", out=["<[]Container>", "image\t<string>"])
    k.ok("explain", "deployment.spec.template.spec.tolerations.key", out="<string>")
    k.ok("explain", "podgroup.spec", out=["minMember\t<integer>", "subGroups"])
    k.ok("explain", "queue.spec.resources", out="gpu")
    k.ok("explain", "pod.metadata.labels", out="<map[string]string>")
    k.ok("explain", "pod.spec", "--recursive", out="topologySpreadConstraints")
    k.fails("explain", "pod.spec.nosuch", err='field "nosuch" does not exist')
