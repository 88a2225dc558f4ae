/* Owns the table of commands and the dispatch to them. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#define BIT(option) (1u << CLI_OPTION_##option)

static const char plan_text[] =
	"Reads Kubernetes objects and prints what the scheduler would do with them: which pod goes to which node, and\n"
	"for every group that is not placed the reason and the smallest change that would help. Changes nothing.\n"
	"Reads Nodes, Pods, PodGroups, Queues, Topologies, PriorityClasses, PersistentVolumes and claims, for example\n"
	"from `kubectl get -A -o yaml`. A Scenario may be given too: its objects are used. A PodGroup that breaks a rule\n"
	"blocks only itself; a file that cannot be read stops the plan.";
static const char validate_text[] =
	"Applies the admission rules to objects without a cluster. Prints every problem with file, path and fix, errors\n"
	"first. References (Topology, Queue) are judged against the other objects that were given.";
static const char simulate_text[] =
	"Runs scenarios: objects, actions and expectations in one file. Prints a line per failed case with what was\n"
	"expected and what came out, then `N passed, N failed`. Folders are searched for .yaml, .yml and .json files.";

const struct cli_command cli_commands[] = {
	{
		.name = "plan",
		.operands = "",
		.summary = "show what would be placed where, and why the rest is not",
		.description = plan_text,
		.options = BIT(FILE) | BIT(RECURSIVE) | BIT(OUTPUT) | BIT(ACTIONS) | BIT(BUDGET) | BIT(LOG_LEVEL),
		.outputs = "table wide json yaml",
		.exits = "0  a plan was made, also when groups stay pending\n"
			 "1  a plan was made, but an object was rejected by validation\n"
			 "2  wrong usage, or input that cannot be read (no plan is made)",
		.examples = "platoon plan -f examples/first-gang.yaml\n"
			    "platoon plan -f examples/nested-levels.yaml -o wide\n"
			    "platoon plan -f examples/elastic.yaml -o json",
		.run = cmd_plan,
	},
	{
		.name = "validate",
		.operands = "",
		.summary = "check objects against the admission rules, without a cluster",
		.description = validate_text,
		.options = BIT(FILE) | BIT(RECURSIVE) | BIT(OUTPUT) | BIT(LOG_LEVEL),
		.outputs = "table json yaml",
		.exits = "0  no errors (there may be warnings)\n"
			 "1  at least one object is invalid\n"
			 "2  wrong usage, or input that cannot be read",
		.examples = "platoon validate -f examples/first-gang.yaml\n"
			    "platoon validate -f examples -o json",
		.run = cmd_validate,
	},
	{
		.name = "simulate",
		.operands = "FILE|FOLDER...",
		.summary = "run scenarios and compare with what they expect",
		.description = simulate_text,
		.options = BIT(OUTPUT) | BIT(VERBOSE) | BIT(LOG_LEVEL),
		.outputs = "table json yaml",
		.operand_choices = "@file",
		.exits = "0  every scenario passed\n"
			 "1  at least one scenario failed\n"
			 "2  wrong usage, unreadable input, or no scenario found",
		.examples = "platoon simulate test/scenarios/adversarial\n"
			    "platoon simulate --verbose test/scenarios/slurm",
		.run = cmd_simulate,
	},
	{
		.name = "completion",
		.operands = "bash|zsh|fish",
		.summary = "print the completion script of a shell",
		.description = "Prints a script that completes commands, options and files of platoon in the given shell.",
		.options = 0,
		.outputs = "",
		.operand_choices = "bash zsh fish",
		.exits = "0  the script was printed\n2  wrong usage",
		.examples = "platoon completion bash",
		.run = cmd_completion,
	},
	{
		.name = "help",
		.operands = "[COMMAND]",
		.summary = "explain platoon or one command",
		.description = "Prints the same text as `platoon --help` or `platoon COMMAND --help`.",
		.options = 0,
		.outputs = "",
		.operand_choices = "plan validate simulate completion",
		.exits = "0  the text was printed\n2  there is no such command",
		.examples = "platoon help plan",
		.run = cmd_help,
	},
	{.name = NULL},
};

static int unknown(const char *what, const char *word)
{
	const char *near = cli_suggest_command(word);
	fprintf(stderr, "platoon: unknown %s %s", what, word);
	if (near)
		fprintf(stderr, "; did you mean %s?", near);
	fprintf(stderr, "\nRun `platoon --help` for the list of commands.\n");
	return CLI_USAGE;
}

int cmd_help(struct cli_args *args)
{
	if (args->operand_count == 0) {
		cli_help_overall(stdout);
		return CLI_OK;
	}
	const struct cli_command *command = cli_find_command(args->operands[0]);
	if (!command)
		return unknown("command", args->operands[0]);
	cli_help_command(command, stdout);
	return CLI_OK;
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		cli_help_overall(stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		cli_help_overall(stdout);
		return CLI_OK;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("platoon %s\n", PLATOON_VERSION);
		return CLI_OK;
	}
	if (argv[1][0] == '-')
		return unknown("option", argv[1]);
	const struct cli_command *command = cli_find_command(argv[1]);
	if (!command)
		return unknown("command", argv[1]);
	struct cli_args args;
	bool stop = false;
	int rc = cli_parse(command, argc - 1, argv + 1, &args, &stop);
	if (rc == CLI_OK && !stop)
		rc = command->run(&args);
	cli_args_free(&args);
	return rc;
}

int main(int argc, char **argv)
{
	int rc = run(argc, argv);
	/* Output that did not arrive is no success: a full disk must not look like an empty plan. */
	if (fflush(stdout) != 0 || ferror(stdout)) {
		perror("platoon: cannot write the output");
		return CLI_USAGE;
	}
	return rc;
}
