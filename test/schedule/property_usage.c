/* Property test of the fair share over time: queues of equal weight that always want more than there is get equal parts of
 * a cluster over a long run, whatever the size and the duration of their jobs, and whoever had it alone before.
 *
 * PLATOON_PROPERTY_SEED is the seed of the first run, PLATOON_PROPERTY_COUNT their number. */
#include "base/random.h"
#include "engine/share/share.h"
#include "schedule/usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_COUNT = 150, MOST_QUEUES = 4, MOST_JOBS = 64, MINUTE = 60 };

struct job {
	int queue;
	int64_t size, until;
};

struct usage_fixture {
	struct random random;
	int queue_count, job_count;
	int64_t total, largest[MOST_QUEUES], longest[MOST_QUEUES], now, factor;
	struct share_queue queues[MOST_QUEUES];
	int64_t next[MOST_QUEUES]; /* size of the job that waits */
	struct job jobs[MOST_JOBS];
	struct usage *usage;
	struct arena *arena;
};

static void open_fixture(struct usage_fixture *fixture, uint64_t seed, int64_t factor)
{
	*fixture = (struct usage_fixture){.random = {seed}, .factor = factor, .arena = arena_create()};
	struct random *random = &fixture->random;
	bool whole = random_chance(random, 50); /* every job takes everything */
	fixture->queue_count = random_range(random, 2, MOST_QUEUES);
	fixture->total = random_range(random, 8, 32);
	for (int q = 0; q < fixture->queue_count; q++) {
		/* Not larger than half of an equal share: what does not fit beside others is a matter for reclaim. */
		int most = (int)fixture->total / fixture->queue_count / 2;
		fixture->largest[q] = whole ? fixture->total : random_range(random, 1, most);
		fixture->longest[q] = random_range(random, 1, 20);
		struct share_queue *queue = &fixture->queues[q];
		*queue = (struct share_queue){.parent = -1, .priority = 100, .creation = q};
		for (int r = 0; r < SHARE_RESOURCES; r++) {
			queue->limit[r] = -1;
			queue->weight[r] = r == SHARE_GPU ? 1000 : 0;
		}
		queue->requested[SHARE_GPU] = fixture->total * 1000;
		fixture->next[q] = whole ? fixture->total : random_range(random, 1, (int)fixture->largest[q]);
	}
	struct usage_params params = {.window = 40 * 3600, .half_life = random_chance(random, 70) ? 4 * 3600 : 0};
	fixture->now = 1700000000;
	fixture->usage = usage_create(&params, fixture->now);
	for (int q = 0; q < fixture->queue_count; q++)
		usage_queue(fixture->usage, (const char[]){(char)('a' + q), 0});
}

static void close_fixture(struct usage_fixture *fixture)
{
	usage_destroy(fixture->usage);
	arena_destroy(fixture->arena);
}

static int64_t used(const struct usage_fixture *fixture, int queue)
{
	int64_t all[CYCLE_RESOURCES];
	usage_get(fixture->usage, queue, all);
	return all[CYCLE_GPU];
}

static void finish_jobs(struct usage_fixture *fixture)
{
	for (int i = 0; i < fixture->job_count;) {
		struct job *job = &fixture->jobs[i];
		if (job->until > fixture->now) {
			i++;
			continue;
		}
		fixture->queues[job->queue].allocated[SHARE_GPU] -= job->size * 1000;
		*job = fixture->jobs[--fixture->job_count];
	}
}

static int64_t free_devices(const struct usage_fixture *fixture)
{
	int64_t left = fixture->total;
	for (int i = 0; i < fixture->job_count; i++)
		left -= fixture->jobs[i].size;
	return left;
}

