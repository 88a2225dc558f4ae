/* Owns JobSets: Jobs <set>-<replicated job>-<index>, started in order or all at once, and restarted together. */
#include "cluster/workload_internal.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define LABEL "jobset.sigs.k8s.io/"
#define LABEL_ATTEMPT LABEL "restart-attempt"

struct replicated {
	const char *name;
	const struct val *item, *template_; /* template_: of the Job */
	int64_t replicas;
	int64_t ready, succeeded, failed, active, suspended;
};

struct jobs {
	struct workload *workload;
	struct store_list existing;
	struct replicated *parts;
	size_t part_count;
	VEC(struct child) wanted;
	int64_t restarts;
	bool suspend;
	const struct store_object *failed; /* the first Job that failed in this attempt */
	const char *failed_part;
	bool ignores_limit; /* the restart does not count */
};

static int64_t job_number(const struct store_object *job, const char *key)
{
	return workload_number(val_path(job->root, "status", key, NULL), 0);
}

static bool of_this_attempt(const struct jobs *jobs, const struct store_object *job)
{
	const char *text = workload_label(job, LABEL_ATTEMPT);
	return text && strtol(text, NULL, 10) == jobs->restarts;
}

/* ---- reading ---- */

static void count_job(struct jobs *jobs, struct replicated *part, const struct store_object *job)
{
	const struct val *spec = val_get(job->root, "spec");
	int64_t wanted = workload_number(val_get(spec, "parallelism"), 1);
	if (val_kind(val_get(spec, "completions")) == VAL_INT &&
	    workload_number(val_get(spec, "completions"), 0) < wanted)
		wanted = workload_number(val_get(spec, "completions"), 0);
	if (workload_condition(job->root, "Complete")) {
		part->succeeded++;
	} else if (workload_condition(job->root, "Failed")) {
		part->failed++;
		if (!jobs->failed) {
			jobs->failed = job;
			jobs->failed_part = part->name;
		}
	} else if (val_bool(val_get(spec, "suspend"), false)) {
		part->suspended++;
	} else {
		part->active += job_number(job, "active") > 0;
		part->ready += job_number(job, "ready") + job_number(job, "succeeded") >= wanted;
	}
}

static const char *job_name(struct jobs *jobs, const struct replicated *part, int64_t index)
{
	return arena_printf(jobs->workload->arena, "%s-%s-%lld", jobs->workload->object->name, part->name,
	                    (long long)index);
}

static void read_parts(struct jobs *jobs)
{
	struct workload *workload = jobs->workload;
	const struct val *list = val_get(workload->spec, "replicatedJobs"), *item;
	int64_t room = WORKLOAD_MAX_PODS;
	jobs->restarts = workload_number(val_path(workload->root, "status", "restarts", NULL), 0);
	jobs->suspend = val_bool(val_get(workload->spec, "suspend"), false);
	workload_others(workload, KINDS_BATCH, "jobs", &jobs->existing);
	jobs->parts = arena_array(workload->arena, struct replicated, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		struct replicated *part = &jobs->parts[jobs->part_count++];
		part->item = item;
		part->name = val_str(val_get(item, "name"), "");
		part->template_ = val_get(item, "template");
		part->replicas = workload_number(val_get(item, "replicas"), 1);
		if (part->replicas > room)
			part->replicas = room;
		room -= part->replicas;
		for (int64_t i = 0; i < part->replicas; i++) {
			struct store_object *job = workload_find(&jobs->existing, job_name(jobs, part, i));
			if (job && of_this_attempt(jobs, job))
				count_job(jobs, part, job);
		}
	}
}

/* ---- what is wanted ---- */

static void label_job(struct jobs *jobs, const struct replicated *part, int64_t index, int64_t global,
                      struct child *child)
{
	struct workload *workload = jobs->workload;
	child_label(child, LABEL "jobset-name", workload->object->name);
	child_label(child, LABEL "replicatedjob-name", part->name);
	child_label_number(workload, child, LABEL "replicatedjob-replicas", part->replicas);
	child_label_number(workload, child, LABEL "job-index", index);
	child_label_number(workload, child, LABEL "job-global-index", global);
	child_label_number(workload, child, LABEL_ATTEMPT, jobs->restarts);
	child_label(child, LABEL "job-key",
	            workload_hash(workload->arena, val_path(workload->root, "metadata", "uid", NULL),
	                          (uint64_t)global));
	for (size_t i = 0; i < child->label_count; i++)
		child_annotation(child, child->labels[i].key, child->labels[i].value);
}

