/* Keys (ECDSA P-256) and certificates through OpenSSL. */
#include "serve/pki.h"

#include "base/arena.h"
#include "serve/secret_file.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY INT64_C(86400)
#define YEARS (3650 * DAY)
#define RENEW (30 * DAY)

/* A key with its certificate, and the PEM of both. */
struct identity {
	EVP_PKEY *key;
	X509 *certificate;
	struct buffer key_pem, certificate_pem;
};

struct pki {
	struct identity authority, server, client;
	SSL_CTX *tls;
};

/* What a certificate is to be. */
struct wish {
	const char *directory, *file; /* file.key and file.crt */
	const char *common_name, *organization;
	const char *usage, *extended_usage, *names; /* names: subjectAltName */
	const char *address;                        /* the server's must be for this one */
	bool is_authority;
	int64_t now;
};

static int crypto_failed(struct error *error, const char *what)
{
	unsigned long code = ERR_get_error();
	const char *reason = ERR_reason_error_string(code);
	ERR_clear_error();
	return error_set(error, ERROR_INTERNAL, "cannot make %s: %s", what, reason ? reason : "OpenSSL failed");
}

static void identity_clear(struct identity *identity)
{
	EVP_PKEY_free(identity->key);
	X509_free(identity->certificate);
	buffer_free(&identity->key_pem);
	buffer_free(&identity->certificate_pem);
	*identity = (struct identity){0};
}

static const char *path_of(struct buffer *path, const struct wish *wish, const char *end)
{
	path->length = 0;
	buffer_printf(path, "%s/%s.%s", wish->directory, wish->file, end);
	return path->text;
}

/* ---- reading ---- */

static void parse_identity(struct identity *identity)
{
	BIO *key = BIO_new_mem_buf(identity->key_pem.text, (int)identity->key_pem.length);
	BIO *certificate = BIO_new_mem_buf(identity->certificate_pem.text, (int)identity->certificate_pem.length);
	if (key)
		identity->key = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
	if (certificate)
		identity->certificate = PEM_read_bio_X509(certificate, NULL, NULL, NULL);
	BIO_free(key);
	BIO_free(certificate);
	ERR_clear_error();
}

/* 1 read, 0 not there, -1 there but of no use. */
static int read_identity(const struct wish *wish, struct identity *identity, struct error *error)
{
	struct buffer path = {0};
	int key = secret_read(path_of(&path, wish, "key"), &identity->key_pem, error);
	int certificate = key < 0 ? key : secret_read(path_of(&path, wish, "crt"), &identity->certificate_pem, error);
	int status = key < 0 || certificate < 0 ? -1 : key && certificate;
	if (status == 1) {
		parse_identity(identity);
		if (!identity->key || !identity->certificate ||
		    X509_check_private_key(identity->certificate, identity->key) != 1) {
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

static bool still_good(const struct wish *wish, const struct identity *identity, const struct identity *authority)
{
	time_t soon = (time_t)(wish->now + RENEW);
	if (X509_cmp_time(X509_get0_notAfter(identity->certificate), &soon) <= 0)
		return false;
	if (wish->address && X509_check_ip_asc(identity->certificate, wish->address, 0) != 1)
		return false;
	bool signed_by_us = X509_verify(identity->certificate, authority->key) == 1;
	ERR_clear_error();
	return signed_by_us;
}

/* ---- making ---- */

static int add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX context;
	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	int added = extension && X509_add_ext(certificate, extension, -1) == 1;
	X509_EXTENSION_free(extension);
	return added ? 0 : -1;
}

static int set_serial(X509 *certificate)
{
	unsigned char bytes[16];
	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return -1;
	bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40); /* positive, and always of the same length */
	BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
	bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
	BN_free(number);
	return set ? 0 : -1;
}

static int set_name(X509 *certificate, const struct wish *wish)
{
	X509_NAME *name = X509_get_subject_name(certificate);
	const unsigned char *organization = (const unsigned char *)wish->organization;
	const unsigned char *common_name = (const unsigned char *)wish->common_name;
	if (organization &&
	    X509_NAME_add_entry_by_NID(name, NID_organizationName, MBSTRING_UTF8, organization, -1, -1, 0) != 1)
		return -1;
	return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, common_name, -1, -1, 0) == 1 ? 0 : -1;
}

static int fill_certificate(const struct wish *wish, struct identity *made, const struct identity *authority)
{
	X509 *certificate = made->certificate;
	X509 *issuer = wish->is_authority ? certificate : authority->certificate;
	/* A day back: clocks differ, and a certificate that is not valid yet is hard to understand. */
	time_t from = (time_t)(wish->now - DAY), until = (time_t)(wish->now + YEARS);
	if (X509_set_version(certificate, X509_VERSION_3) != 1 || set_serial(certificate) ||
	    set_name(certificate, wish) || !ASN1_TIME_set(X509_getm_notBefore(certificate), from) ||
	    !ASN1_TIME_set(X509_getm_notAfter(certificate), until) || X509_set_pubkey(certificate, made->key) != 1 ||
	    X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) != 1)
		return -1;
	const char *basic = wish->is_authority ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE";
	if (add_extension(certificate, issuer, NID_basic_constraints, basic) ||
	    add_extension(certificate, issuer, NID_key_usage, wish->usage) ||
	    add_extension(certificate, issuer, NID_subject_key_identifier, "hash") ||
	    (wish->extended_usage && add_extension(certificate, issuer, NID_ext_key_usage, wish->extended_usage)) ||
	    (wish->names && add_extension(certificate, issuer, NID_subject_alt_name, wish->names)))
		return -1;
	if (!wish->is_authority && add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always"))
		return -1;
	EVP_PKEY *signer = wish->is_authority ? made->key : authority->key;
	return X509_sign(certificate, signer, EVP_sha256()) > 0 ? 0 : -1;
}

