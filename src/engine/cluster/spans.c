/* Owns the bounds of columns, where they are worked out from the amounts; span_set keeps them up to date. */
#include "engine/cluster/spans.h"

#include "base/arena.h"

void span_tighten(const int64_t *amounts, int count, int first, struct span *spans)
{
	struct span span = {.low = amounts[first], .high = amounts[first]};
	int end = count - first < SPAN_NODES ? count : first + SPAN_NODES;
	for (int n = first + 1; n < end; n++) {
		span.low = amounts[n] < span.low ? amounts[n] : span.low;
		span.high = amounts[n] > span.high ? amounts[n] : span.high;
	}
	spans[first / SPAN_NODES] = span;
}

struct span *spans_create(const int64_t *amounts, int count)
{
	struct span *spans = base_calloc((size_t)(count / SPAN_NODES) + 1, sizeof(*spans));
	for (int first = 0; first < count; first += SPAN_NODES)
		span_tighten(amounts, count, first, spans);
	return spans;
}
