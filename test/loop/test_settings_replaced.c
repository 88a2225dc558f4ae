/* One set of settings: everybody sees it replaced while everything runs. */
#include "loop/settings_story.h"
#include "loop/writes.h"

static void other_schedulers(void **state)
{
	struct simulation *simulation = *state;
	static const char *const names[] = {"other"};
	story_apply(simulation, NODE("n1") TOPOLOGY POD("a", "other") JOB("before", "other", ""));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "a"), "");
	assert_null(story_group_of(simulation, "pg-before-"));
	assert_false(story_would_place(simulation, POD("asked", "other"), "default/asked"));
	struct settings settings = story_now(simulation);
	settings.schedulers = names;
	settings.scheduler_count = 1;
	settings_source_replace(simulation->settings, &settings);
	story_apply(simulation, POD("b", "platoon") JOB("after", "other", "") ROLES("roles"));
	story_run(simulation);
	assert_true(story_would_place(simulation, POD("asked", "other"), "default/asked"));
	assert_true(story_would_place(simulation, JOB("asked", "other", ""), "default/asked-"));
	assert_string_equal(story_node_of(simulation, "a"), "n1");
	assert_string_equal(story_node_of(simulation, "b"), "");
	assert_non_null(story_group_of(simulation, "pg-before-"));
	assert_string_equal(
		val_str(val_path(story_starting(simulation, "", "pods", "before-0-"), "spec", "nodeName", NULL), ""),
		"n1");
	assert_string_equal(story_segment_of(simulation, "before-0-"), "");
	assert_string_equal(story_segment_of(simulation, "after-0-"), "KAI_SEGMENT_INDEX");
	assert_string_equal(
		val_str(val_path(story_starting(simulation, "", "pods", "roles-"), "spec", "schedulerName", NULL), ""),
		"other");
	/* What was theirs before is so no longer. */
	settings_source_replace(simulation->settings, &settings_usual);
	story_apply(simulation, POD("c", "other"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "b"), "n1");
	assert_string_equal(story_node_of(simulation, "c"), "");
}

static void another_default_queue(void **state)
{
	struct simulation *simulation = *state;
	story_apply(simulation,
	            NODE("n1") TOPOLOGY QUEUE("team-a") POD("single", "platoon") JOB("before", "platoon", ""));
	story_run(simulation);
	assert_string_equal(story_queue_of(simulation, "pg-before-"), "default-queue");
	assert_string_equal(story_node_of(simulation, "single"), "");
	struct settings settings = story_now(simulation);
	settings.group.default_queue = "team-a";
	settings_source_replace(simulation->settings, &settings);
	story_apply(simulation, JOB("after", "platoon", ""));
	story_run(simulation);
	assert_string_equal(story_queue_of(simulation, "pg-after-"), "team-a");
	assert_string_equal(story_node_of(simulation, "single"), "n1");
}

static void another_queue_label(void **state)
{
	struct simulation *simulation = *state;
	story_apply(simulation, NODE("n1") TOPOLOGY QUEUE("team-a"));
	struct settings settings = story_now(simulation);
	settings.group.queue_label = "team";
	settings_source_replace(simulation->settings, &settings);
	story_apply(
		simulation,
		JOB("job", "platoon",
	            ", labels: {team: team-a}") "---\n{apiVersion: v1, kind: Pod, metadata: {name: single, labels: "
						"{team: team-a}}, spec: {schedulerName: "
						"platoon, " CONTAINERS "}}\n"
						"---\n{apiVersion: workloads.x-k8s.io/v1alpha2, kind: RoleBasedGroup, "
						"metadata: {name: roles, labels: {team: "
						"team-a}}, spec: {roles: [{name: r, replicas: 1, standalonePattern: "
						"{template: {spec: {" CONTAINERS "}}}}]}}\n");
	story_run(simulation);
	assert_string_equal(story_queue_of(simulation, "pg-job-"), "team-a");
	assert_string_equal(story_queue_of(simulation, "roles-"), "team-a");
	assert_string_equal(story_node_of(simulation, "single"), "n1");
}

#define POOL_NODE(name, labels)                                                                                        \
	"---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels                                \
	"}}, status: {allocatable: {cpu: 8, memory: 8Gi, pods: 100}, conditions: [{type: Ready, status: 'True'}]}}\n"
