/* Owns what of an object is kept, hidden or left out. Nothing passes that is not named here. */
#include "cli/record_hide.h"

#include "base/clock.h"
#include "base/strings.h"
#include "kinds/names.h"
#include "serve/tls/secret.h"
#include "sim/trace.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SALT 32
#define DIGITS 6 /* bytes of a hash that are written */

struct hide {
	const struct settings *settings;
	unsigned char salt[SALT];
	struct arena *arena; /* texts of one object */
};

enum treatment {
	LEAVE_OUT,
	KEEP,      /* numbers, booleans, words of the API */
	HIDE,      /* a name */
	PRIORITY,  /* a name unless it is a class that everybody has */
	LABEL_KEY, /* a name unless it is one of Kubernetes or of ours */
	STRUCTURE, /* a map or list whose fields are looked at one by one */
	LABELS,    /* label keys and hidden values */
	AMOUNTS,   /* resource names and quantities */
	WORDS,     /* a list of values of a label */
};

static const struct rule {
	const char *key;
	enum treatment treatment;
} rules[] = {
	{"affinity", STRUCTURE},
	{"alias", HIDE},
	{"allocatable", AMOUNTS},
	{"capacity", AMOUNTS},
	{"claimName", HIDE},
	{"conditions", STRUCTURE},
	{"containerPort", KEEP},
	{"containers", STRUCTURE},
	{"cpu", STRUCTURE}, /* of a Queue */
	{"effect", KEEP},
	{"global", STRUCTURE},
	{"globalDefault", KEEP},
	{"gpu", STRUCTURE},
	{"hostPort", KEEP},
	{"initContainers", STRUCTURE},
	{"key", LABEL_KEY},
	{"labelSelector", STRUCTURE},
	{"levels", STRUCTURE},
	{"limit", KEEP},
	{"limits", AMOUNTS},
	{"matchExpressions", STRUCTURE},
	{"matchFields", STRUCTURE},
	{"matchLabels", LABELS},
	{"maxSkew", KEEP},
	{"memory", STRUCTURE},
	{"minDomains", KEEP},
	{"minMember", KEEP},
	{"minSubGroup", KEEP},
	{"name", HIDE},
	{"namespaces", WORDS},
	{"nodeAffinity", STRUCTURE},
	{"nodeAffinityPolicy", KEEP},
	{"nodeLabel", LABEL_KEY},
	{"nodeName", HIDE},
	{"nodeSelector", LABELS},
	{"nodeSelectorTerms", STRUCTURE},
	{"nodeTaintsPolicy", KEEP},
	{"nominatedNodeName", HIDE},
	{"operator", KEEP},
	{"overQuotaWeight", KEEP},
	{"overhead", AMOUNTS},
	{"parent", HIDE},
	{"parentQueue", HIDE},
	{"persistentVolumeClaim", STRUCTURE},
	{"phase", KEEP},
	{"podAffinity", STRUCTURE},
	{"podAffinityTerm", STRUCTURE},
	{"podAntiAffinity", STRUCTURE},
	{"ports", STRUCTURE},
	{"preemptibility", KEEP},
	{"preemptionDelay", KEEP},
	{"preference", STRUCTURE},
	{"preferredDuringSchedulingIgnoredDuringExecution", STRUCTURE},
	{"preferredTopologyLevel", LABEL_KEY},
	{"priority", KEEP},
	{"priorityClassName", PRIORITY},
	{"protocol", KEEP},
	{"queue", HIDE},
	{"quota", KEEP},
	{"requests", AMOUNTS},
	{"required", STRUCTURE},
	{"requiredDuringSchedulingIgnoredDuringExecution", STRUCTURE},
	{"requiredTopologyLevel", LABEL_KEY},
	{"resources", STRUCTURE},
	{"restartPolicy", KEEP},
	{"schedulingBackoff", KEEP},
	{"schedulingGates", STRUCTURE},
	{"stalenessGracePeriod", KEEP},
	{"status", KEEP}, /* of a condition */
	{"subGroupSets", STRUCTURE},
	{"subGroups", STRUCTURE},
	{"taints", STRUCTURE},
	{"tolerationSeconds", KEEP},
	{"tolerations", STRUCTURE},
	{"topology", HIDE},
	{"topologyConstraint", STRUCTURE},
	{"topologyConstraints", STRUCTURE},
	{"topologyKey", LABEL_KEY},
	{"topologySpreadConstraints", STRUCTURE},
	{"type", KEEP},
	{"unschedulable", KEEP},
	{"value", HIDE},
	{"values", WORDS},
	{"volumeName", HIDE},
	{"volumes", STRUCTURE},
	{"weight", KEEP},
	{"whenUnsatisfiable", KEEP},
};

