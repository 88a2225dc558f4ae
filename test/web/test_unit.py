#!/usr/bin/env python3
"""Types and pure parts of the dashboard.

    test_unit.py ESBUILD [TSC]

Bundles unit.test.ts and hands it to the test runner of Node; with TSC the types are checked first.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WEB = os.path.join(HERE, "../../web")


def main():
    esbuild, tsc = sys.argv[1], sys.argv[2]
    types = subprocess.run([tsc, "-p", WEB], capture_output=True, text=True, check=False)
    passed, failed = int(types.returncode == 0), int(types.returncode != 0)
    sys.stderr.write(types.stdout)
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "unit.test.mjs")
        subprocess.run([esbuild, os.path.join(HERE, "unit.test.ts"), "--bundle", "--platform=node", "--format=esm",
                        "--log-level=warning", "--jsx=automatic", "--outfile=" + out],
                       env=dict(os.environ, NODE_PATH="/usr/share/nodejs"), check=True)
        done = subprocess.run([shutil.which("node"), "--test", "--test-reporter=tap", out], capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("# pass "):
            passed += int(line.split()[2])
        elif line.startswith("# fail "):
            failed += int(line.split()[2])
    if done.returncode:
        failed = max(failed, 1)
        sys.stderr.write(done.stdout + done.stderr)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
