/* One set of settings: everybody who decides borrows the same, and sees it replaced. */
#include "cli/what_if.h"
#include "loop/writes.h"
#include "object/build.h"
#include "sim/simulate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CONTAINERS "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]"
#define QUEUE(name)                                                                                                    \
	"---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: " name "}, spec: {resources: {cpu: "    \
	"{quota: -1, limit: -1, overQuotaWeight: 1}}}}\n"
#define NODE(name)                                                                                                     \
	"---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {rack: r1}}, status: {allocatable: "     \
	"{cpu: 8, memory: 8Gi, pods: 100}, conditions: [{type: Ready, status: 'True'}]}}\n"
#define GPU_NODE(name)                                                                                                 \
	"---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {rack: r9}}, status: {allocatable: "     \
	"{cpu: 8, memory: 8Gi, pods: 100, nvidia.com/gpu: 8}, conditions: [{type: Ready, status: 'True'}]}}\n"
#define POD_WITH(name, requests, affinity)                                                                             \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {schedulerName: platoon, " affinity        \
	"containers: [{name: c, image: i, resources: {limits: {" requests "}}}]}}\n"
#define PREFERS(label, value)                                                                                          \
	"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "         \
	"{matchExpressions: [{key: " label ", operator: In, values: [" value "]}]}}]}}, "
#define TOPOLOGY                                                                                                       \
	"---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: t}, spec: {levels: [{nodeLabel: "  \
	"rack}]}}\n"
#define POD(name, scheduler)                                                                                           \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {schedulerName: " scheduler                \
	", " CONTAINERS "}}\n"
/* Two segments of one pod each. */
#define JOB(name, scheduler, metadata)                                                                                 \
	"---\n{apiVersion: batch/v1, kind: Job, metadata: {name: " name metadata                                       \
	"}, spec: {parallelism: 2, completions: "                                                                      \
	"2, completionMode: Indexed, template: {metadata: {annotations: {kai.scheduler/segment-size: '1', "            \
	"kai.scheduler/topology: t, kai.scheduler/segment-topology-required-placement: rack}}, spec: "                 \
	"{schedulerName: " scheduler ", restartPolicy: Never, " CONTAINERS "}}}}\n"
#define ROLES(name)                                                                                                    \
	"---\n{apiVersion: workloads.x-k8s.io/v1alpha2, kind: RoleBasedGroup, metadata: {name: " name                  \
	"}, spec: {roles: "                                                                                            \
	"[{name: r, replicas: 1, standalonePattern: {template: {spec: {" CONTAINERS "}}}}]}}\n"
#define DEFAULTS(data)                                                                                                 \
	"---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: platoon-grouping-defaults, namespace: kube-system}, " \
	"data: {" data "}}\n"

#define SIZED_POD(name, cpu, ...)                                                                                      \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name __VA_ARGS__ "}, spec: {schedulerName: platoon, "     \
	"containers: [{name: c, image: i, resources: {requests: {cpu: " cpu "}}}]}}\n"

/* A pod that takes all of a node. */
#define WHOLE(name, priority)                                                                                          \
	"---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: of-" name "}, value: " priority \
	"}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: " name ", labels: {app: " name                           \
	"}}, spec: {schedulerName: platoon, priorityClassName: of-" name                                               \
	", containers: [{name: c, image: i, resources: {requests: {cpu: 8}}}]}}\n"

static int open_usual(void **state)
{
	*state = simulation_create(&(struct simulation_options){.seed = 1});
	return 0;
}

static int close_it(void **state)
{
	simulation_destroy(*state);
	return 0;
}

static void apply(struct simulation *simulation, const char *yaml)
{
	struct manifests objects;
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct store_error error = {0};
	manifests_init(&objects);
	assert_int_equal(manifests_parse(&objects, yaml, strlen(yaml), "test", &problems), 0);
	for (size_t i = 0; i < objects.count; i++)
		if (simulation_apply(simulation, objects.items[i].object, arena, &error) < 0)
			fail_msg("%s %s: %s", objects.items[i].kind, objects.items[i].name, error.message);
	manifests_free(&objects);
	arena_destroy(arena);
}

