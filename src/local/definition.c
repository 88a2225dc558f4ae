/* CustomResourceDefinitions on their way in: what must be right before a type can be made of them, and the status that
 * tells clients it was. */
#include "api/selector_match.h"
#include "local/draft.h"
#include "object/pattern.h"

#include <string.h>

static void check_patterns(struct draft *draft, struct tree *schema, const char *path, struct problems *problems);

/* Schemas in a map or list below a schema: fields, alternatives. */
static void check_patterns_in(struct draft *draft, struct tree *schemas, const char *path, struct problems *problems)
{
	size_t at = 0, index = 0;
	const char *key = NULL;
	for (struct tree *schema; (schema = tree_walk(draft->arena, schemas, &at, &key)); index++)
		check_patterns(draft, schema,
		               key ? problem_path(problems, "%s.%s", path, key)
		                   : problem_path(problems, "%s[%zu]", path, index),
		               problems);
}

/* A pattern that cannot be checked is refused here, and not found out with the first object. */
static void check_patterns(struct draft *draft, struct tree *schema, const char *path, struct problems *problems)
{
	static const char *const of_many[] = {"properties", "allOf", "anyOf", "oneOf"};
	static const char *const of_one[] = {"items", "additionalProperties", "not"};
	const char *pattern = tree_str(tree_get(draft->arena, schema, "pattern"), NULL);
	struct error error = {0};
	if (pattern && !pattern_compile(draft->arena, pattern, strlen(pattern), &error))
		problem_add(problems, SEVERITY_ERROR, problem_path(problems, "%s.pattern", path), NULL, "%s",
		            error.text);
	for (size_t i = 0; i < sizeof(of_many) / sizeof(of_many[0]); i++)
		check_patterns_in(draft, tree_get(draft->arena, schema, of_many[i]),
		                  problem_path(problems, "%s.%s", path, of_many[i]), problems);
	for (size_t i = 0; i < sizeof(of_one) / sizeof(of_one[0]); i++) {
		struct tree *below = tree_get(draft->arena, schema, of_one[i]);
		if (tree_kind(below) == VAL_MAP)
			check_patterns(draft, below, problem_path(problems, "%s.%s", path, of_one[i]), problems);
	}
}

static void check_versions(struct draft *draft, struct tree *versions, struct problems *problems)
{
	size_t at = 0, index = 0, stored = 0;
	if (!tree_count(versions))
		problem_add(problems, SEVERITY_ERROR, "spec.versions", NULL, "at least one version is needed");
	for (struct tree *version; (version = tree_walk(draft->arena, versions, &at, NULL)); index++) {
		const char *storage = tree_scalar(draft->arena, tree_get(draft->arena, version, "storage"));
		stored += storage && strcmp(storage, "true") == 0;
		if (!*tree_str(tree_get(draft->arena, version, "name"), ""))
			problem_add(problems, SEVERITY_ERROR, problem_path(problems, "spec.versions[%zu].name", index),
			            NULL, "must not be empty");
		check_patterns(draft, tree_path(draft->arena, version, "schema", "openAPIV3Schema", NULL),
		               problem_path(problems, "spec.versions[%zu].schema.openAPIV3Schema", index), problems);
	}
	if (index && stored != 1)
		problem_add(problems, SEVERITY_ERROR, "spec.versions", NULL,
		            "exactly one version must have storage: true, found %zu", stored);
}

static int check(struct draft *draft)
{
	struct arena *arena = draft->arena;
	struct problems problems = {.arena = arena};
	struct tree *spec = tree_get(arena, draft->root, "spec"), *names = tree_get(arena, spec, "names");
	const char *group = tree_str(tree_get(arena, spec, "group"), "");
	const char *plural = tree_str(tree_get(arena, names, "plural"), "");
	const char *scope = tree_str(tree_get(arena, spec, "scope"), "");
	const char *name = tree_str(tree_path(arena, draft->root, "metadata", "name", NULL), "");
	if (!*group)
		problem_add(&problems, SEVERITY_ERROR, "spec.group", NULL, "must not be empty");
	if (!*plural)
		problem_add(&problems, SEVERITY_ERROR, "spec.names.plural", NULL, "must not be empty");
	if (!*tree_str(tree_get(arena, names, "kind"), ""))
		problem_add(&problems, SEVERITY_ERROR, "spec.names.kind", NULL, "must not be empty");
	if (strcmp(scope, "Namespaced") != 0 && strcmp(scope, "Cluster") != 0)
		problem_add(&problems, SEVERITY_ERROR, "spec.scope", NULL, "must be Namespaced or Cluster");
	if (*group && *plural && strcmp(name, arena_printf(arena, "%s.%s", plural, group)) != 0)
		problem_add(&problems, SEVERITY_ERROR, "metadata.name", NULL,
		            "must be spec.names.plural+\".\"+spec.group (%s.%s)", plural, group);
	check_versions(draft, tree_get(arena, spec, "versions"), &problems);
	return problems.errors ? draft_refuse_problems(draft, &problems) : 0;
}

