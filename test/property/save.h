/* Writes an instance as a scenario file that `platoon simulate` reads. */
#ifndef PROPERTY_SAVE_H
#define PROPERTY_SAVE_H

#include "check.h"

#include <stdio.h>

/* Returns 0, or -1 when the file cannot be written. */
int save_scenario(const struct instance *instance, const struct result *result, const char *path);

/* The parts, for scenarios with several gangs. */
struct writer {
	FILE *file;
	bool more; /* an object was written already */
};

/* Begins the next object with this text. */
void save_object(struct writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Everything up to and with the title, which says what failed. */
void save_title(FILE *file, const struct instance *instance, const char *pod_class, const char *text);
/* Topologies, nodes and the pods of nobody. */
void save_cluster(struct writer *writer, const struct instance *instance);
/* The tree and the pods of the instance; `spec` is put into the spec of the PodGroup: "\"queue\": \"main\"". */
void save_gang(struct writer *writer, const struct instance *instance, const char *name, const char *spec);

#endif
