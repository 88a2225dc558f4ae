/* The invariants of the full world: each of them really notices what it is there for, and does not blame the world for
 * what others did. Objects are written into a store as a broken scheduler would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schedule/scheduler.h"
#include "sim/invariants_world.h"
#include "sim/simulate.h"

#include <string.h>

/* Two racks of one node; gang `pair` of two pods that must share a rack; `safe` and `solo` must not be evicted, `semi` keeps one. */
static const char given[] =
	"{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: cluster}, spec: {levels: [{nodeLabel: "
	"rack}]}}\n---\n"
	"{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {rack: r1}}, status: {allocatable: {cpu: 4, pods: "
	"9}}}\n---\n"
	"{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {rack: r2}}, status: {allocatable: {cpu: 4, pods: "
	"9}}}\n---\n"
	"{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: pair, namespace: default},\n"
	" spec: {minMember: 2, topologyConstraint: {topology: cluster, requiredTopologyLevel: rack}}}\n---\n"
	"{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: safe, namespace: default},\n"
	" spec: {minMember: 1, preemptibility: non-preemptible, priorityClassName: inference}}\n---\n"
	"{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: solo, namespace: default},\n"
	" spec: {minMember: 2, preemptibility: non-preemptible}}\n---\n"
	"{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: semi, namespace: default},\n"
	" spec: {minMember: 1, preemptibility: semi-preemptible}}\n";

struct pod {
	const char *name, *group;
	int cpu;
};

static const struct pod pods[] = {
	{"pair-0", "pair", 1}, {"pair-1", "pair", 1}, {"big-0", "", 3},      {"big-1", "", 3},
	{"safe-0", "safe", 1}, {"semi-0", "semi", 1}, {"semi-1", "semi", 1}, {"solo-0", "solo", 1},
};

struct row {
	const char *story;
	const char *before; /* what was done from outside: see carry_out */
	const char *turn;   /* what the world does in one turn */
	const char *failure;
	bool excused;
	bool rest;           /* judged at rest instead */
	const char *objects; /* what there is besides */
};

static void apply(struct simulation *simulation, const char *text)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct store_error error = {0};
	struct manifests manifests;
	manifests_init(&manifests);
	assert_int_equal(manifests_parse(&manifests, text, strlen(text), "test", &problems), 0);
	for (size_t i = 0; i < manifests.count; i++)
		if (simulation_apply(simulation, manifests.items[i].object, arena, &error) < 0)
			fail_msg("%s", error.message);
	manifests_free(&manifests);
	arena_destroy(arena);
}

static void patch_status(struct simulation *simulation, const char *pod, const char *text)
{
	struct arena *arena = arena_create();
	struct store_error error = {0};
	struct simulation_target target = {"v1", "Pod", "default", pod};
	struct doc *doc = doc_parse_json(text, strlen(text), NULL);
	assert_int_equal(simulation_patch(simulation, &target, STORE_PATCH_STRATEGIC, STORE_STATUS, doc_root(doc),
	                                  arena, &error),
	                 0);
	doc_destroy(doc);
	arena_destroy(arena);
}

/* What is there is known to everybody after so many turns. */
static void let_turns_pass(struct simulation *simulation, struct world_invariants *invariants)
{
	struct arena *arena = arena_create();
	struct scenario_result ignored = {.arena = arena};
	for (int i = 0; i < 20; i++) {
		struct store_error error = {0};
		simulation_cordon(simulation, "n3", i % 2 == 0, arena, &error);
		world_invariants_check(invariants, false, &ignored);
	}
	arena_destroy(arena);
}

/* "pair-0>n1" binds, "-safe-0" evicts as the scheduler does, "~n1" cordons, "/n1" removes a node, "=b-0" makes ready, "!b-0"
 * and "?b-0" write why it is evicted: for higher priority against a budget, and for no higher one. */
