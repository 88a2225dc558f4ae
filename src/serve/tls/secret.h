/* Bytes that nobody can guess, and what is done with them, by way of OpenSSL. */
#ifndef SERVE_TLS_SECRET_H
#define SERVE_TLS_SECRET_H

#include <stdbool.h>
#include <stddef.h>

enum { SECRET_DIGEST = 32 };

/* -1 when the system gives none. */
int secret_random(unsigned char *bytes, size_t length);
/* In a time that does not depend on where they differ. */
bool secret_equal(const char *a, const char *b, size_t length);
/* SHA-256 of the salt with the text behind it; -1 when OpenSSL cannot. */
int secret_digest(const unsigned char *salt, size_t length, const char *text, unsigned char digest[SECRET_DIGEST]);

#endif
