/* Owns reading, checking and printing the configuration of `platoon run`. */
#include "cli/run_config.h"

#include "base/clock.h"
#include "cli/config_file.h"
#include "cli/output.h"
#include "object/build.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

void run_config_free(struct run_config *config)
{
	if (!config)
		return;
	doc_destroy(config->doc);
	arena_destroy(config->arena);
	free(config);
}

/* ---- putting together ---- */

static void put_over(struct build *build, struct node *into, const struct val *usual, const struct val *given)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(given); val_next(&it, &key, &item);) {
		const struct val *before = val_get(usual, key);
		if (!before || !config_file_takes(key, item, before))
			continue; /* which was told */
		struct node *value = build_copy(build, item);
		if (val_kind(item) == VAL_MAP) {
			value = build_copy(build, before);
			put_over(build, value, before, item);
		}
		build_put(build, into, key, value);
	}
}

static struct node *section(struct build *build, struct node *root, const struct val *usual, const struct val *given,
                            const char *name)
{
	struct node *map = build_copy(build, val_get(usual, name));
	put_over(build, map, val_get(usual, name), val_get(given, name));
	build_put(build, root, name, map);
	return map;
}

static void put_flags(const struct cli_args *args, struct build *build, struct node *root, const struct val *usual,
                      const struct val *given)
{
	static const char *const levels[] = {"error", "warn", "info", "debug"};
	if (args->profile)
		build_put_string(build, root, "profile", args->profile);
	if (args->schedulers_given) {
		struct node *names = build_list(build);
		for (size_t i = 0; i < args->settings.scheduler_count; i++)
			build_append(build, names, build_string(build, args->settings.schedulers[i]));
		build_put(build, root, "schedulerNames", names);
	}
	if (args->leader_elect)
		build_put_bool(build, section(build, root, usual, given, "leaderElection"), "enabled", true);
	if (args->webhooks_given)
		build_put_bool(build, section(build, root, usual, given, "webhooks"), "enabled", args->webhooks);
	if (args->listen)
		build_put_string(build, root, "listen", args->listen);
	if (args->settings.budget)
		build_put_int(build, root, "budget", (int64_t)args->settings.budget);
	if (args->strategy_given) {
		struct node *map = section(build, root, usual, given, "placementStrategy");
		build_put_string(build, map, "gpu",
		                 strategy_name(
					 (struct strategy){args->settings.strategy.gpu, args->settings.strategy.gpu}));
		build_put_string(build, map, "cpu",
		                 strategy_name(
					 (struct strategy){args->settings.strategy.cpu, args->settings.strategy.cpu}));
	}
	if (args->starvation_after)
		build_put_string(build, root, "starvationAfter", args->starvation_after);
	if (args->log_level_given)
		build_put_string(build, root, "logLevel", levels[args->logger.level]);
}

/* ---- checking ---- */

static void read_names(struct run_config *config, const struct val *list, struct problems *problems)
{
	const char **names = arena_array(config->arena, const char *, val_count(list) + 1);
	config->settings.scheduler_count = 0;
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		size_t length = strlen(val_str(item, ""));
		if (length == 0 || length > 253)
			problem_add(problems, SEVERITY_ERROR,
			            problem_path(problems, "schedulerNames[%zu]", config->settings.scheduler_count),
			            NULL, "must be the schedulerName of pods");
		names[config->settings.scheduler_count++] = arena_strdup(config->arena, val_str(item, ""));
	}
	if (config->settings.scheduler_count == 0)
		problem_add(problems, SEVERITY_ERROR, "schedulerNames", NULL, "at least one name is needed");
	config->settings.schedulers = names;
}

static void read_log_level(struct run_config *config, const struct val *value, struct problems *problems)
{
	if (log_level_parse(val_str(value, ""), &config->log_level) < 0)
		problem_add(problems, SEVERITY_ERROR, "logLevel", NULL, "must be error, warn, info or debug");
}

static void read_log_format(struct run_config *config, const struct val *value, struct problems *problems)
{
	const char *format = val_str(value, "");
	config->log_format = strcmp(format, "json") == 0 ? LOG_JSON : LOG_TEXT;
	if (config->log_format == LOG_TEXT && strcmp(format, "text") != 0)
		problem_add(problems, SEVERITY_ERROR, "logFormat", NULL, "must be text or json");
}

