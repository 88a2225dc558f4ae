/* Owns the table of commands. */
#include "cli/cli.h"

#define BIT(option) (UINT64_C(1) << CLI_OPTION_##option)

static const char plan_text[] =
	"Reads Kubernetes objects and prints what the scheduler would do with them: which pod goes to which node, and\n"
	"for every group that is not placed the reason and the smallest change that would help. Changes nothing.\n"
	"Objects come from files (-f), from the cluster of the kubeconfig (without -f), or from both (-f and\n"
	"--kubeconfig or --context): then the files stand in for objects of the same name.\n"
	"Workloads such as Jobs stand for the pods they would make, unless those are there.\n"
	"Reads Nodes, Pods, PodGroups, Queues, Topologies, PriorityClasses, PersistentVolumes and claims, for example\n"
	"from `kubectl get -A -o yaml`. A Scenario may be given too: its objects are used. A PodGroup that breaks a "
	"rule\n"
	"blocks only itself; a file that cannot be read stops the plan.";
static const char why_text[] =
	"Explains one object with the words of the scheduler, the same that conditions have: the level that cannot be\n"
	"satisfied, the domain that came closest, the resource that is missing, and the smallest change that would\n"
	"help. For what is placed: where each part of it sits. KIND is podgroup, pod or queue, or that of a workload\n"
	"(job, tfjob, ...), which stands for its PodGroup. Without one\n"
	"everything that waits is listed with its first reason. Reads the cluster of the kubeconfig, or files with -f.";
static const char validate_text[] =
	"Applies the admission rules to objects without a cluster. Prints every problem with file, path and fix, "
	"errors\n"
	"first. References (Topology, Queue) are judged against the other objects that were given.";
static const char translate_text[] = "Prints groups of pods as manifests of another scheduler: KAI-Scheduler (kai), "
				     "Kubernetes itself (native), Volcano,\n"
				     "or batch scripts of Slurm. Reads groups of every kind that Platoon knows, "
				     "whoever places their pods: its own, those\n"
				     "of other schedulers, and workloads, which stand for the pods they would make. "
				     "What has no counterpart is told on\n"
				     "standard error, a line each, with the path of the field. Reads no cluster.";
static const char suggest_text[] =
	"Reads RoleBasedGroups and prints a coordination for each: a segment has the ratio of the replicas, as many "
	"times\n"
	"as the domains of the cluster can hold. Nodes and a ClusterTopology or Topology among the files say what "
	"these "
	"are;\n"
	"without Nodes only the ratio counts. With -o yaml the text can be pasted below spec.";
static const char simulate_text[] =
	"Runs scenarios: objects, actions and expectations in one file. Prints a line per failed case with what was\n"
	"expected and what came out, then `N passed, N failed`. Folders are searched for .yaml, .yml and .json files.\n"
	"A scenario with steps runs the whole cluster in virtual time: API, controllers, scheduler and kubelets.\n"
	"With --seeds every seed makes a cluster, workloads and faults of its own; rules that must always hold are "
	"checked\n"
	"after every turn. A seed that fails prints what led to it and how to run it again; it does so exactly. With "
	"a\n"
	"FILE the objects and steps of its scenario are used.\n"
	"A FILE that ends in .csv is a trace: a line per instance, with app_name, role, cpu_request, gpu_request,\n"
	"creation_time, deletion_time or duration. It is replayed on the nodes of --nodes or --nodes-file. The objects "
	"of\n"
	"a cluster with its nodes are replayed the same way, such as those of `platoon record`: pods arrive when they "
	"were\n"
	"made.";
static const char up_text[] =
	"Runs a whole cluster in one process: the Kubernetes API on 127.0.0.1, simulated nodes whose pods start and "
	"end\n"
	"by themselves, controllers that make the pods of workloads, and the scheduler. Plain kubectl works with the\n"
	"kubeconfig it writes. Objects are kept in the data folder, and the next start goes on with them; nothing "
	"that\n"
	"exists is made again. Objects of -f are applied at the start. Ctrl-C ends it.";

static const char top_text[] =
	"Shows a cluster live: the map of its nodes with who is on them, gangs, queues, and what waits with the "
	"reason.\n"
	"The cluster is that of the kubeconfig, also one of `platoon up`. Keys: 1 to 4 choose the view, / filters, s "
	"sorts,\n"
	"? lists all keys, q ends. Writes nothing. With --once, or -o json, everything is printed once.";