#define POOL_POD(name, labels)                                                                                         \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name ", labels: {" labels                                 \
	"}}, spec: {schedulerName: platoon, " CONTAINERS "}}\n"

/* All pools at first, then one of them, then the rest. */
static void another_pool(void **state)
{
	struct simulation *simulation = *state;
	static const char group[] =
		"---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: blue, labels: {"
		"kai.scheduler/node-pool: blue}}, spec: {minMember: 9}}\n";
	story_apply(simulation, POOL_NODE("r", "kai.scheduler/node-pool: red")
	                                POOL_NODE("b", "kai.scheduler/node-pool: blue") POOL_NODE("plain", ""));
	story_apply(simulation, POOL_POD("r1", "kai.scheduler/node-pool: red")
	                                POOL_POD("b1", "kai.scheduler/node-pool: blue") POOL_POD("n1", ""));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "r1"), "r");
	assert_string_equal(story_node_of(simulation, "b1"), "b");
	assert_string_equal(story_node_of(simulation, "n1"), "plain");
	struct settings settings = story_now(simulation);
	settings.node_pool = "red";
	settings_source_replace(simulation->settings, &settings);
	story_apply(simulation, POOL_POD("r2", "kai.scheduler/node-pool: red")
	                                POOL_POD("b2", "kai.scheduler/node-pool: blue") POOL_POD("n2", ""));
	story_apply(simulation, group);
	story_apply(simulation, ROLES("roles"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "r2"), "r");
	assert_string_equal(story_node_of(simulation, "b2"), "");
	assert_string_equal(story_node_of(simulation, "n2"), "");
	assert_null(val_path(story_object(simulation, "", "pods", "b2"), "status", "conditions", NULL));
	assert_null(
		val_path(story_object(simulation, "scheduling.run.ai", "podgroups", "blue"), "status", "phase", NULL));
	assert_null(story_starting(simulation, "", "pods", "roles-"));
	/* A node changes its pool: it is offered, and then not any more. */
	story_apply(simulation,
	            POOL_NODE("b", "kai.scheduler/node-pool: red") POOL_NODE("r", "kai.scheduler/node-pool: blue"));
	story_apply(simulation, POOL_POD("r3", "kai.scheduler/node-pool: red"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "r3"), "b");
	settings = story_now(simulation);
	settings.node_pool = "";
	settings_source_replace(simulation->settings, &settings);
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "n2"), "plain");
	assert_string_equal(story_node_of(simulation, "b2"), "");
	assert_non_null(story_starting(simulation, "", "pods", "roles-"));
	/* And another key: then these labels say nothing. */
	settings = story_now(simulation);
	settings.group.pool_label = "team";
	settings_source_replace(simulation->settings, &settings);
	story_run(simulation);
	assert_string_not_equal(story_node_of(simulation, "b2"), "");
}

#define SMALL_QUEUE(labels)                                                                                            \
	"---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: small, labels: {" labels "}}, spec: "   \
	"{resources: {cpu: {quota: 0, limit: 1000, overQuotaWeight: 1}, memory: {limit: -1}}}}\n"
#define IN_SMALL "kai.scheduler/queue: small, "

/* A queue has its limit in every pool; in one that gets its first node, too. When it gets the label of a pool, it is left with
 * that. And what a SchedulingShard says of a pool holds in it at once. */
static void pools_of_queues(void **state)
{
	struct simulation *simulation = *state;
	story_apply(simulation, POOL_NODE("r", "kai.scheduler/node-pool: red") POOL_NODE("plain", "") SMALL_QUEUE(""));
	story_apply(simulation, POOL_POD("r1", IN_SMALL "kai.scheduler/node-pool: red") POOL_POD("n1", IN_SMALL)
	                                POOL_POD("b1", IN_SMALL "kai.scheduler/node-pool: blue"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "r1"), "r");
	assert_string_equal(story_node_of(simulation, "n1"), "plain");
	assert_string_equal(story_node_of(simulation, "b1"), "");
	story_apply(simulation, POOL_NODE("b", "kai.scheduler/node-pool: blue"));
	story_apply(simulation, POOL_POD("r2", IN_SMALL "kai.scheduler/node-pool: red"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "b1"), "b");
	assert_string_equal(story_node_of(simulation, "r2"), "");
	story_apply(simulation,
	            POOL_NODE("g", "kai.scheduler/node-pool: green") SMALL_QUEUE("kai.scheduler/node-pool: red"));
	story_apply(simulation, POOL_POD("g1", IN_SMALL "kai.scheduler/node-pool: green"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "g1"), "");
	story_apply(simulation, SMALL_QUEUE("kai.scheduler/node-pool: green"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "g1"), "g");
	story_apply(simulation,
	            QUEUE("default-queue") "---\n{apiVersion: kai.scheduler/v1, kind: SchedulingShard, metadata: "
	                                   "{name: red}, spec: "
	                                   "{partitionLabelValue: red, args: {restrict-node-scheduling: 'true'}}}\n");
	story_apply(simulation,
	            POOL_POD("r3", "kai.scheduler/node-pool: red") POOL_POD("b2", "kai.scheduler/node-pool: blue"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "r3"), "");
	assert_string_equal(story_node_of(simulation, "b2"), "b");
}

