/* Deployments, ReplicaSets, StatefulSets. */
#include "fixtures/workload_fixture.h"

#include <stdlib.h>

#define SELECTOR "'selector':{'matchLabels':{'app':'a'}}"

static void make(struct yard *yard, const char *resource, const char *spec)
{
	struct buffer text = {0};
	buffer_printf(&text, "{'metadata':{'name':'d'},'spec':{%s," SELECTOR ",'template':" POD_TEMPLATE "}}", spec);
	yard_make(yard, resource, text.text);
	buffer_free(&text);
}

STORY(a_replica_set_keeps_its_number)
{
	make(yard, "replicasets.apps", "'replicas':3");
	assert_string_equal(yard_stems(yard, NULL), "d d d");
	yard_run(yard, NULL);
	assert_string_equal(yard_at(yard, "replicasets.apps", "d", "status.readyReplicas"), "3");
	yard_change(yard, "replicasets.apps", "d", "{'spec':{'replicas':5}}");
	assert_int_equal(yard_count(yard, NULL), 5);
	/* The two that do not run yet leave first. */
	yard_change(yard, "replicasets.apps", "d", "{'spec':{'replicas':3}}");
	yard_gone(yard);
	assert_string_equal(yard_at(yard, "replicasets.apps", "d", "status.readyReplicas"), "3");
	/* Deleted, failed and finished pods are replaced. */
	yard_end(yard, NULL, false, 1);
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 3);
	yard_run(yard, NULL);
	assert_string_equal(yard_at(yard, "replicasets.apps", "d", "status.readyReplicas"), "3");
	yard_change(yard, "replicasets.apps", "d", "{'spec':{'replicas':0}}");
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 0);
}

/* The pods of a large set change one after the other, some at each step: what its controller writes follows from the time
 * that passes, and not from the number of changes. Otherwise each change would cost a look at all of them. */
static void a_large_set_waits_for_more_to_see(void **state)
{
	(void)state;
	struct yard yard;
	struct error error = {0};
	struct store_list pods;
	yard_open(&yard, YARD_CALM);
	make(&yard, "replicasets.apps", "'replicas':1000");
	store_dependents(yard.kit.store,
	                 store_peek(yard.kit.store, kit_api(&yard.kit, "replicasets.apps")->type, "default", "d")->uid,
	                 NULL, &pods);
	assert_int_equal(pods.count, 1000);
	uint64_t before = store_version(yard.kit.store);
	for (size_t i = 0; i < pods.count; i++) {
		struct store_request request = {.verb = STORE_PATCH,
		                                .patch = STORE_PATCH_MERGE,
		                                .subresource = STORE_STATUS};
		kit_do(&yard.kit, request, "pods", "default", pods.items[i]->name,
		       "{'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}");
		clock_virtual_advance(&yard.kit.clock, 1000000);
		workloads_step(yard.workloads);
		assert_int_equal(store_commit(yard.kit.store, &error), 0);
	}
	assert_in_range(store_version(yard.kit.store) - before - 1000, 5, 100);
	store_list_clear(&pods);
	yard_settle(&yard);
	assert_string_equal(yard_at(&yard, "replicasets.apps", "d", "status.readyReplicas"), "1000");
	yard_close(&yard);
}

STORY(a_deployment_makes_pods_through_a_replica_set)
{
	make(yard, "deployments.apps", "'replicas':2");
	assert_int_equal(yard_count(yard, NULL), 2);
	assert_string_equal(yard_pod_at(yard, NULL, "metadata.ownerReferences.0.kind"), "ReplicaSet");
	assert_int_equal(yard_count(yard, "pod-template-hash"), 2);
	assert_string_equal(yard_condition(yard, "deployments.apps", "d", "Available"), "False");
	yard_run(yard, NULL);
	assert_string_equal(yard_condition(yard, "deployments.apps", "d", "Available"), "True");
	assert_string_equal(yard_at(yard, "deployments.apps", "d", "status.updatedReplicas"), "2");
	yard_drop(yard, "deployments.apps", "d");
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 0);
}

