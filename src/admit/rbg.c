/* Owns the decoding of RoleBasedGroup and CoordinatedPolicy as whole objects. */
#include "admit/rbg_internal.h"

#include <string.h>

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

/* What a conversion put aside in an annotation; the document belongs to the spec. */
static const struct val *read_annotation(const struct decode *decode, const struct val *metadata, const char *key,
                                         struct doc **doc)
{
	struct error error = {0};
	const char *text = val_str(val_path(metadata, "annotations", key, NULL), NULL);
	if (!text)
		return NULL;
	*doc = doc_parse_json(text, strlen(text), &error);
	if (!*doc)
		decode_error(decode, PATH_KEY(PATH_KEY(PATH_KEY(NULL, "metadata"), "annotations"), key),
		             "remove the annotation", "it is not JSON: %s", error.text);
	return *doc ? doc_root(*doc) : NULL;
}

void rbg_read_scheduling(const struct decode *decode, const struct decode_path *path, const struct val *policy,
                         const char **queue, const char **priority_class)
{
	static const char *const known[] = {"kubeScheduling", "volcanoScheduling", "platoonScheduling"};
	decode_known(decode, path, policy, known, 3);
	for (int i = 1; i < 3; i++) {
		const struct val *map = decode_map(decode, path, policy, known[i]);
		const char *name = decode_string(decode, PATH_KEY(path, known[i]), map, "queue");
		const char *class = decode_string(decode, PATH_KEY(path, known[i]), map, "priorityClassName");
		*queue = name ? name : *queue;
		*priority_class = class ? class : *priority_class;
	}
}

static void read_policy(const struct decode *decode, const struct val *spec, const struct val *metadata,
                        struct rbg_spec *out)
{
	const struct val *policy = decode_map(decode, spec_path, spec, "podGroupPolicy");
	if (!policy)
		policy = read_annotation(decode, metadata, RBG_POD_GROUP_ANNOTATION, &out->docs[0]);
	out->is_grouped =
		val_count(policy) > 0 ||
		strcmp(val_str(val_path(metadata, "annotations", RBG_GANG_ANNOTATION, NULL), ""), "true") == 0;
	out->queue = val_str(val_path(metadata, "annotations", RBG_GANG_ANNOTATION "-volcano-queue", NULL), NULL);
	out->priority_class =
		val_str(val_path(metadata, "annotations", RBG_GANG_ANNOTATION "-volcano-priority", NULL), NULL);
	rbg_read_scheduling(decode, PATH_KEY(spec_path, "podGroupPolicy"), policy, &out->queue, &out->priority_class);
}

static void read_coordinations(const struct decode *decode, const struct val *spec, const struct val *metadata,
                               struct rbg_spec *out)
{
	const struct val *list = decode_list(decode, spec_path, spec, "coordination");
	const struct val *alias = decode_list(decode, spec_path, spec, "coordinationRequirements");
	const struct decode_path *path = PATH_KEY(spec_path, alias ? "coordinationRequirements" : "coordination");
	if (alias) {
		decode_warning(decode, path, "write coordination", "coordinationRequirements is read as coordination");
		if (list)
			decode_error(decode, path, "keep one of the two", "coordination is given twice");
		list = alias;
	}
	if (!list)
		list = read_annotation(decode, metadata, RBG_COORDINATION_ANNOTATION, &out->docs[1]);
	out->coordinations = rbg_read_coordinations(decode, path, list, &out->coordination_count);
}

