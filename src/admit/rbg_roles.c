/* Owns reading the roles of a RoleBasedGroup: the patterns of both versions, templates and how they are rolled out. */
#include "admit/rbg_internal.h"

#include "base/strings.h"
#include "rollout/backoff.h"
#include "rollout/count.h"

#include <stdio.h>
#include <string.h>

#define HUNDRED 100
#define MOST_PODS 10000     /* of one instance */
#define MOST_COMPONENTS 100 /* of one instance; each is compared with the others */

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};
static const struct decode_path *const roles_path = &(const struct decode_path){
	.up = &(const struct decode_path){.key = "spec"},
	.key = "roles",
};

struct percent rbg_read_percent(const struct decode *decode, const struct decode_path *up, const struct val *map,
                                const char *key, int64_t most)
{
	const struct decode_path *path = PATH_KEY(up, key);
	const struct val *val = val_get(map, key);
	struct percent percent = {0};
	struct error error = {0};
	int64_t count = 0;
	if (!val || val_kind(val) == VAL_NULL)
		return percent;
	if (val_kind(val) != VAL_STRING) {
		if (decode_int(decode, up, map, key, 0, COUNT_MAX, &count))
			percent = percent_count(count);
		return percent;
	}
	if (percent_parse(val_str(val, ""), &percent, &error) < 0) {
		decode_error(decode, path, "write a number, or a percentage in quotes such as \"25%\"", "%s",
		             error.text);
		return (struct percent){0};
	}
	if (percent.value > most) {
		decode_error(decode, path, "write at most \"100%\"", "%s is more than 100%%",
		             decode_show(decode->problems->arena, val_str(val, "")));
		return (struct percent){0};
	}
	return percent;
}

/* ---- templates ---- */

static const struct val *find_role_template(const struct val *spec, const char *name)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(spec, "roleTemplates")); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "name"), ""), name) == 0)
			return val_get(item, "template");
	return NULL;
}

static void check_template(const struct decode *decode, const struct decode_path *path, const struct val *template)
{
	rbg_check_annotations(decode, PATH_KEY(PATH_KEY(path, "metadata"), "annotations"),
	                      val_path(template, "metadata", "annotations", NULL));
	if (val_count(val_path(template, "spec", "containers", NULL)) == 0)
		decode_error(decode, PATH_KEY(PATH_KEY(path, "spec"), "containers"), "describe at least one container",
		             "the template has no containers");
}

/* template, or templateRef and its patch, of `map`: a role in v1alpha1, a pattern in v1alpha2. */
static void read_template(const struct decode *decode, const struct decode_path *path, const struct val *spec,
                          const struct val *map, struct rbg_component *out)
{
	const struct val *own = decode_map(decode, path, map, "template");
	const struct val *reference = decode_map(decode, path, map, "templateRef");
	if (own && reference)
		decode_error(decode, PATH_KEY(path, "templateRef"), "keep one of the two",
		             "template and templateRef exclude each other");
	if (own) {
		out->template = own;
		check_template(decode, PATH_KEY(path, "template"), own);
		return;
	}
	if (!reference) {
		decode_error(decode, PATH_KEY(path, "template"), "add a pod template, or a templateRef",
		             "the role has no template");
		return;
	}
	const char *name = decode_string(decode, PATH_KEY(path, "templateRef"), reference, "name");
	out->template = name ? find_role_template(spec, name) : NULL;
	if (!out->template)
		decode_error(decode, PATH_KEY(PATH_KEY(path, "templateRef"), "name"),
		             "name an entry of spec.roleTemplates", "there is no role template %s",
		             decode_show(decode->problems->arena, name ? name : ""));
	out->patches[0] = decode_map(decode, PATH_KEY(path, "templateRef"), reference, "patch");
	if (!out->patches[0])
		out->patches[0] = decode_map(decode, path, map, "templatePatch");
}

/* ---- patterns ---- */

