"""Gangs with volume claims, beside the real controller of volumes and a stand-in for an external provisioner."""
import contextlib
import json
import os
import signal
import subprocess
import threading

from control_plane import binaries
from kit import Replica, apply, gang, pods_of, test, wait_until
from proxy import Proxy

DRIVER = "disks.example.com"
SELECTED = "volume.kubernetes.io/selected-node"


class Controllers:
    """kube-controller-manager of the same release, with some of its controllers: those of volumes unless others are named."""

    def __init__(self, plane, controllers="persistentvolume-binder-controller,ephemeral-volume-controller", *flags):
        with open(plane.path("kube-controller-manager.log"), "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(binaries("kube-controller-manager"), "kube-controller-manager"),
                 f"--kubeconfig={plane.kubeconfig}", "--leader-elect=false", "--secure-port=0",
                 f"--controllers={controllers}", *flags],
                stdout=log, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)


class Provisioner:
    """Makes a volume for every claim of the driver that has a node; the first time it fails for those in `fails`, and it does
    nothing for those in `leaves`."""

    def __init__(self, plane, fails=(), leaves=()):
        self.plane, self.fails, self.leaves, self.over = plane, set(fails), set(leaves), threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def run(self):
        while not self.over.wait(0.5):
            made = []
            for claim in claims(self.plane):
                name, node = claim["metadata"]["name"], claim["metadata"].get("annotations", {}).get(SELECTED)
                if not node or claim["spec"].get("volumeName") or name in self.leaves:
                    continue
                if name in self.fails:
                    self.fails.remove(name)
                    self.plane.kubectl("annotate", "pvc", name, SELECTED + "-", check=False)
                else:
                    made.append(volume_for(claim, node))
            if made:
                self.plane.kubectl("apply", "-f", "-", check=False,
                                   text=json.dumps({"apiVersion": "v1", "kind": "List", "items": made}))


def claims(plane):
    return json.loads(plane.kubectl("get", "pvc", "-o", "json").stdout)["items"]


def volume_for(claim, node):
    meta, spec = claim["metadata"], claim["spec"]
    return {"apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": "pvc-" + meta["uid"], "annotations": {"pv.kubernetes.io/provisioned-by": DRIVER}},
            "spec": {"capacity": {"storage": spec["resources"]["requests"]["storage"]}, "accessModes": spec["accessModes"],
                     "storageClassName": spec["storageClassName"], "volumeMode": spec["volumeMode"],
                     "persistentVolumeReclaimPolicy": "Retain", "csi": {"driver": DRIVER, "volumeHandle": meta["uid"]},
                     "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": meta["namespace"],
                                  "name": meta["name"], "uid": meta["uid"]},
                     "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchFields": [
                         {"key": "metadata.name", "operator": "In", "values": [node]}]}]}}}}


