/* Certificates of one server: an own authority, a certificate for the server and one for its administrator, made at the
 * first start and kept in a directory. */
#ifndef SERVE_TLS_PKI_H
#define SERVE_TLS_PKI_H

#include "base/error.h"
#include "base/strings.h"

#include <stdint.h>

struct ssl_ctx_st;
struct pki;

/* Reads what is in the directory and makes what is missing, about to expire, or (the server's) not for this address.
 * `now` is in seconds. NULL and *error when the directory or what is in it cannot be used. */
struct pki *pki_open(const char *directory, const char *address, int64_t now, struct error *error);
void pki_close(struct pki *pki); /* NULL is a no-op */

/* For the server: TLS 1.2 and newer, HTTP/1.1; a client certificate is asked for, but a bad one does not end the
 * handshake (the request is then refused with words). Owned by the pki. */
struct ssl_ctx_st *pki_tls(const struct pki *pki);

/* PEM, for kubeconfigs. */
const char *pki_authority(const struct pki *pki);
const char *pki_client_certificate(const struct pki *pki);
const char *pki_client_key(const struct pki *pki);

/* 256 random bits in hexadecimal. */
int pki_random_token(struct buffer *token, struct error *error);
/* The token in this file, made (256 random bits in hexadecimal) when there is none. */
int pki_token(const char *directory, const char *file, struct buffer *token, struct error *error);

#endif
