/* Property test of whole scheduling cycles: random clusters, queues and groups, run until nothing changes, with the
 * rules of eviction checked after every action. */
#include "inspect.h"
#include "reduce.h"
#include "write.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_CYCLES = 100, MOST_TRACED = 8 };

static const char *name_failure(int failure)
{
	static const char *const names[] = {"fine",        "protected", "fresh",      "still",   "core",
	                                    "rules",       "minimum",   "move",       "no gain", "unneeded",
	                                    "unexplained", "verify",    "overcommit", "limit",   "share",
	                                    "books",       "restless",  "different",  "idle",    "crash"};
	return names[failure];
}

static void generate(uint64_t seed, void *world)
{
	case_generate(seed, world);
}

/* One line per pod that an action touched. */
static void trace_action(const struct scene *scene, const struct picture *before)
{
	const struct cycle_fixture *fixture = scene->fixture;
	const struct cycle *cycle = &fixture->cycle;
	struct picture after;
	picture_take(fixture, &after);
	for (size_t i = before->evictions; i < cycle->eviction_count; i++) {
		const struct cycle_eviction *eviction = &cycle->evictions[i];
		printf("    %s: g%d-p%d leaves n%d for g%d%s\n", cycle_action_name(eviction->action), eviction->group,
		       eviction->pod, fixture->built.from_engine[eviction->node], eviction->by,
		       eviction->moved ? " (moved)" : "");
	}
	for (int g = 0; g < fixture->world->group_count; g++)
		for (int p = 0; p < fixture->world->groups[g].pod_count; p++) {
			const struct spot *was = &before->pods[g][p], *is = &after.pods[g][p];
			if (picture_is_member(is) && (is->state != was->state || is->node != was->node))
				printf("    %s: g%d-p%d %s n%d\n", cycle_action_name(scene->action), g, p,
				       is->state == MEMBER_RUNNING ? "starts on" : "waits for",
				       fixture->built.from_engine[is->node]);
		}
}

/* All actions, or in a case that takes them apart one of them. */
static void actions_of(const struct cycle_fixture *fixture, uint64_t number, int *first, int *last)
{
	*first = fixture->world->apart ? (int)((number - 1) % ACTION_COUNT) : 0;
	*last = fixture->world->apart ? *first : ACTION_COUNT - 1;
}

static bool run_cycle(struct scene *scene, uint64_t number)
{
	struct cycle_fixture *fixture = scene->fixture;
	int first, last;
	actions_of(fixture, number, &first, &last);
	cycle_fixture_begin(fixture);
	picture_take(fixture, &scene->start);
	for (int action = first; action <= last; action++) {
		struct picture before;
		scene->action = (enum cycle_action)action;
		picture_take(fixture, &before);
		cycle_run(&fixture->cycle, scene->action);
		if (scene->trace)
			trace_action(scene, &before);
		if (!inspect_action(scene, &before))
			return false;
	}
	cycle_finish(&fixture->cycle);
	return true;
}

/* The same cycle on a cluster built anew gives the same plan. */
static bool check_again(struct scene *scene, struct cycle_fixture *again, uint64_t number)
{
	int first, last;
	actions_of(again, number, &first, &last);
	cycle_fixture_begin(again);
	for (int action = first; action <= last; action++)
		cycle_run(&again->cycle, (enum cycle_action)action);
	cycle_finish(&again->cycle);
	if (cycle_fixture_fingerprint(again) == cycle_fixture_fingerprint(scene->fixture))
		return true;
	return scene_fail(scene, CYCLE_DIFFERENT, "the same state gave another plan (%zu evictions, then %zu)",
	                  scene->fixture->cycle.eviction_count, again->cycle.eviction_count);
}

/* One cycle and what follows it. False when nothing changed, or something is wrong. A third of the cases is played
 * twice. */
static bool play_cycle(struct scene *scene, uint64_t number)
{
	struct cycle_fixture *fixture = scene->fixture, again;
	bool twice = fixture->world->base.seed % 3 == 0, more = false;
	if (twice)
		cycle_fixture_copy(&again, fixture);
	cycle_fixture_begin(fixture);
	uint64_t before = cycle_fixture_fingerprint(fixture);
	if (run_cycle(scene, number) && (!twice || check_again(scene, &again, number))) {
		more = cycle_fixture_fingerprint(fixture) != before;
		more |= cycle_fixture_settle(fixture);
	}
	if (twice)
		cycle_fixture_destroy(&again);
	return more;
}

