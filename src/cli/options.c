/* Owns the table of options, parsing the command line with it, and suggestions for misspelt options. */
#include "cli/options.h"
#include "cli/output.h"

#include "base/clock.h"
#include "base/strings.h"
#include "sim/faults.h"

#include <getopt.h>
#include <string.h>

#define FLAG(field) .flag = offsetof(struct cli_args, field)
#define TEXT(field) .text = offsetof(struct cli_args, field)

const struct cli_option cli_options[CLI_OPTIONS] = {
	[CLI_OPTION_FILE] = {"filename", 'f', "FILE", "@file", "file, folder or - for standard input; may be repeated",
                             .take = option_take_file},
	[CLI_OPTION_RECURSIVE] = {"recursive", 'R', NULL, NULL, "read the folders of -f with everything below them",
                                  FLAG(recursive)},
	[CLI_OPTION_OUTPUT] = {"output", 'o', "FORMAT", NULL, "output format", .take = option_take_output},
	[CLI_OPTION_ACTIONS] = {"actions", 0, "LIST", &CYCLE_ACTION_NAMES[1], "default the usual ones",
                                .take = option_take_actions},
	[CLI_OPTION_BUDGET] = {"budget", 0, "STEPS", NULL, "search steps per placement before it is given up",
                               .take = option_take_budget},
	[CLI_OPTION_PLACEMENT] = {"placement", 0, "STRATEGY", "binpack spread gpu=spread cpu=spread",
                                  "order of nodes if all else is equal (default binpack)",
                                  .take = option_take_placement},
	[CLI_OPTION_STARVATION_AFTER] = {"starvation-after", 0, "DURATION", NULL,
                                         "hold free resources for a gang that has waited so long (default never)",
                                         .take = option_take_starvation},
	[CLI_OPTION_NODES] = {"nodes", 0, "SHAPE", NULL, "zones x racks x nodes per rack (default 1x2x4)",
                              .take = option_take_nodes},
	[CLI_OPTION_NODES_FILE] = {"nodes-file", 0, "FILE", "@file", "Node manifests, or a .csv node list, instead",
                                   TEXT(nodes_file)},
	[CLI_OPTION_GPUS] = {"gpus", 0, "COUNT", NULL, "GPUs of each node (default 8)", .take = option_take_gpus},
	[CLI_OPTION_GPUS_AS] = {"gpus-as", 0, "WHAT", "resource dra",
                                "GPUs are a resource of nodes, or devices of ResourceSlices (default resource)",
                                .take = option_take_gpus_as},
	[CLI_OPTION_DATA_DIR] = {"data-dir", 0, "FOLDER", "@file",
                                 "where objects, certificates and kubeconfig are kept (default .platoon)",
                                 TEXT(data_dir)},
	[CLI_OPTION_PORT] = {"port", 0, "PORT", NULL, "port of the API on 127.0.0.1, 0 for a free one (default 7443)",
                             .take = option_take_port},
	[CLI_OPTION_HEARTBEAT] = {"heartbeat", 0, "SECONDS", NULL,
                                  "how often nodes are heard of (default 5); 0: what annotations say is known at once",
                                  .take = option_take_heartbeat},
	[CLI_OPTION_IN_MEMORY] = {"in-memory", 0, NULL, NULL, "forget all objects at the end", FLAG(in_memory)},
	[CLI_OPTION_UNTIL_PLACED] = {"until-placed", 0, NULL, NULL, "end when every PodGroup runs or never will",
                                     FLAG(until_placed)},
	[CLI_OPTION_KUBECONFIG] = {"kubeconfig", 0, "FILE", "@file",
                                   "cluster to use (default $KUBECONFIG, ~/.kube/config, or the pod's own account)",
                                   TEXT(kubeconfig)},
	[CLI_OPTION_CONTEXT] = {"context", 0, "NAME", "@context", "context of the kubeconfig (default its current one)",
                                TEXT(context)},
	[CLI_OPTION_NAMESPACE] = {"namespace", 'n', "NAME", NULL,
                                  "namespace (default that of the context; for install platoon-system)",
                                  TEXT(namespace_)},
	[CLI_OPTION_SEEDS] = {"seeds", 0, "A..B", NULL, "random runs with these seeds instead of scenarios",
                              .take = option_take_seeds},
	[CLI_OPTION_FAULTS] = {"faults", 0, "LIST", "conflict watch-loss crash slow-api node-flap clock-jump all none",
                               "their faults (default all)", .take = option_take_faults},
	[CLI_OPTION_SCHEDULER_NAME] = {"scheduler-name", 0, "LIST", NULL,
                                       "schedulerName of our pods, comma separated (default platoon,kai-scheduler)",
                                       .take = option_take_schedulers},
	[CLI_OPTION_PROFILE] = {"profile", 0, "PROFILE", "platoon kai",
                                "settings that nobody gives: platoon, or kai for those of KAI-Scheduler",
                                .take = option_take_profile},
	[CLI_OPTION_LEADER_ELECT] = {"leader-elect", 0, NULL, NULL, "act only while holding the Lease platoon",
                                     FLAG(leader_elect)},
	[CLI_OPTION_SIMULATE_KUBELETS] = {"simulate-kubelets", 0, NULL, NULL,
                                          "let pods of the cluster's nodes start and end by themselves; for tests",
                                          FLAG(simulate_kubelets)},
	[CLI_OPTION_LISTEN] =
		{"listen", 0, "ADDRESS", NULL,
                 "HOST:PORT of health and metrics, :PORT for every address, or none (default loopback:8080)",
                 TEXT(listen)},
	[CLI_OPTION_CONFIG] = {"config", 0, "FILE", "@file",
                               "file of settings, which flags overrule; `run` and `up` read it again when it changes",
                               TEXT(config)},
	[CLI_OPTION_PRINT_CONFIG] = {"print-config", 0, NULL, NULL, "print the settings that would be used, and end",
                                     FLAG(print_config)},
	[CLI_OPTION_IMAGE] = {"image", 0, "IMAGE", NULL, "container image (default platoon:VERSION)", TEXT(image)},
	[CLI_OPTION_REPORT] = {"report", 0, "FILE", "@file", "replay the objects as a trace and write a page about it",
                               TEXT(report)},
	[CLI_OPTION_COMPARE] = {"compare", 0, "LIST", "binpack spread" CYCLE_ACTION_NAMES, "two policies",
                                TEXT(compare)},
	[CLI_OPTION_MAN] = {"man", 0, NULL, NULL, "the manual page, as a source for scdoc", FLAG(man)},
	[CLI_OPTION_REPLICAS] = {"replicas", 0, "COUNT", NULL, "replicas of the Deployment (default 2)",
                                 .take = option_take_replicas},
	[CLI_OPTION_WEBHOOKS] = {"webhooks", 0, "BOOL", "true false", "answer for admission and conversion of versions",
                                 .take = option_take_webhooks},
	[CLI_OPTION_WEBHOOK_URL] = {"webhook-url", 0, "URL", NULL,
                                    "where the webhooks are when `platoon run` is outside of the cluster",
                                    TEXT(webhook_url)},
	[CLI_OPTION_SERVICE_MONITOR] = {"service-monitor", 0, NULL, NULL,
                                        "a ServiceMonitor for the operator of Prometheus", FLAG(service_monitor)},
	[CLI_OPTION_ONLY] = {"only", 0, "LIST", "namespace definitions rbac priorities deployment webhooks monitor",
                             "only these parts", TEXT(only)},
	[CLI_OPTION_VALUES] = {"values", 0, "FILE", "@file", "values of the chart that differ from the usual ones",
                               TEXT(values_file)},
	[CLI_OPTION_CHART] = {"chart", 0, "FOLDER", "@file", "write a Helm chart there instead of printing manifests",
                              TEXT(chart)},
	[CLI_OPTION_REFERENCE] = {"reference", 0, NULL, NULL, "the fields of a kind as Markdown, or the list of kinds",
                                  FLAG(reference)},
	[CLI_OPTION_ONCE] = {"once", 0, NULL, NULL, "print everything once, for a pipe, and end", FLAG(once)},
	[CLI_OPTION_FOR] = {"for", 0, "TIME", NULL, "record what happens so long, such as 10m, or `ever` until Ctrl-C",
                            .take = option_take_for},
	[CLI_OPTION_MAP] = {"map", 0, NULL, NULL, "draw every node of the cluster with who is on it", FLAG(map)},
	[CLI_OPTION_COLOR] = {"color", 0, "WHEN", "auto always never",
                              "colours (default auto: on a terminal, unless NO_COLOR is set)",
                              .take = option_take_colour},
	[CLI_OPTION_TO] = {"to", 0, "SCHEDULER", "kai native volcano slurm", "what the groups become", TEXT(to)},
	[CLI_OPTION_VERBOSE] = {"verbose", 'v', NULL, NULL, "print passed cases too", FLAG(verbose)},
	[CLI_OPTION_LOG_LEVEL] = {"log-level", 0, "LEVEL", "error warn info debug",
                                  "what to log to standard error (default warn)", .take = option_take_log_level},
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

int cli_usage_error(const struct cli_command *command, const char *format, ...)
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
		return cli_usage_error(command, "unknown option %s; did you mean --%s?", word, near);
	return cli_usage_error(command, "unknown option %s", word);
}

static int take_option(struct cli_args *args, int id, const char *value)
{
	const struct cli_option *option = &cli_options[id];
	if (option->take)
		return option->take(args, id, value);
	if (option->flag)
		*(bool *)((char *)args + option->flag) = true;
	else if (option->text)
		*(const char **)(void *)((char *)args + option->text) = value;
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
			return value == ':' ? cli_usage_error(command, "option %s needs a value", word)
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
		return cli_usage_error(command, "takes no operand %s%s", args->operands[0],
		                       cli_has_option(command, CLI_OPTION_FILE) ? "; give files with -f" : "");
	return CLI_OK;
}

void cli_args_free(struct cli_args *args)
{
	arena_destroy(args->arena);
}
