/* Owns the connections and the script of an API server that says what a test wants. */
#include "fake.h"

#include "base/strings.h"
#include "base/vec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

struct rule {
	char *match;
	struct buffer bytes;
	bool always, cut, used;
};

struct peer {
	int fd;
	SSL *tls;
	bool connected; /* through the proxy, or it is none */
	bool shaken;    /* hands */
	bool streaming; /* the head of a stream was sent */
	bool over;
	struct buffer in, out;
	struct fake_request *request; /* that has no whole answer yet */
};

struct fake {
	struct fake_options options;
	int fd, port;
	char url[64];
	VEC(struct rule *) rules;
	VEC(struct peer *) peers;
	VEC(struct fake_request *) requests;
};

struct fake *fake_create(const struct fake_options *options)
{
	struct fake *fake = base_calloc(1, sizeof(*fake));
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);
	fake->options = *options;
	fake->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fake->fd < 0 || bind(fake->fd, (struct sockaddr *)&address, length) < 0 || listen(fake->fd, 64) < 0 ||
	    getsockname(fake->fd, (struct sockaddr *)&address, &length) < 0) {
		perror("fake");
		abort();
	}
	fake->port = ntohs(address.sin_port);
	snprintf(fake->url, sizeof(fake->url), "http%s://127.0.0.1:%d", options->tls ? "s" : "", fake->port);
	return fake;
}

const char *fake_url(const struct fake *fake)
{
	return fake->url;
}

int fake_port(const struct fake *fake)
{
	return fake->port;
}

static void peer_free(struct peer *peer)
{
	SSL_free(peer->tls);
	close(peer->fd);
	buffer_free(&peer->in);
	buffer_free(&peer->out);
	free(peer);
}

void fake_destroy(struct fake *fake)
{
	for (size_t i = 0; i < fake->peers.count; i++)
		peer_free(fake->peers.items[i]);
	for (size_t i = 0; i < fake->rules.count; i++) {
		free(fake->rules.items[i]->match);
		buffer_free(&fake->rules.items[i]->bytes);
		free(fake->rules.items[i]);
	}
	for (size_t i = 0; i < fake->requests.count; i++) {
		free(fake->requests.items[i]->line);
		free(fake->requests.items[i]->head);
		free(fake->requests.items[i]->body);
		free(fake->requests.items[i]);
	}
	vec_free(&fake->peers);
	vec_free(&fake->rules);
	vec_free(&fake->requests);
	close(fake->fd);
	free(fake);
}

/* ---- the script ---- */

static void put_quoted(struct buffer *out, const char *text)
{
	for (; *text; text++)
		buffer_append(out, *text == '\'' ? "\"" : text, 1);
}

static void put_answer(struct buffer *out, int code, const char *headers, const char *body)
{
	buffer_printf(out, "HTTP/1.1 %d Told\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n", code,
	              strlen(body), headers);
	put_quoted(out, body);
}

static struct rule *add_rule(struct fake *fake, const char *match)
{
	struct rule *rule = base_calloc(1, sizeof(*rule));
	rule->match = base_strdup(match);
	vec_push(&fake->rules, rule);
	return rule;
}

void fake_on(struct fake *fake, const char *match, int code, const char *headers, const char *body)
{
	put_answer(&add_rule(fake, match)->bytes, code, headers, body);
}

void fake_always(struct fake *fake, const char *match, int code, const char *headers, const char *body)
{
	struct rule *rule = add_rule(fake, match);
	rule->always = true;
	put_answer(&rule->bytes, code, headers, body);
}

void fake_on_bytes(struct fake *fake, const char *match, const char *bytes, size_t length)
{
	struct rule *rule = add_rule(fake, match);
	rule->cut = true;
	buffer_append(&rule->bytes, bytes, length);
}

static struct rule *find_rule(const struct fake *fake, const char *line)
{
	for (int always = 0; always < 2; always++)
		for (size_t i = 0; i < fake->rules.count; i++) {
			struct rule *rule = fake->rules.items[i];
			if (!rule->used && rule->always == always && strstr(line, rule->match))
				return rule;
		}
	return NULL;
}

/* ---- bytes ---- */

