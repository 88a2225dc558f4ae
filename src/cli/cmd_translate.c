/* Owns the command `translate`: its groups and pods as manifests of another scheduler, and the report on what is lost. */
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/translate.h"
#include "cli/translate_read.h"

#include "kinds/names.h"

#include <string.h>

static const struct translate_target *find_target(const char *name)
{
	static const struct translate_target *const targets[] = {&translate_kai, &translate_native, &translate_volcano,
	                                                         &translate_slurm};
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (text_equal(targets[i]->name, name))
			return targets[i];
	return NULL;
}

/* Keys by which pods name their group, or say what it asks for, in one of the formats that are read. */
static bool is_mark(const char *key)
{
	static const char *const marks[] = {"pod-group-name", "kai.scheduler/subgroup-name",
	                                    KINDS_SCHEDULING_K8S "/group-name", "volcano.sh/task-spec"};
	static const char *const prefixes[] = {"platoon.dev/",
	                                       KINDS_COSCHEDULING "/",
	                                       KINDS_VOLCANO "/",
	                                       ("pod-group." KINDS_COSCHEDULING_OLD),
	                                       "gang.scheduling.koordinator.sh/",
	                                       "kueue.x-k8s.io/pod-group",
	                                       "kueue.x-k8s.io/podset"};
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (strcmp(marks[i], key) == 0)
			return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (text_starts_with(key, prefixes[i]))
			return true;
	return false;
}

static struct node *copy_map(struct build *build, const struct val *map, const char *const *left_out)
{
	struct node *copy = build_map(build);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		bool out = !left_out && is_mark(key);
		for (const char *const *name = left_out; name && *name && !out; name++)
			out = strcmp(*name, key) == 0;
		if (!out)
			build_put(build, copy, key, build_copy(build, item));
	}
	return copy;
}

/* What a user would write: nothing that a cluster fills in, no owner, and no group but the new one. */
static void put_pod(struct translation *translation, const struct translate_target *target,
                    const struct translated_group *group, const struct translated_pod *pod)
{
	static const char *const filled_in[] = {"nodeName",      "priority",        "preemptionPolicy",
	                                        "schedulerName", "schedulingGroup", NULL};
	struct build *build = translation->build;
	const struct val *object = pod->manifest->object, *meta = val_get(object, "metadata");
	struct node *root = build_map(build), *metadata = build_map(build);
	struct node *labels = copy_map(build, val_get(meta, "labels"), NULL);
	struct node *annotations = copy_map(build, val_get(meta, "annotations"), NULL);
	struct node *spec = copy_map(build, val_get(object, "spec"), filled_in);
	if (target->scheduler)
		build_put_string(build, spec, "schedulerName", target->scheduler);
	if (!group->alone)
		target->mark(translation, group, pod, labels, annotations, spec);
	build_put_string(build, root, "apiVersion", "v1");
	build_put_string(build, root, "kind", "Pod");
	build_put_string(build, metadata, "name", pod->manifest->name);
	if (*pod->manifest->namespace_)
		build_put_string(build, metadata, "namespace", pod->manifest->namespace_);
	build_put_filled(build, metadata, "labels", labels);
	build_put_filled(build, metadata, "annotations", annotations);
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", spec);
	build_append(build, translation->items, root);
}

static void translate(struct translation *translation, const struct translate_target *target,
                      const struct translated_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		const struct translated_group *group = &groups->items[i];
		if (!group->alone || !target->mark)
			target->group(translation, group);
		for (size_t p = 0; target->mark && p < group->pod_count; p++)
			put_pod(translation, target, group, &group->pods[p]);
	}
}

/* ---- output ---- */

/* Each manifest as a document of its own, as people write them; JSON has no such thing, there it is a List. */
static void print_manifests(struct translation *translation, bool json)
{
	struct build *build = translation->build;
	struct node *root = build_map(build);
	build_put_string(build, root, "apiVersion", "v1");
	build_put_string(build, root, "kind", "List");
	build_put(build, root, "items", translation->items);
	if (json) {
		output_document(build, root, false, stdout);
		return;
	}
	struct doc *doc = build_finish(build, root);
	const struct val *item;
	bool first = true;
	for (struct val_iter it = val_iter(val_get(doc_root(doc), "items")); val_next(&it, NULL, &item);
	     first = false) {
		struct buffer text = {0};
		val_write(item, DOC_YAML, &text);
		printf("%s%s", first ? "" : "---\n", text.text);
		buffer_free(&text);
	}
	doc_destroy(doc);
}

static void print_losses(const struct translation *translation)
{
	for (size_t i = 0; i < translation->loss_count; i++) {
		const struct translate_loss *loss = &translation->losses[i];
		output_line(stderr, "%s: %s: %s: %s%s%s", loss->source, loss->error ? "error" : "lost", loss->object,
		            loss->path, *loss->path ? ": " : "", loss->message);
	}
}

int cmd_translate(struct cli_args *args)
{
	const struct translate_target *target = args->to ? find_target(args->to) : NULL;
	if (!target)
		return cli_usage_error(args->command, "--to %s: use one of: %s", args->to ? args->to : "is missing",
		                       cli_options[CLI_OPTION_TO].choices);
	if (args->file_count == 0)
		return cli_usage_error(args->command, "give at least one file, folder or - with -f");
	if (!target->mark && args->output != CLI_OUTPUT_TABLE)
		return cli_usage_error(args->command, "--output: what --to %s prints is a script", args->to);
	struct manifests objects;
	manifests_init(&objects);
	int rc = cli_load(args, args->files, args->file_count, args->recursive, &objects);
	if (rc == CLI_OK) {
		struct translation translation = {.arena = args->arena,
		                                  .objects = &objects,
		                                  .build = build_create(),
		                                  .made = interner_create()};
		struct translated_groups groups;
		translation.items = build_list(translation.build);
		translate_read(&translation, &objects, &args->settings, &groups);
		translate(&translation, target, &groups);
		if (!target->mark && translation.script.length > 0)
			fputs(translation.script.text, stdout);
		else if (target->mark && groups.count > 0)
			print_manifests(&translation, args->output == CLI_OUTPUT_JSON);
		if (groups.count == 0 && translation.loss_count == 0)
			fprintf(stderr, "platoon translate: there is no group among the objects\n");
		print_losses(&translation);
		rc = translation.loss_count > 0 || groups.count == 0 ? CLI_FOUND : CLI_OK;
		buffer_free(&translation.script);
		interner_destroy(translation.made);
		build_destroy(translation.build);
	}
	manifests_free(&objects);
	return rc;
}