int run_address(const char *text, struct arena *arena, const char **address, uint16_t *port)
{
	const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
	char *end = NULL;
	unsigned long number = strtoul(digits, &end, 10);
	if (*digits < '0' || *digits > '9' || *end || number > UINT16_MAX)
		return -1;
	*port = (uint16_t)number;
	*address = NULL;
	if (colon) {
		size_t length = (size_t)(colon - text);
		bool six = length > 1 && text[0] == '[' && text[length - 1] == ']';
		*address = arena_strndup(arena, text + six, length - 2 * (size_t)six);
	}
	return 0;
}

static void check_listen(const char *path, const char *text, struct problems *problems)
{
	const char *address;
	uint16_t port;
	if (run_address(text, problems->arena, &address, &port) < 0)
		problem_add(problems, SEVERITY_ERROR, path, NULL,
		            "must be HOST:PORT such as 127.0.0.1:8080, or :8080 for every address");
}

static void read_shutdown(struct run_config *config, const struct val *text, struct problems *problems)
{
	if (clock_parse_duration(val_str(text, ""), &config->shutdown_ns) < 0 || config->shutdown_ns < 0 ||
	    config->shutdown_ns > INT64_C(3600000000000))
		problem_add(problems, SEVERITY_ERROR, "shutdownTimeout", NULL,
		            "must be a duration of at most 1h, such as 5s");
}

/* Durations of which 0 is never. */
static void read_starvation(struct run_config *config, const struct val *text, struct problems *problems)
{
	int64_t *into = &config->settings.starvation_ns;
	if (clock_parse_duration(val_str(text, ""), into) < 0 || *into < 0)
		problem_add(problems, SEVERITY_ERROR, "starvationAfter", NULL,
		            "must be a duration such as 10m, or 0s for never");
}

static void check_own_listen(const char *key, const char *text, struct problems *problems)
{
	if (text[0] && strcmp(text, "none") != 0)
		check_listen(key, text, problems);
}

/* The key of a label: NAME, or PREFIX/NAME. */
static void check_label_key(const char *key, const char *text, struct problems *problems)
{
	const char *slash = strchr(text, '/'), *name = slash ? slash + 1 : text;
	if (slash == text || !*name || strlen(name) > 63 || name - text > 254 ||
	    strspn(text, LOWER UPPER "-_./") != strlen(text) || strchr(name, '/'))
		problem_add(problems, SEVERITY_ERROR, key, NULL,
		            "must be the key of a label, such as kai.scheduler/queue");
}

static void check_profile(const char *key, const char *text, struct problems *problems)
{
	if (strcmp(text, RUN_PROFILE_PLATOON) != 0 && strcmp(text, RUN_PROFILE_KAI) != 0)
		problem_add(problems, SEVERITY_ERROR, key, NULL, "must be " RUN_PROFILE_PLATOON " or " RUN_PROFILE_KAI);
}

/* A value of a label, or all of them. */
static void check_pool(const char *key, const char *text, struct problems *problems)
{
	if (strcmp(text, SETTINGS_ALL_POOLS) != 0 &&
	    (strlen(text) > 63 || strspn(text, LOWER UPPER "-_.") != strlen(text)))
		problem_add(problems, SEVERITY_ERROR, key, NULL, "must be the value of a label, \"\" or \"*\"");
}

static void read_lease(struct run_config *config, const struct val *map, struct problems *problems)
{
	config->leader_elect = val_bool(val_get(map, "enabled"), false);
	config->lease_name = arena_strdup(config->arena, val_str(val_get(map, "name"), ""));
	if (!config->lease_name[0])
		problem_add(problems, SEVERITY_ERROR, "leaderElection.name", NULL, "must be the name of a Lease");
	if (clock_parse_duration(val_str(val_get(map, "duration"), ""), &config->lease_duration_ns) < 0 ||
	    config->lease_duration_ns < INT64_C(3000000000) || config->lease_duration_ns > INT64_C(3600000000000))
		problem_add(problems, SEVERITY_ERROR, "leaderElection.duration", NULL,
		            "must be a duration between 3s and 1h, such as 15s");
}

static void read_webhooks(struct run_config *config, const struct val *map, struct problems *problems)
{
	config->webhooks = val_bool(val_get(map, "enabled"), false);
	config->webhook_listen = arena_strdup(config->arena, val_str(val_get(map, "listen"), ""));
	config->webhook_service = arena_strdup(config->arena, val_str(val_get(map, "service"), ""));
	config->client_authority = arena_strdup(config->arena, val_str(val_get(map, "clientAuthority"), ""));
	check_listen("webhooks.listen", config->webhook_listen, problems);
	if (!config->webhook_service[0])
		problem_add(problems, SEVERITY_ERROR, "webhooks.service", NULL, "must be the name of a Service");
}

