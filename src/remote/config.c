/* Owns reading kubeconfig files and the service account of a pod. */
#include "remote/config.h"

#include "base/base64.h"
#include "base/vec.h"
#include "object/yaml_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)16 << 20)
#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount/"

struct choice {
	const struct val *const *files;
	const char *const *folders;
	size_t count;
	struct arena *arena;
	struct error *error;
};

int remote_file_read(const char *path, struct arena *arena, const char **text, struct error *error)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return error_set(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, "%s: %s", path, strerror(errno));
	struct buffer content = {0};
	char chunk[8192];
	size_t got;
	while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0 && content.length + got <= FILE_MAX)
		buffer_append(&content, chunk, got);
	int status = 0;
	if (ferror(file))
		status = error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
	else if (got > 0)
		status = error_set(error, ERROR_LIMIT, "%s: larger than %zu bytes", path, FILE_MAX);
	else
		*text = arena_strndup(arena, content.text ? content.text : "", content.length);
	fclose(file);
	buffer_free(&content);
	return status;
}

/* ---- finding named entries ---- */

/* The entry of this name in the first file that has one: {"name": ..., KEY: {...}}; the map below KEY. */
static const struct val *find(const struct choice *choice, const char *list, const char *key, const char *name,
                              const char **folder)
{
	for (size_t i = 0; i < choice->count; i++) {
		const struct val *item;
		for (struct val_iter it = val_iter(val_get(choice->files[i], list)); val_next(&it, NULL, &item);) {
			if (strcmp(val_str(val_get(item, "name"), ""), name) != 0)
				continue;
			*folder = choice->folders[i];
			return val_get(item, key);
		}
	}
	return NULL;
}

static const char *current_context(const struct choice *choice)
{
	for (size_t i = 0; i < choice->count; i++) {
		const char *name = val_str(val_get(choice->files[i], "current-context"), "");
		if (name[0])
			return name;
	}
	return NULL;
}

static const char *text_of(const struct choice *choice, const struct val *map, const char *key)
{
	const char *text = val_str(val_get(map, key), "");
	return text[0] ? arena_strdup(choice->arena, text) : NULL;
}

static const char *path_of(const struct choice *choice, const char *folder, const char *path)
{
	bool is_here = path[0] == '/' || strcmp(folder, ".") == 0;
	return is_here ? arena_strdup(choice->arena, path) : arena_printf(choice->arena, "%s/%s", folder, path);
}

static int decode(const struct choice *choice, const char *text, const char *field, const char **out)
{
	if (strlen(text) > FILE_MAX)
		return error_set(choice->error, ERROR_LIMIT, "%s: larger than %zu bytes", field, FILE_MAX);
	struct buffer plain = {0};
	int rc = base64_decode(text, &plain);
	*out = rc == 0 ? arena_strndup(choice->arena, plain.text ? plain.text : "", plain.length) : NULL;
	if (plain.text)
		explicit_bzero(plain.text, plain.length);
	buffer_free(&plain);
	return rc == 0 ? 0 : error_set(choice->error, ERROR_SYNTAX, "%s: not base64", field);
}

/* KEY-data in base64 before the file KEY. */
static int data_of(const struct choice *choice, const struct val *map, const char *folder, const char *key,
                   const char **out)
{
	const char *field = arena_printf(choice->arena, "%s-data", key);
	const char *data = val_str(val_get(map, field), ""), *path = val_str(val_get(map, key), "");
	if (data[0])
		return decode(choice, data, field, out);
	return path[0] ? remote_file_read(path_of(choice, folder, path), choice->arena, out, choice->error) : 0;
}

/* ---- the parts ---- */

static const char *const *texts_of(const struct choice *choice, const char *first, const struct val *list)
{
	size_t count = val_count(list), at = 0;
	const char **texts = arena_array(choice->arena, const char *, count + 2);
	if (first)
		texts[at++] = arena_strdup(choice->arena, first);
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		texts[at++] = arena_strdup(choice->arena, val_str(item, ""));
	return texts;
}

