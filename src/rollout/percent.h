/* A number that is written as a count or as a percentage ("25%") of something: maxUnavailable, maxSurge, partition,
 * maxSkew. */
#ifndef ROLLOUT_PERCENT_H
#define ROLLOUT_PERCENT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum percent_form { PERCENT_UNSET, PERCENT_COUNT, PERCENT_SHARE };

struct percent {
	enum percent_form form;
	int64_t value; /* a count, or whole percents */
};

static inline struct percent percent_count(int64_t value)
{
	return (struct percent){PERCENT_COUNT, value};
}

static inline struct percent percent_share(int64_t value)
{
	return (struct percent){PERCENT_SHARE, value};
}

/* Reads "25%". Text must end in the sign, as everywhere in Kubernetes: a count is written as a number, not as text.
 * -1 and *error when it is anything else. */
int percent_parse(const char *text, struct percent *out, struct error *error);

enum percent_rounding { PERCENT_DOWN, PERCENT_UP };
/* The count it stands for, out of `whole`; unset is 0. Never negative, but may exceed the whole. */
int64_t percent_of(struct percent percent, int64_t whole, enum percent_rounding rounding);

#endif
