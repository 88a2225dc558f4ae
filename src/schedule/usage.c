/* Owns the buckets of past use: filling them, letting them age, and their text. */
#include "schedule/usage.h"

#include "base/clamp.h"
#include "base/clock.h"
#include "base/vec.h"
#include "engine/share/share.h"
#include "object/build.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef __int128 wide;

#define ONE (INT64_C(1) << 30) /* of weights of buckets */

struct history {
	int64_t bucket[USAGE_BUCKETS][CYCLE_RESOURCES]; /* parts times seconds; bucket b is at b % USAGE_BUCKETS */
	wide aged[CYCLE_RESOURCES];                     /* all but the current one, each with its weight in ONE */
	int64_t held[CYCLE_RESOURCES];
	bool used;       /* some bucket is not empty */
	bool grown;      /* since it was kept */
	int64_t kept_at; /* seconds */
};

struct usage {
	struct usage_params params;
	int64_t width, now, current;   /* seconds of a bucket; the bucket that `now` is in */
	int64_t weight[USAGE_BUCKETS]; /* by age in buckets, in ONE */
	wide whole;                    /* seconds of a window with their weights in ONE */
	struct interner *names;
	VEC(struct history *) queues;
};

/* ---- weights ---- */

static int64_t root(wide square)
{
	int64_t low = 0, high = INT64_C(1) << 62;
	while (low < high) {
		int64_t middle = low + (high - low + 1) / 2;
		if ((wide)middle * middle <= square)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* 2^(-age / half_life) in ONE. */
static int64_t decay(int64_t age, int64_t half_life)
{
	int64_t halvings = age / half_life, rest = age % half_life, factor = ONE, weight = ONE;
	if (halvings >= 30)
		return 0;
	/* The binary digits of what is left; factor is 2^(-1/2), 2^(-1/4), ... */
	factor /= 2;
	for (int digit = 0; digit < 20 && rest > 0; digit++) {
		factor = root((wide)factor * ONE);
		rest *= 2;
		if (rest < half_life)
			continue;
		rest -= half_life;
		weight = (int64_t)((wide)weight * factor / ONE);
	}
	return weight >> halvings;
}

static void weigh(struct usage *usage)
{
	const struct usage_params *params = &usage->params;
	enum { FINEST = 8 }; /* buckets of a half-life */
	usage->width = (params->window + USAGE_BUCKETS - 1) / USAGE_BUCKETS;
	if (params->half_life && params->half_life / FINEST < usage->width)
		usage->width = params->half_life < FINEST ? 1 : params->half_life / FINEST;
	for (int64_t age = 0; age < USAGE_BUCKETS; age++) {
		int64_t seconds = age * usage->width;
		usage->weight[age] = seconds >= params->window ? 0
		                     : params->half_life       ? decay(seconds, params->half_life)
		                                               : ONE;
		usage->whole += (wide)usage->weight[age] * usage->width;
	}
}

/* ---- queues ---- */

struct usage *usage_create(const struct usage_params *params, int64_t now)
{
	struct usage *usage = base_calloc(1, sizeof(*usage));
	assert(params->window >= USAGE_SHORTEST && params->window <= USAGE_LONGEST && params->half_life >= 0);
	usage->params = *params;
	usage->names = interner_create();
	weigh(usage);
	usage->now = now;
	usage->current = now / usage->width;
	return usage;
}

void usage_destroy(struct usage *usage)
{
	if (!usage)
		return;
	for (size_t q = 0; q < usage->queues.count; q++)
		free(usage->queues.items[q]);
	vec_free(&usage->queues);
	interner_destroy(usage->names);
	free(usage);
}

struct usage *usage_of_settings(const struct settings *settings, int64_t now_ns)
{
	const struct settings_past *past = &settings->past;
	struct usage_params params = {past->window, past->half_life, past->tumbling};
	return past->factor ? usage_create(&params, now_ns / CLOCK_SECOND) : NULL;
}

bool usage_fits(const struct usage *usage, const struct settings *settings)
{
	const struct settings_past *past = &settings->past;
	if (!usage || !past->factor)
		return !usage && !past->factor;
	return usage->params.window == past->window && usage->params.half_life == past->half_life &&
	       usage->params.tumbling == past->tumbling;
}

int usage_queue(struct usage *usage, const char *name)
{
	int queue = (int)interner_id(usage->names, name);
	if ((size_t)queue < usage->queues.count)
		return queue;
	vec_push(&usage->queues, base_calloc(1, sizeof(struct history)));
	usage->queues.items[queue]->kept_at = usage->now;
	return queue;
}

bool usage_is_new(const struct usage *usage, const char *name)
{
	return interner_find(usage->names, name) == UINT32_MAX;
}

void usage_hold_nothing(struct usage *usage)
{
	for (size_t q = 0; q < usage->queues.count; q++)
		memset(usage->queues.items[q]->held, 0, sizeof(usage->queues.items[q]->held));
}

void usage_hold(struct usage *usage, int queue, const int64_t parts[CYCLE_RESOURCES])
{
	memcpy(usage->queues.items[queue]->held, parts, sizeof(usage->queues.items[queue]->held));
}

int64_t usage_part(int64_t held, int64_t total)
{
	if (held <= 0 || total <= 0)
		return 0;
	wide part = (wide)held * SHARE_PAST_WHOLE / total;
	return part > SHARE_PAST_WHOLE ? SHARE_PAST_WHOLE : (int64_t)part;
}

/* ---- time ---- */

static int64_t *bucket_at(struct history *history, int64_t number)
{
	return history->bucket[number % USAGE_BUCKETS];
}

static void fill(struct usage *usage, int64_t seconds)
{
	for (size_t q = 0; q < usage->queues.count; q++) {
		struct history *history = usage->queues.items[q];
		int64_t *bucket = bucket_at(history, usage->current);
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			bucket[r] += history->held[r] * seconds;
			history->used |= history->held[r] > 0;
			history->grown |= history->held[r] > 0;
		}
	}
}

static void forget(struct usage *usage, bool all)
{
	for (size_t q = 0; q < usage->queues.count; q++) {
		struct history *history = usage->queues.items[q];
		if (all && history->used)
			memset(history->bucket, 0, sizeof(history->bucket));
		else if (history->used)
			memset(bucket_at(history, usage->current), 0, sizeof(history->bucket[0]));
	}
}

static void age(struct usage *usage, struct history *history)
{
	wide sum[CYCLE_RESOURCES] = {0};
	if (!history->used)
		return;
	history->used = false;
	for (int64_t a = 0; a < USAGE_BUCKETS && a <= usage->current; a++)
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			int64_t amount = bucket_at(history, usage->current - a)[r];
			history->used |= amount > 0;
			sum[r] += a ? (wide)amount * usage->weight[a] : 0;
		}
	memcpy(history->aged, sum, sizeof(sum));
}

