/* Problems: everything wrong with an input, collected instead of stopping at the first.
 * Memory belongs to the arena given at each call. */
#ifndef BASE_PROBLEMS_H
#define BASE_PROBLEMS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum severity { SEVERITY_WARNING, SEVERITY_ERROR };

/* What kind of mistake it is, for programs; people read the message. */
enum problem_cause {
	PROBLEM_INVALID, /* all that has no cause of its own */
	PROBLEM_REQUIRED,
	PROBLEM_DUPLICATE,
	PROBLEM_NOT_FOUND,
	PROBLEM_FORBIDDEN,
	PROBLEM_UNSUPPORTED,
	PROBLEM_CONFLICT,       /* two parts of the object contradict each other */
	PROBLEM_PARENT_MINIMUM, /* a subgroup with children has a number of pods */
	PROBLEM_FEW_CHILDREN,   /* more of them are needed than there are */
};

struct problem {
	enum severity severity;
	enum problem_cause cause;
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
/* With a cause of its own. */
void problem_add_cause(struct problems *problems, enum severity severity, enum problem_cause cause, const char *path,
                       const char *fix, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The same for errors. */
void problem_add_error(struct problems *problems, enum problem_cause cause, const char *path, const char *fix,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Adds what another collection has. */
void problems_copy(struct problems *problems, const struct problem *items, size_t count);
/* Gives a problem another severity. */
void problem_weigh(struct problems *problems, struct problem *problem, enum severity severity);
/* A collection in `arena` that begins with the problems of another one, which must outlive it and stays as it is. */
struct problems problems_continue(const struct problems *found, struct arena *arena);
/* Formats a path: problem_path(p, "spec.subGroups[%zu].name", i). */
const char *problem_path(struct problems *problems, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
