/* Merge rules of the core kinds as tables, those of custom kinds from their schemas. */
#include "api/shape.h"

#include "kinds/names.h"

#include <string.h>

enum { ATOMIC_MAP = 1, RETAIN_KEYS = 2 };

struct shape_field {
	const char *name;
	enum shape_list list;
	const char *keys[SHAPE_KEYS];
	const struct shape_field *below;
	unsigned flags;
};

static const struct shape_field metadata[] = {
	{.name = "finalizers", .list = SHAPE_SET},
	{.name = "ownerReferences", .list = SHAPE_KEYED, .keys = {"uid"}},
	{.name = NULL},
};

static const struct shape_field conditions[] = {
	{.name = "conditions", .list = SHAPE_KEYED, .keys = {"type"}},
	{.name = NULL},
};

static const struct shape_field resources[] = {
	{.name = "claims", .list = SHAPE_KEYED, .keys = {"name"}},
	{.name = NULL},
};

static const struct shape_field env_source[] = {
	{.name = "configMapKeyRef", .flags = ATOMIC_MAP},
	{.name = "fieldRef", .flags = ATOMIC_MAP},
	{.name = "resourceFieldRef", .flags = ATOMIC_MAP},
	{.name = "secretKeyRef", .flags = ATOMIC_MAP},
	{.name = NULL},
};

static const struct shape_field env[] = {
	{.name = "valueFrom", .below = env_source},
	{.name = NULL},
};

static const struct shape_field container[] = {
	{.name = "env", .list = SHAPE_KEYED, .keys = {"name"}, .below = env},
	{.name = "ports", .list = SHAPE_KEYED, .keys = {"containerPort", "protocol"}},
	{.name = "volumeMounts", .list = SHAPE_KEYED, .keys = {"mountPath"}},
	{.name = "volumeDevices", .list = SHAPE_KEYED, .keys = {"devicePath"}},
	{.name = "resources", .below = resources},
	{.name = NULL},
};

static const struct shape_field affinity_node[] = {
	{.name = "requiredDuringSchedulingIgnoredDuringExecution", .flags = ATOMIC_MAP},
	{.name = NULL},
};

static const struct shape_field affinity[] = {
	{.name = "nodeAffinity", .below = affinity_node},
	{.name = NULL},
};

static const struct shape_field pod_spec[] = {
	{.name = "containers", .list = SHAPE_KEYED, .keys = {"name"}, .below = container},
	{.name = "initContainers", .list = SHAPE_KEYED, .keys = {"name"}, .below = container},
	{.name = "ephemeralContainers", .list = SHAPE_KEYED, .keys = {"name"}, .below = container},
	{.name = "volumes", .list = SHAPE_KEYED, .keys = {"name"}, .flags = RETAIN_KEYS},
	{.name = "imagePullSecrets", .list = SHAPE_KEYED, .keys = {"name"}},
	{.name = "hostAliases", .list = SHAPE_KEYED, .keys = {"ip"}},
	{.name = "topologySpreadConstraints", .list = SHAPE_KEYED, .keys = {"topologyKey", "whenUnsatisfiable"}},
	{.name = "schedulingGates", .list = SHAPE_KEYED, .keys = {"name"}},
	{.name = "resourceClaims", .list = SHAPE_KEYED, .keys = {"name"}, .flags = RETAIN_KEYS},
	{.name = "nodeSelector", .flags = ATOMIC_MAP},
	{.name = "affinity", .below = affinity},
	{.name = NULL},
};

static const struct shape_field pod_status[] = {
	{.name = "conditions", .list = SHAPE_KEYED, .keys = {"type"}},
	{.name = "podIPs", .list = SHAPE_KEYED, .keys = {"ip"}},
	{.name = "hostIPs", .list = SHAPE_KEYED, .keys = {"ip"}},
	{.name = NULL},
};

static const struct shape_field pod[] = {
	{.name = "metadata", .below = metadata},
	{.name = "spec", .below = pod_spec},
	{.name = "status", .below = pod_status},
	{.name = NULL},
};

static const struct shape_field template[] = {
	{.name = "metadata", .below = metadata},
	{.name = "spec", .below = pod_spec},
	{.name = NULL},
};

/* Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController, Job: a selector and a pod template. */
static const struct shape_field workload_spec[] = {
	{.name = "template", .below = template},
	{.name = "selector", .flags = ATOMIC_MAP},
	{.name = "strategy", .flags = RETAIN_KEYS},
	{.name = NULL},
};

static const struct shape_field workload[] = {
	{.name = "metadata", .below = metadata},
	{.name = "spec", .below = workload_spec},
	{.name = "status", .below = conditions},
	{.name = NULL},
};

static const struct shape_field job_template[] = {
	{.name = "metadata", .below = metadata},
	{.name = "spec", .below = workload_spec},
	{.name = NULL},
};

