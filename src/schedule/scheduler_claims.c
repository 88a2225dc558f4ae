/* Owns gangs whose claims have to be bound before their pods are: from the choice of volumes to the bindings, or back. What
 * is written about a single claim is in scheduler_claims_write.c. */
#include "schedule/scheduler_claims_internal.h"

#include "base/backoff.h"
#include "kinds/names.h"
#include "loop/writes.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

#define PAUSE_FIRST (CLOCK_SECOND / 2)
#define PAUSE_LONGEST (60 * CLOCK_SECOND)
#define USUAL_TIMEOUT 600 /* seconds: bindTimeoutSeconds of kube-scheduler */
#define MOST_NAMED 4      /* claims in one message */

/* A gang that failed with its claims is left alone for a while. */
struct claim_pause {
	char *key; /* "namespace/group" */
	char *message;
	unsigned times; /* in a row */
	int64_t until;  /* nanoseconds */
	UT_hash_handle hh;
};

/* ---- pauses ---- */

static struct claim_pause *find_pause(const struct scheduler *scheduler, const char *namespace_, const char *group)
{
	struct buffer key = {0};
	struct claim_pause *found;
	if (!scheduler->claim_pauses)
		return NULL;
	buffer_printf(&key, "%s/%s", namespace_, group);
	HASH_FIND(hh, scheduler->claim_pauses, key.text, key.length, found);
	buffer_free(&key);
	return found;
}

static void drop_pause(struct scheduler *scheduler, struct claim_pause *pause)
{
	if (!pause)
		return;
	HASH_DEL(scheduler->claim_pauses, pause);
	free(pause->key);
	free(pause->message);
	free(pause);
}

/* Those of gangs that are gone, or have long been decided otherwise. */
static void drop_old_pauses(struct scheduler *scheduler, int64_t now)
{
	struct claim_pause *pause, *next;
	HASH_ITER(hh, scheduler->claim_pauses, pause, next)
		if (now > pause->until + 10 * PAUSE_LONGEST)
			drop_pause(scheduler, pause);
}

static void pause_gang(struct scheduler *scheduler, const char *namespace_, const char *group, const char *message,
                       int64_t now)
{
	drop_old_pauses(scheduler, now);
	struct claim_pause *pause = find_pause(scheduler, namespace_, group);
	if (!pause) {
		struct buffer key = {0};
		buffer_printf(&key, "%s/%s", namespace_, group);
		pause = base_calloc(1, sizeof(*pause));
		pause->key = key.text;
		HASH_ADD_KEYPTR(hh, scheduler->claim_pauses, pause->key, key.length, pause);
	}
	pause->until = now + backoff_pause(PAUSE_FIRST, pause->times++, PAUSE_LONGEST);
	free(pause->message);
	pause->message = base_strdup(message);
	if (pause->until < scheduler->due)
		scheduler->due = pause->until;
}

/* ---- waits ---- */

static void wait_free(struct claim_wait *wait)
{
	for (size_t i = 0; i < wait->claim_count; i++) {
		struct awaited_claim *claim = &wait->claims[i];
		if (claim->unanswered)
			store_submit_forget(claim->scheduler->options.store, claim);
		free(claim->namespace_);
		free(claim->name);
		free(claim->uid);
		free(claim->volume);
		free(claim->node);
		free(claim->pod);
		free(claim->message);
		claims_devices_free(claim->devices);
	}
	for (size_t i = 0; i < wait->pod_count; i++) {
		free(wait->pods[i].name);
		free(wait->pods[i].uid);
		free(wait->pods[i].node);
	}
	free(wait->claims);
	free(wait->pods);
	free(wait->namespace_);
	free(wait->group);
	free(wait);
}

static void remove_wait(struct scheduler *scheduler, size_t number)
{
	wait_free(scheduler->claim_waits.items[number]);
	scheduler->claim_waits.items[number] = scheduler->claim_waits.items[--scheduler->claim_waits.count];
}