int rbg_decode(const struct val *object, struct arena *arena, struct rbg_spec *out, struct problems *problems)
{
	static const char *const known[] = {"roles", "roleTemplates", "podGroupPolicy", "coordination",
	                                    "coordinationRequirements"};
	struct decode decode = {.arena = arena, .problems = problems};
	size_t errors = problems->errors;
	*out = (struct rbg_spec){0};
	struct metadata meta = decode_metadata(&decode, object, true);
	const struct val *spec = decode_spec(&decode, object);
	out->namespace_ = meta.namespace_;
	out->name = meta.name;
	out->uid = meta.uid;
	out->deleting = meta.deleting;
	if (*meta.name && !name_is_label(meta.name))
		decode_error(&decode, PATH_KEY(PATH_KEY(NULL, "metadata"), "name"),
		             "use lower-case letters, digits and '-', at most 63 characters",
		             "%s is not a DNS label, and the pods take their names from it",
		             decode_show(problems->arena, meta.name));
	decode_known(&decode, spec_path, spec, known, sizeof(known) / sizeof(known[0]));
	rbg_check_annotations(&decode, PATH_KEY(PATH_KEY(NULL, "metadata"), "annotations"),
	                      val_get(meta.val, "annotations"));
	rbg_read_roles(&decode, spec, out);
	rbg_check_roles(&decode, out);
	read_policy(&decode, spec, meta.val, out);
	read_coordinations(&decode, spec, meta.val, out);
	rbg_check_coordinations(out, problems);
	return problems->errors > errors ? -1 : 0;
}

void rbg_release(struct rbg_spec *spec)
{
	doc_destroy(spec->docs[0]);
	doc_destroy(spec->docs[1]);
	spec->docs[0] = spec->docs[1] = NULL;
}

int rbg_policy_decode(const struct val *object, struct arena *arena, struct rbg_policy *out, struct problems *problems)
{
	static const char *const known[] = {"policies", "targetRef"};
	struct decode decode = {.arena = arena, .problems = problems};
	size_t errors = problems->errors;
	*out = (struct rbg_policy){0};
	struct metadata meta = decode_metadata(&decode, object, true);
	const struct val *spec = decode_spec(&decode, object);
	const struct decode_path *path = PATH_KEY(spec_path, "policies");
	decode_known(&decode, spec_path, spec, known, 2);
	out->namespace_ = meta.namespace_;
	out->name = meta.name;
	const struct val *reference = decode_map(&decode, spec_path, spec, "targetRef");
	out->target = decode_string(&decode, PATH_KEY(spec_path, "targetRef"), reference, "name");
	if (!out->target)
		out->target = out->name;
	const struct val *list = decode_list(&decode, spec_path, spec, "policies");
	if (val_count(list) == 0)
		decode_error(&decode, path, "add a policy", "there are no policies");
	out->coordinations = rbg_read_coordinations(&decode, path, list, &out->coordination_count);
	for (size_t i = 0; i < out->coordination_count; i++)
		out->coordinations[i].owner = out->name;
	return problems->errors > errors ? -1 : 0;
}

int rbg_set_decode(const struct val *object, struct arena *arena, struct rbg_set *out, struct problems *problems)
{
	static const char *const known[] = {"replicas", "groupTemplate", "template"};
	static const char *const inner[] = {"labels", "annotations", "spec", "metadata"};
	struct decode decode = {.arena = arena, .problems = problems};
	const struct decode_path *path = PATH_KEY(spec_path, "groupTemplate");
	size_t errors = problems->errors;
	*out = (struct rbg_set){.replicas = 1, .path = "spec.groupTemplate.spec"};
	struct metadata meta = decode_metadata(&decode, object, true);
	const struct val *spec = decode_spec(&decode, object);
	decode_known(&decode, spec_path, spec, known, 3);
	out->namespace_ = meta.namespace_;
	out->name = meta.name;
	decode_int(&decode, spec_path, spec, "replicas", 0, RBG_MOST_GROUPS, &out->replicas);
	const struct val *group = decode_map(&decode, spec_path, spec, "groupTemplate");
	decode_known(&decode, path, group, inner, 4);
	out->labels = decode_map(&decode, path, group, "labels");
	out->annotations = decode_map(&decode, path, group, "annotations");
	out->template = decode_map(&decode, path, group, "spec");
	const struct val *flat = decode_map(&decode, spec_path, spec, "template");
	if (flat && out->template)
		decode_error(&decode, PATH_KEY(spec_path, "template"), "keep groupTemplate",
		             "template and groupTemplate exclude each other");
	if (!out->template && flat) {
		out->template = flat;
		out->path = "spec.template";
	}
	if (!out->template)
		decode_error(&decode, PATH_KEY(path, "spec"), "describe the groups", "the set has no template");
	return problems->errors > errors ? -1 : 0;
}
