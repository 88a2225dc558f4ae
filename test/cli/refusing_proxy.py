"""Plain HTTP in front of the API of `platoon up`, which refuses what a test says."""
import base64
import http.client
import http.server
import json
import os
import re
import ssl
import threading


class RefusingProxy:
    """`refused` is a part of the paths of writes that are answered with 403; None refuses nothing."""

    def __init__(self, folder, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as file:
            text = file.read()
        self.refused = None
        self.count = 0  # writes that were refused
        self.asked = []  # path and Accept of every GET
        self.host = re.search(r"server: https://(\S+)", text).group(1)
        self.tls = ssl.create_default_context()
        self.tls.check_hostname = False
        self.tls.verify_mode = ssl.CERT_NONE
        files = []
        for part in ("certificate", "key"):
            files.append(os.path.join(folder, "proxy." + part))
            with open(files[-1], "wb") as file:
                file.write(base64.b64decode(re.search(rf"client-{part}-data: (\S+)", text).group(1)))
        self.tls.load_cert_chain(*files)
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.forward(self)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass  # who asked is gone

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def kubeconfig(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"current-context": "x",
                       "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server.server_port}"}}],
                       "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                       "users": [{"name": "u", "user": {}}]}, file)
        return path

    def ask(self, method, path, body=None):
        """The document that the API itself answers with."""
        connection = http.client.HTTPSConnection(self.host, context=self.tls)
        connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def forward(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        if handler.command == "GET":
            self.asked.append((handler.path, handler.headers.get("Accept", "")))
        if self.refused and handler.command != "GET" and self.refused in handler.path:
            self.count += 1
            data = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403,
                               "reason": "Forbidden", "message": "refused by the test"}).encode()
            handler.send_response(403)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
            return
        connection = http.client.HTTPSConnection(self.host, context=self.tls)
        headers = {key: value for key, value in handler.headers.items()
                   if key.lower() not in ("host", "connection", "accept-encoding")}
        connection.request(handler.command, handler.path, body, headers)
        answer = connection.getresponse()
        handler.send_response(answer.status)
        handler.send_header("Content-Type", answer.getheader("Content-Type") or "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while data := answer.read1(65536):
            handler.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")
            handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")
        connection.close()
