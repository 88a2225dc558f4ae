/* Owns the order of what looks at a write: first what changes it, then what judges it. */
#include "cluster/world_admission.h"

#include "grouping/grouping.h"
#include "object/build.h"
#include "serve/api/admission.h"

#include <stdlib.h>
#include <string.h>

struct world_admission {
	struct world_admission_options options;
	struct store *store;
	struct admission *rules;
};

struct world_admission *world_admission_create(const struct world_admission_options *options)
{
	struct world_admission *admission = base_calloc(1, sizeof(*admission));
	admission->options = *options;
	admission->rules = admission_create();
	if (options->strict)
		admission_be_strict(admission->rules);
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

/* A pod that names no scheduler gets the one that acts here, as a real API server does it with its own. NULL: nothing is
 * to be changed. */
static struct doc *give_scheduler(const struct world_admission *admission, const struct settings *settings,
                                  const struct val *pod)
{
	const struct val *spec = val_get(pod, "spec");
	if (!admission->options.claims || val_kind(spec) != VAL_MAP ||
	    val_kind(val_get(spec, "schedulerName")) != VAL_NULL)
		return NULL;
	struct build *build = build_create();
	struct node *root = build_copy(build, pod), *copy = build_copy(build, spec);
	build_put_string(build, copy, "schedulerName", settings->schedulers[0]);
	build_put(build, root, "spec", copy);
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}

/* A new pod with its scheduler and what its group adds to it; NULL: as it is. */
static struct doc *group_new_pod(const struct world_admission *admission, const struct store_admission *request)
{
	bool pod = strcmp(request->api->group, "") == 0 && strcmp(request->api->type->kind, "Pod") == 0;
	if (!pod || request->old || request->status || !admission->store)
		return NULL;
	const struct settings *settings = settings_now(admission->options.settings);
	struct doc *given = give_scheduler(admission, settings, request->object);
	struct doc *grouped = grouping_admit(admission->store, settings, given ? doc_root(given) : request->object);
	if (grouped)
		doc_destroy(given);
	return grouped ? grouped : given;
}

int world_admission_check(void *context, struct store_admission *request, struct store_error *error)
{
	const struct world_admission *admission = context;
	struct doc *grouped = group_new_pod(admission, request);
	const struct val *given = request->object;
	if (grouped)
		request->object = doc_root(grouped);
	admission_judge_as_kai(admission->rules, settings_now(admission->options.settings)->group.kai_minimums);
	int rc = admission_check(admission->rules, request, error);
	request->object = given;
	/* What the rules made of it has the changes in it. */
	if (grouped && rc == 0 && !request->replacement)
		request->replacement = grouped;
	else
		doc_destroy(grouped);
	return rc;
}