static void carry_out(struct simulation *simulation, struct world_invariants *invariants, const char *word)
{
	struct arena *arena = arena_create();
	struct store_error error = {0};
	char text[256];
	const char *arrow = strchr(word, '>');
	if (word[0] == '-') {
		struct store_request request = {.verb = STORE_DELETE,
		                                .api = store_api_find(simulation->store, "", "v1", "pods"),
		                                .namespace_ = "default",
		                                .name = word + 1,
		                                .actor = SCHEDULER_ACTOR};
		struct store_result result = {.arena = arena};
		if (invariants)
			world_invariants_saw(invariants, &request);
		assert_int_equal(store_write(simulation->store, &request, &result), 0);
		store_result_clear(&result);
	} else if (word[0] == '~') {
		assert_int_equal(simulation_cordon(simulation, word + 1, true, arena, &error), 0);
	} else if (word[0] == '=') {
		patch_status(simulation, word + 1,
		             "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
		             "\"True\"}]}}");
	} else if (word[0] == '!' || word[0] == '?') {
		snprintf(text, sizeof(text),
		         "{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"message\":"
		         "\"platoon: evicted for default/%s, violating PodDisruptionBudget default/b (preempt)\"}]}}",
		         word[0] == '!' ? "safe" : "pair");
		patch_status(simulation, word + 1, text);
	} else if (word[0] == '/') {
		struct simulation_target target = {"v1", "Node", "", word + 1};
		assert_int_equal(simulation_delete(simulation, &target, 0, arena, &error), 0);
	} else if (arrow) {
		const char *pod = arena_printf(arena, "%.*s", (int)(arrow - word), word);
		snprintf(text, sizeof(text),
		         "{\"metadata\":{\"name\":\"%s\"},\"target\":{\"kind\":\"Node\",\"name\":\"%s\"}}", pod,
		         arrow + 1);
		struct doc *doc = doc_parse_json(text, strlen(text), NULL);
		struct store_request request = {.verb = STORE_CREATE,
		                                .api = store_api_find(simulation->store, "", "v1", "pods"),
		                                .subresource = STORE_BINDING,
		                                .namespace_ = "default",
		                                .name = pod,
		                                .body = doc_root(doc),
		                                .actor = "platoon"};
		struct store_result result = {.arena = arena};
		if (store_write(simulation->store, &request, &result) < 0)
			fail_msg("%s: %s", word, result.error.message);
		store_result_clear(&result);
		doc_destroy(doc);
	}
	arena_destroy(arena);
}

static void carry_out_all(struct simulation *simulation, struct world_invariants *invariants, const char *words)
{
	char word[64];
	while (words && *words) {
		size_t length = strcspn(words, " ");
		snprintf(word, sizeof(word), "%.*s", (int)length, words);
		carry_out(simulation, invariants, word);
		words += length + (words[length] == ' ');
	}
}

static void judge(const struct row *row)
{
	struct arena *arena = arena_create();
	struct simulation *simulation = simulation_create(&(struct simulation_options){.seed = 1});
	struct scenario_result result = {.arena = arena};
	apply(simulation, given);
	for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++)
		apply(simulation,
		      arena_printf(
			      arena,
			      "{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, annotations: "
			      "{%s%s}},\n"
			      " spec: {schedulerName: platoon, containers: [{name: c, image: i, resources: {requests: "
			      "{cpu: %d}}}]}}",
			      pods[i].name, pods[i].group[0] ? "pod-group-name: " : "", pods[i].group, pods[i].cpu));
	if (row->objects)
		apply(simulation, row->objects);
	carry_out_all(simulation, NULL, row->before);
	struct world_invariants *invariants = world_invariants_create(simulation->store, simulation->settings);
	if (row->objects)
		let_turns_pass(simulation, invariants);
	carry_out_all(simulation, invariants, row->turn);
	if (row->rest)
		world_invariants_check_rest(invariants, simulation->clock.now / CLOCK_SECOND, 0, &result);
	else
		world_invariants_check(invariants, row->excused, &result);
	bool found = false;
	for (size_t i = 0; i < result.failure_count; i++)
		found |= row->failure && strstr(result.failures[i], row->failure);
	if (row->failure && !found)
		fail_msg("%s: nobody said \"%s\"; first: %s", row->story, row->failure,
		         result.failure_count ? result.failures[0] : "nothing");
	if (!row->failure && result.failure_count)
		fail_msg("%s: %s", row->story, result.failures[0]);
	world_invariants_destroy(invariants);
	simulation_destroy(simulation);
	arena_destroy(arena);
}

