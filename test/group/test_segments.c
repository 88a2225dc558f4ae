/* Segments: who asks for them, where the index comes from, mandatory, elastic and short ones, and what is refused. */
#include "story.h"

#include <stdio.h>

#define PYTORCH(annotations, spec) WORKLOAD("kubeflow.org/v1", "PyTorchJob", annotations, spec)
#define WORKER(index)                                                                                                  \
	POD(OWNED("kubeflow.org/v1", "PyTorchJob", "w") "labels: {training.kubeflow.org/replica-type: worker, "        \
	                                                "training.kubeflow.org/replica-index: \"" index "\"}, ")
#define ON_ROOT "annotations: {" TOPOLOGY "}, "
#define WORKERS(count, annotations) "pytorchReplicaSpecs: {Worker: {replicas: " count ", " TEMPLATE(annotations) "}}"

static void sizes(void **state)
{
	static const struct story stories[] = {
		{"the last segment is short", PYTORCH(ON_ROOT, WORKERS("5", SEGMENTS("2"))) WORKER("4"),
	         "pg-w-u1 min=5@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:2@topo,rack, "
	         "worker-2<worker:1@topo,rack, -> worker-2 #2"},
		{"a segment larger than the role is one segment",
	         PYTORCH(ON_ROOT, WORKERS("3", SEGMENTS("8"))) WORKER("2"),
	         "pg-w-u1 min=3@topo,, worker worker-0<worker:3@topo,rack, -> worker-0 #0"},
		{"a minimum inside a segment makes the whole segment mandatory",
	         PYTORCH(ON_ROOT, "elasticPolicy: {minReplicas: 3}, " WORKERS("6", SEGMENTS("2"))) WORKER("0"),
	         "pg-w-u1 min=4@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:2@topo,rack, "
	         "worker-2<worker:0@topo,rack, -> worker-0 #0"},
		{"a minimum of 0 leaves all segments elastic",
	         PYTORCH(ON_ROOT, "elasticPolicy: {minReplicas: 0}, " WORKERS("4", SEGMENTS("2"))) WORKER("3"),
	         "pg-w-u1 min=0@topo,, worker worker-0<worker:0@topo,rack, worker-1<worker:0@topo,rack, -> worker-1 "
	         "#1"},
		{"a minimum above the replicas does not invent segments",
	         PYTORCH(ON_ROOT, "elasticPolicy: {minReplicas: 9}, " WORKERS("4", SEGMENTS("2"))) WORKER("0"),
	         "pg-w-u1 min=4@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:2@topo,rack, -> worker-0 "
	         "#0"},
		{"no level: segments, but nobody gains",
	         PYTORCH(ON_ROOT, WORKERS("2", "kai.scheduler/segment-size: \"1\"")) WORKER("1"),
	         "pg-w-u1 min=2@topo,, worker worker-0<worker:1 worker-1<worker:1 -> worker-1 #1 ! "
	         "segment-level-missing"},
	};
	story_check_all(stories, sizeof(stories) / sizeof(*stories));
}

static void refused_values(void **state)
{
	static const char plain[] = "pg-w-u1 min=4@topo,, worker:4 -> worker ! segment-size-invalid";
	static const char *const sizes_refused[] = {"0", "-1", "two", "2.5", "1e2", "0x2", "99999999999", "2 "};
	for (size_t i = 0; i < sizeof(sizes_refused) / sizeof(*sizes_refused); i++) {
		char text[1024];
		snprintf(text, sizeof(text), PYTORCH(ON_ROOT, WORKERS("4", SEGMENTS("%s"))) WORKER("0"),
		         sizes_refused[i]);
		struct story story = {sizes_refused[i], text, plain};
		story_check(&story, NULL);
	}
	static const struct story stories[] = {
		{"a level without a size",
	         PYTORCH(ON_ROOT, WORKERS("4", "kai.scheduler/segment-topology-required-placement: rack")) WORKER("0"),
	         plain},
		{"no Topology", PYTORCH("", WORKERS("4", SEGMENTS("2"))) WORKER("0"),
	         "pg-w-u1 min=4 worker:4 -> worker ! segment-topology-missing"},
		{"the size of the pod wins over its template's, and is refused",
	         PYTORCH(ON_ROOT, WORKERS("4", SEGMENTS("2")))
	                 POD(OWNED("kubeflow.org/v1", "PyTorchJob",
	                           "w") "annotations: {kai.scheduler/segment-size: \"0\"}, "
	                                "labels: {training.kubeflow.org/replica-type: "
	                                "worker}, "),
	         plain},
		{"more segments than a group may have",
	         PYTORCH(ON_ROOT, WORKERS("2000000000", SEGMENTS("2"))) WORKER("0"),
	         "pg-w-u1 min=2000000000@topo,, worker:2000000000 -> worker ! too-large"},
	};
	story_check_all(stories, sizeof(stories) / sizeof(*stories));
}

