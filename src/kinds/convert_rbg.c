/* RoleBasedGroups in their two forms. A role is flat in v1alpha1 and has a pattern in v1alpha2; everything else has one
 * place in both, so that each form holds all that the other does and nothing is lost on the way there and back. */
#include "kinds/internal.h"

#include "base/strings.h"

#include <string.h>

static const char *const patterns[] = {"standalonePattern", "leaderWorkerPattern", "customComponentsPattern"};
enum { STANDALONE, LEADER_WORKER, COMPONENTS, PATTERNS };

/* Fields that stand in the role in the one form and in the pattern in the other. */
static const char *const shared[] = {"template", "templateRef", "restartPolicy", "restartPolicyConfig",
                                     "sharedServiceSelection"};
#define SHARED (sizeof(shared) / sizeof(shared[0]))

static const char *const renamed[][2] = {
	{"patchLeaderTemplate", "leaderTemplatePatch"},
	{"patchWorkerTemplate", "workerTemplatePatch"},
};

static bool move(struct arena *arena, struct tree *from, struct tree *to, const char *key, const char *as)
{
	struct tree *value = tree_get(arena, from, key);
	if (!value)
		return false;
	tree_remove(arena, from, key);
	tree_put(arena, to, as, value);
	return true;
}

/* The update type that makes pods anew has another name. */
static void rename_type(struct arena *arena, struct tree *role, const char *from, const char *to)
{
	struct tree *update = tree_path(arena, role, "rolloutStrategy", "rollingUpdate", NULL);
	if (strcmp(tree_str(tree_get(arena, update, "type"), ""), from) == 0)
		tree_put_string(arena, update, "type", to);
}

static void give_pattern(struct arena *arena, struct tree *role)
{
	for (int i = 0; i < PATTERNS; i++)
		if (tree_get(arena, role, patterns[i]))
			return;
	struct tree *leader_worker = tree_get(arena, role, "leaderWorkerSet"), *pattern = tree_map(arena);
	bool has_components = tree_count(tree_get(arena, role, "components")) > 0;
	int kind = tree_kind(leader_worker) == VAL_MAP ? LEADER_WORKER : has_components ? COMPONENTS : STANDALONE;
	if (kind == LEADER_WORKER) {
		pattern = leader_worker;
		tree_remove(arena, role, "leaderWorkerSet");
		for (int i = 0; i < 2; i++)
			move(arena, pattern, pattern, renamed[i][0], renamed[i][1]);
	}
	bool any = kind != STANDALONE;
	if (kind == COMPONENTS)
		move(arena, role, pattern, "components", "components");
	for (size_t i = 0; i < SHARED; i++)
		any |= move(arena, role, pattern, shared[i], shared[i]);
	struct tree *reference = tree_get(arena, pattern, "templateRef");
	if (tree_kind(reference) == VAL_MAP)
		move(arena, role, reference, "templatePatch", "patch");
	if (any)
		tree_put(arena, role, patterns[kind], pattern);
	rename_type(arena, role, "Recreate", "RecreatePod");
}

static void take_pattern(struct arena *arena, struct tree *role)
{
	int kind = -1, found = 0;
	for (int i = 0; i < PATTERNS; i++)
		if (tree_kind(tree_get(arena, role, patterns[i])) == VAL_MAP) {
			kind = i;
			found++;
		}
	if (found != 1)
		return;
	struct tree *pattern = tree_get(arena, role, patterns[kind]);
	tree_remove(arena, role, patterns[kind]);
	struct tree *reference = tree_get(arena, pattern, "templateRef");
	if (tree_kind(reference) == VAL_MAP)
		move(arena, reference, role, "patch", "templatePatch");
	for (size_t i = 0; i < SHARED; i++)
		move(arena, pattern, role, shared[i], shared[i]);
	if (kind == LEADER_WORKER) {
		for (int i = 0; i < 2; i++)
			move(arena, pattern, pattern, renamed[i][1], renamed[i][0]);
		tree_put(arena, role, "leaderWorkerSet", pattern);
	} else if (kind == COMPONENTS) {
		move(arena, pattern, role, "components", "components");
	}
	rename_type(arena, role, "RecreatePod", "Recreate");
}

static void convert_roles(struct arena *arena, struct tree *spec, bool to_patterns)
{
	struct tree *roles = tree_get(arena, spec, "roles"), *role;
	for (size_t at = 0; (role = tree_walk(arena, roles, &at, NULL));) {
		if (tree_kind(role) != VAL_MAP)
			continue;
		if (to_patterns)
			give_pattern(arena, role);
		else
			take_pattern(arena, role);
	}
}

static bool has_patterns(const char *api_version)
{
	return text_ends_with(api_version, "/v1alpha2");
}

void convert_rbg(struct arena *arena, struct tree *root, const char *to)
{
	convert_roles(arena, tree_get(arena, root, "spec"), has_patterns(to));
}

/* The spec of the groups is in template in the one form and in groupTemplate.spec in the other; labels and annotations
 * for them have one place in both. */
void convert_rbg_set(struct arena *arena, struct tree *root, const char *to)
{
	bool to_patterns = has_patterns(to);
	struct tree *spec = tree_get(arena, root, "spec"), *group = tree_get(arena, spec, "groupTemplate");
	if (tree_kind(spec) != VAL_MAP)
		return;
	convert_roles(arena, tree_get(arena, to_patterns ? spec : group, to_patterns ? "template" : "spec"),
	              to_patterns);
	if (to_patterns && tree_kind(tree_get(arena, spec, "template")) == VAL_MAP &&
	    (!group || tree_kind(group) == VAL_MAP) && !tree_get(arena, group, "spec"))
		move(arena, spec, tree_need_map(arena, spec, "groupTemplate"), "template", "spec");
	if (!to_patterns && tree_kind(group) == VAL_MAP && !tree_get(arena, spec, "template") &&
	    move(arena, group, spec, "spec", "template") && tree_count(group) == 0)
		tree_remove(arena, spec, "groupTemplate");
}
