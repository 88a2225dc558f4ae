/* Owns devices of random runs. One seed in six has them; what they are comes from a stream of its own, so that clusters and
 * workloads of a seed are the same with and without them. */
#include "sim/faults_run.h"

#include "kinds/names.h"

#include <stdio.h>
#include <string.h>

#define API "apiVersion: " KINDS_RESOURCE "/v1"
#define MOST_EACH 2 /* devices of one claim */

static int pick(struct fault_run *run, int low, int high)
{
	return random_range(&run->devices, low, high);
}

static bool chance(struct fault_run *run, int percent)
{
	return random_chance(&run->devices, percent);
}

/* What its driver publishes for a node: each time a new generation. */
static void print_slice(struct fault_run *run, struct buffer *out, const char *node)
{
	int devices = pick(run, 0, 4), generation = ++run->device_generation;
	bool late = chance(run, 10); /* another slice of the pool is still to come */
	buffer_printf(out,
	              "---\n{" API ", kind: ResourceSlice, metadata: {name: %s-gpu}, spec: {driver: gpu.example.com, "
	              "nodeName: %s,\n pool: {name: %s, generation: %d, resourceSliceCount: %d}, devices: [",
	              node, node, node, generation, late ? 2 : 1);
	for (int i = 0; i < devices; i++)
		buffer_printf(out, "%s{name: gpu-%d, attributes: {big: {bool: %s}}%s}", i ? ", " : "", i,
		              chance(run, 50) ? "true" : "false",
		              chance(run, 5) ? ", taints: [{key: sick, effect: NoSchedule}]" : "");
	buffer_puts(out, "]}}\n");
	faults_trace(run, "%d devices on %s%s", devices, node, late ? ", of an incomplete pool" : "");
}

void faults_make_devices(struct fault_run *run)
{
	struct buffer out = {0};
	run->devices.state = run->options.seed ^ 0x64657669636573ULL;
	run->has_devices = chance(run, 17);
	if (!run->has_devices || run->nodes.count == 0)
		return;
	buffer_puts(&out,
	            "---\n{" API ", kind: DeviceClass, metadata: {name: gpu}, spec: {selectors: [{cel: {expression: "
	            "\"device.driver == 'gpu.example.com'\"}}]}}\n");
	for (int kind = FAULT_DEVICES_ANY; kind <= FAULT_DEVICES_BIG; kind++)
		for (int count = 1; count <= MOST_EACH; count++)
			buffer_printf(&out,
			              "---\n{" API
			              ", kind: ResourceClaimTemplate, metadata: {name: d%d-%d, namespace: default}, "
			              "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, "
			              "count: %d%s}}]%s}}}}\n",
			              kind, count, count,
			              kind == FAULT_DEVICES_ANY ? ""
			                                        : ", selectors: [{cel: {expression: "
			                                          "\"device.attributes['gpu.example.com'].big\"}}]",
			              run->options.seed % 3 ? "" /* the stream stays what it is */
			                                    : ", constraints: [{matchAttribute: gpu.example.com/big}]");
	for (size_t i = 0; i < run->nodes.count; i++)
		print_slice(run, &out, run->nodes.items[i].name);
	faults_apply(run, out.text);
	buffer_free(&out);
}

void faults_choose_devices(struct fault_run *run, struct fault_group *group)
{
	if (!run->has_devices || !chance(run, 60))
		return;
	group->devices = (enum fault_devices)pick(run, FAULT_DEVICES_ANY, FAULT_DEVICES_BIG);
	group->devices_each = pick(run, 1, MOST_EACH);
	faults_trace(run, "  claims for %d devices%s", group->devices_each,
	             group->devices == FAULT_DEVICES_BIG ? " that are big" : "");
}

void faults_print_devices(const struct fault_group *group, struct buffer *out)
{
	if (group->devices != FAULT_DEVICES_NONE)
		buffer_printf(out, ", resourceClaims: [{name: d, resourceClaimTemplateName: d%d-%d}]",
		              (int)group->devices, group->devices_each);
}

void faults_change_devices(struct fault_run *run)
{
	struct buffer out = {0};
	if (!run->has_devices || run->nodes.count == 0 || !chance(run, 25))
		return;
	print_slice(run, &out, run->nodes.items[pick(run, 0, (int)run->nodes.count - 1)].name);
	faults_apply(run, out.text);
	buffer_free(&out);
}
