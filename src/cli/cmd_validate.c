/* Owns the command `validate`. */
#include "cli/cli.h"
#include "cli/draw.h"

#include "admit/admit.h"
#include "admit/keys.h"
#include "admit/pod_fields.h"
#include "admit/surroundings.h"
#include "base/grow.h"
#include "base/strings.h"
#include "cluster/workload.h"
#include "kinds/kinds.h"
#include "sim/expand.h"

#include <stdio.h>
#include <string.h>

#define KINDS_NAMED 6 /* of objects that were not checked, before it says "and n more" */

struct finding {
	const struct manifest *manifest;
	struct problem problem;
};

struct findings {
	struct arena *arena;
	struct finding *items;
	size_t count, capacity;
	size_t checked, skipped, errors;
	struct interner *skipped_kinds;
};

static void add_finding(struct findings *findings, const struct manifest *manifest, const struct problem *problem)
{
	if (findings->count == findings->capacity)
		findings->items = grow_array(findings->arena, findings->items, findings->count, &findings->capacity,
		                             sizeof(*findings->items));
	findings->items[findings->count++] = (struct finding){.manifest = manifest, .problem = *problem};
	findings->errors += problem->severity == SEVERITY_ERROR;
}

static void tell_nearest(const struct manifest *manifest, struct findings *findings)
{
	const char *near = kinds_nearest(manifest->kind);
	if (!near)
		return;
	struct problems problems = {.arena = findings->arena};
	problem_add(&problems, SEVERITY_WARNING, "kind",
	            arena_printf(findings->arena, "write %s if that is meant", near),
	            "no kind %s is known, so it was not checked", manifest->kind);
	add_finding(findings, manifest, &problems.items[0]);
}

/* An object that is not ours is left alone, but one that is called like ours may have been meant to be. */
static void skip(const struct manifest *manifest, struct findings *findings)
{
	findings->skipped++;
	interner_id(findings->skipped_kinds, manifest->kind);
	tell_nearest(manifest, findings);
	const char *ours = admit_api_version(manifest->kind, findings->arena);
	if (!ours)
		return;
	struct problems problems = {.arena = findings->arena};
	const char *fix = arena_printf(findings->arena, "write apiVersion: %s if it is meant for Platoon", ours);
	if (manifest->api_version[0])
		problem_add(&problems, SEVERITY_WARNING, "apiVersion", fix,
		            "a %s of %s is another kind of object and was not checked", manifest->kind,
		            manifest->api_version);
	else
		problem_add(&problems, SEVERITY_ERROR, "apiVersion", fix, "is missing");
	add_finding(findings, manifest, &problems.items[0]);
}

static bool is_wrong(const struct findings *findings, const struct manifest *manifest)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].manifest == manifest && findings->items[i].problem.severity == SEVERITY_ERROR)
			return true;
	return false;
}

/* What admission refuses is refused again when it is tried; that was told. */
static void tell_of_workload(void *context, const struct manifest *workload, const struct problem *problem,
                             bool of_group)
{
	(void)of_group;
	if (!admit_knows(workload) || !is_wrong(context, workload))
		add_finding(context, workload, problem);
}

static void check_all(const struct manifests *manifests, const struct settings *settings, struct findings *findings)
{
	struct admit_index *index = admit_index_create(manifests);
	struct surroundings *around = surroundings_create(manifests);
	for (size_t i = 0; i < manifests->count; i++) {
		const struct manifest *manifest = &manifests->items[i];
		const struct kind_row *row = kinds_find(manifest->api_version, manifest->kind);
		struct problems problems = {.arena = findings->arena};
		/* Of workloads of other kinds the pods that they make are looked at. */
		pod_fields_judge_templates(manifest->object, &problems);
		if (admit_knows(manifest)) {
			findings->checked++;
			admit_object(manifest, index, &problems);
			if (row->id == KIND_POD)
				surroundings_judge(around, manifest->object, &problems);
		} else if (workloads_know(manifest->api_version, manifest->kind)) {
			findings->checked++; /* with all others, below */
			keys_judge(manifest->object, "", &problems);
			pod_fields_judge_workload(manifest->object, &problems);
		} else if (row && row->flags & ROW_NEIGHBOUR) {
			findings->checked++; /* below, too */
			keys_judge(manifest->object, "", &problems);
		} else {
			skip(manifest, findings);
		}
		for (size_t p = 0; p < problems.count; p++)
			add_finding(findings, manifest, &problems.items[p]);
	}
	surroundings_destroy(around);
	admit_index_destroy(index);
	expand_judge(manifests, settings, findings->arena, tell_of_workload, findings);
}

