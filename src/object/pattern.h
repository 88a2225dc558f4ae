/* Regular expressions as Kubernetes reads them: the syntax of Go's regexp package, compiled and matched within bounds.
 *
 * Schemas of CustomResourceDefinitions and selectors of devices come from users, so neither a pattern nor a text may
 * cost more than a fixed amount of time and memory. The few forms of Go that are not served (scripts of Unicode, \C)
 * are refused by name, never read as something else. */
#ifndef OBJECT_PATTERN_H
#define OBJECT_PATTERN_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>

/* The longest pattern that is compiled. */
#define PATTERN_MAX_LENGTH 4096

struct pattern;

/* PATTERN_UNDECIDED: the match would cost more than is allowed, or the text is not UTF-8. */
enum pattern_result { PATTERN_NO, PATTERN_YES, PATTERN_UNDECIDED };

/* The pattern lives as long as the arena. NULL when it cannot be used: ERROR_SYNTAX if Go refuses it too, ERROR_LIMIT
 * if it is larger than is served or has a form that is not. */
const struct pattern *pattern_compile(struct arena *arena, const char *text, size_t length, struct error *error);

/* Whether it matches anywhere in the text. */
enum pattern_result pattern_match(const struct pattern *pattern, const char *text, size_t length);

#endif
