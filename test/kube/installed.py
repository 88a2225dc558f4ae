"""Platoon as it is installed: the manifests applied, and `platoon run` with the rights of its service account.

Outside of the cluster, so the API server reaches the webhooks by address instead of by Service.
"""
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kit  # noqa: E402
from control_plane import free_port  # noqa: E402
from kit import wait_until  # noqa: E402,F401  pylint: disable=unused-import

ACCOUNT = "system:serviceaccount:platoon-system:platoon"


class Replica(kit.Replica):
    """One `platoon run` with a configuration file and the rights of the service account."""

    def __init__(self, installed, *args, config=None, account=None):  # pylint: disable=super-init-not-called
        plane = installed.plane
        name = f"platoon-{time.monotonic_ns()}"
        self.health_port = free_port()
        self.path, self.config_path = plane.path(name + ".log"), plane.path(name + ".yaml")
        self.config = {"listen": f"127.0.0.1:{self.health_port}", "logLevel": "info",
                       "leaderElection": {"enabled": True, "duration": "5s"},
                       "webhooks": {"enabled": True, "listen": f"127.0.0.1:{installed.webhook_port}"}, **(config or {})}
        self.write_config({})
        with open(self.path, "wb") as log:
            self.process = subprocess.Popen(
                [installed.platoon, "run", "--kubeconfig", account or installed.account, "-n", "platoon-system", "--config",
                 self.config_path, *args], stdout=log, stderr=subprocess.STDOUT)

    def write_config(self, changes):
        self.config.update(changes)
        with open(self.config_path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.config, file)
        os.rename(self.config_path + ".new", self.config_path)

    def get(self, path):
        """Code and text of a path of the listener; 0 when nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def metric(self, name):
        lines = [line for line in self.get("/metrics")[1].splitlines() if line.startswith(name + " ")]
        return int(lines[0].split()[1]) if lines else None

    def wait_ready(self):
        def ready():
            assert self.process.poll() is None, self.log()
            code, text = self.get("/readyz")
            return code == 200 or f"{code} {text}"
        wait_until("ready", ready, self)


class Installed:
    def __init__(self, platoon, plane):
        self.platoon, self.plane = os.path.abspath(platoon), plane
        self.webhook_port = free_port()
        self.account = plane.path("account")

    def manifests(self, *args):
        return subprocess.run([self.platoon, "install", "--webhook-url", f"https://127.0.0.1:{self.webhook_port}", *args],
                              check=True, text=True, stdout=subprocess.PIPE).stdout

    def apply(self):
        self.plane.kubectl("apply", "-f", "-", text=self.manifests())
        self.plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        self.plane.write_kubeconfig(self.account, self.user())

    def user(self):
        """The service account as user of a kubeconfig."""
        return {"token": self.plane.kubectl("create", "token", "platoon", "-n", "platoon-system").stdout.strip()}

    def create(self, *docs, check=True):
        items = {"apiVersion": "v1", "kind": "List", "items": list(docs)}
        return self.plane.kubectl("create", "-f", "-", text=json.dumps(items), check=check)

    def get(self, *args):
        return json.loads(self.plane.kubectl("get", *args, "-o", "json").stdout)


def make_nodes(installed, count=8):
    """Two racks of simulated nodes."""
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
    plane = installed.plane
    installed.create(*[{"apiVersion": "v1", "kind": "Node", "metadata": {
        "name": f"n{i}", "labels": {"example.com/rack": f"r{i % 2}", "kubernetes.io/hostname": f"n{i}"}}} for i in range(count)])
    status = json.dumps({"status": {"allocatable": amounts, "capacity": amounts,
                                    "conditions": [{"type": "Ready", "status": "True"}]}})
    for i in range(count):
        plane.kubectl("patch", "node", f"n{i}", "--subresource=status", "--type=merge", "-p", status)
        plane.kubectl("taint", "node", f"n{i}", "node.kubernetes.io/not-ready-", check=False)


def pod(name, scheduler="platoon", **metadata):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", **metadata},
            "spec": {"schedulerName": scheduler, "containers": [
                {"name": "main", "image": "model:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}


class Living:
    """Surroundings: a cluster where Platoon is installed. It is `plane.installed`."""

    def __init__(self, plane):
        self.plane = plane

    def __enter__(self):
        self.plane.installed = Installed(kit.PLATOON, self.plane)
        self.plane.installed.apply()
        make_nodes(self.plane.installed)
        return self

    def __exit__(self, *_):
        """Nothing stays, not even objects whose finalizer nobody is there to take away."""
        plane = self.plane
        plane.kubectl("delete", "validatingwebhookconfigurations,mutatingwebhookconfigurations,nodes", "--all")
        plane.kubectl("delete", "pods,services,jobs", "--all", "--force", "--grace-period=0", "--wait=false", check=False)
        plane.kubectl("patch", "clustertopology", "layers", "--type=merge", "-p", '{"metadata":{"finalizers":null}}', check=False)
        plane.kubectl("delete", "crd", "--all", "--timeout=60s")
        del plane.installed


def test(function):
    kit.test_of("install_" + function.__name__, lambda plane: function(plane.installed), Living)
    return function
