/* The exhaustive solver: tries every pod on every node. Its answers are what the engine is measured against. */
#ifndef PROPERTY_ORACLE_H
#define PROPERTY_ORACLE_H

#include "rules.h"

enum oracle_answer { ORACLE_YES, ORACLE_NO, ORACLE_UNKNOWN /* too many steps */ };

/* What the best placement minimises; each includes the ones before it. */
enum oracle_goal { ORACLE_COST, ORACLE_DOMAINS, ORACLE_HOSTS };

/* What the stated objective compares, first entry first. */
struct oracle_best {
	bool found;
	int cost[INSTANCE_TREE];
	int domains, hosts; /* domains at the outermost level of topology 0, and hosts, used by all members */
};

struct oracle {
	struct positions positions;
	uint64_t steps, limit;
	int target;     /* tree node that must be satisfied; only pods below it are placed */
	bool enumerate; /* look at all placements and keep the best, instead of stopping at the first */
	enum oracle_goal goal;
	struct oracle_best best;
};

/* Can the target be satisfied with exactly as many new pods as its minimums need? */
enum oracle_answer oracle_solve(struct oracle *oracle, const struct instance *instance, int target, uint64_t limit);
/* The best placement of a rigid instance (see instance_is_rigid), in `best`. */
enum oracle_answer oracle_optimum(struct oracle *oracle, const struct instance *instance, enum oracle_goal goal,
                                  uint64_t limit);
/* Can any single unit of surplus be added: a waiting pod to a satisfied leaf, or an unsatisfied child (whose ancestors
 * are all satisfied) brought to its minimum? `unit` names the tree node. */
enum oracle_answer oracle_can_grow(const struct instance *instance, uint64_t limit, int *unit);
/* Domains at the outermost level of topology 0 (nodes without one count one each) and hosts used by all members. */
void oracle_distance(const struct positions *positions, int *domains, int *hosts);
int oracle_compare(const struct instance *instance, const int *a, const int *b); /* cost vectors, lexicographic */

#endif
