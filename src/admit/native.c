/* Owns the rules for groups of Kubernetes itself, in the form of 1.37; disruptionMode also in that of 1.36. */
#include "admit/native.h"

#include "admit/decode.h"
#include "base/strings.h"

#include <string.h>

#define HIGHEST_PRIORITY 1000000000
#define MOST_CLAIMS 4

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

/* Which of two keys of a union is there; NULL, with a problem, unless it is exactly one. */
static const char *read_union(const struct decode *decode, const struct decode_path *path, const struct val *map,
                              const char *one, const char *other)
{
	const char *const names[] = {one, other};
	bool has_one = val_kind(val_get(map, one)) == VAL_MAP, has_other = val_kind(val_get(map, other)) == VAL_MAP;
	decode_known(decode, path, map, names, 2);
	if (has_one != has_other)
		return has_one ? one : other;
	decode_error(decode, path, arena_printf(decode->problems->arena, "write %s: {} or %s", one, other),
	             has_one ? "Invalid value: only one of %s and %s may be set" : "Required value: one of %s and %s",
	             one, other);
	return NULL;
}

static void judge_policy(const struct decode *decode, const struct val *spec, bool composite)
{
	const struct decode_path *path = PATH_KEY(spec_path, "schedulingPolicy"), *gang = PATH_KEY(path, "gang");
	const char *key = composite ? "minGroupCount" : "minCount";
	const struct val *policy = decode_map(decode, spec_path, spec, "schedulingPolicy");
	const char *variant = read_union(decode, path, policy, "basic", "gang");
	int64_t minimum;
	if (!text_equal(variant, "gang"))
		return;
	const struct val *map = val_get(policy, "gang");
	decode_known(decode, gang, map, &key, 1);
	if (!val_get(map, key))
		decode_error(decode, PATH_KEY(gang, key), "write how many are needed", "Required value");
	else
		decode_int(decode, gang, map, key, 1, INT32_MAX, &minimum);
}

static void judge_constraints(const struct decode *decode, const struct val *spec)
{
	static const char *const names[] = {"topology"}, *const keys[] = {"key"};
	const struct decode_path *path = PATH_KEY(spec_path, "schedulingConstraints"),
				 *list_path = PATH_KEY(path, "topology");
	const struct val *map = decode_map(decode, spec_path, spec, "schedulingConstraints"), *item;
	const struct val *list = decode_list(decode, path, map, "topology");
	size_t index = 0;
	decode_known(decode, path, map, names, 1);
	if (val_count(list) > 1)
		decode_error(decode, list_path, "keep the narrowest", "Too many: %zu: must have at most 1 item",
		             val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *at = PATH_INDEX(list_path, index);
		if (!decode_is(decode, at, item, VAL_MAP))
			continue;
		decode_known(decode, at, item, keys, 1);
		const char *key = decode_string(decode, at, item, "key");
		if (!key)
			decode_error(decode, PATH_KEY(at, "key"), "name a label of nodes", "Required value");
		else if (!name_is_label_key(key))
			decode_error(decode, PATH_KEY(at, "key"), decode_label_key_fix, "%s is not a valid label key",
			             decode_show(decode->problems->arena, key));
	}
}

static void judge_disruption(const struct decode *decode, const struct val *spec)
{
	static const char *const words[] = {"Pod", "PodGroup"};
	const struct decode_path *path = PATH_KEY(spec_path, "disruptionMode");
	const struct val *mode = val_get(spec, "disruptionMode");
	if (!mode || val_kind(mode) == VAL_NULL)
		return;
	if (val_kind(mode) == VAL_STRING)
		decode_enum(decode, path, val_str(mode, ""), words, 2);
	else if (decode_is(decode, path, mode, VAL_MAP))
		read_union(decode, path, mode, "single", "all");
}

static void judge_priority(const struct decode *decode, const struct val *spec)
{
	static const char *const policies[] = {"Never", "PreemptLowerPriority"};
	const struct decode_path *class_path = PATH_KEY(spec_path, "priorityClassName");
	const char *class = decode_string(decode, spec_path, spec, "priorityClassName");
	const char *policy = decode_string(decode, spec_path, spec, "preemptionPolicy");
	int64_t priority;
	if (class && !name_is_subdomain(class))
		decode_error(decode, class_path, "name a PriorityClass", "%s is not a valid object name",
		             decode_show(decode->problems->arena, class));
	decode_int(decode, spec_path, spec, "priority", INT32_MIN, HIGHEST_PRIORITY, &priority);
	if (policy)
		decode_enum(decode, PATH_KEY(spec_path, "preemptionPolicy"), policy, policies, 2);
}

