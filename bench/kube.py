#!/usr/bin/env python3
"""Measures on a real control plane, back to back and on one machine: what the API server can do at most (a client that
binds without thought), kube-scheduler of the same release, and Platoon.

    bench/kube.py BUILD [--quick] [--only backlog,creation,gangs,cold] [--pods N] [--nodes N]

Compare figures of one run only. CPU is in milliseconds per pod.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "kube"))
from control_plane import ControlPlane, binaries  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
KINDS = ("backlog", "creation", "gangs", "cold")


def cpu(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(pid):
    """Peak resident, in MB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


class Scheduler:
    def __init__(self, bench, name):
        self.bench, self.name = bench, name

    def __enter__(self):
        plane = self.bench.plane
        if self.name == "platoon":
            command = [self.bench.platoon, "run", "--kubeconfig", plane.kubeconfig, "--listen", "none", "--log-level", "error"]
        else:
            command = [os.path.join(self.bench.commands, "kube-scheduler"), f"--kubeconfig={plane.kubeconfig}",
                       "--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000", "--secure-port=0"]
        self.log = open(plane.path(self.name + ".log"), "ab")
        self.started = time.time()
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def cpu(self):
        return cpu(self.process.pid)

    def memory(self):
        return memory(self.process.pid)


class Bench:
    def __init__(self, build, args):
        self.platoon = os.path.join(build, "platoon")
        self.client = os.path.join(build, "bench", "platoon-bench-kube")
        self.commands = binaries("etcd", "kube-apiserver", "kube-scheduler")
        self.args = args
        self.plane = None
        self.rows = {}

    # ---- the cluster ----

    def fresh(self):
        """An empty cluster with nodes: what one measurement leaves would slow down the next."""
        if self.plane:
            self.plane.close()
        self.plane = ControlPlane().__enter__()
        objects = json.loads(subprocess.run([self.platoon, "install", "-o", "json", "--webhooks", "false"], check=True,
                                            text=True, stdout=subprocess.PIPE).stdout)
        objects["items"] = [item for item in objects["items"] if item["kind"] not in ("Deployment", "PodDisruptionBudget")]
        objects["items"].append({
            "apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "default-queue"},
            "spec": {"resources": {kind: {"quota": -1, "limit": -1, "overQuotaWeight": 1} for kind in ("cpu", "gpu", "memory")}}})
        self.plane.kubectl("apply", "-f", "-", text=json.dumps({**objects, "items": [
            item for item in objects["items"] if item["kind"] != "Queue"]}))
        self.plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        self.plane.kubectl("apply", "-f", "-", text=json.dumps(objects["items"][-1]))
        self.call("nodes", self.args.nodes)

    def start(self, *words):
        return subprocess.Popen([self.client, self.plane.kubeconfig, *map(str, words)], text=True, stdout=subprocess.PIPE)

    def result(self, process):
        text, _ = process.communicate(timeout=900)
        if process.returncode:
            raise RuntimeError(f"{process.args[2:]} failed: {text}")
        return json.loads(text)

    def call(self, *words):
        return self.result(self.start(*words))

    def server_cpu(self):
        return sum(cpu(process.pid) for process in self.plane.processes.values())

    def row(self, table, name, values):
        self.rows.setdefault(table, {})[name] = values
        print(f"  {name:34}" + "  ".join(f"{key} {value:>9.2f}" for key, value in values.items()), flush=True)

    # ---- measurements ----

    def bind_by(self, name, gang, backlog):
        """pods/s and CPU of one scheduler; `backlog`: the pods are there before it starts."""
        self.fresh()
        pods = self.args.pods
        scheduler = "platoon" if name == "platoon" else "default-scheduler"
        made = None
        if backlog:
            self.call("create", pods, gang, scheduler)
        watch = self.start("watch", pods)
        time.sleep(1)
        before = self.server_cpu()
        with Scheduler(self, name) as process:
            if not backlog:
                time.sleep(5)
                used = process.cpu()
                made = self.call("create", pods, gang, scheduler)
            else:
                used = 0
            seen = self.result(watch)
            time.sleep(0.5)
            used = process.cpu() - used
            start = seen["first"] if backlog else made["start"]
            values = {"pods/s": pods / (seen["last"] - start), "cpu ms/pod": used * 1000 / pods,
                      "server ms/pod": (self.server_cpu() - before) * 1000 / pods, "MB": process.memory()}
            if backlog:
                values["s to first"] = seen["first"] - process.started
        return values

    def backlog(self):
        print(f"backlog of {self.args.pods} pods on {self.args.nodes} nodes, first to last binding", flush=True)
        raws = []
        for in_flight in (32, 64, 128):
            self.fresh()
            self.call("create", self.args.pods, 0, "nobody")
            before = self.server_cpu()
            # The same watcher as below takes its share of the server.
            watch = self.start("watch", self.args.pods)
            time.sleep(1)
            raw = self.call("bind", self.args.nodes, in_flight)
            self.result(watch)
            raws.append(raw["pods"] / raw["seconds"])
            self.row("backlog", f"raw client, {in_flight} in flight",
                     {"pods/s": raws[-1], "cpu ms/pod": raw["cpu"] * 1000 / raw["pods"],
                      "server ms/pod": (self.server_cpu() - before) * 1000 / raw["pods"]})
        for label, name, gang in (("kube-scheduler, plain pods", "kube-scheduler", 0), ("platoon, plain pods", "platoon", 0),
                                  ("platoon, gangs of 16", "platoon", 16)):
            self.row("backlog", label, self.bind_by(name, gang, True))

    def creation(self):
        print(f"{self.args.pods} pods created while the scheduler runs, first create to last binding", flush=True)
        for label, name, gang in (("kube-scheduler, plain pods", "kube-scheduler", 0), ("platoon, plain pods", "platoon", 0),
                                  ("platoon, gangs of 16", "platoon", 16)):
            self.row("creation", label, self.bind_by(name, gang, False))

    def gangs(self):
        print("seconds from the first create of a gang to its last binding, median", flush=True)
        self.fresh()
        with Scheduler(self, "platoon"):
            time.sleep(5)
            for size in (16, 64, 256):
                times = []
                for turn in range(2 if self.args.quick else 5):
                    watch = self.start("watch", size)
                    time.sleep(1)
                    made = self.call("create", size, size, "platoon", f"g{size}-{turn}")
                    seen = self.result(watch)
                    times.append(seen["last"] - made["start"])
                self.row("gangs", f"platoon, gang of {size}", {"s": statistics.median(times), "longest": max(times)})

    def cold(self):
        count = self.args.cold
        print(f"cold start with {count} pods against a download of the same list", flush=True)
        self.fresh()
        self.call("create", count, 0, "platoon")
        self.call("bind", self.args.nodes, 64)
        downloads = [self.call("download") for _ in range(3)]
        download = min(item["seconds"] for item in downloads)
        self.row("cold", "download", {"s": download, "MB": downloads[0]["bytes"] / 1e6, "cpu s": downloads[0]["cpu"]})
        best = None
        for _ in range(3):
            with Scheduler(self, "platoon") as process:
                while "connected" not in open(self.plane.path("platoon.log"), encoding="utf-8").read():
                    time.sleep(0.005)
                values = {"s": time.time() - process.started, "cpu s": process.cpu(), "MB": process.memory()}
            os.truncate(self.plane.path("platoon.log"), 0)
            best = values if not best or values["s"] < best["s"] else best
        best["of download"] = best["s"] / download
        self.row("cold", "platoon run until it has everything", best)

    def verdict(self):
        print("targets")
        rows = self.rows
        if "backlog" in rows:
            raw = max(row["pods/s"] for name, row in rows["backlog"].items() if name.startswith("raw"))
            ours = rows["backlog"]["platoon, gangs of 16"]
            plain, kube = rows["backlog"]["platoon, plain pods"], rows["backlog"]["kube-scheduler, plain pods"]
            print(f"  gangs of the raw rate: {ours['pods/s'] / raw:.2f} (at least 0.90)")
            print(f"  plain pods of the raw rate: {plain['pods/s'] / raw:.2f} (at least 0.90)")
            print(f"  plain pods against kube-scheduler: {plain['pods/s'] / kube['pods/s']:.2f} times (at least 1.5)")
            print(f"  CPU of kube-scheduler's: {plain['cpu ms/pod'] / kube['cpu ms/pod']:.2f} (at most 0.20)")
        if "cold" in rows:
            print(f"  cold start of the download: {rows['cold']['platoon run until it has everything']['of download']:.2f}"
                  " (at most 1.30)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--pods", type=int)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--cold", type=int)
    args = parser.parse_args()
    args.pods = (args.pods or (1024 if args.quick else 5008)) // 16 * 16  # whole gangs
    args.nodes = args.nodes or (500 if args.quick else 2000)
    args.cold = args.cold or (3000 if args.quick else 20000)
    bench = Bench(os.path.abspath(args.build), args)
    try:
        for kind in args.only.split(","):
            getattr(bench, kind)()
        bench.verdict()
    finally:
        if bench.plane:
            bench.plane.close()


if __name__ == "__main__":
    main()
