/* Owns what annotations of RoleBasedGroups mean here: which have an effect, which values they take, and which have none.
 * Those of our kind of controller are all in the table: silence about one would look like success. */
#include "admit/rbg_internal.h"

#include <stdlib.h>
#include <string.h>

#define RBG "rbg.workloads.x-k8s.io/"
#define OLD "rolebasedgroup.workloads.x-k8s.io/"

enum form { ANY, WORDS, NUMBER, JSON, LABEL_KEY, LABEL_KEYS };

struct known {
	const char *key;
	enum form form;
	const char *values; /* of WORDS, in blanks */
	const char *idle;   /* without an effect: the cure. NULL: it has one */
	const char *quiet;  /* the value that says what is done anyway; NULL: none */
};

#define SYSTEM_FIX "remove it: controllers write it"

static const struct known annotations[] = {
	{OLD "component-depends-on", JSON},
	{OLD "component-discovery", JSON},
	{OLD "disable-exclusive-topology", ANY},
	{OLD "exclusive-topology", LABEL_KEY},
	{OLD "port-allocator", JSON, NULL, "name the ports in the template"},
	{RBG "canary-approved", ANY},
	{RBG "discovery-config-mode", WORDS, " legacy refine ", "remove it: there is one ConfigMap per group",
         "refine"},
	{RBG "group-exclusive-topology", LABEL_KEY},
	{RBG "group-gang-scheduling", WORDS, " true false "},
	{RBG "group-gang-scheduling-timeout", NUMBER, NULL, "remove it: pods wait until they fit"},
	{RBG "group-gang-scheduling-volcano-priority", ANY},
	{RBG "group-gang-scheduling-volcano-queue", ANY},
	{RBG "inplace-update-grace-period-seconds", NUMBER, NULL, "write rollingUpdate.inPlaceUpdateStrategy"},
	{RBG "restart-trigger-policy", WORDS, " Inherit Ignore "},
	{RBG "retry-segments", ANY},
	{RBG "role-disable-exclusive", ANY},
	{RBG "role-inplace-scheduling", WORDS, " Preferred Required "},
	{RBG "role-inplace-scheduling-avoid", LABEL_KEYS},
	{RBG "role-inplace-scheduling-granularity", WORDS, " Pod Component "},
	{RBG "role-instance-gang-scheduling", WORDS, " true false ",
         "remove it: instances start as a whole in any case", "true"},
	{RBG "role-instance-pattern", WORDS, " Stateful Stateless ", "remove it: instances have ordinals", "Stateful"},
	{RBG "role-size", NUMBER, NULL, SYSTEM_FIX},
	{RBG "role-workload-type", WORDS,
         " apps/v1/Deployment apps/v1/StatefulSet leaderworkerset.x-k8s.io/v1/LeaderWorkerSet "
         "workloads.x-k8s.io/v1alpha1/InstanceSet workloads.x-k8s.io/v1alpha2/RoleInstanceSet ",
         "remove it: there is a RoleInstanceSet per role", "workloads.x-k8s.io/v1alpha2/RoleInstanceSet"},
	{RBG "rollback-to", ANY},
	{RBG_COORDINATION_ANNOTATION, ANY}, /* read, and judged, where it counts */
	{RBG_POD_GROUP_ANNOTATION, ANY},
};

static const struct known *find_known(const char *key)
{
	for (size_t i = 0; i < sizeof(annotations) / sizeof(annotations[0]); i++)
		if (strcmp(annotations[i].key, key) == 0)
			return &annotations[i];
	return NULL;
}

/* Of this API group, or of one below it. */
static bool is_ours(const char *key)
{
	size_t length = strcspn(key, "/"), tail = strlen(KINDS_RBG);
	return key[length] == '/' && length >= tail && strncmp(key + length - tail, KINDS_RBG, tail) == 0 &&
	       (length == tail || key[length - tail - 1] == '.');
}

static bool is_word(struct arena *arena, const char *values, const char *text)
{
	return !strchr(text, ' ') && strstr(values, arena_printf(arena, " %s ", text));
}