static void only_workers(void **state)
{
	struct simulation *simulation = *state;
	struct settings settings = story_now(simulation);
	settings.restrict_nodes = true;
	settings_source_replace(simulation->settings, &settings);
	story_apply(simulation, POOL_NODE("a", "") POOL_NODE("g", SETTINGS_GPU_WORKER ": ''") POD("p", "platoon"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "p"), "");
	story_apply(simulation, POOL_NODE("c", SETTINGS_CPU_WORKER ": ''"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "p"), "c");
	settings_source_replace(simulation->settings, &settings_usual);
	story_apply(simulation,
	            POOL_NODE("c", SETTINGS_CPU_WORKER ": '', kai.scheduler/node-pool: x") POD("q", "platoon"));
	story_run(simulation);
	assert_string_not_equal(story_node_of(simulation, "q"), "");
}

#define CHILD_QUEUE(name, parent, limit)                                                                               \
	"---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: " name "}, spec: {" parent              \
	"resources: {cpu: {quota: 0, limit: " limit ", overQuotaWeight: 1}}}}\n"

/* What the parent does not allow, its child may take when parents do not count; and not any more when they do again. */
static void parents_that_do_not_count(void **state)
{
	struct simulation *simulation = *state;
	story_apply(simulation, NODE("n1") CHILD_QUEUE("all", "", "0") CHILD_QUEUE("team", "parentQueue: all, ", "-1"));
	story_apply(simulation, POOL_POD("p", "kai.scheduler/queue: team"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "p"), "");
	struct settings settings = story_now(simulation);
	settings.ignore_parent_queues = true;
	settings_source_replace(simulation->settings, &settings);
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "p"), "n1");
	settings_source_replace(simulation->settings, &settings_usual);
	story_apply(simulation, POOL_POD("q", "kai.scheduler/queue: team"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "q"), "");
}

static int apply_one(struct simulation *simulation, const char *yaml)
{
	struct manifests objects;
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct store_error error = {0};
	manifests_init(&objects);
	assert_int_equal(manifests_parse(&objects, yaml, strlen(yaml), "test", &problems), 0);
	int rc = simulation_apply(simulation, objects.items[0].object, arena, &error);
	manifests_free(&objects);
	arena_destroy(arena);
	return rc;
}

#define GROUP(name, spec)                                                                                              \
	"{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: " name "}, spec: {" spec            \
	"queue: q, subGroups: [{name: a, minMember: 1}, {name: b, minMember: 1}]}}\n"
#define TREE(name, minimum)                                                                                            \
	"{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: " name "}, spec: {queue: q, "       \
	"subGroups: [{name: top" minimum "}, {name: a, parent: top, minMember: 1}, {name: b, parent: top, minMember: " \
	"4}]}}\n"

