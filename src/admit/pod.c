/* Pod: identity, state, effective requests. The placement rules are read in pod_rules.c and pod_affinity.c. */
#include "admit/pod.h"

#include "admit/amounts.h"
#include "admit/decode.h"
#include "admit/pod_fields.h"
#include "base/clock.h"
#include "admit/rules.h"
#include "kinds/kinds.h"
#include "kinds/names.h"
#include "object/metadata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

/* What the conditions of a pod say, which the API server, a kubelet and the controller that groups pods write. */
struct conditions {
	bool any, ready;
	bool infeasible;       /* its node can never give what was asked for later */
	int64_t bound_seconds; /* INT64_MIN: unknown */
	/* Why no group was found for it, NULL: nobody said so. It waits for its workload to be corrected. */
	const char *ungrouped;
};

static struct conditions read_conditions(const struct val *list)
{
	struct conditions out = {.any = val_count(list) > 0, .bound_seconds = INT64_MIN};
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		const char *type = val_str(val_get(item, "type"), ""), *status = val_str(val_get(item, "status"), "");
		const char *reason = val_str(val_get(item, "reason"), "");
		bool is_true = strcmp(status, "True") == 0;
		if (strcmp(type, "Ready") == 0) {
			out.ready |= is_true;
		} else if (strcmp(type, "PodResizePending") == 0) {
			out.infeasible |= is_true && strcmp(reason, "Infeasible") == 0;
		} else if (strcmp(type, "PodScheduled") == 0) {
			const char *since = val_str(val_get(item, "lastTransitionTime"), "");
			if (is_true && *since && clock_parse_rfc3339(since, &out.bound_seconds) < 0)
				out.bound_seconds = INT64_MIN;
			if (strcmp(status, "False") == 0 && strcmp(reason, PODS_NOT_GROUPED) == 0)
				out.ungrouped = val_str(val_get(item, "message"), "");
		}
	}
	return out;
}

/* Requests of one container; a limit without a request is also the request. */
static struct amounts container_requests(const struct decode *decode, const struct decode_path *path,
                                         const struct val *container)
{
	const struct decode_path *up = PATH_KEY(path, "resources");
	const struct val *resources = decode_map(decode, path, container, "resources");
	struct amounts requests, limits;
	amounts_read(decode, up, resources, "requests", &requests);
	amounts_read(decode, up, resources, "limits", &limits);
	for (size_t i = 0; i < limits.count; i++) {
		const int64_t *request = amounts_find(&requests, limits.items[i].name);
		if (request && *request > limits.items[i].amount)
			decode_error(decode, PATH_KEY(PATH_KEY(up, "requests"), limits.items[i].name),
			             "lower the request, or raise the limit", "the request is above the limit");
		if (request)
			continue;
		int64_t *slot = amounts_slot(decode->arena, &requests, limits.items[i].name);
		if (slot)
			*slot = limits.items[i].amount;
	}
	return requests;
}

/* What the kubelet says it gave, which counts while a pod that runs is resized: more than the spec asks for until less is
 * in force, and all that counts when the node cannot give more. */
static void add_allocated(const struct decode *decode, const struct val *status, bool infeasible, struct amounts *total)
{
	struct problems ignored = {.arena = decode->arena}; /* it is not the pod that would be wrong */
	struct decode quiet = {.arena = decode->arena, .problems = &ignored};
	struct amounts allocated, in_force;
	amounts_read(&quiet, NULL, status, "allocatedResources", &allocated);
	amounts_read(&quiet, NULL, val_get(status, "resources"), "requests", &in_force);
	if (infeasible && allocated.count + in_force.count > 0)
		*total = (struct amounts){0};
	amounts_max(decode->arena, total, &allocated);
	amounts_max(decode->arena, total, &in_force);
}

/* Requests of a container as they count: with what its status says, once the pod has a node. */
static struct amounts effective_requests(const struct decode *decode, const struct decode_path *path,
                                         const struct val *container, const struct val *object, const char *list,
                                         bool infeasible)
{
	struct amounts requests = container_requests(decode, path, container);
	const char *name = val_str(val_get(container, "name"), "");
	const struct val *item, *statuses = val_path(object, "status", list, NULL);
	if (!statuses || !*val_str(val_path(object, "spec", "nodeName", NULL), ""))
		return requests;
	for (struct val_iter it = val_iter(statuses); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "name"), ""), name) == 0)
			add_allocated(decode, item, infeasible, &requests);
	return requests;
}

static bool is_sidecar(const struct decode *decode, const struct decode_path *path, const struct val *container)
{
	static const char *const names[] = {"Always", "OnFailure", "Never"};
	const char *policy = decode_string(decode, path, container, "restartPolicy");
	return policy && decode_enum(decode, PATH_KEY(path, "restartPolicy"), policy, names, 3) == 0;
}

