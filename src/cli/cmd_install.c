/* Owns the command `install`: the manifests that a real cluster needs, or the chart they come from. */
#include "cli/cli.h"
#include "cli/install_definitions.h"
#include "cli/install_files.h"
#include "cli/install_rights.h"
#include "cli/install_template.h"
#include "cli/output.h"
#include "cli/run_config.h"
#include "cli/config_file.h"
#include "object/build.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define TEMPLATES "templates/"
#define URL_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/[]%"

/* Files of the chart in the order in which a cluster wants them, and the part that each belongs to. */
static const struct {
	const char *part, *name;
} templates[] = {
	{"namespace", "namespace"},   {"definitions", "definitions"}, {"rbac", "rbac"},         {"rbac", "rights"},
	{"priorities", "priorities"}, {"deployment", "deployment"},   {"webhooks", "webhooks"}, {"monitor", "monitor"},
};
#define TEMPLATE_COUNT (sizeof(templates) / sizeof(templates[0]))

struct install {
	struct cli_args *args;
	struct build *build;
	struct doc *values;
	struct buffer definitions, rights; /* templates that are made, not kept */
	struct buffer text;
};

static const char *file_of(const char *name)
{
	for (const struct install_file *file = install_files; file->name; file++)
		if (strcmp(file->name, name) == 0)
			return file->text;
	return "";
}

static int fail(const char *text)
{
	output_line(stderr, "platoon install: %s", text);
	return CLI_USAGE;
}

/* ---- values ---- */

/* As Helm does it: maps are merged key by key, null takes a key away, everything else is replaced. */
static struct node *merge_values(struct build *build, const struct val *usual, const struct val *given)
{
	const char *key;
	const struct val *item;
	if (val_kind(usual) != VAL_MAP || val_kind(given) != VAL_MAP)
		return build_copy(build, given);
	struct node *merged = build_map(build);
	for (struct val_iter it = val_iter(usual); val_next(&it, &key, &item);) {
		const struct val *other = val_get(given, key);
		if (!other)
			build_put(build, merged, key, build_copy(build, item));
		else if (val_kind(other) != VAL_NULL)
			build_put(build, merged, key, merge_values(build, item, other));
	}
	for (struct val_iter it = val_iter(given); val_next(&it, &key, &item);)
		if (!val_get(usual, key) && val_kind(item) != VAL_NULL)
			build_put(build, merged, key, build_copy(build, item));
	return merged;
}

/* Puts the values of a file in place of the usual ones; all that is wrong with them is told. */
static int take_values(struct install *install, struct node *into, const struct val *usual)
{
	struct cli_args *args = install->args;
	struct error error = {0};
	struct problems problems = {.arena = args->arena};
	struct doc *doc = config_file_read(args->values_file, args->arena, &error);
	const char *key;
	const struct val *item;
	size_t kinds;
	if (!doc) {
		output_line(stderr, "platoon install: %s", error.text);
		return CLI_USAGE;
	}
	config_file_check(doc_root(doc), usual, "", &problems);
	run_kinds_read(val_get(doc_root(doc), "workloadKinds"), args->arena, &kinds, &problems);
	cli_print_problems(&problems);
	for (struct val_iter it = val_iter(doc_root(doc)); val_next(&it, &key, &item);)
		build_put(install->build, into, key, merge_values(install->build, val_get(usual, key), item));
	doc_destroy(doc);
	return problems.errors ? CLI_USAGE : CLI_OK;
}

/* The names are a value of their own, since webhooks are told them too. */
static void put_profile(struct build *build, struct node *values, const char *profile)
{
	struct error error = {0};
	struct buffer text = {0};
	buffer_printf(&text, "names: %s\n", run_config_usual(profile, "schedulerNames"));
	struct doc *doc = config_file_parse(text.text, text.length, &error);
	build_put_string(build, values, "profile", profile);
	build_put(build, values, "schedulerNames", build_copy(build, val_get(doc_root(doc), "names")));
	doc_destroy(doc);
	buffer_free(&text);
}

static int make_values(struct install *install)
{
	struct cli_args *args = install->args;
	struct build *build = install->build;
	struct error error = {0};
	const char *text = file_of("values.yaml");
	struct doc *usual = config_file_parse(text, strlen(text), &error);
	if (!usual)
		return fail(error.text);
	struct node *values = build_copy(build, doc_root(usual));
	build_put_bool(build, values, "createNamespace", true);
	int rc = args->values_file ? take_values(install, values, doc_root(usual)) : CLI_OK;
	if (args->image)
		build_put_string(build, values, "image", args->image);
	if (args->replicas)
		build_put_int(build, values, "replicas", args->replicas);
	if (args->webhooks_given)
		build_put_bool(build, values, "webhooks", args->webhooks);
	if (args->webhook_url)
		build_put_string(build, values, "webhookURL", args->webhook_url);
	if (args->service_monitor)
		build_put_bool(build, values, "serviceMonitor", true);
	if (args->profile)
		put_profile(build, values, args->profile);
	if (args->schedulers_given) {
		struct node *names = build_list(build);
		for (size_t i = 0; i < args->settings.scheduler_count; i++)
			build_append(build, names, build_string(build, args->settings.schedulers[i]));
		build_put(build, values, "schedulerNames", names);
	}
	install->values = build_finish(build, values);
	doc_destroy(usual);
	return rc;
}

/* ---- printing ---- */

