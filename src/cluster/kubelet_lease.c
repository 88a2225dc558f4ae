/* Owns heartbeats: the Lease that the kubelet of each node renews, and the time at which its node says that its state is
 * still what it was. Who stopped renewing is judged in kubelet_node.c.
 *
 * The nodes of a small cluster renew in the same second, so that it is one transaction; those of a large one are spread
 * over the interval, and the interval grows so that no more than BEATS_PER_SECOND are written. */
#include "base/hash.h"
#include "loop/writes.h"
#include "cluster/kubelet_internal.h"

#include <stdio.h>
#include <string.h>

#define BEATS_PER_SECOND 100
#define TOGETHER 100    /* nodes that renew in the same second */
#define STATUS_BEATS 60 /* every so many beats the conditions get a new lastHeartbeatTime */
#define LEASES "kube-node-lease"

int64_t kubelet_interval(const struct kubelet_options *options, size_t nodes)
{
	int64_t least = (int64_t)(nodes / BEATS_PER_SECOND);
	return options->heartbeat_seconds > least || options->heartbeat_seconds == 0 ? options->heartbeat_seconds
	                                                                             : least;
}

static int64_t phase(const struct kubelet_beat *beat, const char *node)
{
	return beat->nodes > TOGETHER ? (int64_t)(XXH3_64bits(node, strlen(node)) % (uint64_t)beat->interval) : 0;
}

/* The number of the beat a moment belongs to, and when a beat begins. */
static int64_t beat_of(const struct kubelet_beat *beat, const char *node, int64_t now)
{
	return (now - phase(beat, node)) / beat->interval;
}

static int64_t start_of(const struct kubelet_beat *beat, const char *node, int64_t number)
{
	return number * beat->interval + phase(beat, node);
}

static struct store_object *find_lease(struct reconcile *turn, const char *node)
{
	return store_peek(turn->store, store_type_find(turn->store, KINDS_COORDINATION, "leases"), LEASES, node);
}

bool kubelet_heard(struct reconcile *turn, const char *node, int64_t *when)
{
	struct store_object *lease = find_lease(turn, node);
	return lease && kubelet_read_time(val_path(lease->root, "spec", "renewTime", NULL), when);
}

/* ---- writing ---- */

static struct node *lease_node(struct build *build, const struct kubelet_beat *beat, const struct store_object *node,
                               int64_t now)
{
	struct node *root = build_map(build), *metadata = build_map(build), *owners = build_list(build);
	struct node *owner = build_map(build), *spec = build_map(build);
	char seconds[32], time[40];
	clock_print_rfc3339(now, seconds);
	snprintf(time, sizeof(time), "%.*s.000000Z", (int)strcspn(seconds, "Z"), seconds);
	build_put_string(build, owner, "apiVersion", "v1");
	build_put_string(build, owner, "kind", "Node");
	build_put_string(build, owner, "name", node->name);
	build_put_string(build, owner, "uid", node->uid);
	build_append(build, owners, owner);
	build_put_string(build, metadata, "name", node->name);
	build_put(build, metadata, "ownerReferences", owners);
	build_put_string(build, spec, "holderIdentity", node->name);
	build_put_int(build, spec, "leaseDurationSeconds", beat->interval * KUBELET_GRACE_BEATS);
	build_put_string(build, spec, "renewTime", time);
	build_put_string(build, root, "apiVersion", KINDS_COORDINATION "/v1");
	build_put_string(build, root, "kind", "Lease");
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", spec);
	return root;
}

static bool write_lease(struct reconcile *turn, const struct kubelet_beat *beat, const struct store_object *node,
                        int64_t now)
{
	struct build *build = build_create();
	struct doc *doc = build_finish(build, lease_node(build, beat, node, now));
	bool exists = find_lease(turn, node->name);
	struct store_request request = writes_create(store_type_find(turn->store, KINDS_COORDINATION, "leases")->apis,
	                                             LEASES, doc_root(doc), "kubelet");
	struct store_error ignored;
	if (exists) {
		request.verb = STORE_PATCH;
		request.patch = STORE_PATCH_MERGE;
		request.name = node->name;
	}
	bool good = writes_send(turn->store, &request, turn->arena, &ignored) == 0;
	doc_destroy(doc);
	build_destroy(build);
	return good;
}

/* The kubelet says once in a while that nothing has changed: all conditions stay what they are, with a new time. */
static void renew_conditions(struct reconcile *turn, const struct store_object *node, int64_t now)
{
	struct build *build = build_create();
	struct node *status = build_map(build), *list = build_list(build);
	const struct val *item;
	char time[32];
	clock_print_rfc3339(now, time);
	for (struct val_iter it = val_iter(val_path(node->root, "status", "conditions", NULL));
	     val_next(&it, NULL, &item);) {
		struct node *copy = build_copy(build, item);
		build_put_string(build, copy, "lastHeartbeatTime", time);
		if (!val_get(item, "lastTransitionTime"))
			build_put_string(build, copy, "lastTransitionTime", time);
		build_append(build, list, copy);
	}
	build_put(build, status, "conditions", list);
	writes_patch_status(turn->store, node, build, status);
	build_destroy(build);
}

void kubelet_renew(struct reconcile *turn, const struct kubelet_beat *beat, const struct store_object *node)
{
	int64_t now = turn->now_ns / CLOCK_SECOND, heard, said = 0, number = beat_of(beat, node->name, now);
	if ((!kubelet_heard(turn, node->name, &heard) || beat_of(beat, node->name, heard) != number) &&
	    !write_lease(turn, beat, node, now))
		kubelet_again(turn, now);
	const struct val *ready = kubelet_condition(node->root, "Ready");
	kubelet_read_time(val_get(ready, "lastHeartbeatTime"), &said);
	if (ready && beat_of(beat, node->name, now) - beat_of(beat, node->name, said) >= STATUS_BEATS)
		renew_conditions(turn, node, now);
	kubelet_again(turn, start_of(beat, node->name, number + 1));
}
