/* Owns what a Job gets that depends on who it is: the labels of its pods and the selector that finds them. */
#include "serve/api/defaults.h"

#include "object/build.h"

#include <string.h>

static struct node *copy_of(struct build *build, const struct val *map)
{
	return val_kind(map) == VAL_MAP ? build_copy(build, map) : build_map(build);
}

struct doc *defaults_job(const struct val *job)
{
	const struct val *spec = val_get(job, "spec"), *template_ = val_get(spec, "template");
	const char *uid = val_str(val_path(job, "metadata", "uid", NULL), "");
	const char *name = val_str(val_path(job, "metadata", "name", NULL), "");
	if (val_kind(template_) != VAL_MAP || val_get(spec, "selector") || !*uid || !*name ||
	    val_bool(val_get(spec, "manualSelector"), false))
		return NULL;
	const char *const labels[][2] = {
		{"batch.kubernetes.io/controller-uid", uid},
		{"batch.kubernetes.io/job-name", name},
		{"controller-uid", uid},
		{"job-name", name},
	};
	struct build *build = build_create();
	struct node *root = build_copy(build, job), *new_spec = build_copy(build, spec),
		    *new_template = build_copy(build, template_);
	struct node *metadata = copy_of(build, val_get(template_, "metadata"));
	struct node *all = copy_of(build, val_path(template_, "metadata", "labels", NULL));
	struct node *selector = build_map(build), *matched = build_map(build);
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		build_put_string(build, all, labels[i][0], labels[i][1]);
	build_put_string(build, matched, labels[0][0], uid);
	build_put(build, selector, "matchLabels", matched);
	build_put(build, metadata, "labels", all);
	build_put(build, new_template, "metadata", metadata);
	build_put(build, new_spec, "template", new_template);
	build_put(build, new_spec, "selector", selector);
	build_put(build, root, "spec", new_spec);
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}
