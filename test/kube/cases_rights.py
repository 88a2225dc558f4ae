"""The rights that `platoon install` grants are those that a full life of Platoon uses: each is used, none is missing,
and what is not granted is refused."""
import json
import os
import subprocess
import time

from control_plane import ROOT
from definitions import definition
from installed import ACCOUNT, Replica, pod, test, wait_until
from kit import PLATOON
from kubelets import Kubelets
from proxy import Proxy

WORKLOADS = "workloads.x-k8s.io"
# Groups of Kubernetes itself of which a release serves some kinds and some not.
KUBERNETES = ("scheduling.k8s.io", "resource.k8s.io")


def used(plane, offset):
    """(verb, group, resource) of every call that the account made since then; all of them were allowed."""
    calls = set()
    with open(plane.audit, encoding="utf-8") as file:
        file.seek(offset)
        for line in file:
            event = json.loads(line)
            ref = event.get("objectRef", {})
            if event["user"]["username"] != ACCOUNT or not ref.get("resource"):
                continue
            assert event["responseStatus"]["code"] != 403, f"a right is missing: {event['verb']} {ref}"
            resource = ref["resource"] + ("/" + ref["subresource"] if ref.get("subresource") else "")
            # Where a subresource has objects of another group, the log has that one.
            group = "" if ref["resource"] == "pods" else ref.get("apiGroup", "")
            calls.add((event["verb"], group, resource))
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
    live_with_a_budget(installed, replica)
    plane.kubectl("delete", "podgroup,pod", "--all", "--force", "--grace-period=0")
    plane.kubectl("delete", "job", "sweep", "--wait=false")
    live_with_claims(installed, replica)
    live_with_devices(installed, replica)
    live_with_groups(installed, replica)


