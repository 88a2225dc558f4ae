/* Owns the table of a plan: a line per group, its subgroups below it with the domain and nodes they got, then the
 * reasons, then a summary. */
#include "cli/plan_table.h"

#include "base/strings.h"
#include "cli/map.h"
#include "cli/plan_evictions.h"

#include <string.h>

#define NODES_WIDTH 48
#define MAP_LINES 24                            /* that are drawn unasked */
#define HOSTNAME_LABEL "kubernetes.io/hostname" /* that level is the node itself, which has its own column */

enum { COLUMN_NAME, COLUMN_STATE, COLUMN_PODS, COLUMN_QUEUE, COLUMN_PRIORITY, COLUMN_WHERE, COLUMN_NODES, COLUMNS };

struct view {
	const struct plan *plan;
	const struct cluster *cluster;
	struct arena *arena;
	struct table table;
	const struct plan_evictions *evictions;
	const struct draw_style *style;
	bool wide;
	unsigned *marks; /* per domain number: the last count that saw it */
	unsigned mark;
};

/* What the table needs to know of one tree; the snapshot lists nodes in preorder and pods by leaf, so everything below
 * a node is one range of both. */
struct outline {
	size_t index; /* of the group */
	const struct gang *gang;
	int *depth;
	size_t *first_pod; /* tree_count + 1: pods of leaf n are first_pod[n] .. first_pod[n + 1] */
	int *end;          /* first tree node behind the subtree */
	bool *open;        /* per depth: the tree goes on at that depth below the present line */
};

static bool is_placed(const struct gang_pod *pod)
{
	return pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
}

static const char *last_part(const char *label)
{
	const char *slash = strrchr(label, '/');
	return slash ? slash + 1 : label;
}

static const char *plural_of(struct arena *arena, const char *word)
{
	size_t length = strlen(word);
	bool hisses =
		length > 1 && (strchr("sx", word[length - 1]) || (length > 2 && strcmp(word + length - 2, "ch") == 0));
	return arena_printf(arena, "%s%s", word, hisses ? "es" : "s");
}

static struct outline outline_of(const struct view *view, size_t index)
{
	const struct gang *gang = &view->plan->snapshot->cycle.groups[index].gang;
	struct outline outline = {
		.index = index,
		.gang = gang,
		.depth = arena_array(view->arena, int, gang->tree_count),
		.first_pod = arena_array(view->arena, size_t, gang->tree_count + 1),
		.end = arena_array(view->arena, int, gang->tree_count),
	};
	for (size_t i = 0; i < gang->pod_count; i++)
		outline.first_pod[gang->pods[i].leaf + 1]++;
	for (size_t n = 0; n < gang->tree_count; n++) {
		outline.first_pod[n + 1] += outline.first_pod[n];
		if (n > 0)
			outline.depth[n] = outline.depth[gang->tree[n].parent] + 1;
	}
	for (size_t n = gang->tree_count; n-- > 0;) {
		int parent = gang->tree[n].parent;
		if (outline.end[n] == 0)
			outline.end[n] = (int)n + 1;
		if (parent >= 0 && outline.end[parent] < outline.end[n])
			outline.end[parent] = outline.end[n];
	}
	int deepest = 0;
	for (size_t n = 0; n < gang->tree_count; n++)
		deepest = outline.depth[n] > deepest ? outline.depth[n] : deepest;
	outline.open = arena_array(view->arena, bool, (size_t)deepest + 3);
	return outline;
}

/* The topology a subgroup speaks about: its own constraint, else that of the nearest ancestor, else the first one used
 * below it, else the first one of the cluster; -1 without any. */
static int topology_of(const struct view *view, const struct outline *outline, int node)
{
	const struct gang_node *tree = outline->gang->tree;
	for (int at = node; at >= 0; at = tree[at].parent) {
		if (tree[at].required.topology >= 0)
			return tree[at].required.topology;
		if (tree[at].preferred.topology >= 0)
			return tree[at].preferred.topology;
	}
	for (int at = node + 1; at < outline->end[node]; at++)
		if (tree[at].required.topology >= 0)
			return tree[at].required.topology;
	return cluster_topology_count(view->cluster) > 0 ? 0 : -1;
}

