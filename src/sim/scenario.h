/* Scenarios: a cluster state, a run and what must come out of it, as one object (kind Scenario, platoon.dev/v1alpha1).
 * A scenario that asks for something which cannot be run or checked fails by name; it never passes by default. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "base/arena.h"
#include "object/manifest.h"
#include "loop/settings.h"
#include "remote/config.h"

#include <stdbool.h>
#include <stddef.h>

#define SCENARIO_API_VERSION "platoon.dev/v1alpha1"
#define SCENARIO_KIND "Scenario"

struct scenario_result {
	struct arena *arena; /* owns the texts */
	const char *name, *title, *source;
	const char **failures; /* none: passed */
	size_t failure_count, failure_capacity;
};

bool scenario_is(const struct manifest *manifest);
/* Runs one scenario, on the API server of `access` or (NULL) in memory, with these settings (NULL: the usual). The manifest
 * must outlive the result. */
void scenario_run(const struct manifest *manifest, const struct remote_access *access, const struct settings *settings,
                  struct arena *arena, struct scenario_result *result);

#endif
