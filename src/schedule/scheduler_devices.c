/* Owns what is written about one claim for devices before its pod is bound, in the order of kube-scheduler: a finalizer, so
 * that the claim outlives its users, then allocation and reservation in one status. Every write is guarded by the version it
 * rests on; one that meets a newer version is tried again as long as the claim is nobody else's. */
#include "base/clock.h"
#include "kinds/names.h"
#include "loop/writes.h"
#include "object/metadata.h"
#include "schedule/scheduler_claims_internal.h"

#include <stdlib.h>
#include <string.h>

#define FINALIZER "resource.kubernetes.io/delete-protection"
#define MOST_TRIES 5

/* ---- reading ---- */

static struct store_object *peek_claim(const struct scheduler *scheduler, const char *namespace_, const char *name)
{
	struct store *store = scheduler->options.store;
	const struct store_type *type = store_type_find(store, KINDS_RESOURCE, "resourceclaims");
	return type ? store_peek(store, type, namespace_, name) : NULL;
}

static struct store_object *peek(const struct awaited_claim *claim)
{
	return peek_claim(claim->scheduler, claim->namespace_, claim->name);
}

static bool has_finalizer(const struct store_object *object)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(object->root, "metadata", "finalizers", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(item, ""), FINALIZER) == 0)
			return true;
	return false;
}

static const struct val *allocation_of(const struct store_object *object)
{
	const struct val *allocation = val_path(object->root, "status", "allocation", NULL);
	return val_kind(allocation) == VAL_MAP ? allocation : NULL;
}

static bool is_reserved(const struct store_object *object, const char *uid)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(object->root, "status", "reservedFor", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "uid"), ""), uid) == 0)
			return true;
	return false;
}

static bool same_text(const struct val *map, const char *key, const char *text)
{
	return strcmp(val_str(val_get(map, key), ""), text) == 0;
}

/* Whether it was given these very devices. */
static bool is_as_chosen(const struct store_object *object, const struct awaited_devices *devices)
{
	const struct val *results = val_path(allocation_of(object), "devices", "results", NULL), *item;
	size_t at = 0;
	if (val_count(results) != devices->result_count)
		return false;
	for (struct val_iter it = val_iter(results); val_next(&it, NULL, &item); at++)
		if (!same_text(item, "request", devices->results[at].request) ||
		    !same_text(item, "driver", devices->results[at].driver) ||
		    !same_text(item, "pool", devices->results[at].pool) ||
		    !same_text(item, "device", devices->results[at].device))
			return false;
	return true;
}

/* ---- what is written ---- */

static struct node *guarded(struct build *build, const struct store_object *object, struct node *metadata)
{
	struct node *body = build_map(build);
	build_put_string(build, metadata, "resourceVersion",
	                 val_str(val_path(object->root, "metadata", "resourceVersion", NULL), ""));
	build_put(build, body, "metadata", metadata);
	return body;
}

static struct node *copy_list(struct build *build, const struct val *list)
{
	struct node *out = build_list(build);
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		build_append(build, out, build_copy(build, item));
	return out;
}

static struct node *finalizer_patch(struct build *build, const struct store_object *object)
{
	struct node *metadata = build_map(build);
	struct node *finalizers = copy_list(build, val_path(object->root, "metadata", "finalizers", NULL));
	build_append(build, finalizers, build_string(build, FINALIZER));
	build_put(build, metadata, "finalizers", finalizers);
	return guarded(build, object, metadata);
}

/* What the claim says of a result's request: "gpu" is what stands in `exactly`, "gpu/large" one of `firstAvailable`. */
static const struct val *find_request(const struct store_object *object, const char *name)
{
	const char *slash = strchr(name, '/');
	size_t length = slash ? (size_t)(slash - name) : strlen(name);
	const struct val *item, *option;
	for (struct val_iter it = val_iter(val_path(object->root, "spec", "devices", "requests", NULL));
	     val_next(&it, NULL, &item);) {
		const char *own = val_str(val_get(item, "name"), "");
		if (strlen(own) != length || strncmp(own, name, length) != 0)
			continue;
		if (!slash)
			return val_get(item, "exactly");
		for (struct val_iter at = val_iter(val_get(item, "firstAvailable")); val_next(&at, NULL, &option);)
			if (same_text(option, "name", slash + 1))
				return option;
	}
	return NULL;
}

