/* Workloads made of groups of pods: LeaderWorkerSet, JobSet, RayCluster, PodCliqueSet. */
#include "fixtures/workload_fixture.h"

#define LWS "leaderworkersets.leaderworkerset.x-k8s.io"
#define GROUP(n) "leaderworkerset.sigs.k8s.io/group-index=" #n

static void make_lws(struct workload_fixture *fixture, const char *more, const char *size, const char *replicas)
{
	struct buffer text = {0};
	buffer_printf(&text,
	              "{'metadata':{'name':'l'},'spec':{'replicas':%s%s,'leaderWorkerTemplate':{'size':%s,"
	              "'workerTemplate':" POD_TEMPLATE "}}}",
	              replicas, more, size);
	workload_fixture_make(fixture, LWS, text.text);
	buffer_free(&text);
}

STORY(leaders_and_workers)
{
	make_lws(fixture, "", "3", "2");
	assert_string_equal(workload_fixture_pods(fixture, NULL), "l-0 l-0-1 l-0-2 l-1 l-1-1 l-1-2");
	assert_string_equal(workload_fixture_at(fixture, "pods", "l-1-2",
	                                        "metadata.labels.[leaderworkerset.sigs.k8s.io/worker-index]"),
	                    "2");
	assert_string_equal(workload_fixture_at(fixture, "pods", "l-1",
	                                        "metadata.labels.[leaderworkerset.sigs.k8s.io/worker-index]"),
	                    "0");
	assert_string_equal(workload_fixture_at(fixture, "pods", "l-1",
	                                        "metadata.annotations.[leaderworkerset.sigs.k8s.io/size]"),
	                    "3");
	workload_fixture_run(fixture, GROUP(0));
	assert_string_equal(workload_fixture_at(fixture, LWS, "l", "status.readyReplicas"), "1");
	assert_string_equal(workload_fixture_condition(fixture, LWS, "l", "Available"), "False");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_condition(fixture, LWS, "l", "Available"), "True");
	workload_fixture_change(fixture, LWS, "l", "{'spec':{'replicas':1}}");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "l-0 l-0-1 l-0-2");
	workload_fixture_change(fixture, LWS, "l", "{'spec':{'replicas':3}}");
	assert_int_equal(workload_fixture_count(fixture, NULL), 9);
}

STORY(a_group_starts_anew_as_a_whole)
{
	make_lws(fixture, "", "3", "2");
	workload_fixture_run(fixture, NULL);
	const char *leader =
		arena_strdup(fixture->base.arena, workload_fixture_at(fixture, "pods", "l-0", "metadata.uid"));
	workload_fixture_end(fixture, GROUP(0) ",leaderworkerset.sigs.k8s.io/worker-index=2", false, 1);
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 6);
	assert_string_not_equal(workload_fixture_at(fixture, "pods", "l-0", "metadata.uid"), leader);
	assert_string_equal(workload_fixture_at(fixture, "pods", "l-0-1", "status.phase"), "Pending");
	assert_string_equal(workload_fixture_at(fixture, "pods", "l-1-1", "status.phase"), "Running");
	workload_fixture_run(fixture, NULL);
	/* Also when the leader is lost without a trace. */
	fixture_delete(&fixture->base, "pods", "default", "l-1", "{'gracePeriodSeconds':0}");
	workload_fixture_settle(fixture);
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 6);
	assert_string_equal(workload_fixture_at(fixture, "pods", "l-1-1", "status.phase"), "Pending");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_at(fixture, LWS, "l", "status.readyReplicas"), "2");
}

STORY(workers_may_wait_for_their_leader)
{
	make_lws(fixture, ",'startupPolicy':'LeaderReady'", "3", "1");
	assert_string_equal(workload_fixture_pods(fixture, NULL), "l-0");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "l-0 l-0-1 l-0-2");
}

