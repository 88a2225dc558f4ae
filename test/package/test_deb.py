#!/usr/bin/env python3
"""The Debian package: what is in it, what lintian says, and that the program in it runs.

    test_deb.py SOURCE_ROOT

Builds it with scripts/deb into a temporary folder. The last line is `N passed, M failed`.
"""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(sys.argv[1])
RESULTS = []


def check(what, good, seen=""):
    RESULTS.append(bool(good))
    if not good:
        print(f"FAIL {what}: {str(seen)[-2000:]}")


def call(*args):
    return subprocess.run(args, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def main():
    with tempfile.TemporaryDirectory() as folder:
        made = call(os.path.join(ROOT, "scripts", "deb"), folder)
        check("it is built", made.returncode == 0, made.stdout)
        package = made.stdout.strip().splitlines()[-1]
        root = os.path.join(folder, "root")
        check("it can be unpacked", call("dpkg-deb", "-x", package, root).returncode == 0)
        names = call("dpkg-deb", "-c", package).stdout
        for path in ("usr/bin/platoon", "usr/share/bash-completion/completions/platoon", "usr/share/man/man1/platoon.1.gz",
                     "usr/share/zsh/vendor-completions/_platoon", "usr/share/fish/vendor_completions.d/platoon.fish",
                     "usr/share/doc/platoon/copyright"):
            check(f"{path} is in it", os.path.exists(os.path.join(root, path)), names)
        owners = [line for line in names.splitlines() if " root/root " not in line]
        check("all belongs to root", not owners, owners)
        depends = call("dpkg-deb", "-f", package, "Depends").stdout
        for library in ("libc6", "libcurl4", "libssl3", "libsqlite3-0", "libyyjson0", "libyaml-0-2"):
            check(f"it depends on {library}", library in depends, depends)
        version = call(os.path.join(root, "usr/bin/platoon"), "--version")
        check("it runs", version.returncode == 0 and version.stdout.split()[-1] == call(
            "dpkg-deb", "-f", package, "Version").stdout.strip(), version.stdout)
        if shutil.which("lintian"):
            words = call("lintian", "--allow-root", "--fail-on", "error,warning", package)
            check("lintian has nothing to say", words.returncode == 0, words.stdout)
    print(f"{sum(RESULTS)} passed, {len(RESULTS) - sum(RESULTS)} failed")
    return 0 if all(RESULTS) else 1


if __name__ == "__main__":
    sys.exit(main())
