/* The command line: one table of commands and one table of options, from which parsing, help and completion come. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/log.h"
#include "cli/draw.h"
#include "schedule/plan.h"
#include "loop/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes of every command. */
enum cli_exit {
	CLI_OK = 0,
	CLI_FOUND = 1,         /* it ran, and found what it is there to find: invalid objects, failed scenarios */
	CLI_USAGE = 2,         /* wrong usage or unreadable input */
	CLI_INTERRUPTED = 130, /* Ctrl-C ended it before it was done */
};

enum cli_option_id {
	CLI_OPTION_FILE,
	CLI_OPTION_RECURSIVE,
	CLI_OPTION_OUTPUT,
	CLI_OPTION_ACTIONS,
	CLI_OPTION_BUDGET,
	CLI_OPTION_PLACEMENT,
	CLI_OPTION_STARVATION_AFTER,
	CLI_OPTION_NODES,
	CLI_OPTION_NODES_FILE,
	CLI_OPTION_GPUS,
	CLI_OPTION_GPUS_AS,
	CLI_OPTION_HEARTBEAT,
	CLI_OPTION_DATA_DIR,
	CLI_OPTION_PORT,
	CLI_OPTION_IN_MEMORY,
	CLI_OPTION_UNTIL_PLACED,
	CLI_OPTION_KUBECONFIG,
	CLI_OPTION_CONTEXT,
	CLI_OPTION_NAMESPACE,
	CLI_OPTION_SEEDS,
	CLI_OPTION_FAULTS,
	CLI_OPTION_SCHEDULER_NAME,
	CLI_OPTION_PROFILE,
	CLI_OPTION_LEADER_ELECT,
	CLI_OPTION_SIMULATE_KUBELETS,
	CLI_OPTION_LISTEN,
	CLI_OPTION_CONFIG,
	CLI_OPTION_PRINT_CONFIG,
	CLI_OPTION_IMAGE,
	CLI_OPTION_REPORT,
	CLI_OPTION_COMPARE,
	CLI_OPTION_MAN,
	CLI_OPTION_REFERENCE,
	CLI_OPTION_REPLICAS,
	CLI_OPTION_WEBHOOKS,
	CLI_OPTION_WEBHOOK_URL,
	CLI_OPTION_SERVICE_MONITOR,
	CLI_OPTION_ONLY,
	CLI_OPTION_VALUES,
	CLI_OPTION_CHART,
	CLI_OPTION_ONCE,
	CLI_OPTION_FOR,
	CLI_OPTION_MAP,
	CLI_OPTION_COLOR,
	CLI_OPTION_VERBOSE,
	CLI_OPTION_TO,
	CLI_OPTION_LOG_LEVEL,
	CLI_OPTION_HELP,
	CLI_OPTIONS,
};

struct cli_args;

struct cli_option {
	const char *name;
	char letter;          /* 0: none */
	const char *argument; /* NULL: takes none */
	/* For completion: words, or "@file", "@context", "@object", "@command"; NULL: none. */
	const char *choices;
	const char *help;
	/* Where it goes, one of them: the place in cli_args of a bool that becomes true, or of a text; or what reads the
	 * value there, as options.h says. */
	size_t flag, text;
	int (*take)(struct cli_args *args, int id, const char *value);
};

enum cli_output { CLI_OUTPUT_TABLE, CLI_OUTPUT_WIDE, CLI_OUTPUT_JSON, CLI_OUTPUT_YAML };

/* What `up` builds: zones x racks per zone x nodes per rack. */
struct cli_shape {
	int zones, racks, nodes, gpus;
};

struct cli_args {
	const struct cli_command *command;
	const char **files;
	size_t file_count;
	bool recursive, verbose, map, once, man, reference;
	enum draw_when colour;
	enum cli_output output;
	enum cycle_action *actions;
	size_t action_count;
	const char *report;  /* file of the page; NULL: none */
	const char *compare; /* see policies.h; NULL: nothing to compare with */
	struct settings
		settings; /* the usual ones, with what --config says instead, and what flags say instead of both */
	bool strategy_given, schedulers_given;
	bool places_alone;            /* no other scheduler places pods of the cluster */
	const char *starvation_after; /* as it was given, NULL: it was not */
	struct cli_shape shape;
	const char *nodes_file; /* NULL: of the shape */
	int heartbeat;          /* seconds */
	bool follow_given;      /* --for */
	int64_t follow_ns;      /* 0: until it is ended */
	bool shape_given, gpus_given, gpus_as_devices;
	bool has_seeds;
	uint64_t seed_first, seed_last;
	unsigned faults; /* bits of fault_kind */
	const char *data_dir;
	uint16_t port;
	bool in_memory, until_placed;
	bool rejected;                                 /* an object of the input cannot be used, which was told */
	const char *kubeconfig, *context, *namespace_; /* NULL: as kubectl would choose */
	const char *image, *only, *values_file, *chart, *webhook_url;
	int replicas; /* 0: as many as usual */
	bool webhooks, webhooks_given, service_monitor;
	const char *config;  /* file; NULL: none */
	const char *profile; /* RUN_PROFILE_...; NULL: that of the file, or the usual one */
	const char *to;      /* format of a translation */
	bool print_config, log_level_given;
	const char *listen; /* NULL: loopback, the usual port or a free one */
	bool leader_elect, simulate_kubelets;
	struct logger logger;
	char **operands;
	size_t operand_count;
	struct arena *arena; /* lives as long as the command */
};

