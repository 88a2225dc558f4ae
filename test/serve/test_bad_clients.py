#!/usr/bin/env python3
"""Clients that are slow, broken or hostile: the server stays up, stays small, and goes on serving the others.

    test_bad_clients.py SERVER

After every attack a well-behaved client must get its answer quickly. The last line is `N passed, M failed`.
"""
import json
import os
import resource
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import warnings

SERVER = os.path.abspath(sys.argv[1])
warnings.simplefilter("ignore", DeprecationWarning)  # old protocols are tried on purpose
TESTS = []
PODS = "/api/v1/namespaces/default/pods"
MIB = 1 << 20


def test(function):
    TESTS.append(function)
    return function


CONNECTIONS = 10000


class Server:
    def __init__(self, folder, *options):
        env = dict(os.environ, ASAN_OPTIONS="detect_leaks=1:quarantine_size_mb=1:malloc_context_size=3")
        self.process = subprocess.Popen([SERVER, folder, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=env)
        self.url = self.process.stdout.readline().split()[1]
        scheme, _, address = self.url.partition("://")
        host, _, port = address.rpartition(":")
        self.address = (host, int(port))
        self.authority = os.path.join(folder, "ca.crt")
        self.tls = ssl.create_default_context(cafile=self.authority) if scheme == "https" else None
        with open(os.path.join(folder, "token"), encoding="utf-8") as file:
            self.token = file.read()

    def raw(self):
        return socket.create_connection(self.address, timeout=20)

    def connect(self):
        plain = self.raw()
        return self.tls.wrap_socket(plain, server_hostname=self.address[0]) if self.tls else plain

    def head(self, method, path, length=None, more=""):
        size = "" if length is None else f"Content-Length: {length}\r\n"
        return (f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n{size}{more}\r\n").encode()

    def ask(self, method, path, body=None, more=""):
        """One request on a connection of its own: status and body."""
        with self.connect() as sock:
            data = body.encode() if isinstance(body, str) else body
            sock.sendall(self.head(method, path, None if data is None else len(data), "Connection: close\r\n" + more))
            try:
                if data is not None:
                    sock.sendall(data)
            except OSError:
                pass  # refused before it was all sent: the answer says why
            return read_answer(sock)

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        self.process.terminate()
        assert self.process.wait(30) == 0, "the server did not end well"


def read_answer(sock):
    data = b""
    while True:
        try:
            piece = sock.recv(65536)
        except (ConnectionResetError, ssl.SSLError):
            break
        if not piece:
            break
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else 0, body


def status_of(answer):
    code, body = answer
    status = json.loads(body)
    assert status["kind"] == "Status" and status["code"] == code, status
    return code, status["reason"]


@test
def a_body_that_never_ends(server):
    before = server.memory()
    chunk = b"x" * MIB
    with server.connect() as sock:
        sock.sendall(server.head("POST", PODS, 100 * MIB))
        try:
            for _ in range(100):
                sock.sendall(chunk)
        except OSError:
            pass
        assert read_answer(sock)[0] in (0, 413)
    assert status_of(server.ask("POST", PODS, b"x" * (4 * MIB))) == (413, "RequestEntityTooLarge")
    assert server.memory() - before < 32 * MIB


@test
def a_body_in_endless_chunks(server):
    before = server.memory()
    with server.connect() as sock:
        sock.sendall(server.head("POST", PODS, None, "Transfer-Encoding: chunked\r\n"))
        piece = b"10000\r\n" + b"y" * 65536 + b"\r\n"
        try:
            for _ in range(1600):
                sock.sendall(piece)
        except OSError:
            pass
        assert read_answer(sock)[0] in (0, 413)
    assert server.memory() - before < 32 * MIB


@test
def deep_and_broken_json(server):
    for body in ("[" * 100000, "{\"a\":" * 100000 + "1" + "}" * 100000, "[" * 1000 + "]" * 1000):
        code, _ = status_of(server.ask("POST", PODS, body, "Content-Type: application/json\r\n"))
        assert code in (400, 413), code
    for body in ("", "{", "nul", "\x00", "[1,2", "{\"a\":1,\"a\":2}", "\ufeff{}", "\"\\ud800\"", "1e999999"):
        assert status_of(server.ask("POST", PODS, body, "Content-Type: application/json\r\n"))[0] in (400, 422)
    assert status_of(server.ask("POST", PODS, b"\xff\xfe\x00", "Content-Type: application/json\r\n"))[0] == 400
    for body in (b"k8s\x00", b"k8s\x00\x0a\xff\xff\xff\xff\x0f", b"k8s\x00" + b"\x0a\x02" * 5000, b"", b"k8t\x00"):
        assert status_of(server.ask("POST", PODS, body, "Content-Type: application/vnd.kubernetes.protobuf\r\n"))[0] == 400
    assert status_of(server.ask("POST", PODS, "a: &a [*a]", "Content-Type: application/yaml\r\n"))[0] in (400, 413, 422)
    assert status_of(server.ask("POST", PODS, "{}", "Content-Type: text/html\r\n"))[0] == 415


@test
def strangers(server):
    good = server.token
    for token in ("", "x", good[:-1], good + "x", good.upper(), "a" * 20000):
        server.token = token
        try:
            assert status_of(server.ask("GET", PODS)) == (401, "Unauthorized"), token[:80]
            assert status_of(server.ask("POST", PODS, "{}")) == (401, "Unauthorized")
            assert server.ask("GET", "/healthz") == (200, b"ok")
        finally:
            server.token = good


@test
def a_certificate_of_somebody_else(server):
    if not server.tls:
        return
    own = os.path.dirname(server.authority)
    with tempfile.TemporaryDirectory() as folder:
        other = Server(folder)
        other.stop()
        for directory, wanted in ((own, 200), (folder, 401)):
            context = ssl.create_default_context(cafile=server.authority)
            context.load_cert_chain(os.path.join(directory, "client.crt"), os.path.join(directory, "client.key"))
            with context.wrap_socket(server.raw(), server_hostname=server.address[0]) as sock:
                sock.sendall(f"GET {PODS} HTTP/1.0\r\n\r\n".encode())
                code, body = read_answer(sock)
                assert code == wanted, (code, body[:200])
        context = ssl.create_default_context(cafile=os.path.join(folder, "ca.crt"))
        try:
            context.wrap_socket(server.raw(), server_hostname=server.address[0])
            raise AssertionError("the server passed for another one")
        except ssl.SSLCertVerificationError:
            pass


@test
def old_protocols(server):
    if not server.tls:
        return
    context = ssl.create_default_context(cafile=server.authority)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    try:
        context.wrap_socket(server.raw(), server_hostname=server.address[0])
        raise AssertionError("TLS 1.1 was accepted")
    except (ssl.SSLError, ConnectionResetError):
        pass
    context = ssl.create_default_context(cafile=server.authority)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2", "http/1.1"])
    with context.wrap_socket(server.raw(), server_hostname=server.address[0]) as sock:
        assert sock.selected_alpn_protocol() == "http/1.1"
        sock.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert read_answer(sock) == (200, b"ok")


@test
def nonsense_instead_of_http(server):
    lines = [b"\x00" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"A" * 100000,
             b"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b"GET /%zz HTTP/1.0\r\n\r\n",
             b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 1000 + b"\r\n", b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\n\r\n",
             b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"]
    for line in lines:
        with server.connect() as sock:
            try:
                sock.sendall(line)
            except OSError:
                pass
            code, _ = read_answer(sock)
            assert code == 0 or 400 <= code < 506, (line[:40], code)
    if server.tls:
        with server.raw() as sock:
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert b"HTTPS" in sock.recv(1000)
        with server.raw() as sock:
            sock.sendall(b"\x16\x03\x01\x40\x00" + b"z" * 20000)
            try:
                while sock.recv(1000):
                    pass
            except ConnectionResetError:
                pass


@test
def half_requests(server):
    """Ten thousand connections that begin a request and say no more: more than there are places."""
    before, sockets = server.memory(), []
    good = server.connect()
    good.sendall(server.head("GET", "/api/v1/configmaps?watch=true&timeoutSeconds=120"))
    try:
        for i in range(CONNECTIONS):
            sock = server.raw()
            try:
                if not server.tls:
                    sock.sendall(b"GET /api/v1/pods HTTP/1.1\r\nX-Half: " + b"a" * (i % 500))
                elif i % 2:
                    sock.sendall(b"\x16\x03\x01\x02\x00")
            except ConnectionError:
                pass  # it made room for another one already
            sockets.append(sock)
            if i % 2000 == 1999:
                serves(server)
        places = 8192  # and 40 KiB for each, with what the sanitizer adds
        assert server.memory() - before < places * 40 * 1024, (server.memory() - before) / MIB
        # A watch that was there before is still there.
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "sign"}}
        assert server.ask("POST", "/api/v1/namespaces/default/configmaps", json.dumps(body))[0] == 201
        seen = b""
        while b'"sign"' not in seen:
            piece = good.recv(1 << 16)
            assert piece, "the watch ended"
            seen += piece
        assert server.ask("DELETE", "/api/v1/namespaces/default/configmaps/sign")[0] == 200
        good.close()
    finally:
        for sock in sockets:
            sock.close()


@test
def many_watches_and_slow_readers(server):
    """Watches that never read: events must not pile up in memory, and the ones who read get them all."""
    slow = []
    for _ in range(200):
        sock = server.connect()
        sock.sendall(server.head("GET", "/api/v1/configmaps?watch=true&timeoutSeconds=60"))
        slow.append(sock)
    good = server.connect()
    good.sendall(server.head("GET", "/api/v1/configmaps?watch=true&timeoutSeconds=60"))
    before = server.memory()
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "big"}, "data": {"k": "v" * 200000}}
    assert server.ask("POST", "/api/v1/namespaces/default/configmaps", json.dumps(body))[0] == 201
    seen, rounds = b"", 40
    for i in range(rounds):
        body["data"]["n"] = str(i)
        assert server.ask("PUT", "/api/v1/namespaces/default/configmaps/big", json.dumps(body))[0] == 200
    good.settimeout(10)
    while seen.count(b'"MODIFIED"') < rounds:
        piece = good.recv(1 << 20)
        assert piece, "the good watch ended"
        seen += piece
    assert server.memory() - before < 200 * MIB, (server.memory() - before) / MIB
    serves(server)
    for sock in [*slow, good]:
        sock.close()
    assert server.ask("DELETE", "/api/v1/namespaces/default/configmaps/big")[0] == 200


