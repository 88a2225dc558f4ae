/* Owns the sentence about single nodes: how many one pod could use, and what is the matter with the others. */
#include "engine/explain/internal.h"
#include "engine/place/solver.h"

#include <string.h>

enum { MOST_NAMED = 3, MOST_TAINTS_TOLD = 3, MOST_DEVICES_TOLD = 4 };

static const char *const exclusion_text[EXCLUDE_CAUSES] = {
	[EXCLUDE_POOL] = "in another node pool",
	[EXCLUDE_LABEL] = "without the worker label",
	[EXCLUDE_NOT_READY] = "not ready",
	[EXCLUDE_UNSCHEDULABLE] = "cordoned",
	[EXCLUDE_SELECTOR] = "not matching the node selector",
	[EXCLUDE_AFFINITY] = "not matching the node affinity",
	[EXCLUDE_VOLUME] = "out of reach of a volume",
};

/* Nodes with the same trouble; the first few by name, where a name helps. */
struct trouble {
	const char *text;
	int nodes;
	const char *named;
	bool has_names;
};

struct account {
	const struct cluster *cluster;
	const struct shape *shape;
	struct arena *arena;
	struct trouble by_cause[EXCLUDE_CAUSES], by_taint[MOST_TAINTS_TOLD + 1];
	const struct taint *taints[MOST_TAINTS_TOLD];
	size_t taint_count;
	struct trouble *by_request; /* like the requests of the shape */
	struct trouble by_device[MOST_DEVICES_TOLD + 1];
};

static void count_node(struct account *account, struct trouble *trouble, int node)
{
	trouble->nodes++;
	if (!trouble->has_names || trouble->nodes > MOST_NAMED + 1)
		return;
	trouble->named = trouble->nodes > MOST_NAMED
	                         ? arena_printf(account->arena, "%s, ...", trouble->named)
	                         : arena_printf(account->arena, "%s%s%s", trouble->named ? trouble->named : "",
	                                        trouble->named ? ", " : "", account->cluster->nodes[node].name);
}

/* The taint that keeps the shape off the node. */
static const struct taint *find_taint(const struct account *account, int number)
{
	const struct cluster_node_data *node = &account->cluster->nodes[number];
	const struct pod_rules *rules = &account->shape->rules;
	for (size_t i = 0; i < node->taint_count; i++)
		if (node->taints[i].effect != TAINT_PREFER_NO_SCHEDULE &&
		    !taint_tolerated(&node->taints[i], rules->tolerations, rules->toleration_count))
			return &node->taints[i];
	return NULL;
}

static void count_tainted(struct account *account, int node)
{
	const struct taint *taint = find_taint(account, node);
	size_t t = 0;
	while (t < account->taint_count &&
	       (!text_equal(account->taints[t]->key, taint->key) ||
	        !text_equal(account->taints[t]->value, taint->value) || account->taints[t]->effect != taint->effect))
		t++;
	struct trouble *trouble = &account->by_taint[t];
	if (t == account->taint_count && t < MOST_TAINTS_TOLD) {
		account->taints[account->taint_count++] = taint;
		trouble->text = arena_printf(account->arena, "with taint %s", explain_taint(taint, account->arena));
	} else if (t == MOST_TAINTS_TOLD) {
		trouble->text = "with other taints";
	}
	trouble->has_names = true;
	count_node(account, trouble, node);
}

static bool is_named(const struct account *account, int request, const char *prefix)
{
	const char *name = account->cluster->resources.items[account->shape->resource[request]].name;
	return text_starts_with(name, prefix);
}

static bool is_of_volumes(const struct account *account, int request)
{
	return is_named(account, request, "volumes/");
}

/* A node with enough of everything, whose devices do not go together. */
static void count_devices(struct account *account, int node, int view)
{
	const char *text = device_stock_trouble(account->cluster, account->shape, node, view, account->arena);
	size_t t = 0;
	if (!text)
		return;
	while (t < MOST_DEVICES_TOLD && account->by_device[t].text && strcmp(account->by_device[t].text, text) != 0)
		t++;
	account->by_device[t].text = t < MOST_DEVICES_TOLD ? text : "with other devices";
	count_node(account, &account->by_device[t], node);
}

/* A node that may be used, but has too little of something. One claim is counted by every size up to its own, of which there
 * are as many as others ask for: what is said about volumes is said once. So is what is said about devices, of which the column
 * that says most is named: which others there are depends on who asked before. */
