/* Blocking sockets and poll: enough to keep one server busy. */
#include "api_client.h"

#include "base/arena.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int client_open(struct client *client, uint16_t port)
{
	*client = (struct client){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_port = htons(port),
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int on = 1;
	if (client->fd < 0 || connect(client->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return 0;
}

void client_close(struct client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	buffer_free(&client->in);
	client->fd = -1;
}

bool client_send(struct client *client, const char *method, const char *path, const char *body)
{
	struct buffer text = {0};
	buffer_printf(&text, "%s %s HTTP/1.1\r\nHost: bench\r\n", method, path);
	if (body)
		buffer_printf(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
	buffer_printf(&text, "\r\n%s", body ? body : "");
	size_t sent = 0;
	while (sent < text.length && !client->lost) {
		ssize_t count = send(client->fd, text.text + sent, text.length - sent, MSG_NOSIGNAL);
		client->lost = count < 0 && errno != EINTR;
		sent += count > 0 ? (size_t)count : 0;
	}
	buffer_free(&text);
	client->in.length = 0; /* forgets the answer before */
	buffer_puts(&client->in, "");
	return !client->lost;
}

/* Reads once. */
static bool take(struct client *client)
{
	static char block[1 << 18];
	ssize_t count = recv(client->fd, block, sizeof(block), 0);
	if (count > 0)
		buffer_append(&client->in, block, (size_t)count);
	else if (count == 0 || errno != EINTR)
		client->lost = true;
	return count > 0;
}

/* Whether the answer is complete; then its status and body. */
static int parse(struct client *client, const char **body, size_t *length)
{
	const char *text = client->in.text ? client->in.text : "", *end = strstr(text, "\r\n\r\n");
	const char *field = end ? strstr(text, "Content-Length: ") : NULL;
	if (!field || field > end)
		return 0;
	*length = strtoul(field + strlen("Content-Length: "), NULL, 10);
	*body = end + 4;
	return client->in.length - (size_t)(*body - text) >= *length ? (int)strtol(text + strlen("HTTP/1.1 "), NULL, 10)
	                                                             : 0;
}

int client_answer(struct client *client, const char **body, size_t *length)
{
	int status = 0;
	while (!client->lost && !(status = parse(client, body, length)))
		take(client);
	return status;
}

void client_count(struct client *client)
{
	client->in.length = 0;
	if (!take(client))
		return;
	const char *at = client->in.text, *end = at + client->in.length;
	if (!client->head) { /* comes in one piece */
		const char *body = strstr(at, "\r\n\r\n");
		client->head = body;
		at = body ? body + 4 : end;
	}
	/* An event ends with a bare line feed; those of the chunks come behind a carriage return. */
	for (; at < end; at++) {
		client->events += *at == '\n' && client->last != '\r';
		client->last = *at;
	}
}

static bool launch(struct client *client, size_t i, client_make *make, struct buffer *path, struct buffer *body)
{
	const char *method = "GET";
	path->length = body->length = 0;
	make(i, &method, path, body);
	return client_send(client, method, path->text, body->length ? body->text : NULL);
}

bool client_flood(struct client *clients, size_t client_count, size_t count, int status, client_make *make)
{
	struct pollfd *ready = base_calloc(client_count, sizeof(*ready));
	struct buffer path = {0}, body = {0};
	size_t sent = 0, done = 0;
	bool good = true;
	for (size_t i = 0; i < client_count; i++)
		ready[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	for (size_t i = 0; i < client_count && sent < count; i++) {
		good &= launch(&clients[i], sent++, make, &path, &body);
		ready[i].fd = clients[i].fd;
	}
	while (good && done < count && poll(ready, client_count, 60000) > 0) {
		for (size_t i = 0; i < client_count && good; i++) {
			const char *text;
			size_t length;
			if (!ready[i].revents)
				continue;
			good = take(&clients[i]);
			int got = good ? parse(&clients[i], &text, &length) : 0;
			if (!got)
				continue;
			done++;
			if (got != status) {
				fprintf(stderr, "an answer with %d instead of %d: %.300s\n", got, status, text);
				good = false;
			} else if (sent < count) {
				good = launch(&clients[i], sent++, make, &path, &body);
			}
		}
	}
	free(ready);
	buffer_free(&path);
	buffer_free(&body);
	return good && done == count;
}

pid_t client_start_server(int (*run)(int pipe), uint16_t *port)
{
	int ends[2];
	if (pipe(ends) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		_exit(run(ends[1]));
	}
	close(ends[1]);
	if (read(ends[0], port, sizeof(*port)) != (ssize_t)sizeof(*port))
		*port = 0;
	close(ends[0]);
	return pid;
}
