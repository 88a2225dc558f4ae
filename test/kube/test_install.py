#!/usr/bin/env python3
"""What `platoon install` prints, on a real kube-apiserver: it can be applied in every way and removed again, and the rights
it grants are those that a full life of Platoon uses, no more.

    test_install.py PLATOON [--results FILE] [TEXT...]        TEXT picks tests by name
"""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from control_plane import ROOT  # noqa: E402
from definitions import definition  # noqa: E402
from installed import ACCOUNT, Replica, make_nodes, pod, run_on_plane, wait_until  # noqa: E402

TESTS = []
WORKLOADS = "workloads.x-k8s.io"
AUDIT = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"


def test(function):
    TESTS.append(function)
    return function


@test
def it_can_be_applied_twice_and_in_both_ways(installed):
    plane = installed.plane
    text = installed.manifests()
    for args in (["apply"], ["apply"], ["apply", "--server-side", "--force-conflicts"], ["apply", "--server-side"]):
        plane.kubectl(*args, "-f", "-", text=text)
    plane.kubectl("apply", "--server-side", "-f", "-", text=installed.manifests("-o", "json"))
    plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    security = installed.get("namespace", "platoon-system")["metadata"]["labels"]
    assert security["pod-security.kubernetes.io/enforce"] == "restricted", security