/* A word of names in the API; "" when it is none. */
static const char *api_word(struct arena *arena, const struct val *item, const char *key, const char *allowed)
{
	const char *text = val_str(val_get(item, key), "");
	return strlen(text) <= 253 && strspn(text, allowed) == strlen(text) ? arena_strdup(arena, text) : "";
}

const struct remote_follow *run_kinds_read(const struct val *list, struct arena *arena, size_t *count,
                                           struct problems *problems)
{
	struct remote_follow *kinds = arena_array(arena, struct remote_follow, val_count(list) + 1);
	const struct val *item;
	*count = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		struct remote_follow *kind = &kinds[*count];
		*kind = (struct remote_follow){
			.group = api_word(arena, item, "group", LOWER "-."),
			.version = api_word(arena, item, "version", LOWER),
			.resource = api_word(arena, item, "resource", LOWER "-"),
			.kind = api_word(arena, item, "kind", LOWER UPPER),
			.optional = true,
		};
		const char *path = problem_path(problems, "workloadKinds[%zu]", *count);
		if (!*kind->group || !*kind->version || !*kind->resource || !*kind->kind)
			problem_add(problems, SEVERITY_ERROR, path, NULL,
			            "must have group, version, kind and resource, such as {group: example.com, "
			            "version: v1, "
			            "kind: Flow, resource: flows}");
		for (size_t i = 0; i < *count; i++)
			if (strcmp(kinds[i].group, kind->group) == 0 && strcmp(kinds[i].resource, kind->resource) == 0)
				problem_add(problems, SEVERITY_ERROR, path, NULL, "is there twice; name one version");
		++*count;
	}
	return kinds;
}

static void read_strategy(struct run_config *config, const struct val *map, struct problems *problems)
{
	static const char *const paths[] = {"placementStrategy.gpu", "placementStrategy.cpu"};
	enum node_order *into[] = {&config->settings.strategy.gpu, &config->settings.strategy.cpu};
	for (int i = 0; i < 2; i++) {
		const char *text = val_str(val_get(map, strrchr(paths[i], '.') + 1), "");
		struct strategy read;
		if (strcmp(text, "binpack") != 0 && strcmp(text, "spread") != 0)
			problem_add(problems, SEVERITY_ERROR, paths[i], NULL, "must be binpack or spread");
		else if (strategy_parse(text, &read) == 0)
			*into[i] = read.gpu;
	}
}

static void read_past(struct run_config *config, const struct val *map, struct problems *problems)
{
	settings_read_past(map, "timeBasedFairshare", &config->settings.past, problems);
}

static void read_defragment(struct run_config *config, const struct val *map, struct problems *problems)
{
	settings_read_defragment(map, "defragmentation", config->arena, &config->settings.defragment, problems);
}

static void read_kinds(struct run_config *config, const struct val *list, struct problems *problems)
{
	config->kinds = run_kinds_read(list, config->arena, &config->kind_count, problems);
}

/* ---- the table ---- */

/* One setting. Its type is that of its usual value. Texts, switches and numbers (from 0) go where `at` says, after `check`
 * has seen a text; everything else is up to `read`, which also checks. */
struct row {
	const char *key, *usual;
	const char *kai; /* usual with the profile kai; NULL: the same */
	size_t at;
	void (*check)(const char *key, const char *text, struct problems *problems);
	void (*read)(struct run_config *config, const struct val *value, struct problems *problems);
	bool at_start;     /* a change needs a restart */
	const char *words; /* for --print-config, and so for the docs; may have several lines */
};

#define AT(field) offsetof(struct run_config, field)