static void read_components(const struct decode *decode, const struct decode_path *path, const struct val *spec,
                            const struct val *list, struct rbg_role *role)
{
	static const char *const known[] = {"name",          "size",        "template", "templateRef",
	                                    "templatePatch", "serviceName", "labels",   "annotations"};
	const struct val *item;
	size_t index = 0;
	role->components = arena_array(decode->arena, struct rbg_component, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item) && index < MOST_COMPONENTS; index++) {
		const struct decode_path *at = PATH_INDEX(path, index);
		if (!decode_is(decode, at, item, VAL_MAP))
			continue;
		struct rbg_component *component = &role->components[role->component_count++];
		component->name = decode_string(decode, at, item, "name");
		if (!component->name || !name_is_label(component->name)) {
			decode_error(decode, PATH_KEY(at, "name"), "use lower-case letters, digits and '-'",
			             "a component needs a name that is a DNS label");
			component->name = "component";
		}
		for (size_t i = 0; i + 1 < role->component_count; i++)
			if (strcmp(role->components[i].name, component->name) == 0)
				decode_error(decode, PATH_KEY(at, "name"), "rename one of the two",
				             "component %s is there twice, so their pods would have the same names",
				             component->name);
		decode_known(decode, at, item, known, sizeof(known) / sizeof(known[0]));
		component->size = 1;
		decode_int(decode, at, item, "size", 0, MOST_PODS, &component->size);
		component->labels = decode_map(decode, at, item, "labels");
		component->annotations = decode_map(decode, at, item, "annotations");
		rbg_check_annotations(decode, PATH_KEY(at, "annotations"), component->annotations);
		component->service = decode_string(decode, at, item, "serviceName");
		if (component->service && !name_is_label(component->service))
			decode_error(decode, PATH_KEY(at, "serviceName"),
			             "use lower-case letters, digits and '-', at most 63",
			             "%s cannot be the name of a service",
			             decode_show(decode->problems->arena, component->service));
		read_template(decode, at, spec, item, component);
	}
	for (size_t i = 0; i < role->component_count; i++) {
		const struct decode_path *at = PATH_INDEX(path, i);
		rbg_check_siblings(decode, PATH_KEY(at, "annotations"), role, role->components[i].annotations);
		rbg_check_siblings(decode, PATH_KEY(PATH_KEY(PATH_KEY(at, "template"), "metadata"), "annotations"),
		                   role, val_path(role->components[i].template, "metadata", "annotations", NULL));
	}
	if (role->component_count == 0)
		decode_error(decode, path, "add a component", "the role has no components");
	if (val_count(list) > MOST_COMPONENTS)
		decode_error(decode, path, "make some of them roles", "%zu components are more than %d",
		             val_count(list), MOST_COMPONENTS);
}

static void read_leader_worker(const struct decode *decode, const struct decode_path *path, const struct val *map,
                               const char *const patches[2], struct rbg_role *role)
{
	int64_t size = 1;
	decode_int(decode, path, map, "size", 1, MOST_PODS, &size);
	struct rbg_component *both = arena_array(decode->arena, struct rbg_component, 2);
	for (int i = 0; i < 2; i++) {
		both[i] = role->components[0];
		both[i].patches[1] = decode_map(decode, path, map, patches[i]);
	}
	both[0].size = 1;
	both[1].size = size - 1;
	role->components = both;
	role->component_count = 2;
	role->is_leader_worker = role->serves_by_leader = true;
	role->recreates = true;
}

static void read_restart(const struct decode *decode, const struct decode_path *path, const struct val *map,
                         struct rbg_role *role)
{
	static const char *const names[] = {"None", "RecreateRoleInstanceOnPodRestart", "RecreateRBGOnPodRestart"};
	const struct val *config = decode_map(decode, path, map, "restartPolicyConfig");
	const char *text = decode_string(decode, path, map, "restartPolicy");
	const char *type = decode_string(decode, PATH_KEY(path, "restartPolicyConfig"), config, "type");
	if (text || type) {
		const struct decode_path *at = type ? PATH_KEY(PATH_KEY(path, "restartPolicyConfig"), "type")
		                                    : PATH_KEY(path, "restartPolicy");
		int way = decode_enum(decode, at, type ? type : text, names, 3);
		role->recreates = way == 1;
		role->recreates_group = way == 2;
	}
	decode_int(decode, PATH_KEY(path, "restartPolicyConfig"), config, "baseDelaySeconds", 0, COUNT_MAX,
	           &role->base_delay);
	decode_int(decode, PATH_KEY(path, "restartPolicyConfig"), config, "maxDelaySeconds", 0, COUNT_MAX,
	           &role->max_delay);
	if (role->max_delay < role->base_delay)
		decode_error(decode, PATH_KEY(PATH_KEY(path, "restartPolicyConfig"), "maxDelaySeconds"),
		             "write at least baseDelaySeconds", "the longest delay is shorter than the first");
}

