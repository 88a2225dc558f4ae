/* Logging: levels say how loud, flags say about what. Text or JSON lines to one stream.
 * Pure libraries (engine, plan, group, admit) never log. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdio.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };
enum log_flag { LOG_FLAG_PLACE = 1 << 0, LOG_FLAG_STORE = 1 << 1, LOG_FLAG_WATCH = 1 << 2, LOG_FLAG_HTTP = 1 << 3 };

struct clock_source;

struct logger {
	FILE *stream;
	enum log_level level;
	enum log_format format;
	unsigned flags;                   /* debug lines with a flag need that flag here */
	const struct clock_source *clock; /* NULL: no time stamp */
};

/* Key/value pairs of strings follow the message, NULL ends them (a NULL value is written as empty or null):
 * log_write(l, LOG_INFO, 0, "bound", "pod", name, "node", node, NULL). */
void log_write(const struct logger *logger, enum log_level level, unsigned flag, const char *message, ...);
/* "error", "warn", "info", "debug"; -1 when unknown. */
int log_level_parse(const char *text, enum log_level *level);

#endif
