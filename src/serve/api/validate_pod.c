/* Owns what must be right in the spec of a pod. */
#include "serve/api/validate.h"

#include "base/quantity.h"
#include "base/strings.h"

#include <string.h>

#define REQUIRED "Required value"

/* ---- small checks ---- */

static bool is_label(const char *text)
{
	size_t length = strlen(text);
	if (length == 0 || length > 63 || text[0] == '-' || text[length - 1] == '-')
		return false;
	return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

static const char *text_at(const struct val *map, const char *key)
{
	return val_str(val_get(map, key), "");
}

/* A name that is there, is a DNS label and is not among `known`. */
static void check_name(struct problems *problems, const char *path, const char *name, struct interner *known)
{
	const char *where = problem_path(problems, "%s.name", path);
	uint32_t count = interner_count(known);
	if (!*name)
		problem_add_error(problems, PROBLEM_REQUIRED, where, NULL, REQUIRED);
	else if (!is_label(name))
		problem_add(problems, SEVERITY_ERROR, where, NULL,
		            "Invalid value: \"%s\": use at most 63 lower case letters, digits and '-', with a letter "
		            "or digit at both ends",
		            name);
	else if (interner_id(known, name) != count)
		problem_add_error(problems, PROBLEM_DUPLICATE, where, NULL, "Duplicate value: \"%s\"", name);
}

static void check_choice(struct problems *problems, const char *path, const struct val *value,
                         const char *const *choices)
{
	const char *text = val_str(value, NULL);
	struct buffer all = {0};
	for (size_t i = 0; choices[i]; i++) {
		if (!text || strcmp(text, choices[i]) == 0) {
			buffer_free(&all);
			return;
		}
		buffer_printf(&all, "%s\"%s\"", i ? ", " : "", choices[i]);
	}
	problem_add_error(problems, PROBLEM_UNSUPPORTED, path, NULL, "Unsupported value: \"%s\": supported values: %s",
	                  text, all.text);
	buffer_free(&all);
}

/* ---- resources ---- */

/* Amounts of these are whole numbers, and nobody may use more than was asked for. */
static bool is_exact(const char *resource)
{
	if (strncmp(resource, "hugepages-", 10) == 0)
		return true;
	return strchr(resource, '/') && !strstr(resource, "kubernetes.io/");
}

static bool read_amount(const char *resource, const struct val *value, int64_t *amount)
{
	char scratch[64];
	const char *text = val_scalar_text(value, scratch);
	return text && quantity_parse(text, strlen(text), quantity_scale_of(resource), amount, NULL) == 0;
}

static void check_amounts(struct problems *problems, const char *path, const struct val *amounts)
{
	const char *name;
	const struct val *value;
	for (struct val_iter it = val_iter(amounts); val_next(&it, &name, &value);) {
		char scratch[64];
		const char *text = val_scalar_text(value, scratch);
		const char *where = problem_path(problems, "%s[%s]", path, name);
		int64_t amount;
		if (!read_amount(name, value, &amount))
			problem_add(problems, SEVERITY_ERROR, where, NULL,
			            "Invalid value: \"%s\": write a quantity such as 500m, 2 or 4Gi", text ? text : "");
		else if (amount < 0)
			problem_add(problems, SEVERITY_ERROR, where, NULL,
			            "Invalid value: \"%s\": must be greater than or equal to 0", text);
		else if (is_exact(name) && text && strspn(text, "0123456789") != strlen(text) && strchr(text, 'm'))
			problem_add(problems, SEVERITY_ERROR, where, NULL, "Invalid value: \"%s\": must be an integer",
			            text);
	}
}

static void check_resources(struct problems *problems, const char *path, const struct val *resources, bool half)
{
	const struct val *requests = val_get(resources, "requests"), *limits = val_get(resources, "limits"), *value;
	const char *name;
	if (!half) {
		check_amounts(problems, problem_path(problems, "%s.limits", path), limits);
		check_amounts(problems, problem_path(problems, "%s.requests", path), requests);
	}
	for (struct val_iter it = val_iter(requests); val_next(&it, &name, &value);) {
		const struct val *limit = val_get(limits, name);
		int64_t asked, most;
		char scratch[64];
		const char *where = problem_path(problems, "%s.requests", path);
		if (!limit && is_exact(name))
			problem_add_error(problems, PROBLEM_REQUIRED, problem_path(problems, "%s.limits", path),
			                  problem_path(problems, "add %s with the same amount there", name),
			                  REQUIRED ": Limit must be set for non overcommitable resources");
		if (!limit || !read_amount(name, value, &asked) || !read_amount(name, limit, &most))
			continue;
		if (is_exact(name) && asked != most)
			problem_add(problems, SEVERITY_ERROR, where, NULL,
			            "Invalid value: \"%s\": must be equal to %s limit of %s",
			            val_scalar_text(value, scratch), name, quantity_print(problems->arena, name, most));
		else if (asked > most && !half)
			problem_add(problems, SEVERITY_ERROR, where, NULL,
			            "Invalid value: \"%s\": must be less than or equal to %s limit of %s",
			            val_scalar_text(value, scratch), name, quantity_print(problems->arena, name, most));
	}
}

/* ---- containers ---- */

static void check_ports(struct problems *problems, const char *path, const struct val *ports)
{
	static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
	const struct val *item;
	size_t index = 0;
	for (struct val_iter it = val_iter(ports); val_next(&it, NULL, &item); index++) {
		const char *where = problem_path(problems, "%s.ports[%zu]", path, index);
		int64_t port = 0;
		if (val_int(val_get(item, "containerPort"), &port) < 0)
			problem_add_error(problems, PROBLEM_REQUIRED, problem_path(problems, "%s.containerPort", where),
			                  NULL, REQUIRED);
		else if (port < 1 || port > 65535)
			problem_add(problems, SEVERITY_ERROR, problem_path(problems, "%s.containerPort", where), NULL,
			            "Invalid value: %lld: must be between 1 and 65535, inclusive", (long long)port);
		check_choice(problems, problem_path(problems, "%s.protocol", where), val_get(item, "protocol"),
		             protocols);
	}
}

static void check_mounts(struct problems *problems, const char *path, const struct val *mounts,
                         const struct interner *volumes)
{
	const struct val *item;
	size_t index = 0;
	for (struct val_iter it = val_iter(mounts); val_next(&it, NULL, &item); index++) {
		const char *where = problem_path(problems, "%s.volumeMounts[%zu]", path, index);
		const char *name = text_at(item, "name");
		if (!*name)
			problem_add_error(problems, PROBLEM_REQUIRED, problem_path(problems, "%s.name", where), NULL,
			                  REQUIRED);
		else if (interner_find(volumes, name) == UINT32_MAX)
			problem_add_error(problems, PROBLEM_NOT_FOUND, problem_path(problems, "%s.name", where), NULL,
			                  "Not found: \"%s\"", name);
		if (!*text_at(item, "mountPath"))
			problem_add_error(problems, PROBLEM_REQUIRED, problem_path(problems, "%s.mountPath", where),
			                  NULL, REQUIRED);
	}
}

static void check_env(struct problems *problems, const char *path, const struct val *env)
{
	const struct val *item;
	size_t index = 0;
	for (struct val_iter it = val_iter(env); val_next(&it, NULL, &item); index++)
		if (!*text_at(item, "name"))
			problem_add_error(problems, PROBLEM_REQUIRED,
			                  problem_path(problems, "%s.env[%zu].name", path, index), NULL, REQUIRED);
}

static void check_container(struct problems *problems, const char *path, const struct val *container,
                            struct interner *names, const struct interner *volumes, bool half)
{
	static const char *const policies[] = {"Always", "IfNotPresent", "Never", NULL};
	check_name(problems, path, text_at(container, "name"), names);
	if (!*text_at(container, "image"))
		problem_add_error(problems, PROBLEM_REQUIRED, problem_path(problems, "%s.image", path), NULL, REQUIRED);
	check_choice(problems, problem_path(problems, "%s.imagePullPolicy", path),
	             val_get(container, "imagePullPolicy"), policies);
	if (!half)
		check_ports(problems, path, val_get(container, "ports"));
	check_env(problems, path, val_get(container, "env"));
	check_mounts(problems, path, val_get(container, "volumeMounts"), volumes);
	check_resources(problems, problem_path(problems, "%s.resources", path), val_get(container, "resources"), half);
}

static void check_containers(struct problems *problems, const char *path, const struct val *spec,
                             const struct validate_pod *how)
{
	static const char *const lists[] = {"initContainers", "containers"};
	struct interner *names = interner_create(), *volumes = interner_create();
	const struct val *item;
	size_t index = 0;
	for (struct val_iter it = val_iter(val_get(spec, "volumes")); val_next(&it, NULL, &item); index++)
		check_name(problems, problem_path(problems, "%s.volumes[%zu]", path, index), text_at(item, "name"),
		           volumes);
	for (struct val_iter it = val_iter(how->claims); val_next(&it, NULL, &item);)
		interner_id(volumes, val_str(val_path(item, "metadata", "name", NULL), ""));
	for (size_t i = 0; i < 2; i++) {
		index = 0;
		for (struct val_iter it = val_iter(val_get(spec, lists[i])); val_next(&it, NULL, &item); index++)
			check_container(problems, problem_path(problems, "%s.%s[%zu]", path, lists[i], index), item,
			                names, volumes, how->half);
	}
	if (val_count(val_get(spec, "containers")) == 0)
		problem_add_error(problems, PROBLEM_REQUIRED, problem_path(problems, "%s.containers", path), NULL,
		                  REQUIRED);
	interner_destroy(names);
	interner_destroy(volumes);
}

/* ---- the spec ---- */

static void check_restart(struct problems *problems, const char *path, const struct val *spec,
                          enum validate_restart restart)
{
	static const char *const all[] = {"Always", "OnFailure", "Never", NULL};
	static const char *const always[] = {"Always", NULL};
	static const char *const ends[] = {"OnFailure", "Never", NULL};
	const char *where = problem_path(problems, "%s.restartPolicy", path);
	const struct val *policy = val_get(spec, "restartPolicy");
	if (restart == RESTART_ENDS && !*val_str(policy, ""))
		problem_add_error(problems, PROBLEM_REQUIRED, where, NULL,
		                  REQUIRED ": valid values: \"OnFailure\", \"Never\"");
	else
		check_choice(problems, where, policy,
		             restart == RESTART_ENDS     ? ends
		             : restart == RESTART_ALWAYS ? always
		                                         : all);
}

void validate_pod_spec(struct problems *problems, const char *path, const struct val *spec,
                       const struct validate_pod *how)
{
	check_containers(problems, path, spec, how);
	check_restart(problems, path, spec, how->restart);
	int64_t grace;
	if (val_int(val_get(spec, "terminationGracePeriodSeconds"), &grace) == 0 && grace < 0)
		problem_add(problems, SEVERITY_ERROR, problem_path(problems, "%s.terminationGracePeriodSeconds", path),
		            NULL, "Invalid value: %lld: must be greater than or equal to 0", (long long)grace);
}

/* ---- changes ---- */

static bool is_among(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (strcmp(*keys, key) == 0)
			return true;
	return false;
}

/* The entries of one map, but for some, are in the other. */
static bool covers(const struct val *map, const struct val *other, const char *const *but)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);)
		if (!is_among(key, but) && !val_equal(item, val_get(other, key)))
			return false;
	return true;
}

