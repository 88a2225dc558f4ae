/* Gangs whose claims have to be bound first: written together, waited for, taken back together. */
#include "fixtures/scheduler_fixture.h"

#include "cluster/volumes.h"

#define CONDITION "status.conditions.0."
#define SELECTED "metadata.annotations.[volume.kubernetes.io/selected-node]"
#define DYNAMIC "'provisioner':'example.com/disks','volumeBindingMode':'WaitForFirstConsumer'"
#define LOCAL "'provisioner':'kubernetes.io/no-provisioner','volumeBindingMode':'WaitForFirstConsumer'"

#define CLAIMING(pod, claim)                                                                                           \
	"{'metadata':{'name':'" pod "','annotations':{'pod-group-name':'g'}},'spec':{'schedulerName':'platoon',"       \
	"'containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'2'}}}],'volumes':[{'name':'v',"         \
	"'persistentVolumeClaim':{'claimName':'" claim "'}}]}}"

static struct volumes *start_volumes(struct scheduler_fixture *fixture)
{
	return volumes_create(
		&(struct volumes_options){.store = fixture->base.store, .clock = &fixture->base.clock.source});
}

static void make(struct scheduler_fixture *fixture, const char *resource, const char *namespace_, const char *body)
{
	assert_code(&fixture->base, fixture_create(&fixture->base, resource, namespace_, body), 201);
}

static void make_class(struct scheduler_fixture *fixture, const char *name, const char *rest)
{
	char body[512];
	snprintf(body, sizeof(body), "{'metadata':{'name':'%s'},%s}", name, rest);
	make(fixture, "storageclasses.storage.k8s.io", "", body);
}

static void make_claim(struct scheduler_fixture *fixture, const char *name, const char *class_)
{
	char body[512];
	snprintf(body, sizeof(body),
	         "{'metadata':{'name':'%s'},'spec':{'storageClassName':'%s','accessModes':['ReadWriteOnce'],'resources'"
	         ":{"
	         "'requests':{'storage':'1Gi'}}}}",
	         name, class_);
	make(fixture, "persistentvolumeclaims", "default", body);
}

static void make_volume(struct scheduler_fixture *fixture, const char *name, const char *node)
{
	char body[768];
	snprintf(body, sizeof(body),
	         "{'metadata':{'name':'%s'},'spec':{'storageClassName':'local','accessModes':['ReadWriteOnce'],'"
	         "capacity':"
	         "{'storage':'1Gi'},'local':{'path':'/d'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{"
	         "'matchFields':[{'key':'metadata.name','operator':'In','values':['%s']}]}]}}},'status':{'phase':"
	         "'Available'}}",
	         name, node);
	make(fixture, "persistentvolumes", "", body);
	assert_code(&fixture->base,
	            fixture_merge_status(&fixture->base, "persistentvolumes", "", name,
	                                 "{'status':{'phase':'Available'}}"),
	            200);
}

/* Pods g-0 to g-<n-1>, each with the claim c-<i>. */
static void make_gang(struct scheduler_fixture *fixture, int pods)
{
	char body[1024];
	snprintf(body, sizeof(body), "'minMember':%d", pods);
	scheduler_fixture_group(fixture, "g", body);
	for (int i = 0; i < pods; i++) {
		snprintf(body, sizeof(body),
		         "{'metadata':{'name':'g-%d','annotations':{'pod-group-name':'g'}},'spec':{'schedulerName':'"
		         "platoon',"
		         "'containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'2'}}}],'volumes':[{'"
		         "name':"
		         "'v','persistentVolumeClaim':{'claimName':'c-%d'}}]}}",
		         i, i);
		make(fixture, "pods", "default", body);
	}
}

static const char *claim_at(struct scheduler_fixture *fixture, int number, const char *path)
{
	char name[16];
	snprintf(name, sizeof(name), "c-%d", number);
	return scheduler_fixture_at(fixture, "persistentvolumeclaims", "default", name, path);
}

static int bound_claims(struct scheduler_fixture *fixture, int count)
{
	int bound = 0;
	for (int i = 0; i < count; i++)
		bound += claim_at(fixture, i, "metadata.annotations.[pv.kubernetes.io/bind-completed]")[0] != '\0';
	return bound;
}

