/* Owns the page of a report, and the same as a document. */
#include "sim/report_files.h"
#include "sim/report_internal.h"

#include <string.h>

static const char head[] =
	"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
	"content=\"width=device-width\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
	"script-src 'unsafe-inline'\">\n<title>";

const char *report_file(const char *name)
{
	for (const struct report_file *file = report_files; file->name; file++)
		if (strcmp(file->name, name) == 0)
			return file->text;
	return "";
}

void report_text(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			buffer_puts(out, "&lt;");
			break;
		case '>':
			buffer_puts(out, "&gt;");
			break;
		case '&':
			buffer_puts(out, "&amp;");
			break;
		case '"':
			buffer_puts(out, "&quot;");
			break;
		default:
			buffer_append(out, text, 1);
		}
	}
}

const char *report_time(struct arena *arena, int64_t seconds)
{
	static const struct {
		int64_t from, unit;
		const char *name;
	} units[] = {{172800, 86400, "d"}, {7200, 3600, "h"}, {300, 60, "min"}};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (seconds >= units[i].from)
			return arena_printf(arena, "%lld.%lld %s", (long long)(seconds / units[i].unit),
			                    (long long)(seconds % units[i].unit * 10 / units[i].unit), units[i].name);
	return arena_printf(arena, "%lld s", (long long)seconds);
}

const char *report_count(struct arena *arena, size_t number)
{
	if (number < 1000)
		return arena_printf(arena, "%zu", number);
	return arena_printf(arena, "%s,%03zu", report_count(arena, number / 1000), number % 1000);
}

static int64_t gpu_of(const struct replay_bucket *bucket)
{
	return bucket->gpu;
}

static int64_t cpu_of(const struct replay_bucket *bucket)
{
	return bucket->cpu;
}

static int64_t fragmented_of(const struct replay_bucket *bucket)
{
	return bucket->fragmented;
}

static int64_t waiting_of(const struct replay_bucket *bucket)
{
	return bucket->waiting_pods * 1000;
}

static int64_t evicted_of(const struct replay_bucket *bucket)
{
	return (bucket->evicted + bucket->moved) * 1000;
}

/* ---- numbers ---- */

static void number_row(const struct report *report, const char *name,
                       const char *(*text)(struct arena *arena, const struct replay_result *))
{
	buffer_printf(report->out, "<tr><th scope=\"row\">%s</th>", name);
	for (size_t r = 0; r < report->count; r++)
		buffer_printf(report->out, "<td>%s</td>", text(report->arena, report->results[r]));
	buffer_puts(report->out, "</tr>\n");
}

static const char *percent(struct arena *arena, int64_t thousandths)
{
	return arena_printf(arena, "%lld.%lld %%", (long long)(thousandths / 10), (long long)(thousandths % 10));
}

static const char *gangs_text(struct arena *arena, const struct replay_result *result)
{
	return arena_printf(arena, "%s of %s", report_count(arena, result->placed), report_count(arena, result->gangs));
}

static const char *rest_text(struct arena *arena, const struct replay_result *result)
{
	return arena_printf(arena, "%s waiting at the end, %s withdrawn", report_count(arena, result->waiting),
	                    report_count(arena, result->withdrawn));
}

static const char *pods_text(struct arena *arena, const struct replay_result *result)
{
	return arena_printf(arena, "%s of %s", report_count(arena, result->bound), report_count(arena, result->pods));
}

static const char *gpu_text(struct arena *arena, const struct replay_result *result)
{
	return percent(arena, result->gpu);
}

static const char *cpu_text(struct arena *arena, const struct replay_result *result)
{
	return percent(arena, result->cpu);
}

static const char *fragmented_text(struct arena *arena, const struct replay_result *result)
{
	return percent(arena, result->fragmented);
}

static const char *wait_text(struct arena *arena, const struct replay_result *result)
{
	return arena_printf(arena, "%s, %s, %s", report_time(arena, result->median), report_time(arena, result->p90),
	                    report_time(arena, result->longest));
}

static const char *evicted_text(struct arena *arena, const struct replay_result *result)
{
	return arena_printf(arena, "%s evicted, %s moved", report_count(arena, result->evicted),
	                    report_count(arena, result->moved));
}

static void numbers(const struct report *report)
{
	buffer_puts(report->out, "<div class=\"scroll\"><table class=\"numbers\"><thead><tr><td></td>");
	for (size_t r = 0; r < report->count; r++) {
		buffer_printf(report->out, "<th scope=\"col\" class=\"key p%zu\">", r);
		report_text(report->out, report->results[r]->title);
		buffer_puts(report->out, "</th>");
	}
	buffer_puts(report->out, "</tr></thead><tbody>\n");
	number_row(report, "gangs placed", gangs_text);
	number_row(report, "other gangs", rest_text);
	number_row(report, "pods that ran", pods_text);
	number_row(report, "GPUs in use, mean", gpu_text);
	number_row(report, "CPUs in use, mean", cpu_text);
	number_row(report, "fragmentation, mean", fragmented_text);
	number_row(report, "waiting: median, 9 of 10, longest", wait_text);
	number_row(report, "pods that had to leave", evicted_text);
	buffer_puts(report->out, "</tbody></table></div>\n");
}

