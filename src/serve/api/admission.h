/* Admission: what the store asks before it takes an object. Types of built-in kinds, schema of custom ones, and the rules
 * of Platoon's own kinds. */
#ifndef SERVE_API_ADMISSION_H
#define SERVE_API_ADMISSION_H

#include "api/store.h"

struct admission;

/* Give `admission_check` and the admission to store_open as admit and context, then tell it the store. */
struct admission *admission_create(void);
void admission_use(struct admission *admission, struct store *store);
/* From now on what the API server of Kubernetes refuses is refused too, see validate.h. Without, only what Platoon cannot
 * read is: simulations and tests leave out what does not matter to them. */
void admission_be_strict(struct admission *admission);
/* From now on minimums of PodGroups are judged as KAI-Scheduler does, or not any more; see podgroup_judge_as_kai. */
void admission_judge_as_kai(struct admission *admission, bool as_kai);
/* The store is a copy of what somebody else keeps, who asks: what is not in it yet may be there already, as when a file with both
 * is applied. What an object names and is missing is warned of then, and whoever needs it waits. */
void admission_is_a_copy(struct admission *admission);
/* Before store_close. NULL is a no-op. */
void admission_destroy(struct admission *admission);

int admission_check(void *context, struct store_admission *request, struct store_error *error);

#endif