/* Cycles until nothing changes and no timer is left. */
static void play_to_the_end(struct scene *scene)
{
	struct cycle_fixture *fixture = scene->fixture;
	uint64_t round = fixture->world->apart ? ACTION_COUNT : 1, quiet = 0;
	for (uint64_t cycle = 1; quiet < round; cycle++) {
		if (scene->trace)
			printf("  cycle %llu at %lld s\n", (unsigned long long)cycle,
			       (long long)(fixture->cycle.now / CLOCK_SECOND));
		quiet = play_cycle(scene, cycle) ? 0 : quiet + 1;
		if (quiet == round && !scene->result->failure && cycle_fixture_wait(fixture))
			quiet = 0;
		if (cycle == MOST_CYCLES * round && quiet < round)
			scene_fail(scene, CYCLE_RESTLESS, "still changing after %d rounds", MOST_CYCLES);
		scene->tally->cycles++;
		if (cycle > scene->tally->longest)
			scene->tally->longest = cycle;
		if (scene->result->failure) { /* say when */
			char text[sizeof(scene->result->text)];
			memcpy(text, scene->result->text, sizeof(text));
			snprintf(scene->result->text, sizeof(text), "cycle %llu: %.300s", (unsigned long long)cycle,
			         text);
			return;
		}
		if (scene->trace && cycle == MOST_TRACED * round)
			return;
	}
	inspect_rest(scene);
}

static void play(const struct cycle_case *world, struct scene *scene)
{
	struct cycle_fixture fixture;
	scene->fixture = &fixture;
	scene->result->failure = CYCLE_FINE;
	cycle_fixture_create(&fixture, world);
	play_to_the_end(scene);
	cycle_fixture_destroy(&fixture);
	if (!scene->result->failure)
		*scene->result = scene->mild;
}

static void check(const void *world, struct result *result, void *sums)
{
	struct scene scene = {.result = result, .tally = sums};
	play(world, &scene);
}

/* The case, and the first cycles of it. */
static void print(const void *world)
{
	struct result result;
	struct cycle_tally tally = {0};
	struct scene scene = {.result = &result, .tally = &tally, .trace = true};
	case_print(world);
	fflush(stdout);
	pid_t child = fork(); /* it may crash */
	if (child == 0) {
		play(world, &scene);
		fflush(stdout);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void print_tally(const void *sums)
{
	const struct cycle_tally *tally = sums;
	printf("%llu cycles, at most %llu for one case; %llu pods bound, %llu reserved\n",
	       (unsigned long long)tally->cycles, (unsigned long long)tally->longest, (unsigned long long)tally->bound,
	       (unsigned long long)tally->reserved);
	for (int action = ACTION_CONSOLIDATE; action < ACTION_COUNT; action++)
		printf("%s: %llu decisions, %llu pods evicted, %llu moved\n",
		       cycle_action_name((enum cycle_action)action), (unsigned long long)tally->decisions[action],
		       (unsigned long long)tally->evicted[action], (unsigned long long)tally->moved[action]);
	printf("units given up: %llu gangs, %llu children, %llu pods; %llu tried to return; %llu groups wait at the "
	       "end; "
	       "%llu actions took fresh pods back; %llu times a group gave surplus before its time\n",
	       (unsigned long long)tally->whole_gangs, (unsigned long long)tally->children,
	       (unsigned long long)tally->single_pods, (unsigned long long)tally->returns_tried,
	       (unsigned long long)tally->waiting, (unsigned long long)tally->muddled,
	       (unsigned long long)tally->young);
}

int main(void)
{
	static const struct property property = {
		.name = "cycle",
		.count = 20000,
		.instance_size = sizeof(struct cycle_case),
		.tally_size = sizeof(struct cycle_tally),
		.crash = CYCLE_CRASH,
		.failure_name = name_failure,
		.generate = generate,
		.check = check,
		.shrink = case_shrink,
		.print = print,
		.save = case_save,
		.print_tally = print_tally,
	};
	return property_run(&property);
}
