/* Owns reading the objects of a live cluster for commands that only look. */
#include "cli/cli.h"
#include "cli/output.h"

#include "group/defaults.h"
#include "remote/client.h"

#include <string.h>
#include <strings.h>

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

/* Workloads, and what they make that is no pod: who belongs to whom. */
static const char *const owner_paths[][2] = {
	{"/api/v1", "replicationcontrollers"},
	{"/apis/apps/v1", "daemonsets"},
	{"/apis/apps/v1", "deployments"},
	{"/apis/apps/v1", "replicasets"},
	{"/apis/apps/v1", "statefulsets"},
	{"/apis/batch/v1", "cronjobs"},
	{"/apis/batch/v1", "jobs"},
	{"/apis/grove.io/v1alpha1", "podcliques"},
	{"/apis/grove.io/v1alpha1", "podcliquescalinggroups"},
	{"/apis/grove.io/v1alpha1", "podcliquesets"},
	{"/apis/jobset.x-k8s.io/v1alpha2", "jobsets"},
	{"/apis/kubeflow.org/v1", "jaxjobs"},
	{"/apis/kubeflow.org/v1", "mpijobs"},
	{"/apis/kubeflow.org/v1", "pytorchjobs"},
	{"/apis/kubeflow.org/v1", "tfjobs"},
	{"/apis/kubeflow.org/v1", "xgboostjobs"},
	{"/apis/kubeflow.org/v2beta1", "mpijobs"},
	{"/apis/leaderworkerset.x-k8s.io/v1", "leaderworkersets"},
	{"/apis/ray.io/v1", "rayclusters"},
	{"/apis/ray.io/v1", "rayjobs"},
	{"/apis/ray.io/v1", "rayservices"},
	{"/apis/serving.knative.dev/v1", "configurations"},
	{"/apis/serving.knative.dev/v1", "revisions"},
	{"/apis/serving.knative.dev/v1", "services"},
	{"/apis/sparkoperator.k8s.io/v1beta2", "sparkapplications"},
	{"/apis/trainer.kubeflow.org/v1alpha1", "trainjobs"},
	{"/apis/workloads.x-k8s.io/v1alpha2", "rolebasedgroups"},
	{"/apis/workloads.x-k8s.io/v1alpha2", "roleinstances"},
	{"/apis/workloads.x-k8s.io/v1alpha2", "roleinstancesets"},
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

void cli_load_owners(struct cli_args *args, const char *namespace_, struct manifests *into)
{
	struct problems problems = {.arena = args->arena};
	struct remote_access access;
	struct error error = {0};
	if (remote_config_load(args->kubeconfig, args->context, args->arena, &access, &error) < 0)
		return;
	struct remote_client *client = remote_client_create(&access, NULL, &error);
	for (size_t i = 0; client && i < sizeof(owner_paths) / sizeof(*owner_paths); i++) {
		error = (struct error){0};
		read_list(client,
		          arena_printf(args->arena, "%s/namespaces/%s/%s", owner_paths[i][0], namespace_,
		                       owner_paths[i][1]),
		          into, &problems, &error);
	}
	remote_client_destroy(client);
}

bool cli_is_unmarked(const struct settings *settings, const struct manifest *pod)
{
	return strcmp(pod->kind, "Pod") == 0 && settings_owns_pod(settings, pod->object) &&
	       !*val_str(val_path(pod->object, "metadata", "annotations", "pod-group-name", NULL), "");
}

/* "ReplicaSet" is read from replicasets. */
static bool is_read_from(const char *resource, const char *kind)
{
	size_t length = strlen(kind);
	return strncasecmp(resource, kind, length) == 0 && strcmp(resource + length, "s") == 0;
}

static void note_kinds(const struct manifest *object, struct interner *kinds)
{
	const struct val *owner;
	for (struct val_iter it = val_iter(val_path(object->object, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &owner);)
		interner_id(kinds, val_str(val_get(owner, "kind"), ""));
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
			note_kinds(&objects->items[i], kinds);
		}
	struct remote_client *client = NULL;
	if (wanted && remote_config_load(args->kubeconfig, args->context, args->arena, &access, &error) == 0)
		client = remote_client_create(&access, NULL, &error);
	/* Owners have owners: a Deployment stands above a ReplicaSet. What cannot be read is left out. */
	for (uint32_t k = 0; client && k < interner_count(kinds); k++)
		for (size_t i = 0; i < sizeof(owner_paths) / sizeof(*owner_paths); i++) {
			size_t before = into->count;
			if (!is_read_from(owner_paths[i][1], interner_text(kinds, k)))
				continue;
			read_list(client, arena_printf(args->arena, "%s/%s", owner_paths[i][0], owner_paths[i][1]),
			          into, &problems, &error);
			for (size_t n = before; n < into->count; n++)
				note_kinds(&into->items[n], kinds);
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
		          into, &problems, &error);
	remote_client_destroy(client);
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
