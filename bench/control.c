/* Owns the measurement of the control loop: a store with nodes and running gangs, and one change after the other.
 *
 * The time of a change is that of one turn: reading it, deciding, writing the decision, commit. */
#include "control.h"
#include "stage.h"
#include "times.h"
#include "control_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GANG = 16, CHANGES = 101, GPUS = 4 };

/* Every second node has a pod of a gang of 16. */
static void open_loop(struct control_loop *loop, int nodes)
{
	control_loop_open(loop, nodes);
	for (int g = 0; g < nodes / 2 / GANG; g++) {
		char group[32], pod[48];
		snprintf(group, sizeof(group), "g%d", g);
		control_loop_make_group(loop, group, GANG, false);
		for (int i = 0; i < GANG; i++) {
			snprintf(pod, sizeof(pod), "g%d-%d", g, i);
			control_loop_make_pod(loop, pod, group, GPUS, 2 * (g * GANG + i));
		}
	}
	control_loop_commit(loop);
	control_loop_start(loop);
}

/* A pod without a group arrives and gets a node. */
static bool single_pod(struct control_loop *loop, double *us)
{
	char name[32];
	snprintf(name, sizeof(name), "new-%d", loop->made++);
	control_loop_make_group(loop, name, 1, false);
	control_loop_make_pod(loop, name, name, GPUS, -1);
	control_loop_commit(loop);
	*us = control_loop_settle(loop);
	return control_loop_is_bound(loop, name);
}

/* A pod of a running gang is lost; its owner makes another, which replaces it. */
static bool replaced_pod(struct control_loop *loop, double *us)
{
	char old[48], name[48], group[32];
	int number = loop->made++ % (loop->nodes / 2 / GANG);
	snprintf(group, sizeof(group), "g%d", number);
	snprintf(old, sizeof(old), "g%d-%d", number, loop->made % GANG);
	snprintf(name, sizeof(name), "again-%d", loop->made);
	control_loop_remove_pod(loop, old);
	control_loop_make_pod(loop, name, group, GPUS, -1);
	control_loop_commit(loop);
	*us = control_loop_settle(loop);
	return control_loop_is_bound(loop, name);
}

/* A gang of 16 that needs one rack arrives. */
static bool gang(struct control_loop *loop, double *us)
{
	char group[32], name[48];
	snprintf(group, sizeof(group), "gang-%d", loop->made++);
	control_loop_make_group(loop, group, GANG, true);
	bool bound = true;
	for (int i = 0; i < GANG; i++) {
		snprintf(name, sizeof(name), "%s-%d", group, i);
		control_loop_make_pod(loop, name, group, GPUS, -1);
	}
	control_loop_commit(loop);
	*us = control_loop_settle(loop);
	for (int i = 0; i < GANG; i++) {
		snprintf(name, sizeof(name), "%s-%d", group, i);
		bound &= control_loop_is_bound(loop, name);
		control_loop_remove_pod(loop, name); /* room for the next one */
	}
	control_loop_commit(loop);
	control_loop_settle(loop);
	return bound;
}

/* A node is taken away, and a moment later it is there again. */
static bool node_turnover(struct control_loop *loop, double *us)
{
	char name[32];
	struct store_request request = {.verb = STORE_DELETE, .name = name};
	int number = loop->nodes - 1;
	snprintf(name, sizeof(name), "n%d", number);
	bool done = control_loop_write(loop, request, "v1", "Node", NULL);
	control_loop_commit(loop);
	*us = control_loop_settle(loop);
	control_loop_make_node(loop, number);
	control_loop_commit(loop);
	*us += control_loop_settle(loop);
	return done;
}

static uint64_t rebuilds(const struct control_loop *loop)
{
	struct buffer text = {0};
	scheduler_metrics(loop->scheduler, &text);
	const char *at = strstr(text.text, "\nplatoon_state_rebuilds_total ");
	uint64_t count = at ? strtoull(at + strlen("\nplatoon_state_rebuilds_total "), NULL, 10) : UINT64_MAX;
	buffer_free(&text);
	return count;
}

static struct control_row measure(struct control_loop *loop, const char *name,
                                  bool (*change)(struct control_loop *, double *))
{
	double times[CHANGES];
	struct control_row row = {.name = name, .nodes = loop->nodes, .as_intended = true};
	for (int i = 0; i < 5; i++) /* shapes and caches */
		row.as_intended &= change(loop, &times[0]);
	uint64_t before = rebuilds(loop);
	for (int i = 0; i < CHANGES; i++)
		row.as_intended &= change(loop, &times[i]);
	row.as_intended &= rebuilds(loop) == before;
	measure_sort(times, CHANGES);
	row.us = times[CHANGES / 2];
	row.worst_us = times[CHANGES - 1];
	return row;
}

/* A gang for one rack that finds no place, and for which nobody may be evicted or moved. */
static void make_waiting(struct control_loop *loop, const char *group, int pods, int gpus)
{
	control_loop_make_group(loop, group, pods, true);
	for (int i = 0; i < pods; i++) {
		char name[48];
		snprintf(name, sizeof(name), "%s-%d", group, i);
		control_loop_make_pod(loop, name, group, gpus, -1);
	}
	control_loop_commit(loop);
	control_loop_settle(loop);
}

static int measure_size(int nodes, struct control_row *rows)
{
	struct control_loop loop;
	char what[64];
	snprintf(what, sizeof(what), "changes beside %d nodes", nodes);
	bench_stage(what);
	open_loop(&loop, nodes);
	double start = control_loop_settle(&loop) / 1000;
	int count = 0;
	rows[count++] = measure(&loop, "one pod arrives", single_pod);
	rows[count++] = measure(&loop, "one pod is replaced", replaced_pod);
	rows[count++] = measure(&loop, "gang of 16 arrives", gang);
	rows[count++] = measure(&loop, "a node goes and comes", node_turnover);
	/* Beside a gang that never fits: every cycle says again why. */
	make_waiting(&loop, "too-wide", 40, GPUS);
	rows[count++] = measure(&loop, "one, beside a refusal", single_pod);
	/* And beside one that would fit if the others had ended: every cycle looks for somebody to give way, too. */
	make_waiting(&loop, "too-early", GANG, LOOP_GPUS);
	rows[count++] = measure(&loop, "one, beside a waiter", single_pod);
	bench_stage("");
	for (int i = 0; i < count; i++) {
		rows[i].start_ms = start;
		printf("%-22s %7d %12.1f %12.1f %12.1f%s\n", rows[i].name, nodes, rows[i].us, rows[i].worst_us, start,
		       rows[i].as_intended ? "" : " !");
	}
	fflush(stdout);
	control_loop_close(&loop);
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
