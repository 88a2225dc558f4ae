/* Owns following the store for the dashboard, and which records have to be written again. */
#include "view/records_internal.h"

#include "base/hash.h"
#include "kinds/kinds.h"
#include "loop/informer.h"

#include <stdlib.h>
#include <string.h>

/* Which kinds have records, and the letters of those; in this order, so that what gives others their meaning is read first. */
static const struct {
	enum kind_id id;
	char letter;
} shown[] = {
	{KIND_TOPOLOGY, 't'}, {KIND_NODE, 'n'}, {KIND_QUEUE, 'q'},  {KIND_POD_GROUP, 'g'},
	{KIND_POD, 'p'},      {KIND_RBG, 'r'},  {KIND_POLICY, 'y'},
};
#define SHOWN (sizeof(shown) / sizeof(*shown))

static char letter_of(enum kind_id kind)
{
	size_t i = 0;
	while (shown[i].id != kind)
		i++;
	return shown[i].letter;
}

struct follower {
	struct records *records;
	enum kind_id kind;
	struct informer *informer;
};

/* What the last cycle that looked at a group said about it. */
struct told_reasons {
	UT_hash_handle hh;
	struct plan_group group; /* nothing but its reasons, which are in one block with their texts */
	char key[];              /* 'g' or 'p', then "namespace/name" */
};

struct records {
	struct records_options options;
	struct follower followers[SHOWN];
	struct interner *keys; /* of all levels of all Topologies: the labels of nodes that are shown */
	bool keys_changed;
	struct told_reasons *reasons;
};

/* ---- reasons ---- */

static struct told_reasons *find_reasons(const struct records *records, const char *key)
{
	struct told_reasons *found;
	HASH_FIND_STR(records->reasons, key, found);
	return found;
}

static void drop_reasons(struct records *records, struct told_reasons *reasons)
{
	if (!reasons)
		return;
	HASH_DEL(records->reasons, reasons);
	free(reasons->group.reasons);
	free(reasons);
}

static bool same_reasons(const struct told_reasons *told, const struct plan_group *group)
{
	if ((told ? told->group.reason_count : 0) != group->reason_count)
		return false;
	for (size_t i = 0; i < group->reason_count; i++) {
		const struct plan_reason *a = &told->group.reasons[i], *b = &group->reasons[i];
		if (!text_equal(a->code, b->code) || !text_equal(a->message, b->message) ||
		    !text_equal(a->level, b->level) || !text_equal(a->domain, b->domain) || a->have != b->have ||
		    a->need != b->need)
			return false;
	}
	return true;
}

/* The texts of a reason that do not outlive the plan; its code does. */
#define REASON_TEXTS 3
static const char **reason_text(struct plan_reason *reason, int number)
{
	const char **texts[REASON_TEXTS] = {&reason->message, &reason->level, &reason->domain};
	return texts[number];
}

static struct plan_reason *copy_reasons(const struct plan_group *group)
{
	size_t size = group->reason_count * sizeof(struct plan_reason), used = size;
	for (size_t i = 0; i < group->reason_count; i++)
		for (int t = 0; t < REASON_TEXTS; t++)
			size += *reason_text(&group->reasons[i], t) ? strlen(*reason_text(&group->reasons[i], t)) + 1
			                                            : 0;
	struct plan_reason *copy = base_malloc(size);
	memcpy(copy, group->reasons, used);
	for (size_t i = 0; i < group->reason_count; i++)
		for (int t = 0; t < REASON_TEXTS; t++) {
			const char **text = reason_text(&copy[i], t);
			size_t length = *text ? strlen(*text) + 1 : 0;
			if (*text)
				*text = memcpy((char *)copy + used, *text, length);
			used += length;
		}
	return copy;
}

/* Whether they are other than before. */
static bool set_reasons(struct records *records, const char *key, const struct plan_group *group)
{
	struct told_reasons *told = find_reasons(records, key);
	if (same_reasons(told, group))
		return false;
	if (group->reason_count == 0) {
		drop_reasons(records, told);
		return true;
	}
	if (!told) {
		size_t length = strlen(key);
		told = base_calloc(1, sizeof(*told) + length + 1);
		memcpy(told->key, key, length + 1);
		HASH_ADD_KEYPTR(hh, records->reasons, told->key, length, told);
	}
	free(told->group.reasons);
	told->group.reasons = copy_reasons(group);
	told->group.reason_count = group->reason_count;
	return true;
}

