/* Writing what controllers decide: status patches, conditions and events, each through the store like any client. */
#ifndef LOOP_WRITES_H
#define LOOP_WRITES_H

#include "base/clock.h"
#include "object/build.h"
#include "api/store.h"

#include <stdbool.h>

#define WRITES_ACTOR "platoon"

/* Requests as controllers make them. Everything is borrowed; `actor` is who asks, and the manager of the fields. */
struct store_request writes_create(const struct store_api *api, const char *namespace_, const struct val *body,
                                   const char *actor);
/* A merge patch, through the preferred API of the object. */
struct store_request writes_change(const struct store_object *object, const struct val *body, const char *actor);
/* Of this very object, not of a later one with its name. */
struct store_request writes_delete(const struct store_object *object, const char *actor);
/* Carries a request out, for callers that do not need its answer. 0, or -1 with *error, whose texts are in the arena. */
int writes_send(struct store *store, const struct store_request *request, struct arena *arena,
                struct store_error *error);

/* An ObjectReference, as events and volumes name the object they belong to. The texts are copied. */
struct node *writes_reference(struct build *build, const char *api_version, const char *kind, const char *namespace_,
                              const char *name, const char *uid);

struct condition {
	const char *type;
	const char *status; /* "True", "False"; NULL: there is none of this type any more */
	const char *reason, *message;
};

/* NULL when it has none of this type. */
const struct val *writes_find_condition(const struct val *root, const char *type);
/* Whether the object has exactly this condition. */
bool writes_has_condition(const struct val *root, const struct condition *condition);
/* All conditions of the object with these ones put in: a list for a merge patch, which replaces lists as a whole. The
 * time of the last transition stays where the status does. */
struct node *writes_conditions(struct build *build, const struct val *root, const struct condition *conditions,
                               size_t count, int64_t now_seconds);
/* Puts one condition of a pod in, and with `status` (NULL: nothing) more of its status. The server merges it by its type: what
 * others write of the same pod at the same time, like its kubelet, stays. As writes_patch(). */
int writes_pod_condition(struct store *store, const struct store_object *pod, const struct condition *condition,
                         int64_t now_seconds, struct build *build, struct node *status);
/* Merges `body` into the object. 1 when that changed something, 0 when not or the object is gone, -1 when it was refused
 * and has to be tried again. */
int writes_patch(struct store *store, const struct store_object *object, enum store_subresource subresource,
                 struct build *build, struct node *body);
/* The same with `status` as its status. */
int writes_patch_status(struct store *store, const struct store_object *object, struct build *build,
                        struct node *status);
/* Records an Event about the object. The same event again makes its count grow. */
void writes_event(struct store *store, const struct store_object *object, bool warning, const char *reason,
                  const char *message, int64_t now_seconds);
/* The same for what stays true for a while: nothing is written when the object has this very event already. */
void writes_event_once(struct store *store, const struct store_object *object, bool warning, const char *reason,
                       const char *message, int64_t now_seconds);

#endif