void scheduler_claims_free(struct scheduler *scheduler)
{
	while (scheduler->claim_waits.count)
		remove_wait(scheduler, scheduler->claim_waits.count - 1);
	vec_free(&scheduler->claim_waits);
	while (scheduler->claim_pauses)
		drop_pause(scheduler, scheduler->claim_pauses);
}

size_t scheduler_claims_waiting(const struct scheduler *scheduler)
{
	return scheduler->claim_waits.count;
}

int64_t scheduler_claims_due(const struct scheduler *scheduler)
{
	int64_t due = INT64_MAX;
	for (size_t i = 0; i < scheduler->claim_waits.count; i++)
		if (scheduler->claim_waits.items[i]->deadline < due)
			due = scheduler->claim_waits.items[i]->deadline;
	return due;
}

/* ---- beginning ---- */

static struct store_object *peek(const struct scheduler *scheduler, const char *resource, const char *namespace_,
                                 const char *name)
{
	const struct store_type *type = store_type_find(scheduler->options.store, "", resource);
	return type ? store_peek(scheduler->options.store, type, namespace_, name) : NULL;
}

static bool has_claim(const struct claim_wait *wait, const char *name)
{
	for (size_t i = 0; i < wait->claim_count; i++)
		if (strcmp(wait->claims[i].name, name) == 0)
			return true;
	return false;
}

static void add_device_claim(const struct scheduler_turn *turn, struct claim_wait *wait,
                             const struct plan_binding *binding, const struct device_choice *choice)
{
	struct store *store = turn->scheduler->options.store;
	const struct store_type *type = store_type_find(store, KINDS_RESOURCE, "resourceclaims");
	const struct store_object *claim = type ? store_peek(store, type, choice->namespace_, choice->claim) : NULL;
	wait->claims[wait->claim_count++] = (struct awaited_claim){
		.scheduler = turn->scheduler,
		.namespace_ = base_strdup(choice->namespace_),
		.name = base_strdup(choice->claim),
		.uid = base_strdup(claim ? claim->uid : ""),
		.node = base_strdup(binding->node),
		.pod = base_strdup(binding->pod),
		.devices = claims_devices_copy(choice, claims_spec_of(turn, binding)->uid),
	};
}

static void add_claims(const struct scheduler_turn *turn, struct claim_wait *wait, const struct plan_binding *binding)
{
	const struct pod_spec *spec = claims_spec_of(turn, binding);
	for (size_t i = 0; i < spec->claim_count; i++) {
		const struct volume_choice *choice =
			claims_find_choice(turn->choices, binding->namespace_, spec->claims[i]);
		if (!choice || has_claim(wait, choice->claim))
			continue;
		const struct store_object *claim =
			peek(turn->scheduler, "persistentvolumeclaims", choice->namespace_, choice->claim);
		wait->claims[wait->claim_count++] = (struct awaited_claim){
			.scheduler = turn->scheduler,
			.namespace_ = base_strdup(choice->namespace_),
			.name = base_strdup(choice->claim),
			.uid = base_strdup(claim ? claim->uid : ""),
			.volume = choice->volume ? base_strdup(choice->volume) : NULL,
			.node = base_strdup(choice->node),
			.pod = base_strdup(binding->pod),
			.code = choice->written ? 200 : 0,
		};
	}
	for (size_t i = 0; i < spec->device_claim_count; i++) {
		const struct device_choice *choice =
			claims_find_device_choice(turn->choices, binding->namespace_, spec->device_claims[i].claim);
		if (choice)
			add_device_claim(turn, wait, binding, choice);
	}
}

