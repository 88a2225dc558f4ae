"""Kubelets as controllers of workloads know them: they send heartbeats, tell the end of a pod before it goes, and stop doing
either when their node dies.
"""
import time
import zlib

import kubelets

BEAT = 6  # seconds; far below the time after which a node is given up
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


class NodeAgents(kubelets.Kubelets):
    def __init__(self, plane):
        super().__init__(plane)
        self.dead = set()   # nodes of which nothing is heard any more
        self.exits = {}     # name of a pod: the code with which its containers end now
        self.beaten = 0.0

    def turn(self, connection):
        if time.monotonic() - self.beaten >= BEAT:
            self.beaten = time.monotonic()
            for node in self.ask(connection, "GET", "/api/v1/nodes?resourceVersion=0").get("items", []):
                if node["metadata"]["name"] not in self.dead:
                    self.beat(connection, node)
        for pod in self.ask(connection, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%21%3D").get("items", []):
            if pod["spec"]["nodeName"] not in self.dead:
                self.live(connection, pod)

    def beat(self, connection, node):
        name = node["metadata"]["name"]
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40,
                "renewTime": time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())}
        lease = self.ask(connection, "PATCH", f"{LEASES}/{name}", {"spec": spec}, "application/merge-patch+json")
        if lease.get("code") == 404:
            self.ask(connection, "POST", LEASES, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {
                "name": name, "namespace": "kube-node-lease"}, "spec": spec})
        ready = [item for item in node["status"].get("conditions", []) if item["type"] == "Ready"]
        if not ready or ready[0]["status"] != "True":
            now = kubelets.clock_time()
            self.ask(connection, "PATCH", f"/api/v1/nodes/{name}/status", {"status": {"conditions": [
                {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now,
                 "lastTransitionTime": now}]}}, "application/strategic-merge-patch+json")

    def live(self, connection, pod):
        meta, phase = pod["metadata"], pod["status"].get("phase")
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        over = phase in ("Succeeded", "Failed")
        if "deletionTimestamp" in meta:
            if not over:
                self.show(connection, path, meta, kubelets.ended(pod, kubelets.KILLED))
            if meta.get("deletionGracePeriodSeconds") != 0:  # else it waits for a finalizer
                self.ask(connection, "DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
                                                      "preconditions": {"uid": meta["uid"]}})
        elif not over and meta["name"] in self.exits:
            self.show(connection, path, meta, kubelets.ended(pod, self.exits.pop(meta["name"])))
        elif phase == "Pending":
            self.show(connection, path, meta, started(pod))


def started(pod):
    """Running, with an address of its own and its init containers over."""
    now, number = kubelets.clock_time(), zlib.crc32(pod["metadata"]["uid"].encode()) % 65000
    status = kubelets.running(pod)
    address = f"10.0.{number // 256}.{number % 256}"
    status.update(podIP=address, podIPs=[{"ip": address}])
    inits = pod["spec"].get("initContainers", [])
    if inits:
        over = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}}
        status["initContainerStatuses"] = kubelets.container_statuses(inits, True, over)
    return status
