/* Owns the measurements of a replay: integers times seconds, added up per stretch of time. */
#include "sim/replay_measure.h"

#include <stdlib.h>
#include <string.h>

static const char *label_of(const struct val *node, const char *key)
{
	return val_str(val_get(val_path(node, "metadata", "labels", NULL), key), "");
}

struct place {
	struct replay_node node;
	struct measure_node amounts;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	/* r2 before r10 */
	int order = strverscmp(a->node.zone, b->node.zone);
	if (!order)
		order = strverscmp(a->node.rack, b->node.rack);
	return order ? order : strverscmp(a->node.name, b->node.name);
}

/* The labels of the first Topology, from the outside to the inside; at most two count for the map. */
static void read_levels(const struct trace *trace, const char *levels[2])
{
	levels[0] = levels[1] = "";
	for (size_t i = 0; i < trace->frame_count; i++) {
		const struct val *item;
		int count = 0;
		if (strcmp(trace->frame[i]->kind, "Topology") != 0)
			continue;
		for (struct val_iter it = val_iter(val_path(trace->frame[i]->object, "spec", "levels", NULL));
		     val_next(&it, NULL, &item) && count < 2;) {
			const char *label = val_str(val_get(item, "nodeLabel"), "");
			if (strcmp(label, "kubernetes.io/hostname") != 0)
				levels[count++] = label;
		}
		/* One level is the inner one. */
		if (count == 1) {
			levels[1] = levels[0];
			levels[0] = "";
		}
		return;
	}
}

struct measure *measure_create(const struct trace *trace, int64_t length, struct replay_result *result,
                               struct arena *arena)
{
	struct measure *measure = arena_new(arena, struct measure);
	struct place *places = arena_array(arena, struct place, trace->frame_count);
	const char *levels[2];
	size_t count = 0;
	*measure = (struct measure){.arena = arena, .result = result, .length = length};
	read_levels(trace, levels);
	for (size_t i = 0; i < trace->frame_count; i++) {
		const struct val *node = trace->frame[i]->object;
		if (strcmp(trace->frame[i]->kind, "Node") != 0)
			continue;
		places[count++] = (struct place){
			.node = {trace->frame[i]->name, label_of(node, levels[1]), label_of(node, levels[0]), 0},
			.amounts = {.gpus = trace_node_amount(node, "nvidia.com/gpu"),
		                    .cpus = trace_node_amount(node, "cpu")},
		};
	}
	qsort(places, count, sizeof(*places), compare_places);
	/* The number of a name is the number of its node; a second node of that name has no effect. */
	size_t distinct = 0;
	measure->names = interner_create();
	for (size_t i = 0; i < count; i++)
		if (interner_id(measure->names, places[i].node.name) == distinct)
			places[distinct++] = places[i];
	count = distinct;
	measure->nodes = arena_array(arena, struct measure_node, count);
	measure->sums = arena_array(arena, struct sums, REPLAY_BUCKETS);
	measure->node_count = result->node_count = count;
	result->nodes = arena_array(arena, struct replay_node, count);
	result->buckets = arena_array(arena, struct replay_bucket, REPLAY_BUCKETS);
	result->frames = arena_array(arena, char *, REPLAY_FRAMES);
	for (size_t i = 0; i < count; i++) {
		measure->nodes[i] = places[i].amounts;
		result->nodes[i] = places[i].node;
		measure->gpus += places[i].amounts.gpus;
		measure->cpus += places[i].amounts.cpus;
	}
	for (size_t i = 0; i < count; i++) {
		result->nodes[i].slots = measure->gpus > 0 ? measure->nodes[i].gpus : measure->nodes[i].cpus;
		measure->free += result->nodes[i].slots;
	}
	if (measure->gpus > 0)
		result->cpu_frames = arena_array(arena, char *, REPLAY_FRAMES);
	return measure;
}

/* Of the resource that counts: GPUs, or cores on a cluster without them. */
static int64_t used_of(const struct measure *measure, size_t node)
{
	return measure->gpus > 0 ? measure->nodes[node].used_gpus : measure->nodes[node].used_cpus;
}

/* A node that has more pods than it should has nothing free. */
static int64_t free_on(const struct measure *measure, size_t node)
{
	int64_t used = used_of(measure, node), slots = measure->result->nodes[node].slots;
	return used < slots ? slots - used : 0;
}

static int64_t broken_on(const struct measure *measure, size_t node)
{
	return used_of(measure, node) > 0 ? free_on(measure, node) : 0;
}

void measure_use(struct measure *measure, size_t node, int64_t gpus, int64_t cpus, int sign)
{
	measure->broken -= broken_on(measure, node);
	measure->free -= free_on(measure, node);
	measure->nodes[node].used_gpus += sign * gpus;
	measure->nodes[node].used_cpus += sign * cpus;
	measure->used_gpus += sign * gpus;
	measure->used_cpus += sign * cpus;
	measure->broken += broken_on(measure, node);
	measure->free += free_on(measure, node);
}

/* ---- time ---- */

/* Buckets and frames end at i/n of the length. */
static int64_t border(const struct measure *measure, size_t index, size_t count)
{
	return (int64_t)((__int128)measure->length * (int64_t)index / (int64_t)count);
}