struct hide *hide_create(const struct settings *settings)
{
	struct hide *hide = base_calloc(1, sizeof(*hide));
	hide->settings = settings;
	hide->arena = arena_create();
	if (secret_random(hide->salt, SALT) == 0)
		return hide;
	hide_destroy(hide);
	return NULL;
}

void hide_destroy(struct hide *hide)
{
	if (!hide)
		return;
	/* Without the salt nobody can try names until one fits. */
	explicit_bzero(hide->salt, SALT);
	arena_destroy(hide->arena);
	free(hide);
}

/* ---- texts ---- */

static const char *hidden(struct hide *hide, const char *text)
{
	/* The queue of everything that names none: every cluster has it, and under another name it would not be found. */
	if (strcmp(text, settings_default_queue(hide->settings)) == 0)
		return settings_default_queue(&settings_usual);
	unsigned char digest[SECRET_DIGEST];
	char *out = arena_alloc(hide->arena, 2 * DIGITS + 2);
	if (!text[0] || secret_digest(hide->salt, SALT, text, digest) < 0)
		return "";
	out[0] = 'x';
	for (int i = 0; i < DIGITS; i++)
		snprintf(out + 1 + (size_t)i * 2, 3, "%02x", digest[i]);
	return out;
}

const char *hide_name(struct hide *hide, const char *name)
{
	return hidden(hide, name);
}

static bool has_domain(const char *text, const char *domain)
{
	size_t length = strcspn(text, "/"), own = strlen(domain);
	return text[length] == '/' && length >= own && strncmp(text + length - own, domain, own) == 0 &&
	       (length == own || text[length - own - 1] == '.');
}

static const char *label_key(struct hide *hide, const char *key)
{
	static const char *const known[] = {"kubernetes.io", KINDS_KAI, KINDS_RUNAI, "platoon.dev", "x-k8s.io"};
	if (strcmp(key, settings_queue_label(hide->settings)) == 0)
		return settings_queue_label(&settings_usual);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (has_domain(key, known[i]))
			return key;
	return strcmp(key, "metadata.name") == 0 ? key : arena_printf(hide->arena, "hidden/%s", hidden(hide, key));
}

/* Numbers are compared by Gt and Lt, and say nothing. */
static bool is_number(const char *text)
{
	size_t length = strspn(text, "0123456789");
	return length > 0 && length <= 9 && !text[length];
}

static const char *label_value(struct hide *hide, const char *value)
{
	return is_number(value) ? value : hidden(hide, value);
}

static const char *priority_class(struct hide *hide, const char *name)
{
	static const char *const known[] = {"train",     "build-preemptible",    "build",
	                                    "inference", "system-node-critical", "system-cluster-critical"};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(known[i], name) == 0)
			return name;
	return hidden(hide, name);
}

static const char *resource_name(struct hide *hide, const char *name)
{
	static const char *const known[] = {"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915"};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(known[i], name) == 0)
			return name;
	/* cpu, memory, pods, hugepages-2Mi: those without a domain are Kubernetes' own. */
	return strchr(name, '/') ? arena_printf(hide->arena, "hidden/%s", hidden(hide, name)) : name;
}

/* ---- values ---- */

