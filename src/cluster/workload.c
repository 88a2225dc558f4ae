/* Owns the table of workload kinds and what makes each of them due: itself, its pods and its other children. */
#include "cluster/workload.h"
#include "kinds/names.h"

#include "base/hash.h"
#include "cluster/workload_internal.h"

#include <stdlib.h>
#include <string.h>

#define CREATIONS_PER_TURN 500 /* then others get their turn */

#define PODS 0 /* row of the pods: only those that a Job holds are due */

static const struct workload_kind kinds[] = {
	{"", "pods", "Pod", workload_tracked_pod, NULL, true},
	{"apps", "deployments", "Deployment", workload_deployment, NULL, false},
	{"apps", "replicasets", "ReplicaSet", workload_replica_set, NULL, true},
	{"apps", "statefulsets", "StatefulSet", workload_stateful_set, NULL, false},
	{"apps", "daemonsets", "DaemonSet", workload_daemon_set, NULL, false},
	{"batch", "cronjobs", "CronJob", workload_cron_job, NULL, false},
	{"batch", "jobs", "Job", workload_job, NULL, true},
	{KINDS_KUBEFLOW, "pytorchjobs", "PyTorchJob", workload_kubeflow, &kubeflow_pytorch, false},
	{KINDS_KUBEFLOW, "tfjobs", "TFJob", workload_kubeflow, &kubeflow_tf, false},
	{KINDS_KUBEFLOW, "mpijobs", "MPIJob", workload_kubeflow, &kubeflow_mpi, false},
	{KINDS_KUBEFLOW, "jaxjobs", "JAXJob", workload_kubeflow, &kubeflow_jax, false},
	{KINDS_KUBEFLOW, "xgboostjobs", "XGBoostJob", workload_kubeflow, &kubeflow_xgboost, false},
	{KINDS_JOBSET, "jobsets", "JobSet", workload_job_set, NULL, false},
	{KINDS_RAY, "rayclusters", "RayCluster", workload_ray_cluster, NULL, true},
	{KINDS_RAY, "rayjobs", "RayJob", workload_ray_user, &ray_job, false},
	{KINDS_RAY, "rayservices", "RayService", workload_ray_user, &ray_service, false},
	{KINDS_GROVE, "podcliquesets", "PodCliqueSet", workload_grove, NULL, false},
	{KINDS_GROVE, "podgangsets", "PodGangSet", workload_grove, NULL, false},
	{KINDS_LEADER_WORKER_SET, "leaderworkersets", "LeaderWorkerSet", workload_leader_worker_set, NULL, false},
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* A turn looks at all pods of its object. While they change, one after the other, large objects wait until there is more
 * to see: then what all turns cost together follows from the number of changes, and not from that times the size. */
#define LARGE 500           /* pods */
#define PAUSE_PER_POD 30000 /* nanoseconds between two turns */

struct pause {
	int64_t until;
	UT_hash_handle hh;
	char key[]; /* kind as bytes, namespace, NUL, name */
};

struct workloads {
	struct pause *pauses; /* of large objects; a cache that can be lost */
	struct store *store;
	struct reconciler *reconciler;
	struct reconciler_watch watches[KINDS + 1]; /* and nodes */
};

/* ---- what is due ---- */

static bool same_group(const char *api_version, const char *group)
{
	size_t length = strlen(group);
	return strncmp(api_version, group, length) == 0 && api_version[length] == '/';
}

static int kind_of(const char *group, const char *resource)
{
	int kind = 0;
	while (strcmp(kinds[kind].resource, resource) != 0 || strcmp(kinds[kind].group, group) != 0)
		kind++;
	return kind;
}

/* Wants the owner of a child, when it is one of ours. */
static void want_owner(struct reconciler *reconciler, const struct store_object *object)
{
	const struct val *reference;
	for (struct val_iter it = val_iter(val_path(object->root, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &reference);) {
		if (!val_bool(val_get(reference, "controller"), false))
			continue;
		const char *kind = val_str(val_get(reference, "kind"), "");
		const char *api_version = val_str(val_get(reference, "apiVersion"), "");
		for (size_t i = 0; i < KINDS; i++)
			if (strcmp(kinds[i].kind, kind) == 0 && same_group(api_version, kinds[i].group))
				reconciler_want(reconciler, (int)i, object->namespace_,
				                val_str(val_get(reference, "name"), ""));
	}
}

static void on_child(struct reconciler *reconciler, void *context, const struct store_object *object,
                     const struct store_object *old, bool deleted)
{
	(void)context;
	want_owner(reconciler, object);
	if (old)
		want_owner(reconciler, old);
	if (deleted)
		return;
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].is_child && strcmp(object->type->resource, kinds[i].resource) == 0 &&
		    strcmp(object->type->group, kinds[i].group) == 0 && (i != PODS || workload_job_holds(object)))
			reconciler_want(reconciler, (int)i, object->namespace_, object->name);
}

