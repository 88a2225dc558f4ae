"""What goes wrong on real clusters: servers that go and come, connections that break, storms of 429, tokens that expire,
clocks that differ, a leader that dies with a gang half bound. In each case gangs arrive meanwhile; afterwards every one
of them runs as a whole, and how long that took is printed."""
import json
import os
import random
import signal
import time
import urllib.request

from clocks import clock, sweep
from kit import OPTIONS, Replica, apply, bound, gang, pods_of, runs, test, wait_until
from proxy import Proxy


class Load:
    """Gangs of four that arrive during a fault. What comes while there is no server comes again."""

    def __init__(self, plane, name):
        self.plane, self.name, self.gangs = plane, name, []

    def arrive(self, count=2, check=True):
        for _ in range(count):
            name = f"{self.name}{len(self.gangs)}"
            try:
                apply(self.plane, gang(name, 4, gpus=1))
            except RuntimeError:
                if check:
                    raise
                return
            self.gangs.append(name)

    def leave(self):
        """All but the last two, so that there is room."""
        while len(self.gangs) > 2:
            name = self.gangs.pop(0)
            self.plane.kubectl("delete", "podgroup", name, "--wait=false")
            self.plane.kubectl("delete", "pods", *(f"{name}-{i}" for i in range(4)), "--wait=false")

    def recovered(self, replica, state=runs):
        """Nothing is lost and nothing is half there. Prints how long that took from now on."""
        started = time.monotonic()
        for name in self.gangs:
            wait_until(f"{name} runs", state(self.plane, name, 4), replica)
        print(f"   recovered in {time.monotonic() - started:.1f} s ({len(self.gangs)} gangs)")


def seconds(short, long):
    return long if OPTIONS.long else short


def connected(replica):
    wait_until("connected", lambda: "connected" in replica.log() or "not yet", replica)


@test
def fault_api_server_killed_under_load(plane):
    with Replica(plane) as replica:
        connected(replica)
        load = Load(plane, "api")
        for _ in range(seconds(1, 10)):
            load.arrive()
            plane.stop("kube-apiserver", kill=True)
            time.sleep(seconds(1, 10))
            plane.start_apiserver()
            load.arrive()
            load.recovered(replica)
            load.leave()
        replica.stop()


@test
def fault_etcd_killed_under_load(plane):
    with Replica(plane) as replica:
        connected(replica)
        load = Load(plane, "etcd")
        for _ in range(seconds(1, 10)):
            load.arrive()
            plane.stop("etcd", kill=True)
            time.sleep(seconds(1, 10))
            plane.start_etcd()
            plane.wait_for("kube-apiserver", f"{plane.url}/readyz")
            load.arrive()
            load.recovered(replica)
            load.leave()
        replica.stop()