/* ---- records ---- */

static void write_record(struct records *records, enum kind_id kind, struct records_draft *record)
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
	case KIND_POD_GROUP:
		records_write_group(record);
		break;
	case KIND_POD:
		records_write_pod(record);
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

static void show(struct records *records, enum kind_id kind, const struct store_object *object)
{
	struct arena *arena = arena_create();
	struct build *build = build_create();
	const char *name = name_of(object, arena), letter[2] = {letter_of(kind), '\0'};
	const struct told_reasons *told = find_reasons(records, arena_printf(arena, "%s%s", letter, name));
	struct records_draft record = {
		.object = object,
		.root = object->root,
		.namespace_ = object->namespace_,
		.name = object->name,
		.arena = arena,
		.build = build,
		.map = build_map(build),
		.told = told ? &told->group : NULL,
	};
	build_put_string(build, record.map, "k", letter);
	build_put_string(build, record.map, "n", name);
	write_record(records, kind, &record);
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

/* Whether a later report will tell of this object again, so that nobody would see what it is now. */
static bool is_superseded(const struct records *records, const struct store_object *object)
{
	const struct store *store = records->options.store;
	const struct store_object *newest = store_peek(store, object->type, object->namespace_, object->name);
	return newest && newest->version > object->version && newest->version <= store_committed(store);
}

static void changed(void *context, const struct store_object *object, const struct store_object *old, bool deleted)
{
	const struct follower *follower = context;
	struct records *records = follower->records;
	(void)old;
	if (!deleted) {
		if (follower->kind == KIND_TOPOLOGY)
			note_keys(records, object);
		if (!is_superseded(records, object))
			show(records, follower->kind, object);
		return;
	}
	struct arena *arena = arena_create();
	const char *name = name_of(object, arena);
	char letter = letter_of(follower->kind);
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
	bool all = true;
	for (size_t i = 0; i < SHOWN; i++) {
		informer_poll(records->followers[i].informer);
		all &= !informer_behind(records->followers[i].informer);
		if (records->followers[i].kind == KIND_NODE && records->keys_changed)
			show_nodes_again(records);
	}
	return all;
}

bool records_complete(const struct records *records)
{
	bool complete = true;
	for (size_t i = 0; i < SHOWN; i++)
		complete &= !informer_listing(records->followers[i].informer);
	return complete;
}

static void show_named(struct records *records, enum kind_id kind, const char *namespace_, const char *name)
{
	const struct kind_row *row = kinds_of_id(kind);
	const struct store_type *type = store_type_find(records->options.store, row->group, row->resource);
	struct store_object *object =
		store_object_retain(type ? store_peek(records->options.store, type, namespace_, name) : NULL);
	if (object)
		show(records, kind, object);
	store_object_release(object);
}

void records_note_group(struct records *records, const struct plan *plan, size_t index)
{
	struct arena *arena = arena_create();
	const struct plan_group *group = &plan->groups[index];
	enum kind_id kind = plan->snapshot->groups[group->index].implicit ? KIND_POD : KIND_POD_GROUP;
	const char *key = arena_printf(arena, "%c%s/%s", letter_of(kind), group->namespace_, group->name);
	if (set_reasons(records, key, group))
		show_named(records, kind, group->namespace_, group->name);
	arena_destroy(arena);
}

/* ---- start and end ---- */

struct records *records_create(const struct records_options *options)
{
	struct records *records = base_calloc(1, sizeof(*records));
	records->options = *options;
	records->keys = interner_create();
	interner_id(records->keys, "topology.kubernetes.io/zone"); /* what there is to see without a Topology */
	for (size_t i = 0; i < SHOWN; i++) {
		const struct kind_row *row = kinds_of_id(shown[i].id);
		records->followers[i] = (struct follower){.records = records, .kind = shown[i].id};
		records->followers[i].informer = informer_create(&(struct informer_options){
			.store = options->store,
			.group = row->group,
			.resource = row->resource,
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
	for (size_t i = 0; i < SHOWN; i++)
		informer_destroy(records->followers[i].informer);
	struct told_reasons *reasons, *next;
	HASH_ITER(hh, records->reasons, reasons, next)
		drop_reasons(records, reasons);
	interner_destroy(records->keys);
	free(records);
}
