/* Marks of an arena, for a search that takes its choices back: what was allocated since goes with them. */
#ifndef BASE_ARENA_MARK_H
#define BASE_ARENA_MARK_H

#include "base/arena.h"

struct arena_mark {
	void *chunk;
	size_t used;
};

struct arena_mark arena_mark(const struct arena *arena);
/* Gives back all blocks since the mark was taken, and the marks since. Not after arena_reset. */
void arena_rewind(struct arena *arena, struct arena_mark mark);

#endif
