/* Workloads made of groups of pods: LeaderWorkerSet, JobSet, RayCluster, PodCliqueSet. */
#include "fixtures/workload_fixture.h"

#define LWS "leaderworkersets.leaderworkerset.x-k8s.io"
#define GROUP(n) "leaderworkerset.sigs.k8s.io/group-index=" #n

static void make_lws(struct yard *yard, const char *more, const char *size, const char *replicas)
{
	struct buffer text = {0};
	buffer_printf(&text,
	              "{'metadata':{'name':'l'},'spec':{'replicas':%s%s,'leaderWorkerTemplate':{'size':%s,"
	              "'workerTemplate':" POD_TEMPLATE "}}}",
	              replicas, more, size);
	yard_make(yard, LWS, text.text);
	buffer_free(&text);
}

STORY(leaders_and_workers)
{
	make_lws(yard, "", "3", "2");
	assert_string_equal(yard_pods(yard, NULL), "l-0 l-0-1 l-0-2 l-1 l-1-1 l-1-2");
	assert_string_equal(yard_at(yard, "pods", "l-1-2",
	                            "metadata.labels.[leaderworkerset.sigs.k8s.io/worker-index]"),
	                    "2");
	assert_string_equal(yard_at(yard, "pods", "l-1", "metadata.labels.[leaderworkerset.sigs.k8s.io/worker-index]"),
	                    "0");
	assert_string_equal(yard_at(yard, "pods", "l-1", "metadata.annotations.[leaderworkerset.sigs.k8s.io/size]"),
	                    "3");
	yard_run(yard, GROUP(0));
	assert_string_equal(yard_at(yard, LWS, "l", "status.readyReplicas"), "1");
	assert_string_equal(yard_condition(yard, LWS, "l", "Available"), "False");
	yard_run(yard, NULL);
	assert_string_equal(yard_condition(yard, LWS, "l", "Available"), "True");
	yard_change(yard, LWS, "l", "{'spec':{'replicas':1}}");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, NULL), "l-0 l-0-1 l-0-2");
	yard_change(yard, LWS, "l", "{'spec':{'replicas':3}}");
	assert_int_equal(yard_count(yard, NULL), 9);
}

STORY(a_group_starts_anew_as_a_whole)
{
	make_lws(yard, "", "3", "2");
	yard_run(yard, NULL);
	const char *leader = arena_strdup(yard->kit.arena, yard_at(yard, "pods", "l-0", "metadata.uid"));
	yard_end(yard, GROUP(0) ",leaderworkerset.sigs.k8s.io/worker-index=2", false, 1);
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 6);
	assert_string_not_equal(yard_at(yard, "pods", "l-0", "metadata.uid"), leader);
	assert_string_equal(yard_at(yard, "pods", "l-0-1", "status.phase"), "Pending");
	assert_string_equal(yard_at(yard, "pods", "l-1-1", "status.phase"), "Running");
	yard_run(yard, NULL);
	/* Also when the leader is lost without a trace. */
	kit_delete(&yard->kit, "pods", "default", "l-1", "{'gracePeriodSeconds':0}");
	yard_settle(yard);
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 6);
	assert_string_equal(yard_at(yard, "pods", "l-1-1", "status.phase"), "Pending");
	yard_run(yard, NULL);
	assert_string_equal(yard_at(yard, LWS, "l", "status.readyReplicas"), "2");
}

STORY(workers_may_wait_for_their_leader)
{
	make_lws(yard, ",'startupPolicy':'LeaderReady'", "3", "1");
	assert_string_equal(yard_pods(yard, NULL), "l-0");
	yard_run(yard, NULL);
	assert_string_equal(yard_pods(yard, NULL), "l-0 l-0-1 l-0-2");
}

