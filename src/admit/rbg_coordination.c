/* Owns reading coordinations: the list in a RoleBasedGroup, the policies of a CoordinatedPolicy, which have one shape. */
#include "admit/rbg_internal.h"

#include "base/strings.h"
#include "rollout/count.h"

#include <string.h>

#define HUNDRED 100
#define KNOWN(decode, path, map, names) decode_known(decode, path, map, names, sizeof(names) / sizeof((names)[0]))

static void read_update(const struct decode *decode, const struct decode_path *path, const struct val *map,
                        struct rbg_coordination *out)
{
	static const char *const known[] = {"maxSkew", "partition", "maxUnavailable"};
	if (!map)
		return;
	KNOWN(decode, path, map, known);
	out->has_update = true;
	out->update_skew = rbg_read_percent(decode, path, map, "maxSkew", HUNDRED);
	out->update.partition = rbg_read_percent(decode, path, map, "partition", HUNDRED);
	out->update.max_unavailable = rbg_read_percent(decode, path, map, "maxUnavailable", HUNDRED);
}

static void read_scaling(const struct decode *decode, const struct decode_path *path, const struct val *map,
                         struct rbg_coordination *out)
{
	static const char *const known[] = {"maxSkew", "progression"};
	static const char *const names[] = {"OrderScheduled", "OrderReady"};
	if (!map)
		return;
	KNOWN(decode, path, map, known);
	out->has_scaling = true;
	out->scale_skew = rbg_read_percent(decode, path, map, "maxSkew", HUNDRED);
	const char *text = decode_string(decode, path, map, "progression");
	if (text && decode_enum(decode, PATH_KEY(path, "progression"), text, names, 2) == 1)
		out->scale_progression = SKEW_READY;
}

/* Sizes by role; the order of the document. A wrong value is reported and counts as 1, so that nothing else is. */
static void read_sizes(const struct decode *decode, const struct decode_path *path, const struct val *map,
                       struct rbg_coordination *out)
{
	const char *key;
	const struct val *item;
	out->sizes = arena_array(decode->arena, struct rbg_size, val_count(map));
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		int64_t size = 1;
		if (!item || val_kind(item) == VAL_NULL)
			decode_error(decode, PATH_KEY(path, key), "write a number of 1 or more",
			             "the role has no size");
		decode_int(decode, path, map, key, 1, COUNT_MAX, &size);
		out->sizes[out->size_count++] = (struct rbg_size){key, size};
	}
	if (out->size_count == 0)
		decode_error(decode, path, "give at least one role a size", "no role has a size");
}

static void read_progression(const struct decode *decode, const struct decode_path *path, const struct val *map,
                             struct rbg_coordination *out)
{
	const char *text = decode_string(decode, path, map, "progression");
	if (!segment_progression_parse(text, &out->progression))
		decode_error(decode, PATH_KEY(path, "progression"), "write Ordered, OrderedReady or Parallel",
		             "%s is not a progression", decode_show(decode->problems->arena, text));
}

static void read_affinity(const struct decode *decode, const struct decode_path *path, const struct val *map,
                          struct rbg_coordination *out)
{
	static const char *const known[] = {"topologyKey", "strategy", "spreadSegments"};
	static const char *const names[] = {"RequireSegmentAffinity", "PreferSegmentAffinity", "BestEffort"};
	if (!map)
		return;
	KNOWN(decode, path, map, known);
	out->topology_key = decode_string(decode, path, map, "topologyKey");
	if (!out->topology_key || !name_is_label_key(out->topology_key))
		decode_error(decode, PATH_KEY(path, "topologyKey"), decode_label_key_fix, "%s is not a node label key",
		             decode_show(decode->problems->arena, out->topology_key ? out->topology_key : ""));
	const char *text = decode_string(decode, path, map, "strategy");
	int strategy = text ? decode_enum(decode, PATH_KEY(path, "strategy"), text, names, 3) : 1;
	out->affinity = (enum rbg_affinity)(strategy + 1);
	out->spread_segments = decode_bool(decode, path, map, "spreadSegments", false);
}

/* A map whose only field is a number of 1 or more, without which it would mean nothing. */
static void read_only(const struct decode *decode, const struct decode_path *path, const struct val *map,
                      const char *key, int64_t *out)
{
	if (!map)
		return;
	decode_known(decode, path, map, &key, 1);
	if (!val_get(map, key) || val_kind(val_get(map, key)) == VAL_NULL)
		decode_error(decode, PATH_KEY(path, key), "write a number of 1 or more, or leave the whole field out",
		             "%s is missing", key);
	decode_int(decode, path, map, key, 1, COUNT_MAX, out);
}