static const struct row rows[] = {
	{"profile", RUN_PROFILE_PLATOON, RUN_PROFILE_KAI, AT(profile), check_profile,
         .words = "platoon, or kai: the settings that are not given are those that make up KAI-Scheduler"},
	{"schedulerNames", "[platoon, kai-scheduler]", "[kai-scheduler]", .read = read_names,
         .words = "schedulerName of the pods that are ours; RoleBasedGroups give the first to their pods"},
	{"defaultQueue", "default-queue", NULL, AT(settings.group.default_queue),
         .words = "queue of groups and pods that name none; made when there is no queue at all, unless it is \"\""},
	{"queueLabelKey", GROUP_KEY_QUEUE, NULL, AT(settings.group.queue_label), check_label_key,
         .words = "label by which pods and workloads name their queue"},
	{"nodePoolLabelKey", GROUP_KEY_NODE_POOL, NULL, AT(settings.group.pool_label), check_label_key,
         .words = "label by which nodes and pods belong to a node pool: pods stay in theirs, and their PodGroups get "
                  "it too"},
	{"nodePool", "\"*\"", NULL, AT(settings.node_pool), check_pool,
         .words = "the node pool that is served: only its nodes count, and pods of others are left alone. \"\" is the "
                  "nodes\n"
                  "and pods without the label, \"*\" all pools at once"},
	{"queuesNeedPool", "false", "true", AT(settings.queues_need_pool),
         .words = "a queue without that label is one of the nodes without it; otherwise it is in every pool"},
	{"restrictNodeScheduling", "false", NULL, AT(settings.restrict_nodes),
         .words = "pods that request GPUs only on nodes with the label " SETTINGS_GPU_WORKER ", others\n"
                  "only on nodes with " SETTINGS_CPU_WORKER},
	{"spreadOverZones", "true", "false", AT(settings.spread_zones),
         .words = "pods that a Service or a controller of replicas selects, and that ask for no GPU and no spread, are "
                  "spread\n"
                  "over zones where nothing else decides"},
	{"podGroupsForSinglePods", "false", "true", AT(settings.single_groups),
         .words = "also pods that stand alone get a PodGroup"},
	{"plainPodReasons", "false", "true", AT(settings.plain_reasons),
         .words = "pods that wait carry the reason Unschedulable also for what nodes cannot cure, such as a queue's "
                  "limit"},
	{"waitForConfigMaps", "false", "true", AT(settings.config_maps), .at_start = true,
         .words = "pods wait while a ConfigMap that they need does not exist, and so does their gang; of ConfigMaps "
                  "only\n"
                  "the metadata are read for it"},
	{"minimumsAsKai", "false", "true", AT(settings.group.kai_minimums),
         .words = "PodGroups of workloads say how many children a level needs also when it is all, as KAI-Scheduler "
                  "writes it;\n"
                  "new PodGroups with minMember on a subgroup that has children are refused, and a minSubGroup above "
                  "the\n"
                  "number of children is only warned about: such a group waits"},
	{"ignoreParentQueues", "false", NULL, AT(settings.ignore_parent_queues),
         .words =
                 "queues share what there is as if they had no parents; quotas and limits of parents do not count, and "
                 "their\n"
                 "status has only their own pods"},
	{"listen", "\"\"", NULL, AT(listen), check_own_listen, .at_start = true,
         .words = "health, metrics and dashboard: HOST:PORT, :PORT or none; \"\" is loopback, port 8080 or a free one"},
	{"leaderElection", "{enabled: false, name: platoon, duration: 15s}", .read = read_lease, .at_start = true,
         .words = "of several replicas the one that holds this Lease is the leader"},
	{"shutdownTimeout", "5s", .read = read_shutdown, .at_start = true,
         .words = "how long the end waits for answers of the API server, before the lease is given back;\n"
                  "less than the terminationGracePeriodSeconds of the pod"},
	{"webhooks", "{enabled: false, listen: \":9443\", service: platoon-webhook, clientAuthority: \"\"}",
         .read = read_webhooks, .at_start = true,
         .words = "where they are answered, the Service in front of them, and a file with the authorities whose "
                  "clients\n"
                  "alone may ask"},
	{"workloadKinds", "[]", .read = read_kinds,
         .words = "kinds of workloads that Kartas describe, to be read too: {group, version, kind, resource} each"},
	{"budget", "0", NULL, AT(settings.budget), .words = "search steps per placement; 0 is the usual number"},
	{"claimTimeoutSeconds", "600", NULL, AT(settings.claim_timeout),
         .words = "seconds in which the volume claims of a gang have to be bound before it is decided anew"},
	{"holdRoomSeconds", "150", NULL, AT(settings.hold_seconds),
         .words = "seconds that room is held for pods which a workload of known size has yet to create, at most 3600"},
	{"starvationAfter", "0s", .read = read_starvation,
         .words =
                 "a gang that has waited so long is tried first, and what is free where it will fit is held for it, so "
                 "that\n"
                 "smaller work does not flow past it for ever; 0s is never"},
	{"timeBasedFairshare", SETTINGS_PAST_USUAL, .read = read_past,
         .words = "what a queue used of the cluster within the window lessens its share beyond quotas, the more the "
                  "larger\n"
                  "kValue is; with a halfLifePeriod the less the longer it is ago. windowType: sliding or tumbling"},
	{"defragmentation", SETTINGS_DEFRAGMENT_USUAL, .read = read_defragment,
         .words = "moves pods so that more whole racks are free for large gangs. window: when, in UTC, such as "
                  "22:00-06:00;\n"
                  "level: the label of the level, such as example.com/rack, or \"\" for the smallest above nodes"},
	{"placementStrategy", "{gpu: binpack, cpu: binpack}", .read = read_strategy,
         .words = "binpack or spread, for pods with GPUs and for those without"},
	{"spareGpuNodes", "false", "true", AT(settings.spare_gpus),
         .words = "pods that request no GPUs go to nodes without GPUs where they can"},
	{"neverViolateBudgets", "false", NULL, AT(settings.never_violate_budgets),
         .words = "not even a preemption evicts more pods than a PodDisruptionBudget allows"},
	{"logLevel", "warn", .read = read_log_level, .words = "error, warn, info or debug"},
	{"logFormat", "text", .read = read_log_format, .words = "text or json"},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void read_plain(struct run_config *config, const struct row *row, const struct val *value,
                       struct problems *problems)
{
	void *into = (char *)config + row->at;
	int64_t number = 0;
	if (val_kind(value) == VAL_STRING) {
		const char *text = arena_strdup(config->arena, val_str(value, ""));
		memcpy(into, &text, sizeof(text));
		if (row->check)
			row->check(row->key, text, problems);
	} else if (val_kind(value) == VAL_BOOL) {
		bool on = val_bool(value, false);
		memcpy(into, &on, sizeof(on));
	} else {
		if (val_int(value, &number) < 0 || number < 0)
			problem_add(problems, SEVERITY_ERROR, row->key, NULL, "must be a whole number from 0");
		memcpy(into, &(uint64_t){(uint64_t)number}, sizeof(uint64_t));
	}
}

static void read_all(struct run_config *config, struct problems *problems)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct val *value = val_get(doc_root(config->doc), rows[i].key);
		if (rows[i].read)
			rows[i].read(config, value, problems);
		else
			read_plain(config, &rows[i], value, problems);
	}
}

