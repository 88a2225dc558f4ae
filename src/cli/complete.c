/* Owns the answers to shells that complete a command line: `platoon __complete WORD...`, of which the last word is the
 * one being typed. A line per candidate, "value<tab>description", then ":N" with what the shell should do besides: the
 * protocol that kubectl speaks with its plugins. */
#include "cli/cli.h"

#include "cli/output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bits of the last line. */
#define NO_SPACE 2 /* the candidate is not the whole word yet */
#define NO_FILES 4

#define PATIENCE 3 /* seconds for a cluster to answer; then there are no names */

struct completing {
	struct cli_args *args; /* what was typed so far, as far as it can be understood */
	const struct cli_command *command;
	const char *current;
	const char *before; /* stands before every candidate: "--output=" */
	int directive;
};

static void offer(const struct completing *completing, const char *value, const char *help)
{
	if (!text_starts_with(value, completing->current))
		return;
	output_text(stdout, completing->before);
	output_text(stdout, value);
	if (help[0]) {
		putchar('\t');
		output_text(stdout, help);
	}
	putchar('\n');
}

static void offer_words(const struct completing *completing, const char *words)
{
	for (const char *at = words; *at;) {
		size_t length = strcspn(at, " ");
		offer(completing, arena_strndup(completing->args->arena, at, length), "");
		at += length + (at[length] == ' ');
	}
}

/* ---- names of objects ---- */

static void offer_objects(struct completing *completing)
{
	struct arena *arena = completing->args->arena;
	const char *slash = strchr(completing->current, '/');
	if (!slash) {
		completing->directive |= NO_SPACE;
		offer_words(completing, "podgroup/ pod/ queue/");
		return;
	}
	const char *typed = arena_strndup(arena, completing->current, (size_t)(slash - completing->current));
	struct manifests objects;
	manifests_init(&objects);
	alarm(PATIENCE);
	if (cli_load_world(completing->args, &objects) == CLI_OK) {
		const char *space = completing->args->namespace_ ? completing->args->namespace_ : "default";
		for (size_t i = 0; i < objects.count; i++) {
			const struct manifest *object = &objects.items[i];
			const char *own = object->namespace_[0] ? object->namespace_ : "default";
			bool global = strcmp(object->kind, "Queue") == 0;
			if (strcasecmp(object->kind, typed) == 0 && (global || strcmp(own, space) == 0))
				offer(completing, arena_printf(arena, "%s/%s", typed, object->name), "");
		}
	}
	manifests_free(&objects);
}

static void offer_contexts(struct completing *completing)
{
	struct arena *arena = completing->args->arena;
	const char *home = getenv("HOME"), *path = completing->args->kubeconfig;
	if (!path)
		path = getenv("KUBECONFIG");
	if (!path || !path[0])
		path = arena_printf(arena, "%s/.kube/config", home ? home : "");
	struct problems problems = {.arena = arena};
	struct manifests files;
	manifests_init(&files);
	for (const char *at = path; *at;) {
		size_t length = strcspn(at, ":");
		manifests_load(&files, arena_strndup(arena, at, length), false, &problems);
		at += length + (at[length] == ':');
	}
	const struct val *item;
	for (size_t i = 0; i < files.count; i++)
		for (struct val_iter it = val_iter(val_get(files.items[i].object, "contexts"));
		     val_next(&it, NULL, &item);)
			offer(completing, val_str(val_get(item, "name"), ""), "");
	manifests_free(&files);
}

/* ---- values, options, operands ---- */

static void offer_choices(struct completing *completing, const char *choices)
{
	completing->directive = NO_FILES;
	if (!choices)
		return;
	if (strcmp(choices, "@file") == 0)
		completing->directive = 0;
	else if (strcmp(choices, "@object") == 0)
		offer_objects(completing);
	else if (strcmp(choices, "@context") == 0)
		offer_contexts(completing);
	else if (strcmp(choices, "@command") == 0)
		for (const struct cli_command *command = cli_commands; command->name; command++)
			offer(completing, command->name, command->summary);
	else
		offer_words(completing, choices);
}

