#!/usr/bin/env python3
"""The container image: what is in it, and that the program in it works without anything of this machine.

    test_image.py SOURCE_ROOT

Builds it with scripts/image into a temporary folder. Needs root, or user namespaces, to change its root. The last line is
`N passed, M failed`.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(sys.argv[1])
RESULTS = []


def check(what, good, seen=""):
    RESULTS.append(bool(good))
    if not good:
        print(f"FAIL {what}: {str(seen)[-2000:]}")


def call(*args, **options):
    return subprocess.run(args, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def inside(root, *args):
    """A command that runs with the image as its whole file system, as the user of the image."""
    if os.geteuid() == 0:
        return ["chroot", "--userspec=65532:65532", root, "/usr/bin/platoon", *args]
    return ["unshare", "--map-root-user", "chroot", root, "/usr/bin/platoon", *args]


def test_config(layout):
    with open(os.path.join(layout, "index.json"), encoding="utf-8") as file:
        index = json.load(file)

    def blob(descriptor):
        kind, digest = descriptor["digest"].split(":")
        with open(os.path.join(layout, "blobs", kind, digest), encoding="utf-8") as file:
            return json.load(file)
    config = blob(blob(index["manifests"][0])["config"])
    check("it is not root", config["config"]["User"] == "65532:65532", config)
    check("its entry point", config["config"]["Entrypoint"] == ["/usr/bin/platoon"], config)
    check("one tag", len(index["manifests"]) == 1, index)


def test_files(root):
    files = [os.path.relpath(os.path.join(base, name), root) for base, _, names in os.walk(root) for name in names]
    programs = [name for name in files if "/bin/" in "/" + name or "/sbin/" in "/" + name]
    check("one program", programs == ["usr/bin/platoon"], programs)
    rest = [name for name in files if ".so" not in name and name not in (
        "usr/bin/platoon", "etc/passwd", "etc/group", "etc/nsswitch.conf", "etc/ssl/certs/ca-certificates.crt")]
    check("libraries and a few files, nothing else", not rest, rest)
    loose = [name for name in files if os.stat(os.path.join(root, name)).st_mode & 0o6022]
    check("no file is writable by others or sets a user", not loose, loose)


def test_program(root, platoon, folder):
    version = call(*inside(root, "--version"))
    check("it runs", version.returncode == 0 and version.stdout == call(platoon, "--version").stdout, version.stdout)
    check("it installs", call(*inside(root, "install")).stdout == call(platoon, "install").stdout)
    # TLS, name look-up and everything else that only shows at run time: as a client of a cluster.
    with open(os.path.join(folder, "up.log"), "wb") as log:
        up = subprocess.Popen([platoon, "up", "--in-memory", "--data-dir", folder + "/d", "--port", "0"], stdout=log,
                              stderr=subprocess.STDOUT)
    run = None
    try:
        config = os.path.join(folder, "d", "kubeconfig")
        end = time.monotonic() + 60
        while not os.path.exists(config) and time.monotonic() < end:
            time.sleep(0.1)
        with open(config, encoding="utf-8") as source, open(root + "/kubeconfig", "w", encoding="utf-8") as target:
            target.write(source.read())
        os.chmod(root + "/kubeconfig", 0o644)
        path = os.path.join(folder, "run.log")
        with open(path, "wb") as log:
            run = subprocess.Popen(inside(root, "run", "--kubeconfig", "/kubeconfig", "--listen", "none"), stdout=log,
                                   stderr=subprocess.STDOUT, cwd="/")
        seen = ""
        while "connected to" not in seen and time.monotonic() < end and run.poll() is None:
            time.sleep(0.1)
            with open(path, encoding="utf-8") as log:
                seen = log.read()
        check("it connects to a cluster", "connected to" in seen, seen)
        run.terminate()
        check("it ends by itself", run.wait(30) == 0)
    finally:
        for process in (run, up):
            if process and process.poll() is None:
                process.kill()
            if process:
                process.wait()


def main():
    with tempfile.TemporaryDirectory() as folder:
        layout = os.path.join(folder, "image")
        made = call(os.path.join(ROOT, "scripts", "image"), layout)
        check("it is built", made.returncode == 0, made.stdout)
        if made.returncode == 0:
            print(made.stdout.strip())
            test_config(layout)
            platoon = os.path.join(ROOT, "build", "src", "cli", "platoon")
            version = call(platoon, "--version").stdout.split()[-1]
            rootless = [] if os.geteuid() == 0 else ["--rootless"]
            bundle = os.path.join(folder, "bundle")
            unpacked = call("umoci", "unpack", *rootless, "--image", f"{layout}:{version}", bundle)
            check("it can be unpacked", unpacked.returncode == 0, unpacked.stdout)
            os.chmod(folder, 0o755)
            os.chmod(bundle, 0o755)
            test_files(bundle + "/rootfs")
            test_program(bundle + "/rootfs", platoon, folder)
            again = call(os.path.join(ROOT, "scripts", "image"), layout + "2")
            with open(layout + ".tar", "rb") as first, open(layout + "2.tar", "rb") as second:
                check("the same again is the same", again.returncode == 0 and first.read() == second.read())
    print(f"{sum(RESULTS)} passed, {len(RESULTS) - sum(RESULTS)} failed")
    return 0 if all(RESULTS) else 1


if __name__ == "__main__":
    sys.exit(main())
