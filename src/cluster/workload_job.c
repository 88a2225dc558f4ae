/* Owns batch/v1 Jobs. As in Kubernetes a finalizer holds each pod until it is counted, and the status lists who is being
 * counted, so that a stop between any two writes counts nobody twice and misses nobody. */
#include "cluster/workload_internal.h"

#include "base/strings.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

#define TRACKING "batch.kubernetes.io/job-tracking"
#define LABEL_INDEX "batch.kubernetes.io/job-completion-index"

struct job {
	struct workload *workload;
	bool indexed, has_completions;
	int64_t parallelism, completions, backoff;
	bool *done, *taken;        /* per index: completed, has a pod */
	int64_t succeeded, failed; /* counted for good */
	int64_t active, ready, leaving, restarts;
	int64_t beyond;                    /* of the active ones: those with an index that is not wanted */
	struct interner *listed;           /* uids that are being counted */
	struct node *succeeding, *failing; /* the new lists */
	int64_t succeeding_count, failing_count;
	struct store_object **release; /* pods whose finalizer goes */
	size_t release_count;
	const char *fail_reason, *fail_message;
	const char *group; /* PodGroup of Kubernetes itself that its pods name; NULL: none */
};

/* ---- indexes ---- */

/* "0-2,5": what is no number is left out. */
static void read_indexes(struct job *job, const char *text)
{
	while (*text) {
		char *end;
		long from = strtol(text, &end, 10), to = from;
		if (end == text)
			return;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		for (long i = from < 0 ? 0 : from; i <= to && i < job->completions; i++)
			job->done[i] = true;
		text = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			return;
	}
}

static const char *write_indexes(const struct job *job)
{
	struct buffer text = {0};
	for (int64_t i = 0, from; i < job->completions; i++) {
		if (!job->done[i])
			continue;
		for (from = i; i + 1 < job->completions && job->done[i + 1];)
			i++;
		buffer_printf(&text, from == i ? "%s%lld" : "%s%lld-%lld", text.length ? "," : "", (long long)from,
		              (long long)i);
	}
	const char *copy = arena_strdup(job->workload->arena, text.text ? text.text : "");
	buffer_free(&text);
	return copy;
}

static int64_t done_count(const struct job *job)
{
	int64_t count = 0;
	for (int64_t i = 0; job->indexed && i < job->completions; i++)
		count += job->done[i];
	return count;
}

/* -1 when it has none, or one that the Job does not want. */
static int64_t index_of(const struct job *job, const struct store_object *pod)
{
	const char *text = workload_label(pod, LABEL_INDEX);
	char *end = NULL;
	long index = text ? strtol(text, &end, 10) : -1;
	return text && *text && !*end && index >= 0 && index < job->completions ? index : -1;
}

/* ---- counting ---- */

static bool has_finalizer(const struct store_object *pod)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod->root, "metadata", "finalizers", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(item, ""), TRACKING) == 0)
			return true;
	return false;
}

static void release(struct job *job, struct store_object *pod)
{
	job->release[job->release_count++] = pod;
}

static void remove_finalizer(struct workload *workload, const struct store_object *pod)
{
	struct build *build = workload->build;
	struct node *body = build_map(build), *metadata = build_map(build), *list = build_list(build);
	const struct val *item;
	size_t others = 0;
	for (struct val_iter it = val_iter(val_path(pod->root, "metadata", "finalizers", NULL));
	     val_next(&it, NULL, &item);) {
		if (strcmp(val_str(item, ""), TRACKING) == 0)
			continue;
		build_append(build, list, build_copy(build, item));
		others++;
	}
	build_put(build, metadata, "finalizers", others > 0 ? list : build_null(build));
	build_put(build, body, "metadata", metadata);
	workload_patch(workload, pod, STORE_MAIN, body);
}

