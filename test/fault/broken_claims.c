/* A scheduler that does not wait for claims, for the test of the fault runs: pods are bound before their claims are. The linker
 * puts this in front of the real function. */
#include "schedule/scheduler_claims.h"

bool __wrap_scheduler_claims_begin(const struct scheduler_turn *turn, const struct plan_group *group,
                                   const struct plan_binding **bindings, size_t count);

bool __wrap_scheduler_claims_begin(const struct scheduler_turn *turn, const struct plan_group *group,
                                   const struct plan_binding **bindings, size_t count)
{
	(void)turn;
	(void)group;
	(void)bindings;
	(void)count;
	(void)scheduler_claims_begin; /* does not compile when that has another name: then nothing would be replaced */
	return false;
}
