/* Owns DaemonSets: a pod on every node that its template fits. */
#include "cluster/workload_internal.h"

#include "admit/rules.h"
#include "object/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_REVISION "controller-revision-hash"
#define NODE_NAME "metadata.name"

/* One node, and the pod that is there or on its way. */
struct post {
	struct store_object *node;
	bool wanted;
	struct store_object *pod;
};

struct daemons {
	struct workload *workload;
	struct pod_rules rules;
	struct store_list nodes; /* by name */
	struct post *posts;      /* one per node */
	const char *revision;
	int64_t wanted, present, misplaced, ready, updated, may_miss;
};

/* ---- which nodes ---- */

/* Taints that say something about the state of a node; its daemons stay. */
static bool is_of_state(const char *key)
{
	return strncmp(key, "node.kubernetes.io/", 19) == 0;
}

static bool is_tolerated(const struct daemons *set, const struct val *item)
{
	const char *effect = val_str(val_get(item, "effect"), "");
	struct taint taint = {
		.key = val_str(val_get(item, "key"), ""),
		.value = val_str(val_get(item, "value"), ""),
		.effect = strcmp(effect, "NoExecute") == 0 ? TAINT_NO_EXECUTE : TAINT_NO_SCHEDULE,
	};
	return strcmp(effect, "PreferNoSchedule") == 0 || is_of_state(taint.key) ||
	       taint_tolerated(&taint, set->rules.tolerations, set->rules.toleration_count);
}

static bool fits(const struct daemons *set, const struct store_object *node)
{
	const struct pod_rules *rules = &set->rules;
	const struct val *item;
	bool any = !rules->has_node_terms;
	for (size_t i = 0; i < rules->node_term_count; i++)
		any |= selector_matches(&rules->node_terms[i].selector, &node->labels, node->name);
	for (struct val_iter it = val_iter(val_path(node->root, "spec", "taints", NULL)); val_next(&it, NULL, &item);)
		if (!is_tolerated(set, item))
			return false;
	return any && selector_matches(&rules->node_selector, &node->labels, node->name);
}

/* The node a pod was made for: where it is, or where its affinity sends it. */
static const char *node_of(const struct store_object *pod)
{
	const struct val *terms = val_path(pod->root, "spec", "affinity", "nodeAffinity",
	                                   "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", NULL);
	const struct val *field = val_item(val_get(val_item(terms, 0), "matchFields"), 0);
	return val_str(val_path(pod->root, "spec", "nodeName", NULL),
	               val_str(val_item(val_get(field, "values"), 0), ""));
}

static int by_name(const void *key, const void *item)
{
	return strcmp(key, ((const struct post *)item)->node->name);
}

static void read_nodes(struct daemons *set)
{
	struct workload *workload = set->workload;
	const struct val *template_ = val_get(workload->spec, "template");
	struct problems problems = {.arena = workload->arena};
	struct decode decode = {.arena = workload->arena, .problems = &problems};
	struct store_list_request request = {.api = store_api_find(workload->store, "", "v1", "nodes")};
	rules_read_nodes(&decode, val_get(template_, "spec"), &set->rules);
	if (store_list(workload->store, &request, &set->nodes, workload->arena, NULL) < 0)
		set->nodes = (struct store_list){0};
	set->posts = arena_array(workload->arena, struct post, set->nodes.count);
	for (size_t i = 0; i < set->nodes.count; i++) {
		set->posts[i] = (struct post){.node = set->nodes.items[i], .wanted = fits(set, set->nodes.items[i])};
		set->wanted += set->posts[i].wanted;
	}
}

/* ---- pods ---- */

static void place_pods(struct daemons *set)
{
	struct workload *workload = set->workload;
	for (size_t i = 0; i < workload->pods.count; i++) {
		struct store_object *pod = workload->pods.items[i];
		const char *revision = workload_label(pod, LABEL_REVISION);
		struct post *post = set->nodes.count ? bsearch(node_of(pod), set->posts, set->nodes.count,
		                                               sizeof(*set->posts), by_name)
		                                     : NULL;
		enum pod_state state = pod_state(pod);
		if (!post || !post->wanted || post->pod || state == POD_FAILED || state == POD_SUCCEEDED) {
			set->misplaced += post && !post->wanted;
			workload_delete(workload, pod);
			/* It has to be gone before another one takes its place. */
			if (post && post->wanted && !post->pod)
				post->pod = pod;
			continue;
		}
		post->pod = pod;
		set->present++;
		set->ready += pod_ready(pod) && !metadata_is_leaving(pod->root);
		set->updated += revision && strcmp(revision, set->revision) == 0;
	}
}

static struct node *text_list(struct build *build, const char *text)
{
	struct node *list = build_list(build);
	build_append(build, list, build_string(build, text));
	return list;
}