/* Those whose turn it is, until the next one does not fit. Nothing is evicted. */
static void start_jobs(struct usage_fixture *fixture, int active)
{
	const int64_t total[SHARE_RESOURCES] = {fixture->total * 1000};
	arena_reset(fixture->arena);
	for (int q = 0; q < fixture->queue_count; q++)
		fixture->queues[q].past[SHARE_GPU] = used(fixture, q) * fixture->factor / (1000 + fixture->factor);
	share_compute(fixture->queues, (size_t)active, total, fixture->arena);
	while (fixture->job_count < MOST_JOBS) {
		int best = 0;
		for (int q = 1; q < active; q++)
			if (share_before(fixture->queues, total, q, (int64_t[]){fixture->next[q] * 1000, 0, 0}, best,
			                 (int64_t[]){fixture->next[best] * 1000, 0, 0}))
				best = q;
		if (fixture->next[best] > free_devices(fixture))
			break;
		fixture->jobs[fixture->job_count++] =
			(struct job){best, fixture->next[best],
		                     fixture->now +
		                             MINUTE * random_range(&fixture->random, 1, (int)fixture->longest[best])};
		fixture->queues[best].allocated[SHARE_GPU] += fixture->next[best] * 1000;
		if (fixture->largest[best] < fixture->total || fixture->next[best] < fixture->total)
			fixture->next[best] = random_range(&fixture->random, 1, (int)fixture->largest[best]);
	}
}

/* `active` of the queues want something. */
static void run(struct usage_fixture *fixture, int minutes, int active)
{
	for (int minute = 0; minute < minutes; minute++) {
		finish_jobs(fixture);
		start_jobs(fixture, active);
		for (int q = 0; q < fixture->queue_count; q++) {
			int64_t part = usage_part(fixture->queues[q].allocated[SHARE_GPU], fixture->total * 1000);
			usage_hold(fixture->usage, q, (int64_t[CYCLE_RESOURCES]){part, 0, 0});
		}
		fixture->now += MINUTE;
		usage_advance(fixture->usage, fixture->now);
	}
}

/* Largest minus smallest, in thousandths of the cluster. */
static int64_t gap(const struct usage_fixture *fixture)
{
	int64_t least = INT64_MAX, most = 0;
	for (int q = 0; q < fixture->queue_count; q++) {
		int64_t own = used(fixture, q);
		least = own < least ? own : least;
		most = own > most ? own : most;
	}
	return (most - least) * 1000 / SHARE_PAST_WHOLE;
}

static int64_t gap_after(uint64_t seed, int64_t factor, int alone, int together)
{
	struct usage_fixture fixture;
	open_fixture(&fixture, seed, factor);
	run(&fixture, alone, 1);
	run(&fixture, together, fixture.queue_count);
	int64_t result = gap(&fixture);
	close_fixture(&fixture);
	return result;
}

static bool check(uint64_t seed, int *better)
{
	enum { ALONE = 600, SOON = 900, LONG = 6000, CLOSE = 60 };
	int64_t end = gap_after(seed, 2000, ALONE, LONG), plain_end = gap_after(seed, 0, ALONE, LONG);
	int64_t soon = gap_after(seed, 2000, ALONE, SOON), plain_soon = gap_after(seed, 0, ALONE, SOON);
	*better += plain_end - end > CLOSE || plain_soon - soon > CLOSE;
	if (end <= CLOSE && soon <= plain_soon + CLOSE)
		return true;
	printf("seed %" PRIu64 ": queues are %" PRId64 " thousandths of the cluster apart after a long run (%" PRId64
	       " without the past), and %" PRId64 " soon after one had it alone (%" PRId64 ")\n",
	       seed, end, plain_end, soon, plain_soon);
	return false;
}

static uint64_t environment_number(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);
	return text && *text ? strtoull(text, NULL, 10) : fallback;
}

int main(void)
{
	uint64_t seed = environment_number("PLATOON_PROPERTY_SEED", 1);
	uint64_t count = environment_number("PLATOON_PROPERTY_COUNT", DEFAULT_COUNT), failed = 0;
	int better = 0;
	for (uint64_t i = 0; i < count; i++)
		failed += !check(seed + i, &better);
	/* A test in which the past makes no difference would say nothing. */
	if (count >= 20 && (uint64_t)better * 2 < count) {
		printf("the past made a difference in %d runs only\n", better);
		failed++;
	}
	printf("%" PRIu64 " passed, %" PRIu64 " failed; nearer than without the past in %d\n", count - failed, failed,
	       better);
	return failed ? 1 : 0;
}
