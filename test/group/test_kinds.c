/* Families of kinds at their edges: fields that are missing, of the wrong type, zero or far too large. */
#include "story.h"

#define TF(spec) WORKLOAD("kubeflow.org/v1", "TFJob", "", spec) POD(OWNED("kubeflow.org/v1", "TFJob", "w"))
#define PYTORCH(spec)                                                                                                  \
	WORKLOAD("kubeflow.org/v1", "PyTorchJob", "", spec)                                                            \
	POD(OWNED("kubeflow.org/v1", "PyTorchJob", "w") "labels: {training.kubeflow.org/replica-type: Worker}, ")
#define MPI(spec, pod)                                                                                                 \
	WORKLOAD("kubeflow.org/v2beta1", "MPIJob", "", spec)                                                           \
	pod POD(OWNED("kubeflow.org/v2beta1", "MPIJob", "w") "labels: {training.kubeflow.org/job-role: worker, "       \
	                                                     "training.kubeflow.org/replica-index: \"0\"}, ")
#define LAUNCHER(more)                                                                                                 \
	"---\n{apiVersion: v1, kind: Pod, metadata: {" more "name: l, namespace: ns, labels: "                         \
	"{training.kubeflow.org/job-name: w, training.kubeflow.org/job-role: launcher}}}\n"
#define ALL(stories) story_check_all(stories, sizeof(stories) / sizeof(*(stories)))

static void kubeflow(void **state)
{
	static const struct story stories[] = {
		{"replicas of a wrong type", TF("tfReplicaSpecs: {Worker: {replicas: many}}"),
	         "refused ! wrong-field-type"},
		{"negative replicas", TF("tfReplicaSpecs: {Worker: {replicas: -1}}"), "refused ! wrong-field-type"},
		{"missing replicas", TF("tfReplicaSpecs: {Worker: {}}"), "refused ! replica-count-zero"},
		{"every empty role is named", TF("tfReplicaSpecs: {PS: {replicas: 0}, Worker: {}}"),
	         "refused ! replica-count-zero replica-count-zero"},
		{"replica specs that are a list", TF("tfReplicaSpecs: [1]"), "refused ! wrong-field-type"},
		{"a role that is a number", TF("tfReplicaSpecs: {Worker: 3}"), "refused ! wrong-field-type"},
		{"no roles at all", TF("tfReplicaSpecs: {}"), "refused ! replica-count-zero"},
		{"minAvailable of a wrong type",
	         TF("runPolicy: {schedulingPolicy: {minAvailable: \"3\"}}, tfReplicaSpecs: {Worker: {replicas: 1}}"),
	         "refused ! wrong-field-type"},
		{"minAvailable 0: everything is elastic",
	         TF("runPolicy: {schedulingPolicy: {minAvailable: 0}}, tfReplicaSpecs: {Worker: {replicas: 1}}"),
	         "pg-w-u1 min=0"},
		{"more pods than a PodGroup can count",
	         TF("tfReplicaSpecs: {Worker: {replicas: 2000000000}, PS: {replicas: "
	            "2000000000}}"),
	         "pg-w-u1 min=2147483647 ! too-large"},
		{"a number beyond int32", TF("tfReplicaSpecs: {Worker: {replicas: 9000000000000000000}}"),
	         "pg-w-u1 min=2147483647 ! too-large"},
		{"role labels are compared without case", PYTORCH("pytorchReplicaSpecs: {Worker: {replicas: 2}}"),
	         "pg-w-u1 min=2 worker:2 -> worker"},
		{"a minimum below the masters",
	         PYTORCH("elasticPolicy: {minReplicas: 1}, pytorchReplicaSpecs: {Master: {replicas: 2}, Worker: "
	                 "{replicas: "
	                 "2}}"),
	         "pg-w-u1 min=2 master:2 worker:0 -> worker"},
		{"a pod of no role", PYTORCH("pytorchReplicaSpecs: {Master: {replicas: 2}}"),
	         "pg-w-u1 min=2 master:2 ! unknown-subgroup"},
		{"an MPIJob without launcher", MPI("mpiReplicaSpecs: {Worker: {replicas: 2}}", ""),
	         "refused ! role-missing"},
	};
	ALL(stories);
}

#define LATE "launcherCreationPolicy: WaitForWorkersReady, "
#define MPI_SPEC "mpiReplicaSpecs: {Launcher: {replicas: 1}, Worker: {replicas: 2"

