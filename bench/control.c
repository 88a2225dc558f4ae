/* Owns the measurement of the control loop: a store with nodes and running gangs, and one change after the other.
 *
 * The time of a change is that of one turn: reading it, deciding, writing the decision, commit. */
#include "control.h"
#include "stage.h"

#include "schedule/scheduler.h"
#include "measure.h"
#include "object/doc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GANG = 16, CHANGES = 101, GPUS = 4, NODE_GPUS = 8 };

struct yard {
	struct clock_virtual clock;
	struct store *store;
	struct scheduler *scheduler;
	int nodes, made; /* made: pods of the measurement so far */
};

static bool write_body(struct yard *yard, struct store_request request, const char *api_version, const char *kind,
                       const char *body)
{
	struct error error = {0};
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct doc *doc = body ? doc_parse_json(body, strlen(body), &error) : NULL;
	request.api = store_api_of_kind(yard->store, api_version, kind);
	request.body = doc ? doc_root(doc) : NULL;
	bool done = (doc || !body) && store_write(yard->store, &request, &result) == 0;
	if (!done)
		fprintf(stderr, "%s: %s %s\n", kind, error.text, result.error.message ? result.error.message : "");
	store_result_clear(&result);
	doc_destroy(doc);
	arena_destroy(arena);
	return done;
}

static bool create(struct yard *yard, const char *namespace_, const char *api_version, const char *kind,
                   const char *body)
{
	return write_body(yard, (struct store_request){.verb = STORE_CREATE, .namespace_ = namespace_}, api_version,
	                  kind, body);
}

static void make_node(struct yard *yard, int number)
{
	char body[512];
	snprintf(
		body, sizeof(body),
		"{\"metadata\":{\"name\":\"n%d\",\"labels\":{\"block\":\"b%d\",\"rack\":\"r%d\","
		"\"kubernetes.io/hostname\":\"n%d\"}},\"status\":{\"allocatable\":{\"cpu\":\"64\",\"memory\":\"512Gi\","
		"\"pods\":\"110\",\"nvidia.com/gpu\":\"8\"}}}",
		number, number / 128, number / 16, number);
	create(yard, "", "v1", "Node", body);
}

/* On a node, or waiting. */
static void make_pod(struct yard *yard, const char *name, const char *group, int gpus, int node)
{
	char body[768], where[64] = "";
	if (node >= 0)
		snprintf(where, sizeof(where), ",\"nodeName\":\"n%d\"", node);
	snprintf(body, sizeof(body),
	         "{\"metadata\":{\"name\":\"%s\",\"annotations\":{\"pod-group-name\":\"%s\"}},\"spec\":{"
	         "\"schedulerName\":"
	         "\"platoon\"%s,\"containers\":[{\"name\":\"m\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":"
	         "\"4\","
	         "\"nvidia.com/gpu\":\"%d\"}}}]},\"status\":{\"phase\":\"%s\"}}",
	         name, group, where, gpus, node >= 0 ? "Running" : "Pending");
	create(yard, "default", "v1", "Pod", body);
}

static void make_group(struct yard *yard, const char *name, int minimum, bool rack)
{
	char body[512];
	snprintf(body, sizeof(body),
	         "{\"apiVersion\":\"scheduling.run.ai/v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"%s\"},"
	         "\"spec\":{\"minMember\":%d,\"queue\":\"all\"%s%s}}",
	         name, minimum, rack ? ",\"preemptibility\":\"non-preemptible\"" : "",
	         rack ? ",\"topologyConstraint\":{\"topology\":\"cluster\",\"requiredTopologyLevel\":\"rack\"}" : "");
	create(yard, "default", "scheduling.run.ai/v2alpha2", "PodGroup", body);
}

static void commit(struct yard *yard)
{
	struct error error = {0};
	if (store_commit(yard->store, &error) < 0)
		fprintf(stderr, "commit: %s\n", error.text);
}