static void minimums_as_kai_admits_them(void **state)
{
	struct simulation *simulation = *state;
	story_apply(simulation, NODE("n1") QUEUE("q"));
	assert_int_equal(apply_one(simulation, GROUP("few", "minSubGroup: 3, ")), -1);
	assert_int_equal(apply_one(simulation, TREE("old", ", minMember: 5")), 0);
	struct settings settings = story_now(simulation);
	settings.group.kai_minimums = true;
	settings_source_replace(simulation->settings, &settings);
	assert_int_equal(apply_one(simulation, GROUP("few", "minSubGroup: 3, ")), 0);
	assert_int_equal(apply_one(simulation, GROUP("both", "minSubGroup: 2, minMember: 2, ")), -1);
	assert_int_equal(apply_one(simulation, TREE("new", ", minMember: 5")), -1);
	assert_int_equal(apply_one(simulation, TREE("new", ", minMember: 0")), -1);
	assert_int_equal(apply_one(simulation, TREE("new", "")), 0);
	/* What is there can be changed: its author may not know how to write it anew. */
	assert_int_equal(apply_one(simulation, TREE("old", ", minMember: 9")), 0);
	/* A group that can never be whole waits, with the reason. */
	story_apply(simulation,
	            "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {pod-group-name: few}, labels: "
	            "{kai.scheduler/subgroup-name: a}}, spec: {schedulerName: platoon, " CONTAINERS "}}\n");
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "p"), "");
	const struct val *condition = writes_find_condition(story_object(simulation, "", "pods", "p"), "PodScheduled");
	assert_non_null(strstr(val_str(val_get(condition, "message"), ""), "minSubGroup (3) exceeds"));
}

/* A limit, a missing queue and a request that is not served: nodes cure none of them. */
static void reasons_that_are_told_apart_or_not(void **state)
{
	static const char *const pods[] = {"limited", "lost", "shared"};
	static const char *const apart[] = {"QuotaExceeded", "Invalid", "UnsupportedRequest"};
	struct simulation *simulation = *state;
	story_apply(simulation,
	            NODE("n1") "---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: none}, spec: "
	                       "{resources: {cpu: {quota: 0, limit: 0, overQuotaWeight: 1}}}}\n");
	story_apply(simulation,
	            POOL_POD("limited", "kai.scheduler/queue: none") POOL_POD("lost", "kai.scheduler/queue: absent"));
	story_apply(simulation,
	            "---\n{apiVersion: v1, kind: Pod, metadata: {name: shared, annotations: {gpu-fraction: '0.5'}}, "
	            "spec: {schedulerName: platoon, " CONTAINERS "}}\n");
	for (int plain = 0; plain < 3; plain++) {
		struct settings settings = story_now(simulation);
		settings.plain_reasons = plain == 1;
		settings_source_replace(simulation->settings, &settings);
		story_run(simulation);
		for (int i = 0; i < 3; i++) {
			const struct val *pod = story_object(simulation, "", "pods", pods[i]);
			const struct val *condition = writes_find_condition(pod, "PodScheduled");
			assert_string_equal(val_str(val_get(condition, "reason"), ""),
			                    plain == 1 ? "Unschedulable" : apart[i]);
		}
	}
}

/* A pod waits for the ConfigMaps it cannot start without, and its gang with it; nobody waits for optional ones. */
static void pods_wait_for_config_maps(void **state)
{
	struct simulation *simulation = *state;
	struct settings settings = story_now(simulation);
	settings.config_maps = true;
	settings_source_replace(simulation->settings, &settings);
	story_apply(simulation,
	            NODE("n1") POD("spare",
	                           "platoon") "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, "
	                                      "metadata: {name: gang}, spec: {minMember: 2}}\n"
	                                      "---\n{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: "
	                                      "{pod-group-name: gang}}, "
	                                      "spec: {schedulerName: platoon, " CONTAINERS "}}\n"
	                                      "---\n{apiVersion: v1, kind: Pod, metadata: {name: b, annotations: "
	                                      "{pod-group-name: gang}}, "
	                                      "spec: {schedulerName: platoon, volumes: [{name: v, configMap: {name: "
	                                      "late}}, {name: unused, configMap: {name: "
	                                      "nobody}}], containers: [{name: c, image: i, volumeMounts: [{name: v, "
	                                      "mountPath: /v}], envFrom: [{configMapRef: "
	                                      "{name: extra, optional: true}}]}]}}\n");
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "spare"), "n1");
	assert_string_equal(story_node_of(simulation, "a"), "");
	const struct val *condition = writes_find_condition(story_object(simulation, "", "pods", "b"), "PodScheduled");
	assert_string_equal(val_str(val_get(condition, "reason"), ""), "MissingObject");
	assert_non_null(strstr(val_str(val_get(condition, "message"), ""), "configmap \"late\" not found"));
	story_apply(simulation, "{apiVersion: v1, kind: ConfigMap, metadata: {name: late}}\n");
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "a"), "n1");
	assert_string_equal(story_node_of(simulation, "b"), "n1");
}

