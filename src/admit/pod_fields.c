/* Owns asking a pod by the table of what a pod can ask for: whether it asks for what is not served, or has fields that pods
 * do not have. */
#include "admit/pod_fields.h"

#include "admit/decode.h"
#include "admit/keys.h"

#include <string.h>

#define DEEPEST_TEMPLATE 16 /* levels of an object in which templates are looked for */

static const char *const container_lists[] = {"containers", "initContainers"};

/* ---- names of the table ---- */

static size_t name_length(const char *name)
{
	return strcspn(name, " ");
}

static const char *next_name(const char *name)
{
	name += name_length(name);
	return name + (*name == ' ');
}

/* Whether a name of the table is this text; a star at its end stands for anything. */
static bool is_named(const char *name, size_t length, const char *text)
{
	if (name[length - 1] == '*')
		return strncmp(name, text, length - 1) == 0;
	return strncmp(name, text, length) == 0 && text[length] == '\0';
}

/* Whether values of it can be such that the pod is blocked. */
static bool may_block(const struct pod_field *field)
{
	return field->state == FIELD_NOT_SERVED || field->not_served;
}

static const char *about_of(const struct pod_field *field)
{
	return field->otherwise ? field->otherwise : field->about;
}

/* ---- what a pod has that is not served ---- */

struct search {
	struct arena *arena;
	void (*found)(void *context, const struct pod_field *field, const char *path);
	void *context;
};

/* Absent, null and empty are the same, but for fields whose key says it all. */
static bool is_asked(const struct pod_field *field, const struct val *val)
{
	enum val_kind kind = val_kind(val);
	if (!val || kind == VAL_NULL ||
	    (!field->even_empty && (kind == VAL_MAP || kind == VAL_LIST) && !val_count(val)))
		return false;
	return !field->not_served || field->not_served(val);
}

static void report(const struct search *search, const struct pod_field *field, const struct val *val,
                   const struct decode_path *path)
{
	if (is_asked(field, val))
		search->found(search->context, field, decode_path_text(search->arena, path));
}

/* A dotted path below `val`, "[]" for each item of a list. */
static void search_path(const struct search *search, const struct pod_field *field, const struct val *val,
                        const char *path, size_t length, const struct decode_path *up)
{
	char key[64];
	size_t part = 0;
	while (part < length && path[part] != '.' && path[part] != '[' && part + 1 < sizeof(key)) {
		key[part] = path[part];
		part++;
	}
	key[part] = '\0';
	const struct val *here = val_get(val, key), *item;
	const struct decode_path *at = PATH_KEY(up, key);
	if (part == length)
		report(search, field, here, at);
	else if (path[part] == '.')
		search_path(search, field, here, path + part + 1, length - part - 1, at);
	if (part == length || path[part] == '.' || val_kind(here) != VAL_LIST)
		return;
	size_t index = 0, rest = part + strlen("[].");
	for (struct val_iter it = val_iter(here); val_next(&it, NULL, &item); index++)
		search_path(search, field, item, path + rest, length - rest, PATH_INDEX(at, index));
}

static void search_paths(const struct search *search, enum pod_field_place place, const struct val *val,
                         const struct decode_path *up)
{
	for (size_t i = 0; i < pod_field_count; i++) {
		const struct pod_field *field = &pod_fields[i];
		if (field->place != place || !may_block(field))
			continue;
		for (const char *name = field->names; *name; name = next_name(name))
			search_path(search, field, val, name, name_length(name), up);
	}
}

static const struct pod_field *find_key(enum pod_field_place place, const char *key)
{
	for (size_t i = 0; i < pod_field_count; i++)
		if (pod_fields[i].place == place && may_block(&pod_fields[i]))
			for (const char *name = pod_fields[i].names; *name; name = next_name(name))
				if (is_named(name, name_length(name), key))
					return &pod_fields[i];
	return NULL;
}

static void search_keys(const struct search *search, enum pod_field_place place, const struct val *map,
                        const struct decode_path *up)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		const struct pod_field *field = key ? find_key(place, key) : NULL;
		if (field)
			report(search, field, item, PATH_KEY(up, key));
	}
}

/* A resource that is limited and requested is named once. */
static void search_resources(const struct search *search, const struct val *resources, const struct decode_path *up)
{
	const struct val *limits = val_get(resources, "limits"), *item;
	const char *key;
	search_keys(search, FIELD_RESOURCE, limits, PATH_KEY(up, "limits"));
	for (struct val_iter it = val_iter(val_get(resources, "requests")); val_next(&it, &key, &item);) {
		const struct pod_field *field = key && !val_get(limits, key) ? find_key(FIELD_RESOURCE, key) : NULL;
		if (field)
			report(search, field, item, PATH_KEY(PATH_KEY(up, "requests"), key));
	}
}

static void search_metadata(const struct search *search, const struct val *metadata)
{
	const struct decode_path *path = PATH_KEY(NULL, "metadata");
	search_keys(search, FIELD_ANNOTATION, val_get(metadata, "annotations"), PATH_KEY(path, "annotations"));
	search_keys(search, FIELD_LABEL, val_get(metadata, "labels"), PATH_KEY(path, "labels"));
}

static void search_all(const struct search *search, const struct val *object)
{
	const struct val *spec = val_get(object, "spec"), *item;
	const struct decode_path *spec_path = PATH_KEY(NULL, "spec");
	search_paths(search, FIELD_SPEC, spec, spec_path);
	for (int list = 0; list < 2; list++) {
		const struct decode_path *up = PATH_KEY(spec_path, container_lists[list]);
		size_t index = 0;
		for (struct val_iter it = val_iter(val_get(spec, container_lists[list])); val_next(&it, NULL, &item);
		     index++) {
			const struct decode_path *path = PATH_INDEX(up, index);
			search_paths(search, FIELD_CONTAINER, item, path);
			search_resources(search, val_get(item, "resources"), PATH_KEY(path, "resources"));
		}
	}
	search_metadata(search, val_get(object, "metadata"));
}

