/* Who may take from whom. */
#include "share_claims.h"
#include "share_rows.h"

struct claim_case {
	const char *story;
	int64_t total;
	struct row rows[MOST];
	int claimer;
	int64_t request;
	bool is_protected;
	int64_t protected_before; /* of the claiming queue and those above it */
	struct {
		int queue;
		int64_t amount;
	} victims[5];
	int verdict;
	int blamed;
};

static void check_claim(const struct claim_case *test)
{
	struct share_queue queues[MOST];
	struct arena *arena = arena_create();
	size_t count = rows_queues(test->rows, queues), victim_count = 0;
	struct claim_victim victims[5];
	for (; victim_count < 5 && test->victims[victim_count].amount; victim_count++)
		victims[victim_count] = (struct claim_victim){test->victims[victim_count].queue,
		                                              {devices(test->victims[victim_count].amount)}};
	share_compute(queues, count, (int64_t[]){devices(test->total), 0, 0}, arena);
	for (int q = test->claimer; q >= 0; q = queues[q].parent)
		queues[q].allocated_protected[SHARE_GPU] = devices(test->protected_before);
	struct share_claim claim;
	share_claim_init(&claim, queues, count, arena);
	for (int again = 0; again < 2; again++) { /* a claim leaves nothing behind */
		int verdict = claim_whole(&claim, test->claimer, (int64_t[]){devices(test->request), 0, 0},
		                          test->is_protected, victims, victim_count);
		if (verdict != test->verdict || (verdict != SHARE_ALLOWED && claim.blamed != test->blamed))
			fail_msg("%s: verdict %d blaming %d, not %d blaming %d", test->story, verdict, claim.blamed,
			         test->verdict, test->blamed);
	}
	arena_destroy(arena);
}

