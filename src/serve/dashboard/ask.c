/* Owns the copies of the process that answer questions, and the pipes their answers come through. */
#include "serve/dashboard/ask.h"

#include "object/build.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_EVERY (20 * CLOCK_MILLISECOND)
#define MOST 2
#define LONGEST (30000 * CLOCK_MILLISECOND)
#define MOST_ANSWER ((size_t)64 << 20)
#define PORTION ((size_t)256 << 10) /* handed on at a time; the next one when this is sent */

struct ask {
	struct asks *asks;
	struct ask *previous, *next;
	struct http_stream *http;
	struct buffer answer;
	size_t sent; /* of the answer */
	bool complete;
	int64_t ends_at;
	pid_t child;
	int fd;
};

struct asks {
	struct asks_options options;
	struct ask *all;
	size_t count;
};

struct asks *asks_create(const struct asks_options *options)
{
	struct asks *asks = base_calloc(1, sizeof(*asks));
	asks->options = *options;
	if (!asks->options.most)
		asks->options.most = MOST;
	if (!asks->options.longest_ns)
		asks->options.longest_ns = LONGEST;
	return asks;
}

static void forget(struct ask *ask)
{
	if (ask->previous)
		ask->previous->next = ask->next;
	else
		ask->asks->all = ask->next;
	if (ask->next)
		ask->next->previous = ask->previous;
	ask->asks->count--;
	/* It has ended, or is of no use any more. */
	kill(ask->child, SIGKILL);
	while (waitpid(ask->child, NULL, 0) < 0 && errno == EINTR)
		;
	close(ask->fd);
	buffer_free(&ask->answer);
	free(ask);
}

void asks_destroy(struct asks *asks)
{
	if (!asks)
		return;
	while (asks->all) {
		http_stream_end(asks->all->http);
		forget(asks->all);
	}
	free(asks);
}

/* ---- the copy ---- */

static void write_all(int fd, const char *data, size_t length)
{
	while (length > 0) {
		ssize_t count = write(fd, data, length);
		if (count < 0 && errno != EINTR)
			return;
		data += count > 0 ? count : 0;
		length -= count > 0 ? (size_t)count : 0;
	}
}

/* Never returns. Connections and files of the process are not its business: held open, they would not end when the
 * process ends them. */
static void answer(const struct asks *asks, const char *text, size_t length, int fd)
{
	struct buffer out = {0};
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	if (dup2(fd, 3) == 3)
		close_range(4, ~0U, 0);
	(void)!nice(10);
	asks->options.function(asks->options.context, text, length, &out);
	write_all(3, out.text, out.length);
	_exit(0);
}

/* ---- this side ---- */

/* The answer leaves as fast as it is read. Gone with its last piece. */
static void send_more(struct ask *ask)
{
	size_t left = ask->answer.length - ask->sent, count = left < PORTION ? left : PORTION;
	http_stream_write(ask->http, ask->answer.text + ask->sent, count);
	ask->sent += count;
	if (ask->sent < ask->answer.length)
		return;
	http_stream_end(ask->http);
	forget(ask);
}

static void finish(struct ask *ask, const char *problem)
{
	ask->complete = true;
	if (problem) {
		struct build *build = build_create();
		struct node *root = build_map(build), *list = build_list(build), *item = build_map(build);
		build_put_string(build, item, "severity", "error");
		build_put_string(build, item, "message", problem);
		build_append(build, list, item);
		build_put(build, root, "problems", list);
		ask->answer.length = 0;
		build_write(build, root, DOC_JSON_COMPACT, &ask->answer);
		build_destroy(build);
	}
	send_more(ask);
}

static void look(struct ask *ask)
{
	char block[65536];
	ssize_t count;
	while ((count = read(ask->fd, block, sizeof(block))) > 0 && ask->answer.length < MOST_ANSWER)
		buffer_append(&ask->answer, block, (size_t)count);
	int64_t now = clock_now(ask->asks->options.clock);
	if (count == 0)
		finish(ask, ask->answer.length ? NULL : "the question could not be answered");
	else if (now >= ask->ends_at || count > 0)
		finish(ask, "it took too long; ask for less");
	else
		http_stream_wake_at(ask->http, now + LOOK_EVERY);
}

static void on_closed(void *owner)
{
	forget(owner);
}

static void on_wake(void *owner)
{
	struct ask *ask = owner;
	if (!ask->complete)
		look(ask);
}

static void on_drained(void *owner)
{
	struct ask *ask = owner;
	if (ask->complete)
		send_more(ask);
}

static const struct http_stream_ops ops = {on_closed, on_drained, on_wake};

/* -1 when the system has no room for another process. */
static int start(struct ask *ask, const struct http_request *request)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	ask->child = fork();
	if (ask->child == 0)
		answer(ask->asks, request->body, request->body_length, ends[1]);
	close(ends[1]);
	ask->fd = ends[0];
	if (ask->child < 0 || fcntl(ask->fd, F_SETFL, O_NONBLOCK) < 0) {
		close(ask->fd);
		return -1;
	}
	return 0;
}

static void refuse(struct http_response *response)
{
	struct buffer body = {0};
	http_response_header(response, "Retry-After", "2");
	buffer_puts(&body, "{\"error\":\"other questions are being answered; ask again\"}\n");
	http_respond(response, 503, "application/json", &body);
}

void asks_begin(struct asks *asks, const struct http_request *request, struct http_response *response)
{
	struct ask *ask = asks->count < asks->options.most ? base_calloc(1, sizeof(*ask)) : NULL;
	if (ask)
		ask->asks = asks;
	if (!ask || start(ask, request) < 0) {
		free(ask);
		refuse(response);
		return;
	}
	ask->ends_at = clock_now(asks->options.clock) + asks->options.longest_ns;
	ask->next = asks->all;
	if (ask->next)
		ask->next->previous = ask;
	asks->all = ask;
	asks->count++;
	ask->http = http_stream_open(response, 200, "application/json", &ops, ask);
	if (ask->http)
		http_stream_wake_at(ask->http, clock_now(asks->options.clock) + LOOK_EVERY);
	else
		forget(ask);
}
