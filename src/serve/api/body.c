/* Request bodies: JSON, YAML and the protobuf that kubectl sends for a few commands. */
#include "serve/api/internal.h"

#include "object/doc.h"
#include "object/yaml_read.h"
#include "serve/api/protobuf.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool content_is(const struct api_call *call, const char *type)
{
	const char *header = http_header(call->request, "content-type");
	size_t length = strlen(type);
	return header && strncasecmp(header, type, length) == 0 &&
	       (header[length] == '\0' || strchr("; \t", header[length]));
}

static struct doc *read_yaml(const char *text, size_t length, struct error *error)
{
	struct yaml_document *docs = NULL;
	size_t count = 0;
	struct doc *doc = NULL;
	if (yaml_read(text, length, &docs, &count, error))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (i == 0)
			doc = docs[i].doc;
		else
			doc_destroy(docs[i].doc);
	}
	free(docs);
	if (!doc)
		error_set(error, ERROR_SYNTAX, "the body is empty");
	return doc;
}

/* The log, indexes and messages hold texts as C does. kube-apiserver refuses the character in names and in keys, and nothing
 * that it accepts needs it. */
static bool holds_nul(struct api_call *call, const struct doc *doc)
{
	struct buffer path = {0};
	bool found = val_find_nul(doc_root(doc), &path);
	if (found)
		api_refuse(call, 422, "Invalid", "%s: a text must not hold the character U+0000; leave it out",
		           path.length ? path.text : "the body");
	buffer_free(&path);
	return found;
}

struct doc *api_body(struct api_call *call)
{
	const char *text = call->request->body;
	size_t length = call->request->body_length;
	struct error error = {0};
	struct doc *doc;
	if (content_is(call, "application/vnd.kubernetes.protobuf")) {
		doc = protobuf_read(text, length, &error);
	} else if (content_is(call, "application/yaml") || content_is(call, "application/apply-patch+yaml")) {
		size_t skip = strspn(text, " \t\r\n");
		doc = text[skip] == '{' ? doc_parse_json(text, length, NULL) : NULL;
		if (!doc)
			doc = read_yaml(text, length, &error);
	} else if (content_is(call, "application/json") || content_is(call, "application/merge-patch+json") ||
	           content_is(call, "application/json-patch+json") ||
	           content_is(call, "application/strategic-merge-patch+json") ||
	           !http_header(call->request, "content-type")) {
		doc = doc_parse_json(text, length, &error);
	} else {
		api_refuse(call, 415, "UnsupportedMediaType",
		           "the body of the request was in an unknown format - accepted media types include: "
		           "application/json, "
		           "application/yaml, application/vnd.kubernetes.protobuf");
		return NULL;
	}
	if (!doc)
		api_refuse(call, error.code == ERROR_LIMIT ? 413 : 400,
		           error.code == ERROR_LIMIT ? "RequestEntityTooLarge" : "BadRequest",
		           "the body of the request cannot be read: %s", error.text);
	if (doc && holds_nul(call, doc)) {
		doc_destroy(doc);
		return NULL;
	}
	return doc;
}
