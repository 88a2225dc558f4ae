/* Owns the map of a cluster. */
#include "cli/map.h"

#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#define HOSTNAME_LABEL "kubernetes.io/hostname" /* that level is the node itself */
#define MOST_CELLS 16                           /* of one node */
#define SHARE_CELLS 8                           /* of a node when the slots are cores */
#define BAR_CELLS 32                            /* of a domain */
#define NAME_WIDEST 28
#define LETTERS 26
#define LEGEND_LINES 12
#define OTHERS (-1)

struct use {        /* what one owner has on one node */
	int owner;  /* group, or OTHERS */
	bool added; /* by the plan: it does not run yet */
	int64_t amount;
};

struct map {
	const struct plan *plan;
	const struct map_options *options;
	const struct cluster *cluster;
	struct arena *arena;
	struct drawing *drawing;
	int resource;
	bool cores;
	int levels;       /* of the first topology, without that of the hostnames */
	bool bars;        /* domains instead of nodes */
	size_t *first;    /* per node + 1: its uses are uses[first[n]] .. uses[first[n + 1]] */
	struct use *uses; /* by node, then owner */
	char *letters;    /* per group: 0 none */
	int *colours;     /* per group */
	size_t named;     /* groups with a letter */
};

/* ---- what is on the nodes ---- */

int map_resource(const struct cluster *cluster)
{
	static const char *const plain[] = {"cpu", "memory", "pods", "ephemeral-storage"};
	int found = -1;
	for (int r = 0; r < cluster_resource_count(cluster); r++) {
		const char *name = cluster_resource_name(cluster, r);
		bool is_plain = !strchr(name, '/') || cluster_total(cluster, r) == 0;
		for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
			is_plain |= strcmp(plain[i], name) == 0;
		if (!is_plain && (found < 0 || text_ends_with(name, "/gpu")))
			found = r;
	}
	return found >= 0 ? found : cluster_find_resource(cluster, "cpu");
}

/* Calls for everything that has a place: the node, who has it, and how much. */
static void each_use(const struct map *map, void (*take)(const struct map *map, int node, struct use use))
{
	const struct snapshot *snapshot = map->plan->snapshot;
	for (size_t g = 0; g < snapshot->cycle.group_count; g++) {
		const struct gang *gang = &snapshot->cycle.groups[g].gang;
		for (size_t i = 0; i < gang->pod_count; i++) {
			const struct gang_pod *pod = &gang->pods[i];
			bool placed = pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
			bool ran = snapshot->groups[g].ran[i];
			int64_t amount = cluster_pod_class_request(map->cluster, pod->pod_class, map->resource);
			if (placed && amount > 0 && (ran || !map->options->running_only))
				take(map, pod->node, (struct use){(int)g, !ran, amount});
		}
	}
	for (size_t p = 0; p < snapshot->pod_count; p++) {
		const struct snapshot_pod *pod = &snapshot->pods[p];
		int64_t amount =
			pod->node >= 0 ? cluster_pod_class_request(map->cluster, pod->pod_class, map->resource) : 0;
		if (amount > 0 && (pod->group < 0 || pod->member < 0))
			take(map, pod->node, (struct use){OTHERS, false, amount});
	}
}

static void count_use(const struct map *map, int node, struct use use)
{
	(void)use;
	map->first[node + 2]++;
}

static void put_use(const struct map *map, int node, struct use use)
{
	map->uses[map->first[node + 1]++] = use;
}

static int compare_uses(const void *left, const void *right)
{
	const struct use *a = left, *b = right;
	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return a->added - b->added;
}

static void collect(struct map *map)
{
	size_t nodes = (size_t)cluster_node_count(map->cluster);
	/* Counted one place further, so that filling moves each start to where it belongs. */
	map->first = arena_array(map->arena, size_t, nodes + 2);
	each_use(map, count_use);
	for (size_t n = 0; n < nodes; n++)
		map->first[n + 2] += map->first[n + 1];
	map->uses = arena_array(map->arena, struct use, map->first[nodes + 1]);
	each_use(map, put_use);
	for (size_t n = 0; n < nodes; n++)
		qsort(map->uses + map->first[n], map->first[n + 1] - map->first[n], sizeof(*map->uses), compare_uses);
}