STORY(groups_are_updated_one_after_the_other)
{
	make_lws(yard, "", "2", "3");
	yard_run(yard, NULL);
	yard_change(yard, LWS, "l",
	            "{'spec':{'leaderWorkerTemplate':{'workerTemplate':{'metadata':{'labels':{'version':'2'}}}}}}");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, "version=2"), "l-2 l-2-1");
	assert_string_equal(yard_at(yard, LWS, "l", "status.readyReplicas"), "2");
	for (int i = 0; i < 3; i++) {
		yard_run(yard, NULL);
		yard_gone(yard);
	}
	assert_int_equal(yard_count(yard, "version=2"), 6);
	assert_string_equal(yard_at(yard, LWS, "l", "status.updatedReplicas"), "3");
	assert_string_equal(yard_at(yard, LWS, "l", "status.readyReplicas"), "3");
}

#define JOBSET "jobsets.jobset.x-k8s.io"
#define PART(name) "jobset.sigs.k8s.io/replicatedjob-name=" name
#define PARTS                                                                                                          \
	"'replicatedJobs':[{'name':'driver','template':{'spec':{'backoffLimit':0,'template':" POD_TEMPLATE "}}},"      \
	"{'name':'workers','replicas':2,'template':{'spec':{'backoffLimit':0,'completionMode':'Indexed','completions'" \
	":"                                                                                                            \
	"2,'parallelism':2,'template':" POD_TEMPLATE "}}}]"

static void make_job_set(struct yard *yard, const char *more)
{
	struct buffer text = {0};
	buffer_printf(&text, "{'metadata':{'name':'s'},'spec':{%s" PARTS "}}", more);
	yard_make(yard, JOBSET, text.text);
	buffer_free(&text);
}

static const char *jobs(struct yard *yard)
{
	return kit_names(&yard->kit, "jobs.batch", "default", NULL, NULL);
}

STORY(a_job_set_completes)
{
	make_job_set(yard, "");
	assert_string_equal(jobs(yard), "s-driver-0 s-workers-0 s-workers-1");
	assert_int_equal(yard_count(yard, PART("workers")), 4);
	assert_int_equal(yard_count(yard, PART("workers") ",jobset.sigs.k8s.io/job-index=1,"
	                                                  "batch.kubernetes.io/job-completion-index=1,app=a"),
	                 1);
	assert_string_equal(yard_pod_at(yard, PART("driver"), "metadata.ownerReferences.0.kind"), "Job");
	yard_run(yard, NULL);
	assert_string_equal(yard_at(yard, JOBSET, "s", "status.replicatedJobsStatus.1.ready"), "2");
	yard_end(yard, PART("driver"), true, 0);
	assert_string_equal(yard_condition(yard, JOBSET, "s", "Completed"), "");
	yard_end(yard, PART("workers"), true, 0);
	assert_string_equal(yard_condition(yard, JOBSET, "s", "Completed"), "True");
	assert_string_equal(yard_at(yard, JOBSET, "s", "status.terminalState"), "Completed");
}

STORY(a_job_set_restarts_as_a_whole)
{
	make_job_set(yard, "'failurePolicy':{'maxRestarts':1},");
	yard_run(yard, NULL);
	yard_end(yard, PART("workers") ",jobset.sigs.k8s.io/job-index=0", false, 1);
	yard_gone(yard);
	assert_string_equal(yard_at(yard, JOBSET, "s", "status.restarts"), "1");
	assert_string_equal(jobs(yard), "s-driver-0 s-workers-0 s-workers-1");
	assert_int_equal(yard_count(yard, NULL), 5);
	assert_int_equal(yard_count(yard, "jobset.sigs.k8s.io/restart-attempt=1"), 5);
	yard_run(yard, NULL);
	yard_end(yard, PART("driver"), false, 1);
	yard_gone(yard);
	assert_string_equal(yard_condition(yard, JOBSET, "s", "Failed"), "True");
	assert_string_equal(yard_at(yard, JOBSET, "s", "status.restarts"), "1");
}

#define RULES                                                                                                          \
	"'failurePolicy':{'maxRestarts':1,'rules':[{'action':'FailJobSet','targetReplicatedJobs':['driver']},"         \
	"{'action':'RestartJobSetAndIgnoreMaxRestarts','onJobFailureReasons':['BackoffLimitExceeded']}]},"

