/* Services by namespace: which pods they select together. Of a Service only its selector counts. */
#ifndef SCHEDULE_SERVICE_BOOK_H
#define SCHEDULE_SERVICE_BOOK_H

#include "base/labels.h"
#include "object/doc.h"

struct arena;
struct service_book;

struct service_book *service_book_create(void);
void service_book_destroy(struct service_book *book); /* NULL is a no-op */
/* The Service came or changed; object NULL: it is gone. Whether other pods are selected now. */
bool service_book_set(struct service_book *book, const char *namespace_, const char *name, const struct val *object);
/* What all Services ask of pods that select a pod with these labels: their requirements together. False when none does. The
 * texts are the book's, the arrays are in the arena. */
bool service_book_select(const struct service_book *book, const char *namespace_, const struct labels *labels,
                         struct arena *arena, struct selector *out);

#endif
