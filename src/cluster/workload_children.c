/* Owns the children of workloads: making, removing and reading them, and writing the status of their owner. */
#include "cluster/workload_internal.h"

#include "base/hash.h"
#include "base/strings.h"
#include "loop/writes.h"
#include "object/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

int64_t workload_number(const struct val *number, int64_t fallback)
{
	int64_t value = fallback;
	val_int(number, &value);
	return value < 0 ? 0 : value > WORKLOAD_MAX_PODS ? WORKLOAD_MAX_PODS : value;
}

const char *workload_label(const struct store_object *object, const char *key)
{
	return labels_get(&object->labels, key);
}

bool workload_time(const struct val *text, int64_t *seconds)
{
	return clock_parse_rfc3339(val_str(text, ""), seconds) == 0;
}

/* Sums over the entries of a map, because the order of keys says nothing. */
static uint64_t hash_val(const struct val *val)
{
	char scratch[64];
	const char *key, *text = val_scalar_text(val, scratch);
	const struct val *item;
	uint64_t hash = (uint64_t)val_kind(val);
	if (text)
		return XXH3_64bits_withSeed(text, strlen(text), 1);
	if (val_kind(val) == VAL_BOOL)
		return hash_mix(hash, val_bool(val, false));
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item);) {
		uint64_t inner = hash_val(item);
		hash = key ? hash + hash_mix(XXH3_64bits(key, strlen(key)), inner) : hash_mix(hash, inner);
	}
	return hash;
}

const char *workload_hash(struct arena *arena, const struct val *val, uint64_t salt)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789"; /* no vowels: no words */
	uint64_t hash = hash_mix(hash_val(val), salt);
	char *word = arena_strdup(arena, "..........");
	for (char *at = word; *at; at++, hash /= sizeof(letters) - 1)
		*at = letters[hash % (sizeof(letters) - 1)];
	return word;
}

bool workload_condition(const struct val *root, const char *type)
{
	return strcmp(val_str(val_get(writes_find_condition(root, type), "status"), ""), "True") == 0;
}

const struct val *workload_since(const struct val *root, const char *type)
{
	return val_get(writes_find_condition(root, type), "lastTransitionTime");
}

enum pod_state pod_state(const struct store_object *pod)
{
	static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed"};
	const char *phase = val_str(val_path(pod->root, "status", "phase", NULL), "");
	for (int i = POD_RUNNING; i <= POD_FAILED; i++)
		if (strcmp(phase, phases[i]) == 0)
			return (enum pod_state)i;
	return POD_WAITING;
}

bool pod_ready(const struct store_object *pod)
{
	return pod_state(pod) == POD_RUNNING && workload_condition(pod->root, "Ready");
}

int64_t pod_restarts(const struct store_object *pod)
{
	int64_t sum = 0;
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod->root, "status", "containerStatuses", NULL));
	     val_next(&it, NULL, &item);)
		sum += workload_number(val_get(item, "restartCount"), 0);
	return sum;
}

int64_t pod_exit_code(const struct store_object *pod)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod->root, "status", "containerStatuses", NULL));
	     val_next(&it, NULL, &item);) {
		int64_t code = 0;
		if (val_int(val_path(item, "state", "terminated", "exitCode", NULL), &code) == 0 && code != 0)
			return code;
	}
	return 0;
}

void tally_pod(struct tally *tally, const struct store_object *pod)
{
	if (!pod)
		return;
	enum pod_state state = pod_state(pod);
	tally->pods++;
	tally->restarts += pod_restarts(pod);
	tally->succeeded += state == POD_SUCCEEDED;
	tally->failed += state == POD_FAILED;
	if (state == POD_SUCCEEDED || state == POD_FAILED || metadata_is_leaving(pod->root))
		return;
	tally->active++;
	tally->ready += pod_ready(pod);
}

static int by_name(const void *key, const void *item)
{
	return strcmp(key, (*(struct store_object *const *)item)->name);
}

/* A namespaced owner has its children in one namespace, so the order of the list is by name. */
static struct store_object **find(const struct store_list *list, const char *name)
{
	return list->count ? bsearch(name, list->items, list->count, sizeof(*list->items), by_name) : NULL;
}

