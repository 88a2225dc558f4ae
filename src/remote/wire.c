#include "remote/wire.h"

#include "object/build.h"

#include <stdlib.h>
#include <string.h>

/* The first `used` bytes were taken. */
static void consume(struct buffer *rest, size_t used)
{
	if (used > 0 && used < rest->length)
		memmove(rest->text, rest->text + used, rest->length - used);
	rest->length -= used;
}

/* ---- lists ---- */

struct feed {
	struct wire_span in;
	size_t largest;
	remote_piece *receive;
	void *context;
	struct error *error;
};

static int malformed(struct feed *feed)
{
	return error_set(feed->error, ERROR_SYNTAX, "the list is not what protobuf should be");
}

/* A part of the list or of what is around it, as a whole: 1 it is there, 0 not yet. */
static int whole_part(struct feed *feed, struct wire_span *in, struct wire_value *value)
{
	uint64_t length = 0;
	int status = wire_head(in, value, &length);
	if (status < 0)
		return malformed(feed);
	if (status == 1 && length > feed->largest)
		return error_set(feed->error, ERROR_LIMIT, "an item is larger than %zu bytes", feed->largest);
	if (status == 0 || length > (uint64_t)(in->end - in->at))
		return 0;
	value->bytes = (struct wire_span){in->at, in->at + length};
	in->at += length;
	return 1;
}

static int take_list_meta(struct remote_wire_list *list, struct wire_span in)
{
	struct wire_value value;
	int status;
	while ((status = wire_next(&in, &value)) == 1) {
		char **text = value.number == 2 ? &list->version : value.number == 3 ? &list->continue_ : NULL;
		if (!text || value.wire != WIRE_BYTES)
			continue;
		free(*text);
		*text = wire_text(value.bytes);
	}
	return status;
}

/* A part of the list: what it says about itself, or an item. */
static int take_inside(struct remote_wire_list *list, struct feed *feed)
{
	if (list->left == 0) {
		list->where = WIRE_LIST_OUTSIDE;
		return 1;
	}
	struct wire_span in = feed->in;
	bool all = list->left <= (uint64_t)(in.end - in.at);
	if (all)
		in.end = in.at + list->left;
	struct wire_value value;
	int status = whole_part(feed, &in, &value);
	if (status == 0 && all)
		return malformed(feed); /* it would be longer than the list */
	if (status <= 0)
		return status;
	list->left -= (uint64_t)(in.at - feed->in.at);
	feed->in.at = in.at;
	if (value.number == 1 && take_list_meta(list, value.bytes) < 0)
		return malformed(feed);
	if (value.number == 2 &&
	    feed->receive(feed->context, (const char *)value.bytes.at, (size_t)(value.bytes.end - value.bytes.at)) < 0)
		return -1;
	return 1;
}

/* Around the list: its kind, then the list itself. */
static int take_outside(struct remote_wire_list *list, struct feed *feed)
{
	struct wire_span in = feed->in;
	struct wire_value value;
	uint64_t length;
	if (in.at == in.end)
		return 0;
	if (wire_head(&in, &value, &length) == 1 && value.number == 2 && !list->begun) {
		list->begun = true;
		list->left = length;
		list->where = WIRE_LIST_INSIDE;
		feed->in = in;
		return 1;
	}
	in = feed->in;
	int status = whole_part(feed, &in, &value);
	if (status <= 0)
		return status;
	struct wire_envelope envelope = {0};
	if (value.number == 2 || (value.number == 1 && wire_unwrap_type(value.bytes, &envelope) < 0))
		return malformed(feed);
	if (value.number == 1) {
		free(list->kind);
		list->kind = wire_text(envelope.kind);
	}
	feed->in.at = in.at;
	return 1;
}

static int take_mark(struct remote_wire_list *list, struct feed *feed)
{
	if (feed->in.end - feed->in.at < WIRE_MARK_LENGTH)
		return 0;
	if (memcmp(feed->in.at, WIRE_MARK, WIRE_MARK_LENGTH) != 0)
		return malformed(feed);
	feed->in.at += WIRE_MARK_LENGTH;
	list->where = WIRE_LIST_OUTSIDE;
	return 1;
}

