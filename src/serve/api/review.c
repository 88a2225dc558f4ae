/* Reviews: "may I", "what may I", "who am I". Nothing is stored; there are two kinds of users. */
#include "serve/api/internal.h"

#include "object/doc.h"

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

static void put_access(struct buffer *out, const struct api_call *call, const struct val *spec)
{
	const struct val *resource = val_get(spec, "resourceAttributes");
	const struct val *other = val_get(spec, "nonResourceAttributes");
	const char *verb = val_str(val_get(resource ? resource : other, "verb"), "");
	bool allowed = !call->user->read_only || reads(verb);
	buffer_puts(out, "{");
	json_put_bool(out, "allowed", allowed);
	json_put_string(out, "reason", allowed ? "" : "this token may only read");
	buffer_puts(out, "}");
}

static void put_rules(struct buffer *out, const struct api_call *call)
{
	const char *verbs = call->user->read_only ? "[\"get\",\"list\",\"watch\"]" : "[\"*\"]";
	buffer_printf(out,
	              "{\"resourceRules\":[{\"verbs\":%s,\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}],"
	              "\"nonResourceRules\":[{\"verbs\":%s,\"nonResourceURLs\":[\"*\"]}],\"incomplete\":false}",
	              verbs, call->user->read_only ? "[\"get\"]" : "[\"*\"]");
}

static void put_self(struct buffer *out, const struct api_call *call)
{
	buffer_puts(out, "{\"userInfo\":{");
	json_put_string(out, "username", call->user->name);
	buffer_puts(out, ",\"groups\":[");
	if (call->user->group[0]) {
		json_quote(out, call->user->group);
		buffer_puts(out, ",");
	}
	buffer_puts(out, "\"system:authenticated\"]}}");
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
	buffer_printf(&body, "{\"kind\":\"%s\",\"apiVersion\":\"%s/v1\",\"metadata\":{},\"spec\":", kind->kind,
	              kind->group);
	if (spec)
		val_write(spec, DOC_JSON_COMPACT, &body);
	else
		buffer_puts(&body, "{}");
	json_put_key(&body, "status");
	if (strcmp(kind->kind, "SelfSubjectReview") == 0)
		put_self(&body, call);
	else if (strcmp(kind->kind, "SelfSubjectRulesReview") == 0)
		put_rules(&body, call);
	else
		put_access(&body, call, spec);
	buffer_puts(&body, "}");
	doc_destroy(doc);
	api_answer(call, 201, &body);
}
