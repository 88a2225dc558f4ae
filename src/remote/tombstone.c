/* Owns what the server said to be gone, though watches still tell of its last days. */
#include "remote/internal.h"

#include <stdlib.h>
#include <string.h>

struct tombstone *tombstone_find(const struct remote *remote, const char *uid)
{
	struct tombstone *found;
	HASH_FIND_STR(remote->tombstones, uid, found);
	return found;
}

void tombstone_add(struct remote *remote, const struct store_type *type, const char *uid)
{
	if (!uid[0] || tombstone_find(remote, uid))
		return;
	struct tombstone *stone = base_calloc(1, sizeof(*stone) + strlen(uid) + 1);
	memcpy(stone->uid, uid, strlen(uid) + 1);
	stone->type = type;
	stone->number = ++remote->burials;
	HASH_ADD_STR(remote->tombstones, uid, stone);
}

void tombstone_remove(struct remote *remote, struct tombstone *stone)
{
	if (!stone)
		return;
	HASH_DEL(remote->tombstones, stone);
	free(stone);
}

void tombstones_listed(struct remote *remote, const struct store_type *type, uint64_t began)
{
	struct tombstone *stone, *next;
	HASH_ITER(hh, remote->tombstones, stone, next)
		if (stone->type == type && stone->number <= began)
			tombstone_remove(remote, stone);
}

void tombstones_free(struct remote *remote)
{
	while (remote->tombstones)
		tombstone_remove(remote, remote->tombstones);
}