static bool contains_number(const struct val *list, int64_t number)
{
	const struct val *item;
	int64_t value;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		if (val_int(item, &value) == 0 && value == number)
			return true;
	return false;
}

static bool rule_matches(const struct val *rule, const struct store_object *pod)
{
	const struct val *codes = val_get(rule, "onExitCodes"), *pattern;
	int64_t code = pod_exit_code(pod);
	if (val_kind(codes) == VAL_MAP) {
		bool in = contains_number(val_get(codes, "values"), code);
		return code != 0 && (strcmp(val_str(val_get(codes, "operator"), "In"), "In") == 0) == in;
	}
	for (struct val_iter it = val_iter(val_get(rule, "onPodConditions")); val_next(&it, NULL, &pattern);)
		if (workload_condition(pod->root, val_str(val_get(pattern, "type"), "")) ==
		    (strcmp(val_str(val_get(pattern, "status"), "True"), "True") == 0))
			return true;
	return false;
}

/* What the pod failure policy says: "Count" where it says nothing. */
static const char *failure_action(const struct job *job, const struct store_object *pod)
{
	const struct val *rule;
	for (struct val_iter it = val_iter(val_path(job->workload->spec, "podFailurePolicy", "rules", NULL));
	     val_next(&it, NULL, &rule);)
		if (rule_matches(rule, pod))
			return val_str(val_get(rule, "action"), "Count");
	return "Count";
}

static void count_ended(struct job *job, struct store_object *pod, bool succeeded)
{
	struct workload *workload = job->workload;
	int64_t index = index_of(job, pod);
	release(job, pod);
	if (succeeded && job->indexed && index >= 0)
		job->done[index] = true;
	const char *action = succeeded ? "Count" : failure_action(job, pod);
	if (strcmp(action, "Ignore") == 0)
		return;
	if (strcmp(action, "FailJob") == 0) {
		job->fail_reason = "PodFailurePolicy";
		job->fail_message = arena_printf(workload->arena,
		                                 "pod %s failed and the pod failure policy says FailJob", pod->name);
	}
	build_append(workload->build, succeeded ? job->succeeding : job->failing,
	             build_string(workload->build, pod->uid));
	*(succeeded ? &job->succeeding_count : &job->failing_count) += 1;
}

/* It will not run any more: it ended, or nobody is left to stop it. */
static bool has_ended(const struct store_object *pod)
{
	enum pod_state state = pod_state(pod);
	int64_t grace = 1;
	val_int(val_path(pod->root, "metadata", "deletionGracePeriodSeconds", NULL), &grace);
	return state == POD_SUCCEEDED || state == POD_FAILED || (metadata_is_leaving(pod->root) && grace == 0);
}

static void count_pod(struct job *job, struct store_object *pod, const struct pod_look *look)
{
	bool succeeded = look->state == POD_SUCCEEDED;
	int64_t index = job->indexed ? index_of(job, pod) : -1;
	if ((succeeded || look->state == POD_FAILED || look->leaving) && has_ended(pod)) {
		if (!has_finalizer(pod))
			return;
		if (interner_find(job->listed, pod->uid) == UINT32_MAX)
			count_ended(job, pod, succeeded);
		else
			release(job, pod);
		return;
	}
	if (look->leaving) {
		job->leaving++;
		return;
	}
	job->active++;
	job->ready += look->ready;
	job->restarts += look->restarts;
	if (job->indexed && index >= 0)
		job->taken[index] = true;
	job->beyond += job->indexed && index < 0;
}