static bool are_label_keys(struct arena *arena, const char *text)
{
	char *rest = arena_strdup(arena, text), *key;
	while ((key = strsep(&rest, ",")))
		if (!name_is_label_key(key + strspn(key, " ")))
			return false;
	return true;
}

/* What is wrong with a value, and in *fix the cure; NULL when it can be read. */
static const char *find_fault(struct arena *arena, const struct known *known, const char *text, const char **fix)
{
	struct error error = {0};
	struct doc *doc;
	*fix = "write a number of seconds";
	switch (known->form) {
	case WORDS:
		*fix = arena_printf(arena, "write one of%s", known->values);
		return is_word(arena, known->values, text) ? NULL : "it is none of the values that it may have";
	case NUMBER:
		return *text && strspn(text, "0123456789") == strlen(text) ? NULL : "it is not a number";
	case JSON:
		*fix = "correct the JSON";
		doc = doc_parse_json(text, strlen(text), &error);
		doc_destroy(doc);
		return doc ? NULL : arena_printf(arena, "it is not JSON: %s", error.text);
	case LABEL_KEY:
		*fix = decode_label_key_fix;
		return name_is_label_key(text) ? NULL : "it is not the key of a node label";
	case LABEL_KEYS:
		*fix = decode_label_key_fix;
		return are_label_keys(arena, text) ? NULL : "it is not a list of keys of node labels";
	case ANY:
		break;
	}
	return NULL;
}

static bool has_component(const struct rbg_role *role, const char *name)
{
	for (size_t i = 0; i < role->component_count; i++)
		if (strcmp(role->components[i].name, name) == 0)
			return true;
	return false;
}

static void check_names(const struct decode *decode, const struct decode_path *path, const struct rbg_role *role,
                        const struct val *list, const char *field)
{
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		const char *name = val_str(field ? val_get(item, field) : item, "");
		if (!has_component(role, name))
			decode_error(decode, path, "name components of this role", "there is no component %s",
			             decode_show(decode->problems->arena, name));
	}
}

void rbg_check_siblings(const struct decode *decode, const struct decode_path *path, const struct rbg_role *role,
                        const struct val *map)
{
	static const struct {
		const char *key, *list, *field;
	} rows[] = {{OLD "component-depends-on", "startAfter", NULL},
	            {OLD "component-depends-on", "deleteAfter", NULL},
	            {OLD "component-discovery", "addressRefs", "component"},
	            {OLD "component-discovery", "portRefs", "component"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error error = {0};
		const char *text = val_str(val_get(map, rows[i].key), "");
		struct doc *doc = *text ? doc_parse_json(text, strlen(text), &error) : NULL;
		const struct val *list = doc ? val_get(doc_root(doc), rows[i].list) : NULL;
		check_names(decode, PATH_KEY(path, rows[i].key), role, list, rows[i].field);
		if (val_count(list) > 0 && strcmp(rows[i].list, "portRefs") == 0)
			decode_warning(decode, PATH_KEY(path, rows[i].key), "name the ports in the template",
			               "portRefs have no effect: no ports are allocated");
		if (val_count(list) > 0 && strcmp(rows[i].list, "deleteAfter") == 0)
			decode_warning(decode, PATH_KEY(path, rows[i].key), "remove it",
			               "deleteAfter has no effect: pods of an instance go together");
		doc_destroy(doc);
	}
}

void rbg_check_annotations(const struct decode *decode, const struct decode_path *path, const struct val *map)
{
	const char *key, *fix;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		const struct known *known = key && is_ours(key) ? find_known(key) : NULL;
		const char *text = val_str(item, "");
		const char *fault = known ? find_fault(decode->problems->arena, known, text, &fix) : NULL;
		if (key && is_ours(key) && !known)
			decode_warning(decode, PATH_KEY(path, key), "remove it, or correct its name",
			               "there is no such annotation, so it has no effect");
		else if (fault)
			decode_error(decode, PATH_KEY(path, key), fix, "%s", fault);
		else if (known && known->idle && !(known->quiet && strcmp(text, known->quiet) == 0))
			decode_warning(decode, PATH_KEY(path, key), known->idle, "the annotation has no effect");
	}
}
