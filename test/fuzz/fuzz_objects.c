/* Objects from arbitrary bytes: whatever parses is judged and decoded. Verdict and decoders agree, every problem has a
 * place, and a tree that comes out is one. */
#include "fuzz.h"

#include "admit/admit.h"
#include "admit/budget.h"
#include "admit/podgroup.h"
#include "admit/queue.h"
#include "admit/storage.h"
#include "admit/topology.h"
#include "admit/volume_book.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void check_tree(const struct podgroup *group)
{
	const struct tree_node *tree = group->tree;
	int *children = calloc(group->tree_count, sizeof(*children));
	fuzz_require(children && group->tree_count > 0 && tree[0].parent == -1);
	for (size_t i = 0; i < group->tree_count; i++) {
		fuzz_require(tree[i].name && tree[i].path && tree[i].minimum >= 0);
		fuzz_require(i == 0 || (tree[i].parent >= 0 && (size_t)tree[i].parent < i));
		if (i > 0)
			children[tree[i].parent]++;
		const struct constraint_spec *constraint = &tree[i].constraint;
		fuzz_require(!constraint->topology == !(constraint->required || constraint->preferred));
		if (tree[i].child_count == 0)
			fuzz_require(podgroup_leaf(group, tree[i].name) == (int)i);
		else
			fuzz_require(tree[i].minimum <= tree[i].child_count);
	}
	int64_t pods = podgroup_minimum_pods(group, 0);
	fuzz_require(pods >= 0);
	for (size_t i = 0; i < group->tree_count; i++)
		fuzz_require(tree[i].child_count == children[i]);
	free(children);
}

static void check_amounts(const struct resource_amount *amounts, size_t count, int64_t least)
{
	for (size_t i = 0; i < count; i++) {
		fuzz_require(amounts[i].amount >= least);
		fuzz_require(i == 0 || strcmp(amounts[i - 1].name, amounts[i].name) < 0);
	}
}

static void check_pod(const struct pod_spec *pod, const struct volume_book *book, struct arena *arena)
{
	check_amounts(pod->requests, pod->request_count, 1);
	fuzz_require(pod->name && pod->namespace_ && pod->scheduler && pod->ephemeral_count <= pod->claim_count);
	struct volume_terms terms = {0};
	for (size_t i = 0; i < pod->claim_count; i++) {
		struct claim_answer answer = volume_book_ask(book, pod, i, arena);
		fuzz_require(answer.verdict == CLAIM_BLOCKED ? answer.problem != NULL : answer.claim != NULL);
		volume_terms_add(&terms, &answer, arena);
	}
	static struct label label = {"app", "web"};
	const struct labels labels = {&label, 1};
	for (size_t i = 0; i < pod->rules->node_term_count; i++)
		fuzz_require(pod->rules->node_terms[i].selector.count > 0);
	for (size_t i = 0; i < pod->rules->affinity_count; i++)
		selector_matches(&pod->rules->affinity[i].selector, &labels, "p");
	for (size_t i = 0; i < pod->rules->spread_count; i++)
		selector_matches(&pod->rules->spread[i].selector, &labels, "p");
}

static void decode_budget(const struct val *object, struct arena *arena, struct problems *problems)
{
	struct budget_spec budget;
	if (budget_decode(object, arena, &budget, problems) < 0)
		return;
	fuzz_require(budget.namespace_ && budget.name && budget_desired_healthy(&budget, 10) >= 0);
	budget_selects(&budget, &(struct labels){0});
}

