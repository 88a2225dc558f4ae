/* Live state: what the engine works on, kept up to date change by change instead of being built for every cycle.
 *
 * Fed with objects of a store. Pods, PodGroups and the state of nodes are taken over in place, at a cost that depends on
 * what changed, and so are volumes. Nodes that come, go or move in a topology change the numbers of nodes, but only the
 * pods on them are read again. What gives the cluster its shape (Topologies, Queues, PriorityClasses) makes the state
 * stale: the next cycle builds it anew. Decisions are the same as those on a snapshot of the
 * same objects.
 *
 * A cycle tries its decisions on the state itself and live_finish takes them back: truth is what the store shows, and
 * what the owner assumes until the store shows it. */
#ifndef SCHEDULE_LIVE_H
#define SCHEDULE_LIVE_H

#include "loop/pod_grouping.h"
#include "schedule/plan.h"
#include "api/store.h"

struct live;
struct device_book;
struct device_columns;
struct volume_book;
struct usage;

/* `options` are copied but for the settings and texts in them; now_seconds is not used. */
struct live *live_create(const struct snapshot_options *options);
void live_destroy(struct live *live); /* NULL is a no-op */

/* Borrowed until the next call; also what follows of pods that were read with other ones is brought up to date. */
void live_use_settings(struct live *live, const struct settings *settings);

/* Whom to ask about pods that name no PodGroup; copied. live_is_checking: not all held pods were asked for again yet. */
void live_use_grouping(struct live *live, const struct pod_grouping *grouping);

bool live_is_checking(const struct live *live);

/* An object was added or changed, or is gone. Kinds that do not matter for scheduling are ignored. */
void live_set(struct live *live, struct store_object *now);
void live_remove(struct live *live, const struct store_object *gone);
/* Whether something since the last cycle may change a decision. */
bool live_changed(const struct live *live);
size_t live_rebuilds(const struct live *live); /* how often everything was built anew */

/* One cycle. The plan describes the groups the cycle looked at: those that wait, are below their minimum, changed or
 * give way; all others are as the last plan said. It is valid until the next live_plan, what it points to in the snapshot
 * until live_finish. */
struct plan *live_plan(struct live *live, int64_t now_ns, const enum cycle_action *actions, size_t action_count);
/* How many pods defragmentation may move in the cycles from here on, if that is among their actions. */
void live_allow_moves(struct live *live, int64_t moves);
/* The same in two parts. The second may run on another thread: it reads and writes only what belongs to the state, which is
 * left alone meanwhile; what costs time for every group is there. */
void live_begin(struct live *live, int64_t now_ns);
struct plan *live_decide(struct live *live, const enum cycle_action *actions, size_t action_count);
/* Between the two: the next cycle looks at the group again, as if it had changed. */
void live_look_again(struct live *live, int group);
/* The same, but that alone is no reason for a cycle. */
void live_look_later(struct live *live, int group);
/* When the numbers of a group were last told, for its owner to keep. */
int64_t *live_numbers_told(struct live *live, int group);
/* What the pods of a group, and its PodGroup, were found to say, for its owner to keep. Both are 0 once one of these objects was
 * read again, in whatever it changed: somebody may have written something else there. */
struct live_known {
	uint64_t pods, group;
};
struct live_known *live_known(struct live *live, int group);
/* Also between the two: whether the pods of a group that know already why they wait are to hear it in new words. Its numbers
 * change with every pod that comes or goes, and with each of them every pod that waits would be written: so only when it
 * means something else (`meaning`), or now and then. */
enum live_news { LIVE_NO_NEWS, LIVE_NEW_WORDS, LIVE_NEW_MEANING };
enum live_news live_news(struct live *live, int group, uint64_t meaning, int64_t now_ns);
void live_finish(struct live *live);
/* The same for so many of its groups. False when others are left: until then the state is to be left alone. */
bool live_finish_some(struct live *live, size_t most);
/* Borrowed. Between live_plan and live_finish with the decisions applied. */
const struct snapshot *live_snapshot(const struct live *live);
/* The newest version of an object the state was fed with; borrowed, NULL when there is none. */
struct store_object *live_pod(const struct live *live, const char *namespace_, const char *name);
struct store_object *live_node(const struct live *live, const char *name);
/* Its number in the pods of the snapshot, -1 when it is not among them. */
int live_pod_number(const struct live *live, const char *namespace_, const char *name);
struct store_object *live_queue(const struct live *live, const char *name);
/* What queues used in the past, up to the last cycle; NULL when that does not count. */
struct usage *live_usage(const struct live *live);
/* The claims, volumes and classes the state was fed with; borrowed until the next call. */
const struct volume_book *live_volume_book(const struct live *live);
/* The devices there are, and who has them; borrowed until the next call. */
struct device_columns *live_device_columns(const struct live *live);

/* What was written to the store and is not yet seen there. Not between live_plan and live_finish. */
enum live_guess {
	LIVE_BOUND,     /* to the node */
	LIVE_LEAVING,   /* it was evicted */
	LIVE_NOMINATED, /* for the node; "" for none */
	LIVE_GUESSES,
};
/* The pod counts as if it were so, until live_confirm names the version that made it so and that one was seen, or
 * live_forget. No-ops when the pod is gone. */
void live_assume(struct live *live, const char *namespace_, const char *pod, enum live_guess guess, const char *node);
void live_confirm(struct live *live, const char *namespace_, const char *pod, enum live_guess guess, uint64_t version);
void live_forget(struct live *live, const char *namespace_, const char *pod, enum live_guess guess);

/* Whether the binding of a pod of the snapshot, by its number there, is assumed and not confirmed. */
bool live_is_assumed(const struct live *live, int pod);

/* ---- following a store ---- */

struct live_watch;

struct live_watch *live_watch_create(struct live *live, struct store *store);
void live_watch_close(struct live_watch *watch); /* NULL is a no-op */
/* Takes over what was committed, a bounded number of changes of each kind. A watch whose changes are no longer kept lists its objects again. True when
 * every kind has been listed: before that the state is incomplete and nothing may be decided. */
bool live_watch_read(struct live_watch *watch);
bool live_watch_behind(const struct live_watch *watch);      /* changes were left for the next time */
uint64_t live_watch_version(const struct live_watch *watch); /* of the newest change taken over */
uint64_t live_watch_relists(const struct live_watch *watch); /* kinds that were listed again */

#endif
