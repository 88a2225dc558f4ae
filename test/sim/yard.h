/* What the tests of workload controllers share: a store in memory with a virtual clock, the controllers, and by hand
 * what kubelets would do. Each story is told several times: undisturbed, with a restart of the controllers before each
 * step, and with writes that fail or whose answer is lost. The end is the same. */
#ifndef TEST_SIM_YARD_H
#define TEST_SIM_YARD_H

#include "../store/kit.h"
#include "cluster/workload.h"

enum yard_mode { YARD_CALM, YARD_RESTARTS, YARD_FAULTS, YARD_MODES };

struct yard {
	struct kit kit;
	struct workloads *workloads;
	enum yard_mode mode;
	unsigned writes;
};

void yard_open(struct yard *yard, enum yard_mode mode);
void yard_close(struct yard *yard);

/* Creates (text as for kit_json) and lets the controllers work until nothing changes any more. */
void yard_make(struct yard *yard, const char *resource, const char *body);
void yard_change(struct yard *yard, const char *resource, const char *name, const char *patch);
void yard_drop(struct yard *yard, const char *resource, const char *name);
void yard_settle(struct yard *yard);
void yard_pass(struct yard *yard, int seconds);

/* Pods, by hand. `labels` is a selector, NULL for all. Each settles. */
void yard_run(struct yard *yard, const char *labels); /* those that wait run and are ready */
void yard_end(struct yard *yard, const char *labels, bool succeed, int exit_code);
void yard_gone(struct yard *yard); /* those that are being deleted are gone */

/* Names of the pods, without the last word when `stems`. */
const char *yard_pods(struct yard *yard, const char *labels);
const char *yard_stems(struct yard *yard, const char *labels);
int yard_count(struct yard *yard, const char *labels);
/* The value at a dotted path of an object, as kit_at. */
const char *yard_at(struct yard *yard, const char *resource, const char *name, const char *path);
const char *yard_condition(struct yard *yard, const char *resource, const char *name, const char *type);
/* The first pod of a selection. */
const char *yard_pod_at(struct yard *yard, const char *labels, const char *path);

#define POD_TEMPLATE "{'metadata':{'labels':{'app':'a'}},'spec':{'nodeName':'n1','containers':[{'name':'c'}]}}"

/* Runs `story` in every mode. */
void yard_tell(void (*story)(struct yard *yard));
#define STORY(name)                                                                                                    \
	static void name##_story(struct yard *yard);                                                                   \
	static void name(void **state)                                                                                 \
	{                                                                                                              \
		(void)state;                                                                                           \
		yard_tell(name##_story);                                                                               \
	}                                                                                                              \
	static void name##_story(struct yard *yard)

#endif
