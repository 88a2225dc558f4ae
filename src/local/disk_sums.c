/* Owns the sums of rows, and the file of the mark. */
#include "local/disk_sums.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "00000000000000000042 0123456789abcdef\n": version and sum. One write of less than a sector. */
#define MARK_LENGTH 38

static uint64_t sum_text(uint64_t sum, const char *text)
{
	return XXH3_64bits_withSeed(text, strlen(text) + 1, sum);
}

uint64_t disk_sum_row(const struct disk_row *row)
{
	uint64_t sum = hash_mix(hash_mix(hash_mix(1, row->version), row->prior), (uint64_t)row->type);
	sum = sum_text(sum_text(sum, row->namespace_), row->name);
	return row->value ? XXH3_64bits_withSeed(row->value, row->length, sum) : hash_mix(sum, 0);
}

uint64_t disk_sum_type(int64_t id, const char *group, const char *resource, uint64_t floor)
{
	return sum_text(sum_text(hash_mix(hash_mix(2, (uint64_t)id), floor), group), resource);
}

/* ---- the mark ---- */

static void print_mark(uint64_t version, char text[MARK_LENGTH + 1])
{
	snprintf(text, MARK_LENGTH + 1, "%020" PRIu64 " %016" PRIx64 "\n", version, hash_mix(3, version));
}

int disk_mark_open(struct disk_mark *mark, const char *path, struct error *error)
{
	char name[4096], text[MARK_LENGTH + 1] = "", wanted[MARK_LENGTH + 1];
	*mark = (struct disk_mark){.file = -1};
	if (snprintf(name, sizeof(name), "%s-mark", path) >= (int)sizeof(name))
		return error_set(error, ERROR_IO, "%s: the name is too long", path);
	mark->file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ssize_t length = mark->file < 0 ? -1 : pread(mark->file, text, sizeof(text), 0);
	if (length < 0)
		return error_set(error, ERROR_IO, "%s: %s", name, strerror(errno));
	if (length == 0)
		return 0;
	if (length == MARK_LENGTH) {
		text[MARK_LENGTH] = '\0';
		mark->version = strtoull(text, NULL, 10);
		print_mark(mark->version, wanted);
		if (memcmp(text, wanted, MARK_LENGTH) == 0)
			return 0;
	}
	return error_set(
		error, ERROR_INVALID,
		"%s is damaged: it says how far %s was acknowledged, so whether its end is complete cannot be told. "
		"Remove it to start with what is there",
		name, path);
}

int disk_mark_write(struct disk_mark *mark, uint64_t version)
{
	char text[MARK_LENGTH + 1];
	print_mark(version, text);
	if (pwrite(mark->file, text, MARK_LENGTH, 0) != MARK_LENGTH)
		return -1;
	mark->version = version;
	return 0;
}

void disk_mark_close(struct disk_mark *mark)
{
	if (mark->file >= 0)
		close(mark->file);
	mark->file = -1;
}