static void late_launchers(void **state)
{
	static const struct story stories[] = {
		{"not there yet", MPI(LATE MPI_SPEC "}}", ""), "pg-w-u1 min=2"},
		{"there", MPI(LATE MPI_SPEC "}}", LAUNCHER("")), "pg-w-u1 min=3"},
		{"on its way out", MPI(LATE MPI_SPEC "}}", LAUNCHER("deletionTimestamp: 2025-01-01T00:00:00Z, ")),
	         "pg-w-u1 min=2"},
		{"with segments it is a leaf that nobody waits for",
	         MPI(LATE MPI_SPEC ", " TEMPLATE(SEGMENTS("1") TOPOLOGY) "}}", ""),
	         "pg-w-u1 min=2 launcher:0 worker worker-0<worker:1@topo,rack, worker-1<worker:1@topo,rack, -> "
	         "worker-0 #0"},
	};
	ALL(stories);
}

#define JOBSET(more, spec, labels)                                                                                     \
	WORKLOAD("jobset.x-k8s.io/v1alpha2", "JobSet", more, spec)                                                     \
	POD(OWNED("jobset.x-k8s.io/v1alpha2", "JobSet", "w") "labels: {" labels "}, ")
#define OF_JOB(name, index)                                                                                            \
	"jobset.sigs.k8s.io/replicatedjob-name: " name ", jobset.sigs.k8s.io/job-index: \"" index "\""