static int selected_claims(struct scheduler_fixture *fixture, int count)
{
	int selected = 0;
	for (int i = 0; i < count; i++)
		selected += claim_at(fixture, i, SELECTED)[0] != '\0';
	return selected;
}

/* Turns in which scheduler and volumes act; no pod is bound before all claims are. */
static void turns(struct scheduler_fixture *fixture, struct volumes *volumes, int pods, int count)
{
	for (int i = 0; i < count; i++) {
		struct error error = {0};
		volumes_step(volumes);
		assert_int_equal(store_commit(fixture->base.store, &error), 0);
		scheduler_fixture_turns(fixture, 1);
		if (scheduler_fixture_placed(fixture, "g", pods) > 0)
			assert_int_equal(bound_claims(fixture, pods), pods);
	}
}

static void pods_are_bound_when_all_claims_are(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 3);
	make_class(fixture, "fast", DYNAMIC);
	make_class(fixture, "slow", DYNAMIC ",'parameters':{'platoon.dev/provision-seconds':'5'}");
	make_claim(fixture, "c-0", "fast");
	make_claim(fixture, "c-1", "fast");
	make_claim(fixture, "c-2", "slow");
	make_gang(fixture, 3);
	scheduler_fixture_turns(fixture, 3);
	assert_int_equal(selected_claims(fixture, 3), 3);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 0);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", CONDITION "reason"), "WaitingForClaims");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", CONDITION "message"),
	                    "waits for claims c-0, c-1, c-2 to be bound");
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_gangs_waiting_for_claims"), 1);
	struct volumes *volumes = start_volumes(fixture);
	turns(fixture, volumes, 3, 30);
	assert_int_equal(bound_claims(fixture, 3), 2);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 0);
	turns(fixture, volumes, 3, 40);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 3);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", CONDITION "status"), "True");
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_claims_awaited_total"), 3);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_gangs_waiting_for_claims"), 0);
	volumes_destroy(volumes);
}

/* A node that pods of others want too is kept for a gang whose claims are under way. */
static void the_places_are_kept_meanwhile(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 2);
	make_class(fixture, "fast", DYNAMIC);
	make_claim(fixture, "c-0", "fast");
	make_claim(fixture, "c-1", "fast");
	make_gang(fixture, 2);
	scheduler_fixture_turns(fixture, 3);
	scheduler_fixture_gang(fixture, "late", 1, 1, "");
	scheduler_fixture_turns(fixture, 30);
	assert_int_equal(scheduler_fixture_placed(fixture, "late", 1), 0);
	struct volumes *volumes = start_volumes(fixture);
	turns(fixture, volumes, 2, 30);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 2);
	assert_int_equal(scheduler_fixture_placed(fixture, "late", 1), 0);
	volumes_destroy(volumes);
}

static void local_volumes_are_bound_where_they_are(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 3);
	make_class(fixture, "local", LOCAL);
	make_volume(fixture, "v-0", "n0");
	make_volume(fixture, "v-2", "n2");
	make_claim(fixture, "c-0", "local");
	make_claim(fixture, "c-1", "local");
	make_gang(fixture, 2);
	struct volumes *volumes = start_volumes(fixture);
	turns(fixture, volumes, 2, 30);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 2);
	for (int i = 0; i < 2; i++) {
		char pod[16], volume[8];
		snprintf(pod, sizeof(pod), "g-%d", i);
		snprintf(volume, sizeof(volume), "%s", claim_at(fixture, i, "spec.volumeName"));
		assert_string_equal(scheduler_fixture_node_of(fixture, pod) + 1, volume + 2);
	}
	volumes_destroy(volumes);
}

static void one_claim_that_fails_takes_all_back(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 3);
	make_class(fixture, "weak", DYNAMIC ",'parameters':{'platoon.dev/fail-times':'2'}");
	make_class(fixture, "slow", DYNAMIC ",'parameters':{'platoon.dev/provision-seconds':'2'}");
	make_claim(fixture, "c-0", "slow");
	make_claim(fixture, "c-1", "weak");
	make_claim(fixture, "c-2", "slow");
	make_gang(fixture, 3);
	struct volumes *volumes = start_volumes(fixture);
	turns(fixture, volumes, 3, 6);
	assert_int_equal(selected_claims(fixture, 3), 0);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 0);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", CONDITION "reason"), "ClaimsFailed");
	assert_non_null(strstr(scheduler_fixture_group_at(fixture, "g", CONDITION "message"), "claim c-1: "));
	assert_non_null(
		strstr(scheduler_fixture_at(fixture, "pods", "default", "g-1", CONDITION "message"), "claim c-1"));
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_claims_failed_total"), 1);
	/* The third time it works. */
	turns(fixture, volumes, 3, 100);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 3);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_claims_failed_total"), 2);
	volumes_destroy(volumes);
}

