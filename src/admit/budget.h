/* PodDisruptionBudget policy/v1: how many of the pods it selects must stay. */
#ifndef ADMIT_BUDGET_H
#define ADMIT_BUDGET_H

#include "base/arena.h"
#include "base/labels.h"
#include "base/problems.h"
#include "object/doc.h"
#include "rollout/percent.h"

struct budget_status {
	bool current; /* written for the present spec; otherwise nothing may leave, as the eviction API has it */
	int64_t allowed, healthy, desired,
		expected; /* disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods */
};

struct budget_spec {
	const char *namespace_, *name;
	bool has_selector; /* without one it selects no pods, with an empty one all of its namespace */
	struct selector selector;
	struct percent min_available, max_unavailable;
	bool evicts_unhealthy; /* unhealthyPodEvictionPolicy: AlwaysAllow, not IfHealthyBudget */
	bool has_status;       /* somebody counts its pods */
	struct budget_status status;
};

/* 0 when usable (warnings allowed), -1 when errors were added. Texts are borrowed from the document, lists in the arena. */
int budget_decode(const struct val *object, struct arena *arena, struct budget_spec *out, struct problems *problems);
/* The status alone; false, and nothing is filled, when there is none. */
bool budget_read_status(const struct val *object, struct budget_status *out);
/* Whether the number of pods that there should be is that of their makers' scales, not of the pods that there are. */
bool budget_is_scaled(const struct budget_spec *budget);
/* How many of so many pods must be healthy. */
int64_t budget_desired_healthy(const struct budget_spec *budget, int64_t expected);
/* Whether it covers a pod with these labels; the namespace is the caller's business. */
bool budget_selects(const struct budget_spec *budget, const struct labels *labels);

#endif
