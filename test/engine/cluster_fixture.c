/* Reads the words of a small cluster and writes down what became of it. */
#include "cluster_fixture.h"

#include "base/clock.h"
#include "engine/place/strategy.h"

#include "base/strings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

static const char *word(const char **text, struct arena *arena)
{
	while (**text == ' ')
		++*text;
	const char *start = *text;
	while (**text && **text != ' ')
		++*text;
	return arena_strndup(arena, start, (size_t)(*text - start));
}

static void add_node(struct cluster_fixture *fixture, const char *text)
{
	const char *colon = strchr(text, ':'), *slash = strchr(text, '/');
	if (!colon) {
		fail_msg("node %s: no devices", text);
		return;
	}
	struct resource_amount amounts[] = {{"nvidia.com/gpu", strtol(colon + 1, NULL, 10)}, {"pods", 110}};
	const char *name = arena_strndup(fixture->arena, text, (size_t)(colon - text));
	struct label labels[] = {{"kubernetes.io/hostname", name}, {"rack", slash ? slash + 1 : "none"}};
	struct cluster_node node = {.name = name,
	                            .labels = {labels, slash ? 2 : 1},
	                            .allocatable = amounts,
	                            .allocatable_count = 2,
	                            .ready = true};
	labels_sort(&node.labels);
	cluster_add_node(fixture->cycle.cluster, &node);
}

static void add_nodes(struct cluster_fixture *fixture, const char *nodes)
{
	static const char *const levels[] = {"rack", "kubernetes.io/hostname"};
	fixture->cycle.cluster = cluster_create();
	fixture->cycle.defragment.most_moves = 16;
	cluster_add_topology(fixture->cycle.cluster, "floor", levels, 2);
	while (*nodes)
		add_node(fixture, word(&nodes, fixture->arena));
	cluster_seal(fixture->cycle.cluster);
}

static int find_node(const struct cluster_fixture *fixture, const char *name)
{
	int node = cluster_find_node(fixture->cycle.cluster, name);
	if (node < 0)
		fail_msg("there is no node %s", name);
	return node;
}

/* ---- queues ---- */

static int find_queue(const struct cluster_fixture *fixture, const char *name)
{
	for (size_t q = 0; name && q < fixture->cycle.queue_count; q++)
		if (strcmp(fixture->cycle.queues[q].name, name) == 0)
			return (int)q;
	return -1;
}

static void add_queues(struct cluster_fixture *fixture, const struct fixture_queue *queues)
{
	static const struct fixture_queue only[] = {{"q", NULL, -1, -1, 1, 100}, {0}};
	if (!queues || !queues[0].name)
		queues = only;
	fixture->cycle.queues = arena_array(fixture->arena, struct cycle_queue, FIXTURE_QUEUES);
	for (; queues->name; queues++) {
		struct cycle_queue *queue = &fixture->cycle.queues[fixture->cycle.queue_count];
		*queue = (struct cycle_queue){.name = queues->name,
		                              .parent = find_queue(fixture, queues->parent),
		                              .priority = queues->priority ? queues->priority : 100};
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			bool devices = r == CYCLE_GPU;
			queue->quota[r] = devices && queues->quota >= 0 ? queues->quota * 1000 : -1;
			queue->limit[r] = devices && queues->limit >= 0 ? queues->limit * 1000 : -1;
			queue->weight[r] = queues->weight * 1000;
		}
		queue->has_runtime[0] = queues->preempt_runtime != 0;
		queue->has_runtime[1] = queues->reclaim_runtime != 0;
		queue->preempt_runtime = queues->preempt_runtime * CLOCK_SECOND;
		queue->reclaim_runtime = queues->reclaim_runtime * CLOCK_SECOND;
		fixture->cycle.queue_count++;
	}
}

/* ---- groups ---- */

static struct gang_level read_level(const char **text)
{
	if (**text != '@')
		return GANG_NO_LEVEL;
	++*text;
	int level = strncmp(*text, "rack", 4) == 0 ? 0 : strncmp(*text, "node", 4) == 0 ? 1 : -1;
	if (level < 0)
		fail_msg("no such level: %s", *text);
	*text += 4;
	return (struct gang_level){0, level};
}

