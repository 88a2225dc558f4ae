/* Owns running a program without waiting for it. */
#include "remote/command.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)1 << 20)
#define SAID_MAX 160 /* of what it says about an error, the end: there it is named */

enum { OUT, SAID, PIPES };

struct remote_command {
	char *name;
	pid_t pid;
	int fds[PIPES]; /* -1: at its end */
	struct buffer texts[PIPES];
	int64_t end;
	const char *killed; /* why; NULL: it was not */
};

/* ---- start ---- */

static bool can_run(const char *path)
{
	struct stat about;
	return stat(path, &about) == 0 && S_ISREG(about.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

bool remote_command_exists(const char *name)
{
	if (strchr(name, '/'))
		return can_run(name);
	const char *list = getenv("PATH");
	bool found = false;
	while (list && *list && !found) {
		size_t length = strcspn(list, ":");
		struct buffer path = {0};
		buffer_printf(&path, "%.*s/%s", length ? (int)length : 1, length ? list : ".", name);
		found = can_run(path.text);
		buffer_free(&path);
		list += length + (list[length] == ':');
	}
	return found;
}

/* Our own mask and what we ignore are not for others. */
static void set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, usual;
	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(attributes);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &usual);
	posix_spawnattr_setpgroup(attributes, 0);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

static int spawn(struct remote_command *command, const char *const *argv, char *const *environment, const int ends[])
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	set_attributes(&attributes);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[OUT], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[SAID], STDERR_FILENO);
	int failed = posix_spawnp(&command->pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv,
	                          environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int open_pipes(struct remote_command *command, int ends[PIPES])
{
	for (int i = 0; i < PIPES; i++) {
		int both[2];
		if (pipe2(both, O_CLOEXEC) < 0)
			return errno;
		command->fds[i] = both[0];
		ends[i] = both[1];
		/* Only our end: the program expects to wait when nobody reads. */
		fcntl(both[0], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

struct remote_command *remote_command_start(const char *const *argv, char *const *environment, int64_t end,
                                            struct error *error)
{
	struct remote_command *command = base_calloc(1, sizeof(*command));
	int ends[PIPES] = {-1, -1};
	*command = (struct remote_command){.name = base_strdup(argv[0]), .fds = {-1, -1}, .end = end};
	int failed = open_pipes(command, ends);
	if (!failed)
		failed = spawn(command, argv, environment, ends);
	for (int i = 0; i < PIPES; i++)
		close_one(&ends[i]);
	if (!failed)
		return command;
	error_set(error, ERROR_IO, "cannot run %.200s: %s", argv[0], strerror(failed));
	command->pid = 0;
	remote_command_destroy(command);
	return NULL;
}

/* ---- end ---- */

/* Until it is reaped, nobody else has its number. */
static void end_by_force(struct remote_command *command, const char *why)
{
	if (command->killed)
		return;
	command->killed = why;
	kill(-command->pid, SIGKILL);
}

void remote_command_destroy(struct remote_command *command)
{
	if (!command)
		return;
	if (command->pid) {
		end_by_force(command, "");
		while (waitpid(command->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (int i = 0; i < PIPES; i++) {
		close_one(&command->fds[i]);
		buffer_free(&command->texts[i]);
	}
	free(command->name);
	free(command);
}

/* ---- meanwhile ---- */

size_t remote_command_fds(const struct remote_command *command, int fds[REMOTE_COMMAND_FDS])
{
	size_t count = 0;
	for (int i = 0; i < PIPES; i++)
		if (command->fds[i] >= 0)
			fds[count++] = command->fds[i];
	return count;
}

static void take(struct remote_command *command, int which)
{
	struct buffer *text = &command->texts[which];
	char chunk[4096];
	while (command->fds[which] >= 0) {
		ssize_t got = read(command->fds[which], chunk, sizeof(chunk));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		if (got <= 0) {
			close_one(&command->fds[which]);
			return;
		}
		if (which == SAID && text->length > OUTPUT_MAX / 2)
			text->length = 0; /* somebody who says much: the end is what counts */
		buffer_append(text, chunk, (size_t)got);
		if (text->length > OUTPUT_MAX) {
			end_by_force(command, "prints more than a megabyte");
			return;
		}
	}
}

/* The last of what it said, on one line. */
static const char *last_words(const struct remote_command *command, char line[SAID_MAX + 1])
{
	const struct buffer *text = &command->texts[SAID];
	size_t end = text->length, count = 0;
	while (end > 0 && strchr(" \t\r\n", text->text[end - 1]))
		end--;
	for (size_t i = end > SAID_MAX ? end - SAID_MAX : 0; i < end; i++)
		line[count++] = (unsigned char)text->text[i] < ' ' || text->text[i] == 0x7f ? ' ' : text->text[i];
	line[count] = '\0';
	return line;
}

static int judge(const struct remote_command *command, int status, struct error *error)
{
	char line[SAID_MAX + 1], how[64];
	if (!command->killed && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 1;
	if (WIFEXITED(status))
		snprintf(how, sizeof(how), "ended with status %d", WEXITSTATUS(status));
	else
		snprintf(how, sizeof(how), "was ended by signal %d", WTERMSIG(status));
	last_words(command, line);
	return error_set(error, ERROR_IO, "%.160s %s%s%s", command->name, command->killed ? command->killed : how,
	                 line[0] ? ": " : "", line);
}

int remote_command_step(struct remote_command *command, int64_t now, const struct buffer **output, struct error *error)
{
	int status;
	take(command, OUT);
	take(command, SAID);
	if (now >= command->end)
		end_by_force(command, "took too long");
	pid_t ended = waitpid(command->pid, &status, WNOHANG);
	if (ended == 0 || (ended < 0 && errno == EINTR))
		return 0;
	command->pid = 0;
	if (ended < 0)
		return error_set(error, ERROR_IO, "%.200s is gone: %s", command->name, strerror(errno));
	/* What was printed between the last look and its end; a child that it left behind may hold the pipes for ever. */
	take(command, OUT);
	take(command, SAID);
	*output = &command->texts[OUT];
	return judge(command, status, error);
}
