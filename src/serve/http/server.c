/* The loop: listening, accepting, waiting, timers, and the order of a turn: requests, commit, answers. */
#include "serve/http/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_PER_TURN 256
#define ACCEPTS_PER_TURN 64

#define DEFAULT(field, value)                                                                                          \
	do {                                                                                                           \
		if ((field) == 0)                                                                                      \
			(field) = (value);                                                                             \
	} while (0)

static void set_defaults(struct http_limits *limits)
{
	DEFAULT(limits->connections, 8192);
	DEFAULT(limits->head_bytes, (size_t)32 << 10);
	DEFAULT(limits->body_bytes, (size_t)3 << 20);
	DEFAULT(limits->input_total, (size_t)256 << 20);
	DEFAULT(limits->output_total, (size_t)512 << 20);
	DEFAULT(limits->stream_backlog, (size_t)1 << 20);
	DEFAULT(limits->head_ns, 10 * CLOCK_SECOND);
	DEFAULT(limits->body_ns, 60 * CLOCK_SECOND);
	DEFAULT(limits->idle_ns, 180 * CLOCK_SECOND);
	DEFAULT(limits->stall_ns, 30 * CLOCK_SECOND);
	DEFAULT(limits->linger_ns, 2 * CLOCK_SECOND);
	DEFAULT(limits->gzip_bytes, (size_t)128 << 10);
	/* Files for the store, logs and the loop itself come first. */
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY) {
		size_t room = files.rlim_cur > 128 ? (size_t)files.rlim_cur - 64 : (size_t)files.rlim_cur / 2;
		if (limits->connections > room)
			limits->connections = room;
	}
}

static int parse_address(const struct http_options *options, struct sockaddr_storage *address, socklen_t *length,
                         struct error *error)
{
	const char *text = options->address ? options->address : "127.0.0.1";
	struct sockaddr_in *v4 = (struct sockaddr_in *)address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(options->port);
		*length = sizeof(*v4);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(options->port);
		*length = sizeof(*v6);
		return 0;
	}
	return error_set(error, ERROR_USAGE, "'%s' is not an IP address; give one such as 127.0.0.1", text);
}

static int watch_fd(struct http_server *server, int fd, void *tag)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};
	return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event);
}

static int start_listening(struct http_server *server, struct error *error)
{
	struct sockaddr_storage address;
	socklen_t length = 0;
	int on = 1;
	if (parse_address(&server->options, &address, &length, error))
		return -1;
	server->listener = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (server->listener < 0)
		return error_set(error, ERROR_IO, "cannot make a socket: %s", strerror(errno));
	setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(server->listener, (struct sockaddr *)&address, length) || listen(server->listener, 1024))
		return error_set(error, ERROR_IO, "cannot listen on %s port %u: %s",
		                 server->options.address ? server->options.address : "127.0.0.1",
		                 (unsigned)server->options.port, strerror(errno));
	getsockname(server->listener, (struct sockaddr *)&address, &length);
	server->port = ntohs(address.ss_family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port
	                                                  : ((struct sockaddr_in6 *)&address)->sin6_port);
	server->listening = true;
	return watch_fd(server, server->listener, &server->listener);
}

struct http_server *http_server_create(const struct http_options *options, struct error *error)
{
	struct http_server *server = base_calloc(1, sizeof(*server));
	server->options = *options;
	server->limits = options->limits;
	set_defaults(&server->limits);
	server->clock = options->clock ? options->clock : clock_system();
	server->now = clock_now(server->clock);
	server->arena = arena_create();
	server->scratch = base_malloc(HTTP_READ_BYTES);
	server->listener = -1;
	if (options->tls)
		signal(SIGPIPE, SIG_IGN); /* OpenSSL writes without asking for no signal */
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	server->signal = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (server->epoll < 0 || server->signal < 0 || watch_fd(server, server->signal, &server->signal)) {
		error_set(error, ERROR_IO, "cannot wait for events: %s", strerror(errno));
	} else if (start_listening(server, error) == 0) {
		return server;
	}
	http_server_destroy(server);
	return NULL;
}

static void bury(struct http_server *server)
{
	struct http_conn *kept = NULL;
	while (server->dead) {
		struct http_conn *conn = server->dead;
		server->dead = conn->next;
		if (conn->dirty) { /* still on that list */
			conn->next = kept;
			kept = conn;
		} else {
			free(conn);
		}
	}
	server->dead = kept;
}

void http_server_destroy(struct http_server *server)
{
	if (!server)
		return;
	while (server->all)
		http_conn_close(server->all);
	for (struct http_conn *conn = server->dead; conn; conn = conn->next)
		conn->dirty = false;
	bury(server);
	int files[] = {server->listener, server->signal, server->spare, server->epoll};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (files[i] >= 0)
			close(files[i]);
	}
	http_timers_free(&server->timers);
	arena_destroy(server->arena);
	free(server->scratch);
	free(server);
}

int http_server_fd(const struct http_server *server)
{
	return server->epoll;
}

uint16_t http_server_port(const struct http_server *server)
{
	return server->port;
}

struct http_stats http_server_stats(const struct http_server *server)
{
	return server->stats;
}

const char *http_server_date(struct http_server *server)
{
	time_t second = (time_t)(server->now / CLOCK_SECOND);
	struct tm parts;
	if (second != server->date_second || !server->date[0]) {
		server->date_second = second;
		gmtime_r(&second, &parts);
		strftime(server->date, sizeof(server->date), "%a, %d %b %Y %H:%M:%S GMT", &parts);
	}
	return server->date;
}

