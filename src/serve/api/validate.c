/* Owns the table of kinds and what must be right in each of them besides its pods. */
#include "serve/api/validate.h"

#include "kinds/names.h"

#include <stdio.h>
#include <string.h>

#define REQUIRED "Required value"
#define ROLES "roles are not evaluated here; there are one token that may do everything and one that may read"

struct check {
	const struct val *object, *spec;
	const struct val *old; /* the spec before; NULL at a create */
	struct problems *problems;
};

static void wrong(struct check *check, const char *path, const char *message)
{
	problem_add(check->problems, SEVERITY_ERROR, path, NULL, "%s", message);
}

static void missing(struct check *check, const char *path, const char *message)
{
	problem_add_error(check->problems, PROBLEM_REQUIRED, path, NULL, "%s", message);
}

/* ---- small checks ---- */

static void check_not_negative(struct check *check, const char *key)
{
	int64_t number;
	if (val_int(val_get(check->spec, key), &number) == 0 && number < 0)
		problem_add(check->problems, SEVERITY_ERROR, problem_path(check->problems, "spec.%s", key), NULL,
		            "Invalid value: %lld: must be greater than or equal to 0", (long long)number);
}

static void check_fixed(struct check *check, const char *key)
{
	if (check->old && !val_equal(val_get(check->spec, key), val_get(check->old, key)))
		problem_add(check->problems, SEVERITY_ERROR, problem_path(check->problems, "spec.%s", key),
		            "delete the object and create it again", "Invalid value: field is immutable");
}

static bool holds(const struct val *requirement, const struct val *labels)
{
	const char *operator_ = val_str(val_get(requirement, "operator"), ""), *value;
	const struct val *item;
	bool in = false;
	value = val_str(val_get(labels, val_str(val_get(requirement, "key"), "")), NULL);
	for (struct val_iter it = val_iter(val_get(requirement, "values")); value && val_next(&it, NULL, &item);)
		in |= strcmp(val_str(item, ""), value) == 0;
	if (strcmp(operator_, "In") == 0)
		return in;
	if (strcmp(operator_, "NotIn") == 0)
		return !in;
	return (strcmp(operator_, "Exists") == 0) == (value != NULL);
}

static bool selects(const struct val *selector, const struct val *labels)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(selector, "matchLabels")); val_next(&it, &key, &item);)
		if (!val_equal(item, val_get(labels, key)))
			return false;
	for (struct val_iter it = val_iter(val_get(selector, "matchExpressions")); val_next(&it, NULL, &item);)
		if (!holds(item, labels))
			return false;
	return true;
}

/* ---- workloads ---- */

static void check_template(struct check *check, const char *path, const struct val *template_,
                           enum validate_restart restart)
{
	if (val_kind(val_get(template_, "spec")) != VAL_MAP)
		problem_add_error(check->problems, PROBLEM_REQUIRED, problem_path(check->problems, "%s.spec", path),
		                  NULL, REQUIRED);
	else
		validate_pod_spec(check->problems, problem_path(check->problems, "%s.spec", path),
		                  val_get(template_, "spec"),
		                  &(struct validate_pod){
					  .restart = restart,
					  .claims = val_get(check->spec, "volumeClaimTemplates"),
				  });
}

/* Deployments, ReplicaSets, StatefulSets, DaemonSets. */
static void check_set(struct check *check)
{
	const struct val *selector = val_get(check->spec, "selector"), *template_ = val_get(check->spec, "template");
	const struct val *labels = val_path(template_, "metadata", "labels", NULL);
	check_not_negative(check, "replicas");
	check_not_negative(check, "minReadySeconds");
	if (val_kind(selector) != VAL_MAP)
		missing(check, "spec.selector", REQUIRED);
	else if (val_count(val_get(selector, "matchLabels")) + val_count(val_get(selector, "matchExpressions")) == 0)
		wrong(check, "spec.selector", "Invalid value: {}: empty selector is invalid");
	else if (!selects(selector, labels))
		wrong(check, "spec.template.metadata.labels",
		      "Invalid value: `selector` does not match template `labels`");
	check_template(check, "spec.template", template_, RESTART_ALWAYS);
	check_fixed(check, "selector");
}

