/* Owns the limits on events. */
#include "schedule/events.h"

#include "base/hash.h"
#include "loop/writes.h"

#include <string.h>

#define BURST 25
#define REFILL_SECONDS 300
#define MOST_OBJECTS 4096 /* whose allowance is remembered; the one that spoke first is forgotten */

struct allowance {
	UT_hash_handle hh;
	int left;
	int64_t since; /* seconds: when it was last filled up */
	char uid[];
};

struct events {
	struct store *store;
	struct allowance *objects; /* in the order in which they first spoke */
};

struct events *events_create(struct store *store)
{
	struct events *events = base_calloc(1, sizeof(*events));
	events->store = store;
	return events;
}

static void forget(struct events *events, struct allowance *object)
{
	HASH_DEL(events->objects, object);
	free(object);
}

void events_destroy(struct events *events)
{
	if (!events)
		return;
	while (events->objects)
		forget(events, events->objects);
	free(events);
}

static struct allowance *allowance_of(struct events *events, const char *uid, int64_t now_seconds)
{
	struct allowance *object;
	size_t length = strlen(uid);
	HASH_FIND(hh, events->objects, uid, length, object);
	if (object)
		return object;
	if (HASH_COUNT(events->objects) >= MOST_OBJECTS)
		forget(events, events->objects);
	object = base_calloc(1, sizeof(*object) + length + 1);
	memcpy(object->uid, uid, length);
	object->left = BURST;
	object->since = now_seconds;
	HASH_ADD_KEYPTR(hh, events->objects, object->uid, length, object);
	return object;
}

bool events_record(struct events *events, const struct store_object *object, bool warning, const char *reason,
                   const char *message, int64_t now_seconds)
{
	struct allowance *allowance = allowance_of(events, object->uid, now_seconds);
	int64_t earned = (now_seconds - allowance->since) / REFILL_SECONDS;
	if (earned > 0) {
		allowance->left = earned > BURST - allowance->left ? BURST : allowance->left + (int)earned;
		allowance->since += earned * REFILL_SECONDS;
	}
	if (allowance->left == 0)
		return false;
	allowance->left--;
	writes_event(events->store, object, warning, reason, message, now_seconds);
	return true;
}
