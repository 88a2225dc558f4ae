/* ResourceSlices: the devices in them, as expressions see them. */
#include "admit/decode.h"
#include "admit/device.h"
#include "base/strings.h"

#include <string.h>

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

static struct cel_text text_of(const char *text)
{
	return (struct cel_text){text, strlen(text)};
}

/* "domain/id", or an id in the domain of the driver. */
static void split_name(const char *name, const char *driver, struct cel_text *domain, struct cel_text *id)
{
	const char *slash = strchr(name, '/');
	*domain = slash ? (struct cel_text){name, (size_t)(slash - name)} : text_of(driver);
	*id = text_of(slash ? slash + 1 : name);
}

/* False when the attribute has no value that expressions could read; an error or a warning says so. */
static bool read_attribute(const struct decode *decode, const struct decode_path *path, const struct val *val,
                           struct cel_attribute *out)
{
	if (!decode_is(decode, path, val, VAL_MAP))
		return false;
	const char *version = decode_string(decode, path, val, "version");
	if (decode_int(decode, path, val, "int", INT64_MIN, INT64_MAX, &out->number)) {
		out->type = CEL_ATTRIBUTE_INT;
	} else if (val_get(val, "bool")) {
		out->type = CEL_ATTRIBUTE_BOOL;
		out->truth = decode_bool(decode, path, val, "bool", false);
	} else if (val_get(val, "string")) {
		const char *text = decode_string(decode, path, val, "string");
		out->type = CEL_ATTRIBUTE_STRING;
		out->text = text_of(text ? text : "");
	} else if (version) {
		out->type = CEL_ATTRIBUTE_VERSION;
		if (!cel_version_parse(text_of(version), false, &out->version))
			decode_error(decode, PATH_KEY(path, "version"), "write it as 1.2.3",
			             "%s is not a semantic version", decode_show(decode->problems->arena, version));
	} else {
		decode_warning(decode, path, "publish it as int, bool, string or version",
		               "an attribute without one of these values is not supported: its device is not used");
		return false;
	}
	return true;
}

static bool read_attributes(const struct decode *decode, const struct decode_path *up, const struct val *device,
                            const char *driver, struct cel_device *out)
{
	const struct val *map = decode_map(decode, up, device, "attributes"), *value;
	struct cel_attribute *items = arena_array(decode->arena, struct cel_attribute, val_count(map));
	const char *key;
	bool readable = true;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &value);) {
		struct cel_attribute *item = &items[out->attribute_count];
		split_name(key, driver, &item->domain, &item->id);
		bool read = read_attribute(decode, PATH_KEY(PATH_KEY(up, "attributes"), key), value, item);
		out->attribute_count += read;
		readable = readable && read;
	}
	out->attributes = items;
	return readable;
}

static void read_capacities(const struct decode *decode, const struct decode_path *up, const struct val *device,
                            const char *driver, struct cel_device *out)
{
	const struct val *map = decode_map(decode, up, device, "capacity"), *value;
	struct cel_capacity *items = arena_array(decode->arena, struct cel_capacity, val_count(map));
	const char *key;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &value);) {
		struct cel_capacity *item = &items[out->capacity_count];
		const struct decode_path *path = PATH_KEY(PATH_KEY(up, "capacity"), key);
		char scratch[64];
		struct error error = {0};
		const char *text = decode_is(decode, path, value, VAL_MAP)
		                           ? val_scalar_text(val_get(value, "value"), scratch)
		                           : NULL;
		split_name(key, driver, &item->domain, &item->id);
		if (!text || quantity_parse_exact(text, strlen(text), &item->value, &error) < 0)
			decode_error(decode, PATH_KEY(path, "value"), "write a quantity such as 40Gi", "%s",
			             text ? error.text : "a quantity is missing");
		else
			out->capacity_count++;
	}
	out->capacities = items;
}

/* Taints of other effects, None among them, keep nobody away. */
static void read_taints(const struct decode *decode, const struct decode_path *up, const struct val *device,
                        struct device_spec *out)
{
	const struct val *list = decode_list(decode, up, device, "taints"), *item;
	size_t index = 0;
	out->taints = arena_array(decode->arena, struct taint, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *path = PATH_INDEX(PATH_KEY(up, "taints"), index);
		if (!decode_is(decode, path, item, VAL_MAP))
			continue;
		const char *key = decode_string(decode, path, item, "key");
		const char *value = decode_string(decode, path, item, "value");
		const char *effect = decode_string(decode, path, item, "effect");
		bool executes = text_equal(effect, "NoExecute");
		if (executes || text_equal(effect, "NoSchedule"))
			out->taints[out->taint_count++] =
				(struct taint){key ? key : "", value ? value : "",
			                       executes ? TAINT_NO_EXECUTE : TAINT_NO_SCHEDULE};
	}
}

/* Whole amounts of counters, one after the other; false when something else stands there. */
static bool read_counters(const struct decode *decode, const struct decode_path *path, const struct val *map,
                          const char *set, struct device_counter *out, size_t *count)
{
	const struct val *value;
	const char *key;
	bool whole = true;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &value);) {
		struct quantity amount = {0};
		struct error error = {0};
		char scratch[64];
		const char *text = val_scalar_text(val_get(value, "value"), scratch);
		if (!text || quantity_parse_exact(text, strlen(text), &amount, &error) < 0)
			decode_error(decode, PATH_KEY(PATH_KEY(path, key), "value"), "write a quantity such as 14",
			             "%s", text ? error.text : "a quantity is missing");
		whole &= amount.nano == 0 && amount.whole >= 0;
		out[(*count)++] = (struct device_counter){.set = set, .name = key, .value = amount.whole};
	}
	return whole;
}

