/* Owns the texts of names and label keys. */
#include "rollout/naming.h"

#include "base/hash.h"
#include "rollout/segments.h"

#include <stdio.h>
#include <string.h>

const char *naming_coordination(size_t index, struct arena *arena)
{
	return arena_printf(arena, "coordination-%zu", index);
}

static bool is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_label_value(const char *text, size_t length)
{
	if (length > NAMING_VALUE_MAX || !is_alphanumeric(text[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!is_alphanumeric(text[i]) && !strchr("-_.", text[i]))
			return false;
	return is_alphanumeric(text[length - 1]);
}

/* As much of the front as leaves room for the tail, with the characters a label value may have. */
static const char *join_cut(const char *front, const char *tail, struct arena *arena)
{
	char *text = arena_alloc(arena, NAMING_VALUE_MAX + 1);
	size_t used = 0, tail_length = strlen(tail);
	for (size_t i = 0; front[i] && used + tail_length < NAMING_VALUE_MAX; i++) {
		bool is_kept = is_alphanumeric(front[i]) || (used > 0 && strchr("-_.", front[i]));
		if (is_kept)
			text[used++] = front[i];
		else if (used > 0)
			text[used++] = '-';
	}
	while (used > 0 && !is_alphanumeric(text[used - 1]))
		used--;
	/* Nothing usable in the front: the tail stands alone, without its dash. */
	snprintf(text + used, NAMING_VALUE_MAX + 1 - used, "%s", used > 0 ? tail : tail + 1);
	return text;
}

static unsigned fold(uint64_t hash)
{
	return (unsigned)(hash ^ (hash >> 32));
}

const char *naming_value(const char *text, struct arena *arena)
{
	size_t length = strlen(text);
	if (length == 0 || is_label_value(text, length))
		return arena_strdup(arena, text);
	return join_cut(text, arena_printf(arena, "-%08x", fold(XXH3_64bits(text, length))), arena);
}

const char *naming_subgroup(const char *group, const char *coordination, int64_t number, struct arena *arena)
{
	const char *plain = arena_printf(arena, "%s-%s-%lld", group, coordination, (long long)number);
	if (is_label_value(plain, strlen(plain)))
		return plain;
	/* Each name is hashed on its own, so that ("a-b", "c") and ("a", "b-c") differ. */
	uint64_t hash = XXH3_64bits(group, strlen(group)) ^ (XXH3_64bits(coordination, strlen(coordination)) * 31);
	const char *tail = arena_printf(arena, "-%08x-%lld", fold(hash), (long long)number);
	return join_cut(arena_printf(arena, "%s-%s", group, coordination), tail, arena);
}

static bool is_object_name(const char *text)
{
	for (; *text; text++)
		if (!is_alphanumeric(*text) ? *text != '-' : *text >= 'A' && *text <= 'Z')
			return false;
	return true;
}

const char *naming_object(const char *group, const char *coordination, int64_t number, struct arena *arena)
{
	if (is_object_name(coordination))
		return naming_subgroup(group, coordination, number, arena);
	char *plain = arena_strdup(arena, coordination);
	for (char *at = plain; *at; at++)
		*at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : is_alphanumeric(*at) ? *at : '-');
	/* Names that only differ in what was changed must not meet. */
	const char *hash = arena_printf(arena, "%08x", fold(XXH3_64bits(coordination, strlen(coordination))));
	return naming_subgroup(group, arena_printf(arena, "%s-%s", plain, hash), number, arena);
}

static const char *const keys[][NAMING_LABELS] = {
	[NAMING_V1ALPHA1] =
		{
			[NAMING_GROUP] = "rolebasedgroup.workloads.x-k8s.io/name",
			[NAMING_ROLE] = "rolebasedgroup.workloads.x-k8s.io/role",
			[NAMING_SUBGROUP_SIZE] = "rolebasedgroup.workloads.x-k8s.io/role-subgroup-size",
			[NAMING_COORDINATION] = "rolebasedgroup.workloads.x-k8s.io/topology-coordination-name",
			[NAMING_INDEX] = "rolebasedgroup.workloads.x-k8s.io/role-instance-index",
			[NAMING_SUBGROUP] = "rolebasedgroup.workloads.x-k8s.io/deploy-topology-coordination-name",
		},
	[NAMING_V1ALPHA2] =
		{
			[NAMING_GROUP] = "rbg.workloads.x-k8s.io/group-name",
			[NAMING_ROLE] = "rbg.workloads.x-k8s.io/role-name",
			[NAMING_SUBGROUP_SIZE] = "rbg.workloads.x-k8s.io/role-subgroup-size",
			[NAMING_COORDINATION] = "rbg.workloads.x-k8s.io/topology-coordination-name",
			[NAMING_INDEX] = "rbg.workloads.x-k8s.io/role-instance-index",
			[NAMING_SUBGROUP] = "rbg.workloads.x-k8s.io/deploy-topology-coordination-name",
		},
};

const char *naming_key(enum naming_family family, enum naming_label label)
{
	return keys[family][label];
}

enum naming_label naming_label_of(const char *key)
{
	for (int family = NAMING_V1ALPHA1; family <= NAMING_V1ALPHA2; family++)
		for (int label = 0; label < NAMING_LABELS; label++)
			if (strcmp(keys[family][label], key) == 0)
				return (enum naming_label)label;
	return NAMING_LABELS;
}

size_t naming_labels(const struct naming_instance *instance, enum naming_family family, struct arena *arena,
                     struct label *labels)
{
	const char *values[NAMING_LABELS] = {
		[NAMING_GROUP] = naming_value(instance->group, arena),
		[NAMING_ROLE] = naming_value(instance->role, arena),
		[NAMING_SUBGROUP_SIZE] = arena_printf(arena, "%lld", (long long)instance->subgroup_size),
		[NAMING_COORDINATION] = naming_value(instance->coordination, arena),
	};
	size_t count = NAMING_INDEX;
	if (instance->index >= 0) {
		int64_t number = segment_of(instance->index, instance->subgroup_size);
		values[NAMING_INDEX] = arena_printf(arena, "%lld", (long long)instance->index);
		values[NAMING_SUBGROUP] = naming_subgroup(instance->group, instance->coordination, number, arena);
		count = NAMING_LABELS;
	}
	for (size_t i = 0; i < count; i++)
		labels[i] = (struct label){keys[family][i], values[i]};
	return count;
}
