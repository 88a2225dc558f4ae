/* Owns reading a trace from objects. */
#include "sim/trace.h"

#include "base/clock.h"
#include "base/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST INT64_C(1000000000000) /* of one thing: sums over a cluster fit */

/* -1 when the object does not say. */
static int64_t annotation(const struct val *object, const char *key)
{
	const char *text = val_str(val_get(val_path(object, "metadata", "annotations", NULL), key), "");
	char *end = NULL;
	errno = 0;
	long long seconds = strtoll(text, &end, 10);
	return *text && !*end && errno == 0 && seconds >= 0 && seconds <= TRACE_LONGEST ? seconds : -1;
}

static int64_t or_never(int64_t seconds)
{
	return seconds < 0 ? TRACE_NEVER : seconds;
}

/* Seconds of some epoch, -1 when nothing is known. */
static int64_t created(const struct val *object)
{
	int64_t seconds = -1;
	clock_parse_rfc3339(val_str(val_path(object, "metadata", "creationTimestamp", NULL), ""), &seconds);
	return seconds;
}

static bool is_finished(const struct val *pod)
{
	const char *phase = val_str(val_path(pod, "status", "phase", NULL), "");
	/* One that ran for a known time runs again. */
	return (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0) && annotation(pod, TRACE_RUNS) < 0;
}

static const char *space_of(const struct manifest *manifest)
{
	return manifest->namespace_[0] ? manifest->namespace_ : "default";
}

struct reading {
	const struct settings *settings;
	struct trace *trace;
	struct interner *gangs; /* "namespace/name" */
	int64_t first;          /* creation from which seconds count */
};

static int64_t arrival(const struct reading *reading, const struct val *object)
{
	int64_t told = annotation(object, TRACE_ARRIVES), at = created(object);
	if (told >= 0)
		return told;
	int64_t after = at < reading->first ? 0 : at - reading->first;
	return after > TRACE_LONGEST ? TRACE_LONGEST : after;
}

static void add_gang(struct reading *reading, const struct manifest *manifest)
{
	struct trace *trace = reading->trace;
	const char *key = arena_printf(trace->arena, "%s/%s", space_of(manifest), manifest->name);
	uint32_t known = interner_count(reading->gangs);
	if (interner_id(reading->gangs, key) != known)
		return;
	trace->gangs[trace->gang_count++] = (struct trace_gang){
		.namespace_ = space_of(manifest),
		.name = manifest->name,
		.object = manifest->object,
		.arrives = arrival(reading, manifest->object),
	};
}

static void add_pod(struct reading *reading, const struct manifest *manifest)
{
	struct trace *trace = reading->trace;
	const struct val *object = manifest->object;
	const char *node = val_str(val_path(object, "spec", "nodeName", NULL), "");
	bool ours = settings_owns_pod(reading->settings, object);
	if (is_finished(object) || (!ours && !node[0]))
		return;
	const char *group = val_str(val_path(object, "metadata", "annotations", "pod-group-name", NULL), "");
	uint32_t gang = interner_find(reading->gangs, arena_printf(trace->arena, "%s/%s", space_of(manifest), group));
	struct trace_pod *pod = &trace->pods[trace->pod_count++];
	*pod = (struct trace_pod){
		.namespace_ = space_of(manifest),
		.name = manifest->name,
		.gang = ours && gang != UINT32_MAX ? gang : TRACE_ALONE,
		.object = object,
		.fixed = ours ? NULL : node,
		.arrives = arrival(reading, object),
		.leaves = or_never(annotation(object, TRACE_LEAVES)),
		.runs = or_never(annotation(object, TRACE_RUNS)),
	};
	if (pod->gang != TRACE_ALONE) {
		trace->gangs[pod->gang].pods++;
		/* A gang is there with its first pod at the latest. */
		if (pod->arrives < trace->gangs[pod->gang].arrives)
			trace->gangs[pod->gang].arrives = pod->arrives;
	}
	trace->last = pod->arrives > trace->last ? pod->arrives : trace->last;
	if (pod->leaves != TRACE_NEVER && pod->leaves > trace->last)
		trace->last = pod->leaves;
	if (pod->runs != TRACE_NEVER && pod->arrives + pod->runs > trace->last)
		trace->last = pod->arrives + pod->runs;
}

static int compare_pods(const void *left, const void *right)
{
	const struct trace_pod *a = left, *b = right;
	if (a->arrives != b->arrives)
		return a->arrives < b->arrives ? -1 : 1;
	int order = strcmp(a->namespace_, b->namespace_);
	return order ? order : strcmp(a->name, b->name);
}

static bool is_kind(const struct manifest *manifest, const char *kind, const char *group)
{
	return strcmp(manifest->kind, kind) == 0 && text_starts_with(manifest->api_version, group);
}

