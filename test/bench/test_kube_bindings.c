/* What the bench on a real control plane counts as a binding: the first time a pod is seen with a node. */
#include "kube_bindings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define POD(type, uid, spec, more)                                                                                     \
	"{\"type\":\"" type "\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"" uid              \
	"\"},\"spec\":{" spec "}" more "}}\n"
#define ON_NODE "\"nodeName\":\"n1\""

struct row {
	const char *what, *lines;
	size_t count;
};

static const struct row rows[] = {
	{"a pod that waits", POD("ADDED", "1", "", ""), 0},
	{"a pod that is bound", POD("ADDED", "1", "", "") POD("MODIFIED", "1", ON_NODE, ""), 1},
	{"changes of a bound pod are none",
         POD("MODIFIED", "1", ON_NODE, "") POD("MODIFIED", "1", ON_NODE, ",\"status\":{\"phase\":\"Running\"}")
                 POD("MODIFIED", "1", ON_NODE, ""),
         1},
	{"created and bound between two looks", POD("ADDED", "1", ON_NODE, ""), 1},
	{"its end", POD("DELETED", "1", ON_NODE, ""), 0},
	{"another pod of that name", POD("MODIFIED", "1", ON_NODE, "") POD("MODIFIED", "2", ON_NODE, ""), 2},
	{"a node that is named elsewhere", POD("MODIFIED", "1", "", ",\"status\":{\"nodeName\":\"n1\"}"), 0},
	{"bound before counting began", POD("MODIFIED", "old", ON_NODE, ""), 0},
	{"no JSON, and nothing", "{\"nodeName\":\"\n\n\n", 0},
};

/* Pieces of any length say the same. */
static void counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t piece = 1; piece < 400; piece += 57) {
			struct bindings bindings = {0};
			size_t length = strlen(rows[i].lines);
			bindings_known(&bindings, "old");
			for (size_t at = 0; at < length; at += piece)
				bindings_feed(&bindings, rows[i].lines + at, length - at < piece ? length - at : piece,
				              1.0);
			if (bindings.count != rows[i].count)
				fail_msg("%s: %zu instead of %zu", rows[i].what, bindings.count, rows[i].count);
			bindings_free(&bindings);
		}
}

static void feed(struct bindings *bindings, const char *line, double now)
{
	bindings_feed(bindings, line, strlen(line), now);
}

static void times_are_of_first_appearances(void **state)
{
	(void)state;
	struct bindings bindings = {0};
	feed(&bindings, POD("ADDED", "1", "", ""), 1.0);
	feed(&bindings, POD("MODIFIED", "1", ON_NODE, ""), 2.0);
	feed(&bindings, POD("MODIFIED", "2", ON_NODE, ""), 3.0);
	feed(&bindings, POD("MODIFIED", "1", ON_NODE, ""), 4.0);
	assert_true(bindings.first == 2.0);
	assert_true(bindings.last == 3.0);
	bindings_free(&bindings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(times_are_of_first_appearances),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
