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
/* Whether the last refusal was for something that the object names and the store does not have. A store that is a copy of
 * another may hear of it in a moment. */
bool admission_missed(const struct admission *admission);
/* Before store_close. NULL is a no-op. */
void admission_destroy(struct admission *admission);

int admission_check(void *context, struct store_admission *request, struct store_error *error);

#endif
