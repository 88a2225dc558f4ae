/* Owns turning a table of instances into objects. */
#include "sim/trace.h"

#include "base/hash.h"
#include "object/build.h"
#include "cluster/csv.h"
#include "group/group.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MOST_INSTANCES 1000000
#define MOST_ROLES 64
#define MOST 1000000                      /* of one thing that an instance asks for */
#define LIMIT_PREFIX "trace.platoon.dev/" /* resources that stand for max_instance_per_node */

enum column {
	COLUMN_NAME,
	COLUMN_GROUP,
	COLUMN_ROLE,
	COLUMN_CPU,
	COLUMN_GPU,
	COLUMN_MEMORY,
	COLUMN_MOST,
	COLUMN_ARRIVAL,
	COLUMN_DELETION,
	COLUMN_DURATION,
	COLUMN_QUEUE,
	COLUMNS,
};

static const char *const column_names[COLUMNS][CSV_NAMES] = {
	[COLUMN_NAME] = {"instance_sn", "instance", "name"},
	[COLUMN_GROUP] = {"app_name", "gang", "job", "group"},
	[COLUMN_ROLE] = {"role"},
	[COLUMN_CPU] = {"cpu_request", "cpu"},
	[COLUMN_GPU] = {"gpu_request", "gpu"},
	[COLUMN_MEMORY] = {"memory_request", "memory_gib"},
	[COLUMN_MOST] = {"max_instance_per_node"},
	[COLUMN_ARRIVAL] = {"creation_time", "arrival"},
	[COLUMN_DELETION] = {"deletion_time"},
	[COLUMN_DURATION] = {"duration"},
	[COLUMN_QUEUE] = {"queue"},
};

struct role { /* of a gang, in the order of the table */
	char name[CSV_WORD + 1];
	int64_t pods;
	struct role *next;
};

struct gang {
	char *key; /* name, which says when it arrives */
	int64_t arrives;
	char queue[CSV_WORD + 1];
	struct role *roles;
	UT_hash_handle hh;
};

struct limit { /* how many of a group and role one node may hold */
	char *key;
	int64_t most;
	UT_hash_handle hh;
};

struct table {
	struct csv csv;
	struct arena *arena;
	struct buffer *out;
	struct gang *gangs;
	struct limit *limits;
	struct interner *names;
	int64_t node_cpus, node_gpus; /* of the largest node */
};

struct instance {
	char name[CSV_WORD + 1], group[CSV_WORD + 1], role[CSV_WORD + 1];
	int64_t cpu_milli, gpus, memory_milli, most, arrives, leaves, runs;
};

/* What a DNS name may hold. */
static void make_name(char *word)
{
	for (char *at = word; *at; at++)
		*at = *at == '_' || *at == '.' ? '-' : (char)tolower((unsigned char)*at);
}

static void take_name(const struct csv *csv, int column, char *into)
{
	csv_word(csv, column, into);
	into[40] = '\0'; /* room for what is added to it */
	make_name(into);
	for (size_t length = strlen(into); length > 0 && into[length - 1] == '-'; length--)
		into[length - 1] = '\0';
}

static struct gang *gang_of(struct table *table, const struct instance *instance)
{
	const char *key = instance->arrives > 0
	                          ? arena_printf(table->arena, "%s-%lld", instance->group, (long long)instance->arrives)
	                          : instance->group;
	struct gang *gang;
	HASH_FIND_STR(table->gangs, key, gang);
	if (gang)
		return gang;
	gang = arena_new(table->arena, struct gang);
	gang->key = arena_strdup(table->arena, key);
	gang->arrives = instance->arrives;
	csv_word(&table->csv, COLUMN_QUEUE, gang->queue);
	HASH_ADD_KEYPTR(hh, table->gangs, gang->key, strlen(gang->key), gang);
	return gang;
}

static void count_in_role(struct table *table, struct gang *gang, const char *name)
{
	struct role **at = &gang->roles;
	int count = 0;
	for (; *at && strcmp((*at)->name, name) != 0; at = &(*at)->next)
		count++;
	if (count == MOST_ROLES) {
		csv_complain(&table->csv, "use fewer roles", "group %s has more than %d roles", gang->key, MOST_ROLES);
		return;
	}
	if (!*at) {
		*at = arena_new(table->arena, struct role);
		snprintf((*at)->name, sizeof((*at)->name), "%s", name);
	}
	(*at)->pods++;
}

