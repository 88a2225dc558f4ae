/* Owns the table of options, parsing the command line with it, and suggestions for misspelt words. */
#include "cli/cli.h"
#include "cli/output.h"

#include "base/clock.h"
#include "base/strings.h"
#include "sim/faults.h"

#include <getopt.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 20000

const struct cli_option cli_options[CLI_OPTIONS] = {
	[CLI_OPTION_FILE] = {"filename", 'f', "FILE", "@file", "file, folder or - for standard input; may be repeated"},
	[CLI_OPTION_RECURSIVE] = {"recursive", 'R', NULL, NULL, "read the folders of -f with everything below them"},
	[CLI_OPTION_OUTPUT] = {"output", 'o', "FORMAT", NULL, "output format"},
	[CLI_OPTION_ACTIONS] = {"actions", 0, "LIST", &CYCLE_ACTION_NAMES[1], "actions, comma separated (default all)"},
	[CLI_OPTION_BUDGET] = {"budget", 0, "STEPS", NULL, "search steps per placement before it is given up"},
	[CLI_OPTION_PLACEMENT] = {"placement", 0, "STRATEGY", "binpack spread gpu=spread cpu=spread",
                                  "order of nodes if all else is equal (default binpack)"},
	[CLI_OPTION_STARVATION_AFTER] = {"starvation-after", 0, "DURATION", NULL,
                                         "hold free resources for a gang that has waited so long (default never)"},
	[CLI_OPTION_NODES] = {"nodes", 0, "SHAPE", NULL, "zones x racks x nodes per rack (default 1x2x4)"},
	[CLI_OPTION_NODES_FILE] = {"nodes-file", 0, "FILE", "@file", "Node manifests, or a .csv node list, instead"},
	[CLI_OPTION_GPUS] = {"gpus", 0, "COUNT", NULL, "GPUs of each node (default 8)"},
	[CLI_OPTION_DATA_DIR] = {"data-dir", 0, "FOLDER", "@file",
                                 "where objects, certificates and kubeconfig are kept (default .platoon)"},
	[CLI_OPTION_PORT] = {"port", 0, "PORT", NULL, "port of the API on 127.0.0.1, 0 for a free one (default 7443)"},
	[CLI_OPTION_HEARTBEAT] = {"heartbeat", 0, "SECONDS", NULL,
                                  "how often nodes are heard of (default 5); 0: what annotations say is known at once"},
	[CLI_OPTION_IN_MEMORY] = {"in-memory", 0, NULL, NULL, "forget all objects at the end"},
	[CLI_OPTION_UNTIL_PLACED] = {"until-placed", 0, NULL, NULL, "end when every PodGroup runs or never will"},
	[CLI_OPTION_KUBECONFIG] = {"kubeconfig", 0, "FILE", "@file",
                                   "cluster to use (default $KUBECONFIG, ~/.kube/config, or the pod's own account)"},
	[CLI_OPTION_CONTEXT] = {"context", 0, "NAME", "@context",
                                "context of the kubeconfig (default its current one)"},
	[CLI_OPTION_NAMESPACE] = {"namespace", 'n', "NAME", NULL,
                                  "namespace (default that of the context; for install platoon-system)"},
	[CLI_OPTION_SEEDS] = {"seeds", 0, "A..B", NULL, "random runs with these seeds instead of scenarios"},
	[CLI_OPTION_FAULTS] = {"faults", 0, "LIST", "conflict watch-loss crash slow-api node-flap clock-jump all none",
                               "their faults (default all)"},
	[CLI_OPTION_SCHEDULER_NAME] = {"scheduler-name", 0, "LIST", NULL,
                                       "schedulerName of our pods, comma separated (default platoon,kai-scheduler)"},
	[CLI_OPTION_PROFILE] = {"profile", 0, "PROFILE", "platoon kai",
                                "settings that nobody gives: platoon, or kai for those of KAI-Scheduler"},
	[CLI_OPTION_LEADER_ELECT] = {"leader-elect", 0, NULL, NULL, "act only while holding the Lease platoon"},
	[CLI_OPTION_SIMULATE_KUBELETS] = {"simulate-kubelets", 0, NULL, NULL,
                                          "let pods of the cluster's nodes start and end by themselves; for tests"},
	[CLI_OPTION_LISTEN] =
		{"listen", 0, "ADDRESS", NULL,
                 "HOST:PORT of health and metrics, :PORT for every address, or none (default loopback:8080)"},
	[CLI_OPTION_CONFIG] = {"config", 0, "FILE", "@file",
                               "file of settings, which flags overrule; `run` and `up` read it again when it changes"},
	[CLI_OPTION_PRINT_CONFIG] = {"print-config", 0, NULL, NULL, "print the settings that would be used, and end"},
	[CLI_OPTION_IMAGE] = {"image", 0, "IMAGE", NULL, "container image (default platoon:VERSION)"},
	[CLI_OPTION_REPORT] = {"report", 0, "FILE", "@file", "replay the objects as a trace and write a page about it"},
	[CLI_OPTION_COMPARE] = {"compare", 0, "LIST", "binpack spread" CYCLE_ACTION_NAMES, "compare two policies"},
	[CLI_OPTION_MAN] = {"man", 0, NULL, NULL, "the manual page, as a source for scdoc"},
	[CLI_OPTION_REPLICAS] = {"replicas", 0, "COUNT", NULL, "replicas of the Deployment (default 2)"},
	[CLI_OPTION_WEBHOOKS] = {"webhooks", 0, "BOOL", "true false",
                                 "answer for admission and conversion of versions"},
	[CLI_OPTION_WEBHOOK_URL] = {"webhook-url", 0, "URL", NULL,
                                    "where the webhooks are when `platoon run` is outside of the cluster"},
	[CLI_OPTION_SERVICE_MONITOR] = {"service-monitor", 0, NULL, NULL,
                                        "a ServiceMonitor for the operator of Prometheus"},
	[CLI_OPTION_ONLY] = {"only", 0, "LIST", "namespace definitions rbac priorities deployment webhooks monitor",
                             "only these parts"},
	[CLI_OPTION_VALUES] = {"values", 0, "FILE", "@file", "values of the chart that differ from the usual ones"},
	[CLI_OPTION_CHART] = {"chart", 0, "FOLDER", "@file", "write a Helm chart there instead of printing manifests"},
	[CLI_OPTION_REFERENCE] = {"reference", 0, NULL, NULL, "the fields of a kind as Markdown, or the list of kinds"},
	[CLI_OPTION_ONCE] = {"once", 0, NULL, NULL, "print everything once, for a pipe, and end"},
	[CLI_OPTION_FOR] = {"for", 0, "TIME", NULL, "record what happens so long, such as 10m, or `ever` until Ctrl-C"},
	[CLI_OPTION_MAP] = {"map", 0, NULL, NULL, "draw every node of the cluster with who is on it"},
	[CLI_OPTION_COLOR] = {"color", 0, "WHEN", "auto always never",
                              "colours (default auto: on a terminal, unless NO_COLOR is set)"},
	[CLI_OPTION_VERBOSE] = {"verbose", 'v', NULL, NULL, "print passed cases too"},
	[CLI_OPTION_LOG_LEVEL] = {"log-level", 0, "LEVEL", "error warn info debug",
                                  "what to log to standard error (default warn)"},
	[CLI_OPTION_HELP] = {"help", 'h', NULL, NULL, "print this help"},
};