static bool same_containers(const struct val *a, const struct val *b)
{
	static const char *const may_change[] = {"image", NULL};
	size_t count = val_count(a);
	bool same = count == val_count(b);
	for (size_t i = 0; same && i < count; i++)
		same = covers(val_item(a, i), val_item(b, i), may_change) &&
		       covers(val_item(b, i), val_item(a, i), may_change);
	return same;
}

void validate_pod_change(struct problems *problems, const struct val *spec, const struct val *old)
{
	/* Of a pod that waits at a gate, others may still say where it is to go. */
	static const char *const may_change[] = {
		"activeDeadlineSeconds",         "containers", "initContainers", "schedulingGates", "tolerations",
		"terminationGracePeriodSeconds", NULL};
	static const char *const may_change_gated[] = {"activeDeadlineSeconds",
	                                               "affinity",
	                                               "containers",
	                                               "initContainers",
	                                               "nodeSelector",
	                                               "schedulingGates",
	                                               "tolerations",
	                                               "terminationGracePeriodSeconds",
	                                               NULL};
	const char *const *allowed = val_count(val_get(old, "schedulingGates")) > 0 ? may_change_gated : may_change;
	if (covers(spec, old, allowed) && covers(old, spec, allowed) &&
	    same_containers(val_get(spec, "containers"), val_get(old, "containers")) &&
	    same_containers(val_get(spec, "initContainers"), val_get(old, "initContainers")))
		return;
	problem_add_error(problems, PROBLEM_FORBIDDEN, "spec", "delete the pod and create it again",
	                  "Forbidden: pod updates may not change fields other than `spec.containers[*].image`, "
	                  "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations`, "
	                  "`spec.terminationGracePeriodSeconds`");
}