static void nothing_is_bound_after_the_deadline(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 3);
	make_class(fixture, "fast", DYNAMIC);
	make_class(fixture, "local", LOCAL);
	make_volume(fixture, "v-1", "n1");
	make_claim(fixture, "c-0", "fast");
	make_claim(fixture, "c-1", "local");
	make_gang(fixture, 2);
	scheduler_fixture_turns(fixture, 3);
	assert_string_equal(scheduler_fixture_at(fixture, "persistentvolumes", "", "v-1", "spec.claimRef.name"), "c-1");
	clock_virtual_advance(&fixture->base.clock, 599 * CLOCK_SECOND);
	scheduler_fixture_turns(fixture, 1);
	assert_int_equal(selected_claims(fixture, 1), 1);
	clock_virtual_advance(&fixture->base.clock, CLOCK_SECOND);
	scheduler_fixture_turns(fixture, 3);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 0);
	assert_int_equal(selected_claims(fixture, 1), 0);
	assert_string_equal(scheduler_fixture_at(fixture, "persistentvolumes", "", "v-1", "spec.claimRef"), "");
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_claims_timed_out_total"), 1);
	assert_non_null(strstr(scheduler_fixture_group_at(fixture, "g", CONDITION "message"), "not bound in time"));
	struct volumes *volumes = start_volumes(fixture);
	turns(fixture, volumes, 2, 50);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 2);
	volumes_destroy(volumes);
}

struct conflict {
	int times;
};

static struct store_fault refuse_volume(void *context, const struct store_request *request)
{
	struct conflict *conflict = context;
	if (conflict->times == 0 || strcmp(request->api->type->resource, "persistentvolumes") != 0 || !request->actor ||
	    strcmp(request->actor, "platoon") != 0)
		return (struct store_fault){0};
	conflict->times--;
	return (struct store_fault){.code = 409};
}

static void a_volume_that_was_taken_is_chosen_anew(void **state)
{
	struct scheduler_fixture *fixture = *state;
	struct conflict conflict = {1};
	store_set_fault(fixture->base.store, refuse_volume, &conflict);
	scheduler_fixture_nodes(fixture, 2);
	make_class(fixture, "local", LOCAL);
	make_volume(fixture, "v-0", "n0");
	make_volume(fixture, "v-1", "n1");
	make_claim(fixture, "c-0", "local");
	make_claim(fixture, "c-1", "local");
	make_gang(fixture, 2);
	scheduler_fixture_turns(fixture, 4);
	assert_int_equal(conflict.times, 0);
	/* The other one was taken back. */
	assert_string_equal(scheduler_fixture_at(fixture, "persistentvolumes", "", "v-0", "spec.claimRef"), "");
	assert_string_equal(scheduler_fixture_at(fixture, "persistentvolumes", "", "v-1", "spec.claimRef"), "");
	struct volumes *volumes = start_volumes(fixture);
	turns(fixture, volumes, 2, 30);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 2);
	volumes_destroy(volumes);
}

static void a_volume_that_the_node_does_not_reach_is_no_use(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 2);
	make_class(fixture, "fast", DYNAMIC);
	make_claim(fixture, "c-0", "fast");
	make_gang(fixture, 1);
	scheduler_fixture_turns(fixture, 3);
	bool first = strcmp(claim_at(fixture, 0, SELECTED), "n0") == 0;
	make_volume(fixture, "wrong", first ? "n1" : "n0");
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "persistentvolumeclaims", "default", "c-0",
	                          "{'metadata':{'annotations':{'pv.kubernetes.io/bind-completed':'yes'}},'spec':{"
	                          "'volumeName':'wrong'}}"),
	            200);
	/* It is bound, so the pod follows it. */
	scheduler_fixture_turns(fixture, 10);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_claims_failed_total"), 1);
	assert_string_equal(scheduler_fixture_node_of(fixture, "g-0"), first ? "n1" : "n0");
}

