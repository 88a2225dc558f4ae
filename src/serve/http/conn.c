/* One connection: reading requests, handing them on, sending answers, and its timeouts. */
#include "serve/http/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define FLUSH_BYTES ((size_t)1 << 20) /* one connection sends at most this before others have their turn */
#define STALL_BYTES ((size_t)64 << 10)

static int64_t earlier(int64_t a, int64_t b)
{
	if (a == 0 || b == 0)
		return a ? a : b;
	return a < b ? a : b;
}

static void arm(struct http_conn *conn)
{
	http_timer_set(&conn->server->timers, &conn->timer, earlier(conn->wake_at, conn->stall_at));
}

static void enter(struct http_conn *conn, enum http_conn_state state, int64_t for_ns)
{
	conn->state = (uint8_t)state;
	conn->wake_at = for_ns ? conn->server->now + for_ns : 0;
	http_server_idle(conn, state == HTTP_CONN_IDLE || state == HTTP_CONN_HANDSHAKE);
	arm(conn);
}

struct http_conn *http_conn_create(struct http_server *server, int fd)
{
	struct http_conn *conn = base_calloc(1, sizeof(*conn));
	conn->server = server;
	conn->fd = fd;
	conn->next = server->all;
	if (server->all)
		server->all->previous = conn;
	server->all = conn;
	server->stats.connections++;
	enter(conn, server->options.tls ? HTTP_CONN_HANDSHAKE : HTTP_CONN_IDLE, server->limits.head_ns);
	return conn;
}

static void drop_message(struct http_conn *conn)
{
	conn->server->stats.input_bytes -= conn->counted;
	conn->counted = 0;
	http_message_destroy(conn->message);
	conn->message = NULL;
}

static size_t waiting(const struct http_conn *conn)
{
	return conn->out.length + conn->body.length - conn->sent;
}

static void drop_output(struct http_conn *conn)
{
	conn->server->stats.output_bytes -= waiting(conn);
	buffer_free(&conn->out);
	buffer_free(&conn->body);
	conn->out = conn->body = (struct buffer){0};
	conn->sent = 0;
	conn->stall_at = 0;
}

void http_conn_close(struct http_conn *conn)
{
	struct http_server *server = conn->server;
	if (conn->state == HTTP_CONN_CLOSED)
		return;
	if (conn->state == HTTP_CONN_STREAM) {
		server->stats.streams--;
		if (conn->ops)
			conn->ops->closed(conn->owner);
		conn->ops = NULL;
	}
	drop_message(conn);
	drop_output(conn);
	free(conn->rest);
	conn->rest = NULL;
	enter(conn, HTTP_CONN_CLOSED, 0);
	http_io_close(conn);
	if (conn->previous)
		conn->previous->next = conn->next;
	else
		server->all = conn->next;
	if (conn->next)
		conn->next->previous = conn->previous;
	conn->previous = NULL;
	conn->next = server->dead;
	server->dead = conn;
	server->stats.connections--;
}

void http_conn_problem(struct http_conn *conn, int status, const char *message)
{
	const struct http_hooks *hooks = &conn->server->options.hooks;
	const char *content_type = "text/plain; charset=utf-8";
	struct buffer body = {0};
	struct http_response response;
	if (hooks->problem) {
		hooks->problem(hooks->context, status, message, &body, &content_type);
	} else {
		buffer_puts(&body, message);
		buffer_puts(&body, "\n");
	}
	conn->close_after = true;
	conn->linger_after = true;
	http_response_begin(&response, conn, NULL);
	if (status == 429)
		http_response_header(&response, "Retry-After", "1");
	http_respond(&response, status, content_type, &body);
	http_response_end(&response);
}

void http_conn_retract(struct http_conn *conn)
{
	if (!conn->fresh || conn->state != HTTP_CONN_ANSWER)
		return;
	drop_output(conn);
	http_conn_problem(conn, 500, "the change could not be stored");
}

/* ---- requests ---- */

