/* Leader election: of several replicas the one that holds a Lease acts.
 *
 * A holder that stops renewing is replaced after the duration, measured from when we last saw the lease change by a clock
 * that nobody sets: clocks of different machines need not agree, and may jump. A write counts only when the server accepted it (store_is_assumed), and a leader that
 * could not renew stops before others may take over. */
#ifndef LOOP_LEASE_H
#define LOOP_LEASE_H

#include "base/clock.h"
#include "base/log.h"
#include "api/store.h"

struct lease;

struct lease_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;
	const char *namespace_, *name;
	const char *identity; /* of this replica */
	int64_t duration_ns;  /* 0: 15 s; renewed at a third of it */
};

struct lease *lease_create(const struct lease_options *options);
void lease_destroy(struct lease *lease); /* NULL is a no-op */
/* Takes or renews the lease when it is time. Milliseconds until it wants to be called again. */
int lease_step(struct lease *lease);
bool lease_held(const struct lease *lease);
/* Another number each time this replica becomes the leader; 0 while another one is known to be, or none. Stays while the lease
 * is merely not renewed: what is decided then is still of that term, and lease_held says that it may not be sent. */
uint64_t lease_term(const struct lease *lease);
/* Gives it back, so that another replica need not wait. The write is in memory: let it reach the server. */
void lease_release(struct lease *lease);

#endif
