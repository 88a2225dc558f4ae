/* What people read: lists of nodes, tables, and the nearest word to a misspelt one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

static void nothing_acts_on_the_terminal(void **state)
{
	static const struct {
		const char *story, *text, *want;
	} rows[] = {
		{"nothing", "", ""},
		{"plain", "a b-c", "a b-c"},
		{"other scripts stay", "k\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x98\x80",
	         "k\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"an escape sequence is harmless without its first character", "a\033[2Jb", "a?[2Jb"},
		{"a line break cannot forge a line", "a\nerror: b\r\tc", "a?error: b??c"},
		{"the same in 8 bits",
	         "\xc2\x9b"
	         "2J",
	         "?2J"},
		{"text that runs backwards",
	         "a\xe2\x80\xae"
	         "b",
	         "a?b"},
		{"half a character", "\xe2\x82", "??"},
		{"no character at all", "a\xff\xc0\xaf", "a???"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = NULL;
		size_t length = 0;
		FILE *stream = open_memstream(&text, &length);
		output_text(stream, rows[i].text);
		fclose(stream);
		if (strcmp(text, rows[i].want) != 0)
			fail_msg("%s: wanted %s, got %s", rows[i].story, rows[i].want, text);
		free(text);
	}
}

static void lists_of_nodes(void **state)
{
	static const struct {
		const char *story, *names, *want;
		size_t width;
	} rows[] = {
		{"none", "", "", 0},
		{"one", "n1", "n1", 0},
		{"a few are spelled out, numbers in order", "n10 n2 n9", "n2 n9 n10", 0},
		{"twice the same node", "n1 n1 n1 n1 n1 n1", "n1", 0},
		{"many become ranges", "n1 n2 n3 n5 n6 n8", "n[1-3,5-6,8]", 0},
		{"a zero alone is not padding", "n0 n1 n2 n9 n10 n11", "n[0-2,9-11]", 0},
		{"two series", "a1 a2 a3 b1 b2 b3", "a[1-3] b[1-3]", 0},
		{"padding is kept", "n08 n09 n10 n11 n12", "n[08-12]", 0},
		{"padding of another width is another series", "n1 n2 n3 n01 n02", "n[1-3] n[01-02]", 0},
		{"names without numbers", "red green blue black white", "black blue green red white", 0},
		{"numbers inside stay", "r1-n1 r1-n2 r2-n1 r2-n2 r2-n3", "r1-n[1-2] r2-n[1-3]", 0},
		{"cut", "aaaa bbbb cccc dddd eeee ffff", "aaaa bbbb and 4 more", 10},
		{"never cut to nothing", "a-very-long-name b c d e", "a-very-long-name and 4 more", 5},
		{"a number too long for us is part of the name", "n99999999999999999999 n1", "n1 n99999999999999999999",
	         0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_create();
		const char *names[16];
		size_t count = 0;
		char *text = arena_strdup(arena, rows[i].names), *rest = NULL;
		for (char *name = strtok_r(text, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
			names[count++] = name;
		const char *got = output_nodes(arena, names, count, rows[i].width);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: wanted \"%s\", got \"%s\"", rows[i].story, rows[i].want, got);
		arena_destroy(arena);
	}
}

static void tables(void **state)
{
	struct arena *arena = arena_create();
	struct table table = {.arena = arena, .columns = 3};
	char *text = NULL;
	size_t length = 0;
	table_add(&table, &(struct table_row){.cells = {"NAME", "STATE", "NODES"}});
	table_add(&table, &(struct table_row){.cells = {"chat", "Placed", "n1"}, .colours = {0, COLOUR_GREEN}});
	table_line(&table, COLOUR_NONE, "  - %s", "a long line that widens no column");
	table_add(&table, &(struct table_row){.cells = {"  pr\xc3\xa4", NULL, "n2"}});
	table_add(&table, &(struct table_row){.cells = {"x", "", ""}});
	FILE *stream = open_memstream(&text, &length);
	table_print(&table, stream, false);
	fclose(stream);
	assert_string_equal(text, "NAME   STATE   NODES\n"
	                          "chat   Placed  n1\n"
	                          "  - a long line that widens no column\n"
	                          "  pr\xc3\xa4          n2\n"
	                          "x\n");
	free(text);
	stream = open_memstream(&text, &length);
	table_print(&table, stream, true);
	fclose(stream);
	assert_non_null(strstr(text, "chat   \033[38;5;36mPlaced\033[0m  n1\n"));
	free(text);
	arena_destroy(arena);
}

static void suggestions(void **state)
{
	static const struct {
		const char *word, *want;
	} rows[] = {
		{"pln", "plan"},
		{"paln", "plan"},
		{"validat", "validate"},
		{"simluate", "simulate"},
		{"val", "validate"},
		{"sim", "simulate"},
		{"complete", "completion"},
		{"--hepl", "--help"},
		{"xyz", NULL},
		{"", NULL},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *got = cli_suggest_command(rows[i].word);
		if (!text_equal(got, rows[i].want))
			fail_msg("%s: wanted %s, got %s", rows[i].word, rows[i].want ? rows[i].want : "nothing",
			         got ? got : "nothing");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_acts_on_the_terminal),
		cmocka_unit_test(lists_of_nodes),
		cmocka_unit_test(tables),
		cmocka_unit_test(suggestions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