static const char record_text[] =
	"Prints the nodes, pods, PodGroups, queues, topologies and volumes of a cluster without anything that says "
	"whose "
	"they\n"
	"are: names, label values and label keys of your own become hashes with a random salt that is kept nowhere; "
	"images,\n"
	"commands, environments and other annotations are left out. Amounts, minimums, rules, order of arrival and "
	"the\n"
	"topology stay, so `platoon plan -f` and `platoon simulate --report` work on the file as on the cluster. Read "
	"it\n"
	"before you give it away. The cluster is that of the kubeconfig; with -f objects of files are taken.\n"
	"With --for it goes on with what arrives and leaves, a line of JSON for each, written at once: it may be "
	"ended\n"
	"in any way, also by force, and what was seen until then is in the file.";
static const char run_text[] = "Runs the controllers and the scheduler on the cluster of a kubeconfig, or on the "
			       "cluster whose pod this is. Acts on\n"
			       "pods whose schedulerName is ours; other pods count as usage. Needs the definitions "
			       "that `platoon install` prints.\n"
			       "Keeps nothing of its own: it may be ended and started at any time. Of several replicas "
			       "with --leader-elect one leads, the others stand by.";
static const char install_text[] =
	"Prints everything a cluster needs to run Platoon, for `kubectl apply -f -`: a namespace with restricted pod\n"
	"security, definitions of the kinds, a service account with the rights it needs and no others, priority\n"
	"classes, a Deployment of two replicas with its configuration, and webhooks. --chart writes the Helm chart\n"
	"from which all of this is made.";

