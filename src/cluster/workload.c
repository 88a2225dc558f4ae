/* Owns the table of controllers and what makes each workload due: itself, its pods and its other children. Which kinds
 * there are, and which of them others make too, stands in the registry. */
#include "cluster/workload.h"

#include "base/hash.h"
#include "base/vec.h"
#include "cluster/workload_internal.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

/* Of all objects together in one step, then others get their turn. */
#define CREATIONS_PER_STEP 100
#define PODS_PER_STEP 20000 /* that are looked at */
/* Until the next step. Who had no turn in this one comes before who had one and wants more. */
#define PUT_OFF_NS 1
#define MORE_NS 2

/* A kind with a simulator that is missing here has no controller, which test/kinds finds. */
static const struct workload_controller controllers[] = {
	{SIMULATE_POD, workload_tracked_pod, NULL}, /* only those that a Job holds are due */
	{SIMULATE_DEPLOYMENT, workload_deployment, NULL},
	{SIMULATE_REPLICA_SET, workload_replica_set, NULL},
	{SIMULATE_STATEFUL_SET, workload_stateful_set, NULL},
	{SIMULATE_DAEMON_SET, workload_daemon_set, NULL},
	{SIMULATE_CRON_JOB, workload_cron_job, NULL},
	{SIMULATE_JOB, workload_job, NULL},
	{SIMULATE_PYTORCH_JOB, workload_kubeflow, &kubeflow_pytorch},
	{SIMULATE_TF_JOB, workload_kubeflow, &kubeflow_tf},
	{SIMULATE_MPI_JOB, workload_kubeflow, &kubeflow_mpi},
	{SIMULATE_JAX_JOB, workload_kubeflow, &kubeflow_jax},
	{SIMULATE_XGBOOST_JOB, workload_kubeflow, &kubeflow_xgboost},
	{SIMULATE_JOB_SET, workload_job_set, NULL},
	{SIMULATE_RAY_CLUSTER, workload_ray_cluster, NULL},
	{SIMULATE_RAY_JOB, workload_ray_user, &ray_job},
	{SIMULATE_RAY_SERVICE, workload_ray_user, &ray_service},
	{SIMULATE_GROVE, workload_grove, NULL},
	{SIMULATE_LEADER_WORKER_SET, workload_leader_worker_set, NULL},
};

#define CONTROLLERS (sizeof(controllers) / sizeof(*controllers))

/* A turn looks at all pods of its object. While they change, one after the other, large objects wait until there is more
 * to see: then what all turns cost together follows from the number of changes, and not from that times the size. */
#define LARGE 500           /* pods */
#define PAUSE_PER_POD 30000 /* nanoseconds between two turns */

/* What is known of a large object; a cache that can be lost. */
struct large {
	int64_t until;          /* no turn before that */
	struct store_list pods; /* as they were in its last turn, by name */
	struct pod_look *looks; /* and what was seen of each */
	UT_hash_handle hh;
	char key[]; /* kind as bytes, namespace, NUL, name */
};

/* One kind that is simulated; its place is the kind in keys of work. */
struct simulated {
	const struct kind_row *row;
	const struct workload_controller *controller;
};

struct workloads {
	struct large *large;
	struct store *store;
	struct reconciler *reconciler;
	VEC(struct simulated) kinds;          /* in the order of the controllers */
	VEC(struct reconciler_watch) watches; /* of these, and of nodes */
	size_t room, looks;                   /* creations and looks at pods that are left in this step */
};

/* ---- what is due ---- */

/* The first of those that this controller plays; it is one of the table. */
static int kind_of(const struct workloads *workloads, enum kind_simulator simulator)
{
	int kind = 0;
	while (workloads->kinds.items[kind].controller->simulator != simulator)
		kind++;
	return kind;
}

/* Its place among what is simulated, -1 when it is not. */
static int kind_of_row(const struct workloads *workloads, const struct kind_row *row)
{
	for (size_t i = 0; row && i < workloads->kinds.count; i++)
		if (workloads->kinds.items[i].row == row)
			return (int)i;
	return -1;
}

/* Wants the owner of a child, when it is one of ours. */
static void want_owner(struct reconciler *reconciler, const struct workloads *workloads,
                       const struct store_object *object)
{
	const struct val *reference = metadata_controller(object->root);
	const struct kind_row *row = reference ? kinds_find(val_str(val_get(reference, "apiVersion"), ""),
	                                                    val_str(val_get(reference, "kind"), ""))
	                                       : NULL;
	int kind = row ? kind_of_row(workloads, row) : -1;
	if (kind >= 0 && row->simulator != SIMULATE_POD)
		reconciler_want(reconciler, kind, object->namespace_, val_str(val_get(reference, "name"), ""));
}

static void on_child(struct reconciler *reconciler, void *context, const struct store_object *object,
                     const struct store_object *old, bool deleted)
{
	const struct workloads *workloads = context;
	want_owner(reconciler, workloads, object);
	if (old)
		want_owner(reconciler, workloads, old);
	if (deleted)
		return;
	const struct kind_row *row = kinds_resource(object->type->group, object->type->resource);
	int kind = kind_of_row(workloads, row);
	if (kind >= 0 && (row->simulator != SIMULATE_POD || workload_job_holds(object)))
		reconciler_want(reconciler, kind, object->namespace_, object->name);
}