static void groups_for_single_pods(void **state)
{
	struct simulation *simulation = *state;
	story_apply(simulation, NODE("n1") POD("a", "platoon"));
	story_run(simulation);
	assert_null(story_group_of(simulation, "pg-a-"));
	struct settings settings = story_now(simulation);
	settings.single_groups = true;
	settings_source_replace(simulation->settings, &settings);
	story_run(simulation);
	assert_non_null(story_group_of(simulation, "pg-a-"));
}

static void another_strategy(void **state)
{
	struct simulation *simulation = *state;
	story_apply(simulation, NODE("n1") NODE("n2") POD("a", "platoon") POD("b", "platoon"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "a"), story_node_of(simulation, "b"));
	struct settings settings = story_now(simulation);
	settings.strategy.cpu = ORDER_SPREAD;
	settings_source_replace(simulation->settings, &settings);
	story_apply(simulation, POD("c", "platoon"));
	story_run(simulation);
	assert_string_not_equal(story_node_of(simulation, "c"), "");
	assert_string_not_equal(story_node_of(simulation, "a"), story_node_of(simulation, "c"));
}

/* The pod that prefers a node, however little, goes there; the one with a GPU has no other. */
static void nodes_with_gpus_are_spared(void **state)
{
	struct simulation *simulation = *state;
	story_apply(simulation, GPU_NODE("n1") NODE("n2") POD("a", "platoon"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "a"), "n1");
	struct settings settings = story_now(simulation);
	settings.spare_gpus = true;
	settings_source_replace(simulation->settings, &settings);
	story_apply(simulation, POD("b", "platoon") POD_WITH("c", "nvidia.com/gpu: 1, cpu: 1", "")
	                                POD_WITH("d", "cpu: 1", PREFERS("rack", "r9")));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "b"), "n2");
	assert_string_equal(story_node_of(simulation, "c"), "n1");
	assert_string_equal(story_node_of(simulation, "d"), "n1");
	story_apply(simulation, POD_WITH("e", "cpu: 7", "") POD_WITH("f", "cpu: 1", ""));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "e"), "n2");
	assert_string_equal(story_node_of(simulation, "f"), "n1");
}

/* Three parts of 3, 3 and 4 pods in racks for 6 and 4: that takes a search. */
static void another_budget(void **state)
{
	struct simulation *simulation = *state;
	struct settings settings = story_now(simulation);
	struct buffer text = {0};
	settings.budget = 1;
	settings_source_replace(simulation->settings, &settings);
	for (int i = 0; i < 10; i++)
		buffer_printf(&text,
		              "---\n{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {rack: r%d}}, status: "
		              "{allocatable: {cpu: 1, memory: 8Gi, pods: 100}, conditions: [{type: Ready, status: "
		              "'True'}]}}\n",
		              i, i < 6 ? 1 : 2);
	for (int i = 0; i < 10; i++)
		buffer_printf(
			&text,
			"---\n{apiVersion: v1, kind: Pod, metadata: {name: p%d, labels: {kai.scheduler/subgroup-name: "
			"s%d}, annotations: {pod-group-name: g}}, spec: {schedulerName: platoon, " CONTAINERS "}}\n",
			i,
			i < 3   ? 1
			: i < 6 ? 2
				: 3);
	buffer_puts(&text,
	            TOPOLOGY "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g}, "
	                     "spec: {subGroups: [");
	for (int i = 1; i <= 3; i++)
		buffer_printf(&text,
		              "%s{name: s%d, minMember: %d, topologyConstraint: {topology: t, requiredTopologyLevel: "
		              "rack}}",
		              i > 1 ? ", " : "", i, i < 3 ? 3 : 4);
	buffer_puts(&text, "]}}\n");
	story_apply(simulation, text.text);
	buffer_free(&text);
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "p0"), "");
	settings = story_now(simulation);
	settings.budget = 0;
	settings_source_replace(simulation->settings, &settings);
	story_run(simulation);
	assert_string_not_equal(story_node_of(simulation, "p0"), "");
}

static void remove_pod(struct simulation *simulation, const char *name)
{
	struct arena *arena = arena_create();
	struct store_error error = {0};
	assert_int_equal(simulation_delete(simulation, &(struct simulation_target){"v1", "Pod", "default", name}, 0,
	                                   arena, &error),
	                 0);
	arena_destroy(arena);
}