static int to_pem(struct identity *made)
{
	BIO *key = BIO_new(BIO_s_mem()), *certificate = BIO_new(BIO_s_mem());
	char *text;
	int status = -1;
	if (key && certificate && PEM_write_bio_PrivateKey(key, made->key, NULL, NULL, 0, NULL, NULL) == 1 &&
	    PEM_write_bio_X509(certificate, made->certificate) == 1) {
		long length = BIO_get_mem_data(key, &text);
		buffer_append(&made->key_pem, text, (size_t)length);
		length = BIO_get_mem_data(certificate, &text);
		buffer_append(&made->certificate_pem, text, (size_t)length);
		status = 0;
	}
	BIO_free(key);
	BIO_free(certificate);
	return status;
}

static int make_identity(const struct wish *wish, const struct identity *authority, struct identity *made,
                         struct error *error)
{
	struct buffer path = {0};
	made->key = EVP_EC_gen("P-256");
	made->certificate = X509_new();
	if (!made->key || !made->certificate || fill_certificate(wish, made, authority) || to_pem(made))
		return crypto_failed(error, "a certificate");
	int status = secret_write(path_of(&path, wish, "key"), made->key_pem.text, made->key_pem.length, error);
	if (status == 0)
		status = secret_write(path_of(&path, wish, "crt"), made->certificate_pem.text,
		                      made->certificate_pem.length, error);
	buffer_free(&path);
	return status;
}

static int obtain(const struct wish *wish, const struct identity *authority, struct identity *identity,
                  struct error *error)
{
	int status = read_identity(wish, identity, error);
	if (status < 0)
		return -1;
	if (status == 1 && still_good(wish, identity, wish->is_authority ? identity : authority))
		return 0;
	identity_clear(identity);
	return make_identity(wish, authority, identity, error);
}

/* ---- TLS ---- */

/* Whoever shows a certificate that is not ours is told so in the answer, not by a broken handshake. */
static int accept_any(int ok, X509_STORE_CTX *context)
{
	return 1;
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_length, const unsigned char *in,
                           unsigned in_length, void *context)
{
	static const unsigned char ours[] = "\x08http/1.1";
	unsigned char *chosen;
	if (SSL_select_next_proto(&chosen, out_length, ours, sizeof(ours) - 1, in, in_length) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_NOACK;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *make_tls(const struct pki *pki)
{
	SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
	if (!tls)
		return NULL;
	SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
	SSL_CTX_set_options(tls, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
	                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_num_tickets(tls, 0);
	SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
	                              SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, accept_any);
	SSL_CTX_set_alpn_select_cb(tls, choose_protocol, NULL);
	if (SSL_CTX_use_certificate(tls, pki->server.certificate) == 1 &&
	    SSL_CTX_use_PrivateKey(tls, pki->server.key) == 1 &&
	    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), pki->authority.certificate) == 1 &&
	    SSL_CTX_add_client_CA(tls, pki->authority.certificate) == 1)
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
	struct wish authority = {.directory = directory,
	                         .file = "ca",
	                         .common_name = "platoon-ca",
	                         .usage = "critical,keyCertSign,cRLSign",
	                         .is_authority = true,
	                         .now = now};
	struct wish server = {.directory = directory,
	                      .file = "server",
	                      .common_name = "platoon",
	                      .usage = "critical,digitalSignature",
	                      .extended_usage = "serverAuth",
	                      .names = names.text,
	                      .address = address,
	                      .now = now};
	struct wish client = {.directory = directory,
	                      .file = "client",
	                      .common_name = "platoon-admin",
	                      .organization = "system:masters",
	                      .usage = "critical,digitalSignature",
	                      .extended_usage = "clientAuth",
	                      .now = now};
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
		crypto_failed(error, "a TLS context");
	}
	pki_close(pki);
	return NULL;
}

void pki_close(struct pki *pki)
{
	if (!pki)
		return;
	SSL_CTX_free(pki->tls);
	identity_clear(&pki->authority);
	identity_clear(&pki->server);
	identity_clear(&pki->client);
	free(pki);
}

struct ssl_ctx_st *pki_tls(const struct pki *pki)
{
	return pki->tls;
}

const char *pki_authority(const struct pki *pki)
{
	return pki->authority.certificate_pem.text;
}

const char *pki_client_certificate(const struct pki *pki)
{
	return pki->client.certificate_pem.text;
}

const char *pki_client_key(const struct pki *pki)
{
	return pki->client.key_pem.text;
}

int pki_random_token(struct buffer *token, struct error *error)
{
	unsigned char bytes[32];
	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return crypto_failed(error, "a token");
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
