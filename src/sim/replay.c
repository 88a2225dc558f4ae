/* Owns the loop of a replay: what arrives and leaves, the cycles between, and what becomes of their decisions. */
#include "sim/replay.h"
#include "kinds/names.h"

#include "admit/pod.h"
#include "base/vec.h"
#include "schedule/live.h"
#include "object/build.h"
#include "sim/replay_left.h"
#include "sim/replay_measure.h"
#include "sim/simulate.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 16 /* cycles at one moment: evictions make room that the next one uses */
#define NOWHERE SIZE_MAX
#define LAST (20 * TRACE_LONGEST) /* second after which nothing is looked at: nanoseconds end not far behind it */

struct pod_state {
	size_t node;           /* number, or NOWHERE */
	const char *node_name; /* NULL: none */
	const char *nominated;
	int64_t gpus, cpus;
	int leaf;             /* of its gang; -1: none */
	unsigned incarnation; /* evicted pods come back as new ones */
	bool there, bound, touched;
};

struct gang_state {
	size_t there, running, left_for_good; /* pods */
	bool present, placed, gone;
	int64_t since; /* when it came */
	int64_t wait;  /* until its minimum ran for the first time */
	struct left_gang left;
};

struct departure {
	int64_t time;
	size_t pod;
	unsigned incarnation; /* UINT_MAX: whichever it is then */
};

struct replay {
	const struct trace *trace;
	const struct replay_options *options;
	struct arena *arena;
	struct replay_result *result;
	struct measure *measure;
	struct clock_virtual clock;
	struct store *store;
	struct live *live;
	struct live_watch *watch;
	struct pod_state *pods;
	struct gang_state *gangs;
	struct interner *names, *gang_names; /* "namespace/name", by number */
	VEC(struct departure) departures;    /* a heap, the earliest first */
	VEC(size_t) touched, lowered;        /* pods; gangs whose minimum has become lower */
	int64_t now;
	uint64_t version;
	size_t arrived, done; /* pods */
};

/* ---- departures ---- */

static bool is_before(const struct departure *a, const struct departure *b)
{
	return a->time != b->time ? a->time < b->time : a->pod < b->pod;
}

static void swap(struct departure *a, struct departure *b)
{
	struct departure old = *a;
	*a = *b;
	*b = old;
}

static void plan_departure(struct replay *replay, struct departure departure)
{
	vec_push(&replay->departures, departure);
	struct departure *items = replay->departures.items;
	for (size_t at = replay->departures.count - 1; at > 0 && is_before(&items[at], &items[(at - 1) / 2]);
	     at = (at - 1) / 2)
		swap(&items[at], &items[(at - 1) / 2]);
}

static struct departure next_departure(struct replay *replay)
{
	struct departure *items = replay->departures.items, first = items[0];
	size_t count = --replay->departures.count;
	items[0] = items[count];
	for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && is_before(&items[child + 1], &items[child]))
			child++;
		if (!is_before(&items[child], &items[at]))
			break;
		swap(&items[child], &items[at]);
	}
	return first;
}

/* ---- objects ---- */

/* A copy of a map without some keys. */
static struct node *copy_without(struct build *build, const struct val *map, const char *first, const char *second)
{
	struct node *copy = build_map(build);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);)
		if (strcmp(key, first) != 0 && strcmp(key, second) != 0)
			build_put(build, copy, key, build_copy(build, item));
	return copy;
}

/* Metadata as the cluster would have it. */
static struct node *metadata_of(struct replay *replay, struct build *build, const struct val *object,
                                const char *namespace_, const char *uid, int64_t created)
{
	struct node *metadata = copy_without(build, val_get(object, "metadata"), "resourceVersion", "uid");
	char text[32];
	clock_print_rfc3339(SIMULATION_START / CLOCK_SECOND + created, text);
	if (namespace_[0])
		build_put_string(build, metadata, "namespace", namespace_);
	build_put_string(build, metadata, "uid", uid);
	build_put_string(build, metadata, "creationTimestamp", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)++replay->version);
	build_put_string(build, metadata, "resourceVersion", text);
	return metadata;
}

