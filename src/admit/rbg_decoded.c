/* RoleBasedGroups, sets of them and their policies as they are kept with their objects: decoded once per version. */
#include "admit/rbg.h"

/* All in one arena, which is that of the problems. */
static struct derived *derive_group(const struct val *root, const struct labels *labels)
{
	struct arena *arena = arena_create_small();
	struct decoded_rbg *decoded = arena_new(arena, struct decoded_rbg);
	(void)labels;
	decoded->problems.arena = arena;
	rbg_decode(root, arena, &decoded->spec, &decoded->problems);
	return &decoded->derived;
}

static struct derived *derive_revision(const struct val *root, const struct labels *labels)
{
	return derive_group(val_get(root, "data"), labels);
}

static void destroy_group(struct derived *derived)
{
	struct decoded_rbg *decoded = (struct decoded_rbg *)derived;
	rbg_release(&decoded->spec);
	arena_destroy(decoded->problems.arena);
}

static struct derived *derive_policy(const struct val *root, const struct labels *labels)
{
	struct arena *arena = arena_create_small();
	struct decoded_policy *decoded = arena_new(arena, struct decoded_policy);
	(void)labels;
	decoded->problems.arena = arena;
	rbg_policy_decode(root, arena, &decoded->policy, &decoded->problems);
	return &decoded->derived;
}

static void destroy_policy(struct derived *derived)
{
	arena_destroy(((struct decoded_policy *)derived)->problems.arena);
}

static struct derived *derive_set(const struct val *root, const struct labels *labels)
{
	struct arena *arena = arena_create_small();
	struct decoded_set *decoded = arena_new(arena, struct decoded_set);
	(void)labels;
	decoded->problems.arena = arena;
	rbg_set_decode(root, arena, &decoded->set, &decoded->problems);
	return &decoded->derived;
}

static void destroy_set(struct derived *derived)
{
	arena_destroy(((struct decoded_set *)derived)->problems.arena);
}

const struct derivation rbg_derivation = {.derive = derive_group, .destroy = destroy_group};
const struct derivation rbg_revision_derivation = {.derive = derive_revision, .destroy = destroy_group};
const struct derivation rbg_policy_derivation = {.derive = derive_policy, .destroy = destroy_policy};
const struct derivation rbg_set_derivation = {.derive = derive_set, .destroy = destroy_set};