/* Those whose finalizer is gone are counted for good, the others stay in the list. */
static void read_list(struct job *job, const char *key, struct node *list, int64_t *listed, int64_t *counted)
{
	struct workload *workload = job->workload;
	const struct val *uncounted = val_path(workload->root, "status", "uncountedTerminatedPods", key, NULL);
	if (val_count(uncounted) == 0)
		return;
	struct interner *held = interner_create();
	for (size_t i = 0; i < workload->pods.count; i++)
		if (has_finalizer(workload->pods.items[i]))
			interner_id(held, workload->pods.items[i]->uid);
	const struct val *item;
	for (struct val_iter it = val_iter(uncounted); val_next(&it, NULL, &item);) {
		const char *uid = val_str(item, "");
		if (interner_find(held, uid) == UINT32_MAX) {
			++*counted;
			continue;
		}
		interner_id(job->listed, uid);
		build_append(workload->build, list, build_string(workload->build, uid));
		++*listed;
	}
	interner_destroy(held);
}

static void count_pods(struct job *job)
{
	struct workload *workload = job->workload;
	const struct val *status = val_get(workload->root, "status");
	job->succeeded = workload_number(val_get(status, "succeeded"), 0);
	job->failed = workload_number(val_get(status, "failed"), 0);
	read_indexes(job, val_str(val_get(status, "completedIndexes"), ""));
	read_list(job, "succeeded", job->succeeding, &job->succeeding_count, &job->succeeded);
	read_list(job, "failed", job->failing, &job->failing_count, &job->failed);
	job->release = arena_array(workload->arena, struct store_object *, workload->pods.count);
	for (size_t i = 0; i < workload->pods.count; i++)
		count_pod(job, workload->pods.items[i], &workload->looks[i]);
}

/* ---- pods ---- */

static void make_pod(struct job *job, int64_t index)
{
	struct workload *workload = job->workload;
	const char *name = workload->object->name, *stem = name;
	if (job->indexed)
		stem = arena_printf(workload->arena, "%s-%lld", name, (long long)index);
	struct child pod = {
		.name = workload_free_name(workload, stem),
		.template_ = val_get(workload->spec, "template"),
		.finalizer = TRACKING,
		.hostname = job->indexed ? stem : NULL,
	};
	child_label(&pod, "batch.kubernetes.io/controller-uid", workload->object->uid);
	child_label(&pod, "batch.kubernetes.io/job-name", name);
	child_label(&pod, "controller-uid", workload->object->uid);
	child_label(&pod, "job-name", name);
	if (job->indexed) {
		child_label_number(workload, &pod, LABEL_INDEX, index);
		child_annotation(&pod, LABEL_INDEX, pod.labels[pod.label_count - 1].value);
	}
	if (job->group) {
		struct node *reference = build_map(workload->build);
		pod.spec = build_copy(workload->build, val_get(pod.template_, "spec"));
		build_put_string(workload->build, reference, "podGroupName", job->group);
		build_put(workload->build, pod.spec, "schedulingGroup", reference);
	}
	workload_create(workload, &pod);
	job->active++;
}

static void make_pods(struct job *job, int64_t wanted)
{
	int64_t index = 0;
	while (job->active < wanted && job->workload->room > 0) {
		if (job->indexed) {
			while (index < job->completions && (job->done[index] || job->taken[index]))
				index++;
			if (index >= job->completions)
				return;
		}
		make_pod(job, index++);
	}
}

static int highest_first(const void *a, const void *b)
{
	const struct store_object *left = *(struct store_object *const *)a, *right = *(struct store_object *const *)b;
	long l = strtol(workload_label(left, LABEL_INDEX) ? workload_label(left, LABEL_INDEX) : "0", NULL, 10);
	long r = strtol(workload_label(right, LABEL_INDEX) ? workload_label(right, LABEL_INDEX) : "0", NULL, 10);
	if (l != r)
		return l > r ? -1 : 1;
	/* Among equals the one that has got least far. */
	int order = (int)pod_ready(left) - (int)pod_ready(right);
	return order ? order : strcmp(right->name, left->name);
}

