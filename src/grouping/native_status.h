/* What groups of Kubernetes itself are told: the conditions that kube-scheduler writes for those it places, from the status of
 * the PodGroup that was made of their tree, and DisruptionTarget when one goes as a whole. CompositePodGroups, about which
 * nobody else writes, get conditions of their own. */
#ifndef GROUPING_NATIVE_STATUS_H
#define GROUPING_NATIVE_STATUS_H

#include "group/group.h"
#include "loop/reconciler.h"

struct native_status_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
};

/* Step, read and destroy it as any reconciler. */
struct reconciler *native_status_create(const struct native_status_options *options);

/* Tells the groups that `result` finds at fault why nothing of them is placed. The key of the turn is the pod. */
void native_status_tell_fault(const struct reconcile *turn, const struct group_result *result, const char *message);

#endif
