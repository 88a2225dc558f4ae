"""The least of an API server, in the process of a test: empty lists, watches that say nothing, one Lease, and writes that
are answered when the test says so."""
import http.server
import json
import re
import threading

KINDS = {"nodes": "Node", "pods": "Pod", "namespaces": "Namespace", "persistentvolumes": "PersistentVolume",
         "persistentvolumeclaims": "PersistentVolumeClaim", "services": "Service", "configmaps": "ConfigMap",
         "replicationcontrollers": "ReplicationController"}


class FakeApi:
    def __init__(self):
        self.lock = threading.Condition()
        self.lease = None
        self.leases = []  # watches of the lease: files to write to
        self.version = 10
        self.writes = []  # "METHOD path body", as they came
        self.log = []  # the same, and "answered METHOD path body" before the answer is sent
        self.held = None  # a part of the path of writes that are not answered yet
        self.queue = None
        self.refused = {}  # part of a path: how many writes there are refused
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, code, body):
                data = json.dumps(body).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                outer.get(self)

            def do_POST(self):
                outer.write(self)

            do_PUT = do_PATCH = do_DELETE = do_POST

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass  # who asked did not wait for the answer

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.lock:
            self.held = None
            self.lock.notify_all()
        self.server.shutdown()
        self.server.server_close()

    def kubeconfig(self, path, user=None):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"current-context": "x", "clusters": [{"name": "c", "cluster": {"server": self.url}}],
                       "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                       "users": [{"name": "u", "user": user or {}}]}, file)
        return path

    # ---- reading ----

    def get(self, handler):
        path, _, query = handler.path.partition("?")
        if "watch=true" in query:
            self.watch(handler, path, int(re.search(r"resourceVersion=(\d+)", query).group(1)))
            return
        resource = path.rsplit("/", 1)[1]
        with self.lock:
            items = [self.lease] if self.lease and resource == "leases" else []
            if resource == "namespaces":
                items = [{"metadata": {"name": "default", "uid": "uid-default", "resourceVersion": "1"}}]
            if "/leases/" in path:
                handler.answer(200 if self.lease else 404, self.lease or {"kind": "Status", "code": 404})
                return
            if path.rsplit("/", 2)[1] == "queues":
                self.answer_queue(handler)
                return
            handler.answer(200, {"kind": KINDS.get(resource, "Any") + "List",
                                 "metadata": {"resourceVersion": str(self.version)}, "items": items})

    def watch(self, handler, path, since):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        if path.endswith("/leases"):
            with self.lock:
                self.leases.append(handler.wfile)
                # What happened between the list and this watch.
                if self.lease and int(self.lease["metadata"]["resourceVersion"]) > since:
                    self.send_lease(handler.wfile, "MODIFIED")
        handler.wfile.flush()
        threading.Event().wait(300)  # the thread ends with the process

    # ---- writing ----

    def write(self, handler):
        text = handler.rfile.read(int(handler.headers.get("Content-Length", 0))).decode()
        with self.lock:
            write = f"{handler.command} {handler.path} {text}"
            self.writes.append(write)
            self.log.append(write)
            self.lock.notify_all()
            while self.held and self.held in handler.path:
                self.lock.wait(60)
            self.log.append("answered " + write)
            for part, left in self.refused.items():
                if part in handler.path and left > 0:
                    self.refused[part] -= 1
                    handler.answer(403, {"kind": "Status", "code": 403, "message": "not allowed"})
                    return
            body = json.loads(text) if text else {}
            if "/leases" in handler.path:
                self.write_lease(handler, body)
                return
            if "/queues/" in handler.path:  # what is written to it does not matter here
                self.answer_queue(handler)
                return
            self.version += 1
            body.setdefault("metadata", {}).update({"resourceVersion": str(self.version), "uid": f"uid-{self.version}"})
            if "/queues" in handler.path:
                self.queue = body
            handler.answer(201 if handler.command == "POST" else 200, body)

    def answer_queue(self, handler):
        handler.answer(200 if self.queue else 404, self.queue or {"kind": "Status", "code": 404})

    def write_lease(self, handler, body):
        old = self.lease["metadata"]["resourceVersion"] if self.lease else None
        if body["metadata"].get("resourceVersion") != old:
            handler.answer(409, {"kind": "Status", "code": 409, "reason": "Conflict"})
            return
        self.version += 1
        body["metadata"].update({"resourceVersion": str(self.version), "uid": "uid-lease"})
        kind = "MODIFIED" if self.lease else "ADDED"
        self.lease = body
        for file in self.leases:
            try:
                self.send_lease(file, kind)
            except OSError:
                pass  # its reader is gone
        handler.answer(200, body)

    def send_lease(self, file, kind):
        event = json.dumps({"type": kind, "object": self.lease}).encode() + b"\n"
        file.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        file.flush()

    def wait_for(self, check, what):
        """Until check(writes) is true."""
        with self.lock:
            assert self.lock.wait_for(lambda: check(self.writes), 60), f"{what}: {self.writes}"

    def release(self):
        with self.lock:
            self.held = None
            self.lock.notify_all()