int remote_wire_list_feed(struct remote_wire_list *list, const char *bytes, size_t length, size_t largest,
                          remote_piece *receive, void *context, struct error *error)
{
	buffer_append(&list->rest, bytes, length);
	const unsigned char *from = (const unsigned char *)list->rest.text;
	struct feed feed = {{from, from + list->rest.length}, largest, receive, context, error};
	int status = 1;
	while (status == 1)
		status = list->where == WIRE_LIST_MARK     ? take_mark(list, &feed)
		         : list->where == WIRE_LIST_INSIDE ? take_inside(list, &feed)
		                                           : take_outside(list, &feed);
	consume(&list->rest, (size_t)(feed.in.at - from));
	return status;
}

bool remote_wire_list_is_whole(const struct remote_wire_list *list)
{
	return list->begun && list->left == 0 && list->rest.length == 0;
}

struct doc *remote_wire_list_envelope(const struct remote_wire_list *list)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build);
	if (list->kind)
		build_put_string(build, root, "kind", list->kind);
	if (list->version)
		build_put_string(build, metadata, "resourceVersion", list->version);
	if (list->continue_)
		build_put_string(build, metadata, "continue", list->continue_);
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "items", build_list(build));
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}

void remote_wire_list_free(struct remote_wire_list *list)
{
	buffer_free(&list->rest);
	free(list->kind);
	free(list->version);
	free(list->continue_);
}

/* ---- watches ---- */

int remote_wire_frames_feed(struct remote_lines *frames, const char *bytes, size_t length, size_t longest,
                            remote_piece *receive, void *context, struct error *error)
{
	buffer_append(&frames->rest, bytes, length);
	const unsigned char *at = (const unsigned char *)frames->rest.text, *from = at, *end = at + frames->rest.length;
	int status = 0;
	while (status == 0 && end - at >= 4) {
		size_t size = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
		if (size > longest)
			return error_set(error, ERROR_LIMIT, "an event is larger than %zu bytes", longest);
		if (size > (size_t)(end - at - 4))
			break;
		status = receive(context, (const char *)at + 4, size);
		at += 4 + size;
	}
	consume(&frames->rest, (size_t)(at - from));
	return status;
}

static const char *event_type(struct wire_span bytes)
{
	static const char *const types[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
	size_t length = (size_t)(bytes.end - bytes.at);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i]) == length && memcmp(types[i], bytes.at, length) == 0)
			return types[i];
	return "";
}

int remote_wire_event(const char *bytes, size_t length, struct remote_wire_event *event)
{
	struct wire_span in = {(const unsigned char *)bytes, (const unsigned char *)bytes + length};
	struct wire_value value, raw;
	int status;
	*event = (struct remote_wire_event){.type = ""};
	while ((status = wire_next(&in, &value)) == 1) {
		if (value.wire != WIRE_BYTES)
			continue;
		if (value.number == 1)
			event->type = event_type(value.bytes);
		struct wire_span object = value.bytes;
		if (value.number != 2)
			continue;
		/* The object is in a message of its own. */
		while ((status = wire_next(&object, &raw)) == 1)
			if (raw.number == 1 && raw.wire == WIRE_BYTES && wire_unwrap(raw.bytes, &event->object) < 0)
				return -1;
		if (status < 0)
			return -1;
	}
	return status;
}

/* ---- statuses ---- */

int remote_wire_status(struct wire_span in, struct remote_wire_status *status)
{
	struct wire_value value;
	int next;
	*status = (struct remote_wire_status){0};
	while ((next = wire_next(&in, &value)) == 1) {
		if (value.number == 3 && value.wire == WIRE_BYTES)
			status->message = value.bytes;
		else if (value.number == 6 && value.wire == WIRE_VARINT)
			status->code = (int64_t)value.integer;
	}
	return next;
}