static void offer_values(struct completing *completing, int id)
{
	const char *comma = strrchr(completing->current, ',');
	/* Of a list only the last word is being typed. */
	if (strcmp(cli_options[id].argument, "LIST") == 0 && comma) {
		size_t length = (size_t)(comma + 1 - completing->current);
		completing->before = arena_printf(completing->args->arena, "%s%.*s", completing->before, (int)length,
		                                  completing->current);
		completing->current = comma + 1;
	}
	offer_choices(completing, id == CLI_OPTION_OUTPUT ? completing->command->outputs : cli_options[id].choices);
}

static int option_named(const struct cli_command *command, const char *word, size_t length)
{
	for (int i = 0; i < CLI_OPTIONS; i++) {
		const struct cli_option *option = &cli_options[i];
		bool is_long = length > 2 && strncmp(word, "--", 2) == 0 && strlen(option->name) == length - 2 &&
		               strncmp(word + 2, option->name, length - 2) == 0;
		bool is_letter = length == 2 && word[0] == '-' && option->letter && word[1] == option->letter;
		if (cli_has_option(command, i) && (is_long || is_letter))
			return i;
	}
	return CLI_OPTIONS;
}

static void offer_options(struct completing *completing)
{
	struct arena *arena = completing->args->arena;
	for (int i = 0; i < CLI_OPTIONS; i++)
		if (cli_has_option(completing->command, i))
			offer(completing, arena_printf(arena, "--%s", cli_options[i].name), cli_options[i].help);
}

/* The options that say where objects come from, of the words before the current one. */
static void take_words(struct completing *completing, char **words, int count)
{
	struct cli_args *args = completing->args;
	for (int i = 1; i < count && words[i]; i++) {
		const char *equals = strchr(words[i], '=');
		int id = option_named(completing->command, words[i],
		                      equals ? (size_t)(equals - words[i]) : strlen(words[i]));
		const char *value = equals ? equals + 1 : i + 1 < count ? words[i + 1] : NULL;
		if (!value)
			continue;
		if (id == CLI_OPTION_FILE)
			args->files[args->file_count++] = value;
		else if (id == CLI_OPTION_KUBECONFIG)
			args->kubeconfig = value;
		else if (id == CLI_OPTION_CONTEXT)
			args->context = value;
		else if (id == CLI_OPTION_NAMESPACE)
			args->namespace_ = value;
	}
}

static void complete_command(struct completing *completing, char **words, int count)
{
	const char *current = completing->current, *equals = strchr(current, '=');
	int before =
		count > 2 ? option_named(completing->command, words[count - 2], strlen(words[count - 2])) : CLI_OPTIONS;
	take_words(completing, words, count - 1);
	if (before < CLI_OPTIONS && cli_options[before].argument) {
		offer_values(completing, before);
	} else if (equals && text_starts_with(current, "--")) {
		int id = option_named(completing->command, current, (size_t)(equals - current));
		if (id >= CLI_OPTIONS || !cli_options[id].argument)
			return;
		completing->before = arena_strndup(completing->args->arena, current, (size_t)(equals + 1 - current));
		completing->current = equals + 1;
		offer_values(completing, id);
	} else if (current[0] == '-') {
		offer_options(completing);
	} else {
		offer_choices(completing, completing->command->operand_choices);
	}
}

int cli_complete(int count, char **words)
{
	char *nothing[] = {""};
	if (count == 0) {
		count = 1;
		words = nothing;
	}
	struct cli_args args = {.arena = arena_create()};
	struct completing completing = {.args = &args,
	                                .current = words[count - 1],
	                                .before = "",
	                                .directive = NO_FILES};
	args.files = arena_array(args.arena, const char *, (size_t)count);
	args.command = completing.command = cli_find_command(words[0]);
	/* Whatever goes wrong, nothing may appear between what somebody types. */
	if (!freopen("/dev/null", "w", stderr))
		fclose(stderr);
	if (count == 1) {
		offer_choices(&completing, "@command");
		offer(&completing, "--help", "print the list of commands");
		offer(&completing, "--version", "print the version");
	} else if (completing.command) {
		complete_command(&completing, words, count);
	}
	printf(":%d\n", completing.directive);
	arena_destroy(args.arena);
	return CLI_OK;
}
