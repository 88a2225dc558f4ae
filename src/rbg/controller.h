/* The controller of RoleBasedGroups and ClusterTopologies: roles become instances with stable ordinals, instances become
 * pods and PodGroups, in the order and at the pace that coordinations allow.
 *
 * Everything it remembers is in the store (status, labels, ControllerRevisions): destroy and create is a restart. */
#ifndef RBG_CONTROLLER_H
#define RBG_CONTROLLER_H

#include "base/clock.h"
#include "base/log.h"
#include "base/strings.h"
#include "api/store.h"

struct rbg_controller;
struct settings_source;

struct rbg_controller_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
	struct settings_source *settings; /* borrowed; NULL: the usual */
};

struct rbg_controller *rbg_controller_create(const struct rbg_controller_options *options);
void rbg_controller_destroy(struct rbg_controller *controller); /* NULL is a no-op */
/* Reconciles what is due. Milliseconds until there is something to do if nothing changes: 0 at once, -1 never. */
int rbg_controller_step(struct rbg_controller *controller);
void rbg_controller_read(struct rbg_controller *controller); /* only takes over what changed */
/* Appends the progress of segments of all groups in the text format of Prometheus. */
void rbg_controller_metrics(const struct rbg_controller *controller, struct buffer *out);

#endif
