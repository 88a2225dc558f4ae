/* Beside the loop: a thread for work that takes its time, one piece at a time. Whoever hands over a piece leaves everything it
 * touches alone until it is done. */
#ifndef LOOP_BESIDE_H
#define LOOP_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

struct beside;

struct beside *beside_create(void);
void beside_destroy(struct beside *beside); /* NULL is a no-op. Waits for what is under way */
/* Not while another piece is under way. Where the system has no thread left the work is done before this returns. */
void beside_start(struct beside *beside, void (*work)(void *context), void *context);
/* Whether it is done, after waiting for that for `most_ns` at most. */
bool beside_wait(struct beside *beside, int64_t most_ns);

#endif
