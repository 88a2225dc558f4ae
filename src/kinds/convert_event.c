/* Owns the two faces of events: as core events and as those of events.k8s.io. */
#include "kinds/internal.h"

#include <string.h>

/* Left: core v1, right: events.k8s.io/v1. */
static const char *const event_fields[][2] = {
	{"involvedObject", "regarding"},
	{"message", "note"},
	{"source", "deprecatedSource"},
	{"firstTimestamp", "deprecatedFirstTimestamp"},
	{"lastTimestamp", "deprecatedLastTimestamp"},
	{"count", "deprecatedCount"},
	{"reportingComponent", "reportingController"},
};

static void rename_fields(struct arena *arena, struct tree *root, int from)
{
	for (size_t i = 0; i < sizeof(event_fields) / sizeof(event_fields[0]); i++) {
		struct tree *field = tree_get(arena, root, event_fields[i][from]);
		if (!field)
			continue;
		tree_remove(arena, root, event_fields[i][from]);
		tree_put(arena, root, event_fields[i][1 - from], field);
	}
}

void convert_event(struct arena *arena, struct tree *root, const char *to)
{
	rename_fields(arena, root, strcmp(to, "v1") == 0);
}
