/* Owns decoding and rules of ClusterTopology. */
#include "admit/clustertopology.h"

#include "admit/decode.h"
#include "base/strings.h"
#include "rollout/deploy.h"

#include <stdlib.h>
#include <string.h>

#define HOSTNAME_LABEL "kubernetes.io/hostname"
#define MOST_LAYERS 16

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

struct layer {
	const char *name, *key;
	int64_t scope;
};

static int compare_scope(const void *left, const void *right)
{
	const struct layer *a = left, *b = right;
	return (a->scope > b->scope) - (a->scope < b->scope);
}

static void read_layer(const struct decode *decode, const struct decode_path *path, const struct val *map,
                       struct interner *seen, struct layer *out)
{
	const char *const fields[] = {"name", "key"};
	const char **texts[] = {&out->name, &out->key};
	for (int i = 0; i < 2; i++) {
		const char *text = *texts[i] = decode_string(decode, path, map, fields[i]);
		if (!text) {
			decode_error(decode, PATH_KEY(path, fields[i]), "add it", "a layer needs a %s", fields[i]);
			*texts[i] = "";
			continue;
		}
		struct buffer both = {0};
		buffer_printf(&both, "%s %s", fields[i], text);
		uint32_t known = interner_count(seen);
		if (interner_id(seen, both.text) < known)
			decode_error(decode, PATH_KEY(path, fields[i]), "remove one of the two layers",
			             "%s %s is used twice", fields[i], decode_show(decode->problems->arena, text));
		buffer_free(&both);
	}
	if (*out->key && !name_is_label_key(out->key))
		decode_error(decode, PATH_KEY(path, "key"), decode_label_key_fix, "%s is not a valid label key",
		             decode_show(decode->problems->arena, out->key));
}

/* topologyScope gives every layer a number, each another one. */
static void read_scope(const struct decode *decode, const struct val *map, struct layer *layers, size_t count)
{
	const struct decode_path *path = PATH_KEY(spec_path, "topologyScope");
	const char *fix = "give every layer one number, larger for larger domains";
	const char *key;
	const struct val *item;
	size_t found = 0;
	if (val_count(map) == 0)
		return;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		size_t i = 0;
		while (i < count && strcmp(layers[i].name, key) != 0)
			i++;
		if (i == count)
			decode_error(decode, PATH_KEY(path, key), fix, "there is no layer of that name");
		else if (decode_int(decode, path, map, key, INT32_MIN, INT32_MAX, &layers[i].scope))
			found++;
	}
	if (found < count) {
		decode_error(decode, path, fix, "only %zu of %zu layers have a number", found, count);
		return;
	}
	qsort(layers, count, sizeof(*layers), compare_scope);
	for (size_t i = 1; i < count; i++)
		if (layers[i].scope == layers[i - 1].scope)
			decode_error(decode, PATH_KEY(path, layers[i].name), fix, "%s has the same number",
			             layers[i - 1].name);
}

static void fill(const struct decode *decode, const struct layer *layers, size_t count, struct cluster_topology *out)
{
	struct deploy_layer *names = arena_array(decode->arena, struct deploy_layer, count);
	out->layers = arena_array(decode->arena, const char *, count);
	out->keys = arena_array(decode->arena, const char *, count);
	out->layer_count = count;
	for (size_t i = 0; i < count; i++) {
		names[i].name = out->layers[i] = layers[i].name;
		out->keys[i] = layers[i].key;
		if (i > 0 && strcmp(layers[i].key, HOSTNAME_LABEL) == 0)
			decode_error(decode, PATH_KEY(spec_path, "layers"),
			             "put it first: layers go from small to large", "%s may only be the smallest layer",
			             HOSTNAME_LABEL);
	}
	out->levels = deploy_level_text(names, count, decode->arena);
}

int cluster_topology_decode(const struct val *object, struct arena *arena, struct cluster_topology *out,
                            struct problems *problems)
{
	static const char *const known[] = {"layers", "Layers", "topologyScope"};
	struct decode decode = {.arena = arena, .problems = problems};
	size_t errors = problems->errors, index = 0;
	*out = (struct cluster_topology){.levels = ""};
	struct metadata meta = decode_metadata(&decode, object, false);
	const struct val *spec = decode_spec(&decode, object), *item;
	out->name = meta.name;
	decode_known(&decode, spec_path, spec, known, 3);
	const char *field = val_get(spec, "layers") ? "layers" : val_get(spec, "Layers") ? "Layers" : "layers";
	const struct decode_path *path = PATH_KEY(spec_path, field);
	const struct val *list = decode_list(&decode, spec_path, spec, field);
	if (val_count(list) < 1 || val_count(list) > MOST_LAYERS)
		decode_error(&decode, path, "list the layers, smallest domain first", "there must be 1 to %d layers",
		             MOST_LAYERS);
	struct layer *layers = arena_array(arena, struct layer, val_count(list));
	struct interner *seen = interner_create();
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		layers[index].name = layers[index].key = "";
		if (decode_is(&decode, PATH_INDEX(path, index), item, VAL_MAP))
			read_layer(&decode, PATH_INDEX(path, index), item, seen, &layers[index]);
	}
	interner_destroy(seen);
	read_scope(&decode, decode_map(&decode, spec_path, spec, "topologyScope"), layers, index);
	fill(&decode, layers, index, out);
	return problems->errors > errors ? -1 : 0;
}

const char *cluster_topology_key(const struct cluster_topology *topology, const char *layer)
{
	for (size_t i = 0; i < topology->layer_count; i++)
		if (strcmp(topology->layers[i], layer) == 0)
			return topology->keys[i];
	return NULL;
}