static bool is_wanted(const struct map *map, const struct plan_group *group)
{
	const char *filter = map->options->filter;
	if (map->options->focus >= 0)
		return (int)group->index == map->options->focus;
	return !filter || !filter[0] ||
	       strstr(arena_printf(map->arena, "%s/%s", group->namespace_, group->name), filter) ||
	       strstr(plan_group_title(map->plan, group, map->arena), filter);
}

static void name_groups(struct map *map)
{
	size_t groups = map->plan->snapshot->cycle.group_count, count = map->first[cluster_node_count(map->cluster)];
	bool *seen = arena_array(map->arena, bool, groups + 1);
	map->letters = arena_array(map->arena, char, groups + 1);
	map->colours = arena_array(map->arena, int, groups + 1);
	for (size_t i = 0; i < count; i++)
		if (map->uses[i].owner != OTHERS)
			seen[map->uses[i].owner] = true;
	for (size_t i = 0; i < map->plan->group_count; i++) {
		const struct plan_group *planned = &map->plan->groups[map->plan->order[i]];
		size_t group = planned->index;
		if (!seen[group] || map->named >= LETTERS || !is_wanted(map, planned))
			continue;
		map->letters[group] = (char)('a' + map->named);
		map->colours[group] = COLOUR_GANG + (int)(map->named % COLOUR_GANGS);
		map->named++;
	}
}

/* ---- drawing ---- */

static void add_cells(const struct map *map, const struct use *use, int cells)
{
	char text[BAR_CELLS + 1];
	bool known = use->owner != OTHERS && map->letters[use->owner];
	char letter = known ? map->letters[use->owner] : '#';
	if (known && use->added)
		letter = (char)(letter - 'a' + 'A');
	cells = cells > BAR_CELLS ? BAR_CELLS : cells;
	memset(text, letter, (size_t)cells);
	text[cells] = '\0';
	draw_add(map->drawing, known ? (enum colour)map->colours[use->owner] : COLOUR_DIM, "%s", text);
}

static bool is_usable(const struct map *map, int node)
{
	const struct node_spec *spec = map->plan->snapshot->nodes[node];
	return !spec || (spec->ready && !spec->unschedulable);
}

/* The slots of uses from..to, which add up to at most `total`, in so many cells. */
static void add_slots(const struct map *map, const struct use *uses, size_t count, int64_t total, int cells,
                      bool usable)
{
	int64_t sum = 0;
	int done = 0;
	for (size_t i = 0; i < count; i++) {
		sum += uses[i].amount;
		int64_t capped = sum > total ? total : sum;
		int until = total > 0 ? (int)((double)capped / (double)total * cells + 0.5) : 0;
		if (until > done)
			add_cells(map, &uses[i], until - done);
		done = until > done ? until : done;
	}
	struct buffer rest = {0};
	for (int i = done; i < cells; i++)
		buffer_puts(&rest, !usable ? "x" : map->options->style->unicode ? "·" : ".");
	draw_add(map->drawing, COLOUR_DIM, "%s", rest.text ? rest.text : "");
	buffer_free(&rest);
}

static size_t name_width(const struct map *map, int from, int to)
{
	size_t widest = 0;
	for (int node = from; node < to; node++) {
		size_t width = output_width(cluster_node_name(map->cluster, node));
		widest = width > widest ? width : widest;
	}
	return widest > NAME_WIDEST ? NAME_WIDEST : widest;
}

static int cells_of(const struct map *map, int node)
{
	int64_t slots = cluster_allocatable(map->cluster, map->resource, node);
	if (map->cores)
		return slots > 0 ? SHARE_CELLS : 0;
	return slots > MOST_CELLS ? MOST_CELLS : (int)slots;
}

/* The nodes from..to side by side, as many as fit a line. */
static void add_nodes(const struct map *map, int from, int to, int indent)
{
	size_t name = name_width(map, from, to), widest = 0, used = 0;
	for (int node = from; node < to; node++)
		widest = (size_t)cells_of(map, node) > widest ? (size_t)cells_of(map, node) : widest;
	size_t one = name + widest + 5;
	for (int node = from; node < to; node++) {
		const char *title = draw_cut(map->arena, cluster_node_name(map->cluster, node), NAME_WIDEST);
		if (node == from || used + one > map->options->style->width) {
			draw_new_line(map->drawing);
			draw_add(map->drawing, COLOUR_NONE, "%*s", indent, "");
			used = (size_t)indent;
		}
		draw_add(map->drawing, COLOUR_NONE, "%s%*s [", title, (int)(name - output_width(title)), "");
		int cells = cells_of(map, node);
		add_slots(map, map->uses + map->first[node], map->first[node + 1] - map->first[node],
		          cluster_allocatable(map->cluster, map->resource, node), cells, is_usable(map, node));
		draw_add(map->drawing, COLOUR_NONE, "%s", "]");
		draw_add(map->drawing, COLOUR_NONE, "%*s", (int)widest - cells + 2, "");
		used += one;
	}
}

