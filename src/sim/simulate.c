/* Owns the parts of a simulated cluster and how time passes in it. What is done to it from outside is in
 * simulate_write.c. */
#include "sim/simulate.h"

#include "sim/simulate_cluster.h"
#include "cluster/world_admission.h"

#include <stdio.h>
#include <stdlib.h>

/* Turns without time passing after which a world is called restless. */
#define TURNS_PER_MOMENT 2000
#define GARBAGE_PER_TURN 1000
/* On a real server most turns only wait for answers. */
#define TURNS_PER_MOMENT_REAL 200000

static void start_world(struct simulation *simulation)
{
	settings_source_follow(simulation->settings, simulation->store);
	simulation->world = world_create(&(struct world_options){
		.store = simulation->store,
		.clock = &simulation->clock.source,
		.logger = simulation->options.logger,
		.settings = simulation->settings,
		.slice = simulation->options.slice,
		.kubelet = {.start_seconds = 1, .ready_seconds = 1, .stop_seconds = 1, .lost_seconds = 300},
	});
}

static void open_memory(struct simulation *simulation)
{
	struct error error = {0};
	simulation->admission =
		world_admission_create(&(struct world_admission_options){.settings = simulation->settings});
	simulation->store = store_open(
		&(struct store_options){
			.clock = &simulation->clock.source,
			.seed = simulation->options.seed,
			.event_ttl = -1, /* an event that expires would look like a change */
			.admit = world_admission_check,
			.context = simulation->admission,
		},
		&error);
	if (!simulation->store) {
		/* In memory nothing can be refused. */
		fprintf(stderr, "platoon: the store in memory cannot be opened: %s\n", error.text);
		abort();
	}
	world_admission_use(simulation->admission, simulation->store);
	store_commit(simulation->store, &error);
}

struct simulation *simulation_create(const struct simulation_options *options)
{
	struct simulation *simulation = base_calloc(1, sizeof(*simulation));
	simulation->options = *options;
	simulation->arena = arena_create();
	simulation->settings = settings_source_create(options->settings ? options->settings : &settings_usual);
	clock_virtual_init(&simulation->clock, SIMULATION_START);
	if (options->access)
		cluster_open(simulation);
	else
		open_memory(simulation);
	if (options->access && !simulation->problem)
		cluster_clear(simulation);
	if (!simulation->problem)
		start_world(simulation);
	return simulation;
}

void simulation_destroy(struct simulation *simulation)
{
	if (!simulation)
		return;
	world_destroy(simulation->world);
	world_admission_destroy(simulation->admission);
	if (simulation->options.access)
		cluster_close(simulation);
	else
		store_close(simulation->store);
	settings_source_destroy(simulation->settings);
	arena_destroy(simulation->arena);
	free(simulation);
}

void simulation_restart(struct simulation *simulation)
{
	world_destroy(simulation->world);
	simulation->world = NULL;
	settings_source_follow(simulation->settings, NULL);
	if (simulation->cluster) {
		cluster_close(simulation);
		cluster_open(simulation);
	}
	if (!simulation->problem)
		start_world(simulation);
}

static int finish_real_turn(struct simulation *simulation, int wait)
{
	bool busy = cluster_turn(simulation);
	simulation->turns++;
	if (simulation->options.after_turn)
		simulation->options.after_turn(simulation->options.context);
	return busy ? 0 : wait;
}

/* The process ends in the turn that it has just taken: nothing of it was committed. */
static void lose_turn(struct simulation *simulation)
{
	world_destroy(simulation->world);
	store_lose(simulation->store);
	start_world(simulation);
	simulation->hold = 0;
	simulation->lost_turn = true;
}

/* Everybody in the world takes a turn, then the store commits. Milliseconds until the next turn is due, -1: never. */
static int take_turn(struct simulation *simulation)
{
	struct error error = {0};
	settings_turn(simulation->settings);
	int wait = world_step(simulation->world);
	if (simulation->cluster)
		return finish_real_turn(simulation, wait);
	if (simulation->lose_in > 0 && --simulation->lose_in == 0) {
		lose_turn(simulation);
		wait = 0;
	}
	bool more = store_collect_garbage(simulation->store, GARBAGE_PER_TURN);
	bool wrote = store_pending(simulation->store);
	if (simulation->hold > 0)
		simulation->hold--;
	else
		store_commit(simulation->store, &error);
	simulation->turns++;
	simulation->changes += wrote;
	if (simulation->options.after_turn)
		simulation->options.after_turn(simulation->options.context);
	/* Writes of one actor are news for those whose turn was before it. */
	return more || wrote ? 0 : wait;
}

/* Turns until nobody has anything to do at this moment. Milliseconds until somebody has, -1 for never, -2 when it does
 * not end. */
static int exhaust(struct simulation *simulation)
{
	int turns = simulation->cluster ? TURNS_PER_MOMENT_REAL : TURNS_PER_MOMENT;
	for (int turn = 0; turn < turns; turn++) {
		int wait = take_turn(simulation);
		if (wait != 0 || simulation->stopped)
			return wait;
	}
	return -2;
}

int simulation_advance(struct simulation *simulation, int64_t ns)
{
	int64_t end = simulation->clock.now + ns;
	for (;;) {
		int wait = exhaust(simulation);
		if (wait == -2)
			return -1;
		int64_t left = end - simulation->clock.now;
		if (left <= 0 || simulation->stopped)
			return 0;
		int64_t step = wait < 0 || wait * CLOCK_MILLISECOND > left ? left : wait * CLOCK_MILLISECOND;
		clock_virtual_advance(&simulation->clock, step);
	}
}

int simulation_settle(struct simulation *simulation, int64_t quiet_ns, int64_t limit_ns)
{
	int64_t start = simulation->clock.now, since = start;
	uint64_t version = store_version(simulation->store);
	for (;;) {
		int wait = exhaust(simulation);
		if (wait == -2)
			return -1;
		if (simulation->stopped)
			return 0;
		int64_t now = simulation->clock.now;
		if (store_version(simulation->store) != version) {
			version = store_version(simulation->store);
			since = now;
		}
		if (now - since >= quiet_ns || wait < 0)
			return 0;
		if (now - start >= limit_ns)
			return -1;
		int64_t left = since + quiet_ns - now;
		clock_virtual_advance(&simulation->clock,
		                      wait * CLOCK_MILLISECOND < left ? wait * CLOCK_MILLISECOND : left);
	}
}
