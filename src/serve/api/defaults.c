/* A table of paths and values, and the few defaults that depend on other fields.
 *
 * The scheduler of a pod is not among them: who places pods is decided by whoever runs the cluster. */
#include "serve/api/defaults.h"

#include "kinds/names.h"
#include "object/build.h"

#include <string.h>

struct rule {
	const char *group, *kind;
	const char *path; /* a.b.c; [] behind a name: in every item of that list; the last name is what is filled in */
	const char *json;
	const char *unless; /* only when this is missing as well; NULL: always */
};

#define POD_SPEC(group, kind, spec)                                                                                    \
	{group, kind, spec ".restartPolicy", "\"Always\""}, {group, kind, spec ".dnsPolicy", "\"ClusterFirst\""},      \
		{group, kind, spec ".terminationGracePeriodSeconds", "30"},                                            \
	{                                                                                                              \
		group, kind, spec ".containers[].ports[].protocol", "\"TCP\""                                          \
	}

static const struct rule rules[] = {
	POD_SPEC("", "Pod", "spec"),
	POD_SPEC("", "ReplicationController", "spec.template.spec"),
	{"", "ReplicationController", "spec.replicas", "1"},
	{"", "Service", "spec.type", "\"ClusterIP\""},
	{"", "Service", "spec.sessionAffinity", "\"None\""},
	{"", "Service", "spec.ports[].protocol", "\"TCP\""},
	{"", "Secret", "type", "\"Opaque\""},
	{"", "PersistentVolume", "spec.persistentVolumeReclaimPolicy", "\"Retain\""},
	{"", "PersistentVolume", "spec.volumeMode", "\"Filesystem\""},
	{"", "PersistentVolumeClaim", "spec.volumeMode", "\"Filesystem\""},
	POD_SPEC(KINDS_APPS, "Deployment", "spec.template.spec"),
	{KINDS_APPS, "Deployment", "spec.replicas", "1"},
	{KINDS_APPS, "Deployment", "spec.revisionHistoryLimit", "10"},
	{KINDS_APPS, "Deployment", "spec.progressDeadlineSeconds", "600"},
	{KINDS_APPS, "Deployment", "spec.strategy",
         "{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxUnavailable\":\"25%\",\"maxSurge\":\"25%\"}}"},
	POD_SPEC(KINDS_APPS, "ReplicaSet", "spec.template.spec"),
	{KINDS_APPS, "ReplicaSet", "spec.replicas", "1"},
	POD_SPEC(KINDS_APPS, "StatefulSet", "spec.template.spec"),
	{KINDS_APPS, "StatefulSet", "spec.replicas", "1"},
	{KINDS_APPS, "StatefulSet", "spec.revisionHistoryLimit", "10"},
	{KINDS_APPS, "StatefulSet", "spec.podManagementPolicy", "\"OrderedReady\""},
	{KINDS_APPS, "StatefulSet", "spec.updateStrategy",
         "{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"partition\":0}}"},
	POD_SPEC(KINDS_APPS, "DaemonSet", "spec.template.spec"),
	{KINDS_APPS, "DaemonSet", "spec.revisionHistoryLimit", "10"},
	{KINDS_APPS, "DaemonSet", "spec.updateStrategy",
         "{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxUnavailable\":1,\"maxSurge\":0}}"},
	{KINDS_BATCH, "Job", "spec.backoffLimit", "6"},
	{KINDS_BATCH, "Job", "spec.parallelism", "1"},
	{KINDS_BATCH, "Job", "spec.completions", "1", "spec.parallelism"},
	{KINDS_BATCH, "Job", "spec.completionMode", "\"NonIndexed\""},
	{KINDS_BATCH, "Job", "spec.suspend", "false"},
	{KINDS_BATCH, "Job", "spec.template.spec.dnsPolicy", "\"ClusterFirst\""},
	{KINDS_BATCH, "Job", "spec.template.spec.terminationGracePeriodSeconds", "30"},
	{KINDS_BATCH, "CronJob", "spec.concurrencyPolicy", "\"Allow\""},
	{KINDS_BATCH, "CronJob", "spec.suspend", "false"},
	{KINDS_BATCH, "CronJob", "spec.successfulJobsHistoryLimit", "3"},
	{KINDS_BATCH, "CronJob", "spec.failedJobsHistoryLimit", "1"},
	{KINDS_AUTOSCALING, "HorizontalPodAutoscaler", "spec.minReplicas", "1"},
	{KINDS_SCHEDULING_K8S, "PriorityClass", "preemptionPolicy", "\"PreemptLowerPriority\""},
	{KINDS_SCHEDULING_K8S, "PodGroup", "spec.disruptionMode", "{\"single\":{}}"},
	{KINDS_SCHEDULING_K8S, "PodGroup", "spec.preemptionPolicy", "\"PreemptLowerPriority\""},
	{KINDS_SCHEDULING_K8S, "CompositePodGroup", "spec.disruptionMode", "{\"single\":{}}"},
	{KINDS_SCHEDULING_K8S, "CompositePodGroup", "spec.preemptionPolicy", "\"PreemptLowerPriority\""},
	{KINDS_STORAGE, "StorageClass", "reclaimPolicy", "\"Delete\""},
	{KINDS_STORAGE, "StorageClass", "volumeBindingMode", "\"Immediate\""},
};