static void put(struct replay *replay, struct build *build, struct node *root, const char *api_version,
                const char *kind)
{
	const struct store_api *api = store_api_of_kind(replay->store, api_version, kind);
	if (!api)
		return;
	build_put_string(build, root, "apiVersion", api_version);
	build_put_string(build, root, "kind", kind);
	store_mirror_put(replay->store, api->type, build_finish(build, root));
}

static void put_frame(struct replay *replay, const struct manifest *manifest)
{
	struct build *build = build_create();
	struct node *root = copy_without(build, manifest->object, "metadata", "");
	build_put(build, root, "metadata",
	          metadata_of(replay, build, manifest->object, manifest->namespace_, manifest->name, 0));
	put(replay, build, root, manifest->api_version, manifest->kind);
	build_destroy(build);
}

static void put_gang(struct replay *replay, size_t index)
{
	const struct trace_gang *gang = &replay->trace->gangs[index];
	struct gang_state *state = &replay->gangs[index];
	struct build *build = build_create();
	struct node *root = copy_without(build, gang->object, "metadata", "status");
	if (!state->present)
		state->since = replay->now;
	if (state->left.lower)
		build_put(build, root, "spec", left_spec(&state->left, val_get(gang->object, "spec"), build));
	build_put(build, root, "metadata",
	          metadata_of(replay, build, gang->object, gang->namespace_, gang->name, state->since));
	put(replay, build, root, KINDS_API_POD_GROUP, "PodGroup");
	build_destroy(build);
	state->present = true;
	state->left.dirty = false;
}

static void put_pod(struct replay *replay, size_t index)
{
	const struct trace_pod *pod = &replay->trace->pods[index];
	const struct pod_state *state = &replay->pods[index];
	struct build *build = build_create();
	struct node *root = copy_without(build, pod->object, "metadata", "status");
	struct node *spec = copy_without(build, val_get(pod->object, "spec"), "nodeName", "");
	char uid[40];
	snprintf(uid, sizeof(uid), "%zu-%u", index, state->incarnation);
	if (state->node_name)
		build_put_string(build, spec, "nodeName", state->node_name);
	build_put(build, root, "spec", spec);
	if (!state->node_name && state->nominated) {
		struct node *status = build_map(build);
		build_put_string(build, status, "nominatedNodeName", state->nominated);
		build_put(build, root, "status", status);
	}
	build_put(build, root, "metadata", metadata_of(replay, build, pod->object, pod->namespace_, uid, pod->arrives));
	put(replay, build, root, "v1", "Pod");
	build_destroy(build);
}

static void take_away(struct replay *replay, const char *group, const char *resource, const char *namespace_,
                      const char *name)
{
	const struct store_type *type = store_type_find(replay->store, group, resource);
	if (type)
		store_mirror_remove(replay->store, type, namespace_, name);
}

/* ---- pods come, run and go ---- */

static struct gang_state *gang_of(struct replay *replay, size_t pod)
{
	size_t gang = replay->trace->pods[pod].gang;
	return gang == TRACE_ALONE ? NULL : &replay->gangs[gang];
}

static void start(struct replay *replay, size_t index, const char *node)
{
	const struct trace_pod *pod = &replay->trace->pods[index];
	struct pod_state *state = &replay->pods[index];
	struct gang_state *gang = gang_of(replay, index);
	state->node = measure_find(replay->measure, node);
	if (state->node == NOWHERE)
		return;
	state->node_name = replay->result->nodes[state->node].name;
	measure_use(replay->measure, state->node, state->gpus, state->cpus, 1);
	replay->measure->waiting--;
	replay->result->bound += !state->bound && !pod->fixed;
	state->bound = true;
	if (pod->runs != TRACE_NEVER)
		plan_departure(replay, (struct departure){replay->now + pod->runs, index, state->incarnation});
	if (gang)
		gang->running++;
}

static void stop(struct replay *replay, size_t index)
{
	struct pod_state *state = &replay->pods[index];
	struct gang_state *gang = gang_of(replay, index);
	if (state->node_name) {
		measure_use(replay->measure, state->node, state->gpus, state->cpus, -1);
		if (gang)
			gang->running--;
	} else {
		replay->measure->waiting--;
	}
	state->node = NOWHERE;
	state->node_name = state->nominated = NULL;
}

