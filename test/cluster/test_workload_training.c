/* The training jobs of Kubeflow. */
#include "fixtures/workload_fixture.h"

#define ROLE(name) "training.kubeflow.org/replica-type=" name

static void make(struct workload_fixture *fixture, const char *resource, const char *spec)
{
	struct buffer text = {0};
	buffer_printf(&text, "{'metadata':{'name':'t'},'spec':{%s}}", spec);
	workload_fixture_make(fixture, resource, text.text);
	buffer_free(&text);
}

struct kind {
	const char *resource, *specs, *roles; /* roles in JSON */
	const char *pods;
	const char *decider; /* selection of the pods whose success is the job's */
	const char *label;   /* of the first pod of the decider: job-role */
};

static const struct kind kinds[] = {
	{"pytorchjobs.kubeflow.org", "pytorchReplicaSpecs",
         "'Master':{'replicas':1,'template':" POD_TEMPLATE "},'Worker':{'replicas':3,'template':" POD_TEMPLATE "}",
         "t-master-0 t-worker-0 t-worker-1 t-worker-2", ROLE("master"), "master"},
	{"tfjobs.kubeflow.org", "tfReplicaSpecs",
         "'Chief':{'replicas':1,'template':" POD_TEMPLATE "},'PS':{'replicas':1,'template':" POD_TEMPLATE
         "},'Worker':{'replicas':2,'template':" POD_TEMPLATE "}",
         "t-chief-0 t-ps-0 t-worker-0 t-worker-1", ROLE("chief"), "master"},
	{"mpijobs.kubeflow.org/v1", "mpiReplicaSpecs",
         "'Launcher':{'replicas':1,'template':" POD_TEMPLATE "},'Worker':{'replicas':2,'template':" POD_TEMPLATE "}",
         "t-launcher t-worker-0 t-worker-1", ROLE("launcher"), "launcher"},
	{"jaxjobs.kubeflow.org", "jaxReplicaSpecs", "'Worker':{'replicas':2,'template':" POD_TEMPLATE "}",
         "t-worker-0 t-worker-1", NULL, ""},
	{"xgboostjobs.kubeflow.org", "xgbReplicaSpecs",
         "'Master':{'replicas':1,'template':" POD_TEMPLATE "},'Worker':{'replicas':1,'template':" POD_TEMPLATE "}",
         "t-master-0 t-worker-0", ROLE("master"), "master"},
};

static void tell_kind(struct workload_fixture *fixture, const struct kind *kind)
{
	char spec[2000];
	snprintf(spec, sizeof(spec), "'%s':{%s}", kind->specs, kind->roles);
	make(fixture, kind->resource, spec);
	assert_string_equal(workload_fixture_pods(fixture, NULL), kind->pods);
	assert_string_equal(workload_fixture_condition(fixture, kind->resource, "t", "Created"), "True");
	assert_string_equal(workload_fixture_condition(fixture, kind->resource, "t", "Running"), "");
	assert_int_equal(workload_fixture_count(
				 fixture, "training.kubeflow.org/job-name=t,training.kubeflow.org/replica-index=0,"
					  "training.kubeflow.org/replica-type=worker,app=a"),
	                 1);
	if (kind->decider)
		assert_string_equal(workload_fixture_pod_at(fixture, kind->decider,
		                                            "metadata.labels.[training.kubeflow.org/job-role]"),
		                    kind->label);
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_condition(fixture, kind->resource, "t", "Running"), "True");
	/* A pod that is evicted comes back under its name. */
	workload_fixture_drop(fixture, "pods", "t-worker-0");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_pods(fixture, NULL), kind->pods);
	assert_string_equal(workload_fixture_at(fixture, "pods", "t-worker-0", "status.phase"), "Pending");
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, kind->decider, true, 0);
	assert_string_equal(workload_fixture_condition(fixture, kind->resource, "t", "Succeeded"), "True");
	assert_string_equal(workload_fixture_condition(fixture, kind->resource, "t", "Running"), "False");
	assert_string_equal(workload_fixture_pods(fixture, NULL), kind->pods);
}

#define KIND_STORY(name, number)                                                                                       \
	STORY(name)                                                                                                    \
	{                                                                                                              \
		tell_kind(fixture, &kinds[number]);                                                                    \
	}
KIND_STORY(a_pytorch_job, 0)
KIND_STORY(a_tf_job, 1)
KIND_STORY(an_mpi_job, 2)
KIND_STORY(a_jax_job, 3)
KIND_STORY(an_xgboost_job, 4)

#define PYTORCH "pytorchjobs.kubeflow.org"
#define WORKERS(n, more) "'pytorchReplicaSpecs':{'Worker':{'replicas':" #n more ",'template':" POD_TEMPLATE "}}"

STORY(workers_scale_and_the_highest_leaves)
{
	make(fixture, PYTORCH, WORKERS(3, ""));
	workload_fixture_run(fixture, NULL);
	workload_fixture_change(fixture, PYTORCH, "t", "{'spec':{'pytorchReplicaSpecs':{'Worker':{'replicas':11}}}}");
	assert_int_equal(workload_fixture_count(fixture, NULL), 11);
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_at(fixture, PYTORCH, "t", "status.replicaStatuses.Worker.active"), "11");
	workload_fixture_change(fixture, PYTORCH, "t", "{'spec':{'pytorchReplicaSpecs':{'Worker':{'replicas':2}}}}");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "t-worker-0 t-worker-1");
}

