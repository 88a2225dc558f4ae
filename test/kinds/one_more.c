/* One more row for the registry, of a kind that nobody knows: what it takes to add a workload. */
#include "kinds/more.h"

const struct kind_row kinds_more[] = {
	{"toys.example.com",
         {"v1"},
         "gizmos",
         "gizmo",
         "Gizmo",
         ROW_CUSTOM | ROW_STATUS | ROW_OWNER,
         .short_names = {"gz"},
         .family = FAMILY_JOB,
         .mirror = MIRROR_IF_SERVED},
};
const size_t kinds_more_count = 1;
