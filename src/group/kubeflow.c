/* Kubeflow training jobs: PyTorchJob, TFJob, MPIJob, JAXJob, XGBoostJob. All have a map of roles with replicas and a
 * template each.
 *
 * A PyTorchJob always gets one subgroup per role, the others only when a role asks for segments; else they are flat. */
#include "group/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_ROLE "training.kubeflow.org/replica-type"
#define LABEL_ROLE_OLD "training.kubeflow.org/job-role"
#define LABEL_JOB "training.kubeflow.org/job-name"
#define LABEL_INDEX "training.kubeflow.org/replica-index"

struct job_kind {
	const char *kind, *specs;
	const char *needed[3]; /* roles that must be there */
	bool by_role;          /* always one subgroup per role */
};

static const struct job_kind job_kinds[] = {
	{"PyTorchJob", "pytorchReplicaSpecs", {NULL}, true},
	{"TFJob", "tfReplicaSpecs", {NULL}, false},
	{"MPIJob", "mpiReplicaSpecs", {"Launcher", "Worker", NULL}, false},
	{"JAXJob", "jaxReplicaSpecs", {"Worker", NULL}, false},
	{"XGBoostJob", "xgbReplicaSpecs", {"Master", "Worker", NULL}, false},
};

struct role {
	const char *key, *name; /* as written, in lower case */
	const struct val *spec;
	int64_t replicas, minimum;
	bool member; /* the pod has this role */
	bool has_segments;
	const char *path;
	struct segments segments;
};

struct job {
	const struct job_kind *kind;
	const struct val *spec, *specs;
	struct role *roles;
	size_t count;
	bool has_minimum;
	int64_t minimum; /* given by the user, else the sum of all replicas */
	bool late_launcher;
};

static const char *lower(struct arena *arena, const char *text)
{
	char *copy = arena_strdup(arena, text);
	for (char *at = copy; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return copy;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct role *)a)->name, ((const struct role *)b)->name);
}

static const char *pod_role(const struct grouping *grouping)
{
	const char *role = group_pod_label(grouping, LABEL_ROLE);
	if (!role)
		role = group_pod_label(grouping, LABEL_ROLE_OLD);
	return role ? lower(grouping->arena, role) : NULL;
}

/* minAvailable of the scheduling policy wins, then the elastic minimum of a PyTorchJob. */
static bool read_minimum(struct grouping *grouping, struct job *job)
{
	enum field given =
		field_int(grouping, val_path(job->spec, "runPolicy", "schedulingPolicy", "minAvailable", NULL),
	                  "spec.runPolicy.schedulingPolicy.minAvailable", &job->minimum);
	if (given == FIELD_ABSENT && job->kind->by_role)
		given = field_int(grouping, val_path(job->spec, "elasticPolicy", "minReplicas", NULL),
		                  "spec.elasticPolicy.minReplicas", &job->minimum);
	job->has_minimum = given == FIELD_GIVEN;
	return given != FIELD_WRONG;
}

static bool read_roles(struct grouping *grouping, struct job *job)
{
	const char *path = arena_printf(grouping->arena, "spec.%s", job->kind->specs), *key, *mine = pod_role(grouping);
	if (field_kind(grouping, job->specs, VAL_MAP, path) == FIELD_WRONG)
		return false;
	job->roles = arena_array(grouping->arena, struct role, val_count(job->specs));
	const struct val *item;
	for (struct val_iter it = val_iter(job->specs); val_next(&it, &key, &item);) {
		struct role *role = &job->roles[job->count++];
		*role = (struct role){.key = key, .name = lower(grouping->arena, key), .spec = item};
		role->path = arena_printf(grouping->arena, "%s.%s", path, key);
		role->member = mine && strcmp(mine, role->name) == 0;
		if (field_kind(grouping, item, VAL_MAP, role->path) == FIELD_WRONG ||
		    field_int(grouping, val_get(item, "replicas"),
		              arena_printf(grouping->arena, "%s.replicas", role->path), &role->replicas) == FIELD_WRONG)
			return false;
		role->minimum = role->replicas;
	}
	/* The order of the keys is not the user's: API servers sort them. */
	if (job->count > 1)
		qsort(job->roles, job->count, sizeof(*job->roles), by_name);
	return true;
}

static struct role *find_role(struct job *job, const char *key)
{
	for (size_t i = 0; i < job->count; i++)
		if (strcmp(job->roles[i].key, key) == 0)
			return &job->roles[i];
	return NULL;
}

/* Without a minimum of the user's the gang is every pod, so every role has to say how many it has. */
static bool check_roles(struct grouping *grouping, struct job *job)
{
	const char *path = arena_printf(grouping->arena, "spec.%s", job->kind->specs);
	bool good = true;
	if (val_kind(job->specs) == VAL_NULL) {
		group_warn(grouping, GROUP_ABOUT_REPLICA_SPECS_MISSING, path, "add the replica specs",
		           "the job has no replica specs, so it is not known how many pods it needs");
		return false;
	}
	for (const char *const *needed = job->kind->needed; *needed; needed++) {
		if (find_role(job, *needed))
			continue;
		group_warn(grouping, GROUP_ABOUT_ROLE_MISSING, path,
		           arena_printf(grouping->arena, "add the replica spec %s", *needed),
		           "a %s needs a replica spec %s", job->kind->kind, *needed);
		good = false;
	}
	for (size_t i = 0; i < job->count; i++) {
		if (job->roles[i].replicas > 0)
			continue;
		group_warn(grouping, GROUP_ABOUT_REPLICA_COUNT_ZERO,
		           arena_printf(grouping->arena, "%s.replicas", job->roles[i].path),
		           "give at least 1 replica, or remove the replica spec", "%s has no replicas",
		           job->roles[i].key);
		good = false;
	}
	if (good && job->count == 0) {
		group_warn(grouping, GROUP_ABOUT_REPLICA_COUNT_ZERO, path, "add a replica spec",
		           "the job has no replicas");
		good = false;
	}
	return good;
}

