/* Reading the groups that a translation begins with. */
#ifndef CLI_TRANSLATE_READ_H
#define CLI_TRANSLATE_READ_H

#include "cli/translate.h"
#include "loop/settings.h"

struct translated_groups {
	struct translated_group *items;
	size_t count;
};

/* The groups among the objects, whoever places their pods: workloads and groups of every kind that is read become PodGroups and
 * pods among them. What is lost while reading is told in the report. All of it lives as long as the arena and the objects. */
void translate_read(struct translation *translation, struct manifests *objects, const struct settings *settings,
                    struct translated_groups *out);

#endif
