/* The map: the cluster as nested domains, each node a row of slots, each slot marked by the gang that has it. */
#ifndef CLI_MAP_H
#define CLI_MAP_H

#include "cli/draw.h"
#include "schedule/plan.h"

struct map_options {
	const struct draw_style *style;
	int focus;          /* this group gets the letter A and the others are one kind; -1: all have letters */
	const char *filter; /* only groups with this in "namespace/name" get letters; NULL: all */
	bool running_only;  /* leave out what the plan adds */
	size_t most_lines;  /* beyond these, domains are drawn instead of nodes; 0: any number */
	/* Path of the domain to point at and its level, of a reason; NULL: none. */
	const char *level, *domain;
};

/* What a slot is: GPUs if there are some, else the first extended resource, else cpu; -1 for a cluster without nodes. */
int map_resource(const struct cluster *cluster);
/* Adds the map and its legend. Nothing for a cluster without nodes. */
void map_draw(const struct plan *plan, const struct map_options *options, struct drawing *drawing);

#endif
