/* What pods prefer, as a score of nodes, and as a sum over all pods of a decision. Private to the engine.
 *
 * The sum has a part per pod (the weights of preferred node affinity that hold on its node, less 100 for each PreferNoSchedule
 * taint it does not tolerate) and a part per term: its weight for every pod that it selects in the same domain, among those of
 * the gang and those that are there, with the sign of affinity or anti-affinity. A topology spread that is only wished for
 * counts 1 against every other selected pod in the domain, and 100 against those beyond an even share and the skew. */
#ifndef ENGINE_PLACE_LIKING_H
#define ENGINE_PLACE_LIKING_H

#include "engine/place/solver.h"

/* The same sum counted in two ways: a term for every pod that it selects, and once, however many there are. The first decides,
 * then the second. */
struct liking_sum {
	int64_t each, once;
};

struct liking;

/* What the pods of the solver's gang prefer; in its arena. NULL when they prefer nothing that a choice could depend on. */
struct liking *liking_create(const struct solver *solver);
/* Whether pods prefer something about each other, so that one changes what is best for the next. */
bool liking_is_mutual(const struct liking *liking);
/* Pods of one kind prefer the same, and are preferred alike. */
int liking_find_kind(const struct liking *liking, int pod);
/* Puts a pod of the kind with this number on the node, or takes it away (sign -1). */
void liking_add(struct liking *liking, int number, int node, int sign);
struct liking_sum liking_value(const struct liking *liking);
/* Whether no placement of the pods that were expected last could be liked better. */
bool liking_is_best(const struct liking *liking, struct liking_sum sum);
/* Expects pods of these kinds, in an array as long as the gang's pods (kinds[0] to kinds[count - 1]); and the most their sum could
 * be. Before the first pod is added. */
int64_t liking_expect(struct liking *liking, const int *kinds, size_t count);
/* A node with slots for each domain that terms speak of; keys with too many domains for `room` nodes are left out. Returns how
 * many. */
int liking_list_domains(const struct liking *liking, const int32_t *slots, int *nodes, int room);
/* What one more pod of the kind with this number thinks of a node: for itself, and because of the pods that are there or were added. Others may
 * think otherwise of it. */
int64_t liking_score(const struct liking *liking, int number, int node);
/* Whether it thinks anything of any node; whether it wishes to be spread. */
bool liking_has_score(const struct liking *liking, int kind);
bool liking_has_spread(const struct liking *liking, int kind);

/* The part per node, for pods that are placed one after the other; in the solver's arena, NULL when nothing is preferred. */
const int32_t *liking_score_nodes(const struct solver *solver, int pod_class);

static inline bool liking_is_better(struct liking_sum a, struct liking_sum b)
{
	return a.each != b.each ? a.each > b.each : a.once > b.once;
}

/* ---- liking_search.c ---- */

/* After a search that placed: looks for a placement of the same pods (`only` one, -1: the first ones that wait) in the same domains
 * that they like better. The result, in `assigned` with kinds, is never worse than what was found, nor than pods placed in turn.
 * Takes back what the search took. */
struct liking_sum liking_improve(struct solver *solver, struct liking *liking, int only);

#endif
