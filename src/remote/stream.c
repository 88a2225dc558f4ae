/* Owns cutting answers that arrive in pieces. */
#include "remote/stream.h"

#include <string.h>

/* ---- lines ---- */

void remote_lines_free(struct remote_lines *lines)
{
	buffer_free(&lines->rest);
}

static int hand_line(const char *text, size_t length, remote_piece *receive, void *context)
{
	if (length > 0 && text[length - 1] == '\r')
		length--;
	return length == 0 ? 0 : receive(context, text, length);
}

int remote_lines_feed(struct remote_lines *lines, const char *bytes, size_t length, size_t longest,
                      remote_piece *receive, void *context, struct error *error)
{
	while (length > 0) {
		const char *end = memchr(bytes, '\n', length);
		size_t part = end ? (size_t)(end - bytes) : length;
		int status = 0;
		if (lines->rest.length + part > longest)
			return error_set(error, ERROR_LIMIT, "an event is larger than %zu bytes", longest);
		if (end && lines->rest.length == 0) {
			status = hand_line(bytes, part, receive, context); /* in one piece: no copy */
		} else {
			buffer_append(&lines->rest, bytes, part);
			if (end)
				status = hand_line(lines->rest.text, lines->rest.length, receive, context);
		}
		if (end)
			lines->rest.length = 0;
		if (status < 0)
			return -1;
		bytes += part + (end != NULL);
		length -= part + (end != NULL);
	}
	return 0;
}

/* ---- lists ---- */

void remote_items_free(struct remote_items *items)
{
	buffer_free(&items->envelope);
	buffer_free(&items->item);
	buffer_free(&items->key);
}

struct feed {
	const char *at, *end;
	size_t largest;
	remote_piece *receive;
	void *context;
	struct error *error;
};

/* Behind the end of the string, or of the piece. */
static const char *pass_string(struct remote_items *items, const char *at, const char *end)
{
	for (; at < end; at++) {
		if (items->escaped)
			items->escaped = false;
		else if (*at == '\\')
			items->escaped = true;
		else if (*at == '"') {
			items->in_string = false;
			return at + 1;
		}
	}
	return at;
}

/* Behind the end of the item, or of the piece; NULL when it is nested too deep. This sees every byte of every list. */
static const char *pass_item(struct remote_items *items, const char *at, const char *end)
{
	static const unsigned char classes[256] = {['"'] = 1, ['{'] = 2, ['['] = 2, ['}'] = 3, [']'] = 3};
	unsigned depth = items->item_depth;
	if (items->in_string)
		at = pass_string(items, at, end);
	while (at < end && !items->in_string) {
		unsigned char class = classes[(unsigned char)*at++];
		if (class == 0)
			continue;
		if (class == 1) {
			while (at < end && *at != '"' && *at != '\\')
				at++;
			if (at < end && *at == '"') { /* the usual one: whole, and nothing escaped */
				at++;
				continue;
			}
			items->in_string = true;
			at = pass_string(items, at, end);
		} else if (class == 2) {
			if (++depth > DOC_MAX_DEPTH)
				return NULL;
		} else if (--depth == 0) {
			break;
		}
	}
	items->item_depth = depth;
	return at;
}

/* Takes what there is of an item that has begun, or begins here. */
static int take_item(struct remote_items *items, struct feed *feed)
{
	const char *from = feed->at;
	feed->at = pass_item(items, from, feed->end);
	if (!feed->at)
		return error_set(feed->error, ERROR_LIMIT, "an item is nested deeper than %d levels", DOC_MAX_DEPTH);
	size_t part = (size_t)(feed->at - from);
	bool whole = items->item_depth == 0;
	if (items->item.length + part > feed->largest)
		return error_set(feed->error, ERROR_LIMIT, "an item is larger than %zu bytes", feed->largest);
	if (whole && items->item.length == 0)
		return feed->receive(feed->context, from, part);
	buffer_append(&items->item, from, part);
	if (!whole)
		return 0;
	int status = feed->receive(feed->context, items->item.text, items->item.length);
	items->item.length = 0;
	return status;
}

/* Between items. */
static int pass_between(struct remote_items *items, struct feed *feed)
{
	char byte = *feed->at;
	if (byte == '{' || byte == '[')
		return take_item(items, feed);
	if (byte == ']') {
		items->where = ITEMS_BEHIND;
		items->depth--;
		buffer_append(&items->envelope, feed->at, 1);
	} else if (!strchr(" \t\r\n,", byte)) {
		return error_set(feed->error, ERROR_SYNTAX, "an item of the list is no object");
	}
	feed->at++;
	return 0;
}

/* Outside of the items. */
static int pass_envelope(struct remote_items *items, struct feed *feed)
{
	char byte = *feed->at;
	if (items->envelope.length > feed->largest)
		return error_set(feed->error, ERROR_LIMIT, "the list says more than %zu bytes about itself",
		                 feed->largest);
	if (items->in_string) {
		const char *from = feed->at;
		feed->at = pass_string(items, from, feed->end);
		size_t part = (size_t)(feed->at - from);
		buffer_append(&items->envelope, from, part);
		if (items->depth == 1)
			buffer_append(&items->key, from, part);
		return 0;
	}
	buffer_append(&items->envelope, feed->at++, 1);
	if (byte == '"') {
		items->in_string = true;
		if (items->depth == 1)
			items->key.length = 0;
	} else if (byte == '{' || byte == '[') {
		bool is_items = byte == '[' && items->depth == 1 && items->where == ITEMS_BEFORE &&
		                items->key.length == 6 && memcmp(items->key.text, "items\"", 6) == 0;
		items->depth++;
		if (is_items)
			items->where = ITEMS_INSIDE;
	} else if ((byte == '}' || byte == ']') && items->depth > 0) {
		items->depth--;
	}
	return 0;
}

int remote_items_feed(struct remote_items *items, const char *bytes, size_t length, size_t largest,
                      remote_piece *receive, void *context, struct error *error)
{
	struct feed feed = {bytes, bytes + length, largest, receive, context, error};
	while (feed.at < feed.end) {
		int status = items->where != ITEMS_INSIDE ? pass_envelope(items, &feed)
		             : items->item_depth > 0      ? take_item(items, &feed)
		                                          : pass_between(items, &feed);
		if (status < 0)
			return -1;
	}
	return 0;
}

struct doc *remote_items_envelope(const struct remote_items *items)
{
	struct buffer text = {0};
	buffer_append(&text, items->envelope.text ? items->envelope.text : "", items->envelope.length);
	if (items->where == ITEMS_INSIDE)
		buffer_puts(&text, "]}");
	struct doc *doc = doc_parse_json(text.text, text.length, NULL);
	buffer_free(&text);
	return doc;
}