static void check_stateful_set(struct check *check)
{
	static const char *const may_change[] = {
		"replicas",        "ordinals", "template", "updateStrategy", "persistentVolumeClaimRetentionPolicy",
		"minReadySeconds", "selector", NULL};
	const struct val *maps[] = {check->spec, check->old}, *item;
	const char *key;
	bool same = true;
	check_set(check);
	for (int i = 0; check->old && i < 2; i++)
		for (struct val_iter it = val_iter(maps[i]); val_next(&it, &key, &item);) {
			bool may = false;
			for (const char *const *name = may_change; *name; name++)
				may |= strcmp(*name, key) == 0;
			same &= may || val_equal(item, val_get(maps[!i], key));
		}
	if (!same)
		problem_add_error(
			check->problems, PROBLEM_FORBIDDEN, "spec", NULL,
			"Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', "
			"'template', "
			"'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}

static void check_job(struct check *check)
{
	static const char *const numbers[] = {"parallelism",           "completions",
	                                      "backoffLimit",          "backoffLimitPerIndex",
	                                      "activeDeadlineSeconds", "ttlSecondsAfterFinished"};
	bool indexed = strcmp(val_str(val_get(check->spec, "completionMode"), ""), "Indexed") == 0;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		check_not_negative(check, numbers[i]);
	if (indexed && val_kind(val_get(check->spec, "completions")) != VAL_INT)
		missing(check, "spec.completions", REQUIRED ": when completion mode is Indexed");
	check_template(check, "spec.template", val_get(check->spec, "template"), RESTART_ENDS);
	/* An Indexed Job grows and shrinks when both numbers change together. */
	if (!indexed || !val_equal(val_get(check->spec, "completions"), val_get(check->spec, "parallelism")))
		check_fixed(check, "completions");
	check_fixed(check, "completionMode");
	/* While it is suspended, others may still say where its pods are to go. */
	if (!val_bool(val_get(check->old, "suspend"), false))
		check_fixed(check, "template");
}

static void check_cron_job(struct check *check)
{
	const char *schedule = val_str(val_get(check->spec, "schedule"), "");
	int fields = 0;
	for (const char *at = schedule + strspn(schedule, " "); *at; at += strspn(at, " "), fields++)
		at += strcspn(at, " ");
	if (!*schedule)
		missing(check, "spec.schedule", REQUIRED);
	else if (*schedule != '@' && fields != 5)
		problem_add(check->problems, SEVERITY_ERROR, "spec.schedule", NULL,
		            "Invalid value: \"%s\": expected exactly 5 fields, found %d", schedule, fields);
	check_template(check, "spec.jobTemplate.spec.template",
	               val_path(check->spec, "jobTemplate", "spec", "template", NULL), RESTART_ENDS);
}

static void check_pod(struct check *check)
{
	if (!check->old)
		validate_pod_spec(check->problems, "spec", check->spec,
		                  &(struct validate_pod){.restart = RESTART_ANY, .half = true});
	else if (!val_equal(check->spec, check->old))
		validate_pod_change(check->problems, check->spec, check->old);
}

/* ---- others ---- */

static void check_service_port(struct check *check, const struct val *port, size_t index, bool several)
{
	const char *where = problem_path(check->problems, "spec.ports[%zu]", index);
	int64_t number = 0;
	if (val_int(val_get(port, "port"), &number) < 0 || number < 1 || number > 65535)
		problem_add(check->problems, SEVERITY_ERROR, problem_path(check->problems, "%s.port", where), NULL,
		            "Invalid value: %lld: must be between 1 and 65535, inclusive", (long long)number);
	if (several && !*val_str(val_get(port, "name"), ""))
		problem_add_error(check->problems, PROBLEM_REQUIRED, problem_path(check->problems, "%s.name", where),
		                  NULL, REQUIRED);
}

static void check_service(struct check *check)
{
	static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"};
	const struct val *ports = val_get(check->spec, "ports"), *item;
	const char *type = val_str(val_get(check->spec, "type"), "ClusterIP");
	bool external = strcmp(type, "ExternalName") == 0;
	bool headless = strcmp(val_str(val_get(check->spec, "clusterIP"), ""), "None") == 0;
	size_t index = 0;
	bool known = false;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		known |= strcmp(types[i], type) == 0;
	if (!known)
		problem_add_error(check->problems, PROBLEM_UNSUPPORTED, "spec.type", NULL,
		                  "Unsupported value: \"%s\": supported values: \"ClusterIP\", \"ExternalName\", "
		                  "\"LoadBalancer\", \"NodePort\"",
		                  type);
	if (external && !*val_str(val_get(check->spec, "externalName"), ""))
		missing(check, "spec.externalName", REQUIRED);
	if (!external && !headless && val_count(ports) == 0)
		missing(check, "spec.ports", REQUIRED);
	for (struct val_iter it = val_iter(ports); val_next(&it, NULL, &item); index++)
		check_service_port(check, item, index, val_count(ports) > 1);
}

static void check_claim(struct check *check)
{
	if (val_count(val_get(check->spec, "accessModes")) == 0)
		missing(check, "spec.accessModes", REQUIRED ": at least 1 access mode is required");
	if (!val_path(check->spec, "resources", "requests", "storage", NULL))
		missing(check, "spec.resources[storage]", REQUIRED);
	check_fixed(check, "accessModes");
	check_fixed(check, "storageClassName");
}

static void check_autoscaler(struct check *check)
{
	int64_t least = 1, most = 0;
	val_int(val_get(check->spec, "minReplicas"), &least);
	val_int(val_get(check->spec, "maxReplicas"), &most);
	if (most < 1)
		wrong(check, "spec.maxReplicas", "Invalid value: must be greater than 0");
	else if (most < least)
		wrong(check, "spec.maxReplicas", "Invalid value: must be greater than or equal to `minReplicas`");
	if (!*val_str(val_path(check->spec, "scaleTargetRef", "name", NULL), ""))
		missing(check, "spec.scaleTargetRef.name", REQUIRED);
	if (!*val_str(val_path(check->spec, "scaleTargetRef", "kind", NULL), ""))
		missing(check, "spec.scaleTargetRef.kind", REQUIRED);
}

static void check_budget(struct check *check)
{
	if (val_get(check->spec, "minAvailable") && val_get(check->spec, "maxUnavailable"))
		wrong(check, "spec", "Invalid value: minAvailable and maxUnavailable cannot be both set");
}

static const struct {
	const char *group, *kind;
	void (*check)(struct check *check);
} kinds[] = {
	{"", "Pod", check_pod},
	{"", "Service", check_service},
	{"", "PersistentVolumeClaim", check_claim},
	{KINDS_APPS, "Deployment", check_set},
	{KINDS_APPS, "ReplicaSet", check_set},
	{KINDS_APPS, "DaemonSet", check_set},
	{KINDS_APPS, "StatefulSet", check_stateful_set},
	{KINDS_BATCH, "Job", check_job},
	{KINDS_BATCH, "CronJob", check_cron_job},
	{KINDS_AUTOSCALING, "HorizontalPodAutoscaler", check_autoscaler},
	{KINDS_POLICY, "PodDisruptionBudget", check_budget},
};

/* ConfigMaps and Secrets that say so themselves stay as they are. */
static void check_frozen(const struct val *object, const struct val *old, struct problems *problems)
{
	static const char *const fields[] = {"data", "binaryData", "stringData", "immutable"};
	if (!val_bool(val_get(old, "immutable"), false))
		return;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!val_equal(val_get(object, fields[i]), val_get(old, fields[i])))
			problem_add_error(problems, PROBLEM_FORBIDDEN, fields[i],
			                  "delete the object and create it again",
			                  "Forbidden: field is immutable when `immutable` is set");
}

void validate_object(const char *group, const char *kind, const struct val *object, const struct val *old,
                     struct problems *problems)
{
	if (!*group && (strcmp(kind, "ConfigMap") == 0 || strcmp(kind, "Secret") == 0))
		check_frozen(object, old, problems);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].kind, kind) != 0 || strcmp(kinds[i].group, group) != 0)
			continue;
		struct check check = {
			.object = object,
			.spec = val_get(object, "spec"),
			.old = val_get(old, "spec"),
			.problems = problems,
		};
		/* Labels and annotations of what was accepted before can always be changed. */
		if (!check.old || !val_equal(check.spec, check.old))
			kinds[i].check(&check);
		return;
	}
}

const char *validate_idle(const char *group, const char *kind)
{
	static const struct {
		const char *group, *kind, *why;
	} idle[] = {
		{KINDS_AUTOSCALING, "HorizontalPodAutoscaler",
	         "simulated pods have no load, so nothing is scaled by it"},
		{"", "ResourceQuota", "quotas of namespaces are not enforced here; Queues are"},
		{"", "LimitRange", "limit ranges are not applied here"},
		{"", "ReplicationController", "there is no controller for it here; use a Deployment"},
		{KINDS_RBAC, "Role", ROLES},
		{KINDS_RBAC, "RoleBinding", ROLES},
		{KINDS_RBAC, "ClusterRole", ROLES},
		{KINDS_RBAC, "ClusterRoleBinding", ROLES},
		{KINDS_NETWORKING, "NetworkPolicy", "simulated pods have no network"},
		{KINDS_NETWORKING, "Ingress", "simulated pods have no network"},
	};
	for (size_t i = 0; i < sizeof(idle) / sizeof(*idle); i++)
		if (strcmp(idle[i].kind, kind) == 0 && strcmp(idle[i].group, group) == 0)
			return idle[i].why;
	return NULL;
}