/* Where nobody else places pods, those of plain manifests are ours too. */
static const char *all_schedulers(bool kai)
{
	return kai ? "[kai-scheduler, default-scheduler]" : "[platoon, kai-scheduler, default-scheduler]";
}

/* Every setting with its usual value. */
static struct doc *make_usual(const struct cli_args *args, const char *profile)
{
	struct buffer text = {0};
	struct error error = {0};
	bool kai = strcmp(profile, RUN_PROFILE_KAI) == 0;
	for (size_t i = 0; i < ROWS; i++) {
		bool names = args->places_alone && strcmp(rows[i].key, "schedulerNames") == 0;
		const char *usual = kai && rows[i].kai ? rows[i].kai : rows[i].usual;
		buffer_printf(&text, "%s: %s\n", rows[i].key, names ? all_schedulers(kai) : usual);
	}
	struct doc *doc = config_file_parse(text.text, text.length, &error);
	buffer_free(&text);
	return doc;
}

/* ---- all together ---- */

static struct doc *read_file(const struct cli_args *args, struct arena *arena, struct problems *problems)
{
	struct error error = {0};
	struct doc *doc =
		args->config ? config_file_read(args->config, arena, &error) : config_file_parse("", 0, &error);
	if (!doc)
		problem_add(problems, SEVERITY_ERROR, "", NULL, "%s", error.text);
	return doc;
}

/* The flag wins over the file. */
static const char *profile_of(const struct cli_args *args, const struct doc *given)
{
	return args->profile ? args->profile
	       : given       ? val_str(val_get(doc_root(given), "profile"), RUN_PROFILE_PLATOON)
	                     : RUN_PROFILE_PLATOON;
}