static struct node *copy_structure(struct hide *hide, const struct val *val, struct build *build);

static struct node *copy_labels(struct hide *hide, const struct val *map, struct build *build)
{
	struct node *copy = build_map(build);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);)
		build_put_string(build, copy, label_key(hide, key), label_value(hide, val_str(item, "")));
	return copy;
}

static struct node *copy_amounts(struct hide *hide, const struct val *map, struct build *build)
{
	struct node *copy = build_map(build);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);)
		build_put(build, copy, resource_name(hide, key), build_copy(build, item));
	return copy;
}

static struct node *copy_words(struct hide *hide, const struct val *list, struct build *build)
{
	struct node *copy = build_list(build);
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		build_append(build, copy, build_string(build, label_value(hide, val_str(item, ""))));
	return copy;
}

static struct node *treat(struct hide *hide, enum treatment treatment, const struct val *val, struct build *build)
{
	switch (treatment) {
	case KEEP:
		/* A word, a number: nothing that could hold more. */
		return val_kind(val) == VAL_MAP || val_kind(val) == VAL_LIST ? build_null(build)
		                                                             : build_copy(build, val);
	case HIDE:
		return build_string(build, label_value(hide, val_str(val, "")));
	case PRIORITY:
		return build_string(build, priority_class(hide, val_str(val, "")));
	case LABEL_KEY:
		return build_string(build, label_key(hide, val_str(val, "")));
	case STRUCTURE:
		return copy_structure(hide, val, build);
	case LABELS:
		return copy_labels(hide, val, build);
	case AMOUNTS:
		return copy_amounts(hide, val, build);
	case WORDS:
		return copy_words(hide, val, build);
	case LEAVE_OUT:
		break;
	}
	return build_null(build);
}

static enum treatment rule_of(const char *key)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (strcmp(rules[i].key, key) == 0)
			return rules[i].treatment;
	return LEAVE_OUT;
}

static struct node *copy_structure(struct hide *hide, const struct val *val, struct build *build)
{
	const char *key;
	const struct val *item;
	if (val_kind(val) == VAL_LIST) {
		struct node *list = build_list(build);
		for (struct val_iter it = val_iter(val); val_next(&it, NULL, &item);)
			build_append(build, list, copy_structure(hide, item, build));
		return list;
	}
	if (val_kind(val) != VAL_MAP)
		return build_null(build);
	struct node *map = build_map(build);
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item);) {
		enum treatment treatment = rule_of(key);
		/* In subGroups of topologyConstraints the keys are names. */
		if (strcmp(key, "subGroups") == 0 && val_kind(item) == VAL_MAP) {
			struct node *by_name = build_map(build);
			const char *name;
			const struct val *constraint;
			for (struct val_iter inner = val_iter(item); val_next(&inner, &name, &constraint);)
				build_put(build, by_name, hidden(hide, name), copy_structure(hide, constraint, build));
			build_put(build, map, key, by_name);
		} else if (strcmp(key, "subGroups") == 0 && val_kind(val_item(item, 0)) == VAL_STRING) {
			build_put(build, map, key, copy_words(hide, item, build));
		} else if (treatment != LEAVE_OUT) {
			build_put(build, map, key, treat(hide, treatment, item, build));
		}
	}
	return map;
}

/* ---- objects ---- */

static int64_t time_at(const struct val *text)
{
	int64_t seconds = -1;
	clock_parse_rfc3339(val_str(text, ""), &seconds);
	return seconds;
}

int64_t hide_run_seconds(const struct val *pod)
{
	int64_t end = -1, start = time_at(val_path(pod, "status", "startTime", NULL));
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod, "status", "containerStatuses", NULL));
	     val_next(&it, NULL, &item);) {
		int64_t at = time_at(val_path(item, "state", "terminated", "finishedAt", NULL));
		end = at > end ? at : end;
	}
	return start >= 0 && end >= start ? end - start : -1;
}

