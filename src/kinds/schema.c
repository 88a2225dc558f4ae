/* Owns the way from a kind to its schema: the one of its name, as a rule. */
#include "kinds/schema.h"

#include "kinds/kinds.h"

#include <string.h>

/* What the registry does not say: bodies of requests, which are no objects, and schemas that are called otherwise. */
static const struct {
	const char *group, *version, *kind, *type;
} others[] = {
	{KINDS_CORE, "v1", "Binding", "Binding"},
	{"authentication.k8s.io", "v1", "SelfSubjectReview", "SelfSubjectReview"},
	{"authorization.k8s.io", "v1", "LocalSubjectAccessReview", "LocalSubjectAccessReview"},
	{"authorization.k8s.io", "v1", "SelfSubjectAccessReview", "SelfSubjectAccessReview"},
	{"authorization.k8s.io", "v1", "SelfSubjectRulesReview", "SelfSubjectRulesReview"},
	{"authorization.k8s.io", "v1", "SubjectAccessReview", "SubjectAccessReview"},
	{KINDS_AUTOSCALING, "v1", "HorizontalPodAutoscaler", "HorizontalPodAutoscalerOne"},
	{KINDS_AUTOSCALING, "v1", "Scale", "Scale"},
	{KINDS_EVENTS, "v1", "Event", "EventEvents"},
	{KINDS_POLICY, "v1", "Eviction", "Eviction"},
	{KINDS_SCHEDULING_K8S, "v1alpha3", "CompositePodGroup", "NativeCompositeGroup"},
	{KINDS_SCHEDULING_K8S, "v1alpha3", "PodGroup", "NativeGroup"},
	{KINDS_SCHEDULING_K8S, "v1alpha3", "Workload", "NativeWorkload"},
	{KINDS_SCHEDULING_K8S, "v1beta1", "PodGroup", "NativeGroup"},
	{KINDS_SCHEDULING_K8S, "v1beta1", "Workload", "NativeWorkload"},
	{KINDS_RESOURCE, "v1", "ResourceClaim", NULL}, /* the one of that name is part of a container */
};

static bool has_version(const struct kind_row *row, const char *version)
{
	for (size_t i = 0; row->versions[i]; i++)
		if (strcmp(row->versions[i], version) == 0)
			return true;
	return false;
}

/* A custom resource that is not ours has the schema of its definition, whatever its kind is called. */
static bool is_foreign(const struct kind_row *row)
{
	return (row->flags & ROW_CUSTOM) && !(row->flags & ROW_INSTALLED);
}

const struct schema_type *kinds_schema(const char *group, const char *version, const char *kind)
{
	const struct kind_row *row;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strcmp(others[i].kind, kind) == 0 && strcmp(others[i].group, group) == 0 &&
		    strcmp(others[i].version, version) == 0)
			return others[i].type ? schema_find(others[i].type) : NULL;
	for (size_t i = 0; (row = kinds_row(i)); i++)
		if (strcmp(row->kind, kind) == 0 && strcmp(row->group, group) == 0)
			return has_version(row, version) && !is_foreign(row) ? schema_find(kind) : NULL;
	return NULL;
}
