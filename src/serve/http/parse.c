/* llhttp calls back with pieces; this gathers them into a request and stops at the first limit. */
#include "serve/http/parse.h"

#include <ctype.h>
#include <llhttp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Offsets into `head`, because that moves while it grows. */
struct span {
	size_t name, value;
};

struct http_message {
	llhttp_t parser;
	struct buffer head; /* target and headers, each with its NUL */
	struct buffer body;
	size_t head_limit, body_limit;
	struct span *spans;
	struct http_field *fields; /* made from the spans when the head is complete */
	size_t count, capacity;
	size_t name_length; /* of the header under way */
	char *query;
	const char *path;
	bool in_value, head_done, done, expects_continue;
	int status;
	const char *problem;
};

static int fail(struct http_message *message, int status, const char *problem)
{
	message->status = status;
	message->problem = problem;
	return -1;
}

static struct http_message *message_of(llhttp_t *parser)
{
	return parser->data;
}

static int take_head(struct http_message *message, const char *at, size_t length)
{
	if (message->head.length + length + 2 > message->head_limit)
		return fail(message, 431, "the request line and headers are too large");
	if (memchr(at, '\0', length))
		return fail(message, 400, "a header contains a NUL byte");
	buffer_append(&message->head, at, length);
	return 0;
}

static void end_text(struct http_message *message)
{
	buffer_append(&message->head, "", 1);
}

static int on_url(llhttp_t *parser, const char *at, size_t length)
{
	struct http_message *message = message_of(parser);
	if (message->head.length + length > message->head_limit / 2)
		return fail(message, 414, "the request target is too long");
	return take_head(message, at, length);
}

static int on_url_complete(llhttp_t *parser)
{
	end_text(message_of(parser));
	return 0;
}

static int on_field(llhttp_t *parser, const char *at, size_t length)
{
	struct http_message *message = message_of(parser);
	if (message->head_done)
		return 0; /* trailers after a chunked body mean nothing to us */
	if (message->name_length == 0) {
		if (message->count == HTTP_MAX_HEADERS)
			return fail(message, 431, "too many headers");
		if (message->count == message->capacity) {
			message->capacity = message->capacity ? message->capacity * 2 : 16;
			message->spans = base_realloc_array(message->spans, message->capacity, sizeof(struct span));
		}
		message->spans[message->count].name = message->head.length;
	}
	message->name_length += length;
	return take_head(message, at, length);
}

static int on_field_complete(llhttp_t *parser)
{
	struct http_message *message = message_of(parser);
	if (message->head_done)
		return 0;
	end_text(message);
	message->name_length = 0;
	message->spans[message->count].value = message->head.length;
	return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t length)
{
	struct http_message *message = message_of(parser);
	return message->head_done ? 0 : take_head(message, at, length);
}

static int on_value_complete(llhttp_t *parser)
{
	struct http_message *message = message_of(parser);
	if (message->head_done)
		return 0;
	end_text(message);
	message->count++;
	return 0;
}

/* Accepts /path?query and, as clients of proxies send it, scheme://host/path?query. */
static int split_target(struct http_message *message)
{
	char *target = message->head.text;
	if (*target != '/') {
		char *host = strstr(target, "://");
		char *path = host ? strchr(host + 3, '/') : NULL;
		if (!path)
			return fail(message, 400, "the request target is not a path");
		target = path;
	}
	target[strcspn(target, "#")] = '\0';
	message->path = target;
	message->query = strchr(target, '?');
	if (message->query)
		*message->query++ = '\0';
	return 0;
}

static void make_fields(struct http_message *message)
{
	message->fields = base_calloc(message->count, sizeof(struct http_field));
	for (size_t i = 0; i < message->count; i++) {
		char *name = message->head.text + message->spans[i].name;
		char *value = message->head.text + message->spans[i].value;
		for (char *at = name; *at; at++)
			*at = (char)tolower((unsigned char)*at);
		for (size_t end = strlen(value); end > 0 && (value[end - 1] == ' ' || value[end - 1] == '\t');)
			value[--end] = '\0';
		message->fields[i] = (struct http_field){.name = name, .value = value};
		if (strcmp(name, "expect") == 0 && strcasecmp(value, "100-continue") == 0)
			message->expects_continue = true;
	}
	free(message->spans);
	message->spans = NULL;
}

