#!/usr/bin/env python3
"""kill -9 of `platoon up` at random points, with clients that write and watch over HTTPS.

    test_kill.py PLATOON [KILLS [SEED]]

After each restart: every write that was answered is there with the version it was answered with; of the writes that were
under way each is there as a whole or not at all; a watch that goes on where it was sees every change once and in order, and
never showed one that was lost; a watch at some older version sees all since then, or 410. The last lines say how many.
"""
import hashlib
import http.client
import json
import os
import queue
import random
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

PLATOON = os.path.abspath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 200
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 11
WRITERS, KEYS = 8, 5  # each writer has keys of its own: one write of a key at a time
MAPS, PODS = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/pods"
MOST = 110  # answered writes of one life
HISTORY = 8192  # changes of a type that watches can go back
WORD = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
PATIENCE = 60
LOST = (OSError, http.client.HTTPException, ValueError)  # what a client sees of a kill


class Server:
    """One life of `platoon up`."""

    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen([PLATOON, "up", "--port", "0", "--data-dir", folder, "--nodes", "1x1x4"], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.port = self.token = self.tls = None

    def await_start(self):
        line = self.process.stdout.readline()
        assert "listens on https://" in line, f"no start: {line!r} {self.process.stderr.read()}"
        self.port = int(line.split("Ctrl-C")[0].strip(" .").rsplit(":", 1)[1])
        with open(os.path.join(self.folder, "token"), encoding="utf-8") as file:
            self.token = file.read().strip()
        self.tls = ssl.create_default_context(cafile=os.path.join(self.folder, "ca.crt"))

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=PATIENCE)

    def send(self, connection, method, path, body=None):
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        connection.request(method, path, json.dumps(body) if body is not None else None,
                           {"Authorization": "Bearer " + self.token, "Content-Type": kind})
        return connection.getresponse()

    def ask(self, connection, method, path, body=None):
        response = self.send(connection, method, path, body)
        return response.status, json.loads(response.read())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        code = self.process.wait(PATIENCE)
        errors = self.process.stderr.read()
        assert code == -signal.SIGKILL and not errors, f"ended by itself: {code} {errors}"
        self.process.stdout.close()
        self.process.stderr.close()


def content(number):
    """Data whose parts show whether they belong together."""
    text = hashlib.sha256(str(number).encode()).hexdigest() * (1 + number % 20)
    return {"n": str(number), "first": text, "second": text[::-1]}


def read_map(item):
    """The number a ConfigMap was written with; it has to be whole."""
    number = int(item["data"]["n"])
    assert item["data"] == content(number), f"half a write: {item}"
    return number


class Key:
    """What is known about one ConfigMap: the last answered state, and the write under way."""

    def __init__(self, name):
        self.name, self.number, self.version = name, 0, 0  # number 0: absent
        self.pending = None  # number it would have; None: nothing is under way

    def next_write(self, dice, numbers):
        if not self.number:
            method = "POST"
        else:
            method = dice.choice(["PUT", "PATCH", "PATCH", "DELETE"])
        self.pending = 0 if method == "DELETE" else next(numbers)
        path = MAPS if method == "POST" else f"{MAPS}/{self.name}"
        body = None if method == "DELETE" else {"metadata": {"name": self.name}, "data": content(self.pending)}
        return method, path, body

    def answered(self, answer):
        self.number, self.pending = self.pending, None
        self.version = int(answer["metadata"]["resourceVersion"]) if self.number else 0


class Watcher:
    """A client that follows the ConfigMaps over all lives of the server."""

    def __init__(self):
        self.version, self.log, self.news = 0, [], queue.Queue()
        self.refused = 0

    def follow(self, server):
        try:
            connection = server.connect()
            response = server.send(connection, "GET", f"{MAPS}?watch=1&allowWatchBookmarks=true&resourceVersion={self.version}")
            if response.status == 410:
                self.refused += 1
            for event in events_of(response):
                version = int(event["object"]["metadata"]["resourceVersion"])
                assert version > self.version or event["type"] == "BOOKMARK", f"{version} after {self.version}"
                self.version = version
                if event["type"] != "BOOKMARK":
                    name = event["object"]["metadata"]["name"]
                    self.log.append((version, event["type"], name, read_map(event["object"])))
                    self.news.put(version)
        except LOST:
            pass
        except AssertionError as error:
            self.log.append(error)
            self.news.put(error)

    def wait_for(self, version):
        while True:
            seen = self.news.get(timeout=PATIENCE)
            if isinstance(seen, AssertionError):
                raise seen
            if seen >= version:
                return

    def replay(self, until):
        state = {}
        for version, kind, name, number in self.log:
            if version <= until:
                state[name] = 0 if kind == "DELETED" else number
        return {name: number for name, number in state.items() if number}