static int read_exec(const struct choice *choice, const struct val *map, const char *folder,
                     struct remote_access *access)
{
	const char *command = val_str(val_get(map, "command"), "");
	const char *version = val_str(val_get(map, "apiVersion"), "");
	if (!command[0])
		return error_set(choice->error, ERROR_INVALID, "users[].user.exec.command: missing");
	if (strcmp(version, "client.authentication.k8s.io/v1") != 0 &&
	    strcmp(version, "client.authentication.k8s.io/v1beta1") != 0)
		return error_set(
			choice->error, ERROR_INVALID,
			"users[].user.exec.apiVersion: \"%.80s\" is not supported; use client.authentication.k8s.io/v1",
			version);
	if (strcmp(val_str(val_get(map, "interactiveMode"), ""), "Always") == 0)
		return error_set(choice->error, ERROR_INVALID,
		                 "users[].user.exec.interactiveMode: Always: it is run without a terminal; use a user "
		                 "whose command needs none, or IfAvailable");
	/* A command with a slash is a path like any other in the file; one without is looked for in PATH. */
	if (strchr(command, '/'))
		command = path_of(choice, folder, command);
	const struct val *environment = val_get(map, "env"), *item;
	const char **pairs = arena_array(choice->arena, const char *, val_count(environment) + 1);
	size_t count = 0;
	for (struct val_iter it = val_iter(environment); val_next(&it, NULL, &item);)
		pairs[count++] = arena_printf(choice->arena, "%s=%s", val_str(val_get(item, "name"), ""),
		                              val_str(val_get(item, "value"), ""));
	struct remote_exec *exec = arena_new(choice->arena, struct remote_exec);
	*exec = (struct remote_exec){
		.api_version = arena_strdup(choice->arena, version),
		.argv = texts_of(choice, command, val_get(map, "args")),
		.environment = pairs,
		.hint = arena_strdup(choice->arena, val_str(val_get(map, "installHint"), "")),
		.give_cluster = val_bool(val_get(map, "provideClusterInfo"), false),
	};
	access->exec = exec;
	return 0;
}

static int read_user(const struct choice *choice, const struct val *user, const char *folder,
                     struct remote_access *access)
{
	if (data_of(choice, user, folder, "client-certificate", &access->certificate) < 0 ||
	    data_of(choice, user, folder, "client-key", &access->key) < 0)
		return -1;
	if (!access->certificate != !access->key)
		return error_set(
			choice->error, ERROR_INVALID,
			"users[].user: client-certificate and client-key belong together; one of them is missing");
	access->token = text_of(choice, user, "token");
	access->user = text_of(choice, user, "username");
	access->password = text_of(choice, user, "password");
	const char *file = val_str(val_get(user, "tokenFile"), "");
	if (file[0])
		access->token_file = path_of(choice, folder, file);
	const struct val *exec = val_get(user, "exec");
	return val_kind(exec) == VAL_MAP ? read_exec(choice, exec, folder, access) : 0;
}

static int read_cluster(const struct choice *choice, const struct val *cluster, const char *folder,
                        struct remote_access *access)
{
	const char *server = val_str(val_get(cluster, "server"), "");
	if (strncmp(server, "https://", 8) != 0 && strncmp(server, "http://", 7) != 0)
		return error_set(choice->error, ERROR_INVALID,
		                 "clusters[].cluster.server: \"%.80s\" is not an http(s) URL", server);
	size_t length = strlen(server);
	while (length > 0 && server[length - 1] == '/')
		length--;
	access->server = arena_strndup(choice->arena, server, length);
	access->server_name = text_of(choice, cluster, "tls-server-name");
	access->proxy = text_of(choice, cluster, "proxy-url");
	access->insecure = val_bool(val_get(cluster, "insecure-skip-tls-verify"), false);
	return data_of(choice, cluster, folder, "certificate-authority", &access->authority);
}

int remote_config_choose(const struct val *const *files, const char *const *folders, size_t count, const char *context,
                         struct arena *arena, struct remote_access *access, struct error *error)
{
	struct choice choice = {files, folders, count, arena, error};
	const char *folder = ".", *name = context ? context : current_context(&choice);
	*access = (struct remote_access){.namespace_ = "default"};
	if (!name)
		return error_set(error, ERROR_NOT_FOUND,
		                 "kubeconfig: current-context is not set; name one with --context or `kubectl config "
		                 "use-context`");
	const struct val *chosen = find(&choice, "contexts", "context", name, &folder);
	if (!chosen)
		return error_set(error, ERROR_NOT_FOUND, "kubeconfig: there is no context \"%.120s\"", name);
	access->context = arena_strdup(arena, name);
	const char *namespace_ = text_of(&choice, chosen, "namespace");
	if (namespace_)
		access->namespace_ = namespace_;
	const char *cluster = val_str(val_get(chosen, "cluster"), ""), *user = val_str(val_get(chosen, "user"), "");
	const struct val *found = find(&choice, "clusters", "cluster", cluster, &folder);
	if (!found)
		return error_set(error, ERROR_NOT_FOUND,
		                 "kubeconfig: context \"%.120s\" names cluster \"%.120s\", which is not there", name,
		                 cluster);
	if (read_cluster(&choice, found, folder, access) < 0)
		return -1;
	if (!user[0])
		return 0;
	found = find(&choice, "users", "user", user, &folder);
	if (!found)
		return error_set(error, ERROR_NOT_FOUND,
		                 "kubeconfig: context \"%.120s\" names user \"%.120s\", which is not there", name,
		                 user);
	return read_user(&choice, found, folder, access);
}