static struct claim_wait *wait_new(const struct scheduler_turn *turn, const struct plan_group *group,
                                   const struct plan_binding **bindings, size_t count, size_t most_claims)
{
	const struct settings *settings = settings_now(turn->scheduler->options.settings);
	uint64_t seconds = settings->claim_timeout ? settings->claim_timeout : USUAL_TIMEOUT;
	struct claim_wait *wait = base_calloc(1, sizeof(*wait));
	wait->namespace_ = base_strdup(group->namespace_);
	wait->group = base_strdup(group->name);
	wait->implicit = turn->plan->snapshot->groups[group->index].implicit;
	wait->deadline = turn->scheduler->last + (int64_t)seconds * CLOCK_SECOND;
	wait->pods = base_calloc(count, sizeof(*wait->pods));
	wait->claims = base_calloc(most_claims ? most_claims : 1, sizeof(*wait->claims));
	for (size_t i = 0; i < count; i++) {
		const struct store_object *pod =
			peek(turn->scheduler, "pods", bindings[i]->namespace_, bindings[i]->pod);
		wait->pods[wait->pod_count++] = (struct awaited_pod){
			.name = base_strdup(bindings[i]->pod),
			.uid = base_strdup(pod ? pod->uid : ""),
			.node = base_strdup(bindings[i]->node),
		};
		add_claims(turn, wait, bindings[i]);
	}
	return wait;
}

/* How many claims of these pods have to be bound first. */
static size_t count_open(const struct scheduler_turn *turn, const struct plan_binding **bindings, size_t count)
{
	size_t open = 0;
	for (size_t i = 0; i < count; i++) {
		const struct pod_spec *spec = claims_spec_of(turn, bindings[i]);
		for (size_t c = 0; c < spec->claim_count; c++)
			open += claims_find_choice(turn->choices, bindings[i]->namespace_, spec->claims[c]) != NULL;
		for (size_t c = 0; c < spec->device_claim_count; c++)
			open += claims_find_device_choice(turn->choices, bindings[i]->namespace_,
			                                  spec->device_claims[c].claim) != NULL;
	}
	return open;
}

/* Whether the choice rests on devices that have been taken back since: what the live state has not seen yet. */
static bool is_behind(const struct scheduler_turn *turn, const struct plan_binding **bindings, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pod_spec *spec = claims_spec_of(turn, bindings[i]);
		for (size_t c = 0; c < spec->device_claim_count; c++) {
			const char *claim = spec->device_claims[c].claim, *namespace_ = bindings[i]->namespace_;
			if (!claims_find_device_choice(turn->choices, namespace_, claim) &&
			    !claims_devices_are_ready(turn->scheduler, namespace_, claim, spec->uid))
				return true;
		}
	}
	return false;
}

bool scheduler_claims_begin(const struct scheduler_turn *turn, const struct plan_group *group,
                            const struct plan_binding **bindings, size_t count)
{
	struct scheduler *scheduler = turn->scheduler;
	if (count == 0)
		return false;
	const char *problem = turn->choices ? turn->choices->problems[bindings[0]->group] : NULL;
	if (!problem && is_behind(turn, bindings, count))
		return true; /* decided anew when it is seen */
	size_t open = problem ? 0 : count_open(turn, bindings, count);
	const struct claim_pause *pause = find_pause(scheduler, group->namespace_, group->name);
	bool alone = !problem && open == 0 && claims_need_others(turn, group, bindings, count);
	if (!problem && open == 0 && !alone)
		return false;
	if (pause && pause->until > scheduler->last) {
		scheduler->due = pause->until < scheduler->due ? pause->until : scheduler->due;
		return true;
	}
	if (problem) {
		pause_gang(scheduler, group->namespace_, group->name, problem, scheduler->last);
		return true;
	}
	struct claim_wait *wait = wait_new(turn, group, bindings, count, open);
	for (size_t i = 0; i < wait->claim_count; i++) {
		struct awaited_claim *claim = &wait->claims[i];
		log_write(turn->logger, LOG_INFO, 0, "claim", "namespace", claim->namespace_, "claim", claim->name,
		          "volume", claim->volume ? claim->volume : "", "node", claim->node, NULL);
		if (claim->code == 0)
			claims_write(claim);
	}
	scheduler->metrics.claims_awaited += wait->claim_count;
	scheduler->again |= alone;
	vec_push(&scheduler->claim_waits, wait);
	return true;
}

void scheduler_claims_assume(struct scheduler *scheduler)
{
	for (size_t i = 0; i < scheduler->claim_waits.count; i++) {
		struct claim_wait *wait = scheduler->claim_waits.items[i];
		for (size_t p = 0; p < wait->pod_count && !wait->assumed; p++)
			live_assume(scheduler->live, wait->namespace_, wait->pods[p].name, LIVE_BOUND,
			            wait->pods[p].node);
		wait->assumed = true;
	}
}

