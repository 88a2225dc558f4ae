/* What the files that read a RoleBasedGroup share. Private to rbg*.c. */
#ifndef ADMIT_RBG_INTERNAL_H
#define ADMIT_RBG_INTERNAL_H

#include "admit/decode.h"
#include "admit/rbg.h"

/* rbg_roles.c: spec.roles with the templates they refer to. */
void rbg_read_roles(const struct decode *decode, const struct val *spec, struct rbg_spec *out);
/* rbg_coordination.c: a list of coordinations or policies at `path`. */
struct rbg_coordination *rbg_read_coordinations(const struct decode *decode, const struct decode_path *path,
                                                const struct val *list, size_t *count);
/* rbg.c: queue and class of a podGroupPolicy; what it does not name stays as it is. */
void rbg_read_scheduling(const struct decode *decode, const struct decode_path *path, const struct val *policy,
                         const char **queue, const char **priority_class);
/* rbg_check.c: what concerns several roles at once. */
void rbg_check_roles(const struct decode *decode, const struct rbg_spec *spec);

/* rbg_annotations.c: refuses values that nobody can read, and tells of what has no effect. */
/* What the annotations of a component, or of its template, say about other components of the role. */
void rbg_check_siblings(const struct decode *decode, const struct decode_path *path, const struct rbg_role *role,
                        const struct val *map);
void rbg_check_annotations(const struct decode *decode, const struct decode_path *path, const struct val *map);

/* A count or a percentage; unset when absent or wrong. Percentages are at most `most`. */
struct percent rbg_read_percent(const struct decode *decode, const struct decode_path *up, const struct val *map,
                                const char *key, int64_t most);

#endif