def compact(plane):
    """Forgets everything but the newest revision, as the API server does every five minutes."""
    def call(path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{plane.etcd_port}/v3/{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)
    revision = int(call("kv/range", {"key": "AA==", "range_end": "AA==", "limit": 1})["header"]["revision"])
    call("kv/compaction", {"revision": str(revision), "physical": True})


def through(proxy, plane, *args, **options):
    return Replica(plane, *args, kubeconfig=proxy.kubeconfig({"token": plane.token}), **options)


@test
def fault_versions_forgotten(plane):
    """Watches cannot go on where they ended: 410, and everything is listed anew. Deletions are noticed all the same."""
    with Proxy(plane, OPTIONS.seed) as proxy, through(proxy, plane) as replica:
        connected(replica)
        load = Load(plane, "old")
        load.arrive(3)
        load.recovered(replica)
        proxy.closed = True
        proxy.cut()
        load.leave()
        load.arrive()
        plane.stop("kube-apiserver")
        compact(plane)
        plane.start_apiserver()
        proxy.closed = False
        load.recovered(replica)
        wait_until("the watches expired", lambda: "listing again" in replica.log() or "not said", replica)
        # The room of the gangs that left while nobody looked is used again: 2 racks of 32.
        apply(plane, gang("wide", 4, gpus=6))
        wait_until("wide runs", runs(plane, "wide", 4), replica)
        replica.stop()


@test
def fault_connections_break(plane):
    """Delays, silence and cuts in a random order."""
    chance = random.Random(OPTIONS.seed)
    with Proxy(plane, OPTIONS.seed) as proxy, through(proxy, plane) as replica:
        connected(replica)
        load = Load(plane, "net")
        end = time.monotonic() + seconds(6, 120)
        while time.monotonic() < end:
            load.arrive(1)
            proxy.delay = chance.choice((0, 0.02, 0.2))
            what = chance.randrange(3)
            if what == 0:
                proxy.cut(chance.random())
            elif what == 1:
                proxy.silent = True
                time.sleep(chance.random())
                proxy.cut(chance.random())
                proxy.silent = False
            else:
                proxy.closed = True
                proxy.cut(chance.random())
                time.sleep(chance.random())
                proxy.closed = False
            time.sleep(chance.random())
            if len(load.gangs) > 10:
                load.leave()
        proxy.delay = 0
        load.recovered(replica)
        replica.stop()


@test
def fault_storm_of_429(plane):
    with Proxy(plane, OPTIONS.seed) as proxy, through(proxy, plane) as replica:
        connected(replica)
        load = Load(plane, "busy")
        proxy.busy = 0.7
        end = time.monotonic() + seconds(5, 60)
        # On a machine that is busy itself it takes longer until the storm is felt.
        while time.monotonic() < end or (proxy.answered_busy <= 10 and time.monotonic() < end + 60):
            load.arrive(1)
            time.sleep(1)
            if len(load.gangs) > 10:
                load.leave()
        proxy.busy = 0
        load.recovered(replica)
        print(f"   {proxy.answered_busy} requests were answered with 429, {proxy.passed} were not")
        assert proxy.answered_busy > 10, proxy.answered_busy
        assert not proxy.too_soon, f"came again before Retry-After was over: {proxy.too_soon[:3]}"
        replica.stop()


@test
def fault_token_expires(plane):
    """The account is made anew, so its tokens are worth nothing any more; then the file gets a new one."""
    def account():
        plane.kubectl("create", "serviceaccount", "platoon-admin", "-n", "default")
        return plane.kubectl("create", "token", "platoon-admin", "-n", "default").stdout.strip()

    def write(token):
        with open(plane.path("token.new"), "w", encoding="utf-8") as file:
            file.write(token)
        os.replace(plane.path("token.new"), plane.path("token"))

    plane.kubectl("create", "clusterrolebinding", "platoon-admin", "--clusterrole=cluster-admin",
                  "--serviceaccount=default:platoon-admin", check=False)
    write(account())
    config = plane.write_kubeconfig(plane.path("with-token"), {"tokenFile": plane.path("token")})
    with Replica(plane, kubeconfig=config) as replica:
        connected(replica)
        load = Load(plane, "token")
        load.arrive(1)
        load.recovered(replica)
        plane.kubectl("delete", "serviceaccount", "platoon-admin", "-n", "default")
        token = account()
        time.sleep(11)  # the server remembers good tokens for ten seconds
        load.arrive()
        time.sleep(1)
        write(token)
        load.recovered(replica)
        secret = token.split(".")[2]
        assert secret not in replica.log(), "a token was logged"
        replica.stop()
    plane.kubectl("delete", "serviceaccount", "platoon-admin", "-n", "default")


def leader(plane):
    return plane.kubectl("get", "lease", "platoon", "-o", "jsonpath={.spec.holderIdentity}", check=False).stdout


def electing(plane):
    path = plane.path(f"electing-{time.monotonic_ns()}.json")  # a file that changes is read again
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"leaderElection": {"enabled": True, "duration": "4s"}}, file)
    return ("--config", path, "-n", "default")


@test
def fault_leader_dies_with_half_a_gang_bound(plane):
    """Its connections are slow, so that it can be killed between two bindings."""
    with Proxy(plane, OPTIONS.seed) as proxy, through(proxy, plane, *electing(plane)) as first:
        wait_until("the first leads", lambda: "lease taken" in first.log() or "not yet", first)
        with Replica(plane, *electing(plane)) as second:
            connected(second)
            proxy.pace = 0.3
            apply(plane, gang("half", 32, gpus=1))

            def count():
                return sum(1 for pod in pods_of(plane, "half") if pod["spec"].get("nodeName"))

            def begun():
                return 3 <= count() or f"{count()} bound"
            wait_until("bindings begin", begun, first)
            first.stop(signal.SIGKILL)
            proxy.closed = True
            proxy.cut()
            done = count()
            assert 0 < done < 32, f"{done} of 32 were bound"
            started = time.monotonic()
            wait_until("half runs as a whole", runs(plane, "half", 32), second)
            print(f"   killed with {done} of 32 bound, complete after {time.monotonic() - started:.1f} s")
            second.stop()
    assert leader(plane) == "", "a replica that ended by itself still holds the lease"


@test
def fault_clocks_differ(plane):
    """Half an hour ahead and behind: leases are judged by each replica's own clock, and nobody acts beside the leader."""
    with Replica(plane, *electing(plane), wrapper=clock("+30m")) as ahead:
        wait_until("the first leads", lambda: "lease taken" in ahead.log() or "not yet", ahead)
        with Replica(plane, *electing(plane), wrapper=clock("-30m")) as behind:
            connected(behind)
            load = Load(plane, "clock")
            load.arrive()
            load.recovered(ahead)
            time.sleep(seconds(6, 30))
            assert "lease taken" not in behind.log(), "the second took a lease that is renewed"
            ahead.stop(signal.SIGKILL)
            sweep(ahead.process.pid)
            wait_until("the second leads", lambda: "lease taken" in behind.log() or "not yet", behind)
            load.arrive()
            load.recovered(behind, bound)
            behind.stop()