static bool is_wanted(const struct cli_args *args, const char *part)
{
	bool wanted = !args->only;
	for (const char *at = args->only; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
		wanted |= strcspn(at, ",") == strlen(part) && strncmp(at, part, strlen(part)) == 0;
	return wanted;
}

static int check_only(const struct cli_args *args)
{
	for (const char *at = args->only; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
		bool known = false;
		for (size_t i = 0; i < TEMPLATE_COUNT; i++)
			known |= strcspn(at, ",") == strlen(templates[i].part) &&
			         strncmp(at, templates[i].part, strlen(templates[i].part)) == 0;
		if (!known) {
			output_line(stderr, "platoon install: --only %s: \"%.*s\" is not a part; use some of: %s",
			            args->only, (int)strcspn(at, ","), at, cli_options[CLI_OPTION_ONLY].choices);
			return CLI_USAGE;
		}
	}
	return CLI_OK;
}

static const char *template_of(const struct install *install, const char *name)
{
	if (strcmp(name, "definitions") == 0)
		return install->definitions.text;
	if (strcmp(name, "rights") == 0)
		return install->rights.text;
	return file_of(arena_printf(install->args->arena, TEMPLATES "%s.yaml", name));
}

static int render(struct install *install)
{
	struct cli_args *args = install->args;
	struct install_scope scope = {
		.values = doc_root(install->values),
		.namespace_ = args->namespace_ ? args->namespace_ : "platoon-system",
		.version = PLATOON_VERSION,
	};
	struct error error = {0};
	for (size_t i = 0; i < TEMPLATE_COUNT; i++) {
		if (is_wanted(args, templates[i].part) &&
		    install_render(template_of(install, templates[i].name), &scope, &install->text, &error) < 0)
			return fail(error.text);
		if (install->text.length > 0 && install->text.text[install->text.length - 1] != '\n')
			buffer_puts(&install->text, "\n");
	}
	return CLI_OK;
}

static int print_json(struct install *install)
{
	struct manifests manifests;
	struct problems problems = {.arena = install->args->arena};
	struct build *build = install->build;
	struct node *root = build_map(build), *items = build_list(build);
	struct buffer out = {0};
	manifests_init(&manifests);
	manifests_parse(&manifests, install->text.text ? install->text.text : "", install->text.length, "install",
	                &problems);
	cli_print_problems(&problems);
	for (size_t i = 0; i < manifests.count; i++)
		build_append(build, items, build_copy(build, manifests.items[i].object));
	build_put_string(build, root, "apiVersion", "v1");
	build_put_string(build, root, "kind", "List");
	build_put(build, root, "items", items);
	build_write(build, root, DOC_JSON_PRETTY, &out);
	puts(out.text);
	buffer_free(&out);
	manifests_free(&manifests);
	return problems.errors ? CLI_FOUND : CLI_OK;
}

static int print(struct install *install)
{
	int rc = check_only(install->args);
	if (rc == CLI_OK)
		rc = make_values(install);
	if (rc == CLI_OK)
		rc = render(install);
	if (rc == CLI_OK && install->args->output == CLI_OUTPUT_JSON)
		rc = print_json(install);
	else if (rc == CLI_OK && install->text.length > 0)
		fwrite(install->text.text, 1, install->text.length, stdout);
	return rc == CLI_OK && ferror(stdout) ? CLI_USAGE : rc;
}

/* ---- the chart ---- */

static int write_file(struct install *install, const char *name, const char *text)
{
	const char *path = arena_printf(install->args->arena, "%s/%s", install->args->chart, name);
	FILE *file = fopen(path, "w");
	bool failed = !file || fputs(text, file) < 0;
	if (file)
		failed |= fclose(file) != 0;
	if (failed)
		output_line(stderr, "platoon install: %s: %s", path, strerror(errno));
	return failed ? CLI_USAGE : CLI_OK;
}

static int write_chart(struct install *install)
{
	const char *folder = arena_printf(install->args->arena, "%s/" TEMPLATES, install->args->chart);
	if ((mkdir(install->args->chart, 0777) < 0 && errno != EEXIST) ||
	    (mkdir(folder, 0777) < 0 && errno != EEXIST)) {
		output_line(stderr, "platoon install: %s: %s", install->args->chart, strerror(errno));
		return CLI_USAGE;
	}
	int rc = write_file(install, TEMPLATES "definitions.yaml", install->definitions.text);
	if (rc == CLI_OK)
		rc = write_file(install, TEMPLATES "rights.yaml", install->rights.text);
	for (const struct install_file *file = install_files; file->name && rc == CLI_OK; file++)
		rc = write_file(install, file->name, file->text);
	return rc;
}

/* It stands in manifests as it is. */
static bool is_label(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
	return length > 0 && length <= 63 && !text[length] && text[0] != '-' && text[length - 1] != '-';
}

int cmd_install(struct cli_args *args)
{
	struct install install = {.args = args};
	if (args->namespace_ && !is_label(args->namespace_)) {
		output_line(stderr, "platoon install: --namespace %s: not a name of a namespace", args->namespace_);
		return CLI_USAGE;
	}
	if (args->webhook_url && (strncmp(args->webhook_url, "https://", 8) != 0 ||
	                          strspn(args->webhook_url, URL_CHARACTERS) != strlen(args->webhook_url))) {
		output_line(stderr, "platoon install: --webhook-url %s: must be https://HOST:PORT", args->webhook_url);
		return CLI_USAGE;
	}
	install.build = build_create();
	install_definitions(&install.definitions);
	install_rights(&install.rights);
	int rc = args->chart ? write_chart(&install) : print(&install);
	doc_destroy(install.values);
	build_destroy(install.build);
	buffer_free(&install.definitions);
	buffer_free(&install.rights);
	buffer_free(&install.text);
	return rc;
}