static void touch(struct replay *replay, size_t pod)
{
	if (!replay->pods[pod].touched)
		vec_push(&replay->touched, pod);
	replay->pods[pod].touched = true;
}

static void arrive(struct replay *replay, size_t index)
{
	const struct trace_pod *pod = &replay->trace->pods[index];
	struct gang_state *gang = gang_of(replay, index);
	if (gang && !gang->present)
		put_gang(replay, pod->gang);
	replay->pods[index].there = true;
	replay->measure->waiting++;
	if (gang)
		gang->there++;
	if (pod->leaves != TRACE_NEVER)
		plan_departure(replay, (struct departure){pod->leaves > replay->now ? pod->leaves : replay->now, index,
		                                          UINT32_MAX});
	if (pod->fixed)
		start(replay, index, pod->fixed);
	put_pod(replay, index);
}

static void depart(struct replay *replay, const struct departure *departure)
{
	size_t index = departure->pod;
	struct pod_state *state = &replay->pods[index];
	const struct trace_pod *pod = &replay->trace->pods[index];
	struct gang_state *gang = gang_of(replay, index);
	if (!state->there || (departure->incarnation != UINT32_MAX && departure->incarnation != state->incarnation))
		return;
	stop(replay, index);
	state->there = false;
	replay->done++;
	take_away(replay, "", "pods", pod->namespace_, pod->name);
	if (!gang)
		return;
	bool known = gang->left.dirty;
	left_take(&gang->left, state->leaf);
	if (gang->left.dirty && !known)
		vec_push(&replay->lowered, pod->gang);
	gang->there--;
	if (++gang->left_for_good < replay->trace->gangs[pod->gang].pods)
		return;
	gang->gone = true;
	take_away(replay, KINDS_SCHEDULING, "podgroups", pod->namespace_, replay->trace->gangs[pod->gang].name);
}

/* ---- cycles ---- */

static size_t find(const struct interner *names, const char *namespace_, const char *name)
{
	struct buffer key = {0};
	buffer_printf(&key, "%s/%s", namespace_, name);
	uint32_t number = interner_find(names, key.text);
	buffer_free(&key);
	return number == UINT32_MAX ? NOWHERE : number;
}

static size_t find_pod(const struct replay *replay, const char *namespace_, const char *name)
{
	return find(replay->names, namespace_, name);
}

/* The groups that reached their minimum for the first time. */
static void note_placed(struct replay *replay, const struct plan *plan)
{
	for (size_t i = 0; i < plan->group_count; i++) {
		const struct plan_group *planned = &plan->groups[i];
		size_t index = find(replay->gang_names, planned->namespace_, planned->name);
		struct gang_state *gang = index == NOWHERE ? NULL : &replay->gangs[index];
		if (!gang || gang->placed || gang->running == 0 || (int64_t)gang->running < planned->minimum)
			continue;
		gang->placed = true;
		gang->wait = replay->now - replay->trace->gangs[index].arrives;
	}
}

static void evict(struct replay *replay, const struct plan_eviction *eviction)
{
	size_t pod = find_pod(replay, eviction->namespace_, eviction->pod);
	enum cycle_action action;
	if (pod == NOWHERE || !replay->pods[pod].node_name)
		return;
	stop(replay, pod);
	replay->pods[pod].incarnation++;
	replay->measure->waiting++;
	touch(replay, pod);
	*(eviction->moved ? &replay->result->moved : &replay->result->evicted) += 1;
	*(eviction->moved ? &measure_bucket(replay->measure)->moved : &measure_bucket(replay->measure)->evicted) += 1;
	if (cycle_action_parse(eviction->action, strlen(eviction->action), &action) == 0)
		replay->result->by_action[action]++;
}