static size_t count_counters(const struct val *list)
{
	const struct val *item;
	size_t count = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		count += val_count(val_get(item, "counters"));
	return count;
}

static void read_draws(const struct decode *decode, const struct decode_path *up, const struct val *device,
                       struct device_spec *out)
{
	const struct val *list = decode_list(decode, up, device, "consumesCounters"), *item;
	size_t index = 0, count = 0, all = count_counters(list);
	struct device_counter *read = arena_array(decode->arena, struct device_counter, all);
	bool whole = true;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *path = PATH_INDEX(PATH_KEY(up, "consumesCounters"), index);
		const char *set = decode_string(decode, path, item, "counterSet");
		whole &= read_counters(decode, PATH_KEY(path, "counters"), decode_map(decode, path, item, "counters"),
		                       set ? set : "", read, &count);
	}
	out->draws = arena_array(decode->arena, struct device_draw, count);
	for (size_t i = 0; i < count; i++)
		out->draws[out->draw_count++] = (struct device_draw){read[i].set, read[i].name, read[i].value};
	if (!whole && !out->unserved)
		out->unserved = "consumesCounters with fractions";
}

static void read_shared_counters(const struct decode *decode, const struct val *spec, struct device_slice *out)
{
	const struct decode_path *up = PATH_KEY(spec_path, "sharedCounters");
	const struct val *list = decode_list(decode, spec_path, spec, "sharedCounters"), *item;
	size_t index = 0;
	out->counters = arena_array(decode->arena, struct device_counter, count_counters(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *path = PATH_INDEX(up, index);
		const char *name = decode_string(decode, path, item, "name");
		read_counters(decode, PATH_KEY(path, "counters"), decode_map(decode, path, item, "counters"),
		              name ? name : "", out->counters, &out->counter_count);
	}
}

/* What of a device is read, or matters to nobody who allocates it. Anything else decides who may have it. */
static const char *find_unserved(const struct val *device)
{
	static const char *const served[] = {"name",     "attributes",  "capacity",     "nodeName",        "taints",
	                                     "allNodes", "bindsToNode", "nodeSelector", "consumesCounters"};
	const char *key;
	const struct val *value;
	for (struct val_iter it = val_iter(device); val_next(&it, &key, &value);) {
		bool known = val_kind(value) == VAL_NULL || (val_kind(value) == VAL_BOOL && !val_bool(value, true));
		for (size_t i = 0; i < sizeof(served) / sizeof(*served) && !known; i++)
			known = strcmp(key, served[i]) == 0;
		if (!known)
			return key;
	}
	return NULL;
}

/* The node that reaches the device: that of the slice, or its own where each device says it. */
static void read_node(const struct decode *decode, const struct decode_path *path, const struct val *spec,
                      const struct val *device, struct device_spec *out)
{
	bool each = val_bool(val_get(spec, "perDeviceNodeSelection"), false);
	out->node = each ? decode_string(decode, path, device, "nodeName")
	                 : decode_string(decode, spec_path, spec, "nodeName");
	if (!out->node && !out->unserved)
		out->unserved = val_get(each ? device : spec, "nodeSelector") ? "nodeSelector" : "allNodes";
}

static struct device_spec read_device(const struct decode *decode, const struct decode_path *path,
                                      const struct val *spec, const struct val *device, const char *driver)
{
	const char *name = decode_string(decode, path, device, "name");
	struct device_spec out = {.name = name ? name : "", .seen = {.driver = text_of(driver)}};
	out.seen.shared = decode_bool(decode, path, device, "allowMultipleAllocations", false);
	out.unreadable = !read_attributes(decode, path, device, driver, &out.seen);
	out.unserved = out.unreadable ? "attributes" : find_unserved(device);
	read_capacities(decode, path, device, driver, &out.seen);
	read_taints(decode, path, device, &out);
	read_node(decode, path, spec, device, &out);
	read_draws(decode, path, device, &out);
	return out;
}

int device_slice_decode(const struct val *object, struct arena *arena, struct device_slice *out,
                        struct problems *problems)
{
	struct decode decode = {.arena = arena, .problems = problems};
	const struct decode_path *pool_path = PATH_KEY(spec_path, "pool");
	size_t errors = problems->errors, index = 0;
	struct metadata meta = decode_metadata(&decode, object, false);
	const struct val *spec = decode_spec(&decode, object), *device;
	const struct val *pool = decode_map(&decode, spec_path, spec, "pool");
	const char *driver = decode_string(&decode, spec_path, spec, "driver");
	const char *pool_name = decode_string(&decode, pool_path, pool, "name");
	const struct val *list = decode_list(&decode, spec_path, spec, "devices");
	*out = (struct device_slice){.name = meta.name,
	                             .driver = driver ? driver : "",
	                             .pool = pool_name ? pool_name : "",
	                             .pool_slices = 1};
	decode_int(&decode, pool_path, pool, "generation", 0, INT64_MAX, &out->generation);
	decode_int(&decode, pool_path, pool, "resourceSliceCount", 1, INT64_MAX, &out->pool_slices);
	if (!driver)
		decode_error(&decode, PATH_KEY(spec_path, "driver"), "name the driver", "must not be empty");
	read_shared_counters(&decode, spec, out);
	out->devices = arena_array(arena, struct device_spec, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &device); index++) {
		const struct decode_path *path = PATH_INDEX(PATH_KEY(spec_path, "devices"), index);
		if (decode_is(&decode, path, device, VAL_MAP))
			out->devices[out->device_count++] = read_device(&decode, path, spec, device, out->driver);
	}
	return problems->errors > errors ? -1 : 0;
}
