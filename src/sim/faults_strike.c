/* Owns what goes wrong in a random run, and when. */
#include "sim/faults_run.h"

#include <string.h>

static bool enabled(const struct fault_run *run, enum fault_kind kind)
{
	return run->options.faults & (1u << kind);
}

/* ---- writes ---- */

struct store_fault faults_on_write(void *context, const struct store_request *request)
{
	static const int codes[] = {409, 409, 429, 500, 504};
	struct fault_run *run = context;
	struct store_fault fault = {0};
	if (!run->invariants || (request->actor && strcmp(request->actor, SIMULATION_ACTOR) == 0))
		return fault;
	world_invariants_saw(run->invariants, request);
	if (run->slow_ms > 0) {
		run->outcome->injected[FAULT_SLOW_API]++;
		clock_virtual_advance(&run->simulation->clock, random_range(&run->random, 0, run->slow_ms) * 1000000);
	}
	if (run->die_in == 0)
		run->dead = true;
	if (run->die_in >= 0)
		run->die_in--;
	if (run->dead) {
		run->excused = true;
		return (struct store_fault){.code = 500};
	}
	if (!random_chance(&run->random, run->refuse_percent))
		return fault;
	run->outcome->injected[FAULT_CONFLICT]++;
	run->excused = true;
	fault.code = codes[random_range(&run->random, 0, 4)];
	fault.after = fault.code >= 500 && random_chance(&run->random, 50);
	fault.retry_after = fault.code == 429 ? 1 : 0;
	return fault;
}

/* ---- nodes ---- */

void faults_remember_nodes(struct fault_run *run)
{
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {.api = store_api_find(run->simulation->store, "", "v1", "nodes")};
	if (store_list(run->simulation->store, &request, &list, run->arena, &error) < 0)
		return;
	for (size_t i = 0; i < list.count; i++) {
		const struct val *root = list.items[i]->root;
		struct build *build = build_create();
		struct node *body = build_map(build), *metadata = build_map(build), *status = build_map(build);
		build_put_string(build, metadata, "name", list.items[i]->name);
		build_put(build, metadata, "labels", build_copy(build, val_path(root, "metadata", "labels", NULL)));
		build_put(build, status, "allocatable",
		          build_copy(build, val_path(root, "status", "allocatable", NULL)));
		build_put_string(build, body, "apiVersion", "v1");
		build_put_string(build, body, "kind", "Node");
		build_put(build, body, "metadata", metadata);
		build_put(build, body, "status", status);
		vec_push(&run->nodes, (struct fault_node){.name = arena_strdup(run->arena, list.items[i]->name),
		                                          .object = build_finish(build, body)});
		build_destroy(build);
	}
	store_list_clear(&list);
}

static void kill_node(struct fault_run *run, const struct fault_node *node)
{
	static const char *const words[] = {"its pods stay", "its pods are deleted", "its pods fail"};
	struct store_error error = {0};
	enum simulation_loss loss = (enum simulation_loss)random_range(&run->random, 0, 2);
	faults_trace(run, "  node %s fails, %s", node->name, words[loss]);
	if (simulation_kill_node(run->simulation, node->name, loss, run->arena, &error) < 0)
		scenario_fail(&run->result, "node %s cannot fail: %s", node->name, error.message);
}

/* The node object goes, and what ran on it is collected. */
static void remove_node(struct fault_run *run, struct fault_node *node)
{
	struct store_error error = {0};
	struct simulation_target target = {"v1", "Node", "", node->name};
	faults_trace(run, "  node %s leaves the cluster", node->name);
	simulation_kill_node(run->simulation, node->name, SIMULATION_PODS_DELETED, run->arena, &error);
	if (simulation_delete(run->simulation, &target, -1, run->arena, &error) < 0)
		scenario_fail(&run->result, "node %s cannot leave: %s", node->name, error.message);
	node->gone = true;
}

