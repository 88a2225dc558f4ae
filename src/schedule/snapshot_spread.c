/* Owns how pods are spread that say nothing about it: over zones, as kube-scheduler does with those that a Service or a
 * controller of replicas selects. It is a wish: everything else comes before. */
#include "schedule/snapshot_build.h"

#include <string.h>

enum { USUAL_SKEW = 5 };
#define ZONE_LABEL "topology.kubernetes.io/zone"

void build_services(struct snapshot_build *build)
{
	const struct build_slice *slice = &build->kinds[KIND_SERVICE];
	build->services = service_book_create();
	for (size_t i = 0; i < slice->count; i++)
		service_book_set(build->services, build_namespace(slice->items[i]->namespace_), slice->items[i]->name,
		                 slice->items[i]->object);
}

/* The workload as a label, which its other replicas have too. */
static void add_replica_label(const struct pod_spec *pod, struct arena *arena, struct volume_needs *needs)
{
	struct labels labels = {.items = arena_array(arena, struct label, needs->labels.count + 1),
	                        .count = needs->labels.count + 1};
	if (needs->labels.count)
		memcpy(labels.items, needs->labels.items, needs->labels.count * sizeof(struct label));
	labels.items[needs->labels.count] = (struct label){REPLICA_LABEL, pod->replica_of};
	labels_sort(&labels);
	needs->labels = labels;
}

static void select_replicas(const struct pod_spec *pod, struct arena *arena, struct selector *out)
{
	struct match *match = arena_new(arena, struct match);
	const char **value = arena_new(arena, const char *);
	*value = pod->replica_of;
	*match = (struct match){.key = REPLICA_LABEL, .op = MATCH_IN, .values = value, .value_count = 1};
	*out = (struct selector){match, 1};
}

void build_spread(const struct snapshot_build *build, const struct pod_spec *pod, struct arena *arena,
                  struct volume_needs *needs)
{
	struct selector selector;
	if (!build->settings->spread_zones || build_requests_gpus(needs) ||
	    (needs->rules && needs->rules->spread_count))
		return;
	if (pod->replica_of) {
		add_replica_label(pod, arena, needs);
		select_replicas(pod, arena, &selector);
	} else if (pod->maker != MAKER_NONE || !service_book_select(build->services, build_namespace(pod->namespace_),
	                                                            &needs->labels, arena, &selector)) {
		return;
	}
	struct pod_rules *rules = arena_new(arena, struct pod_rules);
	if (needs->rules)
		*rules = *needs->rules;
	rules->spread = arena_new(arena, struct spread_term);
	rules->spread_count = 1;
	*rules->spread = (struct spread_term){.selector = selector,
	                                      .topology_key = ZONE_LABEL,
	                                      .max_skew = USUAL_SKEW,
	                                      .usual = true};
	needs->rules = rules;
}