static void run(struct simulation *simulation)
{
	assert_int_equal(simulation_advance(simulation, 10 * CLOCK_SECOND), 0);
}

static const struct val *object(struct simulation *simulation, const char *group, const char *resource,
                                const char *name)
{
	const struct store_object *found =
		store_peek(simulation->store, store_type_find(simulation->store, group, resource), "default", name);
	return found ? found->root : NULL;
}

static const char *node_of(struct simulation *simulation, const char *pod)
{
	return val_str(val_path(object(simulation, "", "pods", pod), "spec", "nodeName", NULL), "");
}

/* The first object of a kind whose name starts so; its name may end in something random. */
static const struct val *starting(struct simulation *simulation, const char *group, const char *resource,
                                  const char *prefix)
{
	struct arena *arena = arena_create();
	const struct val *first = NULL;
	struct store_list list;
	const struct store_type *type = store_type_find(simulation->store, group, resource);
	assert_int_equal(store_list(simulation->store, &(struct store_list_request){.api = type->apis}, &list, arena,
	                            NULL),
	                 0);
	for (size_t i = 0; i < list.count && !first; i++)
		if (strncmp(list.items[i]->name, prefix, strlen(prefix)) == 0)
			first = list.items[i]->root;
	store_list_clear(&list);
	arena_destroy(arena);
	return first;
}

static const struct val *group_of(struct simulation *simulation, const char *prefix)
{
	return starting(simulation, "scheduling.run.ai", "podgroups", prefix);
}

static const char *queue_of(struct simulation *simulation, const char *prefix)
{
	return val_str(val_path(group_of(simulation, prefix), "spec", "queue", NULL), "");
}

static const char *segment_of(struct simulation *simulation, const char *prefix)
{
	const struct val *env =
		val_get(val_item(val_path(starting(simulation, "", "pods", prefix), "spec", "containers", NULL), 0),
	                "env");
	return val_str(val_get(val_item(env, 0), "name"), "");
}

/* The settings as they are, to be changed and given back before time passes. */
static struct settings now(struct simulation *simulation)
{
	return *settings_now(simulation->settings);
}

/* ---- the owner ---- */

static void what_is_borrowed_stays_until_the_turn(void **state)
{
	(void)state;
	struct settings given = settings_usual;
	char queue[] = "team-a";
	given.group.default_queue = queue;
	struct settings_source *source = settings_source_create(&given);
	queue[0] = 'x'; /* it was copied */
	const struct settings *before = settings_now(source);
	given = settings_usual;
	given.budget = 7;
	settings_source_replace(source, &given);
	const struct settings *after = settings_now(source);
	assert_string_equal(settings_default_queue(before), "team-a");
	assert_string_equal(settings_default_queue(after), "default-queue");
	assert_int_equal(after->budget, 7);
	assert_int_not_equal(before->placing, after->placing);
	assert_int_not_equal(before->grouping, after->grouping);
	settings_turn(source);
	/* The same again is no news to anybody. */
	settings_source_replace(source, &given);
	assert_int_equal(settings_now(source)->placing, 1);
	assert_int_equal(settings_now(source)->grouping, 1);
	settings_source_destroy(source);
	assert_ptr_equal(settings_now(NULL), &settings_usual);
}

