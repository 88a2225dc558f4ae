/* Owns the forms of HorizontalPodAutoscalers: autoscaling/v1 and v2. */
#include "kinds/internal.h"

#include <string.h>

/* autoscaling/v1 has a field for what v2 says with a metric: the use of cpu that is aimed at. */
static struct tree *cpu_metric(struct arena *arena, struct tree *percent)
{
	struct tree *target = tree_map(arena), *resource = tree_map(arena), *metric = tree_map(arena);
	tree_put_string(arena, target, "type", "Utilization");
	tree_put(arena, target, "averageUtilization", percent);
	tree_put_string(arena, resource, "name", "cpu");
	tree_put(arena, resource, "target", target);
	tree_put_string(arena, metric, "type", "Resource");
	tree_put(arena, metric, "resource", resource);
	return metric;
}

static struct tree *cpu_percent(struct arena *arena, struct tree *metric)
{
	struct tree *resource = tree_get(arena, metric, "resource");
	bool cpu = strcmp(tree_str(tree_get(arena, metric, "type"), ""), "Resource") == 0 &&
	           strcmp(tree_str(tree_get(arena, resource, "name"), ""), "cpu") == 0;
	return cpu ? tree_path(arena, resource, "target", "averageUtilization", NULL) : NULL;
}

/* Metrics that v1 has no field for stay in the list, so that a change by an old client does not lose them. */
static void move_metrics(struct arena *arena, struct tree *root, bool to_v2)
{
	struct tree *spec = tree_get(arena, root, "spec"), *kept = tree_list(arena), *metric, *percent = NULL;
	if (tree_kind(spec) != VAL_MAP)
		return;
	if (to_v2) {
		percent = tree_get(arena, spec, "targetCPUUtilizationPercentage");
		tree_remove(arena, spec, "targetCPUUtilizationPercentage");
		if (percent)
			tree_append(arena, kept, cpu_metric(arena, percent));
	}
	size_t at = 0;
	while ((metric = tree_walk(arena, tree_get(arena, spec, "metrics"), &at, NULL))) {
		struct tree *found = to_v2 || percent ? NULL : cpu_percent(arena, metric);
		if (found)
			percent = found;
		else
			tree_append(arena, kept, metric);
	}
	if (!to_v2 && percent)
		tree_put(arena, spec, "targetCPUUtilizationPercentage", percent);
	if (tree_count(kept))
		tree_put(arena, spec, "metrics", kept);
	else
		tree_remove(arena, spec, "metrics");
}

void convert_hpa(struct arena *arena, struct tree *root, const char *to)
{
	move_metrics(arena, root, strcmp(to, KINDS_AUTOSCALING "/v2") == 0);
}
