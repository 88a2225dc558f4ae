/* Owns watching a cluster under load from within. */
#include "load_watch.h"

#include "base/hash.h"
#include "base/vec.h"
#include "times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct seen_pod {
	UT_hash_handle hh;
	double created; /* microseconds */
	bool bound, running;
	char name[];
};

struct load_watch {
	struct store *store;
	struct store_watch *pods;
	struct seen_pod *known;
	VEC(double) waits; /* milliseconds */
	size_t bound, running;
	double busy_from;   /* seconds of the processor at the restart */
	double first, last; /* creation and binding since the restart */
};

struct load_watch *load_watch_open(struct store *store)
{
	struct load_watch *watch = base_calloc(1, sizeof(*watch));
	struct arena *arena = arena_create();
	struct store_error error = {0};
	struct store_watch_request request = {.api = store_api_find(store, "", "v1", "pods"), .initial = true};
	watch->store = store;
	watch->pods = store_watch_open(store, &request, arena, &error);
	arena_destroy(arena);
	if (watch->pods)
		return watch;
	load_watch_close(watch);
	return NULL;
}

void load_watch_close(struct load_watch *watch)
{
	if (!watch)
		return;
	struct seen_pod *pod, *next;
	HASH_ITER(hh, watch->known, pod, next) {
		HASH_DEL(watch->known, pod);
		free(pod);
	}
	store_watch_close(watch->pods);
	vec_free(&watch->waits);
	free(watch);
}

static void see(struct load_watch *watch, const struct store_object *object, double now)
{
	size_t length = strlen(object->name);
	struct seen_pod *pod;
	HASH_FIND(hh, watch->known, object->name, length, pod);
	if (!pod) {
		pod = base_calloc(1, sizeof(*pod) + length + 1);
		memcpy(pod->name, object->name, length);
		pod->created = now;
		HASH_ADD_KEYPTR(hh, watch->known, pod->name, length, pod);
		if (watch->first <= 0)
			watch->first = now;
	}
	if (!pod->bound && val_str(val_path(object->root, "spec", "nodeName", NULL), NULL)) {
		pod->bound = true;
		watch->bound++;
		watch->last = now;
		vec_push(&watch->waits, (now - pod->created) / 1000);
	}
	if (!pod->running && strcmp(val_str(val_path(object->root, "status", "phase", NULL), ""), "Running") == 0) {
		pod->running = true;
		watch->running++;
	}
}

void load_watch_read(struct load_watch *watch)
{
	struct arena *arena = arena_create();
	struct store_event event;
	struct store_error error = {0};
	double now = measure_now_us();
	while (store_watch_next(watch->pods, &event, arena, &error) > 0)
		if (event.type != STORE_BOOKMARK && event.type != STORE_DELETED)
			see(watch, event.object, now);
	arena_destroy(arena);
}

static double resident_mib(void)
{
	char line[128] = "", *second = line;
	FILE *status = fopen("/proc/self/statm", "r"); /* pages: of the address space, resident, ... */
	if (status) {
		if (fgets(line, sizeof(line), status))
			strtol(line, &second, 10);
		fclose(status);
	}
	return (double)strtol(second, NULL, 10) * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

static double cpu_seconds(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

void load_watch_report(struct load_watch *watch, struct buffer *out)
{
	size_t count = watch->waits.count;
	double *waits = watch->waits.items, most = 0, middle = 0, high = 0;
	if (count) {
		measure_sort(waits, count);
		middle = waits[count / 2];
		high = waits[count - 1 - count / 100];
		most = waits[count - 1];
	}
	buffer_printf(out, "%zu %zu %.6f %.3f %.3f %.3f %.6f %.6f %.6f %.1f %llu\n", watch->bound, watch->running,
	              (watch->last - watch->first) / 1e6, middle, high, most, cpu_seconds() - watch->busy_from,
	              measure_now_us() / 1e6, cpu_seconds(), resident_mib(),
	              (unsigned long long)store_version(watch->store));
}

void load_watch_restart(struct load_watch *watch)
{
	watch->waits.count = 0;
	watch->first = watch->last = 0;
	watch->busy_from = cpu_seconds();
}

void load_seen_parse(const char *text, struct load_seen *seen)
{
	enum { NUMBERS = 11 };
	double numbers[NUMBERS];
	char *end;
	seen->broken = false;
	for (int i = 0; i < NUMBERS; i++, text = end) {
		numbers[i] = strtod(text, &end);
		seen->broken |= end == text;
	}
	seen->bound = (size_t)numbers[0];
	seen->running = (size_t)numbers[1];
	seen->seconds = numbers[2];
	seen->p50_ms = numbers[3];
	seen->p99_ms = numbers[4];
	seen->most_ms = numbers[5];
	seen->busy = numbers[6];
	seen->clock = numbers[7];
	seen->cpu = numbers[8];
	seen->resident_mib = numbers[9];
	seen->version = (size_t)numbers[10];
}