static void make_node(struct yard *yard, const char *name, const char *more)
{
	struct buffer text = {0};
	buffer_printf(&text, "{'metadata':{'name':'%s','labels':{'disk':'%s'}},'spec':{%s}}", name,
	              *more ? "old" : "new", more);
	yard_make(yard, "nodes", text.text);
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
	make_node(yard, "n1", "");
	make_node(yard, "n2", "'taints':[{'key':'gpu','effect':'NoSchedule'}]");
	yard_make(yard, "daemonsets.apps", DAEMON(""));
	assert_string_equal(yard_stems(yard, NULL), "d");
	assert_string_equal(yard_pod_at(yard, NULL, TARGET), "n1");
	make_node(yard, "n3", "");
	assert_int_equal(yard_count(yard, NULL), 2);
	yard_run(yard, NULL);
	assert_string_equal(yard_at(yard, "daemonsets.apps", "d", "status.numberReady"), "2");
	assert_string_equal(yard_at(yard, "daemonsets.apps", "d", "status.desiredNumberScheduled"), "2");
	/* A node that is tainted later loses its daemon, one whose taint is tolerated gets one. */
	yard_change(yard, "nodes", "n3", "{'spec':{'taints':[{'key':'mine','effect':'NoSchedule'}]}}");
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 1);
	yard_change(yard, "daemonsets.apps", "d",
	            "{'spec':{'template':{'spec':{'tolerations':[{'key':'gpu','operator':'Exists'}]}}}}");
	yard_gone(yard);
	yard_run(yard, NULL);
	assert_int_equal(yard_count(yard, NULL), 2);
	assert_string_equal(yard_at(yard, "daemonsets.apps", "d", "status.updatedNumberScheduled"), "2");
	yard_drop(yard, "nodes", "n2");
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 1);
	/* A pod that failed is replaced, and all go with their set. */
	yard_end(yard, NULL, false, 1);
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 1);
	assert_string_equal(yard_pod_at(yard, NULL, "status.phase"), "Pending");
	yard_drop(yard, "daemonsets.apps", "d");
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 0);
}

STORY(a_daemon_set_chooses_by_labels_and_rolls)
{
	for (int i = 0; i < 3; i++)
		make_node(yard, (const char *[]){"n1", "n2", "n3"}[i], "");
	yard_make(yard, "daemonsets.apps", DAEMON("'nodeSelector':{'disk':'new'},"));
	yard_run(yard, NULL);
	assert_int_equal(yard_count(yard, NULL), 3);
	/* One after the other: the next goes when the last one is ready. */
	yard_change(yard, "daemonsets.apps", "d", "{'spec':{'template':{'metadata':{'labels':{'version':'2'}}}}}");
	for (int done = 1; done <= 3; done++) {
		yard_gone(yard);
		assert_int_equal(yard_count(yard, "version=2"), done);
		yard_run(yard, NULL);
	}
	yard_change(yard, "nodes", "n1", "{'metadata':{'labels':{'disk':'old'}}}");
	yard_gone(yard);
	assert_int_equal(yard_count(yard, NULL), 2);
}

static const char *progress(struct yard *yard, const char *field)
{
	char path[64];
	snprintf(path, sizeof(path), "status.conditions.1.%s", field);
	assert_string_equal(yard_at(yard, "deployments.apps", "d", "status.conditions.1.type"), "Progressing");
	return yard_at(yard, "deployments.apps", "d", path);
}

STORY(a_rollout_that_is_stuck_says_so)
{
	make(yard, "deployments.apps", "'replicas':2,'progressDeadlineSeconds':60");
	yard_pass(yard, 50);
	assert_string_equal(progress(yard, "reason"), "ReplicaSetUpdated");
	yard_pass(yard, 15);
	assert_string_equal(progress(yard, "reason"), "ProgressDeadlineExceeded");
	assert_string_equal(progress(yard, "status"), "False");
	/* It goes on, and is done when its pods are ready after all. */
	yard_run(yard, NULL);
	assert_string_equal(progress(yard, "reason"), "NewReplicaSetAvailable");
	assert_string_equal(progress(yard, "status"), "True");
	/* A pod that is lost later is no rollout. */
	yard_end(yard, NULL, false, 1);
	yard_gone(yard);
	yard_pass(yard, 100);
	assert_string_equal(progress(yard, "reason"), "NewReplicaSetAvailable");
	assert_string_equal(yard_condition(yard, "deployments.apps", "d", "Available"), "False");
}

STORY(claims_of_a_stateful_set_stay)
{
	make(yard, "statefulsets.apps",
	     "'replicas':2,'podManagementPolicy':'Parallel','volumeClaimTemplates':[{'metadata':{'name':'data'},'spec':"
	     "{"
	     "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}]");
	assert_string_equal(kit_names(&yard->kit, "persistentvolumeclaims", NULL, NULL, NULL),
	                    "default/data-d-0 default/data-d-1");
	assert_string_equal(yard_at(yard, "pods", "d-1", "spec.volumes.0.persistentVolumeClaim.claimName"), "data-d-1");
	assert_string_equal(yard_at(yard, "persistentvolumeclaims", "data-d-0", "spec.resources.requests.storage"),
	                    "1Gi");
	yard_run(yard, NULL);
	yard_change(yard, "statefulsets.apps", "d", "{'spec':{'replicas':1}}");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, NULL), "d-0");
	yard_drop(yard, "statefulsets.apps", "d");
	yard_gone(yard);
	assert_string_equal(kit_names(&yard->kit, "persistentvolumeclaims", NULL, NULL, NULL),
	                    "default/data-d-0 default/data-d-1");
}

