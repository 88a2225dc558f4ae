/* Owns the order of work: a heap by due time over a map of keys. */
#include "loop/work_queue.h"

#include "base/backoff.h"
#include "base/hash.h"
#include "base/vec.h"

#include <string.h>

#define NOT_QUEUED SIZE_MAX

struct item {
	int64_t due;
	uint64_t order; /* of wanting */
	size_t at;      /* in the heap, NOT_QUEUED when it is not in it */
	unsigned failures;
	bool taken;
	int64_t wanted; /* while taken: due time of the next turn, INT64_MAX for none */
	struct work_key key;
	UT_hash_handle hh;
	char text[]; /* kind as bytes, namespace, NUL, name, NUL */
};

struct work_queue {
	struct item *items; /* by key */
	VEC(struct item *) heap;
	uint64_t order;
};

struct work_queue *work_queue_create(void)
{
	return base_calloc(1, sizeof(struct work_queue));
}

void work_queue_destroy(struct work_queue *queue)
{
	if (!queue)
		return;
	struct item *item, *next;
	HASH_ITER(hh, queue->items, item, next) {
		HASH_DEL(queue->items, item);
		free(item);
	}
	vec_free(&queue->heap);
	free(queue);
}

static bool before(const struct item *a, const struct item *b)
{
	return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void put(struct work_queue *queue, size_t at, struct item *item)
{
	queue->heap.items[at] = item;
	item->at = at;
}

static void sift_up(struct work_queue *queue, size_t at)
{
	struct item *item = queue->heap.items[at];
	while (at > 0 && before(item, queue->heap.items[(at - 1) / 2])) {
		put(queue, at, queue->heap.items[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(queue, at, item);
}

static void sift_down(struct work_queue *queue, size_t at)
{
	struct item *item = queue->heap.items[at];
	for (;;) {
		size_t child = 2 * at + 1;
		if (child + 1 < queue->heap.count && before(queue->heap.items[child + 1], queue->heap.items[child]))
			child++;
		if (child >= queue->heap.count || !before(queue->heap.items[child], item))
			break;
		put(queue, at, queue->heap.items[child]);
		at = child;
	}
	put(queue, at, item);
}

static struct item *find(struct work_queue *queue, const struct work_key *key, bool add)
{
	size_t space = strlen(key->namespace_) + 1, name = strlen(key->name) + 1,
	       length = sizeof(key->kind) + space + name;
	struct item *item = base_calloc(1, sizeof(*item) + length), *found;
	memcpy(item->text, &key->kind, sizeof(key->kind));
	memcpy(item->text + sizeof(key->kind), key->namespace_, space);
	memcpy(item->text + sizeof(key->kind) + space, key->name, name);
	HASH_FIND(hh, queue->items, item->text, length, found);
	if (found || !add) {
		free(item);
		return found;
	}
	item->key =
		(struct work_key){key->kind, item->text + sizeof(key->kind), item->text + sizeof(key->kind) + space};
	item->at = NOT_QUEUED;
	item->wanted = INT64_MAX;
	HASH_ADD_KEYPTR(hh, queue->items, item->text, length, item);
	return item;
}

static void queue_item(struct work_queue *queue, struct item *item, int64_t due)
{
	if (item->at != NOT_QUEUED) {
		if (due >= item->due)
			return;
		item->due = due;
		sift_up(queue, item->at);
		return;
	}
	item->due = due;
	item->order = queue->order++;
	vec_push(&queue->heap, item);
	sift_up(queue, queue->heap.count - 1);
}

void work_queue_want(struct work_queue *queue, const struct work_key *key, int64_t due_ns)
{
	struct item *item = find(queue, key, true);
	if (!item->taken)
		queue_item(queue, item, due_ns);
	else if (due_ns < item->wanted)
		item->wanted = due_ns;
}

bool work_queue_take(struct work_queue *queue, int64_t now_ns, struct work_key *key)
{
	if (queue->heap.count == 0 || queue->heap.items[0]->due > now_ns)
		return false;
	struct item *item = queue->heap.items[0];
	struct item *last = queue->heap.items[--queue->heap.count];
	if (last != item) {
		put(queue, 0, last);
		sift_down(queue, 0);
	}
	item->at = NOT_QUEUED;
	item->taken = true;
	*key = item->key;
	return true;
}

static void give_back(struct work_queue *queue, struct item *item)
{
	item->taken = false;
	if (item->wanted != INT64_MAX) {
		int64_t due = item->wanted;
		item->wanted = INT64_MAX;
		queue_item(queue, item, due);
	} else {
		HASH_DEL(queue->items, item);
		free(item);
	}
}

void work_queue_done(struct work_queue *queue, const struct work_key *key)
{
	struct item *item = find(queue, key, false);
	if (!item || !item->taken)
		return;
	item->failures = 0;
	give_back(queue, item);
}

unsigned work_queue_failed(struct work_queue *queue, const struct work_key *key, int64_t now_ns)
{
	struct item *item = find(queue, key, false);
	if (!item || !item->taken)
		return 0;
	int64_t pause = backoff_pause(WORK_PAUSE_FIRST_NS, item->failures, WORK_PAUSE_LONGEST_NS);
	unsigned failures = ++item->failures;
	/* Also when it was wanted meanwhile: what just failed is not tried again at once. */
	item->wanted = now_ns + pause;
	give_back(queue, item);
	return failures;
}

int64_t work_queue_next(const struct work_queue *queue)
{
	return queue->heap.count > 0 ? queue->heap.items[0]->due : INT64_MAX;
}

size_t work_queue_length(const struct work_queue *queue)
{
	return queue->heap.count;
}
