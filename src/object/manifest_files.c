/* Manifests from the file system: one file, standard input, or the manifest files of a folder in name order. */
#include "object/manifest.h"

#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_READ ((size_t)64 * 1024)
#define MAX_FOLDER_DEPTH 32 /* more than anybody nests; ends loops of symbolic links */

struct file_text {
	char *bytes;
	size_t length;
};

static bool has_manifest_suffix(const char *name)
{
	return text_ends_with(name, ".yaml") || text_ends_with(name, ".yml") || text_ends_with(name, ".json");
}

static int too_large(struct error *error)
{
	return error_set(error, ERROR_LIMIT, "the file is larger than the %zu bytes accepted", DOC_MAX_BYTES);
}

/* Works for pipes too; one byte more than allowed is asked for, to see whether there is more. */
static int read_all(int fd, size_t expected, struct file_text *text, struct error *error)
{
	size_t capacity = expected ? expected + 1 : FIRST_READ;
	text->bytes = base_malloc(capacity);
	text->length = 0;
	for (;;) {
		if (text->length > DOC_MAX_BYTES)
			return too_large(error);
		if (text->length == capacity) {
			capacity *= 2;
			text->bytes = base_realloc_array(text->bytes, capacity, 1);
		}
		ssize_t got = read(fd, text->bytes + text->length, capacity - text->length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set(error, ERROR_IO, "cannot be read: %s", strerror(errno));
		if (got == 0)
			return 0;
		text->length += (size_t)got;
	}
}

static int read_file(const char *path, struct file_text *text, struct error *error)
{
	if (strcmp(path, "-") == 0)
		return read_all(STDIN_FILENO, 0, text, error);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(error, ERROR_IO, "cannot be opened: %s", strerror(errno));
	struct stat info;
	int status;
	if (fstat(fd, &info) < 0)
		status = error_set(error, ERROR_IO, "cannot be read: %s", strerror(errno));
	else if (S_ISREG(info.st_mode) && (size_t)info.st_size > DOC_MAX_BYTES)
		status = too_large(error);
	else
		status = read_all(fd, S_ISREG(info.st_mode) ? (size_t)info.st_size : 0, text, error);
	close(fd);
	return status;
}

static void load_file(struct manifests *manifests, const char *path, struct problems *problems)
{
	const char *source = strcmp(path, "-") == 0 ? "stdin" : path;
	struct file_text text = {0};
	struct error error;
	if (read_file(path, &text, &error) < 0)
		problem_add(problems, SEVERITY_ERROR, source, error_advice(error.code), "%s", error.text);
	else
		manifests_parse(manifests, text.bytes, text.length, source, problems);
	free(text.bytes);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_folder(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void load_folder(struct manifests *manifests, const char *path, bool recursive, int depth,
                        struct problems *problems)
{
	DIR *folder = opendir(path);
	if (!folder) {
		problem_add(problems, SEVERITY_ERROR, path, error_advice(ERROR_IO), "the folder cannot be opened: %s",
		            strerror(errno));
		return;
	}
	VEC(char *) names = {0};
	for (const struct dirent *entry; (entry = readdir(folder));)
		if (entry->d_name[0] != '.') /* hidden files: editors and mounted volumes keep copies there */
			vec_push(&names, base_strdup(entry->d_name));
	closedir(folder);
	if (names.count)
		qsort(names.items, names.count, sizeof(char *), by_name);
	size_t used = 0;
	for (size_t i = 0; i < names.count; i++) {
		const char *slash = text_ends_with(path, "/") ? "" : "/";
		const char *child = arena_printf(manifests->arena, "%s%s%s", path, slash, names.items[i]);
		if (is_folder(child)) {
			used += recursive;
			if (recursive && depth == MAX_FOLDER_DEPTH)
				problem_add(problems, SEVERITY_ERROR, child,
				            "check for a symbolic link to a parent folder",
				            "folders are nested deeper than %d levels", MAX_FOLDER_DEPTH);
			else if (recursive)
				load_folder(manifests, child, recursive, depth + 1, problems);
		} else if (has_manifest_suffix(names.items[i])) {
			used++;
			load_file(manifests, child, problems);
		}
		free(names.items[i]);
	}
	vec_free(&names);
	if (used == 0)
		problem_add(problems, SEVERITY_WARNING, path, "name manifest files .yaml, .yml or .json",
		            "the folder has no manifests");
}

int manifests_load(struct manifests *manifests, const char *path, bool recursive, struct problems *problems)
{
	size_t errors = problems->errors;
	if (strcmp(path, "-") != 0 && is_folder(path))
		load_folder(manifests, path, recursive, 1, problems);
	else
		load_file(manifests, path, problems);
	return problems->errors > errors ? -1 : 0;
}