/* Init containers run one after the other, each beside the sidecars started before it. */
static void add_init_containers(const struct decode *decode, const struct val *object, bool infeasible,
                                struct amounts *total)
{
	const struct val *spec = val_get(object, "spec");
	const struct decode_path *up = PATH_KEY(spec_path, "initContainers");
	const struct val *list = decode_list(decode, spec_path, spec, "initContainers"), *item;
	struct amounts sidecars = {0}, peak = {0};
	const char *unused;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(up, index);
		if (!decode_is(decode, path, item, VAL_MAP))
			continue;
		struct amounts requests =
			effective_requests(decode, path, item, object, "initContainerStatuses", infeasible);
		if (is_sidecar(decode, path, item)) {
			amounts_add(decode, path, total, &requests);
			amounts_add(decode, path, &sidecars, &requests);
			amounts_max(decode->arena, &peak, &sidecars);
		} else {
			amounts_add(decode, path, &requests, &sidecars);
			amounts_max(decode->arena, &peak, &requests);
		}
	}
	amounts_max(decode->arena, total, &peak);
}

static bool pod_level_resource(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 || strncmp(name, "hugepages-", 10) == 0;
}

/* spec.resources of the pod as a whole replaces the sum of the containers for the resources it names. */
static void apply_pod_level(const struct decode *decode, const struct val *spec, struct amounts *total)
{
	const struct decode_path *path = PATH_KEY(spec_path, "resources");
	const struct val *resources = decode_map(decode, spec_path, spec, "resources");
	struct amounts requests, limits;
	amounts_read(decode, path, resources, "requests", &requests);
	amounts_read(decode, path, resources, "limits", &limits);
	for (size_t i = 0; i < requests.count; i++) {
		const char *name = requests.items[i].name;
		const struct decode_path *here = PATH_KEY(PATH_KEY(path, "requests"), name);
		if (!pod_level_resource(name)) {
			decode_error(decode, here, "request it in a container",
			             "only cpu, memory and huge pages can be requested for the pod as a whole");
			continue;
		}
		int64_t *slot = amounts_slot(decode->arena, total, name);
		if (slot && *slot > requests.items[i].amount)
			decode_error(decode, here, "raise it, or lower the requests of the containers",
			             "the pod requests less than its containers together");
		if (slot)
			*slot = requests.items[i].amount;
	}
	for (size_t i = 0; i < limits.count; i++) {
		const char *name = limits.items[i].name;
		if (!pod_level_resource(name) || amounts_find(&requests, name) || amounts_find(total, name))
			continue;
		int64_t *slot = amounts_slot(decode->arena, total, name);
		if (slot)
			*slot = limits.items[i].amount;
	}
}

static void read_requests(const struct decode *decode, const struct val *object, bool infeasible, struct pod_spec *out)
{
	const struct val *spec = val_get(object, "spec");
	const struct decode_path *up = PATH_KEY(spec_path, "containers");
	const struct val *list = decode_list(decode, spec_path, spec, "containers"), *item;
	struct amounts total = {0}, overhead;
	const char *unused;
	size_t index = 0;
	if (val_count(val_get(spec, "containers")) == 0)
		decode_warning(decode, up, "add a container", "the pod has no containers and requests nothing");
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(up, index);
		if (!decode_is(decode, path, item, VAL_MAP))
			continue;
		struct amounts requests =
			effective_requests(decode, path, item, object, "containerStatuses", infeasible);
		amounts_add(decode, path, &total, &requests);
	}
	add_init_containers(decode, object, infeasible, &total);
	apply_pod_level(decode, spec, &total);
	amounts_read(decode, spec_path, spec, "overhead", &overhead);
	amounts_add(decode, PATH_KEY(spec_path, "overhead"), &total, &overhead);
	int64_t *pods = amounts_slot(decode->arena, &total, "pods");
	if (pods)
		*pods = 1;
	for (size_t i = 0; i < total.count; i++)
		if (total.items[i].amount > 0)
			total.items[out->request_count++] = total.items[i];
	out->requests = total.items;
}