STORY(groups_are_updated_one_after_the_other)
{
	make_lws(fixture, "", "2", "3");
	workload_fixture_run(fixture, NULL);
	workload_fixture_change(
		fixture, LWS, "l",
		"{'spec':{'leaderWorkerTemplate':{'workerTemplate':{'metadata':{'labels':{'version':'2'}}}}}}");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_pods(fixture, "version=2"), "l-2 l-2-1");
	assert_string_equal(workload_fixture_at(fixture, LWS, "l", "status.readyReplicas"), "2");
	for (int i = 0; i < 3; i++) {
		workload_fixture_run(fixture, NULL);
		workload_fixture_gone(fixture);
	}
	assert_int_equal(workload_fixture_count(fixture, "version=2"), 6);
	assert_string_equal(workload_fixture_at(fixture, LWS, "l", "status.updatedReplicas"), "3");
	assert_string_equal(workload_fixture_at(fixture, LWS, "l", "status.readyReplicas"), "3");
}

#define JOBSET "jobsets.jobset.x-k8s.io"
#define PART(name) "jobset.sigs.k8s.io/replicatedjob-name=" name
#define PARTS                                                                                                          \
	"'replicatedJobs':[{'name':'driver','template':{'spec':{'backoffLimit':0,'template':" POD_TEMPLATE "}}},"      \
	"{'name':'workers','replicas':2,'template':{'spec':{'backoffLimit':0,'completionMode':'Indexed','completions'" \
	":"                                                                                                            \
	"2,'parallelism':2,'template':" POD_TEMPLATE "}}}]"

static void make_job_set(struct workload_fixture *fixture, const char *more)
{
	struct buffer text = {0};
	buffer_printf(&text, "{'metadata':{'name':'s'},'spec':{%s" PARTS "}}", more);
	workload_fixture_make(fixture, JOBSET, text.text);
	buffer_free(&text);
}

static const char *jobs(struct workload_fixture *fixture)
{
	return fixture_names(&fixture->base, "jobs.batch", "default", NULL, NULL);
}

STORY(a_job_set_completes)
{
	make_job_set(fixture, "");
	assert_string_equal(jobs(fixture), "s-driver-0 s-workers-0 s-workers-1");
	assert_int_equal(workload_fixture_count(fixture, PART("workers")), 4);
	assert_int_equal(workload_fixture_count(fixture,
	                                        PART("workers") ",jobset.sigs.k8s.io/job-index=1,"
	                                                        "batch.kubernetes.io/job-completion-index=1,app=a"),
	                 1);
	assert_string_equal(workload_fixture_pod_at(fixture, PART("driver"), "metadata.ownerReferences.0.kind"), "Job");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_at(fixture, JOBSET, "s", "status.replicatedJobsStatus.1.ready"), "2");
	workload_fixture_end(fixture, PART("driver"), true, 0);
	assert_string_equal(workload_fixture_condition(fixture, JOBSET, "s", "Completed"), "");
	workload_fixture_end(fixture, PART("workers"), true, 0);
	assert_string_equal(workload_fixture_condition(fixture, JOBSET, "s", "Completed"), "True");
	assert_string_equal(workload_fixture_at(fixture, JOBSET, "s", "status.terminalState"), "Completed");
}

STORY(a_job_set_restarts_as_a_whole)
{
	make_job_set(fixture, "'failurePolicy':{'maxRestarts':1},");
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, PART("workers") ",jobset.sigs.k8s.io/job-index=0", false, 1);
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_at(fixture, JOBSET, "s", "status.restarts"), "1");
	assert_string_equal(jobs(fixture), "s-driver-0 s-workers-0 s-workers-1");
	assert_int_equal(workload_fixture_count(fixture, NULL), 5);
	assert_int_equal(workload_fixture_count(fixture, "jobset.sigs.k8s.io/restart-attempt=1"), 5);
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, PART("driver"), false, 1);
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_condition(fixture, JOBSET, "s", "Failed"), "True");
	assert_string_equal(workload_fixture_at(fixture, JOBSET, "s", "status.restarts"), "1");
}

