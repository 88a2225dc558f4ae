/* Gangs of Koordinator: a PodGroup with annotations, the same annotations on pods, and the labels of the first coscheduling, which
 * it still reads. */
#include "group/neighbours.h"

#include <string.h>

#define GANG "gang.scheduling.koordinator.sh/"
#define LIGHTWEIGHT "pod-group." KINDS_COSCHEDULING_OLD "/min-available"

static const char *path_of(struct neighbour *neighbour, const char *field, const char *key)
{
	return arena_printf(neighbour->grouping->arena, "metadata.%s[%s]", field, key);
}

/* A number of pods from 1 on; 0, with a problem, when it is none, and without one when it is not there. */
static int64_t read_number(struct neighbour *neighbour, const struct labels *map, const char *field, const char *key)
{
	const char *text = meta_get(map, key);
	int64_t number;
	if (!text)
		return 0;
	if (!meta_parse_int(text, &number))
		neighbour_refuse(neighbour, GROUP_ABOUT_MIN_MEMBER_NOT_A_NUMBER, path_of(neighbour, field, key),
		                 "write a whole number", "it is no number of pods");
	else if (number < 1)
		neighbour_refuse(neighbour, GROUP_ABOUT_MIN_MEMBER_NOT_POSITIVE, path_of(neighbour, field, key),
		                 "write 1 or more", "it is too small for a number of pods");
	else
		return number;
	return 0;
}

/* Names the annotation unless it is missing or says `usual`. */
static void lose(struct neighbour *neighbour, const struct labels *annotations, const char *key, const char *usual,
                 const char *message)
{
	const char *text = meta_get(annotations, key);
	if (text && !text_equal(text, usual))
		neighbour_lose(neighbour, path_of(neighbour, "annotations", key),
		               "remove it, or leave it for Koordinator", message);
}

/* A list in JSON; one that names nobody else has a single text. */
static void read_bundle(struct neighbour *neighbour, const struct labels *annotations)
{
	const char *text = meta_get(annotations, GANG "groups");
	if (text && strchr(text, ','))
		lose(neighbour, annotations, GANG "groups", NULL, "gangs that are bundled are placed each by itself");
}

static void read_layers(struct neighbour *neighbour, const struct labels *annotations)
{
	static const char key[] = GANG "network-topology-spec";
	const struct group_constraint *constraint = &neighbour->grouping->out->constraint;
	const char *text = meta_get(annotations, key);
	if (!text || constraint->required || constraint->preferred)
		return; /* levels that are annotated say it better */
	if (strstr(text, "MustGather"))
		neighbour_refuse(neighbour, GROUP_ABOUT_UNSUPPORTED, path_of(neighbour, "annotations", key),
		                 "write " KEY_TOPOLOGY " and " KEY_TOPOLOGY_REQUIRED " instead",
		                 "layers of Koordinator's network topology are not read: its pods are not placed");
	else
		lose(neighbour, annotations, key, NULL, "layers of Koordinator's network topology are not read");
}

static void read_annotations(struct neighbour *neighbour, const struct labels *annotations)
{
	int64_t total = read_number(neighbour, annotations, "annotations", GANG "total-number");
	if (total > 0)
		tree_expect(neighbour->grouping, GROUP_UNSET, total);
	read_bundle(neighbour, annotations);
	read_layers(neighbour, annotations);
	lose(neighbour, annotations, GANG "mode", "Strict",
	     "nothing is held for a gang that does not fit: all of it is placed at once, or nothing");
	lose(neighbour, annotations, GANG "waiting-time", NULL, NEIGHBOUR_NO_TIMEOUT);
	lose(neighbour, annotations, GANG "match-policy", "once-satisfied",
	     "a gang that has started gets back what it lost pod by pod, whatever else of it runs");
}

void neighbour_read_koordinator(struct neighbour *neighbour)
{
	static const char *const read[] = {"minMember", NULL};
	static const struct neighbour_loss losses[] = {
		{"minResources", NEIGHBOUR_NO_SUM},
		{"scheduleTimeoutSeconds", NEIGHBOUR_NO_TIMEOUT},
		{NULL, NEIGHBOUR_UNKNOWN},
	};
	struct labels annotations = meta_labels(neighbour->grouping->arena, neighbour->id.object, "annotations");
	neighbour->grouping->out->min_member = neighbour_count(neighbour, "minMember");
	read_annotations(neighbour, &annotations);
	neighbour_lose_fields(neighbour, read, losses);
}

static void read_minimum(struct neighbour *neighbour, const struct labels *map, const char *field, const char *key)
{
	int64_t minimum = read_number(neighbour, map, field, key);
	if (!meta_get(map, key))
		neighbour_refuse(neighbour, GROUP_ABOUT_MIN_MEMBER_NOT_A_NUMBER, path_of(neighbour, field, key),
		                 "write how many pods have to start together", "the gang has no minimum");
	neighbour->grouping->out->min_member = minimum > 0 ? (int)minimum : 1;
}

void neighbour_read_koordinator_pods(struct neighbour *neighbour)
{
	const struct labels *annotations = &neighbour->grouping->pod_annotations;
	read_minimum(neighbour, annotations, "annotations", GANG "min-available");
	read_annotations(neighbour, annotations);
}

void neighbour_read_lightweight(struct neighbour *neighbour)
{
	read_minimum(neighbour, &neighbour->grouping->pod_labels, "labels", LIGHTWEIGHT);
}
