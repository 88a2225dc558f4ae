/* Owns Deployments and ReplicaSets. */
#include "cluster/workload_internal.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_HASH "pod-template-hash"
#define KEY_REVISION "deployment.kubernetes.io/revision"

/* ---- ReplicaSet ---- */

/* The first one leaves first: without a node, waiting, not ready, then the youngest. */
static int worst_first(const void *a, const void *b)
{
	const struct store_object *left = *(struct store_object *const *)a, *right = *(struct store_object *const *)b;
	int ranks[2][3];
	const struct store_object *both[] = {left, right};
	for (int i = 0; i < 2; i++) {
		ranks[i][0] = *val_str(val_path(both[i]->root, "spec", "nodeName", NULL), "") != 0;
		ranks[i][1] = pod_state(both[i]) == POD_RUNNING;
		ranks[i][2] = pod_ready(both[i]);
	}
	for (int i = 0; i < 3; i++)
		if (ranks[0][i] != ranks[1][i])
			return ranks[0][i] - ranks[1][i];
	int order = strcmp(val_str(val_path(right->root, "metadata", "creationTimestamp", NULL), ""),
	                   val_str(val_path(left->root, "metadata", "creationTimestamp", NULL), ""));
	return order ? order : strcmp(right->name, left->name);
}

static void scale_pods(struct workload *workload, struct store_object **active, size_t count, size_t wanted)
{
	for (size_t i = count; i < wanted && workload->room > 0; i++) {
		struct child pod = {
			.name = workload_free_name(workload, workload->object->name),
			.template_ = val_get(workload->spec, "template"),
		};
		workload_create(workload, &pod);
	}
	if (count > wanted)
		qsort(active, count, sizeof(*active), worst_first);
	for (size_t i = wanted; i < count; i++)
		workload_delete(workload, active[i - wanted]);
}

int workload_replica_set(struct workload *workload)
{
	struct store_object **active = arena_array(workload->arena, struct store_object *, workload->pods.count);
	size_t count = 0;
	int64_t ready = 0;
	for (size_t i = 0; i < workload->pods.count; i++) {
		struct store_object *pod = workload->pods.items[i];
		const struct pod_look *look = &workload->looks[i];
		if (look->leaving)
			continue;
		/* Ended pods are not what a service is made of, and they would only pile up. */
		if (look->state == POD_SUCCEEDED || look->state == POD_FAILED) {
			workload_delete(workload, pod);
			continue;
		}
		ready += look->ready;
		active[count++] = pod;
	}
	size_t wanted = (size_t)workload_number(val_get(workload->spec, "replicas"), 1);
	scale_pods(workload, active, count, wanted);
	struct node *status = workload_status(workload);
	build_put_int(workload->build, status, "replicas", (int64_t)count);
	build_put_int(workload->build, status, "fullyLabeledReplicas", (int64_t)count);
	build_put_int(workload->build, status, "readyReplicas", ready);
	build_put_int(workload->build, status, "availableReplicas", ready);
	workload_write_status(workload, status);
	return 0;
}

/* ---- Deployment ---- */

struct deployment {
	struct workload *workload;
	struct store_list sets;
	const char *hash;
	struct store_object *current; /* NULL: not made yet */
	int64_t wanted, surge, unavailable;
	int64_t staying; /* ready and not about to be removed */
	int64_t total, ready, updated, updated_ready, revision;
	bool recreate;
};

static int64_t set_number(const struct store_object *set, const char *part, const char *key)
{
	return workload_number(val_path(set->root, part, key, NULL), 0);
}

/* The status of a set that was told to shrink comes later. */
static int64_t staying(const struct store_object *set)
{
	int64_t ready = set_number(set, "status", "readyReplicas"), wanted = set_number(set, "spec", "replicas");
	return ready < wanted ? ready : wanted;
}

static int64_t revision_of(const struct store_object *set)
{
	return strtol(val_str(val_path(set->root, "metadata", "annotations", KEY_REVISION, NULL), "0"), NULL, 10);
}

int64_t workload_share(const struct val *value, struct percent fallback, int64_t whole, enum percent_rounding rounding)
{
	struct percent percent = fallback;
	struct error error = {0};
	int64_t count;
	if (val_int(value, &count) == 0)
		percent = percent_count(count);
	else if (val_kind(value) == VAL_STRING && percent_parse(val_str(value, ""), &percent, &error) < 0)
		percent = fallback;
	return percent_of(percent, whole, rounding);
}

