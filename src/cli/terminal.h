/* The terminal as a full screen: raw keys, the alternate screen, and everything as it was on every way out: at the end,
 * after a signal, while stopped by Ctrl-Z, and after a crash. One per process. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "cli/draw.h"

enum terminal_key {
	KEY_NONE = -1,
	KEY_ESCAPE = 27,
	KEY_BACKSPACE = 127,
	/* Others are the character itself, or: */
	KEY_UP = 256,
	KEY_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
};

/* False when standard input or output is no terminal. */
bool terminal_open(void);
void terminal_close(void); /* a second call is a no-op */
/* The next key that is waiting, KEY_NONE when there is none. */
int terminal_key(void);
/* Whether the size changed, or the screen was lost to another program, since the last call. */
bool terminal_changed(void);
/* The signal that asks for the end, 0 for none; SIGHUP when the terminal is gone. */
int terminal_stopped(void);
/* Shows the lines from the top of the screen, `status` in the last one. Nothing flickers: each line is written over. */
void terminal_show(const struct drawing *drawing, const char *status, const struct draw_style *style);

#endif
