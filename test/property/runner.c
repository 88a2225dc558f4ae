/* Worker processes, shrinking and reporting for property tests. */
#include "runner.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHRUNK = 3, DEFAULT_FAILURES = 100, MOST_KINDS = 64, SECONDS_PER_INSTANCE = 60 };

/* Shared with the worker; the tally follows. */
struct shared {
	uint64_t next; /* instance being looked at */
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

/* Looks at instances until one fails; exit status 0 when none did. */
static _Noreturn void worker(uint64_t seed, uint64_t count)
{
	for (; shared->next < count; shared->next++) {
		alarm(SECONDS_PER_INSTANCE);
		property->generate(seed + shared->next, instance);
		property->check(instance, &shared->result, shared->tally);
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
		         WTERMSIG(status) == SIGALRM ? " (took too long)" : "");
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
		alarm(SECONDS_PER_INSTANCE);
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
	property->print(instance);
	snprintf(name, sizeof(name), "%s-%llu.json", property->name, (unsigned long long)seed);
	if (property->save(instance, &shared->result, name) == 0)
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
	printf("%llu passed, %llu failed\n", (unsigned long long)(count - failed), (unsigned long long)failed);
	free(instance);
	munmap(shared, size);
	return failed ? 1 : 0;
}
