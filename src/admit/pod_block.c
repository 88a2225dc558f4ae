/* Owns reasons that keep a pod from being placed. */
#include "admit/pod_block.h"
#include "kinds/names.h"

#include <stdarg.h>
#include <string.h>

const char *block_code_name(enum block_code code)
{
	static const char *const names[BLOCK_CODES] = {
		[BLOCK_UNSUPPORTED] = "UnsupportedRequest",
		[BLOCK_MISSING] = "MissingObject",
		[BLOCK_NOT_READY] = "ObjectNotReady",
		[BLOCK_NOT_GROUPED] = PODS_NOT_GROUPED,
	};
	return names[code];
}

void pod_block_add(const struct pod_block **block, struct arena *arena, enum block_code code, const char *format, ...)
{
	const struct pod_block *before = *block;
	struct pod_block *now = arena_new(arena, struct pod_block);
	va_list args;
	va_start(args, format);
	const char *message = arena_vprintf(arena, format, args);
	va_end(args);
	now->code = before ? before->code : code;
	now->message = before ? arena_printf(arena, "%s; %s", before->message, message) : message;
	*block = now;
}

bool pod_block_equal(const struct pod_block *a, const struct pod_block *b)
{
	return a == b || (a && b && a->code == b->code && strcmp(a->message, b->message) == 0);
}

struct pod_block *pod_block_copy(const struct pod_block *block)
{
	if (!block)
		return NULL;
	size_t length = strlen(block->message) + 1;
	struct pod_block *copy = base_malloc(sizeof(*copy) + length);
	copy->code = block->code;
	copy->message = memcpy(copy + 1, block->message, length);
	return copy;
}
