/* Volumes: decode PersistentVolumes and claims, and turn a pod's claims into node terms. */
#include "admit/volume.h"

#include "admit/decode.h"
#include "admit/rules.h"

#include <stdlib.h>
#include <string.h>

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

struct claim_entry {
	const struct claim_spec *claim;
};

struct volume_entry {
	const struct volume_spec *volume;
};

struct volume_index {
	struct claim_entry *claims;   /* sorted by namespace, name, then place in the input */
	struct volume_entry *volumes; /* sorted by name, then place in the input */
	size_t claim_count, volume_count;
};

int volume_decode(const struct val *object, struct arena *arena, struct volume_spec *out, struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object);
	*out = (struct volume_spec){.name = decode_metadata(&decode, object, false).name};
	const struct decode_path *path = PATH_KEY(spec_path, "nodeAffinity");
	const struct val *affinity = decode_map(&decode, spec_path, spec, "nodeAffinity");
	const struct val *required = decode_map(&decode, path, affinity, "required");
	if (required) {
		out->has_terms = true;
		out->terms = rules_node_terms(&decode, PATH_KEY(path, "required"), required, &out->term_count);
	}
	return problems->errors > errors ? -1 : 0;
}

int claim_decode(const struct val *object, struct arena *arena, struct claim_spec *out, struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object);
	struct metadata meta = decode_metadata(&decode, object, true);
	*out = (struct claim_spec){.namespace_ = meta.namespace_,
	                           .name = meta.name,
	                           .volume = decode_string(&decode, spec_path, spec, "volumeName")};
	return problems->errors > errors ? -1 : 0;
}

static int order_claims(const struct claim_spec *a, const struct claim_spec *b)
{
	int order = strcmp(a->namespace_, b->namespace_);
	return order ? order : strcmp(a->name, b->name);
}

static int compare_claims(const void *a, const void *b)
{
	const struct claim_spec *left = ((const struct claim_entry *)a)->claim;
	const struct claim_spec *right = ((const struct claim_entry *)b)->claim;
	int order = order_claims(left, right);
	return order ? order : (left > right) - (left < right);
}

static int compare_volumes(const void *a, const void *b)
{
	const struct volume_spec *left = ((const struct volume_entry *)a)->volume;
	const struct volume_spec *right = ((const struct volume_entry *)b)->volume;
	int order = strcmp(left->name, right->name);
	return order ? order : (left > right) - (left < right);
}

struct volume_index *volume_index_create(struct arena *arena, const struct claim_spec *claims, size_t claim_count,
                                         const struct volume_spec *volumes, size_t volume_count)
{
	struct volume_index *index = arena_new(arena, struct volume_index);
	index->claims = arena_array(arena, struct claim_entry, claim_count);
	index->volumes = arena_array(arena, struct volume_entry, volume_count);
	index->claim_count = claim_count;
	index->volume_count = volume_count;
	for (size_t i = 0; i < claim_count; i++)
		index->claims[i].claim = &claims[i];
	for (size_t i = 0; i < volume_count; i++)
		index->volumes[i].volume = &volumes[i];
	qsort(index->claims, claim_count, sizeof(*index->claims), compare_claims);
	qsort(index->volumes, volume_count, sizeof(*index->volumes), compare_volumes);
	return index;
}

static const struct claim_spec *find_claim(const struct volume_index *index, const char *namespace_, const char *name)
{
	const struct claim_spec wanted = {.namespace_ = namespace_, .name = name};
	size_t low = 0, high = index->claim_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (order_claims(index->claims[middle].claim, &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < index->claim_count && order_claims(index->claims[low].claim, &wanted) == 0;
	return found ? index->claims[low].claim : NULL;
}

static const struct volume_spec *find_volume(const struct volume_index *index, const char *name)
{
	size_t low = 0, high = index->volume_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(index->volumes[middle].volume->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < index->volume_count && strcmp(index->volumes[low].volume->name, name) == 0;
	return found ? index->volumes[low].volume : NULL;
}

/* NULL when the claim restricts nothing. */
static const struct volume_spec *volume_of(const struct pod_spec *pod, const char *name,
                                           const struct volume_index *index, struct problems *problems)
{
	const struct claim_spec *claim = find_claim(index, pod->namespace_, name);
	if (!claim) {
		problem_add(problems, SEVERITY_WARNING, "spec.volumes", "create the claim",
		            "PersistentVolumeClaim %s does not exist; it restricts nothing",
		            decode_show(problems->arena, name));
		return NULL;
	}
	if (!claim->volume)
		return NULL;
	const struct volume_spec *volume = find_volume(index, claim->volume);
	if (!volume)
		problem_add(problems, SEVERITY_WARNING, "spec.volumes", "create the PersistentVolume",
		            "PersistentVolume %s of claim %s does not exist; it restricts nothing",
		            decode_show(problems->arena, claim->volume), decode_show(problems->arena, name));
	return volume && volume->has_terms ? volume : NULL;
}

struct pod_rules pod_rules_with_volumes(const struct pod_spec *pod, const struct volume_index *index,
                                        struct arena *arena, struct problems *problems)
{
	struct pod_rules rules = *pod->rules;
	const struct volume_spec **found = arena_array(arena, const struct volume_spec *, pod->claim_count);
	size_t terms = 0, at = 0;
	rules.volume_count = 0;
	for (size_t i = 0; i < pod->claim_count; i++) {
		const struct volume_spec *volume = volume_of(pod, pod->claims[i], index, problems);
		if (!volume)
			continue;
		found[rules.volume_count++] = volume;
		terms += volume->term_count;
	}
	rules.volume_terms = arena_array(arena, struct node_term, terms);
	rules.volume_term_counts = arena_array(arena, size_t, rules.volume_count);
	for (size_t i = 0; i < rules.volume_count; i++) {
		rules.volume_term_counts[i] = found[i]->term_count;
		for (size_t k = 0; k < found[i]->term_count; k++)
			rules.volume_terms[at++] = found[i]->terms[k];
	}
	return rules;
}
