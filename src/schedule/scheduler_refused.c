/* Owns pods whose binding or eviction was refused: what was said, how often, and when it is tried again. */
#include "schedule/scheduler_internal.h"

#include "base/backoff.h"
#include "loop/writes.h"

#include <stdlib.h>
#include <string.h>

#define PAUSE_FIRST (CLOCK_SECOND / 10)
#define PAUSE_LONGEST (60 * CLOCK_SECOND)

static struct refusal *find(const struct scheduler *scheduler, const char *namespace_, const char *pod)
{
	struct buffer key = {0};
	struct refusal *found;
	if (!scheduler->refusals)
		return NULL;
	buffer_printf(&key, "%s/%s", namespace_, pod);
	HASH_FIND(hh, scheduler->refusals, key.text, key.length, found);
	buffer_free(&key);
	return found;
}

const struct refusal *scheduler_refused_find(const struct scheduler *scheduler, const char *namespace_, const char *pod)
{
	const struct refusal *refusal = find(scheduler, namespace_, pod);
	return refusal && !refusal->eviction ? refusal : NULL;
}

int64_t scheduler_refused_until(const struct scheduler *scheduler, const char *namespace_, const char *pod)
{
	const struct refusal *refusal = find(scheduler, namespace_, pod);
	return refusal && refusal->eviction ? refusal->until : 0;
}

static void forget(struct scheduler *scheduler, struct refusal *refusal)
{
	HASH_DEL(scheduler->refusals, refusal);
	free(refusal->key);
	free(refusal->uid);
	free(refusal->message);
	free(refusal);
}

void scheduler_refused_forget(struct scheduler *scheduler, const char *namespace_, const char *pod)
{
	struct refusal *refusal = find(scheduler, namespace_, pod);
	if (refusal)
		forget(scheduler, refusal);
}

void scheduler_refused_free(struct scheduler *scheduler)
{
	while (scheduler->refusals)
		forget(scheduler, scheduler->refusals);
}

/* Pods that were deleted since are nobody's business; this happens only when something is refused. */
static void forget_gone(struct scheduler *scheduler)
{
	struct refusal *refusal, *next;
	HASH_ITER(hh, scheduler->refusals, refusal, next) {
		const struct store_object *pod = live_pod(scheduler->live, refusal->namespace_, refusal->pod);
		if (!pod || strcmp(pod->uid, refusal->uid) != 0)
			forget(scheduler, refusal);
	}
}

static struct refusal *need(struct scheduler *scheduler, const struct store_object *pod)
{
	struct refusal *refusal = find(scheduler, pod->namespace_, pod->name);
	if (refusal && strcmp(refusal->uid, pod->uid) == 0)
		return refusal;
	forget_gone(scheduler);
	size_t length = strlen(pod->namespace_);
	struct buffer key = {0};
	buffer_printf(&key, "%s/%s", pod->namespace_, pod->name);
	refusal = base_calloc(1, sizeof(*refusal));
	refusal->uid = base_strdup(pod->uid);
	/* The key, and behind it the namespace on its own. */
	size_t key_length = key.length;
	buffer_append(&key, "\0", 1);
	buffer_append(&key, pod->namespace_, length);
	refusal->key = key.text;
	refusal->pod = refusal->key + length + 1;
	refusal->namespace_ = refusal->key + key_length + 1;
	HASH_ADD_KEYPTR(hh, scheduler->refusals, refusal->key, key_length, refusal);
	return refusal;
}

void scheduler_refused_add(struct scheduler *scheduler, const struct attempt *attempt, const struct store_object *pod,
                           int64_t now)
{
	struct refusal *refusal = need(scheduler, pod);
	struct buffer text = {0};
	int64_t pause = backoff_pause(PAUSE_FIRST, refusal->times++, PAUSE_LONGEST);
	refusal->until =
		now + (attempt->retry_after * CLOCK_SECOND > pause ? attempt->retry_after * CLOCK_SECOND : pause);
	refusal->eviction = attempt->guess == LIVE_LEAVING;
	buffer_printf(&text, "%s node %s refused (%d): %s", refusal->eviction ? "eviction from" : "binding to",
	              attempt->node, attempt->code, attempt->message);
	if (refusal->eviction && !text_equal(refusal->message, text.text) &&
	    !events_record(scheduler->events, pod, true, "FailedEviction", text.text, now / CLOCK_SECOND))
		scheduler->metrics.events_left_out++;
	free(refusal->message);
	refusal->message = text.text;
	if (refusal->until < scheduler->due)
		scheduler->due = refusal->until;
}

/* The reason is the one kube-scheduler gives: autoscalers, which act on Unschedulable, have nothing to add here. */
void scheduler_refused_record(struct scheduler *scheduler, const struct store_object *pod, int64_t now_seconds)
{
	const struct refusal *refusal = find(scheduler, pod->namespace_, pod->name);
	struct condition condition = {"PodScheduled", "False", "SchedulerError", refusal ? refusal->message : ""};
	if (!refusal || writes_has_condition(pod->root, &condition))
		return;
	struct build *build = build_create();
	writes_pod_condition(scheduler->options.store, pod, &condition, now_seconds, build, NULL);
	build_destroy(build);
	if (!events_record(scheduler->events, pod, true, "FailedScheduling", refusal->message, now_seconds))
		scheduler->metrics.events_left_out++;
}