/* In preorder: the number, the level, the children in brackets. */
static void read_tree(struct cluster_fixture *fixture, struct gang *gang, const char **text, int parent)
{
	int self = (int)gang->tree_count++;
	struct gang_node *node = &gang->tree[self];
	char *end;
	long minimum = strtol(*text, &end, 10);
	if (end == *text)
		fail_msg("a tree needs a number: %s", *text);
	long expected = *end == '/' ? strtol(end + 1, &end, 10) : 0;
	*text = end;
	*node = (struct gang_node){.name = self ? arena_printf(fixture->arena, "s%d", self) : "",
	                           .parent = parent,
	                           .minimum = (int)minimum,
	                           .expected = (int)expected,
	                           .required = read_level(text),
	                           .preferred = GANG_NO_LEVEL};
	if (**text != '(')
		return;
	for (++*text; **text && **text != ')';) {
		node->child_count++;
		read_tree(fixture, gang, text, self);
		while (**text == ' ')
			++*text;
	}
	*text += **text == ')';
}

static int next_leaf(const struct gang *gang, int after)
{
	for (int i = after + 1; i < (int)gang->tree_count; i++)
		if (!gang->tree[i].child_count)
			return i;
	fail_msg("%s: more leaves among the pods than in the tree", gang->name);
	return -1;
}

static void read_pods(struct cluster_fixture *fixture, struct gang *gang, const char *text, int pod_class)
{
	int leaf = next_leaf(gang, -1);
	gang->pods = arena_array(fixture->arena, struct gang_pod, strlen(text) + 1);
	while (*text) {
		const char *name = word(&text, fixture->arena);
		if (!*name)
			break;
		if (strcmp(name, "|") == 0) {
			leaf = next_leaf(gang, leaf);
			continue;
		}
		struct gang_pod *pod = &gang->pods[gang->pod_count];
		*pod = (struct gang_pod){.name = arena_printf(fixture->arena, "%s%zu", gang->name, gang->pod_count),
		                         .pod_class = pod_class,
		                         .leaf = leaf,
		                         .state = name[0] == '!'   ? MEMBER_GATED
		                                  : name[0] == '#' ? MEMBER_BLOCKED
		                                                   : MEMBER_WAITING,
		                         .node = -1,
		                         .nominated = -1};
		gang->pod_count++;
		bool reserved = name[0] == '~';
		if (isalpha((unsigned char)name[reserved])) {
			pod->node = find_node(fixture, name + reserved);
			pod->state = reserved ? MEMBER_RESERVED : MEMBER_RUNNING;
			cluster_occupy(fixture->cycle.cluster, pod_class, pod->node,
			               reserved ? OCCUPY_RESERVED : OCCUPY_RUNNING);
		}
	}
}

static void add_group(struct cluster_fixture *fixture, const struct fixture_group *from)
{
	struct cycle_group *group = &fixture->cycle.groups[fixture->cycle.group_count];
	struct resource_amount requests[] = {{"nvidia.com/gpu", from->devices ? from->devices : 1}, {"pods", 1}};
	struct pod_input input = {.namespace_ = "default", .requests = requests, .request_count = 2};
	struct label label = {.key = "app", .value = from->app};
	if (from->app)
		input.labels = (struct labels){.items = &label, .count = 1};
	struct gang *gang = &group->gang;
	const char *tree = from->tree;
	*gang = (struct gang){.namespace_ = "default", .name = from->name};
	gang->tree = arena_array(fixture->arena, struct gang_node, strlen(tree) + 1);
	read_tree(fixture, gang, &tree, -1);
	read_pods(fixture, gang, from->pods, cluster_add_pod_class(fixture->cycle.cluster, &input));
	for (size_t p = 0; p < gang->pod_count; p++)
		gang->pods[p].health = (uint8_t)from->health;
	group->queue_name = from->queue ? from->queue : fixture->cycle.queues[0].name;
	group->queue = find_queue(fixture, group->queue_name);
	group->priority = from->priority;
	group->preempt = from->preempt;
	group->creation = (int64_t)fixture->cycle.group_count;
	group->grace = from->grace ? from->grace * CLOCK_SECOND : -1;
	group->resettles = from->resettles;
	group->has_stale_since = from->stale > 0;
	group->stale_since = -from->stale * CLOCK_SECOND;
	group->met = from->met;
	group->evict_after = from->delay * CLOCK_SECOND;
	group->stays = from->stays;
	group->gang.starts_whole = from->starts_whole;
	group->has_started = from->since > 0;
	group->started = from->since * CLOCK_SECOND;
	group->was_running = arena_array(fixture->arena, bool, gang->pod_count);
	fixture->cycle.group_count++;
}