struct store_object *workload_find(const struct store_list *list, const char *name)
{
	struct store_object **found = find(list, name);
	return found ? *found : NULL;
}

void workload_others(struct workload *workload, const char *group, const char *resource, struct store_list *list)
{
	*list = (struct store_list){0};
	const struct store_type *type = store_type_find(workload->store, group, resource);
	if (type)
		store_dependents(workload->store, workload->object->uid, type, list);
}

/* ---- writing ---- */

void child_label(struct child *child, const char *key, const char *value)
{
	if (child->label_count < CHILD_LABELS)
		child->labels[child->label_count++] = (struct label){key, value};
}

void child_annotation(struct child *child, const char *key, const char *value)
{
	if (child->annotation_count < CHILD_LABELS)
		child->annotations[child->annotation_count++] = (struct label){key, value};
}

void child_label_number(struct workload *workload, struct child *child, const char *key, int64_t number)
{
	child_label(child, key, arena_printf(workload->arena, "%lld", (long long)number));
}

static struct node *merged(struct build *build, const struct val *of_template, const struct label *items, size_t count)
{
	struct node *map = val_kind(of_template) == VAL_MAP ? build_copy(build, of_template) : build_map(build);
	for (size_t i = 0; i < count; i++)
		build_put_string(build, map, items[i].key, items[i].value);
	return map;
}

struct node *child_template(struct workload *workload, const struct val *template_, const struct child *more)
{
	struct build *build = workload->build;
	const struct val *given = val_get(template_, "metadata");
	struct node *copy = val_kind(template_) == VAL_MAP ? build_copy(build, template_) : build_map(build);
	struct node *metadata = val_kind(given) == VAL_MAP ? build_copy(build, given) : build_map(build);
	build_put(build, metadata, "labels", merged(build, val_get(given, "labels"), more->labels, more->label_count));
	build_put(build, metadata, "annotations",
	          merged(build, val_get(given, "annotations"), more->annotations, more->annotation_count));
	build_put(build, copy, "metadata", metadata);
	return copy;
}

static struct node *owner_references(struct workload *workload)
{
	struct build *build = workload->build;
	struct node *list = build_list(build), *reference = build_map(build);
	build_put_string(build, reference, "apiVersion", val_str(val_get(workload->root, "apiVersion"), ""));
	build_put_string(build, reference, "kind", workload->kind->kind);
	build_put_string(build, reference, "name", workload->object->name);
	build_put_string(build, reference, "uid", workload->object->uid);
	build_put_bool(build, reference, "controller", true);
	build_put_bool(build, reference, "blockOwnerDeletion", true);
	build_append(build, list, reference);
	return list;
}

static struct node *child_spec(struct workload *workload, const struct child *child)
{
	struct build *build = workload->build;
	struct node *spec = child->spec ? child->spec : build_copy(build, val_get(child->template_, "spec"));
	const struct label words[] = {
		{"restartPolicy", child->restart_policy},
		{"hostname", child->hostname},
		{"subdomain", child->subdomain},
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i].value)
			build_put_string(build, spec, words[i].key, words[i].value);
	return spec;
}

static struct doc *child_document(struct workload *workload, const struct child *child)
{
	struct build *build = workload->build;
	struct node *root = build_map(build), *metadata = build_map(build);
	const struct val *given = val_get(child->template_, "metadata");
	build_put_string(build, root, "apiVersion", child->kind ? child->api_version : "v1");
	build_put_string(build, root, "kind", child->kind ? child->kind : "Pod");
	build_put_string(build, metadata, "name", child->name);
	build_put_string(build, metadata, "namespace", workload->object->namespace_);
	build_put(build, metadata, "labels",
	          merged(build, val_get(given, "labels"), child->labels, child->label_count));
	build_put(build, metadata, "annotations",
	          merged(build, val_get(given, "annotations"), child->annotations, child->annotation_count));
	if (!child->free)
		build_put(build, metadata, "ownerReferences", owner_references(workload));
	if (child->finalizer) {
		struct node *list = build_list(build);
		build_append(build, list, build_string(build, child->finalizer));
		build_put(build, metadata, "finalizers", list);
	}
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", child_spec(workload, child));
	return build_finish(build, root);
}