static const struct shape_field cron_spec[] = {
	{.name = "jobTemplate", .below = job_template},
	{.name = NULL},
};

static const struct shape_field cron[] = {
	{.name = "metadata", .below = metadata},
	{.name = "spec", .below = cron_spec},
	{.name = NULL},
};

static const struct shape_field node_spec[] = {
	{.name = "podCIDRs", .list = SHAPE_SET},
	{.name = NULL},
};

static const struct shape_field node_status[] = {
	{.name = "addresses", .list = SHAPE_KEYED, .keys = {"type"}},
	{.name = "conditions", .list = SHAPE_KEYED, .keys = {"type"}},
	{.name = NULL},
};

static const struct shape_field node[] = {
	{.name = "metadata", .below = metadata},
	{.name = "spec", .below = node_spec},
	{.name = "status", .below = node_status},
	{.name = NULL},
};

static const struct shape_field service_spec[] = {
	{.name = "ports", .list = SHAPE_KEYED, .keys = {"port", "protocol"}},
	{.name = "selector", .flags = ATOMIC_MAP},
	{.name = NULL},
};

static const struct shape_field service[] = {
	{.name = "metadata", .below = metadata},
	{.name = "spec", .below = service_spec},
	{.name = "status", .below = conditions},
	{.name = NULL},
};

static const struct shape_field service_account[] = {
	{.name = "metadata", .below = metadata},
	{.name = "secrets", .list = SHAPE_KEYED, .keys = {"name"}},
	{.name = NULL},
};

static const struct shape_field plain[] = {
	{.name = "metadata", .below = metadata},
	{.name = "status", .below = conditions},
	{.name = NULL},
};

static const struct {
	const char *group, *resource;
	const struct shape_field *fields;
} roots[] = {
	{"", "pods", pod},
	{"", "podtemplates", plain},
	{"", "nodes", node},
	{"", "services", service},
	{"", "serviceaccounts", service_account},
	{"", "replicationcontrollers", workload},
	{KINDS_APPS, "deployments", workload},
	{KINDS_APPS, "replicasets", workload},
	{KINDS_APPS, "statefulsets", workload},
	{KINDS_APPS, "daemonsets", workload},
	{KINDS_BATCH, "jobs", workload},
	{KINDS_BATCH, "cronjobs", cron},
};

struct shape shape_of(const struct store_api *api)
{
	struct shape shape = {.fields = plain, .schema = api->schema};
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (strcmp(roots[i].group, api->type->group) == 0 &&
		    strcmp(roots[i].resource, api->type->resource) == 0)
			shape.fields = roots[i].fields;
	return shape;
}

static struct shape from_table(const struct shape_field *field)
{
	struct shape shape = {
		.fields = field->below,
		.list = field->list,
		.atomic = field->flags & ATOMIC_MAP,
		.retain_keys = field->flags & RETAIN_KEYS,
	};
	for (; shape.key_count < SHAPE_KEYS && field->keys[shape.key_count]; shape.key_count++)
		shape.keys[shape.key_count] = field->keys[shape.key_count];
	return shape;
}

static struct shape from_schema(const struct val *schema)
{
	struct shape shape = {.schema = schema};
	const char *list = val_str(val_get(schema, "x-kubernetes-list-type"), "atomic");
	shape.atomic = strcmp(val_str(val_get(schema, "x-kubernetes-map-type"), ""), "atomic") == 0;
	if (strcmp(list, "set") == 0)
		shape.list = SHAPE_SET;
	if (strcmp(list, "map") == 0) {
		const struct val *key;
		for (struct val_iter it = val_iter(val_get(schema, "x-kubernetes-list-map-keys"));
		     val_next(&it, NULL, &key);)
			if (val_kind(key) == VAL_STRING && shape.key_count < SHAPE_KEYS)
				shape.keys[shape.key_count++] = val_str(key, "");
		shape.list = shape.key_count ? SHAPE_KEYED : SHAPE_ATOMIC;
	}
	return shape;
}

struct shape shape_child(const struct shape *shape, const char *key)
{
	for (const struct shape_field *field = shape->fields; field && field->name; field++) {
		if (strcmp(field->name, key) != 0)
			continue;
		struct shape below = from_table(field);
		if (field->below == conditions && shape->schema)
			below.schema = val_path(shape->schema, "properties", key, NULL);
		return below;
	}
	const struct val *schema = val_path(shape->schema, "properties", key, NULL);
	if (!schema)
		schema = val_get(shape->schema, "additionalProperties");
	return val_kind(schema) == VAL_MAP ? from_schema(schema) : (struct shape){0};
}

struct shape shape_item(const struct shape *shape)
{
	struct shape below = {.fields = shape->fields, .retain_keys = shape->retain_keys};
	const struct val *schema = val_get(shape->schema, "items");
	if (!shape->fields && val_kind(schema) == VAL_MAP) {
		below = from_schema(schema);
	}
	return below;
}
