/* Topology constraints of a PodGroup: both written forms merged into one constraint per node, subGroupSets as nodes of
 * their own, topologies inherited, and levels checked against the Topologies that exist. */
#include "admit/podgroup_draft.h"

#include "base/strings.h"

#include <string.h>

static const struct decode_path *const constraints_path =
	&(const struct decode_path){.up = &(const struct decode_path){.key = "spec"}, .key = "topologyConstraints"};

struct draft_constraint draft_read_constraint(const struct draft *draft, const struct decode_path *path,
                                              const struct val *map)
{
	static const char *const names[] = {"topology", "requiredTopologyLevel", "preferredTopologyLevel"};
	decode_known(&draft->decode, path, map, names, sizeof(names) / sizeof(names[0]));
	struct draft_constraint constraint = {
		.topology = decode_string(&draft->decode, path, map, "topology"),
		.required = decode_string(&draft->decode, path, map, "requiredTopologyLevel"),
		.preferred = decode_string(&draft->decode, path, map, "preferredTopologyLevel"),
	};
	/* An empty map is how an absent constraint is often written out. */
	if (constraint.topology || constraint.required || constraint.preferred)
		constraint.path = decode_path_text(draft->decode.arena, path);
	return constraint;
}

static void merge(struct draft *draft, const struct decode_path *path, const struct val *map, int node)
{
	struct draft_constraint *here = &draft->nodes[node].constraint;
	struct draft_constraint other = draft_read_constraint(draft, path, map);
	if (!other.path)
		return;
	if (!here->path) {
		*here = other;
		return;
	}
	if (!text_equal(here->topology, other.topology) || !text_equal(here->required, other.required) ||
	    !text_equal(here->preferred, other.preferred))
		decode_error(&draft->decode, path, "write the constraint in one place only",
		             "this constraint differs from the one in %s", here->path);
}

static void read_map_form(struct draft *draft, const struct val *constraints)
{
	const struct decode_path *path = PATH_KEY(constraints_path, "subGroups");
	const struct val *map = decode_map(&draft->decode, constraints_path, constraints, "subGroups"), *item;
	const char *name;
	for (struct val_iter it = val_iter(map); val_next(&it, &name, &item);) {
		const struct decode_path *here = PATH_KEY(path, name);
		int node = draft_subgroup(draft, name);
		if (node < 0)
			decode_error(&draft->decode, here, "name an entry of spec.subGroups",
			             "there is no subgroup called %s",
			             decode_show(draft->decode.problems->arena, name));
		if (val_kind(item) == VAL_NULL || !decode_is(&draft->decode, here, item, VAL_MAP))
			continue;
		if (node >= 0)
			merge(draft, here, item, node);
	}
}

/* Checks one member of a set and claims it for `set`. Returns false when the set cannot become a node. */
static bool join_set(struct draft *draft, const struct decode_path *path, const char *name, int set, int *parent)
{
	struct arena *arena = draft->decode.problems->arena;
	int node = draft_subgroup(draft, name);
	if (node < 0) {
		decode_error(&draft->decode, path, "name an entry of spec.subGroups", "there is no subgroup called %s",
		             decode_show(arena, name));
		return false;
	}
	struct draft_node *member = &draft->nodes[node];
	if (member->set >= 0) {
		decode_error(&draft->decode, path, "list every subgroup in one set only",
		             member->set == set ? "%s is listed twice in this set" : "%s is already in another set",
		             decode_show(arena, name));
		return false;
	}
	member->set = set;
	if (member->parent < 0)
		return false; /* its parent is missing, which is reported there */
	if (*parent >= 0 && *parent != member->parent) {
		decode_error(&draft->decode, path, "group only subgroups with the same parent",
		             "%s has another parent than the first member of the set", decode_show(arena, name));
		return false;
	}
	*parent = member->parent;
	return true;
}

