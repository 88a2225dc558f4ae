/* Property test of the placement engine: many random instances, each compared with an exhaustive solver. */
#include "check.h"
#include "generate.h"
#include "print.h"
#include "save.h"
#include "shrink.h"

#include <stdio.h>

static const char *name_failure(int failure)
{
	return failure_name((enum failure)failure);
}

static void generate(uint64_t seed, void *instance)
{
	generate_instance(seed, instance);
}

static void check(const void *instance, struct result *result, void *tally)
{
	check_instance(instance, result, tally);
}

struct question {
	bool (*still_fails)(const void *instance, void *context);
	void *context;
};

static bool ask(const struct instance *instance, void *context)
{
	const struct question *question = context;
	return question->still_fails(instance, question->context);
}

static void shrink(void *instance, bool (*still_fails)(const void *instance, void *context), void *context)
{
	struct question question = {still_fails, context};
	shrink_instance(instance, ask, &question);
}

static void print(const void *instance)
{
	print_instance(instance, stdout);
}

static int save(const void *instance, const struct result *result, const char *path)
{
	return save_scenario(instance, result, path);
}

static void show_tally(const void *sums)
{
	const struct tally *tally = sums;
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
	static const struct property property = {
		.name = "property",
		.count = 20000,
		.instance_size = sizeof(struct instance),
		.tally_size = sizeof(struct tally),
		.crash = FAILURE_CRASH,
		.failure_name = name_failure,
		.generate = generate,
		.check = check,
		.shrink = shrink,
		.print = print,
		.save = save,
		.print_tally = show_tally,
	};
	return property_run(&property);
}
