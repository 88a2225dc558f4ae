/* Owns the reference of fields: a page of Markdown for each kind of ours, from the tables of schemas. */
#include "cli/cli.h"

#include "kinds/kinds.h"
#include "kinds/schema.h"
#include "serve/api/schema_words.h"

#include <string.h>

#define DEEPEST 12
#define KINDS_PAGE "kinds" /* no kind: a table of all of them */
#define PODS_PAGE "pods"   /* what a pod can ask for; docs/pods.md */

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

int cli_reference(struct cli_args *args)
{
	const char *wanted = args->operand_count > 0 ? args->operands[0] : NULL;
	bool found = false;
	if (wanted && strcmp(wanted, KINDS_PAGE) == 0) {
		cli_reference_kinds(args->arena);
		return CLI_OK;
	}
	if (wanted && strcmp(wanted, PODS_PAGE) == 0) {
		cli_reference_pods(args->arena);
		return CLI_OK;
	}
	if (!wanted)
		printf(KINDS_PAGE "\n" PODS_PAGE "\n");
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
