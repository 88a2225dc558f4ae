/* Owns which write takes the next slot: ranks, and patience with the lower ones. */
#include "remote/internal.h"

#define LAST_SHARE 8 /* of the slots, one of so many may be taken by the last rank: others use the server too */
#define TURNS 16     /* one slot of so many is for a lower rank that has waited for longer than this */
static const int64_t patience[RANKS] = {
	[RANK_USUAL] = 2 * CLOCK_SECOND,
	[RANK_STATUS] = 5 * CLOCK_SECOND,
	[RANK_LAST] = 5 * CLOCK_SECOND,
};

void ranks_add(struct remote *remote, struct outgoing *outgoing)
{
	outgoing->next = NULL;
	outgoing->queued = clock_now(remote->clock);
	if (remote->ready[outgoing->rank].last)
		remote->ready[outgoing->rank].last->next = outgoing;
	else
		remote->ready[outgoing->rank].first = outgoing;
	remote->ready[outgoing->rank].last = outgoing;
}

/* What of a rank may be sent now; NULL: nothing. */
static struct outgoing *peek_ready(const struct remote *remote, enum rank rank)
{
	bool full = rank == RANK_LAST && remote->last_in_flight > (remote->options.writes - 1) / LAST_SHARE;
	return full ? NULL : remote->ready[rank].first;
}

/* Whose patience ended first; RANK_FIRST when all have some left. */
static enum rank most_neglected(const struct remote *remote)
{
	enum rank found = RANK_FIRST;
	int64_t longest = -1;
	for (enum rank rank = RANK_USUAL; rank < RANKS; rank++) {
		const struct outgoing *outgoing = peek_ready(remote, rank);
		int64_t over = outgoing ? remote->now - outgoing->queued - patience[rank] : -1;
		if (over > longest) {
			found = rank;
			longest = over;
		}
	}
	return found;
}

/* There is one. */
static struct outgoing *take_ready(struct remote *remote, enum rank rank)
{
	struct outgoing *outgoing = remote->ready[rank].first;
	remote->ready[rank].first = outgoing->next;
	if (!outgoing->next)
		remote->ready[rank].last = NULL;
	outgoing->next = NULL;
	return outgoing;
}

struct outgoing *ranks_take(struct remote *remote)
{
	enum rank neglected = most_neglected(remote);
	if (neglected != RANK_FIRST && ++remote->turn % TURNS == 0)
		return take_ready(remote, neglected);
	for (enum rank rank = RANK_FIRST; rank < RANKS; rank++)
		if (peek_ready(remote, rank))
			return take_ready(remote, rank);
	return NULL;
}