/* ---- blocks ---- */

#define MOST_CAUSES 8 /* different things that one pod is told it asks for in vain */

struct causes {
	struct arena *arena;
	const struct pod_field *fields[MOST_CAUSES];
	const char *paths[MOST_CAUSES]; /* fields that say the same are named together */
	size_t count;
};

static void add_cause(void *context, const struct pod_field *field, const char *path)
{
	struct causes *causes = context;
	size_t i = 0;
	while (i < causes->count && strcmp(about_of(causes->fields[i]), about_of(field)) != 0)
		i++;
	if (i == MOST_CAUSES)
		return;
	causes->fields[i] = field;
	causes->paths[i] = i < causes->count ? arena_printf(causes->arena, "%s, %s", causes->paths[i], path) : path;
	causes->count += i == causes->count;
}

static void add_blocks(const struct causes *causes, const struct pod_block **block)
{
	for (size_t i = 0; i < causes->count; i++)
		pod_block_add(block, causes->arena, BLOCK_UNSUPPORTED, "%s: %s", causes->paths[i],
		              about_of(causes->fields[i]));
}

void pod_fields_block(const struct val *object, struct arena *arena, const struct pod_block **block)
{
	struct causes causes = {.arena = arena};
	search_all(&(struct search){.arena = arena, .found = add_cause, .context = &causes}, object);
	add_blocks(&causes, block);
}

void pod_fields_block_group(const struct val *object, struct arena *arena, const struct pod_block **block)
{
	struct causes causes = {.arena = arena};
	search_metadata(&(struct search){.arena = arena, .found = add_cause, .context = &causes},
	                val_get(object, "metadata"));
	add_blocks(&causes, block);
}

/* ---- verdicts ---- */

struct judging {
	struct problems *problems;
	const char *path; /* of the template, with a dot behind it; "" for a pod */
};

static void add_warning(void *context, const struct pod_field *field, const char *path)
{
	const struct judging *judging = context;
	problem_add(judging->problems, SEVERITY_WARNING, problem_path(judging->problems, "%s%s", judging->path, path),
	            "remove it, or let another scheduler place the pod", "the pod stays blocked: %s", about_of(field));
}

static void add_workload_warning(void *context, const struct pod_field *field, const char *path)
{
	const struct judging *judging = context;
	problem_add(judging->problems, SEVERITY_WARNING, path, "remove it, or let another scheduler place the pods",
	            "the pods stay blocked: %s", about_of(field));
}

void pod_fields_judge_workload(const struct val *object, struct problems *problems)
{
	struct judging judging = {.problems = problems, .path = ""};
	search_metadata(&(struct search){.arena = problems->arena, .found = add_workload_warning, .context = &judging},
	                val_get(object, "metadata"));
}

/* Whether the key is the first part of a path in the table. */
static bool is_known(enum pod_field_place place, const char *key)
{
	size_t length = strlen(key);
	for (size_t i = 0; i < pod_field_count; i++)
		if (pod_fields[i].place == place)
			for (const char *name = pod_fields[i].names; *name; name = next_name(name))
				if (strncmp(name, key, length) == 0 &&
				    strchr(" .[", name[length])) /* also at its end */
					return true;
	return false;
}

static void judge_known(const struct judging *judging, enum pod_field_place place, const struct val *map,
                        const struct decode_path *up)
{
	const char *key;
	const struct val *item;
	struct arena *arena = judging->problems->arena;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);)
		if (key && !is_known(place, key))
			problem_add(judging->problems, SEVERITY_WARNING,
			            problem_path(judging->problems, "%s%s", judging->path,
			                         decode_path_text(arena, PATH_KEY(up, key))),
			            "check its name, or remove it", "pods have no such field; it has no effect");
}

void pod_fields_judge(const struct val *object, const char *path, struct problems *problems)
{
	struct judging judging = {.problems = problems, .path = path[0] ? problem_path(problems, "%s.", path) : ""};
	const struct val *spec = val_get(object, "spec"), *item;
	const struct decode_path *spec_path = PATH_KEY(NULL, "spec");
	search_all(&(struct search){.arena = problems->arena, .found = add_warning, .context = &judging}, object);
	keys_judge(object, path, problems);
	judge_known(&judging, FIELD_SPEC, spec, spec_path);
	for (int list = 0; list < 2; list++) {
		size_t index = 0;
		for (struct val_iter it = val_iter(val_get(spec, container_lists[list])); val_next(&it, NULL, &item);
		     index++)
			judge_known(&judging, FIELD_CONTAINER, item,
			            PATH_INDEX(PATH_KEY(spec_path, container_lists[list]), index));
	}
}

/* A map with containers in its spec is a pod template, under whatever name. */
static void judge_below(const struct val *val, const struct decode_path *path, int depth, struct problems *problems)
{
	const char *key;
	const struct val *item;
	size_t index = 0;
	if (depth == DEEPEST_TEMPLATE)
		return;
	if (path && val_kind(val_path(val, "spec", "containers", NULL)) == VAL_LIST) {
		pod_fields_judge(val, decode_path_text(problems->arena, path), problems);
		return;
	}
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item); index++)
		if (val_kind(item) == VAL_MAP || val_kind(item) == VAL_LIST)
			judge_below(item, key ? PATH_KEY(path, key) : PATH_INDEX(path, index), depth + 1, problems);
}

void pod_fields_judge_templates(const struct val *object, struct problems *problems)
{
	judge_below(val_get(object, "spec"), PATH_KEY(NULL, "spec"), 0, problems);
}
