/* Owns reading the objects of a live cluster for commands that only look. */
#include "cli/cli.h"
#include "cli/output.h"

#include "group/defaults.h"
#include "group/group.h"
#include "kinds/kinds.h"
#include "object/build.h"
#include "remote/client.h"

#include <string.h>

#define PAGE 1000 /* objects per request: what a server answers quickly */

/* A list of which only the metadata were asked for, as a list of objects of the kind that have nothing else. The ConfigMap
 * with the defaults of kinds is read for itself. */
static struct doc *list_names(const struct doc *page, const struct kind_row *row)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build), *items = build_list(build);
	const struct val *item;
	build_put_string(build, root, "apiVersion", "v1");
	build_put_string(build, root, "kind", "List");
	build_put_string(build, metadata, "continue",
	                 val_str(val_path(doc_root(page), "metadata", "continue", NULL), ""));
	build_put(build, root, "metadata", metadata);
	for (struct val_iter it = val_iter(val_get(doc_root(page), "items")); val_next(&it, NULL, &item);) {
		const char *name = val_str(val_path(item, "metadata", "name", NULL), ""),
			   *namespace_ = val_str(val_path(item, "metadata", "namespace", NULL), "");
		if (strcmp(namespace_, GROUP_DEFAULTS_NAMESPACE) == 0 && strcmp(name, GROUP_DEFAULTS_NAME) == 0)
			continue;
		struct node *object = build_map(build), *names = build_map(build);
		build_put_string(build, object, "apiVersion", row->versions[0]);
		build_put_string(build, object, "kind", row->kind);
		build_put_string(build, names, "name", name);
		build_put_string(build, names, "namespace", namespace_);
		build_put(build, object, "metadata", names);
		build_append(build, items, object);
	}
	build_put(build, root, "items", items);
	struct doc *names = build_finish(build, root);
	build_destroy(build);
	return names;
}

/* 0, 1 when the cluster does not have it, or -1 and *error. `named`: only the names of objects of this kind are wanted. */
static int read_list(struct remote_client *client, const char *path, const struct kind_row *named,
                     struct manifests *into, struct problems *problems, struct error *error)
{
	struct arena *arena = problems->arena;
	const char *next = "";
	do {
		struct doc *page = remote_client_get(client,
		                                     arena_printf(arena, "%s?limit=%d%s%s", path, PAGE,
		                                                  next[0] ? "&continue=" : "", next),
		                                     named ? REMOTE_ACCEPT_NAMES : NULL, error);
		if (!page)
			return error->code == ERROR_NOT_FOUND ? 1 : -1;
		if (named) {
			struct doc *names = list_names(page, named);
			doc_destroy(page);
			page = names;
		}
		manifests_keep(into, page);
		manifests_add(into, doc_root(page), path, problems);
		next = val_str(val_path(doc_root(page), "metadata", "continue", NULL), "");
	} while (next[0]);
	return 0;
}

/* The objects of a kind, of one namespace or (NULL) of all, in the first version that the cluster has. 0, or -1 and *error: a
 * kind that it does not have has no objects. */
static int read_kind(struct remote_client *client, const struct kind_row *row, const char *namespace_,
                     struct manifests *into, struct problems *problems, struct error *error)
{
	struct arena *arena = problems->arena;
	const char *space = namespace_ ? arena_printf(arena, "/namespaces/%s", namespace_) : "";
	int rc = 1;
	for (size_t i = 0; rc == 1 && row->versions[i]; i++) {
		const char *root = *row->group ? arena_printf(arena, "/apis/%s", row->group) : "/api";
		*error = (struct error){0};
		rc = read_list(client, arena_printf(arena, "%s/%s%s/%s", root, row->versions[i], space, row->resource),
		               row->flags & ROW_NAMED ? row : NULL, into, problems, error);
	}
	return rc < 0 ? -1 : 0;
}

void cli_load_owners(struct cli_args *args, const char *namespace_, struct manifests *into)
{
	struct problems problems = {.arena = args->arena};
	struct remote_access access;
	struct error error = {0};
	if (remote_config_load(args->kubeconfig, args->context, args->arena, &access, &error) < 0)
		return;
	struct remote_client *client = remote_client_create(&access, NULL, &error);
	const struct kind_row *row;
	for (size_t i = 0; client && (row = kinds_row(i)); i++)
		if (row->flags & ROW_OWNER)
			read_kind(client, row, namespace_, into, &problems, &error);
	remote_client_destroy(client);
}

bool cli_is_unmarked(const struct settings *settings, const struct manifest *pod)
{
	return strcmp(pod->kind, "Pod") == 0 && settings_owns_pod(settings, pod->object) &&
	       !*val_str(val_path(pod->object, "metadata", "annotations", "pod-group-name", NULL), "");
}