const struct cli_command *cli_find_command(const char *name)
{
	for (const struct cli_command *command = cli_commands; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

const char *cli_suggest_command(const char *word)
{
	const char *names[32];
	size_t count = 0;
	for (const struct cli_command *command = cli_commands; command->name && count < 30; command++)
		names[count++] = command->name;
	names[count++] = "--help";
	names[count++] = "--version";
	return text_nearest(word, names, count);
}

static int usage_error(const struct cli_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int usage_error(const struct cli_command *command, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct arena *arena = arena_create();
	output_line(stderr, "platoon %s: %.500s", command->name, arena_vprintf(arena, format, args));
	fprintf(stderr, "Run `%s %s --help` for its options.\n", cli_program, command->name);
	arena_destroy(arena);
	va_end(args);
	return CLI_USAGE;
}

bool cli_has_option(const struct cli_command *command, int id)
{
	return id == CLI_OPTION_HELP || (command->options & (UINT64_C(1) << id)) != 0;
}

static int unknown_option(const struct cli_command *command, const char *word)
{
	const char *names[CLI_OPTIONS];
	size_t count = 0;
	for (int i = 0; i < CLI_OPTIONS; i++)
		if (cli_has_option(command, i))
			names[count++] = cli_options[i].name;
	const char *near = NULL;
	if (text_starts_with(word, "--")) {
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
		near = text_nearest(name, names, count);
	}
	if (near)
		return usage_error(command, "unknown option %s; did you mean --%s?", word, near);
	return usage_error(command, "unknown option %s", word);
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

static int parse_output(struct cli_args *args, const char *value)
{
	static const char *const names[] = {"table", "wide", "json", "yaml"};
	size_t ignored;
	for (size_t i = 0; i < 4; i++) {
		if (strcmp(names[i], value) == 0 && word_in(args->command->outputs, value, &ignored)) {
			args->output = (enum cli_output)i;
			return CLI_OK;
		}
	}
	return usage_error(args->command, "--output %s: not a format; use one of: %s", value, args->command->outputs);
}

static int parse_colour(struct cli_args *args, const char *value)
{
	size_t when;
	if (!word_in(cli_options[CLI_OPTION_COLOR].choices, value, &when))
		return usage_error(args->command, "--color %s: use one of: %s", value,
		                   cli_options[CLI_OPTION_COLOR].choices);
	args->colour = (enum draw_when)when;
	return CLI_OK;
}

static int parse_actions(struct cli_args *args, int id, const char *value, enum cycle_action **actions, size_t *count)
{
	*count = 0;
	*actions = arena_array(args->arena, enum cycle_action, strlen(value) + 1);
	for (const char *at = value;; at++) {
		size_t length = strcspn(at, ",");
		enum cycle_action action;
		if (cycle_action_parse(at, length, &action) < 0)
			return usage_error(args->command, "--%s %s: \"%.*s\" is not an action; use some of: %s",
			                   cli_options[id].name, value, (int)length, at, cli_options[id].choices);
		(*actions)[(*count)++] = action;
		at += length;
		if (!*at)
			return CLI_OK;
	}
}

static int parse_budget(struct cli_args *args, const char *value)
{
	char *end = NULL;
	errno = 0;
	unsigned long long number = strtoull(value, &end, 10);
	if (errno != 0 || *value < '0' || *value > '9' || *end || number == 0)
		return usage_error(args->command, "--budget %s: must be a whole number above 0", value);
	args->settings.budget = number;
	return CLI_OK;
}

static int parse_placement(struct cli_args *args, const char *value)
{
	args->strategy_given = true;
	if (strategy_parse(value, &args->settings.strategy) < 0)
		return usage_error(
			args->command,
			"--placement %s: use binpack, spread, or one for each such as gpu=spread,cpu=binpack", value);
	return CLI_OK;
}

static int parse_for(struct cli_args *args, const char *value)
{
	args->follow_given = true;
	args->follow_ns = 0;
	if (strcmp(value, "ever") != 0 && (clock_parse_duration(value, &args->follow_ns) < 0 || args->follow_ns <= 0))
		return usage_error(args->command, "--for %s: must be a duration above 0 such as 10m, or ever", value);
	return CLI_OK;
}

static int parse_starvation(struct cli_args *args, const char *value)
{
	args->starvation_after = value;
	if (clock_parse_duration(value, &args->settings.starvation_ns) < 0 || args->settings.starvation_ns <= 0)
		return usage_error(args->command, "--starvation-after %s: must be a duration above 0 such as 10m",
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

static int parse_nodes(struct cli_args *args, const char *value)
{
	int *into[] = {&args->shape.zones, &args->shape.racks, &args->shape.nodes};
	const char *at = value;
	long total = 1;
	for (int i = 0; i < 3; i++) {
		int number = read_number(at, 1, MAX_NODES, &at);
		if (number < 0 || *at != (i < 2 ? 'x' : '\0'))
			return usage_error(args->command,
			                   "--nodes %s: give zones x racks x nodes per rack, such as 1x2x4", value);
		at += i < 2;
		*into[i] = number;
		total *= number;
	}
	if (total > MAX_NODES)
		return usage_error(args->command, "--nodes %s: more than %d nodes", value, MAX_NODES);
	return CLI_OK;
}

static int parse_count(struct cli_args *args, int id, const char *value, long high, int *into)
{
	const char *end = "";
	int number = read_number(value, 0, high, &end);
	if (number < 0 || *end)
		return usage_error(args->command, "--%s %s: must be a whole number from 0 to %ld", cli_options[id].name,
		                   value, high);
	*into = number;
	return CLI_OK;
}

/* A..B, or one number. */
static int parse_seeds(struct cli_args *args, const char *value)
{
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
		return usage_error(args->command,
		                   "--seeds %s: give a number, or two with .. between them, such as 1..100", value);
	return CLI_OK;
}

static int parse_faults(struct cli_args *args, const char *value)
{
	const char *bad = "";
	size_t length = 0;
	if (faults_parse(value, &args->faults, &bad, &length) == 0)
		return CLI_OK;
	return usage_error(args->command, "--faults %s: \"%.*s\" is not a fault; use some of: %s", value, (int)length,
	                   bad, cli_options[CLI_OPTION_FAULTS].choices);
}

static int parse_port(struct cli_args *args, const char *value)
{
	int port = 0;
	int rc = parse_count(args, CLI_OPTION_PORT, value, UINT16_MAX, &port);
	args->port = (uint16_t)port;
	return rc;
}

static int parse_schedulers(struct cli_args *args, const char *value)
{
	const char **names = arena_array(args->arena, const char *, strlen(value) + 1);
	size_t count = 0;
	for (const char *at = value;; at++) {
		size_t length = strcspn(at, ",");
		if (length == 0 || length > 253)
			return usage_error(args->command, "--scheduler-name %s: give names, comma separated", value);
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

static int parse_profile(struct cli_args *args, const char *value)
{
	const char *choices = cli_options[CLI_OPTION_PROFILE].choices;
	size_t ignored;
	args->profile = value;
	if (!word_in(choices, value, &ignored))
		return usage_error(args->command, "--profile %s: use one of: %s", value, choices);
	return CLI_OK;
}

static int parse_webhooks(struct cli_args *args, const char *value)
{
	args->webhooks = strcmp(value, "true") == 0;
	args->webhooks_given = true;
	if (!args->webhooks && strcmp(value, "false") != 0)
		return usage_error(args->command, "--webhooks %s: must be true or false", value);
	return CLI_OK;
}

static int take_option(struct cli_args *args, int id, const char *value)
{
	switch ((enum cli_option_id)id) {
	case CLI_OPTION_FILE:
		args->files[args->file_count++] = value;
		return CLI_OK;
	case CLI_OPTION_RECURSIVE:
		args->recursive = true;
		return CLI_OK;
	case CLI_OPTION_VERBOSE:
		args->verbose = true;
		return CLI_OK;
	case CLI_OPTION_MAN:
		args->man = true;
		return CLI_OK;
	case CLI_OPTION_REFERENCE:
		args->reference = true;
		return CLI_OK;
	case CLI_OPTION_FOR:
		return parse_for(args, value);
	case CLI_OPTION_ONCE:
		args->once = true;
		return CLI_OK;
	case CLI_OPTION_MAP:
		args->map = true;
		return CLI_OK;
	case CLI_OPTION_COLOR:
		return parse_colour(args, value);
	case CLI_OPTION_OUTPUT:
		return parse_output(args, value);
	case CLI_OPTION_ACTIONS:
		return parse_actions(args, id, value, &args->actions, &args->action_count);
	case CLI_OPTION_COMPARE:
		args->compare = value;
		return CLI_OK;
	case CLI_OPTION_PLACEMENT:
		return parse_placement(args, value);
	case CLI_OPTION_REPORT:
		args->report = value;
		return CLI_OK;
	case CLI_OPTION_BUDGET:
		return parse_budget(args, value);
	case CLI_OPTION_STARVATION_AFTER:
		return parse_starvation(args, value);
	case CLI_OPTION_NODES:
		args->shape_given = true;
		return parse_nodes(args, value);
	case CLI_OPTION_SEEDS:
		return parse_seeds(args, value);
	case CLI_OPTION_FAULTS:
		return parse_faults(args, value);
	case CLI_OPTION_NODES_FILE:
		args->nodes_file = value;
		return CLI_OK;
	case CLI_OPTION_HEARTBEAT:
		return parse_count(args, id, value, 3600, &args->heartbeat);
	case CLI_OPTION_GPUS:
		args->gpus_given = true;
		return parse_count(args, id, value, 64, &args->shape.gpus);
	case CLI_OPTION_DATA_DIR:
		args->data_dir = value;
		return CLI_OK;
	case CLI_OPTION_PORT:
		return parse_port(args, value);
	case CLI_OPTION_IN_MEMORY:
		args->in_memory = true;
		return CLI_OK;
	case CLI_OPTION_UNTIL_PLACED:
		args->until_placed = true;
		return CLI_OK;
	case CLI_OPTION_KUBECONFIG:
		args->kubeconfig = value;
		return CLI_OK;
	case CLI_OPTION_CONTEXT:
		args->context = value;
		return CLI_OK;
	case CLI_OPTION_NAMESPACE:
		args->namespace_ = value;
		return CLI_OK;
	case CLI_OPTION_SCHEDULER_NAME:
		return parse_schedulers(args, value);
	case CLI_OPTION_LEADER_ELECT:
		args->leader_elect = true;
		return CLI_OK;
	case CLI_OPTION_SIMULATE_KUBELETS:
		args->simulate_kubelets = true;
		return CLI_OK;
	case CLI_OPTION_LISTEN:
		args->listen = value;
		return CLI_OK;
	case CLI_OPTION_PROFILE:
		return parse_profile(args, value);
	case CLI_OPTION_CONFIG:
		args->config = value;
		return CLI_OK;
	case CLI_OPTION_PRINT_CONFIG:
		args->print_config = true;
		return CLI_OK;
	case CLI_OPTION_IMAGE:
		args->image = value;
		return CLI_OK;
	case CLI_OPTION_REPLICAS:
		return parse_count(args, id, value, 100, &args->replicas);
	case CLI_OPTION_WEBHOOKS:
		return parse_webhooks(args, value);
	case CLI_OPTION_WEBHOOK_URL:
		args->webhook_url = value;
		return CLI_OK;
	case CLI_OPTION_SERVICE_MONITOR:
		args->service_monitor = true;
		return CLI_OK;
	case CLI_OPTION_ONLY:
		args->only = value;
		return CLI_OK;
	case CLI_OPTION_VALUES:
		args->values_file = value;
		return CLI_OK;
	case CLI_OPTION_CHART:
		args->chart = value;
		return CLI_OK;
	case CLI_OPTION_LOG_LEVEL:
		if (log_level_parse(value, &args->logger.level) < 0)
			return usage_error(args->command, "--log-level %s: use one of: %s", value,
			                   cli_options[CLI_OPTION_LOG_LEVEL].choices);
		args->log_level_given = true;
		return CLI_OK;
	case CLI_OPTION_HELP:
	case CLI_OPTIONS:
		break;
	}
	return CLI_OK;
}

#define OPTION_BASE 1000 /* above every letter, so that the value getopt returns names the option */

static void getopt_tables(const struct cli_command *command, struct option *longs, char *shorts)
{
	size_t count = 0;
	*shorts++ = ':';
	for (int i = 0; i < CLI_OPTIONS; i++) {
		if (!cli_has_option(command, i))
			continue;
		int argument = cli_options[i].argument ? required_argument : no_argument;
		longs[count++] = (struct option){cli_options[i].name, argument, NULL, OPTION_BASE + i};
		if (cli_options[i].letter) {
			*shorts++ = cli_options[i].letter;
			if (cli_options[i].argument)
				*shorts++ = ':';
		}
	}
	longs[count] = (struct option){NULL, 0, NULL, 0};
	*shorts = '\0';
}

static int option_of(int value)
{
	if (value >= OPTION_BASE)
		return value - OPTION_BASE;
	for (int i = 0; i < CLI_OPTIONS; i++)
		if (cli_options[i].letter == value)
			return i;
	return CLI_OPTIONS;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args, bool *stop)
{
	struct option longs[CLI_OPTIONS + 1];
	char shorts[2 * CLI_OPTIONS + 2];
	*args = (struct cli_args){
		.command = command,
		.arena = arena_create(),
		.settings = settings_usual,
		.shape = {.zones = 1, .racks = 2, .nodes = 4, .gpus = 8},
		.heartbeat = 5,
		.data_dir = ".platoon",
		.port = 7443,
		.faults = FAULT_ALL,
		.logger = {.stream = stderr, .level = LOG_WARN, .clock = clock_system()},
	};
	args->files = arena_array(args->arena, const char *, (size_t)argc);
	args->actions = arena_array(args->arena, enum cycle_action, ACTION_COUNT);
	args->action_count = cycle_action_list_all(args->actions);
	getopt_tables(command, longs, shorts);
	opterr = 0;
	optind = 1;
	for (;;) {
		int at = optind;
		int value = getopt_long(argc, argv, shorts, longs, NULL);
		if (value < 0)
			break;
		if (value == '?' || value == ':') {
			/* Inside a cluster of letters getopt names only the letter. */
			char letter[3] = {'-', (char)optopt, '\0'};
			bool is_long = at < argc && text_starts_with(argv[optind - 1], "--");
			const char *word = is_long ? argv[optind - 1] : letter;
			return value == ':' ? usage_error(command, "option %s needs a value", word)
			                    : unknown_option(command, word);
		}
		int id = option_of(value);
		if (id == CLI_OPTION_HELP) {
			cli_help_command(command, stdout);
			*stop = true;
			return CLI_OK;
		}
		int rc = take_option(args, id, optarg);
		if (rc != CLI_OK)
			return rc;
	}
	args->operands = argv + optind;
	args->operand_count = (size_t)(argc - optind);
	if (args->operand_count > 0 && command->operands[0] == '\0')
		return usage_error(command, "takes no operand %s%s", args->operands[0],
		                   cli_has_option(command, CLI_OPTION_FILE) ? "; give files with -f" : "");
	return CLI_OK;
}

void cli_args_free(struct cli_args *args)
{
	arena_destroy(args->arena);
}
