/* Deployments, ReplicaSets, StatefulSets. */
#include "fixtures/workload_fixture.h"

#include <stdlib.h>

#define SELECTOR "'selector':{'matchLabels':{'app':'a'}}"

static void make(struct workload_fixture *fixture, const char *resource, const char *spec)
{
	struct buffer text = {0};
	buffer_printf(&text, "{'metadata':{'name':'d'},'spec':{%s," SELECTOR ",'template':" POD_TEMPLATE "}}", spec);
	workload_fixture_make(fixture, resource, text.text);
	buffer_free(&text);
}

STORY(a_replica_set_keeps_its_number)
{
	make(fixture, "replicasets.apps", "'replicas':3");
	assert_string_equal(workload_fixture_stems(fixture, NULL), "d d d");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_at(fixture, "replicasets.apps", "d", "status.readyReplicas"), "3");
	workload_fixture_change(fixture, "replicasets.apps", "d", "{'spec':{'replicas':5}}");
	assert_int_equal(workload_fixture_count(fixture, NULL), 5);
	/* The two that do not run yet leave first. */
	workload_fixture_change(fixture, "replicasets.apps", "d", "{'spec':{'replicas':3}}");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_at(fixture, "replicasets.apps", "d", "status.readyReplicas"), "3");
	/* Deleted, failed and finished pods are replaced. */
	workload_fixture_end(fixture, NULL, false, 1);
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 3);
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_at(fixture, "replicasets.apps", "d", "status.readyReplicas"), "3");
	workload_fixture_change(fixture, "replicasets.apps", "d", "{'spec':{'replicas':0}}");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
}

/* The pods of a large set change one after the other, some at each step: what its controller writes follows from the time
 * that passes, and not from the number of changes. Otherwise each change would cost a look at all of them. */
static void a_large_set_waits_for_more_to_see(void **state)
{
	(void)state;
	struct workload_fixture fixture;
	struct error error = {0};
	struct store_list pods;
	workload_fixture_open(&fixture, WORKLOAD_FIXTURE_CALM);
	make(&fixture, "replicasets.apps", "'replicas':1000");
	store_dependents(fixture.base.store,
	                 store_peek(fixture.base.store, fixture_api(&fixture.base, "replicasets.apps")->type, "default",
	                            "d")
	                         ->uid,
	                 NULL, &pods);
	assert_int_equal(pods.count, 1000);
	uint64_t before = store_version(fixture.base.store);
	for (size_t i = 0; i < pods.count; i++) {
		struct store_request request = {.verb = STORE_PATCH,
		                                .patch = STORE_PATCH_MERGE,
		                                .subresource = STORE_STATUS};
		fixture_do(&fixture.base, request, "pods", "default", pods.items[i]->name,
		           "{'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}");
		clock_virtual_advance(&fixture.base.clock, 1000000);
		workloads_step(fixture.workloads);
		assert_int_equal(store_commit(fixture.base.store, &error), 0);
	}
	assert_in_range(store_version(fixture.base.store) - before - 1000, 5, 100);
	store_list_clear(&pods);
	workload_fixture_settle(&fixture);
	assert_string_equal(workload_fixture_at(&fixture, "replicasets.apps", "d", "status.readyReplicas"), "1000");
	workload_fixture_close(&fixture);
}

/* However many pods are to be made, a step makes a few hundred, and no set waits until another one is complete. */
static void large_sets_grow_in_slices(void **state)
{
	(void)state;
	struct workload_fixture fixture;
	workload_fixture_open(&fixture, WORKLOAD_FIXTURE_CALM);
	for (int i = 0; i < 2; i++) {
		char body[300];
		snprintf(body, sizeof(body), "{'metadata':{'name':'d%d'},'spec':{'replicas':2000,%s,'template':%s}}", i,
		         SELECTOR, POD_TEMPLATE);
		assert_code(&fixture.base, fixture_create(&fixture.base, "replicasets.apps", "default", body), 201);
	}
	size_t first[2] = {0}, all = 0;
	for (int step = 0; all < 4000; step++) {
		struct error error = {0};
		struct store_list pods;
		size_t made = 0;
		assert_true(step < 100);
		clock_virtual_advance(&fixture.base.clock, CLOCK_MILLISECOND);
		workloads_step(fixture.workloads);
		assert_int_equal(store_commit(fixture.base.store, &error), 0);
		for (int i = 0; i < 2; i++) {
			char name[] = {'d', (char)('0' + i), 0};
			store_dependents(fixture.base.store,
			                 store_peek(fixture.base.store,
			                            fixture_api(&fixture.base, "replicasets.apps")->type, "default",
			                            name)
			                         ->uid,
			                 NULL, &pods);
			if (step == 15)
				first[i] = pods.count;
			made += pods.count;
			store_list_clear(&pods);
		}
		assert_in_range(made, all, all + 100);
		all = made;
	}
	assert_true(first[0] > 500 && first[1] > 500);
	workload_fixture_settle(&fixture);
	assert_int_equal(workload_fixture_count(&fixture, NULL), 4000);
	workload_fixture_close(&fixture);
}

