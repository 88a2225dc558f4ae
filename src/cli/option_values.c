/* Owns what the values of options are: how each is read, and where it goes. */
#include "cli/options.h"

#include "base/clock.h"
#include "sim/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 20000

int option_take_file(struct cli_args *args, int id, const char *value)
{
	(void)id;
	args->files[args->file_count++] = value;
	return CLI_OK;
}

static bool word_in(const char *words, const char *word, size_t *index)
{
	size_t length = strlen(word);
	*index = 0;
	for (const char *at = words; *at;) {
		size_t part = strcspn(at, " ");
		if (part == length && strncmp(at, word, length) == 0)
			return true;
		at += part + (at[part] == ' ');
		(*index)++;
	}
	return false;
}

int option_take_output(struct cli_args *args, int id, const char *value)
{
	(void)id;
	static const char *const names[] = {"table", "wide", "json", "yaml"};
	size_t ignored;
	for (size_t i = 0; i < 4; i++) {
		if (strcmp(names[i], value) == 0 && word_in(args->command->outputs, value, &ignored)) {
			args->output = (enum cli_output)i;
			return CLI_OK;
		}
	}
	return cli_usage_error(args->command, "--output %s: not a format; use one of: %s", value,
	                       args->command->outputs);
}

int option_take_colour(struct cli_args *args, int id, const char *value)
{
	size_t when;
	if (!word_in(cli_options[id].choices, value, &when))
		return cli_usage_error(args->command, "--color %s: use one of: %s", value, cli_options[id].choices);
	args->colour = (enum draw_when)when;
	return CLI_OK;
}

int option_take_actions(struct cli_args *args, int id, const char *value)
{
	enum cycle_action **actions = &args->actions;
	size_t *count = &args->action_count;
	*count = 0;
	*actions = arena_array(args->arena, enum cycle_action, strlen(value) + 1);
	for (const char *at = value;; at++) {
		size_t length = strcspn(at, ",");
		enum cycle_action action;
		if (cycle_action_parse(at, length, &action) < 0)
			return cli_usage_error(args->command, "--%s %s: \"%.*s\" is not an action; use some of: %s",
			                       cli_options[id].name, value, (int)length, at, cli_options[id].choices);
		(*actions)[(*count)++] = action;
		at += length;
		if (!*at)
			return CLI_OK;
	}
}

int option_take_budget(struct cli_args *args, int id, const char *value)
{
	(void)id;
	char *end = NULL;
	errno = 0;
	unsigned long long number = strtoull(value, &end, 10);
	if (errno != 0 || *value < '0' || *value > '9' || *end || number == 0)
		return cli_usage_error(args->command, "--budget %s: must be a whole number above 0", value);
	args->settings.budget = number;
	return CLI_OK;
}

int option_take_placement(struct cli_args *args, int id, const char *value)
{
	(void)id;
	args->strategy_given = true;
	if (strategy_parse(value, &args->settings.strategy) < 0)
		return cli_usage_error(
			args->command,
			"--placement %s: use binpack, spread, or one for each such as gpu=spread,cpu=binpack", value);
	return CLI_OK;
}

int option_take_for(struct cli_args *args, int id, const char *value)
{
	(void)id;
	args->follow_given = true;
	args->follow_ns = 0;
	if (strcmp(value, "ever") != 0 && (clock_parse_duration(value, &args->follow_ns) < 0 || args->follow_ns <= 0))
		return cli_usage_error(args->command, "--for %s: must be a duration above 0 such as 10m, or ever",
		                       value);
	return CLI_OK;
}

int option_take_starvation(struct cli_args *args, int id, const char *value)
{
	(void)id;
	args->starvation_after = value;
	if (clock_parse_duration(value, &args->settings.starvation_ns) < 0 || args->settings.starvation_ns <= 0)
		return cli_usage_error(args->command, "--starvation-after %s: must be a duration above 0 such as 10m",
		                       value);
	return CLI_OK;
}

/* A whole number from `low` to `high` at the start of the text; *end is what follows it. -1 when there is none. */
static int read_number(const char *text, long low, long high, const char **end)
{
	char *rest = NULL;
	errno = 0;
	long number = strtol(text, &rest, 10);
	if (errno != 0 || *text < '0' || *text > '9' || number < low || number > high)
		return -1;
	*end = rest;
	return (int)number;
}

