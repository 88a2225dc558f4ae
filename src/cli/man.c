/* Owns the manual pages: scdoc sources made from the same tables as the help. */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

/* Characters that mean something to scdoc get a backslash. */
static void print_escaped(const char *text, size_t length, FILE *stream)
{
	for (size_t i = 0; i < length; i++) {
		bool first = i == 0 || text[i - 1] == '\n';
		if (strchr("_*\\`<>|[]~", text[i]) || (first && strchr("#-.'", text[i])))
			fputc('\\', stream);
		fputc(text[i], stream);
	}
}

static void print_text(const char *text, FILE *stream)
{
	print_escaped(text, strlen(text), stream);
}

static void print_title(const char *page, FILE *stream)
{
	fprintf(stream, "%s(1) \"platoon %s\" \"Platoon\"\n", page, PLATOON_VERSION);
}

static void print_actions(FILE *stream)
{
	for (int a = 0; a < ACTION_COUNT; a++) {
		fprintf(stream, "\t*%s*: ", cycle_action_name((enum cycle_action)a));
		print_text(cycle_action_description((enum cycle_action)a), stream);
		fputs(".\n\n", stream);
	}
}

static void print_option(const struct cli_command *command, int id, FILE *stream)
{
	const struct cli_option *option = &cli_options[id];
	const char *choices = id == CLI_OPTION_OUTPUT ? command->outputs : option->choices;
	if (option->letter)
		fprintf(stream, "*-%c*, ", option->letter);
	fprintf(stream, "*--%s*", option->name);
	if (option->argument) {
		fputs(" _", stream);
		print_text(option->argument, stream);
		fputc('_', stream);
	}
	fputs("\n\t", stream);
	/* The help of the table is half a sentence. */
	fputc(toupper((unsigned char)option->help[0]), stream);
	print_text(option->help + 1, stream);
	if (choices && choices[0] != '@') {
		fputs(": ", stream);
		print_text(choices, stream);
	}
	fputs(".\n\n", stream);
	if (id == CLI_OPTION_ACTIONS)
		print_actions(stream);
}

/* "0  text" becomes an entry. */
static void print_exits(const char *lines, FILE *stream)
{
	for (const char *at = lines; *at;) {
		size_t length = strcspn(at, "\n"), code = strcspn(at, " "), gap = strspn(at + code, " ");
		fprintf(stream, "*%.*s*\n\t", (int)code, at);
		print_escaped(at + code + gap, length - code - gap, stream);
		fputs("\n\n", stream);
		at += length + (at[length] == '\n');
	}
}

static void print_examples(const char *lines, FILE *stream)
{
	if (!lines[0])
		return;
	fputs("# EXAMPLES\n\n```\n", stream);
	fputs(lines, stream);
	fputs("\n```\n\n", stream);
}

static void print_see_also(const struct cli_command *own, FILE *stream)
{
	fputs("# SEE ALSO\n\n", stream);
	if (own)
		fputs("*platoon*(1)", stream);
	for (const struct cli_command *command = cli_commands; command->name; command++)
		if (command != own)
			fprintf(stream, "%s*platoon-%s*(1)", own || command != cli_commands ? ", " : "", command->name);
	fputs(", *kubectl*(1)\n", stream);
}

static void print_command(const struct cli_command *command, FILE *stream)
{
	char page[64];
	snprintf(page, sizeof(page), "platoon-%s", command->name);
	print_title(page, stream);
	fprintf(stream, "\n# NAME\n\n%s - ", page);
	print_text(command->summary, stream);
	fprintf(stream, "\n\n# SYNOPSIS\n\n*platoon %s* [_OPTION_]...", command->name);
	if (command->operands[0]) {
		fputc(' ', stream);
		print_text(command->operands, stream);
	}
	fputs("\n\n# DESCRIPTION\n\n", stream);
	print_text(command->description, stream);
	fputs("\n\n# OPTIONS\n\n", stream);
	for (int i = 0; i < CLI_OPTIONS; i++)
		if (cli_has_option(command, i))
			print_option(command, i, stream);
	fputs("# EXIT STATUS\n\n", stream);
	print_exits(command->exits, stream);
	print_examples(command->examples, stream);
	print_see_also(command, stream);
}

static void print_overall(FILE *stream)
{
	print_title("platoon", stream);
	fputs("\n# NAME\n\nplatoon - gang scheduler for Kubernetes\n\n# SYNOPSIS\n\n"
	      "*platoon* _COMMAND_ [_OPTION_]...\n\n*kubectl platoon* _COMMAND_ [_OPTION_]...\n\n# DESCRIPTION\n\n",
	      stream);
	print_text(cli_about, stream);
	fputs("\n\n# COMMANDS\n\n", stream);
	for (const struct cli_command *command = cli_commands; command->name; command++) {
		fprintf(stream, "*platoon-%s*(1)\n\t", command->name);
		print_text(command->summary, stream);
		fputs("\n\n", stream);
	}
	fputs("# OPTIONS\n\n*-h*, *--help*\n\tPrint the list of commands.\n\n*-V*, *--version*\n\tPrint the "
	      "version.\n\n"
	      "# ENVIRONMENT\n\n*KUBECONFIG*\n\tThe kubeconfig files of the cluster, as for kubectl.\n\n"
	      "*NO\\_COLOR*\n\tWhen set, nothing is coloured.\n\n# EXIT STATUS\n\n",
	      stream);
	print_exits(cli_exit_codes, stream);
	print_see_also(NULL, stream);
}

void cli_man(const struct cli_command *command, FILE *stream)
{
	if (command)
		print_command(command, stream);
	else
		print_overall(stream);
}
