/* Owns the help texts, all of them generated from the tables, and the command `help`. */
#include "cli/cli.h"
#include "cli/output.h"

#include <stdio.h>
#include <string.h>

const char *cli_program = "platoon";
const char cli_about[] =
	"Platoon schedules gangs of pods on Kubernetes: whole groups with topology constraints at every level.";
const char cli_exit_codes[] = "0    success\n"
			      "1    invalid objects, failed scenarios, or something that waits\n"
			      "2    wrong usage or unreadable input\n"
			      "130  ended by Ctrl-C before it was done";

static void print_indented(const char *lines, const char *indent, FILE *stream)
{
	for (const char *at = lines; *at;) {
		size_t length = strcspn(at, "\n");
		fprintf(stream, "%s%.*s\n", indent, (int)length, at);
		at += length + (at[length] == '\n');
	}
}

void cli_help_overall(FILE *stream)
{
	fprintf(stream, "%s\n\nUsage: %s COMMAND [OPTION]...\n\nCommands:\n", cli_about, cli_program);
	for (const struct cli_command *command = cli_commands; command->name; command++)
		fprintf(stream, "  %-18s%s\n", command->name, command->summary);
	fputs("\nOptions:\n"
	      "  -h, --help      print this help\n"
	      "  -V, --version   print the version\n\n"
	      "Exit codes:\n",
	      stream);
	print_indented(cli_exit_codes, "  ", stream);
	fprintf(stream,
	        "\nColours are used on a terminal only; set NO_COLOR to turn them off.\n"
	        "`%s COMMAND --help` explains a command.\n",
	        cli_program);
}

static void print_option(const struct cli_command *command, int id, FILE *stream)
{
	const struct cli_option *option = &cli_options[id];
	char left[64], letter[8] = "    ";
	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
	         option->argument ? option->argument : "");
	fprintf(stream, "  %-23s %s", left, option->help);
	if (id == CLI_OPTION_OUTPUT)
		fprintf(stream, ": %s (default %.*s)", command->outputs, (int)strcspn(command->outputs, " "),
		        command->outputs);
	else if (option->choices && option->choices[0] != '@')
		fprintf(stream, ": %s", option->choices);
	fputc('\n', stream);
}

void cli_help_command(const struct cli_command *command, FILE *stream)
{
	fprintf(stream, "platoon %s: %s\n\nUsage: %s %s [OPTION]...%s%s\n\n%s\n\nOptions:\n", command->name,
	        command->summary, cli_program, command->name, command->operands[0] ? " " : "", command->operands,
	        command->description);
	for (int i = 0; i < CLI_OPTIONS; i++)
		if (cli_has_option(command, i))
			print_option(command, i, stream);
	fputs("\nExit codes:\n", stream);
	print_indented(command->exits, "  ", stream);
	if (command->examples[0])
		fputs("\nExamples:\n", stream);
	print_indented(command->examples, "  ", stream);
}

int cli_unknown(const char *what, const char *word)
{
	const char *near = cli_suggest_command(word);
	output_line(stderr, "platoon: unknown %s %.200s%s%s%s", what, word, near ? "; did you mean " : "",
	            near ? near : "", near ? "?" : "");
	fprintf(stderr, "Run `%s --help` for the list of commands.\n", cli_program);
	return CLI_USAGE;
}

int cmd_help(struct cli_args *args)
{
	if (args->reference)
		return cli_reference(args);
	const struct cli_command *command = args->operand_count > 0 ? cli_find_command(args->operands[0]) : NULL;
	if (args->operand_count > 0 && !command)
		return cli_unknown("command", args->operands[0]);
	if (args->man)
		cli_man(command, stdout);
	else if (command)
		cli_help_command(command, stdout);
	else
		cli_help_overall(stdout);
	return CLI_OK;
}