static void a_change_concerns_only_whom_it_concerns(void **state)
{
	(void)state;
	static const char *const names[] = {"other"};
	static const struct group_kind_default row = {.api_group = "*", .kind = "Job", .priority_class = "train"};
	struct settings cases[18];
	static const bool placing[18] = {true, true, true, true, true, false, true,  false, false,
	                                 true, true, true, true, true, true,  false, true,  true};
	static const bool grouping[18] = {true, true,  true,  false, false, true,  true, true,  true,
	                                  true, false, false, false, false, false, true, false, false};
	for (int i = 0; i < 18; i++)
		cases[i] = settings_usual;
	cases[0].schedulers = names;
	cases[0].scheduler_count = 1;
	cases[1].group.default_queue = "q";
	cases[2].group.queue_label = "team";
	cases[3].budget = 1;
	cases[4].strategy.cpu = ORDER_SPREAD;
	cases[5].single_groups = true;
	cases[6].group.pool_label = "pool";
	cases[7].group.knative_gang = true;
	cases[8].group.defaults = &row;
	cases[8].group.default_count = 1;
	cases[9].node_pool = "red";
	cases[10].restrict_nodes = true;
	cases[11].plain_reasons = true;
	cases[12].starvation_ns = 1;
	cases[13].config_maps = true;
	cases[14].ignore_parent_queues = true;
	cases[15].group.kai_minimums = true;
	cases[16].spare_gpus = true;
	cases[17].past.half_life = 60;
	for (int i = 0; i < 18; i++) {
		struct settings_source *source = settings_source_create(&settings_usual);
		settings_source_replace(source, &cases[i]);
		print_message("case %d\n", i);
		assert_int_equal(settings_now(source)->placing, placing[i]);
		assert_int_equal(settings_now(source)->grouping, grouping[i]);
		settings_source_destroy(source);
	}
}

/* What the dashboard answers to a pasted manifest: whether the pod would be placed. */
static bool would_place(struct simulation *simulation, const char *manifest, const char *pod)
{
	struct buffer answer = {0};
	struct error error = {0};
	bool placed = false;
	const struct val *item;
	what_if(simulation->store, settings_now(simulation->settings), manifest, strlen(manifest), &answer);
	struct doc *doc = doc_parse_json(answer.text, answer.length, &error);
	for (struct val_iter it = val_iter(val_get(doc_root(doc), "pods")); val_next(&it, NULL, &item);)
		placed |= strncmp(val_str(val_get(item, "n"), ""), pod, strlen(pod)) == 0;
	doc_destroy(doc);
	buffer_free(&answer);
	return placed;
}

/* ---- everybody has the same ---- */

static void the_default_queue_is_everybodys(void **state)
{
	struct settings settings = settings_usual;
	settings.group.default_queue = "team-a";
	*state = simulation_create(&(struct simulation_options){.seed = 1, .settings = &settings});
	struct simulation *simulation = *state;
	apply(simulation,
	      NODE("n1") TOPOLOGY QUEUE("team-a") POD("single", "platoon") JOB("job", "platoon", "") ROLES("roles"));
	run(simulation);
	assert_true(would_place(simulation, POD("asked", "platoon"), "default/asked"));
	assert_string_equal(queue_of(simulation, "pg-job-"), "team-a");
	assert_string_equal(node_of(simulation, "single"), "n1");
	assert_string_equal(val_str(val_path(starting(simulation, "", "pods", "job-0-"), "spec", "nodeName", NULL), ""),
	                    "n1");
	assert_string_equal(val_str(val_path(starting(simulation, "", "pods", "roles-"), "spec", "nodeName", NULL), ""),
	                    "n1");
}

static void admission_and_controllers_agree_whose_a_pod_is(void **state)
{
	static const char *const names[] = {"platoon", "default-scheduler"};
	struct settings settings = settings_usual;
	settings.schedulers = names;
	settings.scheduler_count = 2;
	*state = simulation_create(&(struct simulation_options){.seed = 1, .settings = &settings});
	struct simulation *simulation = *state;
	apply(simulation, NODE("n1") TOPOLOGY JOB("job", "default-scheduler", ""));
	run(simulation);
	assert_string_equal(val_str(val_path(starting(simulation, "", "pods", "job-0-"), "spec", "nodeName", NULL), ""),
	                    "n1");
	assert_string_equal(segment_of(simulation, "job-0-"), "KAI_SEGMENT_INDEX");
}

#define FLOW                                                                                                           \
	"---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "                 \
	"flows.jobs.example.com}, spec: {group: jobs.example.com, scope: Namespaced, names: {plural: flows, "          \
	"singular: "                                                                                                   \
	"flow, kind: Flow, listKind: FlowList}, versions: [{name: v1, served: true, storage: true, schema: "           \
	"{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}\n"                          \
	"---\n{apiVersion: run.ai/v1alpha1, kind: Karta, metadata: {name: flow}, spec: {structureDefinition: "         \
	"{rootComponent: {name: flow, kind: {group: jobs.example.com, version: v1, kind: Flow}}, childComponents: "    \
	"[{name: worker, ownerRef: flow, scaleDefinition: {replicasPath: .spec.replicas}, podSelector: "               \
	"{componentTypeSelector: {keyPath: .metadata.labels.role, value: worker}}}]}, optimizationInstructions: "      \
	"{gangScheduling: {podGroup: {name: all, subGroups: [{componentName: worker}]}}}}}\n"