static size_t bucket_at(const struct measure *measure, int64_t time)
{
	size_t bucket = (size_t)((__int128)time * REPLAY_BUCKETS / measure->length);
	while (bucket + 1 < REPLAY_BUCKETS && border(measure, bucket + 1, REPLAY_BUCKETS) <= time)
		bucket++;
	return bucket < REPLAY_BUCKETS ? bucket : REPLAY_BUCKETS - 1;
}

struct replay_bucket *measure_bucket(const struct measure *measure)
{
	return &measure->result->buckets[bucket_at(measure, measure->now)];
}

/* How full a node is: '0' and '9' only when it is empty or full. */
static char shade(int64_t used, int64_t slots)
{
	int64_t part = slots > 0 ? used * 9 / slots : 0;
	part = used > 0 && part == 0 ? 1 : part > 9 ? 9 : part;
	return slots > 0 ? (char)('0' + part) : '-';
}

static void take_frame(struct measure *measure)
{
	struct replay_result *result = measure->result;
	size_t number = measure->frame++;
	char *frame = arena_alloc(measure->arena, measure->node_count + 1);
	for (size_t i = 0; i < measure->node_count; i++)
		frame[i] = shade(used_of(measure, i), result->nodes[i].slots);
	result->frames[number] = frame;
	if (!result->cpu_frames)
		return;
	frame = arena_alloc(measure->arena, measure->node_count + 1);
	for (size_t i = 0; i < measure->node_count; i++)
		frame[i] = shade(measure->nodes[i].used_cpus, measure->nodes[i].cpus);
	result->cpu_frames[number] = frame;
}

void measure_advance(struct measure *measure, int64_t to)
{
	while (measure->frame < REPLAY_FRAMES && border(measure, measure->frame, REPLAY_FRAMES - 1) < to)
		take_frame(measure);
	for (size_t bucket = bucket_at(measure, measure->now); measure->now < to && bucket < REPLAY_BUCKETS; bucket++) {
		int64_t end = border(measure, bucket + 1, REPLAY_BUCKETS);
		int64_t seconds = (end < to ? end : to) - measure->now;
		struct sums *sums = &measure->sums[bucket];
		if (seconds <= 0)
			continue;
		sums->gpu += (__int128)measure->used_gpus * seconds;
		sums->cpu += (__int128)measure->used_cpus * seconds;
		sums->broken += (__int128)measure->broken * seconds;
		sums->free += (__int128)measure->free * seconds;
		sums->waiting += (__int128)measure->waiting * seconds;
		sums->seconds += seconds;
		measure->now += seconds;
	}
	measure->now = to > measure->now ? to : measure->now;
}

static int64_t thousandths(__int128 part, __int128 whole)
{
	return whole > 0 ? (int64_t)(part * 1000 / whole) : 0;
}

void measure_finish(struct measure *measure)
{
	struct replay_result *result = measure->result;
	__int128 gpu = 0, cpu = 0, broken = 0, free_slots = 0, seconds = 0;
	measure_advance(measure, measure->length);
	while (measure->frame < REPLAY_FRAMES)
		take_frame(measure);
	for (size_t i = 0; i < REPLAY_BUCKETS; i++) {
		const struct sums *sums = &measure->sums[i];
		struct replay_bucket *bucket = &result->buckets[i];
		bucket->gpu = thousandths(sums->gpu, measure->gpus * sums->seconds);
		bucket->cpu = thousandths(sums->cpu, measure->cpus * sums->seconds);
		bucket->fragmented = thousandths(sums->broken, sums->free);
		bucket->waiting_pods = sums->seconds > 0 ? (int64_t)(sums->waiting / sums->seconds) : measure->waiting;
		gpu += sums->gpu;
		cpu += sums->cpu;
		broken += sums->broken;
		free_slots += sums->free;
		seconds += sums->seconds;
	}
	/* A stretch shorter than a second has no time of its own; it is like the one after it. */
	for (size_t i = REPLAY_BUCKETS; i-- > 1;) {
		struct replay_bucket *bucket = &result->buckets[i - 1], next = result->buckets[i];
		if (measure->sums[i - 1].seconds > 0)
			continue;
		next.evicted = bucket->evicted;
		next.moved = bucket->moved;
		*bucket = next;
	}
	interner_destroy(measure->names);
	result->length = measure->length;
	result->gpu = thousandths(gpu, measure->gpus * seconds);
	result->cpu = thousandths(cpu, measure->cpus * seconds);
	result->fragmented = thousandths(broken, free_slots);
}

size_t measure_find(const struct measure *measure, const char *node)
{
	uint32_t number = interner_find(measure->names, node);
	return number == UINT32_MAX ? SIZE_MAX : number;
}

static int compare_numbers(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return a < b ? -1 : a > b;
}

void measure_waits(int64_t *waits, size_t count, int64_t *median, int64_t *p90, int64_t *longest)
{
	*median = *p90 = *longest = 0;
	if (count == 0)
		return;
	qsort(waits, count, sizeof(*waits), compare_numbers);
	*median = waits[(count - 1) / 2];
	*p90 = waits[(count - 1) * 9 / 10];
	*longest = waits[count - 1];
}