static ssize_t peer_read(struct peer *peer, char *bytes, size_t size)
{
	if (!peer->shaken) {
		ssize_t got = read(peer->fd, bytes, size);
		return got < 0 && errno == EAGAIN ? 0 : got == 0 ? -1 : got;
	}
	int got = SSL_read(peer->tls, bytes, (int)size);
	return got > 0 ? got : SSL_get_error(peer->tls, got) == SSL_ERROR_WANT_READ ? 0 : -1;
}

static void peer_write(struct peer *peer)
{
	while (peer->out.length > 0 && (!peer->tls || peer->shaken)) {
		ssize_t put = peer->tls ? SSL_write(peer->tls, peer->out.text, (int)peer->out.length)
		                        : send(peer->fd, peer->out.text, peer->out.length, MSG_NOSIGNAL);
		if (put <= 0)
			return;
		memmove(peer->out.text, peer->out.text + put, peer->out.length - (size_t)put);
		peer->out.length -= (size_t)put;
	}
}

/* A connection that is cut says what it has to before. */
static void peer_end(struct peer *peer)
{
	for (int i = 0; i < 100 && peer->out.length > 0; i++)
		peer_write(peer);
	peer->over = true;
	if (peer->request)
		peer->request->answered = true;
	peer->request = NULL;
}

static void shake_hands(struct fake *fake, struct peer *peer)
{
	if (!peer->tls) {
		peer->tls = SSL_new(fake->options.tls);
		SSL_set_fd(peer->tls, peer->fd);
		SSL_set_accept_state(peer->tls);
	}
	int done = SSL_do_handshake(peer->tls);
	peer->shaken = done == 1;
	if (done != 1 && SSL_get_error(peer->tls, done) != SSL_ERROR_WANT_READ)
		peer->over = true;
}

static void name_client(const struct peer *peer, struct fake_request *request)
{
	X509 *certificate = peer->tls ? SSL_get1_peer_certificate(peer->tls) : NULL;
	if (certificate && SSL_get_verify_result(peer->tls) == X509_V_OK)
		X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, request->client,
		                          sizeof(request->client));
	X509_free(certificate);
}

/* ---- requests ---- */

static size_t content_length(const char *head)
{
	for (const char *at = head; (at = strchr(at, '\n')); at++)
		if (strncasecmp(at + 1, "content-length:", 15) == 0)
			return strtoul(at + 16, NULL, 10);
	return 0;
}

