/* Owns volumes and disruption budgets of random runs. One seed in six has volumes, one in four budgets; what they are comes
 * from a stream of its own, so that clusters and workloads of a seed are the same with and without them. */
#include "sim/faults_run.h"

#include "kinds/names.h"

#include <string.h>

#define DRIVER "csi.example.com"

static int pick(struct fault_run *run, int low, int high)
{
	return random_range(&run->storage, low, high);
}

static bool chance(struct fault_run *run, int percent)
{
	return random_chance(&run->storage, percent);
}

/* ---- the cluster ---- */

static void print_classes(struct fault_run *run, struct buffer *out)
{
	static const int seconds[] = {0, 2, 40};
	buffer_puts(out,
	            "---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: "
	            "kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}\n");
	buffer_puts(
		out,
		"---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: made}, provisioner: " DRIVER
		", volumeBindingMode: WaitForFirstConsumer");
	if (chance(run, 25))
		buffer_puts(out, ", allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [z0]}]}]");
	buffer_printf(out, ", parameters: {platoon.dev/provision-seconds: \"%d\"", seconds[pick(run, 0, 2)]);
	if (chance(run, 30))
		buffer_printf(out, ", platoon.dev/fail-times: \"%d\"", pick(run, 1, 3));
	if (chance(run, 30))
		buffer_puts(out, ", platoon.dev/topology-key: zone");
	buffer_puts(out, "}}\n");
}

static void print_volume(struct fault_run *run, struct buffer *out, const char *node)
{
	buffer_printf(out,
	              "---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv%d}, spec: {capacity: "
	              "{storage: %dGi},\n"
	              " accessModes: [ReadWriteOnce, ReadWriteOncePod%s], storageClassName: local, local: {path: /v},\n"
	              " persistentVolumeReclaimPolicy: Retain, nodeAffinity: {required: {nodeSelectorTerms: "
	              "[{matchExpressions: [",
	              run->volume_count++, pick(run, 1, 3), chance(run, 50) ? ", ReadWriteMany" : "");
	buffer_printf(out,
	              "{key: kubernetes.io/hostname, operator: In, values: [%s]}]}]}}}, status: {phase: Available}}\n",
	              node);
}

static const char *random_node(struct fault_run *run)
{
	return run->nodes.items[pick(run, 0, (int)run->nodes.count - 1)].name;
}

void faults_make_storage(struct fault_run *run)
{
	struct buffer out = {0};
	run->storage.state = run->options.seed ^ 0x73746f72616765ULL;
	run->has_volumes = chance(run, 17);
	run->has_budgets = chance(run, 25);
	if (!run->has_volumes || run->nodes.count == 0)
		return;
	print_classes(run, &out);
	for (size_t i = 0; i < run->nodes.count; i++) {
		for (int volumes = pick(run, 0, 3); volumes > 0; volumes--)
			print_volume(run, &out, run->nodes.items[i].name);
	}
	faults_trace(run, "%d local volumes", run->volume_count);
	faults_apply(run, out.text);
	buffer_free(&out);
}

/* ---- claims ---- */

static void print_claim_spec(const struct fault_group *group, struct buffer *out)
{
	buffer_printf(out, "spec: {accessModes: [%s], storageClassName: %s, resources: {requests: {storage: %dGi}}}",
	              group->single_use ? "ReadWriteOncePod" : "ReadWriteOnce", group->made ? "made" : "local",
	              group->size);
}

void faults_choose_claims(struct fault_run *run, struct fault_group *group)
{
	static const char *const words[] = {"none", "one each", "ephemeral", "shared"};
	if (!run->has_volumes || !chance(run, 60))
		return;
	group->claims = (enum fault_claims)pick(run, FAULT_CLAIM_EACH, FAULT_CLAIM_SHARED);
	group->made = chance(run, 50);
	group->single_use = chance(run, 15);
	group->size = pick(run, 1, 3);
	faults_trace(run, "  claims: %s of class %s, %d Gi%s", words[group->claims], group->made ? "made" : "local",
	             group->size, group->single_use ? ", for one pod" : "");
}

static void claim_name(const struct fault_group *group, const char *pod, char name[64])
{
	if (group->claims == FAULT_CLAIM_SHARED)
		snprintf(name, 64, "%s-shared", group->name);
	else
		snprintf(name, 64, "data-%s", pod);
}

