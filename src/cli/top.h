/* What `top` shows: one picture of the cluster, and views of it. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "cli/draw.h"
#include "schedule/plan.h"

enum top_view { TOP_MAP, TOP_GANGS, TOP_QUEUES, TOP_PENDING, TOP_VIEWS };

struct top_group {
	const struct plan_group *group;
	const struct cycle_group *decided;
	const char *state; /* of what runs: Running, Binding, or what the engine says */
	const char *queue;
	size_t bound; /* pods that have a node now */
	size_t pods;  /* that exist and have not ended */
	const char *nodes;
	bool pending; /* below its minimum, or with pods that wait */
};

struct top_queue {
	const struct cycle_queue *queue;
	int depth;
	size_t groups, waiting;
	int64_t used[CYCLE_RESOURCES]; /* by pods that have a node now; as in cycle_queue */
};

/* Everything borrows from the plan. */
struct top_picture {
	const struct plan *plan;
	int64_t now; /* seconds */
	struct top_group *groups;
	size_t group_count, waiting;
	struct top_queue *queues; /* parents before their children */
	size_t queue_count;
	int64_t slots, used; /* of the resource the map shows: GPUs, or milli-cores */
	const char *resource;
	size_t pods, bound;
};

struct top_look { /* what the user chose */
	enum top_view view;
	int sort[TOP_VIEWS]; /* column; 0: the usual order */
	bool reverse;
	const char *filter; /* part of a name, queue, state or node; "": everything */
};

struct top_picture *top_take(const struct plan *plan, int64_t now_seconds, struct arena *arena);
const char *top_view_name(enum top_view view);
/* How the view is sorted now, "" when it cannot be. */
const char *top_sort_name(const struct top_look *look);
int top_sort_count(enum top_view view);
/* Adds the lines of the view. `lines`: about so many can be seen, 0: any number. */
void top_draw(const struct top_picture *picture, const struct top_look *look, const struct draw_style *style,
              size_t lines, struct drawing *drawing);
/* One line about everything. */
void top_draw_sum(const struct top_picture *picture, struct drawing *drawing);
struct node *top_write(const struct top_picture *picture, struct build *build);

#endif