static void put_seconds(struct hide *hide, struct build *build, struct node *map, const char *key, int64_t seconds)
{
	if (seconds >= 0)
		build_put_string(build, map, key, arena_printf(hide->arena, "%lld", (long long)seconds));
}

static struct node *metadata_of(struct hide *hide, const struct manifest *manifest, int64_t begin, struct build *build)
{
	const struct val *metadata = val_get(manifest->object, "metadata");
	const struct val *annotations = val_get(metadata, "annotations");
	struct node *copy = build_map(build), *notes = build_map(build);
	bool pod = strcmp(manifest->kind, "Pod") == 0;
	const char *group = val_str(val_get(annotations, "pod-group-name"), "");
	int64_t created = time_at(val_get(metadata, "creationTimestamp"));
	build_put_string(build, copy, "name",
	                 strcmp(manifest->kind, "PriorityClass") == 0 ? priority_class(hide, manifest->name)
	                                                              : hidden(hide, manifest->name));
	if (manifest->namespace_[0])
		build_put_string(build, copy, "namespace", hidden(hide, manifest->namespace_));
	if (val_get(metadata, "labels"))
		build_put(build, copy, "labels", copy_labels(hide, val_get(metadata, "labels"), build));
	if (group[0])
		build_put_string(build, notes, "pod-group-name", hidden(hide, group));
	if (pod || strcmp(manifest->kind, "PodGroup") == 0)
		put_seconds(hide, build, notes, TRACE_ARRIVES, created >= begin ? created - begin : -1);
	if (pod)
		put_seconds(hide, build, notes, TRACE_RUNS, hide_run_seconds(manifest->object));
	build_put(build, copy, "annotations", notes);
	return copy;
}

/* Ours, or one that is not. */
static const char *scheduler_of(const struct hide *hide, const struct val *pod)
{
	const char *name = val_str(val_path(pod, "spec", "schedulerName", NULL), "");
	if (!settings_is_ours(hide->settings, name))
		return "default-scheduler";
	return settings_is_ours(&settings_usual, name) ? name : settings_usual.schedulers[0];
}

static struct node *status_of(struct hide *hide, const struct val *object, struct build *build)
{
	struct node *status = copy_structure(hide, val_get(object, "status"), build), *ready = build_list(build);
	const struct val *item;
	/* Of all conditions only whether a node is ready matters; others may quote anything. */
	for (struct val_iter it = val_iter(val_path(object, "status", "conditions", NULL)); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), "Ready") == 0)
			build_append(build, ready, copy_structure(hide, item, build));
	build_put(build, status, "conditions", ready);
	return status;
}

struct node *hide_object(struct hide *hide, const struct manifest *manifest, int64_t begin, struct build *build)
{
	static const char *const kinds[] = {"Node",     "Pod",           "PodGroup",         "Queue",
	                                    "Topology", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim"};
	bool known = false;
	arena_reset(hide->arena);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		known |= strcmp(kinds[i], manifest->kind) == 0;
	if (!known)
		return NULL;
	bool pod = strcmp(manifest->kind, "Pod") == 0, node = strcmp(manifest->kind, "Node") == 0;
	struct node *root = build_map(build), *spec = copy_structure(hide, val_get(manifest->object, "spec"), build);
	build_put_string(build, root, "apiVersion", manifest->api_version);
	build_put_string(build, root, "kind", manifest->kind);
	build_put(build, root, "metadata", metadata_of(hide, manifest, begin, build));
	if (pod)
		build_put_string(build, spec, "schedulerName", scheduler_of(hide, manifest->object));
	if (strcmp(manifest->kind, "PriorityClass") == 0) {
		build_put(build, root, "value", build_copy(build, val_get(manifest->object, "value")));
		build_put_bool(build, root, "globalDefault",
		               val_bool(val_get(manifest->object, "globalDefault"), false));
	} else if (val_get(manifest->object, "spec")) {
		build_put(build, root, "spec", spec);
	}
	if (pod || node)
		build_put(build, root, "status", status_of(hide, manifest->object, build));
	return root;
}