#define RULES                                                                                                          \
	"'failurePolicy':{'maxRestarts':1,'rules':[{'action':'FailJobSet','targetReplicatedJobs':['driver']},"         \
	"{'action':'RestartJobSetAndIgnoreMaxRestarts','onJobFailureReasons':['BackoffLimitExceeded']}]},"

STORY(rules_say_what_a_failure_means)
{
	make_job_set(fixture, RULES);
	for (int i = 1; i <= 3; i++) {
		char restarts[2] = {(char)('0' + i), 0};
		workload_fixture_run(fixture, NULL);
		workload_fixture_end(fixture, PART("workers") ",jobset.sigs.k8s.io/job-index=0", false, 1);
		workload_fixture_gone(fixture);
		assert_string_equal(workload_fixture_at(fixture, JOBSET, "s", "status.restarts"), restarts);
		assert_string_equal(workload_fixture_at(fixture, JOBSET, "s", "status.restartsCountTowardsMax"), "0");
		assert_string_equal(workload_fixture_condition(fixture, JOBSET, "s", "Failed"), "");
	}
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, PART("driver"), false, 1);
	assert_string_equal(workload_fixture_condition(fixture, JOBSET, "s", "Failed"), "True");
}

STORY(jobs_may_start_in_order)
{
	make_job_set(fixture, "'startupPolicy':{'startupPolicyOrder':'InOrder'},");
	assert_string_equal(jobs(fixture), "s-driver-0");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(jobs(fixture), "s-driver-0 s-workers-0 s-workers-1");
}

STORY(a_suspended_job_set_has_jobs_without_pods)
{
	make_job_set(fixture, "'suspend':true,");
	assert_string_equal(jobs(fixture), "s-driver-0 s-workers-0 s-workers-1");
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
	workload_fixture_change(fixture, JOBSET, "s", "{'spec':{'suspend':false}}");
	assert_int_equal(workload_fixture_count(fixture, NULL), 5);
	workload_fixture_drop(fixture, JOBSET, "s");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
	assert_string_equal(jobs(fixture), "");
}

#define RAY "rayclusters.ray.io"
#define RAY_SPEC                                                                                                       \
	"{'headGroupSpec':{'template':" POD_TEMPLATE "},'workerGroupSpecs':[{'groupName':'gpu','replicas':2,"          \
	"'template':" POD_TEMPLATE "},{'groupName':'tpu','replicas':1,'numOfHosts':2,'template':" POD_TEMPLATE "}]}"

STORY(a_ray_cluster)
{
	workload_fixture_make(fixture, RAY, "{'metadata':{'name':'r'},'spec':" RAY_SPEC "}");
	assert_string_equal(workload_fixture_pods(fixture, NULL),
	                    "r-gpu-worker-0 r-gpu-worker-1 r-head r-tpu-worker-0-0 r-tpu-worker-0-1");
	assert_string_equal(workload_fixture_pods(fixture,
	                                          "ray.io/node-type=head,ray.io/group=headgroup,ray.io/cluster=r"),
	                    "r-head");
	assert_int_equal(workload_fixture_count(fixture, "ray.io/group=tpu"), 2);
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_at(fixture, RAY, "r", "status.state"), "ready");
	assert_string_equal(workload_fixture_at(fixture, RAY, "r", "status.desiredWorkerReplicas"), "3");
	workload_fixture_end(fixture, "ray.io/group=gpu", false, 1);
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_at(fixture, "pods", "r-gpu-worker-1", "status.phase"), "Pending");
	assert_string_equal(workload_fixture_at(fixture, RAY, "r", "status.state"), "");
	workload_fixture_change(fixture, RAY, "r",
	                        "{'spec':{'workerGroupSpecs':[{'groupName':'gpu','replicas':1,'template':" POD_TEMPLATE
	                        "}]}}");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "r-gpu-worker-0 r-head");
	workload_fixture_change(fixture, RAY, "r", "{'spec':{'suspend':true}}");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
	assert_string_equal(workload_fixture_at(fixture, RAY, "r", "status.state"), "suspended");
}

