/* Owns the completion scripts for bash, zsh and fish, generated from the tables. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static bool offers(const struct cli_command *command, int id)
{
	return id == CLI_OPTION_HELP || (command->options & (UINT64_C(1) << id)) != 0;
}

static const char *choices_of(const struct cli_command *command, int id)
{
	return id == CLI_OPTION_OUTPUT ? command->outputs : cli_options[id].choices;
}

static void bash_values(const struct cli_command *command, FILE *stream)
{
	fputs("\t\tcase \"$previous\" in\n", stream);
	for (int i = 0; i < CLI_OPTIONS; i++) {
		const char *choices = choices_of(command, i);
		if (!offers(command, i) || !cli_options[i].argument)
			continue;
		fprintf(stream, "\t\t--%s", cli_options[i].name);
		if (cli_options[i].letter)
			fprintf(stream, "|-%c", cli_options[i].letter);
		if (choices && choices[0] == '@')
			fputs(") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", stream);
		else
			fprintf(stream, ") COMPREPLY=($(compgen -W \"%s\" -- \"$word\")); return ;;\n",
			        choices ? choices : "");
	}
	fputs("\t\tesac\n", stream);
}

static void complete_bash(FILE *stream)
{
	fputs("# bash completion for platoon\n_platoon() {\n"
	      "\tlocal word=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
	      "\tCOMPREPLY=()\n\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -W \"",
	      stream);
	for (const struct cli_command *command = cli_commands; command->name; command++)
		fprintf(stream, "%s ", command->name);
	fputs("--help --version\" -- \"$word\"))\n\t\treturn\n\tfi\n\tcase \"${COMP_WORDS[1]}\" in\n", stream);
	for (const struct cli_command *command = cli_commands; command->name; command++) {
		const char *operands = command->operand_choices;
		fprintf(stream, "\t%s)\n", command->name);
		bash_values(command, stream);
		fputs("\t\tCOMPREPLY=($(compgen -W \"", stream);
		for (int i = 0; i < CLI_OPTIONS; i++)
			if (offers(command, i))
				fprintf(stream, "--%s ", cli_options[i].name);
		fprintf(stream, "%s\" -- \"$word\"))\n", operands && operands[0] != '@' ? operands : "");
		if (operands && operands[0] == '@')
			fputs("\t\tcase \"$word\" in -*) ;; *) COMPREPLY=($(compgen -f -- \"$word\")) ;; esac\n",
			      stream);
		fputs("\t\t;;\n", stream);
	}
	fputs("\tesac\n}\ncomplete -o filenames -F _platoon platoon\n", stream);
}

static void zsh_option(const struct cli_command *command, int id, FILE *stream)
{
	const struct cli_option *option = &cli_options[id];
	const char *choices = choices_of(command, id);
	char action[128] = "";
	if (option->argument)
		snprintf(action, sizeof(action), ":%s:%s%s%s", option->argument,
		         choices && choices[0] == '@' ? "_files"
		         : choices                    ? "("
		                                      : "",
		         choices && choices[0] != '@' ? choices : "", choices && choices[0] != '@' ? ")" : "");
	if (option->letter)
		fprintf(stream, " '*-%c[%s]%s'", option->letter, option->help, action);
	fprintf(stream, " '*--%s[%s]%s'", option->name, option->help, action);
}

static void complete_zsh(FILE *stream)
{
	fputs("#compdef platoon\n_platoon() {\n\tlocal -a commands\n\tcommands=(\n", stream);
	for (const struct cli_command *command = cli_commands; command->name; command++)
		fprintf(stream, "\t\t'%s:%s'\n", command->name, command->summary);
	fputs("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
	      "\tlocal command=${words[2]}\n\tshift words\n\t(( CURRENT-- ))\n\tcase $command in\n",
	      stream);
	for (const struct cli_command *command = cli_commands; command->name; command++) {
		const char *operands = command->operand_choices;
		fprintf(stream, "\t%s) _arguments", command->name);
		for (int i = 0; i < CLI_OPTIONS; i++)
			if (offers(command, i))
				zsh_option(command, i, stream);
		if (operands && operands[0] == '@')
			fputs(" '*:file:_files'", stream);
		else if (operands)
			fprintf(stream, " '*:word:(%s)'", operands);
		fputs(" ;;\n", stream);
	}
	fputs("\tesac\n}\n_platoon \"$@\"\n", stream);
}

static void complete_fish(FILE *stream)
{
	fputs("# fish completion for platoon\ncomplete -c platoon -f\n"
	      "complete -c platoon -n __fish_use_subcommand -l help -s h -d 'print this help'\n"
	      "complete -c platoon -n __fish_use_subcommand -l version -s V -d 'print the version'\n",
	      stream);
	for (const struct cli_command *command = cli_commands; command->name; command++) {
		const char *operands = command->operand_choices;
		fprintf(stream, "complete -c platoon -n __fish_use_subcommand -a %s -d '%s'\n", command->name,
		        command->summary);
		for (int i = 0; i < CLI_OPTIONS; i++) {
			const struct cli_option *option = &cli_options[i];
			const char *choices = choices_of(command, i);
			if (!offers(command, i))
				continue;
			fprintf(stream, "complete -c platoon -n '__fish_seen_subcommand_from %s' -l %s", command->name,
			        option->name);
			if (option->letter)
				fprintf(stream, " -s %c", option->letter);
			if (option->argument && choices && choices[0] == '@')
				fputs(" -r -F", stream);
			else if (option->argument)
				fprintf(stream, " -x -a '%s'", choices ? choices : "");
			fprintf(stream, " -d '%s'\n", option->help);
		}
		if (operands)
			fprintf(stream, "complete -c platoon -n '__fish_seen_subcommand_from %s' %s%s%s\n",
			        command->name, operands[0] == '@' ? "-F" : "-a '", operands[0] == '@' ? "" : operands,
			        operands[0] == '@' ? "" : "'");
	}
}

bool cli_completion(const char *shell, FILE *stream)
{
	if (strcmp(shell, "bash") == 0)
		complete_bash(stream);
	else if (strcmp(shell, "zsh") == 0)
		complete_zsh(stream);
	else if (strcmp(shell, "fish") == 0)
		complete_fish(stream);
	else
		return false;
	return true;
}

int cmd_completion(struct cli_args *args)
{
	static const char *const shells[] = {"bash", "zsh", "fish"};
	if (args->operand_count == 1 && cli_completion(args->operands[0], stdout))
		return CLI_OK;
	const char *near = args->operand_count == 1 ? cli_suggest(args->operands[0], shells, 3) : NULL;
	fprintf(stderr, "platoon completion: give one shell: bash, zsh or fish%s%s%s\n", near ? "; did you mean " : "",
	        near ? near : "", near ? "?" : "");
	return CLI_USAGE;
}