static int on_head(llhttp_t *parser)
{
	struct http_message *message = message_of(parser);
	if (message->head.length == 0 || split_target(message))
		return message->status ? -1 : fail(message, 400, "the request has no target");
	make_fields(message);
	message->head_done = true;
	if ((parser->flags & F_CONTENT_LENGTH) && parser->content_length > message->body_limit)
		return fail(message, 413, "the request body is too large");
	bool has_body = (parser->flags & F_CHUNKED) || parser->content_length > 0;
	return has_body ? HPE_PAUSED : 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t length)
{
	struct http_message *message = message_of(parser);
	if (length > message->body_limit - message->body.length)
		return fail(message, 413, "the request body is too large");
	buffer_append(&message->body, at, length);
	return 0;
}

static int on_done(llhttp_t *parser)
{
	message_of(parser)->done = true;
	return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
	.on_url = on_url,
	.on_url_complete = on_url_complete,
	.on_header_field = on_field,
	.on_header_field_complete = on_field_complete,
	.on_header_value = on_value,
	.on_header_value_complete = on_value_complete,
	.on_headers_complete = on_head,
	.on_body = on_body,
	.on_message_complete = on_done,
};

struct http_message *http_message_create(size_t head_limit, size_t body_limit)
{
	struct http_message *message = base_calloc(1, sizeof(*message));
	llhttp_init(&message->parser, HTTP_REQUEST, &settings);
	message->parser.data = message;
	message->head_limit = head_limit;
	message->body_limit = body_limit;
	return message;
}

void http_message_destroy(struct http_message *message)
{
	if (!message)
		return;
	buffer_free(&message->head);
	buffer_free(&message->body);
	free(message->spans);
	free(message->fields);
	free(message);
}

static int parse_problem(struct http_message *message, llhttp_errno_t code)
{
	if (message->status)
		return -1;
	if (code == HPE_INVALID_METHOD)
		return fail(message, 501, "unknown method");
	if (code == HPE_INVALID_VERSION)
		return fail(message, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
	return fail(message, 400, "the request is not HTTP");
}

enum http_parse_result http_message_feed(struct http_message *message, const char *data, size_t length, size_t *used)
{
	bool had_head = message->head_done;
	*used = 0;
	if (message->status)
		return HTTP_PARSE_BAD;
	if (message->parser.error == HPE_PAUSED)
		llhttp_resume(&message->parser);
	llhttp_errno_t code = llhttp_execute(&message->parser, data, length);
	*used = length;
	if (code == HPE_PAUSED || code == HPE_PAUSED_UPGRADE) {
		*used = (size_t)(llhttp_get_error_pos(&message->parser) - data);
	} else if (code != HPE_OK) {
		parse_problem(message, code);
		return HTTP_PARSE_BAD;
	}
	if (message->done)
		return HTTP_PARSE_DONE;
	return message->head_done && !had_head ? HTTP_PARSE_HEAD : HTTP_PARSE_MORE;
}

static enum http_verb verb_of(uint8_t method)
{
	switch (method) {
	case HTTP_GET:
		return HTTP_VERB_GET;
	case HTTP_HEAD:
		return HTTP_VERB_HEAD;
	case HTTP_POST:
		return HTTP_VERB_POST;
	case HTTP_PUT:
		return HTTP_VERB_PUT;
	case HTTP_PATCH:
		return HTTP_VERB_PATCH;
	case HTTP_DELETE:
		return HTTP_VERB_DELETE;
	case HTTP_OPTIONS:
		return HTTP_VERB_OPTIONS;
	default:
		return HTTP_VERB_OTHER;
	}
}

void http_message_request(struct http_message *message, struct http_request *request)
{
	*request = (struct http_request){
		.verb = verb_of(message->parser.method),
		.path = message->path,
		.query = message->query ? message->query : "",
		.headers = message->fields,
		.header_count = message->count,
		.body = message->body.text ? message->body.text : "",
		.body_length = message->body.length,
		.wants_upgrade = message->parser.upgrade,
	};
}

bool http_message_keep_alive(const struct http_message *message)
{
	return message->done && !message->parser.upgrade && llhttp_should_keep_alive(&message->parser);
}

bool http_message_http10(const struct http_message *message)
{
	return message->parser.http_major == 1 && message->parser.http_minor == 0;
}

bool http_message_expects_continue(const struct http_message *message)
{
	return message->expects_continue;
}

size_t http_message_size(const struct http_message *message)
{
	return message->head.length + message->body.length;
}

int http_message_problem(const struct http_message *message, const char **text)
{
	if (text)
		*text = message->problem;
	return message->status;
}