static void print_lines(const struct findings *findings, enum severity severity, bool colours)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];
		const struct problem *problem = &finding->problem;
		if (problem->severity != severity)
			continue;
		output_text(stdout, finding->manifest->source);
		fputs(": ", stdout);
		output_coloured(stdout, colours, severity == SEVERITY_ERROR ? COLOUR_RED : COLOUR_YELLOW,
		                severity == SEVERITY_ERROR ? "error" : "warning");
		output_line(stdout, ": %s %s%s%s: %s%s%s%s%s%s", finding->manifest->kind, finding->manifest->namespace_,
		            finding->manifest->namespace_[0] ? "/" : "", finding->manifest->name, problem->path,
		            problem->path[0] ? ": " : "", problem->message, problem->fix ? " (" : "",
		            problem->fix ? problem->fix : "", problem->fix ? ")" : "");
	}
}

static void print_skipped(const struct findings *findings)
{
	size_t kinds = interner_count(findings->skipped_kinds);
	struct buffer names = {0};
	for (uint32_t i = 0; i < kinds && i < KINDS_NAMED; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", interner_text(findings->skipped_kinds, i));
	if (kinds > KINDS_NAMED)
		buffer_printf(&names, " and %zu more", kinds - KINDS_NAMED);
	output_line(stdout, "%zu object%s of other kinds not checked: %s", findings->skipped,
	            findings->skipped == 1 ? "" : "s", names.text);
	buffer_free(&names);
}

static void print_text(const struct findings *findings, bool colours)
{
	size_t warnings = findings->count - findings->errors;
	print_lines(findings, SEVERITY_ERROR, colours);
	print_lines(findings, SEVERITY_WARNING, colours);
	if (findings->skipped > 0)
		print_skipped(findings);
	printf("%zu object%s checked, %zu error%s, %zu warning%s\n", findings->checked,
	       findings->checked == 1 ? "" : "s", findings->errors, findings->errors == 1 ? "" : "s", warnings,
	       warnings == 1 ? "" : "s");
}

static void print_document(const struct findings *findings, bool yaml)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *list = build_list(build);
	build_put_int(build, root, "checked", (int64_t)findings->checked);
	build_put_int(build, root, "skipped", (int64_t)findings->skipped);
	build_put_int(build, root, "errors", (int64_t)findings->errors);
	build_put_int(build, root, "warnings", (int64_t)(findings->count - findings->errors));
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];
		struct node *item = build_map(build);
		build_put_string(build, item, "severity",
		                 finding->problem.severity == SEVERITY_ERROR ? "error" : "warning");
		build_put_string(build, item, "source", finding->manifest->source);
		build_put_string(build, item, "kind", finding->manifest->kind);
		build_put_string(build, item, "namespace", finding->manifest->namespace_);
		build_put_string(build, item, "name", finding->manifest->name);
		build_put_string(build, item, "path", finding->problem.path);
		build_put_string(build, item, "message", finding->problem.message);
		build_put_string(build, item, "fix", finding->problem.fix);
		build_append(build, list, item);
	}
	build_put(build, root, "problems", list);
	output_document(build, root, yaml, stdout);
	build_destroy(build);
}

int cmd_validate(struct cli_args *args)
{
	if (args->file_count == 0) {
		fprintf(stderr, "platoon validate: give at least one file, folder or - with -f\n"
		                "Run `platoon validate --help` for its options.\n");
		return CLI_USAGE;
	}
	struct manifests manifests;
	struct findings findings = {.arena = args->arena, .skipped_kinds = interner_create()};
	manifests_init(&manifests);
	int loaded = cli_load(args, args->files, args->file_count, args->recursive, &manifests);
	check_all(&manifests, &args->settings, &findings);
	if (args->output == CLI_OUTPUT_TABLE)
		print_text(&findings, draw_style(stdout, args->colour).colours);
	else
		print_document(&findings, args->output == CLI_OUTPUT_YAML);
	manifests_free(&manifests);
	interner_destroy(findings.skipped_kinds);
	if (loaded != CLI_OK)
		return loaded;
	return findings.count > 0 ? CLI_FOUND : CLI_OK;
}
