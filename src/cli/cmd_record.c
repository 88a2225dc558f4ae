/* Owns the command `record`. */
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/record_follow.h"
#include "cli/record_hide.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

static int64_t created(const struct manifest *manifest)
{
	int64_t seconds = 0;
	clock_parse_rfc3339(val_str(val_path(manifest->object, "metadata", "creationTimestamp", NULL), ""), &seconds);
	return seconds;
}

static bool arrives(const struct manifest *manifest)
{
	return strcmp(manifest->kind, "Pod") == 0 || strcmp(manifest->kind, "PodGroup") == 0;
}

/* What is there from the begin, then what arrives, in the order of its creation: the order of a plan where nothing else
 * decides. */
static int compare(const void *left, const void *right)
{
	const struct manifest *a = left, *b = right;
	if (arrives(a) != arrives(b))
		return arrives(a) ? 1 : -1;
	int64_t first = created(a), second = created(b);
	if (arrives(a) && first != second)
		return first < second ? -1 : 1;
	int order = strcmp(a->kind, b->kind);
	return order ? order : strcmp(a->name, b->name);
}

static void print(struct cli_args *args, struct hide *hide, const struct manifests *objects)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *items = build_list(build);
	struct progress progress = progress_begin();
	int64_t begin = INT64_MAX;
	for (size_t i = 0; i < objects->count; i++)
		if (arrives(&objects->items[i]) && created(&objects->items[i]) < begin)
			begin = created(&objects->items[i]);
	for (size_t i = 0; i < objects->count; i++) {
		struct node *item = hide_object(hide, &objects->items[i], begin, build);
		if (item)
			build_append(build, items, item);
		progress_show(&progress, "objects", i + 1, objects->count, "");
	}
	progress_clear(&progress);
	build_put_string(build, root, "apiVersion", "v1");
	build_put_string(build, root, "kind", "List");
	build_put(build, root, "items", items);
	output_document(build, root, args->output == CLI_OUTPUT_YAML, stdout);
	build_destroy(build);
}

int cmd_record(struct cli_args *args)
{
	struct manifests objects;
	struct hide *hide = hide_create(&args->settings);
	if (hide && args->follow_given) {
		int rc = record_follow(args, hide);
		hide_destroy(hide);
		return rc;
	}
	if (!hide) {
		fprintf(stderr, "platoon record: the system gives no random numbers\n");
		return CLI_USAGE;
	}
	manifests_init(&objects);
	/* Files as they are: a workload among them would hide behind its pods. */
	int rc = args->file_count > 0 ? cli_load(args, args->files, args->file_count, args->recursive, &objects)
	                              : cli_load_cluster(args, &objects);
	if (rc == CLI_OK) {
		qsort(objects.items, objects.count, sizeof(*objects.items), compare);
		print(args, hide, &objects);
	}
	manifests_free(&objects);
	hide_destroy(hide);
	return rc;
}
