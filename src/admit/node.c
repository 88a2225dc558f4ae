/* Node and PriorityClass. */
#include "admit/amounts.h"
#include "admit/decode.h"
#include "admit/pod.h"
#include "admit/rules.h"

#include <string.h>

/* What a kubelet allows when nothing is configured; simulated nodes often leave it out. */
#define DEFAULT_PODS 110

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};
static const struct decode_path *const status_path = &(const struct decode_path){.key = "status"};

static bool read_taint(const struct decode *decode, const struct decode_path *path, const struct val *map,
                       struct taint *out)
{
	const char *key = decode_string(decode, path, map, "key");
	const char *value = decode_string(decode, path, map, "value");
	const char *effect = decode_string(decode, path, map, "effect");
	if (!key)
		decode_error(decode, PATH_KEY(path, "key"), "name the taint", "a taint needs a key");
	if (!effect)
		decode_error(decode, PATH_KEY(path, "effect"), "write NoSchedule, PreferNoSchedule or NoExecute",
		             "a taint needs an effect");
	int choice = effect ? rules_effect(decode, PATH_KEY(path, "effect"), effect) : -1;
	if (!key || choice < 0)
		return false;
	*out = (struct taint){.key = key, .value = value ? value : "", .effect = (enum taint_effect)choice};
	return true;
}

static void read_taints(const struct decode *decode, const struct val *spec, struct node_spec *out)
{
	const struct val *list = decode_list(decode, spec_path, spec, "taints"), *item;
	out->taints = arena_array(decode->arena, struct taint, val_count(list));
	const char *unused;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(PATH_KEY(spec_path, "taints"), index);
		if (decode_is(decode, path, item, VAL_MAP) &&
		    read_taint(decode, path, item, &out->taints[out->taint_count]))
			out->taint_count++;
	}
}

static bool read_ready(const struct decode *decode, const struct val *status)
{
	const struct val *list = decode_list(decode, status_path, status, "conditions"), *item;
	const char *unused;
	size_t index = 0;
	bool ready = true;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(PATH_KEY(status_path, "conditions"), index);
		if (!decode_is(decode, path, item, VAL_MAP))
			continue;
		const char *type = decode_string(decode, path, item, "type");
		const char *value = decode_string(decode, path, item, "status");
		if (type && value && strcmp(type, "Ready") == 0)
			ready = strcmp(value, "False") != 0 && strcmp(value, "Unknown") != 0;
	}
	return ready;
}

static void read_allocatable(const struct decode *decode, const struct val *status, struct node_spec *out)
{
	struct amounts amounts;
	const struct val *allocatable = val_get(status, "allocatable");
	bool given = allocatable && val_kind(allocatable) != VAL_NULL;
	amounts_read(decode, status_path, status, given ? "allocatable" : "capacity", &amounts);
	if (!amounts_find(&amounts, "pods")) {
		int64_t *pods = amounts_slot(decode->arena, &amounts, "pods");
		if (pods)
			*pods = DEFAULT_PODS;
	}
	out->allocatable = amounts.items;
	out->allocatable_count = amounts.count;
}

int node_decode(const struct val *object, struct arena *arena, struct node_spec *out, struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object);
	const struct val *status = decode_map(&decode, NULL, object, "status");
	struct metadata meta = decode_metadata(&decode, object, false);
	*out = (struct node_spec){.name = meta.name, .deleting = meta.deleting};
	out->labels = decode_labels(&decode, PATH_KEY(NULL, "metadata"), meta.val, "labels");
	out->unschedulable = decode_bool(&decode, spec_path, spec, "unschedulable", false);
	read_taints(&decode, spec, out);
	read_allocatable(&decode, status, out);
	out->ready = read_ready(&decode, status);
	return problems->errors > errors ? -1 : 0;
}

int priority_class_decode(const struct val *object, struct arena *arena, struct priority_class *out,
                          struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	*out = (struct priority_class){0};
	if (!decode_is(&decode, NULL, object, VAL_MAP))
		return -1;
	out->name = decode_metadata(&decode, object, false).name;
	int64_t value = 0;
	const struct val *given = val_get(object, "value");
	if (!given || val_kind(given) == VAL_NULL)
		decode_error(&decode, PATH_KEY(NULL, "value"), "add the priority as a whole number",
		             "value is missing");
	decode_int(&decode, NULL, object, "value", INT32_MIN, INT32_MAX, &value);
	out->value = (int32_t)value;
	out->never_preempts = text_equal(decode_string(&decode, NULL, object, "preemptionPolicy"), "Never");
	out->global_default = decode_bool(&decode, NULL, object, "globalDefault", false);
	return problems->errors > errors ? -1 : 0;
}
