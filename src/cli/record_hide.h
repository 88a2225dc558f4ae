/* Hiding: objects without anything that says whose they are. Names, label values and unknown label keys become hashes
 * with a salt that is kept nowhere; amounts, minimums, shapes and the topology stay. The same text becomes the same hash,
 * so references still fit. */
#ifndef CLI_RECORD_HIDE_H
#define CLI_RECORD_HIDE_H

#include "object/build.h"
#include "object/manifest.h"
#include "loop/settings.h"

struct hide;

/* NULL when the system has no random numbers. The settings are borrowed: what they name (schedulers, default queue, its label)
 * gets the usual name, so that it is understood elsewhere without them. */
struct hide *hide_create(const struct settings *settings);
void hide_destroy(struct hide *hide); /* NULL is a no-op */
/* The hash of a name. Valid until the next call with the same `hide`. */
const char *hide_name(struct hide *hide, const char *name);
/* Seconds from the start of a pod to the end of its last container, -1 when it has not ended. */
int64_t hide_run_seconds(const struct val *pod);
/* A copy that holds only what scheduling needs; NULL for kinds that do not matter for it. `begin`: seconds of the epoch
 * from which arrivals are counted. */
struct node *hide_object(struct hide *hide, const struct manifest *manifest, int64_t begin, struct build *build);

#endif