/* The resource that keeps the number per node, NULL when nothing else would let more fit anyway. */
static const char *limit_of(struct table *table, const struct instance *instance)
{
	int64_t by_cpu = instance->cpu_milli > 0 ? table->node_cpus / instance->cpu_milli : INT64_MAX;
	int64_t by_gpu = instance->gpus > 0 ? table->node_gpus / instance->gpus : INT64_MAX;
	if (instance->most <= 0 || by_cpu <= instance->most || by_gpu <= instance->most)
		return NULL;
	const char *key = arena_printf(table->arena, "%s-%s", instance->group, instance->role);
	struct limit *limit;
	HASH_FIND_STR(table->limits, key, limit);
	if (!limit) {
		limit = arena_new(table->arena, struct limit);
		limit->key = arena_strdup(table->arena, key);
		limit->most = instance->most;
		HASH_ADD_KEYPTR(hh, table->limits, limit->key, strlen(limit->key), limit);
	}
	return limit->key;
}

static void print_pod(struct table *table, const struct instance *instance, const struct gang *gang)
{
	struct buffer *out = table->out;
	const char *limit = limit_of(table, instance);
	buffer_printf(out,
	              "---\n{apiVersion: v1, kind: Pod, metadata: {name: \"%s\", namespace: default, labels: "
	              "{kai.scheduler/subgroup-name: \"%s\"},\n annotations: {pod-group-name: \"%s\", " TRACE_ARRIVES
	              ": \"%lld\"",
	              instance->name, instance->role, gang->key, (long long)instance->arrives);
	if (instance->leaves >= 0)
		buffer_printf(out, ", " TRACE_LEAVES ": \"%lld\"", (long long)instance->leaves);
	if (instance->runs >= 0)
		buffer_printf(out, ", " TRACE_RUNS ": \"%lld\"", (long long)instance->runs);
	buffer_printf(
		out,
		"}},\n spec: {schedulerName: platoon, containers: [{name: main, image: trace, resources: {requests: "
		"{cpu: %lldm, memory: %lldMi",
		(long long)instance->cpu_milli, (long long)(instance->memory_milli * 1024 / 1000));
	if (instance->gpus > 0)
		buffer_printf(out, ", nvidia.com/gpu: \"%lld\"", (long long)instance->gpus);
	if (limit)
		buffer_printf(out, ", " LIMIT_PREFIX "%s: \"1\"", limit);
	buffer_puts(out, "}}}]}}\n");
}

/* -1 is "any number"; csv_number knows no signs. */
static bool take_most(struct csv *csv, int64_t *most)
{
	char word[CSV_WORD + 1];
	csv_word(csv, COLUMN_MOST, word);
	int field = csv->field[COLUMN_MOST];
	bool minus =
		field >= 0 && (size_t)field < csv->count && csv->lengths[field] > 0 && csv->fields[field][0] == '-';
	*most = 0;
	return (minus && strcmp(word, "1") == 0) || csv_number(csv, COLUMN_MOST, 0, MOST, most);
}

/* Seconds; fractions are cut off. */
static bool take_time(struct csv *csv, int column, int64_t *into)
{
	int64_t milli;
	bool good = csv_milli(csv, column, -1000, TRACE_LONGEST, &milli);
	*into = milli < 0 ? -1 : milli / 1000;
	return good;
}

static void take_row(struct table *table)
{
	struct csv *csv = &table->csv;
	struct instance instance;
	take_name(csv, COLUMN_NAME, instance.name);
	take_name(csv, COLUMN_GROUP, instance.group);
	take_name(csv, COLUMN_ROLE, instance.role);
	bool good = csv_milli(csv, COLUMN_CPU, 0, MOST, &instance.cpu_milli);
	good &= csv_number(csv, COLUMN_GPU, 0, MOST, &instance.gpus);
	good &= csv_milli(csv, COLUMN_MEMORY, 0, MOST, &instance.memory_milli);
	good &= take_most(csv, &instance.most);
	good &= take_time(csv, COLUMN_ARRIVAL, &instance.arrives);
	good &= take_time(csv, COLUMN_DELETION, &instance.leaves);
	good &= take_time(csv, COLUMN_DURATION, &instance.runs);
	if (!good)
		return;
	if (!instance.group[0]) {
		csv_complain(csv, "say to which group the instance belongs", "the %s is missing",
		             column_names[COLUMN_GROUP][0]);
		return;
	}
	if (!instance.role[0])
		snprintf(instance.role, sizeof(instance.role), "pods");
	if (!instance.name[0] || !isalpha((unsigned char)instance.name[0]))
		snprintf(instance.name, sizeof(instance.name), "instance-%zu", csv->line);
	uint32_t known = interner_count(table->names);
	if (interner_id(table->names, instance.name) != known) {
		csv_complain(csv, "give each instance its own name", "the name %s stands above already", instance.name);
		return;
	}
	instance.arrives = instance.arrives < 0 ? 0 : instance.arrives;
	struct gang *gang = gang_of(table, &instance);
	count_in_role(table, gang, instance.role);
	print_pod(table, &instance, gang);
}

