/* What the tests of the remote store share: a mirror of a fake API server, whose pauses pass by the test's own clock. */
#ifndef TEST_STORE_REMOTE_KIT_H
#define TEST_STORE_REMOTE_KIT_H

#include "fake.h"
#include "kit.h"
#include "remote/remote.h"

#define LIST "GET /api/v1/pods?limit"
#define WATCH "GET /api/v1/pods?watch"

struct remote_kit {
	struct kit kit; /* over the mirror: kit_create and the like write through it */
	struct fake *fake;
	struct remote_access access;
	struct remote_options options;
	struct remote *remote;
};

/* For cmocka: pods are followed, nothing was sent yet. */
int remote_kit_setup(void **state);
int remote_kit_teardown(void **state);
/* Starts the mirror, after changes of access or options. */
void remote_kit_start(struct remote_kit *kit);
/* With an empty list at version 10, and the watch open. */
void remote_kit_start_empty(struct remote_kit *kit);

/* Lets both sides move without time passing; what is on its way arrives. */
void remote_kit_move(struct remote_kit *kit);
/* The same until there are so many requests that match; fails when they do not come. */
void remote_kit_await(struct remote_kit *kit, const char *match, size_t count);
/* Time passes in steps of a tenth of a second, and both sides move after each. */
void remote_kit_pass(struct remote_kit *kit, int64_t seconds);
/* Tenths of seconds until there are so many requests that match, at most `most`. */
int64_t remote_kit_tenths(struct remote_kit *kit, const char *match, size_t count, int64_t most);

/* Names and resourceVersions of the mirror's pods: "a:11 b:12". Valid until the next call. */
const char *remote_kit_pods(struct remote_kit *kit);
/* An item or object: {"apiVersion":"v1","kind":"Pod",...} with this name, uid and version. */
const char *remote_kit_pod(const char *name, const char *uid, int version, const char *more_metadata, const char *spec);

#define assert_pods(kit, expected) assert_string_equal(remote_kit_pods(kit), expected)

#endif
