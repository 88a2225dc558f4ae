/* Owns the certificates of one server in a directory. */
#include "serve/tls/pki.h"
#include "serve/tls/secret.h"

#include "base/arena.h"
#include "serve/tls/certificate.h"
#include "serve/tls/secret_file.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY INT64_C(86400)
#define YEARS (3650 * DAY)
#define RENEW (30 * DAY)

struct pki {
	struct certificate authority, server, client;
	SSL_CTX *tls;
};

/* What a certificate is to be. */
struct wish {
	const char *directory, *file; /* file.key and file.crt */
	const char *address;          /* the server's must be for this one */
	struct certificate_wish certificate;
};

static const char *path_of(struct buffer *path, const struct wish *wish, const char *end)
{
	path->length = 0;
	buffer_printf(path, "%s/%s.%s", wish->directory, wish->file, end);
	return path->text;
}

/* ---- reading ---- */

/* 1 read, 0 not there, -1 there but of no use. */
static int read_identity(const struct wish *wish, struct certificate *identity, struct error *error)
{
	struct buffer path = {0};
	int key = secret_read(path_of(&path, wish, "key"), &identity->key_pem, error);
	int certificate = key < 0 ? key : secret_read(path_of(&path, wish, "crt"), &identity->pem, error);
	int status = key < 0 || certificate < 0 ? -1 : key && certificate;
	if (status == 1) {
		certificate_parse(identity);
		if (!identity->key || !identity->x509 || X509_check_private_key(identity->x509, identity->key) != 1) {
			ERR_clear_error();
			status = error_set(
				error, ERROR_INVALID,
				"%s/%s.crt and .key do not belong together or are damaged; remove them and new ones "
				"are made",
				wish->directory, wish->file);
		}
	}
	buffer_free(&path);
	return status;
}

static bool still_good(const struct wish *wish, const struct certificate *identity, const struct certificate *authority)
{
	return certificate_outlives(identity, wish->certificate.now + RENEW) &&
	       (!wish->address || X509_check_ip_asc(identity->x509, wish->address, 0) == 1) &&
	       certificate_is_signed_by(identity, authority);
}

/* ---- making ---- */

static int make_identity(const struct wish *wish, const struct certificate *authority, struct certificate *made,
                         struct error *error)
{
	struct buffer path = {0};
	if (certificate_make(&wish->certificate, authority, made, error) < 0)
		return -1;
	int status = secret_write(path_of(&path, wish, "key"), made->key_pem.text, made->key_pem.length, error);
	if (status == 0)
		status = secret_write(path_of(&path, wish, "crt"), made->pem.text, made->pem.length, error);
	buffer_free(&path);
	return status;
}

static int obtain(const struct wish *wish, const struct certificate *authority, struct certificate *identity,
                  struct error *error)
{
	int status = read_identity(wish, identity, error);
	if (status < 0)
		return -1;
	if (status == 1 && still_good(wish, identity, wish->certificate.is_authority ? identity : authority))
		return 0;
	certificate_clear(identity);
	return make_identity(wish, authority, identity, error);
}

/* ---- TLS ---- */

static SSL_CTX *make_tls(const struct pki *pki)
{
	SSL_CTX *tls = tls_create();
	if (!tls)
		return NULL;
	if (SSL_CTX_use_certificate(tls, pki->server.x509) == 1 && SSL_CTX_use_PrivateKey(tls, pki->server.key) == 1 &&
	    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), pki->authority.x509) == 1 &&
	    SSL_CTX_add_client_CA(tls, pki->authority.x509) == 1)
		return tls;
	SSL_CTX_free(tls);
	return NULL;
}

/* ---- all together ---- */

static int obtain_all(struct pki *pki, const char *directory, const char *address, int64_t now, struct error *error)
{
	char host[256] = "";
	struct buffer names = {0};
	buffer_puts(
		&names,
		"DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:::1");
	if (gethostname(host, sizeof(host) - 1) == 0 && host[0] &&
	    strlen(host) == strspn(host, "abcdefghijklmnopqrstuvwxyz"
	                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                 "0123456789-."))
		buffer_printf(&names, ",DNS:%s", host);
	buffer_printf(&names, ",IP:%s", address);
	struct wish authority = {
		.directory = directory,
		.file = "ca",
		.certificate = {.common_name = "platoon-ca", .is_authority = true, .now = now, .seconds = YEARS}};
	struct wish server = {.directory = directory,
	                      .file = "server",
	                      .address = address,
	                      .certificate = {.common_name = "platoon",
	                                      .usage = "serverAuth",
	                                      .names = names.text,
	                                      .now = now,
	                                      .seconds = YEARS}};
	struct wish client = {.directory = directory,
	                      .file = "client",
	                      .certificate = {.common_name = "platoon-admin",
	                                      .organization = "system:masters",
	                                      .usage = "clientAuth",
	                                      .now = now,
	                                      .seconds = YEARS}};
	int status = obtain(&authority, NULL, &pki->authority, error);
	if (status == 0)
		status = obtain(&server, &pki->authority, &pki->server, error);
	if (status == 0)
		status = obtain(&client, &pki->authority, &pki->client, error);
	buffer_free(&names);
	return status;
}

struct pki *pki_open(const char *directory, const char *address, int64_t now, struct error *error)
{
	struct pki *pki = base_calloc(1, sizeof(*pki));
	if (secret_directory(directory, error) == 0 &&
	    obtain_all(pki, directory, address ? address : "127.0.0.1", now, error) == 0) {
		pki->tls = make_tls(pki);
		if (pki->tls)
			return pki;
		certificate_failed(error, "a TLS context");
	}
	pki_close(pki);
	return NULL;
}

void pki_close(struct pki *pki)
{
	if (!pki)
		return;
	SSL_CTX_free(pki->tls);
	certificate_clear(&pki->authority);
	certificate_clear(&pki->server);
	certificate_clear(&pki->client);
	free(pki);
}

struct ssl_ctx_st *pki_tls(const struct pki *pki)
{
	return pki->tls;
}

const char *pki_authority(const struct pki *pki)
{
	return pki->authority.pem.text;
}

const char *pki_client_certificate(const struct pki *pki)
{
	return pki->client.pem.text;
}

const char *pki_client_key(const struct pki *pki)
{
	return pki->client.key_pem.text;
}

int pki_random_token(struct buffer *token, struct error *error)
{
	unsigned char bytes[32];
	if (secret_random(bytes, sizeof(bytes)) < 0)
		return certificate_failed(error, "a token");
	for (size_t i = 0; i < sizeof(bytes); i++)
		buffer_printf(token, "%02x", bytes[i]);
	return 0;
}

int pki_token(const char *directory, const char *file, struct buffer *token, struct error *error)
{
	struct buffer path = {0};
	buffer_printf(&path, "%s/%s", directory, file);
	int status = secret_read(path.text, token, error);
	while (status == 1 && token->length > 0 && strchr("\r\n \t", token->text[token->length - 1]))
		token->text[--token->length] = '\0';
	if (status == 1 && token->length < 16) {
		status = error_set(error, ERROR_INVALID, "%s is too short for a token; remove it and a new one is made",
		                   path.text);
	} else if (status == 0) {
		status = pki_random_token(token, error);
		if (status == 0)
			status = secret_write(path.text, token->text, token->length, error);
	}
	buffer_free(&path);
	return status < 0 ? -1 : 0;
}
