/* Owns the reference: a page of Markdown for the fields of each kind of ours, from the tables of schemas, and for each table. */
#include "cli/cli.h"

#include "engine/cycle/actions.h"
#include "kinds/kinds.h"
#include "kinds/schema.h"
#include "serve/api/schema_words.h"

#include <string.h>

#define DEEPEST 12

static void print_actions(struct arena *arena);

/* Pages that are not the fields of a kind. */
static const struct {
	const char *name;
	void (*print)(struct arena *arena);
} tables[] = {
	{"actions", print_actions}, {"kinds", cli_reference_kinds}, {"pods", cli_reference_pods}, /* docs/pods.md */
};

static const char *type_name(const struct schema_field *field, struct arena *arena)
{
	static const struct {
		char letter;
		const char *name;
	} names[] = {{'s', "text"}, {'i', "integer"}, {'b', "boolean"}, {'f', "number"}};
	const char *name = field->kind == 'T' ? "object" : "any";
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].letter == field->kind)
			name = names[i].name;
	if (field->kind == 'T' && strcmp(field->type->name, "PodTemplateSpec") == 0)
		name = "pod template";
	return field->list  ? arena_printf(arena, "list of %s", name)
	       : field->map ? arena_printf(arena, "map of text to %s", name)
	                    : name;
}

static void print_fields(const struct schema_type *type, const char *path, int depth, struct arena *arena, FILE *stream)
{
	struct schema_field field;
	const char *at = type->fields;
	while (depth < DEEPEST && schema_next(&at, &field)) {
		const char *name = arena_strndup(arena, field.name, field.name_length);
		const char *full = arena_printf(arena, "%s%s%s", path, path[0] ? "." : "", name);
		/* Those of every Kubernetes object are explained elsewhere. */
		if (depth == 0 && strcmp(name, "metadata") == 0)
			continue;
		fprintf(stream, "| `%s` | %s | %s |\n", full, type_name(&field, arena),
		        schema_words(type->name, field.name, field.name_length));
		const char *inner, *text;
		for (size_t row = 0;
		     (text = schema_words_below(type->name, field.name, field.name_length, &row, &inner));) {
			size_t bar = strcspn(text, "|");
			fprintf(stream, "| `%s%s%s` | %.*s | %s |\n", path, path[0] ? "." : "", inner, (int)bar, text,
			        text + bar + (text[bar] == '|'));
		}
		if (field.kind == 'T' && strcmp(field.type->name, "PodTemplateSpec") != 0)
			print_fields(field.type,
			             arena_printf(arena, "%s%s", full,
			                          field.list  ? "[]"
			                          : field.map ? ".*"
			                                      : ""),
			             depth + 1, arena, stream);
	}
}

static void print_kind(const struct kind_row *row, const struct schema_type *type, struct arena *arena)
{
	printf("# %s\n\n", row->kind);
	for (size_t i = 0; row->versions[i]; i++)
		printf("%s`%s/%s`", i ? ", " : "", row->group, row->versions[i]);
	printf(". %s\n\n| field | type | meaning |\n|---|---|---|\n", schema_words(type->name, NULL, 0));
	print_fields(type, "", 0, arena, stdout);
}

static void print_actions(struct arena *arena)
{
	(void)arena;
	puts("# Actions\n\n"
	     "What a [cycle](../concepts.md#actions) does, in its order.\n\n"
	     "| action | what it does | runs |\n"
	     "|---|---|---|");
	for (int a = 0; a < ACTION_COUNT; a++) {
		enum cycle_action action = (enum cycle_action)a;
		printf("| `%s` | %s | %s |\n", cycle_action_name(action), cycle_action_description(action),
		       cycle_action_row(action)->opt_in ? "where asked for" : "always");
	}
}

int cli_reference(struct cli_args *args)
{
	const char *wanted = args->operand_count > 0 ? args->operands[0] : NULL;
	bool found = false;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (!wanted) {
			printf("%s\n", tables[i].name);
		} else if (strcmp(wanted, tables[i].name) == 0) {
			tables[i].print(args->arena);
			return CLI_OK;
		}
	const struct kind_row *row;
	for (size_t i = 0; (row = kinds_row(i)); i++) {
		const struct schema_type *type =
			row->flags & ROW_INSTALLED ? kinds_schema(row->group, row->versions[0], row->kind) : NULL;
		if (!type)
			continue;
		found |= wanted && strcmp(wanted, row->kind) == 0;
		if (!wanted)
			printf("%s\n", row->kind);
		else if (strcmp(wanted, row->kind) == 0)
			print_kind(row, type, args->arena);
	}
	if (wanted && !found) {
		output_line(stderr,
		            "platoon help --reference: %.100s is not a kind of ours; without a kind all are listed",
		            wanted);
		return CLI_USAGE;
	}
	return CLI_OK;
}
