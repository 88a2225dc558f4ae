"""A real control plane on loopback for tests: etcd and kube-apiserver with certificates of their own.

    with ControlPlane() as plane: plane.kubectl("get", "nodes")

Ports are free ones, data is in a temporary folder, and everything that was started is ended by pid.
"""
import json
import os
import secrets
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from clocks import clock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATIENCE = 120


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def binaries(*names):
    """The folder with the commands, built if need be."""
    return subprocess.run([os.path.join(ROOT, "scripts", "kube-binaries"), *names], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


class ControlPlane:
    def __init__(self, fsync=False, flags=(), audited=()):
        """`audited`: users whose calls the API server writes down, in the file `audit`."""
        self.folder = tempfile.mkdtemp(prefix="platoon-kube-")
        self.commands = binaries("etcd", "kube-apiserver")
        # The folder is named after the release: kube-v1.37.1-...
        self.minor = int(os.path.basename(self.commands).split("-")[1].split(".")[1])
        self.processes = {}
        self.fsync, self.flags, self.audited = fsync, list(flags), list(audited)
        self.audit = self.path("audit.log")
        self.etcd_port, self.peer_port, self.port = free_port(), free_port(), free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.token = secrets.token_hex(16)
        self.kubeconfig = self.path("kubeconfig")

    def path(self, name):
        return os.path.join(self.folder, name)

    def __enter__(self):
        try:
            self.make_certificates()
            self.write_kubeconfig()
            self.write_audit_policy()
            self.start_etcd()
            self.start_apiserver()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for name in list(self.processes):
            self.stop(name)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- certificates and access ----

    def openssl(self, *args):
        # An hour old, so that clients whose clock is behind can use them.
        done = subprocess.run([*clock("-1h"), "openssl", *args], check=False, cwd=self.folder, text=True, capture_output=True)
        if done.returncode:
            raise RuntimeError(f"openssl {' '.join(args)} failed: {done.stderr}")

    def sign(self, name, subject, extra):
        with open(self.path(name + ".ext"), "w", encoding="utf-8") as file:
            file.write(extra)
        self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj", subject)
        self.openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days",
                     "2", "-extfile", name + ".ext", "-out", name + ".crt")

    def make_certificates(self):
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.crt", "-days", "2",
                     "-subj", "/CN=test-ca")
        self.sign("server", "/CN=kube-apiserver", "subjectAltName=IP:127.0.0.1,IP:10.96.0.1,DNS:localhost\n")
        self.sign("admin", "/O=system:masters/CN=admin", "extendedKeyUsage=clientAuth\n")
        self.openssl("genrsa", "-out", "accounts.key", "2048")
        with open(self.path("tokens.csv"), "w", encoding="utf-8") as file:
            file.write(f'{self.token},admin,admin,"system:masters"\n')

    def write_kubeconfig(self, path=None, user=None, url=None):
        """With the administrator's client certificate, or with `user`, the user entry of a kubeconfig."""
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": url or self.url, "certificate-authority": self.path("ca.crt")}}],
            "users": [{"name": "test", "user": user or {"client-certificate": self.path("admin.crt"),
                                                        "client-key": self.path("admin.key")}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        }
        with open(path or self.kubeconfig, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return path or self.kubeconfig

    def write_audit_policy(self):
        if not self.audited:
            return
        with open(self.path("policy.json"), "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [
                {"level": "Metadata", "users": self.audited}, {"level": "None"}]}, file)
        self.flags += ["--audit-policy-file=policy.json", f"--audit-log-path={self.audit}"]

    # ---- processes ----

    def start(self, name, *args):
        with open(self.path(name + ".log"), "ab") as log:
            self.processes[name] = subprocess.Popen([os.path.join(self.commands, name), *args], stdout=log,
                                                    stderr=subprocess.STDOUT, cwd=self.folder)

    def stop(self, name, kill=False):
        process = self.processes.pop(name)
        if process.poll() is None:
            process.kill() if kill else process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def log(self, name, lines=15):
        with open(self.path(name + ".log"), encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-lines:])

    def start_etcd(self):
        client = f"http://127.0.0.1:{self.etcd_port}"
        peer = f"http://127.0.0.1:{self.peer_port}"
        self.start("etcd", "--data-dir", self.path("etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
                   "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster",
                   f"default={peer}", *([] if self.fsync else ["--unsafe-no-fsync"]))
        self.wait_for("etcd", f"{client}/health")

    def start_apiserver(self):
        self.start("kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self.etcd_port}", "--bind-address=127.0.0.1",
                   f"--secure-port={self.port}", "--endpoint-reconciler-type=none", "--tls-cert-file=server.crt",
                   "--tls-private-key-file=server.key", "--client-ca-file=ca.crt", "--token-auth-file=tokens.csv",
                   "--service-account-issuer=https://platoon.test", "--service-account-key-file=accounts.key",
                   "--service-account-signing-key-file=accounts.key", "--service-cluster-ip-range=10.96.0.0/16",
                   "--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount",
                   "--max-requests-inflight=3000", "--max-mutating-requests-inflight=1000", *self.flags)
        self.wait_for("kube-apiserver", f"{self.url}/readyz")

    def wait_for(self, name, url):
        context = ssl.create_default_context(cafile=self.path("ca.crt"))
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {self.token}"})
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with urllib.request.urlopen(request, timeout=5, context=context if url.startswith("https") else None):
                    return
            except (urllib.error.URLError, OSError) as error:
                if self.processes[name].poll() is not None:
                    raise RuntimeError(f"{name} ended:\n{self.log(name)}") from error
                if time.monotonic() > end:
                    raise RuntimeError(f"{name} is not ready after {PATIENCE} s: {error}\n{self.log(name)}") from error
            time.sleep(0.1)

    def kubectl(self, *args, text=None, check=True):
        answer = subprocess.run(["kubectl", "--kubeconfig", self.kubeconfig, *args], input=text, text=True, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and answer.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(args)}: {answer.stderr.strip()}")
        return answer
