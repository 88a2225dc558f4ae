/* Owns reading, checking and printing the configuration of `platoon run`. */
#include "cli/run_config.h"

#include "base/clock.h"
#include "cli/config_file.h"
#include "object/build.h"

#include <stdlib.h>
#include <string.h>

/* Every setting with its usual value. */
static const char usual_text[] = "schedulerNames: [platoon, kai-scheduler]\n"
				 "defaultQueue: default-queue\n"
				 "podGroupsForSinglePods: false\n"
				 "listen: \"\"\n"
				 "leaderElection:\n"
				 "  enabled: false\n"
				 "  name: platoon\n"
				 "  duration: 15s\n"
				 "shutdownTimeout: 5s\n"
				 "webhooks:\n"
				 "  enabled: false\n"
				 "  listen: \":9443\"\n"
				 "  service: platoon-webhook\n"
				 "  clientAuthority: \"\"\n"
				 "workloadKinds: []\n"
				 "budget: 0\n"
				 "placementStrategy: {gpu: binpack, cpu: binpack}\n"
				 "logLevel: warn\n"
				 "logFormat: text\n";

/* Read at the start only. */
static const char *const fixed[] = {"listen", "leaderElection", "shutdownTimeout", "webhooks"};

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
		if (!before || val_kind(before) != val_kind(item))
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

static void read_log(struct run_config *config, const struct val *root, struct problems *problems)
{
	const char *format = val_str(val_get(root, "logFormat"), "");
	if (log_level_parse(val_str(val_get(root, "logLevel"), ""), &config->log_level) < 0)
		problem_add(problems, SEVERITY_ERROR, "logLevel", NULL, "must be error, warn, info or debug");
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

#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"

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
			.kind = api_word(arena, item, "kind", LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
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

static void read_all(struct run_config *config, struct problems *problems)
{
	const struct val *root = doc_root(config->doc);
	int64_t budget = 0;
	read_names(config, val_get(root, "schedulerNames"), problems);
	config->settings.group.default_queue = arena_strdup(config->arena, val_str(val_get(root, "defaultQueue"), ""));
	config->settings.single_groups = val_bool(val_get(root, "podGroupsForSinglePods"), false);
	config->listen = arena_strdup(config->arena, val_str(val_get(root, "listen"), ""));
	if (config->listen[0] && strcmp(config->listen, "none") != 0)
		check_listen("listen", config->listen, problems);
	read_lease(config, val_get(root, "leaderElection"), problems);
	read_shutdown(config, val_get(root, "shutdownTimeout"), problems);
	read_webhooks(config, val_get(root, "webhooks"), problems);
	config->kinds = run_kinds_read(val_get(root, "workloadKinds"), config->arena, &config->kind_count, problems);
	if (val_int(val_get(root, "budget"), &budget) < 0 || budget < 0)
		problem_add(problems, SEVERITY_ERROR, "budget", NULL, "must be a whole number, 0 for the usual one");
	config->settings.budget = (uint64_t)budget;
	read_strategy(config, val_get(root, "placementStrategy"), problems);
	read_log(config, root, problems);
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

struct run_config *run_config_load(const struct cli_args *args, struct problems *problems)
{
	struct error error = {0};
	struct run_config *config = base_calloc(1, sizeof(*config));
	config->arena = arena_create();
	config->settings = settings_usual;
	struct doc *usual = config_file_parse(usual_text, strlen(usual_text), &error);
	struct doc *given = read_file(args, config->arena, problems);
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

void run_config_print(const struct run_config *config, struct buffer *out)
{
	val_write(doc_root(config->doc), DOC_YAML, out);
}

const char *run_config_fixed(const struct run_config *now, const struct run_config *next)
{
	struct buffer names = {0};
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (!val_equal(val_get(doc_root(now->doc), fixed[i]), val_get(doc_root(next->doc), fixed[i])))
			buffer_printf(&names, "%s%s", names.length ? ", " : "", fixed[i]);
	const char *text = arena_strdup(next->arena, names.text ? names.text : "");
	buffer_free(&names);
	return text;
}
