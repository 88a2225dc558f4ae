/* Owns the table of kinds in the reference, from the registry. */
#include "cli/cli.h"

#include "kinds/kinds.h"

#include <string.h>

static const char *versions_of(const struct kind_row *row, struct arena *arena)
{
	const char *text = row->versions[0];
	for (size_t i = 1; row->versions[i]; i++)
		text = arena_printf(arena, "%s, %s", text, row->versions[i]);
	return text;
}

static const char *grouped_by(const struct kind_row *row)
{
	if (row->family != FAMILY_NONE)
		return kinds_family_name(row->family);
	if (row->flags & ROW_NEIGHBOUR)
		return "pods that name it";
	return row->flags & ROW_OWNER ? "no rule of its own" : row->flags & ROW_GROUPS ? "read beside others" : "";
}

static const char *followed(const struct kind_row *row)
{
	if (row->mirror == MIRROR_NEVER)
		return "";
	if (row->mirror_labels)
		return "those of RoleBasedGroups";
	return row->mirror == MIRROR_ALWAYS ? "always" : "where served";
}

static const char *in_up(const struct kind_row *row)
{
	if (!kinds_is_built_in(row))
		return "with its CRD";
	switch (row->simulator) {
	case SIMULATE_NOBODY:
		return "built in";
	case SIMULATE_KUBELETS:
	case SIMULATE_POD:
		return "built in, simulated kubelets";
	case SIMULATE_RBG:
		return "built in, controller as in `run`";
	default:
		return "built in, simulated controller";
	}
}

/* "get, list, watch; status: patch" */
static const char *rights_of(const struct kind_row *row, struct arena *arena)
{
	const char *text = kinds_verbs(row, arena);
	for (size_t i = 0; i < sizeof(row->rights) / sizeof(*row->rights) && row->rights[i].verbs; i++)
		text = arena_printf(arena, "%s%s%s: %s", text, *text ? "; " : "", row->rights[i].subresource,
		                    row->rights[i].verbs);
	return text;
}

void cli_reference_kinds(struct arena *arena)
{
	const struct kind_row *row;
	puts("# Kinds\n\n"
	     "Every kind of object that Platoon knows, from its registry. *Grouped by* is the family that turns owners "
	     "of a\n"
	     "pod into a PodGroup ([grouping](../grouping.md)); a wrapper lends its labels and annotations to what it "
	     "wraps.\n"
	     "*`run` follows* says what `platoon run` mirrors, with the rights that `platoon install` gives it for "
	     "that; of\n"
	     "several versions it takes the first that the cluster serves. Pods below kinds that a cluster does not "
	     "serve,\n"
	     "and below kinds that are not here, are grouped by what they say themselves, or by a\n"
	     "[Karta](../grouping.md#kinds-of-your-own-karta).\n\n"
	     "| kind | group | versions | resource | short | grouped by | `run` follows | rights of `run` | `up` |\n"
	     "|---|---|---|---|---|---|---|---|---|");
	for (size_t i = 0; (row = kinds_row(i)); i++)
		printf("| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", row->kind, row->group,
		       versions_of(row, arena), row->resource, row->short_names[0] ? row->short_names[0] : "",
		       grouped_by(row), followed(row), rights_of(row, arena), in_up(row));
}