/* With the tolerations of its request, as drivers and the controller that evicts read them there. */
static struct node *results_of(struct build *build, const struct store_object *object,
                               const struct awaited_devices *devices)
{
	struct node *list = build_list(build);
	for (size_t i = 0; i < devices->result_count; i++) {
		const struct device_result *result = &devices->results[i];
		const struct val *tolerations = val_get(find_request(object, result->request), "tolerations");
		struct node *item = build_map(build);
		build_put_string(build, item, "request", result->request);
		build_put_string(build, item, "driver", result->driver);
		build_put_string(build, item, "pool", result->pool);
		build_put_string(build, item, "device", result->device);
		if (result->admin)
			build_put_bool(build, item, "adminAccess", true);
		if (val_count(tolerations))
			build_put(build, item, "tolerations", build_copy(build, tolerations));
		build_append(build, list, item);
	}
	return list;
}

static void add_config(struct build *build, struct node *list, const struct val *from, const char *source)
{
	struct node *item = build_copy(build, from);
	build_put_string(build, item, "source", source);
	build_append(build, list, item);
}

/* Whether the configuration is for a request that got devices: for all, or named, or a part of one that is named. */
static bool is_used(const struct val *config, const struct awaited_devices *devices)
{
	const struct val *list = val_get(config, "requests"), *item;
	bool used = val_count(list) == 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		for (size_t i = 0; i < devices->result_count && !used; i++) {
			const char *name = val_str(item, ""), *own = devices->results[i].request;
			size_t length = strlen(name);
			used = strncmp(own, name, length) == 0 && (own[length] == '\0' || own[length] == '/');
		}
	return used;
}

/* What the classes of its devices say, each once, then what the claim says: later ones count before earlier ones. */
static void put_config(struct build *build, struct node *devices, const struct awaited_claim *claim,
                       const struct store_object *object)
{
	struct store *store = claim->scheduler->options.store;
	const struct store_type *type = store_type_find(store, KINDS_RESOURCE, "deviceclasses");
	struct node *list = build_list(build);
	struct interner *seen = interner_create();
	size_t count = 0;
	const struct val *item;
	for (size_t i = 0; i < claim->devices->result_count; i++) {
		const char *name =
			val_str(val_get(find_request(object, claim->devices->results[i].request), "deviceClassName"),
		                "");
		uint32_t known = interner_count(seen);
		const struct store_object *class_ =
			type && interner_id(seen, name) == known ? store_peek(store, type, "", name) : NULL;
		for (struct val_iter at = val_iter(class_ ? val_path(class_->root, "spec", "config", NULL) : NULL);
		     val_next(&at, NULL, &item); count++)
			add_config(build, list, item, "FromClass");
	}
	interner_destroy(seen);
	for (struct val_iter it = val_iter(val_path(object->root, "spec", "devices", "config", NULL));
	     val_next(&it, NULL, &item);) {
		if (!is_used(item, claim->devices))
			continue;
		add_config(build, list, item, "FromClaim");
		count++;
	}
	if (count)
		build_put(build, devices, "config", list);
}

/* All of these devices are reached from one node. */
static struct node *nodes_of(struct build *build, const char *node)
{
	struct node *field = build_map(build), *fields = build_list(build), *values = build_list(build);
	struct node *term = build_map(build), *terms = build_list(build), *out = build_map(build);
	build_append(build, values, build_string(build, node));
	build_put_string(build, field, "key", "metadata.name");
	build_put_string(build, field, "operator", "In");
	build_put(build, field, "values", values);
	build_append(build, fields, field);
	build_put(build, term, "matchFields", fields);
	build_append(build, terms, term);
	build_put(build, out, "nodeSelectorTerms", terms);
	return out;
}

