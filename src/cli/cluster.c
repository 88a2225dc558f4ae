/* Owns reading the objects of a live cluster for commands that only look. */
#include "cli/cli.h"
#include "cli/output.h"

#include "store/remote_client.h"

#include <string.h>

#define PAGE 1000 /* objects per request: what a server answers quickly */

static const char *const paths[] = {
	"/api/v1/nodes",
	"/api/v1/pods",
	"/api/v1/persistentvolumes",
	"/api/v1/persistentvolumeclaims",
	"/apis/scheduling.run.ai/v2alpha2/podgroups",
	"/apis/scheduling.run.ai/v2/queues",
	"/apis/kai.scheduler/v1alpha1/topologies",
	"/apis/scheduling.k8s.io/v1/priorityclasses",
};

/* 0, or -1 and *error. A kind that the cluster does not have has no objects. */
static int read_list(struct remote_client *client, const char *path, struct manifests *into, struct problems *problems,
                     struct error *error)
{
	struct arena *arena = problems->arena;
	const char *next = "";
	do {
		struct doc *page = remote_client_get(client,
		                                     arena_printf(arena, "%s?limit=%d%s%s", path, PAGE,
		                                                  next[0] ? "&continue=" : "", next),
		                                     error);
		if (!page)
			return error->code == ERROR_NOT_FOUND ? 0 : -1;
		manifests_keep(into, page);
		manifests_add(into, doc_root(page), path, problems);
		next = val_str(val_path(doc_root(page), "metadata", "continue", NULL), "");
	} while (next[0]);
	return 0;
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
	for (size_t i = 0; rc == 0 && i < sizeof(paths) / sizeof(*paths); i++)
		rc = read_list(client, paths[i], into, &problems, &error);
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