static void a_restart_at_any_time_changes_nothing(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 4);
	make_class(fixture, "fast", DYNAMIC ",'parameters':{'platoon.dev/provision-seconds':'1'}");
	make_class(fixture, "local", LOCAL);
	make_volume(fixture, "v-0", "n0");
	make_volume(fixture, "v-1", "n1");
	make_claim(fixture, "c-0", "local");
	make_claim(fixture, "c-1", "local");
	make_claim(fixture, "c-2", "fast");
	make_claim(fixture, "c-3", "fast");
	make_gang(fixture, 4);
	struct volumes *volumes = start_volumes(fixture);
	for (int i = 0; i < 30; i++) {
		scheduler_fixture_start(fixture);
		turns(fixture, volumes, 4, 1);
	}
	turns(fixture, volumes, 4, 3);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 4), 4);
	assert_string_not_equal(claim_at(fixture, 0, "spec.volumeName"), "");
	char first[16];
	snprintf(first, sizeof(first), "%s", claim_at(fixture, 0, "spec.volumeName"));
	assert_string_not_equal(claim_at(fixture, 1, "spec.volumeName"), first);
	volumes_destroy(volumes);
}

static void select_node(struct scheduler_fixture *fixture, const char *claim, const char *node)
{
	char body[128];
	snprintf(body, sizeof(body), "{'metadata':{'annotations':{'volume.kubernetes.io/selected-node':'%s'}}}", node);
	assert_code(&fixture->base, fixture_merge(&fixture->base, "persistentvolumeclaims", "default", claim, body),
	            200);
}

/* An earlier process ended when it had selected nodes: one is gone since then, and the other too full for both pods that need
 * it. As long as they do, their claims are free for another choice; where they fit, they stay. */
static void nodes_that_are_of_no_use_any_more_are_not_kept(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 3);
	make_class(fixture, "fast", DYNAMIC);
	for (int i = 0; i < 3; i++) {
		char name[16];
		snprintf(name, sizeof(name), "c-%d", i);
		make_claim(fixture, name, "fast");
	}
	select_node(fixture, "c-0", "gone");
	select_node(fixture, "c-1", "n1");
	make_gang(fixture, 3);
	struct volumes *volumes = start_volumes(fixture);
	scheduler_fixture_turns(fixture, 6);
	assert_int_equal(selected_claims(fixture, 3), 3);
	assert_string_not_equal(claim_at(fixture, 0, SELECTED), "gone");
	turns(fixture, volumes, 3, 20);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 3);
	volumes_destroy(volumes);
}

/* A pod of another gang has the claim, too: what is selected for it is its business. */
static void a_node_that_others_wait_for_is_kept(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 1);
	make_class(fixture, "fast", DYNAMIC);
	make_claim(fixture, "c-0", "fast");
	select_node(fixture, "c-0", "gone");
	make_gang(fixture, 1);
	make(fixture, "pods", "default",
	     "{'metadata':{'name':'other'},'spec':{'schedulerName':'elsewhere','containers':[{'name':'c','image':'i'}],"
	     "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c-0'}}]}}");
	scheduler_fixture_turns(fixture, 6);
	assert_string_equal(claim_at(fixture, 0, SELECTED), "gone");
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 1), 0);
}

static void a_pod_that_ends_takes_all_back(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 2);
	make_class(fixture, "slow", DYNAMIC ",'parameters':{'platoon.dev/provision-seconds':'2'}");
	make_claim(fixture, "c-0", "slow");
	make_claim(fixture, "c-1", "slow");
	make_gang(fixture, 2);
	struct volumes *volumes = start_volumes(fixture);
	turns(fixture, volumes, 2, 4);
	scheduler_fixture_phase(fixture, "g-1", "Failed");
	turns(fixture, volumes, 0, 40);
	assert_string_equal(scheduler_fixture_node_of(fixture, "g-0"), "");
	volumes_destroy(volumes);
}

static void a_pod_that_goes_takes_all_back(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 2);
	make_class(fixture, "fast", DYNAMIC);
	make_claim(fixture, "c-0", "fast");
	make_claim(fixture, "c-1", "fast");
	make_gang(fixture, 2);
	scheduler_fixture_turns(fixture, 3);
	assert_int_equal(selected_claims(fixture, 2), 2);
	assert_code(&fixture->base,
	            fixture_delete(&fixture->base, "pods", "default", "g-1", "{'gracePeriodSeconds':0}"), 200);
	scheduler_fixture_turns(fixture, 3);
	assert_int_equal(selected_claims(fixture, 2), 0);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_gangs_waiting_for_claims"), 0);
	assert_string_equal(scheduler_fixture_node_of(fixture, "g-0"), "");
}

