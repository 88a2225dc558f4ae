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

static void read_exactly(const struct decode *decode, const struct decode_path *path, const struct val *exactly,
                         struct device_request *request, const char **unserved)
{
	static const char *const served[] = {"deviceClassName", "selectors", "allocationMode", "count", "tolerations"};
	const char *class_ = decode_string(decode, path, exactly, "deviceClassName");
	const char *mode = decode_string(decode, path, exactly, "allocationMode");
	note_unserved(decode, unserved, path, find_unknown(exactly, served, 5));
	if (mode && strcmp(mode, "ExactCount") != 0)
		note_unserved(decode, unserved, path, "allocationMode");
	request->class_ = class_ ? class_ : "";
	request->count = 1;
	decode_int(decode, path, exactly, "count", 0, INT64_MAX, &request->count);
	if (request->count == 0) /* as it is where nobody has written the default */
		request->count = 1;
	request->selectors = read_selectors(decode, path, exactly, &request->selector_count);
	request->tolerations = rules_tolerations(decode, path, exactly, &request->toleration_count);
}

static void read_requests(const struct decode *decode, const struct val *spec, struct device_claim_spec *out)
{
	static const char *const served[] = {"requests", "config"}, *const known[] = {"name", "exactly"};
	const struct decode_path *up = PATH_KEY(spec_path, "devices"), *path = PATH_KEY(up, "requests");
	const struct val *devices = decode_map(decode, spec_path, spec, "devices");
	const struct val *list = decode_list(decode, up, devices, "requests"), *item;
	size_t index = 0;
	note_unserved(decode, &out->unserved, up, find_unknown(devices, served, 2));
	out->requests = arena_array(decode->arena, struct device_request, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *at = PATH_INDEX(path, index);
		if (!decode_is(decode, at, item, VAL_MAP))
			continue;
		struct device_request *request = &out->requests[out->request_count++];
		const char *name = decode_string(decode, at, item, "name");
		request->name = name ? name : "";
		note_unserved(decode, &out->unserved, at, find_unknown(item, known, 2));
		read_exactly(decode, PATH_KEY(at, "exactly"), decode_map(decode, at, item, "exactly"), request,
		             &out->unserved);
	}
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