void faults_print_claim(struct fault_run *run, const struct fault_group *group, const char *pod, struct buffer *out)
{
	const struct store_type *claims = store_type_find(run->simulation->store, "", "persistentvolumeclaims");
	char name[64];
	if (group->claims != FAULT_CLAIM_EACH && group->claims != FAULT_CLAIM_SHARED)
		return;
	claim_name(group, pod, name);
	if (store_peek(run->simulation->store, claims, "default", name))
		return;
	buffer_printf(out,
	              "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, namespace: default}, ",
	              name);
	print_claim_spec(group, out);
	buffer_puts(out, "}\n");
}

void faults_print_volumes(const struct fault_group *group, const char *pod, struct buffer *out)
{
	char name[64];
	if (group->claims == FAULT_CLAIM_NONE)
		return;
	if (group->claims == FAULT_CLAIM_EPHEMERAL) {
		buffer_puts(out, ", volumes: [{name: data, ephemeral: {volumeClaimTemplate: {");
		print_claim_spec(group, out);
		buffer_puts(out, "}}}]");
		return;
	}
	claim_name(group, pod, name);
	buffer_printf(out, ", volumes: [{name: data, persistentVolumeClaim: {claimName: %s}}]", name);
}

/* ---- changes ---- */

static void create_budget(struct fault_run *run)
{
	static const char *const wants[] = {"minAvailable: 1",   "minAvailable: 2",       "minAvailable: \"50%\"",
	                                    "maxUnavailable: 0", "maxUnavailable: 1",     "maxUnavailable: \"30%\"",
	                                    "minAvailable: 3",   "maxUnavailable: \"0%\""};
	struct buffer out = {0};
	const char *want = wants[pick(run, 0, 7)];
	buffer_printf(&out,
	              "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b%d, namespace: default}, "
	              "spec: {%s",
	              run->budget_count, want);
	if (chance(run, 20))
		buffer_puts(&out, ", unhealthyPodEvictionPolicy: AlwaysAllow");
	size_t start = out.length;
	if (chance(run, 25))
		buffer_puts(&out, ", selector: {}}}\n");
	else if (chance(run, 70) && run->group_count > 0)
		buffer_printf(&out, ", selector: {matchLabels: {gang: g%d}}}}\n", pick(run, 0, run->group_count - 1));
	else
		buffer_printf(&out, ", selector: {matchLabels: {app: w%d}}}}\n", pick(run, 0, FAULT_WORKLOADS / 2));
	faults_trace(run, "budget b%d: %s%.*s", run->budget_count, want, (int)(out.length - start - 3),
	             out.text + start);
	run->budget_count++;
	faults_apply(run, out.text);
	buffer_free(&out);
}

static void delete_named(struct fault_run *run, const char *version, const char *kind, const char *name)
{
	struct store_error error = {0};
	struct simulation_target target = {version, kind, "default", name};
	faults_trace(run, "%s %s is deleted", kind, name);
	simulation_delete(run->simulation, &target, -1, run->arena, &error); /* it may be gone */
}

static void delete_claim(struct fault_run *run)
{
	struct store_list list = {0};
	struct store_list_request request = {
		.api = store_api_find(run->simulation->store, "", "v1", "persistentvolumeclaims")};
	if (store_list(run->simulation->store, &request, &list, run->arena, NULL) == 0 && list.count > 0)
		delete_named(run, "v1", "PersistentVolumeClaim",
		             arena_strdup(run->arena, list.items[pick(run, 0, (int)list.count - 1)]->name));
	store_list_clear(&list);
}

static void change_volumes(struct fault_run *run)
{
	if (chance(run, 30)) {
		delete_claim(run);
		return;
	}
	struct buffer out = {0};
	faults_trace(run, "local volume pv%d comes", run->volume_count);
	print_volume(run, &out, random_node(run));
	faults_apply(run, out.text);
	buffer_free(&out);
}

void faults_change_storage(struct fault_run *run)
{
	if (run->has_budgets && chance(run, 30)) {
		if (run->budget_count > 0 && chance(run, 25))
			delete_named(run, KINDS_POLICY "/v1", "PodDisruptionBudget",
			             arena_printf(run->arena, "b%d", pick(run, 0, run->budget_count - 1)));
		else
			create_budget(run);
	}
	if (run->has_volumes && run->nodes.count > 0 && chance(run, 25))
		change_volumes(run);
}
