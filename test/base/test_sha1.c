/* SHA-1 against digests that are published with it. */
#include "base/sha1.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void digests_are_those_of_the_standard(void **state)
{
	static const struct {
		const char *text, *digest;
	} cases[] = {
		{"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
		{"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	         "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
		/* 64 bytes: a whole block, and the length in one of its own. */
		{"0123456789012345678901234567890123456789012345678901234567890123",
	         "cf0800f7644ace3cb4c3fa33388d3ba0ea3c8b6e"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[SHA1_HEX];
		sha1_hex(cases[i].text, strlen(cases[i].text), out);
		assert_string_equal(out, cases[i].digest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(digests_are_those_of_the_standard)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
