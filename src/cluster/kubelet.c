/* Owns which pods and nodes are due: changes of pods, changes of nodes with all of their pods, and times. */
#include "cluster/kubelet.h"

#include "base/hash.h"
#include "cluster/kubelet_internal.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_POD, KEY_NODE };

struct pod_ref {
	const char *namespace_, *name; /* in the key */
	UT_hash_handle hh;
	char key[]; /* namespace, NUL, name, NUL */
};

/* The pods of one node: a cache of the informer's reports. */
struct node_pods {
	struct pod_ref *pods;
	UT_hash_handle hh;
	char node[];
};

struct kubelet {
	struct kubelet_options options;
	struct reconciler *reconciler;
	struct kubelet_rules *rules;
	struct node_pods *nodes;
	size_t node_count;
};

/* ---- which pods are on which node ---- */

static struct pod_ref *make_ref(const struct store_object *pod, size_t *length)
{
	size_t space = strlen(pod->namespace_) + 1, name = strlen(pod->name) + 1;
	struct pod_ref *ref = base_calloc(1, sizeof(*ref) + space + name);
	memcpy(ref->key, pod->namespace_, space);
	memcpy(ref->key + space, pod->name, name);
	ref->namespace_ = ref->key;
	ref->name = ref->key + space;
	*length = space + name;
	return ref;
}

static void add_pod(struct kubelet *kubelet, const char *node, const struct store_object *pod)
{
	struct node_pods *entry;
	HASH_FIND_STR(kubelet->nodes, node, entry);
	if (!entry) {
		entry = base_calloc(1, sizeof(*entry) + strlen(node) + 1);
		memcpy(entry->node, node, strlen(node) + 1);
		HASH_ADD_STR(kubelet->nodes, node, entry);
	}
	size_t length;
	struct pod_ref *ref = make_ref(pod, &length), *found;
	HASH_FIND(hh, entry->pods, ref->key, length, found);
	if (found)
		free(ref);
	else
		HASH_ADD(hh, entry->pods, key, length, ref);
}

static void drop_node(struct kubelet *kubelet, struct node_pods *entry)
{
	HASH_DEL(kubelet->nodes, entry);
	free(entry);
}

static void drop_pod(struct kubelet *kubelet, const char *node, const struct store_object *pod)
{
	struct node_pods *entry;
	HASH_FIND_STR(kubelet->nodes, node, entry);
	if (!entry)
		return;
	size_t length;
	struct pod_ref *ref = make_ref(pod, &length), *found;
	HASH_FIND(hh, entry->pods, ref->key, length, found);
	free(ref);
	if (found) {
		HASH_DEL(entry->pods, found);
		free(found);
	}
	if (!entry->pods)
		drop_node(kubelet, entry);
}

static const char *node_of(const struct store_object *pod)
{
	return pod ? val_str(val_path(pod->root, "spec", "nodeName", NULL), "") : "";
}

static void on_pod(struct reconciler *reconciler, void *context, const struct store_object *object,
                   const struct store_object *old, bool deleted)
{
	struct kubelet *kubelet = context;
	const char *before = node_of(old), *now = deleted ? "" : node_of(object);
	if (*before && strcmp(before, now) != 0)
		drop_pod(kubelet, before, old);
	if (*now && strcmp(before, now) != 0)
		add_pod(kubelet, now, object);
	if (!deleted)
		reconciler_want(reconciler, KEY_POD, object->namespace_, object->name);
}

/* Everything about a node that its pods notice. Heartbeats are not among it. */
static bool same_for_pods(const struct store_object *a, const struct store_object *b)
{
	const struct val *before = kubelet_condition(a->root, "Ready"), *now = kubelet_condition(b->root, "Ready");
	return val_equal(val_path(a->root, "metadata", "annotations", NULL),
	                 val_path(b->root, "metadata", "annotations", NULL)) &&
	       val_equal(val_path(a->root, "spec", "taints", NULL), val_path(b->root, "spec", "taints", NULL)) &&
	       val_equal(val_get(before, "status"), val_get(now, "status")) &&
	       val_equal(val_get(before, "reason"), val_get(now, "reason"));
}

static void on_node(struct reconciler *reconciler, void *context, const struct store_object *object,
                    const struct store_object *old, bool deleted)
{
	struct kubelet *kubelet = context;
	kubelet->node_count += !old;
	kubelet->node_count -= deleted;
	reconciler_want(reconciler, KEY_NODE, "", object->name);
	if (!deleted && old && same_for_pods(object, old))
		return;
	struct node_pods *entry;
	HASH_FIND_STR(kubelet->nodes, object->name, entry);
	if (!entry)
		return;
	struct pod_ref *ref, *next;
	HASH_ITER(hh, entry->pods, ref, next)
		reconciler_want(reconciler, KEY_POD, ref->namespace_, ref->name);
}

/* Rules may be about any pod. */
static void on_rules(struct reconciler *reconciler, void *context, const struct store_object *object,
                     const struct store_object *old, bool deleted)
{
	struct kubelet *kubelet = context;
	const struct clock_source *clock = kubelet->options.clock ? kubelet->options.clock : clock_system();
	(void)old;
	if (strcmp(object->name, KUBELET_RULES) != 0)
		return;
	kubelet_rules_read(kubelet->rules, kubelet->options.store, deleted ? NULL : object, clock_seconds(clock));
	struct node_pods *entry, *next_entry;
	HASH_ITER(hh, kubelet->nodes, entry, next_entry) {
		struct pod_ref *ref, *next;
		HASH_ITER(hh, entry->pods, ref, next)
			reconciler_want(reconciler, KEY_POD, ref->namespace_, ref->name);
	}
}

/* ---- the frame ---- */

static int turn_key(void *context, struct reconcile *turn)
{
	struct kubelet *kubelet = context;
	if (turn->key.kind == KEY_POD)
		return kubelet_turn_pod(&kubelet->options, kubelet->rules, turn);
	size_t nodes = kubelet->node_count;
	return kubelet_turn_node(&(struct kubelet_beat){kubelet_interval(&kubelet->options, nodes), nodes}, turn);
}

struct kubelet *kubelet_create(const struct kubelet_options *options)
{
	static const struct reconciler_watch watches[] = {
		{.group = "", .resource = "configmaps", .map = on_rules, .namespace_ = "kube-system"},
		{.group = "", .resource = "pods", .map = on_pod},
		{.group = "", .resource = "nodes", .map = on_node},
	};
	struct kubelet *kubelet = base_calloc(1, sizeof(*kubelet));
	kubelet->options = *options;
	kubelet->rules = kubelet_rules_create();
	kubelet->reconciler = reconciler_create(&(struct reconciler_options){
		.name = "kubelet",
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.watches = watches,
		.watch_count = sizeof(watches) / sizeof(*watches),
		.reconcile = turn_key,
		.context = kubelet,
	});
	return kubelet;
}

void kubelet_destroy(struct kubelet *kubelet)
{
	if (!kubelet)
		return;
	reconciler_destroy(kubelet->reconciler);
	kubelet_rules_destroy(kubelet->rules);
	struct node_pods *entry, *next_entry;
	HASH_ITER(hh, kubelet->nodes, entry, next_entry) {
		struct pod_ref *ref, *next;
		HASH_ITER(hh, entry->pods, ref, next) {
			HASH_DEL(entry->pods, ref);
			free(ref);
		}
		drop_node(kubelet, entry);
	}
	free(kubelet);
}

int kubelet_step(struct kubelet *kubelet)
{
	return reconciler_step(kubelet->reconciler);
}