static void age_all(struct usage *usage)
{
	for (size_t q = 0; q < usage->queues.count; q++)
		age(usage, usage->queues.items[q]);
}

/* Until the end of a bucket or of a tumbling window, whichever comes first. */
static int64_t next_border(const struct usage *usage)
{
	int64_t border = (usage->current + 1) * usage->width, window = usage->params.window;
	int64_t end = (usage->now / window + 1) * window;
	return usage->params.tumbling && end < border ? end : border;
}

void usage_advance(struct usage *usage, int64_t now)
{
	bool aged = false;
	if (now < usage->now) { /* what comes goes into the bucket we are in, until the clock has caught up */
		usage->now = now;
		return;
	}
	/* What is longer ago than all buckets is of no interest. */
	int64_t first = now / usage->width - USAGE_BUCKETS;
	if (first > usage->current) {
		forget(usage, true);
		usage->current = first;
		usage->now = first * usage->width;
	}
	while (usage->now < now) {
		int64_t border = next_border(usage), end = border < now ? border : now;
		fill(usage, end - usage->now);
		usage->now = end;
		bool is_over = usage->params.tumbling && end % usage->params.window == 0;
		if (end >= (usage->current + 1) * usage->width) {
			usage->current++;
			forget(usage, is_over);
			aged = true;
		} else if (is_over) {
			forget(usage, true);
			aged = true;
		}
	}
	if (aged)
		age_all(usage);
}

/* What the current bucket is still to have belongs to no sliding window yet: it would look unused. */
static int64_t to_come(const struct usage *usage)
{
	int64_t rest = (usage->current + 1) * usage->width - usage->now;
	if (usage->params.tumbling)
		return 0;
	return rest < usage->width ? rest : usage->width; /* more, when the clock was set back */
}

void usage_get(const struct usage *usage, int queue, int64_t used[CYCLE_RESOURCES])
{
	struct history *history = usage->queues.items[queue];
	const int64_t *current = bucket_at(history, usage->current);
	wide whole = usage->whole - (wide)to_come(usage) * ONE;
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		wide part = (history->aged[r] + (wide)current[r] * ONE) / whole;
		used[r] = part < SHARE_PAST_WHOLE ? (int64_t)part : SHARE_PAST_WHOLE;
	}
}

/* ---- text ---- */

/* Seconds between two times at which the past of a queue is kept. */
static int64_t keep_every(const struct usage *usage)
{
	enum { SELDOM = 300 };
	return usage->width < SELDOM ? usage->width : SELDOM;
}