static void log_request(const struct http_conn *conn, const struct http_request *request,
                        const struct http_response *response)
{
	static const char *const verbs[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"};
	const struct logger *logger = conn->server->options.logger;
	char status[8];
	if (!logger || !response->given || logger->level < LOG_DEBUG || !(logger->flags & LOG_FLAG_HTTP))
		return;
	snprintf(status, sizeof(status), "%d", response->status);
	log_write(logger, LOG_DEBUG, LOG_FLAG_HTTP, "request", "method", verbs[request->verb], "path", request->path,
	          "query", request->query, "status", status, NULL);
}

/* Hands the request to the hooks; `whole` says that the body is there. True when it was answered. */
static bool ask(struct http_conn *conn, bool whole)
{
	struct http_server *server = conn->server;
	const struct http_hooks *hooks = &server->options.hooks;
	struct http_request request;
	struct http_response response;
	http_message_request(conn->message, &request);
	request.arena = server->arena;
	http_io_peer(conn, server->arena, &request.peer);
	conn->close_after = !http_message_keep_alive(conn->message) || server->draining;
	conn->linger_after = !whole;
	conn->head_only = request.verb == HTTP_VERB_HEAD;
	http_response_begin(&response, conn, &request);
	response.http10 = http_message_http10(conn->message);
	if (hooks->head)
		hooks->head(hooks->context, &request, &response);
	if (whole && !response.given) {
		server->stats.requests++;
		hooks->handle(hooks->context, &request, &response);
	}
	bool given = response.given;
	log_request(conn, &request, &response);
	http_response_end(&response);
	arena_reset(server->arena);
	if (whole || given)
		drop_message(conn); /* a stream may stay for hours */
	if (whole && !given)
		http_conn_problem(conn, 500, "the request was not answered");
	return given || whole;
}

static void keep_rest(struct http_conn *conn, const char *data, size_t length)
{
	if (length == 0)
		return;
	conn->rest = base_malloc(length);
	memcpy(conn->rest, data, length);
	conn->rest_length = length;
}

static bool count_input(struct http_conn *conn)
{
	struct http_stats *stats = &conn->server->stats;
	size_t size = http_message_size(conn->message);
	stats->input_bytes += size - conn->counted;
	conn->counted = size;
	return stats->input_bytes <= conn->server->limits.input_total;
}

static void head_complete(struct http_conn *conn, size_t rest)
{
	if (ask(conn, false))
		return;
	enter(conn, HTTP_CONN_READING, conn->server->limits.body_ns);
	if (http_message_expects_continue(conn->message) && rest == 0) {
		static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
		buffer_append(&conn->out, go_on, sizeof(go_on) - 1);
		conn->server->stats.output_bytes += sizeof(go_on) - 1;
		http_conn_dirty(conn);
	}
}

static void bad_request(struct http_conn *conn)
{
	const char *text;
	int status = http_message_problem(conn->message, &text);
	conn->server->stats.bad_requests++;
	http_conn_problem(conn, status, text);
}

static void feed(struct http_conn *conn, const char *data, size_t length)
{
	const struct http_limits *limits = &conn->server->limits;
	if (!conn->message) {
		conn->message = http_message_create(limits->head_bytes, limits->body_bytes);
		enter(conn, HTTP_CONN_READING, limits->head_ns);
		http_server_idle(conn,
		                 true); /* until its headers are there it has shown nothing that is worth a place */
	}
	while (conn->state == HTTP_CONN_READING && length > 0) {
		size_t used;
		enum http_parse_result result = http_message_feed(conn->message, data, length, &used);
		data += used;
		length -= used;
		if (result == HTTP_PARSE_BAD) {
			bad_request(conn);
		} else if (!count_input(conn)) {
			http_conn_problem(conn, 429, "too many requests at a time");
		} else if (result == HTTP_PARSE_HEAD) {
			head_complete(conn, length);
		} else if (result == HTTP_PARSE_DONE) {
			keep_rest(conn, data, length);
			ask(conn, true);
			return;
		}
	}
}

static void read_more(struct http_conn *conn)
{
	char *scratch = conn->server->scratch;
	ssize_t count = http_io_read(conn, scratch, HTTP_READ_BYTES);
	if (count == -1)
		return;
	if (count <= 0) {
		http_conn_close(conn);
		return;
	}
	http_server_interest(conn, EPOLLIN);
	feed(conn, scratch, (size_t)count);
	if (conn->state == HTTP_CONN_READING)
		http_io_wait(conn);
}

static void handshake(struct http_conn *conn)
{
	int result = http_io_handshake(conn);
	if (result == -2) {
		conn->server->stats.bad_requests++;
		http_conn_close(conn);
	} else if (result == 1) {
		http_server_interest(conn, EPOLLIN);
		enter(conn, HTTP_CONN_IDLE, conn->server->limits.head_ns);
		http_io_wait(conn);
	}
}

static void linger(struct http_conn *conn)
{
	ssize_t count = recv(conn->fd, conn->server->scratch, HTTP_READ_BYTES, MSG_DONTWAIT);
	if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
		http_conn_close(conn);
}

void http_conn_event(struct http_conn *conn, uint32_t events)
{
	switch (conn->state) {
	case HTTP_CONN_HANDSHAKE:
		handshake(conn);
		break;
	case HTTP_CONN_IDLE:
		read_more(conn);
		break;
	case HTTP_CONN_READING:
		if (events & EPOLLOUT)
			http_conn_flush(conn);
		if (conn->state == HTTP_CONN_READING && (events & ~(uint32_t)EPOLLOUT))
			read_more(conn);
		break;
	case HTTP_CONN_ANSWER:
	case HTTP_CONN_STREAM:
		if (events & (EPOLLHUP | EPOLLERR) || (conn->state == HTTP_CONN_STREAM && (events & EPOLLRDHUP)))
			http_conn_close(conn);
		else if (!conn->dirty) /* what was answered in this turn waits for the commit */
			http_conn_flush(conn);
		break;
	case HTTP_CONN_LINGER:
		if (events & (EPOLLHUP | EPOLLERR))
			http_conn_close(conn);
		else
			linger(conn);
		break;
	default:
		break;
	}
}

/* ---- answers ---- */

void http_conn_dirty(struct http_conn *conn)
{
	struct http_server *server = conn->server;
	if (conn->dirty)
		return;
	conn->dirty = true;
	conn->dirty_next = server->dirty;
	server->dirty = conn;
	http_server_wake(server);
}

static void answered(struct http_conn *conn)
{
	if (!conn->close_after && !conn->server->draining) {
		conn->fresh = conn->head_only = conn->chunked = false;
		http_server_interest(conn, EPOLLIN);
		enter(conn, HTTP_CONN_IDLE, conn->server->limits.idle_ns);
		if (conn->rest_length)
			http_conn_dirty(conn);
		return;
	}
	if (!conn->linger_after) {
		http_conn_close(conn);
		return;
	}
	http_io_finish(conn);
	http_server_interest(conn, EPOLLIN);
	enter(conn, HTTP_CONN_LINGER, conn->server->limits.linger_ns);
}

static void sent_all(struct http_conn *conn)
{
	drop_output(conn);
	arm(conn);
	if (conn->state == HTTP_CONN_ANSWER) {
		answered(conn);
	} else if (conn->state == HTTP_CONN_STREAM) {
		http_server_interest(conn, EPOLLRDHUP);
		if (conn->ops->drained)
			conn->ops->drained(conn->owner);
	} else if (conn->state == HTTP_CONN_READING) {
		http_server_interest(conn, EPOLLIN);
	}
}

static void wait_writable(struct http_conn *conn)
{
	uint32_t also = 0;
	if (conn->state == HTTP_CONN_STREAM)
		also = EPOLLRDHUP;
	else if (conn->state == HTTP_CONN_READING)
		also = EPOLLIN;
	http_server_interest(conn, EPOLLOUT | also);
	if (conn->stall_at == 0) {
		conn->stall_at = conn->server->now + conn->server->limits.stall_ns;
		conn->stall_sent = 0;
		arm(conn);
	}
}

static void next_request(struct http_conn *conn)
{
	char *rest = conn->rest;
	size_t length = conn->rest_length;
	conn->rest = NULL;
	conn->rest_length = 0;
	feed(conn, rest, length);
	free(rest);
}

void http_conn_flush(struct http_conn *conn)
{
	size_t budget = FLUSH_BYTES;
	if (conn->state == HTTP_CONN_CLOSED)
		return;
	if (conn->stream_lost) {
		conn->server->stats.slow_readers++;
		http_conn_close(conn);
		return;
	}
	if (conn->state == HTTP_CONN_IDLE && conn->rest_length) {
		next_request(conn);
		return;
	}
	if (waiting(conn) == 0 && conn->state != HTTP_CONN_ANSWER)
		return;
	conn->fresh = false;
	while (waiting(conn) > 0 && budget > 0) {
		bool first = conn->sent < conn->out.length;
		size_t skip = first ? conn->sent : conn->sent - conn->out.length;
		const struct buffer *part = first ? &conn->out : &conn->body;
		size_t length = part->length - skip < budget ? part->length - skip : budget;
		ssize_t count = http_io_write(conn, part->text + skip, length);
		if (count < 0) {
			if (count == -1)
				wait_writable(conn);
			else
				http_conn_close(conn);
			return;
		}
		conn->sent += (size_t)count;
		conn->stall_sent += (size_t)count;
		budget -= (size_t)count;
		conn->server->stats.output_bytes -= (size_t)count;
	}
	if (waiting(conn) > 0)
		wait_writable(conn);
	else
		sent_all(conn);
}

/* ---- time ---- */

/* True when the reader did not take enough; otherwise it gets another while. */
static bool stalled(struct http_conn *conn)
{
	if (conn->stall_sent < STALL_BYTES)
		return true;
	conn->stall_at = conn->server->now + conn->server->limits.stall_ns;
	conn->stall_sent = 0;
	arm(conn);
	return false;
}

void http_conn_timer(struct http_conn *conn)
{
	struct http_stats *stats = &conn->server->stats;
	int64_t now = conn->server->now;
	if (conn->stall_at && conn->stall_at <= now) {
		if (stalled(conn)) {
			stats->slow_readers++;
			http_conn_close(conn);
		}
		return;
	}
	conn->wake_at = 0;
	arm(conn);
	if (conn->state == HTTP_CONN_STREAM) {
		if (conn->ops->wake)
			conn->ops->wake(conn->owner);
	} else if (conn->state == HTTP_CONN_READING) {
		stats->timeouts++;
		http_conn_problem(conn, 408, "the request did not arrive in time");
	} else {
		stats->timeouts += conn->state == HTTP_CONN_HANDSHAKE;
		http_conn_close(conn);
	}
}

void http_conn_drain(struct http_conn *conn)
{
	if (conn->state == HTTP_CONN_STREAM) {
		struct http_stream *stream = (struct http_stream *)conn;
		const struct http_stream_ops *ops = conn->ops;
		void *owner = conn->owner;
		conn->close_after = true;
		http_stream_end(stream);
		ops->closed(owner);
	} else if (conn->state == HTTP_CONN_IDLE || conn->state == HTTP_CONN_HANDSHAKE) {
		http_conn_close(conn);
	} else {
		conn->close_after = true;
	}
}