#define ACTOR "platoon-workloads"

/* NULL when it was carried out or its object is gone; otherwise the error. */
static const struct store_error *carry_out(struct workload *workload, const struct store_request *request)
{
	struct store_error refused;
	if (writes_send(workload->store, request, workload->arena, &refused) == 0 ||
	    (request->verb != STORE_CREATE && strcmp(refused.reason, "NotFound") == 0))
		return NULL;
	struct store_error *error = arena_new(workload->arena, struct store_error);
	*error = refused;
	workload->turn->failure = error->message;
	workload->failed = true;
	return error;
}

void workload_create(struct workload *workload, struct child *child)
{
	if (workload->room == 0)
		return;
	workload->room--;
	struct doc *doc = child_document(workload, child);
	struct store_request request =
		writes_create(store_api_of_kind(workload->store, child->kind ? child->api_version : "v1",
	                                        child->kind ? child->kind : "Pod"),
	                      workload->object->namespace_, doc_root(doc), ACTOR);
	/* A name that is taken is often that of a predecessor that has not gone yet: no news, only tried again. */
	const struct store_error *error = carry_out(workload, &request);
	if (error && strcmp(error->reason, "AlreadyExists") != 0)
		writes_event(workload->store, workload->object, true, "FailedCreate",
		             arena_printf(workload->arena, "%s %s: %s", child->kind ? child->kind : "Pod", child->name,
		                          error->message),
		             workload->now);
	doc_destroy(doc);
}

void workload_delete(struct workload *workload, const struct store_object *object)
{
	if (metadata_is_leaving(object->root))
		return;
	struct store_request request = writes_delete(object, ACTOR);
	request.options.propagation = STORE_BACKGROUND;
	carry_out(workload, &request);
}

/* In the version in which the object was written: our writes do not change it. */
static const struct store_api *api_of(const struct store_object *object)
{
	const char *version = val_str(val_get(object->root, "apiVersion"), "");
	for (size_t i = 0; i < object->type->api_count; i++)
		if (strcmp(object->type->apis[i].api_version, version) == 0)
			return &object->type->apis[i];
	return object->type->apis;
}

void workload_patch(struct workload *workload, const struct store_object *object, enum store_subresource subresource,
                    struct node *body)
{
	struct doc *doc = build_finish(workload->build, body);
	struct store_request request = writes_change(object, doc_root(doc), ACTOR);
	request.api = api_of(object);
	request.subresource = subresource;
	carry_out(workload, &request);
	doc_destroy(doc);
}

void workload_delete_pods(struct workload *workload)
{
	for (size_t i = workload->pods.count; i-- > 0;)
		workload_delete(workload, workload->pods.items[i]);
}

static bool ended(const struct child *child)
{
	enum pod_state state = pod_state(child->pod);
	return (state == POD_FAILED && child->when_ended != CHILD_KEEP_ENDED) ||
	       (state == POD_SUCCEEDED && child->when_ended == CHILD_REPLACE_ENDED);
}

void workload_settle(struct workload *workload, struct child *wanted, size_t count)
{
	workload_settle_list(workload, &workload->pods, wanted, count);
}

void workload_settle_list(struct workload *workload, const struct store_list *list, struct child *wanted, size_t count)
{
	bool *kept = arena_array(workload->arena, bool, list->count);
	for (size_t i = 0; i < count; i++) {
		struct store_object **found = find(list, wanted[i].name);
		wanted[i].pod = found ? *found : NULL;
		if (found)
			kept[found - list->items] = true;
	}
	for (size_t i = list->count; i-- > 0;)
		if (!kept[i])
			workload_delete(workload, list->items[i]);
	for (size_t i = 0; i < count; i++) {
		struct child *child = &wanted[i];
		if (!child->pod && !child->hold)
			workload_create(workload, child);
		else if (child->pod && !child->kind && ended(child))
			workload_delete(workload, child->pod);
	}
}

