/* Storage: decode StorageClass, CSIDriver, CSINode, CSIStorageCapacity and VolumeAttachment. */
#include "admit/storage.h"

#include "admit/decode.h"
#include "admit/rules.h"
#include "base/quantity.h"

#include <string.h>

#define NO_PROVISIONER "kubernetes.io/no-provisioner"

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

/* One term of allowedTopologies: every expression is a label and the values it may have. */
static void read_topology(const struct decode *decode, const struct decode_path *up, const struct val *map,
                          struct selector *out)
{
	const struct decode_path *list_path = PATH_KEY(up, "matchLabelExpressions");
	const struct val *list = decode_list(decode, up, map, "matchLabelExpressions"), *item;
	size_t index = 0;
	*out = (struct selector){.items = arena_array(decode->arena, struct match, val_count(list))};
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *path = PATH_INDEX(list_path, index);
		if (!decode_is(decode, path, item, VAL_MAP))
			continue;
		struct match *match = &out->items[out->count];
		*match = (struct match){.key = decode_string(decode, path, item, "key"), .op = MATCH_IN};
		match->values = decode_strings(decode, path, item, "values", &match->value_count);
		if (match->key)
			out->count++;
		else
			decode_error(decode, PATH_KEY(path, "key"), "name the label", "a requirement needs a key");
	}
}

static void read_topologies(const struct decode *decode, const struct val *object, struct storage_class_spec *out)
{
	const struct decode_path *list_path = PATH_KEY(NULL, "allowedTopologies");
	const struct val *list = decode_list(decode, NULL, object, "allowedTopologies"), *item;
	size_t index = 0;
	out->terms = arena_array(decode->arena, struct node_term, val_count(list));
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *path = PATH_INDEX(list_path, index);
		if (decode_is(decode, path, item, VAL_MAP))
			read_topology(decode, path, item, &out->terms[out->term_count++].selector);
	}
}

int storage_class_decode(const struct val *object, struct arena *arena, struct storage_class_spec *out,
                         struct problems *problems)
{
	static const char *const modes[] = {"Immediate", "WaitForFirstConsumer"};
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const char *provisioner = decode_string(&decode, NULL, object, "provisioner");
	const char *mode = decode_string(&decode, NULL, object, "volumeBindingMode");
	int number = mode ? decode_enum(&decode, PATH_KEY(NULL, "volumeBindingMode"), mode, modes, 2) : -1;
	*out = (struct storage_class_spec){
		.name = decode_metadata(&decode, object, false).name,
		.provisioner = provisioner && strcmp(provisioner, NO_PROVISIONER) != 0 ? provisioner : NULL,
		.mode = number < 0    ? BINDING_UNSET
	                : number == 0 ? BINDING_IMMEDIATE
	                              : BINDING_WAIT,
	};
	read_topologies(&decode, object, out);
	return problems->errors > errors ? -1 : 0;
}

int csi_driver_decode(const struct val *object, struct arena *arena, struct csi_driver_spec *out,
                      struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object);
	*out = (struct csi_driver_spec){
		.name = decode_metadata(&decode, object, false).name,
		.storage_capacity = decode_bool(&decode, spec_path, spec, "storageCapacity", false),
		.needed_on_node = decode_bool(&decode, spec_path, spec, "preventPodSchedulingIfMissing", false),
	};
	return problems->errors > errors ? -1 : 0;
}

int csi_node_decode(const struct val *object, struct arena *arena, struct csi_node_spec *out, struct problems *problems)
{
	size_t errors = problems->errors, index = 0;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object), *item;
	const struct val *list = decode_list(&decode, spec_path, spec, "drivers");
	*out = (struct csi_node_spec){.name = decode_metadata(&decode, object, false).name,
	                              .drivers = arena_array(arena, struct csi_node_driver, val_count(list))};
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *path = PATH_INDEX(PATH_KEY(spec_path, "drivers"), index);
		if (!decode_is(&decode, path, item, VAL_MAP))
			continue;
		struct csi_node_driver *driver = &out->drivers[out->driver_count++];
		const struct val *allocatable = decode_map(&decode, path, item, "allocatable");
		driver->name = text_or_empty(decode_string(&decode, path, item, "name"));
		driver->limit = -1;
		decode_int(&decode, PATH_KEY(path, "allocatable"), allocatable, "count", 0, INT32_MAX, &driver->limit);
	}
	return problems->errors > errors ? -1 : 0;
}

/* false when absent or no quantity (an error then). */
static bool read_quantity(const struct decode *decode, const struct val *object, const char *key, int64_t *out)
{
	const struct val *val = val_get(object, key);
	char scratch[64];
	if (!val || val_kind(val) == VAL_NULL)
		return false;
	const char *text = val_scalar_text(val, scratch);
	if (text && quantity_parse(text, strlen(text), QUANTITY_UNITS, out, NULL) == 0 && *out >= 0)
		return true;
	decode_error(decode, PATH_KEY(NULL, key), "write a quantity such as 100Gi", "must be a quantity of 0 or more");
	return false;
}

int storage_capacity_decode(const struct val *object, struct arena *arena, struct storage_capacity_spec *out,
                            struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	struct metadata meta = decode_metadata(&decode, object, true);
	*out = (struct storage_capacity_spec){
		.namespace_ = meta.namespace_,
		.name = meta.name,
		.class_ = text_or_empty(decode_string(&decode, NULL, object, "storageClassName")),
		.largest = -1,
	};
	out->has_topology = rules_label_selector(&decode, PATH_KEY(NULL, "nodeTopology"),
	                                         decode_map(&decode, NULL, object, "nodeTopology"), &out->topology);
	int64_t capacity;
	if (read_quantity(&decode, object, "capacity", &capacity))
		out->largest = capacity;
	if (read_quantity(&decode, object, "maximumVolumeSize", &capacity))
		out->largest = capacity;
	return problems->errors > errors ? -1 : 0;
}

int attachment_decode(const struct val *object, struct arena *arena, struct attachment_spec *out,
                      struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object);
	const struct val *source = decode_map(&decode, spec_path, spec, "source");
	*out = (struct attachment_spec){
		.name = decode_metadata(&decode, object, false).name,
		.attacher = text_or_empty(decode_string(&decode, spec_path, spec, "attacher")),
		.node = text_or_empty(decode_string(&decode, spec_path, spec, "nodeName")),
		.volume = decode_string(&decode, PATH_KEY(spec_path, "source"), source, "persistentVolumeName"),
	};
	return problems->errors > errors ? -1 : 0;
}