/* The pods of a Job that goes have to be let go. */
static void on_job(struct reconciler *reconciler, void *context, const struct store_object *object,
                   const struct store_object *old, bool deleted)
{
	struct workloads *workloads = context;
	on_child(reconciler, context, object, old, deleted);
	if (!deleted && !metadata_is_leaving(object->root))
		return;
	struct store_list pods;
	store_dependents(workloads->store, object->uid, store_type_find(workloads->store, "", "pods"), &pods);
	for (size_t i = 0; i < pods.count; i++)
		reconciler_want(reconciler, kind_of(workloads, SIMULATE_POD), pods.items[i]->namespace_,
		                pods.items[i]->name);
	store_list_clear(&pods);
}

/* A node that comes, goes, or is another one for those that choose by labels and taints: DaemonSets look. */
static void on_node(struct reconciler *reconciler, void *context, const struct store_object *object,
                    const struct store_object *old, bool deleted)
{
	struct workloads *workloads = context;
	if (old && !deleted &&
	    val_equal(val_path(object->root, "metadata", "labels", NULL),
	              val_path(old->root, "metadata", "labels", NULL)) &&
	    val_equal(val_path(object->root, "spec", "taints", NULL), val_path(old->root, "spec", "taints", NULL)))
		return;
	struct arena *arena = arena_create();
	struct store_list sets = {0};
	struct store_list_request request = {.api = store_api_find(workloads->store, KINDS_APPS, "v1", "daemonsets")};
	if (store_list(workloads->store, &request, &sets, arena, NULL) == 0)
		for (size_t i = 0; i < sets.count; i++)
			reconciler_want(reconciler, kind_of(workloads, SIMULATE_DAEMON_SET), sets.items[i]->namespace_,
			                sets.items[i]->name);
	store_list_clear(&sets);
	arena_destroy(arena);
}

/* ---- one turn ---- */

static size_t write_key(const struct work_key *key, char *text)
{
	size_t space = strlen(key->namespace_) + 1, name = strlen(key->name);
	memcpy(text, &key->kind, sizeof(key->kind));
	memcpy(text + sizeof(key->kind), key->namespace_, space);
	memcpy(text + sizeof(key->kind) + space, key->name, name);
	return sizeof(key->kind) + space + name;
}

static struct large *find_large(struct workloads *workloads, const struct reconcile *turn)
{
	if (!workloads->large)
		return NULL;
	char *text = arena_alloc(turn->arena, sizeof(int) + strlen(turn->key.namespace_) + strlen(turn->key.name) + 1);
	size_t length = write_key(&turn->key, text);
	struct large *large;
	HASH_FIND(hh, workloads->large, text, length, large);
	return large;
}

static void drop_large(struct workloads *workloads, struct large *large)
{
	if (!large)
		return;
	HASH_DEL(workloads->large, large);
	store_list_clear(&large->pods);
	free(large->looks);
	free(large);
}

/* Whether it is too early for another turn; it gets one when it is time. */
static bool is_paused(const struct large *large, struct reconcile *turn)
{
	int64_t left = large ? large->until - turn->now_ns : 0;
	if (left <= 0 || left > (int64_t)WORKLOAD_MAX_PODS * PAUSE_PER_POD)
		return false;
	turn->again_ns = left;
	return true;
}

/* Takes pods and looks over from the turn. */
static void keep_large(struct workloads *workloads, const struct reconcile *turn, struct workload *workload)
{
	struct large *large = base_calloc(1, sizeof(*large) + sizeof(int) + strlen(turn->key.namespace_) +
	                                             strlen(turn->key.name) + 2);
	size_t length = write_key(&turn->key, large->key);
	large->until = turn->again_ns == MORE_NS ? 0 : turn->now_ns + (int64_t)workload->pods.count * PAUSE_PER_POD;
	large->pods = workload->pods;
	large->looks = workload->looks;
	HASH_ADD(hh, workloads->large, key, length, large);
}

static struct pod_look look_at(const struct store_object *pod, const char *owner)
{
	const struct val *controller = metadata_controller(pod->root);
	enum pod_state state = pod_state(pod);
	return (struct pod_look){
		.state = state,
		.ready = pod_ready(pod),
		.leaving = metadata_is_leaving(pod->root),
		.restarts = state == POD_RUNNING ? pod_restarts(pod) : 0,
		.foreign = !controller || strcmp(val_str(val_get(controller, "uid"), ""), owner) != 0,
	};
}

/* The pods of the object and a look at each. Those of an unchanged version were looked at before. Only what it controls stays in
 * the list: an object may be named as an owner without being the controller. */
