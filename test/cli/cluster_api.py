"""A running `platoon up` as the API server of a cluster, spoken to without kubectl."""
import base64
import json
import os
import re
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

PATIENCE = 120


class Process:
    """A command with its output in a file; ended at the end of the block."""

    def __init__(self, program, folder, *args):
        self.path = os.path.join(folder, f"{args[0]}-{time.monotonic_ns()}.log")
        with open(self.path, "wb") as log:
            self.process = subprocess.Popen([program, *args], stdout=log, stderr=subprocess.STDOUT, cwd=folder)

    def log(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for(self, pattern):
        def found():
            assert self.process.poll() is None, f"it ended: {self.log()}"
            return re.search(pattern, self.log())
        return until(pattern, found, self.log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def until(what, condition, explain=lambda: ""):
    end = time.monotonic() + PATIENCE
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"never happened: {what}\n{explain()}"
        time.sleep(0.1)


class Api:
    """The API that a kubeconfig of `platoon up` names."""

    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as file:
            text = file.read()
        self.server = re.search(r"server: (\S+)", text).group(1)
        authority, certificate, key = (base64.b64decode(re.search(name + r": (\S+)", text).group(1)).decode()
                                       for name in ("authority-data", "client-certificate-data", "client-key-data"))
        self.context = ssl.create_default_context(cadata=authority)
        with tempfile.NamedTemporaryFile("w") as chain:
            chain.write(certificate + key)
            chain.flush()
            self.context.load_cert_chain(chain.name)

    def call(self, method, path, body=None):
        """(code, document)"""
        request = urllib.request.Request(self.server + path, method=method, data=json.dumps(body).encode() if body else None)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE, context=self.context) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def get(self, path):
        code, document = self.call("GET", path)
        assert code == 200, f"GET {path}: {code} {document}"
        return document

    def create(self, resource, body):
        """`resource` is the plural; the rest of the path comes from the object."""
        version = body["apiVersion"]
        space = body["metadata"].get("namespace")
        path = ("/apis/" if "/" in version else "/api/") + version + (f"/namespaces/{space}" if space else "") + "/" + resource
        code, document = self.call("POST", path, body)
        assert code == 201, f"POST {path}: {code} {document}"
        return document

    def define(self, kind, group, version, resource):
        """A definition that lets everything through; waits until it is served."""
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        self.create("customresourcedefinitions", {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{resource}.{group}"},
            "spec": {"group": group, "scope": "Namespaced",
                     "names": {"plural": resource, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": schema}]}})
        until(f"{resource}.{group} are served", lambda: self.call("GET", f"/apis/{group}/{version}/{resource}")[0] == 200)