/* A launcher may be made only when the workers are ready; until it is there nobody may wait for it. */
static bool launcher_is_late(const struct grouping *grouping, const struct job *job)
{
	if (!text_equal(val_str(val_get(job->spec, "launcherCreationPolicy"), ""), "WaitForWorkersReady"))
		return false;
	const char *mine = pod_role(grouping);
	if (mine && strcmp(mine, "launcher") == 0)
		return false;
	const struct group_source *source = grouping->source;
	/* It changes the minimum only, and looking for it costs a look at every pod. */
	if (!source || !source->next_pod || grouping->marks_only)
		return true;
	size_t cursor = 0;
	const struct val *pod;
	while ((pod = source->next_pod(source->context, grouping->namespace_, LABEL_JOB, grouping->subject.id.name,
	                               &cursor)))
		if (text_equal(val_str(val_path(pod, "metadata", "labels", LABEL_ROLE_OLD, NULL), ""), "launcher") &&
		    val_kind(val_path(pod, "metadata", "deletionTimestamp", NULL)) == VAL_NULL)
			return false;
	return true;
}

static void leave_out_launcher(struct grouping *grouping, struct job *job)
{
	struct role *launcher = find_role(job, "Launcher");
	if (strcmp(job->kind->kind, "MPIJob") != 0 || !launcher || !launcher_is_late(grouping, job))
		return;
	launcher->minimum = 0;
	job->late_launcher = true;
	job->minimum = job->minimum > launcher->replicas ? job->minimum - launcher->replicas : 0;
}

/* Special roles are needed as a whole, workers fill up to the minimum. */
static void share_minimum(struct job *job)
{
	int64_t others = 0;
	struct role *worker = NULL;
	for (size_t i = 0; i < job->count; i++) {
		if (strcmp(job->roles[i].name, "worker") == 0)
			worker = &job->roles[i];
		else
			others += job->roles[i].minimum;
	}
	if (worker)
		worker->minimum = job->minimum > others ? job->minimum - others : 0;
}

static bool find_segments(struct grouping *grouping, struct job *job)
{
	bool any = false;
	for (size_t i = 0; i < job->count; i++) {
		struct role *role = &job->roles[i];
		struct segment_ask ask = {
			.template_ = val_get(role->spec, "template"),
			.path = arena_printf(grouping->arena, "%s.template", role->path),
			.index_label = LABEL_INDEX,
			.member = role->member,
		};
		role->has_segments = segments_wanted(grouping, &ask, &role->segments);
		any = any || role->has_segments;
	}
	return any;
}

static void add_roles(struct grouping *grouping, struct job *job)
{
	bool found = false;
	for (size_t i = 0; i < job->count; i++) {
		struct role *role = &job->roles[i];
		found = found || role->member;
		if (role->replicas == 0 && strcmp(role->name, "worker") != 0)
			continue;
		int subgroup = tree_add(grouping, role->name, GROUP_UNSET, role->minimum);
		tree_expect(grouping, subgroup, role->replicas);
		grouping->out->subgroups[subgroup].constraint =
			group_template_level(grouping, val_get(role->spec, "template"));
		if (role->has_segments)
			segments_add(grouping, &role->segments, subgroup, role->replicas, role->minimum, role->member,
			             role->path);
		else if (role->member)
			tree_join(grouping, subgroup);
	}
	if (!found && grouping->out->subgroup_count > 0)
		tree_leaf_unknown(grouping, LABEL_ROLE);
}

enum group_verdict family_kubeflow(struct grouping *grouping)
{
	struct job job = {.spec = val_get(grouping->subject.id.object, "spec")};
	for (size_t i = 0; i < sizeof(job_kinds) / sizeof(*job_kinds); i++)
		if (strcmp(job_kinds[i].kind, grouping->subject.id.kind) == 0)
			job.kind = &job_kinds[i];
	job.specs = val_get(job.spec, job.kind->specs);
	group_inherit(grouping, CLASS_TRAIN);
	if (!read_minimum(grouping, &job) || !read_roles(grouping, &job))
		return GROUP_REFUSED;
	bool needs_roles = !job.has_minimum || (job.kind->by_role && val_kind(job.specs) == VAL_NULL);
	if (needs_roles && !check_roles(grouping, &job))
		return GROUP_REFUSED;
	for (size_t i = 0; !job.has_minimum && i < job.count; i++)
		job.minimum += job.roles[i].replicas;
	int64_t all = 0;
	for (size_t i = 0; i < job.count; i++)
		all += job.roles[i].replicas;
	tree_expect(grouping, GROUP_UNSET, all);
	leave_out_launcher(grouping, &job);
	grouping->out->min_member = tree_pods(grouping, job.minimum, "spec");
	if (find_segments(grouping, &job) || job.kind->by_role) {
		share_minimum(&job);
		add_roles(grouping, &job);
	}
	return GROUP_WANTED;
}
