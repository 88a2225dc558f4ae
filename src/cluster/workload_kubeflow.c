/* Owns the training jobs of Kubeflow: PyTorchJob, TFJob, MPIJob, JAXJob, XGBoostJob. All have a map of roles with
 * replicas and a template each; a pod is called <job>-<role>-<index>. */
#include "cluster/workload_internal.h"

#include "base/vec.h"
#include "cluster/workload_kubeflow.h"
#include "object/metadata.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LABEL "training.kubeflow.org/"
#define MAX_ROLES 16

const struct kubeflow_kind kubeflow_pytorch = {
	"pytorchReplicaSpecs", "pytorchjob-controller", "OnFailure", {"master", NULL}, false};
const struct kubeflow_kind kubeflow_tf = {
	"tfReplicaSpecs", "tfjob-controller", "Never", {"chief", "master", NULL}, false};
const struct kubeflow_kind kubeflow_mpi = {"mpiReplicaSpecs", "mpijob-controller", "Never", {"launcher", NULL}, false};
const struct kubeflow_kind kubeflow_jax = {"jaxReplicaSpecs", "jaxjob-controller", "OnFailure", {NULL}, true};
const struct kubeflow_kind kubeflow_xgboost = {
	"xgbReplicaSpecs", "xgboostjob-controller", "Never", {"master", NULL}, false};

struct role {
	const char *key, *name, *restart;
	const struct val *template_;
	int64_t replicas;
	size_t first; /* of its children */
	struct tally tally;
};

struct training {
	struct workload *workload;
	const struct kubeflow_kind *kind;
	struct role roles[MAX_ROLES];
	size_t role_count;
	VEC(struct child) pods;
	/* The launcher of an MPIJob of the newer API is a Job. */
	bool by_job;
	struct child launcher;
	struct store_list jobs;
	const char *failed; /* why the job failed */
	bool restarting;
};

