/* Deployments, ReplicaSets, StatefulSets. */
#include "yard.h"

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
		cmocka_unit_test(a_rolling_update_keeps_enough_ready),
		cmocka_unit_test(recreate_waits_until_the_old_pods_are_gone),
		cmocka_unit_test(a_stateful_set_goes_in_order),
		cmocka_unit_test(a_parallel_stateful_set_does_not_wait),
		cmocka_unit_test(a_stateful_set_updates_from_the_highest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
