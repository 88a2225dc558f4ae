/* Owns workloads of random runs whose owner is in the world: Jobs, Deployments and RoleBasedGroups. Their pods are
 * created, counted and replaced by controllers, and grouped by ours. */
#include "sim/faults_run.h"

#include "kinds/names.h"

#include <string.h>

static int pick(struct fault_run *run, int low, int high)
{
	return random_range(&run->random, low, high);
}

static void print_template(struct fault_run *run, struct buffer *out, bool job)
{
	static const int priorities[] = {20, 50, 75, 120};
	buffer_printf(out, "template: {metadata: {labels: {app: w%d, kai.scheduler/queue: q%d}", run->workload_count,
	              pick(run, run->first_queue, run->queue_count - 1));
	if (job && random_chance(&run->random, 60))
		buffer_printf(out, ", annotations: {platoon.dev/run-seconds: \"%d\", platoon.dev/exit-code: \"%d\"}",
		              pick(run, 1, 120), random_chance(&run->random, 20) ? 1 : 0);
	buffer_printf(out,
	              "}, spec: {schedulerName: platoon, terminationGracePeriodSeconds: 2, priorityClassName: p%d,\n"
	              " %scontainers: [{name: c, image: i, resources: {requests: {cpu: %d}}}]}}",
	              priorities[pick(run, 0, 3)], job ? "restartPolicy: Never, " : "", pick(run, 1, 2));
}

static void create_workload(struct fault_run *run)
{
	struct buffer out = {0};
	bool job = random_chance(&run->random, 60);
	int pods = pick(run, 1, 4);
	buffer_printf(&out, "{apiVersion: %s, kind: %s, metadata: {name: w%d, namespace: default}, spec: {",
	              job ? KINDS_BATCH "/v1" : KINDS_APPS "/v1", job ? "Job" : "Deployment", run->workload_count);
	if (job)
		buffer_printf(&out, "parallelism: %d, completions: %d, backoffLimit: %d, %s", pods,
		              pods + pick(run, 0, 1), pick(run, 0, 3),
		              random_chance(&run->random, 50) ? "completionMode: Indexed, " : "");
	else
		buffer_printf(&out, "replicas: %d, selector: {matchLabels: {app: w%d}}, ", pods, run->workload_count);
	print_template(run, &out, job);
	buffer_puts(&out, "}}");
	faults_trace(run, "%s w%d of %d pods", job ? "Job" : "Deployment", run->workload_count, pods);
	run->workloads[run->workload_count++] = job ? FAULT_JOB : FAULT_DEPLOYMENT;
	faults_apply(run, out.text);
	buffer_free(&out);
}

static void print_role(struct fault_run *run, struct buffer *out, const char *name)
{
	buffer_printf(
		out,
		"{name: %s, replicas: %d, template: {spec: {schedulerName: platoon, terminationGracePeriodSeconds: 2,\n"
		" containers: [{name: c, image: i, resources: {requests: {cpu: %d}}}]}}}",
		name, pick(run, 1, 4), pick(run, 1, 2));
}

static void create_roles(struct fault_run *run)
{
	static const char *const progressions[] = {"Parallel", "Ordered", "OrderedReady"};
	struct buffer out = {0};
	buffer_printf(
		&out,
		"{apiVersion: workloads.x-k8s.io/v1alpha1, kind: RoleBasedGroup, metadata: {name: w%d, namespace: "
		"default}, spec: {roles: [",
		run->workload_count);
	print_role(run, &out, "a");
	buffer_puts(&out, ", ");
	print_role(run, &out, "b");
	buffer_puts(&out, "]");
	if (random_chance(&run->random, 60))
		buffer_printf(&out,
		              ", coordination: [{name: ab, strategy: {segmentPlacement: {segmentSize: {a: %d, b: %d}, "
		              "progression: %s}}}]",
		              pick(run, 1, 2), pick(run, 1, 2), progressions[pick(run, 0, 2)]);
	buffer_puts(&out, "}}");
	faults_trace(run, "RoleBasedGroup w%d", run->workload_count);
	run->workloads[run->workload_count++] = FAULT_ROLES;
	faults_apply(run, out.text);
	buffer_free(&out);
}

/* One of the two roles of a RoleBasedGroup gets another number of replicas, if the group is still there. */
static void scale_role(struct fault_run *run, const char *name)
{
	struct store_error error = {0};
	struct error ignored = {0};
	char patch[128];
	int role = pick(run, 0, 1), replicas = pick(run, 0, 5);
	snprintf(patch, sizeof(patch), "[{\"op\":\"replace\",\"path\":\"/spec/roles/%d/replicas\",\"value\":%d}]", role,
	         replicas);
	struct doc *doc = doc_parse_json(patch, strlen(patch), &ignored);
	struct simulation_target target = {.kind = "RoleBasedGroup", .namespace_ = "default", .name = name};
	int rc = simulation_patch(run->simulation, &target, STORE_PATCH_JSON, STORE_MAIN, doc_root(doc), run->arena,
	                          &error);
	faults_trace(run, "RoleBasedGroup %s: role %c is scaled to %d%s", name, 'a' + role, replicas,
	             rc < 0 ? ", but is gone" : "");
	doc_destroy(doc);
}

static void change_workload(struct fault_run *run)
{
	static const char *const kinds[] = {"Job", "Deployment", "RoleBasedGroup"};
	char name[16];
	struct store_error error = {0};
	int index = pick(run, 0, run->workload_count - 1);
	enum fault_workload kind = run->workloads[index];
	snprintf(name, sizeof(name), "w%d", index);
	struct simulation_target target = {.kind = kinds[kind], .namespace_ = "default", .name = name};
	if (kind == FAULT_ROLES && random_chance(&run->random, 70)) {
		scale_role(run, name);
		return;
	}
	if (kind != FAULT_DEPLOYMENT || random_chance(&run->random, 40)) {
		faults_trace(run, "%s %s is deleted", target.kind, name);
		simulation_delete(run->simulation, &target, -1, run->arena, &error);
		return;
	}
	int replicas = pick(run, 0, 5);
	faults_trace(run, "Deployment %s is scaled to %d", name, replicas);
	simulation_scale(run->simulation, &target, replicas, run->arena, &error);
}

void faults_change_workload(struct fault_run *run)
{
	if (run->workload_count == 0 || (run->workload_count < FAULT_WORKLOADS && random_chance(&run->random, 60)))
		random_chance(&run->random, 30) ? create_roles(run) : create_workload(run);
	else
		change_workload(run);
}
