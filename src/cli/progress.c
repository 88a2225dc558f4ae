/* Owns the progress line. */
#include "cli/progress.h"

#include "base/clock.h"
#include "cli/draw.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_NS INT64_C(100000000)
#define PATIENCE_NS INT64_C(300000000) /* what takes no longer needs no line */
#define CELLS 24

struct progress progress_begin(void)
{
	struct draw_style style = draw_style(stderr, DRAW_NEVER);
	const char *terminal = getenv("TERM");
	return (struct progress){
		.enabled = style.terminal && !(terminal && strcmp(terminal, "dumb") == 0),
		.unicode = style.unicode,
		.begun = clock_now(clock_system()),
	};
}

void progress_show(struct progress *progress, const char *what, uint64_t done, uint64_t total, const char *note)
{
	int64_t now = progress->enabled ? clock_now(clock_system()) : 0;
	if (!progress->enabled || now - progress->shown < EVERY_NS || now - progress->begun < PATIENCE_NS)
		return;
	struct draw_style style = draw_style(stderr, DRAW_NEVER);
	struct drawing line = {.arena = arena_create()};
	draw_new_line(&line);
	if (total > 0) {
		draw_add(&line, COLOUR_NONE, "%s", "[");
		draw_bar(&line, &style, COLOUR_NONE, (int64_t)done, (int64_t)total, CELLS);
		draw_add(&line, COLOUR_NONE, "] %llu of %llu %s", (unsigned long long)done, (unsigned long long)total,
		         what);
	} else {
		draw_add(&line, COLOUR_NONE, "%llu %s", (unsigned long long)done, what);
	}
	if (note[0])
		draw_add(&line, COLOUR_NONE, ", %s", note);
	double seconds = (double)(now - progress->begun) / 1e9;
	if (done > 0 && done < total && seconds > 2)
		draw_add(&line, COLOUR_NONE, ", about %.0f s left", seconds / (double)done * (double)(total - done));
	fputc('\r', stderr);
	draw_print_line(&line.lines[0], stderr, false, style.width > 1 ? style.width - 1 : 1);
	fputs("\033[K", stderr);
	fflush(stderr);
	arena_destroy(line.arena);
	progress->shown = now;
	progress->visible = true;
}

void progress_clear(struct progress *progress)
{
	if (progress->visible)
		fputs("\r\033[K", stderr);
	progress->visible = false;
}