static void jobsets(void **state)
{
	static const struct story stories[] = {
		{"numbers default to 1", JOBSET("", "replicatedJobs: [{name: j}]", OF_JOB("j", "0")),
	         "pg-w-u1 min=1 j j-replica-0<j:1 -> j-replica-0"},
		{"a job without replicas is left out",
	         JOBSET("", "replicatedJobs: [{name: j}, {name: k, replicas: 0}]", OF_JOB("j", "0")),
	         "pg-w-u1 min=1 j j-replica-0<j:1 -> j-replica-0"},
		{"all without", JOBSET("", "replicatedJobs: [{name: k, replicas: 0}]", OF_JOB("k", "0")),
	         "refused ! no-replicated-jobs"},
		{"a Job beyond the replicas", JOBSET("", "replicatedJobs: [{name: j}]", OF_JOB("j", "1")),
	         "pg-w-u1 min=1 j j-replica-0<j:1 ! index-beyond-last"},
		{"an index that is none", JOBSET("", "replicatedJobs: [{name: j}]", OF_JOB("j", "one")),
	         "pg-w-u1 min=1 j j-replica-0<j:1 ! index-not-a-number"},
		{"a job nobody knows", JOBSET("", "replicatedJobs: [{name: j}]", OF_JOB("k", "0")),
	         "pg-w-u1 min=1 j j-replica-0<j:1 ! unknown-subgroup"},
		{"Jobs in domains of their own, each led by its first pod",
	         JOBSET("annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}, ",
	                "replicatedJobs: [{name: j, replicas: 2, template: {spec: {parallelism: 4}}}]",
	                OF_JOB("j", "0")),
	         "pg-w-u1 min=2 j j-replica-0<j:1 j-replica-1<j:1 -> j-replica-0"},
		{"one of two such jobs, in segments",
	         JOBSET("annotations: {" TOPOLOGY "}, ",
	                "replicatedJobs: [{name: j, template: {metadata: {annotations: "
	                "{alpha.jobset.sigs.k8s.io/exclusive-topology: rack}}, spec: {parallelism: 4, " TEMPLATE(
				SEGMENTS("2")) "}}}, {name: k, template: {spec: {parallelism: 2}}}]",
	                OF_JOB("j", "0") ", batch.kubernetes.io/job-completion-index: \"0\""),
	         "pg-w-u1 min=3@topo,, j j-replica-0<j j-replica-0-0<j-replica-0:1@topo,rack, "
	         "j-replica-0-1<j-replica-0:0@topo,rack, k k-replica-0<k:2 -> j-replica-0-0 #0"},
		{"nobody leads where the user has labelled the nodes",
	         JOBSET("annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack, "
	                "alpha.jobset.sigs.k8s.io/node-selector: \"true\"}, ",
	                "replicatedJobs: [{name: j, template: {spec: {parallelism: 4}}}]", OF_JOB("j", "0")),
	         "pg-w-u1 min=4 j j-replica-0<j:4 -> j-replica-0"},
		{"a minimum per Job",
	         JOBSET("",
	                "replicatedJobs: [{name: j, template: {metadata: {annotations: "
	                "{kai.scheduler/batch-min-member: "
	                "\"2\"}}, spec: {parallelism: 4}}}]",
	                OF_JOB("j", "0")),
	         "pg-w-u1 min=2 j j-replica-0<j:2 -> j-replica-0"},
		{"a minimum per Job that cannot be reached",
	         JOBSET("",
	                "replicatedJobs: [{name: j, template: {metadata: {annotations: "
	                "{kai.scheduler/batch-min-member: "
	                "\"2\"}}}}]",
	                OF_JOB("j", "0")),
	         "pg-w-u1 min=2 j j-replica-0<j:2 -> j-replica-0 ! replicas-below-minimum"},
		{"a minimum below 1",
	         JOBSET("annotations: {kai.scheduler/batch-min-member: \"0\"}, ",
	                "replicatedJobs: [{name: "
	                "j}]",
	                OF_JOB("j", "0")),
	         "refused ! min-member-not-positive"},
		{"a job without a name, and one that is no object",
	         JOBSET("", "replicatedJobs: [{}, 3]", OF_JOB("j", "0")),
	         "refused ! wrong-field-type wrong-field-type"},
		{"an order of a wrong type",
	         JOBSET("", "replicatedJobs: [{name: j}], startupPolicy: {startupPolicyOrder: 1}", OF_JOB("j", "0")),
	         "refused ! wrong-field-type"},
		{"more replicas than subgroups: still a gang",
	         JOBSET("", "replicatedJobs: [{name: j, replicas: 2000000, template: {spec: {parallelism: 3}}}]",
	                OF_JOB("j", "5")),
	         "pg-w-u1 min=6000000 j:6000000 -> j ! too-large"},
		{"two jobs of one name get two subgroups, the first has the pod",
	         JOBSET("", "replicatedJobs: [{name: j}, {name: j}]", OF_JOB("j", "0")),
	         "pg-w-u1 min=2 j j-replica-0<j:1 j-34636cfa j-replica-0-39ce4b69<j-34636cfa:1 -> j-replica-0"},
		{"a level without Topology is left out",
	         JOBSET("",
	                "replicatedJobs: [{name: j, template: {metadata: {annotations: "
	                "{kai.scheduler/topology-required-placement: rack}}}}]",
	                OF_JOB("j", "0")),
	         "pg-w-u1 min=1 j j-replica-0<j:1 -> j-replica-0 ! topology-name-missing"},
		{"a level below the Topology of the JobSet",
	         JOBSET("annotations: {" TOPOLOGY "}, ",
	                "replicatedJobs: [{name: j, template: {metadata: {annotations: "
	                "{kai.scheduler/topology-required-placement: rack}}}}]",
	                OF_JOB("j", "0")),
	         "pg-w-u1 min=1@topo,, j j-replica-0<j:1@topo,rack, -> j-replica-0"},
		{"a flat group from earlier times stays flat",
	         "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: pg-w-u1, namespace: "
	         "ns}, "
	         "spec: {minMember: 3}}\n" JOBSET("", "replicatedJobs: [{name: j}]", OF_JOB("j", "0")),
	         "pg-w-u1 min=1"},
	};
	ALL(stories);
}

#define RAY(spec, group) WORKLOAD("ray.io/v1", "RayCluster", "", spec) RAY_POD(group)
#define RAY_POD(group) POD(OWNED("ray.io/v1", "RayCluster", "w") "labels: {ray.io/group: " group "}, ")

