/* Owns carrying out the decisions of a cycle: bindings and evictions, all submitted at once, and what becomes of them.
 * An answer may come turns later; until then the state assumes that they hold. */
#include "schedule/scheduler_internal.h"
#include "kinds/names.h"
#include "loop/writes.h"

#include "object/build.h"

#include <stdlib.h>
#include <string.h>

#define TOO_MANY_REQUESTS 429
#define REFUSALS_TO_RELEASE                                                                                            \
	8 /* in a row, which takes 25 seconds: by then people had time to notice, and others want the room */

static struct store_object *peek_pod(const struct scheduler *scheduler, const char *namespace_, const char *name)
{
	const struct store_type *type = store_type_find(scheduler->options.store, "", "pods");
	return type ? store_object_retain(store_peek(scheduler->options.store, type, namespace_, name)) : NULL;
}

/* ---- answers ---- */

static void attempt_free(struct attempt *attempt)
{
	free(attempt->namespace_);
	free(attempt->pod);
	free(attempt->node);
	free(attempt->why);
	free(attempt->message);
	free(attempt);
}

/* From store_commit: only notes the answer, the next step acts on it. */
static void answered(void *context, const struct store_result *result)
{
	struct attempt *attempt = context;
	struct scheduler *scheduler = attempt->scheduler;
	struct store_object *pod = peek_pod(scheduler, attempt->namespace_, attempt->pod);
	attempt->code = result->error.code ? result->error.code : 200;
	attempt->message = result->error.code ? base_strdup(result->error.message ? result->error.message : "") : NULL;
	attempt->retry_after = result->error.retry_after;
	attempt->version = pod ? pod->version : 0;
	store_object_release(pod);
	struct attempt *last = scheduler->under_way.items[--scheduler->under_way.count];
	scheduler->under_way.items[attempt->place] = last;
	last->place = attempt->place;
	vec_push(&scheduler->answered, attempt);
}

static struct attempt *attempt_new(struct scheduler *scheduler, enum live_guess guess, const char *namespace_,
                                   const char *pod, const char *node)
{
	struct attempt *attempt = base_calloc(1, sizeof(*attempt));
	*attempt = (struct attempt){
		.scheduler = scheduler,
		.place = scheduler->under_way.count,
		.guess = guess,
		.namespace_ = base_strdup(namespace_),
		.pod = base_strdup(pod),
		.node = base_strdup(node),
	};
	vec_push(&scheduler->under_way, attempt);
	return attempt;
}

void scheduler_forget_attempts(struct scheduler *scheduler)
{
	for (size_t i = 0; i < scheduler->under_way.count; i++) {
		store_submit_forget(scheduler->options.store, scheduler->under_way.items[i]);
		attempt_free(scheduler->under_way.items[i]);
	}
	for (size_t i = 0; i < scheduler->answered.count; i++)
		attempt_free(scheduler->answered.items[i]);
	vec_free(&scheduler->under_way);
	vec_free(&scheduler->answered);
}

static void record_event(struct scheduler *scheduler, const struct attempt *attempt, int64_t now_seconds)
{
	struct store_object *pod = live_pod(scheduler->live, attempt->namespace_, attempt->pod);
	if (!pod)
		return;
	struct buffer text = {0};
	if (attempt->guess == LIVE_BOUND)
		buffer_printf(&text, "Successfully assigned %s/%s to %s", attempt->namespace_, attempt->pod,
		              attempt->node);
	else
		buffer_printf(&text, "leaves node %s %s (%s)", attempt->node, attempt->why, attempt->what);
	if (!events_record(scheduler->events, pod, false, attempt->guess == LIVE_BOUND ? "Scheduled" : "Evicted",
	                   text.text, now_seconds))
		scheduler->metrics.events_left_out++;
	buffer_free(&text);
}

/* Whether the store shows the pod where it was to go. An answer that was lost, or came to a second try, is no proof that it
 * is not there. */
static bool is_bound(const struct attempt *attempt, const struct store_object *pod)
{
	return attempt->guess == LIVE_BOUND && pod &&
	       strcmp(val_str(val_path(pod->root, "spec", "nodeName", NULL), ""), attempt->node) == 0;
}

/* A refusal is no error of ours: the pod or its node changed meanwhile, and the next cycle sees how; or somebody does not
 * want it there, and people have to know. */