static void read_claims(const struct decode *decode, const struct val *spec, struct pod_spec *out)
{
	const struct decode_path *up = PATH_KEY(spec_path, "volumes");
	const struct val *list = decode_list(decode, spec_path, spec, "volumes"), *item;
	/* a volume may wrongly name both kinds of claim */
	out->claims = arena_array(decode->arena, const char *, 2 * val_count(list));
	const char **ephemeral = arena_array(decode->arena, const char *, val_count(list));
	const char *unused;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(up, index);
		if (!decode_is(decode, path, item, VAL_MAP))
			continue;
		const struct decode_path *source = PATH_KEY(path, "persistentVolumeClaim");
		const struct val *claim = decode_map(decode, path, item, "persistentVolumeClaim");
		const char *name = decode_string(decode, source, claim, "claimName");
		if (claim && !val_get(claim, "claimName"))
			decode_error(decode, PATH_KEY(source, "claimName"), "name the claim", "claimName is missing");
		if (name)
			out->claims[out->claim_count++] = name;
		/* The claim of an ephemeral volume is named after the pod and the volume. */
		const char *volume = decode_string(decode, path, item, "name");
		if (volume && decode_map(decode, path, item, "ephemeral"))
			ephemeral[out->ephemeral_count++] = arena_printf(decode->arena, "%s-%s", out->name, volume);
	}
	for (size_t i = 0; i < out->ephemeral_count; i++)
		out->claims[out->claim_count++] = ephemeral[i];
}

/* The claim that was made for an entry, as the status says; false when it says that none is needed. */
static bool find_made_claim(const struct val *object, const char *entry, const char **claim)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(object, "status", "resourceClaimStatuses", NULL));
	     val_next(&it, NULL, &item);)
		if (text_equal(val_str(val_get(item, "name"), NULL), entry)) {
			*claim = val_str(val_get(item, "resourceClaimName"), NULL);
			return *claim != NULL;
		}
	*claim = NULL;
	return true;
}

static void read_device_claims(const struct decode *decode, const struct val *object, const struct val *spec,
                               struct pod_spec *out)
{
	const struct decode_path *up = PATH_KEY(spec_path, "resourceClaims");
	const struct val *list = decode_list(decode, spec_path, spec, "resourceClaims"), *item;
	size_t index = 0;
	out->device_claims = arena_array(decode->arena, struct pod_device_claim, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *path = PATH_INDEX(up, index);
		if (!decode_is(decode, path, item, VAL_MAP))
			continue;
		const char *entry = decode_string(decode, path, item, "name");
		struct pod_device_claim claim = {
			.entry = entry ? entry : "",
			.claim = decode_string(decode, path, item, "resourceClaimName"),
			.template_ = decode_string(decode, path, item, "resourceClaimTemplateName"),
		};
		if (!val_get(item, "resourceClaimName") && !val_get(item, "resourceClaimTemplateName"))
			decode_error(decode, path, "name a claim or a template",
			             "neither resourceClaimName nor resourceClaimTemplateName is given");
		if (claim.claim || (claim.template_ && find_made_claim(object, claim.entry, &claim.claim)))
			out->device_claims[out->device_claim_count++] = claim;
	}
}

static void read_state(const struct decode *decode, const struct val *object, const struct conditions *conditions,
                       struct pod_spec *out)
{
	static const char *const names[] = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};
	static const enum pod_phase phases[] = {POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN};
	const struct decode_path *path = PATH_KEY(NULL, "status");
	const struct val *status = decode_map(decode, NULL, object, "status");
	const char *phase = decode_string(decode, path, status, "phase");
	if (phase) {
		int choice = decode_enum(decode, PATH_KEY(path, "phase"), phase, names, 5);
		out->phase = choice < 0 ? POD_UNKNOWN : phases[choice];
	}
	out->nominated = decode_string(decode, path, status, "nominatedNodeName");
	out->ready =
		conditions->ready || (!conditions->any && out->phase == POD_RUNNING); /* in files nobody writes them */
	out->started_seconds = conditions->bound_seconds;
	/* Written by a kubelet: a text that is no time is not worth refusing the pod. */
	const char *started = val_str(val_get(status, "startTime"), "");
	int64_t seconds;
	if (clock_parse_rfc3339(started, &seconds) == 0)
		out->started_seconds = seconds;
}

/* The label that the user names, else those that controllers write. */
static int32_t read_index(const struct labels *labels, const struct val *annotations)
{
	static const char *const keys[] = {"batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index",
	                                   "training.kubeflow.org/replica-index",
	                                   "leaderworkerset.sigs.k8s.io/worker-index"};
	const char *own = val_str(val_get(annotations, "kai.scheduler/pod-index-label"), NULL);
	const char *text = own ? labels_get(labels, own) : NULL;
	for (size_t i = 0; !text && i < sizeof(keys) / sizeof(*keys); i++)
		text = labels_get(labels, keys[i]);
	if (!text || !*text || strspn(text, "0123456789") != strlen(text))
		return INT32_MAX;
	long index = strtol(text, NULL, 10);
	return index < INT32_MAX ? (int32_t)index : INT32_MAX;
}

