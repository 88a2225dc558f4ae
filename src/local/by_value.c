/* The objects of a type by the value of one field: every kubelet asks for the pods of its node, and must not look at all
 * others for that. */
#include "local/internal.h"
#include "api/selector_match.h"

#include <stdlib.h>
#include <string.h>

struct by_value {
	char *value;
	struct index index;
	UT_hash_handle hh;
};

static const char *indexed(const struct bucket *bucket)
{
	return bucket->builtin && bucket->builtin->flags & ROW_INDEXED ? bucket->builtin->fields[0] : NULL;
}

static const char *value_of(const struct bucket *bucket, const struct store_object *object, char scratch[64])
{
	const char *value = selector_value(object, indexed(bucket), scratch);
	return value ? value : "";
}

static void leave(struct bucket *bucket, const char *value, const struct store_object *object)
{
	struct by_value *group;
	HASH_FIND_STR(bucket->by_value, value, group);
	if (!group)
		return;
	index_set(&group->index, object->namespace_, object->name, NULL);
	if (group->index.count)
		return;
	HASH_DEL(bucket->by_value, group);
	free(group->value);
	free(group);
}

static void join(struct bucket *bucket, const char *value, struct store_object *object)
{
	struct by_value *group;
	HASH_FIND_STR(bucket->by_value, value, group);
	if (!group) {
		group = base_calloc(1, sizeof(*group));
		group->value = base_strdup(value);
		HASH_ADD_KEYPTR(hh, bucket->by_value, group->value, strlen(group->value), group);
	}
	index_set(&group->index, object->namespace_, object->name, object);
}

void by_value_follow(struct bucket *bucket, struct store_object *old, struct store_object *now)
{
	char old_scratch[64], now_scratch[64];
	if (!bucket->by_value_used)
		return;
	const char *before = old ? value_of(bucket, old, old_scratch) : NULL;
	const char *after = now ? value_of(bucket, now, now_scratch) : NULL;
	if (before && (!after || strcmp(before, after) != 0))
		leave(bucket, before, old);
	if (after)
		join(bucket, after, now);
}

/* A mirror of a large cluster is never asked, and does without. */
static void begin(struct bucket *bucket)
{
	bucket->by_value_used = true;
	for (struct index_node *node = index_seek(&bucket->index, "", "", false); node; node = node->next[0])
		by_value_follow(bucket, NULL, node->object);
}

const struct index *by_value_index(struct bucket *bucket, const struct store_selector *selector)
{
	static const struct index nothing = {0};
	const char *path = indexed(bucket);
	if (!selector || !path)
		return &bucket->index;
	for (size_t i = 0; i < selector->field_count; i++) {
		const struct store_field_match *match = &selector->fields[i];
		/* "false" also selects what has no value at all. */
		if (match->negate || strcmp(match->path, path) != 0 || strcmp(match->value, "false") == 0)
			continue;
		if (!bucket->by_value_used)
			begin(bucket);
		struct by_value *group;
		HASH_FIND_STR(bucket->by_value, match->value, group);
		return group ? &group->index : &nothing;
	}
	return &bucket->index;
}

void by_value_free(struct bucket *bucket)
{
	struct by_value *group, *next;
	HASH_ITER(hh, bucket->by_value, group, next) {
		HASH_DEL(bucket->by_value, group);
		index_free(&group->index);
		free(group->value);
		free(group);
	}
}
