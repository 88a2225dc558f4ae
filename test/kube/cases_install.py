"""What `platoon install` prints: it can be applied in every way and removed again; and how the installed program takes
its configuration and guards its secrets."""
import json
import os
import time

from installed import Replica, pod, test, wait_until
from proxy import Proxy


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
    # An API server that has not yet listed a kind lets its definition go only after minutes.
    for item in installed.get("crd")["items"]:
        name = item["metadata"]["name"]
        wait_until(f"{name} can be listed", lambda name=name: plane.kubectl("get", name, "-A", check=False).returncode == 0)
    # Nobody ends the namespace here: that is the work of the controller manager.
    plane.kubectl("delete", "--ignore-not-found", "--wait=false", "-f", "-", text=installed.manifests())
    objects = json.loads(installed.manifests("-o", "json"))["items"]
    ours = {item["metadata"]["name"] for item in objects if item["kind"] == "CustomResourceDefinition"}

    def gone():
        left = {item["metadata"]["name"]: item["status"]["conditions"][-1].get("message") for item in installed.get("crd")["items"]
                if item["metadata"]["name"] in ours}
        return not left or left
    wait_until("the definitions are gone", gone)
    for kind in ("clusterrole", "clusterrolebinding", "validatingwebhookconfiguration", "mutatingwebhookconfiguration"):
        assert plane.kubectl("get", kind, "platoon", check=False).returncode != 0, kind
    plane.kubectl("get", "--raw", "/api/v1/namespaces/platoon-system")
    space = installed.get("namespace", "platoon-system")
    space["spec"]["finalizers"] = []
    plane.kubectl("replace", "--raw", "/api/v1/namespaces/platoon-system/finalize", "-f", "-", text=json.dumps(space))
    wait_until("the namespace is gone", lambda: plane.kubectl("get", "namespace", "platoon-system", check=False).returncode != 0)
    installed.apply()


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
    token = installed.user()["token"]
    script = plane.path("give-token")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho '%s'\n" % json.dumps({
            "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}))
    os.chmod(script, 0o755)
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": script, "interactiveMode": "Never"}}
    with Proxy(plane, seed=1) as proxy, Replica(installed, config={"logLevel": "debug"},
                                                account=proxy.kubeconfig(user)) as replica:
        replica.wait_ready()
        proxy.closed = True
        proxy.cut()
        time.sleep(2)
        proxy.closed = False
        installed.create(pod("later"))
        wait_until("it is placed", lambda: bool(installed.get("pod", "later")["spec"].get("nodeName")), replica)
        key = installed.get("secret", "platoon-webhook", "-n", "platoon-system")["data"]["tls.key"]
        for secret in (token, token.split(".")[2], "PRIVATE KEY", key[:60]):
            assert secret not in replica.log()
        replica.stop()
