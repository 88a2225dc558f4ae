#!/usr/bin/env python3
"""`platoon run` schedules every kind of workload that grouping knows as `platoon up` does. The kinds come from the program's
own table, so that one that is added is tested without a line here.

    test_run_kinds.py PLATOON [TEXT...]
"""
import os
import subprocess
import sys
import tempfile

from cluster_api import Api, Process, until
from runner import run_tests, test

PLATOON = os.path.abspath(sys.argv[1])
SCHEDULER = "other"  # the scheduler of `up` leaves these pods alone
QUEUE = "team-x"


def table():
    """The rows of `platoon help --reference kinds`, as dicts by column."""
    text = subprocess.run([PLATOON, "help", "--reference", "kinds"], capture_output=True, text=True, check=True).stdout
    lines = [line[1:-1].split("|") for line in text.splitlines() if line.startswith("| ")]
    head = [cell.strip(" `") for cell in lines[0]]
    return [dict(zip(head, (cell.strip() for cell in line))) for line in lines[1:]]


ROWS = table()
DEFINED = [row for row in ROWS if row["up"] == "with its CRD"]
GROUPED = [row for row in DEFINED if row["grouped by"] != "no rule of its own"]


class Cluster:
    """`up` as the API server, and `run` beside it."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.up = Process(PLATOON, self.folder.name, "up", "--in-memory", "--data-dir", "d", "--port", "0", "--nodes", "1x2x8")
        self.run = self.api = None
        try:
            self.begin()
        except BaseException:
            self.__exit__()  # nobody else ends what was started
            raise

    def begin(self):
        self.up.wait_for("The API listens")
        self.api = Api(os.path.join(self.folder.name, "d", "kubeconfig"))
        self.api.create("queues", {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": QUEUE},
                                   "spec": {"resources": {name: {"quota": -1, "limit": -1} for name in ("gpu", "cpu", "memory")}}})

    def start_run(self):
        with open(os.path.join(self.folder.name, "run.yaml"), "w", encoding="utf-8") as file:
            file.write(f"schedulerNames: [{SCHEDULER}]\npodGroupsForSinglePods: true\n")
        self.run = Process(PLATOON, self.folder.name, "run", "--kubeconfig", "d/kubeconfig", "--config", "run.yaml", "--listen",
                           "127.0.0.1:0")
        self.run.wait_for("connected to")

    def object(self, version, kind, resource, name, owner=None, **more):
        metadata = {"name": name, "namespace": "default", "labels": {"kai.scheduler/queue": QUEUE} if not owner else {}}
        if owner:
            metadata["ownerReferences"] = [reference(owner)]
        return self.api.create(resource, {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {}, **more})

    def pod(self, name, owner, **labels):
        self.api.create("pods", {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "labels": labels, "ownerReferences": [reference(owner)]},
            "spec": {"schedulerName": SCHEDULER, "containers": [{"name": "main", "image": "x"}]}})

    def seen(self, name):
        return self.api.get(f"/api/v1/namespaces/default/pods/{name}")

    def placed(self, name):
        """Waits until the pod has a node; the queue of its PodGroup."""
        until(f"{name} has a node", lambda: self.seen(name)["spec"].get("nodeName"),
              lambda: f"{self.seen(name).get('status')}\n{self.run.log()[-2000:]}")
        group = self.seen(name)["metadata"]["annotations"]["pod-group-name"]
        return self.api.get(f"/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups/{group}")["spec"]["queue"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.run:
            self.run.__exit__()
        self.up.__exit__()
        self.folder.cleanup()


def reference(owner):
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"], "controller": True}


@test
def pods_of_every_known_kind_are_placed():
    """Notebook, TaskRun, DevWorkspace, ... and wrappers: each in the last version that the registry has for it."""
    assert len(GROUPED) > 15, GROUPED
    with Cluster() as cluster:
        names = []
        for row in DEFINED:
            cluster.api.define(row["kind"], row["group"], row["versions"].split(", ")[-1], row["resource"])
        cluster.start_run()
        for row in GROUPED:
            if row["grouped by"] == "knative":  # its pods stand below a Revision, see below
                continue
            version = f"{row['group']}/{row['versions'].split(', ')[-1]}"
            name = f"{row['kind'].lower()}-{row['group'].split('.')[0]}"
            spec = {"job": {"options": {"envs": {"AZUREML_NODE_COUNT": 1}}}} if row["grouped by"] == "aml" else {}
            owner = cluster.object(version, row["kind"], row["resource"], name, spec=spec)
            cluster.pod(name, owner)
            names.append(name)
        for name in names:
            assert cluster.placed(name) == QUEUE, name


@test
def knative_services_are_found_above_their_revisions():
    api = "serving.knative.dev/v1"
    with Cluster() as cluster:
        for kind in ("Service", "Configuration", "Revision"):
            cluster.api.define(kind, "serving.knative.dev", "v1", kind.lower() + "s")
        cluster.start_run()
        service = cluster.object(api, "Service", "services", "hello")
        configuration = cluster.object(api, "Configuration", "configurations", "hello", service)
        revision = cluster.api.create("revisions", {
            "apiVersion": api, "kind": "Revision", "spec": {},
            "metadata": {"name": "hello-1", "namespace": "default", "labels": {"kai.scheduler/queue": QUEUE},
                         "ownerReferences": [reference(configuration)]}})
        cluster.pod("hello-1-0", revision, **{"serving.knative.dev/revision": "hello-1"})
        assert cluster.placed("hello-1-0") == QUEUE


@test
def wrappers_lend_their_labels_through_what_they_wrap():
    with Cluster() as cluster:
        cluster.api.define("TrainJob", "trainer.kubeflow.org", "v1alpha1", "trainjobs")
        cluster.start_run()
        train = cluster.object("trainer.kubeflow.org/v1alpha1", "TrainJob", "trainjobs", "t")
        template = {"spec": {"schedulerName": SCHEDULER, "restartPolicy": "Never", "containers": [{"name": "m", "image": "x"}]}}
        jobs = [{"name": "w", "replicas": 1, "template": {"spec": {"parallelism": 2, "completions": 2, "template": template}}}]
        cluster.object("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets", "t", train, spec={"replicatedJobs": jobs})
        pods = until("the pods are there", lambda: [
            pod["metadata"]["name"] for pod in cluster.api.get("/api/v1/namespaces/default/pods")["items"]])
        for name in pods:
            assert cluster.placed(name) == QUEUE


@test
def kinds_that_come_later_count_from_their_first_pod_on():
    """Definitions, workloads and pods one right after the other, while `run` has long found that the kinds are not there."""
    with Cluster() as cluster:
        cluster.start_run()
        cluster.api.define("Notebook", "kubeflow.org", "v1", "notebooks")
        cluster.api.define("TrainJob", "trainer.kubeflow.org", "v1alpha1", "trainjobs")
        notebook = cluster.object("kubeflow.org/v1", "Notebook", "notebooks", "n")
        cluster.pod("n-0", notebook)
        train = cluster.object("trainer.kubeflow.org/v1alpha1", "TrainJob", "trainjobs", "t")
        wrapped = cluster.object("kubeflow.org/v1", "Notebook", "notebooks", "t", train)
        cluster.pod("t-0", wrapped)
        for name in ("n-0", "t-0"):
            assert cluster.placed(name) == QUEUE, name
        told = cluster.api.get("/api/v1/namespaces/default/events")["items"]
        assert not [event for event in told if event["involvedObject"]["name"] == "n-0" and event["reason"] == "OwnerNotFound"], told


@test
def groups_of_other_schedulers_are_read_also_when_they_come_after_their_pods():
    with Cluster() as cluster:
        cluster.start_run()
        rows = [row for row in ROWS if row["grouped by"] == "pods that name it"]
        keys = {"scheduling.x-k8s.io": ("labels", "scheduling.x-k8s.io/pod-group"),
                "scheduling.sigs.k8s.io": ("labels", "pod-group.scheduling.sigs.k8s.io"),
                "scheduling.volcano.sh": ("annotations", "scheduling.k8s.io/group-name")}
        assert {row["group"] for row in rows} == set(keys), rows
        for number, row in enumerate(rows):
            field, key = keys[row["group"]]
            cluster.api.create("pods", {
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": f"p-{number}", "namespace": "default", field: {key: f"g-{number}"}},
                "spec": {"schedulerName": SCHEDULER, "containers": [{"name": "main", "image": "x"}]}})
        until("they wait for their groups", lambda: all(
            "NotGrouped" in str(cluster.seen(f"p-{number}").get("status")) for number in range(len(rows))))
        for number, row in enumerate(rows):
            cluster.object(f"{row['group']}/{row['versions']}", row["kind"], row["resource"], f"g-{number}", spec={"minMember": 1})
        for number in range(len(rows)):
            assert cluster.placed(f"p-{number}") == QUEUE


@test
def grove_is_grouped_by_its_pod_gangs():
    with Cluster() as cluster:
        cluster.start_run()
        clique = {"name": "w", "spec": {"roleName": "w", "replicas": 2, "minAvailable": 2, "podSpec": {
            "schedulerName": SCHEDULER, "containers": [{"name": "m", "image": "x"}]}}}
        cluster.object("grove.io/v1alpha1", "PodCliqueSet", "podcliquesets", "g",
                       spec={"replicas": 1, "template": {"cliques": [clique]}})

        def pods():
            items = cluster.api.get("/api/v1/namespaces/default/pods")["items"]
            return [pod["metadata"]["name"] for pod in items] if len(items) == 2 else None
        for name in until("two pods are there", pods):
            cluster.placed(name)


@test
def a_kind_that_is_not_served_holds_nobody_up():
    """The owner is of a known kind without a definition, and of one that the server has in no version."""
    with Cluster() as cluster:
        cluster.start_run()
        for kind, version in (("Notebook", "kubeflow.org/v1"), ("TaskRun", "tekton.dev/v1"), ("Gadget", "example.com/v1")):
            name = kind.lower()
            cluster.pod(name, {"apiVersion": version, "kind": kind, "metadata": {"name": name, "uid": f"{name}-uid"}})
            cluster.placed(name)


run_tests(sys.argv[2:])
