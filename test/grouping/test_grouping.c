/* The grouping controller over a store: workloads and pods in, PodGroups, marks and events out. */
#include "grouping/story.h"

#include <stdlib.h>

#define SEGMENTS                                                                                                       \
	"'kai.scheduler/topology':'t','kai.scheduler/segment-size':'2',"                                               \
	"'kai.scheduler/segment-topology-required-placement':'rack'"

static void make_replica_pod(struct grouping_story *fixture, const char *name, const char *uid, const char *group,
                             const char *worker)
{
	char labels[300];
	snprintf(labels, sizeof(labels),
	         "'leaderworkerset.sigs.k8s.io/name':'serve','leaderworkerset.sigs.k8s.io/group-index':'%s',"
	         "'leaderworkerset.sigs.k8s.io/worker-index':'%s'",
	         group, worker);
	story_make_pod(fixture, name, "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "serve", uid, labels);
}

static bool has_group(struct grouping_story *fixture, const char *uid, int replica)
{
	char name[128];
	snprintf(name, sizeof(name), "pg-serve-%s-group-%d", uid, replica);
	return fixture_get(&fixture->base, GROUPS, "default", name) == 200;
}

static void remove_pod(struct grouping_story *fixture, const char *name)
{
	assert_code(&fixture->base, fixture_delete(&fixture->base, "pods", "default", name, "{'gracePeriodSeconds':0}"),
	            200);
	story_settle(fixture);
}

static void a_replica_that_is_scaled_away_takes_its_group_along(void **state)
{
	struct grouping_story *fixture = *state;
	char *uid = story_make(
		fixture, "leaderworkersets.leaderworkerset.x-k8s.io",
		"{'apiVersion':'leaderworkerset.x-k8s.io/v1','kind':'LeaderWorkerSet','metadata':{'name':'serve'},"
		"'spec':{'replicas':2,'leaderWorkerTemplate':{'size':2,'workerTemplate':{'spec':{'containers':[]"
		"}}}}}");
	make_replica_pod(fixture, "serve-0", uid, "0", "0");
	make_replica_pod(fixture, "serve-1", uid, "1", "0");
	make_replica_pod(fixture, "serve-1-1", uid, "1", "1");
	story_settle(fixture);
	assert_true(has_group(fixture, uid, 0) && has_group(fixture, uid, 1));
	/* A replica that is made anew keeps its group. */
	remove_pod(fixture, "serve-0");
	assert_true(has_group(fixture, uid, 0));
	fixture_merge(&fixture->base, "leaderworkersets.leaderworkerset.x-k8s.io", "default", "serve",
	              "{'spec':{'replicas':1}}");
	story_settle(fixture);
	remove_pod(fixture, "serve-1-1");
	assert_true(has_group(fixture, uid, 1));
	remove_pod(fixture, "serve-1");
	assert_false(has_group(fixture, uid, 1));
	assert_true(has_group(fixture, uid, 0));
	story_assert_at_rest(fixture);
	free(uid);
}

static void a_job_becomes_a_group_of_segments(void **state)
{
	struct grouping_story *fixture = *state;
	struct store_fixture *base = &fixture->base;
	char *uid = story_make_job(fixture, "train",
	                           SEGMENTS
	                           ",'team':'vision','kubectl.kubernetes.io/last-applied-configuration':'of the Job'",
	                           4);
	for (int i = 0; i < 4; i++)
		story_make_job_pod(fixture, "train", uid, i);
	story_settle(fixture);
	story_get_group(fixture);
	assert_at(base, "metadata.annotations.team", "vision");
	assert_at(base, "metadata.annotations.[kubectl.kubernetes.io/last-applied-configuration]", "");
	assert_at(base, "metadata.ownerReferences.0.uid", uid);
	assert_at(base, "metadata.ownerReferences.0.kind", "Job");
	assert_at(base, "spec.queue", "default-queue");
	assert_at(base, "spec.priorityClassName", "train");
	assert_at(base, "spec.subGroups.2.name", "worker-1");
	assert_at(base, "spec.subGroups.2.minMember", "2");
	assert_at(base, "spec.subGroups.2.topologyConstraint.requiredTopologyLevel", "rack");
	story_get_pod(fixture, "train-3");
	assert_at(base, "metadata.annotations.pod-group-name", story_group_name(fixture));
	assert_at(base, "metadata.labels.[kai.scheduler/subgroup-name]", "worker-1");
	assert_at(base, "metadata.labels.[kai.scheduler/segment-index]", "1");
	story_assert_at_rest(fixture);
	/* The group goes with its workload. */
	assert_code(base, fixture_delete(base, JOBS, "default", "train", "{'propagationPolicy':'Background'}"), 200);
	for (int i = 0; i < 10; i++) {
		fixture_settle(base);
		story_settle(fixture);
	}
	assert_string_equal(story_group_name(fixture), "");
	assert_string_equal(story_events_about(fixture, "Job", "train"), "");
	assert_string_equal(story_events_about(fixture, "Pod", "train-0"), "");
	free(uid);
}

#define PYTORCH_CRD                                                                                                    \
	"{'metadata':{'name':'pytorchjobs.kubeflow.org'},'spec':{'group':'kubeflow.org','scope':'Namespaced',"         \
	"'names':{'plural':'pytorchjobs','singular':'pytorchjob','kind':'PyTorchJob'},'versions':[{'name':'v1',"       \
	"'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"                                   \
	"'x-kubernetes-preserve-unknown-fields':true}}}]}}"

static void an_owner_that_comes_later_is_waited_for(void **state)
{
	struct grouping_story *fixture = *state;
	struct store_fixture *base = &fixture->base;
	/* Not even the kind is known when the pod comes. */
	story_make_pod(fixture, "p-0", "kubeflow.org/v1", "PyTorchJob", "pt", "later",
	               "'training.kubeflow.org/replica-type':'worker'");
	story_settle(fixture);
	assert_string_equal(story_group_name(fixture), "");
	assert_string_equal(story_events_about(fixture, "Pod", "p-0"), "OwnerNotFound");
	story_get_pod(fixture, "p-0");
	assert_at(base, "status.conditions.0.reason", "NotGrouped");
	story_assert_at_rest(fixture);
	assert_code(base, fixture_create(base, "customresourcedefinitions.apiextensions.k8s.io", "", PYTORCH_CRD), 201);
	story_settle(fixture);
	char *uid = story_make(
		fixture, "pytorchjobs.kubeflow.org",
		"{'apiVersion':'kubeflow.org/v1','kind':'PyTorchJob','metadata':{'name':'pt','labels':{"
		"'kai.scheduler/queue':'research','kai.scheduler/preemptibility':'non-preemptible'}},'spec':{"
		"'pytorchReplicaSpecs':{'Master':{'replicas':1},'Worker':{'replicas':2}}}}");
	story_settle(fixture);
	/* Another object of that name is not the owner. */
	assert_string_equal(story_group_name(fixture), "");
	story_make_pod(fixture, "p-1", "kubeflow.org/v1", "PyTorchJob", "pt", uid,
	               "'training.kubeflow.org/replica-type':'worker'");
	story_settle(fixture);
	story_get_group(fixture);
	assert_at(base, "spec.queue", "research");
	assert_at(base, "spec.preemptibility", "non-preemptible");
	assert_at(base, "spec.subGroups.0.name", "master");
	assert_at(base, "spec.subGroups.1.minMember", "2");
	story_get_pod(fixture, "p-1");
	assert_at(base, "metadata.labels.[kai.scheduler/subgroup-name]", "worker");
	story_assert_at_rest(fixture);
	/* The workload is scaled: its group follows. */
	assert_code(base,
	            fixture_merge(base, "pytorchjobs.kubeflow.org", "default", "pt",
	                          "{'spec':{'pytorchReplicaSpecs':{'Worker':{'replicas':5}}}}"),
	            200);
	story_settle(fixture);
	story_get_group(fixture);
	assert_at(base, "spec.subGroups.1.minMember", "5");
	story_assert_at_rest(fixture);
	free(uid);
}

#define FLOW_CRD                                                                                                       \
	"{'metadata':{'name':'flows.jobs.example.com'},'spec':{'group':'jobs.example.com','names':{'kind':'Flow',"     \
	"'plural':'flows','singular':'flow','listKind':'FlowList'},'scope':'Namespaced','versions':[{'name':'v1',"     \
	"'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"                                   \
	"'x-kubernetes-preserve-unknown-fields':true}}}]}}"
#define FLOW_KARTA                                                                                                     \
	"{'apiVersion':'run.ai/v1alpha1','kind':'Karta','metadata':{'name':'flow'},'spec':{'structureDefinition':{"    \
	"'rootComponent':{'name':'flow','kind':{'group':'jobs.example.com','version':'v1','kind':'Flow'}},"            \
	"'childComponents':[{'name':'worker','ownerRef':'flow','scaleDefinition':{'replicasPath':'.spec.replicas'},"   \
	"'podSelector':{'componentTypeSelector':{'keyPath':'.metadata.labels.role','value':'worker'}}}]},"             \
	"'optimizationInstructions':{'gangScheduling':{'podGroup':{'name':'all','subGroups':[{'componentName':"        \
	"'worker'}]}}}}}"

/* A kind that nobody knows, an object of it and one of its pods. */
static char *make_flow(struct grouping_story *fixture)
{
	struct store_fixture *base = &fixture->base;
	assert_code(base, fixture_create(base, "customresourcedefinitions.apiextensions.k8s.io", "", FLOW_CRD), 201);
	char *uid = story_make(
		fixture, "flows.jobs.example.com",
		"{'apiVersion':'jobs.example.com/v1','kind':'Flow','metadata':{'name':'f'},'spec':{'replicas':3}}");
	story_make_pod(fixture, "f-0", "jobs.example.com/v1", "Flow", "f", uid, "'role':'worker'");
	return uid;
}

static void a_karta_describes_a_kind_from_when_it_is_there(void **state)
{
	struct grouping_story *fixture = *state;
	struct store_fixture *base = &fixture->base;
	char *uid = make_flow(fixture);
	story_settle(fixture);
	story_get_group(fixture);
	assert_at(base, "spec.minMember", "1");
	assert_code(base, fixture_create(base, "kartas.run.ai", "", FLOW_KARTA), 201);
	story_settle(fixture);
	story_get_pod(fixture, "f-0");
	assert_at(base, "metadata.labels.[kai.scheduler/subgroup-name]", "worker");
	char *name = base_strdup(fixture_at(base, "metadata.annotations.pod-group-name"));
	assert_code(base, fixture_get(base, GROUPS, "default", name), 200);
	assert_at(base, "spec.subGroups.0.minMember", "3");
	assert_at(base, "metadata.ownerReferences.0.kind", "Flow");
	story_assert_at_rest(fixture);
	/* It is changed, and the group with it; a mistake in it is told. */
	assert_code(base,
	            fixture_merge(base, "kartas.run.ai", "", "flow",
	                          "{'spec':{'optimizationInstructions':{'gangScheduling':{'podGroup':{'topology':{"
	                          "'requiredTopologyLevel':'rack'}}}}}}"),
	            200);
	story_settle(fixture);
	assert_string_equal(story_events_about(fixture, "Flow", "f"), "TopologyNameMissing");
	story_assert_at_rest(fixture);
	/* Without it the pod is one of many again, and no part of anything. */
	assert_code(base, fixture_delete(base, "kartas.run.ai", "", "flow", NULL), 200);
	story_settle(fixture);
	story_get_pod(fixture, "f-0");
	assert_at(base, "metadata.labels.[kai.scheduler/subgroup-name]", "");
	assert_string_not_equal(fixture_at(base, "metadata.annotations.pod-group-name"), name);
	story_assert_at_rest(fixture);
	free(name);
	free(uid);
}

static void pods_of_a_deployment_are_groups_of_their_own(void **state)
{
	struct grouping_story *fixture = *state;
	struct store_fixture *base = &fixture->base;
	const char *spec = "'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{"
			   "'containers':[{'name':'c','image':'i'}]}}";
	char body[900];
	snprintf(body, sizeof(body), "{'metadata':{'name':'web'},'spec':{'replicas':2,%s}}", spec);
	char *deployment = story_make(fixture, "deployments.apps", body);
	snprintf(body, sizeof(body),
	         "{'metadata':{'name':'web-1','ownerReferences':[{'apiVersion':'apps/v1','kind':'Deployment','name':"
	         "'web','uid':'%s','controller':true}]},'spec':{'replicas':2,%s}}",
	         deployment, spec);
	char *set = story_make(fixture, "replicasets.apps", body);
	story_make_pod(fixture, "web-1-a", "apps/v1", "ReplicaSet", "web-1", set, "'a':'b'");
	story_make_pod(fixture, "web-1-b", "apps/v1", "ReplicaSet", "web-1", set, "'a':'b'");
	story_settle(fixture);
	assert_non_null(strchr(story_group_name(fixture), ' '));
	story_get_pod(fixture, "web-1-b");
	char *name = base_strdup(fixture_at(base, "metadata.annotations.pod-group-name"));
	assert_code(base, fixture_get(base, GROUPS, "default", name), 200);
	assert_at(base, "metadata.ownerReferences.0.kind", "Pod");
	assert_at(base, "spec.minMember", "1");
	assert_at(base, "spec.priorityClassName", "inference");
	story_assert_at_rest(fixture);
	/* A pod that vanishes takes its group along, and nobody makes it again. */
	assert_code(base, fixture_delete(base, "pods", "default", "web-1-b", "{'gracePeriodSeconds':0}"), 200);
	for (int i = 0; i < 5; i++) {
		story_settle(fixture);
		fixture_settle(base);
	}
	assert_code(base, fixture_get(base, GROUPS, "default", name), 404);
	assert_null(strchr(story_group_name(fixture), ' '));
	free(name);
	free(set);
	free(deployment);
}

static void what_a_user_changes_is_kept_or_put_right(void **state)
{
	struct grouping_story *fixture = *state;
	struct store_fixture *base = &fixture->base;
	char *uid = story_make_job(fixture, "train", SEGMENTS, 2);
	story_make_job_pod(fixture, "train", uid, 0);
	story_settle(fixture);
	char name[300];
	snprintf(name, sizeof(name), "%s", story_group_name(fixture));
	/* Deleted by hand: made again. */
	assert_code(base, fixture_delete(base, GROUPS, "default", name, NULL), 200);
	story_settle(fixture);
	assert_string_equal(story_group_name(fixture), name);
	/* The queue is the user's, the tree is not. */
	assert_code(
		base,
		fixture_merge(base, GROUPS, "default", name,
	                      "{'metadata':{'labels':{'mine':'1'}},'spec':{'queue':'other','markUnschedulable':false,"
	                      "'subGroups':null,'minMember':7}}"),
		200);
	story_settle(fixture);
	story_get_group(fixture);
	assert_at(base, "spec.queue", "other");
	assert_at(base, "spec.markUnschedulable", "false");
	assert_at(base, "metadata.labels.mine", "1");
	assert_at(base, "spec.minMember", "");
	assert_at(base, "spec.subGroups.1.name", "worker-0");
	/* The status of others is left alone, and wakes nobody. */
	assert_code(base, fixture_merge_status(base, GROUPS, "default", name, "{'status':{'phase':'Pending'}}"), 200);
	story_assert_at_rest(fixture);
	story_get_group(fixture);
	assert_at(base, "status.phase", "Pending");
	/* Marks that were taken off come back. */
	assert_code(base,
	            fixture_merge(base, "pods", "default", "train-0",
	                          "{'metadata':{'annotations':null,'labels':{'kai.scheduler/subgroup-name':'wrong'}}}"),
	            200);
	story_settle(fixture);
	story_get_pod(fixture, "train-0");
	assert_at(base, "metadata.annotations.pod-group-name", name);
	assert_at(base, "metadata.labels.[kai.scheduler/subgroup-name]", "worker-0");
	free(uid);
}

static void some_pods_are_left_alone(void **state)
{
	struct grouping_story *fixture = *state;
	struct store_fixture *base = &fixture->base;
	uint64_t before;
	free(story_make(fixture, "pods",
	                "{'metadata':{'name':'other'},'spec':{'containers':[{'name':'c','image':'i'}]}}"));
	free(story_make(fixture, "pods",
	                "{'metadata':{'name':'skip','annotations':{'kai.scheduler/skip-podgrouper':'true'}},'spec':{"
	                "'schedulerName':'platoon','containers':[{'name':'c','image':'i'}]}}"));
	free(story_make(fixture, GROUPS, "{'metadata':{'name':'mine'},'spec':{'minMember':2}}"));
	free(story_make(
		fixture, "pods",
		"{'metadata':{'name':'own','annotations':{'pod-group-name':'mine'}},'spec':{'schedulerName':'platoon',"
		"'containers':[{'name':'c','image':'i'}]}}"));
	before = store_version(base->store);
	story_settle(fixture);
	assert_int_equal(store_version(base->store), before);
	assert_string_equal(story_group_name(fixture), "mine");
	/* Nobody has to wait for their grouping. */
	const struct store_type *pods = store_type_find(base->store, "", "pods");
	assert_false(story_holds(fixture, store_peek(base->store, pods, "default", "other")));
	assert_false(story_holds(fixture, store_peek(base->store, pods, "default", "skip")));
	assert_false(story_holds(fixture, store_peek(base->store, pods, "default", "own")));
}

static void a_pod_is_held_until_it_is_marked(void **state)
{
	struct grouping_story *fixture = *state;
	const struct store_type *pods = store_type_find(fixture->base.store, "", "pods");
	story_make_pod(fixture, "bare", NULL, NULL, NULL, NULL, "");
	assert_true(story_holds(fixture, store_peek(fixture->base.store, pods, "default", "bare")));
	story_settle(fixture);
	assert_false(story_holds(fixture, store_peek(fixture->base.store, pods, "default", "bare")));
	story_assert_at_rest(fixture);
}

static void warnings_become_events_once(void **state)
{
	struct grouping_story *fixture = *state;
	/* No Topology is named: segments are ignored, with one warning for all pods. */
	char *uid =
		story_make_job(fixture, "train",
	                       "'kai.scheduler/segment-size':'2','kai.scheduler/segment-topology-required-placement':"
	                       "'rack'",
	                       3);
	for (int i = 0; i < 3; i++)
		story_make_job_pod(fixture, "train", uid, i);
	story_settle(fixture);
	assert_string_equal(story_events_about(fixture, "Job", "train"), "SegmentTopologyMissing");
	assert_non_null(strstr(fixture_at(&fixture->base, "message"), "no Topology is named"));
	assert_string_equal(story_events_about(fixture, "Pod", "train-0"), "");
	story_get_group(fixture);
	assert_at(&fixture->base, "spec.subGroups", "");
	assert_at(&fixture->base, "spec.minMember", "1");
	story_assert_at_rest(fixture);
	free(uid);
}

/* The text is JSON in JSON: ^ stands for an escaped quote. */
static void write_defaults(struct grouping_story *fixture, bool create, const char *types)
{
	struct store_fixture *base = &fixture->base;
	struct buffer body = {0};
	buffer_puts(&body, "{'metadata':{'name':'platoon-grouping-defaults'},'data':{'types':'");
	for (const char *at = types; *at; at++)
		buffer_puts(&body, *at == '^' ? "\\\"" : (char[]){*at, '\0'});
	buffer_puts(&body, "'}}");
	int code = create ? fixture_create(base, "configmaps", "kube-system", body.text)
	                  : fixture_merge(base, "configmaps", "kube-system", "platoon-grouping-defaults", body.text);
	assert_code(base, code, create ? 201 : 200);
	buffer_free(&body);
	story_settle(fixture);
}

static void the_cluster_says_what_kinds_get(void **state)
{
	struct grouping_story *fixture = *state;
	struct store_fixture *base = &fixture->base;
	char *uid = story_make_job(fixture, "train", "", 1);
	story_make_job_pod(fixture, "train", uid, 0);
	story_settle(fixture);
	write_defaults(fixture, true,
	               "[{^typeName^:^Job^,^group^:^other.example^,^priorityName^:^no^},"
	               "{^typeName^:^Job.batch^,^priorityName^:^urgent^,^preemptibility^:^non-preemptible^}]");
	story_get_group(fixture);
	assert_at(base, "spec.priorityClassName", "urgent");
	assert_at(base, "spec.preemptibility", "non-preemptible");
	story_assert_at_rest(fixture);
	write_defaults(fixture, false, "[{^typeName^:^Job^,^priorityName^:^calm^},{}]");
	story_get_group(fixture);
	assert_at(base, "spec.priorityClassName", "calm");
	assert_at(base, "spec.preemptibility", "");
	write_defaults(fixture, false, "not a list");
	story_get_group(fixture);
	assert_at(base, "spec.priorityClassName", "train");
	assert_non_null(strchr(fixture_names(base, "events", "kube-system", NULL, NULL), ' ')); /* one per mistake */
	story_assert_at_rest(fixture);
	assert_code(base, fixture_delete(base, "configmaps", "kube-system", "platoon-grouping-defaults", NULL), 200);
	story_settle(fixture);
	story_get_group(fixture);
	assert_at(base, "spec.priorityClassName", "train");
	free(uid);
}

static void the_cluster_says_whether_kartas_count(void **state)
{
	struct grouping_story *fixture = *state;
	struct store_fixture *base = &fixture->base;
	char *uid = make_flow(fixture);
	assert_code(base, fixture_create(base, "kartas.run.ai", "", FLOW_KARTA), 201);
	assert_code(base,
	            fixture_create(base, "configmaps", "kube-system",
	                           "{'metadata':{'name':'platoon-grouping-defaults'},'data':{'genericKartaFallback':"
	                           "'false','gangScheduleKnative':'perhaps'}}"),
	            201);
	story_settle(fixture);
	story_get_group(fixture);
	assert_at(base, "spec.minMember", "1");
	assert_non_null(strstr(fixture_names(base, "events", "kube-system", NULL, NULL), "platoon-grouping-defaults"));
	assert_code(base,
	            fixture_merge(base, "configmaps", "kube-system", "platoon-grouping-defaults",
	                          "{'data':{'genericKartaFallback':'true'}}"),
	            200);
	story_settle(fixture);
	story_get_pod(fixture, "f-0");
	assert_at(base, "metadata.labels.[kai.scheduler/subgroup-name]", "worker");
	story_assert_at_rest(fixture);
	free(uid);
}

static int refuse_groups(void *context, struct store_admission *admission, struct store_error *error)
{
	const int *mode = context;
	if (strcmp(admission->api->type->kind, "PodGroup") != 0 || *mode == 0)
		return 0;
	return *mode == 409 ? store_fail(admission->arena, error, 409, "Conflict", "somebody was faster")
	                    : store_fail(admission->arena, error, 422, "Invalid", "no such level");
}

static void refusals_are_told_and_conflicts_are_not(void **state)
{
	static struct grouping_story fixture;
	static int mode;
	struct store_fixture *base = &fixture.base;
	memset(&fixture, 0, sizeof(fixture));
	mode = 409;
	base->options.admit = refuse_groups;
	base->options.context = &mode;
	fixture_open(base, NULL);
	story_start(&fixture);
	char *uid = story_make_job(&fixture, "train", "", 2);
	story_make_job_pod(&fixture, "train", uid, 0);
	story_settle(&fixture);
	assert_string_equal(story_group_name(&fixture), "");
	assert_string_equal(story_events_about(&fixture, "Job", "train"), "");
	story_get_pod(&fixture, "train-0");
	assert_at(base, "metadata.annotations.pod-group-name", "");
	mode = 422;
	clock_virtual_advance(&base->clock, 60 * CLOCK_SECOND);
	story_settle(&fixture);
	assert_string_equal(story_events_about(&fixture, "Job", "train"), "PodGroupRefused");
	story_get_pod(&fixture, "train-0");
	assert_at(base, "status.conditions.0.message", "no such level");
	mode = 0;
	clock_virtual_advance(&base->clock, 60 * CLOCK_SECOND);
	story_settle(&fixture);
	assert_string_not_equal(story_group_name(&fixture), "");
	story_get_pod(&fixture, "train-0");
	assert_string_not_equal(fixture_at(base, "metadata.annotations.pod-group-name"), "");
	grouping_destroy(fixture.grouping);
	settings_source_destroy(fixture.settings);
	fixture_close(base);
	free(uid);
	(void)state;
}

static void new_pods_learn_their_segment(void **state)
{
	struct grouping_story *fixture = *state;
	char *uid = story_make_job(fixture, "train", SEGMENTS, 4), body[900];
	snprintf(body, sizeof(body),
	         "{'metadata':{'generateName':'train-','namespace':'default','labels':{"
	         "'batch.kubernetes.io/job-completion-index':'3'},'ownerReferences':[{'apiVersion':'batch/v1','kind':"
	         "'Job','name':'train','uid':'%s'}]},'spec':{'schedulerName':'platoon','initContainers':[{'name':'i'}],"
	         "'containers':[{'name':'a','env':[{'name':'X','value':'y'}]},{'name':'b','env':[{'name':"
	         "'KAI_SEGMENT_INDEX','value':'mine'}]}]}}",
	         uid);
	struct doc *pod = fixture_json(body),
		   *changed = grouping_admit(fixture->base.store, settings_now(fixture->settings), doc_root(pod));
	struct buffer text = {0};
	assert_non_null(changed);
	val_write(val_get(doc_root(changed), "spec"), DOC_JSON_COMPACT, &text);
	assert_string_equal(text.text,
	                    "{\"schedulerName\":\"platoon\",\"initContainers\":[{\"name\":\"i\",\"env\":[{\"name\":"
	                    "\"KAI_SEGMENT_INDEX\",\"value\":\"1\"}]}],\"containers\":[{\"name\":\"a\",\"env\":[{"
	                    "\"name\":\"X\",\"value\":\"y\"},{\"name\":\"KAI_SEGMENT_INDEX\",\"value\":\"1\"}]},{"
	                    "\"name\":\"b\",\"env\":[{\"name\":\"KAI_SEGMENT_INDEX\",\"value\":\"mine\"}]}]}");
	assert_string_equal(
		val_str(val_path(doc_root(changed), "metadata", "labels", "kai.scheduler/segment-index", NULL), ""),
		"1");
	assert_non_null(val_path(doc_root(changed), "metadata", "annotations", "pod-group-name", NULL));
	doc_destroy(changed);
	doc_destroy(pod);
	buffer_free(&text);
	/* Pods of others, and pods that stand alone, are taken as they are. */
	pod = fixture_json("{'metadata':{'name':'a','namespace':'default'},'spec':{'containers':[]}}");
	assert_null(grouping_admit(fixture->base.store, settings_now(fixture->settings), doc_root(pod)));
	doc_destroy(pod);
	pod = fixture_json("{'metadata':{'name':'a'},'spec':{'schedulerName':'platoon','containers':[]}}");
	assert_null(grouping_admit(fixture->base.store, settings_now(fixture->settings), doc_root(pod)));
	doc_destroy(pod);
	free(uid);
}

static void a_flood_of_pods_does_not_keep_the_group_waiting(void **state)
{
	struct grouping_story *fixture = *state;
	char *uid = story_make_job(fixture, "train", "", 100);
	for (int i = 0; i < 100 && !*story_group_name(fixture); i++) {
		story_make_job_pod(fixture, "train", uid, i);
		grouping_step(fixture->grouping);
		assert_int_equal(store_commit(fixture->base.store, NULL), 0);
		assert_true(i < 3);
	}
	free(uid);
}

/* The number of writes says whether a group is written once or once per pod. */
static void many_pods_are_few_writes(void **state)
{
	enum { PODS = 10000 };
	struct grouping_story *fixture = *state;
	char *uid = story_make_job(fixture, "big", SEGMENTS, PODS);
	struct store_fixture *base = &fixture->base;
	for (int i = 0; i < PODS; i++)
		story_make_job_pod(fixture, "big", uid, i);
	uint64_t before = store_version(base->store);
	story_settle(fixture);
	assert_int_equal(store_version(base->store) - before, PODS + 1);
	story_get_pod(fixture, "big-9999");
	assert_at(base, "metadata.labels.[kai.scheduler/subgroup-name]", "worker-4999");
	before = store_version(base->store);
	story_settle(fixture);
	assert_int_equal(store_version(base->store), before);
	free(uid);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, story_open, story_close)
	const struct CMUnitTest tests[] = {
		TEST(a_replica_that_is_scaled_away_takes_its_group_along),
		TEST(a_job_becomes_a_group_of_segments),
		TEST(an_owner_that_comes_later_is_waited_for),
		TEST(a_karta_describes_a_kind_from_when_it_is_there),
		TEST(pods_of_a_deployment_are_groups_of_their_own),
		TEST(what_a_user_changes_is_kept_or_put_right),
		TEST(some_pods_are_left_alone),
		TEST(a_pod_is_held_until_it_is_marked),
		TEST(warnings_become_events_once),
		TEST(the_cluster_says_what_kinds_get),
		TEST(the_cluster_says_whether_kartas_count),
		cmocka_unit_test(refusals_are_told_and_conflicts_are_not),
		TEST(new_pods_learn_their_segment),
		TEST(a_flood_of_pods_does_not_keep_the_group_waiting),
		TEST(many_pods_are_few_writes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
