"""LeaderWorkerSets, from their own controller: replicas of a leader and its workers."""
from world import RACK, required, template, test

GROUP_INDEX = "leaderworkerset.sigs.k8s.io/group-index"


def lws(name, replicas, size, annotations=None, startup="LeaderCreated", gpus=8, **spec):
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"replicas": replicas, "startupPolicy": startup, **spec,
                     "leaderWorkerTemplate": {"size": size, "restartPolicy": "RecreateGroupOnPodRestart",
                                              "workerTemplate": template(gpus)}}}


def racks_of_replicas(world, name, replicas):
    return [{world.rack_of(pod) for pod in world.pods(name + "-")
             if pod["metadata"]["labels"][GROUP_INDEX] == str(index)} for index in range(replicas)]


@test("lws")
def lws_each_replica_in_one_rack(world):
    world.apply(lws("serve", 3, 4, annotations=required(RACK)))
    world.wait_running("serve-", 12)
    racks = racks_of_replicas(world, "serve", 3)
    assert [len(rack) for rack in racks] == [1, 1, 1], racks


@test("lws")
def lws_replica_starts_whole_or_not(world):
    """Room for one replica and a half: one runs, of the other nothing does."""
    world.fill(*[f"r{rack}-n{node}" for rack in (1, 2) for node in range(4)], "r3-n0", "r3-n1")
    world.apply(lws("serve", 2, 4, annotations=required(RACK)))

    def one_runs():
        nodes = sorted(sum(1 for pod in world.pods("serve-") if pod["spec"].get("nodeName")
                           and pod["metadata"]["labels"][GROUP_INDEX] == str(index)) for index in range(2))
        return nodes == [0, 4] or nodes
    world.wait("one replica runs", one_runs)


@test("lws")
def lws_leader_ready_then_workers(world):
    world.apply(lws("serve", 1, 4, annotations=required(RACK), startup="LeaderReady"))
    world.wait_running("serve-", 4)
    assert racks_of_replicas(world, "serve", 1) == [world.racks("serve-")] and len(world.racks("serve-")) == 1


@test("lws")
def lws_exclusive_topology(world):
    """The controller makes the workers when the leader has a node, and sends them to the same rack."""
    world.apply(lws("serve", 2, 4, annotations={"leaderworkerset.sigs.k8s.io/exclusive-topology": RACK}))
    world.wait_running("serve-", 8)
    racks = racks_of_replicas(world, "serve", 2)
    assert [len(rack) for rack in racks] == [1, 1] and racks[0] != racks[1], racks


@test("lws")
def lws_scaled_down_takes_its_groups_along(world):
    world.apply(lws("serve", 4, 2))
    world.wait_running("serve-", 8)
    for replicas in (2, 3):
        world.plane.kubectl("scale", "leaderworkersets", "serve", f"--replicas={replicas}")
        world.wait_running("serve-", replicas * 2)
        world.wait("a PodGroup per replica", lambda count=replicas: len(world.groups()) == count or
                   [group["metadata"]["name"] for group in world.groups()])


@test("lws")
def lws_failed_pod_restarts_its_replica(world):
    world.apply(lws("serve", 2, 3, annotations=required(RACK)))
    world.wait_running("serve-", 6)
    before = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in world.pods("serve-")}
    world.end("serve-0-1", 1)

    def renewed():
        now = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in world.pods("serve-")}
        same = {name for name in before if now.get(name) == before[name]}
        return same == {"serve-1", "serve-1-1", "serve-1-2"} or same
    world.wait("replica 0 is made anew, replica 1 stays", renewed)
    world.wait_running("serve-", 6)
    assert [len(rack) for rack in racks_of_replicas(world, "serve", 2)] == [1, 1]


@test("lws")
def lws_rolling_update(world):
    world.apply(lws("serve", 2, 2))
    world.wait_running("serve-", 4)
    world.plane.kubectl("patch", "leaderworkersets", "serve", "--type=json", "-p",
                        '[{"op":"replace","path":"/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image",'
                        '"value":"model:2"}]')
    world.wait_image("serve-", "model:2", 4)