/* `map` is the role in v1alpha1 and its pattern in v1alpha2. */
static void read_service(const struct decode *decode, const struct decode_path *path, const struct val *map,
                         struct rbg_role *role)
{
	static const char *const names[] = {"All", "LeaderOnly"};
	const char *text = decode_string(decode, path, map, "sharedServiceSelection");
	int way = text ? decode_enum(decode, PATH_KEY(path, "sharedServiceSelection"), text, names, 2) : -1;
	if (way == 1 && !role->is_leader_worker)
		decode_error(decode, PATH_KEY(path, "sharedServiceSelection"), "write All, or leave it out",
		             "only roles of leader and workers have leaders");
	if (way >= 0)
		role->serves_by_leader = way == 1;
}

static void use_single(const struct decode *decode, struct rbg_role *role)
{
	role->components = arena_new(decode->arena, struct rbg_component);
	role->components[0] = (struct rbg_component){.name = "", .size = 1};
	role->component_count = 1;
}

static void read_pattern(const struct decode *decode, const struct decode_path *path, const struct val *spec,
                         const struct val *map, struct rbg_role *role)
{
	static const char *const v1_patches[] = {"patchLeaderTemplate", "patchWorkerTemplate"};
	static const char *const v2_patches[] = {"leaderTemplatePatch", "workerTemplatePatch"};
	static const char *const names[] = {"standalonePattern", "leaderWorkerPattern", "customComponentsPattern",
	                                    "leaderWorkerSet", "components"};
	const char *found = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct val *val = val_get(map, names[i]);
		/* v1alpha1 objects carry an empty list of components beside a template. */
		if (!val || val_kind(val) == VAL_NULL || (i == 4 && val_count(val) == 0))
			continue;
		if (found)
			decode_error(decode, PATH_KEY(path, names[i]), "keep one pattern",
			             "%s and %s exclude each other", found, names[i]);
		found = found ? found : names[i];
	}
	use_single(decode, role);
	if (!found || strcmp(found, "leaderWorkerSet") == 0) {
		read_template(decode, path, spec, map, &role->components[0]);
		if (found)
			read_leader_worker(decode, PATH_KEY(path, found), decode_map(decode, path, map, found),
			                   v1_patches, role);
		read_service(decode, path, map, role);
		read_restart(decode, path, map, role);
		return;
	}
	const struct decode_path *at = PATH_KEY(path, found);
	if (strcmp(found, "components") == 0) {
		role->recreates = true;
		role->component_count = 0;
		read_components(decode, at, spec, decode_list(decode, path, map, found), role);
		read_restart(decode, path, map, role);
		return;
	}
	const struct val *pattern = decode_map(decode, path, map, found);
	if (strcmp(found, "customComponentsPattern") == 0) {
		role->recreates = true;
		role->component_count = 0;
		read_components(decode, PATH_KEY(at, "components"), spec,
		                decode_list(decode, at, pattern, "components"), role);
	} else {
		read_template(decode, at, spec, pattern, &role->components[0]);
		if (strcmp(found, "leaderWorkerPattern") == 0)
			read_leader_worker(decode, at, pattern, v2_patches, role);
	}
	read_service(decode, at, pattern, role);
	read_restart(decode, at, pattern, role);
}

/* ---- roles ---- */

/* Whether it was written for a workload whose pods are made anew in any case. */
static bool is_foreign(const struct rbg_role *role)
{
	const char *type = val_str(val_get(role->annotations, "rbg.workloads.x-k8s.io/role-workload-type"), "");
	return *type && !strstr(type, "InstanceSet");
}

