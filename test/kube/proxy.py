"""A proxy in front of the API server that misbehaves on request: it delays, swallows and cuts connections, and answers
instead of the server. It ends TLS on both sides; credentials are those of the client's own requests.

    with Proxy(plane, seed=1) as proxy: proxy.delay = 0.1
"""
import random
import select
import socket
import ssl
import threading
import time

BUSY = (b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 99\r\n\r\n"
        b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429       }')
assert len(BUSY.split(b"\r\n\r\n")[1]) == 99
CONFLICT = (b"HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: 92\r\n\r\n"
            b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409       }')
assert len(CONFLICT.split(b"\r\n\r\n")[1]) == 92


def receive(end):
    """What is there; None when that was not for us (TLS has messages of its own), nothing at the end."""
    end.settimeout(0)
    try:
        return end.recv(65536)
    except (ssl.SSLWantReadError, BlockingIOError):
        return None
    finally:
        end.settimeout(None)


class Proxy:
    def __init__(self, plane, seed):
        self.plane, self.random = plane, random.Random(seed)
        self.delay = 0       # seconds before a request is passed on
        self.silent = False  # nothing is passed on, in neither direction
        self.closed = False  # new connections are closed at once
        self.busy = 0        # share of requests that is answered with 429
        self.contested = None  # a set: the first write of each method to each kind is answered with 409 and noted in it
        self.pace = 0        # seconds from one binding to the next
        self.seen = None     # a list: the line of each request that comes
        # Method, part of a path, part of a body, and how many of these pass: from the next on nothing does any more.
        self.stop_at = None
        self.stopped = threading.Event()
        self.refused = {}    # request -> when it was last answered so
        self.too_soon = []   # request lines that came again before Retry-After was over
        self.answered_busy = self.passed = 0
        self.lock, self.pace_lock = threading.Lock(), threading.Lock()
        self.pairs = set()
        self.open = True

    def __enter__(self):
        self.server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server_context.load_cert_chain(self.plane.path("server.crt"), self.plane.path("server.key"))
        self.client_context = ssl.create_default_context(cafile=self.plane.path("ca.crt"))
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.open = False
        self.listener.close()
        self.cut()

    def kubeconfig(self, user):
        return self.plane.write_kubeconfig(self.plane.path(f"kubeconfig-proxy-{self.port}"), user, self.url)

    def cut(self, share=1.0):
        """Ends connections without a word."""
        with self.lock:
            chosen = [pair for pair in self.pairs if self.random.random() < share]
        for pair in chosen:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def accept(self):
        while self.open:
            try:
                raw, _ = self.listener.accept()
            except OSError:
                return
            if self.closed:
                raw.close()
                continue
            threading.Thread(target=self.serve, args=(raw,), daemon=True).start()

    def serve(self, raw):
        pair = None
        try:
            raw.settimeout(30)
            client = self.server_context.wrap_socket(raw, server_side=True)
            server = self.client_context.wrap_socket(
                socket.create_connection(("127.0.0.1", self.plane.port), timeout=10), server_hostname="127.0.0.1")
            client.settimeout(None)
            server.settimeout(None)
            pair = (client, server)
            with self.lock:
                self.pairs.add(pair)
            self.relay(client, server)
        except (OSError, ValueError):
            pass
        finally:
            if pair:
                with self.lock:
                    self.pairs.discard(pair)
            for end in pair or (raw,):
                end.close()

    def hold(self):
        while self.silent and self.open:
            time.sleep(0.02)

    def is_refused(self, line, body):
        """Requests come one at a time on a connection, so that an answer of our own fits in between."""
        now = time.monotonic()
        key = (line, body)
        with self.lock:
            if now - self.refused.pop(key, -9) < 0.95:
                self.too_soon.append(line.decode())
            if b"watch=true" in line or self.random.random() >= self.busy:
                self.passed += 1
                return False
            self.refused[key] = now
            self.answered_busy += 1
            return True

    def check_stop(self, line, body):
        """A request that is held back here never arrives, nor does any after it."""
        with self.lock:
            if self.stop_at and not self.stopped.is_set():
                method, part, content, left = self.stop_at
                text = line.decode()
                if text.startswith(method + " ") and part in text and content in body.decode(errors="replace"):
                    self.stop_at = (method, part, content, left - 1)
                    if left == 0:
                        self.stopped.set()
            if self.stopped.is_set():
                raise OSError("stopped")

    def is_contested(self, line):
        method, path = line.decode().split(" ")[:2]
        if self.contested is None or method == "GET":
            return False
        parts = [part for part in path.split("?")[0].split("/") if part]
        parts = parts[3 if parts[0] == "apis" else 2:]
        if parts[0] == "namespaces" and len(parts) > 2:
            parts = parts[2:]
        what = (method, parts[0], *parts[2:])
        # What a group owns would be created all the same, for a garbage collector that is not there; the queue that a
        # cluster gets is made at the start only.
        if what in (("POST", "rolebasedgroups"), ("POST", "queues")):
            return False
        with self.lock:
            if what in self.contested:
                return False
            self.contested.add(what)
            return True

    def relay(self, client, server):
        """One thread for both directions: a TLS connection must not be read and written at the same time."""
        data = b""
        while self.open:
            ready = [end for end in (client, server) if end.pending()] or select.select((client, server), (), (), 1)[0]
            if server in ready:
                answer = receive(server)
                if answer == b"":
                    return
                self.hold()
                client.sendall(answer or b"")
            if client in ready:
                more = receive(client)
                if more == b"":
                    return
                data = self.requests(data + (more or b""), client, server)

    def requests(self, data, client, server):
        """Passes on what is complete; the rest."""
        while b"\r\n\r\n" in data:
            head, rest = data.split(b"\r\n\r\n", 1)
            lines = head.split(b"\r\n")
            length = next((int(line.split(b":")[1]) for line in lines[1:] if line.lower().startswith(b"content-length:")), 0)
            if len(rest) < length:
                break
            body, data = rest[:length], rest[length:]
            if self.seen is not None:
                self.seen.append(lines[0].decode())
            self.hold()
            self.check_stop(lines[0], body)
            if self.delay:
                time.sleep(self.delay * (0.5 + self.random.random()))
            if self.pace and b"/binding" in lines[0]:
                with self.pace_lock:
                    time.sleep(self.pace)
            if self.is_contested(lines[0]):
                client.sendall(CONFLICT)
            elif self.is_refused(lines[0], body):
                client.sendall(BUSY)
            else:
                server.sendall(head + b"\r\n\r\n" + body)
        return data