static void indexes(void **state)
{
	static const char tree[] =
		"pg-w-u1 min=4@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:2@topo,rack,";
	static const struct {
		const char *index, *end;
	} rows[] = {
		{"0", " -> worker-0 #0"},
		{"3", " -> worker-1 #1"},
		{"4", " ! index-beyond-last"},
		{"-1", " ! index-not-a-number"},
		{"x", " ! index-not-a-number"},
		{"", " ! index-label-missing"},
		{"2147483647", " ! index-beyond-last"},
		{"9999999999", " ! index-not-a-number"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[1024], expect[256];
		snprintf(text, sizeof(text), PYTORCH(ON_ROOT, WORKERS("4", SEGMENTS("2"))) WORKER("%s"), rows[i].index);
		snprintf(expect, sizeof(expect), "%s%s", tree, rows[i].end);
		struct story story = {rows[i].index, text, expect};
		story_check(&story, NULL);
	}
}

static void where_annotations_stand(void **state)
{
	static const struct story stories[] = {
		{"the template's Topology wins over the workload's",
	         PYTORCH("annotations: {kai.scheduler/topology: wide}, ", WORKERS("2", SEGMENTS("2") TOPOLOGY))
	                 WORKER("0"),
	         "pg-w-u1 min=2@wide,, worker worker-0<worker:2@topo,rack, -> worker-0 #0"},
		{"every role can have segments of its own",
	         PYTORCH(ON_ROOT, "pytorchReplicaSpecs: {Worker: {replicas: 2, " TEMPLATE(SEGMENTS(
					  "1")) "}, "
	                                        "Master: {replicas: 2, " TEMPLATE(SEGMENTS("2")) "}}") WORKER("1"),
	         "pg-w-u1 min=4@topo,, master master-0<master:2@topo,rack, worker worker-0<worker:1@topo,rack, "
	         "worker-1<worker:1@topo,rack, -> worker-1 #1"},
		{"pod-index-label names another label",
	         PYTORCH(ON_ROOT, WORKERS("4", SEGMENTS("2") "kai.scheduler/pod-index-label: rank"))
	                 POD(OWNED("kubeflow.org/v1", "PyTorchJob", "w") "labels: {training.kubeflow.org/replica-type: "
	                                                                 "worker, rank: \"3\"}, "),
	         "pg-w-u1 min=4@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:2@topo,rack, -> worker-1 "
	         "#1"},
		{"numbers that are not quoted count too",
	         PYTORCH(ON_ROOT, WORKERS("2", "kai.scheduler/segment-size: 2, "
	                                       "kai.scheduler/segment-topology-preferred-placement: rack")) WORKER("0"),
	         "pg-w-u1 min=2@topo,, worker worker-0<worker:2@topo,,rack -> worker-0 #0"},
	};
	story_check_all(stories, sizeof(stories) / sizeof(*stories));
}

#define JOB(spec) WORKLOAD("batch/v1", "Job", ON_ROOT, spec)
#define JOB_POD POD(OWNED("batch/v1", "Job", "w") "labels: {batch.kubernetes.io/job-completion-index: \"3\"}, ")

static void other_kinds(void **state)
{
	static const struct story stories[] = {
		{"an Indexed Job numbers its pods",
	         JOB("completionMode: Indexed, parallelism: 4, " TEMPLATE(SEGMENTS("2"))) JOB_POD,
	         "pg-w-u1 min=4@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:2@topo,rack, -> worker-1 "
	         "#1"},
		{"pods that run later are elastic",
	         JOB("completionMode: Indexed, parallelism: 2, completions: 6, " TEMPLATE(SEGMENTS("2"))) JOB_POD,
	         "pg-w-u1 min=2@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:0@topo,rack, "
	         "worker-2<worker:0@topo,rack, -> worker-1 #1"},
		{"batch-min-member sets the mandatory part",
	         WORKLOAD("batch/v1", "Job", "annotations: {kai.scheduler/batch-min-member: \"2\", " TOPOLOGY "}, ",
	                  "completionMode: Indexed, parallelism: 4, " TEMPLATE(SEGMENTS("2"))) JOB_POD,
	         "pg-w-u1 min=2@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:0@topo,rack, -> worker-1 "
	         "#1"},
		{"a Job without indexes has no segments", JOB("parallelism: 4, " TEMPLATE(SEGMENTS("2"))) JOB_POD,
	         "pg-w-u1 min=1@topo,, ! segments-unsupported"},
		{"an unknown kind that names the label",
	         WORKLOAD("example.com/v1", "Foo", ON_ROOT,
	                  "replicas: 4, " TEMPLATE(SEGMENTS("2") "kai.scheduler/pod-index-label: rank"))
	                 POD(OWNED("example.com/v1", "Foo", "w") "labels: {rank: \"2\"}, "),
	         "pg-w-u1 min=2@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:0@topo,rack, -> worker-1 "
	         "#1"},
		{"an unknown kind that does not say how many pods it has",
	         WORKLOAD("example.com/v1", "Foo", ON_ROOT,
	                  TEMPLATE(SEGMENTS("2") "kai.scheduler/pod-index-label: rank"))
	                 POD(OWNED("example.com/v1", "Foo", "w") "labels: {rank: \"2\"}, "),
	         "pg-w-u1 min=1@topo,, ! segments-unsupported"},
		{"an ordered StatefulSet starts pod by pod",
	         WORKLOAD("apps/v1", "StatefulSet", ON_ROOT,
	                  "replicas: 4, " TEMPLATE(SEGMENTS("2") "kai.scheduler/pod-index-label: rank"))
	                 POD(OWNED("apps/v1", "StatefulSet", "w") "labels: {rank: \"1\"}, "),
	         "pg-w-u1 min=1@topo,, worker worker-0<worker:1@topo,rack, worker-1<worker:0@topo,rack, -> worker-0 "
	         "#0"},
		{"a StatefulSet numbers its pods",
	         WORKLOAD("apps/v1", "StatefulSet", ON_ROOT,
	                  "replicas: 4, podManagementPolicy: Parallel, " TEMPLATE(SEGMENTS("2")))
	                 POD(OWNED("apps/v1", "StatefulSet", "w") "labels: {apps.kubernetes.io/pod-index: \"2\"}, "),
	         "pg-w-u1 min=2@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:0@topo,rack, -> worker-1 "
	         "#1"},
		{"and counts from where its ordinals start",
	         WORKLOAD("apps/v1", "StatefulSet", ON_ROOT,
	                  "replicas: 4, ordinals: {start: 3}, podManagementPolicy: Parallel, " TEMPLATE(SEGMENTS("2")))
	                 POD(OWNED("apps/v1", "StatefulSet", "w") "labels: {apps.kubernetes.io/pod-index: \"4\"}, "),
	         "pg-w-u1 min=2@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:0@topo,rack, -> worker-0 "
	         "#0"},
		{"an ordinal before the first",
	         WORKLOAD("apps/v1", "StatefulSet", ON_ROOT,
	                  "replicas: 4, ordinals: {start: 3}, podManagementPolicy: Parallel, " TEMPLATE(SEGMENTS("2")))
	                 POD(OWNED("apps/v1", "StatefulSet", "w") "labels: {apps.kubernetes.io/pod-index: \"2\"}, "),
	         "pg-w-u1 min=2@topo,, worker worker-0<worker:2@topo,rack, worker-1<worker:0@topo,rack, ! "
	         "index-beyond-last"},
		{"pods of a Deployment are groups of their own",
	         WORKLOAD("apps/v1", "Deployment", ON_ROOT, TEMPLATE(SEGMENTS("2")))
	                 POD(OWNED("apps/v1", "Deployment", "w")),
	         "pg-p-pu min=1@topo,, ! segments-unsupported"},
		{"a Ray worker group with a label of the user's",
	         WORKLOAD("ray.io/v1", "RayCluster", ON_ROOT,
	                  "workerGroupSpecs: [{groupName: gpu, replicas: 4, minReplicas: 2, " TEMPLATE(
				  SEGMENTS("2") "kai.scheduler/pod-index-label: rank") "}]")
	                 POD(OWNED("ray.io/v1", "RayCluster", "w") "labels: {ray.io/group: gpu, rank: \"2\"}, "),
	         "pg-w-u1 min=3@topo,, headgroup:1 gpu gpu-0<gpu:2@topo,rack, gpu-1<gpu:0@topo,rack, -> gpu-1 #1"},
		{"a group that is called like a segment of another gets a name of its own",
	         WORKLOAD("ray.io/v1", "RayCluster", ON_ROOT,
	                  "workerGroupSpecs: [{groupName: gpu, replicas: 2, minReplicas: 2, " TEMPLATE(
				  SEGMENTS("2") "kai.scheduler/pod-index-label: rank") "}, {groupName: gpu-0, "
	                                                                               "replicas: 1, minReplicas: 1}]")
	                 POD(OWNED("ray.io/v1", "RayCluster", "w") "labels: {ray.io/group: gpu-0}, "),
	         "pg-w-u1 min=4@topo,, headgroup:1 gpu gpu-0<gpu:2@topo,rack, gpu-0-5a4cb04a:1 -> gpu-0-5a4cb04a"},
		{"the Jobs of a JobSet number their pods",
	         WORKLOAD("jobset.x-k8s.io/v1alpha2", "JobSet", ON_ROOT,
	                  "replicatedJobs: [{name: j, replicas: 1, template: {spec: {parallelism: 4, " TEMPLATE(
				  SEGMENTS("2")) "}}}]")
	                 POD(OWNED("jobset.x-k8s.io/v1alpha2", "JobSet",
	                           "w") "labels: {jobset.sigs.k8s.io/replicatedjob-name: j, "
	                                "jobset.sigs.k8s.io/job-index: \"0\", "
	                                "batch.kubernetes.io/job-completion-index: \"3\"}, "),
	         "pg-w-u1 min=4@topo,, j j-replica-0<j j-replica-0-0<j-replica-0:2@topo,rack, "
	         "j-replica-0-1<j-replica-0:2@topo,rack, -> j-replica-0-1 #1"},
		{"unless they say that they do not",
	         WORKLOAD("jobset.x-k8s.io/v1alpha2", "JobSet", ON_ROOT,
	                  "replicatedJobs: [{name: j, replicas: 1, template: {spec: {completionMode: NonIndexed, "
	                  "parallelism: 4, " TEMPLATE(SEGMENTS("2")) "}}}]")
	                 POD(OWNED("jobset.x-k8s.io/v1alpha2", "JobSet",
	                           "w") "labels: {jobset.sigs.k8s.io/replicatedjob-name: j, "
	                                "jobset.sigs.k8s.io/job-index: \"0\"}, "),
	         "pg-w-u1 min=4@topo,, j j-replica-0<j:4 -> j-replica-0 ! segments-unsupported"},
		{"a JobSet with a label of the user's: segments below each replica",
	         WORKLOAD("jobset.x-k8s.io/v1alpha2", "JobSet", ON_ROOT,
	                  "replicatedJobs: [{name: j, replicas: 2, template: {spec: {parallelism: 2, " TEMPLATE(
				  SEGMENTS("1") "kai.scheduler/pod-index-label: rank") "}}}]")
	                 POD(OWNED("jobset.x-k8s.io/v1alpha2", "JobSet",
	                           "w") "labels: {jobset.sigs.k8s.io/replicatedjob-name: j, "
	                                "jobset.sigs.k8s.io/job-index: \"1\", "
	                                "rank: \"1\"}, "),
	         "pg-w-u1 min=4@topo,, j j-replica-0<j j-replica-1<j j-replica-0-0<j-replica-0:1@topo,rack, "
	         "j-replica-0-1<j-replica-0:1@topo,rack, j-replica-1-0<j-replica-1:1@topo,rack, "
	         "j-replica-1-1<j-replica-1:1@topo,rack, -> j-replica-1-1 #1"},
	};
	story_check_all(stories, sizeof(stories) / sizeof(*stories));
}

#define LWS(annotations, spec) WORKLOAD("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", annotations, spec)
#define LWS_POD(index)                                                                                                 \
	POD(OWNED("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "w") "labels: {leaderworkerset.sigs.k8s.io/"       \
	                                                                 "worker-index: \"" index "\"}, ")
#define LWS_SIZE(size, annotations)                                                                                    \
	"leaderWorkerTemplate: {size: " size ", workerTemplate: {metadata: {annotations: {" annotations "}}}}"

static void leader_worker_sets(void **state)
{
	static const struct story stories[] = {
		{"workers are counted without the leader when they fill whole segments",
	         LWS(ON_ROOT, LWS_SIZE("5", SEGMENTS("2"))) LWS_POD("3"),
	         "pg-w-u1 min=5@topo,, segment-0@topo,rack, segment-1:2@topo,rack, leader<segment-0:1 "
	         "workers<segment-0:2 -> segment-1 #1"},
		{"else the leader is one of the first segment", LWS(ON_ROOT, LWS_SIZE("5", SEGMENTS("3"))) LWS_POD("3"),
	         "pg-w-u1 min=5@topo,, segment-0@topo,rack, segment-1:2@topo,rack, leader<segment-0:1 "
	         "workers<segment-0:2 -> segment-1 #1"},
		{"one segment for all", LWS(ON_ROOT, LWS_SIZE("4", SEGMENTS("4"))) LWS_POD("3"),
	         "pg-w-u1 min=4@topo,, segment-0@topo,rack, leader<segment-0:1 workers<segment-0:3 -> workers #0"},
		{"the leader knows its segment", LWS(ON_ROOT, LWS_SIZE("4", SEGMENTS("4"))) LWS_POD("0"),
	         "pg-w-u1 min=4@topo,, segment-0@topo,rack, leader<segment-0:1 workers<segment-0:3 -> leader #0"},
		{"larger than the group", LWS(ON_ROOT, LWS_SIZE("4", SEGMENTS("5"))) LWS_POD("1"),
	         "pg-w-u1 min=4@topo,, leader:1 workers:3 -> workers ! segment-size-invalid"},
		{"no Topology", LWS("", LWS_SIZE("4", SEGMENTS("2"))) LWS_POD("1"),
	         "pg-w-u1 min=4 leader:1 workers:3 -> workers ! segment-topology-missing"},
		{"its own field needs no Topology, but a level does",
	         LWS("",
	             "leaderWorkerTemplate: {size: 4, subGroupPolicy: {subGroupSize: 2}, workerTemplate: {metadata: "
	             "{annotations: {kai.scheduler/segment-topology-required-placement: rack}}}}") LWS_POD("2"),
	         "pg-w-u1 min=4 segment-0 segment-1:2 leader<segment-0:1 workers<segment-0:1 -> segment-1 #1 ! "
	         "segment-topology-missing"},
		{"excluded leaders need segments that come out even",
	         LWS("", "leaderWorkerTemplate: {size: 4, subGroupPolicy: {subGroupSize: 2, subGroupPolicyType: "
	                 "LeaderExcluded}}") LWS_POD("2"),
	         "pg-w-u1 min=4 leader:1 workers:3 -> workers ! segment-size-invalid"},
		{"an index beyond the group", LWS(ON_ROOT, LWS_SIZE("4", SEGMENTS("2"))) LWS_POD("4"),
	         "pg-w-u1 min=4@topo,, segment-0@topo,rack, segment-1:2@topo,rack, leader<segment-0:1 "
	         "workers<segment-0:1 ! index-beyond-last"},
		{"no index",
	         LWS(ON_ROOT, LWS_SIZE("4", SEGMENTS("2")))
	                 POD(OWNED("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "w")),
	         "pg-w-u1 min=4@topo,, segment-0@topo,rack, segment-1:2@topo,rack, leader<segment-0:1 "
	         "workers<segment-0:1 ! index-label-missing"},
		{"while the leader is alone its segments need nobody else",
	         LWS(ON_ROOT, "startupPolicy: LeaderReady, " LWS_SIZE("4", SEGMENTS("2"))) LWS_POD("0"),
	         "pg-w-u1 min=1@topo,, segment-0@topo,rack, segment-1:0@topo,rack, leader<segment-0:1 "
	         "workers<segment-0:0 -> leader #0"},
	};
	story_check_all(stories, sizeof(stories) / sizeof(*stories));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),       cmocka_unit_test(refused_values),
		cmocka_unit_test(indexes),     cmocka_unit_test(where_annotations_stand),
		cmocka_unit_test(other_kinds), cmocka_unit_test(leader_worker_sets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