static void print_gangs(const struct table *table)
{
	for (const struct gang *gang = table->gangs; gang; gang = gang->hh.next) {
		buffer_printf(table->out,
		              "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: \"%s\",\n"
		              " namespace: default, annotations: {" TRACE_ARRIVES ": \"%lld\"}}, spec: {queue: \"%s\", "
		              "subGroups: [",
		              gang->key, (long long)gang->arrives, gang->queue[0] ? gang->queue : GROUP_DEFAULT_QUEUE);
		for (const struct role *role = gang->roles; role; role = role->next)
			buffer_printf(table->out, "%s{name: \"%s\", minMember: %lld}", role == gang->roles ? "" : ", ",
			              role->name, (long long)role->pods);
		buffer_puts(table->out, "]}}\n");
	}
}

static void measure_nodes(struct table *table, const struct manifests *nodes)
{
	for (size_t i = 0; i < nodes->count; i++) {
		const struct val *node = nodes->items[i].object;
		int64_t cpus = trace_node_amount(node, "cpu"), gpus = trace_node_amount(node, "nvidia.com/gpu");
		table->node_cpus = cpus > table->node_cpus ? cpus : table->node_cpus;
		table->node_gpus = gpus > table->node_gpus ? gpus : table->node_gpus;
	}
}

/* The nodes with the amounts that keep the numbers per node. */
static void print_nodes(const struct table *table, const struct manifests *nodes)
{
	for (size_t i = 0; i < nodes->count; i++) {
		const struct val *object = nodes->items[i].object;
		struct build *build = build_create();
		struct node *root = build_copy(build, object), *status = build_copy(build, val_get(object, "status"));
		struct node *amounts = build_copy(build, val_path(object, "status", "allocatable", NULL));
		for (const struct limit *limit = table->limits; limit; limit = limit->hh.next)
			build_put_string(build, amounts, arena_printf(table->arena, LIMIT_PREFIX "%s", limit->key),
			                 arena_printf(table->arena, "%lld", (long long)limit->most));
		if (table->limits) {
			build_put(build, status, "allocatable", amounts);
			build_put(build, root, "status", status);
		}
		buffer_puts(table->out, "---\n");
		build_write(build, root, DOC_JSON_COMPACT, table->out);
		buffer_puts(table->out, "\n");
		build_destroy(build);
	}
}

int trace_of_table(const char *text, size_t length, const char *source, const struct manifests *nodes,
                   struct buffer *out, struct problems *problems)
{
	struct table table = {
		.csv = {.source = source, .problems = problems, .names = column_names, .columns = COLUMNS},
		.arena = arena_create(),
		.out = out,
		.names = interner_create(),
	};
	size_t errors = problems->errors;
	measure_nodes(&table, nodes);
	if (csv_open(&table.csv, text, length, COLUMN_GROUP,
	             "begin with a line such as instance_sn,app_name,role,cpu_request,gpu_request,creation_time"))
		while (csv_next(&table.csv) && interner_count(table.names) <= MOST_INSTANCES)
			take_row(&table);
	if (interner_count(table.names) > MOST_INSTANCES)
		csv_complain(&table.csv, "cut the table", "there are more than %d instances", MOST_INSTANCES);
	print_gangs(&table);
	print_nodes(&table, nodes);
	HASH_CLEAR(hh, table.gangs);
	HASH_CLEAR(hh, table.limits);
	interner_destroy(table.names);
	arena_destroy(table.arena);
	return problems->errors > errors ? -1 : 0;
}
