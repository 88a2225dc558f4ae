#!/usr/bin/env python3
"""The server side of the dashboard as a client meets it: who may what, what the files say, the stream, hostile requests.

    test_server.py PLATOON
"""
import gzip
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "../../examples")


class Up:
    """`platoon up` with a cluster of its own."""

    def __init__(self, program, folder):
        self.program = program
        self.process = subprocess.Popen([program, "up", "--in-memory", "--port", "0", "--data-dir", folder], stdout=subprocess.PIPE, text=True)
        self.url = ""
        while "/dashboard/" not in self.url:
            line = self.process.stdout.readline()
            assert line, "it ended"
            self.url = line
        self.port = int(self.url.split("127.0.0.1:")[1].split("/")[0])
        with open(os.path.join(folder, "read-only-token"), encoding="utf-8") as file:
            self.reader = file.read().strip()
        with open(os.path.join(folder, "token"), encoding="utf-8") as file:
            self.admin = file.read().strip()
        self.kubeconfig = os.path.join(folder, "kubeconfig")

    def connect(self, tls=False):
        plain = socket.create_connection(("127.0.0.1", self.port), 20)
        if not tls:
            return plain
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(plain)

    def ask(self, path, method="GET", token=None, body=b"", headers=(), tls=False):
        """Status, headers and body of one request."""
        with self.connect(tls) as sock:
            lines = [f"{method} {path} HTTP/1.1", "Host: x", "Connection: close", *headers]
            if token:
                lines.append("Authorization: Bearer " + token)
            if body or method == "POST":
                lines.append(f"Content-Length: {len(body)}")
            sock.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
            data = b""
            while piece := sock.recv(65536):
                data += piece
        head, _, rest = data.partition(b"\r\n\r\n")
        status, *fields = head.decode("latin-1").split("\r\n")
        found = {key.lower(): value for key, _, value in (field.partition(": ") for field in fields)}
        if found.get("transfer-encoding") == "chunked":
            rest = unchunk(rest)
        return int(status.split()[1]), found, rest

    def kubectl(self, *args, stdin=None):
        subprocess.run(["kubectl", *args], env=dict(os.environ, KUBECONFIG=self.kubeconfig), check=True, stdout=subprocess.DEVNULL, input=stdin, text=True)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def unchunk(data):
    out = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        out += data[:length]
        data = data[length + 2:]
    return out


DATA = "/dashboard/data/"


def check_files(up):
    status, head, body = up.ask("/dashboard/")
    assert status == 200 and b"<title>Platoon" in body
    assert "default-src 'none'" in head["content-security-policy"] and "unsafe" not in head["content-security-policy"]
    assert head["x-content-type-options"] == "nosniff"
    assert up.ask("/dashboard")[0] == 301
    assert up.ask("/dashboard/", headers=[f"If-None-Match: {head['etag']}"])[0] == 304
    assert up.ask("/dashboard/", method="HEAD")[2] == b""
    for name in ("app.js", "app.css", "icon.svg"):
        plain, packed = up.ask("/dashboard/" + name), up.ask("/dashboard/" + name, headers=["Accept-Encoding: gzip"])
        assert plain[0] == packed[0] == 200 and gzip.decompress(packed[2]) == plain[2], name
        assert b"https://" not in plain[2].replace(b"https://reactjs.org", b""), f"{name} names another server"


def check_access(up):
    """Files for everybody, data for tokens, the API not at all without TLS."""
    for tls in (False, True):
        assert up.ask("/dashboard/", tls=tls)[0] == 200
        for path in ("snapshot", "stream?epoch=x&since=0", "what-if", "nothing"):
            assert up.ask(DATA + path, tls=tls)[0] == 401, path
            assert up.ask(DATA + path, tls=tls, token="wrong")[0] == 401, path
        assert up.ask(DATA + "snapshot", tls=tls, token=up.reader)[0] == 200
        assert up.ask(DATA + "snapshot", tls=tls, token=up.admin)[0] == 200
        assert up.ask(DATA + "what-if", "POST", up.reader, b"{}", tls=tls)[0] == 200
    for path in ("/api/v1/nodes", "/", "/metrics", "/version", "/healthz", "/dashboardx", "/apis"):
        assert up.ask(path, token=up.admin)[0] == 400, path
    assert up.ask("/api/v1/nodes", token=up.reader, tls=True)[0] == 200
    assert up.ask("/api/v1/namespaces", "POST", up.reader, b"{}", tls=True)[0] == 403


def check_methods(up):
    for path, method, wanted in (("/dashboard/", "POST", 405), ("/dashboard/app.js", "DELETE", 405), (DATA + "snapshot", "POST", 405),
                                 (DATA + "snapshot", "PUT", 405), (DATA + "what-if", "GET", 405), (DATA + "none", "GET", 404),
                                 ("/dashboard/../api", "GET", 404), ("/dashboard/%2e%2e/x", "GET", 404), ("/dashboard/none", "GET", 404)):
        assert up.ask(path, method, up.reader)[0] == wanted, (path, method)
    assert up.ask(DATA + "what-if", "POST", up.reader, b"#" * (1 << 20) + b"##")[0] == 413