static void read_placement(const struct decode *decode, const struct decode_path *path, const struct val *map,
                           struct rbg_coordination *out)
{
	static const char *const known[] = {"segmentSize",       "progression",    "gang",
	                                    "topologyAffinity",  "canary",         "rollback",
	                                    "stuckAfterSeconds", "partialSegments"};
	static const char *const gangs[] = {"Instance", "Segment"};
	if (!map)
		return;
	KNOWN(decode, path, map, known);
	out->has_segments = true;
	read_sizes(decode, PATH_KEY(path, "segmentSize"), decode_map(decode, path, map, "segmentSize"), out);
	read_progression(decode, path, map, out);
	const char *gang = decode_string(decode, path, map, "gang");
	if (gang && decode_enum(decode, PATH_KEY(path, "gang"), gang, gangs, 2) == 1)
		out->gang = SEGMENT_GANG_SEGMENT;
	out->may_be_partial = decode_bool(decode, path, map, "partialSegments", false);
	if (out->may_be_partial && out->gang == SEGMENT_GANG_SEGMENT)
		decode_error(decode, PATH_KEY(path, "partialSegments"), "leave one of the two out",
		             "with gang: Segment no segment runs in part");
	read_affinity(decode, PATH_KEY(path, "topologyAffinity"), decode_map(decode, path, map, "topologyAffinity"),
	              out);
	read_only(decode, PATH_KEY(path, "canary"), decode_map(decode, path, map, "canary"), "segments",
	          &out->canary_segments);
	read_only(decode, PATH_KEY(path, "rollback"), decode_map(decode, path, map, "rollback"), "deadlineSeconds",
	          &out->rollback_seconds);
	decode_int(decode, path, map, "stuckAfterSeconds", 1, COUNT_MAX, &out->stuck_seconds);
}

static void read_constraint(const struct decode *decode, const struct decode_path *path, const struct val *map,
                            struct rbg_coordination *out)
{
	static const char *const known[] = {"clusterTopologyName", "topologyLayerName", "constraintMode",
	                                    "podGroupPolicy"};
	if (!map)
		return;
	KNOWN(decode, path, map, known);
	enum deploy_mode mode = DEPLOY_HARD;
	const char *text = decode_string(decode, path, map, "constraintMode");
	if (!deploy_mode_parse(text, &mode))
		decode_error(decode, PATH_KEY(path, "constraintMode"), "write hard or soft", "%s is not a mode",
		             decode_show(decode->problems->arena, text));
	out->affinity = mode == DEPLOY_HARD ? RBG_AFFINITY_REQUIRE : RBG_AFFINITY_PREFER;
	out->topology_name = decode_string(decode, path, map, "clusterTopologyName");
	if (!out->topology_name)
		out->topology_name = DEPLOY_TOPOLOGY;
	out->layer = decode_string(decode, path, map, "topologyLayerName");
	if (!out->layer)
		decode_error(decode, PATH_KEY(path, "topologyLayerName"), "name a layer of the ClusterTopology",
		             "the constraint names no layer");
	const struct val *policy = val_get(map, "podGroupPolicy");
	if (val_kind(policy) == VAL_STRING)
		decode_warning(decode, PATH_KEY(path, "podGroupPolicy"), "leave it out", "%s is read as not given",
		               decode_show(decode->problems->arena, val_str(policy, "")));
	else
		rbg_read_scheduling(decode, PATH_KEY(path, "podGroupPolicy"),
		                    decode_map(decode, path, map, "podGroupPolicy"), &out->queue, &out->priority_class);
}

