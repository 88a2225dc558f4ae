/* Owns what simulated nodes look like. */
#include "cluster/nodes.h"

#include "base/hash.h"
#include "cluster/csv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_CPUS 64
#define MOST 1000000 /* of anything a node has */

struct look {
	char name[CSV_WORD + 1], zone[CSV_WORD + 1], rack[CSV_WORD + 1], model[CSV_WORD + 1];
	int64_t cpus, memory, gpus;
	bool as_devices; /* the GPUs */
};

static void print_node(struct buffer *out, const struct look *look)
{
	char amounts[160], model[128] = "";
	snprintf(amounts, sizeof(amounts), "{cpu: \"%lld\", memory: %lldGi, pods: \"110\"", (long long)look->cpus,
	         (long long)look->memory);
	size_t length = strlen(amounts);
	if (look->as_devices)
		snprintf(amounts + length, sizeof(amounts) - length, "}");
	else
		snprintf(amounts + length, sizeof(amounts) - length, ", nvidia.com/gpu: \"%lld\"}",
		         (long long)look->gpus);
	if (look->model[0])
		snprintf(model, sizeof(model), ", nvidia.com/gpu.product: \"%s\"", look->model);
	buffer_printf(
		out,
		"---\n{apiVersion: v1, kind: Node, metadata: {name: \"%s\", labels: {kubernetes.io/hostname: \"%s\",\n"
		" topology.kubernetes.io/zone: \"%s\", example.com/rack: \"%s\"%s}},\n"
		" status: {capacity: %s, allocatable: %s, conditions: [{type: Ready, status: \"True\",\n"
		"  reason: SimulatedNode, message: the simulated node is ready}],\n"
		"  nodeInfo: {kubeletVersion: v1.32.0-platoon, osImage: simulated, kernelVersion: none,\n"
		"   containerRuntimeVersion: \"none://0\", architecture: amd64, operatingSystem: linux,\n"
		"   bootID: \"\", machineID: \"\", systemUUID: \"\", kubeProxyVersion: \"\"}}}\n",
		look->name, look->name, look->zone, look->rack, model, amounts, amounts);
}

/* As NVIDIA's driver publishes whole GPUs: a pool per node. */
static void print_slice(struct buffer *out, const struct look *look)
{
	buffer_printf(
		out,
		"---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: \"%s-gpu.nvidia.com\"},\n"
		" spec: {driver: gpu.nvidia.com, nodeName: \"%s\",\n"
		"  pool: {name: \"%s\", generation: 1, resourceSliceCount: 1}, devices: [",
		look->name, look->name, look->name);
	for (int64_t gpu = 0; gpu < look->gpus; gpu++)
		buffer_printf(out,
		              "%s\n   {name: gpu-%lld, attributes: {type: {string: gpu}, uuid: {string: GPU-%s-%lld},\n"
		              "     productName: {string: NVIDIA H100 80GB HBM3}, brand: {string: Nvidia},\n"
		              "     architecture: {string: Hopper}, cudaComputeCapability: {version: 9.0.0},\n"
		              "     driverVersion: {version: 580.126.20}, cudaDriverVersion: {version: 13.0.0},\n"
		              "     resource.kubernetes.io/pcieRoot: {string: pci0000:%02llx},\n"
		              "     resource.kubernetes.io/numaNode: {int: %lld}},\n"
		              "    capacity: {memory: {value: 80Gi}}}",
		              gpu ? "," : "", (long long)gpu, look->name, (long long)gpu, (long long)gpu,
		              (long long)(gpu >= look->gpus / 2 && look->gpus > 1));
	buffer_printf(out, "]}}\n");
}

static void print_classes(struct buffer *out)
{
	buffer_printf(
		out,
		"---\n{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu.nvidia.com}, spec: {\n"
		" selectors: [{cel: {expression: \"device.driver == 'gpu.nvidia.com' && "
		"device.attributes['gpu.nvidia.com'].type == 'gpu'\"}}]}}\n"
		"---\n{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: mig.nvidia.com}, spec: {\n"
		" selectors: [{cel: {expression: \"device.driver == 'gpu.nvidia.com' && "
		"device.attributes['gpu.nvidia.com'].type == 'mig'\"}}]}}\n");
}

void nodes_of_shape(struct buffer *out, int zones, int racks, int nodes, int gpus, bool as_devices)
{
	for (int zone = 1; zone <= zones; zone++)
		for (int rack = 1; rack <= racks; rack++)
			for (int node = 1; node <= nodes; node++) {
				struct look look = {.cpus = DEFAULT_CPUS,
				                    .memory = DEFAULT_CPUS * NODES_MEMORY_PER_CPU,
				                    .gpus = gpus,
				                    .as_devices = as_devices};
				snprintf(look.zone, sizeof(look.zone), "z%d", zone);
				snprintf(look.rack, sizeof(look.rack), "z%d-r%d", zone, rack);
				snprintf(look.name, sizeof(look.name), "z%d-r%d-n%d", zone, rack, node);
				print_node(out, &look);
				if (as_devices && gpus)
					print_slice(out, &look);
			}
	if (as_devices)
		print_classes(out);
}

