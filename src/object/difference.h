/* What has to be written to turn one document into another. */
#ifndef OBJECT_DIFFERENCE_H
#define OBJECT_DIFFERENCE_H

#include "object/build.h"

/* A merge patch (RFC 7386) that turns `have` into `want`: it names only what differs, so that what others change
 * meanwhile stays; lists are replaced as a whole. Keys that are gone are taken away by null. NULL when nothing differs. */
struct node *difference_merge(struct build *build, const struct val *have, const struct val *want);

#endif