static void read_deployment(struct deployment *deployment)
{
	struct workload *workload = deployment->workload;
	const struct val *strategy = val_get(workload->spec, "strategy"), *rolling = val_get(strategy, "rollingUpdate");
	deployment->wanted = workload_number(val_get(workload->spec, "replicas"), 1);
	deployment->recreate = strcmp(val_str(val_get(strategy, "type"), ""), "Recreate") == 0;
	deployment->surge =
		workload_share(val_get(rolling, "maxSurge"), percent_share(25), deployment->wanted, PERCENT_UP);
	deployment->unavailable =
		workload_share(val_get(rolling, "maxUnavailable"), percent_share(25), deployment->wanted, PERCENT_DOWN);
	if (deployment->surge == 0 && deployment->unavailable == 0)
		deployment->unavailable = 1;
	deployment->hash = workload_hash(workload->arena, val_get(workload->spec, "template"), 0);
	workload_others(workload, KINDS_APPS, "replicasets", &deployment->sets);
	const char *name = arena_printf(workload->arena, "%s-%s", workload->object->name, deployment->hash);
	for (size_t i = 0; i < deployment->sets.count; i++) {
		struct store_object *set = deployment->sets.items[i];
		if (strcmp(set->name, name) == 0)
			deployment->current = set;
		deployment->total += set_number(set, "status", "replicas");
		deployment->ready += set_number(set, "status", "readyReplicas");
		deployment->staying += staying(set);
		if (revision_of(set) > deployment->revision)
			deployment->revision = revision_of(set);
	}
	if (deployment->current) {
		deployment->updated = set_number(deployment->current, "status", "replicas");
		deployment->updated_ready = set_number(deployment->current, "status", "readyReplicas");
	}
}

static void make_set(struct deployment *deployment, int64_t replicas)
{
	struct workload *workload = deployment->workload;
	struct build *build = workload->build;
	const struct val *template_ = val_get(workload->spec, "template");
	const struct val *given = val_path(workload->spec, "selector", "matchLabels", NULL);
	struct node *matched = val_kind(given) == VAL_MAP ? build_copy(build, given) : build_map(build);
	struct node *selector = build_map(build);
	struct child pod = {0},
		     set = {
			     .api_version = KINDS_APPS "/v1",
			     .kind = "ReplicaSet",
			     .name = arena_printf(workload->arena, "%s-%s", workload->object->name, deployment->hash),
			     .template_ = template_,
			     .spec = build_map(build),
		     };
	child_label(&pod, LABEL_HASH, deployment->hash);
	child_label(&set, LABEL_HASH, deployment->hash);
	child_annotation(&set, KEY_REVISION,
	                 arena_printf(workload->arena, "%lld", (long long)deployment->revision + 1));
	build_put_string(build, matched, LABEL_HASH, deployment->hash);
	build_put(build, selector, "matchLabels", matched);
	build_put_int(build, set.spec, "replicas", replicas);
	build_put(build, set.spec, "selector", selector);
	build_put(build, set.spec, "template", child_template(workload, template_, &pod));
	workload_create(workload, &set);
}

static void scale_set(struct deployment *deployment, const struct store_object *set, int64_t replicas)
{
	struct workload *workload = deployment->workload;
	struct build *build = workload->build;
	int64_t revision = set == deployment->current ? deployment->revision : revision_of(set);
	/* One that was used before and is used again becomes the newest. */
	if (set == deployment->current && revision_of(set) < deployment->revision)
		revision = deployment->revision + 1;
	if (set_number(set, "spec", "replicas") == replicas && revision == revision_of(set))
		return;
	struct node *body = build_map(build), *spec = build_map(build), *metadata = build_map(build),
		    *annotations = build_map(build);
	build_put_int(build, spec, "replicas", replicas);
	build_put_string(build, annotations, KEY_REVISION, arena_printf(workload->arena, "%lld", (long long)revision));
	build_put(build, metadata, "annotations", annotations);
	build_put(build, body, "metadata", metadata);
	build_put(build, body, "spec", spec);
	workload_patch(workload, set, STORE_MAIN, body);
}

static int64_t at_least_zero(int64_t value)
{
	return value < 0 ? 0 : value;
}