static struct tree *condition(struct draft *draft, const char *type, const char *reason, const char *message)
{
	char now[32];
	metadata_timestamp(draft, now);
	struct tree *map = tree_map(draft->arena);
	tree_put_string(draft->arena, map, "type", type);
	tree_put_string(draft->arena, map, "status", "True");
	tree_put_string(draft->arena, map, "lastTransitionTime", now);
	tree_put_string(draft->arena, map, "reason", reason);
	tree_put_string(draft->arena, map, "message", message);
	return map;
}

static void put_status(struct draft *draft)
{
	struct arena *arena = draft->arena;
	struct tree *spec = tree_get(arena, draft->root, "spec"), *stored = tree_list(arena),
		    *conditions = tree_list(arena);
	struct tree *status = tree_map(arena), *version;
	size_t at = 0;
	while ((version = tree_walk(arena, tree_get(arena, spec, "versions"), &at, NULL))) {
		const char *storage = tree_scalar(arena, tree_get(arena, version, "storage"));
		if (storage && strcmp(storage, "true") == 0)
			tree_append(arena, stored, tree_string(arena, tree_str(tree_get(arena, version, "name"), "")));
	}
	tree_append(arena, conditions, condition(draft, "NamesAccepted", "NoConflicts", "no conflicts found"));
	tree_append(arena, conditions,
	            condition(draft, "Established", "InitialNamesAccepted", "the initial names have been accepted"));
	tree_put(arena, status, "conditions", conditions);
	tree_put(arena, status, "acceptedNames", tree_copy(arena, tree_get(arena, spec, "names")));
	tree_put(arena, status, "storedVersions", stored);
	tree_put(arena, draft->root, "status", status);
}

/* Deleting a definition waits until its objects are gone; the finalizer holds it that long. */
static void need_cleanup(struct draft *draft)
{
	struct tree *metadata = tree_get(draft->arena, draft->root, "metadata");
	struct tree *finalizers = tree_get(draft->arena, metadata, "finalizers"), *item;
	size_t at = 0;
	while ((item = tree_walk(draft->arena, finalizers, &at, NULL)))
		if (strcmp(tree_str(item, ""), CLEANUP) == 0)
			return;
	if (tree_kind(finalizers) != VAL_LIST)
		finalizers = tree_list(draft->arena);
	tree_append(draft->arena, finalizers, tree_string(draft->arena, CLEANUP));
	tree_put(draft->arena, metadata, "finalizers", finalizers);
}

int definition_begin(struct draft *draft)
{
	if (check(draft) < 0)
		return -1;
	put_status(draft);
	need_cleanup(draft);
	return 0;
}

int definition_carry(struct draft *draft)
{
	if (draft->request->subresource == STORE_STATUS)
		return 0;
	if (check(draft) < 0)
		return -1;
	if (!tree_path(draft->arena, draft->root, "metadata", "deletionTimestamp", NULL))
		need_cleanup(draft);
	const struct val *old = val_get(draft->old->root, "spec");
	struct problems problems = {.arena = draft->arena};
	if (!tree_equal(draft->arena, tree_path(draft->arena, draft->root, "spec", "scope", NULL),
	                val_get(old, "scope")))
		problem_add(&problems, SEVERITY_ERROR, "spec.scope", "delete the definition and create it anew",
		            "the field is immutable");
	return problems.errors ? draft_refuse_problems(draft, &problems) : 0;
}

const char *definition_selects(const struct store_api *api, const char *path)
{
	const struct store_object *definition = bucket_of(api->type)->definition;
	const struct val *versions = definition ? val_path(definition->root, "spec", "versions", NULL) : NULL;
	const struct val *version, *field;
	for (struct val_iter it = val_iter(versions); val_next(&it, NULL, &version);) {
		if (strcmp(val_str(val_get(version, "name"), ""), api->version) != 0)
			continue;
		for (struct val_iter fields = val_iter(val_get(version, "selectableFields"));
		     val_next(&fields, NULL, &field);) {
			const char *offered = val_str(val_get(field, "jsonPath"), ".");
			if (strcmp(offered + (*offered == '.'), path) == 0)
				return offered + (*offered == '.');
		}
	}
	return NULL;
}
