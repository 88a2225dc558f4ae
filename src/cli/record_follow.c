/* Owns recording over a period. Every object is written once, when it is first seen, and the end of a pod as a line of its
 * own, so that nothing that was written is ever touched again: whatever ends the recording, what was seen is there. */
#include "cli/record_follow.h"

#include "base/clock.h"
#include "base/hash.h"
#include "cli/live_view.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "sim/trace.h"
#include "loop/settings.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 500

struct seen {
	UT_hash_handle hh;
	char *key;               /* kind, namespace, name and uid */
	char *namespace_, *name; /* of a pod, hidden */
	uint64_t look;           /* the last time it was there */
	bool written, ended;
};

struct follow {
	struct cli_args *args;
	struct hide *hide;
	struct arena *arena; /* of one look */
	struct seen *seen;
	uint64_t looks;
	int64_t begin; /* seconds of the epoch */
	size_t objects, departures;
	bool failed;
};

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
	(void)signal;
	stopped = 1;
}

/* One line, and at once. */
static void write_line(struct follow *follow, struct build *build, struct node *root)
{
	struct buffer line = {0};
	struct doc *doc = build_finish(build, root);
	val_write(doc_root(doc), DOC_JSON_COMPACT, &line);
	buffer_puts(&line, "\n");
	if (fwrite(line.text, 1, line.length, stdout) != line.length || fflush(stdout) != 0)
		follow->failed = true;
	doc_destroy(doc);
	buffer_free(&line);
}

static bool is_pod(const struct manifest *manifest)
{
	return strcmp(manifest->kind, "Pod") == 0;
}

/* A pod that another scheduler places counts from the moment it has a node. */
static bool is_due(const struct settings *settings, const struct manifest *manifest)
{
	bool ours = settings_owns_pod(settings, manifest->object);
	return !is_pod(manifest) || ours || val_get(val_get(manifest->object, "spec"), "nodeName");
}

static bool has_ended(const struct manifest *manifest)
{
	const char *phase = val_str(val_path(manifest->object, "status", "phase", NULL), "");
	return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

/* A pod that is made again under its name is another one: its uid is part of the name that is hidden. */
static struct manifest with_own_name(struct follow *follow, const struct manifest *manifest)
{
	struct manifest copy = *manifest;
	if (is_pod(manifest))
		copy.name = arena_printf(follow->arena, "%s %s", manifest->name,
		                         val_str(val_path(manifest->object, "metadata", "uid", NULL), ""));
	return copy;
}

static void write_object(struct follow *follow, struct seen *seen, const struct manifest *manifest)
{
	struct build *build = build_create();
	struct manifest own = with_own_name(follow, manifest);
	struct node *root = hide_object(follow->hide, &own, follow->begin, build);
	seen->written = true;
	if (root) {
		write_line(follow, build, root);
		follow->objects++;
	}
	build_destroy(build);
	if (is_pod(manifest)) {
		seen->name = base_strdup(hide_name(follow->hide, own.name));
		seen->namespace_ = base_strdup(hide_name(follow->hide, manifest->namespace_));
	}
}

static void write_departure(struct follow *follow, struct seen *seen, const char *field, int64_t seconds)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build);
	build_put_string(build, root, "apiVersion", TRACE_API);
	build_put_string(build, root, "kind", TRACE_DEPARTURE);
	build_put_string(build, metadata, "name", seen->name);
	build_put_string(build, metadata, "namespace", seen->namespace_);
	build_put(build, root, "metadata", metadata);
	build_put_int(build, root, field, seconds > 0 ? seconds : 0);
	write_line(follow, build, root);
	build_destroy(build);
	seen->ended = true;
	follow->departures++;
}

