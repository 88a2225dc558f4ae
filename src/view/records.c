/* Owns following the store for the dashboard, and which records have to be written again. */
#include "view/records_internal.h"

#include "base/hash.h"
#include "loop/informer.h"

#include <stdlib.h>
#include <string.h>

enum kind { KIND_TOPOLOGY, KIND_NODE, KIND_QUEUE, KIND_GROUP, KIND_POD, KIND_RBG, KIND_POLICY, KINDS };

/* In this order, so that what gives others their meaning is read first. */
static const struct {
	const char *group, *resource;
	char letter;
} kinds[KINDS] = {
	[KIND_TOPOLOGY] = {"kai.scheduler", "topologies", 't'},
	[KIND_NODE] = {"", "nodes", 'n'},
	[KIND_QUEUE] = {"scheduling.run.ai", "queues", 'q'},
	[KIND_GROUP] = {"scheduling.run.ai", "podgroups", 'g'},
	[KIND_POD] = {"", "pods", 'p'},
	[KIND_RBG] = {"workloads.x-k8s.io", "rolebasedgroups", 'r'},
	[KIND_POLICY] = {"workloads.x-k8s.io", "coordinatedpolicies", 'y'},
};

struct follower {
	struct records *records;
	enum kind kind;
	struct informer *informer;
};

/* Why a group, or a pod that is a group of its own, is as it is. */
struct reason_text {
	UT_hash_handle hh;
	char *json;
	char key[]; /* 'g' or 'p', then "namespace/name" */
};

struct records {
	struct records_options options;
	struct follower followers[KINDS];
	struct interner *keys; /* of all levels of all Topologies: the labels of nodes that are shown */
	bool keys_changed;
	struct reason_text *reasons;
};

/* ---- reasons ---- */

static struct reason_text *find_reasons(const struct records *records, const char *key)
{
	struct reason_text *found;
	HASH_FIND_STR(records->reasons, key, found);
	return found;
}

static void drop_reasons(struct records *records, struct reason_text *reasons)
{
	if (!reasons)
		return;
	HASH_DEL(records->reasons, reasons);
	free(reasons->json);
	free(reasons);
}

/* Whether they are other than before. NULL: none. */
static bool set_reasons(struct records *records, const char *key, const char *json)
{
	struct reason_text *reasons = find_reasons(records, key);
	if (text_equal(reasons ? reasons->json : NULL, json))
		return false;
	if (!json) {
		drop_reasons(records, reasons);
		return true;
	}
	if (!reasons) {
		size_t length = strlen(key);
		reasons = base_calloc(1, sizeof(*reasons) + length + 1);
		memcpy(reasons->key, key, length + 1);
		HASH_ADD_KEYPTR(hh, records->reasons, reasons->key, length, reasons);
	}
	free(reasons->json);
	reasons->json = base_strdup(json);
	return true;
}

/* ---- records ---- */

static void write_record(struct records *records, enum kind kind, struct records_draft *record, const char *reasons)
{
	switch (kind) {
	case KIND_TOPOLOGY:
		records_write_topology(record);
		break;
	case KIND_NODE:
		records_write_node(record, records->keys);
		break;
	case KIND_QUEUE:
		records_write_queue(record);
		break;
	case KIND_GROUP:
		records_write_group(record, reasons);
		break;
	case KIND_POD:
		records_write_pod(record, reasons);
		break;
	case KIND_RBG:
		records_write_rbg(record);
		break;
	default:
		records_write_policy(record);
		break;
	}
}

static const char *name_of(const struct store_object *object, struct arena *arena)
{
	return object->namespace_[0] ? arena_printf(arena, "%s/%s", object->namespace_, object->name) : object->name;
}

static void show(struct records *records, enum kind kind, const struct store_object *object)
{
	struct arena *arena = arena_create();
	struct build *build = build_create();
	const char *name = name_of(object, arena), letter[2] = {kinds[kind].letter, '\0'};
	const struct reason_text *reasons = find_reasons(records, arena_printf(arena, "%s%s", letter, name));
	struct records_draft record = {
		.object = object,
		.root = object->root,
		.namespace_ = object->namespace_,
		.name = object->name,
		.arena = arena,
		.build = build,
		.map = build_map(build),
	};
	build_put_string(build, record.map, "k", letter);
	build_put_string(build, record.map, "n", name);
	write_record(records, kind, &record, reasons ? reasons->json : NULL);
	struct buffer json = {0};
	build_write(build, record.map, DOC_JSON_COMPACT, &json);
	records->options.put(records->options.context, letter[0], name, json.text);
	buffer_free(&json);
	build_destroy(build);
	arena_destroy(arena);
}