/* True when something was decided. */
static bool take_plan(struct replay *replay, const struct plan *plan)
{
	for (size_t i = 0; i < plan->eviction_count; i++)
		evict(replay, &plan->evictions[i]);
	for (size_t i = 0; i < plan->binding_count; i++) {
		size_t pod = find_pod(replay, plan->bindings[i].namespace_, plan->bindings[i].pod);
		if (pod == NOWHERE || replay->pods[pod].node_name)
			continue;
		start(replay, pod, plan->bindings[i].node);
		touch(replay, pod);
	}
	bool decided = plan->eviction_count > 0 || plan->binding_count > 0;
	note_placed(replay, plan);
	for (size_t i = 0; i < plan->reservation_count; i++) {
		size_t pod = find_pod(replay, plan->reservations[i].namespace_, plan->reservations[i].pod);
		size_t node = measure_find(replay->measure, plan->reservations[i].node);
		if (pod == NOWHERE || node == NOWHERE || replay->pods[pod].node_name)
			continue;
		replay->pods[pod].nominated = replay->result->nodes[node].name;
		if (decided)
			touch(replay, pod);
	}
	return decided;
}

static void write_touched(struct replay *replay)
{
	for (size_t i = 0; i < replay->touched.count; i++) {
		size_t pod = replay->touched.items[i];
		replay->pods[pod].touched = false;
		put_pod(replay, pod);
	}
	replay->touched.count = 0;
}

static void write_lowered(struct replay *replay)
{
	for (size_t i = 0; i < replay->lowered.count; i++)
		if (!replay->gangs[replay->lowered.items[i]].gone)
			put_gang(replay, replay->lowered.items[i]);
	replay->lowered.count = 0;
}

static void decide(struct replay *replay)
{
	struct error error;
	bool going = true;
	write_lowered(replay);
	for (int round = 0; going && round < ROUNDS; round++) {
		store_commit(replay->store, &error);
		do
			live_watch_read(replay->watch);
		while (live_watch_behind(replay->watch));
		if (!live_changed(replay->live))
			return;
		const struct plan *plan = live_plan(replay->live, replay->clock.now, replay->options->actions,
		                                    replay->options->action_count);
		replay->result->cycles++;
		going = take_plan(replay, plan);
		live_finish(replay->live);
		write_touched(replay);
	}
	store_commit(replay->store, &error);
}

/* ---- the whole ---- */

static void read_pod(struct replay *replay, size_t index)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct gang_state *gang = gang_of(replay, index);
	struct pod_spec spec;
	replay->pods[index].leaf = -1;
	if (pod_decode(replay->trace->pods[index].object, arena, &spec, &problems) == 0) {
		if (gang)
			replay->pods[index].leaf = left_expect(&gang->left, spec.subgroup);
		for (size_t i = 0; i < spec.request_count; i++) {
			if (strcmp(spec.requests[i].name, "cpu") == 0)
				replay->pods[index].cpus = trace_cap(spec.requests[i].amount);
			if (strcmp(spec.requests[i].name, "nvidia.com/gpu") == 0)
				replay->pods[index].gpus = trace_cap(spec.requests[i].amount);
		}
	}
	arena_destroy(arena);
}

static void begin(struct replay *replay)
{
	const struct trace *trace = replay->trace;
	struct error error;
	clock_virtual_init(&replay->clock, SIMULATION_START);
	replay->store = store_open(&(struct store_options){.mirror = true, .clock = &replay->clock.source}, &error);
	replay->live = live_create(&(struct snapshot_options){.settings = replay->options->settings, .silent = true});
	replay->watch = live_watch_create(replay->live, replay->store);
	replay->pods = arena_array(replay->arena, struct pod_state, trace->pod_count);
	replay->gangs = arena_array(replay->arena, struct gang_state, trace->gang_count);
	replay->names = interner_create();
	replay->gang_names = interner_create();
	for (size_t i = 0; i < trace->gang_count; i++) {
		interner_id(replay->gang_names,
		            arena_printf(replay->arena, "%s/%s", trace->gangs[i].namespace_, trace->gangs[i].name));
		left_read(&replay->gangs[i].left, trace->gangs[i].object, replay->arena);
	}
	for (size_t i = 0; i < trace->pod_count; i++) {
		/* The number of the name is the number of the pod; a second pod of that name has no effect. */
		const char *key = arena_printf(replay->arena, "%s/%s", trace->pods[i].namespace_, trace->pods[i].name);
		if (interner_find(replay->names, key) != UINT32_MAX)
			key = arena_printf(replay->arena, "%s//%zu", key, i);
		interner_id(replay->names, key);
		replay->pods[i].node = NOWHERE;
		read_pod(replay, i);
	}
	for (size_t i = 0; i < trace->frame_count; i++)
		put_frame(replay, trace->frame[i]);
}

