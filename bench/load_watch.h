/* What happens to pods in the store of a cluster under load: when they came and when they got their node. */
#ifndef BENCH_LOAD_WATCH_H
#define BENCH_LOAD_WATCH_H

#include "api/store.h"

struct load_watch;

struct load_watch *load_watch_open(struct store *store);
void load_watch_close(struct load_watch *watch); /* NULL is a no-op */
/* After every commit. */
void load_watch_read(struct load_watch *watch);
/* Appends what load_seen_parse reads. */
void load_watch_report(struct load_watch *watch, struct buffer *out);
/* Times are counted anew from here. */
void load_watch_restart(struct load_watch *watch);

struct load_seen {
	bool broken;
	size_t bound, running;          /* pods now */
	double seconds;                 /* from the first creation to the last binding since the restart */
	double p50_ms, p99_ms, most_ms; /* from creation to binding, since the restart */
	double busy;                    /* seconds of the processor since the restart */
	double clock, cpu;              /* seconds: of the wall and of the process */
	double resident_mib;
	size_t version; /* of the store */
};

void load_seen_parse(const char *text, struct load_seen *seen);

#endif