/* ---- failing ---- */

/* The pod hears it as it hears of a refused binding: nodes and autoscalers cannot cure it. */
static void tell_pod(struct scheduler *scheduler, const struct store_object *pod, const char *message, int64_t now)
{
	struct condition condition = {"PodScheduled", "False", "SchedulerError", message};
	struct build *build = build_create();
	if (!writes_has_condition(pod->root, &condition))
		writes_pod_condition(scheduler->options.store, pod, &condition, now / CLOCK_SECOND, build, NULL);
	if (!events_record(scheduler->events, pod, true, "FailedScheduling", message, now / CLOCK_SECOND))
		scheduler->metrics.events_left_out++;
	build_destroy(build);
}

/* Gangs may share a claim: what was written for it is still wanted then. */
static bool is_awaited_by_others(const struct scheduler *scheduler, const struct claim_wait *wait,
                                 const struct awaited_claim *claim)
{
	for (size_t i = 0; i < scheduler->claim_waits.count; i++) {
		const struct claim_wait *other = scheduler->claim_waits.items[i];
		for (size_t c = 0; other != wait && c < other->claim_count; c++)
			if (!claim->devices && strcmp(other->claims[c].uid, claim->uid) == 0)
				return true;
	}
	return false;
}

static void take_back(struct scheduler *scheduler, const struct claim_wait *wait)
{
	for (size_t i = 0; i < wait->claim_count; i++)
		if (!is_awaited_by_others(scheduler, wait, &wait->claims[i]))
			claims_take_back(&wait->claims[i]);
	for (size_t i = 0; i < wait->pod_count; i++)
		live_forget(scheduler->live, wait->namespace_, wait->pods[i].name, LIVE_BOUND);
	scheduler->again = true;
}

static void fail_wait(struct scheduler *scheduler, const struct claim_wait *wait, const char *pod, const char *message,
                      int64_t now)
{
	log_write(scheduler->options.logger, LOG_WARN, 0, "claims failed", "namespace", wait->namespace_, "group",
	          wait->group, "error", message, NULL);
	take_back(scheduler, wait);
	pause_gang(scheduler, wait->namespace_, wait->group, message, now);
	struct store_object *object = pod ? store_object_retain(peek(scheduler, "pods", wait->namespace_, pod)) : NULL;
	if (object)
		tell_pod(scheduler, object, message, now);
	store_object_release(object);
}

bool scheduler_claims_give_way(struct scheduler *scheduler, const char *namespace_, const char *pod)
{
	for (size_t i = 0; i < scheduler->claim_waits.count; i++) {
		struct claim_wait *wait = scheduler->claim_waits.items[i];
		for (size_t p = 0; p < wait->pod_count; p++) {
			if (strcmp(wait->pods[p].name, pod) != 0 || strcmp(wait->namespace_, namespace_) != 0)
				continue;
			wait->gives_way = true;
			scheduler->again = true;
			return true;
		}
	}
	return false;
}

/* ---- looking ---- */

struct failure {
	const char *pod; /* that names the claim; NULL: it is no claim's fault */
	const char *message;
};

/* A write that is under way is waited for: it could not be taken back before. */
static struct failure look_at_claims(struct claim_wait *wait, struct arena *arena)
{
	struct failure failure = {0};
	size_t bound = 0;
	bool unanswered = false;
	for (size_t i = 0; i < wait->claim_count; i++) {
		struct awaited_claim *claim = &wait->claims[i];
		const char *why = NULL;
		unanswered |= claim->unanswered;
		enum claim_progress progress = claim->unanswered ? CLAIM_WAITS : claims_look(claim, arena, &why);
		claim->bound = progress == CLAIM_IS_BOUND;
		bound += claim->bound;
		if (progress == CLAIM_HAS_FAILED && !failure.message)
			failure = (struct failure){claim->pod, arena_printf(arena, "claim %s: %s", claim->name, why)};
	}
	wait->ready = bound == wait->claim_count;
	return unanswered ? (struct failure){0} : failure;
}

