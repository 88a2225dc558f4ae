/* One decision about a gang, while it is made: what the files behind place.h share. Private to them. */
#ifndef ENGINE_PLACE_DECISION_H
#define ENGINE_PLACE_DECISION_H

#include "engine/place/liking.h"
#include "engine/place/solver.h"

struct decision {
	struct solver solver;
	struct demand demand;
	struct gang_level *levels;
	int *preferences;
	int preference_count;
	struct assigned *best; /* the placement to keep */
	int *best_tree;        /* tree node of each */
	size_t best_count;
	struct liking *liking; /* what pods prefer; NULL: nothing */
	struct liking_sum sum; /* of the placement to keep */
	bool better_only;      /* a placement that pods like no better is not kept */
	bool preference_exhausted;
	int blocking_tree;
};

/* ---- place.c ---- */

/* Runs one search with the levels in force and keeps the placement when there is one. */
enum verdict decision_attempt(struct decision *decision, uint64_t budget);

/* ---- liking_domains.c ---- */

/* After a placement was found: tries other domains for parts that must be in one, as long as pods like it better there. */
void decision_prefer_domains(struct decision *decision, uint64_t budget);

/* ---- choices.c ---- */

/* The pods of each leaf, in array order: pods of leaf i are list[first[i]] .. list[first[i + 1] - 1]. `first` has an item more than
 * the tree; the list is in the arena. */
int *choices_list_pods(const struct gang *gang, struct arena *arena, int *first);
/* Choices for the placement that was kept, or where `keep` (by assignment) is given for a part of it: within a leaf, earlier pods
 * first; a pod nominated to a chosen node gets it. */
void choices_make(struct decision *decision, const bool *keep, struct arena *arena, struct placement *out);
/* Of a placement of everything, the nodes behind those that waiting pods get: for the pods that are to come. */
void choices_make_coming(struct decision *decision, struct arena *arena, struct placement *out);
/* Of a placement of everything, the part that makes up the minimum: first children, first pods. */
bool *choices_minimum(struct decision *decision, struct arena *arena);

#endif
