/* Words: texts that many documents have in common (keys, kinds, reasons), kept once. Objects of a cluster repeat them so
 * much that they would take most of the memory for texts.
 *
 * A word is never given back, so there is a limit to how many are kept: what comes later is simply not shared. Documents
 * that were packed with words must be gone before the words are. */
#ifndef OBJECT_WORDS_H
#define OBJECT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct words;

struct words *words_create(void);
void words_destroy(struct words *words); /* NULL is a no-op */
/* The kept text that is equal; NULL when it is not shared. Keys of maps are kept when first seen, values only when they
 * come again soon: most are in one document only. */
const char *words_share(struct words *words, const char *text, size_t length, bool is_key);

#endif
