/* Topology: decode and rules of one object. What several Topologies say together is judged in admit.c. */
#include "admit/topology.h"

#include "admit/decode.h"
#include "base/strings.h"
#include "kinds/names.h"

#include <string.h>

#define HOSTNAME_LABEL "kubernetes.io/hostname"
#define MAX_LEVELS 16
#define MAX_KEY_LENGTH 316

static const struct decode_path *const levels_path =
	&(const struct decode_path){.up = &(const struct decode_path){.key = "spec"}, .key = "levels"};

static const char *read_key(const struct decode *decode, const struct decode_path *path, const struct val *map,
                            const char *field)
{
	const struct val *val = val_get(map, field);
	if (!val || val_kind(val) == VAL_NULL || !decode_is(decode, PATH_KEY(path, field), val, VAL_STRING))
		return NULL;
	const char *text = val_str(val, "");
	if (name_is_label_key(text) && strlen(text) <= MAX_KEY_LENGTH)
		return text;
	if (!*text)
		decode_error(decode, PATH_KEY(path, field), decode_label_key_fix, "must not be empty");
	else
		decode_error(decode, PATH_KEY(path, field), decode_label_key_fix, "%s is not a valid label key",
		             decode_show(decode->problems->arena, text));
	return NULL;
}

/* Node labels: valid, each once, the host name only at the bottom. `seen` numbers them in order. */
static void check_label(const struct decode *decode, const struct val *map, size_t index, size_t count,
                        struct interner *seen, struct topology_spec *out)
{
	const struct decode_path *path = PATH_INDEX(levels_path, index);
	const struct val *label = val_get(map, "nodeLabel");
	if (!label || val_kind(label) == VAL_NULL)
		decode_error(decode, PATH_KEY(path, "nodeLabel"), "name the node label of this level",
		             "a level needs nodeLabel");
	const char *key = out->levels[index] = read_key(decode, path, map, "nodeLabel");
	if (!key)
		return;
	uint32_t known = interner_count(seen);
	if (interner_id(seen, key) < known)
		decode_error(decode, PATH_KEY(path, "nodeLabel"), "remove one of the two levels",
		             "node label %s is used twice; levels must be unique",
		             decode_show(decode->problems->arena, key));
	if (strcmp(key, HOSTNAME_LABEL) == 0 && index + 1 < count)
		decode_error(decode, PATH_KEY(path, "nodeLabel"), "move it to the end: levels go from large to small",
		             "%s may only be the last level", HOSTNAME_LABEL);
}

static void check_alias(const struct decode *decode, const struct val *map, size_t index, struct interner *aliases,
                        const struct interner *labels, struct topology_spec *out)
{
	const struct decode_path *path = PATH_INDEX(levels_path, index);
	const char *alias = out->aliases[index] = read_key(decode, path, map, "alias");
	if (!alias)
		return;
	const char *shown = decode_show(decode->problems->arena, alias);
	uint32_t known = interner_count(aliases);
	if (interner_id(aliases, alias) < known)
		decode_error(decode, PATH_KEY(path, "alias"), "give every level its own alias",
		             "alias %s is used twice", shown);
	if (interner_find(labels, alias) != UINT32_MAX)
		decode_error(decode, PATH_KEY(path, "alias"), "choose another alias, or leave it out",
		             "alias %s is also a node label of this Topology", shown);
}

static void read_levels(const struct decode *decode, const struct val *list, struct topology_spec *out)
{
	static const char *const names[] = {"nodeLabel", "alias"};
	size_t count = val_count(list), index = 0;
	out->levels = arena_array(decode->arena, const char *, count);
	out->aliases = arena_array(decode->arena, const char *, count);
	out->level_count = count;
	struct interner *labels = interner_create(), *aliases = interner_create();
	const struct val *item;
	const char *unused;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++)
		if (decode_is(decode, PATH_INDEX(levels_path, index), item, VAL_MAP)) {
			decode_known(decode, PATH_INDEX(levels_path, index), item, names, 2);
			check_label(decode, item, index, count, labels, out);
		}
	index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++)
		check_alias(decode, item, index, aliases, labels, out);
	interner_destroy(labels);
	interner_destroy(aliases);
}

int topology_decode(const struct val *object, struct arena *arena, struct topology_spec *out, struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	*out = (struct topology_spec){0};
	const struct val *spec = decode_spec(&decode, object);
	static const char *const names[] = {"levels"};
	decode_known(&decode, levels_path->up, spec, names, 1);
	out->name = decode_metadata(&decode, object, false).name;
	const struct val *levels = val_get(spec, "levels");
	if (!levels || val_kind(levels) == VAL_NULL || (val_kind(levels) == VAL_LIST && val_count(levels) == 0))
		decode_error(&decode, levels_path, "list the node labels from the largest domain to the smallest",
		             "a Topology needs 1 to %d levels", MAX_LEVELS);
	else if (decode_is(&decode, levels_path, levels, VAL_LIST))
		read_levels(&decode, levels, out);
	if (out->level_count > MAX_LEVELS)
		decode_error(&decode, levels_path, "remove levels that no constraint uses",
		             "a Topology has at most %d levels, not %zu", MAX_LEVELS, out->level_count);
	return problems->errors > errors ? -1 : 0;
}

bool topology_of_labels(const char *name, struct arena *arena, struct topology_spec *out)
{
	if (!text_starts_with(name, KINDS_LABEL_TOPOLOGY))
		return false;
	const char *at = name + strlen(KINDS_LABEL_TOPOLOGY);
	*out = (struct topology_spec){.name = name,
	                              .levels = arena_array(arena, const char *, MAX_LEVELS),
	                              .aliases = arena_array(arena, const char *, MAX_LEVELS)};
	for (;;) {
		size_t length = strcspn(at, ",");
		const char *key = arena_strndup(arena, at, length);
		if (out->level_count == MAX_LEVELS || !name_is_label_key(key) || length > MAX_KEY_LENGTH ||
		    topology_level(out, key) >= 0)
			return false;
		out->levels[out->level_count++] = key;
		if (!at[length])
			return true;
		at += length + 1;
	}
}

int topology_level(const struct topology_spec *topology, const char *level)
{
	for (size_t i = 0; level && i < topology->level_count; i++)
		if (text_equal(topology->levels[i], level) || text_equal(topology->aliases[i], level))
			return (int)i;
	return -1;
}
