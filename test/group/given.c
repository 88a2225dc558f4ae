/* Reads the `given` half of a grouping case. Objects of the cases come from unit tests and are often incomplete: an
 * object without a namespace stands in every namespace. */
#include "given.h"

#include <string.h>

static const char *text_at(const struct val *object, const char *field)
{
	return val_str(val_path(object, "metadata", field, NULL), "");
}

static bool is_object(const struct val *object, const char *api_version, const char *kind, const char *namespace_,
                      const char *name)
{
	if (strcmp(text_at(object, "name"), name) != 0 || strcmp(val_str(val_get(object, "kind"), ""), kind) != 0 ||
	    strcmp(val_str(val_get(object, "apiVersion"), ""), api_version) != 0)
		return false;
	const char *own = text_at(object, "namespace");
	return !*own || !*namespace_ || strcmp(own, namespace_) == 0;
}

static const struct val *get(void *context, const char *api_version, const char *kind, const char *namespace_,
                             const char *name)
{
	const struct given *given = context;
	const struct val *item;
	for (struct val_iter it = val_iter(given->objects); val_next(&it, NULL, &item);)
		if (is_object(item, api_version, kind, namespace_, name))
			return item;
	return is_object(given->workload, api_version, kind, namespace_, name) ? given->workload : NULL;
}

static const struct val *next_pod(void *context, const char *namespace_, const char *label, const char *value,
                                  size_t *cursor)
{
	const struct given *given = context;
	while (*cursor < val_count(given->objects)) {
		const struct val *item = val_item(given->objects, (*cursor)++);
		const char *own = text_at(item, "namespace");
		if (strcmp(val_str(val_get(item, "kind"), ""), "Pod") == 0 &&
		    strcmp(val_str(val_path(item, "metadata", "labels", label, NULL), ""), value) == 0 &&
		    (!*own || !*namespace_ || strcmp(own, namespace_) == 0))
			return item;
	}
	return NULL;
}

static const struct val *next_object(void *context, const char *api_version, const char *kind, size_t *cursor)
{
	const struct given *given = context;
	while (*cursor < val_count(given->objects)) {
		const struct val *item = val_item(given->objects, (*cursor)++);
		if (strcmp(val_str(val_get(item, "kind"), ""), kind) == 0 &&
		    strcmp(val_str(val_get(item, "apiVersion"), ""), api_version) == 0)
			return item;
	}
	return NULL;
}

static struct group_owner owner_of(const struct val *object)
{
	return (struct group_owner){
		.api_version = val_str(val_get(object, "apiVersion"), ""),
		.kind = val_str(val_get(object, "kind"), ""),
		.name = text_at(object, "name"),
		.uid = text_at(object, "uid"),
		.object = object,
	};
}

static bool same_object(const struct group_owner *owner, const struct val *object)
{
	return strcmp(owner->kind, val_str(val_get(object, "kind"), "")) == 0 &&
	       strcmp(owner->name, text_at(object, "name")) == 0;
}

/* Chains are given as metadata only; the whole objects are among the others. */
static void read_chain(const struct val *chain, struct arena *arena, struct given *out)
{
	const struct val *item;
	out->owners.items = arena_array(arena, struct group_owner, val_count(chain) + 1);
	for (struct val_iter it = val_iter(chain); val_next(&it, NULL, &item);) {
		struct group_owner owner = owner_of(item);
		const struct val *whole =
			get(out, owner.api_version, owner.kind, text_at(item, "namespace"), owner.name);
		out->owners.items[out->owners.count++] = whole ? owner_of(whole) : owner;
	}
}

static void add_workload(struct arena *arena, struct given *out)
{
	struct group_owners *owners = &out->owners;
	const char *kind = val_str(val_get(out->workload, "kind"), "");
	if (owners->count && same_object(&owners->items[owners->count - 1], out->workload)) {
		owners->items[owners->count - 1] = owner_of(out->workload);
		return;
	}
	if (strcmp(kind, "Pod") == 0 && strcmp(text_at(out->workload, "name"), text_at(out->pod, "name")) == 0)
		return;
	struct group_owner *grown = arena_array(arena, struct group_owner, owners->count + 1);
	if (owners->count)
		memcpy(grown, owners->items, owners->count * sizeof(*grown));
	grown[owners->count++] = owner_of(out->workload);
	owners->items = grown;
}

void given_read(const struct val *given, struct arena *arena, struct given *out)
{
	*out = (struct given){
		.workload = val_get(given, "workload"),
		.pod = val_get(given, "pod"),
		.objects = val_get(given, "clusterObjects"),
		.source = {.context = out, .get = get, .next_pod = next_pod, .next_object = next_object},
	};
	const struct val *options = val_get(given, "options"), *chain = val_get(given, "ownerChain");
	out->options.knative_gang = val_bool(val_get(options, "gangScheduleKnative"), false);
	out->options.keep_old_names = val_bool(val_get(options, "searchForLegacyPodGroups"), false);
	if (val_kind(chain) == VAL_LIST)
		read_chain(chain, arena, out);
	else
		out->owners = group_owners_of(out->pod, &out->source, arena);
	if (val_kind(out->workload) == VAL_MAP)
		add_workload(arena, out);
}