STORY(rules_say_what_a_failure_means)
{
	make_job_set(yard, RULES);
	for (int i = 1; i <= 3; i++) {
		char restarts[2] = {(char)('0' + i), 0};
		yard_run(yard, NULL);
		yard_end(yard, PART("workers") ",jobset.sigs.k8s.io/job-index=0", false, 1);
		yard_gone(yard);
		assert_string_equal(yard_at(yard, JOBSET, "s", "status.restarts"), restarts);
		assert_string_equal(yard_at(yard, JOBSET, "s", "status.restartsCountTowardsMax"), "0");
		assert_string_equal(yard_condition(yard, JOBSET, "s", "Failed"), "");
	}
	yard_run(yard, NULL);
	yard_end(yard, PART("driver"), false, 1);
	assert_string_equal(yard_condition(yard, JOBSET, "s", "Failed"), "True");
}

STORY(jobs_may_start_in_order)
{
	make_job_set(yard, "'startupPolicy':{'startupPolicyOrder':'InOrder'},");
	assert_string_equal(jobs(yard), "s-driver-0");
	yard_run(yard, NULL);
	assert_string_equal(jobs(yard), "s-driver-0 s-workers-0 s-workers-1");
}

STORY(a_suspended_job_set_has_jobs_without_pods)
{
	make_job_set(yard, "'suspend':true,");
	assert_string_equal(jobs(yard), "s-driver-0 s-workers-0 s-workers-1");
	assert_int_equal(yard_count(yard, NULL), 0);
	yard_change(yard, JOBSET, "s", "{'spec':{'suspend':false}}");
	assert_int_equal(yard_count(yard, NULL), 5);
	yard_drop(yard, JOBSET, "s");
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 0);
	assert_string_equal(jobs(yard), "");
}

#define RAY "rayclusters.ray.io"
#define RAY_SPEC                                                                                                       \
	"{'headGroupSpec':{'template':" POD_TEMPLATE "},'workerGroupSpecs':[{'groupName':'gpu','replicas':2,"          \
	"'template':" POD_TEMPLATE "},{'groupName':'tpu','replicas':1,'numOfHosts':2,'template':" POD_TEMPLATE "}]}"

STORY(a_ray_cluster)
{
	yard_make(yard, RAY, "{'metadata':{'name':'r'},'spec':" RAY_SPEC "}");
	assert_string_equal(yard_pods(yard, NULL),
	                    "r-gpu-worker-0 r-gpu-worker-1 r-head r-tpu-worker-0-0 r-tpu-worker-0-1");
	assert_string_equal(yard_pods(yard, "ray.io/node-type=head,ray.io/group=headgroup,ray.io/cluster=r"), "r-head");
	assert_int_equal(yard_count(yard, "ray.io/group=tpu"), 2);
	yard_run(yard, NULL);
	assert_string_equal(yard_at(yard, RAY, "r", "status.state"), "ready");
	assert_string_equal(yard_at(yard, RAY, "r", "status.desiredWorkerReplicas"), "3");
	yard_end(yard, "ray.io/group=gpu", false, 1);
	yard_gone(yard);
	assert_string_equal(yard_at(yard, "pods", "r-gpu-worker-1", "status.phase"), "Pending");
	assert_string_equal(yard_at(yard, RAY, "r", "status.state"), "");
	yard_change(yard, RAY, "r",
	            "{'spec':{'workerGroupSpecs':[{'groupName':'gpu','replicas':1,'template':" POD_TEMPLATE "}]}}");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, NULL), "r-gpu-worker-0 r-head");
	yard_change(yard, RAY, "r", "{'spec':{'suspend':true}}");
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 0);
	assert_string_equal(yard_at(yard, RAY, "r", "status.state"), "suspended");
}

