/* Usage: what each queue used of the cluster in the past, for a fair share over time.
 *
 * Integers only, and the time is an input. Time is cut into USAGE_BUCKETS equal pieces; a bucket has, for each resource,
 * the part of the cluster that the queue held times the seconds it did. What is in a bucket counts less the older it
 * is, down to nothing at the end of the window. The oldest piece of the window is forgotten as a whole, and of the newest
 * only what has passed belongs to a sliding window: who held everything all the time has used everything at every moment.
 *
 * A change of what a queue holds costs nothing until time passes; passing time costs a few additions per queue, and the sum
 * over all its buckets once per bucket. */
#ifndef SCHEDULE_USAGE_H
#define SCHEDULE_USAGE_H

#include "base/strings.h"
#include "engine/cycle/cycle.h"
#include "loop/settings.h"

enum { USAGE_BUCKETS = 128 };

struct usage_params {
	int64_t window;    /* seconds that are looked back, USAGE_SHORTEST to USAGE_LONGEST */
	int64_t half_life; /* seconds after which use counts half; 0: it counts in full until the window ends */
	bool tumbling;     /* windows follow each other, counted from 1970, and each starts with nothing */
};
#define USAGE_SHORTEST 60
#define USAGE_LONGEST SETTINGS_PAST_LONGEST

struct usage;
struct usage *usage_create(const struct usage_params *params, int64_t now); /* seconds since 1970, as all times here */
void usage_destroy(struct usage *usage);                                    /* NULL is a no-op */
/* As the settings want it, NULL when they do not; and whether it is as they want it. Nanoseconds. */
struct usage *usage_of_settings(const struct settings *settings, int64_t now_ns);
bool usage_fits(const struct usage *usage, const struct settings *settings);

/* The number of a queue, which stays; a new one has used nothing. */
int usage_queue(struct usage *usage, const char *name);
/* Whether it has none yet. */
bool usage_is_new(const struct usage *usage, const char *name);
/* Time passes: what queues hold counts until then. A clock that is set back takes nothing away. */
void usage_advance(struct usage *usage, int64_t now);
/* No queue holds anything from the last advance on: for those that are gone. */
void usage_hold_nothing(struct usage *usage);
/* What the queue holds from the last advance on, as parts of SHARE_PAST_WHOLE of the cluster. */
void usage_hold(struct usage *usage, int queue, const int64_t parts[CYCLE_RESOURCES]);
/* What it used: its part, in SHARE_PAST_WHOLE, of what the cluster had to give in a whole window. Where that has not passed
 * yet, the time before counts as unused. */
void usage_get(const struct usage *usage, int queue, int64_t used[CYCLE_RESOURCES]);

/* The past of a queue as one line of JSON, and back, also of buckets of another width: added to what the queue has. -1, and
 * nothing is added, when the text is none of ours. */
void usage_write(const struct usage *usage, int queue, struct buffer *out);
int usage_read(struct usage *usage, int queue, const char *text);
/* When the past of some queue is to be kept again, seconds, and later than the last advance; INT64_MAX for never. It is where
 * the queue used something since it was last kept, now and then; and to say that it was. */
int64_t usage_keep_due(const struct usage *usage);
bool usage_is_to_keep(const struct usage *usage, int queue);
void usage_kept(struct usage *usage, int queue);

/* held / total in parts of SHARE_PAST_WHOLE, 0 where there is nothing in total. */
int64_t usage_part(int64_t held, int64_t total);

#endif