static bool go_on(struct replay *replay)
{
	const struct replay_options *options = replay->options;
	bool going = !options->progress ||
	             options->progress(options->context, replay->arrived + replay->done, 2 * replay->trace->pod_count);
	replay->result->stopped = !going;
	return going;
}

static void run(struct replay *replay)
{
	const struct trace *trace = replay->trace;
	while (go_on(replay)) {
		int64_t arrival =
			replay->arrived < trace->pod_count ? trace->pods[replay->arrived].arrives : TRACE_NEVER;
		int64_t departure = replay->departures.count > 0 ? replay->departures.items[0].time : TRACE_NEVER;
		int64_t next = arrival < departure ? arrival : departure;
		if (next > LAST)
			return;
		measure_advance(replay->measure, next < replay->measure->length ? next : replay->measure->length);
		clock_virtual_advance(&replay->clock, (next - replay->now) * CLOCK_SECOND);
		replay->now = next;
		while (replay->departures.count > 0 && replay->departures.items[0].time == next) {
			struct departure gone = next_departure(replay);
			depart(replay, &gone);
		}
		while (replay->arrived < trace->pod_count && trace->pods[replay->arrived].arrives == next)
			arrive(replay, replay->arrived++);
		decide(replay);
	}
}

static size_t size_of(size_t pods)
{
	static const size_t most[REPLAY_SIZES] = {1, 4, 8, 16, 64, SIZE_MAX};
	size_t class = 0;
	while (pods > most[class])
		class ++;
	return class;
}

static void sum_up(struct replay *replay)
{
	static const char *const names[REPLAY_SIZES] = {"1", "2-4", "5-8", "9-16", "17-64", "65+"};
	struct replay_result *result = replay->result;
	size_t count = replay->trace->gang_count, placed = 0;
	int64_t *waits = arena_array(replay->arena, int64_t, count), *all = arena_array(replay->arena, int64_t, count);
	result->pods = replay->trace->pod_count;
	result->gangs = count;
	for (size_t class = 0; class < REPLAY_SIZES; class ++) {
		struct replay_size *size = &result->sizes[class];
		size->name = names[class];
		for (size_t i = 0; i < count; i++) {
			const struct gang_state *gang = &replay->gangs[i];
			if (size_of(replay->trace->gangs[i].pods) != class)
				continue;
			size->gangs++;
			result->withdrawn += gang->gone && !gang->placed;
			result->waiting += !gang->gone && !gang->placed;
			if (gang->placed)
				all[placed++] = waits[size->placed++] = gang->wait;
		}
		measure_waits(waits, size->placed, &size->median, &size->p90, &size->longest);
	}
	result->placed = placed;
	measure_waits(all, placed, &result->median, &result->p90, &result->longest);
}

/* Measures `length` seconds; *end is when the last thing happened. */
static struct replay_result *replay_once(const struct trace *trace, const struct replay_options *options,
                                         int64_t length, struct arena *arena, int64_t *end)
{
	struct replay replay = {.trace = trace, .options = options, .arena = arena};
	replay.result = arena_new(arena, struct replay_result);
	*replay.result = (struct replay_result){.title = options->title};
	replay.measure = measure_create(trace, length, replay.result, arena);
	begin(&replay);
	run(&replay);
	*end = replay.now;
	measure_finish(replay.measure);
	sum_up(&replay);
	live_watch_close(replay.watch);
	live_destroy(replay.live);
	store_close(replay.store);
	interner_destroy(replay.names);
	interner_destroy(replay.gang_names);
	vec_free(&replay.departures);
	vec_free(&replay.touched);
	vec_free(&replay.lowered);
	return replay.result;
}

struct replay_result *replay_run(const struct trace *trace, const struct replay_options *options, struct arena *arena)
{
	int64_t length = trace->last > 0 ? trace->last : 1, end = 0;
	struct replay_result *result = replay_once(trace, options, length, arena, &end);
	/* What had to wait ran longer than the trace says. How long is known only now. */
	if (end > length && !result->stopped)
		result = replay_once(trace, options, end, arena, &end);
	return result;
}
