/* The families of workloads: who turns the owners of a pod into a PodGroup. A row names one of them as FAMILY_<first>,
 * and the room `group` has the function family_<second> for it. */
#ifndef KINDS_FAMILIES_H
#define KINDS_FAMILIES_H

#define KIND_FAMILIES(X)                                                                                               \
	X(AML, aml)                                                                                                    \
	X(CRON_JOB, cronjob)                                                                                           \
	X(DEFAULT, default)                                                                                            \
	X(DEPLOYMENT, deployment)                                                                                      \
	X(GROVE, grove)                                                                                                \
	X(JOB, job)                                                                                                    \
	X(JOB_SET, jobset)                                                                                             \
	X(KNATIVE, knative)                                                                                            \
	X(KUBEFLOW, kubeflow)                                                                                          \
	X(LEADER_WORKER_SET, leader_worker_set)                                                                        \
	X(NOTEBOOK, notebook)                                                                                          \
	X(POD, pod)                                                                                                    \
	X(RAY, ray)                                                                                                    \
	X(REPLICAS, replicas)                                                                                          \
	X(RUNAI_JOB, runai_job)                                                                                        \
	X(SPOT_REQUEST, spot_request)

#define KIND_FAMILY_NUMBER(id, name) FAMILY_##id,

enum kind_family {
	FAMILY_NONE,    /* no rule of its own */
	FAMILY_WRAPPER, /* lends labels and annotations; the next owner below it decides */
	KIND_FAMILIES(KIND_FAMILY_NUMBER) FAMILIES,
};

#endif
