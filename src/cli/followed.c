/* Owns which kinds stand above pods. */
#include "cli/followed.h"

#include "group/defaults.h"

const struct remote_follow followed_owners[] = {
	{"apps", "v1", "deployments", .optional = false},
	{"apps", "v1", "replicasets", .optional = false},
	{"apps", "v1", "statefulsets", .optional = false},
	{"batch", "v1", "jobs", .optional = false},
	{"batch", "v1", "cronjobs", .optional = false},
	{"kubeflow.org", "v1", "pytorchjobs", .optional = true},
	{"kubeflow.org", "v1", "tfjobs", .optional = true},
	{"kubeflow.org", "v1", "mpijobs", .optional = true},
	{"kubeflow.org", "v2beta1", "mpijobs", .optional = true},
	{"kubeflow.org", "v1", "jaxjobs", .optional = true},
	{"kubeflow.org", "v1", "xgboostjobs", .optional = true},
	{"leaderworkerset.x-k8s.io", "v1", "leaderworkersets", .optional = true},
	{"jobset.x-k8s.io", "v1alpha2", "jobsets", .optional = true},
	{"ray.io", "v1", "rayclusters", .optional = true},
	{"ray.io", "v1", "rayjobs", .optional = true},
	{"ray.io", "v1", "rayservices", .optional = true},
	{"run.ai", "v1alpha1", "kartas", .optional = true},
	{"grove.io", "v1alpha1", "podcliques", .optional = true},
	{"grove.io", "v1alpha1", "podcliquescalinggroups", .optional = true},
	{"grove.io", "v1alpha1", "podcliquesets", .optional = true},
	{"grove.io", "v1alpha1", "podgangsets", .optional = true},
	{"", "v1", "configmaps", .namespace_ = GROUP_DEFAULTS_NAMESPACE, .name = GROUP_DEFAULTS_NAME},
};
const size_t followed_owner_count = sizeof(followed_owners) / sizeof(followed_owners[0]);
