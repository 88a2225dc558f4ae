/* The test client: non-blocking sockets, and the server's loop in between. */
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUIET_TURNS 100 /* of 2 ms */

static void turn(const struct wire *wire, int timeout_ms)
{
	if (wire->serve)
		serve_run_once(wire->serve, timeout_ms, NULL);
	else
		http_server_run_once(wire->server, timeout_ms, NULL);
}

static void open_port(struct wire *wire, uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
	wire->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (wire->fd < 0 || connect(wire->fd, (struct sockaddr *)&address, sizeof(address)))
		abort();
}

void wire_open(struct wire *wire, struct http_server *server)
{
	*wire = (struct wire){.server = server};
	open_port(wire, http_server_port(server));
}

void wire_open_serve(struct wire *wire, struct serve *serve)
{
	*wire = (struct wire){.serve = serve};
	open_port(wire, serve_port(serve));
}

void wire_free(struct wire *wire)
{
	if (wire->fd >= 0)
		close(wire->fd);
	wire->fd = -1;
	buffer_free(&wire->in);
}

void wire_turn(struct http_server *server, int times)
{
	for (int i = 0; i < times; i++)
		http_server_run_once(server, 0, NULL);
}

void wire_turn_serve(struct serve *serve, int times)
{
	for (int i = 0; i < times; i++)
		serve_run_once(serve, 0, NULL);
}

size_t wire_send(struct wire *wire, const char *data, size_t length)
{
	size_t sent = 0;
	for (int quiet = 0; sent < length && quiet < QUIET_TURNS;) {
		ssize_t count = send(wire->fd, data + sent, length - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (count < 0 && errno != EAGAIN)
			break;
		quiet = count > 0 ? 0 : quiet + 1;
		sent += count > 0 ? (size_t)count : 0;
		turn(wire, count > 0 ? 0 : 2);
	}
	return sent;
}

void wire_puts(struct wire *wire, const char *text)
{
	wire_send(wire, text, strlen(text));
}

static bool receive(struct wire *wire)
{
	char block[65536];
	ssize_t count = recv(wire->fd, block, sizeof(block), MSG_DONTWAIT);
	if (count > 0)
		buffer_append(&wire->in, block, (size_t)count);
	if (count == 0 || (count < 0 && errno != EAGAIN))
		wire->ended = true;
	return count > 0;
}

static bool has(const struct wire *wire, const char *text)
{
	return wire->in.length && memmem(wire->in.text, wire->in.length, text, strlen(text));
}

bool wire_expect(struct wire *wire, const char *text)
{
	for (int quiet = 0; !has(wire, text) && !wire->ended && quiet < QUIET_TURNS;) {
		turn(wire, quiet > 2 ? 2 : 0);
		quiet = receive(wire) ? 0 : quiet + 1;
	}
	return has(wire, text);
}

bool wire_ends(struct wire *wire)
{
	for (int quiet = 0; !wire->ended && quiet < QUIET_TURNS;) {
		turn(wire, quiet > 2 ? 2 : 0);
		quiet = receive(wire) ? 0 : quiet + 1;
	}
	return wire->ended;
}

void wire_clear(struct wire *wire)
{
	wire->in.length = 0;
}

int wire_answer(struct wire *wire, struct buffer *head, struct buffer *body)
{
	head->length = body->length = 0;
	if (!wire_expect(wire, "\r\n\r\n"))
		return 0;
	size_t head_length = (size_t)(strstr(wire->in.text, "\r\n\r\n") - wire->in.text) + 4;
	buffer_append(head, wire->in.text, head_length);
	const char *field = strstr(head->text, "Content-Length: ");
	size_t length = field ? strtoul(field + 16, NULL, 10) : 0;
	for (int quiet = 0; wire->in.length < head_length + length && !wire->ended && quiet < QUIET_TURNS;) {
		turn(wire, quiet > 2 ? 2 : 0);
		quiet = receive(wire) ? 0 : quiet + 1;
	}
	if (wire->in.length < head_length + length)
		return 0;
	buffer_append(body, wire->in.text + head_length, length);
	size_t left = wire->in.length - head_length - length;
	memmove(wire->in.text, wire->in.text + head_length + length, left + 1);
	wire->in.length = left;
	return (int)strtol(head->text + 9, NULL, 10);
}
