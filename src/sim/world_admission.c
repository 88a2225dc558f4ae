/* Owns the order of what looks at a write: first what changes it, then what judges it. */
#include "sim/world_admission.h"

#include "control/grouping.h"
#include "serve/admission.h"

#include <stdlib.h>
#include <string.h>

struct world_admission {
	struct store *store;
	struct admission *rules;
};

struct world_admission *world_admission_create(void)
{
	struct world_admission *admission = base_calloc(1, sizeof(*admission));
	admission->rules = admission_create();
	return admission;
}

void world_admission_use(struct world_admission *admission, struct store *store)
{
	admission->store = store;
	admission_use(admission->rules, store);
}

void world_admission_destroy(struct world_admission *admission)
{
	if (!admission)
		return;
	admission_destroy(admission->rules);
	free(admission);
}

static struct doc *group_new_pod(const struct world_admission *admission, const struct store_admission *request)
{
	bool pod = strcmp(request->api->group, "") == 0 && strcmp(request->api->type->kind, "Pod") == 0;
	if (!pod || request->old || request->status || !admission->store)
		return NULL;
	return grouping_admit(&(struct grouping_options){.store = admission->store}, request->object);
}

int world_admission_check(void *context, struct store_admission *request, struct store_error *error)
{
	const struct world_admission *admission = context;
	struct doc *grouped = group_new_pod(admission, request);
	const struct val *given = request->object;
	if (grouped)
		request->object = doc_root(grouped);
	int rc = admission_check(admission->rules, request, error);
	request->object = given;
	/* What the rules made of it has the changes in it. */
	if (grouped && rc == 0 && !request->replacement)
		request->replacement = grouped;
	else
		doc_destroy(grouped);
	return rc;
}