static void make_flow_pod(struct simulation *simulation, const char *name)
{
	const struct val *flow = object(simulation, "jobs.example.com", "flows", "f");
	struct buffer text = {0};
	buffer_printf(&text,
	              "{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {role: worker}, ownerReferences: "
	              "[{apiVersion: jobs.example.com/v1, kind: Flow, name: f, controller: true, uid: %s}]}, spec: "
	              "{schedulerName: platoon, " CONTAINERS "}}",
	              name, val_str(val_path(flow, "metadata", "uid", NULL), ""));
	apply(simulation, text.text);
	buffer_free(&text);
}

static const char *leaf_of(struct simulation *simulation, const char *pod)
{
	return val_str(val_path(object(simulation, "", "pods", pod), "metadata", "labels", GROUP_KEY_SUBGROUP, NULL),
	               "");
}

/* What admission writes is there before any controller has a turn. */
static void admission_obeys_the_config_map(void **state)
{
	struct simulation *simulation = *state;
	apply(simulation, FLOW DEFAULTS("genericKartaFallback: 'false'"));
	apply(simulation, "{apiVersion: jobs.example.com/v1, kind: Flow, metadata: {name: f}, spec: {replicas: 2}}");
	make_flow_pod(simulation, "f-0");
	assert_string_equal(leaf_of(simulation, "f-0"), "");
	apply(simulation, DEFAULTS("genericKartaFallback: 'true'"));
	make_flow_pod(simulation, "f-1");
	assert_string_equal(leaf_of(simulation, "f-1"), "worker");
	/* The controller thinks the same of the first one now. */
	run(simulation);
	assert_string_equal(leaf_of(simulation, "f-0"), "worker");
}

/* ---- replaced while everything runs ---- */

static void other_schedulers(void **state)
{
	struct simulation *simulation = *state;
	static const char *const names[] = {"other"};
	apply(simulation, NODE("n1") TOPOLOGY POD("a", "other") JOB("before", "other", ""));
	run(simulation);
	assert_string_equal(node_of(simulation, "a"), "");
	assert_null(group_of(simulation, "pg-before-"));
	assert_false(would_place(simulation, POD("asked", "other"), "default/asked"));
	struct settings settings = now(simulation);
	settings.schedulers = names;
	settings.scheduler_count = 1;
	settings_source_replace(simulation->settings, &settings);
	apply(simulation, POD("b", "platoon") JOB("after", "other", "") ROLES("roles"));
	run(simulation);
	assert_true(would_place(simulation, POD("asked", "other"), "default/asked"));
	assert_true(would_place(simulation, JOB("asked", "other", ""), "default/asked-"));
	assert_string_equal(node_of(simulation, "a"), "n1");
	assert_string_equal(node_of(simulation, "b"), "");
	assert_non_null(group_of(simulation, "pg-before-"));
	assert_string_equal(val_str(val_path(starting(simulation, "", "pods", "before-0-"), "spec", "nodeName", NULL),
	                            ""),
	                    "n1");
	assert_string_equal(segment_of(simulation, "before-0-"), "");
	assert_string_equal(segment_of(simulation, "after-0-"), "KAI_SEGMENT_INDEX");
	assert_string_equal(val_str(val_path(starting(simulation, "", "pods", "roles-"), "spec", "schedulerName", NULL),
	                            ""),
	                    "other");
	/* What was theirs before is so no longer. */
	settings_source_replace(simulation->settings, &settings_usual);
	apply(simulation, POD("c", "other"));
	run(simulation);
	assert_string_equal(node_of(simulation, "b"), "n1");
	assert_string_equal(node_of(simulation, "c"), "");
}