def gang_with_claims(name, pods):
    docs = [{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "disks"},
             "provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer"}]
    for doc in gang(name, pods, gpus=1):
        if doc["kind"] == "Pod":
            claim = "data-" + doc["metadata"]["name"]
            docs.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": claim}, "spec": {
                "storageClassName": "disks", "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}}}})
            doc["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
        docs.append(doc)
    return docs


def all_or_none(plane, name, pods):
    """Whether all pods have nodes. None has one before all claims are bound, and no volume has two claims."""
    def check():
        placed = [pod for pod in pods_of(plane, name) if pod["spec"].get("nodeName")]
        bound = [claim["spec"].get("volumeName") for claim in claims(plane)
                 if claim["status"]["phase"] == "Bound"]
        assert len(set(bound)) == len(bound), f"one volume for two claims: {bound}"
        assert not placed or len(bound) == pods, f"{len(placed)} pods have nodes, {len(bound)} claims are bound"
        return len(placed) == pods or f"{len(placed)} pods have nodes, {len(bound)} claims are bound"
    return check


def check_pairs(plane):
    """Claims and volumes belong to each other, one to one."""
    volumes = json.loads(plane.kubectl("get", "pv", "-o", "json").stdout)["items"]
    owners = {volume["metadata"]["name"]: volume["spec"]["claimRef"]["uid"] for volume in volumes if "claimRef" in volume["spec"]}
    assert len(set(owners.values())) == len(owners), f"two volumes for one claim: {owners}"
    for claim in claims(plane):
        name, meta = claim["spec"].get("volumeName"), claim["metadata"]
        assert claim["status"]["phase"] == "Bound" and owners.get(name) == meta["uid"], (name, owners, claim)


def local_gang(plane, name, pods):
    """A gang whose claims are for volumes that exist, on two nodes of one rack."""
    nodes = [node["metadata"]["name"] for node in json.loads(plane.kubectl("get", "nodes", "-o", "json").stdout)["items"]
             if node["metadata"]["labels"].get("example.com/rack") == "r1"][:2]
    docs = gang_with_claims(name, pods)
    docs[0]["provisioner"] = "kubernetes.io/no-provisioner"
    for i in range(pods):
        volume = volume_for({"metadata": {"name": "", "namespace": "", "uid": f"local-{i}"}, "spec": {
            "storageClassName": "disks", "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem",
            "resources": {"requests": {"storage": "1Gi"}}}}, nodes[i % 2])
        del volume["spec"]["claimRef"], volume["spec"]["csi"], volume["metadata"]["annotations"]
        volume["spec"]["local"] = {"path": f"/disks/{i}"}
        docs.append(volume)
    return docs, nodes


def clear_claims(plane):
    plane.kubectl("delete", "podgroups,pods", "--all", "--wait=false", "--grace-period=0", "--force", check=False)
    for kind in ("pvc", "pv"):
        for item in json.loads(plane.kubectl("get", kind, "-o", "json").stdout)["items"]:
            plane.kubectl("patch", kind, item["metadata"]["name"], "--type=merge", "-p",
                          '{"metadata":{"finalizers":null}}', check=False)
        plane.kubectl("delete", kind, "--all", "--wait=false", check=False)
    plane.kubectl("delete", "storageclass", "--all", check=False)


@test
def a_gang_is_bound_when_its_claims_are(plane):
    try:
        with Controllers(plane), Provisioner(plane, fails=["data-disk-3"]), Replica(plane) as replica:
            apply(plane, gang_with_claims("disk", 16))
            wait_until("the gang is placed", all_or_none(plane, "disk", 16), replica)
            assert "data-disk-3: no volume could be provisioned" in replica.log(), replica.log()[-3000:]
    finally:
        clear_claims(plane)


@test
def claims_survive_the_end_of_the_scheduler(plane):
    try:
        with Controllers(plane):
            apply(plane, gang_with_claims("cut", 8))
            with Replica(plane) as replica:
                wait_until("the claims have nodes", lambda: sum(
                    SELECTED in claim["metadata"].get("annotations", {}) for claim in claims(plane)) == 8 or "not all",
                    replica)
                replica.stop(signal.SIGKILL)
            with Provisioner(plane), Replica(plane) as replica:
                wait_until("the gang is placed", all_or_none(plane, "cut", 8), replica)
    finally:
        clear_claims(plane)


@test
def local_volumes_take_the_gang_to_their_nodes(plane):
    docs, nodes = local_gang(plane, "near", 4)
    try:
        with Controllers(plane), Replica(plane) as replica:
            apply(plane, docs)
            wait_until("the gang is placed", all_or_none(plane, "near", 4), replica)
            assert sorted(pod["spec"]["nodeName"] for pod in pods_of(plane, "near")) == sorted(nodes * 2)
    finally:
        clear_claims(plane)


@test
def claims_are_taken_back_after_the_deadline(plane):
    config = plane.path("claims.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write("claimTimeoutSeconds: 2\n")
    try:
        with Controllers(plane), Replica(plane, "--config", config) as replica:
            apply(plane, gang_with_claims("late", 4))
            wait_until("the deadline passes", lambda: "it was not bound in time" in replica.log() or "not yet", replica)
            assert not any(pod["spec"].get("nodeName") for pod in pods_of(plane, "late"))
            with Provisioner(plane):
                wait_until("the gang is placed", all_or_none(plane, "late", 4), replica)
    finally:
        clear_claims(plane)


def cut_short(plane, name, docs, stop_at, provisions=True):
    """Platoon is killed when it has made `stop_at`'s number of these requests; another one begins where it was."""
    try:
        with Controllers(plane), Proxy(plane, seed=1) as proxy:
            proxy.stop_at = stop_at
            with Provisioner(plane) if provisions else contextlib.nullcontext():
                with Replica(plane, kubeconfig=proxy.kubeconfig({"token": plane.token})) as replica:
                    apply(plane, docs)
                    wait_until(f"{stop_at} is reached", lambda: proxy.stopped.is_set() or "not yet", replica)
                    replica.stop(signal.SIGKILL)
                with Replica(plane) as replica:
                    wait_until(f"the gang is placed after {stop_at}", all_or_none(plane, name, 6), replica)
                    check_pairs(plane)
    finally:
        clear_claims(plane)


@test
def killed_while_claims_are_written(plane):
    for count in (0, 3):
        cut_short(plane, "write", gang_with_claims("write", 6), ("PATCH", "/persistentvolumeclaims/", "", count))


@test
def killed_while_volumes_are_written(plane):
    for count in (0, 3):
        cut_short(plane, "static", local_gang(plane, "static", 6)[0], ("PATCH", "/persistentvolumes/", "", count), False)


@test
def killed_while_pods_are_bound(plane):
    for count in (0, 3):
        cut_short(plane, "bind", gang_with_claims("bind", 6), ("POST", "/binding", "", count))


@test
def killed_while_claims_are_taken_back(plane):
    """Six claims get nodes, nobody makes volumes, and the deadline passes: the end comes after half of them were freed."""
    config = plane.path("taken-back.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write("claimTimeoutSeconds: 2\n")
    try:
        with Controllers(plane), Proxy(plane, seed=1) as proxy:
            proxy.stop_at = ("PATCH", "/persistentvolumeclaims/", f'"{SELECTED}":null', 3)
            with Replica(plane, "--config", config, kubeconfig=proxy.kubeconfig({"token": plane.token})) as replica:
                apply(plane, gang_with_claims("freed", 6))
                wait_until("half of the claims are free", lambda: proxy.stopped.is_set() or "not yet", replica)
                replica.stop(signal.SIGKILL)
            marked = sum(SELECTED in claim["metadata"].get("annotations", {}) for claim in claims(plane))
            assert 0 < marked < 6, marked
            assert not any(pod["spec"].get("nodeName") for pod in pods_of(plane, "freed"))
            with Provisioner(plane), Replica(plane) as replica:
                wait_until("the gang is placed", all_or_none(plane, "freed", 6), replica)
                check_pairs(plane)
    finally:
        clear_claims(plane)


def ephemeral_gang(name, pods):
    """A gang whose pods bring their claims: kube-controller-manager makes one for each."""
    docs = gang_with_claims(name, pods)
    claims_of = {doc["metadata"]["name"]: doc["spec"] for doc in docs if doc["kind"] == "PersistentVolumeClaim"}
    for doc in docs:
        if doc["kind"] == "Pod":
            for volume in doc["spec"]["volumes"]:
                template = {"spec": claims_of[volume.pop("persistentVolumeClaim")["claimName"]]}
                volume["ephemeral"] = {"volumeClaimTemplate": template}
    return [doc for doc in docs if doc["kind"] != "PersistentVolumeClaim"]


@test
def killed_while_claims_of_pods_are_written(plane):
    cut_short(plane, "brought", ephemeral_gang("brought", 6), ("PATCH", "/persistentvolumeclaims/", "", 3))


@test
def killed_while_some_claims_are_bound(plane):
    try:
        with Controllers(plane):
            apply(plane, gang_with_claims("half", 6))
            with Provisioner(plane, leaves=["data-half-1", "data-half-4"]), Replica(plane) as replica:
                wait_until("four are bound", lambda: sum(
                    claim["status"]["phase"] == "Bound" for claim in claims(plane)) == 4 or "not yet", replica)
                assert not any(pod["spec"].get("nodeName") for pod in pods_of(plane, "half"))
                replica.stop(signal.SIGKILL)
            with Provisioner(plane), Replica(plane) as replica:
                wait_until("the gang is placed", all_or_none(plane, "half", 6), replica)
                check_pairs(plane)
    finally:
        clear_claims(plane)