static bool holds(const struct history *history)
{
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		if (history->held[r] > 0)
			return true;
	return false;
}

int64_t usage_keep_due(const struct usage *usage)
{
	int64_t due = INT64_MAX;
	for (size_t q = 0; q < usage->queues.count; q++) {
		const struct history *history = usage->queues.items[q];
		/* What is held since this moment has used nothing yet. */
		int64_t own = history->kept_at + keep_every(usage), next = usage->now + 1;
		own = own > next ? own : next;
		due = holds(history) && own < due ? own : due;
	}
	return due;
}

bool usage_is_to_keep(const struct usage *usage, int queue)
{
	const struct history *history = usage->queues.items[queue];
	/* A clock that was set back must not keep anybody waiting. */
	return history->grown && (usage->now >= history->kept_at + keep_every(usage) || usage->now < history->kept_at);
}

void usage_kept(struct usage *usage, int queue)
{
	usage->queues.items[queue]->grown = false;
	usage->queues.items[queue]->kept_at = usage->now;
}

void usage_write(const struct usage *usage, int queue, struct buffer *out)
{
	struct history *history = usage->queues.items[queue];
	struct build *build = build_create();
	struct node *root = build_map(build), *list = build_list(build);
	build_put_int(build, root, "width", usage->width);
	for (int64_t a = USAGE_BUCKETS - 1; a >= 0; a--) {
		int64_t number = usage->current - a;
		const int64_t *bucket = number < 0 ? history->bucket[0] : bucket_at(history, number);
		bool used = false;
		for (int r = 0; r < CYCLE_RESOURCES && number >= 0; r++)
			used |= bucket[r] > 0;
		if (!used)
			continue;
		struct node *item = build_list(build);
		build_append(build, item, build_int(build, number));
		for (int r = 0; r < CYCLE_RESOURCES; r++)
			build_append(build, item, build_int(build, bucket[r]));
		build_append(build, list, item);
	}
	build_put(build, root, "buckets", list);
	build_write(build, root, DOC_JSON_COMPACT, out);
	build_destroy(build);
}

struct kept_bucket {
	int64_t number, amount[CYCLE_RESOURCES];
};

static bool read_bucket(const struct val *item, int64_t width, struct kept_bucket *out)
{
	if (val_kind(item) != VAL_LIST || val_count(item) != CYCLE_RESOURCES + 1 ||
	    val_int(val_item(item, 0), &out->number) < 0 || out->number < 0 || out->number > INT64_MAX / width - 1)
		return false;
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		if (val_int(val_item(item, (size_t)r + 1), &out->amount[r]) < 0 || out->amount[r] < 0 ||
		    out->amount[r] > SHARE_PAST_WHOLE * width)
			return false;
	return true;
}

/* Spreads a bucket evenly over the time it can be for: a tumbling window begins with nothing, and now is the end. */
static void put(struct usage *usage, struct history *history, int64_t width, const struct kept_bucket *kept)
{
	int64_t from = kept->number * width, to = from + width, window = usage->params.window;
	int64_t oldest = (usage->current - USAGE_BUCKETS + 1) * usage->width,
		newest = (usage->current + 1) * usage->width;
	int64_t begin = usage->params.tumbling ? usage->now / window * window : 0;
	from = from > begin ? from : begin;
	to = to < newest ? to : newest;
	for (int64_t start = from > oldest ? from : oldest, end; start < to; start = end) {
		end = (start / usage->width + 1) * usage->width;
		end = end < to ? end : to;
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			int64_t *into = &bucket_at(history, start / usage->width)[r];
			*into = clamp_add(*into, (int64_t)((wide)kept->amount[r] * (end - start) / (to - from)));
			history->used |= *into > 0;
		}
	}
}

int usage_read(struct usage *usage, int queue, const char *text)
{
	struct error ignored;
	struct doc *doc = doc_parse_json(text, strlen(text), &ignored);
	const struct val *list = val_get(doc_root(doc), "buckets"), *item;
	struct kept_bucket kept[USAGE_BUCKETS];
	int64_t width = 0;
	size_t count = 0;
	bool good = doc && val_int(val_get(doc_root(doc), "width"), &width) == 0 && width > 0 &&
	            width <= USAGE_LONGEST && val_kind(list) == VAL_LIST && val_count(list) <= USAGE_BUCKETS;
	for (struct val_iter it = val_iter(good ? list : NULL); good && val_next(&it, NULL, &item);)
		good = read_bucket(item, width, &kept[count++]);
	for (size_t i = 0; good && i < count; i++)
		put(usage, usage->queues.items[queue], width, &kept[i]);
	age(usage, usage->queues.items[queue]);
	doc_destroy(doc);
	return good ? 0 : -1;
}
