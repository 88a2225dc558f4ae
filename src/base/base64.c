/* Owns base64, by way of OpenSSL. */
#include "base/base64.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

char *base64_encode(struct arena *arena, const void *bytes, size_t length)
{
	char *text = arena_array(arena, char, length / 3 * 4 + 8);
	text[0] = '\0';
	if (length > 0)
		EVP_EncodeBlock((unsigned char *)text, bytes, (int)length);
	return text;
}

int base64_decode(const char *text, struct buffer *out)
{
	size_t size = strlen(text) + 1, length = 0;
	unsigned char *compact = base_malloc(size), *bytes = base_malloc(size);
	for (const char *at = text; *at; at++)
		if (!strchr(" \t\r\n", *at))
			compact[length++] = (unsigned char)*at;
	int count = length % 4 == 0 && length < INT_MAX / 2 ? 0 : -1;
	if (count == 0 && length > 0)
		count = EVP_DecodeBlock(bytes, compact, (int)length);
	/* It counts the padding as bytes. */
	for (size_t at = length; count > 0 && at > 0 && compact[at - 1] == '='; at--)
		count--;
	if (count > 0)
		buffer_append(out, (const char *)bytes, (size_t)count);
	OPENSSL_cleanse(compact, size);
	OPENSSL_cleanse(bytes, size);
	free(compact);
	free(bytes);
	return count < 0 ? -1 : 0;
}
