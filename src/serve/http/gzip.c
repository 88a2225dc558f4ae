/* gzip for large answers, fast rather than small. */
#include "serve/http/internal.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

int http_gzip(const char *data, size_t length, struct buffer *out)
{
	z_stream stream;
	memset(&stream, 0, sizeof(stream));
	if (length > UINT_MAX / 2 ||
	    deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -1;
	char block[32768];
	int code = Z_OK;
	stream.next_in = (Bytef *)(uintptr_t)data;
	stream.avail_in = (uInt)length;
	while (code == Z_OK && out->length < length) {
		stream.next_out = (Bytef *)block;
		stream.avail_out = sizeof(block);
		code = deflate(&stream, Z_FINISH);
		buffer_append(out, block, sizeof(block) - stream.avail_out);
	}
	deflateEnd(&stream);
	if (code == Z_STREAM_END && out->length < length)
		return 0;
	buffer_free(out);
	return -1;
}