static void read_set(struct draft *draft, const struct decode_path *path, const struct val *map, int index, int set,
                     bool *usable)
{
	static const char *const known[] = {"subGroups", "constraint"};
	decode_known(&draft->decode, path, map, known, sizeof(known) / sizeof(known[0]));
	struct draft_node *this = &draft->nodes[set];
	size_t count;
	const char **names = decode_strings(&draft->decode, path, map, "subGroups", &count);
	*this = (struct draft_node){.name = "", .parent = -1, .set = -1, .written_at = index};
	*usable = count > 0;
	if (val_count(val_get(map, "subGroups")) == 0)
		decode_error(&draft->decode, PATH_KEY(path, "subGroups"), "list the subgroups, or remove the set",
		             "the set is empty");
	for (size_t i = 0; i < count; i++)
		if (!join_set(draft, PATH_INDEX(PATH_KEY(path, "subGroups"), i), names[i], set, &this->parent))
			*usable = false;
	this->children = (int)count;
	const struct decode_path *at = PATH_KEY(path, "constraint");
	this->constraint = draft_read_constraint(draft, at, decode_map(&draft->decode, path, map, "constraint"));
	if (!this->constraint.path) {
		*usable = false;
		decode_warning(&draft->decode, at, "add requiredTopologyLevel or preferredTopologyLevel",
		               "the set has no constraint, so it has no effect");
	}
}

/* Sets that cannot be used are left out of the tree; the errors stay. */
static void read_sets(struct draft *draft, const struct val *constraints)
{
	const struct decode_path *path = PATH_KEY(constraints_path, "subGroupSets");
	const struct val *list = decode_list(&draft->decode, constraints_path, constraints, "subGroupSets"), *item;
	const char *unused;
	int index = 0, room = draft->count;
	bool *usable = arena_array(draft->decode.arena, bool, val_count(list) + 1);
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		draft->nodes[room + index] = (struct draft_node){.name = "", .parent = -1, .set = -1};
		const struct decode_path *here = PATH_INDEX(path, (size_t)index);
		if (decode_is(&draft->decode, here, item, VAL_MAP))
			read_set(draft, here, item, index, room + index, &usable[index]);
	}
	int *moved = arena_array(draft->decode.arena, int, (size_t)index + 1);
	for (int i = 0; i < index; i++) {
		moved[i] = usable[i] ? draft->count++ : -1;
		if (usable[i])
			draft->nodes[moved[i]] = draft->nodes[room + i];
	}
	for (int node = 1; node <= draft->subgroups; node++)
		if (draft->nodes[node].set >= 0)
			draft->nodes[node].set = moved[draft->nodes[node].set - room];
}

void draft_constraints(struct draft *draft)
{
	const struct val *spec = draft->spec;
	const struct val *constraints = decode_map(&draft->decode, constraints_path->up, spec, "topologyConstraints");
	if (!constraints)
		return;
	static const char *const names[] = {"global", "subGroups", "subGroupSets"};
	decode_known(&draft->decode, constraints_path, constraints, names, sizeof(names) / sizeof(names[0]));
	merge(draft, PATH_KEY(constraints_path, "global"),
	      decode_map(&draft->decode, constraints_path, constraints, "global"), 0);
	read_map_form(draft, constraints);
	read_sets(draft, constraints);
}

/* The node whose topology `node` takes: itself or the nearest ancestor that names one. lender[parent] is known. */
static void inherit_one(struct draft *draft, int node, int *lender)
{
	struct draft_constraint *constraint = &draft->nodes[node].constraint;
	int parent = draft->nodes[node].set >= 0 ? draft->nodes[node].set : draft->nodes[node].parent;
	lender[node] = constraint->topology ? node : node == 0 ? -1 : lender[parent];
	if (!draft_has_levels(constraint))
		return;
	if (lender[node] >= 0) {
		constraint->effective = draft->nodes[lender[node]].constraint.topology;
		/* One that repeats the topology of a parent would take it from there: written twice, but not in vain. */
		int above = node == 0 ? -1 : lender[parent];
		if (above >= 0 && strcmp(draft->nodes[above].constraint.topology, constraint->effective) == 0)
			draft->nodes[above].constraint.lends = true;
		return;
	}
	struct arena *arena = draft->decode.problems->arena;
	problem_add(draft->decode.problems, SEVERITY_ERROR, arena_printf(arena, "%s.topology", constraint->path),
	            "add topology: the name of a Topology, here or on a parent",
	            "the constraint names a level but neither it nor a parent names a topology");
}

void draft_inherit(struct draft *draft)
{
	int *lender = arena_array(draft->decode.arena, int, (size_t)draft->count);
	for (int i = 0; i < draft->ordered; i++)
		inherit_one(draft, draft->order[i], lender);
	for (int node = 0; node < draft->count; node++) {
		struct draft_constraint *constraint = &draft->nodes[node].constraint;
		/* what hangs below a cycle is still checked as far as it stands alone */
		if (!draft->nodes[node].reached && draft_has_levels(constraint))
			constraint->effective = constraint->topology;
		if (constraint->topology && !draft_has_levels(constraint) && !constraint->lends)
			problem_add(draft->decode.problems, SEVERITY_WARNING, constraint->path,
			            "add requiredTopologyLevel or preferredTopologyLevel",
			            "the constraint names a topology but no level, so it has no effect");
	}
}