struct members { /* nodes of the placed pods below one tree node, one entry per pod */
	int *nodes;
	const char **names;
	size_t count;
};

static struct members members_of(const struct view *view, const struct outline *outline, int node)
{
	size_t first = outline->first_pod[node], last = outline->first_pod[outline->end[node]];
	struct members members = {
		.nodes = arena_array(view->arena, int, last - first),
		.names = arena_array(view->arena, const char *, last - first),
	};
	for (size_t i = first; i < last; i++) {
		const struct gang_pod *pod = &outline->gang->pods[i];
		if (!is_placed(pod))
			continue;
		members.nodes[members.count] = pod->node;
		members.names[members.count++] = cluster_node_name(view->cluster, pod->node);
	}
	return members;
}

/* Distinct domains at a level; -1 when a member is in none. */
static int count_domains(struct view *view, const struct members *members, int topology, int level)
{
	int count = 0;
	view->mark++;
	for (size_t i = 0; i < members->count; i++) {
		int domain = cluster_node_domain(view->cluster, topology, level, members->nodes[i]);
		if (domain < 0)
			return -1;
		count += view->marks[domain] != view->mark;
		view->marks[domain] = view->mark;
	}
	return count;
}

/* "block b1 / rack r3" as deep as all members agree, then "3 hosts" where they part. */
static const char *where_text(struct view *view, const struct outline *outline, int node, const struct members *members)
{
	int topology = topology_of(view, outline, node);
	if (topology < 0 || members->count == 0)
		return "";
	const char *text = "";
	for (int level = 0; level < cluster_level_count(view->cluster, topology); level++) {
		const char *label = cluster_level_label(view->cluster, topology, level);
		const char *separator = text[0] ? " / " : "";
		if (strcmp(label, HOSTNAME_LABEL) == 0)
			break;
		int count = count_domains(view, members, topology, level);
		if (count < 0)
			return arena_printf(view->arena, "%s%soutside every %s", text, separator, last_part(label));
		if (count > 1)
			return arena_printf(view->arena, "%s%s%d %s", text, separator, count,
			                    plural_of(view->arena, last_part(label)));
		int domain = cluster_node_domain(view->cluster, topology, level, members->nodes[0]);
		text = arena_printf(view->arena, "%s%s%s %s", text, separator, last_part(label),
		                    cluster_domain_name(view->cluster, topology, level, domain));
	}
	return text;
}

static enum colour state_colour(enum group_state state)
{
	switch (state) {
	case GROUP_PLACED:
		return COLOUR_GREEN;
	case GROUP_NEVER:
	case GROUP_UNDECIDED:
		return COLOUR_RED;
	case GROUP_PARTIAL:
	case GROUP_WAITING:
	case GROUP_NOT_READY:
	case GROUP_BLOCKED:
		break;
	}
	return COLOUR_YELLOW;
}

static void add_place(struct view *view, struct table_row *row, const struct outline *outline, int node)
{
	struct members members = members_of(view, outline, node);
	row->cells[COLUMN_WHERE] = where_text(view, outline, node, &members);
	row->cells[COLUMN_NODES] =
		output_nodes(view->arena, members.names, members.count, view->wide ? 0 : NODES_WIDTH);
}

static const char *pod_state_text(const struct snapshot_pod *pod, enum member_state state, bool ran)
{
	switch (state) {
	case MEMBER_RUNNING:
		return ran ? "running" : "bind";
	case MEMBER_RESERVED:
		return "reserve";
	case MEMBER_GATED:
		return "gated";
	case MEMBER_BLOCKED:
		return "blocked";
	case MEMBER_GONE:
		return pod->spec->phase == POD_SUCCEEDED || pod->spec->phase == POD_FAILED ? "ended" : "leaving";
	case MEMBER_WAITING:
	case MEMBER_COMING: /* never in a snapshot */
		break;
	}
	return "waiting";
}