void cluster_fixture_create(struct cluster_fixture *fixture, const char *nodes, const struct fixture_queue *queues,
                            const struct fixture_group *groups)
{
	*fixture = (struct cluster_fixture){.arena = arena_create()};
	fixture->cycle.arena = fixture->arena;
	fixture->cycle.hold_for = 60 * CLOCK_SECOND;
	add_nodes(fixture, nodes);
	add_queues(fixture, queues);
	fixture->cycle.groups = arena_array(fixture->arena, struct cycle_group, FIXTURE_GROUPS);
	for (size_t g = 0; g < FIXTURE_GROUPS && groups[g].name; g++)
		add_group(fixture, &groups[g]);
}

void cluster_fixture_destroy(struct cluster_fixture *fixture)
{
	cluster_destroy(fixture->cycle.cluster);
	arena_destroy(fixture->arena);
}

void cluster_fixture_run(struct cluster_fixture *fixture, const char *actions, int second)
{
	fixture->cycle.now = second * CLOCK_SECOND;
	cycle_begin(&fixture->cycle);
	while (*actions) {
		enum cycle_action action;
		const char *name = word(&actions, fixture->arena);
		if (cycle_action_parse(name, strlen(name), &action) < 0)
			fail_msg("%s is not an action", name);
		cycle_run(&fixture->cycle, action);
	}
	cycle_finish(&fixture->cycle);
}

/* ---- afterwards ---- */

const char *cluster_fixture_pods(const struct cluster_fixture *fixture, int number)
{
	const struct gang *gang = &fixture->cycle.groups[number].gang;
	const char *text = "";
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		bool placed = pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
		const char *mark = pod->state == MEMBER_RESERVED  ? "~"
		                   : pod->state == MEMBER_GONE    ? "x"
		                   : pod->state == MEMBER_GATED   ? "!"
		                   : pod->state == MEMBER_BLOCKED ? "#"
		                   : pod->state == MEMBER_WAITING ? "-"
		                                                  : "";
		const char *between = p == 0 ? "" : pod->leaf != gang->pods[p - 1].leaf ? " | " : " ";
		text = arena_printf(fixture->arena, "%s%s%s%s", text, between, mark,
		                    placed ? cluster_node_name(fixture->cycle.cluster, pod->node) : "");
	}
	const struct cycle_group *group = &fixture->cycle.groups[number];
	for (size_t i = 0; i < group->place_count; i++)
		if (group->places[i].state == PLACE_KEPT)
			text = arena_printf(fixture->arena, "%s +%s", text, group->places[i].node);
	return text;
}

