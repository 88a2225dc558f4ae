/* Warnings: what the user is told about a grouping, each with a stable word, a place and a way out. */
#include "group/internal.h"

#include "base/grow.h"

#include <stdarg.h>
#include <string.h>

/* Each becomes an event; a workload with more faults than this has one cause. */
#define MOST_WARNINGS 64

static const char *const names[GROUP_ABOUT_COUNT] = {
	[GROUP_ABOUT_WRONG_FIELD_TYPE] = "wrong-field-type",
	[GROUP_ABOUT_OWNER_NOT_FOUND] = "owner-not-found",
	[GROUP_ABOUT_OWNER_CHAIN] = "owner-chain",
	[GROUP_ABOUT_OBJECT_NOT_FOUND] = "object-not-found",
	[GROUP_ABOUT_POD_LABEL_MISSING] = "pod-label-missing",
	[GROUP_ABOUT_UNKNOWN_SUBGROUP] = "unknown-subgroup",
	[GROUP_ABOUT_ROLE_MISSING] = "role-missing",
	[GROUP_ABOUT_REPLICA_SPECS_MISSING] = "replica-specs-missing",
	[GROUP_ABOUT_REPLICA_COUNT_ZERO] = "replica-count-zero",
	[GROUP_ABOUT_REPLICAS_BELOW_MINIMUM] = "replicas-below-minimum",
	[GROUP_ABOUT_NO_REPLICATED_JOBS] = "no-replicated-jobs",
	[GROUP_ABOUT_NODE_COUNT_MISSING] = "node-count-missing",
	[GROUP_ABOUT_SIZE_MISSING] = "size-missing",
	[GROUP_ABOUT_UNKNOWN_STARTUP_POLICY] = "unknown-startup-policy",
	[GROUP_ABOUT_MIN_MEMBER_NOT_A_NUMBER] = "min-member-not-a-number",
	[GROUP_ABOUT_MIN_MEMBER_NOT_POSITIVE] = "min-member-not-positive",
	[GROUP_ABOUT_MIN_REPLICAS_NOT_POSITIVE] = "min-replicas-not-positive",
	[GROUP_ABOUT_MIN_SCALE] = "min-scale-not-a-number",
	[GROUP_ABOUT_TOO_LARGE] = "too-large",
	[GROUP_ABOUT_TOPOLOGY_NAME_MISSING] = "topology-name-missing",
	[GROUP_ABOUT_SEGMENT_SIZE] = "segment-size-invalid",
	[GROUP_ABOUT_SEGMENT_TOPOLOGY_MISSING] = "segment-topology-missing",
	[GROUP_ABOUT_SEGMENT_LEVEL_MISSING] = "segment-level-missing",
	[GROUP_ABOUT_SEGMENTS_UNSUPPORTED] = "segments-unsupported",
	[GROUP_ABOUT_INDEX_LABEL_MISSING] = "index-label-missing",
	[GROUP_ABOUT_INDEX_NOT_A_NUMBER] = "index-not-a-number",
	[GROUP_ABOUT_INDEX_BEYOND] = "index-beyond-last",
	[GROUP_ABOUT_PRIORITY_CLASS_UNKNOWN] = "priority-class-unknown",
	[GROUP_ABOUT_BAD_PREEMPTIBILITY] = "preemptibility-invalid",
	[GROUP_ABOUT_BAD_DURATION] = "duration-invalid",
	[GROUP_ABOUT_MEMBER_MISSING] = "member-missing",
	[GROUP_ABOUT_SUSPENDED] = "suspended",
	[GROUP_ABOUT_KARTA] = "karta-invalid",
	[GROUP_ABOUT_KARTA_QUERY] = "karta-query",
	[GROUP_ABOUT_INVALID_TREE] = "invalid-tree",
	[GROUP_ABOUT_UNSUPPORTED] = "unsupported",
	[GROUP_ABOUT_SECOND_GROUP] = "second-group",
	[GROUP_ABOUT_PRIORITY_DIFFERS] = "priority-differs",
	[GROUP_ABOUT_NO_COUNTERPART] = "no-counterpart",
};

const char *group_about_name(enum group_about about)
{
	return (unsigned)about < GROUP_ABOUT_COUNT ? names[about] : "unknown";
}

static void add(struct grouping *grouping, const char *kind, const char *name, enum group_about about, const char *path,
                const char *fix, const char *message)
{
	struct group_result *out = grouping->out;
	if (out->warning_count == MOST_WARNINGS)
		return;
	if (out->warning_count == grouping->warning_capacity)
		out->warnings = grow_array(grouping->arena, out->warnings, out->warning_count,
		                           &grouping->warning_capacity, sizeof(*out->warnings));
	out->warnings[out->warning_count++] = (struct group_warning){
		.about = about,
		.object = arena_printf(grouping->arena, "%s %s/%s", kind, grouping->namespace_, name),
		.on_pod = strcmp(kind, "Pod") == 0,
		.path = path,
		.message = message,
		.fix = fix,
	};
}

void group_warn(struct grouping *grouping, enum group_about about, const char *path, const char *fix,
                const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *message = arena_vprintf(grouping->arena, format, args);
	va_end(args);
	add(grouping, grouping->subject.id.kind, grouping->subject.id.name, about, path, fix, message);
}

void group_warn_pod(struct grouping *grouping, enum group_about about, const char *path, const char *fix,
                    const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *message = arena_vprintf(grouping->arena, format, args);
	va_end(args);
	add(grouping, "Pod", grouping->pod_name, about, path, fix, message);
}

void group_warn_object(struct grouping *grouping, const struct group_owner *object, enum group_about about,
                       const char *path, const char *fix, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *message = arena_vprintf(grouping->arena, format, args);
	va_end(args);
	add(grouping, object->kind, object->name, about, path, fix, message);
}