void report_page(const struct replay_result *const *results, size_t count, const char *source, struct buffer *out)
{
	struct report report = {.results = results, .count = count, .arena = arena_create(), .out = out};
	buffer_puts(out, head);
	report_text(out, source);
	buffer_printf(out, ": simulation report</title>\n<style>\n%s</style></head><body><main>\n",
	              report_file("report.css"));
	buffer_puts(out, "<h1>Simulation report</h1><p><b>");
	report_text(out, source);
	buffer_printf(out, "</b>: %s gangs, %s pods and %s nodes over %s.%s</p>\n",
	              report_count(report.arena, results[0]->gangs), report_count(report.arena, results[0]->pods),
	              report_count(report.arena, results[0]->node_count), report_time(report.arena, results[0]->length),
	              results[0]->stopped ? " The replay was stopped before its end." : "");
	numbers(&report);
	report_chart(&report, "GPUs in use", "Share of all GPUs that belong to pods with a node.", gpu_of, 1000, "%");
	report_chart(&report, "CPUs in use", "Share of all CPUs that belong to pods with a node.", cpu_of, 1000, "%");
	report_chart(&report, "Pods that wait", "Pods that exist and have no node.", waiting_of, 0, "");
	report_chart(
		&report, "Fragmentation",
		"Of the free GPUs (CPUs on a cluster without GPUs), the share on nodes that are partly in use: a gang "
		"that needs whole nodes cannot have them.",
		fragmented_of, 1000, "%");
	report_chart(&report, "Evictions and moves",
	             arena_printf(report.arena, "Pods that had to leave their node, for each %s.",
	                          report_time(report.arena, results[0]->length / REPLAY_BUCKETS)),
	             evicted_of, 0, "");
	report_waits(&report);
	report_maps(&report);
	buffer_puts(out, "</main></body></html>\n");
	arena_destroy(report.arena);
}

/* ---- document ---- */

static struct node *write_sizes(const struct replay_result *result, struct build *build)
{
	struct node *list = build_list(build);
	for (size_t i = 0; i < REPLAY_SIZES; i++) {
		const struct replay_size *size = &result->sizes[i];
		struct node *item = build_map(build);
		build_put_string(build, item, "pods", size->name);
		build_put_int(build, item, "gangs", (int64_t)size->gangs);
		build_put_int(build, item, "placed", (int64_t)size->placed);
		build_put_int(build, item, "medianSeconds", size->median);
		build_put_int(build, item, "p90Seconds", size->p90);
		build_put_int(build, item, "longestSeconds", size->longest);
		build_append(build, list, item);
	}
	return list;
}

static struct node *write_series(const struct replay_result *result, struct build *build)
{
	struct node *list = build_list(build);
	for (int64_t i = 0; i < REPLAY_BUCKETS; i++) {
		const struct replay_bucket *bucket = &result->buckets[i];
		struct node *item = build_map(build);
		build_put_int(build, item, "second", result->length * i / REPLAY_BUCKETS);
		build_put_int(build, item, "gpuThousandths", bucket->gpu);
		build_put_int(build, item, "cpuThousandths", bucket->cpu);
		build_put_int(build, item, "fragmentedThousandths", bucket->fragmented);
		build_put_int(build, item, "waitingPods", bucket->waiting_pods);
		build_put_int(build, item, "evicted", bucket->evicted);
		build_put_int(build, item, "moved", bucket->moved);
		build_append(build, list, item);
	}
	return list;
}

static struct node *write_result(const struct replay_result *result, struct build *build)
{
	struct node *item = build_map(build), *actions = build_map(build);
	build_put_string(build, item, "policy", result->title);
	build_put_int(build, item, "gangs", (int64_t)result->gangs);
	build_put_int(build, item, "placed", (int64_t)result->placed);
	build_put_int(build, item, "waiting", (int64_t)result->waiting);
	build_put_int(build, item, "withdrawn", (int64_t)result->withdrawn);
	build_put_int(build, item, "pods", (int64_t)result->pods);
	build_put_int(build, item, "bound", (int64_t)result->bound);
	build_put_int(build, item, "evicted", (int64_t)result->evicted);
	build_put_int(build, item, "moved", (int64_t)result->moved);
	for (int action = 0; action < ACTION_COUNT; action++)
		if (result->by_action[action] > 0)
			build_put_int(build, actions, cycle_action_name((enum cycle_action)action),
			              (int64_t)result->by_action[action]);
	build_put(build, item, "evictionsByAction", actions);
	build_put_int(build, item, "cycles", (int64_t)result->cycles);
	build_put_int(build, item, "gpuThousandths", result->gpu);
	build_put_int(build, item, "cpuThousandths", result->cpu);
	build_put_int(build, item, "fragmentedThousandths", result->fragmented);
	build_put_int(build, item, "medianWaitSeconds", result->median);
	build_put_int(build, item, "p90WaitSeconds", result->p90);
	build_put_int(build, item, "longestWaitSeconds", result->longest);
	build_put_bool(build, item, "stopped", result->stopped);
	build_put(build, item, "waitsBySize", write_sizes(result, build));
	build_put(build, item, "series", write_series(result, build));
	return item;
}

struct node *report_write(const struct replay_result *const *results, size_t count, const char *source,
                          struct build *build)
{
	struct node *root = build_map(build), *list = build_list(build);
	build_put_string(build, root, "trace", source);
	build_put_int(build, root, "nodes", (int64_t)results[0]->node_count);
	build_put_int(build, root, "seconds", results[0]->length);
	for (size_t r = 0; r < count; r++)
		build_append(build, list, write_result(results[r], build));
	build_put(build, root, "policies", list);
	return root;
}
