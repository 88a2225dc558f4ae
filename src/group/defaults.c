/* Owns reading the ConfigMap with the defaults of kinds. */
#include "group/defaults.h"

#include <string.h>

static const char *text_at(struct arena *arena, const struct val *item, const char *key)
{
	const char *text = val_str(val_get(item, key), "");
	return *text ? arena_strdup(arena, text) : NULL;
}

/* "Deployment.apps" names the group of the kind too; "Deployment" and no group means that kind of any group. */
static bool read_row(struct arena *arena, const struct val *item, struct group_kind_default *row)
{
	const char *type = text_at(arena, item, "typeName"), *dot = type ? strchr(type, '.') : NULL;
	const char *group = text_at(arena, item, "group");
	if (!type || type == dot)
		return false;
	*row = (struct group_kind_default){
		.api_group = group ? group
	                     : dot ? dot + 1
	                           : GROUP_ANY,
		.kind = dot ? arena_strndup(arena, type, (size_t)(dot - type)) : type,
		.priority_class = text_at(arena, item, "priorityName"),
		.preemptibility = text_at(arena, item, "preemptibility"),
	};
	return true;
}

/* "true" or "false"; anything else is told and means what is usual. */
static bool read_switch(const struct val *data, const char *key, bool usual, struct problems *problems)
{
	const struct val *given = val_get(data, key);
	const char *text = val_str(given, "");
	if (!given || strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return given ? *text == 't' : usual;
	if (problems)
		problem_add(problems, SEVERITY_WARNING, problem_path(problems, "data.%s", key), NULL,
		            "must be \"true\" or \"false\"; %s is taken", usual ? "true" : "false");
	return usual;
}

static void read_rows(const struct val *list, struct arena *arena, struct group_options *options,
                      struct problems *problems)
{
	struct group_kind_default *rows = arena_array(arena, struct group_kind_default, val_count(list));
	const struct val *item;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++) {
		if (read_row(arena, item, &rows[options->default_count]))
			options->default_count++;
		else if (problems)
			problem_add(problems, SEVERITY_WARNING,
			            problem_path(problems, "data.types[%zu].typeName", index), NULL,
			            "must name a kind, such as Job or Deployment.apps; the entry is ignored");
	}
	options->defaults = rows;
}

static void read_types(const struct val *data, struct arena *arena, struct group_options *options,
                       struct problems *problems)
{
	const char *text = val_str(val_get(data, "types"), NULL);
	if (!text)
		return;
	struct error error = {0};
	struct doc *doc = doc_parse_json(text, strlen(text), &error);
	if (doc && val_kind(doc_root(doc)) == VAL_LIST)
		read_rows(doc_root(doc), arena, options, problems);
	else if (problems)
		problem_add(problems, SEVERITY_WARNING, "data.types", NULL,
		            "must be a JSON list of {typeName, priorityName, preemptibility}%s%s; the usual defaults "
		            "are taken",
		            error.text[0] ? ": " : "", error.text);
	doc_destroy(doc);
}

void group_defaults_read(const struct val *config_map, struct arena *arena, struct group_options *options,
                         struct problems *problems)
{
	const struct val *data = val_get(config_map, "data");
	options->defaults = NULL;
	options->default_count = 0;
	options->knative_gang = read_switch(data, "gangScheduleKnative", false, problems);
	options->keep_old_names = read_switch(data, "searchForLegacyPodGroups", false, problems);
	options->ignore_kartas = !read_switch(data, "genericKartaFallback", true, problems);
	read_types(data, arena, options, problems);
}