static void refused(struct scheduler *scheduler, const struct attempt *attempt, const struct store_object *pod,
                    int64_t now)
{
	bool binding = attempt->guess == LIVE_BOUND;
	*(binding ? &scheduler->metrics.refused_bindings : &scheduler->metrics.refused_evictions) += 1;
	metrics_error(&scheduler->metrics, attempt->code);
	log_write(scheduler->options.logger, LOG_WARN, 0, binding ? "binding refused" : "eviction refused", "namespace",
	          attempt->namespace_, "pod", attempt->pod, "node", attempt->node, "error", attempt->message, NULL);
	if (!binding && pod && attempt->code == TOO_MANY_REQUESTS) /* a budget does not allow it, or not any more */
		scheduler_refused_add(scheduler, attempt, pod, now);
	if (!binding || !pod || val_path(pod->root, "spec", "nodeName", NULL))
		return;
	scheduler_refused_add(scheduler, attempt, pod, now);
	scheduler_refused_record(scheduler, pod, now / CLOCK_SECOND);
}

static void accepted(struct scheduler *scheduler, const struct attempt *attempt, int64_t now)
{
	scheduler->metrics.placements += attempt->guess == LIVE_BOUND;
	scheduler_refused_forget(scheduler, attempt->namespace_, attempt->pod);
	record_event(scheduler, attempt, now / CLOCK_SECOND);
	/* A pod that is gone keeps its assumption until that is seen. */
	if (attempt->version)
		live_confirm(scheduler->live, attempt->namespace_, attempt->pod, attempt->guess, attempt->version);
}

bool scheduler_read_answers(struct scheduler *scheduler, int64_t now)
{
	size_t count = scheduler->answered.count, read = 0;
	unsigned bad = 0;
	scheduler_begin_slice(scheduler);
	for (; read < count && scheduler->left > 0; read++) {
		struct attempt *attempt = scheduler->answered.items[read];
		bool good = attempt->code < 300;
		struct store_object *pod = good ? NULL : peek_pod(scheduler, attempt->namespace_, attempt->pod);
		if (good || is_bound(attempt, pod)) {
			accepted(scheduler, attempt, now);
		} else {
			bad += attempt->guess != LIVE_BOUND && attempt->code != TOO_MANY_REQUESTS;
			refused(scheduler, attempt, pod, now);
			live_forget(scheduler->live, attempt->namespace_, attempt->pod, attempt->guess);
		}
		store_object_release(pod);
		attempt_free(attempt);
		scheduler_spend(scheduler, SCHEDULER_COST_WRITE);
	}
	if (count == 0)
		return true;
	scheduler->answered.count = count - read;
	memmove((void *)scheduler->answered.items, (void *)(scheduler->answered.items + read),
	        (count - read) * sizeof(*scheduler->answered.items));
	scheduler->failures = bad ? scheduler->failures + 1 : 0;
	scheduler->again |= scheduler->withheld;
	scheduler->withheld = false;
	return read == count;
}

/* ---- requests ---- */

/* To create a subresource of a pod. */
static struct store_request write_below(const struct store_object *pod, enum store_subresource subresource,
                                        const struct val *body)
{
	struct store_request request = writes_create(pod->type->apis, pod->namespace_, body, SCHEDULER_ACTOR);
	request.subresource = subresource;
	request.name = pod->name;
	return request;
}

void scheduler_bind(struct scheduler *scheduler, const char *namespace_, const char *name, const char *node)
{
	struct store_object *pod = peek_pod(scheduler, namespace_, name);
	if (!pod)
		return; /* the gang was looked at just before */
	struct build *build = build_create();
	struct node *body = build_map(build), *metadata = build_map(build), *target = build_map(build);
	build_put_string(build, metadata, "name", name);
	build_put_string(build, metadata, "uid", pod->uid);
	build_put_string(build, target, "kind", "Node");
	build_put_string(build, target, "name", node);
	build_put_string(build, body, "apiVersion", "v1");
	build_put_string(build, body, "kind", "Binding");
	build_put(build, body, "metadata", metadata);
	build_put(build, body, "target", target);
	struct doc *doc = build_finish(build, body);
	struct store_request request = write_below(pod, STORE_BINDING, doc_root(doc));
	struct attempt *attempt = attempt_new(scheduler, LIVE_BOUND, namespace_, name, node);
	scheduler_spend(scheduler, SCHEDULER_COST_WRITE);
	attempt->what = "allocate";
	log_write(scheduler->options.logger, LOG_INFO, 0, "bind", "namespace", namespace_, "pod", name, "node", node,
	          NULL);
	store_submit(scheduler->options.store, &request, answered, attempt);
	doc_destroy(doc);
	build_destroy(build);
	store_object_release(pod);
}

