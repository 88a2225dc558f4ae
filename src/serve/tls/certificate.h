/* Certificates in memory: made, read, and used for TLS. */
#ifndef SERVE_TLS_CERTIFICATE_H
#define SERVE_TLS_CERTIFICATE_H

#include "base/error.h"
#include "base/strings.h"

#include <stdint.h>

struct evp_pkey_st;
struct ssl_ctx_st;
struct x509_st;

/* A key with its certificate, and the PEM of both. */
struct certificate {
	struct evp_pkey_st *key; /* NULL: not read, or of no use */
	struct x509_st *x509;
	struct buffer key_pem, pem;
};

/* What a certificate is to be. */
struct certificate_wish {
	const char *common_name, *organization; /* organization: NULL for none */
	const char *usage;                      /* "serverAuth", "clientAuth"; NULL for an authority */
	const char *names;                      /* subjectAltName; NULL: none */
	bool is_authority;                      /* signed by itself */
	int64_t now, seconds;                   /* valid from a day before now, for so long after it */
};

/* Makes a key and a certificate signed by `authority`. */
int certificate_make(const struct certificate_wish *wish, const struct certificate *authority, struct certificate *made,
                     struct error *error);
/* Fills key and x509 from the PEMs, of which the first certificate counts. */
void certificate_parse(struct certificate *certificate);
void certificate_clear(struct certificate *certificate);
/* Whether it was read, and the key is that of the certificate. */
bool certificate_is_whole(const struct certificate *certificate);
/* Whether it is still valid after that moment, and whether it is valid at it or began before. */
bool certificate_outlives(const struct certificate *certificate, int64_t when);
bool certificate_began(const struct certificate *certificate, int64_t when);
bool certificate_is_for_host(const struct certificate *certificate, const char *host);
bool certificate_is_signed_by(const struct certificate *certificate, const struct certificate *authority);
/* Says what could not be made and why OpenSSL says so; -1. */
int certificate_failed(struct error *error, const char *what);

/* For a server: TLS 1.2 and newer, HTTP/1.1. A client certificate is asked for, but a bad one does not end the handshake
 * (the request is then refused with words). NULL when OpenSSL has no memory. */
struct ssl_ctx_st *tls_create(void);
void tls_destroy(struct ssl_ctx_st *tls); /* NULL is a no-op */
/* Only clients with a certificate of one of these authorities (PEM) get through. */
int tls_require_client(struct ssl_ctx_st *tls, const char *authorities, struct error *error);
/* Connections from now on show this certificate. */
int tls_use(struct ssl_ctx_st *tls, const struct certificate *certificate, struct error *error);

#endif
