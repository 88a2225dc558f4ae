/* Work queue: keys to be worked on, each once at a time, at or after a due time. Wanting a key that waits brings it
 * forward and never adds it twice; failures push it back by a growing pause. Ties go by order of wanting. No clock. */
#ifndef LOOP_WORK_QUEUE_H
#define LOOP_WORK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORK_PAUSE_FIRST_NS INT64_C(5000000)       /* 5 ms after the first failure, doubled with each */
#define WORK_PAUSE_LONGEST_NS INT64_C(60000000000) /* a minute */

struct work_queue;

struct work_key {
	int kind; /* meaning is the owner's */
	const char *namespace_, *name;
};

struct work_queue *work_queue_create(void);
void work_queue_destroy(struct work_queue *queue); /* NULL is a no-op */

/* Due at `due_ns`, or earlier if it was. */
void work_queue_want(struct work_queue *queue, const struct work_key *key, int64_t due_ns);
/* Takes the key that is due first. False when none is due. The texts live until the key is given back by one of the
 * two below; meanwhile it may be wanted again and is handed out again afterwards. */
bool work_queue_take(struct work_queue *queue, int64_t now_ns, struct work_key *key);
void work_queue_done(struct work_queue *queue, const struct work_key *key);
/* It failed: wanted again after its pause. Returns the number of failures in a row. */
unsigned work_queue_failed(struct work_queue *queue, const struct work_key *key, int64_t now_ns);
/* When the next key is due, INT64_MAX for never. */
int64_t work_queue_next(const struct work_queue *queue);
size_t work_queue_length(const struct work_queue *queue);

#endif
