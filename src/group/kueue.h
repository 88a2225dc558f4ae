/* Annotations of Kueue about where pods go. Private to the room. */
#ifndef GROUP_KUEUE_H
#define GROUP_KUEUE_H

#define KUEUE "kueue.x-k8s.io/"
#define KUEUE_REQUIRED KUEUE "podset-required-topology"
#define KUEUE_PREFERRED KUEUE "podset-preferred-topology"
#define KUEUE_SLICE_LEVEL KUEUE "podset-slice-required-topology"
#define KUEUE_SLICE_SIZE KUEUE "podset-slice-size"
#define KUEUE_SLICE_LAYERS KUEUE "podset-slice-required-topology-constraints"

#endif