static void ray(void **state)
{
	static const struct story stories[] = {
		{"a head alone", RAY("", "headgroup"), "pg-w-u1 min=1 headgroup:1 -> headgroup"},
		{"names that are no labels are changed, and found again",
	         RAY("workerGroupSpecs: [{groupName: GPU_workers, replicas: 1}, {groupName: gpu.workers, replicas: 1}]",
	             "gpu.workers"),
	         "pg-w-u1 min=3 headgroup:1 gpu-workers-af2fc8d4:1 gpu-workers-998c2fa6:1 -> gpu-workers-998c2fa6"},
		{"a worker group called like the head",
	         RAY("workerGroupSpecs: [{groupName: headgroup, replicas: 1}]", "headgroup"),
	         "pg-w-u1 min=2 headgroup:1 headgroup-f352244b:1 -> headgroup"},
		{"groups without replicas are left out", RAY("workerGroupSpecs: [{groupName: a}]", "headgroup"),
	         "pg-w-u1 min=1 headgroup:1 -> headgroup"},
		{"minReplicas above replicas",
	         RAY("workerGroupSpecs: [{groupName: a, replicas: 1, minReplicas: 2}]", "a"),
	         "refused ! replicas-below-minimum"},
		{"a list that is none", RAY("workerGroupSpecs: {}", "a"), "refused ! wrong-field-type"},
		{"all bad groups are named", RAY("workerGroupSpecs: [1, {replicas: x}]", "a"),
	         "refused ! wrong-field-type wrong-field-type"},
		{"a level without Topology",
	         RAY("headGroupSpec: {"
	             "template: {metadata: {annotations: {kai.scheduler/topology-required-placement: "
	             "rack}}}}",
	             "headgroup"),
	         "refused ! topology-name-missing"},
		{"hosts times replicas beyond int32",
	         RAY("workerGroupSpecs: [{groupName: a, replicas: 2000000000, numOfHosts: 2000000000}]", "a"),
	         "pg-w-u1 min=2147483648 headgroup:1 a:2147483647 -> a ! too-large"},
		{"a RayJob whose cluster is only described",
	         WORKLOAD("ray.io/v1", "RayJob", "",
	                  "rayClusterSpec: {workerGroupSpecs: [{groupName: a, replicas: 2}]}")
	                 POD(OWNED("ray.io/v1", "RayJob", "w") "labels: {ray.io/group: a}, "),
	         "pg-w-u1 min=3 headgroup:1 a:2 -> a"},
		{"an autoscaler may start with no workers",
	         RAY("enableInTreeAutoscaling: true, workerGroupSpecs: [{groupName: a, replicas: 2}]", "a"),
	         "pg-w-u1 min=1 headgroup:1 a:0 -> a"},
		{"the pod that submits a RayJob comes when the cluster runs",
	         WORKLOAD("ray.io/v1", "RayJob", "labels: {kai.scheduler/queue: q}, ",
	                  "rayClusterSpec: {}") "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: "
	                                        "ns, uid: j1, " OWNED(
							"ray.io/v1", "RayJob",
							"w") "}}\n"
	                                                     "---\n{apiVersion: v1, kind: Pod, metadata: "
	                                                     "{name: p, namespace: ns, ownerReferences: "
	                                                     "[{apiVersion: "
	                                                     "batch/v1, kind: Job, name: j, uid: j1}]}}\n",
	         "pg-j-j1 min=1"},
		{"a RayService without a cluster",
	         WORKLOAD("ray.io/v1", "RayService", "", "x: 1") POD(OWNED("ray.io/v1", "RayService", "w")),
	         "refused ! object-not-found"},
		{"a flat group from earlier times stays flat",
	         "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: pg-w-u1, namespace: "
	         "ns}, "
	         "spec: {minMember: 3}}\n" RAY("workerGroupSpecs: [{groupName: a, replicas: 2}]", "a"),
	         "pg-w-u1 min=3"},
	};
	ALL(stories);
}

#define GANG(more, spec)                                                                                               \
	"---\n{apiVersion: scheduler.grove.io/v1alpha1, kind: PodGang, metadata: {" more                               \
	"name: gang, namespace: ns, uid: g1}, spec: {" spec "}}\n"
#define GROVE                                                                                                          \
	WORKLOAD("grove.io/v1alpha1", "PodCliqueSet", "", "")                                                          \
	POD(OWNED("grove.io/v1alpha1", "PodCliqueSet", "w") "labels: {grove.io/podgang: gang, grove.io/podclique: "    \
	                                                    "b}, ")
#define CLIQUE(name, more) "{name: " name ", minReplicas: 1, podReferences: []" more "}"