static struct node *allocation_for(const struct awaited_claim *claim, struct build *build,
                                   const struct store_object *object)
{
	struct node *allocation = build_map(build), *devices = build_map(build);
	char now[32];
	clock_print_rfc3339(claim->scheduler->last / CLOCK_SECOND, now);
	build_put(build, devices, "results", results_of(build, object, claim->devices));
	put_config(build, devices, claim, object);
	build_put(build, allocation, "devices", devices);
	build_put(build, allocation, "nodeSelector", nodes_of(build, claim->node));
	build_put_string(build, allocation, "allocationTimestamp", now);
	return allocation;
}

static struct node *status_patch(const struct awaited_claim *claim, struct build *build,
                                 const struct store_object *object)
{
	struct node *body = guarded(build, object, build_map(build)), *status = build_map(build);
	struct node *users = copy_list(build, val_path(object->root, "status", "reservedFor", NULL));
	struct node *user = build_map(build);
	build_put_string(build, user, "resource", "pods");
	build_put_string(build, user, "name", claim->pod);
	build_put_string(build, user, "uid", claim->devices->pod_uid);
	build_append(build, users, user);
	build_put(build, status, "reservedFor", users);
	if (!claim->devices->allocated)
		build_put(build, status, "allocation", allocation_for(claim, build, object));
	build_put(build, body, "status", status);
	return body;
}

void claims_devices_write(struct awaited_claim *claim)
{
	struct store_object *object = store_object_retain(peek(claim));
	if (!object) {
		claims_refuse(claim, 404, "resourceclaim \"%s\" not found", claim->name);
		return;
	}
	struct build *build = build_create();
	bool status = has_finalizer(object);
	claim->devices->step = status ? DEVICE_STATUS : DEVICE_FINALIZER;
	struct doc *doc =
		build_finish(build, status ? status_patch(claim, build, object) : finalizer_patch(build, object));
	struct store_request request = writes_change(object, doc_root(doc), WRITES_ACTOR);
	request.subresource = status ? STORE_STATUS : STORE_MAIN;
	claim->unanswered = true;
	store_submit(claim->scheduler->options.store, &request, claims_answered, claim);
	doc_destroy(doc);
	build_destroy(build);
	store_object_release(object);
}

/* ---- looking ---- */

static enum claim_progress fail(const char **why, const char *text)
{
	*why = text;
	return CLAIM_HAS_FAILED;
}

/* What comes next; a mirror shows the answer to a write a little later. */
static enum claim_progress go_on(struct awaited_claim *claim, const struct store_object *object, struct arena *arena,
                                 const char **why)
{
	bool shown = claim->devices->step == DEVICE_FINALIZER && has_finalizer(object);
	bool refused = claim->code >= 300;
	if (!refused && !shown)
		return CLAIM_WAITS;
	if (refused && (claim->code != 409 || claim->devices->tries++ >= MOST_TRIES))
		return fail(why, arena_strdup(arena, claim->message ? claim->message : "it could not be written"));
	free(claim->message);
	claim->message = NULL;
	claim->code = 0;
	claims_devices_write(claim);
	return CLAIM_WAITS;
}

enum claim_progress claims_devices_look(struct awaited_claim *claim, struct arena *arena, const char **why)
{
	struct store_object *object = peek(claim);
	if (!object || strcmp(object->uid, claim->uid) != 0)
		return fail(why, "it is gone");
	if (metadata_is_leaving(object->root))
		return fail(why, "it is being deleted");
	bool allocated = allocation_of(object) != NULL;
	if (allocated && !is_as_chosen(object, claim->devices))
		return fail(why, "it was allocated by others");
	if (!allocated && claim->devices->allocated)
		return fail(why, "its devices were taken back");
	if (allocated && is_reserved(object, claim->devices->pod_uid))
		return CLAIM_IS_BOUND;
	return go_on(claim, object, arena, why);
}

bool claims_devices_are_ready(const struct scheduler *scheduler, const char *namespace_, const char *name,
                              const char *pod_uid)
{
	const struct store_object *object = name ? peek_claim(scheduler, namespace_, name) : NULL;
	return object && allocation_of(object) && is_reserved(object, pod_uid);
}

