/* Owns looking up the owners of single pods in lists of objects. */
#include "schedule/snapshot_terms.h"

#include "base/hash.h"
#include "group/defaults.h"

#include <stdlib.h>
#include <string.h>

struct found {
	const char *key;
	const struct manifest *object;
	bool used;
	UT_hash_handle hh;
};

struct terms_reader {
	struct arena *arena;
	struct found *objects;
	struct group_source source;
	struct group_options group;
	const struct manifests *owners;
	struct doc *nothing; /* {} */
};

/* The version of a kind does not matter, and no namespace is the default one. */
static const char *key_of(struct arena *arena, const char *api_version, const char *kind, const char *namespace_,
                          const char *name)
{
	const char *slash = strchr(api_version, '/');
	return arena_printf(arena, "%.*s/%s/%s/%s", slash ? (int)(slash - api_version) : 0, api_version, kind,
	                    namespace_[0] ? namespace_ : "default", name);
}

static void add_all(struct terms_reader *reader, const struct manifests *list)
{
	for (size_t i = 0; list && i < list->count; i++) {
		const struct manifest *item = &list->items[i];
		struct found *found = arena_new(reader->arena, struct found);
		*found = (struct found){
			.key = key_of(reader->arena, item->api_version, item->kind, item->namespace_, item->name),
			.object = item,
		};
		struct found *known;
		HASH_FIND_STR(reader->objects, found->key, known);
		if (!known)
			HASH_ADD_KEYPTR(hh, reader->objects, found->key, strlen(found->key), found);
	}
}

/* Classes that every installation has need not be among the objects. Any map will do: only whether there is one is asked. */
static bool is_well_known(const char *priority)
{
	int32_t value;
	const char *name;
	for (size_t i = 0; (name = snapshot_well_known_priority(i, &value)); i++)
		if (strcmp(name, priority) == 0)
			return true;
	return false;
}

static const struct val *get(void *context, const char *api_version, const char *kind, const char *namespace_,
                             const char *name)
{
	struct terms_reader *reader = context;
	struct arena *arena = arena_create();
	const char *key = key_of(arena, api_version, kind, namespace_, name);
	struct found *found;
	HASH_FIND_STR(reader->objects, key, found);
	arena_destroy(arena);
	if (found)
		found->used = true;
	return found                                                       ? found->object->object
	       : strcmp(kind, "PriorityClass") == 0 && is_well_known(name) ? doc_root(reader->nothing)
	                                                                   : NULL;
}

/* Terms depend on what is above a pod, not on who stands beside it. */
static const struct val *next_pod(void *context, const char *namespace_, const char *label, const char *value,
                                  size_t *cursor)
{
	(void)context, (void)namespace_, (void)label, (void)value, (void)cursor;
	return NULL;
}

static const struct val *next_object(void *context, const char *api_version, const char *kind, size_t *cursor)
{
	const struct terms_reader *reader = context;
	(void)api_version;
	for (; reader->owners && *cursor < reader->owners->count; (*cursor)++)
		if (strcmp(reader->owners->items[*cursor].kind, kind) == 0)
			return reader->owners->items[(*cursor)++].object;
	return NULL;
}

struct terms_reader *terms_open(const struct manifests *objects, const struct manifests *owners,
                                const struct settings *settings)
{
	struct terms_reader *reader = base_calloc(1, sizeof(*reader));
	reader->arena = arena_create();
	reader->owners = owners;
	reader->nothing = doc_parse_json("{}", 2, NULL);
	reader->source =
		(struct group_source){.context = reader, .get = get, .next_pod = next_pod, .next_object = next_object};
	add_all(reader, owners);
	add_all(reader, objects);
	reader->group = settings->group;
	const struct val *map = get(reader, "v1", "ConfigMap", GROUP_DEFAULTS_NAMESPACE, GROUP_DEFAULTS_NAME);
	if (map)
		group_defaults_read(map, reader->arena, &reader->group, NULL);
	return reader;
}

bool terms_used(const struct terms_reader *reader, const struct manifest *object)
{
	struct arena *arena = arena_create();
	const char *key = key_of(arena, object->api_version, object->kind, object->namespace_, object->name);
	struct found *found;
	HASH_FIND_STR(reader->objects, key, found);
	arena_destroy(arena);
	return found && found->used;
}

void terms_close(struct terms_reader *reader)
{
	if (!reader)
		return;
	HASH_CLEAR(hh, reader->objects);
	doc_destroy(reader->nothing);
	arena_destroy(reader->arena);
	free(reader);
}

bool terms_read(struct terms_reader *reader, const char *namespace_, const char *pod, struct arena *arena,
                struct group_terms *out)
{
	const struct val *object = get(reader, "v1", "Pod", namespace_, pod);
	if (!object)
		return false;
	struct arena *scratch = arena_create();
	struct group_result result;
	group_pod_marks(object, &reader->source, &reader->group, scratch, &result);
	bool known = group_terms_of(&result, arena, out);
	arena_destroy(scratch);
	return known;
}

void terms_group(struct terms_reader *reader, const struct val *pod, struct arena *arena, struct group_result *out)
{
	group_pod(pod, &reader->source, &reader->group, arena, out);
}

void terms_judge(struct terms_reader *reader, const struct val *group, struct arena *arena, struct group_result *out)
{
	group_judge_neighbour(group, &reader->source, &reader->group, arena, out);
}
