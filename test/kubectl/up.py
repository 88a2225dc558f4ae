"""A running `platoon up` for tests, and kubectl with its kubeconfig. Arguments: PLATOON SOURCE_ROOT [TEXT...]"""
import json
import os
import signal
import subprocess
import sys
import threading
import time

from harness import KUBECTL

PLATOON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ONLY = sys.argv[3:]
PATIENCE = 60


class Up:
    """A running `platoon up`, and kubectl with its kubeconfig."""

    def __init__(self, folder, *options):
        self.folder = folder
        data = os.path.join(folder, "data")
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "KUBECONFIG": os.path.join(data, "kubeconfig")}
        self.process = subprocess.Popen([PLATOON, "up", "--port", "0", "--data-dir", data, *options], text=True, cwd=ROOT,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        assert "listens on https://" in line, f"no start: {line!r} {self.process.stderr.read()}"
        self.steps = [self.process.stdout.readline().strip() for _ in range(4)]

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def await_log(self, words):
        """Reads what it says on stderr up to a line with these words; a program that never says them is ended."""
        patience = threading.Timer(PATIENCE, self.process.kill)
        patience.start()
        try:
            for line in self.process.stderr:
                if words in line:
                    return line
        finally:
            patience.cancel()
        raise AssertionError(f"it never said {words!r}")

    def kubectl(self, *args, text=None, code=0):
        done = subprocess.run([KUBECTL, *args], input=text, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT,
                              env=self.env, check=False)
        assert done.returncode == code, f"kubectl {' '.join(args)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def get(self, *args):
        return json.loads(self.kubectl("get", *args, "-o", "json"))

    def version(self):
        """Of the whole cluster: it grows with every write. kubectl leaves it out of its own lists."""
        return int(json.loads(self.kubectl("get", "--raw", "/api/v1/namespaces"))["metadata"]["resourceVersion"])

    def until(self, what, condition):
        end = time.monotonic() + PATIENCE
        while True:
            found = condition()
            if found:
                return found
            assert time.monotonic() < end, f"never happened: {what}\n{self.kubectl('get', 'podgroups,pods', '-o', 'wide')}"
            time.sleep(0.2)

    def pods(self, group):
        return [pod for pod in self.get("pods")["items"]
                if pod["metadata"].get("annotations", {}).get("pod-group-name") == group]

    def running(self, labels):
        """Ready pods of a selection that nobody deletes."""
        return [pod for pod in self.get("pods", "-l", labels)["items"]
                if condition_of(pod, "Ready").get("status") == "True" and "deletionTimestamp" not in pod["metadata"]]

    def all_run(self, group, count):
        pods = self.pods(group)
        ready = [pod for pod in pods if condition_of(pod, "Ready").get("status") == "True"]
        return pods if len(ready) == count and all(pod["status"]["phase"] == "Running" for pod in ready) else None

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        assert code == 0, f"ended with {code}: {self.process.stderr.read()}"


def condition_of(thing, kind):
    return next((c for c in thing.get("status", {}).get("conditions", []) if c["type"] == kind), {})
