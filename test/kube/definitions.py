"""Definitions of the kinds of other projects that scenarios use: any content, with the subresources of the originals."""


def definition(group, kind, plural, versions, scale=None, scope="Namespaced"):
    subresources = {"status": {}}
    if scale:
        subresources["scale"] = {"specReplicasPath": scale, "statusReplicasPath": ".status.replicas"}
    # The API server takes groups that belong to Kubernetes only from those who say that they know it.
    protected = group.endswith((".k8s.io", ".kubernetes.io"))
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}",
                     "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"} if protected else {}},
        "spec": {
            "group": group, "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": kind + "List"},
            "versions": [{
                "name": version, "served": True, "storage": version == versions[0], "subresources": subresources,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            } for version in versions],
        },
    }


OTHERS = [
    definition("kubeflow.org", "TFJob", "tfjobs", ["v1"], ".spec.tfReplicaSpecs.Worker.replicas"),
    definition("kubeflow.org", "PyTorchJob", "pytorchjobs", ["v1"], ".spec.pytorchReplicaSpecs.Worker.replicas"),
    definition("scheduling.volcano.sh", "PodGroup", "podgroups", ["v1beta1"]),
    definition("scheduling.x-k8s.io", "PodGroup", "podgroups", ["v1alpha1"]),
    definition("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "leaderworkersets", ["v1"], ".spec.replicas"),
]
