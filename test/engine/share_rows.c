/* Rows of a table become queues, and their shares are compared with the last column. */
#include "share_rows.h"

const int64_t rows_plenty[SHARE_RESOURCES] = {1000000, 1000000, 1000000};

int64_t devices(int64_t number)
{
	return number < 0 ? number : number * 1000;
}

struct share_queue rows_queue(const struct row *row)
{
	struct share_queue queue = {.parent = row->parent, .priority = row->priority};
	queue.quota[SHARE_CPU] = queue.quota[SHARE_MEMORY] = NONE;
	queue.limit[SHARE_CPU] = queue.limit[SHARE_MEMORY] = NONE;
	queue.quota[SHARE_GPU] = devices(row->quota);
	queue.limit[SHARE_GPU] = devices(row->limit);
	queue.weight[SHARE_GPU] = row->weight * 1000;
	queue.allocated[SHARE_GPU] = devices(row->used);
	queue.requested[SHARE_GPU] = devices(row->demand);
	queue.past[SHARE_GPU] = SHARE_PAST_WHOLE / 100 * row->past;
	return queue;
}

size_t rows_queues(const struct row rows[MOST], struct share_queue queues[MOST])
{
	size_t count = 0;
	for (; count < MOST && rows[count].name; count++)
		queues[count] = rows_queue(&rows[count]);
	return count;
}

void rows_check(const char *story, const struct row rows[MOST], int64_t total)
{
	struct share_queue queues[MOST];
	size_t count = rows_queues(rows, queues);
	struct arena *arena = arena_create();
	share_compute(queues, count, (int64_t[]){devices(total), 0, 0}, arena);
	for (size_t i = 0; i < count; i++)
		if (queues[i].fair[SHARE_GPU] != devices(rows[i].fair))
			fail_msg("%s: the share of %s is %lldm, not %lldm", story, rows[i].name,
			         (long long)queues[i].fair[SHARE_GPU], (long long)devices(rows[i].fair));
	arena_destroy(arena);
}