/* An object of policy/v1; in the builder. */
static struct doc *eviction_body(struct build *build, const struct store_object *pod)
{
	struct node *body = build_map(build), *metadata = build_map(build), *options = build_map(build),
		    *preconditions = build_map(build);
	build_put_string(build, metadata, "name", pod->name);
	build_put_string(build, metadata, "namespace", pod->namespace_);
	build_put_string(build, preconditions, "uid", pod->uid);
	build_put(build, options, "preconditions", preconditions);
	build_put_string(build, body, "apiVersion", KINDS_POLICY "/v1");
	build_put_string(build, body, "kind", "Eviction");
	build_put(build, body, "metadata", metadata);
	build_put(build, body, "deleteOptions", options);
	return build_finish(build, body);
}

/* Owners tell a disruption from a failure of the program by this condition: the failure policy of a Job ignores pods that
 * have it. Written before the pod goes, as kube-scheduler does. False when it could not be. */
static bool mark_disrupted(const struct scheduler_turn *turn, const struct plan_eviction *eviction, const char *why,
                           const struct store_object *pod)
{
	struct build *build = build_create();
	struct condition condition = {"DisruptionTarget", "True", "PreemptionByScheduler",
	                              arena_printf(turn->arena, "platoon: evicted %s (%s)", why, eviction->action)};
	int written = writes_pod_condition(turn->store, pod, &condition, turn->now_seconds, build, NULL);
	build_destroy(build);
	return written >= 0;
}

/* A pod that a budget covers is evicted through the API, which has the last word: somebody else may have spent the budget
 * meanwhile. It marks the pod, too. What a preemption takes against a budget is deleted, as kube-scheduler does. */
static bool goes_through_api(const struct plan_eviction *eviction)
{
	return eviction->guarded && !eviction->violates;
}

static void submit_eviction(const struct scheduler_turn *turn, const struct plan_eviction *eviction,
                            const struct store_object *pod, struct attempt *attempt)
{
	struct store_request request = writes_delete(pod, SCHEDULER_ACTOR);
	struct build *build = build_create();
	struct doc *doc = NULL;
	if (goes_through_api(eviction)) {
		doc = eviction_body(build, pod);
		request = write_below(pod, STORE_EVICTION, doc_root(doc));
	}
	store_submit(turn->store, &request, answered, attempt);
	doc_destroy(doc);
	build_destroy(build);
}

static void evict(const struct scheduler_turn *turn, const struct plan_eviction *eviction, const char *why)
{
	struct scheduler *scheduler = turn->scheduler;
	if (scheduler_claims_give_way(scheduler, eviction->namespace_, eviction->pod))
		return;
	int64_t until = eviction->guarded && scheduler->refusals
	                        ? scheduler_refused_until(scheduler, eviction->namespace_, eviction->pod)
	                        : 0;
	if (until > scheduler->last) {
		scheduler->due = until < scheduler->due ? until : scheduler->due;
		return;
	}
	struct store_object *pod = peek_pod(scheduler, eviction->namespace_, eviction->pod);
	const struct store_object *seen = live_pod(scheduler->live, eviction->namespace_, eviction->pod);
	if (!pod || !seen || strcmp(seen->uid, pod->uid) != 0) { /* gone, and perhaps another one has its name */
		store_object_release(pod);
		return;
	}
	if (!goes_through_api(eviction) && !mark_disrupted(turn, eviction, why, pod)) {
		scheduler->unwritten = true; /* decided anew after a pause */
		store_object_release(pod);
		return;
	}
	struct attempt *attempt =
		attempt_new(turn->scheduler, LIVE_LEAVING, eviction->namespace_, eviction->pod, eviction->node);
	scheduler_spend(scheduler, SCHEDULER_COST_WRITE);
	attempt->what = eviction->action;
	attempt->why = base_strdup(why);
	log_write(turn->logger, LOG_INFO, 0, "evict", "namespace", eviction->namespace_, "pod", eviction->pod, "node",
	          eviction->node, "action", eviction->action, "why", why, NULL);
	submit_eviction(turn, eviction, pod, attempt);
	store_object_release(pod);
}

