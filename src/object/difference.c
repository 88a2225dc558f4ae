/* Owns differences between documents. */
#include "object/difference.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct field {
	const char *key;
	const struct val *value;
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct field *)a)->key, ((const struct field *)b)->key);
}

/* In order, so that large maps cost little. */
static struct field *fields_of(const struct val *map, size_t *count)
{
	struct field *fields = base_calloc(val_count(map) + 1, sizeof(*fields));
	*count = 0;
	for (struct val_iter it = val_iter(map); val_next(&it, &fields[*count].key, &fields[*count].value);)
		++*count;
	qsort(fields, *count, sizeof(*fields), by_key);
	return fields;
}

static bool put_changes(struct build *build, struct node *patch, const struct val *have, const struct val *want)
{
	size_t had_count, count;
	struct field *had = fields_of(have, &had_count), *fields = fields_of(want, &count);
	bool any = false;
	for (size_t i = 0, j = 0; i < count || j < had_count;) {
		int order = j == had_count ? -1 : i == count ? 1 : by_key(&fields[i], &had[j]);
		struct node *changed =
			order > 0 ? build_null(build)
				  : difference_merge(build, order == 0 ? had[j].value : NULL, fields[i].value);
		if (changed)
			build_put(build, patch, order > 0 ? had[j].key : fields[i].key, changed);
		any |= changed != NULL;
		i += order <= 0;
		j += order >= 0;
	}
	free(had);
	free(fields);
	return any;
}

/* Recursion is bounded by the depth of documents. */
struct node *difference_merge(struct build *build, const struct val *have, const struct val *want)
{
	if (have && want && val_equal(have, want))
		return NULL;
	if (val_kind(want) != VAL_MAP || val_kind(have) != VAL_MAP)
		return build_copy(build, want);
	struct node *map = build_map(build);
	return put_changes(build, map, have, want) ? map : NULL;
}
