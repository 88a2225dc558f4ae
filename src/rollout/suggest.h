/* A segment size for roles: the ratio of what they want, as many times as a domain of the cluster can hold. */
#ifndef ROLLOUT_SUGGEST_H
#define ROLLOUT_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUGGEST_NO_LEVEL SIZE_MAX

/* The domains of one level; levels go from small to large. */
struct suggest_level {
	const int64_t *units; /* by domain: how many times the ratio fits into it */
	size_t count;
};

struct suggestion {
	int64_t multiple; /* of the ratio in one segment */
	int64_t segments;
	size_t level; /* whose domains hold a whole segment each, all of them at once; SUGGEST_NO_LEVEL when none does */
};

/* The smallest whole numbers in the ratio of `desired`; roles that want nothing get 0. Returns by what they were divided:
 * 0 when nobody wants anything. */
int64_t suggest_ratio(const int64_t *desired, size_t count, int64_t *ratio);
/* For roles that have no common divisor: small numbers near their ratio, such that the roles need about as many segments
 * each; the last segment of a role has what is left over. Returns how many segments of this ratio there are, 0 when
 * nobody wants anything. */
int64_t suggest_near(const int64_t *desired, size_t count, int64_t *ratio);
/* The largest segments, two or more where possible, that all fit at the smallest level at which any do. `times` is what
 * suggest_ratio or suggest_near returned; after the former (`is_exact`) only whole parts of it are considered. */
struct suggestion suggest_segments(int64_t times, bool is_exact, const struct suggest_level *levels,
                                   size_t level_count);

#endif
