/* Answers: the head, one-piece bodies (compressed when large) and streams in chunks. */
#include "serve/http/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define SMALL_BODY ((size_t)16 << 10) /* copied behind the head, so that both leave in one piece */
#define LARGE_BODY ((size_t)64 << 10) /* counts against the limit of all answers together */

static const char *status_text(int status)
{
	static const struct {
		int status;
		const char *text;
	} table[] = {
		{200, "OK"},
		{201, "Created"},
		{202, "Accepted"},
		{204, "No Content"},
		{301, "Moved Permanently"},
		{304, "Not Modified"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{406, "Not Acceptable"},
		{408, "Request Timeout"},
		{409, "Conflict"},
		{410, "Gone"},
		{413, "Content Too Large"},
		{414, "URI Too Long"},
		{415, "Unsupported Media Type"},
		{422, "Unprocessable Entity"},
		{429, "Too Many Requests"},
		{431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{503, "Service Unavailable"},
		{504, "Gateway Timeout"},
		{505, "HTTP Version Not Supported"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].status == status)
			return table[i].text;
	}
	return "Other";
}

void http_response_begin(struct http_response *response, struct http_conn *conn, const struct http_request *request)
{
	*response = (struct http_response){.conn = conn, .request = request};
}

void http_response_end(struct http_response *response)
{
	buffer_free(&response->headers);
}

void http_response_header(struct http_response *response, const char *name, const char *value)
{
	buffer_puts(&response->headers, name);
	buffer_puts(&response->headers, ": ");
	size_t start = response->headers.length;
	buffer_puts(&response->headers, value);
	for (size_t i = start; i < response->headers.length; i++) {
		unsigned char c = (unsigned char)response->headers.text[i];
		if (c < ' ' || c == 0x7f)
			response->headers.text[i] = ' ';
	}
	buffer_puts(&response->headers, "\r\n");
}

static void put_head(struct http_response *response, int status, const char *content_type, int64_t length)
{
	struct http_conn *conn = response->conn;
	struct buffer *out = &conn->out;
	size_t before = out->length;
	buffer_printf(out, "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, status_text(status),
	              http_server_date(conn->server));
	if (content_type)
		buffer_printf(out, "Content-Type: %s\r\n", content_type);
	if (response->headers.length)
		buffer_append(out, response->headers.text, response->headers.length);
	if (length >= 0 && status != 304 && status != 204)
		buffer_printf(out, "Content-Length: %lld\r\n", (long long)length);
	if (conn->chunked)
		buffer_puts(out, "Transfer-Encoding: chunked\r\n");
	if (conn->close_after)
		buffer_puts(out, "Connection: close\r\n");
	else if (response->http10) /* there closing is the rule */
		buffer_puts(out, "Connection: keep-alive\r\n");
	buffer_puts(out, "\r\n");
	conn->server->stats.output_bytes += out->length - before;
	response->given = true;
	response->status = status;
	conn->fresh = true;
	http_conn_dirty(conn);
}

static void enter_answer(struct http_conn *conn, enum http_conn_state state)
{
	conn->state = (uint8_t)state;
	conn->wake_at = 0;
	http_timer_set(&conn->server->timers, &conn->timer, conn->stall_at);
	http_server_idle(conn, false);
	if (state == HTTP_CONN_STREAM)
		http_server_interest(conn, EPOLLRDHUP);
}

static void compress(struct http_response *response, struct buffer *body)
{
	struct buffer small = {0};
	if (!response->request || body->length < response->conn->server->limits.gzip_bytes ||
	    !http_header_has(response->request, "accept-encoding", "gzip"))
		return;
	if (http_gzip(body->text, body->length, &small))
		return;
	buffer_free(body);
	*body = small;
	http_response_header(response, "Content-Encoding", "gzip");
	http_response_header(response, "Vary", "Accept-Encoding");
}

void http_respond(struct http_response *response, int status, const char *content_type, struct buffer *body)
{
	struct http_conn *conn = response->conn;
	struct buffer none = {0};
	if (response->given) {
		if (body)
			buffer_free(body);
		return;
	}
	if (!body)
		body = &none;
	compress(response, body);
	if (body->length > LARGE_BODY &&
	    conn->server->stats.output_bytes + body->length > conn->server->limits.output_total) {
		buffer_free(body);
		response->given = true;
		http_conn_problem(conn, 429, "too many large answers are waiting to be read");
		return;
	}
	enter_answer(conn, HTTP_CONN_ANSWER);
	put_head(response, status, content_type, (int64_t)body->length);
	if (conn->head_only || status == 304 || status == 204) {
		buffer_free(body);
		return;
	}
	conn->server->stats.output_bytes += body->length;
	if (body->length <= SMALL_BODY) {
		if (body->length)
			buffer_append(&conn->out, body->text, body->length);
		buffer_free(body);
	} else {
		conn->body = *body;
		*body = (struct buffer){0};
	}
}

/* ---- streams ---- */

static struct http_conn *conn_of(struct http_stream *stream)
{
	return (struct http_conn *)stream;
}

struct http_stream *http_stream_open(struct http_response *response, int status, const char *content_type,
                                     const struct http_stream_ops *ops, void *owner)
{
	struct http_conn *conn = response->conn;
	if (response->given)
		return NULL;
	if (conn->head_only) {
		http_respond(response, status, content_type, NULL);
		return NULL;
	}
	conn->chunked = !response->http10;
	conn->close_after = conn->close_after || response->http10;
	conn->ops = ops;
	conn->owner = owner;
	conn->stream_lost = false;
	conn->server->stats.streams++;
	enter_answer(conn, HTTP_CONN_STREAM);
	put_head(response, status, content_type, -1);
	return (struct http_stream *)conn;
}

size_t http_stream_backlog(const struct http_stream *stream)
{
	const struct http_conn *conn = (const struct http_conn *)stream;
	return conn->out.length - conn->sent;
}

/* Forgets what was sent once that is most of the buffer, so that it does not grow for ever behind a slow reader. */
static void compact(struct http_conn *conn)
{
	if (conn->sent < 4096 || conn->sent < conn->out.length / 2)
		return;
	memmove(conn->out.text, conn->out.text + conn->sent, conn->out.length - conn->sent);
	conn->out.length -= conn->sent;
	conn->sent = 0;
}

int http_stream_write(struct http_stream *stream, const char *data, size_t length)
{
	struct http_conn *conn = conn_of(stream);
	struct http_server *server = conn->server;
	size_t backlog = http_stream_backlog(stream);
	if (conn->stream_lost)
		return -1;
	if (length == 0)
		return 0;
	/* A single piece may be larger than the backlog; it is refused only when something else waits before it. */
	if (backlog > 0 && (backlog + length > server->limits.stream_backlog ||
	                    server->stats.output_bytes + length > server->limits.output_total)) {
		conn->stream_lost = true;
		http_conn_dirty(conn);
		return -1;
	}
	compact(conn);
	size_t before = conn->out.length;
	if (conn->chunked)
		buffer_printf(&conn->out, "%zx\r\n", length);
	buffer_append(&conn->out, data, length);
	if (conn->chunked)
		buffer_append(&conn->out, "\r\n", 2);
	server->stats.output_bytes += conn->out.length - before;
	http_conn_dirty(conn);
	return 0;
}

void http_stream_end(struct http_stream *stream)
{
	struct http_conn *conn = conn_of(stream);
	static const char last[] = "0\r\n\r\n";
	conn->server->stats.streams--;
	conn->ops = NULL;
	if (conn->chunked) {
		buffer_append(&conn->out, last, sizeof(last) - 1);
		conn->server->stats.output_bytes += sizeof(last) - 1;
	}
	enter_answer(conn, HTTP_CONN_ANSWER);
	http_conn_dirty(conn);
}

void http_stream_wake_at(struct http_stream *stream, int64_t at_ns)
{
	struct http_conn *conn = conn_of(stream);
	/* Not in this turn again, whatever the caller asks. */
	int64_t at = at_ns && at_ns <= conn->server->now ? conn->server->now + 1 : at_ns;
	conn->wake_at = at;
	if (conn->stall_at && (at == 0 || conn->stall_at < at))
		at = conn->stall_at;
	http_timer_set(&conn->server->timers, &conn->timer, at);
}