static void list_pods(struct workload *workload, const struct large *before)
{
	struct store_list *pods = &workload->pods;
	size_t kept = 0, old = 0, old_count = before ? before->pods.count : 0;
	store_dependents(workload->store, workload->object->uid, store_type_find(workload->store, "", "pods"), pods);
	workload->looks = base_calloc(pods->count, sizeof(*workload->looks));
	for (size_t i = 0; i < pods->count; i++) {
		struct store_object *pod = pods->items[i];
		while (old < old_count && before->pods.items[old] != pod &&
		       strcmp(before->pods.items[old]->name, pod->name) < 0)
			old++;
		struct pod_look look = old < old_count && before->pods.items[old] == pod
		                               ? before->looks[old++]
		                               : look_at(pod, workload->object->uid);
		if (look.foreign) {
			store_object_release(pod);
			continue;
		}
		workload->looks[kept] = look;
		pods->items[kept++] = pod;
	}
	pods->count = kept;
}

static int reconcile(void *context, struct reconcile *turn)
{
	struct workloads *workloads = context;
	struct large *before = find_large(workloads, turn);
	if (is_paused(before, turn))
		return 0;
	if (workloads->room == 0 || workloads->looks == 0) {
		turn->again_ns = PUT_OFF_NS;
		return 0;
	}
	const struct simulated *kind = &workloads->kinds.items[turn->key.kind];
	const struct store_type *type = store_type_find(turn->store, kind->row->group, kind->row->resource);
	struct store_object *object = type ? store_peek(turn->store, type, turn->key.namespace_, turn->key.name) : NULL;
	/* Children of what is being deleted are the business of the garbage collection. */
	if (!object || (metadata_is_leaving(object->root) && kind->row->simulator != SIMULATE_POD)) {
		drop_large(workloads, before);
		return 0;
	}
	struct workload workload = {
		.turn = turn,
		.store = turn->store,
		.arena = turn->arena,
		.build = build_create(),
		.kind = kind->row,
		.controller = kind->controller,
		.object = store_object_retain(object),
		.root = object->root,
		.spec = val_get(object->root, "spec"),
		.now = turn->now_ns / CLOCK_SECOND,
		.room = workloads->room,
	};
	list_pods(&workload, before);
	drop_large(workloads, before);
	workloads->looks -= workload.pods.count < workloads->looks ? workload.pods.count : workloads->looks;
	/* Those who have names of this series have the first ones, mostly. */
	workload.salt = workload.pods.count > LARGE ? workload.pods.count : 0;
	int rc = kind->controller->reconcile(&workload);
	workloads->room = workload.room;
	if (workload.room == 0)
		turn->again_ns = MORE_NS;
	if (workload.pods.count > LARGE) {
		keep_large(workloads, turn, &workload);
	} else {
		store_list_clear(&workload.pods);
		free(workload.looks);
	}
	store_object_release(workload.object);
	build_destroy(workload.build);
	return workload.failed ? -1 : rc;
}

static void add_kinds(struct workloads *workloads, const struct workload_controller *controller)
{
	const struct kind_row *row;
	for (size_t i = 0; (row = kinds_row(i)); i++) {
		if (row->simulator != controller->simulator)
			continue;
		vec_push(&workloads->watches, ((struct reconciler_watch){
						      .group = row->group,
						      .resource = row->resource,
						      .kind = (int)workloads->kinds.count,
						      .map = row->simulator == SIMULATE_JOB ? on_job
		                                             : row->flags & ROW_CHILD       ? on_child
		                                                                            : NULL,
					      }));
		vec_push(&workloads->kinds, ((struct simulated){row, controller}));
	}
}

struct workloads *workloads_create(const struct workloads_options *options)
{
	struct workloads *workloads = base_calloc(1, sizeof(*workloads));
	workloads->store = options->store;
	for (size_t i = 0; i < CONTROLLERS; i++)
		add_kinds(workloads, &controllers[i]);
	vec_push(&workloads->watches, ((struct reconciler_watch){.group = "", .resource = "nodes", .map = on_node}));
	workloads->reconciler = reconciler_create(&(struct reconciler_options){
		.name = "workloads",
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.watches = workloads->watches.items,
		.watch_count = workloads->watches.count,
		.reconcile = reconcile,
		.context = workloads,
	});
	return workloads;
}

void workloads_destroy(struct workloads *workloads)
{
	if (!workloads)
		return;
	reconciler_destroy(workloads->reconciler);
	struct large *large, *next;
	HASH_ITER(hh, workloads->large, large, next)
		drop_large(workloads, large);
	vec_free(&workloads->kinds);
	vec_free(&workloads->watches);
	free(workloads);
}

int workloads_step(struct workloads *workloads)
{
	workloads->room = CREATIONS_PER_STEP;
	workloads->looks = PODS_PER_STEP;
	return reconciler_step(workloads->reconciler);
}

bool workloads_know(const char *api_version, const char *kind)
{
	const struct kind_row *row = kinds_find(api_version, kind);
	for (size_t i = 0; row && row->simulator != SIMULATE_POD && i < CONTROLLERS; i++)
		if (controllers[i].simulator == row->simulator)
			return true;
	return false;
}