/* Free is what there is, less what runs, is reserved or leaves. */
static void check_books(const struct cluster_fixture *fixture, const char *title)
{
	const struct cycle *cycle = &fixture->cycle;
	int gpu = cluster_find_resource(cycle->cluster, "nvidia.com/gpu");
	for (int n = 0; n < cluster_node_count(cycle->cluster); n++) {
		int64_t used = 0, leaving = 0;
		for (size_t g = 0; g < cycle->group_count; g++)
			for (size_t p = 0; p < cycle->groups[g].gang.pod_count; p++) {
				const struct gang_pod *pod = &cycle->groups[g].gang.pods[p];
				if ((pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED) && pod->node == n)
					used += cluster_pod_class_request(cycle->cluster, pod->pod_class, gpu);
			}
		for (size_t i = 0; i < cycle->eviction_count; i++) {
			const struct cycle_eviction *eviction = &cycle->evictions[i];
			const struct gang *gang = &cycle->groups[eviction->group].gang;
			if (eviction->node == n)
				leaving += cluster_pod_class_request(cycle->cluster,
				                                     gang->pods[eviction->pod].pod_class, gpu);
		}
		if (cluster_free(cycle->cluster, gpu, n) !=
		            cluster_allocatable(cycle->cluster, gpu, n) - used - leaving ||
		    cluster_releasing(cycle->cluster, gpu, n) != leaving)
			fail_msg("%s: the books of %s do not add up", title, cluster_node_name(cycle->cluster, n));
	}
}

static void add_budgets(struct cluster_fixture *fixture, const struct fixture_case *given)
{
	struct cycle *cycle = &fixture->cycle;
	cycle->budgets = arena_array(fixture->arena, struct cycle_budget, FIXTURE_BUDGETS);
	cycle->never_violate_budgets = given->never_violate;
	for (size_t b = 0; b < FIXTURE_BUDGETS && given->budgets[b].app; b++) {
		const struct fixture_budget *from = &given->budgets[b];
		struct cycle_budget *budget = &cycle->budgets[cycle->budget_count++];
		*budget = (struct cycle_budget){.namespace_ = "default",
		                                .name = from->app,
		                                .allowed = from->allowed,
		                                .guards_unready = from->guards_unready};
		if (strcmp(from->app, "*") == 0)
			continue;
		budget->selector.items = arena_array(fixture->arena, struct match, 1);
		budget->selector.count = 1;
		budget->selector.items[0] = (struct match){.key = "app", .op = MATCH_IN, .value_count = 1};
		budget->selector.items[0].values = arena_array(fixture->arena, const char *, 1);
		budget->selector.items[0].values[0] = from->app;
	}
}

static void check_violations(const struct cycle *cycle, const struct fixture_case *given)
{
	int violations = 0;
	for (size_t i = 0; i < cycle->eviction_count; i++)
		violations += cycle->evictions[i].violates != NULL;
	if (violations != given->violations)
		fail_msg("%s: %d evictions violate a budget, not %d", given->title, violations, given->violations);
}

void cluster_fixture_open(struct cluster_fixture *fixture, const struct fixture_case *given)
{
	cluster_fixture_create(fixture, given->nodes, given->queues, given->groups);
	add_budgets(fixture, given);
}

void cluster_fixture_check(const struct fixture_case *given)
{
	struct cluster_fixture fixture;
	cluster_fixture_open(&fixture, given);
	struct strategy strategy;
	if (given->placement && strategy_parse(given->placement, &strategy) < 0)
		fail_msg("%s is no strategy", given->placement);
	if (given->placement)
		cluster_set_strategy(fixture.cycle.cluster, strategy);
	cluster_fixture_run(&fixture, given->actions, given->second);
	for (size_t g = 0; g < fixture.cycle.group_count; g++) {
		const struct fixture_group *group = &given->groups[g];
		const char *want = group->after ? group->after : group->pods,
			   *got = cluster_fixture_pods(&fixture, (int)g);
		if (strcmp(want, got) != 0)
			fail_msg("%s: %s is \"%s\", not \"%s\"", given->title, group->name, got, want);
		const struct reasons *reasons = &fixture.cycle.groups[g].reasons;
		bool said = !group->says;
		for (size_t i = 0; i < reasons->count; i++)
			said |= group->says && strstr(reasons->items[i].message, group->says);
		if (!said)
			fail_msg("%s: %s does not say \"%s\", but %s", given->title, group->name, group->says,
			         reasons->count ? reasons->items[reasons->count - 1].message : "nothing");
	}
	check_books(&fixture, given->title);
	check_violations(&fixture.cycle, given);
	cluster_fixture_destroy(&fixture);
}
