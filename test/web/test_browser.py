#!/usr/bin/env python3
"""The dashboard in Chromium.

    test_browser.py PLATOON CROWD SHOTS [PART...]

Needs what `make deps` installs: Chromium, and playwright-core and axe-core of package-lock.json. Screenshots are left in the
folder SHOTS.
"""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def packages():
    """Where scripts/deps puts them for this lock file."""
    with open(os.path.join(HERE, "package-lock.json"), "rb") as file:
        lock = hashlib.sha256(file.read()).hexdigest()[:16]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "platoon", "web-" + lock)


def main():
    platoon, crowd, shots = (os.path.abspath(each) for each in sys.argv[1:4])
    folder, node = packages(), shutil.which("node")
    chromium = shutil.which("chromium")
    if not node or not chromium or not os.path.exists(os.path.join(folder, "complete")):
        print("node, chromium or the packages of test/web are not installed; run: make deps")
        sys.exit(1)
    os.makedirs(shots, exist_ok=True)
    examples = os.path.join(HERE, "../../examples")
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([node, os.path.join(HERE, "browser.mjs"), platoon, crowd, folder, examples, work, shots,
                               *sys.argv[4:]],
                              env=dict(os.environ, CHROMIUM=chromium), timeout=280, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