def live_with_a_budget(installed, replica):
    """What has made room makes room itself, guarded by a budget: its pods are evicted, not deleted. Nobody counts the budget
    here, so the server refuses."""
    plane = installed.plane
    plane.kubectl("label", "pod", "--all", "guarded=yes")
    installed.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "guard", "namespace": "default"},
                      "spec": {"minAvailable": 1, "selector": {"matchLabels": {"guarded": "yes"}}}},
                     {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "first"}, "value": 1000})
    doc = pod("urgent")
    doc["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = 6
    doc["spec"]["priorityClassName"] = "first"
    offset = os.path.getsize(plane.audit)
    installed.create(doc)
    wait_until("a guarded pod is asked to leave", lambda: ("create", "", "pods/eviction") in used(plane, offset), replica)
    plane.kubectl("delete", "pdb", "guard")


def live_with_claims(installed, replica):
    """A claim for a volume that exists, and one for a volume that is to be made. Nobody binds them here."""
    plane = installed.plane
    for name, provisioner in (("there", "kubernetes.io/no-provisioner"), ("made", "example.com/disk")):
        installed.create({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
                          "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"},
                         {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"},
                          "spec": {"storageClassName": name, "accessModes": ["ReadWriteOnce"],
                                   "resources": {"requests": {"storage": "1Gi"}}}})
    installed.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"},
                      "spec": {"storageClassName": "there", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                               "hostPath": {"path": "/tmp"}}})
    plane.kubectl("patch", "pv", "disk", "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Available"}}')
    for name in ("there", "made"):
        doc = pod(f"with-{name}")
        doc["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
        installed.create(doc)
    wait_until("the volume is given to its claim", lambda: bool(installed.get("pv", "disk")["spec"].get("claimRef")), replica)
    wait_until("the node of the other is told", lambda: "volume.kubernetes.io/selected-node" in installed.get(
        "pvc", "made")["metadata"].get("annotations", {}), replica)
    plane.kubectl("delete", "pod", "with-there", "with-made", "--force", "--grace-period=0")


def live_with_devices(installed, replica):
    """A claim for a device, which is allocated to it and reserved for its pod."""
    devices = "resource.k8s.io/v1"
    installed.create({"apiVersion": devices, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {
                         "selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]}},
                     {"apiVersion": devices, "kind": "ResourceSlice", "metadata": {"name": "n0-gpus"}, "spec": {
                         "driver": "gpu.example.com", "nodeName": "n0", "devices": [{"name": "gpu-0"}],
                         "pool": {"name": "n0", "generation": 1, "resourceSliceCount": 1}}},
                     {"apiVersion": devices, "kind": "ResourceClaim", "metadata": {"name": "device", "namespace": "default"}, "spec": {
                         "devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}})
    doc = pod("with-device")
    doc["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "device"}]
    doc["spec"]["containers"][0]["resources"] = {"claims": [{"name": "gpu"}]}
    installed.create(doc)
    wait_until("the pod with a device runs", running(installed, "with-device", 1), replica)
    status = installed.get("resourceclaim", "device")["status"]
    assert status["allocation"]["devices"]["results"][0]["device"] == "gpu-0", status
    assert [user["name"] for user in status["reservedFor"]] == ["with-device"], status
    installed.plane.kubectl("delete", "pod", "with-device", "--force", "--grace-period=0")


def set_image(installed, image):
    installed.plane.kubectl("patch", "rbg", "web", "--type=json", "-p", json.dumps([
        {"op": "replace", "path": "/spec/roles/0/standalonePattern/template/spec/containers/0/image", "value": image}]))
    wait_until(f"all have {image}", lambda: [
        pod["spec"]["containers"][0]["image"] for pod in installed.get("pods")["items"]
        if pod["metadata"]["name"].startswith("web-")] == [image] or installed.get("rbg", "web").get("status"))


def live_with_groups(installed, replica):
    """Groups of roles that grow, change, shrink and lose a role, a set of them, an adapter."""
    plane = installed.plane
    plane.kubectl("apply", "-f", "-", text=example("rbg-topology.yaml"))
    wait_until("both batches of pairs run", running(installed, "pairs-", 12), replica)
    plane.kubectl("delete", "rbg", "pairs")
    installed.create({"apiVersion": f"{WORKLOADS}/v1alpha2", "kind": "CoordinatedPolicy",
                      "metadata": {"name": "nobody", "namespace": "default"}, "spec": {"policies": [{
                          "name": "pd", "strategy": {"segmentPlacement": {"segmentSize": {"prefill": 2, "decode": 1}}}}]}})
    wait_until("the policy is told that it has no group", lambda: bool(installed.get("coordinatedpolicy", "nobody").get(
        "status", {}).get("conditions")), replica)
    plane.kubectl("delete", "coordinatedpolicy", "nobody")
    installed.create(group("web", 3), group("auto", 1, scalingAdapter={"enable": True}))
    wait_until("web runs", running(installed, "web-", 3), replica)
    plane.kubectl("patch", "rbg", "web", "--type=json", "-p", json.dumps([
        {"op": "replace", "path": "/spec/roles/0/replicas", "value": 1},
        {"op": "replace", "path": "/spec/roles/0/servicePorts/0/port", "value": 81},
        {"op": "replace", "path": "/spec/roles/0/standalonePattern/template/spec/containers/0/image", "value": "model:2"}]))
    wait_until("web is smaller", running(installed, "web-", 1), replica)
    for version in list(range(3, 10)) + [8, 9, 3]:  # also back to what is remembered
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
    wait_until("auto has its adapter", lambda: bool(installed.get("rbgsa")["items"]), replica)
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
    """Through a proxy that refuses the first write of each kind: what was refused is read by its name."""
    plane = installed.plane
    installed.create(*others())
    plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    # Nothing of an earlier life: certificates, lease and queue are made anew.
    plane.kubectl("delete", "secret,lease", "--all", "-n", "platoon-system")
    plane.kubectl("delete", "queues", "--all")
    offset = os.path.getsize(plane.audit)
    with Proxy(plane, seed=1) as proxy, Kubelets(plane):
        proxy.contested = set()
        # With what is off by default and writes: the past of queues.
        past = {"timeBasedFairshare": {"enabled": True, "windowSize": "60s"}}
        with Replica(installed, account=proxy.kubeconfig(installed.user()), config=past) as replica:
            replica.wait_ready()
            live_a_life(installed, replica)
            time.sleep(1)
            assert "forbidden" not in replica.log(), [line for line in replica.log().splitlines() if "forbidden" in line][:5]
            replica.stop()
    rights = granted(installed)
    # Nobody calls it: the API server looks at this right when an owner is named. See without_a_right_it_says_which.
    rights = {right for right in rights if not right[2].endswith("/finalizers")}
    # Nor this: it looks at it when the allocation of a claim is written.
    rights = {right for right in rights if right[2] != "resourceclaims/binding"}
    # Kinds that this release does not have are asked for by nobody.
    has = {tuple(name.split(".", 1)) for group_ in KUBERNETES for name in plane.kubectl(
        "api-resources", f"--api-group={group_}", "-o", "name").stdout.split()}
    beyond = {right for right in rights if right[1] in KUBERNETES and (right[2].split("/")[0], right[1]) not in has}
    if beyond:
        print(f"# not served by this release, so not used: {sorted({right[2] for right in beyond})}")
    unused = sorted(rights - beyond - used(plane, offset))
    assert not unused, f"granted and never used: {unused}"
    print(f"# {len(rights)} rights, each used, none missing")


FORBIDDEN = (
    ("delete", "nodes/n0"), ("patch", "nodes/n0"), ("create", "nodes/n0", "--subresource=proxy"),
    ("get", "secrets", "-A"), ("get", "secrets/platoon-webhook", "-n", "default"), ("list", "secrets", "-n", "platoon-system"),
    ("get", "secrets/other", "-n", "platoon-system"), ("delete", "secrets/platoon-webhook", "-n", "platoon-system"),
    ("create", "clusterroles"), ("escalate", "clusterroles"), ("bind", "clusterroles"), ("update", "clusterroles/platoon"),
    ("create", "clusterrolebindings"), ("impersonate", "users"), ("create", "serviceaccounts", "--subresource=token"),
    ("create", "pods", "--subresource=exec"), ("get", "pods", "--subresource=log"), ("update", "pods"),
    ("create", "customresourcedefinitions"), ("patch", "crd/queues.scheduling.run.ai"), ("delete", "queues/team"),
    ("update", "queues/team"), ("patch", "validatingwebhookconfigurations/other"),
    ("create", "mutatingwebhookconfigurations"), ("update", "deployments"), ("delete", "jobs"), ("delete", "namespaces/default"),
    ("create", "leases", "-n", "default"), ("update", "leases/other", "-n", "platoon-system"))


@test
def what_is_not_granted_is_refused(installed):
    for verb, resource, *args in FORBIDDEN:
        answer = installed.plane.kubectl("auth", "can-i", verb, resource, *args, f"--as={ACCOUNT}", check=False)
        assert answer.stdout.strip() == "no", f"{verb} {resource} {args} is allowed"
    # Not only by the word of the server: a few attempts.
    installed.plane.kubectl("create", "secret", "generic", "treasure", "--from-literal=a=b")
    for args in (("delete", "node", "n0"), ("get", "secret", "treasure", "-n", "default"), ("get", "secrets", "-A"),
                 ("create", "clusterrolebinding", "mine", "--clusterrole=cluster-admin", f"--user={ACCOUNT}"),
                 ("patch", "clusterrole", "platoon", "--type=json", "-p", '[{"op":"remove","path":"/rules/0"}]')):
        answer = subprocess.run(["kubectl", "--kubeconfig", installed.account, *args], check=False, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert answer.returncode != 0 and "forbidden" in answer.stderr.lower(), f"{args}: {answer.stdout}{answer.stderr}"
    installed.plane.kubectl("delete", "secret", "treasure")


def without(installed, is_taken, check):
    """Takes (resource, verb) pairs away from the cluster role, calls check(replica), and gives them back."""
    plane = installed.plane
    role = installed.get("clusterrole", "platoon")
    rules, kept, count = role["rules"], [], 0
    for rule in rules:
        for resource in rule["resources"]:
            verbs = [verb for verb in rule["verbs"] if not is_taken(resource, verb)]
            count += len(rule["verbs"]) - len(verbs)
            if verbs:
                kept.append({**rule, "resources": [resource], "verbs": verbs})
    assert count, "there was nothing to take"
    role["rules"] = kept
    plane.kubectl("replace", "-f", "-", text=json.dumps(role))
    try:
        with Replica(installed) as replica:
            check(replica)
            replica.stop()
    finally:
        role = installed.get("clusterrole", "platoon")
        role["rules"] = rules
        plane.kubectl("replace", "-f", "-", text=json.dumps(role))


def refusals(replica, words):
    """Until the log has a refusal for each of them."""
    def check():
        lines = [line.replace('\\"', '"') for line in replica.log().splitlines() if "forbidden" in line]
        missing = [word for word in words if not any(word in line for line in lines)]
        return not missing or f"no refusal for {missing}"
    wait_until("what is refused is told", check, replica)


@test
def without_a_right_it_says_which(installed):
    taken = {("pods/binding", "create"), ("podgroups/status", "patch"), ("pods/status", "patch"), ("events", "create")}

    def writing(replica):
        replica.wait_ready()
        installed.create({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
                          "metadata": {"name": "huge", "namespace": "default"}, "spec": {"minMember": 999}},
                         pod("huge-0", annotations={"pod-group-name": "huge"}), pod("unbound"))
        refusals(replica, ['"pods/binding"', '"podgroups/status"', '"pods/status"', '"events"'])
        assert not installed.get("pod", "unbound")["spec"].get("nodeName")
        time.sleep(3)
        assert replica.log().count("pods/unbound/binding") < 20, "what is refused is sent again and again without a pause"

    def owner(replica):
        replica.wait_ready()
        installed.create(group("owned", 1))
        wait_until("it is refused", lambda: "cannot set blockOwnerDeletion" in replica.log(), replica)

    without(installed, lambda resource, verb: (resource, verb) in taken, writing)
    without(installed, lambda resource, verb: resource.endswith("/finalizers"), owner)

    def blind(replica):
        refusals(replica, [f'cannot list resource "{resource}"' for resource in ("nodes", "pods", "podgroups", "queues", "namespaces")])
        assert replica.get("/readyz")[0] != 200, "ready without seeing anything"
    without(installed, lambda resource, verb: verb == "list", blind)
    installed.plane.kubectl("delete", "rbg,podgroup,pod", "--all", "--force", "--grace-period=0", "--wait=false")


def others():
    """Definitions of the kinds of other projects that may be read: those of the program's own table. Groups of Kubernetes
    itself are served by a release or not: a definition in their API group would be listed, and answered with 404."""
    text = subprocess.run([PLATOON, "help", "--reference", "kinds"], capture_output=True, text=True, check=True).stdout
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")][1:]
    return [definition(group_, kind, plural, versions.split(", "), scope="Cluster" if kind == "Karta" else "Namespaced")
            for kind, group_, versions, plural, _, _, follows, *_ in rows
            if follows == "where served" and "." in group_ and group_ not in (WORKLOADS, *KUBERNETES)]
