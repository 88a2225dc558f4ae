/* Owns taking, renewing and losing the lease that makes this replica the one that acts. */
#include "loop/lease.h"

#include "kinds/names.h"
#include "loop/writes.h"
#include "object/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_SECONDS 86400 /* anything longer is a mistake, and would keep everybody waiting */
#define DEFAULT_DURATION (15 * CLOCK_SECOND)

struct lease {
	struct lease_options options;
	char *identity;
	uint64_t version;   /* of the lease as last seen */
	int64_t seen;       /* when it changed last, by our steady clock, as the next two */
	int64_t sent;       /* when the write that is not confirmed yet was made */
	int64_t held_until; /* INT64_MIN when it is not ours */
	uint64_t term;      /* counts how often it was taken */
	bool waiting;       /* for a confirmation */
	bool known;         /* whether one was seen at all */
	bool lapsed;        /* it is ours as far as we know, but was not renewed in time */
	char told[128];     /* which other holder was last told of */
};

struct lease *lease_create(const struct lease_options *options)
{
	struct lease *lease = base_calloc(1, sizeof(*lease));
	lease->options = *options;
	lease->identity = base_strdup(options->identity);
	lease->held_until = INT64_MIN;
	if (!lease->options.clock)
		lease->options.clock = clock_system();
	if (!lease->options.duration_ns)
		lease->options.duration_ns = DEFAULT_DURATION;
	return lease;
}

void lease_destroy(struct lease *lease)
{
	if (!lease)
		return;
	free(lease->identity);
	free(lease);
}

bool lease_held(const struct lease *lease)
{
	return clock_steady(lease->options.clock) < lease->held_until;
}

uint64_t lease_term(const struct lease *lease)
{
	return lease->held_until == INT64_MIN ? 0 : lease->term;
}

static struct store_object *current(const struct lease *lease)
{
	const struct store_type *type = store_type_find(lease->options.store, KINDS_COORDINATION, "leases");
	return store_peek(lease->options.store, type, lease->options.namespace_, lease->options.name);
}

static const char *holder_of(const struct store_object *object)
{
	return object ? val_str(val_path(object->root, "spec", "holderIdentity", NULL), "") : "";
}

static struct node *make_spec(const struct lease *lease, struct build *build, const struct store_object *old,
                              const char *holder)
{
	int64_t now = clock_now(lease->options.clock); /* the time of day: for people, and for other programs */
	struct node *spec = build_map(build);
	char text[48];
	int64_t transitions = 0;
	const struct val *before = old ? val_get(old->root, "spec") : NULL;
	val_int(val_get(before, "leaseTransitions"), &transitions);
	bool same = strcmp(holder_of(old), holder) == 0;
	clock_print_micro(now / CLOCK_SECOND, (unsigned)(now % CLOCK_SECOND / 1000), text);
	build_put_string(build, spec, "holderIdentity", holder);
	build_put_int(build, spec, "leaseDurationSeconds",
	              holder[0] ? (lease->options.duration_ns + CLOCK_SECOND - 1) / CLOCK_SECOND : 1);
	build_put_string(build, spec, "renewTime", text);
	build_put_string(build, spec, "acquireTime", same ? val_str(val_get(before, "acquireTime"), text) : text);
	build_put_int(build, spec, "leaseTransitions", old && !same ? transitions + 1 : transitions);
	return spec;
}

/* With the resourceVersion of what was read: of two replicas that write, one is refused. */
static bool write_lease(struct lease *lease, const struct store_object *old, const char *holder)
{
	struct store *store = lease->options.store;
	struct arena *arena = arena_create();
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build);
	build_put_string(build, root, "apiVersion", KINDS_COORDINATION "/v1");
	build_put_string(build, root, "kind", "Lease");
	build_put_string(build, metadata, "name", lease->options.name);
	build_put_string(build, metadata, "namespace", lease->options.namespace_);
	if (old)
		build_put_string(build, metadata, "resourceVersion",
		                 val_str(val_path(old->root, "metadata", "resourceVersion", NULL), ""));
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", make_spec(lease, build, old, holder));
	struct doc *doc = build_finish(build, root);
	struct store_request request = writes_create(store_api_find(store, KINDS_COORDINATION, "v1", "leases"),
	                                             lease->options.namespace_, doc_root(doc), WRITES_ACTOR);
	struct store_error error;
	if (old) {
		request.verb = STORE_UPDATE;
		request.name = lease->options.name;
	}
	bool done = writes_send(store, &request, arena, &error) == 0;
	if (!done)
		log_write(lease->options.logger, LOG_DEBUG, 0, "lease refused", "error", error.message, NULL);
	doc_destroy(doc);
	build_destroy(build);
	arena_destroy(arena);
	return done;
}

