/* A small cluster in virtual time for tests of controllers: store, admission, controllers, scheduler and kubelets. */
#ifndef TEST_CONTROL_TOWN_H
#define TEST_CONTROL_TOWN_H

#include "../store/kit.h"

#include "cluster/world.h"
#include "loop/settings.h"

struct town {
	struct kit kit;
	struct settings_source *settings;
	struct world *world;
	struct admission *admission;
	/* Called after each turn of the world, when it is set: what must hold at any time. */
	void (*watch)(struct town *town);
	void *context;
	bool restarts;  /* every turn is the first one of a new controller */
	bool open_door; /* no admission: objects come in as they are */
};

void town_open(struct town *town);
void town_close(struct town *town);
/* The same for cmocka, with and without admission. */
int town_setup(void **state);
int town_setup_open_door(void **state);
int town_teardown(void **state);
/* Nodes n1.. with room for `pods` pods of one gpu each; labels zone and rack by number: `per_rack` nodes in a rack. */
void town_nodes(struct town *town, int count, int gpus, int per_rack);
/* Creates or replaces the objects of a YAML text. The code of the last answer. */
int town_apply(struct town *town, const char *yaml);
/* Lets `seconds` pass, turn by turn. */
void town_run(struct town *town, int64_t seconds);
/* Pods of a role ("" for all of the group) that are ready; bound. */
int town_ready(struct town *town, const char *group, const char *role);
int town_bound(struct town *town, const char *group, const char *role);
int town_pods(struct town *town, const char *group, const char *role);
/* Reason and message of a condition of a group as "status reason: message"; "" when it has none. */
const char *town_condition(struct town *town, const char *group, const char *type);
/* Events about the group with this reason. */
int town_events(struct town *town, const char *reason);
/* Value at a path of the group, as kit_at. */
const char *town_group_at(struct town *town, const char *group, const char *path);
/* The nodes of pods that match a selector, each once, sorted, joined by spaces; label "" for node names. */
const char *town_domains(struct town *town, const char *selector, const char *label);

#endif
