/* Collecting problems: a growing array and its texts in the arena of the collection. */
#include "base/grow.h"
#include "base/problems.h"

#include <stdarg.h>

static struct problem *append(struct problems *problems)
{
	if (problems->count == problems->capacity)
		problems->items = grow_array(problems->arena, problems->items, problems->count, &problems->capacity,
		                             sizeof(*problems->items));
	return &problems->items[problems->count++];
}

static void add(struct problems *problems, struct problem problem, const char *format, va_list args)
{
	problem.message = arena_vprintf(problems->arena, format, args);
	problem.path = arena_strdup(problems->arena, problem.path ? problem.path : "");
	problem.fix = arena_strdup(problems->arena, problem.fix);
	*append(problems) = problem;
	if (problem.severity == SEVERITY_ERROR)
		problems->errors++;
}

void problem_add(struct problems *problems, enum severity severity, const char *path, const char *fix,
                 const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add(problems, (struct problem){.severity = severity, .path = path, .fix = fix}, format, args);
	va_end(args);
}

void problem_add_cause(struct problems *problems, enum severity severity, enum problem_cause cause, const char *path,
                       const char *fix, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add(problems, (struct problem){.severity = severity, .cause = cause, .path = path, .fix = fix}, format, args);
	va_end(args);
}

void problems_copy(struct problems *problems, const struct problem *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		problem_add_cause(problems, items[i].severity, items[i].cause, items[i].path, items[i].fix, "%s",
		                  items[i].message);
}

void problem_weigh(struct problems *problems, struct problem *problem, enum severity severity)
{
	problems->errors -= problem->severity == SEVERITY_ERROR;
	problems->errors += severity == SEVERITY_ERROR;
	problem->severity = severity;
}

void problem_add_error(struct problems *problems, enum problem_cause cause, const char *path, const char *fix,
                       const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add(problems, (struct problem){.severity = SEVERITY_ERROR, .cause = cause, .path = path, .fix = fix}, format,
	    args);
	va_end(args);
}

struct problems problems_continue(const struct problems *found, struct arena *arena)
{
	struct problems problems = *found;
	problems.arena = arena;
	problems.capacity = problems.count; /* the next one moves them */
	return problems;
}

const char *problem_path(struct problems *problems, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *path = arena_vprintf(problems->arena, format, args);
	va_end(args);
	return path;
}