static void read_rollout(const struct decode *decode, const struct decode_path *path, const struct val *map,
                         struct rbg_role *role)
{
	static const char *const types[] = {"", "RecreatePod", "Recreate", "InPlaceIfPossible", "InPlaceOnly"};
	/* In the order of enum rbg_in_place from the third on. */
	const struct val *strategy = decode_map(decode, path, map, "rolloutStrategy");
	const struct decode_path *at = PATH_KEY(PATH_KEY(path, "rolloutStrategy"), "rollingUpdate");
	const struct val *rolling = decode_map(decode, at->up, strategy, "rollingUpdate");
	const char *type = decode_string(decode, at->up, strategy, "type");
	if (type && strcmp(type, "RollingUpdate") != 0)
		decode_error(decode, PATH_KEY(at->up, "type"), "write RollingUpdate, or leave it out",
		             "%s is not a rollout strategy", decode_show(decode->problems->arena, type));
	type = decode_string(decode, at, rolling, "type");
	int way = type ? decode_enum(decode, PATH_KEY(at, "type"), type, types, sizeof(types) / sizeof(types[0])) : 0;
	role->in_place = way >= 3                        ? (enum rbg_in_place)(way - 2)
	                 : way == 0 && !is_foreign(role) ? RBG_IN_PLACE_IF_POSSIBLE
	                                                 : RBG_IN_PLACE_NEVER;
	const struct val *in_place = decode_map(decode, at, rolling, "inPlaceUpdateStrategy");
	decode_int(decode, PATH_KEY(at, "inPlaceUpdateStrategy"), in_place, "gracePeriodSeconds", 0, COUNT_MAX,
	           &role->in_place_grace);
	if (role->in_place_grace > 0 && role->in_place == RBG_IN_PLACE_NEVER)
		decode_warning(decode, PATH_KEY(PATH_KEY(at, "inPlaceUpdateStrategy"), "gracePeriodSeconds"),
		               "write type InPlaceIfPossible or InPlaceOnly",
		               "it has no effect: this role is updated with new pods");
	role->rollout.partition = rbg_read_percent(decode, at, rolling, "partition", HUNDRED);
	role->rollout.max_unavailable = rbg_read_percent(decode, at, rolling, "maxUnavailable", HUNDRED);
	role->rollout.max_surge = rbg_read_percent(decode, at, rolling, "maxSurge", COUNT_MAX);
	role->rollout.is_paused = decode_bool(decode, at, rolling, "paused", false);
	const struct percent *down = &role->rollout.max_unavailable, *up = &role->rollout.max_surge;
	if (role->replicas > 0 && down->form != PERCENT_UNSET && down->value == 0 && up->value == 0)
		decode_error(decode, PATH_KEY(at, "maxUnavailable"), "raise one of them",
		             "maxUnavailable and maxSurge are both 0, so nothing could ever be replaced");
	if (role->replicas > 0 && role->rollout.partition.form == PERCENT_COUNT &&
	    role->rollout.partition.value > role->replicas)
		decode_error(decode, PATH_KEY(at, "partition"), "write at most the number of replicas",
		             "partition %lld is more than the %lld replicas", (long long)role->rollout.partition.value,
		             (long long)role->replicas);
}

/* A service refuses ports that are out of range or cannot be told apart. */
static void check_ports(const struct decode *decode, const struct decode_path *path, const struct val *list)
{
	struct interner *known = interner_create();
	const struct val *item;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *at = PATH_INDEX(path, index);
		int64_t port = 0;
		if (!decode_is(decode, at, item, VAL_MAP))
			continue;
		const char *name = decode_string(decode, at, item, "name");
		if (!val_get(item, "port"))
			decode_error(decode, PATH_KEY(at, "port"), "write a number from 1 to 65535",
			             "the port has no number");
		decode_int(decode, at, item, "port", 1, 65535, &port);
		if (name ? !name_is_label(name) : val_count(list) > 1)
			decode_error(decode, PATH_KEY(at, "name"), "use lower-case letters, digits and '-'",
			             "where there are several, each port needs a name");
		char key[32];
		snprintf(key, sizeof(key), "%lld %.10s", (long long)port, val_str(val_get(item, "protocol"), "TCP"));
		for (int i = 0; i < 2; i++) {
			uint32_t count = interner_count(known);
			const char *text = i == 0 ? name : port > 0 ? key : NULL;
			if (text && interner_id(known, text) < count)
				decode_error(decode, PATH_KEY(at, i ? "port" : "name"), "change one of the two",
				             "%s is there twice", decode_show(decode->problems->arena, text));
		}
	}
	interner_destroy(known);
}

static void check_runtimes(const struct decode *decode, const struct decode_path *path, const struct val *list)
{
	static const char *const known[] = {"profileName", "injectContainers", "containers"};
	const struct val *item, *container;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *at = PATH_INDEX(path, index);
		if (!decode_is(decode, at, item, VAL_MAP))
			continue;
		decode_known(decode, at, item, known, 3);
		if (!decode_string(decode, at, item, "profileName"))
			decode_error(decode, PATH_KEY(at, "profileName"), "name a ClusterEngineRuntimeProfile",
			             "the engine runtime names no profile");
		size_t number = 0;
		for (struct val_iter inner = val_iter(decode_list(decode, at, item, "containers"));
		     val_next(&inner, NULL, &container); number++)
			decode_is(decode, PATH_INDEX(PATH_KEY(at, "containers"), number), container, VAL_MAP);
	}
}

static void check_role_keys(const struct decode *decode, const struct decode_path *path, const struct val *map)
{
	static const char *const known[] = {
		"name",
		"replicas",
		"labels",
		"annotations",
		"dependencies",
		"workload",
		"template",
		"templateRef",
		"templatePatch",
		"leaderWorkerSet",
		"components",
		"restartPolicy",
		"rolloutStrategy",
		"podManagementPolicy",
		"minReadySeconds",
		"servicePorts",
		"engineRuntimes",
		"scalingAdapter",
		"standalonePattern",
		"leaderWorkerPattern",
		"customComponentsPattern",
		"restartPolicyConfig",
		"sharedServiceSelection",
	};
	decode_known(decode, path, map, known, sizeof(known) / sizeof(known[0]));
}