void workload_again(struct workload *workload, int64_t seconds)
{
	int64_t pause = seconds < 1 ? 1 : seconds * CLOCK_SECOND;
	if (workload->turn->again_ns == 0 || pause < workload->turn->again_ns)
		workload->turn->again_ns = pause;
}

const char *workload_free_name(struct workload *workload, const char *stem)
{
	const struct store_type *type = store_type_find(workload->store, "", "pods");
	for (;;) {
		uint64_t hash =
			XXH3_64bits_withSeed(workload->object->uid, strlen(workload->object->uid), workload->salt++);
		const char *name =
			arena_printf(workload->arena, "%s-%.5s", stem, workload_hash(workload->arena, NULL, hash));
		if (!store_peek(workload->store, type, workload->object->namespace_, name))
			return name;
	}
}

/* ---- status ---- */

struct node *workload_status(struct workload *workload)
{
	struct node *status = build_map(workload->build);
	int64_t generation = 0;
	/* Jobs do not have the field, and a real API server drops it. */
	bool has_field = strcmp(workload->kind->group, KINDS_BATCH) != 0;
	if (has_field && val_int(val_path(workload->root, "metadata", "generation", NULL), &generation) == 0)
		build_put_int(workload->build, status, "observedGeneration", generation);
	return status;
}

void workload_put_conditions(struct workload *workload, struct node *status, const struct condition *conditions,
                             size_t count)
{
	bool same = true;
	for (size_t i = 0; i < count; i++)
		same &= writes_has_condition(workload->root, &conditions[i]);
	if (!same)
		build_put(workload->build, status, "conditions",
		          writes_conditions(workload->build, workload->root, conditions, count, workload->now));
}

/* 0, "", false, and lists and maps without anything else in them. */
static bool is_nothing(const struct val *val)
{
	int64_t number = 0;
	const struct val *item;
	switch (val_kind(val)) {
	case VAL_NULL:
		return true;
	case VAL_BOOL:
		return !val_bool(val, true);
	case VAL_STRING:
		return val_str(val, "")[0] == '\0';
	case VAL_LIST:
	case VAL_MAP:
		for (struct val_iter it = val_iter(val); val_next(&it, NULL, &item);)
			if (!is_nothing(item))
				return false;
		return true;
	default:
		return val_int(val, &number) == 0 && number == 0;
	}
}

/* A real API server leaves zeros out of what it keeps of its own kinds. Writing them again and again would never end. */
static struct node *without_zeros(struct workload *workload, struct node *status)
{
	const struct val *known = val_get(workload->root, "status"), *item;
	const char *key;
	struct doc *doc = build_finish(workload->build, status);
	struct node *kept = build_map(workload->build);
	for (struct val_iter it = val_iter(doc_root(doc)); val_next(&it, &key, &item);)
		if (!is_nothing(item) || !is_nothing(val_get(known, key)))
			build_put(workload->build, kept, key, build_copy(workload->build, item));
	doc_destroy(doc);
	return kept;
}

void workload_write_status(struct workload *workload, struct node *status)
{
	struct node *body = build_map(workload->build);
	bool custom = workload->object->type->custom;
	build_put(workload->build, body, "status", custom ? status : without_zeros(workload, status));
	workload_patch(workload, workload->object, STORE_STATUS, body);
}

bool workload_late(struct workload *workload, const struct val *limit)
{
	int64_t seconds, since;
	if (val_int(limit, &seconds) < 0 || seconds < 0 || seconds > INT32_MAX ||
	    !workload_time(val_path(workload->root, "status", "startTime", NULL), &since))
		return false;
	if (workload->now < since + seconds)
		workload_again(workload, since + seconds - workload->now);
	return workload->now >= since + seconds;
}

void workload_expire(struct workload *workload, const struct val *ttl, const struct val *end)
{
	int64_t seconds, since;
	if (val_int(ttl, &seconds) < 0 || seconds < 0 || seconds > INT32_MAX || !workload_time(end, &since))
		return;
	if (workload->now >= since + seconds)
		workload_delete(workload, workload->object);
	else
		workload_again(workload, since + seconds - workload->now);
}
