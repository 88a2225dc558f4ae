/* The live state decides what a snapshot of the same objects decides, whatever happened before. */
#include "engine/cycle/refusal_cache.h"
#include "schedule/live.h"
#include "fixtures/random_cluster.h"
#include "fixtures/random_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 120, MOST_GROUPS = 256, BUDGET = 1, WITHOUT_DEVICES = 60, WITHOUT_SERVICES = 90, SEEDS = 110 };

static const enum cycle_action actions[] = {ACTION_ALLOCATE, ACTION_CONSOLIDATE, ACTION_RECLAIM, ACTION_PREEMPT,
                                            ACTION_RELEASE_STALE};
enum { ACTIONS = sizeof(actions) / sizeof(actions[0]) };

/* What the plans so far said about each group. */
struct told {
	char *name, *text;
};

struct trial {
	struct random_cluster cluster;
	struct live *live;
	struct live_watch *watch;
	struct told told[MOST_GROUPS];
	size_t told_count;
	struct settings settings;
	struct snapshot_options options;
	size_t cycles, described, groups, bindings, evictions, relists, remembered, gave_up;
	bool failed;
};

static char *text_of(const struct val *val)
{
	struct buffer text = {0};
	val_write(val, DOC_JSON_COMPACT, &text);
	return text.text;
}

/* Of a group, without what a remembered refusal said when it was found. What was proved once stays proved, though a search
 * of today may give up before it has the proof. */
static char *group_text(const struct trial *trial, const struct val *group)
{
	if (!trial->options.remember_all)
		return text_of(group);
	struct buffer text = {0};
	const struct val *value;
	const char *key;
	for (struct val_iter it = val_iter(group); val_next(&it, &key, &value);)
		if (strcmp(key, "reasons") != 0 && strcmp(key, "message") != 0 && strcmp(key, "proved") != 0) {
			buffer_printf(&text, "%s: ", key);
			if (strcmp(key, "state") == 0 &&
			    (strcmp(val_str(value, ""), "Waiting") == 0 || strcmp(val_str(value, ""), "Never") == 0 ||
			     strcmp(val_str(value, ""), "Undecided") == 0)) {
				buffer_puts(&text, "refused ");
				continue;
			}
			val_write(value, DOC_JSON_COMPACT, &text);
			buffer_puts(&text, " ");
		}
	return text.text;
}

static char *name_of(const struct val *group)
{
	struct buffer text = {0};
	buffer_printf(&text, "%s/%s", val_str(val_get(group, "namespace"), ""), val_str(val_get(group, "name"), ""));
	return text.text;
}

static struct told *find_told(struct trial *trial, const char *name)
{
	for (size_t i = 0; i < trial->told_count; i++)
		if (strcmp(trial->told[i].name, name) == 0)
			return &trial->told[i];
	return NULL;
}

static void remember(struct trial *trial, const struct val *groups)
{
	const struct val *group;
	for (struct val_iter it = val_iter(groups); val_next(&it, NULL, &group);) {
		char *name = name_of(group);
		struct told *told = find_told(trial, name);
		if (told) {
			free(told->text);
			free(name);
		} else {
			told = &trial->told[trial->told_count++];
			told->name = name;
		}
		told->text = group_text(trial, group);
	}
}

static void complain(struct trial *trial, const char *what, const char *live, const char *expected)
{
	trial->failed = true;
	printf("  %s\n    live:     %s\n    snapshot: %s\n", what, live, expected);
}

static void compare_lists(struct trial *trial, const char *what, const struct val *live, const struct val *expected)
{
	char *a = text_of(val_get(live, what)), *b = text_of(val_get(expected, what));
	if (strcmp(a, b) != 0)
		complain(trial, what, a, b);
	free(a);
	free(b);
}

static void compare_groups(struct trial *trial, const struct val *expected)
{
	const struct val *group;
	for (struct val_iter it = val_iter(val_get(expected, "groups")); val_next(&it, NULL, &group);) {
		char *name = name_of(group), *text = group_text(trial, group);
		const struct told *told = find_told(trial, name);
		if (!told || strcmp(told->text, text) != 0)
			complain(trial, name, told ? told->text : "nothing", text);
		free(name);
		free(text);
	}
}

