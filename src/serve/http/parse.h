/* HTTP requests from bytes: one message at a time, with limits. Knows no connection; only this file's .c sees llhttp. */
#ifndef SERVE_HTTP_PARSE_H
#define SERVE_HTTP_PARSE_H

#include "serve/http/http.h"

#define HTTP_MAX_HEADERS 100

struct http_message;

enum http_parse_result {
	HTTP_PARSE_MORE, /* all bytes taken, the message is not complete */
	HTTP_PARSE_HEAD, /* the headers are complete and a body follows: call again with the rest of the bytes */
	HTTP_PARSE_DONE, /* the message is complete; bytes after it were not taken */
	HTTP_PARSE_BAD,  /* see http_message_problem; the connection cannot go on */
};

struct http_message *http_message_create(size_t head_limit, size_t body_limit);
void http_message_destroy(struct http_message *message); /* NULL is a no-op */

/* Takes bytes; *used says how many. */
enum http_parse_result http_message_feed(struct http_message *message, const char *data, size_t length, size_t *used);

/* After HEAD. Pointers live as long as the message; body is empty before DONE. */
void http_message_request(struct http_message *message, struct http_request *request);
bool http_message_keep_alive(const struct http_message *message);
bool http_message_http10(const struct http_message *message);
bool http_message_expects_continue(const struct http_message *message);
/* Bytes kept so far. */
size_t http_message_size(const struct http_message *message);
/* After BAD: the status to answer with. */
int http_message_problem(const struct http_message *message, const char **text);

#endif
