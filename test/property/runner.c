/* Worker processes, shrinking and reporting for property tests. */
#include "runner.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHRUNK = 3, DEFAULT_FAILURES = 100, MOST_KINDS = 64, SECONDS_PER_INSTANCE = 60 };

/* Shared with the worker; the tally follows. */
struct shared {
	uint64_t next;             /* instance being looked at */
	uint64_t slowest, longest; /* the one that took longest, and how long: nanoseconds of the CPU */
	struct result result;
	max_align_t tally[];
};

static const struct property *property;
static struct shared *shared;
static void *instance; /* one, reused */

static uint64_t environment_number(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);
	if (!text || !*text)
		return fallback;
	char *end;
	uint64_t value = strtoull(text, &end, 10);
	if (*end) {
		fprintf(stderr, "%s=%s is not a number; using %llu\n", name, text, (unsigned long long)fallback);
		return fallback;
	}
	return value;
}

static void quiet(void)
{
	int null = open("/dev/null", O_WRONLY);
	if (null >= 0)
		dup2(null, STDERR_FILENO);
}

/* Ends the process after so much time of the CPU: how busy the machine is makes no difference. */
static void limit_time(void)
{
	struct itimerval limit = {.it_value = {.tv_sec = SECONDS_PER_INSTANCE}};
	setitimer(ITIMER_PROF, &limit, NULL);
}

static uint64_t used_time(void)
{
	struct timespec used;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Looks at instances until one fails; exit status 0 when none did. */
static _Noreturn void worker(uint64_t seed, uint64_t count)
{
	for (; shared->next < count; shared->next++) {
		limit_time();
		uint64_t before = used_time();
		property->generate(seed + shared->next, instance);
		property->check(instance, &shared->result, shared->tally);
		uint64_t time = used_time() - before;
		if (time > shared->longest) {
			shared->slowest = seed + shared->next;
			shared->longest = time;
		}
		if (shared->result.failure)
			_exit(1);
	}
	exit(0); /* not _exit: the leak check of the sanitizer runs here */
}

/* Waits for the worker and turns a violent end into a result. */
static void collect(pid_t child)
{
	int status = 0;
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	if (shared->result.failure && WIFEXITED(status))
		return;
	shared->result.failure = property->crash;
	if (WIFSIGNALED(status))
		snprintf(shared->result.text, sizeof(shared->result.text), "ended by signal %d%s", WTERMSIG(status),
		         WTERMSIG(status) == SIGPROF ? " (took too long)" : "");
	else
		snprintf(shared->result.text, sizeof(shared->result.text), "ended with status %d", WEXITSTATUS(status));
}

static bool fails_alike(const void *candidate, void *context)
{
	const int *wanted = context;
	shared->result.failure = 0;
	pid_t child = fork();
	if (child == 0) {
		quiet();
		limit_time();
		void *ignored = calloc(1, property->tally_size);
		if (!ignored)
			abort();
		property->check(candidate, &shared->result, ignored);
		_exit(shared->result.failure != 0);
	}
	if (child < 0)
		return false;
	collect(child);
	return shared->result.failure == *wanted;
}

static int save(const char *path)
{
	if (!property->write)
		return property->save(instance, &shared->result, path);
	FILE *file = fopen(path, "w");
	if (!file)
		return -1;
	property->write(instance, file);
	return fclose(file) == 0 ? 0 : -1;
}

static void report(uint64_t seed, bool shrink)
{
	int failure = shared->result.failure;
	printf("seed %llu: %s: %s\n", (unsigned long long)seed, property->failure_name(failure), shared->result.text);
	fflush(stdout);
	if (!shrink)
		return;
	property->generate(seed, instance);
	property->shrink(instance, fails_alike, &failure);
	char name[64], directory[4096];
	if (!fails_alike(instance, &failure)) {
		printf("  does not fail again on its own\n");
		return;
	}
	if (property->write)
		property->write(instance, stdout);
	else
		property->print(instance);
	snprintf(name, sizeof(name), "%s-%llu.json", property->name, (unsigned long long)seed);
	if (save(name) == 0)
		printf("  shrunk: %s\n  saved as %s/%s\n", shared->result.text,
		       getcwd(directory, sizeof(directory)) ? directory : ".", name);
	else
		printf("  shrunk: %s\n  cannot write %s\n", shared->result.text, name);
	fflush(stdout);
}

/* Runs workers until all instances were looked at. Returns how many failed; `count` is lowered when it stops early. */
static uint64_t run_all(uint64_t seed, uint64_t *count)
{
	uint64_t by_pod_class[MOST_KINDS] = {0}, failed = 0;
	uint64_t most = environment_number("PLATOON_PROPERTY_FAILURES", DEFAULT_FAILURES);
	while (shared->next < *count) {
		shared->result.failure = 0;
		pid_t child = fork();
		if (child == 0)
			worker(seed, *count);
		if (child < 0) {
			perror("fork");
			return failed + 1;
		}
		collect(child);
		if (!shared->result.failure)
			break;
		failed++;
		if (shared->next >= *count) {
			printf("the worker failed after its last instance: %s (memory lost?)\n", shared->result.text);
			break;
		}
		report(seed + shared->next, by_pod_class[shared->result.failure % MOST_KINDS]++ < SHRUNK);
		shared->next++;
		if (failed == most) {
			printf("stopped after %llu failures\n", (unsigned long long)most);
			*count = shared->next;
		}
	}
	return failed;
}

int property_run(const struct property *given)
{
	property = given;
	uint64_t seed = environment_number("PLATOON_PROPERTY_SEED", 1);
	uint64_t count = environment_number("PLATOON_PROPERTY_COUNT", property->count);
	size_t size = sizeof(*shared) + property->tally_size;
	instance = malloc(property->instance_size);
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!instance || shared == MAP_FAILED) {
		perror(property->name);
		return 1;
	}
	printf("instances %llu to %llu\n", (unsigned long long)seed, (unsigned long long)(seed + count - 1));
	fflush(stdout);
	uint64_t failed = run_all(seed, &count);
	property->print_tally(shared->tally);
	printf("seed %llu took longest: %llu ms of the CPU\n", (unsigned long long)shared->slowest,
	       (unsigned long long)(shared->longest / 1000000));
	printf("%llu passed, %llu failed\n", (unsigned long long)(count - failed), (unsigned long long)failed);
	free(instance);
	munmap(shared, size);
	return failed ? 1 : 0;
}
