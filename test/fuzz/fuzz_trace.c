/* Tables and objects from arbitrary bytes as a trace: what is accepted can be replayed, and the sums fit. */
#include "fuzz.h"

#include "cluster/nodes.h"
#include "sim/report.h"

#include <string.h>

#define MOST_PODS 60 /* a replay of more takes too long for a fuzzer */

static void replay(const struct trace *trace, struct arena *arena)
{
	static const enum cycle_action actions[] = {ACTION_ALLOCATE, ACTION_CONSOLIDATE, ACTION_RECLAIM,
	                                            ACTION_PREEMPT};
	struct settings settings = settings_usual;
	settings.budget = 2000;
	struct replay_options options = {.title = "fuzz", .actions = actions, .action_count = 4, .settings = &settings};
	const struct replay_result *result = replay_run(trace, &options, arena);
	fuzz_require(result->bound <= result->pods &&
	             result->placed + result->waiting + result->withdrawn == result->gangs);
	fuzz_require(result->gpu >= 0 && result->cpu >= 0 && result->fragmented >= 0 && result->fragmented <= 1000);
	for (size_t i = 0; i < REPLAY_FRAMES; i++)
		fuzz_require(strlen(result->frames[i]) == result->node_count);
	struct buffer page = {0};
	report_page(&result, 1, "fuzz", &page);
	fuzz_require(page.length > 0);
	buffer_free(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problems problems = {.arena = arena_create()};
	struct manifests nodes, objects;
	struct buffer shape = {0}, text = {0};
	manifests_init(&nodes);
	manifests_init(&objects);
	nodes_of_shape(&shape, 1, 2, 2, 4, false);
	manifests_parse(&nodes, shape.text, shape.length, "nodes", &problems);
	/* The first byte says which of the two it is. */
	if (size > 0 && data[0] == 'o')
		manifests_parse(&objects, (const char *)data + 1, size - 1, "input", &problems);
	else if (trace_of_table((const char *)data, size, "input", &nodes, &text, &problems) == 0)
		fuzz_require(manifests_parse(&objects, text.text ? text.text : "", text.length, "input", &problems) ==
		             0);
	const struct trace *trace = trace_read(&objects, &settings_usual, problems.arena, &problems);
	if (trace && trace->pod_count <= MOST_PODS)
		replay(trace, problems.arena);
	buffer_free(&shape);
	buffer_free(&text);
	manifests_free(&nodes);
	manifests_free(&objects);
	arena_destroy(problems.arena);
	return 0;
}