void records_put_amounts(struct records_draft *record, const struct resource_amount *amounts, size_t count)
{
	int64_t gpus = 0;
	for (size_t i = 0; i < count; i++) {
		int64_t amount = amounts[i].amount;
		if (text_ends_with(amounts[i].name, "/gpu"))
			gpus += amount > INT64_C(1000000000) ? INT64_C(1000000000) : amount;
		else if (strcmp(amounts[i].name, "cpu") == 0)
			build_put_int(record->build, record->map, "cpu", amount);
		else if (strcmp(amounts[i].name, "memory") == 0)
			build_put_int(record->build, record->map, "mem", amount >> 20);
	}
	if (gpus)
		build_put_int(record->build, record->map, "gpu", gpus * 1000);
}

/* ---- changes ---- */

static void note_keys(struct records *records, const struct store_object *topology)
{
	const struct val *level;
	uint32_t before = interner_count(records->keys);
	for (struct val_iter it = val_iter(val_path(topology->root, "spec", "levels", NULL));
	     val_next(&it, NULL, &level);)
		interner_id(records->keys, val_str(val_get(level, "nodeLabel"), ""));
	records->keys_changed |= interner_count(records->keys) != before;
}

static void changed(void *context, const struct store_object *object, const struct store_object *old, bool deleted)
{
	const struct follower *follower = context;
	struct records *records = follower->records;
	(void)old;
	if (!deleted) {
		if (follower->kind == KIND_TOPOLOGY)
			note_keys(records, object);
		show(records, follower->kind, object);
		return;
	}
	struct arena *arena = arena_create();
	const char *name = name_of(object, arena);
	char letter = kinds[follower->kind].letter;
	drop_reasons(records, find_reasons(records, arena_printf(arena, "%c%s", letter, name)));
	records->options.put(records->options.context, letter, name, NULL);
	arena_destroy(arena);
}

/* A Topology names labels that were not shown. */
static void show_nodes_again(struct records *records)
{
	const struct store_type *type = store_type_find(records->options.store, "", "nodes");
	struct arena *arena = arena_create();
	struct store_error error = {0};
	struct store_list list = {0};
	struct store_list_request request = {.api = type ? type->apis : NULL};
	records->keys_changed = false;
	if (type && type->api_count > 0 && store_list(records->options.store, &request, &list, arena, &error) == 0)
		for (size_t i = 0; i < list.count; i++)
			show(records, KIND_NODE, list.items[i]);
	store_list_clear(&list);
	arena_destroy(arena);
}

bool records_poll(struct records *records)
{
	bool complete = true;
	for (size_t i = 0; i < KINDS; i++) {
		informer_poll(records->followers[i].informer);
		complete &= !informer_listing(records->followers[i].informer);
		if (i == KIND_NODE && records->keys_changed)
			show_nodes_again(records);
	}
	return complete;
}

static void show_named(struct records *records, enum kind kind, const char *namespace_, const char *name)
{
	const struct store_type *type =
		store_type_find(records->options.store, kinds[kind].group, kinds[kind].resource);
	struct store_object *object =
		store_object_retain(type ? store_peek(records->options.store, type, namespace_, name) : NULL);
	if (object)
		show(records, kind, object);
	store_object_release(object);
}

void records_note_plan(struct records *records, const struct plan *plan)
{
	struct arena *arena = arena_create();
	for (size_t i = 0; i < plan->group_count; i++) {
		const struct plan_group *group = &plan->groups[i];
		enum kind kind = plan->snapshot->groups[group->index].implicit ? KIND_POD : KIND_GROUP;
		const char *key = arena_printf(arena, "%c%s/%s", kinds[kind].letter, group->namespace_, group->name);
		struct buffer json = {0};
		if (group->reason_count > 0) {
			struct build *build = build_create();
			build_write(build, plan_write_reasons(group, build), DOC_JSON_COMPACT, &json);
			build_destroy(build);
		}
		if (set_reasons(records, key, json.text))
			show_named(records, kind, group->namespace_, group->name);
		buffer_free(&json);
	}
	arena_destroy(arena);
}

/* ---- start and end ---- */

struct records *records_create(const struct records_options *options)
{
	struct records *records = base_calloc(1, sizeof(*records));
	records->options = *options;
	records->keys = interner_create();
	interner_id(records->keys, "topology.kubernetes.io/zone"); /* what there is to see without a Topology */
	for (size_t i = 0; i < KINDS; i++) {
		records->followers[i] = (struct follower){.records = records, .kind = (enum kind)i};
		records->followers[i].informer = informer_create(&(struct informer_options){
			.store = options->store,
			.group = kinds[i].group,
			.resource = kinds[i].resource,
			.changed = changed,
			.context = &records->followers[i],
		});
	}
	return records;
}

void records_destroy(struct records *records)
{
	if (!records)
		return;
	for (size_t i = 0; i < KINDS; i++)
		informer_destroy(records->followers[i].informer);
	struct reason_text *reasons, *next;
	HASH_ITER(hh, records->reasons, reasons, next)
		drop_reasons(records, reasons);
	interner_destroy(records->keys);
	free(records);
}