@test
def the_pod_meets_the_restricted_standard(installed):
    """The pod of the Deployment, created in a namespace where only restricted pods are let in."""
    template = installed.get("deployment", "platoon", "-n", "platoon-system")["spec"]["template"]
    member = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "try", "namespace": "platoon-system"},
              "spec": template["spec"]}
    installed.create(member)
    installed.plane.kubectl("delete", "pod", "try", "-n", "platoon-system", "--force", "--grace-period=0")
    member["spec"] = json.loads(json.dumps(member["spec"]))
    member["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    assert "violates PodSecurity" in installed.create(member, check=False).stderr


@test
def it_can_be_removed(installed):
    plane = installed.plane
    # Nobody ends the namespace here: that is the work of the controller manager.
    plane.kubectl("delete", "--ignore-not-found", "--wait=false", "-f", "-", text=installed.manifests())
    wait_until("the definitions are gone", lambda: not [item for item in installed.get("crd")["items"]] or "not yet")
    for kind in ("clusterrole", "clusterrolebinding", "validatingwebhookconfiguration", "mutatingwebhookconfiguration"):
        assert plane.kubectl("get", kind, "platoon", check=False).returncode != 0, kind
    plane.kubectl("get", "--raw", "/api/v1/namespaces/platoon-system")
    space = installed.get("namespace", "platoon-system")
    space["spec"]["finalizers"] = []
    plane.kubectl("replace", "--raw", "/api/v1/namespaces/platoon-system/finalize", "-f", "-", text=json.dumps(space))
    wait_until("the namespace is gone", lambda: plane.kubectl("get", "namespace", "platoon-system", check=False).returncode != 0)
    installed.apply()


# ---- rights ----

def used(installed):
    """(verb, group, resource, name or "") of every call that the account was allowed to make."""
    calls = set()
    with open(installed.audit, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            ref = event.get("objectRef", {})
            if event["user"]["username"] != ACCOUNT or not ref.get("resource"):
                continue
            assert event["responseStatus"]["code"] != 403, f"a right is missing: {event['verb']} {ref}"
            resource = ref["resource"] + ("/" + ref["subresource"] if ref.get("subresource") else "")
            calls.add((event["verb"], ref.get("apiGroup", ""), resource))
    return calls


def granted(installed):
    calls = set()
    for kind, args in (("clusterrole", ()), ("role", ("-n", "platoon-system"))):
        for rule in installed.get(kind, "platoon", *args)["rules"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    calls.update((verb, group, resource) for verb in rule["verbs"])
    return calls


def example(name):
    with open(os.path.join(ROOT, "examples", name), encoding="utf-8") as file:
        return file.read()


def group(name, replicas, **role):
    return {"apiVersion": f"{WORKLOADS}/v1alpha2", "kind": "RoleBasedGroup", "metadata": {"name": name, "namespace": "default"},
            "spec": {"roles": [{"name": "serve", "replicas": replicas, "servicePorts": [{"name": "http", "port": 80}],
                                "standalonePattern": {"template": {"spec": {"containers": [
                                    {"name": "main", "image": "model:1"}]}}}, **role}]}}


def running(installed, prefix, count):
    def check():
        pods = [item for item in installed.get("pods")["items"] if item["metadata"]["name"].startswith(prefix)
                and item.get("status", {}).get("phase") == "Running"]
        return len(pods) == count or f"{len(pods)} of {count} run"
    return check


def live_a_life(installed, replica):
    """Everything that Platoon does: gangs placed, refused, preempted; groups that grow, change, shrink and go."""
    plane = installed.plane
    installed.create({"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "cluster"},
                      "spec": {"levels": [{"nodeLabel": "example.com/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
                     {"apiVersion": f"{WORKLOADS}/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": "layers"},
                      "spec": {"layers": [{"name": "Host", "key": "kubernetes.io/hostname"},
                                          {"name": "Rack", "key": "example.com/rack"}]}})
    # A workload: its group is made, marked, kept up to date.
    plane.kubectl("apply", "-f", "-", text=example("indexed-job.yaml"))
    job = installed.get("job", "sweep")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "sweep", "uid": job["metadata"]["uid"], "controller": True}
    template = job["spec"]["template"]
    for i in range(8):
        index = {"batch.kubernetes.io/job-completion-index": str(i)}
        installed.create({"apiVersion": "v1", "kind": "Pod", "spec": template["spec"], "metadata": {
            "name": f"sweep-{i}", "namespace": "default", "ownerReferences": [owner], "labels": index,
            "annotations": {**template["metadata"]["annotations"], **index}}})
    wait_until("sweep runs", running(installed, "sweep-", 8), replica)
    plane.kubectl("annotate", "job", "sweep", "kai.scheduler/batch-min-member=4", "--overwrite")
    plane.kubectl("label", "job", "sweep", "kai.scheduler/queue=default-queue")
    # A pod of its own, a gang that does not fit, then one that pushes another away.
    installed.create({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
                      "metadata": {"name": "huge", "namespace": "default"}, "spec": {"minMember": 999}},
                     pod("huge-0", annotations={"pod-group-name": "huge"}), pod("alone"))
    wait_until("alone runs", running(installed, "alone", 1), replica)
    wait_until("huge is told why", lambda: bool(installed.get("podgroup", "huge").get("status", {}).get("conditions")), replica)
    for name, priority in (("low", "train"), ("high", "build")):
        installed.create({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
                          "metadata": {"name": name, "namespace": "default"},
                          "spec": {"minMember": 6, "priorityClassName": priority}})
        for i in range(6):
            doc = pod(f"{name}-{i}", annotations={"pod-group-name": name})
            doc["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = 6
            doc["spec"]["priorityClassName"] = priority
            installed.create(doc)
        wait_until(f"{name} runs", running(installed, f"{name}-", 6), replica)
    plane.kubectl("delete", "podgroup,pod", "--all", "--force", "--grace-period=0")
    plane.kubectl("delete", "job", "sweep", "--wait=false")
    live_with_groups(installed, replica)


def set_image(installed, image):
    installed.plane.kubectl("patch", "rbg", "web", "--type=json", "-p", json.dumps([
        {"op": "replace", "path": "/spec/roles/0/standalonePattern/template/spec/containers/0/image", "value": image}]))
    wait_until("all are new", lambda: installed.get("rbg", "web").get("status", {}).get("updated") == "1/1" or
               installed.get("rbg", "web").get("status"))


def live_with_groups(installed, replica):
    """Groups of roles that grow, change, shrink and lose a role, a set of them, an adapter."""
    plane = installed.plane
    plane.kubectl("apply", "-f", "-", text=example("rbg-topology.yaml"))
    wait_until("pairs run", running(installed, "pairs-", 12), replica)
    plane.kubectl("delete", "rbg", "pairs")
    installed.create(group("web", 3), group("auto", 1, scalingAdapter={"enable": True}))
    wait_until("web runs", running(installed, "web-", 3), replica)
    plane.kubectl("patch", "rbg", "web", "--type=json", "-p", json.dumps([
        {"op": "replace", "path": "/spec/roles/0/replicas", "value": 1},
        {"op": "replace", "path": "/spec/roles/0/servicePorts/0/port", "value": 81},
        {"op": "replace", "path": "/spec/roles/0/standalonePattern/template/spec/containers/0/image", "value": "model:2"}]))
    wait_until("web is smaller", running(installed, "web-", 1), replica)
    for version in list(range(3, 10)) + [3]:
        set_image(installed, f"model:{version}")
    plane.kubectl("annotate", "rbg", "web", "rbg.workloads.x-k8s.io/rollback-to=0")
    wait_until("web is as it was before", lambda: "model:9" in json.dumps(installed.get("rbg", "web")["spec"]), replica)
    more = group("web", 1)["spec"]["roles"][0]
    plane.kubectl("patch", "rbg", "web", "--type=json", "-p", json.dumps([
        {"op": "add", "path": "/spec/roles/1", "value": {**more, "name": "more"}}]))
    wait_until("more runs", running(installed, "web-more", 1), replica)
    plane.kubectl("patch", "rbg", "web", "--type=json", "-p", '[{"op":"remove","path":"/spec/roles/1"}]')
    wait_until("its service is gone", lambda: len([item for item in installed.get("services")["items"]
                                                  if "web" in item["metadata"]["name"]]) == 1, replica)
    wait_until("auto runs", running(installed, "auto-", 1), replica)
    plane.kubectl("patch", "rbgsa", "auto-serve", "--type=merge", "-p", '{"spec":{"replicas":2}}')
    wait_until("auto is larger", running(installed, "auto-", 2), replica)
    plane.kubectl("patch", "rbg", "auto", "--type=json", "-p",
                  '[{"op":"replace","path":"/spec/roles/0/scalingAdapter/enable","value":false}]')
    wait_until("its adapter is gone", lambda: not installed.get("rbgsa")["items"], replica)
    installed.create({"apiVersion": f"{WORKLOADS}/v1alpha2", "kind": "RoleBasedGroupSet",
                      "metadata": {"name": "cells", "namespace": "default"},
                      "spec": {"replicas": 2, "groupTemplate": {"spec": group("x", 1)["spec"]}}})
    wait_until("cells run", running(installed, "cells-", 2), replica)
    plane.kubectl("patch", "rolebasedgroupset", "cells", "--type=merge", "-p", '{"spec":{"replicas":1}}')
    plane.kubectl("patch", "rolebasedgroupset", "cells", "--type=json", "-p", json.dumps([
        {"op": "replace", "path": "/spec/groupTemplate/spec/roles/0/replicas", "value": 2}]))
    wait_until("one cell is gone", lambda: len([item for item in installed.get("rbg")["items"]
                                               if item["metadata"]["name"].startswith("cells")]) == 1, replica)
    wait_until("the other has two pods", running(installed, "cells-0", 2), replica)
    # A Secret that somebody damaged.
    plane.kubectl("patch", "secret", "platoon-webhook", "-n", "platoon-system", "--type=merge", "-p", '{"data":{"tls.crt":"AAAA"}}')
    wait_until("it is whole again", lambda: len(installed.get("secret", "platoon-webhook", "-n", "platoon-system")["data"][
        "tls.crt"]) > 100, replica)


@test
def every_right_is_used_and_none_is_missing(installed):
    plane = installed.plane
    kubelets = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "kubelets"}, "rules": [
        {"apiGroups": ["", "coordination.k8s.io"], "resources": ["nodes", "nodes/status", "leases"],
         "verbs": ["get", "list", "watch", "patch", "update", "create"]}]}
    plane.kubectl("apply", "-f", "-", text=json.dumps(kubelets))
    plane.kubectl("create", "clusterrolebinding", "kubelets", "--clusterrole=kubelets",
                  "--serviceaccount=platoon-system:platoon")
    make_nodes(installed)
    installed.create(*others())
    plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    try:
        with Replica(installed, "--simulate-kubelets") as replica:
            replica.wait_ready()
            live_a_life(installed, replica)
            time.sleep(1)
            assert "forbidden" not in replica.log(), [line for line in replica.log().splitlines() if "forbidden" in line][:5]
            replica.stop()
    finally:
        plane.kubectl("delete", "clusterrolebinding", "kubelets")
    rights = granted(installed)
    # After a refusal the object itself is asked for; not every kind is refused in one life.
    written = {(group_, resource.split("/")[0]) for verb, group_, resource in rights if verb in ("create", "patch", "update")}
    # Nobody calls it: the API server looks at this right when an owner is named. See without_a_right_it_says_which.
    rights = {right for right in rights if not right[2].endswith("/finalizers")}
    assert ("get", "", "pods") in used(installed), "not even pods were asked for"
    unused = sorted(right for right in rights - used(installed) if right[0] != "get" or right[1:] not in written)
    assert not unused, f"granted and never used: {unused}"


@test
def what_is_not_granted_is_refused(installed):
    for verb, resource, args in (
            ("delete", "nodes/n0", ()), ("patch", "nodes/n0", ()), ("get", "secrets", ("-A",)), ("create", "clusterroles", ()),
            ("list", "secrets", ("-n", "platoon-system")), ("get", "secrets/other", ("-n", "platoon-system")),
            ("create", "pods", ("--subresource=exec",)), ("patch", "crd/queues.scheduling.run.ai", ()), ("delete", "queues/team", ()),
            ("patch", "validatingwebhookconfigurations/other", ()), ("update", "deployments", ())):
        answer = installed.plane.kubectl("auth", "can-i", verb, resource, *args, f"--as={ACCOUNT}", check=False)
        assert answer.stdout.strip() == "no", f"{verb} {resource} is allowed"
    answer = subprocess.run(["kubectl", "--kubeconfig", installed.account, "delete", "node", "n0"], check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert "Forbidden" in answer.stderr, answer.stderr


def without(installed, resources, check):
    """Takes one rule away, calls check(replica), and gives it back."""
    plane = installed.plane
    role = installed.get("clusterrole", "platoon")
    rules = role["rules"]
    role["rules"] = [rule for rule in rules if rule["resources"] != resources]
    assert len(role["rules"]) == len(rules) - 1, resources
    plane.kubectl("replace", "-f", "-", text=json.dumps(role))
    try:
        with Replica(installed) as replica:
            replica.wait_ready()
            check(replica)
            replica.stop()
    finally:
        role = installed.get("clusterrole", "platoon")
        role["rules"] = rules
        plane.kubectl("replace", "-f", "-", text=json.dumps(role))


@test
def without_a_right_it_says_which(installed):
    def binding(replica):
        installed.create(pod("unbound"))
        wait_until("it is refused", lambda: "is forbidden" in replica.log() and "pods/binding" in replica.log(), replica)
        assert not installed.get("pod", "unbound")["spec"].get("nodeName")
        time.sleep(3)
        assert replica.log().count("write refused") < 20, "what is refused is sent again and again without a pause"

    def owner(replica):
        installed.create(group("owned", 1))
        wait_until("it is refused", lambda: "cannot set blockOwnerDeletion" in replica.log(), replica)

    without(installed, ["pods/binding"], binding)
    without(installed, ["rolebasedgroups/finalizers", "rolebasedgroupsets/finalizers"], owner)
    installed.plane.kubectl("delete", "rbg,pod", "--all", "--force", "--grace-period=0", "--wait=false")


# ---- configuration ----

@test
def a_new_configuration_is_taken_over_and_a_wrong_one_is_not(installed):
    with Replica(installed) as replica:
        replica.wait_ready()
        replica.write_config({"schedulerNames": ["mine"], "logLevel": "debug"})
        wait_until("it is read", lambda: "configuration read" in replica.log(), replica)
        replica.write_config({"schedulerNames": [], "logLevel": "loud", "lisen": ":1"})
        wait_until("it is refused", lambda: "the old one stays" in replica.log(), replica)
        for words in ("schedulerNames: at least one name is needed", "logLevel: must be", "lisen: there is no such setting"):
            assert words in replica.log(), words
        del replica.config["lisen"]
        replica.write_config({"schedulerNames": ["mine"], "logLevel": "info", "listen": "127.0.0.1:1"})
        wait_until("a restart is asked for", lambda: "need a restart" in replica.log() and "settings=listen" in replica.log(),
                   replica)
        assert replica.get("/healthz")[0] == 200
        installed.create(pod("renamed", "mine"))
        wait_until("pods of the new name are placed", lambda: bool(installed.get("pod", "renamed")["spec"].get("nodeName")),
                   replica)
        replica.stop()


@test
def secrets_do_not_get_into_logs(installed):
    """A token from a command, everything logged, an API server that goes away."""
    plane = installed.plane
    token = plane.kubectl("create", "token", "platoon", "-n", "platoon-system").stdout.strip()
    script = plane.path("give-token")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho '%s'\n" % json.dumps({
            "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}))
    os.chmod(script, 0o755)
    before = installed.account
    installed.account = plane.write_kubeconfig(plane.path("by-command"), {"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": script, "interactiveMode": "Never"}})
    try:
        with Replica(installed, config={"logLevel": "debug"}) as replica:
            replica.wait_ready()
            plane.stop("kube-apiserver", kill=True)
            time.sleep(2)
            plane.start_apiserver()
            installed.create(pod("later"))
            wait_until("it is placed", lambda: bool(installed.get("pod", "later")["spec"].get("nodeName")), replica)
            key = installed.get("secret", "platoon-webhook", "-n", "platoon-system")["data"]["tls.key"]
            for secret in (token, token.split(".")[2], "PRIVATE KEY", key[:60]):
                assert secret not in replica.log()
            replica.stop()
    finally:
        installed.account = before


def others():
    """Definitions of the kinds of other projects that may be read."""
    kinds = {"kubeflow.org": ("v1", "jaxjobs pytorchjobs tfjobs xgboostjobs"), "grove.io": (
        "v1alpha1", "podcliques podcliquescalinggroups podcliquesets podgangsets"), "jobset.x-k8s.io": ("v1alpha2", "jobsets"),
        "leaderworkerset.x-k8s.io": ("v1", "leaderworkersets"), "ray.io": ("v1", "rayclusters rayjobs rayservices")}
    docs = [definition(group_, plural.capitalize(), plural, [version]) for group_, (version, plurals) in kinds.items()
            for plural in plurals.split()]
    return docs + [definition("kubeflow.org", "Mpijobs", "mpijobs", ["v2beta1"])]


def prepare(installed):
    installed.audit = AUDIT_LOG
    installed.apply()




if __name__ == "__main__":
    import tempfile
    FOLDER = tempfile.mkdtemp(prefix="platoon-audit-")
    AUDIT_LOG = os.path.join(FOLDER, "audit.log")
    with open(os.path.join(FOLDER, "policy.yaml"), "w", encoding="utf-8") as POLICY:
        POLICY.write(AUDIT)
    sys.exit(run_on_plane(TESTS, prepare=prepare, flags=[
        f"--audit-policy-file={POLICY.name}", f"--audit-log-path={AUDIT_LOG}",
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"]))