/* NULL when something is wrong; everything that is was added. */
static struct run_config *load(const struct cli_args *args, struct problems *problems)
{
	struct run_config *config = base_calloc(1, sizeof(*config));
	config->arena = arena_create();
	config->settings = settings_usual;
	struct doc *given = read_file(args, config->arena, problems);
	struct doc *usual = make_usual(args, profile_of(args, given));
	if (given)
		config_file_check(doc_root(given), doc_root(usual), "", problems);
	if (given) {
		struct build *build = build_create();
		struct node *root = build_copy(build, doc_root(usual));
		put_over(build, root, doc_root(usual), doc_root(given));
		put_flags(args, build, root, doc_root(usual), doc_root(given));
		config->doc = build_finish(build, root);
		build_destroy(build);
		read_all(config, problems);
	}
	doc_destroy(usual);
	doc_destroy(given);
	if (problems->errors == 0)
		return config;
	run_config_free(config);
	return NULL;
}

static void print_row(const struct row *row, const struct val *value, struct buffer *out)
{
	struct build *build = build_create();
	struct node *map = build_map(build);
	for (const char *line = row->words; *line;) {
		size_t length = strcspn(line, "\n");
		buffer_printf(out, "# %.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
	build_put(build, map, row->key, build_copy(build, value));
	build_write(build, map, DOC_YAML, out);
	build_destroy(build);
}

void run_config_print(const struct run_config *config, struct buffer *out)
{
	for (size_t i = 0; i < ROWS; i++)
		print_row(&rows[i], val_get(doc_root(config->doc), rows[i].key), out);
}

/* Which of the settings that are read at the start only differ: their names, comma separated; "" for none. */
static const char *fixed_settings(const struct run_config *now, const struct run_config *next)
{
	struct buffer names = {0};
	for (size_t i = 0; i < ROWS; i++) {
		const char *key = rows[i].key;
		if (rows[i].at_start && !val_equal(val_get(doc_root(now->doc), key), val_get(doc_root(next->doc), key)))
			buffer_printf(&names, "%s%s", names.length ? ", " : "", key);
	}
	const char *text = arena_strdup(next->arena, names.text ? names.text : "");
	buffer_free(&names);
	return text;
}

static void tell_problems(const struct cli_args *args, const struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->items[i];
		/* Of a file that cannot be read the message has the name. */
		const char *file = problem->path[0] && args->config ? args->config : "";
		output_line(stderr, "platoon %s: %s%s%s%s%s%s%s", args->command->name, file, file[0] ? ": " : "",
		            problem->path, problem->path[0] ? ": " : "", problem->message, problem->fix ? "; " : "",
		            problem->fix ? problem->fix : "");
	}
}

struct run_config *run_config_open(const struct cli_args *args)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct run_config *config = load(args, &problems);
	tell_problems(args, &problems);
	arena_destroy(arena);
	return config;
}

/* Volumes of a ConfigMap are replaced, not written. */
bool run_config_is_new(const struct cli_args *args, struct stat *seen)
{
	struct stat now;
	if (!args->config || stat(args->config, &now) < 0)
		return false;
	bool changed = now.st_ino != seen->st_ino || now.st_size != seen->st_size ||
	               now.st_mtim.tv_sec != seen->st_mtim.tv_sec || now.st_mtim.tv_nsec != seen->st_mtim.tv_nsec;
	*seen = now;
	return changed;
}

struct run_config *run_config_reload(const struct cli_args *args, struct stat *seen, bool asked,
                                     const struct run_config *start)
{
	if (!run_config_is_new(args, seen) && !asked)
		return NULL;
	struct run_config *next = run_config_open(args);
	if (!next) {
		log_write(&args->logger, LOG_ERROR, 0, "the new configuration is wrong, the old one stays", "file",
		          args->config, NULL);
		return NULL;
	}
	const char *fixed = fixed_settings(start, next);
	if (fixed[0])
		log_write(&args->logger, LOG_WARN, 0, "settings that need a restart were changed", "settings", fixed,
		          NULL);
	struct logger logger = args->logger; /* said as it asks to be spoken to */
	logger.level = next->log_level;
	logger.format = next->log_format;
	log_write(&logger, LOG_INFO, 0, "configuration read", "file", args->config, NULL);
	return next;
}

const char *run_config_usual(const char *profile, const char *key)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(rows[i].key, key) == 0)
			return rows[i].kai && strcmp(profile, RUN_PROFILE_KAI) == 0 ? rows[i].kai : rows[i].usual;
	return NULL;
}

int run_config_use(struct cli_args *args)
{
	struct run_config *config = run_config_open(args);
	if (!config)
		return CLI_USAGE;
	args->settings = settings_copy(&config->settings, args->arena);
	run_config_free(config);
	return CLI_OK;
}
