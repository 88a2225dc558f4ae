/* Selectors and the other placement rules of a pod, for the decoders of this folder and for whoever asks a template where
 * its pods may be. */
#ifndef ADMIT_RULES_H
#define ADMIT_RULES_H

#include "admit/decode.h"

/* metav1.LabelSelector. Returns false when the map is NULL (selects nothing). */
bool rules_label_selector(const struct decode *decode, const struct decode_path *path, const struct val *map,
                          struct selector *out);
/* One nodeSelectorTerm. Returns false when it is empty and so matches no node. */
bool rules_node_selector(const struct decode *decode, const struct decode_path *path, const struct val *map,
                         struct selector *out);
/* nodeSelectorTerms of `map`: an OR of terms, empty ones left out with a warning. A missing or empty list is an
 * error. */
struct node_term *rules_node_terms(const struct decode *decode, const struct decode_path *up, const struct val *map,
                                   size_t *count);
/* Effect by name; -1 and an error when unknown. */
int rules_effect(const struct decode *decode, const struct decode_path *path, const char *text);

/* The list `tolerations` of `map`; those that are wrong are left out. */
struct toleration *rules_tolerations(const struct decode *decode, const struct decode_path *up, const struct val *map,
                                     size_t *count);

/* Everything but volumes: pod_rules.c (nodes, taints, ports), pod_affinity.c (other pods, spread). */
void rules_read_nodes(const struct decode *decode, const struct val *spec, struct pod_rules *out);
void rules_read_ports(const struct decode *decode, const struct val *spec, struct pod_rules *out);
void rules_read_pods(const struct decode *decode, const struct val *spec, const struct labels *own,
                     struct pod_rules *out);
/* pod_config_maps.c: fills out->config_maps. Texts stay in the document. */
struct pod_spec;
void rules_read_config_maps(const struct val *object, struct arena *arena, struct pod_spec *out);

#endif
