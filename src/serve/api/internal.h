/* What the files of the API front end share. */
#ifndef SERVE_API_INTERNAL_H
#define SERVE_API_INTERNAL_H

#include "serve/http/auth.h"
#include "object/json.h"
#include "serve/tls/pki.h"
#include "serve/api/serve.h"

struct watch;

struct serve {
	struct serve_options options;
	struct store *store;
	const struct clock_source *clock;
	struct http_server *http;
	struct pki *pki;
	struct auth auth;
	struct buffer url, browser_url, kubeconfig;
	struct http_routes routes;     /* of other layers */
	struct watch *watches, *ready; /* all, and those that have something to send */
	uint64_t watch_count;          /* ever opened */
	struct arena *scratch;         /* of one event */
	bool chores_left, draining;
};

/* What the client wants to read. */
enum api_form {
	API_PLAIN,     /* the object or list itself */
	API_TABLE,     /* meta.k8s.io Table */
	API_METADATA,  /* PartialObjectMetadata, or its list */
	API_DISCOVERY, /* apidiscovery.k8s.io APIGroupDiscoveryList */
};

#define API_MAX_SEGMENTS 12

/* One request on its way through. Everything lives in the arena of the request. */
struct api_call {
	struct serve *serve;
	struct store *store;
	struct http_request *request;
	struct http_response *response;
	struct arena *arena;
	const struct auth_user *user;
	struct http_query query;
	const char *segments[API_MAX_SEGMENTS]; /* decoded */
	size_t segment_count;
	enum api_form form;
	const char *form_version; /* of the Table or discovery document: "v1", "v1beta1", "v2", "v2beta1" */
	bool yaml;                /* answer in YAML */
	/* The resource; strings are "" when not given. */
	const struct store_api *api;
	const char *group, *version, *resource, *namespace_, *name, *subresource;
	bool watch;
};

/* ---- api_answer.c ---- */
/* Sends JSON (or YAML when asked for); takes over the body. */
void api_answer(struct api_call *call, int code, struct buffer *body);
void api_fail(struct api_call *call, const struct store_error *error);
/* A Status with this reason; details about the resource of the call when there is one. */
void api_refuse(struct api_call *call, int code, const char *reason, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void api_not_found(struct api_call *call); /* the path itself */
void api_not_allowed(struct api_call *call);
void api_warn(struct api_call *call, const char *text); /* before the answer */
void api_text(struct api_call *call, int code, const char *text);
/* Answers 304 when the client has this version already; true then. */
bool api_unchanged(struct api_call *call, const char *tag);

/* ---- api_accept.c ---- */
/* Reads Accept into form, form_version and yaml. -1: nothing we have. */
int api_accept(struct api_call *call);

/* ---- api_route.c ---- */
void api_handle(void *context, struct http_request *request, struct http_response *response);
void api_head(void *context, struct http_request *request, struct http_response *response);

/* ---- api_discovery.c ---- */
void api_groups(struct api_call *call);    /* /apis */
void api_core(struct api_call *call);      /* /api */
void api_one_group(struct api_call *call); /* /apis/GROUP */
void api_resources(struct api_call *call); /* /api/v1, /apis/GROUP/VERSION */
bool api_has_subresource(const struct store_api *api, const char *name);

/* ---- api_read.c ---- */
void api_get(struct api_call *call);
void api_list(struct api_call *call);
/* Answers with one object in the form the client wants. NULL api: as it is. */
void api_answer_object(struct api_call *call, int code, struct store_object *object, const struct store_api *api);
void api_answer_items(struct api_call *call, struct store_object **items, size_t count, uint64_t version,
                      const char *continue_, uint64_t remaining);
/* PartialObjectMetadata of an object. */
void api_put_metadata(struct buffer *out, const struct val *root, const char *version);
/* Selectors of the query; -1 when answered with an error. */
int api_selector(struct api_call *call, struct store_selector *selector);
enum store_subresource api_subresource(const struct api_call *call);
/* A number of the query; -1 when answered with an error. */
int api_number(struct api_call *call, const char *name, int64_t fallback, int64_t *number);
/* Whether a flag of the query is set (true, 1, or without a value). */
bool api_flag(const struct api_call *call, const char *name);

/* ---- api_write.c ---- */
void api_create(struct api_call *call);
void api_update(struct api_call *call);
void api_patch(struct api_call *call);
void api_delete(struct api_call *call);
void api_delete_collection(struct api_call *call);

/* ---- api_body.c ---- */
/* The body as a document by its Content-Type: JSON, YAML or Kubernetes protobuf. NULL when answered with an error. */
struct doc *api_body(struct api_call *call);

/* ---- api_fields.c ---- */
/* Judges fields that the kind does not have, as fieldValidation asks; may replace the document. -1 when refused. */
int api_fields(struct api_call *call, struct doc **doc, bool patch);

/* ---- api_review.c: authorization and authentication reviews ---- */
bool api_is_review(const char *group, const char *version, const char *resource);
void api_review(struct api_call *call);
struct api_review_kind {
	const char *group, *resource, *singular, *kind;
	bool namespaced;
};
const struct api_review_kind *api_review_kinds(size_t *count);

/* ---- api_watch.c ---- */
void api_watch(struct api_call *call);
/* Sends what has been committed to watches that wait. */
void api_watch_pump(struct serve *serve);
/* Forgets all watches before the store goes. */
void api_watch_end(struct serve *serve);

/* ---- api_openapi.c ---- */
void api_openapi_v2(struct api_call *call);
void api_openapi_v3(struct api_call *call);

/* ---- api_table.c ---- */
/* {"kind":"Table",...} with these rows. columns false: columnDefinitions is null (later events of a watch). */
void api_table(struct buffer *out, struct api_call *call, const struct store_api *api, const char *form_version,
               bool columns, struct store_object **items, size_t count, uint64_t version, const char *continue_,
               uint64_t remaining);

#endif
