/* Owns the shared part of the control tests. */
#include "world.h"

#include <string.h>

void world_open(struct world *world, const char *text)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	manifests_init(&world->manifests);
	manifests_parse(&world->manifests, text, strlen(text), "test", &problems);
	for (size_t i = 0; i < problems.count; i++)
		print_error("%s: %s\n", problems.items[i].path, problems.items[i].message);
	assert_int_equal(problems.count, 0);
	arena_destroy(arena);
	world->snapshot = snapshot_create(&world->manifests, NULL);
}

void world_close(struct world *world)
{
	snapshot_destroy(world->snapshot);
	manifests_free(&world->manifests);
}

static int find_group(const struct world *world, const char *name)
{
	int index = snapshot_find_group(world->snapshot, "ns", name);
	if (index < 0)
		fail_msg("no group %s", name);
	return index;
}

const struct cycle_group *world_group(const struct world *world, const char *name)
{
	return &world->snapshot->cycle.groups[find_group(world, name)];
}

const struct snapshot_group *world_about(const struct world *world, const char *name)
{
	return &world->snapshot->groups[find_group(world, name)];
}

const struct gang_pod *world_member(const struct world *world, const char *pod)
{
	int index = snapshot_find_pod(world->snapshot, "ns", pod);
	if (index < 0)
		fail_msg("no pod %s", pod);
	const struct snapshot_pod *found = &world->snapshot->pods[index];
	if (found->member < 0)
		fail_msg("pod %s is no member of a gang", pod);
	return &world->snapshot->cycle.groups[found->group].gang.pods[found->member];
}

void world_expect_warning(const struct world *world, const char *text)
{
	for (size_t i = 0; i < world->snapshot->warning_count; i++)
		if (strstr(world->snapshot->warnings[i], text))
			return;
	for (size_t i = 0; i < world->snapshot->warning_count; i++)
		print_error("warning: %s\n", world->snapshot->warnings[i]);
	fail_msg("no warning says \"%s\"", text);
}

void world_expect_verdict(const struct world *world, const char *name, bool allowed, const char *text)
{
	for (size_t i = 0; i < world->snapshot->verdict_count; i++) {
		const struct snapshot_verdict *verdict = &world->snapshot->verdicts[i];
		if (strcmp(verdict->name, name) != 0 || verdict->allowed != allowed)
			continue;
		for (size_t p = 0; p < verdict->problem_count; p++)
			if (strstr(verdict->problems[p].message, text))
				return;
	}
	fail_msg("no verdict on %s says \"%s\"", name, text);
}
