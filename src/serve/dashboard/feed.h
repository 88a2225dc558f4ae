/* Feed: what the dashboard shows, as small JSON records that change one by one, for any number of readers.
 *
 * Records stand in the order of their last change. A reader is a mark in that order: what stands behind it is what the
 * reader has not seen, each record once and as it is now. So a slow reader costs a mark, skips what was overtaken, and
 * nothing is kept for it. What is gone stays as a mark of its own until too many are; a reader that would need one that
 * was dropped has to read everything again.
 *
 * Besides, the last changes are kept with what was there before, so that a client can go back in time. */
#ifndef SERVE_DASHBOARD_FEED_H
#define SERVE_DASHBOARD_FEED_H

#include "base/strings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feed;
struct feed_reader;

struct feed_options {
	const char *epoch;    /* names this life of the process: sequence numbers of another one mean nothing; copied */
	const char *version;  /* of Platoon, for people; copied */
	size_t gone;          /* deletions remembered [16384] */
	size_t history;       /* changes kept to go back [20000] */
	size_t history_bytes; /* and the texts they hold [8 MiB] */
};

struct feed *feed_create(const struct feed_options *options);
void feed_destroy(struct feed *feed); /* NULL is a no-op; readers must be closed */

/* The record of this kind and name is now `json`, NULL: it is gone. No-op when it is that already. */
void feed_put(struct feed *feed, char kind, const char *name, const char *json, int64_t now_ms);
/* From now on changes are kept as history; before that the state is only being read. */
void feed_begin_history(struct feed *feed);
uint64_t feed_sequence(const struct feed *feed); /* grows with each change */
size_t feed_history_count(const struct feed *feed);

/* {"epoch":...,"seq":...,"now":...,"version":...,"records":[...],"forgotten":...,"history":[[ms,before,after],...]}
 * `forgotten`: changes since the start that were too many to be kept. */
void feed_snapshot(const struct feed *feed, int64_t now_ms, struct buffer *out);

/* A reader that has seen everything up to `since` of `epoch`. NULL when that is not known any more. */
struct feed_reader *feed_open(struct feed *feed, const char *epoch, uint64_t since);
void feed_close(struct feed_reader *reader); /* NULL is a no-op */
/* Appends {"seq":...,"now":...,"records":[...]} with about `bytes` at most. 1: appended, 0: nothing new, -1: the reader
 * fell too far behind and has to read everything again. */
int feed_read(struct feed_reader *reader, size_t bytes, int64_t now_ms, struct buffer *out);

#endif