/* Old pods go as far as enough are ready without them; those that are not ready go first. */
static void shrink_old(struct deployment *deployment)
{
	int64_t may_go = at_least_zero(deployment->staying - (deployment->wanted - deployment->unavailable));
	bool all = deployment->recreate || deployment->updated_ready >= deployment->wanted;
	for (size_t i = 0; i < deployment->sets.count; i++) {
		struct store_object *set = deployment->sets.items[i];
		if (set == deployment->current)
			continue;
		int64_t ready = staying(set), gone = may_go < ready ? may_go : ready;
		may_go -= gone;
		scale_set(deployment, set, all ? 0 : ready - gone);
	}
}

static int64_t old_replicas(const struct deployment *deployment, const char *part)
{
	int64_t sum = 0;
	for (size_t i = 0; i < deployment->sets.count; i++)
		if (deployment->sets.items[i] != deployment->current)
			sum += set_number(deployment->sets.items[i], part, "replicas");
	return sum;
}

static void roll(struct deployment *deployment)
{
	int64_t old = old_replicas(deployment, "spec"), now = 0, replicas = deployment->wanted;
	if (deployment->current)
		now = set_number(deployment->current, "spec", "replicas");
	if (deployment->recreate && old + old_replicas(deployment, "status") > 0)
		replicas = 0;
	else if (old > 0) {
		replicas = at_least_zero(deployment->wanted + deployment->surge - old);
		replicas = replicas < now ? now : replicas;
		replicas = replicas > deployment->wanted ? deployment->wanted : replicas;
	}
	if (!deployment->current)
		make_set(deployment, replicas);
	else
		scale_set(deployment, deployment->current, replicas);
	shrink_old(deployment);
}

/* Keeps the last ones for `kubectl rollout undo`. */
static void forget_old(struct deployment *deployment)
{
	int64_t keep = workload_number(val_get(deployment->workload->spec, "revisionHistoryLimit"), 10);
	for (size_t i = 0; i < deployment->sets.count; i++) {
		struct store_object *set = deployment->sets.items[i];
		if (set != deployment->current && set_number(set, "spec", "replicas") == 0 &&
		    set_number(set, "status", "replicas") == 0 && revision_of(set) < deployment->revision - keep)
			workload_delete(deployment->workload, set);
	}
}

/* When the rollout last came closer to its end: the time in its Progressing condition, unless the numbers say now. */
static int64_t last_progress(const struct deployment *deployment, const struct condition *now)
{
	const struct val *root = deployment->workload->root, *status = val_get(root, "status");
	const struct val *was = writes_find_condition(root, "Progressing");
	int64_t since = deployment->workload->now;
	if (!was || !workload_time(val_get(was, "lastUpdateTime"), &since) ||
	    strcmp(val_str(val_get(was, "message"), ""), now->message) != 0 ||
	    deployment->updated > workload_number(val_get(status, "updatedReplicas"), 0) ||
	    deployment->ready > workload_number(val_get(status, "readyReplicas"), 0) ||
	    deployment->total < workload_number(val_get(status, "replicas"), 0))
		return deployment->workload->now;
	return since;
}

/* A rollout that comes no closer to its end for too long is said to be stuck; it goes on all the same. */
static void judge_progress(struct deployment *deployment, struct condition *progress, int64_t since)
{
	struct workload *workload = deployment->workload;
	int64_t deadline = 600, left;
	val_int(val_get(workload->spec, "progressDeadlineSeconds"), &deadline);
	left = since + deadline - workload->now;
	if (deadline <= 0 || deadline > INT32_MAX || strcmp(progress->reason, "NewReplicaSetAvailable") == 0)
		return;
	if (left > 0) {
		workload_again(workload, left);
		return;
	}
	progress->status = "False";
	progress->reason = "ProgressDeadlineExceeded";
}

