/* Keys (ECDSA P-256) and certificates through OpenSSL. */
#include "serve/tls/certificate.h"
#include "serve/tls/secret.h"

#include "base/arena.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

#define DAY INT64_C(86400)

int certificate_failed(struct error *error, const char *what)
{
	unsigned long code = ERR_get_error();
	const char *reason = ERR_reason_error_string(code);
	ERR_clear_error();
	return error_set(error, ERROR_INTERNAL, "cannot make %s: %s", what, reason ? reason : "OpenSSL failed");
}

void certificate_clear(struct certificate *certificate)
{
	EVP_PKEY_free(certificate->key);
	X509_free(certificate->x509);
	buffer_free(&certificate->key_pem);
	buffer_free(&certificate->pem);
	*certificate = (struct certificate){0};
}

bool certificate_is_whole(const struct certificate *certificate)
{
	bool whole = certificate->x509 && certificate->key &&
	             X509_check_private_key(certificate->x509, certificate->key) == 1;
	ERR_clear_error();
	return whole;
}

bool certificate_outlives(const struct certificate *certificate, int64_t when)
{
	time_t time = (time_t)when;
	return X509_cmp_time(X509_get0_notAfter(certificate->x509), &time) > 0;
}

bool certificate_began(const struct certificate *certificate, int64_t when)
{
	time_t time = (time_t)when;
	return X509_cmp_time(X509_get0_notBefore(certificate->x509), &time) <= 0;
}

bool certificate_is_for_host(const struct certificate *certificate, const char *host)
{
	return X509_check_host(certificate->x509, host, 0, 0, NULL) == 1;
}

bool certificate_is_signed_by(const struct certificate *certificate, const struct certificate *authority)
{
	bool is = X509_verify(certificate->x509, authority->key) == 1;
	ERR_clear_error();
	return is;
}

void certificate_parse(struct certificate *certificate)
{
	BIO *key = BIO_new_mem_buf(certificate->key_pem.text, (int)certificate->key_pem.length);
	BIO *pem = BIO_new_mem_buf(certificate->pem.text, (int)certificate->pem.length);
	if (key)
		certificate->key = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
	if (pem)
		certificate->x509 = PEM_read_bio_X509(pem, NULL, NULL, NULL);
	BIO_free(key);
	BIO_free(pem);
	ERR_clear_error();
}

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
	if (secret_random(bytes, sizeof(bytes)) < 0)
		return -1;
	bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40); /* positive, and always of the same length */
	BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
	bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
	BN_free(number);
	return set ? 0 : -1;
}

static int set_name(X509 *certificate, const struct certificate_wish *wish)
{
	X509_NAME *name = X509_get_subject_name(certificate);
	const unsigned char *organization = (const unsigned char *)wish->organization;
	const unsigned char *common_name = (const unsigned char *)wish->common_name;
	if (organization &&
	    X509_NAME_add_entry_by_NID(name, NID_organizationName, MBSTRING_UTF8, organization, -1, -1, 0) != 1)
		return -1;
	return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, common_name, -1, -1, 0) == 1 ? 0 : -1;
}

static int fill_certificate(const struct certificate_wish *wish, struct certificate *made,
                            const struct certificate *authority)
{
	X509 *certificate = made->x509;
	X509 *issuer = wish->is_authority ? certificate : authority->x509;
	/* A day back: clocks differ, and a certificate that is not valid yet is hard to understand. */
	time_t from = (time_t)(wish->now - DAY), until = (time_t)(wish->now + wish->seconds);
	if (X509_set_version(certificate, X509_VERSION_3) != 1 || set_serial(certificate) ||
	    set_name(certificate, wish) || !ASN1_TIME_set(X509_getm_notBefore(certificate), from) ||
	    !ASN1_TIME_set(X509_getm_notAfter(certificate), until) || X509_set_pubkey(certificate, made->key) != 1 ||
	    X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) != 1)
		return -1;
	const char *usage = wish->is_authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature";
	const char *basic = wish->is_authority ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE";
	if (add_extension(certificate, issuer, NID_basic_constraints, basic) ||
	    add_extension(certificate, issuer, NID_key_usage, usage) ||
	    add_extension(certificate, issuer, NID_subject_key_identifier, "hash") ||
	    (wish->usage && add_extension(certificate, issuer, NID_ext_key_usage, wish->usage)) ||
	    (wish->names && add_extension(certificate, issuer, NID_subject_alt_name, wish->names)))
		return -1;
	if (!wish->is_authority && add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always"))
		return -1;
	EVP_PKEY *signer = wish->is_authority ? made->key : authority->key;
	return X509_sign(certificate, signer, EVP_sha256()) > 0 ? 0 : -1;
}

static int to_pem(struct certificate *made)
{
	BIO *key = BIO_new(BIO_s_mem()), *certificate = BIO_new(BIO_s_mem());
	char *text;
	int status = -1;
	if (key && certificate && PEM_write_bio_PrivateKey(key, made->key, NULL, NULL, 0, NULL, NULL) == 1 &&
	    PEM_write_bio_X509(certificate, made->x509) == 1) {
		long length = BIO_get_mem_data(key, &text);
		buffer_append(&made->key_pem, text, (size_t)length);
		length = BIO_get_mem_data(certificate, &text);
		buffer_append(&made->pem, text, (size_t)length);
		status = 0;
	}
	BIO_free(key);
	BIO_free(certificate);
	return status;
}

int certificate_make(const struct certificate_wish *wish, const struct certificate *authority, struct certificate *made,
                     struct error *error)
{
	made->key = EVP_EC_gen("P-256");
	made->x509 = X509_new();
	if (!made->key || !made->x509 || fill_certificate(wish, made, authority) || to_pem(made))
		return certificate_failed(error, "a certificate");
	return 0;
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

struct ssl_ctx_st *tls_create(void)
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
	return tls;
}

void tls_destroy(SSL_CTX *tls)
{
	SSL_CTX_free(tls);
}

int tls_require_client(struct ssl_ctx_st *tls, const char *authorities, struct error *error)
{
	BIO *bio = BIO_new_mem_buf(authorities, -1);
	X509 *authority;
	size_t count = 0;
	while (bio && (authority = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
		count += X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), authority) == 1 &&
		         SSL_CTX_add_client_CA(tls, authority) == 1;
		X509_free(authority);
	}
	BIO_free(bio);
	ERR_clear_error();
	if (count == 0)
		return error_set(error, ERROR_INVALID, "there is no certificate in it");
	SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	return 0;
}

int tls_use(struct ssl_ctx_st *tls, const struct certificate *certificate, struct error *error)
{
	if (!certificate->x509 || !certificate->key ||
	    SSL_CTX_use_cert_and_key(tls, certificate->x509, certificate->key, NULL, 1) != 1)
		return certificate_failed(error, "TLS with the certificate");
	return 0;
}
