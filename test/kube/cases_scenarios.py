"""The scenarios of the embedded cluster, from the same files, judged by the same code, on the real API server.

`platoon simulate --kubeconfig` plays workload controllers, kubelets and Platoon in one process and in virtual time.
Admission is the real one: webhooks, which a replica of `platoon run` answers that does not lead.
"""
import glob
import json
import os
import subprocess

from kit import PLATOON, ROOT, Replica, Skip, install, test_of, wait_until
from control_plane import free_port
from definitions import OTHERS

FILES = ("stories/*", "segments/*", "topology/*", "platoon/steps-*")
LIMIT = 120
# By file, why not here.
NATIVE = "groups of Kubernetes itself have tests of their own on a server with their gates on"
EMBEDDED_ONLY = {
    "steps-native-disruption": NATIVE,
    "steps-native-gangs": NATIVE,
    "steps-native-job": NATIVE,
    "steps-native-trees": NATIVE,
    "steps-defragment": "its window is a time of the day, and on a real server time begins when the test does",
    "steps-disruption-budget": "the stand-in that counts budgets does not come to rest beside a real server; real ones count themselves",
}

# By file, the first minor release whose server keeps every field.
SINCE = {"steps-device-class-and-plugin": 36}  # extendedResourceName of a DeviceClass


def take_lease(plane):
    """From now on somebody else leads: the replica goes on answering webhooks and decides nothing, for an hour."""
    plane.kubectl("patch", "lease", "platoon", "-n", "platoon-system", "--type=merge", "-p",
                  json.dumps({"spec": {"holderIdentity": "scenarios"}}))


def has_authority(plane):
    kinds = json.loads(plane.kubectl("get", "validatingwebhookconfigurations,mutatingwebhookconfigurations,crd", "-o",
                                     "json").stdout)["items"]
    hooks = [hook["clientConfig"] for item in kinds for hook in item.get("webhooks", [])]
    hooks += [item["spec"]["conversion"]["webhook"]["clientConfig"] for item in kinds
              if item.get("spec", {}).get("conversion", {}).get("strategy") == "Webhook"]
    without = [hook["url"] for hook in hooks if not hook.get("caBundle")]
    return (bool(hooks) and not without) or f"no authority for {without or 'anything'}"


def clear(plane):
    """What other tests left, also objects that wait for a controller which is not there: scenarios count everything."""
    for kind in ("deployments", "replicasets", "statefulsets", "daemonsets", "cronjobs", "jobs", "rolebasedgroups", "pods"):
        plane.kubectl("delete", kind, "-A", "--all", "--force", "--grace-period=0", "--wait=false", check=False)
        listed = plane.kubectl("get", kind, "-A", "-o", "json", check=False).stdout
        for item in json.loads(listed or '{"items":[]}')["items"]: # nothing where the kind is not defined
            if item["metadata"].get("finalizers"):
                plane.kubectl("patch", kind, item["metadata"]["name"], "-n", item["metadata"]["namespace"], "--type=merge", "-p",
                              '{"metadata":{"finalizers":null}}', check=False)


class Answering:
    """Webhooks are answered while this is open."""

    def __init__(self, plane):
        self.plane = plane

    def __enter__(self):
        port = free_port()
        plane = self.plane
        clear(plane)
        install(plane, "--webhook-url", f"https://127.0.0.1:{port}")
        plane.kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": OTHERS}))
        plane.kubectl("create", "namespace", "platoon-scratch", check=False)
        config = plane.path("webhooks.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"leaderElection": {"enabled": True, "duration": "1h"}, "webhooks": {"enabled": True, "listen": f"127.0.0.1:{port}"}}, file)
        self.replica = Replica(plane, "--config", config, "--listen", "none", "-n", "platoon-system", kubelets=False)
        try:
            wait_until("webhooks are known to the server", lambda: has_authority(plane), self.replica)
            take_lease(plane)
            wait_until("the replica does not lead", lambda: "lease lost" in self.replica.log() or "it does", self.replica)
        except BaseException:
            self.replica.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.replica.stop()
        # Nobody is there to answer any more.
        self.plane.kubectl("delete", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "--all")
        self.plane.kubectl("delete", "lease", "platoon", "-n", "platoon-system", check=False)


def run(plane, path):
    since = SINCE.get(os.path.splitext(os.path.basename(path))[0], 0)
    if plane.minor < since:
        raise Skip(f"Kubernetes 1.{plane.minor} drops a field that it is about, which 1.{since} has")
    answer = subprocess.run([PLATOON, "simulate", "--kubeconfig", plane.kubeconfig, "-o", "json", path], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, check=False)
    assert answer.stdout.startswith("{"), answer.stderr
    scenarios = json.loads(answer.stdout)["scenarios"]
    failures = [failure for scenario in scenarios for failure in scenario["failures"]]
    assert scenarios and not failures, "; ".join(failures) or answer.stderr


for pattern in FILES:
    for path in sorted(glob.glob(os.path.join(ROOT, "test", "scenarios", pattern + ".yaml"))):
        title = os.path.splitext(os.path.basename(path))[0]
        if title in EMBEDDED_ONLY:
            print(f"known: {title} is not run on a real server: {EMBEDDED_ONLY[title]}")
            continue
        name = "scenario_" + pattern.split("/")[0] + "_" + title
        test_of(name, lambda plane, path=path: run(plane, path), Answering)