static void read_group(const struct decode *decode, const struct metadata *meta, struct pod_spec *out)
{
	const struct decode_path *path = PATH_KEY(NULL, "metadata");
	out->labels = decode_labels(decode, path, meta->val, "labels");
	const struct val *annotations = decode_map(decode, path, meta->val, "annotations");
	out->group = decode_string(decode, PATH_KEY(path, "annotations"), annotations, "pod-group-name");
	const char *subgroup = labels_get(&out->labels, "kai.scheduler/subgroup-name");
	out->subgroup = subgroup && *subgroup ? subgroup : NULL;
	const char *priority = labels_get(&out->labels, "kai.scheduler/task-priority");
	if (priority) {
		char *end;
		errno = 0;
		long long value = strtoll(priority, &end, 10);
		if (end == priority || *end || errno == ERANGE)
			decode_warning(decode, PATH_KEY(PATH_KEY(path, "labels"), "kai.scheduler/task-priority"),
			               "write a whole number", "%s is not a whole number and is read as 0",
			               decode_show(decode->problems->arena, priority));
		else
			out->task_priority = value;
	}
	out->index = read_index(&out->labels, annotations);
}

static void read_spec(const struct decode *decode, const struct val *spec, struct pod_spec *out)
{
	const char *scheduler = decode_string(decode, spec_path, spec, "schedulerName");
	out->scheduler = scheduler ? scheduler : "default-scheduler";
	out->node = decode_string(decode, spec_path, spec, "nodeName");
	out->priority_class = decode_string(decode, spec_path, spec, "priorityClassName");
	int64_t priority = 0;
	out->has_priority = decode_int(decode, spec_path, spec, "priority", INT32_MIN, INT32_MAX, &priority);
	out->priority = (int32_t)priority;
	out->never_preempts = text_equal(decode_string(decode, spec_path, spec, "preemptionPolicy"), "Never");
	out->gated = val_count(decode_list(decode, spec_path, spec, "schedulingGates")) > 0;
}

/* A group of Kubernetes itself counts once it was read, which a mark says. */
static void block_native(const struct val *object, struct arena *arena, struct pod_spec *out)
{
	const char *name = val_str(val_path(object, "spec", "schedulingGroup", "podGroupName", NULL), NULL);
	const char *mark = val_str(val_path(object, "metadata", "annotations", KINDS_NATIVE_MARK, NULL), NULL);
	if (name && (!out->group || !text_equal(name, mark)))
		pod_block_add(&out->block, arena, BLOCK_MISSING,
		              "spec.schedulingGroup: waiting for the PodGroup %s of scheduling.k8s.io, which does not "
		              "exist or cannot be used",
		              decode_show(arena, name));
}

/* Of kinds that are not known it is said that they have a scale, as most do. Those of Kubernetes itself that have one and
 * select their pods make replicas. */
static void read_maker(const struct val *object, struct arena *arena, struct pod_spec *out)
{
	const struct val *owner = metadata_controller(object);
	if (!owner) {
		out->maker = MAKER_NONE;
		return;
	}
	const struct kind_row *row =
		kinds_find(val_str(val_get(owner, "apiVersion"), ""), val_str(val_get(owner, "kind"), ""));
	out->maker = row && !(row->flags & ROW_SCALE) ? MAKER_OTHER : MAKER_SCALED;
	if (row && out->maker == MAKER_SCALED && row->selector &&
	    (text_equal(row->group, KINDS_CORE) || text_equal(row->group, KINDS_APPS)))
		out->replica_of = arena_printf(arena, "%s/%s", row->kind, val_str(val_get(owner, "name"), ""));
}

int pod_decode(const struct val *object, struct arena *arena, struct pod_spec *out, struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object);
	struct metadata meta = decode_metadata(&decode, object, true);
	*out = (struct pod_spec){.namespace_ = meta.namespace_,
	                         .name = meta.name,
	                         .uid = meta.uid,
	                         .deleting = meta.deleting,
	                         .creation_seconds = meta.creation_seconds};
	read_maker(object, arena, out);
	read_group(&decode, &meta, out);
	read_spec(&decode, spec, out);
	struct conditions conditions = read_conditions(val_path(object, "status", "conditions", NULL));
	read_state(&decode, object, &conditions, out);
	read_requests(&decode, object, conditions.infeasible, out);
	read_claims(&decode, spec, out);
	read_device_claims(&decode, object, spec, out);
	rules_read_config_maps(object, arena, out);
	struct pod_rules *rules = arena_new(arena, struct pod_rules);
	rules_read_nodes(&decode, spec, rules);
	rules_read_ports(&decode, spec, rules);
	rules_read_pods(&decode, spec, &out->labels, rules);
	out->rules = rules;
	if (!out->node) { /* otherwise it is bound, whatever it asks for */
		pod_fields_block(object, arena, &out->block);
		block_native(object, arena, out);
		out->ungrouped = conditions.ungrouped;
		if (!out->group && conditions.ungrouped)
			pod_block_add(&out->block, arena, BLOCK_NOT_GROUPED, "%s", conditions.ungrouped);
	}
	return problems->errors > errors ? -1 : 0;
}