/* Some of what was decided is carried out, half of it assumed before the store shows it. */
static void carry_out(struct trial *trial, const struct val *plan)
{
	struct random_cluster *cluster = &trial->cluster;
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(plan, "bindings")); val_next(&it, NULL, &item);) {
		const char *namespace_ = val_str(val_get(item, "namespace"), ""),
			   *pod = val_str(val_get(item, "pod"), ""), *node = val_str(val_get(item, "node"), "");
		if (!random_chance(&cluster->random, 70))
			continue;
		bool assume = random_chance(&cluster->random, 50);
		if (assume)
			live_assume(trial->live, namespace_, pod, LIVE_BOUND, node);
		if (random_cluster_bind(cluster, namespace_, pod, node) == 200 && assume)
			live_confirm(trial->live, namespace_, pod, LIVE_BOUND,
			             random_cluster_peek(cluster, "pods", namespace_, pod)->version);
		else if (assume)
			live_forget(trial->live, namespace_, pod, LIVE_BOUND);
	}
	for (struct val_iter it = val_iter(val_get(plan, "evictions")); val_next(&it, NULL, &item);) {
		const char *namespace_ = val_str(val_get(item, "namespace"), ""),
			   *pod = val_str(val_get(item, "pod"), "");
		if (random_chance(&cluster->random, 60)) {
			live_assume(trial->live, namespace_, pod, LIVE_LEAVING, "");
			random_cluster_delete(cluster, "pods", namespace_, pod, cluster->calm ? 0 : -1);
			const struct store_object *left = random_cluster_peek(cluster, "pods", namespace_, pod);
			live_confirm(trial->live, namespace_, pod, LIVE_LEAVING, left ? left->version : 0);
		}
	}
	for (struct val_iter it = val_iter(val_get(cluster->calm ? NULL : plan, "reservations"));
	     val_next(&it, NULL, &item);) {
		char body[128];
		const char *namespace_ = val_str(val_get(item, "namespace"), ""),
			   *pod = val_str(val_get(item, "pod"), "");
		snprintf(body, sizeof(body), "{\"status\":{\"nominatedNodeName\":\"%s\"}}",
		         val_str(val_get(item, "node"), ""));
		random_cluster_write(cluster,
		                     (struct store_request){.verb = STORE_PATCH,
		                                            .patch = STORE_PATCH_MERGE,
		                                            .subresource = STORE_STATUS},
		                     "pods", namespace_, pod, body);
	}
}

static struct doc *written(const struct plan *plan)
{
	struct build *build = build_create();
	struct doc *doc = build_finish(build, plan_write(plan, build));
	build_destroy(build);
	return doc;
}

/* With how many pods a group met its minimum before that was raised only a cycle can know, which writes it down; nobody does
 * here. */
static void take_over_met(const struct snapshot *from, struct snapshot *into)
{
	for (size_t i = 0; i < into->cycle.group_count; i++)
		for (size_t k = 0; k < from->cycle.group_count && into->cycle.groups[i].met == 0; k++)
			if (cycle_compare(&from->cycle.groups[k], &into->cycle.groups[i]) == 0)
				into->cycle.groups[i].met = from->cycle.groups[k].met;
}

static struct doc *expected_plan(struct trial *trial, const struct snapshot *live)
{
	struct arena *arena = arena_create();
	struct store_list lists[RANDOM_CLUSTER_KINDS];
	struct manifests manifests;
	random_cluster_list(&trial->cluster, lists, arena, &manifests);
	trial->options.now_seconds = trial->cluster.clock.now / CLOCK_SECOND;
	struct snapshot_options options = trial->options;
	options.always_search = true;
	struct snapshot *snapshot = snapshot_create(&manifests, &options);
	take_over_met(live, snapshot);
	struct doc *doc = written(plan_run(snapshot, actions, ACTIONS));
	snapshot_destroy(snapshot);
	for (size_t k = 0; k < RANDOM_CLUSTER_KINDS; k++)
		store_list_clear(&lists[k]);
	arena_destroy(arena);
	return doc;
}

static void compare(struct trial *trial)
{
	struct plan *plan = live_plan(trial->live, trial->cluster.clock.now, actions, ACTIONS);
	struct doc *live = written(plan), *expected = expected_plan(trial, plan->snapshot);
	remember(trial, val_get(doc_root(live), "groups"));
	compare_lists(trial, "bindings", doc_root(live), doc_root(expected));
	compare_lists(trial, "reservations", doc_root(live), doc_root(expected));
	compare_lists(trial, "evictions", doc_root(live), doc_root(expected));
	compare_groups(trial, doc_root(expected));
	for (size_t i = 0; i < plan->group_count; i++)
		trial->gave_up += strcmp(plan->groups[i].state, "Undecided") == 0;
	trial->cycles++;
	trial->described += plan->group_count;
	trial->groups += val_count(val_get(doc_root(expected), "groups"));
	trial->bindings += plan->binding_count;
	trial->evictions += plan->eviction_count;
	while (!live_finish_some(trial->live, 1 + trial->cycles % 5)) /* the stream stays what it is */
		;
	if (!trial->failed && random_chance(&trial->cluster.random, 25))
		carry_out(trial, doc_root(live));
	doc_destroy(live);
	doc_destroy(expected);
}