/* Conditions of Deployments have the time of their last update as well. */
static void put_conditions(struct deployment *deployment, struct node *status, const struct condition *conditions,
                           const int64_t *updates, size_t count)
{
	struct workload *workload = deployment->workload;
	struct build *build = workload->build;
	struct node *list = build_list(build);
	for (size_t i = 0; i < count; i++) {
		const struct val *was = writes_find_condition(workload->root, conditions[i].type);
		char now[32], update[32];
		struct node *map = build_map(build);
		clock_print_rfc3339(workload->now, now);
		clock_print_rfc3339(updates[i], update);
		bool same = strcmp(val_str(val_get(was, "status"), ""), conditions[i].status) == 0;
		build_put_string(build, map, "type", conditions[i].type);
		build_put_string(build, map, "status", conditions[i].status);
		build_put_string(build, map, "reason", conditions[i].reason);
		build_put_string(build, map, "message", conditions[i].message);
		build_put_string(build, map, "lastUpdateTime", update);
		build_put_string(build, map, "lastTransitionTime",
		                 same ? val_str(val_get(was, "lastTransitionTime"), now) : now);
		build_append(build, list, map);
	}
	build_put(build, status, "conditions", list);
}

/* What was rolled out once stays so, until another template is: pods that are lost later are no rollout. */
static bool is_rolled_out(const struct deployment *deployment, const struct val *progressing)
{
	const struct val *metadata = val_get(deployment->workload->object->root, "metadata");
	const char *revision = val_str(val_path(metadata, "annotations", KEY_REVISION, NULL), "0");
	return deployment->current && strtol(revision, NULL, 10) == revision_of(deployment->current) &&
	       strcmp(val_str(val_get(progressing, "reason"), ""), "NewReplicaSetAvailable") == 0;
}

static void write_deployment(struct deployment *deployment)
{
	struct workload *workload = deployment->workload;
	struct build *build = workload->build;
	struct node *status = workload_status(workload);
	bool enough = deployment->ready >= deployment->wanted - deployment->unavailable;
	bool done = deployment->updated == deployment->wanted && deployment->total == deployment->wanted &&
	            deployment->updated_ready == deployment->wanted;
	const char *set =
		arena_printf(workload->arena, "ReplicaSet \"%s-%s\"", workload->object->name, deployment->hash);
	const char *ended = arena_printf(workload->arena, "%s has successfully progressed.", set);
	const struct val *was = writes_find_condition(workload->root, "Progressing");
	done |= is_rolled_out(deployment, was);
	struct condition conditions[] = {
		{"Available", enough ? "True" : "False",
	         enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
	         enough ? "Deployment has minimum availability." : "Deployment does not have minimum availability."},
		{"Progressing", "True", done ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
	         done ? ended : arena_printf(workload->arena, "%s is progressing.", set)},
	};
	build_put_int(build, status, "replicas", deployment->total);
	build_put_int(build, status, "updatedReplicas", deployment->updated);
	build_put_int(build, status, "readyReplicas", deployment->ready);
	build_put_int(build, status, "availableReplicas", deployment->ready);
	build_put_int(build, status, "unavailableReplicas", at_least_zero(deployment->wanted - deployment->ready));
	int64_t updates[2] = {workload->now, last_progress(deployment, &conditions[1])};
	const struct val *available = writes_find_condition(workload->root, "Available");
	if (strcmp(val_str(val_get(available, "status"), ""), conditions[0].status) == 0)
		workload_time(val_get(available, "lastUpdateTime"), &updates[0]);
	judge_progress(deployment, &conditions[1], updates[1]);
	put_conditions(deployment, status, conditions, updates, 2);
	workload_write_status(workload, status);
}

static void write_revision(struct deployment *deployment)
{
	struct workload *workload = deployment->workload;
	struct build *build = workload->build;
	if (!deployment->current ||
	    strtol(val_str(val_path(workload->root, "metadata", "annotations", KEY_REVISION, NULL), "0"), NULL, 10) ==
	            revision_of(deployment->current))
		return;
	struct node *body = build_map(build), *metadata = build_map(build), *annotations = build_map(build);
	build_put_string(build, annotations, KEY_REVISION,
	                 arena_printf(workload->arena, "%lld", (long long)revision_of(deployment->current)));
	build_put(build, metadata, "annotations", annotations);
	build_put(build, body, "metadata", metadata);
	workload_patch(workload, workload->object, STORE_MAIN, body);
}

int workload_deployment(struct workload *workload)
{
	struct deployment deployment = {.workload = workload};
	read_deployment(&deployment);
	if (!val_bool(val_get(workload->spec, "paused"), false)) {
		roll(&deployment);
		forget_old(&deployment);
	}
	write_revision(&deployment);
	write_deployment(&deployment);
	store_list_clear(&deployment.sets);
	return 0;
}
