/* The rights that `platoon run` needs in a whole cluster, as a template of the chart. */
#ifndef CLI_INSTALL_RIGHTS_H
#define CLI_INSTALL_RIGHTS_H

#include "base/strings.h"

/* Appends the ClusterRole: what the rows of the registry say, what values.yaml names, and the webhooks' own objects. */
void install_rights(struct buffer *out);

#endif