STORY(a_ray_job_makes_a_cluster_and_ends)
{
	workload_fixture_make(fixture, "rayjobs.ray.io",
	                      "{'metadata':{'name':'j','annotations':{'platoon.dev/run-seconds':'60'}},'spec':{"
	                      "'shutdownAfterJobFinishes':true,'rayClusterSpec':" RAY_SPEC "}}");
	assert_int_equal(workload_fixture_count(fixture, NULL), 5);
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_at(fixture, "rayjobs.ray.io", "j", "status.jobStatus"), "RUNNING");
	workload_fixture_pass(fixture, 61);
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_at(fixture, "rayjobs.ray.io", "j", "status.jobDeploymentStatus"),
	                    "Complete");
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
	workload_fixture_make(fixture, "rayservices.ray.io",
	                      "{'metadata':{'name':'v'},'spec':{'rayClusterConfig':" RAY_SPEC "}}");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_at(fixture, "rayservices.ray.io", "v", "status.serviceStatus"), "Running");
}

#define GROVE "podcliquesets.grove.io"
#define CLIQUE(name, replicas, more)                                                                                   \
	"{'name':'" name "','labels':{'app':'a'},'spec':{'replicas':" #replicas more                                   \
	",'podSpec':{'nodeName':'n1','containers':[{'name':'c'}]}}}"

STORY(a_pod_clique_set)
{
	workload_fixture_make(
		fixture, GROVE,
		"{'metadata':{'name':'g'},'spec':{'replicas':1,'template':{'cliques':[" CLIQUE(
			"router", 1,
			"") "," CLIQUE("prefill", 2,
	                               ",'minAvailable':1") "," CLIQUE("decode", 1,
	                                                               "") "],'podCliqueScalingGroups':[{'name':'"
									   "model','cliqueNames':['prefill','decode']"
									   ",'replicas':2}]}}}");
	assert_string_equal(workload_fixture_pods(fixture, NULL),
	                    "g-0-model-0-decode-0 g-0-model-0-prefill-0 g-0-model-0-prefill-1 "
	                    "g-0-model-1-decode-0 g-0-model-1-prefill-0 g-0-model-1-prefill-1 "
	                    "g-0-router-0");
	assert_string_equal(fixture_names(&fixture->base, "podgangs.scheduler.grove.io", "default", NULL, NULL),
	                    "g-0 g-0-model-0");
	assert_int_equal(workload_fixture_count(fixture, "grove.io/podgang=g-0"), 4);
	assert_int_equal(workload_fixture_count(fixture, "grove.io/podgang=g-0-model-0"), 3);
	assert_string_equal(workload_fixture_at(fixture, "podgangs.scheduler.grove.io", "g-0",
	                                        "spec.podgroups.1.minReplicas"),
	                    "1");
	assert_string_equal(workload_fixture_at(fixture, "podgangs.scheduler.grove.io", "g-0",
	                                        "spec.podgroups.1.podReferences.1.name"),
	                    "g-0-model-0-prefill-1");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_at(fixture, GROVE, "g", "status.availableReplicas"), "1");
	workload_fixture_drop(fixture, "pods", "g-0-router-0");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_at(fixture, "pods", "g-0-router-0", "status.phase"), "Pending");
	assert_string_equal(workload_fixture_at(fixture, GROVE, "g", "status.availableReplicas"), "0");
	workload_fixture_change(fixture, GROVE, "g", "{'spec':{'replicas':2}}");
	assert_int_equal(workload_fixture_count(fixture, NULL), 14);
	workload_fixture_change(fixture, GROVE, "g", "{'spec':{'replicas':0}}");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
	assert_string_equal(fixture_names(&fixture->base, "podgangs.scheduler.grove.io", "default", NULL, NULL), "");
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
