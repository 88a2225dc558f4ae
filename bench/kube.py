#!/usr/bin/env python3
"""Measures on a real control plane, back to back and on one machine: what the API server can do at most (a client that
binds without thought), kube-scheduler of the same release, and Platoon.

    bench/kube.py BUILD [--quick] [--only backlog,creation,gangs,cold] [--pods N] [--nodes N] [--rounds N]

The backlog is measured in rounds, since a machine is not equally fast from minute to minute: what is compared is what stood side
by side in a round, and the median of these.

Every contender has the same pods and nodes, on a cluster that nobody used before, and the same observer: a watch that notes
when each pod is first seen with a node. From a backlog the time is that from the first to the last of these; with creation,
from the first create. CPU and writes are all there was from before the contender started until SETTLE seconds after the last
binding. Compare figures of one run only. CPU is in milliseconds per pod.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "kube"))
from control_plane import ControlPlane, binaries  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
KINDS = ("backlog", "creation", "gangs", "cold")
SETTLE = 3
SERIES = re.compile(r'^apiserver_request_total\{(.*)\} (\S+)$', re.M)


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


class Raw:
    """The client that binds without thought, in the place of a scheduler."""

    def __init__(self, bench, in_flight):
        self.bench, self.in_flight = bench, in_flight

    def __enter__(self):
        self.process = self.bench.start("bind", self.bench.args.nodes, self.in_flight)
        self.done = None
        return self

    def __exit__(self, *_):
        self.process.wait(30)

    def result(self):
        self.done = self.done or self.bench.result(self.process)
        return self.done

    def cpu(self):
        return self.result()["cpu"]

    def memory(self):
        return self.result()["memory"]


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

    def watch(self, count):
        process = self.start("watch", count)
        process.stdout.readline()
        return process

    def writes(self):
        """What the API server was asked to write so far, by verb and what is written. Its own leases are left out."""
        counts = {}
        for labels, number in SERIES.findall(self.plane.kubectl("get", "--raw", "/metrics").stdout):
            label = dict(re.findall(r'(\w+)="([^"]*)"', labels))
            if label["verb"] in ("POST", "PUT", "PATCH", "APPLY", "DELETE") and label["resource"] != "leases":
                what = f"{label['verb']} {label['resource']}{'/' * bool(label['subresource'])}{label['subresource']}"
                counts[what] = counts.get(what, 0) + float(number)
        return counts

    def server_cpu(self):
        return {name: cpu(process.pid) for name, process in self.plane.processes.items()}

    def row(self, table, name, values):
        self.rows.setdefault(table, {}).setdefault(name, []).append(values)
        print(f"  {name:28}" + "  ".join(f"{key} {value:>7.2f}" if isinstance(value, float) else f"{key} {value}"
                                         for key, value in values.items()), flush=True)

    def figure(self, table, name, key):
        """The median of all rounds."""
        return statistics.median(row[key] for row in self.rows[table][name])

    def ratio(self, table, name, other, key="pods/s"):
        """Of what was measured in the same round: the median, and all of them as text."""
        ratios = sorted(mine[key] / theirs[key] for mine, theirs in zip(self.rows[table][name], self.rows[table][other]))
        return statistics.median(ratios), f" of {', '.join(f'{ratio:.2f}' for ratio in ratios)}" if len(ratios) > 1 else ""

    # ---- measurements ----

    def measure(self, contend, made=None):
        """What one contender needs for all pods. `contend` runs while they are bound and gives the CPU of the contender so
        far and its memory; `made` creates pods once it runs."""
        pods = self.args.pods
        watch = self.watch(pods)
        writes, servers = self.writes(), self.server_cpu()
        with contend as contender:
            begun = time.time()
            used = 0
            if made:
                time.sleep(5)
                used = contender.cpu()
                writes, servers = self.writes(), self.server_cpu()
                begun = made()["start"]
            seen = self.result(watch)
            time.sleep(SETTLE)
            after = self.server_cpu()
            values = {"pods/s": pods / (seen["last"] - begun) if made else (pods - 1) / (seen["last"] - seen["first"]),
                      "scheduler ms": (contender.cpu() - used) * 1000 / pods,
                      "API server ms": (after["kube-apiserver"] - servers["kube-apiserver"]) * 1000 / pods,
                      "etcd ms": (after["etcd"] - servers["etcd"]) * 1000 / pods, "MB": contender.memory()}
            if not made:
                values["s to first"] = seen["first"] - begun
        changes = {what: (number - writes.get(what, 0)) / pods for what, number in self.writes().items()}
        if made:  # those are the bench's own
            changes.pop("POST pods", None)
        values["writes"] = sum(changes.values())
        values["of them"] = ", ".join(f"{what} {number:.2f}" for what, number in sorted(changes.items()) if number >= 0.005)
        return values

    def bind_by(self, name, gang, backlog):
        """One scheduler; `backlog`: the pods are there before it starts."""
        self.fresh()
        scheduler = "platoon" if name == "platoon" else "default-scheduler"
        if not backlog:
            return self.measure(Scheduler(self, name), lambda: self.call("create", self.args.pods, gang, scheduler))
        self.call("create", self.args.pods, gang, scheduler)
        return self.measure(Scheduler(self, name))

    def bind_raw(self, in_flight):
        self.fresh()
        self.call("create", self.args.pods, 0, "nobody")
        return self.measure(Raw(self, in_flight))

    def contenders(self, table, backlog):
        for name, label, gang in (("kube-scheduler", "kube-scheduler, plain pods", 0), ("platoon", "platoon, plain pods", 0),
                                  ("platoon", "platoon, gangs of 16", 16)):
            if label.split(",")[0] in self.args.contenders and (not gang or "gangs" in self.args.contenders):
                self.row(table, label, self.bind_by(name, gang, backlog))

    def backlog(self):
        print(f"backlog of {self.args.pods} pods on {self.args.nodes} nodes, first to last binding, per pod", flush=True)
        for _ in range(self.args.rounds):
            if "raw" in self.args.contenders:
                for in_flight in self.args.in_flight:
                    self.row("backlog", f"raw client, {in_flight} in flight", self.bind_raw(in_flight))
            self.contenders("backlog", True)

    def creation(self):
        print(f"{self.args.pods} pods created while the scheduler runs, first create to last binding, per pod", flush=True)
        self.contenders("creation", False)

    def gangs(self):
        print("seconds from the first create of a gang to its last binding, median", flush=True)
        self.fresh()
        with Scheduler(self, "platoon"):
            time.sleep(5)
            for size in (16, 64, 256):
                times = []
                for turn in range(2 if self.args.quick else 5):
                    watch = self.watch(size)
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
        seconds = {}
        for form in ("JSON", "protobuf"):
            downloads = [self.call("download", form) for _ in range(3)]
            seconds[form] = min(item["seconds"] for item in downloads)
            self.row("cold", f"download as {form}", {"s": seconds[form], "MB": downloads[0]["bytes"] / 1e6,
                                                     "cpu s": downloads[0]["cpu"]})
        best = None
        for _ in range(3):
            with Scheduler(self, "platoon") as process:
                while "connected" not in open(self.plane.path("platoon.log"), encoding="utf-8").read():
                    time.sleep(0.005)
                values = {"s": time.time() - process.started, "cpu s": process.cpu(), "MB": process.memory()}
            os.truncate(self.plane.path("platoon.log"), 0)
            best = values if not best or values["s"] < best["s"] else best
        for form, download in seconds.items():
            best[f"of {form}"] = best["s"] / download
        self.row("cold", "platoon run until it has everything", best)

    def verdict(self):
        print("targets")
        rows = self.rows
        backlog = rows.get("backlog", {})
        raws = [name for name in backlog if name.startswith("raw")]
        plain, gangs, kube = "platoon, plain pods", "platoon, gangs of 16", "kube-scheduler, plain pods"
        raw = max(raws, key=lambda name: self.figure("backlog", name, "pods/s"), default=None)
        for name in (plain, gangs):
            if raw and name in backlog:
                median, each = self.ratio("backlog", name, raw)
                print(f"  {name}, of the raw rate: {median:.2f}{each} (at least 0.90)")
        for table in ("backlog", "creation"):
            if plain in rows.get(table, {}) and kube in rows[table]:
                median, each = self.ratio(table, plain, kube)
                print(f"  {table}, plain pods against kube-scheduler: {median:.2f}{each} times (at least 1.5)")
                median, each = self.ratio(table, plain, kube, "scheduler ms")
                print(f"  {table}, CPU of kube-scheduler's: {median:.2f}{each} (at most 0.20)")
        if "cold" in rows:
            cold = "platoon run until it has everything"
            print(f"  cold start of the download as JSON: {self.figure('cold', cold, 'of JSON'):.2f} (at most 1.30)")
            print(f"  cold start of the download as protobuf: {self.figure('cold', cold, 'of protobuf'):.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--pods", type=int)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--cold", type=int)
    parser.add_argument("--rounds", type=int, help="of the backlog; 3, or 1 with --quick")
    parser.add_argument("--in-flight", type=lambda text: [int(word) for word in text.split(",")], default=[32, 64],
                        help="of the raw client, one measurement each")
    parser.add_argument("--contenders", default="raw,kube-scheduler,platoon,gangs")
    args = parser.parse_args()
    args.pods = (args.pods or (1024 if args.quick else 5008)) // 16 * 16  # whole gangs
    args.rounds = args.rounds or (1 if args.quick else 3)
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