STORY(a_ray_job_makes_a_cluster_and_ends)
{
	yard_make(yard, "rayjobs.ray.io",
	          "{'metadata':{'name':'j','annotations':{'platoon.dev/run-seconds':'60'}},'spec':{"
	          "'shutdownAfterJobFinishes':true,'rayClusterSpec':" RAY_SPEC "}}");
	assert_int_equal(yard_count(yard, NULL), 5);
	yard_run(yard, NULL);
	assert_string_equal(yard_at(yard, "rayjobs.ray.io", "j", "status.jobStatus"), "RUNNING");
	yard_pass(yard, 61);
	yard_gone(yard);
	assert_string_equal(yard_at(yard, "rayjobs.ray.io", "j", "status.jobDeploymentStatus"), "Complete");
	assert_int_equal(yard_count(yard, NULL), 0);
	yard_make(yard, "rayservices.ray.io", "{'metadata':{'name':'v'},'spec':{'rayClusterConfig':" RAY_SPEC "}}");
	yard_run(yard, NULL);
	assert_string_equal(yard_at(yard, "rayservices.ray.io", "v", "status.serviceStatus"), "Running");
}

#define GROVE "podcliquesets.grove.io"
#define CLIQUE(name, replicas, more)                                                                                   \
	"{'name':'" name "','labels':{'app':'a'},'spec':{'replicas':" #replicas more                                   \
	",'podSpec':{'nodeName':'n1','containers':[{'name':'c'}]}}}"

STORY(a_pod_clique_set)
{
	yard_make(yard, GROVE,
	          "{'metadata':{'name':'g'},'spec':{'replicas':1,'template':{'cliques':[" CLIQUE(
			  "router", 1,
			  "") "," CLIQUE("prefill", 2,
	                                 ",'minAvailable':1") "," CLIQUE("decode", 1,
	                                                                 "") "],'podCliqueScalingGroups':[{'name':'"
	                                                                     "model','cliqueNames':['prefill','decode']"
	                                                                     ",'replicas':2}]}}}");
	assert_string_equal(yard_pods(yard, NULL), "g-0-model-0-decode-0 g-0-model-0-prefill-0 g-0-model-0-prefill-1 "
	                                           "g-0-model-1-decode-0 g-0-model-1-prefill-0 g-0-model-1-prefill-1 "
	                                           "g-0-router-0");
	assert_string_equal(kit_names(&yard->kit, "podgangs.scheduler.grove.io", "default", NULL, NULL),
	                    "g-0 g-0-model-0");
	assert_int_equal(yard_count(yard, "grove.io/podgang=g-0"), 4);
	assert_int_equal(yard_count(yard, "grove.io/podgang=g-0-model-0"), 3);
	assert_string_equal(yard_at(yard, "podgangs.scheduler.grove.io", "g-0", "spec.podgroups.1.minReplicas"), "1");
	assert_string_equal(yard_at(yard, "podgangs.scheduler.grove.io", "g-0",
	                            "spec.podgroups.1.podReferences.1.name"),
	                    "g-0-model-0-prefill-1");
	yard_run(yard, NULL);
	assert_string_equal(yard_at(yard, GROVE, "g", "status.availableReplicas"), "1");
	yard_drop(yard, "pods", "g-0-router-0");
	yard_gone(yard);
	assert_string_equal(yard_at(yard, "pods", "g-0-router-0", "status.phase"), "Pending");
	assert_string_equal(yard_at(yard, GROVE, "g", "status.availableReplicas"), "0");
	yard_change(yard, GROVE, "g", "{'spec':{'replicas':2}}");
	assert_int_equal(yard_count(yard, NULL), 14);
	yard_change(yard, GROVE, "g", "{'spec':{'replicas':0}}");
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 0);
	assert_string_equal(kit_names(&yard->kit, "podgangs.scheduler.grove.io", "default", NULL, NULL), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaders_and_workers),
		cmocka_unit_test(a_group_starts_anew_as_a_whole),
		cmocka_unit_test(workers_may_wait_for_their_leader),
		cmocka_unit_test(groups_are_updated_one_after_the_other),
		cmocka_unit_test(a_job_set_completes),
		cmocka_unit_test(a_job_set_restarts_as_a_whole),
		cmocka_unit_test(rules_say_what_a_failure_means),
		cmocka_unit_test(jobs_may_start_in_order),
		cmocka_unit_test(a_suspended_job_set_has_jobs_without_pods),
		cmocka_unit_test(a_ray_cluster),
		cmocka_unit_test(a_ray_job_makes_a_cluster_and_ends),
		cmocka_unit_test(a_pod_clique_set),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
