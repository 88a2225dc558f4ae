/* Certificates first, then bearer tokens, compared in constant time. */
#include "serve/http/auth.h"
#include "serve/tls/secret.h"

#include <string.h>
#include <strings.h>

static bool same(const struct buffer *token, const char *text)
{
	size_t length = strlen(text);
	return length > 0 && token->length == length && secret_equal(token->text, text, length);
}

static const struct auth_user *user(struct arena *arena, const char *name, const char *group, bool read_only)
{
	struct auth_user *made = arena_new(arena, struct auth_user);
	*made = (struct auth_user){.name = name, .group = group, .read_only = read_only};
	return made;
}

const struct auth_user *auth_identify(const struct auth *auth, const struct http_request *request)
{
	const char *header = http_header(request, "authorization");
	if (request->peer.certificate && request->peer.subject)
		return user(request->arena, request->peer.subject, request->peer.group ? request->peer.group : "",
		            false);
	if (header && strncasecmp(header, "bearer ", 7) == 0) {
		const char *token = header + 7 + strspn(header + 7, " ");
		if (same(&auth->token, token))
			return user(request->arena, "platoon-admin", "system:masters", false);
		if (same(&auth->read_token, token))
			return user(request->arena, "platoon-reader", "system:readers", true);
		return NULL;
	}
	return auth->open ? user(request->arena, "platoon-admin", "system:masters", false) : NULL;
}

void auth_free(struct auth *auth)
{
	buffer_free(&auth->token);
	buffer_free(&auth->read_token);
}