static bool is_pointed_at(const struct map *map, int level, int domain)
{
	const struct map_options *options = map->options;
	return options->domain && options->level &&
	       strcmp(cluster_level_label(map->cluster, 0, level), options->level) == 0 &&
	       strcmp(cluster_domain_path(map->cluster, 0, level, domain, map->arena), options->domain) == 0;
}

static const char *title_of(const struct map *map, int level, int domain)
{
	const char *label = cluster_level_label(map->cluster, 0, level), *slash = strrchr(label, '/');
	if (domain < 0)
		return arena_printf(map->arena, "(no %s)", label);
	return arena_printf(map->arena, "%s %s", slash ? slash + 1 : label,
	                    cluster_domain_name(map->cluster, 0, level, domain));
}

/* Padded to `width`, so that bars behind titles begin in one column. */
static void add_domain_title(const struct map *map, int level, int domain, int indent, size_t width)
{
	const char *title = title_of(map, level, domain);
	size_t own = output_width(title);
	draw_new_line(map->drawing);
	draw_add(map->drawing, domain >= 0 ? COLOUR_BOLD : COLOUR_DIM, "%*s%s", indent, "", title);
	draw_add(map->drawing, COLOUR_NONE, "%*s", own < width ? (int)(width - own) : 0, "");
	if (domain < 0)
		return;
	if (is_pointed_at(map, level, domain))
		draw_add(map->drawing, COLOUR_YELLOW, "%s", "  <- closest");
}

static int64_t total_of(const struct map *map, int from, int to)
{
	int64_t total = 0;
	for (int node = from; node < to; node++)
		total += cluster_allocatable(map->cluster, map->resource, node);
	return total;
}

/* A whole domain as one bar. */
static void add_bar(const struct map *map, int from, int to)
{
	size_t count = map->first[to] - map->first[from];
	struct use *uses = arena_array(map->arena, struct use, count);
	int64_t used = 0, total = total_of(map, from, to);
	memcpy(uses, map->uses + map->first[from], count * sizeof(*uses));
	qsort(uses, count, sizeof(*uses), compare_uses);
	for (size_t i = 0; i < count; i++)
		used += uses[i].amount;
	draw_add(map->drawing, COLOUR_NONE, "%s", "  [");
	add_slots(map, uses, count, total, BAR_CELLS, true);
	int64_t unit = map->cores ? 1000 : 1;
	draw_add(map->drawing, COLOUR_NONE, "] %lld of %lld free, %d node%s", (long long)((total - used) / unit),
	         (long long)(total / unit), to - from, to - from == 1 ? "" : "s");
}

static int domain_end(const struct map *map, int level, int from, int to)
{
	int domain = cluster_node_domain(map->cluster, 0, level, from), end = from + 1;
	while (end < to && cluster_node_domain(map->cluster, 0, level, end) == domain)
		end++;
	return end;
}

/* Nodes of one parent; domains of a level are ranges. Below `deepest` nothing is drawn but bars. */
static void add_level(const struct map *map, int level, int deepest, int from, int to, int indent)
{
	if (level >= map->levels) {
		add_nodes(map, from, to, indent);
		return;
	}
	size_t widest = 0;
	for (int at = from; at < to && level == deepest; at = domain_end(map, level, at, to)) {
		size_t width = output_width(title_of(map, level, cluster_node_domain(map->cluster, 0, level, at)));
		widest = width > widest ? width : widest;
	}
	for (int at = from, end; at < to; at = end) {
		int domain = cluster_node_domain(map->cluster, 0, level, at);
		end = domain_end(map, level, at, to);
		add_domain_title(map, level, domain, indent, widest);
		if (level == deepest)
			add_bar(map, at, end);
		else if (domain >= 0)
			add_level(map, level + 1, deepest, at, end, indent + 2);
		else
			add_nodes(map, at, end, indent + 2);
	}
}