static void claims(void **state)
{
	static const struct claim_case table[] = {
		{"a queue takes its share back from one that is above its own",
	         2,
	         {{"a", TOP, 1, NONE, 1, 0, 2, 2, 0}, {"b", TOP, 1, NONE, 1, 0, 0, 2, 0}},
	         1,
	         1,
	         false,
	         0,
	         {{0, 1}},
	         SHARE_ALLOWED,
	         0},
		{"not more than its share",
	         2,
	         {{"a", TOP, 1, NONE, 1, 0, 2, 2, 0}, {"b", TOP, 1, NONE, 1, 0, 0, 2, 0}},
	         1,
	         2,
	         false,
	         0,
	         {{0, 1}, {0, 1}},
	         SHARE_OVER_FAIR_SHARE,
	         1},
		{"quotas that promise too much: nobody is above its own",
	         2,
	         {{"a", TOP, 2, NONE, 2, 0, 2, 2, 0}, {"b", TOP, 2, NONE, 2, 0, 0, 2, 0}},
	         1,
	         1,
	         false,
	         0,
	         {{0, 1}},
	         SHARE_VICTIM_WITHIN_SHARE,
	         0},
		{"16 devices in use with a quota of 12: four may go, a fifth not",
	         16,
	         {{"a", TOP, 12, NONE, 0, 0, 16, 16, 0}, {"b", TOP, 5, NONE, 1, 0, 0, 5, 0}},
	         1,
	         5,
	         false,
	         0,
	         {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}},
	         SHARE_VICTIM_WITHIN_SHARE,
	         0},
		{"a whole gang may go, though its queue ends below its quota",
	         32,
	         {{"a", TOP, 10, NONE, 1, 0, 20, 20, 0}, {"b", TOP, 10, NONE, 1, 0, 12, 20, 0}},
	         1,
	         2,
	         false,
	         0,
	         {{0, 20}},
	         SHARE_ALLOWED,
	         0},
		{"quota comes before fair share: the victim holds only its fair share, but more than its quota",
	         7,
	         {{"root", TOP, 10, NONE, 10, 0, 6, 8, 0},
	          {"org", 0, 6, NONE, 1, 110, 4, 6, 0},
	          {"owner", 1, 4, NONE, 1, 75, 0, 2, 0},
	          {"batch", 1, 0, NONE, 1, 25, 4, 4, 0},
	          {"other", 0, 4, NONE, 1, 100, 2, 2, 0}},
	         2,
	         2,
	         false,
	         0,
	         {{3, 2}},
	         SHARE_ALLOWED,
	         0},
		{"the same, but the victim is in a queue within its quota",
	         7,
	         {{"root", TOP, 10, NONE, 10, 0, 6, 8, 0},
	          {"org", 0, 6, NONE, 1, 110, 4, 6, 0},
	          {"owner", 1, 4, NONE, 1, 75, 0, 2, 0},
	          {"batch", 1, 0, NONE, 1, 25, 4, 4, 0},
	          {"other", 0, 4, NONE, 1, 100, 2, 2, 0}},
	         2,
	         2,
	         false,
	         0,
	         {{4, 2}},
	         SHARE_VICTIM_WITHIN_SHARE,
	         4},
		{"departments in balance: the team has quota left, its department has not",
	         4,
	         {{"d0", TOP, 1, NONE, 1, 0, 2, 3, 0},
	          {"d1", TOP, 1, NONE, 1, 0, 2, 2, 0},
	          {"team0", 0, 3, NONE, 3, 0, 2, 3, 0},
	          {"team1", 1, 1, NONE, 1, 0, 2, 2, 0}},
	         2,
	         1,
	         false,
	         0,
	         {{3, 1}},
	         SHARE_VICTIM_WITHIN_SHARE,
	         1},
		{"departments out of balance",
	         4,
	         {{"d0", TOP, 1, NONE, 1, 0, 1, 2, 0},
	          {"d1", TOP, 1, NONE, 1, 0, 3, 3, 0},
	          {"team0", 0, 1, NONE, 1, 0, 1, 2, 0},
	          {"team1", 1, 1, NONE, 1, 0, 3, 3, 0}},
	         2,
	         1,
	         false,
	         0,
	         {{3, 3}},
	         SHARE_ALLOWED,
	         0},
		{"a department above its share must not end further above it than the one it takes from",
	         14,
	         {{"d", TOP, 4, NONE, 0, 0, 6, 8, 0},
	          {"e", TOP, 4, NONE, 0, 0, 8, 8, 0},
	          {"d-poor", 0, 2, NONE, 0, 0, 0, 2, 0},
	          {"d-rich", 0, 2, NONE, 0, 0, 6, 6, 0},
	          {"e-rich", 1, 4, NONE, 0, 0, 8, 8, 0}},
	         2,
	         2,
	         false,
	         0,
	         {{4, 2}},
	         SHARE_MORE_SATURATED,
	         0},
		{"it takes from its own rich team instead",
	         14,
	         {{"d", TOP, 4, NONE, 0, 0, 6, 8, 0},
	          {"e", TOP, 4, NONE, 0, 0, 8, 8, 0},
	          {"d-poor", 0, 2, NONE, 0, 0, 0, 2, 0},
	          {"d-rich", 0, 2, NONE, 0, 0, 6, 6, 0},
	          {"e-rich", 1, 4, NONE, 0, 0, 8, 8, 0}},
	         2,
	         2,
	         false,
	         0,
	         {{3, 2}},
	         SHARE_ALLOWED,
	         0},
		{"non-preemptible: within the quota",
	         2,
	         {{"d1", TOP, 1, NONE, 1, 0, 2, 2, 0},
	          {"d2", TOP, 1, NONE, 1, 0, 0, 1, 0},
	          {"a", 0, 1, NONE, 1, 0, 2, 2, 0},
	          {"b", 1, 1, NONE, 1, 0, 0, 1, 0}},
	         3,
	         1,
	         true,
	         0,
	         {{2, 1}},
	         SHARE_ALLOWED,
	         0},
		{"non-preemptible: within its share, but the quota is used up",
	         4,
	         {{"a", TOP, 1, NONE, 1, 0, 3, 3, 0}, {"b", TOP, 1, NONE, 1, 0, 1, 2, 0}},
	         1,
	         1,
	         true,
	         1,
	         {{0, 1}},
	         SHARE_OVER_QUOTA,
	         1},
		{"non-preemptible: the quota of the department counts, too",
	         4,
	         {{"a", TOP, 1, NONE, 1, 0, 3, 3, 0},
	          {"d", TOP, 0, NONE, 9, 0, 0, 1, 0},
	          {"b", 1, 1, NONE, 1, 0, 0, 1, 0}},
	         2,
	         1,
	         true,
	         0,
	         {{0, 1}},
	         SHARE_OVER_QUOTA,
	         1},
		{"from one's own queue nothing is reclaimed",
	         4,
	         {{"a", TOP, 4, NONE, 1, 0, 2, 4, 0}},
	         0,
	         1,
	         false,
	         0,
	         {{0, 1}},
	         SHARE_SAME_QUEUE,
	         0},
		{"no victims at all: room was made by moving pods",
	         4,
	         {{"a", TOP, 4, NONE, 1, 0, 2, 4, 0}},
	         0,
	         1,
	         false,
	         0,
	         {{0, 0}},
	         SHARE_ALLOWED,
	         0},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		check_claim(&table[i]);
}

