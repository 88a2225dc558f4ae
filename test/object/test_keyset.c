/* The key set behind duplicate detection, across its change from linear to hashed and across reuse. */
#include "object/keyset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void sets_of_every_size(void **state)
{
	static char names[5000][16];
	for (int i = 0; i < 5000; i++)
		snprintf(names[i], sizeof(names[i]), "k%d", i);
	struct keyset set = {0};
	static const int sizes[] = {5, 5000, 3, 12, 13, 14, 40, 0, 1000, 12};
	for (size_t round = 0; round < sizeof(sizes) / sizeof(sizes[0]); round++) {
		keyset_clear(&set);
		for (int i = 0; i < sizes[round]; i++) {
			assert_true(keyset_add(&set, names[i], strlen(names[i])));
			assert_false(keyset_add(&set, names[i / 2], strlen(names[i / 2])));
		}
		assert_int_equal(set.count, sizes[round]);
		assert_true(keyset_add(&set, "", 0));
		assert_false(keyset_add(&set, "k1", 0)); /* the length decides, not the terminator */
	}
	keyset_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sets_of_every_size)};
	return cmocka_run_group_tests_name("keyset", tests, NULL, NULL);
}
