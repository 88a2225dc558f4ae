/* Sorts of claims: claims that are alike but for their size are counted together. Private to src/schedule. */
#ifndef SCHEDULE_VOLUME_SORTS_H
#define SCHEDULE_VOLUME_SORTS_H

#include "admit/volume.h"
#include "base/strings.h"

/* What claims of a sort have in common. A claim that several pods name stands for itself: they take the same volume. */
void volume_sort_key(struct buffer *key, const struct claim_spec *claim, bool shared);
/* The same as a claim, in the arena. */
struct claim_spec volume_sort_copy(struct arena *arena, const struct claim_spec *from);
/* Appends how people read it: the class, and what is not usual, such as "fast(RWX,disk=ssd)". */
void volume_sort_name(struct buffer *out, const struct claim_spec *claim, bool shared);

#endif