static void remove_pods(struct job *job, int64_t wanted)
{
	struct workload *workload = job->workload;
	if (job->active <= wanted && job->beyond == 0)
		return;
	struct store_object **pods = arena_array(workload->arena, struct store_object *, workload->pods.count);
	size_t count = 0;
	for (size_t i = 0; i < workload->pods.count; i++)
		if (!has_ended(workload->pods.items[i]) && !metadata_is_leaving(workload->pods.items[i]->root))
			pods[count++] = workload->pods.items[i];
	if (count > 1)
		qsort(pods, count, sizeof(*pods), highest_first);
	for (size_t i = 0; i < count; i++) {
		bool beyond = job->indexed && index_of(job, pods[i]) < 0;
		if (job->active <= wanted && !beyond)
			continue;
		workload_delete(workload, pods[i]);
		job->active--;
	}
}

static int64_t wanted_pods(const struct job *job)
{
	int64_t succeeded = job->indexed ? done_count(job) : job->succeeded + job->succeeding_count;
	int64_t wanted = job->parallelism;
	if (job->has_completions && wanted > job->completions - succeeded)
		wanted = job->completions - succeeded;
	/* A queue of work is empty when one worker says so: nobody is added. */
	if (!job->has_completions && succeeded > 0 && wanted > job->active)
		wanted = job->active;
	if (strcmp(val_str(val_get(job->workload->spec, "podReplacementPolicy"), ""), "Failed") == 0)
		wanted -= job->leaving;
	return wanted < 0 ? 0 : wanted;
}

/* ---- status ---- */

static bool is_complete(const struct job *job)
{
	if (job->indexed)
		return done_count(job) >= job->completions;
	int64_t succeeded = job->succeeded + job->succeeding_count;
	if (job->has_completions)
		return succeeded >= job->completions;
	return succeeded > 0 && job->active == 0 && job->leaving == 0;
}

static void check_failure(struct job *job)
{
	if (job->fail_reason)
		return;
	if (job->failed + job->failing_count > job->backoff || job->restarts > job->backoff) {
		job->fail_reason = "BackoffLimitExceeded";
		job->fail_message = "Job has reached the specified backoff limit";
	} else if (workload_late(job->workload, val_get(job->workload->spec, "activeDeadlineSeconds"))) {
		job->fail_reason = "DeadlineExceeded";
		job->fail_message = "Job was active longer than specified deadline";
	}
}

static void put_counts(struct job *job, struct node *status)
{
	struct workload *workload = job->workload;
	struct build *build = workload->build;
	struct node *uncounted = build_map(build);
	build_put(build, uncounted, "succeeded", job->succeeding);
	build_put(build, uncounted, "failed", job->failing);
	build_put(build, status, "uncountedTerminatedPods", uncounted);
	build_put_int(build, status, "active", job->active);
	build_put_int(build, status, "ready", job->ready);
	build_put_int(build, status, "terminating", job->leaving);
	build_put_int(build, status, "succeeded", job->succeeded);
	build_put_int(build, status, "failed", job->failed);
	if (job->indexed)
		build_put_string(build, status, "completedIndexes", write_indexes(job));
}

static void put_state(struct job *job, struct node *status, bool suspended, bool complete)
{
	struct workload *workload = job->workload;
	struct condition conditions[3];
	size_t count = 0;
	char now[32];
	clock_print_rfc3339(workload->now, now);
	bool was_suspended = workload_condition(workload->root, "Suspended");
	if (suspended)
		conditions[count++] = (struct condition){"Suspended", "True", "JobSuspended", "Job suspended"};
	else if (was_suspended)
		conditions[count++] = (struct condition){"Suspended", "False", "JobResumed", "Job resumed"};
	if (complete) {
		conditions[count++] = (struct condition){"SuccessCriteriaMet", "True", "CompletionsReached",
		                                         "Reached expected number of succeeded pods"};
		conditions[count++] = (struct condition){"Complete", "True", "CompletionsReached",
		                                         "Reached expected number of succeeded pods"};
		build_put_string(workload->build, status, "completionTime", now);
	} else if (job->fail_reason) {
		conditions[count++] = (struct condition){"FailureTarget", "True", job->fail_reason, job->fail_message};
		conditions[count++] = (struct condition){"Failed", "True", job->fail_reason, job->fail_message};
	}
	bool started = val_kind(val_path(workload->root, "status", "startTime", NULL)) == VAL_STRING;
	if (suspended && started)
		build_put(workload->build, status, "startTime", build_null(workload->build));
	else if (!suspended && !started)
		build_put_string(workload->build, status, "startTime", now);
	workload_put_conditions(workload, status, conditions, count);
}

