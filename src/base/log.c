/* Log lines: composed in memory and written with one call, so that lines of several threads do not mix. */
#include "base/log.h"

#include "base/clock.h"
#include "base/strings.h"

#include <stdarg.h>
#include <string.h>

static const char *const level_names[] = {"error", "warn", "info", "debug"};

/* A JSON string body; also used for quoted values of text lines. Bytes that are not UTF-8 become U+FFFD. */
static void append_escaped(struct buffer *line, const char *text)
{
	for (size_t left = strlen(text); left > 0;) {
		uint32_t codepoint;
		size_t size = text_utf8(text, left, &codepoint);
		if (size == 0) {
			buffer_puts(line, "\\ufffd");
			size = 1;
		} else if (codepoint == '"' || codepoint == '\\') {
			buffer_printf(line, "\\%c", (int)codepoint);
		} else if (codepoint == '\n') {
			buffer_puts(line, "\\n");
		} else if (codepoint == '\t') {
			buffer_puts(line, "\\t");
		} else if (codepoint < 0x20 || codepoint == 0x7f) {
			buffer_printf(line, "\\u%04x", codepoint);
		} else {
			buffer_append(line, text, size);
		}
		text += size;
		left -= size;
	}
}

static void append_json(struct buffer *line, const char *text)
{
	if (!text) {
		buffer_puts(line, "null");
		return;
	}
	buffer_puts(line, "\"");
	append_escaped(line, text);
	buffer_puts(line, "\"");
}

static bool needs_quotes(const char *text)
{
	if (!*text)
		return true;
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7f || strchr("\"=\\", *text))
			return true;
	return false;
}

static void append_text_value(struct buffer *line, const char *text)
{
	if (!text)
		text = "";
	if (needs_quotes(text))
		append_json(line, text);
	else
		buffer_puts(line, text);
}

static void begin_line(const struct logger *logger, enum log_level level, const char *message, struct buffer *line)
{
	char stamp[32] = "";
	if (logger->clock) {
		int64_t now = clock_now(logger->clock);
		clock_print_rfc3339(now / CLOCK_SECOND - (now % CLOCK_SECOND < 0), stamp);
	}
	if (logger->format == LOG_JSON) {
		buffer_puts(line, "{");
		if (*stamp)
			buffer_printf(line, "\"time\":\"%s\",", stamp);
		buffer_printf(line, "\"level\":\"%s\",\"message\":", level_names[level]);
		append_json(line, message);
	} else {
		if (*stamp)
			buffer_printf(line, "%s ", stamp);
		buffer_printf(line, "%s ", level_names[level]);
		append_escaped(line, message);
	}
}

void log_write(const struct logger *logger, enum log_level level, unsigned flag, const char *message, ...)
{
	if (!logger || !logger->stream || (unsigned)level > LOG_DEBUG || level > logger->level)
		return;
	if (level == LOG_DEBUG && flag && !(logger->flags & flag))
		return;
	struct buffer line = {0};
	begin_line(logger, level, message ? message : "", &line);
	va_list args;
	va_start(args, message);
	for (const char *key; (key = va_arg(args, const char *));) {
		const char *value = va_arg(args, const char *);
		if (logger->format == LOG_JSON) {
			buffer_puts(&line, ",");
			append_json(&line, key);
			buffer_puts(&line, ":");
			append_json(&line, value);
		} else {
			buffer_printf(&line, " %s=", key);
			append_text_value(&line, value);
		}
	}
	va_end(args);
	buffer_puts(&line, logger->format == LOG_JSON ? "}\n" : "\n");
	fwrite(line.text, 1, line.length, logger->stream);
	fflush(logger->stream);
	buffer_free(&line);
}

int log_level_parse(const char *text, enum log_level *level)
{
	for (unsigned i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
		if (text_equal(text, level_names[i])) {
			*level = (enum log_level)i;
			return 0;
		}
	}
	return -1;
}
