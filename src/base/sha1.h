/* SHA-1 (FIPS 180-4), for names that other programs make with it. Not for secrets. */
#ifndef BASE_SHA1_H
#define BASE_SHA1_H

#include <stddef.h>

#define SHA1_HEX 41 /* characters of a digest, with the NUL */

/* Writes the digest in lower-case hexadecimal into `out`, which has room for SHA1_HEX. */
void sha1_hex(const char *text, size_t length, char *out);

#endif
