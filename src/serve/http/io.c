/* Bytes in and out of a connection; the only file of the HTTP server that sees OpenSSL. */
#include "serve/http/internal.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t plain_result(ssize_t count)
{
	if (count >= 0)
		return count;
	return errno == EAGAIN || errno == EINTR ? -1 : -2;
}

/* The interest that TLS waits for; it may have to read to write and the reverse. */
static ssize_t tls_result(struct http_conn *conn, int code)
{
	switch (SSL_get_error(conn->ssl, code)) {
	case SSL_ERROR_WANT_READ:
		http_server_interest(conn, EPOLLIN);
		return -1;
	case SSL_ERROR_WANT_WRITE:
		http_server_interest(conn, EPOLLOUT);
		return -1;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	default:
		ERR_clear_error();
		return -2;
	}
}

ssize_t http_io_read(struct http_conn *conn, char *into, size_t size)
{
	if (!conn->ssl)
		return plain_result(recv(conn->fd, into, size, 0));
	ERR_clear_error();
	int count = SSL_read(conn->ssl, into, size > INT_MAX ? INT_MAX : (int)size);
	return count > 0 ? count : tls_result(conn, count);
}

ssize_t http_io_write(struct http_conn *conn, const char *data, size_t length)
{
	if (!conn->ssl)
		return plain_result(send(conn->fd, data, length, MSG_NOSIGNAL));
	ERR_clear_error();
	int count = SSL_write(conn->ssl, data, length > INT_MAX ? INT_MAX : (int)length);
	if (count > 0)
		return count;
	ssize_t result = tls_result(conn, count);
	return result == 0 ? -2 : result;
}

static bool speaks_plain(const struct http_conn *conn)
{
	char first;
	return recv(conn->fd, &first, 1, MSG_PEEK) == 1 && first >= 'A' && first <= 'Z';
}

/* Somebody who speaks plain HTTP to the TLS port gets a sentence instead of a handshake alert. */
static void greet_plain(struct http_conn *conn)
{
	static const char answer[] = "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
				     "Client sent an HTTP request to an HTTPS server.\n";
	(void)!send(conn->fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL);
}

void http_io_wait(struct http_conn *conn)
{
	int on = 1;
	setsockopt(conn->fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

int http_io_handshake(struct http_conn *conn)
{
	if (!conn->ssl) {
		char first;
		if (recv(conn->fd, &first, 1, MSG_PEEK) < 0 && errno == EAGAIN)
			return -1; /* no memory for TLS before the client says something */
		if (speaks_plain(conn)) {
			if (conn->server->options.plain_too)
				return 1;
			greet_plain(conn);
			return -2;
		}
		conn->ssl = SSL_new(conn->server->options.tls);
		if (!conn->ssl || SSL_set_fd(conn->ssl, conn->fd) != 1)
			return -2;
		SSL_set_accept_state(conn->ssl);
	}
	ERR_clear_error();
	int code = SSL_do_handshake(conn->ssl);
	if (code == 1)
		return 1;
	return tls_result(conn, code) == -1 ? -1 : -2;
}

static const char *name_entry(struct arena *arena, X509_NAME *name, int nid)
{
	int at = X509_NAME_get_index_by_NID(name, nid, -1);
	unsigned char *text = NULL;
	if (at < 0)
		return NULL;
	int length = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
	if (length < 0)
		return NULL;
	char *copy = arena_strndup(arena, (const char *)text, (size_t)length);
	OPENSSL_free(text);
	return copy;
}

void http_io_peer(const struct http_conn *conn, struct arena *arena, struct http_peer *peer)
{
	*peer = (struct http_peer){.tls = conn->ssl != NULL};
	X509 *certificate = conn->ssl ? SSL_get0_peer_certificate(conn->ssl) : NULL;
	if (!certificate || SSL_get_verify_result(conn->ssl) != X509_V_OK)
		return;
	X509_NAME *name = X509_get_subject_name(certificate);
	peer->certificate = true;
	peer->subject = name_entry(arena, name, NID_commonName);
	peer->group = name_entry(arena, name, NID_organizationName);
}

/* One try to say goodbye; nobody waits for a client that does not read. */
static void tls_goodbye(struct http_conn *conn)
{
	if (!SSL_is_init_finished(conn->ssl))
		return;
	ERR_clear_error();
	SSL_shutdown(conn->ssl);
	SSL_set_quiet_shutdown(conn->ssl, 1);
}

void http_io_finish(struct http_conn *conn)
{
	if (conn->ssl)
		tls_goodbye(conn);
	shutdown(conn->fd, SHUT_WR);
}

void http_io_close(struct http_conn *conn)
{
	if (conn->ssl) {
		tls_goodbye(conn);
		SSL_free(conn->ssl);
		conn->ssl = NULL;
		ERR_clear_error();
	}
	if (conn->fd >= 0) {
		/* A copy of the process (dashboard_ask.h) may still have it open, and closing alone would not end the
		 * events then. */
		epoll_ctl(conn->server->epoll, EPOLL_CTL_DEL, conn->fd, NULL);
		close(conn->fd);
	}
	conn->fd = -1;
}