static int check_level(const struct draft *draft, const struct draft_constraint *constraint,
                       const struct topology_spec *topology, const char *level, const char *field)
{
	if (!level)
		return -1;
	int index = topology_level(topology, level);
	if (index >= 0)
		return index;
	struct arena *arena = draft->decode.problems->arena;
	struct buffer levels = {0};
	for (size_t i = 0; i < topology->level_count; i++)
		buffer_printf(&levels, "%s%s", i ? ", " : "", topology->levels[i]);
	const char *near = text_nearest(level, (const char *const *)topology->levels, topology->level_count);
	problem_add(draft->decode.problems, SEVERITY_ERROR, arena_printf(arena, "%s.%s", constraint->path, field),
	            near ? arena_printf(arena, "did you mean %s? Its levels are %s", near, levels.text)
	                 : arena_printf(arena, "use one of its levels: %s", levels.text ? levels.text : ""),
	            "%s is not a level of Topology %s", decode_show(arena, level),
	            decode_show(arena, constraint->effective));
	buffer_free(&levels);
	return -1;
}

static void check_ancestors(const struct draft *draft, int node, const int *required,
                            const struct topology_spec *topology)
{
	const struct draft_node *nodes = draft->nodes;
	const char *name = nodes[node].constraint.effective;
	for (int up = node; up != 0;) {
		up = nodes[up].set >= 0 ? nodes[up].set : nodes[up].parent;
		if (required[up] <= required[node] || !text_equal(nodes[up].constraint.effective, name))
			continue;
		struct arena *arena = draft->decode.problems->arena;
		problem_add(draft->decode.problems, SEVERITY_WARNING,
		            arena_printf(arena, "%s.requiredTopologyLevel", nodes[node].constraint.path),
		            "remove it, or name a smaller level",
		            "level %s is above %s, which %s already requires, so it has no effect",
		            topology->levels[required[node]], topology->levels[required[up]],
		            nodes[up].constraint.path);
		return;
	}
}

void draft_check_levels(const struct draft *draft, const struct topology_spec *(*find)(const void *, const char *),
                        const char *(*nearest)(const void *, const char *), const void *context)
{
	struct arena *arena = draft->decode.problems->arena;
	struct interner *missing = interner_create();
	int *required = arena_array(draft->decode.arena, int, (size_t)draft->count);
	for (int i = 0; i < draft->count; i++)
		required[i] = -1;
	/* In preorder where there is one, so that ancestors are known; then the nodes that hang on a broken link. */
	for (int i = 0; i < draft->ordered + draft->count; i++) {
		int node = i < draft->ordered ? draft->order[i] : i - draft->ordered;
		const struct draft_constraint *constraint = &draft->nodes[node].constraint;
		if (!constraint->effective || (i >= draft->ordered && draft->nodes[node].reached))
			continue;
		const struct topology_spec *topology = find(context, constraint->effective);
		if (!topology) {
			uint32_t known = interner_count(missing);
			const char *near = nearest(context, constraint->effective);
			if (interner_id(missing, constraint->effective) == known)
				problem_add(draft->decode.problems, SEVERITY_WARNING,
				            arena_printf(arena, "%s.topology", constraint->path),
				            near ? arena_printf(arena, "did you mean %s?", near)
				                 : "create the Topology",
				            "Topology %s does not exist; the group waits until it does",
				            decode_show(arena, constraint->effective));
			continue;
		}
		if (topology->level_count == 0)
			continue; /* it breaks its own rules, which is said there */
		int preferred =
			check_level(draft, constraint, topology, constraint->preferred, "preferredTopologyLevel");
		required[node] =
			check_level(draft, constraint, topology, constraint->required, "requiredTopologyLevel");
		if (preferred >= 0 && preferred < required[node])
			problem_add(draft->decode.problems, SEVERITY_ERROR,
			            arena_printf(arena, "%s.preferredTopologyLevel", constraint->path),
			            "prefer the required level or one below it",
			            "preferred level %s is above the required level %s",
			            decode_show(arena, constraint->preferred),
			            decode_show(arena, constraint->required));
		if (required[node] >= 0 && draft->nodes[node].reached)
			check_ancestors(draft, node, required, topology);
	}
	interner_destroy(missing);
}