/* The name with its branch; lines are added from the top down, so that each depth knows whether it goes on. */
static const char *branch(const struct view *view, const struct outline *outline, int depth, bool more,
                          const char *name)
{
	outline->open[depth] = more;
	return arena_printf(view->arena, "%s%s", draw_branch(view->arena, view->style, outline->open, depth), name);
}

static bool has_next_sibling(const struct outline *outline, int node)
{
	const struct gang *gang = outline->gang;
	int next = outline->end[node];
	return next < (int)gang->tree_count && gang->tree[next].parent == gang->tree[node].parent;
}

static void add_pods(struct view *view, const struct outline *outline, int leaf)
{
	const struct snapshot *snapshot = view->plan->snapshot;
	const struct snapshot_group *group = &snapshot->groups[outline->index];
	for (size_t i = outline->first_pod[leaf]; i < outline->first_pod[leaf + 1]; i++) {
		const struct gang_pod *pod = &outline->gang->pods[i];
		struct table_row row = {
			.cells = {
				[COLUMN_NAME] = branch(view, outline, outline->depth[leaf] + 1,
		                                       i + 1 < outline->first_pod[leaf + 1], pod->name),
				[COLUMN_STATE] =
					pod_state_text(&snapshot->pods[group->members[i]], pod->state, group->ran[i]),
				[COLUMN_NODES] = is_placed(pod) ? cluster_node_name(view->cluster, pod->node) : NULL,
			}};
		for (int c = 0; c < COLUMNS; c++)
			row.colours[c] = COLOUR_DIM;
		table_add(&view->table, &row);
	}
}

static void add_subgroup(struct view *view, const struct outline *outline, int node)
{
	const struct plan_group *planned = &view->plan->groups[outline->index];
	const char *name = outline->gang->tree[node].name;
	int64_t placed = planned->node_placed[node], minimum = planned->node_minimum[node];
	struct table_row row = {
		.cells = {
			[COLUMN_NAME] = branch(view, outline, outline->depth[node], has_next_sibling(outline, node),
	                                       name[0] ? name : "(set)"),
			[COLUMN_PODS] = arena_printf(view->arena, "%lld/%lld", (long long)placed, (long long)minimum),
		}};
	row.colours[COLUMN_PODS] = placed >= minimum ? COLOUR_GREEN : COLOUR_YELLOW;
	add_place(view, &row, outline, node);
	table_add(&view->table, &row);
}

/* What people call it; wide, the PodGroup too where that is called otherwise. */
static const char *name_of(const struct view *view, const struct plan_group *group)
{
	const char *title = plan_group_title(view->plan, group, view->arena);
	if (!view->wide || !view->plan->snapshot->cycle.groups[group->index].gang.title)
		return title;
	return arena_printf(view->arena, "%s (%s)", title, group->name);
}

static void add_tree(struct view *view, size_t index)
{
	const struct plan_group *planned = &view->plan->groups[index];
	const struct cycle_group *group = &view->plan->snapshot->cycle.groups[index];
	enum colour colour = state_colour(group->state);
	struct outline outline = outline_of(view, index);
	struct table_row row = {
		.cells =
			{
				[COLUMN_NAME] = name_of(view, planned),
				[COLUMN_STATE] = planned->state,
				[COLUMN_PODS] = arena_printf(view->arena, "%lld/%lld", (long long)planned->placed,
	                                                     (long long)planned->minimum),
				[COLUMN_QUEUE] = arena_printf(view->arena, "%.253s",
	                                                      group->queue_name), /* any text, any length */
				[COLUMN_PRIORITY] = arena_printf(view->arena, "%d", group->priority),
			},
		.colours = {[COLUMN_NAME] = COLOUR_BOLD, [COLUMN_STATE] = colour, [COLUMN_PODS] = colour},
	};
	add_place(view, &row, &outline, 0);
	table_add(&view->table, &row);
	for (int node = 0; node < (int)group->gang.tree_count; node++) {
		if (node > 0)
			add_subgroup(view, &outline, node);
		if (view->wide && group->gang.tree[node].child_count == 0)
			add_pods(view, &outline, node);
	}
	plan_evictions_add(view->evictions, index, view->wide, &view->table);
}

