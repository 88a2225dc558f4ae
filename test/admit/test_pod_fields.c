/* What a pod asks for that is not served. */
#include "verdict.h"

#include "admit/pod.h"
#include "admit/pod_fields.h"

#include <stdlib.h>

static void reasons_are_joined(void **state)
{
	struct arena *arena = arena_create();
	const struct pod_block *block = NULL, *first;
	(void)state;
	assert_true(pod_block_equal(NULL, NULL));
	assert_null(pod_block_copy(NULL));
	pod_block_add(&block, arena, BLOCK_MISSING, "claim %s is missing", "a");
	first = block;
	pod_block_add(&block, arena, BLOCK_UNSUPPORTED, "and more");
	assert_string_equal(first->message, "claim a is missing");
	assert_string_equal(block->message, "claim a is missing; and more");
	assert_string_equal(block_code_name(block->code), "MissingObject");
	struct pod_block *copy = pod_block_copy(block);
	assert_true(pod_block_equal(copy, block));
	assert_false(pod_block_equal(copy, first));
	assert_false(pod_block_equal(copy, NULL));
	free(copy);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_are_joined),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
