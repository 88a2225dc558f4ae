/* Conversion of RoleBasedGroups between v1alpha1 and v1alpha2. Only for the files of this folder. */
#ifndef API_CONVERT_RBG_H
#define API_CONVERT_RBG_H

#include "object/tree.h"

/* To v1alpha2 (roles with patterns) or to v1alpha1 (flat roles). What is already in that form stays as it is. */
void convert_group(struct arena *arena, struct tree *root, bool to_patterns);
/* The same for a RoleBasedGroupSet. */
void convert_group_set(struct arena *arena, struct tree *root, bool to_patterns);

#endif