/* The pods of a Job that goes have to be let go. */
static void on_job(struct reconciler *reconciler, void *context, const struct store_object *object,
                   const struct store_object *old, bool deleted)
{
	struct workloads *workloads = context;
	on_child(reconciler, context, object, old, deleted);
	if (!deleted && !pod_leaving(object))
		return;
	struct store_list pods;
	store_dependents(workloads->store, object->uid, store_type_find(workloads->store, "", "pods"), &pods);
	for (size_t i = 0; i < pods.count; i++)
		reconciler_want(reconciler, PODS, pods.items[i]->namespace_, pods.items[i]->name);
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
	struct store_list_request request = {.api = store_api_find(workloads->store, "apps", "v1", "daemonsets")};
	if (store_list(workloads->store, &request, &sets, arena, NULL) == 0)
		for (size_t i = 0; i < sets.count; i++)
			reconciler_want(reconciler, kind_of("apps", "daemonsets"), sets.items[i]->namespace_,
			                sets.items[i]->name);
	store_list_clear(&sets);
	arena_destroy(arena);
}

/* ---- one turn ---- */

/* Only what it controls: an object may be named as an owner without being the controller. */
static void drop_foreign(struct workload *workload)
{
	struct store_list *pods = &workload->pods;
	size_t kept = 0;
	for (size_t i = 0; i < pods->count; i++) {
		bool ours = false;
		const struct val *reference;
		for (struct val_iter it = val_iter(val_path(pods->items[i]->root, "metadata", "ownerReferences", NULL));
		     val_next(&it, NULL, &reference);)
			ours |= val_bool(val_get(reference, "controller"), false) &&
			        strcmp(val_str(val_get(reference, "uid"), ""), workload->object->uid) == 0;
		if (ours)
			pods->items[kept++] = pods->items[i];
		else
			store_object_release(pods->items[i]);
	}
	pods->count = kept;
}

static size_t write_key(const struct work_key *key, char *text)
{
	size_t space = strlen(key->namespace_) + 1, name = strlen(key->name);
	memcpy(text, &key->kind, sizeof(key->kind));
	memcpy(text + sizeof(key->kind), key->namespace_, space);
	memcpy(text + sizeof(key->kind) + space, key->name, name);
	return sizeof(key->kind) + space + name;
}

static struct pause *find_pause(struct workloads *workloads, const struct reconcile *turn)
{
	if (!workloads->pauses)
		return NULL;
	char *text = arena_alloc(turn->arena, sizeof(int) + strlen(turn->key.namespace_) + strlen(turn->key.name) + 1);
	size_t length = write_key(&turn->key, text);
	struct pause *pause;
	HASH_FIND(hh, workloads->pauses, text, length, pause);
	return pause;
}

static void drop_pause(struct workloads *workloads, struct pause *pause)
{
	HASH_DEL(workloads->pauses, pause);
	free(pause);
}

