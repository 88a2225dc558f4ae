"""Kubelets played in the name of the administrator, so that the rights of the account under test are its own.

What is bound runs and is ready, with the images of its spec; what is to go ends, which is told, and goes.
"""
import http.client
import json
import ssl
import threading
import time

PERIOD = 0.2
KILLED = 143  # by SIGTERM


class Kubelets:
    def __init__(self, plane):
        self.plane, self.open = plane, True
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.open = False
        self.thread.join()

    def run(self):
        while self.open:
            try:
                context = ssl.create_default_context(cafile=self.plane.path("ca.crt"))
                connection = http.client.HTTPSConnection("127.0.0.1", self.plane.port, context=context, timeout=10)
                while self.open:
                    self.turn(connection)
                    time.sleep(PERIOD)
                connection.close()
            except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
                print(f"# kubelets: {error!r}")  # the server may be away for a moment
                time.sleep(PERIOD)

    def ask(self, connection, method, path, body=None, content="application/json"):
        connection.request(method, path, json.dumps(body) if body else None, {
            "Authorization": f"Bearer {self.plane.token}", "Content-Type": content})
        answer = connection.getresponse()
        return json.loads(answer.read())

    def turn(self, connection):
        for pod in self.ask(connection, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%21%3D").get("items", []):
            meta = pod["metadata"]
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
            if "deletionTimestamp" in meta:
                # A Job with a failure policy counts a pod only when its end was told.
                if pod["status"].get("phase") not in ("Succeeded", "Failed"):
                    self.show(connection, path, meta, ended(pod, KILLED))
                self.ask(connection, "DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
                                                      "preconditions": {"uid": meta["uid"]}})
                continue
            images = [item["image"] for item in pod["spec"]["containers"]]
            if [item["image"] for item in pod["status"].get("containerStatuses", [])] != images:
                self.show(connection, path, meta, running(pod))

    def show(self, connection, path, meta, status):
        self.ask(connection, "PATCH", path + "/status", {"metadata": {"uid": meta["uid"]}, "status": status},
                 "application/strategic-merge-patch+json")


def clock_time():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def container_statuses(items, ready, state):
    return [{"name": item["name"], "image": item["image"], "imageID": item["image"], "ready": ready, "started": ready,
             "restartCount": 0, "state": state} for item in items]


def ended(pod, code):
    """The status of a pod whose containers have all ended with `code`."""
    now = clock_time()
    return {
        "phase": "Failed" if code else "Succeeded",
        "conditions": [{"type": name, "status": "False", "lastTransitionTime": now} for name in ("ContainersReady", "Ready")],
        "containerStatuses": container_statuses(pod["spec"]["containers"], False, {"terminated": {
            "exitCode": code, "reason": "Error" if code else "Completed", "startedAt": now, "finishedAt": now}})}


def running(pod):
    now = clock_time()
    return {
        "phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}], "startTime": now,
        "conditions": [{"type": name, "status": "True", "lastTransitionTime": now}
                       for name in ("Initialized", "ContainersReady", "Ready")],
        "containerStatuses": container_statuses(pod["spec"]["containers"], True, {"running": {"startedAt": now}})}
