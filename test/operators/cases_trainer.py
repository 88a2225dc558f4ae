"""TrainJobs, from trainer v2, which makes JobSets of them."""
from world import RACK, required, template, test


def runtime(name):
    pod = template(8)
    pod["spec"]["containers"][0]["name"] = "node"
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainingRuntime",
            "metadata": {"name": name, "labels": {"trainer.kubeflow.org/framework": "plain"}}, "spec": {
                "mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [{"name": "node", "template": {
                    "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                    "spec": {"template": pod}}}]}}}}


def train_job(name, nodes, annotations):
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob",
            "metadata": {"name": name, "annotations": annotations}, "spec": {
                "runtimeRef": {"name": "plain", "kind": "TrainingRuntime"}, "trainer": {"numNodes": nodes}}}


@test("jobset", "trainer")
def train_job_suspended_and_resumed(world):
    doc = train_job("learn", 2, required(RACK))
    doc["spec"]["suspend"] = True
    world.apply(runtime("plain"))
    world.apply(doc)
    for suspend, count in ((False, 2), (True, 0), (False, 2)):
        world.plane.kubectl("patch", "trainjobs", "learn", "--type=merge", "-p", '{"spec":{"suspend":%s}}' % str(suspend).lower())
        world.wait_running("learn-", count)
        assert len(world.racks("learn-")) <= 1


@test("jobset", "trainer")
def train_job_lends_its_annotations(world):
    """Filled so that four nodes are free in no rack but the last: a level on the TrainJob holds for its pods."""
    world.fill("r1-n0", "r2-n0", "r3-n0")
    world.apply(runtime("plain"))
    world.apply(train_job("learn", 4, required(RACK)))
    world.wait_running("learn-", 4)
    assert world.racks("learn-") == {"r4"}