/* Two gangs of one pod each that share the claim c-0; one of them has a second claim, which fails. */
static void a_claim_that_others_wait_for_is_not_taken_back(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 1);
	make_class(fixture, "slow", DYNAMIC ",'parameters':{'platoon.dev/provision-seconds':'30'}");
	make_class(fixture, "weak", DYNAMIC ",'parameters':{'platoon.dev/fail-times':'100'}");
	make_claim(fixture, "c-0", "slow");
	make_claim(fixture, "c-1", "weak");
	make(fixture, "pods", "default",
	     "{'metadata':{'name':'good'},'spec':{'schedulerName':'platoon','containers':[{'name':'c','image':'i'}],"
	     "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c-0'}}]}}");
	make(fixture, "pods", "default",
	     "{'metadata':{'name':'bad'},'spec':{'schedulerName':'platoon','containers':[{'name':'c','image':'i'}],"
	     "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c-0'}},"
	     "{'name':'w','persistentVolumeClaim':{'claimName':'c-1'}}]}}");
	struct volumes *volumes = start_volumes(fixture);
	for (int i = 0; i < 30; i++) {
		struct error error = {0};
		volumes_step(volumes);
		assert_int_equal(store_commit(fixture->base.store, &error), 0);
		scheduler_fixture_turns(fixture, 1);
		if (i > 3)
			assert_string_equal(claim_at(fixture, 0, SELECTED), "n0");
	}
	assert_true(scheduler_fixture_metric(fixture, "platoon_claims_failed_total") > 0);
	clock_virtual_advance(&fixture->base.clock, 30 * CLOCK_SECOND);
	turns(fixture, volumes, 0, 10);
	assert_string_equal(scheduler_fixture_node_of(fixture, "good"), "n0");
	assert_string_equal(scheduler_fixture_node_of(fixture, "bad"), "");
	volumes_destroy(volumes);
}

/* It has not started: its places are given up, and it waits again. */
static void who_waits_for_claims_gives_way_and_lives(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 1);
	make_class(fixture, "fast", DYNAMIC);
	make_claim(fixture, "c-0", "fast");
	make_gang(fixture, 1);
	scheduler_fixture_turns(fixture, 3);
	assert_int_equal(selected_claims(fixture, 1), 1);
	fixture_create(&fixture->base, "priorityclasses.scheduling.k8s.io", "",
	               "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass','metadata':{'name':'high'},"
	               "'value':90}");
	scheduler_fixture_gang(fixture, "high", 1, 1, ",'priorityClassName':'high'");
	scheduler_fixture_turns(fixture, 6);
	assert_int_equal(scheduler_fixture_placed(fixture, "high", 1), 1);
	assert_int_equal(selected_claims(fixture, 1), 0);
	assert_string_not_equal(scheduler_fixture_at(fixture, "pods", "default", "g-0", "metadata.name"), "");
	assert_string_equal(scheduler_fixture_at(fixture, "pods", "default", "g-0", "metadata.deletionTimestamp"), "");
}

static void a_node_that_was_cordoned_meanwhile_gets_no_pod(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 1);
	make_class(fixture, "slow", DYNAMIC ",'parameters':{'platoon.dev/provision-seconds':'2'}");
	make_claim(fixture, "c-0", "slow");
	make_gang(fixture, 1);
	struct volumes *volumes = start_volumes(fixture);
	turns(fixture, volumes, 1, 4);
	assert_int_equal(selected_claims(fixture, 1), 1);
	assert_code(&fixture->base, fixture_merge(&fixture->base, "nodes", "", "n0", "{'spec':{'unschedulable':true}}"),
	            200);
	turns(fixture, volumes, 1, 40);
	assert_int_equal(bound_claims(fixture, 1), 1);
	assert_string_equal(scheduler_fixture_node_of(fixture, "g-0"), "");
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "nodes", "", "n0", "{'spec':{'unschedulable':false}}"), 200);
	turns(fixture, volumes, 1, 40);
	assert_string_equal(scheduler_fixture_node_of(fixture, "g-0"), "n0");
	volumes_destroy(volumes);
}

