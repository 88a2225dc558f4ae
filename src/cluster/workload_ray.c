/* Owns RayClusters, and RayJobs and RayServices, which each make one. */
#include "cluster/workload_internal.h"
#include "kinds/names.h"

#include "base/vec.h"
#include "cluster/kubelet.h"

#include <stdlib.h>
#include <string.h>

#define LABEL "ray.io/"

/* ---- RayCluster ---- */

struct ray {
	struct workload *workload;
	VEC(struct child) pods;
	int64_t workers, minimum, maximum; /* replicas */
	bool suspended;
};

static struct child ray_pod(struct ray *ray, const char *name, const struct val *template_, const char *type,
                            const char *group)
{
	struct workload *workload = ray->workload;
	struct child pod = {
		.name = name,
		.template_ = template_,
		.role = strcmp(type, "worker") == 0,
		.when_ended = CHILD_REPLACE_ENDED,
	};
	child_label(&pod, LABEL "cluster", workload->object->name);
	child_label(&pod, LABEL "is-ray-node", "yes");
	child_label(&pod, LABEL "node-type", type);
	child_label(&pod, LABEL "group", group);
	return pod;
}

static void add_worker(struct ray *ray, const struct val *group, const char *name, int64_t replica, int64_t host,
                       bool many_hosts)
{
	struct arena *arena = ray->workload->arena;
	const char *cluster = ray->workload->object->name;
	const char *pod_name = many_hosts ? arena_printf(arena, "%s-%s-worker-%lld-%lld", cluster, name,
	                                                 (long long)replica, (long long)host)
	                                  : arena_printf(arena, "%s-%s-worker-%lld", cluster, name, (long long)replica);
	struct child pod = ray_pod(ray, pod_name, val_get(group, "template"), "worker", name);
	child_label_number(ray->workload, &pod, LABEL "worker-group-replica-index", replica);
	child_label_number(ray->workload, &pod, LABEL "replica-host-index", host);
	vec_push(&ray->pods, pod);
}

static void add_group(struct ray *ray, const struct val *group, size_t index)
{
	struct arena *arena = ray->workload->arena;
	const char *name = val_str(val_get(group, "groupName"), "");
	if (!*name)
		name = arena_printf(arena, "worker-group-%zu", index);
	int64_t minimum = workload_number(val_get(group, "minReplicas"), 0);
	int64_t maximum = workload_number(val_get(group, "maxReplicas"), WORKLOAD_MAX_PODS);
	int64_t replicas = workload_number(val_get(group, "replicas"), minimum);
	int64_t hosts = workload_number(val_get(group, "numOfHosts"), 1);
	replicas = replicas < minimum ? minimum : replicas > maximum ? maximum : replicas;
	ray->minimum += minimum;
	ray->maximum += maximum;
	if (val_bool(val_get(group, "suspend"), false) ||
	    val_kind(val_path(group, "template", "spec", NULL)) != VAL_MAP)
		return;
	ray->workers += replicas;
	for (int64_t i = 0; i < replicas; i++)
		for (int64_t h = 0; h < hosts && ray->pods.count < WORKLOAD_MAX_PODS; h++)
			add_worker(ray, group, name, i, h, hosts > 1);
}

static void list_pods(struct ray *ray)
{
	struct workload *workload = ray->workload;
	const struct val *head = val_path(workload->spec, "headGroupSpec", "template", NULL), *item;
	const char *name = arena_printf(workload->arena, "%s-head", workload->object->name);
	if (val_kind(val_get(head, "spec")) == VAL_MAP)
		vec_push(&ray->pods, ray_pod(ray, name, head, "head", "headgroup"));
	size_t index = 0;
	for (struct val_iter it = val_iter(val_get(workload->spec, "workerGroupSpecs")); val_next(&it, NULL, &item);)
		add_group(ray, item, index++);
}

static void write_cluster(struct ray *ray)
{
	struct workload *workload = ray->workload;
	struct build *build = workload->build;
	struct node *status = workload_status(workload);
	struct tally head = {0}, workers = {0};
	for (size_t i = 0; i < ray->pods.count; i++)
		tally_pod(ray->pods.items[i].role ? &workers : &head, ray->pods.items[i].pod);
	bool all = ray->pods.count > 0 && head.ready + workers.ready == (int64_t)ray->pods.count;
	struct condition conditions[] = {
		{"HeadPodReady", head.ready ? "True" : "False",
	         head.ready ? "HeadPodRunningAndReady" : "HeadPodNotReady", ""},
		{"RayClusterProvisioned", all ? "True" : "False",
	         all ? "AllPodRunningAndReadyFirstTime" : "RayClusterPodsProvisioning", ""},
		{"RayClusterSuspended", ray->suspended ? "True" : "False", "RayClusterSuspend", ""},
	};
	build_put_int(build, status, "desiredWorkerReplicas", ray->workers);
	build_put_int(build, status, "minWorkerReplicas", ray->minimum);
	build_put_int(build, status, "maxWorkerReplicas", ray->maximum);
	build_put_int(build, status, "availableWorkerReplicas", workers.active);
	build_put_int(build, status, "readyWorkerReplicas", workers.ready);
	build_put(build, status, "state",
	          ray->suspended ? build_string(build, "suspended")
	          : all          ? build_string(build, "ready")
	                         : build_null(build));
	workload_put_conditions(workload, status, conditions, 3);
	workload_write_status(workload, status);
}

