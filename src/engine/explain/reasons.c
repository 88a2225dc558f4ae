/* Owns the names of the codes of reasons, which users and programs read, and the lists of them. */
#include "engine/explain/explain.h"

#include "base/grow.h"

const char *reason_code_name(enum reason_code code)
{
	static const char *const names[] = {
		[REASON_NOT_READY] = "NotReady",
		[REASON_UNSUPPORTED] = "UnsupportedRequest",
		[REASON_MISSING_OBJECT] = "MissingObject",
		[REASON_OBJECT_NOT_READY] = "ObjectNotReady",
		[REASON_NOT_GROUPED] = "NotGrouped",
		[REASON_DOMAIN] = "InsufficientDomain",
		[REASON_RESOURCE] = "InsufficientResource",
		[REASON_NODES] = "NodesExcluded",
		[REASON_PINNED] = "PinnedByRunningMembers",
		[REASON_COMBINATION] = "NoCombination",
		[REASON_BUDGET] = "BudgetExhausted",
		[REASON_RELAXATION] = "WouldFit",
		[REASON_HELD_BY] = "HeldBy",
		[REASON_QUEUE_POSITION] = "QueuePosition",
		[REASON_NO_CHANGE] = "NoChangeFound",
		[REASON_TOPOLOGY_UNKNOWN] = "TopologyUnknown",
		[REASON_QUEUE_LIMIT] = "OverLimit",
		[REASON_QUEUE_QUOTA] = "NonPreemptibleOverQuota",
		[REASON_QUEUE_UNKNOWN] = "QueueDoesNotExist",
		[REASON_SUBGROUP_UNKNOWN] = "SubGroupUnknown",
		[REASON_SURPLUS] = "SurplusWaiting",
		[REASON_BACKOFF] = "Backoff",
		[REASON_GAVE_WAY] = "GaveWay",
		[REASON_HELD] = "ResourcesHeld",
		[REASON_KEPT] = "PlaceKept",
		[REASON_MIN_RUNTIME] = "MinRuntime",
		[REASON_DISRUPTION_BUDGET] = "DisruptionBudget",
		[REASON_CLAIM_IN_USE] = "ClaimInUse",
	};
	return names[code];
}

void reason_add(struct reasons *reasons, struct arena *arena, struct reason reason)
{
	if (reasons->count == reasons->capacity)
		reasons->items =
			grow_array(arena, reasons->items, reasons->count, &reasons->capacity, sizeof(*reasons->items));
	reasons->items[reasons->count++] = reason;
}
