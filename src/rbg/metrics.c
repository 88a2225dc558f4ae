/* Owns the numbers about segments that a monitoring system reads: what the status of the groups says. */
#include "rbg/controller.h"

#include "rbg/internal.h"

#include <string.h>

struct family {
	const char *name, *help, *field;
};

static const struct family families[] = {
	{"platoon_group_segments_ready", "Segments of a coordination that are ready in full.", "readySegments"},
	{"platoon_group_segments_started", "Leading segments of a coordination that exist in full.", "startedSegments"},
	{"platoon_group_segments_released", "Batches of a rolling deploy that may be scheduled.", "releasedSegments"},
	{"platoon_group_segments_total", "Segments a coordination has in the end.", "totalSegments"},
	{"platoon_group_segment_waits_for", "Number of the segment that is waited for, 0 for none.", "waitsFor"},
	{"platoon_group_segment_stuck", "1 while the segment that is waited for is overdue.", "stuck"},
};

static void write_sample(const struct family *family, const struct store_object *group, const struct val *status,
                         struct buffer *out)
{
	const struct val *value = val_get(status, family->field);
	int64_t number = val_bool(value, false);
	val_int(value, &number);
	/* Names of objects and of coordinations are checked at admission, but a coordination may be called anything. */
	buffer_printf(out, "%s{namespace=\"%s\",group=\"%s\",coordination=\"", family->name, group->namespace_,
	              group->name);
	for (const char *at = val_str(val_get(status, "name"), ""); *at; at++) {
		if (*at == '"' || *at == '\\')
			buffer_puts(out, "\\");
		buffer_printf(out, "%c", *at == '\n' ? ' ' : *at);
	}
	buffer_printf(out, "\"} %lld\n", (long long)number);
}

void rbg_controller_metrics(const struct rbg_controller *controller, struct buffer *out)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_error error = {0};
	const struct store_type *type = store_type_find(controller->store, RBG_GROUP, "rolebasedgroups");
	struct store_list_request request = {.api = type && type->api_count ? type->apis : NULL};
	if (request.api && store_list(controller->store, &request, &list, arena, &error) == 0)
		for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
			buffer_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", families[f].name, families[f].help,
			              families[f].name);
			for (size_t i = 0; i < list.count; i++) {
				const struct val *all = val_path(list.items[i]->root, "status", "coordinationStatuses",
				                                 NULL),
						 *item;
				for (struct val_iter it = val_iter(all); val_next(&it, NULL, &item);)
					write_sample(&families[f], list.items[i], item, out);
			}
		}
	store_list_clear(&list);
	arena_destroy(arena);
}
