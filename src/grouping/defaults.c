/* Owns reading what kinds of workloads get when they say nothing themselves, from a ConfigMap of the cluster. */
#include "grouping/internal.h"
#include "loop/writes.h"

#include <string.h>

#define SECOND INT64_C(1000000000)
#define KEY_TYPES "types"

static const char *text_at(struct arena *arena, const struct val *item, const char *key)
{
	const char *text = val_str(val_get(item, key), "");
	return *text ? arena_strdup(arena, text) : NULL;
}

/* "Deployment.apps" names the group of the kind too; "Deployment" and no group means that kind of any group. */
static bool read_row(struct arena *arena, const struct val *item, struct group_kind_default *row)
{
	const char *type = text_at(arena, item, "typeName"), *dot = type ? strchr(type, '.') : NULL;
	const char *group = text_at(arena, item, "group");
	if (!type || type == dot)
		return false;
	*row = (struct group_kind_default){
		.api_group = group ? group
	                     : dot ? dot + 1
	                           : GROUP_ANY,
		.kind = dot ? arena_strndup(arena, type, (size_t)(dot - type)) : type,
		.priority_class = text_at(arena, item, "priorityName"),
		.preemptibility = text_at(arena, item, "preemptibility"),
	};
	return true;
}

/* Without a turn nobody is told. */
static void refuse(const struct reconcile *turn, const struct store_object *object, const char *message)
{
	if (turn)
		writes_event_once(turn->store, object, true, "GroupingDefaultsInvalid", message, turn->now_ns / SECOND);
}

/* "true" or "false"; anything else is told and means what is usual. */
static bool read_switch(const struct reconcile *turn, const struct store_object *object, const struct val *root,
                        struct arena *arena, const char *key, bool usual)
{
	const struct val *given = val_path(root, "data", key, NULL);
	const char *text = val_str(given, "");
	if (!given || strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return given ? *text == 't' : usual;
	refuse(turn, object,
	       arena_printf(arena, "data.%s: must be \"true\" or \"false\"; %s is taken", key,
	                    usual ? "true" : "false"));
	return usual;
}

static void read_types(const struct reconcile *turn, const struct store_object *object, const struct val *root,
                       struct arena *arena, struct group_options *options)
{
	const char *text = val_str(val_path(root, "data", KEY_TYPES, NULL), NULL);
	if (!text)
		return;
	struct error error = {0};
	struct doc *doc = doc_parse_json(text, strlen(text), &error);
	const struct val *list = doc_root(doc), *item;
	if (!doc || val_kind(list) != VAL_LIST) {
		refuse(turn, object,
		       arena_printf(arena,
		                    "data.types: must be a JSON list of {typeName, priorityName, "
		                    "preemptibility}%s%s; the usual defaults are taken",
		                    error.text[0] ? ": " : "", error.text));
		doc_destroy(doc);
		return;
	}
	struct group_kind_default *rows = arena_array(arena, struct group_kind_default, val_count(list));
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		if (read_row(arena, item, &rows[options->default_count]))
			options->default_count++;
		else
			refuse(turn, object,
			       arena_printf(arena,
			                    "data.types[%zu].typeName: must name a kind, such as Job or "
			                    "Deployment.apps; the entry is ignored",
			                    index));
	}
	options->defaults = rows;
	doc_destroy(doc);
}

static void read_all(const struct reconcile *turn, const struct store_object *object, const struct val *root,
                     struct arena *arena, struct group_options *options)
{
	options->defaults = NULL;
	options->default_count = 0;
	options->knative_gang = read_switch(turn, object, root, arena, "gangScheduleKnative", false);
	options->keep_old_names = read_switch(turn, object, root, arena, "searchForLegacyPodGroups", false);
	options->ignore_kartas = !read_switch(turn, object, root, arena, "genericKartaFallback", true);
	read_types(turn, object, root, arena, options);
}

void grouping_defaults_read(const struct reconcile *turn, const struct store_object *object, struct arena *arena,
                            struct group_options *options)
{
	read_all(turn, object, object ? object->root : NULL, arena, options);
}

void grouping_defaults_of(const struct val *map, struct arena *arena, struct group_options *options)
{
	read_all(NULL, NULL, map, arena, options);
}
