"""Calls of the program from the source folder, and what they must answer."""
import os
import subprocess
import sys
import tempfile

PLATOON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PATIENCE = 120  # seconds until something that should happen counts as never
FOLDER = tempfile.TemporaryDirectory()  # goes with this process
SCRATCH = FOLDER.name
GROUP = """apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: %s}
spec: {%s}
---
"""


def run(*args, text=None, env=None):
    """Exit code, standard output and standard error of one call from the source folder."""
    environment = dict(os.environ, **(env or {}))
    done = subprocess.run([PLATOON, *args], cwd=ROOT, input=text, capture_output=True, text=True, timeout=PATIENCE,
                          env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


def expect(code, *args, out="", err="", text=None):
    """Runs and checks the exit code and that every given text (or list of texts) appears."""
    got, stdout, stderr = run(*args, text=text)
    assert got == code, f"{args}: exit {got}, wanted {code}\n{stdout}{stderr}"
    for wanted, stream in ((out, stdout), (err, stderr)):
        for part in [wanted] if isinstance(wanted, str) else wanted:
            assert part in stream, f"{args}: {part!r} is not in:\n{stream}"
    return stdout


def scratch(name, content):
    path = os.path.join(SCRATCH, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)
    return path