def check_queries(up):
    """A stream begins where it is told, or says that it cannot; nothing else."""
    snapshot = json.loads(up.ask(DATA + "snapshot", token=up.reader)[2])
    epoch = snapshot["epoch"]
    bad = ["", "?", "?since=1", f"?epoch={epoch}", f"?epoch={epoch}&since=", f"?epoch={epoch}&since=-1", f"?epoch={epoch}&since=1x",
           f"?epoch={epoch}&since=99999999999999999999999", "?epoch=%zz&since=1", f"?epoch={epoch}&since=%00", "?" + "a=b&" * 200, "?since=1&epoch"]
    for query in bad:
        assert up.ask(DATA + "stream" + query, token=up.reader)[0] in (400, 410), query
    for query in (f"?epoch=other&since={snapshot['seq']}", f"?epoch={epoch}&since={snapshot['seq'] + 1000}"):
        assert up.ask(DATA + "stream" + query, token=up.reader)[0] == 410, query
    assert up.ask(DATA + "stream?epoch=" + "e" * 100000, token=up.reader)[0] in (414, 431)


class Stream:
    """A reader of changes."""

    def __init__(self, up, snapshot):
        self.socket = up.connect()
        self.socket.sendall(f"GET {DATA}stream?epoch={snapshot['epoch']}&since={snapshot['seq']} HTTP/1.1\r\nHost: x\r\n"
                            f"Authorization: Bearer {up.reader}\r\n\r\n".encode())
        self.text = b""

    def records(self, enough, seconds=30):
        """All records until `enough` says so."""
        end, seen = time.monotonic() + seconds, []
        while time.monotonic() < end:
            self.text += self.socket.recv(65536)
            while (at := self.text.find(b"}]}\n\n")) >= 0:
                piece, self.text = self.text[:at + 3], self.text[at + 5:]
                seen += json.loads(piece[piece.index(b"data: ") + 6:].replace(b"\r\n", b""))["records"]
            if enough(seen):
                return seen
        raise AssertionError(f"not enough: {seen[-3:]}")


def check_stream(up):
    snapshot = json.loads(up.ask(DATA + "snapshot", token=up.reader)[2])
    assert sum(record["k"] == "n" for record in snapshot["records"]) == 8
    stream = Stream(up, snapshot)
    up.kubectl("apply", "-f", os.path.join(EXAMPLES, "up-gang.yaml"))
    seen = stream.records(lambda list_: sum(record.get("ok", 0) for record in list_) >= 4)
    assert any(record["k"] == "g" and record["n"] == "default/pretrain" and record.get("phase") == "Running" for record in seen)
    # The same as a snapshot now: what a late reader sees is what one that was there has put together.
    state = {(record["k"], record["n"]): record for record in snapshot["records"]}
    later = json.loads(up.ask(DATA + "snapshot", token=up.reader)[2])
    truth = {(record["k"], record["n"]): record for record in later["records"]}
    for record in seen + ([] if later["seq"] == snapshot["seq"] else stream_rest(stream, truth, state, seen)):
        state[(record["k"], record["n"])] = record
    assert {key: record for key, record in state.items() if not record.get("gone")} == truth
    up.kubectl("delete", "-f", os.path.join(EXAMPLES, "up-gang.yaml"), "--wait=false")
    stream.records(lambda list_: any(record.get("gone") and record["n"] == "default/pretrain-3" for record in list_))
    stream.socket.close()


def stream_rest(stream, truth, state, seen):
    """What is still on its way when the snapshot was taken a little later."""
    merged = {**state, **{(record["k"], record["n"]): record for record in seen}}
    missing = [key for key, record in truth.items() if merged.get(key) != record]
    return stream.records(lambda list_: all(any((r["k"], r["n"]) == key and r == truth[key] for r in list_) for key in missing)) if missing else []


