/* Reading and replacing small private files. */
#include "serve/tls/secret_file.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST ((size_t)1 << 20)

int secret_directory(const char *path, struct error *error)
{
	char *copy = base_strdup(path);
	int status = 0;
	for (char *at = copy + 1; status == 0 && *copy; at++) {
		if (*at != '/' && *at != '\0')
			continue;
		char end = *at;
		*at = '\0';
		if (mkdir(copy, 0700) && errno != EEXIST)
			status = error_set(error, ERROR_IO, "cannot make the directory %s: %s", copy, strerror(errno));
		*at = end;
		if (end == '\0')
			break;
	}
	free(copy);
	return status;
}

static int write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t count = write(fd, text, length);
		if (count < 0 && errno != EINTR)
			return -1;
		if (count > 0) {
			text += count;
			length -= (size_t)count;
		}
	}
	return fsync(fd);
}

int secret_write(const char *path, const char *text, size_t length, struct error *error)
{
	struct buffer temporary = {0};
	buffer_printf(&temporary, "%s.new", path);
	unlink(temporary.text);
	int fd = open(temporary.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int status = fd < 0 ? -1 : write_all(fd, text, length);
	if (fd >= 0 && close(fd))
		status = -1;
	if (status == 0)
		status = rename(temporary.text, path);
	if (status)
		error_set(error, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
	buffer_free(&temporary);
	return status;
}

int secret_read(const char *path, struct buffer *text, struct error *error)
{
	char block[4096];
	FILE *file = fopen(path, "rbe");
	if (!file)
		return errno == ENOENT ? 0 : error_set(error, ERROR_IO, "cannot read %s: %s", path, strerror(errno));
	size_t count;
	while (text->length <= LARGEST && (count = fread(block, 1, sizeof(block), file)) > 0)
		buffer_append(text, block, count);
	bool failed = ferror(file) || text->length > LARGEST;
	fclose(file);
	return failed ? error_set(error, ERROR_IO, "cannot read %s", path) : 1;
}
