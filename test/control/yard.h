/* A small cluster in virtual time for tests of controllers: store, admission, controllers, scheduler and kubelets. */
#ifndef TEST_CONTROL_YARD_H
#define TEST_CONTROL_YARD_H

#include "kit.h"

#include "sim/world.h"

struct yard {
	struct kit kit;
	struct world *world;
	struct admission *admission;
	/* Called after each turn of the world, when it is set: what must hold at any time. */
	void (*watch)(struct yard *yard);
	void *context;
	bool restarts;  /* every turn is the first one of a new controller */
	bool open_door; /* no admission: objects come in as they are */
};

void yard_open(struct yard *yard);
void yard_close(struct yard *yard);
/* Nodes n1.. with room for `pods` pods of one gpu each; labels zone and rack by number: `per_rack` nodes in a rack. */
void yard_nodes(struct yard *yard, int count, int gpus, int per_rack);
/* Creates or replaces the objects of a YAML text. The code of the last answer. */
int yard_apply(struct yard *yard, const char *yaml);
/* Lets `seconds` pass, turn by turn. */
void yard_run(struct yard *yard, int64_t seconds);
/* Pods of a role ("" for all of the group) that are ready; bound. */
int yard_ready(struct yard *yard, const char *group, const char *role);
int yard_bound(struct yard *yard, const char *group, const char *role);
int yard_pods(struct yard *yard, const char *group, const char *role);
/* Reason and message of a condition of a group as "status reason: message"; "" when it has none. */
const char *yard_condition(struct yard *yard, const char *group, const char *type);
/* Events about the group with this reason. */
int yard_events(struct yard *yard, const char *reason);
/* Value at a path of the group, as kit_at. */
const char *yard_group_at(struct yard *yard, const char *group, const char *path);
/* The nodes of pods that match a selector, each once, sorted, joined by spaces; label "" for node names. */
const char *yard_domains(struct yard *yard, const char *selector, const char *label);

#endif
