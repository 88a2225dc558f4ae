/* Bounds of a column of amounts: what the nodes of a span, SPAN_NODES in a row, have at least and at most. They may be too
 * wide, never too narrow. Nodes of a cluster are mostly alike, so bounds say of most of them how many pods fit without a look
 * at each. */
#ifndef ENGINE_CLUSTER_SPANS_H
#define ENGINE_CLUSTER_SPANS_H

#include <stdbool.h>
#include <stdint.h>

enum { SPAN_NODES = 64 };

struct span {
	int64_t low, high;
	bool loose; /* a node that had the lowest amount has more now */
};

/* The bounds of a column; the caller frees them. */
struct span *spans_create(const int64_t *amounts, int count);
/* Makes the bounds of the span that begins at `first` as narrow as they can be. */
void span_tighten(const int64_t *amounts, int count, int first, struct span *spans);

/* Writes the amount of a node. */
static inline void span_set(int64_t *amounts, struct span *spans, int node, int64_t amount)
{
	struct span *span = &spans[node / SPAN_NODES];
	span->loose |= amount > amounts[node] && amounts[node] == span->low;
	if (amount < span->low)
		span->low = amount;
	if (amount > span->high)
		span->high = amount;
	amounts[node] = amount;
}

#endif