/* ---- node lists ---- */

enum column { COLUMN_NAME, COLUMN_CPU, COLUMN_GPU, COLUMN_MEMORY, COLUMN_MODEL, COLUMN_ZONE, COLUMN_RACK, COLUMNS };

static const char *const column_names[COLUMNS][CSV_NAMES] = {
	[COLUMN_NAME] = {"node_name", "name", "sn"},
	[COLUMN_CPU] = {"cpu_num", "cpu"},
	[COLUMN_GPU] = {"gpu_capacity_num", "gpu"},
	[COLUMN_MEMORY] = {"memory_gib"},
	[COLUMN_MODEL] = {"gpu_model", "model"},
	[COLUMN_ZONE] = {"zone"},
	[COLUMN_RACK] = {"rack"},
};

struct rack { /* the one of this model that is being filled */
	long nodes, number;
	UT_hash_handle hh;
	char model[CSV_WORD + 1];
};

struct list {
	struct csv csv;
	long racks;
	struct rack *models;
	struct interner *names;
};

/* Names are lower case and begin with a letter. */
static bool take_name(struct list *list, struct look *look)
{
	char word[CSV_WORD + 1];
	csv_word(&list->csv, COLUMN_NAME, word);
	if (!word[0]) {
		csv_complain(&list->csv, "give each node a name", "the name is missing");
		return false;
	}
	for (char *at = word; *at; at++)
		*at = *at == '_' ? '-' : (char)tolower((unsigned char)*at);
	snprintf(look->name, sizeof(look->name), "%s%.57s", isalpha((unsigned char)word[0]) ? "" : "node-", word);
	if (interner_find(list->names, look->name) != UINT32_MAX) {
		csv_complain(&list->csv, "give each node its own name", "the name %s stands above already", look->name);
		return false;
	}
	interner_id(list->names, look->name);
	return true;
}

/* Where the list says nothing: nodes of one model fill racks in the order of the list, racks fill zones. */
static void take_place(struct list *list, struct look *look)
{
	csv_word(&list->csv, COLUMN_ZONE, look->zone);
	csv_word(&list->csv, COLUMN_RACK, look->rack);
	if (look->rack[0]) {
		if (!look->zone[0])
			snprintf(look->zone, sizeof(look->zone), "z1");
		return;
	}
	struct rack *rack;
	HASH_FIND_STR(list->models, look->model, rack);
	if (!rack) {
		rack = base_calloc(1, sizeof(*rack));
		snprintf(rack->model, sizeof(rack->model), "%s", look->model);
		HASH_ADD_STR(list->models, model, rack);
	}
	if (rack->nodes++ % NODES_PER_RACK == 0)
		rack->number = ++list->racks;
	snprintf(look->rack, sizeof(look->rack), "r%ld", rack->number);
	if (!look->zone[0])
		snprintf(look->zone, sizeof(look->zone), "z%ld", (rack->number - 1) / RACKS_PER_ZONE + 1);
}

static void take_row(struct list *list, struct buffer *out)
{
	struct look look = {0};
	csv_word(&list->csv, COLUMN_MODEL, look.model);
	bool good = take_name(list, &look);
	good &= csv_number(&list->csv, COLUMN_CPU, DEFAULT_CPUS, MOST, &look.cpus);
	good &= csv_number(&list->csv, COLUMN_GPU, 0, MOST, &look.gpus);
	good &= csv_number(&list->csv, COLUMN_MEMORY, look.cpus * NODES_MEMORY_PER_CPU, MOST, &look.memory);
	if (!good)
		return;
	take_place(list, &look);
	print_node(out, &look);
}

static void read_rows(struct list *list, const char *text, size_t length, struct buffer *out)
{
	if (csv_open(&list->csv, text, length, COLUMN_NAME,
	             "begin with a line such as node_name,cpu_num,gpu_capacity_num,gpu_model")) {
		while (csv_next(&list->csv)) {
			take_row(list, out);
			if (interner_count(list->names) > NODES_MAX) {
				csv_complain(&list->csv, "cut the list", "there are more than 20000 nodes");
				return;
			}
		}
	}
	if (interner_count(list->names) == 0 && list->csv.problems->errors == 0)
		csv_complain(&list->csv, "add a line per node", "there are no nodes");
}

int nodes_of_list(struct buffer *out, const char *text, size_t length, const char *source, struct problems *problems)
{
	struct list list = {
		.csv = {.source = source, .problems = problems, .names = column_names, .columns = COLUMNS},
		.names = interner_create(),
	};
	size_t errors = problems->errors;
	read_rows(&list, text, length, out);
	struct rack *rack, *next;
	HASH_ITER(hh, list.models, rack, next) {
		HASH_DEL(list.models, rack);
		free(rack);
	}
	interner_destroy(list.names);
	return problems->errors > errors ? -1 : 0;
}
