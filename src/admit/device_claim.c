/* Decodes ResourceClaims, DeviceClasses and DeviceTaintRules. What of a claim is not served is named with its path. */
#include "admit/device_claim.h"

#include "admit/decode.h"
#include "admit/rules.h"
#include "base/strings.h"
#include "object/metadata.h"

#include <string.h>

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

/* The first key of the map that is not among the names; NULL when there is none. Empty values ask for nothing. */
static const char *find_unknown(const struct val *map, const char *const *names, size_t count)
{
	const char *key;
	const struct val *value;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &value);) {
		enum val_kind kind = val_kind(value);
		bool known = kind == VAL_NULL || (kind == VAL_BOOL && !val_bool(value, true)) ||
		             ((kind == VAL_LIST || kind == VAL_MAP) && val_count(value) == 0);
		for (size_t i = 0; i < count && !known; i++)
			known = strcmp(key, names[i]) == 0;
		if (!known)
			return key;
	}
	return NULL;
}

static void note_unserved(const struct decode *decode, const char **unserved, const struct decode_path *path,
                          const char *key)
{
	if (key && !*unserved)
		*unserved = decode_path_text(decode->arena, PATH_KEY(path, key));
}

static const char **read_selectors(const struct decode *decode, const struct decode_path *up, const struct val *owner,
                                   size_t *count)
{
	const struct decode_path *path = PATH_KEY(up, "selectors");
	const struct val *list = decode_list(decode, up, owner, "selectors"), *selector;
	const char **out = arena_array(decode->arena, const char *, val_count(list));
	size_t index = 0;
	*count = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &selector); index++) {
		const struct decode_path *item = PATH_INDEX(path, index);
		if (!decode_is(decode, item, selector, VAL_MAP))
			continue;
		const char *text = decode_string(decode, PATH_KEY(item, "cel"),
		                                 decode_map(decode, item, selector, "cel"), "expression");
		if (text)
			out[(*count)++] = text;
		else
			decode_error(decode, item, "add cel.expression", "a selector without an expression");
	}
	return out;
}

int device_class_decode(const struct val *object, struct arena *arena, struct device_class_spec *out,
                        struct problems *problems)
{
	static const char *const served[] = {"selectors", "config", "extendedResourceName"};
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	struct metadata meta = decode_metadata(&decode, object, false);
	const struct val *spec = decode_map(&decode, NULL, object, "spec");
	*out = (struct device_class_spec){.name = meta.name};
	out->selectors = read_selectors(&decode, spec_path, spec, &out->selector_count);
	note_unserved(&decode, &out->unserved, spec_path, find_unknown(spec, served, 3));
	return problems->errors > errors ? -1 : 0;
}

/* ---- claims ---- */

static void read_capacities(const struct decode *decode, const struct decode_path *up, const struct val *from,
                            struct device_option *option, const char **unserved)
{
	static const char *const served[] = {"requests"};
	const struct decode_path *path = PATH_KEY(up, "capacity");
	const struct val *capacity = decode_map(decode, up, from, "capacity"), *value;
	const struct val *map = decode_map(decode, path, capacity, "requests");
	const char *key;
	note_unserved(decode, unserved, path, find_unknown(capacity, served, 1));
	option->capacities = arena_array(decode->arena, struct device_capacity, val_count(map));
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &value);) {
		struct device_capacity *item = &option->capacities[option->capacity_count++];
		char scratch[64];
		struct error error = {0};
		const char *text = val_scalar_text(value, scratch);
		item->name = key;
		if (!text || quantity_parse_exact(text, strlen(text), &item->amount, &error) < 0)
			decode_error(decode, PATH_KEY(PATH_KEY(path, "requests"), key), "write a quantity such as 40Gi",
			             "%s", text ? error.text : "a quantity is missing");
	}
}

