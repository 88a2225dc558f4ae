"""A server under test and a kubectl that talks to it from a private home directory."""
import contextlib
import json
import os
import signal
import subprocess

from harness import KUBECTL


class Cluster:
    """Any API server. `kubeconfig` is the administrator's."""

    release = admin = None  # what it calls itself, and whom it takes us for
    embedded = False

    def __init__(self, folder, kubeconfig):
        self.folder = folder
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "KUBECONFIG": kubeconfig}
        self.namespace = "default"

    def command(self, args):
        namespace = [] if "-n" in args or "-A" in args else ["-n", self.namespace]
        return [KUBECTL, *namespace, *args]

    def run(self, *args, text=None, env=None):
        return subprocess.run(self.command(args), input=text, capture_output=True, text=True, timeout=60, cwd=self.folder,
                              env=dict(self.env, **(env or {})), check=False)

    def ok(self, *args, out=(), err=(), text=None, env=None):
        """Runs, wants success and every given text; returns standard output."""
        return self.want(0, *args, out=out, err=err, text=text, env=env).stdout

    def fails(self, *args, err=(), out=(), text=None, code=1):
        return self.want(code, *args, out=out, err=err, text=text)

    def want(self, code, *args, out=(), err=(), text=None, env=None):
        done = self.run(*args, text=text, env=env)
        shown = f"kubectl {' '.join(args)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.returncode == code, f"{shown}\nwanted exit {code}"
        for wanted, stream in ((out, done.stdout), (err, done.stderr)):
            for part in [wanted] if isinstance(wanted, str) else wanted:
                assert part in stream, f"{shown}\nwanted {part!r}"
        return done

    def get(self, *args):
        return json.loads(self.ok("get", *args, "-o", "json"))

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return path

    def background(self, *args):
        return subprocess.Popen(self.command(args), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env=self.env, cwd=self.folder)

    def skips(self, why):
        """Whether the rest of a test is left out on this server; says why."""
        if self.embedded:
            return False
        print(f"# {self.namespace}: left out on the real API server: {why}")
        return True


class Embedded(Cluster):
    """Our own server, started for the test."""

    release = "v1.32"
    admin = "platoon-admin"
    embedded = True

    def __init__(self, server, folder, *options):
        self.server = server
        self.data = os.path.join(folder, "data")
        super().__init__(folder, os.path.join(self.data, "kubeconfig"))
        server_env = dict(os.environ)
        server_env.setdefault("ASAN_OPTIONS", "detect_leaks=1")
        self.process = subprocess.Popen([server, self.data, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=server_env)
        line = self.process.stdout.readline()
        assert line.startswith("ready "), f"the server did not start: {line!r}"
        self.url = line.split()[1]

    def kubelets(self):
        """While it is open, what is bound is played by kubelets; here the server does without."""
        return contextlib.nullcontext()

    def delete_namespace(self, name):
        self.ok("delete", "ns", name, out="deleted")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(20)
        assert status == 0, f"the server ended with {status}"
