/* Owns the words of advice: each reads as the end of "would fit with ...". */
#include "engine/explain/advice_internal.h"

#include "engine/explain/internal.h"

enum { MOST_NAMED = 3 };

const char *advice_kind_name(enum advice_kind kind)
{
	static const char *const names[ADVICE_KINDS] = {
		[ADVICE_ROOM] = "room",           [ADVICE_UNCORDON] = "uncordon", [ADVICE_READY] = "ready",
		[ADVICE_TOLERATE] = "tolerate",   [ADVICE_LEVELS] = "level",      [ADVICE_MINIMUM] = "minimum",
		[ADVICE_MORE_NODES] = "addNodes",
	};
	return names[kind];
}

/* "a, b and 4 more" */
static const char *list_names(const struct advice *advice, struct arena *arena,
                              const char *(*name_of)(const void *context, int item), const void *context)
{
	const char *text = "";
	size_t shown = advice->count <= MOST_NAMED + 1 ? advice->count : MOST_NAMED;
	for (size_t i = 0; i < shown; i++)
		text = arena_printf(arena, "%s%s%s", text,
		                    i == 0                                     ? ""
		                    : i + 1 == shown && shown == advice->count ? " and "
		                                                               : ", ",
		                    name_of(context, advice->items[i]));
	return shown < advice->count ? arena_printf(arena, "%s and %zu more", text, advice->count - shown) : text;
}

static const char *node_name(const void *context, int node)
{
	return cluster_node_name(context, node);
}

static const char *tree_name(const void *context, int node)
{
	const struct gang *gang = context;
	return node == 0 ? "the group" : gang->tree[node].name[0] ? gang->tree[node].name : "an unnamed subgroup";
}

static bool asks_for(const struct cluster *cluster, const struct gang *gang, size_t resource)
{
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct shape *shape =
			&cluster->shapes.items[cluster->pod_classes.items[gang->pods[p].pod_class].shape];
		for (int i = 0; i < shape->request_count; i++)
			if (shape->resource[i] == (int)resource && shape->amount[i] > 0)
				return true;
	}
	return false;
}

/* " 8-GPU" when all of them have as many of those that the gang asks for, otherwise "". What nobody asks for may have no column,
 * or still one from before. */
static const char *size_of(const struct cluster *cluster, const struct gang *gang, const struct advice *advice,
                           struct arena *arena)
{
	int64_t gpus = -1;
	for (size_t i = 0; i < advice->count; i++) {
		int64_t own = 0;
		for (size_t r = 0; r < cluster->resources.count; r++)
			if (text_ends_with(cluster->resources.items[r].name, "/gpu") && asks_for(cluster, gang, r))
				own += cluster->resources.items[r].allocatable[advice->items[i]];
		if (gpus >= 0 && own != gpus)
			return "";
		gpus = own;
	}
	return gpus > 0 ? arena_printf(arena, " %lld-GPU", (long long)gpus) : "";
}

/* " in rack r1", the smallest domain that has several nodes and all of these; "" for none. */
static const char *place_of(const struct cluster *cluster, const struct advice *advice, struct arena *arena)
{
	for (int t = 0; t < cluster->topology_count; t++)
		for (int l = cluster->topologies[t].level_count; l-- > 0;) {
			const struct topology *topology = &cluster->topologies[t];
			int domain = topology->hosts[l] ? -1 : topology->node_domain[l][advice->items[0]];
			for (size_t i = 1; i < advice->count && domain >= 0; i++)
				domain = topology->node_domain[l][advice->items[i]] == domain ? domain : -1;
			if (domain >= 0)
				return arena_printf(arena, " in %s %s", explain_level_word(topology->labels[l]),
				                    cluster_domain_path(cluster, t, l, domain, arena));
		}
	return "";
}

