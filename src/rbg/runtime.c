/* Owns the sidecars of engine runtimes: what a ClusterEngineRuntimeProfile adds to the pods of a role.
 *
 * Containers, init containers and volumes of the profile are merged into the template by name, then the containers the
 * role gives itself. A changed profile is in the pods that are made from then on; only with updateStrategy RollingUpdate is
 * it a new revision of the role. */
#include "rbg/render.h"

#include <string.h>

static const struct val *profile_of(const struct rbg_turn *turn, const struct val *runtime)
{
	const char *name = val_str(val_get(runtime, "profileName"), "");
	const struct store_object *object = rbg_peek(turn, RBG_GROUP, "clusterengineruntimeprofiles", name);
	return object ? val_get(object->root, "spec") : NULL;
}

void rbg_check_runtimes(struct rbg_turn *turn)
{
	const struct val *runtime;
	for (size_t r = 0; r < turn->spec.role_count; r++)
		for (struct val_iter it = val_iter(turn->spec.roles[r].engine_runtimes);
		     val_next(&it, NULL, &runtime) && !turn->blocked;) {
			if (profile_of(turn, runtime))
				continue;
			turn->blocked_reason = "EngineRuntimeNotFound";
			turn->blocked = arena_printf(
				turn->arena,
				"ClusterEngineRuntimeProfile %s, named by role %s, does not exist; create it",
				val_str(val_get(runtime, "profileName"), ""), turn->spec.roles[r].name);
		}
}

bool rbg_has_rolling_runtime(const struct rbg_turn *turn, const struct rbg_role *role)
{
	const struct val *runtime;
	for (struct val_iter it = val_iter(role->engine_runtimes); val_next(&it, NULL, &runtime);)
		if (strcmp(val_str(val_get(profile_of(turn, runtime), "updateStrategy"), ""), "RollingUpdate") == 0)
			return true;
	return false;
}

void rbg_hash_runtimes(const struct rbg_turn *turn, const struct rbg_role *role, struct buffer *text)
{
	const struct val *runtime;
	if (val_count(role->engine_runtimes) == 0)
		return;
	val_write(role->engine_runtimes, DOC_JSON_COMPACT, text);
	for (struct val_iter it = val_iter(role->engine_runtimes); val_next(&it, NULL, &runtime);) {
		const struct val *profile = profile_of(turn, runtime);
		if (strcmp(val_str(val_get(profile, "updateStrategy"), ""), "RollingUpdate") == 0)
			val_write(profile, DOC_JSON_COMPACT, text);
	}
}

struct doc *rbg_runtime_patches(const struct rbg_turn *turn, const struct rbg_role *role)
{
	static const char *const fields[] = {"initContainers", "containers", "volumes"};
	const struct val *runtime;
	if (val_count(role->engine_runtimes) == 0)
		return NULL;
	struct build *build = build_create();
	struct node *list = build_list(build);
	for (struct val_iter it = val_iter(role->engine_runtimes); val_next(&it, NULL, &runtime);) {
		const struct val *sources[] = {profile_of(turn, runtime), runtime};
		for (int i = 0; i < 2; i++) {
			struct node *patch = build_map(build), *spec = build_map(build);
			for (int f = 0; f < 3; f++)
				if (val_count(val_get(sources[i], fields[f])) > 0)
					build_put(build, spec, fields[f],
					          build_copy(build, val_get(sources[i], fields[f])));
			build_put(build, patch, "spec", spec);
			build_append(build, list, patch);
		}
	}
	struct doc *doc = build_finish(build, list);
	build_destroy(build);
	return doc;
}