/* A gang needs all of the node, of which a pod uses a part; smaller pods come and go. */
static void another_time_to_wait(void **state)
{
	struct simulation *simulation = *state;
	story_apply(simulation,
	            NODE("n1") SIZED_POD("a", "6") "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, "
	                                           "metadata: {name: g}, spec: {minMember: 2}}\n");
	story_run(simulation);
	story_apply(simulation, SIZED_POD("g1", "4", ", annotations: {pod-group-name: g}")
	                                SIZED_POD("g2", "4", ", annotations: {pod-group-name: g}"));
	assert_int_equal(simulation_advance(simulation, 300 * CLOCK_SECOND), 0);
	story_apply(simulation, POD("before", "platoon"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "before"), "n1"); /* nobody said that it should be waited for */
	struct settings settings = story_now(simulation);
	settings.starvation_ns = 600 * CLOCK_SECOND;
	settings_source_replace(simulation->settings, &settings);
	story_apply(simulation, POD("early", "platoon"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "early"), "n1");
	assert_int_equal(simulation_advance(simulation, 300 * CLOCK_SECOND), 0);
	story_apply(simulation, POD("late", "platoon"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "late"), "");
	remove_pod(simulation, "before");
	remove_pod(simulation, "early");
	remove_pod(simulation, "a");
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "g1"), "n1");
	assert_string_equal(story_node_of(simulation, "g2"), "n1");
	assert_string_equal(story_node_of(simulation, "late"), "");
}

static void budgets_that_are_never_violated(void **state)
{
	struct simulation *simulation = *state;
	struct settings settings = story_now(simulation);
	settings.never_violate_budgets = true;
	settings_source_replace(simulation->settings, &settings);
	story_apply(simulation,
	            NODE("n1") "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: kept}, "
	                       "spec: {minAvailable: 1, selector: {matchLabels: {app: low}}}}\n" WHOLE("low", "50"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "low"), "n1");
	story_apply(simulation, WHOLE("high", "90"));
	story_run(simulation);
	assert_string_equal(story_node_of(simulation, "high"), "");
	assert_string_equal(story_node_of(simulation, "low"), "n1");
	settings = story_now(simulation);
	settings.never_violate_budgets = false;
	settings_source_replace(simulation->settings, &settings);
	assert_int_equal(simulation_advance(simulation, 60 * CLOCK_SECOND), 0); /* with the time the pod has to end */
	assert_string_equal(story_node_of(simulation, "high"), "n1");
}

static void other_defaults_of_kinds(void **state)
{
	struct simulation *simulation = *state;
	story_apply(simulation, NODE("n1") TOPOLOGY JOB("job", "platoon",
	                                                "") "---\n{apiVersion: scheduling.k8s.io/v1, kind: "
	                                                    "PriorityClass, metadata: {name: urgent}, value: 90}\n");
	story_run(simulation);
	assert_non_null(story_group_of(simulation, "pg-job-"));
	story_apply(simulation, DEFAULTS("types: '[{\"typeName\": \"Job\", \"priorityName\": \"urgent\"}]'"));
	story_run(simulation);
	assert_string_equal(val_str(val_path(story_group_of(simulation, "pg-job-"), "spec", "priorityClassName", NULL),
	                            ""),
	                    "urgent");
}

int main(void)
{
#define ON_A_CLUSTER(name) cmocka_unit_test_setup_teardown(name, story_open, story_close)
	const struct CMUnitTest tests[] = {
		ON_A_CLUSTER(other_schedulers),
		ON_A_CLUSTER(another_default_queue),
		ON_A_CLUSTER(another_queue_label),
		ON_A_CLUSTER(another_pool),
		ON_A_CLUSTER(pools_of_queues),
		ON_A_CLUSTER(only_workers),
		ON_A_CLUSTER(parents_that_do_not_count),
		ON_A_CLUSTER(minimums_as_kai_admits_them),
		ON_A_CLUSTER(reasons_that_are_told_apart_or_not),
		ON_A_CLUSTER(pods_wait_for_config_maps),
		ON_A_CLUSTER(groups_for_single_pods),
		ON_A_CLUSTER(another_strategy),
		ON_A_CLUSTER(nodes_with_gpus_are_spared),
		ON_A_CLUSTER(another_budget),
		ON_A_CLUSTER(another_time_to_wait),
		ON_A_CLUSTER(budgets_that_are_never_violated),
		ON_A_CLUSTER(other_defaults_of_kinds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