STORY(a_deployment_makes_pods_through_a_replica_set)
{
	make(fixture, "deployments.apps", "'replicas':2");
	assert_int_equal(workload_fixture_count(fixture, NULL), 2);
	assert_string_equal(workload_fixture_pod_at(fixture, NULL, "metadata.ownerReferences.0.kind"), "ReplicaSet");
	assert_int_equal(workload_fixture_count(fixture, "pod-template-hash"), 2);
	assert_string_equal(workload_fixture_condition(fixture, "deployments.apps", "d", "Available"), "False");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_condition(fixture, "deployments.apps", "d", "Available"), "True");
	assert_string_equal(workload_fixture_at(fixture, "deployments.apps", "d", "status.updatedReplicas"), "2");
	workload_fixture_drop(fixture, "deployments.apps", "d");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
}

static void make_node(struct workload_fixture *fixture, const char *name, const char *more)
{
	struct buffer text = {0};
	buffer_printf(&text, "{'metadata':{'name':'%s','labels':{'disk':'%s'}},'spec':{%s}}", name,
	              *more ? "old" : "new", more);
	workload_fixture_make(fixture, "nodes", text.text);
	buffer_free(&text);
}

#define DAEMON(spec)                                                                                                   \
	"{'metadata':{'name':'d'},'spec':{" SELECTOR ",'template':{'metadata':{'labels':{'app':'a'}},'spec':{" spec    \
	"'containers':[{'name':'c'}]}}}}"
#define TARGET                                                                                                         \
	"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0.matchFields.0." \
	"values.0"

STORY(a_daemon_set_is_on_every_node_it_fits)
{
	make_node(fixture, "n1", "");
	make_node(fixture, "n2", "'taints':[{'key':'gpu','effect':'NoSchedule'}]");
	workload_fixture_make(fixture, "daemonsets.apps", DAEMON(""));
	assert_string_equal(workload_fixture_stems(fixture, NULL), "d");
	assert_string_equal(workload_fixture_pod_at(fixture, NULL, TARGET), "n1");
	make_node(fixture, "n3", "");
	assert_int_equal(workload_fixture_count(fixture, NULL), 2);
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_at(fixture, "daemonsets.apps", "d", "status.numberReady"), "2");
	assert_string_equal(workload_fixture_at(fixture, "daemonsets.apps", "d", "status.desiredNumberScheduled"), "2");
	/* A node that is tainted later loses its daemon, one whose taint is tolerated gets one. */
	workload_fixture_change(fixture, "nodes", "n3", "{'spec':{'taints':[{'key':'mine','effect':'NoSchedule'}]}}");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 1);
	workload_fixture_change(fixture, "daemonsets.apps", "d",
	                        "{'spec':{'template':{'spec':{'tolerations':[{'key':'gpu','operator':'Exists'}]}}}}");
	workload_fixture_gone(fixture);
	workload_fixture_run(fixture, NULL);
	assert_int_equal(workload_fixture_count(fixture, NULL), 2);
	assert_string_equal(workload_fixture_at(fixture, "daemonsets.apps", "d", "status.updatedNumberScheduled"), "2");
	workload_fixture_drop(fixture, "nodes", "n2");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 1);
	/* A pod that failed is replaced, and all go with their set. */
	workload_fixture_end(fixture, NULL, false, 1);
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 1);
	assert_string_equal(workload_fixture_pod_at(fixture, NULL, "status.phase"), "Pending");
	workload_fixture_drop(fixture, "daemonsets.apps", "d");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
}

STORY(a_daemon_set_chooses_by_labels_and_rolls)
{
	for (int i = 0; i < 3; i++)
		make_node(fixture, (const char *[]){"n1", "n2", "n3"}[i], "");
	workload_fixture_make(fixture, "daemonsets.apps", DAEMON("'nodeSelector':{'disk':'new'},"));
	workload_fixture_run(fixture, NULL);
	assert_int_equal(workload_fixture_count(fixture, NULL), 3);
	/* One after the other: the next goes when the last one is ready. */
	workload_fixture_change(fixture, "daemonsets.apps", "d",
	                        "{'spec':{'template':{'metadata':{'labels':{'version':'2'}}}}}");
	for (int done = 1; done <= 3; done++) {
		workload_fixture_gone(fixture);
		assert_int_equal(workload_fixture_count(fixture, "version=2"), done);
		workload_fixture_run(fixture, NULL);
	}
	workload_fixture_change(fixture, "nodes", "n1", "{'metadata':{'labels':{'disk':'old'}}}");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 2);
}

