/* Marks of an arena: what was allocated since goes, what was there before stays as it is. */
#include "base/arena_mark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

static bool is_all(const unsigned char *bytes, unsigned char value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

/* Ever deeper and back, over the ends of chunks, as a search does it. */
static void what_came_after_a_mark_is_given_back(void **state)
{
	enum { DEPTHS = 40, ROUNDS = 50 };
	struct arena *arena = arena_create();
	struct arena_mark marks[DEPTHS];
	unsigned char *blocks[DEPTHS];
	size_t after_one_round = 0;
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		for (int d = 0; d < DEPTHS; d++) {
			size_t size = (size_t)(d % 7 + 1) * 1000;
			marks[d] = arena_mark(arena);
			blocks[d] = arena_alloc(arena, size);
			assert_true(is_all(blocks[d], 0, size)); /* though somebody had it before */
			memset(blocks[d], d + 1, size);
		}
		for (int d = DEPTHS; d-- > 0;) {
			for (int below = 0; below <= d; below++)
				assert_true(is_all(blocks[below], (unsigned char)(below + 1),
				                   (size_t)(below % 7 + 1) * 1000));
			arena_rewind(arena, marks[d]);
		}
		if (round == 0)
			after_one_round = arena_reserved(arena);
	}
	assert_int_equal(arena_reserved(arena), after_one_round);
	assert_int_equal(after_one_round, 0); /* the first mark was older than anything */
	arena_destroy(arena);
}

static void a_block_larger_than_what_is_spare_is_found_elsewhere(void **state)
{
	struct arena *arena = arena_create();
	(void)state;
	void *first = arena_alloc(arena, 16);
	struct arena_mark mark = arena_mark(arena);
	arena_alloc(arena, 100000);
	arena_rewind(arena, mark);
	memset(arena_alloc(arena, 1000000), 1, 1000000);
	arena_rewind(arena, mark);
	assert_ptr_equal((char *)arena_alloc(arena, 16), (char *)first + 16);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_after_a_mark_is_given_back),
		cmocka_unit_test(a_block_larger_than_what_is_spare_is_found_elsewhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
