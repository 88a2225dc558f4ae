/* Turns an instance into what the engine reads: a sealed cluster and a gang. */
#ifndef PROPERTY_BUILD_H
#define PROPERTY_BUILD_H

#include "engine/place/place.h"
#include "instance.h"

struct built {
	struct arena *arena;
	struct cluster *cluster;
	struct gang gang;
	int pod_classes[INSTANCE_KINDS], foreign_pod_classes[INSTANCE_KINDS];
	int to_engine[INSTANCE_NODES], from_engine[INSTANCE_NODES]; /* node numbers */
	int tree_to_engine[INSTANCE_TREE];                          /* positions in the tree */
};

void built_create(struct built *built, const struct instance *instance);
void built_destroy(struct built *built);
/* The tree and the pods of `instance` as a gang on a cluster that is already built; the cluster is not changed. */
void built_gang(struct built *built, const struct instance *instance, const char *name, struct gang *gang);

const char *built_key_name(const struct instance *instance, int key);
const char *built_resource_name(int resource);
int64_t built_resource_unit(int resource); /* engine amount of one unit of the instance */

#endif
