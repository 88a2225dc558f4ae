/* Why: the explanation of one PodGroup, pod or queue, taken from a plan. The texts are those that the scheduler writes
 * into conditions; nothing is decided or found out here. */
#ifndef VIEW_WHY_H
#define VIEW_WHY_H

#include "schedule/plan.h"

enum why_kind { WHY_POD_GROUP, WHY_POD, WHY_QUEUE, WHY_WORKLOAD };

struct why_subject {
	enum why_kind kind;
	const char *namespace_, *name; /* namespace "" for queues */
	const char *workload;          /* its kind as it was written; NULL unless it is one */
};

/* Reads "podgroup/train", "pod/train-0", "queue/research" with the short names of kubectl; any other kind is a workload
 * that PodGroups may belong to. The text must outlive the subject. -1 and *error. */
int why_parse(const char *text, const char *namespace_, struct arena *arena, struct why_subject *subject,
              struct error *error);

struct why {
	struct why_subject subject;
	const struct plan *plan;
	int group, pod, queue; /* index in the snapshot or the cycle (of a queue: its first row), -1: not about one */
	const int *groups;     /* of a workload: all of its PodGroups, those that wait first */
	size_t group_count;
	const char *state;   /* one word */
	const char *summary; /* one sentence */
	bool settled;        /* nothing of it waits */
	const char *message; /* all reasons, as the condition has them; "" for none */
	/* Of the group's reasons, NULL where there is none: the domain that came closest, the resource that is missing. */
	const struct plan_reason *closest, *missing;
};

/* -1 and *error when there is no such object; names that are near are told. `owners`: more objects that say who belongs to
 * whom, such as the workloads of a live cluster; NULL: none. */
int why_ask(const struct plan *plan, const struct manifests *objects, const struct manifests *owners,
            const struct why_subject *subject, struct arena *arena, struct why *out, struct error *error);
/* Whether the group, by its number in the cycle, is in the queue that was asked about. */
bool why_concerns_queue(const struct why *why, size_t group);
/* The same as a document, with every part of the group and where its pods are. */
struct node *why_write(const struct why *why, struct build *build);

#endif
