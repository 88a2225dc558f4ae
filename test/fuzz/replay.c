/* Runs a fuzz target over stored inputs, so that every compiler and every build checks them. Arguments are files or
 * folders of files. */
#include "fuzz.h"

#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	VEC(uint8_t) bytes = {0};
	for (size_t got = 1; got > 0;) {
		vec_reserve(&bytes, bytes.count + 4096);
		got = fread(bytes.items + bytes.count, 1, bytes.capacity - bytes.count, file);
		bytes.count += got;
	}
	fclose(file);
	/* A copy of the exact size lets the address sanitizer see a read behind the end. */
	uint8_t *exact = base_malloc(bytes.count);
	if (bytes.count)
		memcpy(exact, bytes.items, bytes.count);
	LLVMFuzzerTestOneInput(exact, bytes.count);
	free(exact);
	vec_free(&bytes);
	return 0;
}

static int replay_path(const char *path)
{
	DIR *folder = opendir(path);
	if (!folder)
		return replay_file(path);
	VEC(char *) names = {0};
	for (const struct dirent *entry; (entry = readdir(folder));)
		if (entry->d_name[0] != '.')
			vec_push(&names, base_strdup(entry->d_name));
	closedir(folder);
	if (names.count)
		qsort(names.items, names.count, sizeof(char *), by_name);
	int status = names.count ? 0 : -1; /* a corpus that went missing must not pass */
	for (size_t i = 0; i < names.count; i++) {
		char child[4096];
		snprintf(child, sizeof(child), "%s/%s", path, names.items[i]);
		if (replay_file(child) < 0)
			status = -1;
		free(names.items[i]);
	}
	printf("%s: %zu inputs\n", path, names.count);
	vec_free(&names);
	return status;
}

int main(int argc, char **argv)
{
	int status = 0;
	for (int i = 1; i < argc; i++)
		if (replay_path(argv[i]) < 0)
			status = 1;
	return status;
}