static void read_deploy(const struct decode *decode, const struct decode_path *path, const struct val *strategy,
                        struct rbg_coordination *out)
{
	static const char *const known[] = {"roleDeployStep", "deployTopologyConstraint", "progression"};
	const struct decode_path *at = PATH_KEY(path, "rollingDeploy");
	const struct val *map = decode_map(decode, path, strategy, "rollingDeploy");
	if (!map)
		return;
	out->has_segments = out->is_deploy = true;
	/* Batches follow each other when the one before is scheduled, unless said otherwise. */
	out->progression = SEGMENT_ORDERED;
	const struct val *beside = decode_map(decode, path, strategy, "deployTopologyConstraint");
	bool printed = !val_get(map, "roleDeployStep") && !val_get(map, "deployTopologyConstraint") &&
	               (beside || !val_get(map, "progression"));
	if (printed) {
		decode_warning(decode, at,
		               "write rollingDeploy: {roleDeployStep: {...}, deployTopologyConstraint: {...}}",
		               "steps directly below rollingDeploy are an old form");
		read_sizes(decode, at, map, out);
		read_constraint(decode, PATH_KEY(path, "deployTopologyConstraint"), beside, out);
		return;
	}
	KNOWN(decode, at, map, known);
	read_sizes(decode, PATH_KEY(at, "roleDeployStep"), decode_map(decode, at, map, "roleDeployStep"), out);
	read_constraint(decode, PATH_KEY(at, "deployTopologyConstraint"),
	                decode_map(decode, at, map, "deployTopologyConstraint"), out);
	if (decode_string(decode, at, map, "progression"))
		read_progression(decode, at, map, out);
}

static void default_roles(const struct decode *decode, struct rbg_coordination *out)
{
	if (out->has_roles)
		return;
	out->roles = arena_array(decode->arena, const char *, out->size_count);
	for (size_t i = 0; i < out->size_count; i++)
		out->roles[out->role_count++] = out->sizes[i].role;
}

static void read_one(const struct decode *decode, const struct decode_path *path, const struct val *map, size_t index,
                     struct rbg_coordination *out)
{
	static const char *const known[] = {"name", "roles", "strategy"};
	static const char *const strategies[] = {"rollingUpdate", "scaling", "segmentPlacement", "rollingDeploy",
	                                         "deployTopologyConstraint"};
	const struct decode_path *at = PATH_KEY(path, "strategy");
	const struct val *strategy = decode_map(decode, path, map, "strategy");
	KNOWN(decode, path, map, known);
	if (strategy)
		KNOWN(decode, at, strategy, strategies);
	*out = (struct rbg_coordination){
		.name = decode_string(decode, path, map, "name"),
		.stuck_seconds = RBG_STUCK_SECONDS,
		.path = decode_path_text(decode->arena, path),
	};
	if (!out->name)
		out->name = naming_coordination(index, decode->arena);
	out->roles = decode_strings(decode, path, map, "roles", &out->role_count);
	out->has_roles = out->role_count > 0;
	read_update(decode, PATH_KEY(at, "rollingUpdate"), decode_map(decode, at, strategy, "rollingUpdate"), out);
	read_scaling(decode, PATH_KEY(at, "scaling"), decode_map(decode, at, strategy, "scaling"), out);
	read_placement(decode, PATH_KEY(at, "segmentPlacement"), decode_map(decode, at, strategy, "segmentPlacement"),
	               out);
	if (out->has_segments && decode_map(decode, at, strategy, "rollingDeploy"))
		decode_error(decode, PATH_KEY(at, "rollingDeploy"),
		             "keep one, or give the other a coordination of its own",
		             "segmentPlacement and rollingDeploy are the same notion and exclude each other");
	else
		read_deploy(decode, at, strategy, out);
	if (out->has_segments && out->has_scaling)
		decode_error(decode, PATH_KEY(at, "scaling"), "keep one of the two",
		             "scaling and segments exclude each other: both pace the growth of the roles");
	default_roles(decode, out);
	if (out->role_count == 0 && !out->has_segments)
		decode_error(decode, PATH_KEY(path, "roles"), "name the roles that are coordinated",
		             "the coordination names no roles");
}

struct rbg_coordination *rbg_read_coordinations(const struct decode *decode, const struct decode_path *path,
                                                const struct val *list, size_t *count)
{
	struct rbg_coordination *out = arena_array(decode->arena, struct rbg_coordination, val_count(list));
	struct interner *names = interner_create();
	const struct val *item;
	size_t index = 0;
	*count = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		const struct decode_path *at = PATH_INDEX(path, index);
		if (!decode_is(decode, at, item, VAL_MAP))
			continue;
		struct rbg_coordination *one = &out[(*count)++];
		read_one(decode, at, item, index, one);
		uint32_t known = interner_count(names);
		if (interner_id(names, one->name) < known)
			decode_error(decode, PATH_KEY(at, "name"), "rename one of the two",
			             "coordination %s is there twice", decode_show(decode->problems->arena, one->name));
	}
	interner_destroy(names);
	return out;
}
