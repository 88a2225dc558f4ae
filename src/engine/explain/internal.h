/* What the files of the explanation share. Nothing outside src/engine includes this. */
#ifndef ENGINE_EXPLAIN_INTERNAL_H
#define ENGINE_EXPLAIN_INTERNAL_H

#include "engine/cluster/internal.h"
#include "engine/explain/explain.h"

struct solver;

/* selector.c: "; no node has the label x" for a node selector that cannot match, "" when nothing is to be said. In the
 * arena. Looks at no more than 2000 nodes for a word that was meant. */
const char *explain_missing_label(const struct cluster *cluster, const struct shape *shape, struct arena *arena);

/* words.c: "rack" for the label key example.com/rack; a part of the key. */
const char *explain_level_word(const char *label);
/* "GPUs", "CPU", "memory" or the name of the resource. */
const char *explain_resource_word(const char *resource);
/* "key=value:NoSchedule". In the arena. */
const char *explain_taint(const struct taint *taint, struct arena *arena);

/* nodes.c: appends how many nodes one pod of a shape of the solver could use, and what is the matter with the others. */
void explain_nodes(struct cluster *cluster, const struct solver *solver, int shape_number, struct arena *arena,
                   struct reasons *out);

/* ports.c: "host port 8080/TCP" for the resource that stands for a host port, NULL for others. In the arena. */
const char *explain_port_name(const char *resource, struct arena *arena);
/* What is to be said when such a port is free on fewer nodes than there are pods that need it. */
const char *explain_port_shortage(const char *port, int64_t pods, int64_t free_nodes, const char *where,
                                  struct arena *arena);
/* ": several want host port 8080/TCP" when pods of different kinds ask for one port, "" otherwise. In the arena. */
const char *explain_common_port(const struct solver *solver, struct arena *arena);

/* claims.c: whether pods of the class use a claim that others name too and that one pod may use at a time. */
bool explain_has_single_claim(const struct pod_class *pod_class);
/* Appends who uses such claims of waiting pods in the view: pods that are there, and other pods of the gang. */
void explain_claims(const struct cluster *cluster, const struct gang *gang, int view, struct arena *arena,
                    struct reasons *out);
/* Whether the first of two resources that are equally short tells more: of sizes of one sort of claims the largest, which is
 * the size that was asked for. */
bool explain_is_closer(const struct cluster *cluster, int resource, int other);

#endif
