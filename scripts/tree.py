"""What the check scripts share: which files belong to the project, and how a check reports."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def files(root):
    """Paths relative to root, sorted: what Git tracks or would track; without Git, everything outside build folders."""
    try:
        answer = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                                stdin=subprocess.DEVNULL, capture_output=True, check=True)
        found = [name for name in answer.stdout.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        found = []
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name != ".git" and not name.startswith("build")]
            found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(name for name in set(found) if os.path.isfile(os.path.join(root, name)))


def read_lines(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def finish(what, problems):
    """Prints every problem and ends the program: 0 when there is none."""
    for problem in problems:
        print(problem)
    if problems:
        print(f"{what}: {len(problems)} problem{'s' if len(problems) > 1 else ''}")
    sys.exit(1 if problems else 0)
