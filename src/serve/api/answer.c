/* Answers of the API: JSON, YAML, Status objects, warnings. */
#include "serve/api/internal.h"

#include "object/doc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void to_yaml(struct buffer *body)
{
	struct buffer yaml = {0};
	struct doc *doc = doc_parse_json(body->text, body->length, NULL);
	if (!doc)
		return;
	val_write(doc_root(doc), DOC_YAML, &yaml);
	doc_destroy(doc);
	buffer_free(body);
	*body = yaml;
}

void api_answer(struct api_call *call, int code, struct buffer *body)
{
	if (call->yaml) {
		to_yaml(body);
		http_respond(call->response, code, "application/yaml", body);
		return;
	}
	buffer_append(body, "\n", 1);
	http_respond(call->response, code, "application/json", body);
}

void api_fail(struct api_call *call, const struct store_error *error)
{
	struct buffer body = {0};
	char seconds[24];
	if (error->retry_after > 0) {
		snprintf(seconds, sizeof(seconds), "%lld", (long long)error->retry_after);
		http_response_header(call->response, "Retry-After", seconds);
	}
	store_error_write(error, &body);
	api_answer(call, error->code, &body);
}

void api_refuse(struct api_call *call, int code, const char *reason, const char *format, ...)
{
	struct store_error error = {.code = code, .reason = reason, .uid = "", .continue_ = ""};
	va_list args;
	va_start(args, format);
	error.message = arena_vprintf(call->arena, format, args);
	va_end(args);
	error.name = call->name ? call->name : "";
	error.group = call->group ? call->group : "";
	error.kind = call->resource ? call->resource : "";
	api_fail(call, &error);
}

void api_not_found(struct api_call *call)
{
	api_refuse(call, 404, "NotFound", "the server could not find the requested resource");
}

void api_not_allowed(struct api_call *call)
{
	api_refuse(call, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

void api_warn(struct api_call *call, const char *text)
{
	struct buffer value = {0};
	buffer_puts(&value, "299 - \"");
	for (const char *at = text; *at; at++) {
		if (*at == '"' || *at == '\\')
			buffer_puts(&value, "\\");
		buffer_append(&value, at, 1);
	}
	buffer_puts(&value, "\"");
	http_response_header(call->response, "Warning", value.text);
	buffer_free(&value);
}

void api_text(struct api_call *call, int code, const char *text)
{
	struct buffer body = {0};
	buffer_puts(&body, text);
	http_respond(call->response, code, "text/plain; charset=utf-8", &body);
}

bool api_unchanged(struct api_call *call, const char *tag)
{
	const char *known = http_header(call->request, "if-none-match");
	http_response_header(call->response, "ETag", tag);
	http_response_header(call->response, "Vary", "Accept");
	if (!known || !strstr(known, tag))
		return false;
	http_respond(call->response, 304, NULL, NULL);
	return true;
}