static struct child make_child(struct jobs *jobs, const struct replicated *part, int64_t index, int64_t global,
                               bool hold)
{
	struct workload *workload = jobs->workload;
	struct child child = {
		.api_version = KINDS_BATCH "/v1",
		.kind = "Job",
		.name = job_name(jobs, part, index),
		.template_ = part->template_,
		.hold = hold,
	};
	label_job(jobs, part, index, global, &child);
	if (hold || workload_find(&jobs->existing, child.name))
		return child;
	const struct val *given = val_get(part->template_, "spec");
	child.spec = val_kind(given) == VAL_MAP ? build_copy(workload->build, given) : build_map(workload->build);
	build_put(workload->build, child.spec, "template",
	          child_template(workload, val_get(given, "template"), &child));
	build_put_bool(workload->build, child.spec, "suspend", jobs->suspend);
	return child;
}

static struct replicated *find_part(struct jobs *jobs, const char *name)
{
	for (size_t i = 0; i < jobs->part_count; i++)
		if (strcmp(jobs->parts[i].name, name) == 0)
			return &jobs->parts[i];
	return NULL;
}

/* Whether the Jobs of this part have to wait for those of others. */
static bool has_to_wait(struct jobs *jobs, size_t index)
{
	const struct val *order = val_path(jobs->workload->spec, "startupPolicy", "startupPolicyOrder", NULL), *item;
	for (size_t i = 0; strcmp(val_str(order, ""), "InOrder") == 0 && i < index && !jobs->suspend; i++)
		if (jobs->parts[i].ready + jobs->parts[i].succeeded < jobs->parts[i].replicas)
			return true;
	for (struct val_iter it = val_iter(val_get(jobs->parts[index].item, "dependsOn"));
	     val_next(&it, NULL, &item);) {
		struct replicated *other = find_part(jobs, val_str(val_get(item, "name"), ""));
		bool complete = strcmp(val_str(val_get(item, "status"), ""), "Complete") == 0;
		if (other && other->succeeded + (complete ? 0 : other->ready) < other->replicas)
			return true;
	}
	return false;
}

/* A Job that stays is told whether it is suspended. */
static void pass_on_suspend(struct jobs *jobs, const struct store_object *job)
{
	struct build *build = jobs->workload->build;
	if (val_bool(val_path(job->root, "spec", "suspend", NULL), false) == jobs->suspend)
		return;
	struct node *body = build_map(build), *spec = build_map(build);
	build_put_bool(build, spec, "suspend", jobs->suspend);
	build_put(build, body, "spec", spec);
	workload_patch(jobs->workload, job, STORE_MAIN, body);
}

static void settle(struct jobs *jobs)
{
	struct workload *workload = jobs->workload;
	int64_t global = 0;
	for (size_t p = 0; p < jobs->part_count; p++) {
		bool hold = has_to_wait(jobs, p);
		for (int64_t i = 0; i < jobs->parts[p].replicas; i++)
			vec_push(&jobs->wanted, make_child(jobs, &jobs->parts[p], i, global++, hold));
	}
	workload_settle_list(workload, &jobs->existing, jobs->wanted.items, jobs->wanted.count);
	for (size_t i = 0; i < jobs->wanted.count; i++) {
		const struct store_object *job = jobs->wanted.items[i].pod;
		if (job && !of_this_attempt(jobs, job))
			workload_delete(workload, job);
		else if (job)
			pass_on_suspend(jobs, job);
	}
}

/* ---- status ---- */

static bool is_target(const struct val *targets, const char *name)
{
	const struct val *item;
	for (struct val_iter it = val_iter(targets); val_next(&it, NULL, &item);)
		if (strcmp(val_str(item, ""), name) == 0)
			return true;
	return val_count(targets) == 0;
}

static bool has_succeeded(const struct jobs *jobs)
{
	const struct val *policy = val_get(jobs->workload->spec, "successPolicy");
	const struct val *targets = val_get(policy, "targetReplicatedJobs");
	bool any = strcmp(val_str(val_get(policy, "operator"), ""), "Any") == 0, all = true, one = false;
	for (size_t i = 0; i < jobs->part_count; i++) {
		const struct replicated *part = &jobs->parts[i];
		if (!is_target(targets, part->name))
			continue;
		one |= part->succeeded > 0;
		all &= part->succeeded >= part->replicas;
	}
	return jobs->part_count > 0 && (any ? one : all);
}

/* ---- failures ---- */

static int64_t counted_restarts(const struct jobs *jobs)
{
	return workload_number(val_path(jobs->workload->root, "status", "restartsCountTowardsMax", NULL), 0);
}

