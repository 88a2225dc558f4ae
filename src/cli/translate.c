/* Owns what the formats of a translation share: manifests, topology levels, and the report on what is lost. */
#include "cli/translate.h"

#include "base/grow.h"
#include "kinds/kinds.h"

#include <stdarg.h>
#include <string.h>

void translate_report(struct translation *translation, const struct translate_loss *loss)
{
	if (translation->loss_count == translation->loss_capacity)
		translation->losses = grow_array(translation->arena, translation->losses, translation->loss_count,
		                                 &translation->loss_capacity, sizeof(*translation->losses));
	translation->losses[translation->loss_count++] = *loss;
}

void translate_lose(struct translation *translation, const struct translated_group *group, const char *path,
                    const char *format, ...)
{
	struct arena *arena = translation->arena;
	const struct manifest *source = group->source;
	bool made = source != group->manifest;
	va_list args;
	va_start(args, format);
	translate_report(translation,
	                 &(struct translate_loss){.source = source->source,
	                                          .object = translate_name(arena, source),
	                                          .path = made ? arena_printf(arena, "its PodGroup: %s", path) : path,
	                                          .message = arena_vprintf(arena, format, args)});
	va_end(args);
}

const char *translate_name(struct arena *arena, const struct manifest *object)
{
	return arena_printf(arena, "%s %s%s%s", object->kind, object->namespace_, *object->namespace_ ? "/" : "",
	                    object->name);
}

const char *translate_path(struct translation *translation, const struct tree_node *node, const char *field)
{
	return arena_printf(translation->arena, "%s.%s", node->path, field);
}

struct node *translate_object(struct translation *translation, const struct translated_group *group,
                              const char *api_version, const char *kind, const char *name, struct node **metadata)
{
	struct build *build = translation->build;
	struct node *root = build_map(build), *spec = build_map(build);
	*metadata = build_map(build);
	build_put_string(build, root, "apiVersion", api_version);
	build_put_string(build, root, "kind", kind);
	build_put_string(build, *metadata, "name", name);
	if (group && *group->source->namespace_)
		build_put_string(build, *metadata, "namespace", group->source->namespace_);
	build_put(build, root, "metadata", *metadata);
	build_put(build, root, "spec", spec);
	build_append(build, translation->items, root);
	return spec;
}

bool translate_topology(struct translation *translation, const struct constraint_spec *constraint,
                        struct topology_spec *out)
{
	struct problems ignored = {.arena = translation->arena};
	if (!constraint->topology)
		return false;
	if (topology_of_labels(constraint->topology, translation->arena, out))
		return true;
	for (size_t i = 0; i < translation->objects->count; i++) {
		const struct manifest *object = &translation->objects->items[i];
		const struct kind_row *row = kinds_find(object->api_version, object->kind);
		if (row && row->id == KIND_TOPOLOGY && text_equal(object->name, constraint->topology))
			return topology_decode(object->object, translation->arena, out, &ignored) == 0;
	}
	return false;
}

const char *translate_level(struct translation *translation, const struct constraint_spec *constraint,
                            const char *level)
{
	struct topology_spec topology;
	int number = translate_topology(translation, constraint, &topology) ? topology_level(&topology, level) : -1;
	return number >= 0 ? topology.levels[number] : level;
}

void translate_lose_terms(struct translation *translation, const struct translated_group *group, const char *scheduler)
{
	const struct podgroup *spec = &group->spec;
	if (group->queue)
		translate_lose(translation, group, "spec.queue", "%s has no such queues: %s is lost", scheduler,
		               group->queue);
	if (spec->preemptibility == NON_PREEMPTIBLE || spec->preemptibility == SEMI_PREEMPTIBLE)
		translate_lose(translation, group, "spec.preemptibility", "%s takes from whoever has lower priority",
		               scheduler);
	if (spec->has_staleness_grace && spec->staleness_grace_ns >= 0)
		translate_lose(translation, group, "spec.stalenessGracePeriod",
		               "%s does not end a gang that fell below its minimum", scheduler);
	if (spec->has_preemption_delay)
		translate_lose(translation, group, "spec.preemptionDelay", "%s grants no time before a preemption",
		               scheduler);
	if (spec->scheduling_backoff != -1)
		translate_lose(translation, group, "spec.schedulingBackoff", "%s has no pauses of a group's own",
		               scheduler);
	if (!spec->mark_unschedulable)
		translate_lose(translation, group, "spec.markUnschedulable", "%s always says why pods wait", scheduler);
}