static void judge_name(const struct decode *decode, const struct decode_path *up, const struct val *map,
                       const char *key, bool label)
{
	const char *name = decode_string(decode, up, map, key);
	if (!name)
		decode_error(decode, PATH_KEY(up, key), "write a name", "Required value");
	else if (label ? !name_is_label(name) : !name_is_subdomain(name))
		decode_error(decode, PATH_KEY(up, key), "use lower-case letters, digits and '-'",
		             "%s is not a valid name", decode_show(decode->problems->arena, name));
}

/* A group with a parent, and every CompositePodGroup, comes from the template of a Workload. */
static void judge_origin(const struct decode *decode, const struct val *spec, bool composite)
{
	static const char *const names[] = {"workloadName", "templateName"};
	const struct decode_path *path = PATH_KEY(spec_path, "workloadRef");
	const struct val *origin = decode_map(decode, spec_path, spec, "workloadRef");
	const char *parent = decode_string(decode, spec_path, spec, "parentCompositePodGroupName");
	if (parent && !name_is_subdomain(parent))
		decode_error(decode, PATH_KEY(spec_path, "parentCompositePodGroupName"), "name a CompositePodGroup",
		             "%s is not a valid object name", decode_show(decode->problems->arena, parent));
	if (origin) {
		decode_known(decode, path, origin, names, 2);
		judge_name(decode, path, origin, "workloadName", false);
		judge_name(decode, path, origin, "templateName", true);
	} else if (composite || parent) {
		decode_error(decode, path, "name the Workload and its template: {workloadName: w, templateName: t}",
		             composite ? "Required value" : "Required value: when a parent is named");
	}
}

static void judge_claims(const struct decode *decode, const struct val *spec)
{
	const struct decode_path *path = PATH_KEY(spec_path, "resourceClaims");
	const struct val *list = decode_list(decode, spec_path, spec, "resourceClaims"), *item;
	size_t index = 0;
	if (val_count(list) > MOST_CLAIMS)
		decode_error(decode, path, "remove some", "Too many: %zu: must have at most %d items", val_count(list),
		             MOST_CLAIMS);
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *at = PATH_INDEX(path, index);
		if (!decode_is(decode, at, item, VAL_MAP))
			continue;
		judge_name(decode, at, item, "name", true);
		if (!decode_string(decode, at, item, "resourceClaimName") ==
		    !decode_string(decode, at, item, "resourceClaimTemplateName"))
			decode_error(decode, at, "write resourceClaimName or resourceClaimTemplateName",
			             "exactly one of resourceClaimName and resourceClaimTemplateName is needed");
	}
	if (val_count(list) > 0)
		decode_warning(decode, path, "give the claims to the pods, or let kube-scheduler place them",
		               "claims that a whole group shares are not served: its pods stay blocked");
}

void native_judge(const struct val *object, bool composite, struct arena *arena, struct problems *problems)
{
	static const char *const names[] = {"schedulingPolicy", "schedulingConstraints", "disruptionMode",
	                                    "priorityClassName", "priority", "preemptionPolicy", "workloadRef",
	                                    "parentCompositePodGroupName",
	                                    /* not of a CompositePodGroup; the last one until 1.36 */
	                                    "resourceClaims", "podGroupTemplateRef"};
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object);
	decode_metadata(&decode, object, true);
	decode_known(&decode, spec_path, spec, names, sizeof(names) / sizeof(names[0]) - (composite ? 2 : 0));
	judge_policy(&decode, spec, composite);
	judge_constraints(&decode, spec);
	judge_disruption(&decode, spec);
	judge_priority(&decode, spec);
	judge_origin(&decode, spec, composite);
	if (!composite)
		judge_claims(&decode, spec);
}

/* Of a gang only the number may change, of a PodGroup. */
static bool same_policy(const struct val *now, const struct val *old)
{
	const struct val *gang = val_get(now, "gang"), *was = val_get(old, "gang");
	if (val_kind(val_get(gang, "minCount")) == VAL_INT && val_kind(val_get(was, "minCount")) == VAL_INT)
		return !val_get(now, "basic") && !val_get(old, "basic");
	return val_equal(now, old);
}

void native_judge_change(const struct val *object, const struct val *old, struct problems *problems)
{
	const struct val *specs[] = {val_get(object, "spec"), val_get(old, "spec")}, *item;
	const char *key;
	for (int i = 0; i < 2; i++)
		for (struct val_iter it = val_iter(specs[i]); val_next(&it, &key, &item);) {
			const struct val *other = val_get(specs[!i], key);
			bool policy = strcmp(key, "schedulingPolicy") == 0;
			/* What both have is looked at once. */
			if ((i == 1 && other) || (policy ? same_policy(item, other) : val_equal(item, other)))
				continue;
			problem_add(problems, SEVERITY_ERROR, problem_path(problems, "spec.%s", key),
			            "delete the group and create it again", "Invalid value: field is immutable");
		}
}