/* Lines the map takes when everything below `deepest` is a bar; deepest == levels: nodes are drawn. */
static size_t lines_of(const struct map *map, int deepest)
{
	size_t lines = 0;
	int nodes = cluster_node_count(map->cluster);
	for (int level = 0; level <= deepest && level < map->levels; level++)
		lines += (size_t)cluster_domain_count(map->cluster, 0, level) + 1;
	if (deepest < map->levels)
		return lines;
	size_t one = name_width(map, 0, nodes) + MOST_CELLS / 2 + 5, width = map->options->style->width;
	return lines + (size_t)nodes / (width > one ? width / one : 1) + 1;
}

/* GPUs of claims have no name of a resource that people know. */
static const char *name_cell(const struct map *map)
{
	const char *name = cluster_resource_name(map->cluster, map->resource);
	return strcmp(name, CYCLE_CLAIMED_GPUS) == 0 ? "GPU" : name;
}

static void add_legend(const struct map *map)
{
	const struct draw_style *style = map->options->style;
	size_t shown = 0;
	bool others = false;
	for (size_t i = 0; i < map->first[cluster_node_count(map->cluster)]; i++)
		others |= map->uses[i].owner == OTHERS || !map->letters[map->uses[i].owner];
	for (size_t i = 0; i < map->plan->group_count && shown < LEGEND_LINES; i++) {
		const struct plan_group *group = &map->plan->groups[map->plan->order[i]];
		if (!map->letters[group->index])
			continue;
		draw_new_line(map->drawing);
		draw_add(map->drawing, (enum colour)map->colours[group->index], "%c", map->letters[group->index]);
		draw_add(map->drawing, COLOUR_NONE, " %s", plan_group_title(map->plan, group, map->arena));
		shown++;
	}
	draw_new_line(map->drawing);
	if (map->named > shown)
		draw_add(map->drawing, COLOUR_NONE, "and %zu more; ", map->named - shown);
	if (map->bars)
		draw_add(map->drawing, COLOUR_NONE, "a bar is all %s of a domain", name_cell(map));
	else if (map->cores)
		draw_add(map->drawing, COLOUR_NONE, "a cell is an eighth of the %s of a node", "cpu");
	else
		draw_add(map->drawing, COLOUR_NONE, "a cell is one %s", name_cell(map));
	if (!map->options->running_only && map->named > 0)
		draw_add(map->drawing, COLOUR_NONE, "%s", "; capitals: placed by this plan");
	draw_add(map->drawing, COLOUR_NONE, "; %s free%s; x not usable", style->unicode ? "·" : ".",
	         others ? "; # other pods" : "");
}

void map_draw(const struct plan *plan, const struct map_options *options, struct drawing *drawing)
{
	const struct cluster *cluster = plan->snapshot->cycle.cluster;
	struct map map = {
		.plan = plan,
		.options = options,
		.cluster = cluster,
		.arena = drawing->arena,
		.drawing = drawing,
		.resource = map_resource(cluster),
	};
	int nodes = cluster_node_count(cluster);
	if (nodes == 0 || map.resource < 0)
		return;
	map.cores = strcmp(cluster_resource_name(cluster, map.resource), "cpu") == 0;
	map.levels = cluster_topology_count(cluster) > 0 ? cluster_level_count(cluster, 0) : 0;
	if (map.levels > 0 && strcmp(cluster_level_label(cluster, 0, map.levels - 1), HOSTNAME_LABEL) == 0)
		map.levels--;
	collect(&map);
	name_groups(&map);
	int deepest = map.levels;
	while (options->most_lines > 0 && deepest > 0 && lines_of(&map, deepest) > options->most_lines)
		deepest--;
	bool flat = map.levels == 0 && options->most_lines > 0 && lines_of(&map, 0) > options->most_lines;
	map.bars = flat || deepest < map.levels;
	if (flat) {
		draw_new_line(drawing);
		draw_add(drawing, COLOUR_BOLD, "%s", "cluster");
		add_bar(&map, 0, nodes);
	} else {
		add_level(&map, 0, deepest, 0, nodes, 0);
	}
	add_legend(&map);
}
