/* Table tests of admission: parse, judge, compare. */
#include "verdict.h"

#include "base/strings.h"

#include <stdio.h>
#include <string.h>

void parsed_open(struct parsed *parsed, const char *text)
{
	*parsed = (struct parsed){.arena = arena_create()};
	parsed->problems.arena = parsed->arena;
	manifests_init(&parsed->manifests);
	manifests_parse(&parsed->manifests, text, strlen(text), "test.yaml", &parsed->problems);
	for (size_t i = 0; i < parsed->problems.count; i++)
		print_error("%s: %s\n%s\n", parsed->problems.items[i].path, parsed->problems.items[i].message, text);
	assert_int_equal(parsed->problems.errors, 0);
	assert_true(parsed->manifests.count > 0);
}

const struct val *parsed_object(const struct parsed *parsed, size_t index)
{
	assert_true(index < parsed->manifests.count);
	return parsed->manifests.items[index].object;
}

void parsed_close(struct parsed *parsed)
{
	manifests_free(&parsed->manifests);
	arena_destroy(parsed->arena);
}

static bool same(const struct problem *problem, const struct expected *expected)
{
	enum severity severity = expected->severity == 'E' ? SEVERITY_ERROR : SEVERITY_WARNING;
	return problem->severity == severity && strcmp(problem->path, expected->path) == 0 &&
	       (!expected->contains || strstr(problem->message, expected->contains));
}

/* Each expectation uses up one problem. */
static bool compare(const struct problems *problems, const struct row *row)
{
	bool used[64] = {false};
	size_t wanted = 0;
	for (; wanted < MOST_EXPECTED && row->expect[wanted].severity; wanted++) {
		size_t i = 0;
		while (i < problems->count && i < 64 && (used[i] || !same(&problems->items[i], &row->expect[wanted])))
			i++;
		if (i == problems->count || i == 64)
			return false;
		used[i] = true;
	}
	for (size_t i = 0; i < problems->count; i++)
		if (!problems->items[i].fix)
			return false;
	return wanted == problems->count;
}

void verdict_check(const char *head, const struct row *row)
{
	struct buffer text = {0};
	buffer_printf(&text, "%s%s\n", head ? head : "", row->text);
	struct parsed parsed;
	parsed_open(&parsed, text.text);
	struct admit_index *index = admit_index_create(&parsed.manifests);
	admit_object(&parsed.manifests.items[parsed.manifests.count - 1], index, &parsed.problems);
	bool good = compare(&parsed.problems, row);
	if (!good) {
		print_error("%s\n  %s\n", row->story, row->text);
		for (size_t i = 0; i < parsed.problems.count; i++)
			print_error("  got %s %s: %s (%s)\n",
			            parsed.problems.items[i].severity == SEVERITY_ERROR ? "error" : "warning",
			            parsed.problems.items[i].path, parsed.problems.items[i].message,
			            parsed.problems.items[i].fix ? parsed.problems.items[i].fix : "-");
		for (size_t i = 0; i < MOST_EXPECTED && row->expect[i].severity; i++)
			print_error("  want %c %s: %s\n", row->expect[i].severity, row->expect[i].path,
			            row->expect[i].contains ? row->expect[i].contains : "");
	}
	admit_index_destroy(index);
	parsed_close(&parsed);
	buffer_free(&text);
	assert_true(good);
}

void verdict_check_all(const char *head, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		verdict_check(head, &rows[i]);
}