static void step(struct trial *trial, int number, uint64_t seed)
{
	size_t rebuilds = live_rebuilds(trial->live);
	bool structural = number == 0;
	struct buffer story = {0};
	/* Now and then more at once than the store keeps for watches. */
	int changes = number == 0                                 ? 60
	              : random_chance(&trial->cluster.random, 10) ? 25
	                                                          : random_range(&trial->cluster.random, 1, 3);
	for (int i = 0; i < changes; i++) {
		random_cluster_change(&trial->cluster);
		structural |= trial->cluster.structural;
		buffer_printf(&story, "  %s\n", trial->cluster.story);
		if (i % 8 == 7)
			random_cluster_commit(&trial->cluster);
	}
	random_cluster_commit(&trial->cluster);
	/* A search that gave up, or was easy, is repeated after a second. */
	clock_virtual_advance(&trial->cluster.clock, random_range(&trial->cluster.random, 1, 20) * CLOCK_SECOND);
	if (!live_watch_read(trial->watch)) {
		printf("  not every kind is listed\n");
		trial->failed = true;
	}
	compare(trial);
	/* Once more without a change, or after what was decided was carried out: the time of remembered refusals. */
	if (!trial->failed && random_chance(&trial->cluster.random, 40)) {
		random_cluster_commit(&trial->cluster);
		live_watch_read(trial->watch);
		clock_virtual_advance(&trial->cluster.clock, CLOCK_SECOND);
		compare(trial);
	}
	if (!structural && live_rebuilds(trial->live) > rebuilds) {
		printf("  everything was built anew\n");
		trial->failed = true;
	}
	if (trial->failed)
		printf("seed %llu, step %d:\n%s", (unsigned long long)seed, number, story.text);
	buffer_free(&story);
}

static bool run(uint64_t seed, struct trial *sums)
{
	static struct trial trial;
	trial = (struct trial){
		/* Half of the runs never ask for a proof again, the others do after a second, if it was easy to find. */
		.options = {.trials = seed % 4 == 0 ? SNAPSHOT_TRIALS_WHEN_LIVE : 0,
	                    .settings = &trial.settings,
	                    .remember_all = seed % 2 == 1},
		.settings = settings_usual};
	/* Some have a budget that is too small for gangs of parts. */
	trial.settings.starvation_ns = seed % 5 == 0 ? 60 * CLOCK_SECOND : 0;
	trial.settings.budget = seed % 3 == 0 ? BUDGET : 0;
	random_cluster_open(&trial.cluster, seed);
	trial.cluster.devices = seed > WITHOUT_DEVICES && seed <= WITHOUT_SERVICES;
	trial.cluster.services = seed > WITHOUT_SERVICES;
	if (trial.cluster.devices)
		random_devices_open(&trial.cluster);
	trial.cluster.calm = trial.options.remember_all;
	trial.cluster.some_unnamed = seed % 4 == 1;
	trial.cluster.hard = trial.settings.budget > 0;
	trial.live = live_create(&trial.options);
	trial.watch = live_watch_create(trial.live, trial.cluster.store);
	for (int i = 0; i < STEPS && !trial.failed; i++)
		step(&trial, i, seed);
	sums->cycles += trial.cycles;
	sums->described += trial.described;
	sums->groups += trial.groups;
	sums->bindings += trial.bindings;
	sums->evictions += trial.evictions;
	sums->gave_up += trial.gave_up;
	sums->remembered += refusal_cache_hits(live_snapshot(trial.live)->cycle.refusal_cache);
	sums->relists += live_watch_relists(trial.watch);
	live_watch_close(trial.watch);
	live_destroy(trial.live);
	random_cluster_close(&trial.cluster);
	for (size_t i = 0; i < trial.told_count; i++) {
		free(trial.told[i].name);
		free(trial.told[i].text);
	}
	return !trial.failed;
}

int main(int argc, char **argv)
{
	static struct trial sums;
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t last = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? first : SEEDS;
	int failed = 0;
	for (uint64_t seed = first; seed <= last; seed++)
		failed += !run(seed, &sums);
	printf("%zu cycles; %zu of %zu groups looked at, %zu refusals remembered, %zu times without an answer, %zu "
	       "pods "
	       "bound, %zu evicted, %zu lists again\n",
	       sums.cycles, sums.described, sums.groups, sums.remembered, sums.gave_up, sums.bindings, sums.evictions,
	       sums.relists);
	if (last > first + 10 && !sums.gave_up) {
		printf("not one search gave up\n");
		failed++;
	}
	if (last > first + 10 && !sums.remembered) {
		printf("not one refusal was remembered\n");
		failed++;
	}
	printf("%d passed, %d failed\n", (int)(last - first + 1) - failed, failed);
	return failed > 0;
}