static void lose(struct lease *lease, const char *to)
{
	if (lease->held_until != INT64_MIN)
		log_write(lease->options.logger, LOG_WARN, 0, "lease lost", "holder", to, NULL);
	lease->held_until = INT64_MIN;
	lease->lapsed = false;
}

/* Others may take it from now on. */
static void tell_lapsed(struct lease *lease, int64_t now)
{
	if (lease->lapsed || lease->held_until == INT64_MIN || now < lease->held_until)
		return;
	lease->lapsed = true;
	log_write(lease->options.logger, LOG_WARN, 0,
	          "lease not renewed in time, this replica stops acting: the API server does not answer", "identity",
	          lease->identity, NULL);
}

/* Once for each holder: who looks for the replica that acts finds it in the log of the others too. */
static void tell_other(struct lease *lease, const char *holder)
{
	if (!holder[0] || strncmp(lease->told, holder, sizeof(lease->told) - 1) == 0)
		return;
	snprintf(lease->told, sizeof(lease->told), "%s", holder);
	log_write(lease->options.logger, LOG_INFO, 0, "standby: another replica is the leader", "holder", holder,
	          "identity", lease->identity, NULL);
}

/* What the server has now. */
static void look(struct lease *lease, const struct store_object *object, int64_t now)
{
	uint64_t version = object ? object->version : 0;
	if (!lease->known || version != lease->version) {
		lease->version = version;
		lease->seen = now;
		lease->known = true;
	}
	bool ours = strcmp(holder_of(object), lease->identity) == 0;
	if (!ours) {
		lose(lease, holder_of(object));
		tell_other(lease, holder_of(object));
	} else if (lease->waiting) {
		if (lease->held_until == INT64_MIN) {
			lease->term++;
			log_write(lease->options.logger, LOG_INFO, 0, "lease taken", "identity", lease->identity, NULL);
		}
		/* From when it was sent: others count from when they see it, which is later. */
		lease->held_until = lease->sent + lease->options.duration_ns * 2 / 3;
		if (lease->lapsed)
			log_write(lease->options.logger, LOG_WARN, 0, "lease renewed, this replica is the leader again",
			          "identity", lease->identity, NULL);
		lease->lapsed = false;
	}
	lease->waiting = false;
}

static int milliseconds(int64_t ns)
{
	return ns <= 0 ? 0 : (int)((ns + CLOCK_MILLISECOND - 1) / CLOCK_MILLISECOND);
}

/* How long its holder may be silent: what it said itself, as that is what it goes by. */
static int64_t patience(const struct lease *lease, const struct store_object *object)
{
	int64_t seconds = 0;
	if (object && val_int(val_path(object->root, "spec", "leaseDurationSeconds", NULL), &seconds) == 0 &&
	    seconds > 0 && seconds <= LONGEST_SECONDS)
		return seconds * CLOCK_SECOND;
	return lease->options.duration_ns;
}

int lease_step(struct lease *lease)
{
	int64_t now = clock_steady(lease->options.clock), third = lease->options.duration_ns / 3;
	const struct store_type *type = store_type_find(lease->options.store, KINDS_COORDINATION, "leases");
	tell_lapsed(lease, now);
	if (store_is_assumed(lease->options.store, type, lease->options.namespace_, lease->options.name))
		return milliseconds(third / 4);
	const struct store_object *object = current(lease);
	look(lease, object, now);
	bool ours = strcmp(holder_of(object), lease->identity) == 0;
	int64_t silent_until = lease->seen + patience(lease, object);
	bool free_ = !object || !holder_of(object)[0] || now >= silent_until;
	bool due = ours && (lease->held_until == INT64_MIN || now - lease->sent >= third);
	if (due || (!ours && free_)) {
		lease->waiting = write_lease(lease, object, lease->identity);
		lease->sent = now;
		return milliseconds(third / 4);
	}
	if (ours)
		return milliseconds(third - (now - lease->sent));
	return milliseconds(silent_until - now < third / 2 ? silent_until - now : third / 2);
}

void lease_release(struct lease *lease)
{
	const struct store_object *object = current(lease);
	if (strcmp(holder_of(object), lease->identity) == 0)
		write_lease(lease, object, "");
	lease->held_until = INT64_MIN;
}
