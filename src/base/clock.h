/* Clock interface: all time in Platoon comes through this, so that simulations run in virtual time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* In nanoseconds, the unit of clocks. */
#define CLOCK_MILLISECOND INT64_C(1000000)
#define CLOCK_SECOND INT64_C(1000000000)

struct clock_source {
	int64_t (*now_ns)(const struct clock_source *clock); /* nanoseconds since the Unix epoch */
	/* Nanoseconds since some moment: only goes forward, whoever sets the time of day. NULL: now_ns does that too. */
	int64_t (*steady_ns)(const struct clock_source *clock);
};

struct clock_virtual {
	struct clock_source source;
	int64_t now;
};

const struct clock_source *clock_system(void);
void clock_virtual_init(struct clock_virtual *clock, int64_t start_ns);
void clock_virtual_advance(struct clock_virtual *clock, int64_t ns);
int64_t clock_now(const struct clock_source *clock);
/* For how long something took or is valid: goes on while the machine sleeps, and nobody sets it. */
int64_t clock_steady(const struct clock_source *clock);
/* Whole seconds since the Unix epoch. */
int64_t clock_seconds(const struct clock_source *clock);

/* RFC 3339 with or without fraction and offset, e.g. 2025-01-01T00:00:00Z. -1 when malformed. */
int clock_parse_rfc3339(const char *text, int64_t *seconds);
void clock_print_rfc3339(int64_t seconds, char out[32]);
/* The same with six digits behind the second. */
void clock_print_micro(int64_t seconds, unsigned microseconds, char out[48]);
/* Go duration such as 1h2m3.5s or -1s, in nanoseconds. -1 when malformed or too large. */
int clock_parse_duration(const char *text, int64_t *ns);

#endif
