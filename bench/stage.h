/* What a benchmark does at the moment, on standard error of a terminal: nothing else is seen of it for minutes. Outside of
 * a terminal nothing is written. */
#ifndef BENCH_STAGE_H
#define BENCH_STAGE_H

#include <stdio.h>
#include <unistd.h>

/* Takes the place of what was said before; "" takes it away, before something else is printed. */
static inline void bench_stage(const char *what)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s%s", what, what[0] ? " ..." : "");
	fflush(stderr);
}

#endif
