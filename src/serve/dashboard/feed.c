/* Owns the records of the dashboard, their order, the marks of readers, and the history. */
#include "serve/dashboard/feed.h"

#include "base/hash.h"
#include "base/vec.h"
#include "object/json.h"

#include <stdlib.h>
#include <string.h>

#define MOST_GONE 16384
#define MOST_HISTORY 20000
#define MOST_HISTORY_BYTES ((size_t)8 << 20)

/* A text that several places hold. */
struct text {
	size_t holders, length;
	char bytes[];
};

struct link {
	struct link *previous, *next;
	bool is_record;
};

struct record {
	struct link link; /* in `order` */
	struct record *gone_previous, *gone_next;
	UT_hash_handle hh;
	uint64_t sequence;
	struct text *text; /* NULL: gone */
	char key[];        /* kind and name */
};

struct feed_reader {
	struct link link;
	struct feed *feed;
	uint64_t seen;
};

struct change {
	int64_t at_ms;
	struct text *before, *after; /* NULL: it was not there */
	struct text *gone;           /* what a client is told when `after` is NULL */
};

struct feed {
	char *epoch, *version;
	size_t most_gone, most_history, most_history_bytes;
	struct link order; /* its next is the longest unchanged */
	struct record *records;
	struct record *gone_first, *gone_last;
	size_t gone_count;
	uint64_t sequence;
	uint64_t forgotten; /* sequence of the newest deletion that was dropped */
	bool keeps_history;
	struct change *history; /* ring of most_history */
	size_t history_first, history_count, history_bytes, history_forgotten;
};

static struct text *text_make(const char *from)
{
	size_t length = strlen(from);
	struct text *text = base_malloc(sizeof(*text) + length + 1);
	text->holders = 1;
	text->length = length;
	memcpy(text->bytes, from, length + 1);
	return text;
}

static struct text *text_hold(struct text *text)
{
	if (text)
		text->holders++;
	return text;
}

static void text_drop(struct text *text)
{
	if (text && --text->holders == 0)
		free(text);
}

static void unlink_(struct link *link)
{
	link->previous->next = link->next;
	link->next->previous = link->previous;
}

static void link_before(struct link *link, struct link *next)
{
	link->next = next;
	link->previous = next->previous;
	next->previous->next = link;
	next->previous = link;
}

static size_t or_default(size_t given, size_t usual)
{
	return given ? given : usual;
}

struct feed *feed_create(const struct feed_options *options)
{
	struct feed *feed = base_calloc(1, sizeof(*feed));
	feed->epoch = base_strdup(options->epoch ? options->epoch : "");
	feed->version = base_strdup(options->version ? options->version : "");
	feed->most_gone = or_default(options->gone, MOST_GONE);
	feed->most_history = or_default(options->history, MOST_HISTORY);
	feed->most_history_bytes = or_default(options->history_bytes, MOST_HISTORY_BYTES);
	feed->order.previous = feed->order.next = &feed->order;
	feed->history = base_calloc(feed->most_history, sizeof(*feed->history));
	return feed;
}

/* ---- history ---- */

static size_t bytes_of(const struct change *change)
{
	return (change->before ? change->before->length : 0) + (change->after ? change->after->length : 0);
}

static void forget_oldest_change(struct feed *feed)
{
	struct change *oldest = &feed->history[feed->history_first];
	feed->history_bytes -= bytes_of(oldest);
	text_drop(oldest->before);
	text_drop(oldest->after);
	text_drop(oldest->gone);
	feed->history_first = (feed->history_first + 1) % feed->most_history;
	feed->history_count--;
	feed->history_forgotten++;
}

static void put_gone(const struct record *record, struct buffer *out)
{
	buffer_printf(out, "{\"k\":\"%c\",\"n\":", record->key[0]);
	json_quote(out, record->key + 1);
	buffer_puts(out, ",\"gone\":true}");
}

static void remember(struct feed *feed, const struct record *record, struct text *after, int64_t now_ms)
{
	struct change change = {.at_ms = now_ms, .before = text_hold(record->text), .after = text_hold(after)};
	if (!after) {
		struct buffer gone = {0};
		put_gone(record, &gone);
		change.gone = text_make(gone.text);
		buffer_free(&gone);
	}
	if (feed->history_count == feed->most_history)
		forget_oldest_change(feed);
	feed->history[(feed->history_first + feed->history_count++) % feed->most_history] = change;
	feed->history_bytes += bytes_of(&change);
	while (feed->history_count > 1 && feed->history_bytes > feed->most_history_bytes)
		forget_oldest_change(feed);
}

void feed_begin_history(struct feed *feed)
{
	feed->keeps_history = true;
}

size_t feed_history_count(const struct feed *feed)
{
	return feed->history_count;
}

/* ---- records ---- */

static void destroy_record(struct feed *feed, struct record *record)
{
	HASH_DEL(feed->records, record);
	unlink_(&record->link);
	text_drop(record->text);
	free(record);
}

void feed_destroy(struct feed *feed)
{
	if (!feed)
		return;
	struct record *record, *next;
	HASH_ITER(hh, feed->records, record, next)
		destroy_record(feed, record);
	while (feed->history_count)
		forget_oldest_change(feed);
	free(feed->history);
	free(feed->epoch);
	free(feed->version);
	free(feed);
}

static void leave_gone(struct feed *feed, struct record *record)
{
	if (record->gone_previous)
		record->gone_previous->gone_next = record->gone_next;
	else
		feed->gone_first = record->gone_next;
	if (record->gone_next)
		record->gone_next->gone_previous = record->gone_previous;
	else
		feed->gone_last = record->gone_previous;
	record->gone_previous = record->gone_next = NULL;
	feed->gone_count--;
}

