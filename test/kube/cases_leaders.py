"""Leaders that are stopped in the middle of what they write, for longer than their lease, and go on afterwards: whoever led
meanwhile decided anew, so nothing of what the first one had decided may go out any more. Each replica has a proxy of its own,
which sees all that it asks for."""
import os
import random
import signal
import threading

from cases_faults import electing, through
from kit import OPTIONS, apply, gang, pods_of, runs, test, wait_until
from proxy import Proxy

PODS = 160  # more than are written at a time


class Side:
    """One of the two replicas."""

    def __init__(self, plane, proxy):
        self.proxy, self.replica = proxy, through(proxy, plane, *electing(plane))

    def count(self, words):
        return self.replica.log().count(words)

    def leads(self):
        log = self.replica.log()
        return log.rfind("lease taken") > max(log.rfind("lease lost"), log.rfind("standby:"))

    def ended_terms(self):
        return self.count("lease lost") + self.count("lease not renewed")


def is_write(line):
    """Other than of a lease, which says itself by its version whether it may be written."""
    return not line.startswith("GET ") and "/leases" not in line and "reviews" not in line


def stop_after(plane, name, side, bindings):
    """Stops it when it has sent so many bindings of the gang, or all. How many it had sent."""
    side.proxy.seen = []
    applied = threading.Thread(target=apply, args=(plane, gang(name, PODS, gpus=0)))
    applied.start()

    def sent():
        return sum(1 for line in side.proxy.seen if "/binding" in line and name in line)
    wait_until("bindings come", lambda: sent() > bindings or f"{sent()} of {PODS}", side.replica, pause=0.001)
    os.kill(side.replica.process.pid, signal.SIGSTOP)
    applied.join()
    return sent()


def one_round(plane, number, first, second, chance):
    """`first` leads. Returns how many bindings it had sent when it was stopped."""
    name = f"stopped{number}"
    taken, ended = second.count("lease taken"), first.ended_terms()
    first.proxy.pace = 0.002
    sent = stop_after(plane, name, first, chance.randrange(PODS - 1))
    first.proxy.pace = 0
    wait_until("the other leads", lambda: second.count("lease taken") > taken or "not yet", second.replica)
    wait_until(f"{name} runs", runs(plane, name, PODS), second.replica)
    first.proxy.seen = []
    os.kill(first.replica.process.pid, signal.SIGCONT)
    wait_until("it knows that it does not lead", lambda: first.ended_terms() > ended or "not yet", first.replica)
    wait_until("it has read the lease of the other", lambda: not first.leads() or "not yet", first.replica)
    late = [line for line in first.proxy.seen if is_write(line)]
    assert not late, f"{len(late)} writes after its lease: {late[:5]}\n{first.replica.log()[-2000:]}"
    plane.kubectl("delete", "podgroup", name, "--wait=false")
    plane.kubectl("delete", "pods", *(f"{name}-{i}" for i in range(PODS)), "--wait=false")
    wait_until(f"{name} is gone", lambda: not pods_of(plane, name) or "not yet")
    return sent


@test
def leaders_that_were_stopped_write_nothing(plane):
    chance, rounds = random.Random(OPTIONS.seed), 200 if OPTIONS.long else 3
    with Proxy(plane, OPTIONS.seed) as near, Proxy(plane, OPTIONS.seed) as far:
        sides = [Side(plane, near), Side(plane, far)]
        with sides[0].replica, sides[1].replica:
            middle = 0
            for number in range(rounds):
                wait_until("one leads and one stands by", lambda: sides[0].leads() != sides[1].leads() or "not yet")
                first, second = sides if sides[0].leads() else reversed(sides)
                middle += one_round(plane, number, first, second, chance) < PODS
            print(f"   {rounds} rounds, in {middle} of them stopped before all bindings were sent")
            for side in sides:
                side.replica.stop()