const struct cli_command cli_commands[] = {
	{
		.name = "plan",
		.operands = "",
		.summary = "show what would be placed where, and why the rest is not",
		.description = plan_text,
		.options = BIT(FILE) | BIT(RECURSIVE) | BIT(KUBECONFIG) | BIT(CONTEXT) | BIT(OUTPUT) | BIT(ACTIONS) |
                           BIT(CONFIG) | BIT(PROFILE) | BIT(SCHEDULER_NAME) | BIT(BUDGET) | BIT(PLACEMENT) |
                           BIT(STARVATION_AFTER) | BIT(MAP) | BIT(COLOR) | BIT(LOG_LEVEL),
		.outputs = "table wide json yaml",
		.judges = true,
		.exits = "0  a plan was made, also when groups stay pending or blocked\n"
			 "1  a plan was made, but an object was rejected by validation\n"
			 "2  wrong usage, or files or a cluster that cannot be read (no plan is made)",
		.examples = "platoon plan -f examples/first-gang.yaml\n"
			    "platoon plan -f examples/nested-levels.yaml -o wide\n"
			    "platoon plan -f examples/elastic.yaml -o json",
		.run = cmd_plan,
	},
	{
		.name = "why",
		.operands = "[KIND/NAME]",
		.summary = "explain why something is placed as it is, or not placed",
		.description = why_text,
		.options = BIT(FILE) | BIT(RECURSIVE) | BIT(KUBECONFIG) | BIT(CONTEXT) | BIT(NAMESPACE) | BIT(OUTPUT) |
                           BIT(CONFIG) | BIT(PROFILE) | BIT(SCHEDULER_NAME) | BIT(BUDGET) | BIT(PLACEMENT) |
                           BIT(STARVATION_AFTER) | BIT(MAP) | BIT(COLOR) | BIT(LOG_LEVEL),
		.outputs = "table wide json yaml",
		.operand_choices = "@object",
		.judges = true,
		.exits = "0  nothing about it waits\n"
			 "1  something about it waits or is blocked\n"
			 "2  wrong usage, no such object, or files or a cluster that cannot be read",
		.examples = "platoon why podgroup/chat -f examples/first-gang.yaml\n"
			    "platoon why queue/research -f examples/elastic.yaml -o json",
		.run = cmd_why,
	},
	{
		.name = "validate",
		.operands = "",
		.summary = "check objects against the admission rules, without a cluster",
		.description = validate_text,
		.options = BIT(FILE) | BIT(RECURSIVE) | BIT(OUTPUT) | BIT(COLOR) | BIT(LOG_LEVEL),
		.outputs = "table json yaml",
		.exits = "0  nothing is wrong with what was checked\n"
			 "1  there are errors or warnings\n"
			 "2  wrong usage, or input that cannot be read",
		.examples = "platoon validate -f examples/first-gang.yaml\n"
			    "platoon validate -f examples/elastic.yaml -o json",
		.run = cmd_validate,
	},
	{
		.name = "translate",
		.operands = "",
		.summary = "print groups as manifests of another scheduler, and what is lost",
		.description = translate_text,
		.options = BIT(FILE) | BIT(RECURSIVE) | BIT(TO) | BIT(OUTPUT) | BIT(LOG_LEVEL),
		.outputs = "yaml json",
		.exits = "0  everything has a counterpart\n"
			 "1  something is lost, an object is invalid, or there is no group\n"
			 "2  wrong usage, or input that cannot be read",
		.examples = "platoon translate -f examples/leaderworkerset.yaml --to native\n"
			    "platoon translate -f examples/team-queues.yaml --to volcano",
		.run = cmd_translate,
	},
	{
		.name = "suggest-segments",
		.operands = "",
		.summary = "suggest a segment size for RoleBasedGroups",
		.description = suggest_text,
		.options = BIT(FILE) | BIT(RECURSIVE) | BIT(OUTPUT) | BIT(LOG_LEVEL),
		.outputs = "table json yaml",
		.exits = "0  a suggestion was printed for every group\n"
			 "1  a RoleBasedGroup is invalid\n"
			 "2  wrong usage, no RoleBasedGroup, or input that cannot be read",
		.examples = "platoon suggest-segments -f examples/rbg-segments.yaml\n"
			    "platoon suggest-segments -o yaml -f examples/rbg-segments.yaml",
		.run = cmd_suggest,
	},
	{
		.name = "simulate",
		.operands = "FILE|FOLDER...",
		.summary = "run scenarios, traces, or random clusters with faults, in virtual time",
		.description = simulate_text,
		.options = BIT(REPORT) | BIT(COMPARE) | BIT(ACTIONS) | BIT(STARVATION_AFTER) | BIT(KUBECONFIG) |
                           BIT(CONTEXT) | BIT(SEEDS) | BIT(FAULTS) | BIT(NODES) | BIT(NODES_FILE) | BIT(GPUS) |
                           BIT(CONFIG) | BIT(PROFILE) | BIT(SCHEDULER_NAME) | BIT(BUDGET) | BIT(PLACEMENT) |
                           BIT(OUTPUT) | BIT(VERBOSE) | BIT(COLOR) | BIT(LOG_LEVEL),
		.outputs = "table json yaml",
		.operand_choices = "@file",
		.exits = "0    every scenario or seed passed\n"
			 "1    at least one failed\n"
			 "2    wrong usage, unreadable input, or no scenario found\n"
			 "130  ended by Ctrl-C; nothing failed so far",
		.examples = "platoon simulate test/scenarios/adversarial\n"
			    "platoon simulate --seeds 1..20 --faults crash,node-flap\n"
			    "platoon simulate --verbose test/scenarios/slurm\n"
			    "platoon simulate examples/trace.csv --nodes 1x2x8 --compare allocate",
		.run = cmd_simulate,
	},
	{
		.name = "up",
		.operands = "",
		.summary = "run API, scheduler and simulated nodes in one process, for kubectl",
		.description = up_text,
		.options = BIT(FILE) | BIT(RECURSIVE) | BIT(NODES) | BIT(NODES_FILE) | BIT(GPUS) | BIT(GPUS_AS) |
                           BIT(HEARTBEAT) | BIT(DATA_DIR) | BIT(PORT) | BIT(IN_MEMORY) | BIT(UNTIL_PLACED) |
                           BIT(CONFIG) | BIT(PROFILE) | BIT(BUDGET) | BIT(PLACEMENT) | BIT(STARVATION_AFTER) |
                           BIT(LOG_LEVEL),
		.outputs = "",
		.exits = "0  ended by Ctrl-C or SIGTERM, or by --until-placed with everything running\n"
			 "1  an object of -f was refused, the API failed, or --until-placed saw a group that does not "
			 "run\n"
			 "2  wrong usage, unreadable input, or a folder or port that cannot be used",
		.examples = "platoon up --in-memory --port 0 --until-placed -f examples/up-gang.yaml",
		.run = cmd_up,
	},
	{
		.name = "top",
		.operands = "",
		.summary = "show nodes, gangs, queues and what waits, live in the terminal",
		.description = top_text,
		.options = BIT(KUBECONFIG) | BIT(CONTEXT) | BIT(FILE) | BIT(RECURSIVE) | BIT(ONCE) | BIT(OUTPUT) |
                           BIT(MAP) | BIT(CONFIG) | BIT(PROFILE) | BIT(SCHEDULER_NAME) | BIT(BUDGET) | BIT(PLACEMENT) |
                           BIT(STARVATION_AFTER) | BIT(COLOR) | BIT(LOG_LEVEL),
		.outputs = "table json yaml",
		.exits = "0  ended by q or a signal, or printed once\n"
			 "2  wrong usage, no terminal, or no way to reach a cluster",
		.examples = "platoon top --once -f examples/first-gang.yaml",
		.run = cmd_top,
	},
	{
		.name = "record",
		.operands = "",
		.summary = "print a cluster without its names, for a plan or a simulation elsewhere",
		.description = record_text,
		.options = BIT(KUBECONFIG) | BIT(CONTEXT) | BIT(FOR) | BIT(FILE) | BIT(RECURSIVE) | BIT(OUTPUT) |
                           BIT(CONFIG) | BIT(PROFILE) | BIT(SCHEDULER_NAME) | BIT(LOG_LEVEL),
		.outputs = "json yaml",
		.exits = "0  the objects were printed, or --for ended by its time or by Ctrl-C\n"
			 "2  wrong usage, or files or a cluster that cannot be read",
		.examples = "platoon record -f examples/first-gang.yaml",
		.run = cmd_record,
	},
	{
		.name = "run",
		.operands = "",
		.summary = "schedule a real cluster",
		.description = run_text,
		.options = BIT(KUBECONFIG) | BIT(CONTEXT) | BIT(NAMESPACE) | BIT(SCHEDULER_NAME) | BIT(LEADER_ELECT) |
                           BIT(SIMULATE_KUBELETS) | BIT(LISTEN) | BIT(WEBHOOKS) | BIT(CONFIG) | BIT(PROFILE) |
                           BIT(PRINT_CONFIG) | BIT(BUDGET) | BIT(PLACEMENT) | BIT(STARVATION_AFTER) | BIT(LOG_LEVEL),
		.outputs = "",
		.exits = "0  ended by Ctrl-C or SIGTERM\n"
			 "2  wrong usage, a configuration that is wrong, or no way to reach a cluster",
		.examples = "platoon run --print-config",
		.run = cmd_run,
	},
	{
		.name = "install",
		.operands = "",
		.summary = "print the manifests that run Platoon on a cluster",
		.description = install_text,
		.options = BIT(NAMESPACE) | BIT(IMAGE) | BIT(REPLICAS) | BIT(WEBHOOKS) | BIT(WEBHOOK_URL) |
                           BIT(SERVICE_MONITOR) | BIT(PROFILE) | BIT(SCHEDULER_NAME) | BIT(ONLY) | BIT(VALUES) |
                           BIT(CHART) | BIT(OUTPUT),
		.outputs = "yaml json",
		.exits =
			"0  the manifests were printed, or the chart written\n2  wrong usage, or values that the chart "
			"does not have",
		.examples = "platoon install --namespace platoon-system\n"
			    "platoon install --only definitions -o json",
		.run = cmd_install,
	},
	{
		.name = "completion",
		.operands = "bash|zsh|fish",
		.summary = "print the completion script of a shell",
		.description =
			"Prints a script that completes commands, options and files of platoon in the given shell.",
		.options = 0,
		.outputs = "",
		.operand_choices = "bash zsh fish",
		.exits = "0  the script was printed\n2  wrong usage",
		.examples = "platoon completion bash",
		.run = cmd_completion,
	},
	{
		.name = "help",
		.operands = "[COMMAND|KIND]",
		.summary = "explain platoon or one command",
		.description =
			"Prints the same text as `platoon --help` or `platoon COMMAND --help`, the manual page,\n"
			"or the fields of a kind such as PodGroup.",
		.options = BIT(MAN) | BIT(REFERENCE),
		.outputs = "",
		.operand_choices = "@command",
		.exits = "0  the text was printed\n2  there is no such command",
		.examples = "platoon help plan\n"
			    "platoon help --man plan\n"
			    "platoon help --reference PodGroup",
		.run = cmd_help,
	},
	{.name = NULL},
};