static void grove(void **state)
{
	static const struct story stories[] = {
		{"no PodGang", GROVE, "refused ! object-not-found"},
		{"no label",
	         WORKLOAD("grove.io/v1alpha1", "PodCliqueSet", "", "")
	                 POD(OWNED("grove.io/v1alpha1", "PodCliqueSet", "w")),
	         "refused ! pod-label-missing"},
		{"a pod that is not listed yet is known by its label",
	         GANG("", "podgroups: [" CLIQUE("a", "") ", " CLIQUE("b", "") "]") GROVE,
	         "pg-gang-g1 min=2 a:1 b:1 -> b"},
		{"a pod of no clique", GANG("", "podgroups: [" CLIQUE("a", "") "]") GROVE,
	         "pg-gang-g1 min=1 a:1 ! unknown-subgroup"},
		{"no cliques", GANG("", "podgroups: []") GROVE, "refused ! wrong-field-type"},
		{"a clique twice", GANG("", "podgroups: [" CLIQUE("a", "") ", " CLIQUE("a", "") "]") GROVE,
	         "refused ! wrong-field-type"},
		{"all faults of a clique at once", GANG("", "podgroups: [{topologyConstraint: 3}]") GROVE,
	         "refused ! wrong-field-type min-replicas-not-positive wrong-field-type wrong-field-type"},
		{"pods of another namespace",
	         GANG("", "podgroups: [{name: a, minReplicas: 1, podReferences: [{namespace: other, name: p}]}]") GROVE,
	         "refused ! wrong-field-type"},
		{"a group of unknown cliques is no parent",
	         GANG("", "podgroups: [" CLIQUE("b", "") "], topologyConstraintGroupConfigs: [{name: g, podGroupNames: "
	                                                 "[x]}]") GROVE,
	         "pg-gang-g1 min=1 b:1 -> b"},
		{"a clique in two groups",
	         GANG("", "podgroups: [" CLIQUE("b", "") "], topologyConstraintGroupConfigs: [{name: g, podGroupNames: "
	                                                 "[b]}, {name: h, podGroupNames: [b]}]") GROVE,
	         "refused ! wrong-field-type"},
		{"a group without name",
	         GANG("", "podgroups: [" CLIQUE("b", "") "], topologyConstraintGroupConfigs: [{podGroupNames: [b]}]")
	                 GROVE,
	         "refused ! wrong-field-type"},
		{"members that are no names",
	         GANG("", "podgroups: [" CLIQUE("b", "") "], topologyConstraintGroupConfigs: [{name: g, podGroupNames: "
	                                                 "[b, 3]}]") GROVE,
	         "refused ! wrong-field-type member-missing"},
		{"the Topology may stand on the set above",
	         GANG("", "podgroups: [" CLIQUE("b", ", topologyConstraint: {packConstraint: {required: rack}}") "]")
	                 WORKLOAD("grove.io/v1alpha1", "PodCliqueSet", "annotations: {" TOPOLOGY "}, ", "")
	                         POD(OWNED("grove.io/v1alpha1", "PodCliqueSet",
	                                   "w") "labels: {grove.io/podgang: gang, grove.io/podclique: b}, "),
	         "pg-gang-g1 min=1@topo,, b:1@topo,rack, -> b"},
	};
	ALL(stories);
}

#define LWS(spec, more)                                                                                                \
	WORKLOAD("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "", spec)                                           \
	POD(more OWNED("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "w"))
#define LEADER "labels: {leaderworkerset.sigs.k8s.io/worker-index: \"0\"}, "

