/* Headers, percent-encoding and queries of a request. */
#include "serve/http/http.h"

#include <string.h>
#include <strings.h>

const char *http_header(const struct http_request *request, const char *name)
{
	for (size_t i = 0; i < request->header_count; i++) {
		if (strcmp(request->headers[i].name, name) == 0)
			return request->headers[i].value;
	}
	return NULL;
}

/* Whether the parameters say that the token is not wanted: q=0, q=0.0 and so on. */
static bool is_refused(const char *params, size_t length)
{
	const char *q = memmem(params, length, "q=", 2);
	if (!q)
		return false;
	for (const char *at = q + 2; at < params + length && *at != ';'; at++) {
		if (*at >= '1' && *at <= '9')
			return false;
	}
	return true;
}

bool http_header_has(const struct http_request *request, const char *name, const char *token)
{
	const char *value = http_header(request, name);
	size_t wanted = strlen(token);
	while (value && *value) {
		value += strspn(value, " \t,");
		size_t length = strcspn(value, ",");
		size_t word = strcspn(value, " \t,;");
		if (word == wanted && strncasecmp(value, token, wanted) == 0)
			return !is_refused(value + word, length - word);
		value += length;
	}
	return false;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

char *http_decode(struct arena *arena, const char *text, size_t length, bool plus_is_blank)
{
	char *out = arena_alloc(arena, length + 1);
	size_t count = 0;
	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		if (c == '%') {
			int high = i + 2 < length ? hex_digit(text[i + 1]) : -1;
			int low = i + 2 < length ? hex_digit(text[i + 2]) : -1;
			if (high < 0 || low < 0 || (high | low) == 0)
				return NULL;
			c = (char)(high * 16 + low);
			i += 2;
		} else if (c == '+' && plus_is_blank) {
			c = ' ';
		}
		out[count++] = c;
	}
	out[count] = '\0';
	return out;
}

int http_query_parse(struct arena *arena, const char *text, struct http_query *query)
{
	query->count = 0;
	while (*text) {
		size_t length = strcspn(text, "&");
		if (length > 0) {
			const char *equals = memchr(text, '=', length);
			size_t name = equals ? (size_t)(equals - text) : length;
			size_t value = equals ? length - name - 1 : 0;
			if (query->count == HTTP_MAX_PARAMS)
				return -1;
			struct http_field *field = &query->params[query->count++];
			field->name = http_decode(arena, text, name, true);
			field->value = http_decode(arena, text + length - value, value, true);
			if (!field->name || !field->value)
				return -1;
		}
		text += length;
		text += *text == '&';
	}
	return 0;
}

void http_query_set(struct http_query *query, const char *name, const char *value)
{
	for (size_t i = 0; i < query->count; i++) {
		if (strcmp(query->params[i].name, name) == 0) {
			query->params[i].value = value;
			return;
		}
	}
	if (query->count < HTTP_MAX_PARAMS)
		query->params[query->count++] = (struct http_field){.name = name, .value = value};
}

const char *http_query_get(const struct http_query *query, const char *name)
{
	for (size_t i = 0; i < query->count; i++) {
		if (strcmp(query->params[i].name, name) == 0)
			return query->params[i].value;
	}
	return NULL;
}
