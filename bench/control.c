/* Owns the measurement of the control loop: a store with nodes and running gangs, and one change after the other.
 *
 * The time of a change is that of one turn: reading it, deciding, writing the decision, commit. */
#include "control.h"
#include "stage.h"
#include "times.h"
#include "yard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GANG = 16, CHANGES = 101, GPUS = 4 };

/* Every second node has a pod of a gang of 16. */
static void open_yard(struct yard *yard, int nodes)
{
	yard_open(yard, nodes);
	for (int g = 0; g < nodes / 2 / GANG; g++) {
		char group[32], pod[48];
		snprintf(group, sizeof(group), "g%d", g);
		yard_make_group(yard, group, GANG, false);
		for (int i = 0; i < GANG; i++) {
			snprintf(pod, sizeof(pod), "g%d-%d", g, i);
			yard_make_pod(yard, pod, group, GPUS, 2 * (g * GANG + i));
		}
	}
	yard_commit(yard);
	yard_start(yard);
}

/* A pod without a group arrives and gets a node. */
static bool single_pod(struct yard *yard, double *us)
{
	char name[32];
	snprintf(name, sizeof(name), "new-%d", yard->made++);
	yard_make_group(yard, name, 1, false);
	yard_make_pod(yard, name, name, GPUS, -1);
	yard_commit(yard);
	*us = yard_settle(yard);
	return yard_is_bound(yard, name);
}

/* A pod of a running gang is lost; its owner makes another, which replaces it. */
static bool replaced_pod(struct yard *yard, double *us)
{
	char old[48], name[48], group[32];
	int number = yard->made++ % (yard->nodes / 2 / GANG);
	snprintf(group, sizeof(group), "g%d", number);
	snprintf(old, sizeof(old), "g%d-%d", number, yard->made % GANG);
	snprintf(name, sizeof(name), "again-%d", yard->made);
	yard_remove_pod(yard, old);
	yard_make_pod(yard, name, group, GPUS, -1);
	yard_commit(yard);
	*us = yard_settle(yard);
	return yard_is_bound(yard, name);
}

/* A gang of 16 that needs one rack arrives. */
static bool gang(struct yard *yard, double *us)
{
	char group[32], name[48];
	snprintf(group, sizeof(group), "gang-%d", yard->made++);
	yard_make_group(yard, group, GANG, true);
	bool bound = true;
	for (int i = 0; i < GANG; i++) {
		snprintf(name, sizeof(name), "%s-%d", group, i);
		yard_make_pod(yard, name, group, GPUS, -1);
	}
	yard_commit(yard);
	*us = yard_settle(yard);
	for (int i = 0; i < GANG; i++) {
		snprintf(name, sizeof(name), "%s-%d", group, i);
		bound &= yard_is_bound(yard, name);
		yard_remove_pod(yard, name); /* room for the next one */
	}
	yard_commit(yard);
	yard_settle(yard);
	return bound;
}

/* A node is taken away, and a moment later it is there again. */
static bool node_turnover(struct yard *yard, double *us)
{
	char name[32];
	struct store_request request = {.verb = STORE_DELETE, .name = name};
	int number = yard->nodes - 1;
	snprintf(name, sizeof(name), "n%d", number);
	bool done = yard_write(yard, request, "v1", "Node", NULL);
	yard_commit(yard);
	*us = yard_settle(yard);
	yard_make_node(yard, number);
	yard_commit(yard);
	*us += yard_settle(yard);
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
	yard_make_group(yard, group, pods, true);
	for (int i = 0; i < pods; i++) {
		char name[48];
		snprintf(name, sizeof(name), "%s-%d", group, i);
		yard_make_pod(yard, name, group, gpus, -1);
	}
	yard_commit(yard);
	yard_settle(yard);
}

static int measure_size(int nodes, struct control_row *rows)
{
	struct yard yard;
	char what[64];
	snprintf(what, sizeof(what), "changes beside %d nodes", nodes);
	bench_stage(what);
	open_yard(&yard, nodes);
	double start = yard_settle(&yard) / 1000;
	int count = 0;
	rows[count++] = measure(&yard, "one pod arrives", single_pod);
	rows[count++] = measure(&yard, "one pod is replaced", replaced_pod);
	rows[count++] = measure(&yard, "gang of 16 arrives", gang);
	rows[count++] = measure(&yard, "a node goes and comes", node_turnover);
	/* Beside a gang that never fits: every cycle says again why. */
	make_waiting(&yard, "too-wide", 40, GPUS);
	rows[count++] = measure(&yard, "one, beside a refusal", single_pod);
	/* And beside one that would fit if the others had ended: every cycle looks for somebody to give way, too. */
	make_waiting(&yard, "too-early", GANG, YARD_GPUS);
	rows[count++] = measure(&yard, "one, beside a waiter", single_pod);
	bench_stage("");
	for (int i = 0; i < count; i++) {
		rows[i].start_ms = start;
		printf("%-22s %7d %12.1f %12.1f %12.1f%s\n", rows[i].name, nodes, rows[i].us, rows[i].worst_us, start,
		       rows[i].as_intended ? "" : " !");
	}
	fflush(stdout);
	yard_close(&yard);
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