int option_take_nodes(struct cli_args *args, int id, const char *value)
{
	(void)id;
	args->shape_given = true;
	int *into[] = {&args->shape.zones, &args->shape.racks, &args->shape.nodes};
	const char *at = value;
	long total = 1;
	for (int i = 0; i < 3; i++) {
		int number = read_number(at, 1, MAX_NODES, &at);
		if (number < 0 || *at != (i < 2 ? 'x' : '\0'))
			return cli_usage_error(args->command,
			                       "--nodes %s: give zones x racks x nodes per rack, such as 1x2x4", value);
		at += i < 2;
		*into[i] = number;
		total *= number;
	}
	if (total > MAX_NODES)
		return cli_usage_error(args->command, "--nodes %s: more than %d nodes", value, MAX_NODES);
	return CLI_OK;
}

static int take_count(struct cli_args *args, int id, const char *value, long high, int *into)
{
	const char *end = "";
	int number = read_number(value, 0, high, &end);
	if (number < 0 || *end)
		return cli_usage_error(args->command, "--%s %s: must be a whole number from 0 to %ld",
		                       cli_options[id].name, value, high);
	*into = number;
	return CLI_OK;
}

/* A..B, or one number. */
int option_take_seeds(struct cli_args *args, int id, const char *value)
{
	(void)id;
	char *end = NULL;
	errno = 0;
	args->seed_first = args->seed_last = strtoull(value, &end, 10);
	bool good = *value >= '0' && *value <= '9';
	if (good && text_starts_with(end, "..")) {
		const char *second = end + 2;
		good = *second >= '0' && *second <= '9';
		args->seed_last = strtoull(second, &end, 10);
	}
	args->has_seeds = true;
	if (!good || errno != 0 || *end || args->seed_last < args->seed_first)
		return cli_usage_error(args->command,
		                       "--seeds %s: give a number, or two with .. between them, such as 1..100", value);
	return CLI_OK;
}

int option_take_faults(struct cli_args *args, int id, const char *value)
{
	const char *bad = "";
	size_t length = 0;
	if (faults_parse(value, &args->faults, &bad, &length) == 0)
		return CLI_OK;
	return cli_usage_error(args->command, "--faults %s: \"%.*s\" is not a fault; use some of: %s", value,
	                       (int)length, bad, cli_options[id].choices);
}

int option_take_port(struct cli_args *args, int id, const char *value)
{
	int port = 0;
	int rc = take_count(args, id, value, UINT16_MAX, &port);
	args->port = (uint16_t)port;
	return rc;
}

int option_take_schedulers(struct cli_args *args, int id, const char *value)
{
	(void)id;
	const char **names = arena_array(args->arena, const char *, strlen(value) + 1);
	size_t count = 0;
	for (const char *at = value;; at++) {
		size_t length = strcspn(at, ",");
		if (length == 0 || length > 253)
			return cli_usage_error(args->command, "--scheduler-name %s: give names, comma separated",
			                       value);
		names[count++] = arena_strndup(args->arena, at, length);
		at += length;
		if (!*at)
			break;
	}
	args->settings.schedulers = names;
	args->settings.scheduler_count = count;
	args->schedulers_given = true;
	return CLI_OK;
}

int option_take_profile(struct cli_args *args, int id, const char *value)
{
	const char *choices = cli_options[id].choices;
	size_t ignored;
	args->profile = value;
	if (!word_in(choices, value, &ignored))
		return cli_usage_error(args->command, "--profile %s: use one of: %s", value, choices);
	return CLI_OK;
}

int option_take_webhooks(struct cli_args *args, int id, const char *value)
{
	(void)id;
	args->webhooks = strcmp(value, "true") == 0;
	args->webhooks_given = true;
	if (!args->webhooks && strcmp(value, "false") != 0)
		return cli_usage_error(args->command, "--webhooks %s: must be true or false", value);
	return CLI_OK;
}

int option_take_heartbeat(struct cli_args *args, int id, const char *value)
{
	return take_count(args, id, value, 3600, &args->heartbeat);
}

int option_take_gpus(struct cli_args *args, int id, const char *value)
{
	args->gpus_given = true;
	return take_count(args, id, value, 64, &args->shape.gpus);
}

int option_take_gpus_as(struct cli_args *args, int id, const char *value)
{
	size_t which;
	if (!word_in(cli_options[id].choices, value, &which))
		return cli_usage_error(args->command, "--gpus-as %s: use one of: %s", value, cli_options[id].choices);
	args->gpus_as_devices = strcmp(value, "dra") == 0;
	return CLI_OK;
}

int option_take_replicas(struct cli_args *args, int id, const char *value)
{
	return take_count(args, id, value, 100, &args->replicas);
}

int option_take_log_level(struct cli_args *args, int id, const char *value)
{
	args->log_level_given = true;
	if (log_level_parse(value, &args->logger.level) < 0)
		return cli_usage_error(args->command, "--log-level %s: use one of: %s", value, cli_options[id].choices);
	return CLI_OK;
}