STORY(a_rolling_update_keeps_enough_ready)
{
	make(yard, "deployments.apps", "'replicas':4,'strategy':{'rollingUpdate':{'maxSurge':1,'maxUnavailable':1}}");
	yard_run(yard, NULL);
	yard_change(yard, "deployments.apps", "d", "{'spec':{'template':{'metadata':{'labels':{'version':'2'}}}}}");
	/* One may be missing and one may be too many. */
	assert_string_equal(yard_at(yard, "deployments.apps", "d", "status.readyReplicas"), "3");
	yard_gone(yard);
	assert_in_range(yard_count(yard, NULL), 4, 5);
	for (int i = 0; i < 6; i++) {
		yard_run(yard, NULL);
		assert_in_range(strtol(yard_at(yard, "deployments.apps", "d", "status.readyReplicas"), NULL, 10), 3, 5);
		yard_gone(yard);
	}
	assert_int_equal(yard_count(yard, "version=2"), 4);
	assert_int_equal(yard_count(yard, NULL), 4);
	assert_string_equal(yard_at(yard, "deployments.apps", "d", "status.updatedReplicas"), "4");
	/* Back: the old set is used again. */
	yard_change(yard, "deployments.apps", "d", "{'spec':{'template':{'metadata':{'labels':{'version':null}}}}}");
	for (int i = 0; i < 6; i++) {
		yard_run(yard, NULL);
		yard_gone(yard);
	}
	assert_int_equal(yard_count(yard, "version=2"), 0);
	assert_int_equal(yard_count(yard, NULL), 4);
	assert_non_null(strchr(kit_names(&yard->kit, "replicasets.apps", "default", NULL, NULL), ' '));
	assert_null(strchr(strchr(kit_names(&yard->kit, "replicasets.apps", "default", NULL, NULL), ' ') + 1, ' '));
}

STORY(recreate_waits_until_the_old_pods_are_gone)
{
	make(yard, "deployments.apps", "'replicas':2,'strategy':{'type':'Recreate'}");
	yard_run(yard, NULL);
	yard_change(yard, "deployments.apps", "d", "{'spec':{'template':{'metadata':{'labels':{'version':'2'}}}}}");
	yard_gone(yard);
	assert_int_equal(yard_count(yard, "version=2"), 2);
	assert_int_equal(yard_count(yard, NULL), 2);
}

STORY(a_stateful_set_goes_in_order)
{
	make(yard, "statefulsets.apps", "'replicas':3,'serviceName':'s'");
	assert_string_equal(yard_pods(yard, NULL), "d-0");
	yard_run(yard, NULL);
	assert_string_equal(yard_pods(yard, NULL), "d-0 d-1");
	yard_run(yard, NULL);
	yard_run(yard, NULL);
	assert_string_equal(yard_pods(yard, NULL), "d-0 d-1 d-2");
	assert_string_equal(yard_at(yard, "statefulsets.apps", "d", "status.readyReplicas"), "3");
	assert_string_equal(yard_at(yard, "pods", "d-2", "spec.hostname"), "d-2");
	/* Down one after the other, from the highest. */
	yard_change(yard, "statefulsets.apps", "d", "{'spec':{'replicas':1}}");
	assert_string_equal(yard_at(yard, "pods", "d-1", "metadata.deletionTimestamp"), "");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, NULL), "d-0 d-1");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, NULL), "d-0");
	/* A failed pod comes back under its name. */
	yard_end(yard, NULL, false, 1);
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, NULL), "d-0");
	assert_string_equal(yard_at(yard, "pods", "d-0", "status.phase"), "Pending");
}

STORY(a_parallel_stateful_set_does_not_wait)
{
	make(yard, "statefulsets.apps", "'replicas':12,'podManagementPolicy':'Parallel','ordinals':{'start':1}");
	assert_int_equal(yard_count(yard, NULL), 12);
	yard_run(yard, NULL);
	yard_change(yard, "statefulsets.apps", "d", "{'spec':{'replicas':2}}");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, NULL), "d-1 d-2");
}

STORY(a_stateful_set_updates_from_the_highest)
{
	make(yard, "statefulsets.apps", "'replicas':2,'podManagementPolicy':'Parallel'");
	yard_run(yard, NULL);
	yard_change(yard, "statefulsets.apps", "d", "{'spec':{'template':{'metadata':{'labels':{'version':'2'}}}}}");
	yard_gone(yard);
	assert_string_equal(yard_pods(yard, "version=2"), "d-1");
	yard_run(yard, NULL);
	yard_gone(yard);
	yard_run(yard, NULL);
	assert_string_equal(yard_pods(yard, "version=2"), "d-0 d-1");
	assert_string_equal(yard_at(yard, "statefulsets.apps", "d", "status.updatedReplicas"), "2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replica_set_keeps_its_number),
		cmocka_unit_test(a_deployment_makes_pods_through_a_replica_set),
		cmocka_unit_test(a_large_set_waits_for_more_to_see),
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