int workload_ray_cluster(struct workload *workload)
{
	struct ray ray = {.workload = workload};
	ray.suspended = val_bool(val_get(workload->spec, "suspend"), false);
	list_pods(&ray);
	if (ray.suspended)
		workload_delete_pods(workload);
	else
		workload_settle(workload, ray.pods.items, ray.pods.count);
	write_cluster(&ray);
	vec_free(&ray.pods);
	return 0;
}

/* ---- RayJob, RayService ---- */

struct ray_kind {
	const char *cluster; /* where the spec of the cluster is */
	bool service;
};

const struct ray_kind ray_job = {"rayClusterSpec", false};
const struct ray_kind ray_service = {"rayClusterConfig", true};

static void put_service(struct workload *workload, struct node *status, const char *cluster, bool ready)
{
	struct build *build = workload->build;
	struct node *inner = build_map(build);
	struct condition condition = {"Ready", ready ? "True" : "False",
	                              ready ? "NonZeroServeEndpoints" : "ZeroServeEndpoints", ""};
	build_put_string(build, inner, "rayClusterName", cluster);
	build_put(build, status, ready ? "activeServiceStatus" : "pendingServiceStatus", inner);
	if (ready) {
		build_put(build, status, "pendingServiceStatus", build_null(build));
		build_put_string(build, status, "serviceStatus", "Running");
	}
	workload_put_conditions(workload, status, &condition, 1);
}

/* The job runs from the moment its cluster is ready, for as long as an annotation says. */
static void put_job(struct workload *workload, struct node *status, const char *cluster, bool ready)
{
	struct build *build = workload->build;
	const struct val *old = val_get(workload->root, "status");
	const char *text = val_str(val_path(workload->root, "metadata", "annotations", KUBELET_RUN_SECONDS, NULL), "");
	char now[32], *end = NULL;
	int64_t since = workload->now;
	clock_print_rfc3339(workload->now, now);
	bool started = workload_time(val_get(old, "startTime"), &since);
	long seconds = strtol(text, &end, 10);
	bool over = started && end != text && !*end && seconds >= 0 && workload->now - since >= seconds;
	if (started && !over && end != text && !*end)
		workload_again(workload, since + seconds - workload->now);
	build_put_string(build, status, "rayClusterName", cluster);
	if (ready && !started)
		build_put_string(build, status, "startTime", now);
	if (over)
		build_put_string(build, status, "endTime", now);
	build_put_string(build, status, "jobStatus", over ? "SUCCEEDED" : ready || started ? "RUNNING" : "PENDING");
	build_put_string(build, status, "jobDeploymentStatus",
	                 over               ? "Complete"
	                 : ready || started ? "Running"
	                                    : "Initializing");
}

int workload_ray_user(struct workload *workload)
{
	const struct ray_kind *kind = workload->controller->details;
	const struct val *spec = val_get(workload->spec, kind->cluster);
	bool suspended = val_bool(val_get(workload->spec, "suspend"), false);
	bool over =
		strcmp(val_str(val_path(workload->root, "status", "jobDeploymentStatus", NULL), ""), "Complete") == 0;
	bool clean = val_bool(val_get(workload->spec, "shutdownAfterJobFinishes"), false);
	struct store_list clusters;
	workload_others(workload, KINDS_RAY, "rayclusters", &clusters);
	struct child cluster = {
		.api_version = val_str(val_get(workload->root, "apiVersion"), ""),
		.kind = "RayCluster",
		.name = arena_printf(workload->arena, "%s-%.5s", workload->object->name,
	                             workload_hash(workload->arena, val_path(workload->root, "metadata", "uid", NULL),
	                                           0)),
		.spec = build_copy(workload->build, spec),
	};
	if (val_kind(spec) == VAL_MAP)
		workload_settle_list(workload, &clusters, &cluster, suspended || (over && clean) ? 0 : 1);
	bool ready =
		cluster.pod && strcmp(val_str(val_path(cluster.pod->root, "status", "state", NULL), ""), "ready") == 0;
	struct node *status = workload_status(workload);
	if (kind->service)
		put_service(workload, status, cluster.name, ready);
	else if (suspended)
		build_put_string(workload->build, status, "jobDeploymentStatus", "Suspended");
	else if (!over)
		put_job(workload, status, cluster.name, ready);
	workload_write_status(workload, status);
	store_list_clear(&clusters);
	return 0;
}
