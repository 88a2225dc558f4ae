/* Owns base64, by way of OpenSSL. */
#include "serve/tls/base64.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

char *base64_encode(struct arena *arena, const char *bytes, size_t length)
{
	char *text = arena_array(arena, char, length / 3 * 4 + 8);
	text[0] = '\0';
	if (length > 0)
		EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)bytes, (int)length);
	return text;
}

void base64_decode(const char *text, struct buffer *out)
{
	size_t length = strlen(text), room = length / 4 * 3 + 4;
	if (length == 0 || length > INT_MAX / 2)
		return;
	unsigned char *bytes = base_malloc(room);
	int count = EVP_DecodeBlock(bytes, (const unsigned char *)text, (int)length);
	/* It counts the padding as bytes. */
	for (size_t at = length; count > 0 && at > 0 && text[at - 1] == '='; at--)
		count--;
	if (count > 0)
		buffer_append(out, (const char *)bytes, (size_t)count);
	OPENSSL_cleanse(bytes, room); /* it may be a key */
	free(bytes);
}
