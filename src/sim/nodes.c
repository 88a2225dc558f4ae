/* Owns what simulated nodes look like. */
#include "sim/nodes.h"

#include "base/hash.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_CPUS 64
#define DEFAULT_MEMORY 512 /* GiB */
#define WORD 63            /* bytes of a label value */

struct look {
	char name[WORD + 1], zone[WORD + 1], rack[WORD + 1], model[WORD + 1];
	long cpus, memory, gpus;
};

static void print_node(struct buffer *out, const struct look *look)
{
	char amounts[160], model[128] = "";
	snprintf(amounts, sizeof(amounts), "{cpu: \"%ld\", memory: %ldGi, pods: \"110\", nvidia.com/gpu: \"%ld\"}",
	         look->cpus, look->memory, look->gpus);
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

void nodes_of_shape(struct buffer *out, int zones, int racks, int nodes, int gpus)
{
	for (int zone = 1; zone <= zones; zone++)
		for (int rack = 1; rack <= racks; rack++)
			for (int node = 1; node <= nodes; node++) {
				struct look look = {.cpus = DEFAULT_CPUS, .memory = DEFAULT_MEMORY, .gpus = gpus};
				snprintf(look.zone, sizeof(look.zone), "z%d", zone);
				snprintf(look.rack, sizeof(look.rack), "z%d-r%d", zone, rack);
				snprintf(look.name, sizeof(look.name), "z%d-r%d-n%d", zone, rack, node);
				print_node(out, &look);
			}
}

/* ---- node lists ---- */

enum column { COLUMN_NAME, COLUMN_CPU, COLUMN_GPU, COLUMN_MEMORY, COLUMN_MODEL, COLUMN_ZONE, COLUMN_RACK, COLUMNS };

static const char *const column_names[COLUMNS][3] = {
	[COLUMN_NAME] = {"node_name", "name", "sn"},
	[COLUMN_CPU] = {"cpu_num", "cpu"},
	[COLUMN_GPU] = {"gpu_capacity_num", "gpu"},
	[COLUMN_MEMORY] = {"memory_gib"},
	[COLUMN_MODEL] = {"gpu_model", "model"},
	[COLUMN_ZONE] = {"zone"},
	[COLUMN_RACK] = {"rack"},
};

#define MAX_FIELDS 64

struct row {
	const char *at[MAX_FIELDS];
	size_t length[MAX_FIELDS];
	size_t count;
};

struct rack { /* the one of this model that is being filled */
	long nodes, number;
	UT_hash_handle hh;
	char model[WORD + 1];
};

struct list {
	const char *source;
	struct problems *problems;
	int field[COLUMNS]; /* -1: not there */
	size_t line;
	long racks;
	struct rack *models;
	struct interner *names;
};

static void complain(struct list *list, const char *fix, const char *message)
{
	problem_add(list->problems, SEVERITY_ERROR, problem_path(list->problems, "%s:%zu", list->source, list->line),
	            fix, "%s", message);
}

static void split(const char *line, size_t length, struct row *row)
{
	row->count = 0;
	for (size_t from = 0; from <= length && row->count < MAX_FIELDS;) {
		const char *comma = memchr(line + from, ',', length - from);
		size_t end = comma ? (size_t)(comma - line) : length;
		row->at[row->count] = line + from;
		row->length[row->count++] = end - from;
		from = end + 1;
	}
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return word && strlen(word) == length && strncmp(text, word, length) == 0;
}

static bool read_header(struct list *list, const struct row *row)
{
	for (int column = 0; column < COLUMNS; column++) {
		list->field[column] = -1;
		for (size_t i = 0; i < row->count; i++)
			for (int name = 0; name < 3; name++)
				if (is_word(row->at[i], row->length[i], column_names[column][name]))
					list->field[column] = (int)i;
	}
	if (list->field[COLUMN_NAME] >= 0)
		return true;
	complain(list, "begin with a line such as node_name,cpu_num,gpu_capacity_num,gpu_model",
	         "the header names no column node_name");
	return false;
}

/* What a label value or a name may hold; other characters become dashes. */
static void take_word(const struct list *list, const struct row *row, enum column column, char *into)
{
	into[0] = '\0';
	int field = list->field[column];
	if (field < 0 || (size_t)field >= row->count)
		return;
	size_t length = 0;
	for (size_t i = 0; i < row->length[field] && length < WORD; i++) {
		char c = row->at[field][i];
		bool good = isalnum((unsigned char)c) || ((c == '-' || c == '.' || c == '_') && length > 0);
		if (good || length > 0)
			into[length++] = good ? c : '-';
	}
	while (length > 0 && !isalnum((unsigned char)into[length - 1]))
		length--;
	into[length] = '\0';
}

static bool take_number(struct list *list, const struct row *row, enum column column, long fallback, long *into)
{
	int field = list->field[column];
	*into = fallback;
	if (field < 0 || (size_t)field >= row->count || row->length[field] == 0)
		return true;
	char text[16] = "", *end = NULL;
	if (row->length[field] < sizeof(text)) {
		memcpy(text, row->at[field], row->length[field]);
		*into = strtol(text, &end, 10);
	}
	/* 192 and 192.0 alike. */
	if (end && end != text && *end == '.')
		end += 1 + strspn(end + 1, "0");
	if (end && end != text && !*end && *into >= 0 && *into <= 1000000)
		return true;
	complain(list, "write a whole number from 0 to 1000000",
	         arena_printf(list->problems->arena, "\"%.*s\" is no %s",
	                      (int)(row->length[field] < 40 ? row->length[field] : 40), row->at[field],
	                      column_names[column][0]));
	return false;
}

/* Names are lower case and begin with a letter. */
static bool take_name(struct list *list, const struct row *row, struct look *look)
{
	char word[WORD + 1];
	take_word(list, row, COLUMN_NAME, word);
	if (!word[0]) {
		complain(list, "give each node a name", "the name is missing");
		return false;
	}
	for (char *at = word; *at; at++)
		*at = *at == '_' ? '-' : (char)tolower((unsigned char)*at);
	snprintf(look->name, sizeof(look->name), "%s%.57s", isalpha((unsigned char)word[0]) ? "" : "node-", word);
	if (interner_find(list->names, look->name) != UINT32_MAX) {
		complain(list, "give each node its own name",
		         arena_printf(list->problems->arena, "the name %s stands above already", look->name));
		return false;
	}
	interner_id(list->names, look->name);
	return true;
}

/* Where the list says nothing: nodes of one model fill racks in the order of the list, racks fill zones. */
static void take_place(struct list *list, const struct row *row, struct look *look)
{
	take_word(list, row, COLUMN_ZONE, look->zone);
	take_word(list, row, COLUMN_RACK, look->rack);
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

static void take_row(struct list *list, const struct row *row, struct buffer *out)
{
	struct look look;
	take_word(list, row, COLUMN_MODEL, look.model);
	bool good = take_name(list, row, &look);
	good &= take_number(list, row, COLUMN_CPU, DEFAULT_CPUS, &look.cpus);
	good &= take_number(list, row, COLUMN_GPU, 0, &look.gpus);
	good &= take_number(list, row, COLUMN_MEMORY, DEFAULT_MEMORY, &look.memory);
	if (!good)
		return;
	take_place(list, row, &look);
	print_node(out, &look);
}

static void read_rows(struct list *list, const char *text, size_t length, struct buffer *out)
{
	bool has_header = false;
	for (size_t from = 0; from < length;) {
		const char *end = memchr(text + from, '\n', length - from);
		size_t next = end ? (size_t)(end - text) + 1 : length, line = (end ? next - 1 : length) - from;
		struct row row;
		list->line++;
		if (line > 0 && text[from + line - 1] == '\r')
			line--;
		split(text + from, line, &row);
		from = next;
		if (line == 0)
			continue;
		if (!has_header && !read_header(list, &row))
			return;
		if (has_header)
			take_row(list, &row, out);
		has_header = true;
		if (interner_count(list->names) > NODES_MAX) {
			complain(list, "cut the list", "there are more than 20000 nodes");
			return;
		}
	}
	if (interner_count(list->names) == 0 && list->problems->errors == 0)
		complain(list, "add a line per node", "there are no nodes");
}

int nodes_of_list(struct buffer *out, const char *text, size_t length, const char *source, struct problems *problems)
{
	struct list list = {.source = source, .problems = problems, .names = interner_create()};
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