struct cli_command {
	const char *name;
	const char *operands; /* for the usage line, "" when it takes none */
	const char *summary;  /* one line */
	const char *description;
	uint64_t options;            /* bits of cli_option_id; --help is always there */
	const char *outputs;         /* values of -o, space separated; "" without -o */
	const char *operand_choices; /* as in cli_option */
	const char *exits;
	bool judges;          /* it says what is wrong with the workloads of files */
	const char *examples; /* lines, each a command that can be run from the source folder */
	int (*run)(struct cli_args *args);
};

extern const struct cli_option cli_options[CLI_OPTIONS];
extern const struct cli_command cli_commands[]; /* ends with a NULL name */

/* options.c: fills *args; CLI_OK to go on, otherwise the code to exit with. *stop says that help was printed. */
int cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args, bool *stop);
void cli_args_free(struct cli_args *args);
bool cli_has_option(const struct cli_command *command, int id);
/* How the user calls it: "platoon", or "kubectl platoon" as a plugin of kubectl. Set by main. */
extern const char *cli_program;
const struct cli_command *cli_find_command(const char *name);
/* The nearest command, NULL when none is near. */
const char *cli_suggest_command(const char *word);

/* help.c */
void cli_help_overall(FILE *stream);
void cli_help_command(const struct cli_command *command, FILE *stream);
/* Tells of an unknown command or option, with the nearest known one; CLI_USAGE. */
int cli_unknown(const char *what, const char *word);
/* What the program is, and the exit codes of all commands, a line each. */
extern const char cli_about[], cli_exit_codes[];
/* man.c: the manual page of a command, NULL: of the program, as a source for scdoc. */
void cli_man(const struct cli_command *command, FILE *stream);
/* reference.c: the fields of one kind of ours, or the list of these kinds. */
int cli_reference(struct cli_args *args);
/* A table of the kinds in the registry, on standard output. */
void cli_reference_kinds(struct arena *arena);
/* reference_pods.c: the page of what a pod can ask for */
void cli_reference_pods(struct arena *arena);
/* complete.c: what a shell asks while a line is typed. */
int cli_complete(int count, char **words);

/* input.c: tells of all problems on stderr, one a line. */
void cli_print_problems(const struct problems *problems);
/* input.c: loads every -f (or operand); prints all problems to stderr. CLI_OK or CLI_USAGE. */
int cli_load(struct cli_args *args, const char *const *paths, size_t count, bool recursive,
             struct manifests *manifests);

/* cluster.c: everything a plan needs from the cluster of the kubeconfig. Sets args->namespace_ to that of the context
 * when none was given. */
int cli_load_cluster(struct cli_args *args, struct manifests *into);
/* The ConfigMap with the defaults of kinds, which workloads are grouped by; when it cannot be read it is left out. */
void cli_load_defaults(struct cli_args *args, struct manifests *into);
/* Whether the owners of a pod of ours say by what it is placed: nobody has written that down. */
bool cli_is_unmarked(const struct settings *settings, const struct manifest *pod);
/* Adds the workloads of a namespace and what they make that is no pod. What cannot be read is left out. */
void cli_load_owners(struct cli_args *args, const char *namespace_, struct manifests *into);
/* What stands above the single pods among the objects of the cluster, about which no PodGroup says anything. */
void cli_load_above(struct cli_args *args, const struct manifests *objects, struct manifests *into);
/* input.c: the same for the objects of cli_load_world: from the cluster, if it was read, and from the files. */
void cli_load_terms(struct cli_args *args, const struct manifests *objects, struct manifests *into);
/* input.c: whether the live cluster is read at all. */
bool cli_is_live(const struct cli_args *args);
/* input.c: what a plan is made of: the files of -f, or the live cluster, or the cluster with the files in place of
 * objects of the same name. */
int cli_load_world(struct cli_args *args, struct manifests *objects);
/* input.c: of the first `live` objects those that one of the others replaces go. */
void cli_let_files_win(struct manifests *objects, size_t live);

int cmd_plan(struct cli_args *args);
int cmd_why(struct cli_args *args);
int cmd_suggest(struct cli_args *args);
int cmd_validate(struct cli_args *args);
int cmd_translate(struct cli_args *args);
int cmd_simulate(struct cli_args *args);
int cmd_up(struct cli_args *args);
int cmd_record(struct cli_args *args);
int cmd_top(struct cli_args *args);
int cmd_run(struct cli_args *args);
int cmd_install(struct cli_args *args);
int cmd_completion(struct cli_args *args);
int cmd_help(struct cli_args *args);

#endif