static struct seen *find(struct follow *follow, const struct manifest *manifest)
{
	struct buffer key = {0};
	struct seen *seen;
	buffer_printf(&key, "%s/%s/%s/%s", manifest->kind, manifest->namespace_, manifest->name,
	              is_pod(manifest) ? val_str(val_path(manifest->object, "metadata", "uid", NULL), "") : "");
	HASH_FIND(hh, follow->seen, key.text, key.length, seen);
	if (!seen) {
		seen = base_calloc(1, sizeof(*seen));
		seen->key = base_strdup(key.text);
		HASH_ADD_KEYPTR(hh, follow->seen, seen->key, key.length, seen);
	}
	buffer_free(&key);
	return seen;
}

static void look_at(struct follow *follow, const struct manifest *manifest)
{
	struct seen *seen = find(follow, manifest);
	seen->look = follow->looks;
	if (!seen->written && is_due(&follow->args->settings, manifest))
		write_object(follow, seen, manifest);
	else if (is_pod(manifest) && seen->written && !seen->ended && has_ended(manifest)) {
		int64_t ran = hide_run_seconds(manifest->object);
		if (ran >= 0)
			write_departure(follow, seen, "runSeconds", ran);
	}
}

static void free_seen(struct follow *follow, struct seen *seen)
{
	HASH_DEL(follow->seen, seen);
	free(seen->key);
	free(seen->name);
	free(seen->namespace_);
	free(seen);
}

/* What is there first, so that nothing arrives before the nodes it goes to; then pods; then who is gone. */
static void look(struct follow *follow, const struct manifests *objects, int64_t now)
{
	struct seen *seen, *next;
	follow->looks++;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < objects->count; i++)
			if (is_pod(&objects->items[i]) == (pass == 1))
				look_at(follow, &objects->items[i]);
	HASH_ITER(hh, follow->seen, seen, next) {
		if (seen->look == follow->looks)
			continue;
		if (seen->name && !seen->ended)
			write_departure(follow, seen, "leaves", now / CLOCK_SECOND - follow->begin);
		free_seen(follow, seen);
	}
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	stopped = 0;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void follow_until(struct follow *follow, struct live_view *view, int64_t end)
{
	struct progress progress = progress_begin();
	const char *told = "";
	while (!stopped && !follow->failed) {
		live_view_run(view, WAIT_MS, -1);
		arena_reset(follow->arena);
		int64_t now = clock_now(clock_system());
		const struct manifests *objects = live_view_objects(view);
		if (objects)
			look(follow, objects, now);
		const char *problem = live_view_problem(view);
		if (problem[0] && strcmp(problem, told) != 0) {
			progress_clear(&progress);
			output_line(stderr, "platoon record: %s", problem);
			told = arena_strdup(follow->args->arena, problem);
		}
		if (!problem[0])
			told = "";
		progress_show(&progress, "objects", follow->objects, 0,
		              arena_printf(follow->arena, "%zu pods left, %lld s", follow->departures,
		                           (long long)(now / CLOCK_SECOND - follow->begin)));
		if (end && now >= end)
			break;
	}
	progress_clear(&progress);
}

int record_follow(struct cli_args *args, struct hide *hide)
{
	struct error error = {0};
	int64_t now = clock_now(clock_system());
	struct follow follow = {.args = args, .hide = hide, .begin = now / CLOCK_SECOND};
	struct seen *seen, *next;
	if (args->file_count > 0 || args->output == CLI_OUTPUT_YAML) {
		fprintf(stderr,
		        "platoon record: --for follows a cluster and writes lines of JSON; leave out -f and -o yaml\n");
		return CLI_USAGE;
	}
	struct live_view *view = live_view_create(args, false, &error);
	if (!view) {
		output_line(stderr, "platoon record: %s", error.text);
		return CLI_USAGE;
	}
	catch_signals();
	follow.arena = arena_create();
	follow_until(&follow, view, args->follow_ns ? now + args->follow_ns : 0);
	live_view_destroy(view);
	HASH_ITER(hh, follow.seen, seen, next)
		free_seen(&follow, seen);
	arena_destroy(follow.arena);
	if (follow.failed) {
		perror("platoon record: standard output");
		return CLI_USAGE;
	}
	fprintf(stderr, "platoon record: %zu objects, and the end of %zu pods\n", follow.objects, follow.departures);
	return CLI_OK;
}