static struct node *affinity_for(struct build *build, const struct val *given, const char *node)
{
	struct node *affinity = val_kind(given) == VAL_MAP ? build_copy(build, given) : build_map(build);
	struct node *nodes = build_map(build), *required = build_map(build), *terms = build_list(build);
	struct node *term = build_map(build), *fields = build_list(build), *field = build_map(build);
	build_put_string(build, field, "key", NODE_NAME);
	build_put_string(build, field, "operator", "In");
	build_put(build, field, "values", text_list(build, node));
	build_append(build, fields, field);
	build_put(build, term, "matchFields", fields);
	build_append(build, terms, term);
	build_put(build, required, "nodeSelectorTerms", terms);
	build_put(build, nodes, "requiredDuringSchedulingIgnoredDuringExecution", required);
	build_put(build, affinity, "nodeAffinity", nodes);
	return affinity;
}

static struct node *tolerations(struct build *build, const struct val *given)
{
	static const char *const added[][2] = {
		{"not-ready", "NoExecute"},        {"unreachable", "NoExecute"},   {"disk-pressure", "NoSchedule"},
		{"memory-pressure", "NoSchedule"}, {"pid-pressure", "NoSchedule"}, {"unschedulable", "NoSchedule"},
	};
	struct node *list = val_kind(given) == VAL_LIST ? build_copy(build, given) : build_list(build);
	for (size_t i = 0; i < sizeof(added) / sizeof(*added); i++) {
		char key[64];
		struct node *map = build_map(build);
		snprintf(key, sizeof(key), "node.kubernetes.io/%s", added[i][0]);
		build_put_string(build, map, "key", key);
		build_put_string(build, map, "operator", "Exists");
		build_put_string(build, map, "effect", added[i][1]);
		build_append(build, list, map);
	}
	return list;
}

static void make_pods(struct daemons *set)
{
	struct workload *workload = set->workload;
	struct build *build = workload->build;
	const struct val *template_ = val_get(workload->spec, "template"), *spec = val_get(template_, "spec");
	for (size_t i = 0; i < set->nodes.count && workload->room > 0; i++) {
		if (!set->posts[i].wanted || set->posts[i].pod)
			continue;
		struct child pod = {
			.name = workload_free_name(workload, workload->object->name),
			.template_ = template_,
			.spec = build_copy(build, spec),
		};
		build_put(build, pod.spec, "affinity",
		          affinity_for(build, val_get(spec, "affinity"), set->posts[i].node->name));
		build_put(build, pod.spec, "tolerations", tolerations(build, val_get(spec, "tolerations")));
		child_label(&pod, LABEL_REVISION, set->revision);
		workload_create(workload, &pod);
	}
}

/* Replaces outdated pods: those that are not ready at once, others while few enough are missing. */
static void update(struct daemons *set)
{
	struct workload *workload = set->workload;
	int64_t missing = set->wanted - set->ready;
	if (strcmp(val_str(val_path(workload->spec, "updateStrategy", "type", NULL), ""), "OnDelete") == 0)
		return;
	for (size_t i = 0; i < set->nodes.count; i++) {
		struct store_object *pod = set->posts[i].pod;
		const char *revision = pod ? workload_label(pod, LABEL_REVISION) : NULL;
		if (!pod || metadata_is_leaving(pod->root) || (revision && strcmp(revision, set->revision) == 0))
			continue;
		if (pod_ready(pod) && missing++ >= set->may_miss)
			return;
		workload_delete(workload, pod);
	}
}

static void write_status(struct daemons *set)
{
	struct workload *workload = set->workload;
	struct build *build = workload->build;
	struct node *status = workload_status(workload);
	build_put_int(build, status, "desiredNumberScheduled", set->wanted);
	build_put_int(build, status, "currentNumberScheduled", set->present);
	build_put_int(build, status, "numberMisscheduled", set->misplaced);
	build_put_int(build, status, "numberReady", set->ready);
	build_put_int(build, status, "numberAvailable", set->ready);
	build_put_int(build, status, "numberUnavailable", set->wanted - set->ready);
	build_put_int(build, status, "updatedNumberScheduled", set->updated);
	workload_write_status(workload, status);
}

int workload_daemon_set(struct workload *workload)
{
	struct daemons set = {
		.workload = workload,
		.revision = workload_hash(workload->arena, val_get(workload->spec, "template"), 0),
	};
	read_nodes(&set);
	set.may_miss =
		workload_share(val_path(workload->spec, "updateStrategy", "rollingUpdate", "maxUnavailable", NULL),
	                       percent_count(1), set.wanted, PERCENT_UP);
	place_pods(&set);
	make_pods(&set);
	update(&set);
	write_status(&set);
	store_list_clear(&set.nodes);
	return 0;
}
