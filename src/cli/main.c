/* Owns the dispatch to the commands. */
#include "cli/cli.h"
#include "cli/run_config.h"

#include <stdio.h>
#include <string.h>

static int run(int argc, char **argv)
{
	if (argc < 2) {
		cli_help_overall(stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "__complete") == 0)
		return cli_complete(argc - 2, argv + 2);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		cli_help_overall(stdout);
		return CLI_OK;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("platoon %s\n", PLATOON_VERSION);
		return CLI_OK;
	}
	if (argv[1][0] == '-')
		return cli_unknown("option", argv[1]);
	const struct cli_command *command = cli_find_command(argv[1]);
	if (!command)
		return cli_unknown("command", argv[1]);
	struct cli_args args;
	bool stop = false;
	int rc = cli_parse(command, argc - 1, argv + 1, &args, &stop);
	/* `run` and `up` read it again and again. */
	bool given = args.config || (args.profile && cli_has_option(command, CLI_OPTION_CONFIG));
	if (rc == CLI_OK && !stop && given && command->run != cmd_run && command->run != cmd_up)
		rc = run_config_use(&args);
	if (rc == CLI_OK && !stop)
		rc = command->run(&args);
	cli_args_free(&args);
	return rc;
}

/* As kubectl calls a plugin: by the name of the file. */
static int run_as(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL, *name = slash      ? slash + 1
	                                                                     : argc > 0 ? argv[0]
	                                                                                : "";
	if (strcmp(name, "kubectl_complete-platoon") == 0)
		return cli_complete(argc - 1, argv + 1);
	if (strcmp(name, "kubectl-platoon") == 0)
		cli_program = "kubectl platoon";
	return run(argc, argv);
}

int main(int argc, char **argv)
{
	int rc = run_as(argc, argv);
	/* Output that did not arrive is no success: a full disk must not look like an empty plan. */
	if (fflush(stdout) != 0 || ferror(stdout)) {
		perror("platoon: cannot write the output");
		return CLI_USAGE;
	}
	return rc;
}