static void another_default_queue(void **state)
{
	struct simulation *simulation = *state;
	apply(simulation, NODE("n1") TOPOLOGY QUEUE("team-a") POD("single", "platoon") JOB("before", "platoon", ""));
	run(simulation);
	assert_string_equal(queue_of(simulation, "pg-before-"), "default-queue");
	assert_string_equal(node_of(simulation, "single"), "");
	struct settings settings = now(simulation);
	settings.group.default_queue = "team-a";
	settings_source_replace(simulation->settings, &settings);
	apply(simulation, JOB("after", "platoon", ""));
	run(simulation);
	assert_string_equal(queue_of(simulation, "pg-after-"), "team-a");
	assert_string_equal(node_of(simulation, "single"), "n1");
}

static void another_queue_label(void **state)
{
	struct simulation *simulation = *state;
	apply(simulation, NODE("n1") TOPOLOGY QUEUE("team-a"));
	struct settings settings = now(simulation);
	settings.group.queue_label = "team";
	settings_source_replace(simulation->settings, &settings);
	apply(simulation,
	      JOB("job", "platoon",
	          ", labels: {team: team-a}") "---\n{apiVersion: v1, kind: Pod, metadata: {name: single, labels: "
	                                      "{team: team-a}}, spec: {schedulerName: "
	                                      "platoon, " CONTAINERS "}}\n"
	                                      "---\n{apiVersion: workloads.x-k8s.io/v1alpha2, kind: RoleBasedGroup, "
	                                      "metadata: {name: roles, labels: {team: "
	                                      "team-a}}, spec: {roles: [{name: r, replicas: 1, standalonePattern: "
	                                      "{template: {spec: {" CONTAINERS "}}}}]}}\n");
	run(simulation);
	assert_string_equal(queue_of(simulation, "pg-job-"), "team-a");
	assert_string_equal(queue_of(simulation, "roles-"), "team-a");
	assert_string_equal(node_of(simulation, "single"), "n1");
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
	apply(simulation, POOL_NODE("r", "kai.scheduler/node-pool: red") POOL_NODE("b", "kai.scheduler/node-pool: blue")
	                          POOL_NODE("plain", ""));
	apply(simulation, POOL_POD("r1", "kai.scheduler/node-pool: red") POOL_POD("b1", "kai.scheduler/node-pool: blue")
	                          POOL_POD("n1", ""));
	run(simulation);
	assert_string_equal(node_of(simulation, "r1"), "r");
	assert_string_equal(node_of(simulation, "b1"), "b");
	assert_string_equal(node_of(simulation, "n1"), "plain");
	struct settings settings = now(simulation);
	settings.node_pool = "red";
	settings_source_replace(simulation->settings, &settings);
	apply(simulation, POOL_POD("r2", "kai.scheduler/node-pool: red") POOL_POD("b2", "kai.scheduler/node-pool: blue")
	                          POOL_POD("n2", ""));
	apply(simulation, group);
	apply(simulation, ROLES("roles"));
	run(simulation);
	assert_string_equal(node_of(simulation, "r2"), "r");
	assert_string_equal(node_of(simulation, "b2"), "");
	assert_string_equal(node_of(simulation, "n2"), "");
	assert_null(val_path(object(simulation, "", "pods", "b2"), "status", "conditions", NULL));
	assert_null(val_path(object(simulation, "scheduling.run.ai", "podgroups", "blue"), "status", "phase", NULL));
	assert_null(starting(simulation, "", "pods", "roles-"));
	/* A node changes its pool: it is offered, and then not any more. */
	apply(simulation,
	      POOL_NODE("b", "kai.scheduler/node-pool: red") POOL_NODE("r", "kai.scheduler/node-pool: blue"));
	apply(simulation, POOL_POD("r3", "kai.scheduler/node-pool: red"));
	run(simulation);
	assert_string_equal(node_of(simulation, "r3"), "b");
	settings = now(simulation);
	settings.node_pool = "";
	settings_source_replace(simulation->settings, &settings);
	run(simulation);
	assert_string_equal(node_of(simulation, "n2"), "plain");
	assert_string_equal(node_of(simulation, "b2"), "");
	assert_non_null(starting(simulation, "", "pods", "roles-"));
	/* And another key: then these labels say nothing. */
	settings = now(simulation);
	settings.group.pool_label = "team";
	settings_source_replace(simulation->settings, &settings);
	run(simulation);
	assert_string_not_equal(node_of(simulation, "b2"), "");
}