/* Whether the pod may still go to its node, which is asked again if it changed since the cycle saw it. */
static bool is_open(const struct scheduler_turn *turn, const struct store_type *nodes,
                    const struct plan_binding *binding)
{
	const struct store_object *seen = live_node(turn->scheduler->live, binding->node),
				  *now = store_peek(turn->store, nodes, "", binding->node);
	if (!now)
		return false;
	if (seen && seen->version == now->version)
		return true;
	struct store_object *pod = peek_pod(turn->scheduler, binding->namespace_, binding->pod);
	bool open = pod && !scheduler_node_objection(now, pod, turn->arena);
	store_object_release(pod);
	return open;
}

/* Whether the store still has the gang as the cycle saw it: every pod in the same version, every node. Half a gang would be
 * bound if one of its pods went away between the last look and now. */
static bool is_current(const struct scheduler_turn *turn, const struct plan_group *group)
{
	size_t index = group->index;
	const struct snapshot *snapshot = turn->plan->snapshot;
	const struct gang *gang = &snapshot->cycle.groups[index].gang;
	const struct store_type *pods = store_type_find(turn->store, "", "pods"),
				*nodes = store_type_find(turn->store, "", "nodes");
	for (size_t i = 0; i < gang->pod_count; i++) {
		const struct gang_pod *member = &gang->pods[i];
		if (member->state == MEMBER_GONE)
			continue;
		const struct store_object *seen = live_pod(turn->scheduler->live, gang->namespace_, member->name),
					  *now = store_peek(turn->store, pods, gang->namespace_, member->name);
		if (!seen || !now || seen->version != now->version)
			return false;
		if (member->state == MEMBER_RUNNING &&
		    !store_peek(turn->store, nodes, "", cluster_node_name(snapshot->cycle.cluster, member->node)))
			return false;
	}
	for (size_t i = 0; i < group->binding_count; i++)
		if (!is_open(turn, nodes, group->bindings[i]))
			return false;
	return true;
}

static const struct refusal *refusal_of(const struct scheduler_turn *turn, const struct gang *gang, size_t pod)
{
	return turn->scheduler->refusals
	               ? scheduler_refused_find(turn->scheduler, gang->namespace_, gang->pods[pod].name)
	               : NULL;
}

static bool is_hopeless(const struct refusal *refusal)
{
	return refusal->times >= REFUSALS_TO_RELEASE;
}

static bool is_paused(const struct scheduler *scheduler, const struct refusal *refusal)
{
	return refusal->until > scheduler->last;
}

/* Which of the pods that were refused before are not counted on. */
enum doubt { DOUBT_NONE, DOUBT_PAUSED, DOUBT_HOPELESS };

static bool is_doubtful(const struct scheduler_turn *turn, const struct gang *gang, size_t pod, enum doubt doubt)
{
	const struct refusal *refusal = doubt == DOUBT_NONE ? NULL : refusal_of(turn, gang, pod);
	return refusal && (doubt == DOUBT_PAUSED ? is_paused(turn->scheduler, refusal) : is_hopeless(refusal));
}

const bool *scheduler_parts_that_start(const struct scheduler_turn *turn, size_t index, const bool *left_out)
{
	const struct gang *gang = &turn->plan->snapshot->cycle.groups[index].gang;
	struct gang now = *gang;
	bool *satisfied = arena_array(turn->arena, bool, gang->tree_count);
	now.pods = arena_array(turn->arena, struct gang_pod, gang->pod_count);
	for (size_t i = 0; i < gang->pod_count; i++) {
		now.pods[i] = gang->pods[i];
		if (now.pods[i].state == MEMBER_RESERVED || left_out[i])
			now.pods[i].state = MEMBER_WAITING;
	}
	gang_satisfied(&now, arena_array(turn->arena, int, gang->tree_count), satisfied);
	return satisfied;
}

/* The same without those that are in doubt. */
static const bool *parts_that_start(const struct scheduler_turn *turn, size_t index, enum doubt doubt)
{
	const struct gang *gang = &turn->plan->snapshot->cycle.groups[index].gang;
	const bool *ran = turn->plan->snapshot->groups[index].ran;
	bool *left_out = arena_array(turn->arena, bool, gang->pod_count);
	for (size_t i = 0; i < gang->pod_count; i++)
		left_out[i] = gang->pods[i].state == MEMBER_RUNNING && !ran[i] && is_doubtful(turn, gang, i, doubt);
	return scheduler_parts_that_start(turn, index, left_out);
}

static bool starts_whole(const struct scheduler_turn *turn, size_t index, enum doubt doubt)
{
	return parts_that_start(turn, index, doubt)[0];
}