static void read_role(const struct decode *decode, const struct decode_path *path, const struct val *spec,
                      const struct val *map, struct rbg_role *role)
{
	static const char *const managements[] = {"Parallel", "OrderedReady"};
	*role = (struct rbg_role){.source = map,
	                          .replicas = 1,
	                          .base_delay = BACKOFF_BASE_SECONDS,
	                          .max_delay = BACKOFF_MAX_SECONDS};
	check_role_keys(decode, path, map);
	role->name = decode_string(decode, path, map, "name");
	if (!role->name || !name_is_label(role->name))
		decode_error(decode, PATH_KEY(path, "name"), "use lower-case letters, digits and '-', at most 63",
		             "%s is not a name for a role",
		             decode_show(decode->problems->arena, role->name ? role->name : ""));
	if (!role->name)
		role->name = "";
	decode_int(decode, path, map, "replicas", 0, RBG_MOST_PODS, &role->replicas);
	decode_int(decode, path, map, "minReadySeconds", 0, COUNT_MAX, &role->min_ready_seconds);
	role->labels = decode_map(decode, path, map, "labels");
	role->annotations = decode_map(decode, path, map, "annotations");
	rbg_check_annotations(decode, PATH_KEY(path, "annotations"), role->annotations);
	role->dependencies = decode_strings(decode, path, map, "dependencies", &role->dependency_count);
	role->service_ports = decode_list(decode, path, map, "servicePorts");
	check_ports(decode, PATH_KEY(path, "servicePorts"), role->service_ports);
	role->engine_runtimes = decode_list(decode, path, map, "engineRuntimes");
	check_runtimes(decode, PATH_KEY(path, "engineRuntimes"), role->engine_runtimes);
	const char *policy = decode_string(decode, path, map, "podManagementPolicy");
	role->is_ordered =
		policy && decode_enum(decode, PATH_KEY(path, "podManagementPolicy"), policy, managements, 2) == 1;
	const struct val *adapter = decode_map(decode, path, map, "scalingAdapter");
	role->has_adapter = decode_bool(decode, PATH_KEY(path, "scalingAdapter"), adapter, "enable", false);
	role->adapter_labels = decode_map(decode, PATH_KEY(path, "scalingAdapter"), adapter, "labels");
	read_pattern(decode, path, spec, map, role);
	read_rollout(decode, path, map, role);
	for (size_t i = 0; i < role->component_count; i++)
		role->pods += role->components[i].size;
	if (role->pods < 1)
		decode_error(decode, path, "give a component a size of 1 or more", "an instance has no pods");
	if (role->pods > MOST_PODS)
		decode_error(decode, path, "make it smaller", "an instance has more than %d pods", MOST_PODS);
}

static void check_role_templates(const struct decode *decode, const struct val *spec)
{
	const struct decode_path *path = PATH_KEY(spec_path, "roleTemplates");
	const struct val *list = decode_list(decode, spec_path, spec, "roleTemplates"), *item;
	struct interner *names = interner_create();
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *at = PATH_INDEX(path, index);
		const char *name = decode_string(decode, at, item, "name");
		if (!name || !name_is_label(name))
			decode_error(decode, PATH_KEY(at, "name"), "use lower-case letters, digits and '-', at most 63",
			             "a role template needs a name that is a DNS label");
		else if (interner_find(names, name) != UINT32_MAX)
			decode_error(decode, PATH_KEY(at, "name"), "rename one of the two",
			             "role template %s is there twice", name);
		else
			interner_id(names, name);
		check_template(decode, PATH_KEY(at, "template"), val_get(item, "template"));
	}
	interner_destroy(names);
}

void rbg_read_roles(const struct decode *decode, const struct val *spec, struct rbg_spec *out)
{
	const struct val *list = decode_list(decode, spec_path, spec, "roles"), *item;
	size_t index = 0;
	if (val_count(list) == 0)
		decode_error(decode, roles_path, "add a role", "the group has no roles");
	check_role_templates(decode, spec);
	out->roles = arena_array(decode->arena, struct rbg_role, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++)
		if (decode_is(decode, PATH_INDEX(roles_path, index), item, VAL_MAP))
			read_role(decode, PATH_INDEX(roles_path, index), spec, item, &out->roles[out->role_count++]);
}