static void join_gone(struct feed *feed, struct record *record)
{
	record->gone_previous = feed->gone_last;
	if (feed->gone_last)
		feed->gone_last->gone_next = record;
	else
		feed->gone_first = record;
	feed->gone_last = record;
	if (++feed->gone_count <= feed->most_gone)
		return;
	struct record *oldest = feed->gone_first;
	feed->forgotten = oldest->sequence;
	leave_gone(feed, oldest);
	destroy_record(feed, oldest);
}

static struct record *find(const struct feed *feed, const char *key)
{
	struct record *record;
	HASH_FIND_STR(feed->records, key, record);
	return record;
}

static struct record *add(struct feed *feed, const char *key)
{
	size_t length = strlen(key);
	struct record *record = base_calloc(1, sizeof(*record) + length + 1);
	memcpy(record->key, key, length + 1);
	record->link.is_record = true;
	link_before(&record->link, &feed->order);
	HASH_ADD_KEYPTR(hh, feed->records, record->key, length, record);
	return record;
}

void feed_put(struct feed *feed, char kind, const char *name, const char *json, int64_t now_ms)
{
	struct buffer key = {0};
	buffer_printf(&key, "%c%s", kind, name);
	struct record *record = find(feed, key.text);
	const char *old = record && record->text ? record->text->bytes : NULL;
	if (text_equal(old, json)) {
		buffer_free(&key);
		return;
	}
	if (!record)
		record = add(feed, key.text);
	else if (!record->text)
		leave_gone(feed, record);
	buffer_free(&key);
	struct text *text = json ? text_make(json) : NULL;
	if (feed->keeps_history)
		remember(feed, record, text, now_ms);
	text_drop(record->text);
	record->text = text;
	record->sequence = ++feed->sequence;
	unlink_(&record->link);
	link_before(&record->link, &feed->order);
	if (!text)
		join_gone(feed, record);
}

uint64_t feed_sequence(const struct feed *feed)
{
	return feed->sequence;
}

/* ---- everything at once ---- */

static const struct record *record_of(const struct link *link)
{
	return (const struct record *)(const void *)link;
}

static void put_change(const struct change *change, struct buffer *out)
{
	const struct text *after = change->after ? change->after : change->gone;
	buffer_printf(out, "[%lld,", (long long)change->at_ms);
	buffer_append(out, change->before ? change->before->bytes : "null",
	              change->before ? change->before->length : 4);
	buffer_puts(out, ",");
	buffer_append(out, after->bytes, after->length);
	buffer_puts(out, "]");
}

void feed_snapshot(const struct feed *feed, int64_t now_ms, struct buffer *out)
{
	buffer_puts(out, "{");
	json_put_string(out, "epoch", feed->epoch);
	buffer_printf(out, ",\"seq\":%llu,\"now\":%lld,\"version\":", (unsigned long long)feed->sequence,
	              (long long)now_ms);
	json_quote(out, feed->version);
	buffer_puts(out, ",\"records\":[");
	const char *comma = "";
	for (const struct link *link = feed->order.next; link != &feed->order; link = link->next) {
		const struct text *text = link->is_record ? record_of(link)->text : NULL;
		if (!text)
			continue;
		buffer_puts(out, comma);
		buffer_append(out, text->bytes, text->length);
		comma = ",";
	}
	buffer_printf(out, "],\"forgotten\":%zu,\"history\":[", feed->history_forgotten);
	for (size_t i = 0; i < feed->history_count; i++) {
		buffer_puts(out, i ? "," : "");
		put_change(&feed->history[(feed->history_first + i) % feed->most_history], out);
	}
	buffer_puts(out, "]}");
}

/* ---- readers ---- */

struct feed_reader *feed_open(struct feed *feed, const char *epoch, uint64_t since)
{
	if (strcmp(epoch, feed->epoch) != 0 || since > feed->sequence || since < feed->forgotten)
		return NULL;
	struct feed_reader *reader = base_calloc(1, sizeof(*reader));
	struct link *behind = &feed->order;
	while (behind->previous != &feed->order &&
	       !(behind->previous->is_record && record_of(behind->previous)->sequence <= since))
		behind = behind->previous;
	reader->feed = feed;
	reader->seen = since;
	link_before(&reader->link, behind);
	return reader;
}

void feed_close(struct feed_reader *reader)
{
	if (!reader)
		return;
	unlink_(&reader->link);
	free(reader);
}

/* Seen is what the mark has passed; at the end of the order that is everything. */
static void move_mark(struct feed_reader *reader, struct link *before)
{
	struct feed *feed = reader->feed;
	if (before == &feed->order)
		reader->seen = feed->sequence;
	unlink_(&reader->link);
	link_before(&reader->link, before);
}

int feed_read(struct feed_reader *reader, size_t bytes, int64_t now_ms, struct buffer *out)
{
	struct feed *feed = reader->feed;
	struct buffer records = {0};
	struct link *link = reader->link.next;
	if (reader->seen < feed->forgotten)
		return -1;
	for (; link != &feed->order && records.length < bytes; link = link->next) {
		if (!link->is_record)
			continue;
		const struct record *record = record_of(link);
		buffer_puts(&records, records.length ? "," : "");
		if (record->text)
			buffer_append(&records, record->text->bytes, record->text->length);
		else
			put_gone(record, &records);
		reader->seen = record->sequence;
	}
	move_mark(reader, link);
	if (!records.length)
		return 0;
	buffer_printf(out, "{\"seq\":%llu,\"now\":%lld,\"records\":[", (unsigned long long)reader->seen,
	              (long long)now_ms);
	buffer_append(out, records.text, records.length);
	buffer_puts(out, "]}");
	buffer_free(&records);
	return 1;
}