@test
def large_objects_that_change_often(server):
    """What is kept for watches is limited in bytes too."""
    if server.tls:
        return
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}, "data": {"k": "v" * 2900000}}
    assert server.ask("POST", "/api/v1/namespaces/default/configmaps", json.dumps(body))[0] == 201
    before = server.memory()
    for i in range(100):
        body["data"]["n"] = str(i)
        assert server.ask("PUT", "/api/v1/namespaces/default/configmaps/large", json.dumps(body))[0] == 200
    assert server.memory() - before < 300 * MIB, (server.memory() - before) / MIB
    assert server.ask("DELETE", "/api/v1/namespaces/default/configmaps/large")[0] == 200


@test
def large_answers_nobody_reads(server):
    for i in range(20):
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"s{i}"}, "data": {"k": "QUFB" * 100000}}
        assert server.ask("POST", "/api/v1/namespaces/default/secrets", json.dumps(body))[0] == 201
    before, sockets = server.memory(), []
    for _ in range(100):
        sock = server.connect()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(server.head("GET", "/api/v1/secrets"))
        sockets.append(sock)
    serves(server)
    assert server.memory() - before < 1100 * MIB, (server.memory() - before) / MIB
    code, answer = server.ask("GET", "/api/v1/secrets")
    assert code in (200, 429), answer[:200]
    for sock in sockets:
        sock.close()
    assert server.ask("DELETE", "/api/v1/namespaces/default/secrets")[0] == 200