bool scheduler_starts_anyway(const struct gang *gang, size_t pod, const bool *with, const bool *without)
{
	for (int node = gang->pods[pod].leaf; node >= 0; node = gang->tree[node].parent)
		if (with[node] && !without[node])
			return false;
	return true;
}

/* What was refused is tried again after a pause, together with all of its part of the gang that cannot do without it. Where
 * there is little hope left it is tried alone, so that nothing is started which would have to be released. */
static size_t choose_after_refusals(const struct scheduler_turn *turn, const struct plan_group *group, const bool *all,
                                    const struct plan_binding **chosen)
{
	struct scheduler *scheduler = turn->scheduler;
	const struct gang *gang = &turn->plan->snapshot->cycle.groups[group->index].gang;
	const bool *unpaused = parts_that_start(turn, group->index, DOUBT_PAUSED);
	const bool *hopeful = parts_that_start(turn, group->index, DOUBT_HOPELESS);
	size_t count = 0;
	for (size_t i = 0; i < group->binding_count; i++) {
		const struct plan_binding *binding = group->bindings[i];
		const struct refusal *refusal = refusal_of(turn, gang, binding->member);
		bool alone = !scheduler_starts_anyway(gang, binding->member, all, hopeful);
		if (refusal && is_paused(scheduler, refusal))
			scheduler->due = refusal->until < scheduler->due ? refusal->until : scheduler->due;
		else if (alone ? refusal && is_hopeless(refusal)
		               : scheduler_starts_anyway(gang, binding->member, all, unpaused))
			chosen[count++] = binding;
	}
	return count;
}

static void bind_gang(const struct scheduler_turn *turn, const struct plan_group *group)
{
	const struct gang *gang = &turn->plan->snapshot->cycle.groups[group->index].gang;
	const bool *all = group->binding_count ? parts_that_start(turn, group->index, DOUBT_NONE) : NULL;
	if (!all || !all[0])
		return;
	if (!is_current(turn, group)) {
		log_write(turn->logger, LOG_INFO, 0, "gang changed meanwhile", "namespace", gang->namespace_, "group",
		          gang->name, NULL);
		turn->scheduler->again = true;
		return;
	}
	const struct plan_binding **chosen = group->bindings;
	size_t count = group->binding_count;
	if (turn->scheduler->refusals) {
		chosen = arena_array(turn->arena, const struct plan_binding *, count);
		count = choose_after_refusals(turn, group, all, chosen);
	}
	if (scheduler_claims_begin(turn, group, chosen, count))
		return;
	for (size_t i = 0; i < count; i++)
		scheduler_bind(turn->scheduler, chosen[i]->namespace_, chosen[i]->pod, chosen[i]->node);
}

/* Whether the gang needs a pod whose binding was refused too often to hope for the next time. */
static bool is_refused(const struct scheduler_turn *turn, size_t index)
{
	const struct gang *gang = &turn->plan->snapshot->cycle.groups[index].gang;
	unsigned times = 0;
	for (size_t i = 0; i < gang->pod_count && turn->scheduler->refusals; i++) {
		const struct refusal *refusal = refusal_of(turn, gang, i);
		times = refusal && refusal->times > times ? refusal->times : times;
	}
	return times >= REFUSALS_TO_RELEASE && !starts_whole(turn, index, DOUBT_HOPELESS);
}

/* Why a gang that was cut off while it started cannot be completed: part of it is bound, nothing of it runs, and there is
 * proof that the rest finds no place, or it is not let there. NULL when it can be. What runs already is left to the grace for
 * stale gangs. */
static const char *cannot_be_finished(const struct scheduler_turn *turn, size_t index)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	const struct cycle_group *group = &snapshot->cycle.groups[index];
	bool bound = false,
	     impossible = group->proof != PROOF_NONE && !gang_root_satisfied(&group->gang) && !group->completing;
	if (!impossible && !is_refused(turn, index))
		return NULL;
	for (size_t i = 0; i < group->gang.pod_count; i++) {
		const struct snapshot_pod *pod = &snapshot->pods[snapshot->groups[index].members[i]];
		if (group->gang.pods[i].state == MEMBER_RESERVED || pod->spec->phase == POD_RUNNING)
			return NULL;
		bound |= group->gang.pods[i].state == MEMBER_RUNNING && snapshot->groups[index].ran[i];
	}
	if (!bound)
		return NULL;
	return impossible ? "because the rest of its gang finds no place any more"
	                  : "because bindings of the rest of its gang are refused";
}