/* The last paragraph of the page. */
static void claims_of_the_page(void **state)
{
#define PAGE(vision, language, product)                                                                                \
	{                                                                                                              \
		{"research", TOP, 16, NONE, 2, 100, (vision) + (language), 34, 21},                                    \
			{"product", TOP, 8, 16, 1, 100, (product), 20, 11}, {"batch", TOP, 0, NONE, 1, 50, 0, 10, 0},  \
			{"vision", 0, 10, NONE, 1, 100, (vision), 14, 12},                                             \
			{"language", 0, 4, NONE, 3, 100, (language), 20, 9},                                           \
	}
	static const struct claim_case table[] = {
		{"language may take 2", 32, PAGE(14, 7, 11), 4, 2, false, 0, {{3, 2}}, SHARE_ALLOWED, 0},
		{"but not 3", 32, PAGE(14, 7, 11), 4, 3, false, 0, {{3, 2}, {3, 1}}, SHARE_OVER_FAIR_SHARE, 4},
		{"balanced: language", 32, PAGE(12, 9, 11), 4, 1, false, 0, {{3, 1}}, SHARE_OVER_FAIR_SHARE, 4},
		{"balanced: vision", 32, PAGE(12, 9, 11), 3, 1, false, 0, {{4, 1}}, SHARE_OVER_FAIR_SHARE, 3},
		{"product is safe", 32, PAGE(14, 7, 11), 4, 2, false, 0, {{1, 2}}, SHARE_VICTIM_WITHIN_SHARE, 1},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		rows_check("the page", table[i].rows, table[i].total);
		check_claim(&table[i]);
	}
}

/* Victims can be tried and put back while a solver looks for the right ones. */
static void taking_one_by_one(void **state)
{
	static const struct row rows[MOST] = {{"a", TOP, 1, NONE, 0, 0, 2, 2, 0},
	                                      {"b", TOP, 1, NONE, 0, 0, 0, 1, 0},
	                                      {"c", TOP, 1, NONE, 0, 0, 3, 3, 0},
	                                      {0}};
	struct share_queue queues[MOST];
	struct arena *arena = arena_create();
	size_t count = rows_queues(rows, queues);
	const int64_t one[SHARE_RESOURCES] = {1000};
	share_compute(queues, count, (int64_t[]){5000, 0, 0}, arena);
	struct share_claim claim;
	share_claim_init(&claim, queues, count, arena);
	assert_int_equal(share_claim_begin(&claim, 1, one, false), SHARE_ALLOWED);
	assert_int_equal(share_claim_take(&claim, 0, one), SHARE_ALLOWED);
	assert_int_equal(share_claim_take(&claim, 0, one), SHARE_VICTIM_WITHIN_SHARE);
	assert_int_equal(claim.blamed, 0);
	assert_int_equal(share_claim_begin(&claim, 1, one, false), SHARE_ALLOWED); /* and forgets the victim */
	assert_int_equal(share_claim_take(&claim, 2, one), SHARE_ALLOWED);
	assert_int_equal(share_claim_take(&claim, 2, one), SHARE_ALLOWED);
	assert_int_equal(share_claim_take(&claim, 2, one), SHARE_VICTIM_WITHIN_SHARE);
	assert_int_equal(share_claim_take(&claim, 0, one), SHARE_ALLOWED);
	assert_int_equal(share_claim_settle(&claim), SHARE_ALLOWED);
	assert_int_equal(queues[0].allocated[SHARE_GPU], 2000); /* the queues themselves are not changed */
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims),
		cmocka_unit_test(claims_of_the_page),
		cmocka_unit_test(taking_one_by_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
