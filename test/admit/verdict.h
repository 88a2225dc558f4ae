/* Table tests of admission: a manifest, and exactly the problems it must give. */
#ifndef TEST_ADMIT_VERDICT_H
#define TEST_ADMIT_VERDICT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "admit/admit.h"

#define MOST_EXPECTED 8

struct expected {
	char severity;        /* 'E' or 'W' */
	const char *path;     /* the whole path */
	const char *contains; /* part of the message; NULL for any */
};

struct row {
	const char *story;
	const char *text; /* YAML; when the call has a head, only the value of spec */
	struct expected expect[MOST_EXPECTED];
};

/* Judges the last object of head + text beside the others before it. Every expected problem must be there, and no
 * other, and each must say what to do about it. */
void verdict_check(const char *head, const struct row *row);
void verdict_check_all(const char *head, const struct row *rows, size_t count);

/* Parsed text for tests that look at decoded structs. */
struct parsed {
	struct arena *arena;
	struct manifests manifests;
	struct problems problems;
};
void parsed_open(struct parsed *parsed, const char *text);
const struct val *parsed_object(const struct parsed *parsed, size_t index);
void parsed_close(struct parsed *parsed);

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