static void decode_storage(const struct val *object, struct arena *arena, struct problems *problems)
{
	struct volume_spec volume;
	struct claim_spec claim;
	struct storage_class_spec class;
	struct csi_driver_spec driver;
	struct csi_node_spec node;
	struct storage_capacity_spec capacity;
	struct attachment_spec attachment;
	if (volume_decode(object, arena, &volume, problems) == 0)
		fuzz_require(volume.capacity >= 0 && volume.modes < 16 && volume.name && volume.class_ &&
		             volume.claim_name && volume.claim_uid && volume.driver && volume.handle);
	if (claim_decode(object, arena, &claim, problems) == 0)
		fuzz_require(claim.request >= 0 && claim.modes < 16 && claim.class_ && claim.uid &&
		             (claim.volume || !claim.bound));
	if (storage_class_decode(object, arena, &class, problems) == 0)
		for (size_t i = 0; i < class.term_count; i++)
			for (size_t k = 0; k < class.terms[i].selector.count; k++)
				fuzz_require(class.terms[i].selector.items[k].key != NULL);
	csi_driver_decode(object, arena, &driver, problems);
	if (csi_node_decode(object, arena, &node, problems) == 0)
		for (size_t i = 0; i < node.driver_count; i++)
			fuzz_require(node.drivers[i].name && node.drivers[i].limit >= -1);
	if (storage_capacity_decode(object, arena, &capacity, problems) == 0)
		fuzz_require(capacity.class_ && capacity.largest >= -1);
	if (attachment_decode(object, arena, &attachment, problems) == 0)
		fuzz_require(attachment.attacher && attachment.node);
}

/* The same value through every decoder: each must stand a value that is no object of its kind. */
static void decode_all(const struct val *object, const struct volume_book *book, struct arena *arena,
                       struct problems *problems)
{
	struct podgroup group;
	struct topology_spec topology;
	struct queue_spec queue;
	struct pod_spec pod;
	struct node_spec node;
	struct priority_class class;
	if (podgroup_decode(object, arena, &group, problems) == 0)
		check_tree(&group);
	if (topology_decode(object, arena, &topology, problems) == 0) {
		fuzz_require(topology.level_count >= 1 && topology.level_count <= 16);
		for (size_t i = 0; i < topology.level_count; i++)
			fuzz_require(topology_level(&topology, topology.levels[i]) == (int)i);
	}
	if (queue_decode(object, arena, &queue, problems) == 0)
		for (int i = 0; i < QUEUE_RESOURCES; i++)
			fuzz_require(queue.share[i].quota >= -1 && queue.share[i].limit >= -1 &&
			             queue.share[i].weight >= 0);
	if (pod_decode(object, arena, &pod, problems) == 0)
		check_pod(&pod, book, arena);
	if (node_decode(object, arena, &node, problems) == 0)
		check_amounts(node.allocatable, node.allocatable_count, 0);
	priority_class_decode(object, arena, &class, problems);
	decode_storage(object, arena, problems);
	decode_budget(object, arena, problems);
}

static void check_verdict(const struct manifest *object, const struct admit_index *index, struct arena *arena)
{
	struct problems verdict = {.arena = arena}, again = {.arena = arena};
	admit_object(object, index, &verdict);
	admit_object(object, index, &again);
	fuzz_require(admit_knows(object) || verdict.count == 0);
	fuzz_require(verdict.count == again.count && verdict.errors == again.errors);
	for (size_t i = 0; i < verdict.count; i++) {
		fuzz_require(*verdict.items[i].message && verdict.items[i].fix);
		fuzz_require(strcmp(verdict.items[i].message, again.items[i].message) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct manifests manifests;
	manifests_init(&manifests);
	struct problems problems = {.arena = arena_create()};
	manifests_parse(&manifests, (const char *)data, size, "input", &problems);
	struct admit_index *index = admit_index_create(&manifests);
	struct volume_book *book = volume_book_create();
	for (size_t i = 0; i < manifests.count; i++) /* each as every kind: what is not of that kind is refused */
		for (int kind = 0; kind < BOOK_KINDS; kind++)
			volume_book_set(book, (enum book_kind)kind, manifests.items[i].object, &problems);
	for (size_t i = 0; i < manifests.count; i++) {
		struct arena *arena = arena_create();
		struct problems found = {.arena = arena};
		check_verdict(&manifests.items[i], index, arena);
		decode_all(manifests.items[i].object, book, arena, &found);
		decode_all(val_get(manifests.items[i].object, "spec"), book, arena, &found);
		arena_destroy(arena);
	}
	admit_index_destroy(index);
	volume_book_destroy(book);
	arena_destroy(problems.arena);
	manifests_free(&manifests);
	return 0;
}
