"""RayClusters, from KubeRay."""
from world import RACK, required, template, test


def ray_cluster(name, workers, minimum, annotations=None, gpus=8):
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name, "annotations": annotations or {}}, "spec": {
        "headGroupSpec": {"rayStartParams": {}, "template": template(0)},
        "workerGroupSpecs": [{"groupName": "gpu", "replicas": workers, "minReplicas": minimum, "maxReplicas": 16,
                              "rayStartParams": {}, "template": template(gpus)}]}}


@test("kuberay")
def ray_cluster_in_one_rack_scales(world):
    world.apply(ray_cluster("ray", 2, 2, annotations=required(RACK)))
    world.wait_running("ray-", 3)
    for workers in (4, 2):
        world.plane.kubectl("patch", "rayclusters", "ray", "--type=json", "-p",
                            f'[{{"op":"replace","path":"/spec/workerGroupSpecs/0/replicas","value":{workers}}}]')
        world.wait_running("ray-", workers + 1)
        assert len(world.racks("ray-")) == 1


@test("kuberay")
def ray_cluster_suspended_and_resumed(world):
    doc = ray_cluster("ray", 2, 2, annotations=required(RACK))
    doc["spec"]["suspend"] = True
    world.apply(doc)
    for suspend, count in ((False, 3), (True, 0), (False, 3)):
        world.plane.kubectl("patch", "rayclusters", "ray", "--type=merge", "-p", '{"spec":{"suspend":%s}}' % str(suspend).lower())
        world.wait_running("ray-", count)
        assert len(world.racks("ray-")) <= 1


@test("kuberay")
def ray_worker_is_replaced(world):
    world.apply(ray_cluster("ray", 3, 3, annotations=required(RACK)))
    world.wait_running("ray-", 4)
    rack = world.racks("ray-")
    lost = [pod["metadata"]["name"] for pod in world.pods("ray-") if "-worker-" in pod["metadata"]["name"]][0]
    world.plane.kubectl("delete", "pod", lost)
    world.wait_running("ray-", 4)
    assert world.racks("ray-") == rack