static const char *progress(struct workload_fixture *fixture, const char *field)
{
	char path[64];
	snprintf(path, sizeof(path), "status.conditions.1.%s", field);
	assert_string_equal(workload_fixture_at(fixture, "deployments.apps", "d", "status.conditions.1.type"),
	                    "Progressing");
	return workload_fixture_at(fixture, "deployments.apps", "d", path);
}

STORY(a_rollout_that_is_stuck_says_so)
{
	make(fixture, "deployments.apps", "'replicas':2,'progressDeadlineSeconds':60");
	workload_fixture_pass(fixture, 50);
	assert_string_equal(progress(fixture, "reason"), "ReplicaSetUpdated");
	workload_fixture_pass(fixture, 15);
	assert_string_equal(progress(fixture, "reason"), "ProgressDeadlineExceeded");
	assert_string_equal(progress(fixture, "status"), "False");
	/* It goes on, and is done when its pods are ready after all. */
	workload_fixture_run(fixture, NULL);
	assert_string_equal(progress(fixture, "reason"), "NewReplicaSetAvailable");
	assert_string_equal(progress(fixture, "status"), "True");
	/* A pod that is lost later is no rollout. */
	workload_fixture_end(fixture, NULL, false, 1);
	workload_fixture_gone(fixture);
	workload_fixture_pass(fixture, 100);
	assert_string_equal(progress(fixture, "reason"), "NewReplicaSetAvailable");
	assert_string_equal(workload_fixture_condition(fixture, "deployments.apps", "d", "Available"), "False");
}

STORY(claims_of_a_stateful_set_stay)
{
	make(fixture, "statefulsets.apps",
	     "'replicas':2,'podManagementPolicy':'Parallel','volumeClaimTemplates':[{'metadata':{'name':'data'},'spec':"
	     "{"
	     "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}]");
	assert_string_equal(fixture_names(&fixture->base, "persistentvolumeclaims", NULL, NULL, NULL),
	                    "default/data-d-0 default/data-d-1");
	assert_string_equal(workload_fixture_at(fixture, "pods", "d-1",
	                                        "spec.volumes.0.persistentVolumeClaim.claimName"),
	                    "data-d-1");
	assert_string_equal(workload_fixture_at(fixture, "persistentvolumeclaims", "data-d-0",
	                                        "spec.resources.requests.storage"),
	                    "1Gi");
	workload_fixture_run(fixture, NULL);
	workload_fixture_change(fixture, "statefulsets.apps", "d", "{'spec':{'replicas':1}}");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "d-0");
	workload_fixture_drop(fixture, "statefulsets.apps", "d");
	workload_fixture_gone(fixture);
	assert_string_equal(fixture_names(&fixture->base, "persistentvolumeclaims", NULL, NULL, NULL),
	                    "default/data-d-0 default/data-d-1");
}

STORY(a_rolling_update_keeps_enough_ready)
{
	make(fixture, "deployments.apps",
	     "'replicas':4,'strategy':{'rollingUpdate':{'maxSurge':1,'maxUnavailable':1}}");
	workload_fixture_run(fixture, NULL);
	workload_fixture_change(fixture, "deployments.apps", "d",
	                        "{'spec':{'template':{'metadata':{'labels':{'version':'2'}}}}}");
	/* One may be missing and one may be too many. */
	assert_string_equal(workload_fixture_at(fixture, "deployments.apps", "d", "status.readyReplicas"), "3");
	workload_fixture_gone(fixture);
	assert_in_range(workload_fixture_count(fixture, NULL), 4, 5);
	for (int i = 0; i < 6; i++) {
		workload_fixture_run(fixture, NULL);
		assert_in_range(strtol(workload_fixture_at(fixture, "deployments.apps", "d", "status.readyReplicas"),
		                       NULL, 10),
		                3, 5);
		workload_fixture_gone(fixture);
	}
	assert_int_equal(workload_fixture_count(fixture, "version=2"), 4);
	assert_int_equal(workload_fixture_count(fixture, NULL), 4);
	assert_string_equal(workload_fixture_at(fixture, "deployments.apps", "d", "status.updatedReplicas"), "4");
	/* Back: the old set is used again. */
	workload_fixture_change(fixture, "deployments.apps", "d",
	                        "{'spec':{'template':{'metadata':{'labels':{'version':null}}}}}");
	for (int i = 0; i < 6; i++) {
		workload_fixture_run(fixture, NULL);
		workload_fixture_gone(fixture);
	}
	assert_int_equal(workload_fixture_count(fixture, "version=2"), 0);
	assert_int_equal(workload_fixture_count(fixture, NULL), 4);
	assert_non_null(strchr(fixture_names(&fixture->base, "replicasets.apps", "default", NULL, NULL), ' '));
	assert_null(
		strchr(strchr(fixture_names(&fixture->base, "replicasets.apps", "default", NULL, NULL), ' ') + 1, ' '));
}