/* Where pods are described: their limits are also their requests when those are not given. */
static const struct {
	const char *group, *kind, *spec;
} pods[] = {
	{"", "Pod", "spec"},
	{"", "ReplicationController", "spec.template.spec"},
	{KINDS_APPS, "Deployment", "spec.template.spec"},
	{KINDS_APPS, "ReplicaSet", "spec.template.spec"},
	{KINDS_APPS, "StatefulSet", "spec.template.spec"},
	{KINDS_APPS, "DaemonSet", "spec.template.spec"},
	{KINDS_BATCH, "Job", "spec.template.spec"},
};

/* The rules that have something to do, for the copy. */
struct filling {
	const struct rule *const *rules;
	size_t rule_count;
	const char *pod_spec; /* NULL: none here */
	struct build *build;
};

/* ---- looking: whether anything is missing ---- */

static size_t name_length(const char *path)
{
	return strcspn(path, ".[");
}

static const struct val *child(const struct val *map, const char *path)
{
	char name[64];
	size_t length = name_length(path);
	if (length >= sizeof(name))
		return NULL;
	memcpy(name, path, length);
	name[length] = '\0';
	return val_get(map, name);
}

static bool is_missing(const struct val *val, const char *path)
{
	const struct val *item;
	size_t length = name_length(path);
	if (val_kind(val) != VAL_MAP)
		return false;
	const struct val *inner = child(val, path);
	if (path[length] == '\0')
		return !inner || val_kind(inner) == VAL_NULL;
	if (path[length] == '.')
		return is_missing(inner, path + length + 1);
	for (struct val_iter it = val_iter(val_kind(inner) == VAL_LIST ? inner : NULL); val_next(&it, NULL, &item);) {
		if (is_missing(item, path + length + 3))
			return true;
	}
	return false;
}

static bool lacks_requests(const struct val *container)
{
	const struct val *resources = val_get(container, "resources"), *requests = val_get(resources, "requests"),
			 *item;
	const char *key;
	for (struct val_iter it = val_iter(val_get(resources, "limits")); val_next(&it, &key, &item);) {
		if (key && !val_get(requests, key))
			return true;
	}
	return false;
}

static const struct val *at_path(const struct val *val, const char *path)
{
	while (val) {
		size_t length = name_length(path);
		val = child(val, path);
		if (path[length] == '\0')
			break;
		path += length + 1;
	}
	return val;
}

static bool any_lacks_requests(const struct val *object, const char *spec)
{
	static const char *const lists[] = {"containers", "initContainers"};
	const struct val *item;
	for (size_t i = 0; i < 2; i++) {
		for (struct val_iter it = val_iter(val_get(at_path(object, spec), lists[i]));
		     val_next(&it, NULL, &item);) {
			if (lacks_requests(item))
				return true;
		}
	}
	return false;
}

/* ---- copying ---- */

static struct node *copy_value(struct filling *filling, const struct val *val, const char *path);

/* Whether a rule goes on below this place; *rest is what is left of its path. */
static bool continues(const char *rule, const char *path, const char **rest)
{
	size_t length = strlen(path);
	if (strncmp(rule, path, length) != 0)
		return false;
	*rest = rule + length;
	if (length > 0 && **rest == '.')
		(*rest)++;
	else if (length > 0)
		return false;
	return true;
}

static struct node *json_node(struct build *build, const char *json)
{
	struct doc *doc = doc_parse_json(json, strlen(json), NULL);
	struct node *node = build_copy(build, doc_root(doc));
	doc_destroy(doc);
	return node;
}