/* What the first rule says that is about this failure: where none is, the set is restarted. */
static const char *failure_action(const struct jobs *jobs)
{
	const struct val *rule, *reasons;
	const char *reason = val_str(val_get(writes_find_condition(jobs->failed->root, "Failed"), "reason"), "");
	for (struct val_iter it = val_iter(val_path(jobs->workload->spec, "failurePolicy", "rules", NULL));
	     val_next(&it, NULL, &rule);) {
		reasons = val_get(rule, "onJobFailureReasons");
		if (is_target(reasons, reason) && is_target(val_get(rule, "targetReplicatedJobs"), jobs->failed_part))
			return val_str(val_get(rule, "action"), "RestartJobSet");
	}
	return "RestartJobSet";
}

/* Whether a set of which a Job failed begins again. */
static bool begins_again(struct jobs *jobs)
{
	const char *action = failure_action(jobs);
	jobs->ignores_limit = strcmp(action, "RestartJobSetAndIgnoreMaxRestarts") == 0;
	if (strcmp(action, "FailJobSet") == 0)
		return false;
	return jobs->ignores_limit ||
	       counted_restarts(jobs) <
	               workload_number(val_path(jobs->workload->spec, "failurePolicy", "maxRestarts", NULL), 0);
}

static void put_parts(struct jobs *jobs, struct node *status)
{
	struct build *build = jobs->workload->build;
	struct node *list = build_list(build);
	for (size_t i = 0; i < jobs->part_count; i++) {
		const struct replicated *part = &jobs->parts[i];
		struct node *map = build_map(build);
		build_put_string(build, map, "name", part->name);
		build_put_int(build, map, "ready", part->ready);
		build_put_int(build, map, "succeeded", part->succeeded);
		build_put_int(build, map, "failed", part->failed);
		build_put_int(build, map, "active", part->active);
		build_put_int(build, map, "suspended", part->suspended);
		build_append(build, list, map);
	}
	build_put(build, status, "replicatedJobsStatus", list);
}

static void write_status(struct jobs *jobs, bool succeeded, bool restart)
{
	struct workload *workload = jobs->workload;
	struct node *status = workload_status(workload);
	struct condition conditions[2];
	size_t count = 0;
	if (jobs->suspend != workload_condition(workload->root, "Suspended"))
		conditions[count++] = (struct condition){"Suspended", jobs->suspend ? "True" : "False",
		                                         jobs->suspend ? "SuspendedJobs" : "ResumeJobs",
		                                         jobs->suspend ? "jobset is suspended" : "jobset is resumed"};
	if (succeeded)
		conditions[count++] =
			(struct condition){"Completed", "True", "AllJobsCompleted", "jobset completed successfully"};
	else if (jobs->failed && !restart)
		conditions[count++] =
			(struct condition){"Failed", "True", "FailedJobs",
		                           arena_printf(workload->arena,
		                                        "jobset failed due to one or more job failures: %s",
		                                        jobs->failed->name)};
	if (succeeded || (jobs->failed && !restart))
		build_put_string(workload->build, status, "terminalState", succeeded ? "Completed" : "Failed");
	build_put_int(workload->build, status, "restarts", jobs->restarts + restart);
	build_put_int(workload->build, status, "restartsCountTowardsMax",
	              counted_restarts(jobs) + (restart && !jobs->ignores_limit));
	put_parts(jobs, status);
	if (count > 0)
		workload_put_conditions(workload, status, conditions, count);
	workload_write_status(workload, status);
}

/* Jobs that still run have nothing left to do. */
static void finish(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->existing.count; i++)
		if (!workload_condition(jobs->existing.items[i]->root, "Complete") &&
		    !workload_condition(jobs->existing.items[i]->root, "Failed"))
			workload_delete(jobs->workload, jobs->existing.items[i]);
	const struct val *root = jobs->workload->root;
	workload_expire(jobs->workload, val_get(jobs->workload->spec, "ttlSecondsAfterFinished"),
	                workload_since(root, workload_condition(root, "Completed") ? "Completed" : "Failed"));
}

int workload_job_set(struct workload *workload)
{
	struct jobs jobs = {.workload = workload};
	read_parts(&jobs);
	if (workload_condition(workload->root, "Completed") || workload_condition(workload->root, "Failed")) {
		finish(&jobs);
	} else {
		bool succeeded = has_succeeded(&jobs);
		bool restart = !succeeded && jobs.failed && begins_again(&jobs);
		if (!succeeded && !jobs.failed)
			settle(&jobs);
		/* The next attempt begins when the status says so: then a stop in between begins it once. */
		write_status(&jobs, succeeded, restart);
	}
	vec_free(&jobs.wanted);
	store_list_clear(&jobs.existing);
	return 0;
}
