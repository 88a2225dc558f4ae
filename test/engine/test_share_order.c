/* Which queue is served next. */
#include "share_rows.h"

/* Two siblings, a and b, with what each would get next. */
static void order_of_two(void **state)
{
	static const struct {
		const char *story;
		struct row a, b;
		int64_t next_a, next_b;
		bool a_first;
	} table[] = {
		{"within its quota with the next gang",
	         {"a", TOP, 4, NONE, 1, 0, 3, 4, 0},
	         {"b", TOP, 4, NONE, 1, 9, 3, 5, 0},
	         1,
	         2,
	         true},
		{"both within: the higher priority",
	         {"a", TOP, 4, NONE, 1, 1, 0, 4, 0},
	         {"b", TOP, 4, NONE, 1, 2, 3, 4, 0},
	         1,
	         1,
	         false},
		{"entitled to nothing",
	         {"a", TOP, 0, NONE, 0, 0, 0, 4, 0},
	         {"b", TOP, 0, NONE, 1, 0, 7, 9, 0},
	         1,
	         1,
	         false},
		{"smaller dominant share with the next gang",
	         {"a", TOP, 4, NONE, 1, 0, 0, 4, 0},
	         {"b", TOP, 8, NONE, 1, 0, 1, 4, 0},
	         2,
	         2,
	         false},
		{"equal with it: smaller without",
	         {"a", TOP, 4, NONE, 1, 0, 1, 4, 0},
	         {"b", TOP, 4, NONE, 1, 0, 2, 4, 0},
	         2,
	         1,
	         true},
		{"both have nothing: the smaller entitlement",
	         {"a", TOP, 4, NONE, 1, 0, 0, 4, 0},
	         {"b", TOP, 3, NONE, 1, 0, 0, 3, 0},
	         0,
	         0,
	         false},
		{"unlimited is the largest entitlement",
	         {"a", TOP, NONE, NONE, 1, 0, 0, 4, 0},
	         {"b", TOP, 900, NONE, 1, 0, 0, 3, 0},
	         0,
	         0,
	         false},
		{"both have nothing: the smaller past, before the entitlement",
	         {"a", TOP, 4, NONE, 1, 0, 0, 4, 0, 2},
	         {"b", TOP, 3, NONE, 1, 0, 0, 3, 0, 3},
	         0,
	         0,
	         true},
		{"the past decides nothing that what is held decides",
	         {"a", TOP, 4, NONE, 1, 0, 1, 4, 0, 90},
	         {"b", TOP, 4, NONE, 1, 0, 2, 4, 0, 0},
	         2,
	         2,
	         true},
		{"all alike: the first",
	         {"a", TOP, 4, NONE, 1, 0, 1, 4, 0},
	         {"b", TOP, 4, NONE, 1, 0, 1, 4, 0},
	         1,
	         1,
	         true},
	};
	struct arena *arena = arena_create();
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct share_queue queues[2] = {rows_queue(&table[i].a), rows_queue(&table[i].b)};
		int64_t next_a[SHARE_RESOURCES] = {devices(table[i].next_a)},
			next_b[SHARE_RESOURCES] = {devices(table[i].next_b)};
		share_compute(queues, 2, rows_plenty, arena);
		if (share_before(queues, rows_plenty, 0, next_a, 1, next_b) != table[i].a_first ||
		    share_before(queues, rows_plenty, 1, next_b, 0, next_a) == table[i].a_first)
			fail_msg("%s: wrong order", table[i].story);
	}
	arena_destroy(arena);
}

/* Above the fair share counts only when it is so in every resource: one that is not scarce says nothing. */
static void above_in_every_resource(void **state)
{
	struct share_queue queues[2] = {{.parent = TOP, .priority = 9}, {.parent = TOP, .priority = 1}};
	for (int i = 0; i < 2; i++)
		for (int r = 0; r < SHARE_RESOURCES; r++) {
			queues[i].limit[r] = NONE;
			queues[i].fair[r] = 1000;
			queues[i].allocated[r] = i ? 1000 : 2000;
		}
	assert_false(share_before(queues, rows_plenty, 0, NULL, 1, NULL));
	queues[0].allocated[SHARE_MEMORY] = 1000;
	assert_true(share_before(queues, rows_plenty, 0, NULL, 1, NULL));
}