static void add_missing(struct filling *filling, const struct val *map, struct node *copy, const char *path)
{
	const char *rest;
	for (size_t i = 0; i < filling->rule_count; i++) {
		const struct rule *rule = filling->rules[i];
		if (continues(rule->path, path, &rest) && rest[name_length(rest)] == '\0' && is_missing(map, rest))
			build_put(filling->build, copy, rest, json_node(filling->build, rule->json));
	}
}

static void add_requests(struct filling *filling, const struct val *resources, struct node *copy)
{
	const struct val *requests = val_get(resources, "requests"), *item;
	const char *key;
	struct node *whole = build_map(filling->build);
	for (struct val_iter it = val_iter(requests); val_next(&it, &key, &item);)
		build_put(filling->build, whole, key, build_copy(filling->build, item));
	for (struct val_iter it = val_iter(val_get(resources, "limits")); val_next(&it, &key, &item);) {
		if (!val_get(requests, key))
			build_put(filling->build, whole, key, build_copy(filling->build, item));
	}
	build_put(filling->build, copy, "requests", whole);
}

/* path is that of `resources` in a container of the pod. */
static bool is_resources(const struct filling *filling, const char *path)
{
	size_t length = filling->pod_spec ? strlen(filling->pod_spec) : 0;
	if (!length || strncmp(path, filling->pod_spec, length) != 0)
		return false;
	return strcmp(path + length, ".containers[].resources") == 0 ||
	       strcmp(path + length, ".initContainers[].resources") == 0;
}

static struct node *copy_map(struct filling *filling, const struct val *map, const char *path)
{
	const char *key;
	const struct val *item;
	struct node *copy = build_map(filling->build);
	struct buffer inner = {0};
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		inner.length = 0;
		buffer_printf(&inner, "%s%s%s%s", path, *path ? "." : "", key, val_kind(item) == VAL_LIST ? "[]" : "");
		build_put(filling->build, copy, key, copy_value(filling, item, inner.text));
	}
	buffer_free(&inner);
	add_missing(filling, map, copy, path);
	if (is_resources(filling, path) && val_kind(val_get(map, "limits")) == VAL_MAP)
		add_requests(filling, map, copy);
	return copy;
}

/* Only places that a rule is about are walked; everything else is copied as it is. */
static bool is_interesting(const struct filling *filling, const char *path)
{
	size_t length = strlen(path);
	for (size_t i = 0; i < filling->rule_count; i++) {
		if (strncmp(filling->rules[i]->path, path, length) == 0)
			return true;
	}
	return filling->pod_spec && (strncmp(filling->pod_spec, path, length) == 0 ||
	                             strncmp(path, filling->pod_spec, strlen(filling->pod_spec)) == 0);
}

static struct node *copy_value(struct filling *filling, const struct val *val, const char *path)
{
	const struct val *item;
	if (!is_interesting(filling, path))
		return build_copy(filling->build, val);
	if (val_kind(val) == VAL_MAP)
		return copy_map(filling, val, path);
	if (val_kind(val) != VAL_LIST)
		return build_copy(filling->build, val);
	struct node *copy = build_list(filling->build);
	for (struct val_iter it = val_iter(val); val_next(&it, NULL, &item);)
		build_append(filling->build, copy, copy_value(filling, item, path));
	return copy;
}

struct doc *defaults_fill(const char *group, const char *kind, const struct val *object)
{
	const struct rule *wanted[sizeof(rules) / sizeof(rules[0])];
	struct filling filling = {.rules = wanted};
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (strcmp(rules[i].kind, kind) == 0 && strcmp(rules[i].group, group) == 0 &&
		    is_missing(object, rules[i].path) && (!rules[i].unless || is_missing(object, rules[i].unless)))
			wanted[filling.rule_count++] = &rules[i];
	}
	for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
		if (strcmp(pods[i].kind, kind) == 0 && strcmp(pods[i].group, group) == 0 &&
		    any_lacks_requests(object, pods[i].spec))
			filling.pod_spec = pods[i].spec;
	}
	if (filling.rule_count == 0 && !filling.pod_spec)
		return NULL;
	filling.build = build_create();
	struct doc *doc = build_finish(filling.build, copy_value(&filling, object, ""));
	build_destroy(filling.build);
	return doc;
}