void http_server_interest(struct http_conn *conn, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = conn};
	if (conn->fd < 0 || conn->interest == events)
		return;
	conn->interest = events;
	epoll_ctl(conn->server->epoll, EPOLL_CTL_MOD, conn->fd, &event);
}

void http_server_idle(struct http_conn *conn, bool is_idle)
{
	struct http_server *server = conn->server;
	if (conn->idle_listed) {
		if (conn->idle_previous)
			conn->idle_previous->idle_next = conn->idle_next;
		else
			server->idle_first = conn->idle_next;
		if (conn->idle_next)
			conn->idle_next->idle_previous = conn->idle_previous;
		else
			server->idle_last = conn->idle_previous;
		conn->idle_previous = conn->idle_next = NULL;
	}
	conn->idle_listed = is_idle;
	if (!is_idle)
		return;
	conn->idle_previous = server->idle_last;
	if (server->idle_last)
		server->idle_last->idle_next = conn;
	else
		server->idle_first = conn;
	server->idle_last = conn;
}

/* ---- accepting ---- */

void http_server_adopt(struct http_server *server, int fd)
{
	int on = 1, seconds = 60;
	/* When full, whoever has been silent longest makes room; if all are busy, the newcomer is turned away. */
	if (server->stats.connections >= server->limits.connections && server->idle_first)
		http_conn_close(server->idle_first);
	if (server->stats.connections >= server->limits.connections) {
		server->stats.refused++;
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
	struct http_conn *conn = http_conn_create(server, fd);
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};
	conn->interest = EPOLLIN;
	server->stats.accepted++;
	if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event))
		http_conn_close(conn);
}

/* Out of files: without this a waiting connection would wake us for ever. */
static void turn_away(struct http_server *server)
{
	if (server->spare < 0)
		return;
	close(server->spare);
	int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	server->stats.refused++;
	server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_some(struct http_server *server)
{
	for (int i = 0; i < ACCEPTS_PER_TURN && server->listening; i++) {
		int fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			http_server_adopt(server, fd);
		} else if (errno == EMFILE || errno == ENFILE) {
			turn_away(server);
			return;
		} else if (errno != ECONNABORTED && errno != EINTR) {
			return;
		}
	}
}

/* ---- a turn ---- */

void http_server_wake(struct http_server *server)
{
	uint64_t one = 1;
	if (!server->in_loop && !server->signalled)
		server->signalled = write(server->signal, &one, sizeof(one)) == sizeof(one);
}

int http_server_wait_ms(const struct http_server *server)
{
	const struct http_timer *first = http_timers_first(&server->timers);
	if (server->dirty)
		return 0;
	if (!first)
		return -1;
	int64_t ns = first->at - clock_now(server->clock);
	if (ns <= 0)
		return 0;
	int64_t ms = (ns + 999999) / 1000000;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

static void run_timers(struct http_server *server)
{
	struct http_timer *timer;
	while ((timer = http_timers_first(&server->timers)) && timer->at <= server->now)
		http_conn_timer((struct http_conn *)((char *)timer - offsetof(struct http_conn, timer)));
}

static void commit(struct http_server *server)
{
	const struct http_hooks *hooks = &server->options.hooks;
	if (!hooks->commit || hooks->commit(hooks->context))
		return;
	for (struct http_conn *conn = server->dirty; conn; conn = conn->dirty_next)
		http_conn_retract(conn);
}

static void flush(struct http_server *server)
{
	struct http_conn *conn = server->dirty;
	server->dirty = NULL; /* what gets dirty now waits for the next turn */
	while (conn) {
		struct http_conn *next = conn->dirty_next;
		conn->dirty = false;
		http_conn_flush(conn);
		conn = next;
	}
}

static void handle_event(struct http_server *server, const struct epoll_event *event)
{
	uint64_t count;
	if (event->data.ptr == &server->listener)
		accept_some(server);
	else if (event->data.ptr == &server->signal)
		server->signalled = read(server->signal, &count, sizeof(count)) < 0;
	else
		http_conn_event(event->data.ptr, event->events);
}

int http_server_run_once(struct http_server *server, int timeout_ms, struct error *error)
{
	struct epoll_event events[EVENTS_PER_TURN];
	int wait = http_server_wait_ms(server);
	if (timeout_ms >= 0 && (wait < 0 || wait > timeout_ms))
		wait = timeout_ms;
	server->in_loop = true;
	int count = epoll_wait(server->epoll, events, EVENTS_PER_TURN, wait);
	if (count < 0 && errno != EINTR)
		return error_set(error, ERROR_IO, "cannot wait for events: %s", strerror(errno));
	server->now = clock_now(server->clock);
	for (int i = 0; i < count; i++)
		handle_event(server, &events[i]);
	run_timers(server);
	commit(server);
	flush(server);
	bury(server);
	server->in_loop = false;
	if (server->dirty)
		http_server_wake(server);
	return 0;
}

void http_server_drain(struct http_server *server)
{
	struct http_conn *next;
	server->draining = true;
	if (server->listening) {
		epoll_ctl(server->epoll, EPOLL_CTL_DEL, server->listener, NULL);
		close(server->listener);
		server->listener = -1;
		server->listening = false;
	}
	for (struct http_conn *conn = server->all; conn; conn = next) {
		next = conn->next;
		http_conn_drain(conn);
	}
}
