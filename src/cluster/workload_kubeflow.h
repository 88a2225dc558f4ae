/* What differs between the training jobs of Kubeflow: one row each. */
#ifndef CLUSTER_WORKLOAD_KUBEFLOW_H
#define CLUSTER_WORKLOAD_KUBEFLOW_H

#include <stdbool.h>

struct kubeflow_kind {
	const char *specs;       /* key of the map of roles in spec */
	const char *operator_;   /* label of the controller */
	const char *restart;     /* restart policy of a role that names none */
	const char *deciders[3]; /* roles whose success is the job's, the first that exists */
	bool all_succeed;        /* without a decider all pods must, not only the first worker */
};

#endif