STORY(recreate_waits_until_the_old_pods_are_gone)
{
	make(fixture, "deployments.apps", "'replicas':2,'strategy':{'type':'Recreate'}");
	workload_fixture_run(fixture, NULL);
	workload_fixture_change(fixture, "deployments.apps", "d",
	                        "{'spec':{'template':{'metadata':{'labels':{'version':'2'}}}}}");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, "version=2"), 2);
	assert_int_equal(workload_fixture_count(fixture, NULL), 2);
}

STORY(a_stateful_set_goes_in_order)
{
	make(fixture, "statefulsets.apps", "'replicas':3,'serviceName':'s'");
	assert_string_equal(workload_fixture_pods(fixture, NULL), "d-0");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "d-0 d-1");
	workload_fixture_run(fixture, NULL);
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "d-0 d-1 d-2");
	assert_string_equal(workload_fixture_at(fixture, "statefulsets.apps", "d", "status.readyReplicas"), "3");
	assert_string_equal(workload_fixture_at(fixture, "pods", "d-2", "spec.hostname"), "d-2");
	/* Down one after the other, from the highest. */
	workload_fixture_change(fixture, "statefulsets.apps", "d", "{'spec':{'replicas':1}}");
	assert_string_equal(workload_fixture_at(fixture, "pods", "d-1", "metadata.deletionTimestamp"), "");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "d-0 d-1");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "d-0");
	/* A failed pod comes back under its name. */
	workload_fixture_end(fixture, NULL, false, 1);
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "d-0");
	assert_string_equal(workload_fixture_at(fixture, "pods", "d-0", "status.phase"), "Pending");
}

STORY(a_parallel_stateful_set_does_not_wait)
{
	make(fixture, "statefulsets.apps", "'replicas':12,'podManagementPolicy':'Parallel','ordinals':{'start':1}");
	assert_int_equal(workload_fixture_count(fixture, NULL), 12);
	workload_fixture_run(fixture, NULL);
	workload_fixture_change(fixture, "statefulsets.apps", "d", "{'spec':{'replicas':2}}");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_pods(fixture, NULL), "d-1 d-2");
}

STORY(a_stateful_set_updates_from_the_highest)
{
	make(fixture, "statefulsets.apps", "'replicas':2,'podManagementPolicy':'Parallel'");
	workload_fixture_run(fixture, NULL);
	workload_fixture_change(fixture, "statefulsets.apps", "d",
	                        "{'spec':{'template':{'metadata':{'labels':{'version':'2'}}}}}");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_pods(fixture, "version=2"), "d-1");
	workload_fixture_run(fixture, NULL);
	workload_fixture_gone(fixture);
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_pods(fixture, "version=2"), "d-0 d-1");
	assert_string_equal(workload_fixture_at(fixture, "statefulsets.apps", "d", "status.updatedReplicas"), "2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replica_set_keeps_its_number),
		cmocka_unit_test(a_deployment_makes_pods_through_a_replica_set),
		cmocka_unit_test(a_large_set_waits_for_more_to_see),
		cmocka_unit_test(large_sets_grow_in_slices),
		cmocka_unit_test(a_daemon_set_is_on_every_node_it_fits),
		cmocka_unit_test(a_daemon_set_chooses_by_labels_and_rolls),
		cmocka_unit_test(a_rollout_that_is_stuck_says_so),
		cmocka_unit_test(claims_of_a_stateful_set_stay),
		cmocka_unit_test(a_rolling_update_keeps_enough_ready),
		cmocka_unit_test(recreate_waits_until_the_old_pods_are_gone),
		cmocka_unit_test(a_stateful_set_goes_in_order),
		cmocka_unit_test(a_parallel_stateful_set_does_not_wait),
		cmocka_unit_test(a_stateful_set_updates_from_the_highest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
