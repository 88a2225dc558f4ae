/* Owns bytes that nobody can guess, and what is done with them. */
#include "serve/tls/secret.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

int secret_random(unsigned char *bytes, size_t length)
{
	return RAND_bytes(bytes, (int)length) == 1 ? 0 : -1;
}

bool secret_equal(const char *a, const char *b, size_t length)
{
	return CRYPTO_memcmp(a, b, length) == 0;
}

int secret_digest(const unsigned char *salt, size_t length, const char *text, unsigned char digest[SECRET_DIGEST])
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool good = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 &&
	            EVP_DigestUpdate(context, salt, length) == 1 &&
	            EVP_DigestUpdate(context, text, strlen(text)) == 1 &&
	            EVP_DigestFinal_ex(context, digest, NULL) == 1;
	EVP_MD_CTX_free(context);
	return good ? 0 : -1;
}
