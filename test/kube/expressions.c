/* Says what the expressions in a file mean to Platoon, in the words of test/kube/cel, which says what they mean to the
 * API server: for each line, a JSON string, one line with T, F or E for every device (U where a bound of ours was met), "invalid", or
 * "unsupported".
 *
 *     expressions EXPRESSIONS DEVICES DRIVER */
#include "cel/cel.h"
#include "object/doc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 65536
#define MAX_DEVICES 64

static void stop(const char *what)
{
	fprintf(stderr, "expressions: %s\n", what);
	exit(1);
}

static struct doc *read_json(const char *path)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	if (!file)
		stop("cannot open the devices");
	size_t length = fread(text, 1, sizeof(text), file);
	fclose(file);
	struct error error;
	struct doc *doc = doc_parse_json(text, length, &error);
	if (!doc)
		stop(error.text);
	return doc;
}

static struct cel_text text_of(const char *text)
{
	return (struct cel_text){text, strlen(text)};
}

/* "domain/id", or an id of the driver's own domain. */
static void split_name(const char *name, struct cel_text driver, struct cel_text *domain, struct cel_text *id)
{
	const char *slash = strchr(name, '/');
	*domain = slash ? (struct cel_text){name, (size_t)(slash - name)} : driver;
	*id = text_of(slash ? slash + 1 : name);
}

static void read_attribute(const struct val *value, struct cel_attribute *attribute)
{
	if (val_int(val_get(value, "int"), &attribute->number) == 0) {
		attribute->type = CEL_ATTRIBUTE_INT;
	} else if (val_get(value, "bool")) {
		attribute->type = CEL_ATTRIBUTE_BOOL;
		attribute->truth = val_bool(val_get(value, "bool"), false);
	} else if (val_get(value, "string")) {
		attribute->type = CEL_ATTRIBUTE_STRING;
		attribute->text = text_of(val_str(val_get(value, "string"), ""));
	} else {
		attribute->type = CEL_ATTRIBUTE_VERSION;
		if (!cel_version_parse(text_of(val_str(val_get(value, "version"), "")), false, &attribute->version))
			stop("an attribute of the devices is no version");
	}
}

static void read_device(struct arena *arena, const struct val *val, struct cel_text driver, struct cel_device *device)
{
	const struct val *attributes = val_get(val, "attributes"), *capacity = val_get(val, "capacity"), *value;
	struct cel_attribute *attribute = arena_array(arena, struct cel_attribute, val_count(attributes));
	struct cel_capacity *capacities = arena_array(arena, struct cel_capacity, val_count(capacity));
	*device = (struct cel_device){driver, false, attribute, val_count(attributes), capacities, val_count(capacity)};
	device->shared = val_bool(val_get(val, "allowMultipleAllocations"), false);
	const char *key;
	for (struct val_iter it = val_iter(attributes); val_next(&it, &key, &value); attribute++) {
		split_name(key, driver, &attribute->domain, &attribute->id);
		read_attribute(value, attribute);
	}
	for (struct val_iter it = val_iter(capacity); val_next(&it, &key, &value); capacities++) {
		split_name(key, driver, &capacities->domain, &capacities->id);
		const char *text = val_str(val_get(value, "value"), "");
		if (quantity_parse_exact(text, strlen(text), &capacities->value, NULL))
			stop("a capacity of the devices is no quantity");
	}
}

static void judge(const char *line, const struct cel_device *devices, size_t count, struct arena *arena)
{
	struct error error = {0};
	struct doc *doc = doc_parse_json(line, strlen(line), &error);
	const char *text = val_str(doc ? doc_root(doc) : NULL, "");
	const struct cel_program *program = cel_compile(arena, text, strlen(text), &error);
	if (!program) {
		fputs(error.code == ERROR_SYNTAX ? "invalid" : "unsupported", stdout);
		printf("\t%s", error.text);
	}
	for (size_t i = 0; program && i < count; i++) {
		enum cel_result result = cel_evaluate(program, &devices[i], arena, &error);
		putchar(result == CEL_FAILED && error.code == ERROR_LIMIT ? 'U' : "FTE"[result]);
	}
	putchar('\n');
	doc_destroy(doc);
	arena_reset(arena);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		stop("needs EXPRESSIONS DEVICES DRIVER");
	struct arena *kept = arena_create(), *scratch = arena_create();
	struct doc *doc = read_json(argv[2]);
	struct cel_device devices[MAX_DEVICES];
	size_t count = 0;
	const struct val *val;
	for (struct val_iter it = val_iter(doc_root(doc)); val_next(&it, NULL, &val) && count < MAX_DEVICES; count++)
		read_device(kept, val, text_of(argv[3]), &devices[count]);
	static char line[MAX_LINE];
	FILE *file = fopen(argv[1], "r");
	if (!file)
		stop("cannot open the expressions");
	while (fgets(line, sizeof(line), file))
		judge(line, devices, count, scratch);
	fclose(file);
	doc_destroy(doc);
	arena_destroy(scratch);
	arena_destroy(kept);
	return 0;
}
