/* The verdict on RoleBasedGroups, sets of them and their policies, which speak of each other. Private to admit.c. */
#ifndef ADMIT_RBG_VERDICT_H
#define ADMIT_RBG_VERDICT_H

#include "admit/index.h"

/* `index` NULL judges the object alone. The arena is for what is decoded meanwhile. */
void rbg_judge_group(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                     struct problems *problems);
void rbg_judge_set(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                   struct problems *problems);
void rbg_judge_policy(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                      struct problems *problems);

#endif
