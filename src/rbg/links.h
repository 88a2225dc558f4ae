/* Who refers to whom by name, followed from watches: an index from a name to the objects that refer to it. */
#ifndef RBG_LINKS_H
#define RBG_LINKS_H

#include <stdbool.h>
#include <stddef.h>

struct rbg_links;

struct rbg_links *rbg_links_create(void);
void rbg_links_destroy(struct rbg_links *links); /* NULL is a no-op */
/* Notes or forgets that `from` refers to `to`. Noting twice is noting once. */
void rbg_links_set(struct rbg_links *links, const char *to, const char *from, bool present);
/* Forgets all that `from` refers to, and calls back for each of them; `forgot` may be NULL. */
void rbg_links_forget(struct rbg_links *links, const char *from, void (*forgot)(void *context, const char *to),
                      void *context);
/* Calls back for each object that refers to `to`, in the order of noting. Returns how many. */
size_t rbg_links_each(const struct rbg_links *links, const char *to, void (*visit)(void *context, const char *from),
                      void *context);

#endif