static const char *lower(struct arena *arena, const char *text)
{
	char *copy = arena_strdup(arena, text);
	for (char *at = copy; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return copy;
}

/* ---- what is wanted ---- */

static void read_roles(struct training *training)
{
	struct workload *workload = training->workload;
	const char *key;
	const struct val *specs = val_get(workload->spec, training->kind->specs), *item;
	if (val_kind(specs) != VAL_MAP)
		return;
	for (struct val_iter it = val_iter(specs); val_next(&it, &key, &item) && training->role_count < MAX_ROLES;) {
		if (val_kind(val_path(item, "template", "spec", NULL)) != VAL_MAP)
			continue;
		training->roles[training->role_count++] = (struct role){
			.key = key,
			.name = lower(workload->arena, key),
			.restart = val_str(val_get(item, "restartPolicy"), training->kind->restart),
			.template_ = val_get(item, "template"),
			.replicas = workload_number(val_get(item, "replicas"), 1),
		};
	}
}

/* A role without a number has one replica. It is written down, as the originals do: others read it from there. */
static void write_replicas(struct training *training)
{
	struct workload *workload = training->workload;
	struct build *build = workload->build;
	struct node *body = build_map(build), *spec = build_map(build), *specs = build_map(build);
	bool missing = false;
	for (size_t i = 0; i < training->role_count; i++) {
		const char *key = training->roles[i].key;
		if (val_kind(val_path(workload->spec, training->kind->specs, key, "replicas", NULL)) != VAL_NULL)
			continue;
		struct node *role = build_map(build);
		build_put_int(build, role, "replicas", 1);
		build_put(build, specs, key, role);
		missing = true;
	}
	build_put(build, spec, training->kind->specs, specs);
	build_put(build, body, "spec", spec);
	if (missing)
		workload_patch(workload, workload->object, STORE_MAIN, body);
}

/* Which role decides that the job is done; NULL: all pods together. */
static struct role *deciding_role(struct training *training)
{
	for (const char *const *name = training->kind->deciders; *name; name++)
		for (size_t i = 0; i < training->role_count; i++)
			if (strcmp(training->roles[i].name, *name) == 0 && training->roles[i].replicas > 0)
				return &training->roles[i];
	return NULL;
}

static struct child role_pod(struct training *training, int role_index, int64_t index)
{
	struct workload *workload = training->workload;
	const struct role *role = &training->roles[role_index];
	const char *name = workload->object->name;
	bool launcher = strcmp(role->name, "launcher") == 0;
	struct child pod = {
		.name = launcher ? arena_printf(workload->arena, "%s-launcher", name)
	                         : arena_printf(workload->arena, "%s-%s-%lld", name, role->name, (long long)index),
		.template_ = role->template_,
		.role = role_index,
		/* Exit codes are judged here, so the kubelet leaves the containers alone. */
		.restart_policy = strcmp(role->restart, "ExitCode") == 0 ? "Never" : role->restart,
	};
	child_label(&pod, LABEL "job-name", name);
	child_label(&pod, LABEL "operator-name", training->kind->operator_);
	child_label(&pod, LABEL "replica-type", role->name);
	child_label_number(workload, &pod, LABEL "replica-index", index);
	if (training->kind == &kubeflow_mpi)
		child_label(&pod, LABEL "job-role", role->name);
	else if (role == deciding_role(training))
		child_label(&pod, LABEL "job-role", "master");
	return pod;
}

static bool is_launcher_job(const struct training *training, const struct role *role)
{
	return training->by_job && strcmp(role->name, "launcher") == 0;
}

static void plan_launcher_job(struct training *training, int role_index)
{
	struct workload *workload = training->workload;
	struct build *build = workload->build;
	struct child pod = role_pod(training, role_index, 0);
	struct node *template_ = child_template(workload, pod.template_, &pod), *spec = build_map(build);
	struct node *pod_spec = build_copy(build, val_get(pod.template_, "spec"));
	/* A Job has pods that end. */
	build_put_string(build, pod_spec, "restartPolicy",
	                 strcmp(pod.restart_policy, "OnFailure") == 0 ? "OnFailure" : "Never");
	build_put(build, template_, "spec", pod_spec);
	build_put(build, spec, "template", template_);
	int64_t limit;
	if (val_int(val_path(workload->spec, "runPolicy", "backoffLimit", NULL), &limit) == 0)
		build_put_int(build, spec, "backoffLimit", limit);
	training->launcher = pod;
	training->launcher.api_version = KINDS_BATCH "/v1";
	training->launcher.kind = "Job";
	training->launcher.template_ = NULL;
	training->launcher.spec = spec;
}

static void list_pods(struct training *training)
{
	int64_t room = WORKLOAD_MAX_PODS;
	for (size_t r = 0; r < training->role_count; r++) {
		training->roles[r].first = training->pods.count;
		if (is_launcher_job(training, &training->roles[r])) {
			plan_launcher_job(training, (int)r);
			continue;
		}
		for (int64_t i = 0; i < training->roles[r].replicas && room > 0; i++, room--)
			vec_push(&training->pods, role_pod(training, (int)r, i));
	}
}

/* The launcher of an MPIJob may wait for its workers. */
static void hold_launcher(struct training *training)
{
	struct workload *workload = training->workload;
	if (strcmp(val_str(val_get(workload->spec, "launcherCreationPolicy"), ""), "WaitForWorkersReady") != 0)
		return;
	bool ready = true;
	for (size_t i = 0; i < training->pods.count; i++) {
		struct child *child = &training->pods.items[i];
		struct store_object *pod = workload_find(&workload->pods, child->name);
		if (strcmp(training->roles[child->role].name, "worker") == 0)
			ready &= pod && (pod_ready(pod) || pod_state(pod) == POD_SUCCEEDED);
	}
	for (size_t i = 0; i < training->pods.count; i++)
		if (strcmp(training->roles[training->pods.items[i].role].name, "launcher") == 0)
			training->pods.items[i].hold = !ready;
	training->launcher.hold = !ready;
}

/* ---- how it goes ---- */

/* A failed pod fails the job, or is replaced. */
static void judge_pods(struct training *training)
{
	struct workload *workload = training->workload;
	for (size_t i = 0; i < training->pods.count; i++) {
		struct child *child = &training->pods.items[i];
		struct role *role = &training->roles[child->role];
		const struct store_object *pod = workload_find(&workload->pods, child->name);
		tally_pod(&role->tally, pod);
		if (!pod || pod_state(pod) != POD_FAILED || metadata_is_leaving(pod->root))
			continue;
		int64_t code = pod_exit_code(pod);
		bool lost = code == 0; /* with its node */
		bool retry = strcmp(role->restart, "Never") != 0 &&
		             (strcmp(role->restart, "ExitCode") != 0 || lost || code >= 128);
		if (retry) {
			child->when_ended = CHILD_REPLACE_FAILED;
			training->restarting = true;
		} else if (!training->failed) {
			training->failed =
				arena_printf(workload->arena, "%s %s failed because %s replica %s failed.",
			                     workload->kind->kind, workload->object->name, role->key, child->name);
		}
	}
}

static void judge_launcher_job(struct training *training)
{
	const struct store_object *job =
		training->launcher.name ? workload_find(&training->jobs, training->launcher.name) : NULL;
	if (!job)
		return;
	struct role *role = &training->roles[training->launcher.role];
	const struct val *status = val_get(job->root, "status");
	role->tally = (struct tally){
		.active = workload_number(val_get(status, "active"), 0),
		.ready = workload_number(val_get(status, "ready"), 0),
		.succeeded = workload_condition(job->root, "Complete") ? role->replicas : 0,
		.failed = workload_number(val_get(status, "failed"), 0),
	};
	if (workload_condition(job->root, "Failed") && !training->failed)
		training->failed =
			arena_printf(training->workload->arena, "%s %s failed because its launcher %s failed.",
		                     training->workload->kind->kind, training->workload->object->name, job->name);
}

static void judge_backoff(struct training *training)
{
	int64_t limit = 0, restarts = 0;
	for (size_t i = 0; i < training->role_count; i++)
		restarts += training->roles[i].tally.restarts;
	if (val_int(val_path(training->workload->spec, "runPolicy", "backoffLimit", NULL), &limit) == 0 &&
	    restarts > limit && !training->failed)
		training->failed = "the job has restarted its containers more often than backoffLimit allows";
}

static bool has_succeeded(struct training *training)
{
	struct role *decider = deciding_role(training);
	int64_t replicas = 0, succeeded = 0;
	if (decider)
		return decider->tally.succeeded >= decider->replicas;
	for (size_t i = 0; i < training->role_count; i++) {
		struct role *role = &training->roles[i];
		replicas += role->replicas;
		succeeded += role->tally.succeeded;
		/* Without a chief the first worker stands for it, unless all are asked for. */
		if (!training->kind->all_succeed && strcmp(role->name, "worker") == 0 && role->replicas > 0 &&
		    strcmp(val_str(val_get(training->workload->spec, "successPolicy"), ""), "AllWorkers") != 0) {
			struct store_object *first =
				workload_find(&training->workload->pods, training->pods.items[role->first].name);
			return first && pod_state(first) == POD_SUCCEEDED;
		}
	}
	return replicas > 0 && succeeded >= replicas;
}

/* ---- status ---- */

static void put_roles(struct training *training, struct node *status)
{
	struct workload *workload = training->workload;
	struct build *build = workload->build;
	struct node *map = build_map(build);
	for (size_t i = 0; i < training->role_count; i++) {
		struct role *role = &training->roles[i];
		struct node *counts = build_map(build);
		build_put_int(build, counts, "active", role->tally.active);
		build_put_int(build, counts, "succeeded", role->tally.succeeded);
		build_put_int(build, counts, "failed", role->tally.failed);
		build_put_string(build, counts, "selector",
		                 arena_printf(workload->arena,
		                              LABEL "job-name=%s," LABEL "operator-name=%s," LABEL "replica-type=%s",
		                              workload->object->name, training->kind->operator_, role->name));
		build_put(build, map, role->key, counts);
	}
	build_put(build, status, "replicaStatuses", map);
}

static struct condition condition(struct training *training, const char *type, bool yes, const char *message)
{
	return (struct condition){
		.type = type,
		.status = yes ? "True" : "False",
		.reason = arena_printf(training->workload->arena, "%s%s", training->workload->kind->kind, type),
		.message = message,
	};
}

/* The newest state stands last: that is what kubectl shows. */
static size_t list_conditions(struct training *training, bool suspended, bool succeeded, struct condition *out)
{
	struct workload *workload = training->workload;
	const struct val *root = workload->root;
	const char *name = workload->object->name;
	size_t count = 0;
	bool all_active = true;
	for (size_t i = 0; i < training->role_count; i++) {
		struct role *role = &training->roles[i];
		all_active &= role->tally.ready + role->tally.succeeded >= role->replicas;
	}
	if (val_count(val_path(root, "status", "conditions", NULL)) == 0)
		out[count++] =
			condition(training, "Created", true, arena_printf(workload->arena, "%s is created.", name));
	bool was_running = workload_condition(root, "Running"), running = was_running || all_active;
	if (succeeded || training->failed || suspended || training->restarting)
		running = false;
	if (running != was_running && !running)
		out[count++] =
			condition(training, "Running", false, arena_printf(workload->arena, "%s runs no more.", name));
	if (training->restarting)
		out[count++] = condition(training, "Restarting", true,
		                         arena_printf(workload->arena, "%s replaces pods.", name));
	else if (workload_condition(root, "Restarting"))
		out[count++] = condition(training, "Restarting", false,
		                         arena_printf(workload->arena, "%s has its pods.", name));
	if (suspended != workload_condition(root, "Suspended"))
		out[count++] = condition(training, "Suspended", suspended,
		                         arena_printf(workload->arena, "%s is %s.", name,
		                                      suspended ? "suspended" : "resumed"));
	if (running && !was_running)
		out[count++] =
			condition(training, "Running", true, arena_printf(workload->arena, "%s is running.", name));
	if (succeeded)
		out[count++] = condition(training, "Succeeded", true,
		                         arena_printf(workload->arena, "%s successfully completed.", name));
	else if (training->failed)
		out[count++] = condition(training, "Failed", true, training->failed);
	return count;
}

static void write_status(struct training *training, bool suspended, bool succeeded)
{
	struct workload *workload = training->workload;
	struct node *status = workload_status(workload);
	char now[32];
	clock_print_rfc3339(workload->now, now);
	bool started = val_kind(val_path(workload->root, "status", "startTime", NULL)) == VAL_STRING;
	if (!suspended && !started)
		build_put_string(workload->build, status, "startTime", now);
	else if (suspended && started)
		build_put(workload->build, status, "startTime", build_null(workload->build));
	if (succeeded || training->failed)
		build_put_string(workload->build, status, "completionTime", now);
	put_roles(training, status);
	struct condition conditions[8];
	size_t count = list_conditions(training, suspended, succeeded, conditions);
	if (count > 0)
		workload_put_conditions(workload, status, conditions, count);
	workload_write_status(workload, status);
}

/* ---- the job ---- */

/* What stays of a job that ended: cleanPodPolicy says. */
static void clean_up(struct training *training, bool failed)
{
	struct workload *workload = training->workload;
	const struct val *policy = val_get(workload->spec, "runPolicy");
	const char *clean = val_str(val_get(policy, "cleanPodPolicy"), "None");
	for (size_t i = workload->pods.count; i-- > 0;) {
		enum pod_state state = pod_state(workload->pods.items[i]);
		bool over = state == POD_SUCCEEDED || state == POD_FAILED;
		if (strcmp(clean, "All") == 0 || (!over && (failed || strcmp(clean, "Running") == 0)))
			workload_delete(workload, workload->pods.items[i]);
	}
	workload_expire(workload, val_get(policy, "ttlSecondsAfterFinished"),
	                val_path(workload->root, "status", "completionTime", NULL));
}

static void run(struct training *training)
{
	struct workload *workload = training->workload;
	bool suspended = val_bool(val_path(workload->spec, "runPolicy", "suspend", NULL), false);
	judge_pods(training);
	judge_launcher_job(training);
	judge_backoff(training);
	bool succeeded = !suspended && has_succeeded(training);
	if (succeeded)
		training->failed = NULL;
	else if (workload_late(workload, val_path(workload->spec, "runPolicy", "activeDeadlineSeconds", NULL)) &&
	         !training->failed)
		training->failed = "the job was active longer than activeDeadlineSeconds";
	hold_launcher(training);
	if (suspended)
		workload_delete_pods(workload);
	else if (!succeeded && !training->failed)
		workload_settle(workload, training->pods.items, training->pods.count);
	if (training->by_job && !succeeded && !training->failed)
		workload_settle_list(workload, &training->jobs, &training->launcher,
		                     !suspended && training->launcher.name ? 1 : 0);
	write_status(training, suspended, succeeded);
}

/* The version of the API in which the object was written last decides, unless there is a launcher already. */
static void choose_launcher(struct training *training)
{
	struct workload *workload = training->workload;
	const char *version = val_str(val_get(workload->root, "apiVersion"), "");
	workload_others(workload, KINDS_BATCH, "jobs", &training->jobs);
	training->by_job =
		training->jobs.count > 0 ||
		(strcmp(version, KINDS_KUBEFLOW "/v2beta1") == 0 &&
	         !workload_find(&workload->pods, arena_printf(workload->arena, "%s-launcher", workload->object->name)));
}

int workload_kubeflow(struct workload *workload)
{
	struct training training = {.workload = workload, .kind = workload->controller->details};
	bool failed = workload_condition(workload->root, "Failed");
	read_roles(&training);
	if (training.kind == &kubeflow_mpi)
		choose_launcher(&training);
	write_replicas(&training);
	list_pods(&training);
	if (failed || workload_condition(workload->root, "Succeeded"))
		clean_up(&training, failed);
	else
		run(&training);
	vec_free(&training.pods);
	store_list_clear(&training.jobs);
	return 0;
}