static bool is_unanswered(const struct claim_wait *wait)
{
	for (size_t i = 0; i < wait->claim_count; i++)
		if (wait->claims[i].unanswered)
			return true;
	return false;
}

static struct failure find_failure(struct scheduler *scheduler, struct claim_wait *wait, int64_t now,
                                   struct arena *arena)
{
	struct failure failure = look_at_claims(wait, arena);
	if (is_unanswered(wait))
		return (struct failure){0};
	if (failure.message) {
		scheduler->metrics.claims_failed++;
		return failure;
	}
	failure.message = claims_look_at_pods(scheduler, wait, wait->ready, arena);
	if (!failure.message && wait->changed)
		failure.message = "the gang changed while its claims were bound";
	if (failure.message || wait->ready || now < wait->deadline)
		return failure;
	scheduler->metrics.claims_timed_out++;
	for (size_t i = 0; i < wait->claim_count; i++)
		if (!wait->claims[i].bound)
			return (struct failure){wait->claims[i].pod,
			                        arena_printf(arena, "claim %s: it was not bound in time",
			                                     wait->claims[i].name)};
	return failure;
}

void scheduler_claims_check(struct scheduler *scheduler, int64_t now)
{
	if (scheduler->claim_waits.count == 0)
		return;
	struct arena *arena = arena_create();
	for (size_t i = scheduler->claim_waits.count; i-- > 0;) {
		struct claim_wait *wait = scheduler->claim_waits.items[i];
		struct failure failure = find_failure(scheduler, wait, now, arena);
		if (wait->gives_way && !is_unanswered(wait)) {
			take_back(scheduler, wait);
			remove_wait(scheduler, i);
		} else if (failure.message) {
			fail_wait(scheduler, wait, failure.pod, failure.message, now);
			remove_wait(scheduler, i);
		} else {
			scheduler->again |= wait->ready && !wait->held;
		}
	}
	arena_destroy(arena);
}

/* ---- finishing ---- */

void scheduler_claims_finish(const struct scheduler_turn *turn)
{
	struct scheduler *scheduler = turn->scheduler;
	claims_choose_starting(turn);
	for (size_t i = scheduler->claim_waits.count; i-- > 0;) {
		struct claim_wait *wait = scheduler->claim_waits.items[i];
		if (!wait->starts)
			continue;
		for (size_t p = 0; p < wait->pod_count; p++)
			scheduler_bind(scheduler, wait->namespace_, wait->pods[p].name, wait->pods[p].node);
		drop_pause(scheduler, find_pause(scheduler, wait->namespace_, wait->group));
		remove_wait(scheduler, i);
	}
	claims_unpin(turn);
}

/* ---- telling ---- */

static const char *name_claims(const struct claim_wait *wait, struct arena *arena)
{
	const char *text = "";
	size_t open = 0;
	for (size_t i = 0; i < wait->claim_count; i++) {
		if (!wait->claims[i].bound && open++ < MOST_NAMED)
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", wait->claims[i].name);
	}
	if (open == 0)
		return "its claims are bound; it waits for the rest of its gang";
	if (open > MOST_NAMED)
		text = arena_printf(arena, "%s and %zu more", text, open - MOST_NAMED);
	return arena_printf(arena, "waits for %s %s to be bound", open == 1 ? "claim" : "claims", text);
}

const char *scheduler_claims_message(const struct scheduler *scheduler, const char *namespace_, const char *group,
                                     struct arena *arena, bool *failed)
{
	*failed = false;
	for (size_t i = 0; i < scheduler->claim_waits.count; i++) {
		const struct claim_wait *wait = scheduler->claim_waits.items[i];
		if (strcmp(wait->group, group) == 0 && strcmp(wait->namespace_, namespace_) == 0)
			return name_claims(wait, arena);
	}
	const struct claim_pause *pause = find_pause(scheduler, namespace_, group);
	*failed = pause != NULL;
	return pause ? pause->message : NULL;
}
