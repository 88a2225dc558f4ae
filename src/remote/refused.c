/* Owns how often in a row a write was refused, and so how long it is left alone. */
#include "remote/internal.h"

#include <stdlib.h>
#include <string.h>

#define PAUSE_REFUSED (4 * CLOCK_SECOND)
#define PAUSE_LONGEST (60 * CLOCK_SECOND)
#define FORGOTTEN_AFTER (10 * PAUSE_LONGEST)

/* Those that were refused last stand last. */
struct refused_write {
	unsigned times;
	int64_t until;
	UT_hash_handle hh;
	char key[];
};

static void put_key(struct buffer *key, const struct outgoing *outgoing)
{
	buffer_printf(key, "%s %s %s", outgoing->method, outgoing->path, outgoing->about->name);
}

static struct refused_write *find(const struct remote *remote, const struct buffer *key)
{
	struct refused_write *found;
	HASH_FIND(hh, remote->refused_writes, key->text, key->length, found);
	return found;
}

static void drop(struct remote *remote, struct refused_write *write)
{
	HASH_DEL(remote->refused_writes, write);
	free(write);
}

static void drop_old(struct remote *remote, int64_t now)
{
	while (remote->refused_writes && now > remote->refused_writes->until + FORGOTTEN_AFTER)
		drop(remote, remote->refused_writes);
}

int64_t refused_pause(struct remote *remote, const struct outgoing *outgoing, bool usual)
{
	int64_t now = clock_now(remote->clock);
	struct buffer key = {0};
	drop_old(remote, now);
	put_key(&key, outgoing);
	struct refused_write *write = find(remote, &key);
	unsigned times = write ? write->times : 0;
	if (write)
		drop(remote, write);
	/* Somebody else's write is told at once; but not again and again. */
	int64_t longest = remote->options.refused_pause ? remote->options.refused_pause : PAUSE_LONGEST;
	int64_t first = longest < PAUSE_REFUSED ? longest : PAUSE_REFUSED;
	int64_t pause = usual && times == 0 ? 0 : remote_pause(remote, first, times - usual, longest);
	write = base_calloc(1, sizeof(*write) + key.length + 1);
	memcpy(write->key, key.text, key.length);
	write->times = times + 1;
	write->until = now + pause;
	HASH_ADD_KEYPTR(hh, remote->refused_writes, write->key, key.length, write);
	buffer_free(&key);
	return pause;
}

void refused_forget(struct remote *remote, const struct outgoing *outgoing)
{
	struct buffer key = {0};
	if (!remote->refused_writes)
		return;
	put_key(&key, outgoing);
	struct refused_write *write = find(remote, &key);
	if (write)
		drop(remote, write);
	buffer_free(&key);
}

void refused_free(struct remote *remote)
{
	while (remote->refused_writes)
		drop(remote, remote->refused_writes);
}
