"""Evictions are no failures: Jobs that are preempted, with a pod failure policy of their own and without one, are not failed by it,
as kube-controller-manager counts. ROUNDS rounds of 128 evictions; what is evicted are the Jobs of a full cluster.
That they run again is told by job_survives_preemption: after so many ended pods the controller of Jobs pauses for minutes.
"""
import kit
from cases_builtin import IGNORE_DISRUPTIONS, job, minimum
from world import NODES, test

JOBS, PODS = len(NODES), 8  # a GPU each


def victims(number):
    """Of 16 Jobs every other one has a policy and may not fail once; the others have the usual limit of 6 failures."""
    spec = {"podFailurePolicy": IGNORE_DISRUPTIONS, "backoffLimit": 0} if number % 2 else {}
    return job(f"victim{number}", PODS, gpus=1, annotations=minimum(PODS), **spec)


def preempted(world):
    lines = [line for line in world.platoon.get("/metrics")[1].splitlines() if line.startswith("platoon_evictions_total")]
    return sum(int(line.split()[-1]) for line in lines if '"preempt"' in line)


@test()
def evictions_fail_no_job(world):
    evicted = 0
    for number in range(kit.OPTIONS.rounds or 1):
        before = preempted(world)
        world.apply(*[victims(index) for index in range(JOBS)])
        world.wait_running("victim", JOBS * PODS)
        world.apply(job("urgent", JOBS * PODS, gpus=1, annotations=minimum(JOBS * PODS), labels={"priorityClassName": "inference"}))
        world.wait_running("urgent-", JOBS * PODS)

        def counted():
            jobs = {item["metadata"]["name"]: item["status"] for item in world.get("jobs") if item["metadata"]["name"] != "urgent"}
            bad = {name: status for name, status in jobs.items() if status.get("failed") or any(
                item["type"] in ("Failed", "FailureTarget") for item in status.get("conditions", []))}
            assert not bad, f"round {number}: {bad}"
            open_ = [name for name, status in jobs.items() if status.get("terminating") or status.get("uncountedTerminatedPods")]
            bound = [pod for pod in world.pods("victim") if pod["spec"].get("nodeName")]
            return not open_ and not bound or f"{open_} are still counted, {len(bound)} pods still run"
        world.wait("all evictions are counted", counted)
        evicted += preempted(world) - before
        assert evicted == (number + 1) * JOBS * PODS, f"{evicted} evictions in {number + 1} rounds"
        world.clear()
    print(f"# {evicted} evictions of {JOBS} Jobs each round, none failed")
