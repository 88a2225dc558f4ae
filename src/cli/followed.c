/* Owns which kinds are followed, and in what order. */
#include "cli/followed.h"

#include "group/defaults.h"

#include <string.h>

static void add_row(struct followed *followed, const struct kind_row *row, bool optional)
{
	followed->items[followed->count++] = (struct remote_follow){
		.group = row->group,
		.version = row->versions[0],
		.resource = row->resource,
		.optional = optional,
		.labels = row->mirror_labels,
		.row = row,
	};
}

/* The defaults of kinds: one ConfigMap. */
static void add_defaults(struct followed *followed, bool optional)
{
	followed->items[followed->count++] = (struct remote_follow){
		KINDS_CORE,
		"v1",
		"configmaps",
		.optional = optional,
		.namespace_ = GROUP_DEFAULTS_NAMESPACE,
		.name = GROUP_DEFAULTS_NAME,
	};
}

/* Kinds of which it matters whether they exist, where the settings ask for that: only who they are, and only those that no
 * other follow brings. */
static void add_names(struct followed *followed, const struct settings *settings, bool beside_others)
{
	const struct kind_row *row;
	for (size_t i = 0; settings->config_maps && (row = kinds_row(i)); i++)
		if (row->flags & ROW_NAMED)
			followed->items[followed->count++] = (struct remote_follow){
				.group = row->group,
				.version = row->versions[0],
				.resource = row->resource,
				.optional = true,
				.labels = beside_others && row->mirror_labels ? "!" RBG_GROUP_LABEL : NULL,
				.metadata = true,
			};
}

static struct followed begin(struct arena *arena, size_t more)
{
	size_t rows = 0;
	while (kinds_row(rows))
		rows++;
	return (struct followed){.items = arena_array(arena, struct remote_follow, rows + 2 + more)};
}

struct followed followed_by_run(struct arena *arena, size_t more, const struct settings *settings)
{
	struct followed followed = begin(arena, more);
	const struct kind_row *row;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; (row = kinds_row(i)); i++)
			if (row->mirror != MIRROR_NEVER && !(row->flags & ROW_DECIDES) == (pass == 1))
				add_row(&followed, row, row->mirror == MIRROR_IF_SERVED);
		if (pass == 0) {
			add_names(&followed, settings, true);
			followed.deciding = followed.count;
		}
	}
	add_defaults(&followed, false);
	return followed;
}

struct followed followed_by_viewers(struct arena *arena, bool owners, const struct settings *settings)
{
	struct followed followed = begin(arena, 0);
	const struct kind_row *row;
	for (size_t i = 0; (row = kinds_row(i)); i++)
		if (row->flags & ROW_DECIDES)
			add_row(&followed, row, strcmp(row->kind, "Node") != 0 && strcmp(row->kind, "Pod") != 0);
	add_names(&followed, settings, false);
	followed.deciding = followed.count;
	for (size_t i = 0; owners && (row = kinds_row(i)); i++)
		if (row->mirror != MIRROR_NEVER && row->flags & (ROW_OWNER | ROW_GROUPS))
			add_row(&followed, row, true);
	if (owners)
		add_defaults(&followed, true);
	return followed;
}