/* ---- files ---- */

struct opened {
	VEC(struct doc *) docs;
	VEC(const struct val *) files;
	VEC(const char *) folders;
};

static int open_file(struct opened *opened, const char *path, bool required, struct arena *arena, struct error *error)
{
	const char *text = "";
	struct error problem = {0};
	if (remote_file_read(path, arena, &text, &problem) < 0) {
		if (problem.code == ERROR_NOT_FOUND && !required)
			return 0;
		return error_set(error, problem.code, "kubeconfig %s", problem.text);
	}
	struct yaml_document *docs;
	size_t count;
	if (yaml_read(text, strlen(text), &docs, &count, &problem) < 0)
		return error_set(error, problem.code, "kubeconfig %s: %.300s", path, problem.text);
	const char *slash = strrchr(path, '/');
	for (size_t i = 0; i < count; i++) {
		vec_push(&opened->docs, docs[i].doc);
		vec_push(&opened->files, doc_root(docs[i].doc));
		vec_push(&opened->folders, slash ? arena_strndup(arena, path, (size_t)(slash - path)) : ".");
	}
	free(docs);
	return 0;
}

static int open_files(struct opened *opened, const char *path, struct arena *arena, struct error *error)
{
	const char *list = getenv("KUBECONFIG"), *home = getenv("HOME");
	if (path)
		return open_file(opened, path, true, arena, error);
	if (!list || !list[0])
		return home ? open_file(opened, arena_printf(arena, "%s/.kube/config", home), false, arena, error) : 0;
	while (*list) {
		size_t length = strcspn(list, ":");
		/* As kubectl: of several files some may be missing. */
		if (length > 0 && open_file(opened, arena_strndup(arena, list, length),
		                            list[length] == '\0' && opened->files.count == 0, arena, error) < 0)
			return -1;
		list += length + (list[length] == ':');
	}
	return 0;
}

/* The service account of the pod we are in. */
static int read_service_account(struct arena *arena, struct remote_access *access, struct error *error)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
	*access = (struct remote_access){.namespace_ = "default", .context = "in-cluster"};
	if (!host || !host[0] || faccessat(AT_FDCWD, ACCOUNT "token", R_OK, 0) != 0)
		return error_set(error, ERROR_NOT_FOUND,
		                 "no kubeconfig: $KUBECONFIG is not set, ~/.kube/config is not there, and this is no "
		                 "pod; name a "
		                 "file with --kubeconfig");
	access->server = arena_printf(arena, strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host,
	                              port && port[0] ? port : "443");
	access->token_file = ACCOUNT "token";
	if (remote_file_read(ACCOUNT "ca.crt", arena, &access->authority, error) < 0)
		return -1;
	const char *namespace_ = "";
	struct error ignored;
	if (remote_file_read(ACCOUNT "namespace", arena, &namespace_, &ignored) == 0 && namespace_[0])
		access->namespace_ = namespace_;
	return 0;
}

int remote_config_load(const char *path, const char *context, struct arena *arena, struct remote_access *access,
                       struct error *error)
{
	struct opened opened = {0};
	int status = open_files(&opened, path, arena, error);
	if (status == 0 && opened.files.count > 0)
		status = remote_config_choose(opened.files.items, opened.folders.items, opened.files.count, context,
		                              arena, access, error);
	else if (status == 0)
		status = read_service_account(arena, access, error);
	for (size_t i = 0; i < opened.docs.count; i++)
		doc_destroy(opened.docs.items[i]);
	vec_free(&opened.docs);
	vec_free(&opened.files);
	vec_free(&opened.folders);
	return status;
}
