/* What comes from kubeconfigs and from API servers. The first byte picks which, the second how it is cut into pieces.
 * However a list or a watch is cut, the same comes out; and an item is what the parser of whole documents makes of it. */
#include "fuzz.h"
#include "kinds/schema.h"

#include "object/copy_wire.h"
#include "object/yaml_read.h"
#include "remote/config.h"
#include "remote/stream.h"
#include "remote/wire.h"

#include <string.h>

#define LARGEST ((size_t)1 << 16)

static int collect(void *context, const char *text, size_t length)
{
	struct buffer *out = context;
	struct doc *doc = doc_parse_json_scanned(text, length, NULL), *whole = doc_parse_json(text, length, NULL);
	fuzz_require(!doc == !whole || (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0));
	doc_destroy(doc);
	doc_destroy(whole);
	buffer_append(out, text, length);
	buffer_puts(out, "\n");
	return 0;
}

static int collect_line(void *context, const char *text, size_t length)
{
	struct buffer *out = context;
	fuzz_require(length > 0 && !memchr(text, '\n', length));
	buffer_append(out, text, length);
	buffer_puts(out, "\n");
	return 0;
}

static int feed(const char *text, size_t length, size_t size, bool items, struct buffer *out)
{
	struct remote_items list = {0};
	struct remote_lines lines = {0};
	struct error error = {0};
	int status = 0;
	for (size_t at = 0; at < length && status == 0; at += size) {
		size_t part = at + size < length ? size : length - at;
		status = items ? remote_items_feed(&list, text + at, part, LARGEST, collect, out, &error)
		               : remote_lines_feed(&lines, text + at, part, LARGEST, collect_line, out, &error);
	}
	if (items) {
		struct doc *doc = remote_items_envelope(&list);
		if (doc)
			val_write(doc_root(doc), DOC_JSON_COMPACT, out);
		doc_destroy(doc);
	}
	remote_items_free(&list);
	remote_lines_free(&lines);
	return status;
}

typedef int feeder(const char *text, size_t length, size_t size, bool items, struct buffer *out);

static void cut(feeder *feed_by, const char *text, size_t length, size_t size, bool items)
{
	struct buffer whole = {0}, pieces = {0};
	int first = feed_by(text, length, length ? length : 1, items, &whole);
	int second = feed_by(text, length, size, items, &pieces);
	fuzz_require(first == second);
	fuzz_require(whole.length == pieces.length);
	fuzz_require(first < 0 || whole.length == 0 || memcmp(whole.text, pieces.text, whole.length) == 0);
	buffer_free(&whole);
	buffer_free(&pieces);
}

/* ---- protobuf ---- */

static struct copier *copier;
static struct wire_plan *plan;

static int collect_span(struct buffer *out, struct wire_span in)
{
	struct error error = {0};
	struct doc *doc = doc_copy_wire(copier, plan, in, NULL, 0, &error);
	fuzz_require(doc || error.text[0]);
	if (doc)
		val_write(doc_root(doc), DOC_JSON_COMPACT, out);
	doc_destroy(doc);
	buffer_puts(out, "\n");
	return 0;
}

static int collect_object(void *context, const char *bytes, size_t length)
{
	const unsigned char *from = (const unsigned char *)bytes;
	return collect_span(context, (struct wire_span){from, from + length});
}

static int collect_event(void *context, const char *bytes, size_t length)
{
	struct remote_wire_event event;
	struct remote_wire_status status;
	struct buffer *out = context;
	if (remote_wire_event(bytes, length, &event) < 0)
		return -1;
	buffer_puts(out, event.type);
	remote_wire_status(event.object.object, &status);
	return collect_span(out, event.object.object);
}

static int feed_wire(const char *text, size_t length, size_t size, bool items, struct buffer *out)
{
	struct remote_wire_list list = {0};
	struct remote_lines frames = {0};
	struct error error = {0};
	int status = 0;
	for (size_t at = 0; at < length && status == 0; at += size) {
		size_t part = at + size < length ? size : length - at;
		status = items ? remote_wire_list_feed(&list, text + at, part, LARGEST, collect_object, out, &error)
		               : remote_wire_frames_feed(&frames, text + at, part, LARGEST, collect_event, out, &error);
	}
	if (items && status == 0) { /* nobody asks after an error */
		struct doc *doc = remote_wire_list_envelope(&list);
		val_write(doc_root(doc), DOC_JSON_COMPACT, out);
		buffer_puts(out, remote_wire_list_is_whole(&list) ? " whole" : "");
		doc_destroy(doc);
	}
	remote_wire_list_free(&list);
	remote_lines_free(&frames);
	return status;
}

static void choose(const char *text, size_t length)
{
	struct yaml_document *docs;
	size_t count;
	struct error error = {0};
	if (yaml_read(text, length, &docs, &count, &error) < 0)
		return;
	struct arena *arena = arena_create();
	for (size_t i = 0; i < count; i++) {
		const struct val *file = doc_root(docs[i].doc);
		const char *home = "/nowhere";
		struct remote_access access;
		error.text[0] = '\0';
		if (remote_config_choose(&file, &home, 1, NULL, arena, &access, &error) < 0)
			fuzz_require(error.text[0]);
		else
			fuzz_require(access.server && access.namespace_ && !access.certificate == !access.key);
	}
	for (size_t i = 0; i < count; i++)
		doc_destroy(docs[i].doc);
	free(docs);
	arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 || size > LARGEST)
		return 0;
	const char *text = (const char *)data + 2;
	size_t length = size - 2, piece = (size_t)data[1] + 1;
	if (!plan) {
		copier = copier_create();
		plan = wire_plan_create(kinds_schema("", "v1", "Pod"), NULL);
	}
	switch (data[0] % 5) {
	case 0:
	case 1:
		cut(feed, text, length, piece, data[0] % 5 == 0);
		break;
	case 2:
		choose(text, length);
		break;
	default:
		cut(feed_wire, text, length, piece, data[0] % 5 == 3);
	}
	return 0;
}