static void note_row(const struct kind_row *row, struct arena *arena, struct interner *kinds)
{
	interner_id(kinds, *row->group ? arena_printf(arena, "%s.%s", row->resource, row->group) : row->resource);
}

/* Names of the kinds that own the object, of what their families read besides, and of the groups that pods name. */
static void note_kinds(const struct manifest *object, struct arena *arena, struct interner *kinds)
{
	const struct val *owner;
	const char *api_version, *name;
	if (strcmp(object->kind, "Pod") == 0 && group_names_neighbour(object->object, &api_version, &name) &&
	    api_version)
		note_row(kinds_find(api_version, "PodGroup"), arena, kinds);
	for (struct val_iter it = val_iter(val_path(object->object, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &owner);) {
		const struct kind_row *row =
			kinds_find(val_str(val_get(owner, "apiVersion"), ""), val_str(val_get(owner, "kind"), ""));
		if (!row || row->family == FAMILY_NONE)
			interner_id(kinds, "kartas." KINDS_RUNAI); /* one may describe it */
		if (!row || !(row->flags & ROW_OWNER))
			continue;
		note_row(row, arena, kinds);
		for (size_t i = 0; i < sizeof(row->needs) / sizeof(*row->needs) && row->needs[i]; i++)
			interner_id(kinds, row->needs[i]);
	}
}

void cli_load_above(struct cli_args *args, const struct manifests *objects, struct manifests *into)
{
	struct problems problems = {.arena = args->arena};
	struct remote_access access;
	struct error error = {0};
	struct interner *kinds = interner_create();
	bool wanted = false;
	for (size_t i = 0; i < objects->count; i++)
		if (cli_is_unmarked(&args->settings, &objects->items[i])) {
			wanted = true;
			note_kinds(&objects->items[i], args->arena, kinds);
		}
	struct remote_client *client = NULL;
	if (wanted && remote_config_load(args->kubeconfig, args->context, args->arena, &access, &error) == 0)
		client = remote_client_create(&access, NULL, &error);
	/* Owners have owners: a Deployment stands above a ReplicaSet. What cannot be read is left out. */
	for (uint32_t k = 0; client && k < interner_count(kinds); k++) {
		size_t before = into->count;
		read_kind(client, kinds_named(interner_text(kinds, k)), NULL, into, &problems, &error);
		for (size_t n = before; n < into->count; n++)
			note_kinds(&into->items[n], args->arena, kinds);
	}
	remote_client_destroy(client);
	interner_destroy(kinds);
}

void cli_load_defaults(struct cli_args *args, struct manifests *into)
{
	struct problems problems = {.arena = args->arena};
	struct remote_access access;
	struct error error = {0};
	struct remote_client *client = NULL;
	if (remote_config_load(args->kubeconfig, args->context, args->arena, &access, &error) == 0)
		client = remote_client_create(&access, NULL, &error);
	if (client)
		read_list(client, "/api/v1/namespaces/" GROUP_DEFAULTS_NAMESPACE "/configmaps/" GROUP_DEFAULTS_NAME,
		          NULL, into, &problems, &error);
	remote_client_destroy(client);
}

/* Whoever looks on may not be allowed to see them: then nothing is said about those that are missing. */
static void read_names(struct cli_args *args, struct remote_client *client, struct manifests *into,
                       struct problems *problems)
{
	struct error error = {0};
	if (read_kind(client, kinds_of_id(KIND_CONFIG_MAP), NULL, into, problems, &error) == 0)
		return;
	args->settings.config_maps = false;
	output_line(stderr, "warning: pods that need missing ConfigMaps are not held back: %s", error.text);
}

int cli_load_cluster(struct cli_args *args, struct manifests *into)
{
	struct problems problems = {.arena = args->arena};
	struct remote_access access;
	struct error error = {0};
	struct remote_client *client = NULL;
	int rc = remote_config_load(args->kubeconfig, args->context, args->arena, &access, &error);
	if (rc == 0) {
		if (!args->namespace_)
			args->namespace_ = access.namespace_;
		client = remote_client_create(&access, NULL, &error);
		rc = client ? 0 : -1;
	}
	const struct kind_row *row;
	for (size_t i = 0; rc == 0 && (row = kinds_row(i)); i++)
		if (row->flags & ROW_DECIDES)
			rc = read_kind(client, row, NULL, into, &problems, &error);
	if (rc == 0 && args->settings.config_maps)
		read_names(args, client, into, &problems);
	remote_client_destroy(client);
	for (size_t i = 0; i < problems.count; i++)
		output_line(stderr, "%s: %s", problems.items[i].path, problems.items[i].message);
	if (rc == 0)
		return CLI_OK;
	output_line(stderr, "platoon %s: %s", args->command->name, error.text);
	if (!client)
		output_line(stderr,
		            "Name a kubeconfig with --kubeconfig (`platoon up` writes .platoon/kubeconfig), or give "
		            "files with -f.");
	return CLI_USAGE;
}