static void flap(struct fault_run *run)
{
	struct store_error error = {0};
	if (run->nodes.count == 0)
		return;
	struct fault_node *node = &run->nodes.items[random_range(&run->random, 0, (int)run->nodes.count - 1)];
	run->outcome->injected[FAULT_NODE_FLAP]++;
	if (node->gone) {
		faults_trace(run, "  node %s comes back", node->name);
		node->gone = false;
		if (simulation_apply(run->simulation, doc_root(node->object), run->arena, &error) < 0)
			scenario_fail(&run->result, "node %s cannot come back: %s", node->name, error.message);
		return;
	}
	switch (random_range(&run->random, 0, 5)) {
	case 0:
	case 1:
		kill_node(run, node);
		break;
	case 2:
	case 3:
		faults_trace(run, "  node %s is ready", node->name);
		simulation_restore_node(run->simulation, node->name, run->arena, &error);
		break;
	case 4: {
		bool cordon = random_chance(&run->random, 50);
		faults_trace(run, "  node %s is %s", node->name, cordon ? "cordoned" : "uncordoned");
		simulation_cordon(run->simulation, node->name, cordon, run->arena, &error);
		break;
	}
	default:
		remove_node(run, node);
		break;
	}
}

/* ---- all ---- */

static void lose_watches(struct fault_run *run)
{
	const struct store_type *pods = store_type_find(run->simulation->store, "", "pods");
	bool all = random_chance(&run->random, 50);
	run->outcome->injected[FAULT_WATCH_LOSS]++;
	faults_trace(run, "  watches of %s are lost", all ? "everything" : "pods");
	store_watch_break(run->simulation->store, all ? NULL : pods);
}

static void crash(struct fault_run *run)
{
	run->outcome->injected[FAULT_CRASH]++;
	int how = random_range(&run->random, 0, 2);
	if (how == 0) {
		faults_trace(run, "  crash");
		simulation_restart(run->simulation);
		return;
	}
	if (how == 1) {
		run->simulation->lose_in = random_range(&run->random, 1, 6);
		faults_trace(run, "  the process will crash before the commit of turn %d from now",
		             run->simulation->lose_in);
		return;
	}
	run->die_in = random_range(&run->random, 0, 8);
	faults_trace(run, "  the process will crash after %d writes", run->die_in);
}

static void jump(struct fault_run *run)
{
	static const int seconds[] = {-60, -5, 30, 600, 86400};
	int by = seconds[random_range(&run->random, 0, 4)];
	run->outcome->injected[FAULT_CLOCK_JUMP]++;
	faults_trace(run, "  the clock jumps by %d s", by);
	run->simulation->clock.now += by * CLOCK_SECOND;
	if (by < 0)
		run->backwards_ns -= by * CLOCK_SECOND;
}

static void trouble_writes(struct fault_run *run, enum fault_kind kind)
{
	run->calm_in = random_range(&run->random, 1, 3);
	if (kind == FAULT_CONFLICT) {
		run->refuse_percent = random_range(&run->random, 2, 40);
		faults_trace(run, "  %d%% of writes fail", run->refuse_percent);
		return;
	}
	run->slow_ms = random_range(&run->random, 5, 500);
	run->simulation->hold = random_range(&run->random, 0, 4);
	faults_trace(run, "  writes take up to %d ms, changes are seen %d turns late", run->slow_ms,
	             run->simulation->hold);
}

void faults_strike(struct fault_run *run)
{
	enum fault_kind kind = (enum fault_kind)random_range(&run->random, 0, FAULT_KINDS - 1);
	if (run->calm_in > 0 && --run->calm_in == 0) {
		run->refuse_percent = run->slow_ms = 0;
		faults_trace(run, "  writes work again");
	}
	if (!enabled(run, kind) || !random_chance(&run->random, 60))
		return;
	switch (kind) {
	case FAULT_CONFLICT:
	case FAULT_SLOW_API:
		trouble_writes(run, kind);
		break;
	case FAULT_WATCH_LOSS:
		lose_watches(run);
		break;
	case FAULT_CRASH:
		crash(run);
		break;
	case FAULT_NODE_FLAP:
		flap(run);
		break;
	case FAULT_CLOCK_JUMP:
		jump(run);
		break;
	case FAULT_KINDS:
		break;
	}
}

void faults_secure(struct fault_run *run)
{
	struct error error = {0};
	if (run->simulation->lose_in > 0)
		store_commit(run->simulation->store, &error);
}

void faults_stop(struct fault_run *run)
{
	run->simulation->lose_in = 0;
	run->refuse_percent = run->slow_ms = run->calm_in = 0;
	run->simulation->hold = 0;
	run->die_in = -1;
}