@test
def connections_that_come_and_go(server):
    before = server.files()
    for i in range(500):
        sock = server.raw()
        if i % 3 == 0:
            sock.sendall(b"\x16\x03\x01" if server.tls else b"GET ")
        if i % 5 == 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        sock.close()
    serves(server)
    time.sleep(0.3)
    assert server.files() <= before + 5, (before, server.files())


def serves(server):
    """Somebody else is answered, and soon."""
    started = time.monotonic()
    assert server.ask("GET", "/version")[0] == 200
    assert server.ask("GET", PODS)[0] == 200
    assert time.monotonic() - started < 20, "too slow"


def main():
    global CONNECTIONS
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = hard if 0 < hard < 16384 else 16384
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    if files < CONNECTIONS + 500:
        CONNECTIONS = files - 500
        print(f"this process may have {files} files: {CONNECTIONS} connections instead of 10000")
    passed = failed = 0
    for options in ([], ["--plain"]):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(folder, *options)
            kind = "plain" if options else "TLS"
            for function in TESTS:
                try:
                    function(server)
                    serves(server)
                    passed += 1
                    print(f"ok {function.__name__}, {kind}")
                except (AssertionError, OSError, ValueError, IndexError) as error:
                    failed += 1
                    print(f"FAILED {function.__name__}, {kind}: {type(error).__name__} {str(error)[:500]}")
                sys.stdout.flush()
            try:
                server.stop()
                passed += 1
            except AssertionError as error:
                failed += 1
                print(f"FAILED the end, {kind}: {error}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(0 if passed and not failed else 1)


if __name__ == "__main__":
    main()
