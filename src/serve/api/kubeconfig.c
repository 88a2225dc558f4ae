/* Writes a kubeconfig with everything embedded. */
#include "serve/api/kubeconfig.h"

#include "base/arena.h"
#include "base/base64.h"
#include "serve/tls/secret_file.h"

#include <string.h>

static void put_data(struct buffer *out, const char *key, const char *pem)
{
	struct arena *arena = arena_create();
	buffer_printf(out, "    %s: %s\n", key, base64_encode(arena, pem, strlen(pem)));
	arena_destroy(arena);
}

int kubeconfig_write(const char *path, const struct kubeconfig *config, struct error *error)
{
	struct buffer out = {0};
	buffer_puts(&out,
	            "apiVersion: v1\nkind: Config\ncurrent-context: platoon\nclusters:\n- name: platoon\n  cluster:\n");
	buffer_printf(&out, "    server: %s\n", config->server);
	if (config->authority)
		put_data(&out, "certificate-authority-data", config->authority);
	buffer_puts(&out, "contexts:\n- name: platoon\n  context:\n    cluster: platoon\n    user: platoon-admin\n"
	                  "users:\n- name: platoon-admin\n  user:\n");
	if (config->client_certificate) {
		put_data(&out, "client-certificate-data", config->client_certificate);
		put_data(&out, "client-key-data", config->client_key);
	} else {
		buffer_printf(&out, "    token: %s\n", config->token);
	}
	int status = secret_write(path, out.text, out.length, error);
	buffer_free(&out);
	return status;
}
