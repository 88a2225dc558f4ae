/* Owns the annotation of a PodGroup that keeps places for pods of it that were moved, or that are still to come. It is
 * written before pods are evicted, so that neither a crash nor a slow owner leaves them without; how it is read is in
 * snapshot_places.c. */
#include "schedule/scheduler_internal.h"
#include "loop/writes.h"

#include <string.h>

/* How long a place is kept beyond the time the pod itself may take to end. Owners create a pod again within seconds, but one
 * that backs off, or is restarted itself, takes a minute or two; after that others have waited long enough. */
#define KEPT_SECONDS 150
#define DEFAULT_GRACE 30 /* of a pod that names no terminationGracePeriodSeconds, as everywhere in Kubernetes */

struct keeping {
	const struct scheduler_turn *turn;
	const struct cycle *cycle;
	const struct snapshot_group *group;
	const struct cycle_group *decided;
	struct build *build;
};

/* Pods of the leaf that run or will, those for whom a place is kept included. */
static int64_t wanted_in(const struct keeping *keeping, int leaf)
{
	const struct cycle_group *group = keeping->decided;
	int64_t count = 0;
	for (size_t p = 0; p < group->gang.pod_count; p++) {
		const struct gang_pod *pod = &group->gang.pods[p];
		count += pod->leaf == leaf && (pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED);
	}
	for (size_t i = 0; i < group->place_count; i++)
		count += group->places[i].leaf == leaf && group->places[i].state == PLACE_KEPT;
	return count;
}

/* Pods of the leaf that ran on the node before the cycle and stay. */
static int64_t running_on(const struct keeping *keeping, int leaf, int node)
{
	const struct gang *gang = &keeping->decided->gang;
	int64_t count = 0;
	for (size_t p = 0; p < gang->pod_count; p++)
		count += gang->pods[p].state == MEMBER_RUNNING && gang->pods[p].leaf == leaf &&
		         gang->pods[p].node == node;
	return count;
}

static struct node *write_place(const struct keeping *keeping, const struct cycle_place *place)
{
	struct build *build = keeping->build;
	const struct cluster *cluster = keeping->cycle->cluster;
	struct node *item = build_map(build), *requests = build_map(build);
	char since[32], until[32];
	clock_print_rfc3339(place->since / CLOCK_SECOND, since);
	clock_print_rfc3339(place->until / CLOCK_SECOND, until);
	for (int r = 0; r < cluster_resource_count(cluster); r++) {
		int64_t amount = cluster_pod_class_request(cluster, place->pod_class, r);
		if (amount > 0)
			build_put_int(build, requests, cluster_resource_name(cluster, r), amount);
	}
	build_put_string(build, item, "node", place->node);
	if (keeping->decided->gang.tree[place->leaf].name[0])
		build_put_string(build, item, "subGroup", keeping->decided->gang.tree[place->leaf].name);
	build_put(build, item, "requests", requests);
	build_put_int(build, item, "before", place->before);
	build_put_int(build, item, "wanted", place->wanted);
	build_put_string(build, item, "since", since);
	build_put_string(build, item, "until", until);
	if (place->coming)
		build_put_bool(build, item, "coming", true);
	return item;
}

static int64_t seconds_to_end(const struct keeping *keeping, const char *pod)
{
	const struct store_object *object = live_pod(keeping->turn->scheduler->live, keeping->group->namespace_, pod);
	int64_t grace = DEFAULT_GRACE;
	if (object)
		val_int(val_path(object->root, "spec", "terminationGracePeriodSeconds", NULL), &grace);
	return grace < 0 ? 0 : grace > KEPT_LONGEST - KEPT_SECONDS ? KEPT_LONGEST - KEPT_SECONDS : grace;
}

static void add_moved(const struct keeping *keeping, const struct cycle_eviction *eviction, struct node *list)
{
	const struct gang_pod *pod = &keeping->decided->gang.pods[eviction->pod];
	int64_t seconds = KEPT_SECONDS + seconds_to_end(keeping, pod->name);
	struct cycle_place place = {
		.leaf = pod->leaf,
		.pod_class = pod->pod_class,
		.node = cluster_node_name(keeping->cycle->cluster, pod->node),
		.before = (int)running_on(keeping, pod->leaf, pod->node),
		.wanted = (int)wanted_in(keeping, pod->leaf),
		.since = keeping->turn->now_seconds * CLOCK_SECOND,
		.until = (keeping->turn->now_seconds + seconds) * CLOCK_SECOND,
	};
	build_append(keeping->build, list, write_place(keeping, &place));
}

/* The list as it should be, NULL when it is there already. */
static struct node *list_places(const struct keeping *keeping, size_t index)
{
	struct build *build = keeping->build;
	const struct cycle *cycle = keeping->cycle;
	struct node *list = build_list(build);
	size_t moved = 0, kept = 0;
	bool renewed = false;
	for (size_t i = 0; i < cycle->eviction_count; i++) {
		const struct cycle_eviction *eviction = &cycle->evictions[i];
		if (eviction->group != (int)index || !eviction->moved)
			continue;
		add_moved(keeping, eviction, list);
		moved++;
	}
	for (size_t i = 0; i < keeping->decided->place_count; i++) {
		struct cycle_place place = keeping->decided->places[i];
		if (place.state == PLACE_OVER)
			continue;
		if (moved > 0 && !place.coming)
			place.wanted = (int)wanted_in(keeping, place.leaf);
		renewed |= place.coming;
		build_append(build, list, write_place(keeping, &place));
		kept++;
	}
	return moved > 0 || renewed || kept < keeping->decided->place_count ? list : NULL;
}

/* Whether the annotation says something that nobody understands or needs. */
static bool is_idle(const struct keeping *keeping, const char *written)
{
	return written && keeping->decided->place_count == 0;
}

int scheduler_write_places(const struct scheduler_turn *turn, size_t index, const struct store_object *object)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	struct keeping keeping = {
		.turn = turn,
		.cycle = &snapshot->cycle,
		.group = &snapshot->groups[index],
		.decided = &snapshot->cycle.groups[index],
		.build = build_create(),
	};
	const char *written = val_str(val_path(object->root, "metadata", "annotations", KEPT_PLACES, NULL), NULL);
	struct node *list = list_places(&keeping, index);
	int rc = 0;
	if (list || is_idle(&keeping, written)) {
		struct build *build = keeping.build;
		struct buffer text = {0};
		struct doc *doc = build_finish(build, list ? list : build_list(build));
		struct node *body = build_map(build), *metadata = build_map(build), *changes = build_map(build);
		bool none = val_count(doc_root(doc)) == 0;
		val_write(doc_root(doc), DOC_JSON_COMPACT, &text);
		build_put(build, changes, KEPT_PLACES, none ? build_null(build) : build_string(build, text.text));
		build_put(build, metadata, "annotations", changes);
		build_put(build, body, "metadata", metadata);
		if (none ? written != NULL : !written || strcmp(written, text.text) != 0)
			rc = writes_patch(turn->store, object, STORE_MAIN, build, body);
		doc_destroy(doc);
		buffer_free(&text);
	}
	build_destroy(keeping.build);
	return rc;
}