static void turns_are_judged(void **state)
{
	static const struct row rows[] = {
		{"a whole gang is fine", NULL, "pair-0>n1 pair-1>n1", NULL},
		{"half a gang is not", NULL, "pair-0>n1",
	         "default/pair is below its minimum, and 1 of its pods were bound"},
		{"unless a write was refused", NULL, "pair-0>n1", NULL, .excused = true},
		{"or it was so before", "pair-0>n1", "semi-0>n1", NULL},
		{"a gang in two racks", NULL, "pair-0>n1 pair-1>n2", "default/pair: its required level does not hold"},
		{"is nobody's fault that it was there before", "pair-0>n1 pair-1>n2", "semi-0>n1", NULL},
		{"one pod too many for a node", NULL, "big-0>n1 big-1>n1",
	         "node n1 is over-committed: 6000 of 4000 cpu"},
		{"one on each is fine", NULL, "big-0>n1 big-1>n2", NULL},
		{"a node that was full and did not become fuller", "big-0>n1 big-1>n1", "semi-0>n2", NULL},
		{"and one that did", "big-0>n1 big-1>n1", "semi-0>n1", "node n1 is over-committed: 7000 of 4000 cpu"},
		{"a cordoned node", "~n1", "semi-0>n1", "was bound to node n1, which is cordoned"},
		{"one that is cordoned in the same turn", NULL, "semi-0>n1 ~n1", NULL},
		{"a node that is gone", "/n1", "semi-0>n1", "was bound to node n1, which does not exist"},
		{"an eviction of what is protected", "safe-0>n1", "-safe-0",
	         "pod default/safe-0 is non-preemptible and was evicted"},
		{"unless its gang was cut off while it started", "solo-0>n1", "-solo-0", NULL},
		{"a pod that never ran may go", NULL, "-safe-0", NULL},
		{"surplus of a semi-preemptible group may go", "semi-0>n1 semi-1>n1", "-semi-1", NULL},
		{"its minimum may not", "semi-0>n1", "-semi-0",
	         "pod default/semi-0 is part of a semi-preemptible minimum"},
		{"a preemptible gang may", "pair-0>n1 pair-1>n1", "-pair-0 -pair-1", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		judge(&rows[i]);
}

/* Three pods of one budget that wants two of them. */
#define GUARDED                                                                                                        \
	"{apiVersion: v1, kind: Node, metadata: {name: n3}}\n---\n"                                                    \
	"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: default},\n"                \
	" spec: {minAvailable: 2, selector: {matchLabels: {app: b}}}, status: {disruptionsAllowed: 1, "                \
	"currentHealthy: 3,\n"                                                                                         \
	" desiredHealthy: 2, expectedPods: 3, observedGeneration: 1}}\n" GUARDED_POD("b-0") GUARDED_POD("b-1")         \
		GUARDED_POD("b-2")
#define GUARDED_POD(name)                                                                                              \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name ", namespace: default, labels: {app: b}},\n"         \
	" spec: {schedulerName: platoon, nodeName: n1, containers: [{name: c, image: i}]}}\n"

static void budgets_are_judged(void **state)
{
	static const struct row rows[] = {
		{"what a budget allows", "=b-0 =b-1 =b-2", "-b-0", NULL, .objects = GUARDED},
		{"one more", "=b-0 =b-1 =b-2", "-b-0 -b-1",
	         "PodDisruptionBudget default/b wants 2 pods, 3 were ready, and 2 were evicted in one turn",
	         .objects = GUARDED},
		{"pods that are not ready do not count", "=b-0", "-b-1 -b-2", NULL, .objects = GUARDED},
		{"but those that are do", "=b-0", "-b-0",
	         "PodDisruptionBudget default/b wants 2 pods, 1 were ready, and 1 were evicted in one turn",
	         .objects = GUARDED},
		{"one more for higher priority, which says so", "=b-0 =b-1 =b-2", "!b-1 -b-0 -b-1", NULL,
	         .objects = GUARDED},
		{"one more for the same priority", "=b-0 =b-1 =b-2", "?b-1 -b-0 -b-1",
	         "pod default/b-1 was evicted against a budget without a higher priority", .objects = GUARDED},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		judge(&rows[i]);
}

#define VOLUME(name, claim, uid)                                                                                       \
	"{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name                                              \
	"}, spec: {capacity: {storage: 1Gi}, accessModes: "                                                            \
	"[ReadWriteOnce],\n local: {path: /v}, claimRef: {namespace: default, name: " claim ", uid: " uid              \
	"}, nodeAffinity: "                                                                                            \
	"{required: {nodeSelectorTerms:\n [{matchExpressions: [{key: rack, operator: In, values: [r1]}]}]}}}}\n---\n"
#define CLAIM(name, bound, volume, mode)                                                                               \
	"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name ", namespace: default" bound            \
	"},\n spec: "                                                                                                  \
	"{accessModes: [" mode "], resources: {requests: {storage: 1Gi}}" volume "}}\n---\n"