/* ---- taking back ---- */

/* The pod is taken out; when it was the only one the devices are free again. The finalizer is left to the controller of
 * claims, which takes it off a claim that is deleted and not allocated. */
void claims_devices_take_back(const struct awaited_claim *claim)
{
	struct store_object *object = store_object_retain(peek(claim));
	if (!object || strcmp(object->uid, claim->uid) != 0 || !is_reserved(object, claim->devices->pod_uid)) {
		store_object_release(object);
		return;
	}
	struct build *build = build_create();
	struct arena *arena = arena_create();
	struct node *body = guarded(build, object, build_map(build)), *status = build_map(build),
		    *users = build_list(build);
	const struct val *item;
	size_t left = 0;
	for (struct val_iter it = val_iter(val_path(object->root, "status", "reservedFor", NULL));
	     val_next(&it, NULL, &item);)
		if (!same_text(item, "uid", claim->devices->pod_uid)) {
			build_append(build, users, build_copy(build, item));
			left++;
		}
	build_put(build, status, "reservedFor", left ? users : build_null(build));
	if (left == 0 && !claim->devices->allocated)
		build_put(build, status, "allocation", build_null(build));
	build_put(build, body, "status", status);
	struct doc *doc = build_finish(build, body);
	struct store_request request = writes_change(object, doc_root(doc), WRITES_ACTOR);
	struct store_error error = {0};
	request.subresource = STORE_STATUS;
	if (writes_send(claim->scheduler->options.store, &request, arena, &error) < 0)
		metrics_error(&claim->scheduler->metrics, error.code);
	doc_destroy(doc);
	arena_destroy(arena);
	build_destroy(build);
	store_object_release(object);
}

/* ---- what waits have ---- */

struct awaited_devices *claims_devices_copy(const struct device_choice *choice, const char *pod_uid)
{
	struct awaited_devices *devices = base_calloc(1, sizeof(*devices));
	devices->pod_uid = base_strdup(pod_uid);
	devices->allocated = choice->allocated;
	devices->results = base_calloc(choice->result_count + 1, sizeof(*devices->results));
	for (size_t i = 0; i < choice->result_count; i++)
		devices->results[devices->result_count++] = (struct device_result){
			.request = base_strdup(choice->results[i].request),
			.driver = base_strdup(choice->results[i].driver),
			.pool = base_strdup(choice->results[i].pool),
			.device = base_strdup(choice->results[i].device),
			.admin = choice->results[i].admin,
		};
	return devices;
}

void claims_devices_free(struct awaited_devices *devices)
{
	if (!devices)
		return;
	for (size_t i = 0; i < devices->result_count; i++) {
		free((char *)(uintptr_t)devices->results[i].request);
		free((char *)(uintptr_t)devices->results[i].driver);
		free((char *)(uintptr_t)devices->results[i].pool);
		free((char *)(uintptr_t)devices->results[i].device);
	}
	free(devices->results);
	free(devices->pod_uid);
	free(devices);
}

struct interner *claims_devices_given(const struct scheduler *scheduler)
{
	struct interner *given = interner_create();
	struct buffer key = {0};
	for (size_t w = 0; w < scheduler->claim_waits.count; w++) {
		const struct claim_wait *wait = scheduler->claim_waits.items[w];
		for (size_t c = 0; c < wait->claim_count; c++) {
			const struct awaited_devices *devices = wait->claims[c].devices;
			for (size_t i = 0; devices && i < devices->result_count; i++) {
				if (devices->results[i].admin)
					continue;
				key.length = 0;
				buffer_printf(&key, "%s/%s/%s", devices->results[i].driver, devices->results[i].pool,
				              devices->results[i].device);
				interner_id(given, key.text);
			}
		}
	}
	buffer_free(&key);
	return given;
}

bool claims_devices_is_given(const void *context, const char *key)
{
	return interner_find(context, key) != UINT32_MAX;
}