/* Every second node has a pod of a gang of 16. */
static void open_yard(struct yard *yard, int nodes)
{
	struct error error = {0};
	*yard = (struct yard){.nodes = nodes};
	clock_virtual_init(&yard->clock, INT64_C(1767225600) * CLOCK_SECOND);
	yard->store = store_open(&(struct store_options){.clock = &yard->clock.source, .seed = 1}, &error);
	create(yard, "", "scheduling.run.ai/v2", "Queue",
	       "{\"apiVersion\":\"scheduling.run.ai/v2\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"all\"},\"spec\":{"
	       "\"resources\":{\"gpu\":{\"quota\":-1,\"limit\":-1},\"cpu\":{\"quota\":-1,\"limit\":-1},\"memory\":{"
	       "\"quota\":"
	       "-1,\"limit\":-1}}}}");
	create(yard, "", "kai.scheduler/v1alpha1", "Topology",
	       "{\"apiVersion\":\"kai.scheduler/v1alpha1\",\"kind\":\"Topology\",\"metadata\":{\"name\":\"cluster\"},"
	       "\"spec\":{\"levels\":[{\"nodeLabel\":\"block\"},{\"nodeLabel\":\"rack\"},{\"nodeLabel\":"
	       "\"kubernetes.io/hostname\"}]}}");
	for (int n = 0; n < nodes; n++)
		make_node(yard, n);
	for (int g = 0; g < nodes / 2 / GANG; g++) {
		char group[32], pod[48];
		snprintf(group, sizeof(group), "g%d", g);
		make_group(yard, group, GANG, false);
		for (int i = 0; i < GANG; i++) {
			snprintf(pod, sizeof(pod), "g%d-%d", g, i);
			make_pod(yard, pod, group, GPUS, 2 * (g * GANG + i));
		}
	}
	commit(yard);
	yard->scheduler = scheduler_create(
		&(struct scheduler_options){.store = yard->store, .clock = &yard->clock.source, .pause_ns = 1});
}

static void close_yard(struct yard *yard)
{
	scheduler_destroy(yard->scheduler);
	store_close(yard->store);
}

/* Turns until the scheduler has nothing more to do; the time of all of them. */
static double settle(struct yard *yard)
{
	double start = measure_now_us();
	for (int turn = 0; turn < 10; turn++) {
		uint64_t before = store_version(yard->store);
		clock_virtual_advance(&yard->clock, CLOCK_SECOND / 100);
		scheduler_step(yard->scheduler);
		commit(yard);
		if (store_version(yard->store) == before)
			break;
	}
	return measure_now_us() - start;
}

static bool is_bound(const struct yard *yard, const char *name)
{
	const struct store_type *pods = store_type_find(yard->store, "", "pods");
	const struct store_object *pod = store_peek(yard->store, pods, "default", name);
	return pod && val_str(val_path(pod->root, "spec", "nodeName", NULL), NULL);
}

static void remove_pod(struct yard *yard, const char *name)
{
	struct store_request request = {.verb = STORE_DELETE,
	                                .namespace_ = "default",
	                                .name = name,
	                                .options = {.has_grace = true, .grace = 0}};
	write_body(yard, request, "v1", "Pod", NULL);
}

/* A pod without a group arrives and gets a node. */
static bool single_pod(struct yard *yard, double *us)
{
	char name[32];
	snprintf(name, sizeof(name), "new-%d", yard->made++);
	make_group(yard, name, 1, false);
	make_pod(yard, name, name, GPUS, -1);
	commit(yard);
	*us = settle(yard);
	return is_bound(yard, name);
}

/* A pod of a running gang is lost; its owner makes another, which replaces it. */
static bool replaced_pod(struct yard *yard, double *us)
{
	char old[48], name[48], group[32];
	int number = yard->made++ % (yard->nodes / 2 / GANG);
	snprintf(group, sizeof(group), "g%d", number);
	snprintf(old, sizeof(old), "g%d-%d", number, yard->made % GANG);
	snprintf(name, sizeof(name), "again-%d", yard->made);
	remove_pod(yard, old);
	make_pod(yard, name, group, GPUS, -1);
	commit(yard);
	*us = settle(yard);
	return is_bound(yard, name);
}

/* A gang of 16 that needs one rack arrives. */
static bool gang(struct yard *yard, double *us)
{
	char group[32], name[48];
	snprintf(group, sizeof(group), "gang-%d", yard->made++);
	make_group(yard, group, GANG, true);
	bool bound = true;
	for (int i = 0; i < GANG; i++) {
		snprintf(name, sizeof(name), "%s-%d", group, i);
		make_pod(yard, name, group, GPUS, -1);
	}
	commit(yard);
	*us = settle(yard);
	for (int i = 0; i < GANG; i++) {
		snprintf(name, sizeof(name), "%s-%d", group, i);
		bound &= is_bound(yard, name);
		remove_pod(yard, name); /* room for the next one */
	}
	commit(yard);
	settle(yard);
	return bound;
}