/* A number of seconds, TRACE_NEVER when there is none. */
static int64_t field(const struct val *object, const char *key)
{
	int64_t seconds;
	return val_int(val_get(object, key), &seconds) == 0 && seconds >= 0 && seconds <= TRACE_LONGEST ? seconds
	                                                                                                : TRACE_NEVER;
}

static void add_departures(struct trace *trace, const struct manifests *objects)
{
	struct interner *names = interner_create();
	size_t *pods = arena_array(trace->arena, size_t, trace->pod_count);
	for (size_t i = 0; i < trace->pod_count; i++) {
		uint32_t known = interner_count(names);
		const char *key = arena_printf(trace->arena, "%s/%s", trace->pods[i].namespace_, trace->pods[i].name);
		if (interner_id(names, key) == known)
			pods[known] = i;
	}
	for (size_t i = 0; i < objects->count; i++) {
		const struct manifest *end = &objects->items[i];
		if (!is_kind(end, TRACE_DEPARTURE, "platoon.dev/"))
			continue;
		uint32_t number = interner_find(names, arena_printf(trace->arena, "%s/%s", space_of(end), end->name));
		struct trace_pod *pod = number == UINT32_MAX ? NULL : &trace->pods[pods[number]];
		int64_t leaves = field(end->object, "leaves"), runs = field(end->object, "runSeconds");
		if (!pod)
			continue;
		pod->leaves = leaves != TRACE_NEVER ? leaves : pod->leaves;
		pod->runs = runs != TRACE_NEVER ? runs : pod->runs;
		if (leaves != TRACE_NEVER && leaves > trace->last)
			trace->last = leaves;
		if (runs != TRACE_NEVER && pod->arrives + runs > trace->last)
			trace->last = pod->arrives + runs;
	}
	interner_destroy(names);
}

static void sort_out(struct reading *reading, const struct manifests *objects)
{
	struct trace *trace = reading->trace;
	for (size_t i = 0; i < objects->count; i++) {
		const struct manifest *manifest = &objects->items[i];
		if (is_kind(manifest, "PodGroup", "scheduling.run.ai/"))
			add_gang(reading, manifest);
		else if (!is_kind(manifest, "Pod", "v1") && !is_kind(manifest, TRACE_DEPARTURE, "platoon.dev/"))
			trace->frame[trace->frame_count++] = manifest;
	}
	for (size_t i = 0; i < objects->count; i++)
		if (is_kind(&objects->items[i], "Pod", "v1"))
			add_pod(reading, &objects->items[i]);
	add_departures(trace, objects);
	qsort(trace->pods, trace->pod_count, sizeof(*trace->pods), compare_pods);
}

struct trace *trace_read(const struct manifests *objects, const struct settings *settings, struct arena *arena,
                         struct problems *problems)
{
	struct trace *trace = arena_new(arena, struct trace);
	*trace = (struct trace){
		.arena = arena,
		.frame = arena_array(arena, const struct manifest *, objects->count),
		.gangs = arena_array(arena, struct trace_gang, objects->count),
		.pods = arena_array(arena, struct trace_pod, objects->count),
	};
	struct reading reading = {.settings = settings, .trace = trace, .gangs = interner_create(), .first = INT64_MAX};
	bool nodes = false;
	for (size_t i = 0; i < objects->count; i++) {
		const struct manifest *manifest = &objects->items[i];
		bool arrives = is_kind(manifest, "Pod", "v1") || is_kind(manifest, "PodGroup", "scheduling.run.ai/");
		int64_t at = arrives ? created(manifest->object) : -1;
		nodes |= is_kind(manifest, "Node", "v1");
		if (at >= 0 && at < reading.first)
			reading.first = at;
	}
	sort_out(&reading, objects);
	interner_destroy(reading.gangs);
	if (!nodes)
		problem_add(problems, SEVERITY_ERROR, "", "name some with --nodes or --nodes-file",
		            "there are no nodes to place anything on");
	if (trace->pod_count == 0)
		problem_add(problems, SEVERITY_ERROR, "", "give a table of instances, or objects with pods",
		            "there is nothing to replay");
	return nodes && trace->pod_count > 0 ? trace : NULL;
}

int64_t trace_cap(int64_t amount)
{
	return amount < 0 ? 0 : amount > MOST ? MOST : amount;
}

int64_t trace_node_amount(const struct val *node, const char *resource)
{
	const struct val *amounts = val_path(node, "status", "allocatable", NULL);
	char scratch[64];
	struct error error;
	int64_t value = 0;
	const char *text = val_scalar_text(val_get(amounts, resource), scratch);
	if (text && quantity_parse(text, strlen(text), quantity_scale_of(resource), &value, &error) < 0)
		value = 0;
	return trace_cap(value);
}
