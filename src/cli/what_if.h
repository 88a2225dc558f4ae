/* What would become of a manifest in the cluster as it is now: the same question as `platoon plan` asks, answered from
 * the store of this process, which is not changed. */
#ifndef CLI_WHAT_IF_H
#define CLI_WHAT_IF_H

#include "base/strings.h"
#include "loop/settings.h"
#include "api/store.h"

#include <stddef.h>
#include <stdint.h>

/* Appends {"problems":[...],"groups":[...],"pods":[...],"evictions":[...]}; only the first when the text is not one of
 * manifests. */
void what_if(struct store *store, const struct settings *settings, const char *text, size_t length, struct buffer *out);

#endif
