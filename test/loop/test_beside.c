/* The thread beside the loop: what it was given runs while the giver goes on, one piece at a time. */
#include "loop/beside.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <unistd.h>

struct work {
	int gate[2]; /* it goes on when there is something to read */
	int done;
};

static void wait_at_gate(void *context)
{
	struct work *work = context;
	char byte;
	assert_int_equal(read(work->gate[0], &byte, 1), 1);
	work->done++;
}

static void the_giver_goes_on(void **state)
{
	struct work work = {.done = 0};
	struct beside *beside = beside_create();
	(void)state;
	assert_int_equal(pipe(work.gate), 0);
	assert_true(beside_wait(beside, 0)); /* nothing is under way */
	for (int i = 1; i <= 3; i++) {
		beside_start(beside, wait_at_gate, &work);
		assert_false(beside_wait(beside, 0));
		assert_false(beside_wait(beside, CLOCK_MILLISECOND));
		assert_int_equal(write(work.gate[1], "x", 1), 1);
		while (!beside_wait(beside, CLOCK_SECOND))
			;
		assert_int_equal(work.done, i);
	}
	beside_start(beside, wait_at_gate, &work);
	assert_int_equal(write(work.gate[1], "x", 1), 1);
	beside_destroy(beside); /* waits */
	assert_int_equal(work.done, 4);
	beside_destroy(beside_create()); /* never used */
	close(work.gate[0]);
	close(work.gate[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_giver_goes_on)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