/* A node is taken away, and a moment later it is there again. */
static bool node_turnover(struct yard *yard, double *us)
{
	char name[32];
	struct store_request request = {.verb = STORE_DELETE, .name = name};
	int number = yard->nodes - 1;
	snprintf(name, sizeof(name), "n%d", number);
	bool done = write_body(yard, request, "v1", "Node", NULL);
	commit(yard);
	*us = settle(yard);
	make_node(yard, number);
	commit(yard);
	*us += settle(yard);
	return done;
}

static uint64_t rebuilds(const struct yard *yard)
{
	struct buffer text = {0};
	scheduler_metrics(yard->scheduler, &text);
	const char *at = strstr(text.text, "\nplatoon_state_rebuilds_total ");
	uint64_t count = at ? strtoull(at + strlen("\nplatoon_state_rebuilds_total "), NULL, 10) : UINT64_MAX;
	buffer_free(&text);
	return count;
}

static struct control_row measure(struct yard *yard, const char *name, bool (*change)(struct yard *, double *))
{
	double times[CHANGES];
	struct control_row row = {.name = name, .nodes = yard->nodes, .as_intended = true};
	for (int i = 0; i < 5; i++) /* shapes and caches */
		row.as_intended &= change(yard, &times[0]);
	uint64_t before = rebuilds(yard);
	for (int i = 0; i < CHANGES; i++)
		row.as_intended &= change(yard, &times[i]);
	row.as_intended &= rebuilds(yard) == before;
	measure_sort(times, CHANGES);
	row.us = times[CHANGES / 2];
	row.worst_us = times[CHANGES - 1];
	return row;
}

/* A gang for one rack that finds no place, and for which nobody may be evicted or moved. */
static void make_waiting(struct yard *yard, const char *group, int pods, int gpus)
{
	make_group(yard, group, pods, true);
	for (int i = 0; i < pods; i++) {
		char name[48];
		snprintf(name, sizeof(name), "%s-%d", group, i);
		make_pod(yard, name, group, gpus, -1);
	}
	commit(yard);
	settle(yard);
}

static int measure_size(int nodes, struct control_row *rows)
{
	struct yard yard;
	char what[64];
	snprintf(what, sizeof(what), "changes beside %d nodes", nodes);
	bench_stage(what);
	open_yard(&yard, nodes);
	double start = settle(&yard) / 1000;
	int count = 0;
	rows[count++] = measure(&yard, "one pod arrives", single_pod);
	rows[count++] = measure(&yard, "one pod is replaced", replaced_pod);
	rows[count++] = measure(&yard, "gang of 16 arrives", gang);
	rows[count++] = measure(&yard, "a node goes and comes", node_turnover);
	/* Beside a gang that never fits: every cycle says again why. */
	make_waiting(&yard, "too-wide", 40, GPUS);
	rows[count++] = measure(&yard, "one, beside a refusal", single_pod);
	/* And beside one that would fit if the others had ended: every cycle looks for somebody to give way, too. */
	make_waiting(&yard, "too-early", GANG, NODE_GPUS);
	rows[count++] = measure(&yard, "one, beside a waiter", single_pod);
	bench_stage("");
	for (int i = 0; i < count; i++) {
		rows[i].start_ms = start;
		printf("%-22s %7d %12.1f %12.1f %12.1f%s\n", rows[i].name, nodes, rows[i].us, rows[i].worst_us, start,
		       rows[i].as_intended ? "" : " !");
	}
	fflush(stdout);
	close_yard(&yard);
	return count;
}

int control_measure(bool quick, struct control_row rows[CONTROL_ROWS])
{
	printf("\n%-22s %7s %12s %12s %12s\n", "change", "nodes", "median us", "slowest us", "start ms");
	int count = measure_size(1000, rows);
	if (!quick)
		count += measure_size(50000, rows + count);
	return count;
}

double control_us(const struct control_row *rows, int count, const char *name, int nodes)
{
	for (int i = 0; i < count; i++)
		if (rows[i].nodes == nodes && strcmp(rows[i].name, name) == 0)
			return rows[i].as_intended ? rows[i].us : 0;
	return 0;
}