#define BOUND ", annotations: {pv.kubernetes.io/bind-completed: \"yes\"}"
#define USER(name, claim)                                                                                              \
	"{apiVersion: v1, kind: Pod, metadata: {name: " name ", namespace: default}, spec: {schedulerName: platoon,\n" \
	" containers: [{name: c, image: i}], volumes: [{name: v, persistentVolumeClaim: {claimName: " claim            \
	"}}]}}\n---\n"
#define NODE "{apiVersion: v1, kind: Node, metadata: {name: n3}}\n"

static void volumes_are_judged(void **state)
{
	static const char bound[] =
		VOLUME("pv", "c", "u") CLAIM("c", BOUND, ", volumeName: pv", "ReadWriteOnce") USER("v-0", "c") NODE;
	static const char open[] = CLAIM("c", "", "", "ReadWriteOnce") USER("v-0", "c") NODE;
	static const char twice[] = VOLUME("pv", "c", "u") CLAIM("c", BOUND, ", volumeName: pv", "ReadWriteOnce")
		CLAIM("d", BOUND, ", volumeName: pv", "ReadWriteOnce") NODE;
	static const char single[] =
		CLAIM("c", BOUND, ", volumeName: pv", "ReadWriteOncePod") USER("v-0", "c") USER("v-1", "c") NODE;
	static const struct row rows[] = {
		{"a claim that is bound", NULL, "v-0>n1", NULL, .objects = bound},
		{"where its volume is not", NULL, "v-0>n2",
	         "pod default/v-0 was bound to node n2, which does not reach its volume pv", .objects = bound},
		{"a claim that is not bound", NULL, "v-0>n1",
	         "pod default/v-0 was bound to node n1 before its claim c was", .objects = open},
		{"a pod that was there before", "v-0>n1", "semi-0>n1", NULL, .objects = open},
		{"a volume of two claims", NULL, "semi-0>n1",
	         "volume pv is bound to two claims, default/c and default/d", .objects = twice},
		{"a claim for one pod, used by one", NULL, "v-0>n1", NULL, .objects = single},
		{"and by two", "v-0>n1", "v-1>n1", "pods v-1 and v-0 both use claim default/c, which is for one pod",
	         .objects = single},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		judge(&rows[i]);
}

static void rest_is_judged(void **state)
{
	static const struct row rows[] = {
		{"pods that a fresh scheduler would bind", NULL, NULL, "wait at rest, and a fresh plan binds it",
	         .rest = true},
		{"a gang below its minimum", "pair-0>n1", NULL,
	         "default/pair is at rest with 1 pods placed, below its minimum", .rest = true},
		{"a group that does not say why it waits", "~n1 ~n2", NULL, "default/pair waits and has no condition",
	         .rest = true},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		judge(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_are_judged),
		cmocka_unit_test(budgets_are_judged),
		cmocka_unit_test(volumes_are_judged),
		cmocka_unit_test(rest_is_judged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