static void add_group(struct view *view, size_t index)
{
	const struct plan_group *planned = &view->plan->groups[index];
	add_tree(view, index);
	const struct snapshot_group *about = &view->plan->snapshot->groups[index];
	for (size_t i = 0; i < planned->reason_count; i++) {
		/* Rejections come first, and are the only place where the table names the file. */
		if (i < about->rejection_count)
			table_line(&view->table, COLOUR_RED, "  - rejected: %s: %s", about->source,
			           planned->reasons[i].message);
		else
			table_line(&view->table, COLOUR_NONE, "  - %s", planned->reasons[i].message);
	}
}

static void print_defragment(const struct plan *plan, struct arena *arena, FILE *stream)
{
	const struct cycle_defragment *report = &plan->snapshot->cycle.defragment;
	if (!report->ran)
		return;
	if (!report->level) {
		output_line(stream, "Defragment: nothing to do without GPUs on nodes of a Topology level above nodes, "
		                    "or while pods "
		                    "leave.");
		return;
	}
	const char *level = last_part(report->level);
	const char *gang = arena_printf(arena, "a %lld-GPU gang (%d pods of %lld)",
	                                (long long)report->pods * (long long)report->devices, report->pods,
	                                (long long)report->devices);
	if (report->gained)
		output_line(stream, "Defragment: %d more %s can take %s: %d instead of %d, by moving %d pod%s%s.",
		            report->gained, report->gained == 1 ? level : plural_of(arena, level), gang,
		            report->before + report->gained, report->before, report->moves,
		            report->moves == 1 ? "" : "s", report->proved ? "" : "; not proved best");
	else
		output_line(stream, "Defragment: %d %s can take %s; %s.", report->before,
		            report->before == 1 ? level : plural_of(arena, level), gang,
		            report->proved ? "no moves would make it more" : "no moves were found that make it more");
}

static void print_summary(const struct plan *plan, FILE *stream)
{
	static const enum group_state states[] = {GROUP_PLACED, GROUP_PARTIAL,   GROUP_WAITING,  GROUP_BLOCKED,
	                                          GROUP_NEVER,  GROUP_NOT_READY, GROUP_UNDECIDED};
	static const char *const words[] = {"placed",   "placed with surplus waiting",
	                                    "waiting",  "blocked",
	                                    "never",    "not ready",
	                                    "undecided"};
	int64_t waiting = 0;
	fprintf(stream, "%zu group%s", plan->group_count, plan->group_count == 1 ? "" : "s");
	const char *separator = ": ";
	for (size_t s = 0; s < sizeof(states) / sizeof(states[0]); s++) {
		size_t count = 0;
		for (size_t g = 0; g < plan->group_count; g++)
			count += plan->snapshot->cycle.groups[g].state == states[s];
		if (count == 0)
			continue;
		fprintf(stream, "%s%zu %s", separator, count, words[s]);
		separator = ", ";
	}
	for (size_t g = 0; g < plan->group_count; g++)
		waiting += plan->groups[g].waiting;
	fprintf(stream, ". Pods: %zu to bind, %zu to reserve, %lld waiting", plan->binding_count,
	        plan->reservation_count, (long long)waiting);
	if (plan->eviction_count)
		fprintf(stream, ", %zu to leave", plan->eviction_count);
	fprintf(stream, ".\n");
}

/* Whether the errors of a verdict are told below the group already. */
static bool stands_at_group(const struct snapshot *snapshot, const struct snapshot_verdict *verdict)
{
	if (strcmp(verdict->kind, "PodGroup") != 0)
		return false;
	int group = snapshot_find_group(snapshot, verdict->namespace_, verdict->name);
	return group >= 0 && snapshot->groups[group].rejected &&
	       text_equal(snapshot->groups[group].source, verdict->source);
}

