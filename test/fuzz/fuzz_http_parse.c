/* HTTP requests from bytes: any pieces, any number of messages. The first byte is the size of the pieces. */
#include "fuzz.h"

#include "serve/http/parse.h"

#include <stdlib.h>
#include <string.h>

static void look(struct http_message *message)
{
	struct arena *arena = arena_create();
	struct http_request request;
	struct http_query query;
	http_message_request(message, &request);
	request.arena = arena;
	fuzz_require(request.path[0] == '/' && request.body[request.body_length] == '\0');
	http_header_has(&request, "accept-encoding", "gzip");
	http_decode(arena, request.path, strlen(request.path), false);
	if (http_query_parse(arena, request.query, &query) == 0)
		http_query_get(&query, "watch");
	arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	size_t step = (size_t)data[0] + 1;
	data++;
	size--;
	struct http_message *message = http_message_create(2048, 4096);
	while (size > 0) {
		size_t used, piece = step < size ? step : size;
		char *copy = malloc(piece);
		memcpy(copy, data, piece);
		enum http_parse_result result = http_message_feed(message, copy, piece, &used);
		free(copy);
		fuzz_require(used <= piece && http_message_size(message) <= 2048 + 4096);
		data += used;
		size -= used;
		if (result == HTTP_PARSE_BAD)
			break;
		if (result == HTTP_PARSE_HEAD || result == HTTP_PARSE_DONE)
			look(message);
		if (result == HTTP_PARSE_DONE) {
			bool keep = http_message_keep_alive(message);
			http_message_destroy(message);
			message = http_message_create(2048, 4096);
			if (!keep)
				break;
		}
	}
	http_message_destroy(message);
	return 0;
}