static void count_full(struct account *account, int node, int view)
{
	const int *resource = account->shape->resource;
	int told = -1,
	    device = -1; /* the first request of volumes, which stands for all; the one of devices that does */
	bool counted = false;
	for (int i = 0; i < account->shape->request_count; i++) {
		bool volumes = is_of_volumes(account, i), devices = is_named(account, i, "devices/");
		told = volumes && told < 0 ? i : told;
		if (cluster_amount_in_view(account->cluster, resource[i], node, view) >= account->shape->amount[i] ||
		    (volumes && counted))
			continue;
		counted |= volumes;
		if (account->cluster->resources.items[resource[i]].claims >= 0 ||
		    is_named(account, i, "devices/claimed/"))
			continue; /* what is the matter with the devices says more */
		if (!devices)
			count_node(account, &account->by_request[volumes ? told : i], node);
		else if (device < 0 || explain_is_closer(account->cluster, resource[i], resource[device]))
			device = i;
	}
	if (device >= 0)
		count_node(account, &account->by_request[device], node);
	else if (account->shape->claims)
		count_devices(account, node, view);
}

static void prepare(struct account *account)
{
	for (int cause = 0; cause < EXCLUDE_CAUSES; cause++)
		account->by_cause[cause] =
			(struct trouble){.text = exclusion_text[cause],
		                         .has_names = cause == EXCLUDE_UNSCHEDULABLE || cause == EXCLUDE_NOT_READY};
	account->by_request = arena_array(account->arena, struct trouble, (size_t)account->shape->request_count);
	for (int i = 0; i < account->shape->request_count; i++) {
		const char *name = account->cluster->resources.items[account->shape->resource[i]].name;
		const char *port = explain_port_name(name, account->arena);
		account->by_request[i].text = port ? arena_printf(account->arena, "with %s in use", port)
		                              : is_of_volumes(account, i)
		                                      ? "without room for its volumes"
		                                      : arena_printf(account->arena, "Insufficient %s", name);
	}
}

static void put_troubles(struct buffer *text, const struct trouble *troubles, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (troubles[i].nodes && troubles[i].text)
			buffer_printf(text, "%s %d %s%s%s%s", text->text[text->length - 1] == ':' ? "" : ",",
			              troubles[i].nodes, troubles[i].text, troubles[i].named ? " (" : "",
			              troubles[i].named ? troubles[i].named : "", troubles[i].named ? ")" : "");
}

/* Whether each node is out because of the same words about nodes, so that one of them may be misspelt. */
static bool none_matches(const struct account *account)
{
	return account->by_cause[EXCLUDE_SELECTOR].nodes + account->by_cause[EXCLUDE_AFFINITY].nodes ==
	       account->cluster->node_count;
}

void explain_nodes(struct cluster *cluster, const struct solver *solver, int shape_number, struct arena *arena,
                   struct reasons *out)
{
	const struct local_shape *local = &solver->shapes[shape_number];
	const struct slots *slots = slots_get(cluster, local->shape, solver->view);
	struct account account = {.cluster = cluster, .shape = &cluster->shapes.items[local->shape], .arena = arena};
	int usable = local->slots->open, by_rules = slots->open - usable;
	prepare(&account);
	for (int n = 0; n < cluster->node_count; n++) {
		enum exclusion cause = shape_allows_node(cluster, account.shape, n)
		                               ? EXCLUDE_NONE
		                               : shape_find_exclusion(cluster, account.shape, n);
		if (cause == EXCLUDE_TAINT)
			count_tainted(&account, n);
		else if (cause != EXCLUDE_NONE)
			count_node(&account, &account.by_cause[cause], n);
		else if (slots->node[n] <= 0)
			count_full(&account, n, solver->view);
	}
	struct buffer text = {0};
	buffer_printf(&text, "%d/%d node%s available:", usable, cluster->node_count,
	              cluster->node_count == 1 ? "" : "s");
	put_troubles(&text, account.by_request, (size_t)account.shape->request_count);
	put_troubles(&text, account.by_device, MOST_DEVICES_TOLD + 1);
	struct trouble rules = {.text = explain_has_single_claim(&cluster->pod_classes.items[local->pod_class])
	                                        ? "closed by a claim in use"
	                                        : "excluded by affinity rules between pods",
	                        .nodes = by_rules};
	put_troubles(&text, &rules, 1);
	put_troubles(&text, account.by_cause, EXCLUDE_CAUSES);
	put_troubles(&text, account.by_taint, MOST_TAINTS_TOLD + 1);
	if (text.text[text.length - 1] == ':')
		text.text[--text.length] = '\0';
	reason_add(out, arena,
	           (struct reason){.code = REASON_NODES,
	                           .message =
	                                   arena_printf(arena, "%s%s", text.text,
	                                                none_matches(&account)
	                                                        ? explain_missing_label(cluster, account.shape, arena)
	                                                        : ""),
	                           .have = usable,
	                           .need = cluster->node_count});
	buffer_free(&text);
}