STORY(a_role_that_must_not_fail_ends_the_job)
{
	make(fixture, PYTORCH, WORKERS(2, ",'restartPolicy':'Never'"));
	assert_string_equal(workload_fixture_pod_at(fixture, NULL, "spec.restartPolicy"), "Never");
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, "training.kubeflow.org/replica-index=1", false, 1);
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_condition(fixture, PYTORCH, "t", "Failed"), "True");
	/* The others have nothing left to do; the failed one stays to be looked at. */
	assert_string_equal(workload_fixture_pods(fixture, NULL), "t-worker-1");
}

STORY(exit_codes_decide)
{
	make(fixture, PYTORCH, WORKERS(2, ",'restartPolicy':'ExitCode'"));
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, "training.kubeflow.org/replica-index=1", false, 137);
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_condition(fixture, PYTORCH, "t", "Failed"), "");
	assert_string_equal(workload_fixture_at(fixture, "pods", "t-worker-1", "status.phase"), "Pending");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_condition(fixture, PYTORCH, "t", "Running"), "True");
	workload_fixture_end(fixture, "training.kubeflow.org/replica-index=1", false, 3);
	assert_string_equal(workload_fixture_condition(fixture, PYTORCH, "t", "Failed"), "True");
}

STORY(a_suspended_job_gives_its_pods_back)
{
	make(fixture, PYTORCH, WORKERS(2, ""));
	workload_fixture_run(fixture, NULL);
	workload_fixture_change(fixture, PYTORCH, "t", "{'spec':{'runPolicy':{'suspend':true}}}");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
	assert_string_equal(workload_fixture_condition(fixture, PYTORCH, "t", "Suspended"), "True");
	workload_fixture_change(fixture, PYTORCH, "t", "{'spec':{'runPolicy':{'suspend':false}}}");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_condition(fixture, PYTORCH, "t", "Suspended"), "False");
	assert_string_equal(workload_fixture_condition(fixture, PYTORCH, "t", "Running"), "True");
}

STORY(a_launcher_may_wait_for_its_workers)
{
	make(fixture, "mpijobs.kubeflow.org/v1",
	     "'launcherCreationPolicy':'WaitForWorkersReady','mpiReplicaSpecs':{'Launcher':{'template':" POD_TEMPLATE
	     "},'Worker':{'replicas':2,'template':" POD_TEMPLATE "}}");
	assert_string_equal(workload_fixture_pods(fixture, NULL), "t-worker-0 t-worker-1");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "t-launcher t-worker-0 t-worker-1");
}

STORY(the_launcher_of_the_newer_api_is_a_job)
{
	static const char resource[] = "mpijobs.kubeflow.org/v2beta1";
	make(fixture, resource,
	     "'mpiReplicaSpecs':{'Launcher':{'replicas':1,'template':" POD_TEMPLATE
	     "},'Worker':{'replicas':2,'template':" POD_TEMPLATE "}}");
	assert_string_equal(fixture_names(&fixture->base, "jobs.batch", NULL, NULL, NULL), "default/t-launcher");
	assert_string_equal(workload_fixture_stems(fixture, ROLE("launcher")), "t-launcher");
	assert_string_equal(workload_fixture_pods(fixture, ROLE("worker")), "t-worker-0 t-worker-1");
	assert_string_equal(workload_fixture_pod_at(fixture, ROLE("launcher"), "metadata.ownerReferences.0.kind"),
	                    "Job");
	assert_string_equal(workload_fixture_pod_at(fixture, ROLE("launcher"), "spec.restartPolicy"), "Never");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_condition(fixture, resource, "t", "Running"), "True");
	workload_fixture_change(fixture, resource, "t", "{'spec':{'runPolicy':{'suspend':true}}}");
	workload_fixture_gone(fixture);
	assert_string_equal(fixture_names(&fixture->base, "jobs.batch", NULL, NULL, NULL), "");
	workload_fixture_change(fixture, resource, "t", "{'spec':{'runPolicy':{'suspend':false}}}");
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, ROLE("launcher"), true, 0);
	assert_string_equal(workload_fixture_condition(fixture, resource, "t", "Succeeded"), "True");
}

STORY(a_launcher_job_that_fails_ends_it)
{
	static const char resource[] = "mpijobs.kubeflow.org/v2beta1";
	make(fixture, resource,
	     "'runPolicy':{'backoffLimit':0},'mpiReplicaSpecs':{'Launcher':{'replicas':1,'template':" POD_TEMPLATE
	     "},'Worker':{'replicas':1,'template':" POD_TEMPLATE "}}");
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, ROLE("launcher"), false, 1);
	assert_string_equal(workload_fixture_condition(fixture, resource, "t", "Failed"), "True");
}

STORY(bad_specs_make_no_pods)
{
	make(fixture, PYTORCH, "'pytorchReplicaSpecs':{'Worker':7,'Master':{'replicas':-4,'template':'x'}}");
	make(fixture, "tfjobs.kubeflow.org", "'tfReplicaSpecs':[1,2]");
	assert_string_equal(workload_fixture_pods(fixture, ROLE("master")), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pytorch_job),
		cmocka_unit_test(a_tf_job),
		cmocka_unit_test(an_mpi_job),
		cmocka_unit_test(a_jax_job),
		cmocka_unit_test(an_xgboost_job),
		cmocka_unit_test(workers_scale_and_the_highest_leaves),
		cmocka_unit_test(a_role_that_must_not_fail_ends_the_job),
		cmocka_unit_test(exit_codes_decide),
		cmocka_unit_test(a_suspended_job_gives_its_pods_back),
		cmocka_unit_test(a_launcher_may_wait_for_its_workers),
		cmocka_unit_test(the_launcher_of_the_newer_api_is_a_job),
		cmocka_unit_test(a_launcher_job_that_fails_ends_it),
		cmocka_unit_test(bad_specs_make_no_pods),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