static void add_admission(struct view *view)
{
	const struct snapshot *snapshot = view->plan->snapshot;
	for (size_t i = 0; i < snapshot->verdict_count; i++) {
		const struct snapshot_verdict *verdict = &snapshot->verdicts[i];
		for (size_t p = 0; p < verdict->problem_count; p++) {
			const struct problem *problem = &verdict->problems[p];
			bool error = problem->severity == SEVERITY_ERROR;
			if (error && stands_at_group(snapshot, verdict))
				continue;
			table_line(&view->table, error ? COLOUR_RED : COLOUR_YELLOW, "%s: %s%s %s%s%s: %s%s%s%s%s%s",
			           verdict->source, error ? "rejected: " : "warning: ", verdict->kind,
			           verdict->namespace_, verdict->namespace_[0] ? "/" : "", verdict->name, problem->path,
			           problem->path[0] ? ": " : "", problem->message, problem->fix ? " (" : "",
			           problem->fix ? problem->fix : "", problem->fix ? ")" : "");
		}
	}
	for (size_t i = 0; i < snapshot->warning_count; i++)
		table_line(&view->table, COLOUR_YELLOW, "warning: %s", snapshot->warnings[i]);
}

static int most_domains(const struct cluster *cluster)
{
	int most = 0;
	for (int topology = 0; topology < cluster_topology_count(cluster); topology++) {
		for (int level = 0; level < cluster_level_count(cluster, topology); level++) {
			int count = cluster_domain_count(cluster, topology, level);
			most = count > most ? count : most;
		}
	}
	return most;
}

static struct view view_open(const struct plan *plan, bool wide, const struct draw_style *style)
{
	struct view view = {
		.plan = plan,
		.cluster = plan->snapshot->cycle.cluster,
		.arena = arena_create(),
		.style = style,
		.wide = wide,
	};
	view.marks = arena_array(view.arena, unsigned, (size_t)most_domains(view.cluster));
	view.evictions = plan_evictions_sort(plan, view.arena);
	view.table = (struct table){.arena = view.arena, .columns = COLUMNS};
	struct table_row header = {
		.cells = {"GROUP", "STATE", "PODS", "QUEUE", "PRIORITY", "WHERE", "NODES"},
	};
	for (int c = 0; c < COLUMNS; c++)
		header.colours[c] = COLOUR_DIM;
	if (plan->group_count > 0)
		table_add(&view.table, &header);
	return view;
}

void plan_table_print_group(const struct plan *plan, size_t group, bool wide, const struct draw_style *style,
                            FILE *stream)
{
	struct view view = view_open(plan, wide, style);
	add_tree(&view, group);
	table_print(&view.table, stream, style->colours);
	arena_destroy(view.arena);
}

void plan_table_print(const struct plan *plan, bool wide, const struct draw_style *style, FILE *stream)
{
	struct view view = view_open(plan, wide, style);
	for (size_t i = 0; i < plan->group_count; i++)
		add_group(&view, plan->order[i]);
	size_t before = view.table.count;
	add_admission(&view);
	if (view.table.count > before && before > 0) {
		/* An empty line keeps what concerns the input apart from what concerns the plan. */
		table_line(&view.table, COLOUR_NONE, "%s", "");
		struct table_row blank = view.table.rows[view.table.count - 1];
		memmove(&view.table.rows[before + 1], &view.table.rows[before],
		        (view.table.count - 1 - before) * sizeof(blank));
		view.table.rows[before] = blank;
	}
	table_print(&view.table, stream, style->colours);
	if (plan->group_count > 0)
		fputc('\n', stream);
	print_summary(plan, stream);
	print_defragment(plan, view.arena, stream);
	arena_destroy(view.arena);
}

void plan_table_print_map(const struct plan *plan, bool wanted, int focus, const struct plan_reason *closest,
                          const struct draw_style *style, FILE *stream)
{
	if (!wanted && !style->terminal)
		return;
	struct map_options options = {
		.style = style,
		.focus = focus,
		.most_lines = wanted ? 0 : MAP_LINES,
		.level = closest ? closest->level : NULL,
		.domain = closest ? closest->domain : NULL,
	};
	struct drawing drawing = {.arena = arena_create()};
	map_draw(plan, &options, &drawing);
	if (drawing.count > 0)
		fputc('\n', stream);
	draw_print(&drawing, stream, style);
	arena_destroy(drawing.arena);
}