static const char *taint_list(const struct advice *advice, struct arena *arena)
{
	const char *text = "";
	for (size_t i = 0; i < advice->count; i++)
		text = arena_printf(arena, "%s%s%s", text,
		                    i == 0                   ? ""
		                    : i + 1 == advice->count ? " and "
		                                             : ", ",
		                    explain_taint(advice->taints[i], arena));
	return text;
}

/* What is told of item `first`, and in the same breath of those behind it of which the same is true. */
static const char *level_text(const struct cluster *cluster, const struct gang *gang, const struct advice *advice,
                              size_t first, struct arena *arena)
{
	struct gang_level from = gang->tree[advice->items[first]].required;
	int to = from.level - advice->steps[first];
	struct advice alike = {.items = arena_array(arena, int, advice->count)};
	for (size_t i = 0; i < advice->count; i++) {
		struct gang_level own = gang->tree[advice->items[i]].required;
		bool same = own.topology == from.topology && own.level == from.level &&
		            advice->steps[i] == advice->steps[first];
		if (same && i < first)
			return NULL;
		if (same)
			alike.items[alike.count++] = advice->items[i];
	}
	const char *old = explain_level_word(cluster->topologies[from.topology].labels[from.level]);
	const char *what =
		to < 0 ? arena_printf(arena, "no required level in place of %s", old)
		       : arena_printf(arena, "level %s in place of %s",
	                              explain_level_word(cluster->topologies[from.topology].labels[to]), old);
	if (advice->count == 1 && advice->items[0] == 0)
		return what;
	return arena_printf(arena, "%s for %s", what, list_names(&alike, arena, tree_name, gang));
}

static const char *levels_text(const struct cluster *cluster, const struct gang *gang, const struct advice *advice,
                               struct arena *arena)
{
	const char *text = "";
	for (size_t i = 0; i < advice->count; i++) {
		const char *one = level_text(cluster, gang, advice, i, arena);
		if (one)
			text = arena_printf(arena, "%s%s%s", text, *text ? ", and " : "", one);
	}
	return text;
}

static const char *minimum_text(const struct gang *gang, const struct advice *advice, struct arena *arena)
{
	const struct gang_node *node = &gang->tree[advice->items[0]];
	const char *field = node->child_count ? "minSubGroup" : "minMember";
	const char *what = arena_printf(arena, "%s %d in place of %d", field, advice->amount, node->minimum);
	return advice->items[0] == 0 ? what : arena_printf(arena, "%s for %s", what, tree_name(gang, advice->items[0]));
}

const char *advice_text(const struct cluster *cluster, const struct gang *gang, const struct advice *advice,
                        struct arena *arena)
{
	const char *names = "";
	switch (advice->kind) {
	case ADVICE_ROOM:
		return arena_printf(arena, "%zu free%s node%s%s (%s)", advice->count,
		                    size_of(cluster, gang, advice, arena), advice->count == 1 ? "" : "s",
		                    place_of(cluster, advice, arena), list_names(advice, arena, node_name, cluster));
	case ADVICE_UNCORDON:
	case ADVICE_READY:
		names = list_names(advice, arena, node_name, cluster);
		return arena_printf(arena, "node%s %s %s", advice->count == 1 ? "" : "s", names,
		                    advice->kind == ADVICE_READY ? "ready" : "uncordoned");
	case ADVICE_TOLERATE:
		return arena_printf(arena, "a toleration for taint%s %s", advice->count == 1 ? "" : "s",
		                    taint_list(advice, arena));
	case ADVICE_LEVELS:
		return levels_text(cluster, gang, advice, arena);
	case ADVICE_MINIMUM:
		return minimum_text(gang, advice, arena);
	case ADVICE_MORE_NODES:
	case ADVICE_KINDS:
		break;
	}
	return arena_printf(arena, "%d more node%s like %s%s", advice->amount, advice->amount == 1 ? "" : "s",
	                    cluster_node_name(cluster, advice->items[0]), place_of(cluster, advice, arena));
}
