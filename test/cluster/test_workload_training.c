/* The training jobs of Kubeflow. */
#include "fixtures/workload_fixture.h"

#define ROLE(name) "training.kubeflow.org/replica-type=" name

static void make(struct yard *yard, const char *resource, const char *spec)
{
	struct buffer text = {0};
	buffer_printf(&text, "{'metadata':{'name':'t'},'spec':{%s}}", spec);
	yard_make(yard, resource, text.text);
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

static void tell_kind(struct yard *yard, const struct kind *kind)
{
	char spec[2000];
	snprintf(spec, sizeof(spec), "'%s':{%s}", kind->specs, kind->roles);
	make(yard, kind->resource, spec);
	assert_string_equal(yard_pods(yard, NULL), kind->pods);
	assert_string_equal(yard_condition(yard, kind->resource, "t", "Created"), "True");
	assert_string_equal(yard_condition(yard, kind->resource, "t", "Running"), "");
	assert_int_equal(yard_count(yard, "training.kubeflow.org/job-name=t,training.kubeflow.org/replica-index=0,"
	                                  "training.kubeflow.org/replica-type=worker,app=a"),
	                 1);
	if (kind->decider)
		assert_string_equal(yard_pod_at(yard, kind->decider,
		                                "metadata.labels.[training.kubeflow.org/job-role]"),
		                    kind->label);
	yard_run(yard, NULL);
	assert_string_equal(yard_condition(yard, kind->resource, "t", "Running"), "True");
	/* A pod that is evicted comes back under its name. */
	yard_drop(yard, "pods", "t-worker-0");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, NULL), kind->pods);
	assert_string_equal(yard_at(yard, "pods", "t-worker-0", "status.phase"), "Pending");
	yard_run(yard, NULL);
	yard_end(yard, kind->decider, true, 0);
	assert_string_equal(yard_condition(yard, kind->resource, "t", "Succeeded"), "True");
	assert_string_equal(yard_condition(yard, kind->resource, "t", "Running"), "False");
	assert_string_equal(yard_pods(yard, NULL), kind->pods);
}

#define KIND_STORY(name, number)                                                                                       \
	STORY(name)                                                                                                    \
	{                                                                                                              \
		tell_kind(yard, &kinds[number]);                                                                       \
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
	make(yard, PYTORCH, WORKERS(3, ""));
	yard_run(yard, NULL);
	yard_change(yard, PYTORCH, "t", "{'spec':{'pytorchReplicaSpecs':{'Worker':{'replicas':11}}}}");
	assert_int_equal(yard_count(yard, NULL), 11);
	yard_run(yard, NULL);
	assert_string_equal(yard_at(yard, PYTORCH, "t", "status.replicaStatuses.Worker.active"), "11");
	yard_change(yard, PYTORCH, "t", "{'spec':{'pytorchReplicaSpecs':{'Worker':{'replicas':2}}}}");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, NULL), "t-worker-0 t-worker-1");
}

STORY(a_role_that_must_not_fail_ends_the_job)
{
	make(yard, PYTORCH, WORKERS(2, ",'restartPolicy':'Never'"));
	assert_string_equal(yard_pod_at(yard, NULL, "spec.restartPolicy"), "Never");
	yard_run(yard, NULL);
	yard_end(yard, "training.kubeflow.org/replica-index=1", false, 1);
	yard_gone(yard);
	assert_string_equal(yard_condition(yard, PYTORCH, "t", "Failed"), "True");
	/* The others have nothing left to do; the failed one stays to be looked at. */
	assert_string_equal(yard_pods(yard, NULL), "t-worker-1");
}

STORY(exit_codes_decide)
{
	make(yard, PYTORCH, WORKERS(2, ",'restartPolicy':'ExitCode'"));
	yard_run(yard, NULL);
	yard_end(yard, "training.kubeflow.org/replica-index=1", false, 137);
	yard_gone(yard);
	assert_string_equal(yard_condition(yard, PYTORCH, "t", "Failed"), "");
	assert_string_equal(yard_at(yard, "pods", "t-worker-1", "status.phase"), "Pending");
	yard_run(yard, NULL);
	assert_string_equal(yard_condition(yard, PYTORCH, "t", "Running"), "True");
	yard_end(yard, "training.kubeflow.org/replica-index=1", false, 3);
	assert_string_equal(yard_condition(yard, PYTORCH, "t", "Failed"), "True");
}

