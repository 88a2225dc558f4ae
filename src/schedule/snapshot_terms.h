/* What groups of one pod are placed by, read from the workloads above it: the same answer that the scheduler has from the
 * grouping controller, for those who have only a list of objects. */
#ifndef SCHEDULE_SNAPSHOT_TERMS_H
#define SCHEDULE_SNAPSHOT_TERMS_H

#include "group/group.h"
#include "schedule/snapshot.h"

struct terms_reader;

/* All are borrowed. A ConfigMap with the defaults of kinds in one of the lists counts instead of what the settings say. */
struct terms_reader *terms_open(const struct manifests *objects, const struct manifests *owners,
                                const struct settings *settings);
void terms_close(struct terms_reader *reader); /* NULL is a no-op */
/* In the arena. False: nobody knows more than the pod says. */
bool terms_read(struct terms_reader *reader, const char *namespace_, const char *pod, struct arena *arena,
                struct group_terms *out);

/* The group of a pod among the objects, as the grouping controller would make it. In the arena, and borrowed from the
 * objects. */
void terms_group(struct terms_reader *reader, const struct val *pod, struct arena *arena, struct group_result *out);

/* What a group of another scheduler says, whoever may name it. As above. */
void terms_judge(struct terms_reader *reader, const struct val *group, struct arena *arena, struct group_result *out);

/* Whether somebody's terms depended on the object. */
bool terms_used(const struct terms_reader *reader, const struct manifest *object);

#endif
