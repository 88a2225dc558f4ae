/* Log lines: what is written at which level, and that no value can break a line. */
#include "base/clock.h"
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct sink {
	struct logger logger;
	char *text;
	size_t length;
};

static void sink_open(struct sink *sink, enum log_format format)
{
	*sink = (struct sink){.logger = {.level = LOG_INFO, .format = format}};
	sink->logger.stream = open_memstream(&sink->text, &sink->length);
	assert_non_null(sink->logger.stream);
}

static void sink_expect(struct sink *sink, const char *text)
{
	fclose(sink->logger.stream);
	assert_string_equal(sink->text, text);
	free(sink->text);
}

static void text_lines(void **state)
{
	struct sink sink;
	sink_open(&sink, LOG_TEXT);
	log_write(&sink.logger, LOG_INFO, 0, "bound", "pod", "a/b", "node", "n-1", NULL);
	log_write(&sink.logger, LOG_ERROR, 0, "two\nlines", "why", "no \"room\"", "none", NULL, "empty", "", NULL);
	log_write(&sink.logger, LOG_DEBUG, 0, "quiet", NULL);
	sink_expect(&sink, "info bound pod=a/b node=n-1\n"
	                   "error two\\nlines why=\"no \\\"room\\\"\" none=\"\" empty=\"\"\n");
}

static void json_lines(void **state)
{
	struct clock_virtual clock;
	clock_virtual_init(&clock, INT64_C(1735689600999999999));
	struct sink sink;
	sink_open(&sink, LOG_JSON);
	sink.logger.clock = &clock.source;
	log_write(&sink.logger, LOG_WARN, 0, "tab\there", "k\"", "\x01\xff\xc3\xa4", "nil", NULL, NULL);
	sink_expect(&sink, "{\"time\":\"2025-01-01T00:00:00Z\",\"level\":\"warn\",\"message\":\"tab\\there\","
	                   "\"k\\\"\":\"\\u0001\\ufffd\xc3\xa4\",\"nil\":null}\n");
}

static void flags_choose_debug_lines(void **state)
{
	struct sink sink;
	sink_open(&sink, LOG_TEXT);
	sink.logger.level = LOG_DEBUG;
	sink.logger.flags = LOG_FLAG_STORE;
	log_write(&sink.logger, LOG_DEBUG, LOG_FLAG_STORE, "store", NULL);
	log_write(&sink.logger, LOG_DEBUG, LOG_FLAG_WATCH, "watch", NULL);
	log_write(&sink.logger, LOG_DEBUG, 0, "general", NULL);
	log_write(&sink.logger, LOG_WARN, LOG_FLAG_WATCH, "warning", NULL); /* flags only thin out debug lines */
	sink_expect(&sink, "debug store\ndebug general\nwarn warning\n");
	log_write(NULL, LOG_ERROR, 0, "nowhere", NULL);
	log_write(&(struct logger){0}, LOG_ERROR, 0, "nowhere", NULL);
}

static void names_are_parsed(void **state)
{
	enum log_level level = LOG_ERROR;
	assert_int_equal(log_level_parse("debug", &level), 0);
	assert_int_equal(level, LOG_DEBUG);
	assert_int_equal(log_level_parse("DEBUG", &level), -1);
	assert_int_equal(log_level_parse("", &level), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_lines),
		cmocka_unit_test(json_lines),
		cmocka_unit_test(flags_choose_debug_lines),
		cmocka_unit_test(names_are_parsed),
	};
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