/* ---- the Job ---- */

/* What is left to do with a Job that ended: count the last pods, let them go, remove it when its time is over. */
static void finish(struct job *job)
{
	struct workload *workload = job->workload;
	bool complete = workload_condition(workload->root, "Complete");
	remove_pods(job, 0);
	struct node *status = workload_status(workload);
	put_counts(job, status);
	workload_write_status(workload, status);
	workload_expire(workload, val_get(workload->spec, "ttlSecondsAfterFinished"),
	                workload_since(workload->root, complete ? "Complete" : "Failed"));
}

static void run(struct job *job)
{
	struct workload *workload = job->workload;
	bool suspended = val_bool(val_get(workload->spec, "suspend"), false);
	bool complete = is_complete(job);
	if (!complete)
		check_failure(job);
	int64_t wanted = suspended || complete || job->fail_reason ? 0 : wanted_pods(job);
	remove_pods(job, wanted);
	if (wanted > 0)
		job->group = workload_job_group(workload, job->parallelism);
	make_pods(job, wanted);
	struct node *status = workload_status(workload);
	put_counts(job, status);
	put_state(job, status, suspended, complete);
	workload_write_status(workload, status);
}

int workload_job(struct workload *workload)
{
	const struct val *spec = workload->spec;
	struct job job = {
		.workload = workload,
		.parallelism = workload_number(val_get(spec, "parallelism"), 1),
		.has_completions = val_kind(val_get(spec, "completions")) == VAL_INT,
		.completions = workload_number(val_get(spec, "completions"), 0),
		.backoff = workload_number(val_get(spec, "backoffLimit"), 6),
		.indexed = strcmp(val_str(val_get(spec, "completionMode"), ""), "Indexed") == 0,
		.listed = interner_create(),
		.succeeding = build_list(workload->build),
		.failing = build_list(workload->build),
	};
	job.done = arena_array(workload->arena, bool, (size_t)job.completions);
	job.taken = arena_array(workload->arena, bool, (size_t)job.completions);
	count_pods(&job);
	if (workload_condition(workload->root, "Complete") || workload_condition(workload->root, "Failed"))
		finish(&job);
	else
		run(&job);
	/* Only after the status names them. */
	for (size_t i = 0; i < job.release_count && !workload->failed; i++)
		remove_finalizer(workload, job.release[i]);
	interner_destroy(job.listed);
	return 0;
}

/* ---- pods without a Job ---- */

bool workload_job_holds(const struct store_object *pod)
{
	return metadata_is_leaving(pod->root) && has_finalizer(pod);
}

/* Nobody counts the pods of a Job that is gone or going. */
int workload_tracked_pod(struct workload *workload)
{
	const struct store_type *type = store_type_find(workload->store, KINDS_BATCH, "jobs");
	const struct val *reference;
	if (!has_finalizer(workload->object))
		return 0;
	for (struct val_iter it = val_iter(val_path(workload->root, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &reference);) {
		const char *name = val_str(val_get(reference, "name"), "");
		struct store_object *job = store_peek(workload->store, type, workload->object->namespace_, name);
		if (job && strcmp(job->uid, val_str(val_get(reference, "uid"), "")) == 0 &&
		    !metadata_is_leaving(job->root))
			return 0;
	}
	remove_finalizer(workload, workload->object);
	return 0;
}