/* Teams of different departments are compared as departments; the best team speaks for its department. */
static void order_of_a_tree(void **state)
{
	static const struct row rows[MOST] = {{"d", TOP, 8, NONE, 1, 0, 5, 9, 0},
	                                      {"e", TOP, 8, NONE, 1, 0, 4, 9, 0},
	                                      {"d-hungry", 0, 8, NONE, 1, 0, 0, 4, 0},
	                                      {"d-full", 0, 4, NONE, 1, 0, 5, 5, 0},
	                                      {"e-full", 1, 4, NONE, 1, 0, 4, 9, 0},
	                                      {0}};
	struct share_queue queues[MOST];
	size_t count = rows_queues(rows, queues);
	struct arena *arena = arena_create();
	share_compute(queues, count, rows_plenty, arena);
	const int64_t one[SHARE_RESOURCES] = {1000}, four[SHARE_RESOURCES] = {4000};
	assert_true(share_before(queues, rows_plenty, 4, one, 2, one));
	assert_true(share_before(queues, rows_plenty, 2, one, 3, one));
	assert_true(share_before(queues, rows_plenty, 0, one, 3, one)); /* a parent before its child */
	assert_false(share_before(queues, rows_plenty, 3, one, 0, one));

	struct share_order *order = share_order_create(queues, count, rows_plenty, arena);
	assert_int_equal(share_order_best(order), -1);
	share_order_set(order, 3, one);
	assert_int_equal(share_order_best(order), 3);
	share_order_set(order, 2, one);
	assert_int_equal(share_order_best(order), 2);
	share_order_set(order, 4, one);
	assert_int_equal(share_order_best(order), 4);
	share_order_set(order, 4, four); /* e within its quota, but fuller than d would be */
	assert_int_equal(share_order_best(order), 2);
	queues[2].allocated[SHARE_GPU] += 4000; /* d-hungry got 4 */
	queues[0].allocated[SHARE_GPU] += 4000;
	share_order_set(order, 2, NULL);
	assert_int_equal(share_order_best(order), 4);
	share_order_set(order, 4, NULL);
	share_order_set(order, 3, NULL);
	assert_int_equal(share_order_best(order), -1);
	arena_destroy(arena);
}

/* Wide and deep trees of many queues: every queue is served in turn, and none costs a look at all others. */
static void many_queues(void **state)
{
	enum { MANY = 20000 };
	struct arena *arena = arena_create();
	struct share_queue *queues = arena_array(arena, struct share_queue, MANY);
	const int64_t total[SHARE_RESOURCES] = {MANY * 1000, MANY, MANY};
	for (int i = 0; i < MANY; i++) {
		queues[i].parent = i % 200 ? i - i % 200 : TOP; /* 100 departments of 199 teams */
		for (int r = 0; r < SHARE_RESOURCES; r++) {
			queues[i].limit[r] = NONE;
			queues[i].weight[r] = 1000 + i % 7;
			queues[i].requested[r] = i % 200 ? 2000 + i % 11 : 0;
		}
	}
	share_compute(queues, MANY, total, arena);
	int64_t sum = 0;
	for (int i = 0; i < MANY; i += 200)
		sum += queues[i].fair[SHARE_CPU];
	assert_int_equal(sum, MANY);
	struct share_order *order = share_order_create(queues, MANY, total, arena);
	const int64_t next[SHARE_RESOURCES] = {1000, 1, 1};
	for (int i = 0; i < MANY; i++)
		if (i % 200)
			share_order_set(order, i, next);
	int served = 0;
	for (int q; (q = share_order_best(order)) >= 0; served++) {
		for (int up = q; up >= 0; up = queues[up].parent)
			for (int r = 0; r < SHARE_RESOURCES; r++)
				queues[up].allocated[r] += next[r];
		share_order_set(order, q, NULL);
	}
	assert_int_equal(served, MANY - MANY / 200);
	for (int i = 0; i < MANY; i++)
		queues[i].parent = i - 1; /* one long line */
	share_compute(queues, MANY, total, arena);
	assert_int_equal(queues[MANY - 1].fair[SHARE_CPU], queues[MANY - 1].requested[SHARE_CPU]);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_of_two),
		cmocka_unit_test(above_in_every_resource),
		cmocka_unit_test(order_of_a_tree),
		cmocka_unit_test(many_queues),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