def events_of(response):
    while line := response.readline():
        yield json.loads(line)


class Trial:
    def __init__(self, folder, dice):
        self.folder, self.dice = folder, dice
        self.keys = [[Key(f"k{w}-{i}") for i in range(KEYS)] for w in range(WRITERS)]
        self.marker = Key("marker")
        self.numbers = iter(range(1, 1 << 60))
        self.pods = {}  # name: uid, answered
        self.pods_pending = set()
        self.watcher = Watcher()
        self.faults, self.answers = queue.Queue(), queue.Queue()
        self.count = dict.fromkeys(["answered", "under way", "of these done", "resumed", "expired", "early", "bound"], 0)

    # ---- load ----

    def write_maps(self, server, keys, dice):
        try:
            connection = server.connect()
            while True:
                key = dice.choice(keys)
                method, path, body = key.next_write(dice, self.numbers)
                status, answer = server.ask(connection, method, path, body)
                assert status == (201 if method == "POST" else 200), f"{WORD[method]} {key.name}: {status} {answer}"
                key.answered(answer)
                self.answers.put(key)
        except LOST:
            pass
        except AssertionError as error:
            self.faults.put(error)

    def write_pods(self, server, dice):
        """Pods that the scheduler binds and the kubelets start; some of a gang."""
        try:
            connection = server.connect()
            while True:
                if len(self.pods) > 40:
                    name = dice.choice(list(self.pods))
                    del self.pods[name]
                    server.ask(connection, "DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
                    continue
                name = f"p{next(self.numbers)}"
                self.pods_pending.add(name)
                status, answer = server.ask(connection, "POST", PODS, {
                    "metadata": {"name": name}, "spec": {"schedulerName": "platoon", "containers": [
                        {"name": "main", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}})
                assert status == 201, f"create {name}: {status} {answer}"
                self.pods[name] = answer["metadata"]["uid"]
        except LOST:
            pass
        except AssertionError as error:
            self.faults.put(error)

    # ---- judgement ----

    def judge_maps(self, items):
        found = {item["metadata"]["name"]: item for item in items}
        for key in [key for keys in self.keys for key in keys] + [self.marker]:
            item = found.get(key.name)
            number = read_map(item) if item else 0
            version = int(item["metadata"]["resourceVersion"]) if item else 0
            if key.pending is None:
                assert (number, version) == (key.number, key.version), \
                    f"{key.name}: answered with {key.number} at {key.version}, there is {number} at {version}"
            else:
                assert number in (key.number, key.pending), f"{key.name}: {number}, not {key.number} or {key.pending}"
                assert number == key.pending or version == key.version, f"{key.name}: {version}, not {key.version}"
                self.count["under way"] += 1
                self.count["of these done"] += number == key.pending
            key.number, key.version, key.pending = number, version, None

    def judge_pods(self, items):
        found = {item["metadata"]["name"]: item for item in items}
        for name, uid in self.pods.items():
            assert name in found and found[name]["metadata"]["uid"] == uid, f"pod {name} was answered and is not there"
        for name, item in found.items():
            assert name in self.pods_pending, f"pod {name} comes from nowhere"
            states = {c["type"]: c["status"] for c in item.get("status", {}).get("conditions", [])}
            bound = bool(item["spec"].get("nodeName"))
            assert bound == (states.get("PodScheduled") == "True"), f"half a binding: {item}"
            assert bound or item["status"]["phase"] == "Pending", f"runs nowhere: {item}"
            self.count["bound"] += bound
        self.pods = {name: item["metadata"]["uid"] for name, item in found.items()}

    def mark(self, server, connection):
        method = "PUT" if self.marker.number else "POST"
        self.marker.pending = next(self.numbers)
        path = f"{MAPS}/marker" if method == "PUT" else MAPS
        status, answer = server.ask(connection, method, path, {"metadata": {"name": "marker"}, "data": content(self.marker.pending)})
        assert status in (200, 201), answer
        self.marker.answered(answer)

    def judge_old_watch(self, server):
        """A client that had read up to some older version: all that it missed, or 410."""
        since = self.dice.choice([self.watcher.log[0], self.dice.choice(self.watcher.log[:-1]), self.watcher.log[-2]])[0]
        missed = [entry for entry in self.watcher.log if entry[0] > since]
        connection = server.connect()
        response = server.send(connection, "GET", f"{MAPS}?watch=1&resourceVersion={since}")
        seen = []
        for event in events_of(response):
            if event.get("code") == 410 or event.get("object", {}).get("code") == 410:
                assert len(missed) >= HISTORY, f"410 after {len(missed)} changes"
                self.count["expired"] += 1
                break
            item = event["object"]
            seen.append((int(item["metadata"]["resourceVersion"]), event["type"], item["metadata"]["name"], read_map(item)))
            if seen[-1][0] == self.marker.version:
                assert seen == missed, f"since {since}: {len(seen)} changes instead of {len(missed)}"
                self.count["resumed"] += 1
                break
        connection.close()

    def judge(self, server, connection):
        status, maps = server.ask(connection, "GET", MAPS)
        assert status == 200, maps
        _, pods = server.ask(connection, "GET", PODS)
        self.judge_maps([item for item in maps["items"] if item["metadata"]["name"] != "kube-root-ca.crt"])
        self.judge_pods(pods["items"])
        listed = int(maps["metadata"]["resourceVersion"])
        follower = threading.Thread(target=self.watcher.follow, args=(server,))
        follower.start()
        self.mark(server, connection)
        self.watcher.wait_for(self.marker.version)
        there = {item["metadata"]["name"]: read_map(item) for item in maps["items"]}
        assert self.watcher.replay(listed) == there, "the watch that went on shows something else than the list"
        return follower

    # ---- one life ----

    def let_it_work(self):
        for _ in range(self.dice.randint(0, MOST)):
            self.answers.get(timeout=PATIENCE)
            self.count["answered"] += 1
        time.sleep(self.dice.uniform(0, 0.01))

    def live(self, number):
        server = Server(self.folder)
        if number % 10 == 9:  # while it starts
            time.sleep(self.dice.uniform(0, 0.1))
            server.kill()
            self.count["early"] += 1
            return
        threads = []
        try:
            server.await_start()
            connection = server.connect()
            threads.append(self.judge(server, connection))
            if number % 5 == 0 and len(self.watcher.log) > 1:
                self.judge_old_watch(server)
            connection.close()
            for keys in self.keys:
                threads.append(threading.Thread(target=self.write_maps, args=(server, keys, random.Random(self.dice.random()))))
            threads.append(threading.Thread(target=self.write_pods, args=(server, random.Random(self.dice.random()))))
            for thread in threads[1:]:
                thread.start()
            self.let_it_work()
        finally:
            server.kill()
            for thread in threads:
                thread.join(PATIENCE)
        while not self.answers.empty():
            self.answers.get()
            self.count["answered"] += 1
        if not self.faults.empty():
            raise self.faults.get()


def main():
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(folder, random.Random(SEED))
        for number in range(KILLS + 1):  # the last life only judges what the kill before left
            trial.live(number)
        count = trial.count
    print(f"{KILLS} kills, {count['early']} of them during the start, seed {SEED}")
    print(f"{count['answered']} answered writes, all there after the restart with the version they were answered with")
    print(f"{len(trial.watcher.log)} changes seen by the watch that went on over all of them, each once and in order")
    print(f"{count['under way']} writes were under way, {count['of these done']} of them were done, none by half")
    print(f"{count['bound']} bindings found, none by half; older watches: {count['resumed']} went on, {count['expired']} got 410")
    assert count["answered"] > 20 * KILLS and count["of these done"] and count["bound"] and count["resumed"]
    assert count["expired"] or len(trial.watcher.log) < HISTORY


if __name__ == "__main__":
    main()
