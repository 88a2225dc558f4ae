/* Property test of the placement engine: many random instances, each compared with an exhaustive solver.
 *
 * The instances run in a worker process, so that a crash or an endless loop of the engine counts as one failed
 * instance and can be shrunk like any other. PLATOON_PROPERTY_SEED is the seed of the first instance (instance i uses
 * seed + i), PLATOON_PROPERTY_COUNT their number. */
#include "check.h"
#include "generate.h"
#include "print.h"
#include "save.h"
#include "shrink.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_COUNT = 20000, SHRUNK = 3, MOST_FAILURES = 100, SECONDS_PER_INSTANCE = 60 };

/* Shared with the worker. */
struct shared {
	uint64_t next; /* instance being looked at */
	struct result result;
	struct tally tally;
};

static struct shared *shared;

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
		struct instance instance;
		alarm(SECONDS_PER_INSTANCE);
		generate_instance(seed + shared->next, &instance);
		check_instance(&instance, &shared->result, &shared->tally);
		if (shared->result.failure != FAILURE_NONE)
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
	if (shared->result.failure != FAILURE_NONE && WIFEXITED(status))
		return;
	shared->result.failure = FAILURE_CRASH;
	if (WIFSIGNALED(status))
		snprintf(shared->result.text, sizeof(shared->result.text), "ended by signal %d%s", WTERMSIG(status),
		         WTERMSIG(status) == SIGALRM ? " (took too long)" : "");
	else
		snprintf(shared->result.text, sizeof(shared->result.text), "ended with status %d", WEXITSTATUS(status));
}

static bool fails_alike(const struct instance *instance, void *context)
{
	const enum failure *wanted = context;
	shared->result.failure = FAILURE_NONE;
	pid_t child = fork();
	if (child == 0) {
		struct tally ignored = {0};
		quiet();
		alarm(SECONDS_PER_INSTANCE);
		check_instance(instance, &shared->result, &ignored);
		_exit(shared->result.failure != FAILURE_NONE);
	}
	if (child < 0)
		return false;
	collect(child);
	return shared->result.failure == *wanted;
}

static void report(uint64_t seed, bool shrink)
{
	struct instance instance;
	enum failure failure = shared->result.failure;
	printf("seed %llu: %s: %s\n", (unsigned long long)seed, failure_name(failure), shared->result.text);
	fflush(stdout);
	if (!shrink)
		return;
	generate_instance(seed, &instance);
	shrink_instance(&instance, fails_alike, &failure);
	char name[64], directory[4096];
	if (!fails_alike(&instance, &failure)) {
		printf("  does not fail again on its own\n");
		return;
	}
	print_instance(&instance, stdout);
	snprintf(name, sizeof(name), "property-%llu.json", (unsigned long long)seed);
	if (save_scenario(&instance, &shared->result, name) == 0)
		printf("  shrunk: %s\n  saved as %s/%s\n", shared->result.text,
		       getcwd(directory, sizeof(directory)) ? directory : ".", name);
	else
		printf("  shrunk: %s\n  cannot write %s\n", shared->result.text, name);
	fflush(stdout);
}

static void print_tally(const struct tally *tally)
{
	printf("placed %llu, impossible %llu, nothing to do %llu, not ready %llu; solver gave up %llu, "
	       "optional pods helped %llu\n",
	       (unsigned long long)tally->placed, (unsigned long long)tally->impossible,
	       (unsigned long long)tally->nothing, (unsigned long long)tally->not_ready,
	       (unsigned long long)tally->undecided, (unsigned long long)tally->extra_help);
	printf("preference vectors compared %llu, distances compared %llu, growth steps %llu, full after growth %llu, "
	       "reservations %llu\n",
	       (unsigned long long)tally->preferences, (unsigned long long)tally->distances,
	       (unsigned long long)tally->grown, (unsigned long long)tally->full, (unsigned long long)tally->reserved);
}

int main(void)
{
	uint64_t seed = environment_number("PLATOON_PROPERTY_SEED", 1);
	uint64_t count = environment_number("PLATOON_PROPERTY_COUNT", DEFAULT_COUNT), failed = 0;
	uint64_t by_kind[FAILURE_KINDS] = {0};
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	while (shared->next < count) {
		shared->result.failure = FAILURE_NONE;
		pid_t child = fork();
		if (child == 0)
			worker(seed, count);
		if (child < 0) {
			perror("fork");
			return 1;
		}
		collect(child);
		if (shared->result.failure == FAILURE_NONE)
			break;
		failed++;
		if (shared->next >= count) {
			printf("the worker failed after its last instance: %s (memory lost?)\n", shared->result.text);
			break;
		}
		bool shrink = by_kind[shared->result.failure]++ < SHRUNK;
		report(seed + shared->next, shrink);
		shared->next++;
		if (failed == MOST_FAILURES) {
			printf("stopped after %d failures\n", MOST_FAILURES);
			count = shared->next;
		}
	}
	print_tally(&shared->tally);
	printf("%llu passed, %llu failed\n", (unsigned long long)(count - failed), (unsigned long long)failed);
	return failed ? 1 : 0;
}