static void commit(struct scheduler_fixture *fixture, struct volumes *volumes)
{
	struct error error = {0};
	volumes_step(volumes);
	assert_int_equal(store_commit(fixture->base.store, &error), 0);
	scheduler_fixture_turns(fixture, 1);
}

/* The claim of g-2, which came later, is bound long before those of g-0 and g-1, without which the gang is below its
 * minimum. */
static void a_late_pod_does_not_start_before_the_minimum(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 3);
	make_class(fixture, "slow", DYNAMIC ",'parameters':{'platoon.dev/provision-seconds':'10'}");
	make_class(fixture, "fast", DYNAMIC);
	make_claim(fixture, "c-0", "slow");
	make_claim(fixture, "c-1", "slow");
	make_gang(fixture, 2);
	struct volumes *volumes = start_volumes(fixture);
	for (int i = 0; i < 4; i++)
		commit(fixture, volumes);
	make_claim(fixture, "c-2", "fast");
	make(fixture, "pods", "default", CLAIMING("g-2", "c-2"));
	for (int i = 0; i < 30; i++) {
		commit(fixture, volumes);
		assert_string_equal(scheduler_fixture_node_of(fixture, "g-2"), "");
	}
	assert_string_not_equal(claim_at(fixture, 2, "metadata.annotations.[pv.kubernetes.io/bind-completed]"), "");
	clock_virtual_advance(&fixture->base.clock, 10 * CLOCK_SECOND);
	turns(fixture, volumes, 3, 20);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 3);
	volumes_destroy(volumes);
}

/* g-2 waits for its claim when g-0 and g-1 are deleted and g-3 comes, which needs no claim: with g-2 it would be enough. */
static void a_pod_that_waits_for_its_claim_does_not_count_as_bound(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 4);
	make_class(fixture, "slow", DYNAMIC ",'parameters':{'platoon.dev/provision-seconds':'30'}");
	make_claim(fixture, "c-0", "slow");
	make_claim(fixture, "c-1", "slow");
	make_gang(fixture, 2);
	scheduler_fixture_turns(fixture, 4);
	make_claim(fixture, "c-2", "slow");
	make(fixture, "pods", "default", CLAIMING("g-2", "c-2"));
	scheduler_fixture_turns(fixture, 4);
	assert_string_not_equal(claim_at(fixture, 2, SELECTED), "");
	for (int i = 0; i < 2; i++)
		assert_code(&fixture->base,
		            fixture_delete(&fixture->base, "pods", "default", i ? "g-1" : "g-0",
		                           "{'gracePeriodSeconds':0}"),
		            200);
	scheduler_fixture_pod(fixture, "g-3", "g", "");
	struct volumes *volumes = start_volumes(fixture);
	for (int i = 0; i < 20; i++) {
		commit(fixture, volumes);
		assert_int_equal(scheduler_fixture_placed(fixture, "g", 4), 0);
	}
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", CONDITION "reason"), "WaitingForClaims");
	clock_virtual_advance(&fixture->base.clock, 60 * CLOCK_SECOND);
	for (int i = 0; i < 40; i++)
		commit(fixture, volumes);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 4), 2);
	volumes_destroy(volumes);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scheduler_fixture_begin, scheduler_fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(pods_are_bound_when_all_claims_are),
		CASE(the_places_are_kept_meanwhile),
		CASE(a_claim_that_others_wait_for_is_not_taken_back),
		CASE(who_waits_for_claims_gives_way_and_lives),
		CASE(a_node_that_was_cordoned_meanwhile_gets_no_pod),
		CASE(local_volumes_are_bound_where_they_are),
		CASE(one_claim_that_fails_takes_all_back),
		CASE(nothing_is_bound_after_the_deadline),
		CASE(a_volume_that_was_taken_is_chosen_anew),
		CASE(a_volume_that_the_node_does_not_reach_is_no_use),
		CASE(a_restart_at_any_time_changes_nothing),
		CASE(nodes_that_are_of_no_use_any_more_are_not_kept),
		CASE(a_node_that_others_wait_for_is_kept),
		CASE(a_late_pod_does_not_start_before_the_minimum),
		CASE(a_pod_that_waits_for_its_claim_does_not_count_as_bound),
		CASE(a_pod_that_ends_takes_all_back),
		CASE(a_pod_that_goes_takes_all_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
