/* Owns reading manifests for a command and telling the user everything that is wrong with the files. */
#include "cli/cli.h"
#include "cli/output.h"

#include <stdio.h>

void cli_print_problems(const struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->items[i];
		output_line(stderr, "%s%s%s%s%s%s%s", problem->path, problem->path[0] ? ": " : "",
		            problem->severity == SEVERITY_WARNING ? "warning: " : "error: ", problem->message,
		            problem->fix ? " (" : "", problem->fix ? problem->fix : "", problem->fix ? ")" : "");
	}
}

int cli_load(struct cli_args *args, const char *const *paths, size_t count, bool recursive, struct manifests *manifests)
{
	struct problems problems = {.arena = args->arena};
	for (size_t i = 0; i < count; i++)
		manifests_load(manifests, paths[i], recursive, &problems);
	cli_print_problems(&problems);
	if (problems.errors > 0)
		return CLI_USAGE;
	char number[32];
	snprintf(number, sizeof(number), "%zu", manifests->count);
	log_write(&args->logger, LOG_DEBUG, 0, "read manifests", "objects", number, NULL);
	return CLI_OK;
}