static void read_option(const struct decode *decode, const struct decode_path *path, const struct val *from,
                        struct device_option *option, const char **unserved)
{
	static const char *const served[] = {"name",  "deviceClassName", "selectors",   "allocationMode",
	                                     "count", "tolerations",     "adminAccess", "capacity"};
	const char *class_ = decode_string(decode, path, from, "deviceClassName");
	const char *mode = decode_string(decode, path, from, "allocationMode");
	note_unserved(decode, unserved, path, find_unknown(from, served, sizeof(served) / sizeof(*served)));
	option->all = text_equal(mode, "All");
	if (mode && !option->all && strcmp(mode, "ExactCount") != 0)
		note_unserved(decode, unserved, path, "allocationMode");
	option->class_ = class_ ? class_ : "";
	option->count = 1;
	decode_int(decode, path, from, "count", 0, INT64_MAX, &option->count);
	if (option->count == 0 || option->all) /* as it is where nobody has written the default */
		option->count = 1;
	option->admin = decode_bool(decode, path, from, "adminAccess", false);
	option->selectors = read_selectors(decode, path, from, &option->selector_count);
	option->tolerations = rules_tolerations(decode, path, from, &option->toleration_count);
	read_capacities(decode, path, from, option, unserved);
}

static void read_request(const struct decode *decode, const struct decode_path *path, const struct val *from,
                         struct device_request *request, const char **unserved)
{
	static const char *const known[] = {"name", "exactly", "firstAvailable"};
	const struct decode_path *list_path = PATH_KEY(path, "firstAvailable");
	const struct val *list = decode_list(decode, path, from, "firstAvailable"), *item;
	const char *name = decode_string(decode, path, from, "name");
	size_t index = 0;
	request->name = name ? name : "";
	note_unserved(decode, unserved, path, find_unknown(from, known, 3));
	request->options = arena_array(decode->arena, struct device_option, val_count(list) + 1);
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *at = PATH_INDEX(list_path, index);
		if (!decode_is(decode, at, item, VAL_MAP))
			continue;
		struct device_option *option = &request->options[request->option_count++];
		const char *own = decode_string(decode, at, item, "name");
		option->name = arena_printf(decode->arena, "%s/%s", request->name, own ? own : "");
		read_option(decode, at, item, option, unserved);
	}
	if (request->option_count)
		return;
	request->options[0].name = request->name;
	read_option(decode, PATH_KEY(path, "exactly"), decode_map(decode, path, from, "exactly"), &request->options[0],
	            unserved);
	request->option_count = 1;
}

static void read_constraints(const struct decode *decode, const struct decode_path *up, const struct val *devices,
                             struct device_claim_spec *out)
{
	static const char *const served[] = {"requests", "matchAttribute", "distinctAttribute"};
	const struct decode_path *path = PATH_KEY(up, "constraints");
	const struct val *list = decode_list(decode, up, devices, "constraints"), *item;
	size_t index = 0;
	out->constraints = arena_array(decode->arena, struct device_constraint, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *at = PATH_INDEX(path, index);
		if (!decode_is(decode, at, item, VAL_MAP))
			continue;
		struct device_constraint *constraint = &out->constraints[out->constraint_count++];
		const char *match = decode_string(decode, at, item, "matchAttribute");
		const char *distinct = decode_string(decode, at, item, "distinctAttribute");
		note_unserved(decode, &out->unserved, at, find_unknown(item, served, 3));
		constraint->requests = decode_strings(decode, at, item, "requests", &constraint->request_count);
		constraint->distinct = !match && distinct;
		constraint->attribute = match ? match : distinct ? distinct : "";
	}
}

static void read_requests(const struct decode *decode, const struct val *spec, struct device_claim_spec *out)
{
	static const char *const served[] = {"requests", "config", "constraints"};
	const struct decode_path *up = PATH_KEY(spec_path, "devices"), *path = PATH_KEY(up, "requests");
	const struct val *devices = decode_map(decode, spec_path, spec, "devices");
	const struct val *list = decode_list(decode, up, devices, "requests"), *item;
	size_t index = 0;
	note_unserved(decode, &out->unserved, up, find_unknown(devices, served, 3));
	out->requests = arena_array(decode->arena, struct device_request, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++)
		if (decode_is(decode, PATH_INDEX(path, index), item, VAL_MAP))
			read_request(decode, PATH_INDEX(path, index), item, &out->requests[out->request_count++],
			             &out->unserved);
	read_constraints(decode, up, devices, out);
}

