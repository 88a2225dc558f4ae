/* Owns the rules that concern several roles at once: names, dependencies, and what coordinations say together. */
#include "admit/rbg_internal.h"

#include "base/strings.h"
#include "rollout/conflicts.h"
#include "rollout/count.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_LENGTH 63

static const struct decode_path *const roles_path = &(const struct decode_path){
	.up = &(const struct decode_path){.key = "spec"},
	.key = "roles",
};

int rbg_role_find(const struct rbg_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->role_count; i++)
		if (strcmp(spec->roles[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* The longest name an instance of the role gives a pod, which is also its host name. */
static void check_length(const struct decode *decode, const struct rbg_spec *spec, size_t number)
{
	const struct rbg_role *role = &spec->roles[number];
	struct update_limits limits;
	update_resolve(&role->rollout, role->replicas, &limits);
	int64_t last = count_most(role->replicas + limits.max_surge - 1, 0);
	size_t component = 0;
	for (size_t i = 0; i < role->component_count; i++)
		component = role->components[i].name && strlen(role->components[i].name) > component
		                    ? strlen(role->components[i].name)
		                    : component;
	char digits[64];
	size_t tail = (size_t)snprintf(digits, sizeof(digits), "-%lld", (long long)last);
	if (role->pods > 1 || component > 0)
		tail += (size_t)snprintf(digits, sizeof(digits), "-%lld", (long long)role->pods - 1) +
		        (component ? component + 1 : 0);
	size_t length = strlen(spec->name) + 1 + strlen(role->name) + tail;
	if (length > NAME_MAX_LENGTH)
		decode_error(decode, PATH_KEY(PATH_INDEX(roles_path, number), "name"),
		             "shorten the name of the group or of the role",
		             "the names of its pods have up to %zu characters, %d are allowed", length,
		             NAME_MAX_LENGTH);
}

/* Depth first; `mark` 1 while a role is being looked at, 2 when it is known to be clear. */
static bool find_cycle(const struct rbg_spec *spec, const struct interner *names, size_t role, char *mark,
                       struct buffer *way)
{
	mark[role] = 1;
	for (size_t i = 0; i < spec->roles[role].dependency_count; i++) {
		uint32_t other = interner_find(names, spec->roles[role].dependencies[i]);
		if (other == UINT32_MAX || mark[other] == 2)
			continue;
		if (mark[other] == 1 || find_cycle(spec, names, other, mark, way)) {
			buffer_printf(way, "%s%s", way->length ? " <- " : "", spec->roles[other].name);
			return true;
		}
	}
	mark[role] = 2;
	return false;
}

static void check_dependencies(const struct decode *decode, const struct rbg_spec *spec, const struct interner *names)
{
	char *mark = arena_array(decode->arena, char, spec->role_count);
	for (size_t r = 0; r < spec->role_count; r++) {
		for (size_t i = 0; i < spec->roles[r].dependency_count; i++)
			if (interner_find(names, spec->roles[r].dependencies[i]) == UINT32_MAX)
				decode_error(decode, PATH_INDEX(PATH_KEY(PATH_INDEX(roles_path, r), "dependencies"), i),
				             "name a role of this group", "there is no role %s",
				             decode_show(decode->problems->arena, spec->roles[r].dependencies[i]));
		struct buffer way = {0};
		if (mark[r] == 0 && find_cycle(spec, names, r, mark, &way))
			decode_error(decode, PATH_KEY(PATH_INDEX(roles_path, r), "dependencies"),
			             "remove one of these dependencies", "the dependencies form a cycle: %s <- %s",
			             way.text, spec->roles[r].name);
		buffer_free(&way);
		/* One cycle is told once: whatever leads into it is clear for the roles that follow. */
		for (size_t i = 0; i < spec->role_count; i++)
			mark[i] = mark[i] ? 2 : 0;
	}
}

void rbg_check_roles(const struct decode *decode, const struct rbg_spec *spec)
{
	struct interner *names = interner_create();
	bool unique = true;
	int64_t pods = 0;
	for (size_t r = 0; r < spec->role_count; r++) {
		pods = count_clamp(pods + spec->roles[r].replicas * spec->roles[r].pods);
		uint32_t known = interner_count(names);
		check_length(decode, spec, r);
		if (interner_id(names, spec->roles[r].name) == known)
			continue;
		unique = false;
		decode_error(decode, PATH_KEY(PATH_INDEX(roles_path, r), "name"), "rename one of the two",
		             "role %s is there twice", decode_show(decode->problems->arena, spec->roles[r].name));
	}
	if (pods > RBG_MOST_PODS)
		decode_error(decode, roles_path, "make several groups of it",
		             "the roles have %lld pods together, %d are allowed", (long long)pods, RBG_MOST_PODS);
	/* The numbers of the names are those of the roles only while all differ. */
	if (unique)
		check_dependencies(decode, spec, names);
	interner_destroy(names);
}

static const char *sizes_field(const struct rbg_coordination *one)
{
	return one->is_deploy ? "strategy.rollingDeploy.roleDeployStep" : "strategy.segmentPlacement.segmentSize";
}

static void check_segments(const struct rbg_spec *spec, const char *const *names, struct problems *problems)
{
	struct arena *arena = problems->arena;
	struct conflict_rule *rules = arena_array(arena, struct conflict_rule, spec->coordination_count);
	size_t *places = arena_array(arena, size_t, spec->coordination_count), count = 0, found = 0;
	for (size_t k = 0; k < spec->coordination_count; k++) {
		const struct rbg_coordination *one = &spec->coordinations[k];
		if (!one->has_segments || one->size_count == 0)
			continue;
		struct conflict_entry *entries = arena_array(arena, struct conflict_entry, one->size_count);
		for (size_t i = 0; i < one->size_count; i++)
			entries[i] = (struct conflict_entry){one->sizes[i].role, one->sizes[i].size};
		places[count] = k;
		rules[count++] = (struct conflict_rule){
			.name = one->name,
			.progression = one->progression,
			.entries = entries,
			.count = one->size_count,
			.listed = one->has_roles ? one->roles : NULL,
			.listed_count = one->role_count,
		};
	}
	struct conflict *conflicts = conflicts_find(names, spec->role_count, rules, count, arena, &found);
	for (size_t i = 0; i < found; i++) {
		const struct rbg_coordination *one = &spec->coordinations[places[conflicts[i].rule]];
		bool between_rules = conflicts[i].kind == CONFLICT_SIZE || conflicts[i].kind == CONFLICT_PROGRESSION;
		problem_add_error(problems, between_rules ? PROBLEM_CONFLICT : PROBLEM_INVALID,
		                  problem_path(problems, "%s.%s%s%s", one->path, sizes_field(one),
		                               *conflicts[i].role ? "." : "", conflicts[i].role),
		                  conflicts[i].fix, "%s", conflicts[i].message);
	}
}

/* The role's pods can be in one PodGroup only, and in one sub-group of the topology. */
static void check_gangs(const struct rbg_spec *spec, struct problems *problems)
{
	const struct rbg_coordination **owner =
		arena_array(problems->arena, const struct rbg_coordination *, spec->role_count);
	for (size_t k = 0; k < spec->coordination_count; k++) {
		const struct rbg_coordination *one = &spec->coordinations[k];
		bool groups =
			one->has_segments && (one->gang == SEGMENT_GANG_SEGMENT || one->affinity || one->is_deploy);
		for (size_t i = 0; groups && i < one->size_count; i++) {
			int role = rbg_role_find(spec, one->sizes[i].role);
			if (role < 0)
				continue;
			if (owner[role] && owner[role] != one)
				problem_add(problems, SEVERITY_ERROR,
				            problem_path(problems, "%s.%s.%s", one->path, sizes_field(one),
				                         one->sizes[i].role),
				            "keep the gang or the topology in one of them",
				            "role %s is already grouped by coordination %s", one->sizes[i].role,
				            owner[role]->name);
			owner[role] = one;
		}
	}
}

/* Status and PodGroups go by the name of the coordination, whichever object it stands in. Within one object it was
 * checked when that was read. */
static void check_names(const struct rbg_spec *spec, struct problems *problems)
{
	struct interner *names = interner_create();
	const struct rbg_coordination **first =
		arena_array(problems->arena, const struct rbg_coordination *, spec->coordination_count);
	for (size_t k = 0; k < spec->coordination_count; k++) {
		const struct rbg_coordination *one = &spec->coordinations[k];
		uint32_t known = interner_count(names), id = interner_id(names, one->name);
		if (id == known)
			first[id] = one;
		else if (first[id]->owner != one->owner)
			problem_add(problems, SEVERITY_ERROR, problem_path(problems, "%s.name", one->path),
			            "rename one of the two", "coordination %s is there already: %s",
			            decode_show(problems->arena, one->name), first[id]->path);
	}
	interner_destroy(names);
}

void rbg_check_coordinations(const struct rbg_spec *spec, struct problems *problems)
{
	const char **names = arena_array(problems->arena, const char *, spec->role_count);
	struct interner *known = interner_create();
	for (size_t r = 0; r < spec->role_count; r++)
		interner_id(known, names[r] = spec->roles[r].name);
	check_names(spec, problems);
	check_segments(spec, names, problems);
	check_gangs(spec, problems);
	for (size_t k = 0; k < spec->coordination_count; k++) {
		const struct rbg_coordination *one = &spec->coordinations[k];
		/* The roles of segments are judged with their sizes. */
		for (size_t i = 0; !one->has_segments && i < one->role_count; i++)
			if (interner_find(known, one->roles[i]) == UINT32_MAX)
				problem_add(problems, SEVERITY_ERROR,
				            problem_path(problems, "%s.roles[%zu]", one->path, i),
				            "name a role of spec.roles", "there is no role %s",
				            decode_show(problems->arena, one->roles[i]));
	}
	interner_destroy(known);
}
