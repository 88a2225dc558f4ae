/* Owns the state of the terminal. What signal handlers touch is static: there is one terminal. */
#include "cli/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Alternate screen, cursor, line wrap. */
static const char enter_text[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
static const char leave_text[] = "\033[?7h\033[?25h\033[0m\033[?1049l";

static struct termios before;
static volatile sig_atomic_t opened, changed, stopped;

static void say(const char *text, size_t length)
{
	while (length > 0) {
		ssize_t written = write(STDOUT_FILENO, text, length);
		if (written < 0 && errno != EINTR)
			return;
		text += written > 0 ? written : 0;
		length -= written > 0 ? (size_t)written : 0;
	}
}

/* Both only call what a signal handler may call. */
static void enter(void)
{
	struct termios raw = before;
	raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	say(enter_text, sizeof(enter_text) - 1);
}

static void leave(void)
{
	say(leave_text, sizeof(leave_text) - 1);
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void on_stop(int number)
{
	stopped = number;
}

static void on_resize(int number)
{
	(void)number;
	changed = 1;
}

static void on_suspend(int number)
{
	(void)number;
	int error = errno;
	leave();
	raise(SIGSTOP);
	enter();
	changed = 1;
	errno = error;
}

/* The handler is reset before it runs: raising the signal again does what it always did. */
static void on_crash(int number)
{
	if (opened)
		leave();
	opened = 0;
	raise(number);
}

static void catch (int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

static void catch_signals(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		catch (ends[i], on_stop, 0);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		catch (crashes[i], on_crash, (int)SA_RESETHAND | SA_NODEFER);
	catch (SIGWINCH, on_resize, 0);
	catch (SIGTSTP, on_suspend, SA_RESTART);
	catch (SIGPIPE, SIG_IGN, 0);
}

bool terminal_open(void)
{
	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) < 0)
		return false;
	stopped = 0;
	changed = 1;
	opened = 1;
	catch_signals();
	atexit(terminal_close);
	enter();
	return true;
}

void terminal_close(void)
{
	if (!opened)
		return;
	opened = 0;
	leave();
}

bool terminal_changed(void)
{
	bool was = changed;
	changed = 0;
	return was;
}

int terminal_stopped(void)
{
	return stopped;
}

static int read_byte(int wait_ms)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned char byte = 0;
	if (poll(&input, 1, wait_ms) <= 0)
		return KEY_NONE;
	ssize_t got = read(STDIN_FILENO, &byte, 1);
	if (got == 1)
		return byte;
	/* Readable without a byte: nobody is at the other end any more. */
	if (got == 0 || errno == EIO)
		stopped = SIGHUP;
	return KEY_NONE;
}

/* ESC [ 5 ~ and the like; what is not known is no key. */
static int read_sequence(void)
{
	int byte = read_byte(25);
	if (byte == KEY_NONE)
		return KEY_ESCAPE;
	if (byte != '[' && byte != 'O')
		return KEY_NONE;
	int number = 0;
	for (byte = read_byte(25); byte >= '0' && byte <= '9' && number < 100; byte = read_byte(25))
		number = number * 10 + byte - '0';
	switch (byte) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	case '~':
		return number == 5 ? KEY_PAGE_UP : number == 6 ? KEY_PAGE_DOWN : number == 1 ? KEY_HOME : KEY_END;
	default:
		return KEY_NONE;
	}
}

int terminal_key(void)
{
	int byte = read_byte(0);
	if (byte == KEY_ESCAPE)
		return read_sequence();
	return byte == '\b' ? KEY_BACKSPACE : byte;
}

void terminal_show(const struct drawing *drawing, const char *status, const struct draw_style *style)
{
	size_t rows = style->height > 1 ? style->height - 1 : 1;
	/* Each line is cleared before it is written: in the last column there would be nothing left to clear behind it. */
	fputs("\033[H", stdout);
	for (size_t i = 0; i < rows; i++) {
		fputs("\033[K", stdout);
		if (i < drawing->count)
			draw_print_line(&drawing->lines[i], stdout, style->colours, style->width);
		fputs("\r\n", stdout);
	}
	struct draw_piece piece = {status, COLOUR_DIM};
	fputs("\033[K", stdout);
	draw_print_line(&(struct draw_line){.pieces = &piece, .count = 1}, stdout, style->colours, style->width);
	fflush(stdout);
}