static const char *text_of(const struct val *map, const char *key)
{
	return val_str(val_get(map, key), "");
}

static void read_allocation(const struct decode *decode, const struct val *status, struct device_claim_spec *out)
{
	const struct decode_path *path = PATH_KEY(PATH_KEY(NULL, "status"), "allocation");
	const struct val *allocation = decode_map(decode, PATH_KEY(NULL, "status"), status, "allocation"), *item;
	const struct val *list = val_path(allocation, "devices", "results", NULL);
	const struct val *nodes = decode_map(decode, path, allocation, "nodeSelector");
	out->allocated = allocation != NULL;
	out->results = arena_array(decode->arena, struct device_result, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		out->results[out->result_count++] = (struct device_result){
			.request = text_of(item, "request"),
			.driver = text_of(item, "driver"),
			.pool = text_of(item, "pool"),
			.device = text_of(item, "device"),
			.admin = val_bool(val_get(item, "adminAccess"), false),
		};
	out->has_terms = nodes != NULL;
	if (nodes)
		out->terms = rules_node_terms(decode, PATH_KEY(path, "nodeSelector"), nodes, &out->term_count);
}

static void read_users(const struct decode *decode, const struct val *status, struct device_claim_spec *out)
{
	const struct val *list = decode_list(decode, PATH_KEY(NULL, "status"), status, "reservedFor"), *item;
	out->users = arena_array(decode->arena, const char *, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		out->users[out->user_count++] = text_of(item, "uid");
}

int device_claim_decode(const struct val *object, struct arena *arena, struct device_claim_spec *out,
                        struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	struct metadata meta = decode_metadata(&decode, object, true);
	const struct val *spec = decode_map(&decode, NULL, object, "spec");
	const struct val *status = decode_map(&decode, NULL, object, "status");
	*out = (struct device_claim_spec){.namespace_ = meta.namespace_,
	                                  .name = meta.name,
	                                  .uid = meta.uid,
	                                  .deleting = meta.deleting};
	out->owner = val_str(val_get(metadata_controller(object), "uid"), NULL);
	read_requests(&decode, spec, out);
	read_allocation(&decode, status, out);
	read_users(&decode, status, out);
	return problems->errors > errors ? -1 : 0;
}

int device_rule_decode(const struct val *object, struct arena *arena, struct device_rule_spec *out,
                       struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct decode_path *taint_path = PATH_KEY(spec_path, "taint"),
				 *path = PATH_KEY(spec_path, "deviceSelector");
	struct metadata meta = decode_metadata(&decode, object, false);
	const struct val *spec = decode_map(&decode, NULL, object, "spec");
	const struct val *taint = decode_map(&decode, spec_path, spec, "taint");
	const struct val *selector = decode_map(&decode, spec_path, spec, "deviceSelector");
	const char *key = decode_string(&decode, taint_path, taint, "key");
	const char *value = decode_string(&decode, taint_path, taint, "value");
	const char *effect = decode_string(&decode, taint_path, taint, "effect");
	bool executes = text_equal(effect, "NoExecute");
	*out = (struct device_rule_spec){
		.name = meta.name,
		.driver = decode_string(&decode, path, selector, "driver"),
		.pool = decode_string(&decode, path, selector, "pool"),
		.device = decode_string(&decode, path, selector, "device"),
		.taint = {key ? key : "", value ? value : "", executes ? TAINT_NO_EXECUTE : TAINT_NO_SCHEDULE},
		.keeps_away = executes || text_equal(effect, "NoSchedule"),
	};
	return problems->errors > errors ? -1 : 0;
}
