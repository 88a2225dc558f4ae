/* Owns rules: what happens to all pods of a selection, in the ConfigMap KUBELET_RULES of kube-system. A list in YAML; the
 * first rule that is about a pod and says something about the question holds. */
#include "base/hash.h"
#include "base/vec.h"
#include "loop/writes.h"
#include "object/yaml_read.h"
#include "cluster/kubelet_internal.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "platoon.dev/" /* of the annotations with the same meaning */

static const char *const settings[] = {KUBELET_START_SECONDS, KUBELET_READY_SECONDS, KUBELET_STOP_SECONDS,
                                       KUBELET_RUN_SECONDS,   KUBELET_EXIT_CODE,     KUBELET_FAIL_TIMES};
#define SETTINGS (sizeof(settings) / sizeof(*settings))

struct rule {
	const char *namespace_; /* NULL: all */
	struct store_selector pods, nodes;
	int64_t chance; /* of 100 */
	int64_t values[SETTINGS];
	bool said[SETTINGS];
};

struct kubelet_rules {
	struct arena *arena; /* of the rules */
	VEC(struct rule) rules;
};

struct kubelet_rules *kubelet_rules_create(void)
{
	return base_calloc(1, sizeof(struct kubelet_rules));
}

static void forget(struct kubelet_rules *rules)
{
	arena_destroy(rules->arena);
	rules->arena = NULL;
	rules->rules.count = 0;
}

void kubelet_rules_destroy(struct kubelet_rules *rules)
{
	if (!rules)
		return;
	forget(rules);
	vec_free(&rules->rules);
	free(rules);
}

/* ---- reading ---- */

struct reading {
	struct kubelet_rules *rules;
	struct store *store;
	struct problems problems;
};

static void wrong(struct reading *reading, size_t index, const char *key, const char *message)
{
	problem_add(&reading->problems, SEVERITY_ERROR, problem_path(&reading->problems, "rules[%zu].%s", index, key),
	            NULL, "%s", message);
}

static void read_selector(struct reading *reading, size_t index, const char *key, const struct val *text,
                          struct store_selector *selector)
{
	struct store_error error = {0};
	if (val_kind(text) != VAL_STRING)
		wrong(reading, index, key, "must be a label selector, such as app=chat");
	else if (store_selector_parse(reading->rules->arena, store_api_find(reading->store, "", "v1", "pods"),
	                              val_str(text, ""), NULL, selector, &error) < 0)
		wrong(reading, index, key, error.message);
}

/* False when it is none of ours. */
static bool read_setting(struct reading *reading, size_t index, const char *key, const struct val *value,
                         struct rule *rule)
{
	for (size_t i = 0; i < SETTINGS; i++) {
		if (strcmp(settings[i] + strlen(PREFIX), key) != 0)
			continue;
		int64_t number = KUBELET_NEVER;
		bool never = strcmp(val_str(value, ""), "never") == 0;
		if (!never && (val_int(value, &number) < 0 || number < 0 || number > INT32_MAX))
			wrong(reading, index, key, "must be a number from 0, or never");
		rule->said[i] = true;
		rule->values[i] = number;
		return true;
	}
	return false;
}

static void read_rule(struct reading *reading, size_t index, const struct val *item)
{
	struct rule rule = {.chance = 100};
	const char *key;
	const struct val *value;
	size_t errors = reading->problems.errors;
	for (struct val_iter it = val_iter(item); val_next(&it, &key, &value);) {
		if (!key)
			break;
		if (strcmp(key, "pods") == 0)
			read_selector(reading, index, key, value, &rule.pods);
		else if (strcmp(key, "nodes") == 0)
			read_selector(reading, index, key, value, &rule.nodes);
		else if (strcmp(key, "namespace") == 0)
			rule.namespace_ = arena_strdup(reading->rules->arena, val_str(value, ""));
		else if (strcmp(key, "chance") == 0) {
			if (val_int(value, &rule.chance) < 0 || rule.chance < 0 || rule.chance > 100)
				wrong(reading, index, key, "must be a number from 0 to 100");
		} else if (!read_setting(reading, index, key, value, &rule)) {
			wrong(reading, index, key, "is not known");
		}
	}
	if (val_kind(item) != VAL_MAP)
		wrong(reading, index, "", "must be a map");
	if (reading->problems.errors == errors)
		vec_push(&reading->rules->rules, rule);
}

static void read_list(struct reading *reading, const char *text)
{
	struct yaml_document *docs = NULL;
	size_t count = 0, index = 0;
	struct error error = {0};
	const struct val *item;
	if (yaml_read(text, strlen(text), &docs, &count, &error) < 0) {
		problem_add(&reading->problems, SEVERITY_ERROR, "rules", NULL, "%s", error.text);
		return;
	}
	if (count > 0 && val_kind(doc_root(docs[0].doc)) != VAL_LIST)
		problem_add(&reading->problems, SEVERITY_ERROR, "rules", NULL, "must be a list");
	else if (count > 0)
		for (struct val_iter it = val_iter(doc_root(docs[0].doc)); val_next(&it, NULL, &item); index++)
			read_rule(reading, index, item);
	for (size_t i = 0; i < count; i++)
		doc_destroy(docs[i].doc);
	free(docs);
}

void kubelet_rules_read(struct kubelet_rules *rules, struct store *store, const struct store_object *map,
                        int64_t now_seconds)
{
	forget(rules);
	if (!map)
		return;
	rules->arena = arena_create();
	struct reading reading = {.rules = rules, .store = store, .problems = {.arena = rules->arena}};
	read_list(&reading, val_str(val_path(map->root, "data", "rules", NULL), ""));
	for (size_t i = 0; i < reading.problems.count; i++)
		writes_event_once(store, map, true, "BadRule",
		                  arena_printf(rules->arena, "%s: %s; the rule is left out",
		                               reading.problems.items[i].path, reading.problems.items[i].message),
		                  now_seconds);
}

/* ---- asking ---- */

/* The same pod is always among those that a chance hits, or never. */
static bool hits(const struct rule *rule, size_t index, const struct store_object *pod)
{
	return (int64_t)(XXH3_64bits_withSeed(pod->uid, strlen(pod->uid), index) % 100) < rule->chance;
}

int64_t kubelet_rules_say(const struct kubelet_rules *rules, const struct store_object *pod,
                          const struct store_object *node, const char *annotation, int64_t fallback)
{
	size_t setting = 0;
	while (setting < SETTINGS && strcmp(settings[setting], annotation) != 0)
		setting++;
	for (size_t i = 0; setting < SETTINGS && i < rules->rules.count; i++) {
		const struct rule *rule = &rules->rules.items[i];
		if (rule->said[setting] && (!rule->namespace_ || strcmp(rule->namespace_, pod->namespace_) == 0) &&
		    store_selector_matches(&rule->pods, pod) &&
		    (rule->nodes.labels.count == 0 || (node && store_selector_matches(&rule->nodes, node))) &&
		    hits(rule, i, pod))
			return rule->values[setting];
	}
	return fallback;
}
