/* Pods of a RoleBasedGroup as documents, and the names of what belongs to them. */
#ifndef RBG_RENDER_H
#define RBG_RENDER_H

#include "rbg/internal.h"
#include "object/tree.h"

/* The pod `index` of the instance `ordinal`, made from the role `as` it was at `revision`, which belongs to `owner` (NULL:
 * to nobody: then without the marks of a revision). The caller destroys it; NULL when the template is nested too deeply. */
struct doc *rbg_render(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as,
                       const char *revision, int64_t ordinal, int64_t index, const struct store_object *owner);
/* A term about pods that share a domain of the key, without a selector. */
struct tree *rbg_make_term(struct arena *arena, const char *topology_key);
/* The list below a key, made when it is missing. */
struct tree *rbg_need_list(struct arena *arena, struct tree *map, const char *key);

/* The number of the component that a pod of an instance belongs to. */
size_t rbg_part_at(const struct rbg_role *role, int64_t index);
const char *rbg_pod_name(const struct rbg_turn *turn, const struct rbg_role *role, int64_t ordinal, int64_t index);
const char *rbg_instance_name(const struct rbg_turn *turn, const struct rbg_role *role, int64_t ordinal);
const char *rbg_service_name(const struct rbg_turn *turn, const struct rbg_role *role);

#endif
