/* Owns which sockets libcurl wants to hear of, and when its next timer is due. */
#include "remote/sockets.h"

#include "base/arena.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST_OPEN 16384 /* descriptors below this can be cut: more than connections ever are */
#define AT_ONCE 64      /* sockets of one turn */
#define MOST_OTHERS 8

struct remote_sockets {
	CURLM *multi;
	int epoll;
	int64_t due;                           /* of the timer, INT64_MAX: none */
	_Atomic uint64_t open[MOST_OPEN / 64]; /* a bit for each descriptor of a connection; read by a signal handler */
};

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 * CLOCK_MILLISECOND + time.tv_nsec;
}

/* `known` is what was assigned to the socket: anything, when it is waited for already. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
	(void)easy;
	struct remote_sockets *sockets = context;
	struct epoll_event event = {.data.fd = fd};
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(sockets->epoll, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	event.events = (what & CURL_POLL_IN ? EPOLLIN : 0U) | (what & CURL_POLL_OUT ? EPOLLOUT : 0U);
	/* A number may be used anew without a word about its end. */
	if (epoll_ctl(sockets->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) < 0)
		epoll_ctl(sockets->epoll, known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
	curl_multi_assign(sockets->multi, fd, sockets);
	return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
	(void)multi;
	struct remote_sockets *sockets = context;
	sockets->due = timeout_ms < 0 ? INT64_MAX : timeout_ms == 0 ? 0 : now() + timeout_ms * CLOCK_MILLISECOND;
	return 0;
}

/* ---- what can be cut ---- */

static curl_socket_t on_open(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct remote_sockets *sockets = context;
	(void)purpose;
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	if (fd >= 0 && fd < MOST_OPEN)
		sockets->open[fd / 64] |= UINT64_C(1) << fd % 64;
	return fd;
}

static int on_close(void *context, curl_socket_t fd)
{
	struct remote_sockets *sockets = context;
	if (fd >= 0 && fd < MOST_OPEN)
		sockets->open[fd / 64] &= ~(UINT64_C(1) << fd % 64);
	return close(fd);
}

void remote_sockets_own(struct remote_sockets *sockets, CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, sockets);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, sockets);
}

void remote_sockets_cut(struct remote_sockets *sockets)
{
	int error = errno; /* of whatever the signal came into */
	for (int i = 0; i < MOST_OPEN / 64; i++)
		for (uint64_t left = sockets->open[i]; left; left &= left - 1)
			shutdown(i * 64 + __builtin_ctzll(left), SHUT_RDWR);
	errno = error;
}

/* ---- life ---- */

struct remote_sockets *remote_sockets_create(CURLM *multi, struct error *error)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0) {
		error_set(error, ERROR_IO, "no descriptor to wait with: %s (is the limit of open files too low?)",
		          strerror(errno));
		return NULL;
	}
	struct remote_sockets *sockets = base_calloc(1, sizeof(*sockets));
	sockets->multi = multi;
	sockets->epoll = epoll;
	sockets->due = INT64_MAX;
	curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, sockets);
	curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(multi, CURLMOPT_TIMERDATA, sockets);
	return sockets;
}

void remote_sockets_destroy(struct remote_sockets *sockets)
{
	if (!sockets)
		return;
	close(sockets->epoll);
	free(sockets);
}

/* Rounded up: a turn that is a little early would find nothing to do. */
static int until_due(const struct remote_sockets *sockets, int timeout_ms)
{
	if (sockets->due == INT64_MAX)
		return timeout_ms;
	int64_t left = sockets->due - now();
	int64_t wait = left <= 0 ? 0 : (left + CLOCK_MILLISECOND - 1) / CLOCK_MILLISECOND;
	return wait < timeout_ms ? (int)wait : timeout_ms;
}

static void wait_for_any(const struct remote_sockets *sockets, int wait_ms, const int *others, size_t count)
{
	struct pollfd fds[1 + MOST_OTHERS] = {{.fd = sockets->epoll, .events = POLLIN}};
	nfds_t fd_count = 1;
	for (size_t i = 0; i < count && i < MOST_OTHERS; i++)
		fds[fd_count++] = (struct pollfd){.fd = others[i], .events = POLLIN};
	poll(fds, fd_count, wait_ms);
}

void remote_sockets_run(struct remote_sockets *sockets, int timeout_ms, const int *others, size_t count)
{
	struct epoll_event events[AT_ONCE];
	int running, wait = until_due(sockets, timeout_ms);
	int ready = epoll_wait(sockets->epoll, events, AT_ONCE, 0);
	if (ready == 0 && wait > 0) {
		wait_for_any(sockets, wait, others, count);
		ready = epoll_wait(sockets->epoll, events, AT_ONCE, 0);
	}
	for (int i = 0; i < ready; i++) {
		/* One that went meanwhile is none of libcurl's any more, which it notices. */
		unsigned mask = events[i].events;
		int what = (mask & EPOLLIN ? CURL_CSELECT_IN : 0) | (mask & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
		           (mask & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
		curl_multi_socket_action(sockets->multi, events[i].data.fd, what, &running);
	}
	if (sockets->due <= now()) {
		sockets->due = INT64_MAX;
		curl_multi_socket_action(sockets->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
}
