/* A store with random changes of every kind the scheduler reads, in virtual time. */
#ifndef TEST_CONTROL_YARD_H
#define TEST_CONTROL_YARD_H

#include "object/manifest.h"
#include "../property/random.h"
#include "api/store.h"

struct yard {
	struct clock_virtual clock;
	struct store *store;
	struct random random;
	bool calm;         /* to be set: nothing is on its way out or reserved */
	bool hard;         /* to be set: few groups, with several parts that need a rack each */
	bool some_unnamed; /* to be set: some nodes have no label of their host */
	bool structural;   /* the last change was of a kind that may build everything anew */
	char story[256];   /* the last change, for messages */
};

void yard_open(struct yard *yard, uint64_t seed);
void yard_close(struct yard *yard);
/* One random change; uncommitted. */
void yard_change(struct yard *yard);
void yard_commit(struct yard *yard);

/* One request with a JSON body (NULL: none). The code of the answer. */
int yard_write(struct yard *yard, struct store_request request, const char *resource, const char *namespace_,
               const char *name, const char *body);
int yard_bind(struct yard *yard, const char *namespace_, const char *pod, const char *node);
int yard_delete(struct yard *yard, const char *resource, const char *namespace_, const char *name, int64_t grace);
struct store_object *yard_peek(const struct yard *yard, const char *resource, const char *namespace_, const char *name);
/* Every object the scheduler reads, as it is in the store: lists to be cleared by the caller, manifests in the arena. */
enum { YARD_KINDS = 8 };
void yard_list(const struct yard *yard, struct store_list lists[YARD_KINDS], struct arena *arena,
               struct manifests *manifests);

#endif
