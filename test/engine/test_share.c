/* Fair shares, and the page that explains them: small stories with numbers that can be checked by hand. */
#include "share_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void shares(void **state)
{
	static const struct {
		const char *story;
		int64_t total;
		struct row rows[MOST];
	} table[] = {
		{"one queue gets what it wants, not what it might have", 8, {{"a", TOP, 4, NONE, 1, 0, 0, 3, 3}}},
		{"beyond its quota a queue needs a weight",
	         8,
	         {{"a", TOP, 2, NONE, 0, 0, 0, 6, 2}, {"b", TOP, 2, NONE, 1, 0, 0, 9, 6}}},
		{"a limit below the quota wins", 8, {{"a", TOP, 6, 3, 1, 0, 0, 9, 3}}},
		{"quotas first, the rest by weight",
	         8,
	         {{"a", TOP, 2, NONE, 1, 0, 0, 6, 3}, {"b", TOP, 2, NONE, 3, 0, 0, 6, 5}}},
		{"the last device goes to the larger remainder",
	         11,
	         {{"a", TOP, 2, NONE, 1, 0, 0, 10, 3}, {"b", TOP, 2, NONE, 4, 0, 0, 10, 8}}},
		{"equal remainders: the older queue",
	         5,
	         {{"a", TOP, 0, NONE, 1, 0, 0, 9, 3}, {"b", TOP, 0, NONE, 1, 0, 0, 9, 2}}},
		{"who wants less than its part leaves it to the others, again and again",
	         20,
	         {{"a", TOP, 0, NONE, 1, 0, 0, 1, 1},
	          {"b", TOP, 0, NONE, 1, 0, 0, 5, 5},
	          {"c", TOP, 0, NONE, 1, 0, 0, 9, 7},
	          {"d", TOP, 0, NONE, 1, 0, 0, 9, 7}}},
		{"priority decides beyond quotas only",
	         6,
	         {{"low", TOP, 2, NONE, 100, 1, 0, 6, 2}, {"high", TOP, 2, NONE, 1, 2, 0, 6, 4}}},
		{"the next priority gets what the first leaves",
	         10,
	         {{"high", TOP, 0, NONE, 1, 2, 0, 4, 4},
	          {"a", TOP, 0, NONE, 1, 1, 0, 9, 3},
	          {"b", TOP, 0, NONE, 1, 1, 0, 9, 3}}},
		{"quotas that promise too much stay promised, and nothing is left beyond them",
	         4,
	         {{"a", TOP, 4, NONE, 9, 0, 0, 9, 4},
	          {"b", TOP, 4, NONE, 9, 0, 0, 3, 3},
	          {"c", TOP, 0, NONE, 9, 0, 0, 9, 0}}},
		{"an unlimited quota is all the parent has",
	         8,
	         {{"root", TOP, NONE, NONE, 1, 0, 0, 20, 8},
	          {"a", 0, NONE, NONE, 1, 0, 0, 20, 8},
	          {"b", 0, 3, NONE, 1, 0, 0, 0, 0}}},
		{"a child stands before its parent; the share of the department is the total of its teams",
	         9,
	         {{"team", 2, 1, NONE, 1, 0, 0, 9, 5},
	          {"mate", 2, 0, NONE, 1, 0, 0, 9, 4},
	          {"department", TOP, 0, NONE, 1, 0, 0, 18, 9}}},
		{"a department gets nothing for demand that the limits of its teams forbid",
	         10,
	         {{"d", TOP, 0, NONE, 1, 0, 0, 10, 2},
	          {"e", TOP, 0, NONE, 1, 0, 0, 10, 8},
	          {"d-team", 0, 0, 2, 1, 0, 0, 10, 2}}},
		{"a parent that states no demand has that of its children",
	         10,
	         {{"d", TOP, 0, NONE, 1, 0, 0, 0, 7}, {"d-team", 0, 0, NONE, 1, 0, 0, 7, 7}}},
		{"what runs is demand, though nobody asked", 10, {{"a", TOP, 0, NONE, 1, 0, 5, 0, 5}}},
		{"the past takes from a weight its part of all weights",
	         15,
	         {{"a", TOP, 0, NONE, 1, 0, 0, 16, 5, 25}, {"b", TOP, 0, NONE, 1, 0, 0, 16, 10, 0}}},
		{"equal pasts change nothing",
	         16,
	         {{"a", TOP, 0, NONE, 1, 0, 0, 16, 8, 30}, {"b", TOP, 0, NONE, 1, 0, 0, 16, 8, 30}}},
		{"who used more than its part comes after all others",
	         16,
	         {{"a", TOP, 0, NONE, 1, 0, 0, 16, 4, 60}, {"b", TOP, 0, NONE, 1, 0, 0, 12, 12, 0}}},
		{"quotas do not mind the past",
	         16,
	         {{"a", TOP, 10, NONE, 1, 0, 0, 16, 10, 100}, {"b", TOP, 0, NONE, 1, 0, 0, 16, 6, 0}}},
		{"who alone wants more gets all, whatever it used",
	         16,
	         {{"a", TOP, 0, NONE, 1, 0, 0, 16, 16, 100}, {"b", TOP, 0, NONE, 1, 0, 0, 0, 0, 0}}},
		{"all used more than their parts: as if nobody had",
	         16,
	         {{"a", TOP, 0, NONE, 3, 0, 0, 16, 12, 100}, {"b", TOP, 0, NONE, 1, 0, 0, 16, 4, 90}}},
		{"the past counts among queues of one priority and one parent",
	         16,
	         {{"high", TOP, 0, NONE, 1, 2, 0, 4, 4, 100},
	          {"a", TOP, 0, NONE, 1, 1, 0, 16, 4, 25},
	          {"b", TOP, 0, NONE, 1, 1, 0, 16, 8, 0},
	          {"a-team", 1, 0, NONE, 1, 0, 0, 16, 4, 90}}},
		{"nothing to divide", 0, {{"a", TOP, 0, NONE, 1, 0, 0, 5, 0}, {"b", TOP, 2, NONE, 1, 0, 0, 5, 2}}},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		rows_check(table[i].story, table[i].rows, table[i].total);
}

/* Half a device is handed out only where somebody asked for a half, or as the one rest that this leaves. */
static void fractions_of_devices(void **state)
{
	struct arena *arena = arena_create();
	struct share_queue queues[3];
	struct row row = {"", TOP, 0, NONE, 1, 0, 0, 9, 0};
	for (size_t i = 0; i < 3; i++)
		queues[i] = rows_queue(&row);
	queues[0].requested[SHARE_GPU] = 500;
	share_compute(queues, 3, (int64_t[]){4000, 0, 0}, arena);
	assert_int_equal(queues[0].fair[SHARE_GPU], 500);
	assert_int_equal(queues[1].fair[SHARE_GPU], 2000);
	assert_int_equal(queues[2].fair[SHARE_GPU], 1500);
	arena_destroy(arena);
}

static void units_of_cpu_and_memory(void **state)
{
	struct arena *arena = arena_create();
	struct share_queue queues[2] = {{.parent = TOP}, {.parent = TOP, .creation = -1}};
	for (int i = 0; i < 2; i++)
		for (int r = 0; r < SHARE_RESOURCES; r++) {
			queues[i].limit[r] = NONE;
			queues[i].weight[r] = 1000;
			queues[i].requested[r] = 5000000;
		}
	share_compute(queues, 2, (int64_t[]){7000, 7001, 7000001}, arena);
	assert_memory_equal(queues[0].fair, ((int64_t[]){3000, 3500, 3500000}), sizeof(queues[0].fair));
	assert_memory_equal(queues[1].fair, ((int64_t[]){4000, 3501, 3500001}), sizeof(queues[1].fair));
	arena_destroy(arena);
}

/* The same queues in two pools, one after the other and mixed: each pool is divided as if there were no other, and nobody
 * takes from another pool. */
static void pools_are_divided_apart(void **state)
{
	struct arena *arena = arena_create();
	struct row row = {"", TOP, 0, NONE, 1, 0, 0, 9, 0};
	static const int pools[] = {1, 0, 1, 0, 1};
	static const int64_t totals[] = {8000, 0, 0, 12000, 0, 0}, expected[] = {4000, 4000, 4000, 4000, 4000};
	struct share_queue queues[5];
	struct share_claim claim;
	for (size_t i = 0; i < 5; i++) {
		queues[i] = rows_queue(&row);
		queues[i].pool = pools[i];
		queues[i].creation = (int64_t)i;
	}
	share_compute(queues, 5, totals, arena);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(queues[i].fair[SHARE_GPU], expected[i]);
	queues[0].allocated[SHARE_GPU] = queues[1].allocated[SHARE_GPU] = 8000;
	share_claim_init(&claim, queues, 5, arena);
	assert_int_equal(share_claim_begin(&claim, 2, (int64_t[]){1000, 0, 0}, false), SHARE_ALLOWED);
	assert_true(share_claim_may_take(&claim, 0));
	assert_false(share_claim_may_take(&claim, 1));
	assert_int_equal(share_claim_take(&claim, 1, (int64_t[]){1000, 0, 0}), SHARE_SAME_QUEUE);
	arena_destroy(arena);
}

/* Parents out of range and circles are cut; what hangs on them keeps its place. */
static void bad_parents(void **state)
{
	struct arena *arena = arena_create();
	struct share_queue queues[6];
	static const int parents[6] = {1, 2, 0, 3, 99, 0};
	struct row row = {"", TOP, 0, NONE, 1, 0, 0, 1, 0};
	for (size_t i = 0; i < 6; i++) {
		queues[i] = rows_queue(&row);
		queues[i].parent = parents[i];
	}
	queues[3].parent = 3;
	queues[4].quota[SHARE_GPU] = -7; /* any negative number is unlimited */
	share_compute(queues, 6, rows_plenty, arena);
	static const int mended[6] = {1, 2, TOP, TOP, TOP, 0};
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(queues[i].parent, mended[i]);
	assert_int_equal(queues[2].fair[SHARE_GPU], 1000); /* states less than what is below: counts as the sum */
	assert_int_equal(queues[4].fair[SHARE_GPU], 1000);
	share_compute(queues, 0, rows_plenty, arena);
	arena_destroy(arena);
}

/* The largest numbers there are, and negative ones where none belong. */
static void extreme_numbers(void **state)
{
	struct arena *arena = arena_create();
	struct share_queue queues[4] = {{.parent = TOP}, {.parent = TOP}, {.parent = 1}, {.parent = TOP}};
	for (int i = 0; i < 4; i++)
		for (int r = 0; r < SHARE_RESOURCES; r++) {
			queues[i].limit[r] = NONE;
			queues[i].weight[r] = i == 3 ? INT64_MIN : INT64_MAX;
			queues[i].requested[r] = i == 3 ? -5 : INT64_MAX;
			queues[i].allocated[r] = i == 3 ? -9 : 0;
		}
	share_compute(queues, 4, (int64_t[]){INT64_MAX, INT64_MAX, -1}, arena);
	assert_int_equal(queues[0].fair[SHARE_CPU], INT64_MAX / 2 + 1);
	assert_int_equal(queues[1].fair[SHARE_CPU], INT64_MAX / 2);
	assert_int_equal(queues[2].fair[SHARE_CPU], INT64_MAX / 2);
	assert_int_equal(queues[3].fair[SHARE_CPU], 0);
	assert_int_equal(queues[0].fair[SHARE_MEMORY], 0);
	static const int64_t most[] = {INT64_MAX, INT64_MAX, INT64_MAX};
	assert_int_not_equal(share_before(queues, rows_plenty, 0, most, 1, most),
	                     share_before(queues, rows_plenty, 1, most, 0, most));
	arena_destroy(arena);
}

/* ---- the page ---- */

/* Cells of a table row of the page; false for other lines. */
static bool read_cells(char *line, char *cells[8])
{
	if (*line != '|')
		return false;
	for (int i = 0; i < 8; i++) {
		cells[i] = line + 1;
		line = strchr(line + 1, '|');
		if (!line)
			return false;
		*line = 0;
		while (*cells[i] == ' ')
			cells[i]++;
		cells[i][strcspn(cells[i], " ")] = 0;
	}
	return true;
}

/* Every table on the page whose last column is "fair share". */
static void the_tables_of_the_page(void **state)
{
	FILE *page = fopen(QUEUES_PAGE, "r");
	assert_non_null(page);
	char line[512], names[MOST][32];
	int tables = 0;
	while (fgets(line, sizeof(line), page)) {
		if (strcmp(line, "| queue | parent | quota | limit | weight | priority | demand | fair share |\n") != 0)
			continue;
		struct row rows[MOST] = {0};
		size_t count = 0;
		char *cells[8];
		assert_non_null(fgets(line, sizeof(line), page));
		while (fgets(line, sizeof(line), page) && count < MOST - 1 && read_cells(line, cells)) {
			struct row *row = &rows[count];
			snprintf(names[count], sizeof(names[count]), "%s", cells[0]);
			*row = (struct row){.name = names[count], .parent = TOP};
			for (int i = 0; i < (int)count; i++)
				if (strcmp(cells[1], names[i]) == 0)
					row->parent = i;
			assert_true((row->parent == TOP) == !*cells[1]);
			row->quota = strtoll(cells[2], NULL, 10);
			row->limit = strtoll(cells[3], NULL, 10);
			row->weight = strtoll(cells[4], NULL, 10);
			row->priority = strtoll(cells[5], NULL, 10);
			row->demand = strtoll(cells[6], NULL, 10);
			row->fair = strtoll(cells[7], NULL, 10);
			count++;
		}
		assert_int_equal(count, 5);
		rows_check("the page", rows, 32);
		tables++;
	}
	fclose(page);
	assert_int_equal(tables, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),
		cmocka_unit_test(fractions_of_devices),
		cmocka_unit_test(units_of_cpu_and_memory),
		cmocka_unit_test(pools_are_divided_apart),
		cmocka_unit_test(bad_parents),
		cmocka_unit_test(extreme_numbers),
		cmocka_unit_test(the_tables_of_the_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