static void only_workers(void **state)
{
	struct simulation *simulation = *state;
	struct settings settings = now(simulation);
	settings.restrict_nodes = true;
	settings_source_replace(simulation->settings, &settings);
	apply(simulation, POOL_NODE("a", "") POOL_NODE("g", SETTINGS_GPU_WORKER ": ''") POD("p", "platoon"));
	run(simulation);
	assert_string_equal(node_of(simulation, "p"), "");
	apply(simulation, POOL_NODE("c", SETTINGS_CPU_WORKER ": ''"));
	run(simulation);
	assert_string_equal(node_of(simulation, "p"), "c");
	settings_source_replace(simulation->settings, &settings_usual);
	apply(simulation, POOL_NODE("c", SETTINGS_CPU_WORKER ": '', kai.scheduler/node-pool: x") POD("q", "platoon"));
	run(simulation);
	assert_string_not_equal(node_of(simulation, "q"), "");
}

#define CHILD_QUEUE(name, parent, limit)                                                                               \
	"---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: " name "}, spec: {" parent              \
	"resources: {cpu: {quota: 0, limit: " limit ", overQuotaWeight: 1}}}}\n"

/* What the parent does not allow, its child may take when parents do not count; and not any more when they do again. */
static void parents_that_do_not_count(void **state)
{
	struct simulation *simulation = *state;
	apply(simulation, NODE("n1") CHILD_QUEUE("all", "", "0") CHILD_QUEUE("team", "parentQueue: all, ", "-1"));
	apply(simulation, POOL_POD("p", "kai.scheduler/queue: team"));
	run(simulation);
	assert_string_equal(node_of(simulation, "p"), "");
	struct settings settings = now(simulation);
	settings.ignore_parent_queues = true;
	settings_source_replace(simulation->settings, &settings);
	run(simulation);
	assert_string_equal(node_of(simulation, "p"), "n1");
	settings_source_replace(simulation->settings, &settings_usual);
	apply(simulation, POOL_POD("q", "kai.scheduler/queue: team"));
	run(simulation);
	assert_string_equal(node_of(simulation, "q"), "");
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
	apply(simulation, NODE("n1") QUEUE("q"));
	assert_int_equal(apply_one(simulation, GROUP("few", "minSubGroup: 3, ")), -1);
	assert_int_equal(apply_one(simulation, TREE("old", ", minMember: 5")), 0);
	struct settings settings = now(simulation);
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
	apply(simulation,
	      "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {pod-group-name: few}, labels: "
	      "{kai.scheduler/subgroup-name: a}}, spec: {schedulerName: platoon, " CONTAINERS "}}\n");
	run(simulation);
	assert_string_equal(node_of(simulation, "p"), "");
	const struct val *condition = writes_find_condition(object(simulation, "", "pods", "p"), "PodScheduled");
	assert_non_null(strstr(val_str(val_get(condition, "message"), ""), "minSubGroup (3) exceeds"));
}

