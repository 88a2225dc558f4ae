/* What the tests of the store share: a store with a virtual clock, requests in one line, answers as text. */
#ifndef TEST_STORE_KIT_H
#define TEST_STORE_KIT_H

#include "api/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct kit {
	struct clock_virtual clock;
	struct store_options options;
	struct store *store;
	struct arena *arena;
	struct store_result result; /* of the last request */
	struct buffer text;         /* of the last answer */
};

/* Memory only unless a path is given; the options may be changed before. The clock starts at 2026-01-01T00:00:00Z. */
void kit_open(struct kit *kit, const char *path);
void kit_reopen(struct kit *kit); /* close and open again */
void kit_close(struct kit *kit);
/* For cmocka: a kit in memory as the state of a test. */
int kit_setup(void **state);
int kit_teardown(void **state);
void kit_remove(const char *path); /* a store's file and what SQLite keeps beside it */

/* "pods", "deployments.apps", "gangs.example.com/v1": the preferred version unless one is named. */
const struct store_api *kit_api(struct kit *kit, const char *name);

/* JSON with ' for ", so that it can be read in C. */
struct doc *kit_json(const char *text);
/* A request with a body as for kit_json (NULL: none); the code of the answer, its text in kit->text (object or Status). Commits. */
int kit_do(struct kit *kit, struct store_request request, const char *resource, const char *namespace_,
           const char *name, const char *body);
int kit_create(struct kit *kit, const char *resource, const char *namespace_, const char *body);
int kit_update(struct kit *kit, const char *resource, const char *namespace_, const char *name, const char *body);
int kit_merge(struct kit *kit, const char *resource, const char *namespace_, const char *name, const char *body);
/* The same of the subresource status. */
int kit_merge_status(struct kit *kit, const char *resource, const char *namespace_, const char *name, const char *body);
int kit_delete(struct kit *kit, const char *resource, const char *namespace_, const char *name, const char *options);
int kit_get(struct kit *kit, const char *resource, const char *namespace_, const char *name);
/* Runs chores until nothing is left, with commits between. */
void kit_settle(struct kit *kit);

/* The value at a dotted path of the last answer as compact JSON, "" when absent; valid until the next call. Numbers are
 * list indexes: "status.conditions.0.type". */
const char *kit_at(struct kit *kit, const char *path);
/* The names of a list, joined by spaces (namespace/name when the namespaces differ from `namespace_`). */
const char *kit_names(struct kit *kit, const char *resource, const char *namespace_, const char *labels,
                      const char *fields);

#define assert_at(kit, path, expected) assert_string_equal(kit_at(kit, path), expected)
/* Fails with the text of the answer when the code differs. */
#define assert_code(kit, call, expected)                                                                               \
	do {                                                                                                           \
		int kit_code_ = (call);                                                                                \
		if (kit_code_ != (expected))                                                                           \
			fail_msg("%s: %d instead of %d: %s", #call, kit_code_, (expected), (kit)->text.text);          \
	} while (0)

#endif