def check_what_if(up):
    def ask(text):
        status, _, body = up.ask(DATA + "what-if", "POST", up.reader, text if isinstance(text, bytes) else text.encode())
        assert status == 200, body
        return json.loads(body)

    with open(os.path.join(EXAMPLES, "up-gang.yaml"), encoding="utf-8") as file:
        answer = ask(file.read())
    assert answer["problems"] == [] and answer["groups"][0]["state"] == "Placed" and len(answer["pods"]) == 4
    with open(os.path.join(EXAMPLES, "up-impossible.yaml"), encoding="utf-8") as file:
        answer = ask(file.read())
    assert answer["groups"][0]["state"] == "Never" and any(reason["domain"] for reason in answer["groups"][0]["why"])
    # A service as it would roll out here: what has no place keeps the next segment from being made.
    with open(os.path.join(EXAMPLES, "rbg-segments.yaml"), encoding="utf-8") as file:
        service = file.read()
    answer = ask(service)
    assert len(answer["pods"]) == 9 and not answer["problems"], answer
    answer = ask(service.replace("nvidia.com/gpu: 1", "nvidia.com/gpu: 100"))
    assert [group["state"] for group in answer["groups"]] == ["Never"] * 2 and answer["pods"] == [], answer
    assert any("rbg/chat: 0/3 segments, 0/9 pods come up" in problem["message"] for problem in answer["problems"]), answer
    # A single pod is placed by what the workload above it says, pasted or in the cluster.
    deployment = ("{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: default, labels: {kai.scheduler/queue: nowhere}}, spec: "
                  "{replicas: 1, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {schedulerName: platoon, "
                  "containers: [{name: c, image: i}]}}}}")
    answer = ask(deployment % "pasted")
    assert "nowhere" in json.dumps(answer["groups"]), answer
    up.kubectl("apply", "-f", "-", stdin="---\n" + deployment % "there")
    pod = ("{apiVersion: v1, kind: Pod, metadata: {name: more, namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: there, "
           "controller: true}]}, spec: {schedulerName: platoon, containers: [{name: c, image: i}]}}")
    answer = ask(pod)
    assert "nowhere" in json.dumps(answer["groups"]), answer
    up.kubectl("delete", "deployment", "there")
    for text in ("", " ", "a: [", "{", "[]", "null", "\0", b"\xff\xfe", "kind: Pod", "kind: List\nitems: 3", "---\n---\n", "a: &a [*a]", "- - - -" * 500,
                 '{"kind":"PodGroup","apiVersion":"scheduling.run.ai/v2alpha2","metadata":{"name":"x"},"spec":{"minMember":-1}}',
                 '{"kind":"PodGroup","apiVersion":"scheduling.run.ai/v2alpha2","metadata":{"name":3},"spec":[]}', "[" * 5000):
        answer = ask(text)
        assert answer["problems"] or answer.get("groups") == [], text[:60]
    # An answer that is larger than what may wait for a reader.
    pod = """- {apiVersion: v1, kind: Pod, metadata: {name: p%d}, spec: {schedulerName: platoon, containers: [{name: c, resources: {limits: {nvidia.com/gpu: 9}}}]}}"""
    answer = ask("apiVersion: v1\nkind: List\nitems:\n" + "\n".join(pod % i for i in range(2500)))
    assert len(answer["groups"]) == 2500 and len(json.dumps(answer)) > 1 << 20
    assert up.process.poll() is None


def check_slow_reader(up):
    """One that never reads costs a bounded amount and does not hold up others."""
    snapshot = json.loads(up.ask(DATA + "snapshot", token=up.reader)[2])
    slow = Stream(up, dict(snapshot, seq=0))
    quick = Stream(up, snapshot)
    up.kubectl("label", "nodes", "--all", "example.com/rack=moved", "--overwrite")
    quick.records(lambda list_: sum(record["k"] == "n" for record in list_) >= 8)
    quick.socket.close()
    slow.socket.close()
    assert up.ask(DATA + "snapshot", token=up.reader)[0] == 200


def check_run(up):
    """The dashboard of `platoon run` beside its metrics: the same, with a token of its own."""
    for chosen in ("", "0123456789abcdef"):
        run = subprocess.Popen([up.program, "run", "--kubeconfig", up.kubeconfig, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                               text=True, env=dict(os.environ, PLATOON_DASHBOARD_TOKEN=chosen))
        try:
            line = ""
            while "dashboard on" not in line:
                line = run.stdout.readline()
                assert line, "it ended"
            assert ("#token=" in line) == (not chosen), line
            token = chosen or line.strip().split("#token=")[1]
            other = Up.__new__(Up)
            other.port = int(line.split("127.0.0.1:")[1].split("/")[0])
            assert other.ask("/dashboard/")[0] == 200 and other.ask("/metrics")[0] == 200
            for wrong in (None, "x", up.reader, up.admin):
                assert other.ask(DATA + "snapshot", token=wrong)[0] == 401, wrong
            end = time.monotonic() + 30
            nodes = 0
            while nodes != 8 and time.monotonic() < end:
                records = json.loads(other.ask(DATA + "snapshot", token=token)[2])["records"]
                nodes = sum(record["k"] == "n" for record in records)
            assert nodes == 8, nodes
            assert other.ask(DATA + "what-if", "POST", token, b"kind: Pod")[0] == 200
        finally:
            run.send_signal(signal.SIGTERM)
            status = run.wait(30)
        assert status == 0, status


def main():
    checks = [check_files, check_access, check_methods, check_queries, check_stream, check_what_if, check_slow_reader, check_run]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        up = Up(os.path.abspath(sys.argv[1]), folder)
        for check in checks:
            try:
                check(up)
            except (AssertionError, OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"{check.__name__}: {type(error).__name__} {error}", file=sys.stderr)
        if up.end():
            failed += 1
            print("the server did not end well", file=sys.stderr)
    print(f"{len(checks) + 1 - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
