/* Owns the words for claims that one pod may use at a time, which the engine knows as rules between pods. */
#include "engine/explain/internal.h"

#include "base/quantity.h"

#include <string.h>

enum { MOST_REASONS = 3 };

/* The key of the label that users of the claim have; NULL when the term is about something else. */
static const char *single_claim(const struct pod_term *term)
{
	return *term->topology_key || term->selector.count != 1 ? NULL : term->selector.items[0].key;
}

bool explain_has_single_claim(const struct pod_class *pod_class)
{
	for (size_t i = 0; i < pod_class->rules.anti_affinity_count; i++)
		if (single_claim(&pod_class->rules.anti_affinity[i]))
			return true;
	return false;
}

static const char *user_of(const struct pod_class *other, const struct pod_class *own, const char *key)
{
	return strcmp(other->namespace_, own->namespace_) == 0 ? labels_get(&other->labels, key) : NULL;
}

/* The name of a pod on some node that uses the claim, NULL for none. */
static const char *find_user(const struct cluster *cluster, int view, const struct pod_class *own, const char *key)
{
	for (int n = 0; view != VIEW_EMPTY && n < cluster->node_count; n++)
		for (size_t i = 0; i < cluster->residents[n].count; i++) {
			const struct resident *resident = &cluster->residents[n].items[i];
			const char *user = user_of(&cluster->pod_classes.items[resident->pod_class], own, key);
			if (user && resident->count + (view == VIEW_FREE ? resident->releasing : 0) > 0)
				return user;
		}
	return NULL;
}

/* The name of a pod of the gang before this one that waits and uses the claim too. */
static const char *find_rival(const struct cluster *cluster, const struct gang *gang, size_t number,
                              const struct pod_class *own, const char *key)
{
	for (size_t p = 0; p < number; p++) {
		const char *user = user_of(&cluster->pod_classes.items[gang->pods[p].pod_class], own, key);
		if (user && gang->pods[p].state == MEMBER_WAITING)
			return user;
	}
	return NULL;
}

static void add_reason(struct reasons *out, struct arena *arena, const char *message)
{
	reason_add(out, arena, (struct reason){.code = REASON_CLAIM_IN_USE, .message = message});
}

void explain_claims(const struct cluster *cluster, const struct gang *gang, int view, struct arena *arena,
                    struct reasons *out)
{
	size_t most = out->count + MOST_REASONS;
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct pod_class *own = &cluster->pod_classes.items[gang->pods[p].pod_class];
		for (size_t i = 0; i < own->rules.anti_affinity_count && out->count < most; i++) {
			const char *key = single_claim(&own->rules.anti_affinity[i]);
			if (!key || gang->pods[p].state != MEMBER_WAITING)
				continue;
			const char *claim = key + strlen(SINGLE_CLAIM_LABEL), *name = gang->pods[p].name;
			const char *user = find_user(cluster, view, own, key);
			const char *rival = find_rival(cluster, gang, p, own, key);
			if (user)
				add_reason(out, arena,
				           arena_printf(arena,
				                        "pod %s waits for pod %s: both use persistentvolumeclaim "
				                        "\"%s\", which is ReadWriteOncePod",
				                        name, user, claim));
			else if (rival)
				add_reason(out, arena,
				           arena_printf(arena,
				                        "pods %s and %s of one gang never run together: both use "
				                        "persistentvolumeclaim \"%s\", which is ReadWriteOncePod",
				                        rival, name, claim));
		}
	}
}

/* ---- sizes ---- */

/* Where the size begins in the name of what claims are counted by, NULL when it is something else. */
static const char *find_size(const char *name)
{
	const char *at = strncmp(name, "volumes/", 8) == 0 ? strstr(name, ">=") : NULL;
	return at ? at + 2 : NULL;
}

/* Of columns of devices the one of fewer selections, then the longer name, which says more; which was there first is no
 * matter. */
static bool is_closer_device(const char *name, const char *other)
{
	bool joint = strstr(name, " + devices/"), other_joint = strstr(other, " + devices/");
	size_t length = strlen(name), other_length = strlen(other);
	if (joint != other_joint)
		return other_joint;
	return length != other_length ? length > other_length : strcmp(name, other) < 0;
}

bool explain_is_closer(const struct cluster *cluster, int resource, int other)
{
	const char *name = cluster->resources.items[resource].name,
		   *name_of_other = cluster->resources.items[other].name;
	const char *size = find_size(name), *size_of_other = find_size(name_of_other);
	int64_t bytes = 0, bytes_of_other = 0;
	if (strncmp(name, "devices/", 8) == 0 && strncmp(name_of_other, "devices/", 8) == 0)
		return is_closer_device(name, name_of_other);
	if (!size || !size_of_other)
		return false;
	ptrdiff_t order = (size - name) - (size_of_other - name_of_other);
	order = order ? order : memcmp(name, name_of_other, (size_t)(size - name));
	if (order)
		return order < 0;
	quantity_parse(size, strlen(size), QUANTITY_UNITS, &bytes, NULL);
	quantity_parse(size_of_other, strlen(size_of_other), QUANTITY_UNITS, &bytes_of_other, NULL);
	return bytes > bytes_of_other;
}