static void release(const struct scheduler_turn *turn, size_t index, const char *why)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	const struct gang *gang = &snapshot->cycle.groups[index].gang;
	for (size_t i = 0; i < gang->pod_count; i++) {
		if (gang->pods[i].state != MEMBER_RUNNING || !snapshot->groups[index].ran[i])
			continue;
		struct plan_eviction eviction = {
			.namespace_ = gang->namespace_,
			.pod = gang->pods[i].name,
			.node = cluster_node_name(snapshot->cycle.cluster, gang->pods[i].node),
			.action = "unfinished",
		};
		evict(turn, &eviction, why);
		turn->scheduler->metrics.releases++;
	}
}

/* What is moved has its new place before it leaves the old one. False when that could not be written for every group: then
 * nobody gives way in this cycle, because a part of those who have to is of no use to anybody. */
static bool keep_places(const struct scheduler_turn *turn)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	const struct store_type *type = store_type_find(turn->store, KINDS_SCHEDULING, "podgroups");
	bool kept = true;
	for (size_t i = 0; i < snapshot->cycle.eviction_count; i++) {
		const struct cycle_eviction *eviction = &snapshot->cycle.evictions[i];
		const struct snapshot_group *group = &snapshot->groups[eviction->group];
		bool first =
			eviction->moved && (i == 0 || eviction[-1].group != eviction->group || !eviction[-1].moved);
		if (!first || group->implicit || !type)
			continue;
		struct store_object *object =
			store_object_retain(store_peek(turn->store, type, group->namespace_, group->name));
		if (object && scheduler_write_places(turn, (size_t)eviction->group, object) < 0) {
			scheduler_unwritten(turn, (size_t)eviction->group);
			kept = false;
		}
		store_object_release(object);
	}
	return kept;
}

static const char *eviction_text(const struct scheduler_turn *turn, const struct plan_eviction *eviction)
{
	size_t number = (size_t)(eviction - turn->plan->evictions);
	if (!eviction->by[0])
		return turn->plan->snapshot->cycle.evictions[number].resettles
		               ? "because the rest of its gang has no place beside it, and all of it has elsewhere"
		               : "because its gang was below its minimum for too long";
	return arena_printf(turn->arena, "for %s%s%s", eviction->by,
	                    eviction->violates ? ", violating PodDisruptionBudget " : "",
	                    eviction->violates ? eviction->violates : "");
}

bool scheduler_write_evictions(struct scheduler_turn *turn)
{
	const struct plan *plan = turn->plan;
	if (turn->next == 0)
		turn->kept = keep_places(turn);
	for (; turn->next < plan->eviction_count; turn->next++) {
		const struct plan_eviction *eviction = &plan->evictions[turn->next];
		if (turn->scheduler->left == 0)
			return false;
		if (turn->kept || !eviction->by[0])
			evict(turn, eviction, eviction_text(turn, eviction));
	}
	return true;
}

bool scheduler_write_releases(struct scheduler_turn *turn)
{
	for (; turn->next < turn->plan->group_count; turn->next++) {
		size_t index = turn->plan->groups[turn->next].index;
		if (turn->scheduler->left == 0)
			return false;
		const char *why = cannot_be_finished(turn, index);
		if (why)
			release(turn, index, why);
		scheduler_spend(turn->scheduler, SCHEDULER_COST_GLANCE);
	}
	return true;
}

bool scheduler_write_bindings(struct scheduler_turn *turn)
{
	for (; turn->next < turn->plan->group_count; turn->next++) {
		const struct plan_group *group = &turn->plan->groups[turn->plan->order[turn->next]];
		if (turn->scheduler->left == 0)
			return false;
		if (turn->next == 0)
			scheduler_claims_choose(turn);
		bind_gang(turn, group);
		scheduler_spend(turn->scheduler, SCHEDULER_COST_GLANCE);
	}
	return true;
}

static void assume(struct scheduler *scheduler, struct attempt *attempt)
{
	if (!attempt->assumed)
		live_assume(scheduler->live, attempt->namespace_, attempt->pod, attempt->guess,
		            attempt->guess == LIVE_BOUND ? attempt->node : "");
	attempt->assumed = true;
}

/* Some may have been answered while the rest was written. */
void scheduler_assume(const struct scheduler_turn *turn)
{
	struct scheduler *scheduler = turn->scheduler;
	for (size_t i = 0; i < scheduler->under_way.count; i++)
		assume(scheduler, scheduler->under_way.items[i]);
	for (size_t i = 0; i < scheduler->answered.count; i++)
		assume(scheduler, scheduler->answered.items[i]);
}
