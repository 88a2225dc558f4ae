#!/usr/bin/env python3
"""The official JavaScript client with an informer against a running server.

    test_informer.py SERVER

Starts the server and hands it to informer.mjs, which needs the client that `make deps` installs.
"""
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def client():
    """Where scripts/deps puts the client for this lock file."""
    with open(os.path.join(HERE, "package-lock.json"), "rb") as file:
        lock = hashlib.sha256(file.read()).hexdigest()[:16]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "platoon", "js-" + lock)


def main():
    folder, node = client(), shutil.which("node")
    if not node or not os.path.exists(os.path.join(folder, "complete")):
        print("node or the JavaScript client is not installed; run: make deps")
        sys.exit(1)
    with tempfile.TemporaryDirectory() as data:
        server = subprocess.Popen([os.path.abspath(sys.argv[1]), data], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = server.stdout.readline()
        try:
            assert line.startswith("ready "), f"the server did not start: {line!r}"
            entry = os.path.join(folder, "node_modules/@kubernetes/client-node/dist/index.js")
            done = subprocess.run([node, os.path.join(HERE, "informer.mjs"), entry, os.path.join(data, "kubeconfig")],
                                  timeout=150, check=False)
        finally:
            server.send_signal(signal.SIGTERM)
            status = server.wait(30)
        if status:
            print(f"the server ended with {status}")
        sys.exit(1 if status else done.returncode)


if __name__ == "__main__":
    main()
