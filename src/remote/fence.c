/* Owns that a replica which is not the leader any more sends nothing of what it decided as one. Writes are stamped with the
 * term they were submitted in; whether that still holds is asked when a connection is about to carry them, not before: what
 * waits for a slot, for an answer or for the process to go on may wait longer than a lease. */
#include "remote/internal.h"

#include "kinds/names.h"

#include <string.h>

void remote_set_fence(struct remote *remote, const struct remote_fence *fence)
{
	remote->fence = *fence;
}

void remote_cut(struct remote *remote)
{
	remote_client_cut(remote->client);
}

uint64_t fence_term(const struct assumed *about)
{
	const struct remote_fence *fence = &about->remote->fence;
	/* A lease says itself, by its version, whether it may be written. */
	bool free_ = strcmp(about->type->group, KINDS_COORDINATION) == 0;
	return fence->term && !free_ ? fence->term(fence->context) : 0;
}

bool fence_lets(void *context)
{
	const struct outgoing *outgoing = context;
	struct remote *remote = outgoing->about->remote;
	bool lets = !outgoing->term || remote->fence.holds(remote->fence.context, outgoing->term);
	remote->counts.fenced += !lets;
	return lets;
}