static void others(void **state)
{
	static const struct story stories[] = {
		{"a LeaderWorkerSet without size", LWS("", ""), "refused ! size-missing"},
		{"of size 0", LWS("leaderWorkerTemplate: {size: 0}", ""), "refused ! size-missing"},
		{"of size 1", LWS("leaderWorkerTemplate: {size: 1}", LEADER), "pg-w-u1 min=1 leader:1 -> leader"},
		{"a worker of size 1", LWS("leaderWorkerTemplate: {size: 1}", ""),
	         "pg-w-u1 min=1 leader:1 ! pod-label-missing"},
		{"a leader that comes first",
	         LWS("startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 3}", LEADER),
	         "pg-w-u1 min=1 leader:1 workers:0 -> leader"},
		{"its workers",
	         LWS("startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 3}",
	             "labels: {leaderworkerset.sigs.k8s.io/worker-index: \"1\"}, "),
	         "pg-w-u1 min=3 leader:1 workers:2 -> workers"},
		{"a leader whose workers follow it into a domain of their own",
	         WORKLOAD("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
	                  "annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}, ",
	                  "leaderWorkerTemplate: {size: 3}")
	                 POD(LEADER OWNED("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "w")),
	         "pg-w-u1 min=1 leader:1 workers:0 -> leader"},
		{"a policy that is a number", LWS("startupPolicy: 1, leaderWorkerTemplate: {size: 3}", LEADER),
	         "refused ! wrong-field-type"},
		{"a Job with a minimum of 0",
	         WORKLOAD("batch/v1", "Job", "annotations: {kai.scheduler/batch-min-member: \"0\"}, ", "")
	                 POD(OWNED("batch/v1", "Job", "w")),
	         "pg-w-u1 min=0"},
		{"a Job with a negative minimum",
	         WORKLOAD("batch/v1", "Job", "annotations: {kai.scheduler/batch-min-member: \"-1\"}, ", "")
	                 POD(OWNED("batch/v1", "Job", "w")),
	         "refused ! min-member-not-positive"},
		{"a CronJob without its Job",
	         WORKLOAD("batch/v1", "CronJob", "", "") POD(OWNED("batch/v1", "CronJob", "w")),
	         "refused ! owner-not-found"},
		{"a Knative pod without revision",
	         WORKLOAD("serving.knative.dev/v1", "Service", "", "")
	                 POD(OWNED("serving.knative.dev/v1", "Service", "w")),
	         "refused ! pod-label-missing"},
		{"whose Revision is gone",
	         WORKLOAD("serving.knative.dev/v1", "Service", "", "") POD(
			 OWNED("serving.knative.dev/v1", "Service", "w") "labels: {serving.knative.dev/revision: r}, "),
	         "refused ! object-not-found"},
		{"a node count of words",
	         WORKLOAD("amlarc.azureml.com/v1alpha1", "AmlJob", "",
	                  "job: {options: {envs: {AZUREML_NODE_COUNT: many}}}")
	                 POD(OWNED("amlarc.azureml.com/v1alpha1", "AmlJob", "w")),
	         "refused ! wrong-field-type"},
		{"a node count in quotes",
	         WORKLOAD("amlarc.azureml.com/v1alpha1", "AmlJob", "",
	                  "job: {options: {envs: {AZUREML_NODE_COUNT: \"2\"}}}")
	                 POD(OWNED("amlarc.azureml.com/v1alpha1", "AmlJob", "w")),
	         "pg-w-u1 min=2"},
		{"a RunaiJob whose pod has no dash in its name",
	         WORKLOAD("run.ai/v1", "RunaiJob", "", "") POD(OWNED("run.ai/v1", "RunaiJob", "w")), "pg-p-u1 min=1"},
	};
	ALL(stories);
}

#define REVISION(more)                                                                                                 \
	"---\n{apiVersion: serving.knative.dev/v1, kind: Revision, metadata: {" more                                   \
	"name: r, namespace: ns, uid: r1}}\n" WORKLOAD("serving.knative.dev/v1", "Service", "", "")                    \
		POD(OWNED("serving.knative.dev/v1", "Service", "w") "labels: {serving.knative.dev/revision: r}, ")

static void configured(void **state)
{
	const struct group_options gang = {.knative_gang = true}, old = {.keep_old_names = true};
	static const struct story alone = {"pods each for itself", REVISION(""), "pg-p-pu min=1"};
	static const struct story together = {"a revision as a gang",
	                                      REVISION("annotations: {autoscaling.knative.dev/min-scale: \"3\"}, "),
	                                      "pg-r-r1 min=3"};
	static const struct story bad = {"a scale that is none",
	                                 REVISION("annotations: {autoscaling.knative.dev/min-scale: x}, "),
	                                 "pg-r-r1 min=1 ! min-scale-not-a-number"};
	static const struct story legacy = {"a group named after the pod is kept",
	                                    "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: "
	                                    "{name: pg-p-u1, namespace: ns}}\n" WORKLOAD("batch/v1", "Job", "", "")
	                                            POD(OWNED("batch/v1", "Job", "w")),
	                                    "pg-p-u1 min=1"};
	story_check(&alone, NULL);
	story_check(&together, &gang);
	story_check(&bad, &gang);
	story_check(&legacy, &old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kubeflow),   cmocka_unit_test(late_launchers), cmocka_unit_test(jobsets),
		cmocka_unit_test(ray),        cmocka_unit_test(grove),          cmocka_unit_test(others),
		cmocka_unit_test(configured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
