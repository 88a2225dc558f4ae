"""The tests with plain kubectl that the embedded API server passes (test/kubectl), on the real one."""
import json
import os
import re
import sys

from control_plane import ROOT
from kit import Furnished, Replica, Skip, test_of

sys.path.insert(0, os.path.join(ROOT, "test", "kubectl"))
from cluster import Cluster  # noqa: E402
from harness import TESTS  # noqa: E402
import cases  # noqa: E402,F401  pylint: disable=unused-import
import cases_embedded  # noqa: E402,F401  pylint: disable=unused-import
import cases_kinds  # noqa: E402,F401  pylint: disable=unused-import


class Real(Cluster):
    """The real server. What controllers would do that are not there is played."""

    admin = "admin"

    def __init__(self, plane):
        super().__init__(plane.folder, plane.kubeconfig)
        self.plane = plane
        self.release = re.search(r"kube-(v\d+\.\d+)", plane.commands).group(1)

    def kubelets(self):
        return Replica(self.plane)

    def delete_namespace(self, name):
        """With the part of the controller manager: a namespace that is to go is emptied and let go."""
        self.ok("delete", "ns", name, "--wait=false", out="deleted")
        assert self.get("ns", name)["status"]["phase"] == "Terminating"
        self.ok("delete", "pods", "--all", "-n", name)
        space = self.get("ns", name)
        space["spec"]["finalizers"] = []
        self.ok("replace", "--raw", f"/api/v1/namespaces/{name}/finalize", "-f", "-", text=json.dumps(space))


def run(plane, function):
    if hasattr(function, "only_embedded"):
        raise Skip(f"only the embedded server has it: {function.only_embedded}")
    cluster = Real(plane)
    cluster.namespace = "t-" + function.__name__.replace("_", "-")
    cluster.ok("create", "ns", cluster.namespace, "-n", "default")
    function(cluster)


for case in TESTS:
    test_of("kubectl_" + case.__name__, lambda plane, case=case: run(plane, case), Furnished)