/* A limit, a missing queue and a request that is not served: nodes cure none of them. */
static void reasons_that_are_told_apart_or_not(void **state)
{
	static const char *const pods[] = {"limited", "lost", "shared"};
	static const char *const apart[] = {"QuotaExceeded", "Invalid", "UnsupportedRequest"};
	struct simulation *simulation = *state;
	apply(simulation,
	      NODE("n1") "---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: none}, spec: "
	                 "{resources: {cpu: {quota: 0, limit: 0, overQuotaWeight: 1}}}}\n");
	apply(simulation,
	      POOL_POD("limited", "kai.scheduler/queue: none") POOL_POD("lost", "kai.scheduler/queue: absent"));
	apply(simulation,
	      "---\n{apiVersion: v1, kind: Pod, metadata: {name: shared, annotations: {gpu-fraction: '0.5'}}, "
	      "spec: {schedulerName: platoon, " CONTAINERS "}}\n");
	for (int plain = 0; plain < 3; plain++) {
		struct settings settings = now(simulation);
		settings.plain_reasons = plain == 1;
		settings_source_replace(simulation->settings, &settings);
		run(simulation);
		for (int i = 0; i < 3; i++) {
			const struct val *pod = object(simulation, "", "pods", pods[i]);
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
	struct settings settings = now(simulation);
	settings.config_maps = true;
	settings_source_replace(simulation->settings, &settings);
	apply(simulation,
	      NODE("n1") POD("spare", "platoon") "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, "
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
	run(simulation);
	assert_string_equal(node_of(simulation, "spare"), "n1");
	assert_string_equal(node_of(simulation, "a"), "");
	const struct val *condition = writes_find_condition(object(simulation, "", "pods", "b"), "PodScheduled");
	assert_string_equal(val_str(val_get(condition, "reason"), ""), "MissingObject");
	assert_non_null(strstr(val_str(val_get(condition, "message"), ""), "configmap \"late\" not found"));
	apply(simulation, "{apiVersion: v1, kind: ConfigMap, metadata: {name: late}}\n");
	run(simulation);
	assert_string_equal(node_of(simulation, "a"), "n1");
	assert_string_equal(node_of(simulation, "b"), "n1");
}

static void groups_for_single_pods(void **state)
{
	struct simulation *simulation = *state;
	apply(simulation, NODE("n1") POD("a", "platoon"));
	run(simulation);
	assert_null(group_of(simulation, "pg-a-"));
	struct settings settings = now(simulation);
	settings.single_groups = true;
	settings_source_replace(simulation->settings, &settings);
	run(simulation);
	assert_non_null(group_of(simulation, "pg-a-"));
}

static void another_strategy(void **state)
{
	struct simulation *simulation = *state;
	apply(simulation, NODE("n1") NODE("n2") POD("a", "platoon") POD("b", "platoon"));
	run(simulation);
	assert_string_equal(node_of(simulation, "a"), node_of(simulation, "b"));
	struct settings settings = now(simulation);
	settings.strategy.cpu = ORDER_SPREAD;
	settings_source_replace(simulation->settings, &settings);
	apply(simulation, POD("c", "platoon"));
	run(simulation);
	assert_string_not_equal(node_of(simulation, "c"), "");
	assert_string_not_equal(node_of(simulation, "a"), node_of(simulation, "c"));
}

/* The pod that prefers a node, however little, goes there; the one with a GPU has no other. */
static void nodes_with_gpus_are_spared(void **state)
{
	struct simulation *simulation = *state;
	apply(simulation, GPU_NODE("n1") NODE("n2") POD("a", "platoon"));
	run(simulation);
	assert_string_equal(node_of(simulation, "a"), "n1");
	struct settings settings = now(simulation);
	settings.spare_gpus = true;
	settings_source_replace(simulation->settings, &settings);
	apply(simulation, POD("b", "platoon") POD_WITH("c", "nvidia.com/gpu: 1, cpu: 1", "")
	                          POD_WITH("d", "cpu: 1", PREFERS("rack", "r9")));
	run(simulation);
	assert_string_equal(node_of(simulation, "b"), "n2");
	assert_string_equal(node_of(simulation, "c"), "n1");
	assert_string_equal(node_of(simulation, "d"), "n1");
	apply(simulation, POD_WITH("e", "cpu: 7", "") POD_WITH("f", "cpu: 1", ""));
	run(simulation);
	assert_string_equal(node_of(simulation, "e"), "n2");
	assert_string_equal(node_of(simulation, "f"), "n1");
}

/* Three parts of 3, 3 and 4 pods in racks for 6 and 4: that takes a search. */
static void another_budget(void **state)
{
	struct simulation *simulation = *state;
	struct settings settings = now(simulation);
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
	apply(simulation, text.text);
	buffer_free(&text);
	run(simulation);
	assert_string_equal(node_of(simulation, "p0"), "");
	settings = now(simulation);
	settings.budget = 0;
	settings_source_replace(simulation->settings, &settings);
	run(simulation);
	assert_string_not_equal(node_of(simulation, "p0"), "");
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
	apply(simulation,
	      NODE("n1") SIZED_POD("a", "6") "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, "
	                                     "metadata: {name: g}, spec: {minMember: 2}}\n");
	run(simulation);
	apply(simulation, SIZED_POD("g1", "4", ", annotations: {pod-group-name: g}")
	                          SIZED_POD("g2", "4", ", annotations: {pod-group-name: g}"));
	assert_int_equal(simulation_advance(simulation, 300 * CLOCK_SECOND), 0);
	apply(simulation, POD("before", "platoon"));
	run(simulation);
	assert_string_equal(node_of(simulation, "before"), "n1"); /* nobody said that it should be waited for */
	struct settings settings = now(simulation);
	settings.starvation_ns = 600 * CLOCK_SECOND;
	settings_source_replace(simulation->settings, &settings);
	apply(simulation, POD("early", "platoon"));
	run(simulation);
	assert_string_equal(node_of(simulation, "early"), "n1");
	assert_int_equal(simulation_advance(simulation, 300 * CLOCK_SECOND), 0);
	apply(simulation, POD("late", "platoon"));
	run(simulation);
	assert_string_equal(node_of(simulation, "late"), "");
	remove_pod(simulation, "before");
	remove_pod(simulation, "early");
	remove_pod(simulation, "a");
	run(simulation);
	assert_string_equal(node_of(simulation, "g1"), "n1");
	assert_string_equal(node_of(simulation, "g2"), "n1");
	assert_string_equal(node_of(simulation, "late"), "");
}

static void budgets_that_are_never_violated(void **state)
{
	struct simulation *simulation = *state;
	struct settings settings = now(simulation);
	settings.never_violate_budgets = true;
	settings_source_replace(simulation->settings, &settings);
	apply(simulation,
	      NODE("n1") "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: kept}, "
	                 "spec: {minAvailable: 1, selector: {matchLabels: {app: low}}}}\n" WHOLE("low", "50"));
	run(simulation);
	assert_string_equal(node_of(simulation, "low"), "n1");
	apply(simulation, WHOLE("high", "90"));
	run(simulation);
	assert_string_equal(node_of(simulation, "high"), "");
	assert_string_equal(node_of(simulation, "low"), "n1");
	settings = now(simulation);
	settings.never_violate_budgets = false;
	settings_source_replace(simulation->settings, &settings);
	assert_int_equal(simulation_advance(simulation, 60 * CLOCK_SECOND), 0); /* with the time the pod has to end */
	assert_string_equal(node_of(simulation, "high"), "n1");
}

static void other_defaults_of_kinds(void **state)
{
	struct simulation *simulation = *state;
	apply(simulation,
	      NODE("n1") TOPOLOGY JOB("job", "platoon", "") "---\n{apiVersion: scheduling.k8s.io/v1, kind: "
	                                                    "PriorityClass, metadata: {name: urgent}, value: 90}\n");
	run(simulation);
	assert_non_null(group_of(simulation, "pg-job-"));
	apply(simulation, DEFAULTS("types: '[{\"typeName\": \"Job\", \"priorityName\": \"urgent\"}]'"));
	run(simulation);
	assert_string_equal(val_str(val_path(group_of(simulation, "pg-job-"), "spec", "priorityClassName", NULL), ""),
	                    "urgent");
}

int main(void)
{
#define ON_A_CLUSTER(name) cmocka_unit_test_setup_teardown(name, open_usual, close_it)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_borrowed_stays_until_the_turn),
		cmocka_unit_test(a_change_concerns_only_whom_it_concerns),
		cmocka_unit_test_setup_teardown(the_default_queue_is_everybodys, NULL, close_it),
		cmocka_unit_test_setup_teardown(admission_and_controllers_agree_whose_a_pod_is, NULL, close_it),
		ON_A_CLUSTER(admission_obeys_the_config_map),
		ON_A_CLUSTER(other_schedulers),
		ON_A_CLUSTER(another_default_queue),
		ON_A_CLUSTER(another_queue_label),
		ON_A_CLUSTER(another_pool),
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