static char *slice(const char *text, size_t length)
{
	char *copy = base_malloc(length + 1);
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

static void answer(struct fake *fake, struct peer *peer)
{
	struct rule *rule = find_rule(fake, peer->request->line);
	if (!rule)
		return;
	rule->used = !rule->always;
	buffer_append(&peer->out, rule->bytes.text ? rule->bytes.text : "", rule->bytes.length);
	peer->request->answered = true;
	if (rule->cut)
		peer_end(peer);
	peer->request = NULL;
}

static void take_request(struct fake *fake, struct peer *peer)
{
	const char *end = peer->in.text ? strstr(peer->in.text, "\r\n\r\n") : NULL;
	if (!end)
		return;
	size_t head = (size_t)(end - peer->in.text) + 4;
	struct fake_request *request = base_calloc(1, sizeof(*request));
	request->head = slice(peer->in.text, head);
	size_t body = content_length(request->head);
	if (peer->in.length < head + body) {
		free(request->head);
		free(request);
		return;
	}
	size_t method = strcspn(request->head, " "), path = strcspn(request->head + method + 1, " \r");
	request->line = slice(request->head, method + 1 + path);
	request->body = slice(peer->in.text + head, body);
	name_client(peer, request);
	memmove(peer->in.text, peer->in.text + head + body, peer->in.length - head - body + 1);
	peer->in.length -= head + body;
	vec_push(&fake->requests, request);
	peer->request = request;
	if (!peer->connected && strncmp(request->line, "CONNECT ", 8) == 0) {
		buffer_puts(&peer->out, "HTTP/1.1 200 Connected\r\n\r\n");
		peer_write(peer);
		request->answered = true;
		peer->connected = true;
		peer->request = NULL;
		return;
	}
	answer(fake, peer);
}

static void peer_step(struct fake *fake, struct peer *peer)
{
	char bytes[16384];
	if (fake->options.tls && peer->connected && !peer->shaken) {
		shake_hands(fake, peer);
		if (!peer->shaken)
			return;
	}
	ssize_t got;
	while (!peer->over && (got = peer_read(peer, bytes, sizeof(bytes))) != 0) {
		if (got < 0)
			peer_end(peer);
		else
			buffer_append(&peer->in, bytes, (size_t)got);
	}
	if (!peer->over && !peer->request)
		take_request(fake, peer);
	peer_write(peer);
}

void fake_step(struct fake *fake)
{
	for (int fd; (fd = accept4(fake->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
		struct peer *peer = base_calloc(1, sizeof(*peer));
		peer->fd = fd;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
		peer->connected = !fake->options.proxy;
		vec_push(&fake->peers, peer);
	}
	size_t kept = 0;
	for (size_t i = 0; i < fake->peers.count; i++) {
		struct peer *peer = fake->peers.items[i];
		if (!peer->over)
			peer_step(fake, peer);
		if (peer->over)
			peer_free(peer);
		else
			fake->peers.items[kept++] = peer;
	}
	fake->peers.count = kept;
}

/* ---- open requests ---- */

/* The oldest of them: peers stand in the order of their connections, requests in that of their coming. */
static struct peer *open_peer(const struct fake *fake, const char *match)
{
	for (size_t i = 0; i < fake->requests.count; i++)
		for (size_t j = 0; j < fake->peers.count && !fake->requests.items[i]->answered; j++)
			if (fake->peers.items[j]->request == fake->requests.items[i] && !fake->peers.items[j]->over &&
			    strstr(fake->requests.items[i]->line, match))
				return fake->peers.items[j];
	fprintf(stderr, "fake: no open request matches \"%s\"\n", match);
	for (size_t i = 0; i < fake->requests.count; i++)
		fprintf(stderr, "  %s%s\n", fake->requests.items[i]->line,
		        fake->requests.items[i]->answered ? "" : " (open)");
	abort();
}

void fake_send_bytes(struct fake *fake, const char *match, const char *bytes, size_t length)
{
	struct peer *peer = open_peer(fake, match);
	if (!peer->streaming)
		buffer_puts(&peer->out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		                        "Transfer-Encoding: chunked\r\n\r\n");
	peer->streaming = true;
	buffer_printf(&peer->out, "%zx\r\n", length);
	buffer_append(&peer->out, bytes, length);
	buffer_puts(&peer->out, "\r\n");
	peer_write(peer);
}

void fake_send(struct fake *fake, const char *match, const char *text)
{
	struct buffer quoted = {0};
	put_quoted(&quoted, text);
	fake_send_bytes(fake, match, quoted.text, quoted.length);
	buffer_free(&quoted);
}

void fake_finish(struct fake *fake, const char *match)
{
	struct peer *peer = open_peer(fake, match);
	if (!peer->streaming)
		buffer_puts(&peer->out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	buffer_puts(&peer->out, "0\r\n\r\n");
	peer_write(peer);
	peer->streaming = false;
	peer->request->answered = true;
	peer->request = NULL;
}

void fake_cut(struct fake *fake, const char *match)
{
	peer_end(open_peer(fake, match));
}

void fake_answer(struct fake *fake, const char *match, int code, const char *headers, const char *body)
{
	struct peer *peer = open_peer(fake, match);
	put_answer(&peer->out, code, headers, body);
	peer->request->answered = true;
	peer->request = NULL;
	peer_write(peer);
}

/* ---- what was asked ---- */

const struct fake_request *fake_request(const struct fake *fake, const char *match, size_t n)
{
	for (size_t i = 0; i < fake->requests.count; i++)
		if (strstr(fake->requests.items[i]->line, match) && n-- == 0)
			return fake->requests.items[i];
	return NULL;
}

size_t fake_count(const struct fake *fake, const char *match)
{
	size_t count = 0;
	for (size_t i = 0; i < fake->requests.count; i++)
		count += strstr(fake->requests.items[i]->line, match) != NULL;
	return count;
}

size_t fake_open(const struct fake *fake, const char *match)
{
	size_t count = 0;
	for (size_t i = 0; i < fake->requests.count; i++)
		count += strstr(fake->requests.items[i]->line, match) && !fake->requests.items[i]->answered;
	return count;
}