/* Whether it is too early for another turn; it gets one when it is time. */
static bool is_paused(struct workloads *workloads, struct reconcile *turn)
{
	struct pause *pause = find_pause(workloads, turn);
	if (!pause)
		return false;
	int64_t left = pause->until - turn->now_ns;
	if (left > 0 && left <= (int64_t)WORKLOAD_MAX_PODS * PAUSE_PER_POD) {
		turn->again_ns = left;
		return true;
	}
	drop_pause(workloads, pause);
	return false;
}

static void pause_after(struct workloads *workloads, const struct reconcile *turn, size_t pods)
{
	if (pods <= LARGE || turn->again_ns == 1)
		return;
	struct pause *pause = base_calloc(1, sizeof(*pause) + sizeof(int) + strlen(turn->key.namespace_) +
	                                             strlen(turn->key.name) + 2);
	size_t length = write_key(&turn->key, pause->key);
	pause->until = turn->now_ns + (int64_t)pods * PAUSE_PER_POD;
	HASH_ADD(hh, workloads->pauses, key, length, pause);
}

static int reconcile(void *context, struct reconcile *turn)
{
	struct workloads *workloads = context;
	if (is_paused(workloads, turn))
		return 0;
	const struct workload_kind *kind = &kinds[turn->key.kind];
	const struct store_type *type = store_type_find(turn->store, kind->group, kind->resource);
	struct store_object *object = type ? store_peek(turn->store, type, turn->key.namespace_, turn->key.name) : NULL;
	/* Children of what is being deleted are the business of the garbage collection. */
	if (!object || (pod_leaving(object) && turn->key.kind != PODS))
		return 0;
	struct workload workload = {
		.turn = turn,
		.store = turn->store,
		.arena = turn->arena,
		.build = build_create(),
		.kind = kind,
		.object = store_object_retain(object),
		.root = object->root,
		.spec = val_get(object->root, "spec"),
		.now = turn->now_ns / CLOCK_SECOND,
		.room = CREATIONS_PER_TURN,
	};
	store_dependents(turn->store, object->uid, store_type_find(turn->store, "", "pods"), &workload.pods);
	/* A large one grows faster: looking at all of its pods for each portion must not become the work. */
	if (workload.pods.count / 4 > workload.room)
		workload.room = workload.pods.count / 4;
	drop_foreign(&workload);
	int rc = kind->reconcile(&workload);
	if (workload.room == 0)
		turn->again_ns = 1;
	pause_after(workloads, turn, workload.pods.count);
	store_list_clear(&workload.pods);
	store_object_release(workload.object);
	build_destroy(workload.build);
	return workload.failed ? -1 : rc;
}

struct workloads *workloads_create(const struct workloads_options *options)
{
	struct workloads *workloads = base_calloc(1, sizeof(*workloads));
	workloads->store = options->store;
	for (size_t i = 0; i < KINDS; i++)
		workloads->watches[i] = (struct reconciler_watch){
			.group = kinds[i].group,
			.resource = kinds[i].resource,
			.kind = (int)i,
			.map = kinds[i].reconcile == workload_job ? on_job
		               : kinds[i].is_child                ? on_child
		                                                  : NULL,
		};
	workloads->watches[KINDS] = (struct reconciler_watch){.group = "", .resource = "nodes", .map = on_node};
	workloads->reconciler = reconciler_create(&(struct reconciler_options){
		.name = "workloads",
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.watches = workloads->watches,
		.watch_count = KINDS + 1,
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
	struct pause *pause, *next;
	HASH_ITER(hh, workloads->pauses, pause, next)
		drop_pause(workloads, pause);
	free(workloads);
}

int workloads_step(struct workloads *workloads)
{
	return reconciler_step(workloads->reconciler);
}

bool workloads_know(const char *api_version, const char *kind)
{
	for (size_t i = PODS + 1; i < KINDS; i++)
		if (strcmp(kinds[i].kind, kind) == 0 && same_group(api_version, kinds[i].group))
			return true;
	return false;
}