STORY(a_suspended_job_gives_its_pods_back)
{
	make(yard, PYTORCH, WORKERS(2, ""));
	yard_run(yard, NULL);
	yard_change(yard, PYTORCH, "t", "{'spec':{'runPolicy':{'suspend':true}}}");
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 0);
	assert_string_equal(yard_condition(yard, PYTORCH, "t", "Suspended"), "True");
	yard_change(yard, PYTORCH, "t", "{'spec':{'runPolicy':{'suspend':false}}}");
	yard_run(yard, NULL);
	assert_string_equal(yard_condition(yard, PYTORCH, "t", "Suspended"), "False");
	assert_string_equal(yard_condition(yard, PYTORCH, "t", "Running"), "True");
}

STORY(a_launcher_may_wait_for_its_workers)
{
	make(yard, "mpijobs.kubeflow.org/v1",
	     "'launcherCreationPolicy':'WaitForWorkersReady','mpiReplicaSpecs':{'Launcher':{'template':" POD_TEMPLATE
	     "},'Worker':{'replicas':2,'template':" POD_TEMPLATE "}}");
	assert_string_equal(yard_pods(yard, NULL), "t-worker-0 t-worker-1");
	yard_run(yard, NULL);
	assert_string_equal(yard_pods(yard, NULL), "t-launcher t-worker-0 t-worker-1");
}

STORY(the_launcher_of_the_newer_api_is_a_job)
{
	static const char resource[] = "mpijobs.kubeflow.org/v2beta1";
	make(yard, resource,
	     "'mpiReplicaSpecs':{'Launcher':{'replicas':1,'template':" POD_TEMPLATE
	     "},'Worker':{'replicas':2,'template':" POD_TEMPLATE "}}");
	assert_string_equal(kit_names(&yard->kit, "jobs.batch", NULL, NULL, NULL), "default/t-launcher");
	assert_string_equal(yard_stems(yard, ROLE("launcher")), "t-launcher");
	assert_string_equal(yard_pods(yard, ROLE("worker")), "t-worker-0 t-worker-1");
	assert_string_equal(yard_pod_at(yard, ROLE("launcher"), "metadata.ownerReferences.0.kind"), "Job");
	assert_string_equal(yard_pod_at(yard, ROLE("launcher"), "spec.restartPolicy"), "Never");
	yard_run(yard, NULL);
	assert_string_equal(yard_condition(yard, resource, "t", "Running"), "True");
	yard_change(yard, resource, "t", "{'spec':{'runPolicy':{'suspend':true}}}");
	yard_gone(yard);
	assert_string_equal(kit_names(&yard->kit, "jobs.batch", NULL, NULL, NULL), "");
	yard_change(yard, resource, "t", "{'spec':{'runPolicy':{'suspend':false}}}");
	yard_run(yard, NULL);
	yard_end(yard, ROLE("launcher"), true, 0);
	assert_string_equal(yard_condition(yard, resource, "t", "Succeeded"), "True");
}

STORY(a_launcher_job_that_fails_ends_it)
{
	static const char resource[] = "mpijobs.kubeflow.org/v2beta1";
	make(yard, resource,
	     "'runPolicy':{'backoffLimit':0},'mpiReplicaSpecs':{'Launcher':{'replicas':1,'template':" POD_TEMPLATE
	     "},'Worker':{'replicas':1,'template':" POD_TEMPLATE "}}");
	yard_run(yard, NULL);
	yard_end(yard, ROLE("launcher"), false, 1);
	assert_string_equal(yard_condition(yard, resource, "t", "Failed"), "True");
}

STORY(bad_specs_make_no_pods)
{
	make(yard, PYTORCH, "'pytorchReplicaSpecs':{'Worker':7,'Master':{'replicas':-4,'template':'x'}}");
	make(yard, "tfjobs.kubeflow.org", "'tfReplicaSpecs':[1,2]");
	assert_string_equal(yard_pods(yard, ROLE("master")), "");
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
