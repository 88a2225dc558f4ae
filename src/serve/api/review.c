/* Reviews: "may I", "what may I", "who am I". Nothing is stored; there are two kinds of users. */
#include "serve/api/internal.h"

#include "object/build.h"

#include <string.h>

#define AUTHORIZATION "authorization.k8s.io"
#define AUTHENTICATION "authentication.k8s.io"

static const struct api_review_kind kinds[] = {
	{AUTHENTICATION, "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview", false},
	{AUTHORIZATION, "localsubjectaccessreviews", "localsubjectaccessreview", "LocalSubjectAccessReview", true},
	{AUTHORIZATION, "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview", false},
	{AUTHORIZATION, "selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview", false},
	{AUTHORIZATION, "subjectaccessreviews", "subjectaccessreview", "SubjectAccessReview", false},
};

const struct api_review_kind *api_review_kinds(size_t *count)
{
	*count = sizeof(kinds) / sizeof(kinds[0]);
	return kinds;
}

static const struct api_review_kind *find(const char *group, const char *version, const char *resource)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].group, group) == 0 && strcmp(kinds[i].resource, resource) == 0 &&
		    strcmp(version, "v1") == 0)
			return &kinds[i];
	}
	return NULL;
}

bool api_is_review(const char *group, const char *version, const char *resource)
{
	return find(group, version, resource) != NULL;
}

static bool reads(const char *verb)
{
	static const char *const reading[] = {"get", "list", "watch", "head", "options"};
	for (size_t i = 0; i < sizeof(reading) / sizeof(reading[0]); i++) {
		if (strcmp(verb, reading[i]) == 0)
			return true;
	}
	return false;
}

static struct node *access_status(struct build *build, const struct api_call *call, const struct val *spec)
{
	const struct val *resource = val_get(spec, "resourceAttributes");
	const struct val *other = val_get(spec, "nonResourceAttributes");
	const char *verb = val_str(val_get(resource ? resource : other, "verb"), "");
	bool allowed = !call->user->read_only || reads(verb);
	struct node *status = build_map(build);
	build_put_bool(build, status, "allowed", allowed);
	build_put_string(build, status, "reason", allowed ? "" : "this token may only read");
	return status;
}

/* A list of the one rule there is: everything, with these verbs. */
static struct node *one_rule(struct build *build, const char *const *verbs, const char *const *everything)
{
	struct node *rule = build_map(build), *list = build_list(build), *of = build_list(build);
	for (size_t i = 0; verbs[i]; i++)
		build_append(build, of, build_string(build, verbs[i]));
	build_put(build, rule, "verbs", of);
	for (size_t i = 0; everything[i]; i++) {
		struct node *all = build_list(build);
		build_append(build, all, build_string(build, "*"));
		build_put(build, rule, everything[i], all);
	}
	build_append(build, list, rule);
	return list;
}

static struct node *rules_status(struct build *build, const struct api_call *call)
{
	static const char *const all[] = {"*", NULL}, *const reading_verbs[] = {"get", "list", "watch", NULL},
				 *const get[] = {"get", NULL};
	static const char *const resources[] = {"apiGroups", "resources", NULL}, *const paths[] = {"nonResourceURLs",
	                                                                                           NULL};
	bool reader = call->user->read_only;
	struct node *status = build_map(build);
	build_put(build, status, "resourceRules", one_rule(build, reader ? reading_verbs : all, resources));
	build_put(build, status, "nonResourceRules", one_rule(build, reader ? get : all, paths));
	build_put_bool(build, status, "incomplete", false);
	return status;
}

static struct node *self_status(struct build *build, const struct api_call *call)
{
	struct node *status = build_map(build), *user = build_map(build), *groups = build_list(build);
	build_put_string(build, user, "username", call->user->name);
	if (call->user->group[0])
		build_append(build, groups, build_string(build, call->user->group));
	build_append(build, groups, build_string(build, "system:authenticated"));
	build_put(build, user, "groups", groups);
	build_put(build, status, "userInfo", user);
	return status;
}

void api_review(struct api_call *call)
{
	const struct api_review_kind *kind = find(call->group, call->version, call->resource);
	struct buffer body = {0};
	if (call->request->verb != HTTP_VERB_POST || *call->name) {
		api_not_allowed(call);
		return;
	}
	struct doc *doc = api_body(call);
	if (!doc)
		return;
	const struct val *spec = val_get(doc_root(doc), "spec");
	struct build *build = build_create();
	struct node *root = build_map(build);
	build_put_string(build, root, "kind", kind->kind);
	build_put_string(build, root, "apiVersion", arena_printf(call->arena, "%s/v1", kind->group));
	build_put(build, root, "metadata", build_map(build));
	build_put(build, root, "spec", spec ? build_copy(build, spec) : build_map(build));
	build_put(build, root, "status",
	          strcmp(kind->kind, "SelfSubjectReview") == 0        ? self_status(build, call)
	          : strcmp(kind->kind, "SelfSubjectRulesReview") == 0 ? rules_status(build, call)
	                                                              : access_status(build, call, spec));
	build_write(build, root, DOC_JSON_COMPACT, &body);
	build_destroy(build);
	doc_destroy(doc);
	api_answer(call, 201, &body);
}
