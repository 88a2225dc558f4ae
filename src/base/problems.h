/* Problems: everything wrong with an input, collected instead of stopping at the first.
 * Memory belongs to the arena given at each call. */
#ifndef BASE_PROBLEMS_H
#define BASE_PROBLEMS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum severity { SEVERITY_WARNING, SEVERITY_ERROR };

struct problem {
	enum severity severity;
	const char *path;    /* e.g. spec.subGroups[2].minMember; "" for the whole object */
	const char *message; /* what is wrong */
	const char *fix;     /* what to do; may be NULL */
};

struct problems {
	struct arena *arena; /* owns items and texts; set before use */
	struct problem *items;
	size_t count;
	size_t capacity;
	size_t errors;
};

void problem_add(struct problems *problems, enum severity severity, const char *path, const char *fix,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
/* A collection in `arena` that begins with the problems of another one, which must outlive it and stays as it is. */
struct problems problems_continue(const struct problems *found, struct arena *arena);
/* Formats a path: problem_path(p, "spec.subGroups[%zu].name", i). */
const char *problem_path(struct problems *problems, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
