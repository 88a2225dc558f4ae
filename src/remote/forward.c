/* Owns turning a write of the mirror into a request of the API. */
#include "remote/internal.h"

#include "object/build.h"

#include <stdlib.h>
#include <string.h>

#define MOST_COURTESIES 4096

static char *json_of(const struct val *val)
{
	struct buffer out = {0};
	val_write(val, DOC_JSON_COMPACT, &out);
	return out.text;
}

static const char *patch_type(enum store_patch patch)
{
	switch (patch) {
	case STORE_PATCH_JSON:
		return "application/json-patch+json";
	case STORE_PATCH_MERGE:
		return "application/merge-patch+json";
	case STORE_PATCH_STRATEGIC:
		return "application/strategic-merge-patch+json";
	default:
		return "application/apply-patch+yaml";
	}
}

static char *delete_options(const struct store_delete *options)
{
	static const char *const propagation[] = {NULL, "Background", "Foreground", "Orphan"};
	struct buffer out = {0};
	struct build *build = build_create();
	struct node *root = build_map(build);
	build_put_string(build, root, "apiVersion", "v1");
	build_put_string(build, root, "kind", "DeleteOptions");
	if (options->has_grace)
		build_put_int(build, root, "gracePeriodSeconds", options->grace);
	if (propagation[options->propagation])
		build_put_string(build, root, "propagationPolicy", propagation[options->propagation]);
	if (options->uid && options->uid[0]) {
		struct node *preconditions = build_map(build);
		build_put_string(build, preconditions, "uid", options->uid);
		build_put(build, root, "preconditions", preconditions);
	}
	build_write(build, root, DOC_JSON_COMPACT, &out);
	build_destroy(build);
	return out.text;
}

static const char *subresource_of(enum store_subresource subresource)
{
	switch (subresource) {
	case STORE_STATUS:
		return "status";
	case STORE_SCALE:
		return "scale";
	case STORE_BINDING:
		return "binding";
	case STORE_EVICTION:
		return "eviction";
	case STORE_FINALIZE:
		return "finalize";
	default:
		return NULL;
	}
}

static void add_query(struct outgoing *outgoing, const struct store_request *request)
{
	struct buffer path = {0};
	buffer_printf(&path, "%s?fieldManager=%s%s", outgoing->path, request->manager,
	              request->force ? "&force=true" : "");
	free(outgoing->path);
	outgoing->path = path.text;
}

/* A lease that is renewed late is lost, and a gang that is bound late waits for nothing. */
static enum rank rank_of(const struct store_request *request, const struct store_type *type)
{
	if (request->subresource == STORE_BINDING || request->subresource == STORE_EVICTION ||
	    request->verb == STORE_DELETE || strcmp(type->kind, "Lease") == 0)
		return RANK_FIRST;
	if (strcmp(type->kind, "Event") == 0)
		return RANK_LAST;
	return request->subresource == STORE_STATUS ? RANK_STATUS : RANK_USUAL;
}

/* Whether the answers of one version look different in another. */
static bool is_foreign(const struct store_api *asked, const struct store_api *shown)
{
	return asked != shown && (strcmp(asked->group, shown->group) != 0 || asked->type->one_form);
}

/* Events must not pile up while the server is slow or away: by then decisions are what counts. */
static bool is_too_much(struct remote *remote, const struct store_request *request, const struct store_type *type)
{
	if (rank_of(request, type) != RANK_LAST || remote->courtesies < MOST_COURTESIES || follow_has(remote, type))
		return false;
	remote->counts.dropped++;
	return true;
}

/* What whoever waits for the answer asked for, as far as it can be seen from the object afterwards. */
static void take_ticket(struct outgoing *outgoing, const struct store_request *request, struct store_ticket *ticket)
{
	outgoing->ticket = ticket;
	if (!ticket)
		return;
	const char *uid = request->verb == STORE_DELETE ? request->options.uid
	                  : outgoing->binding ? val_str(val_path(request->body, "metadata", "uid", NULL), NULL)
	                                      : NULL;
	const char *node = outgoing->binding ? val_str(val_path(request->body, "target", "name", NULL), NULL) : NULL;
	outgoing->uid = uid && uid[0] ? base_strdup(uid) : NULL;
	outgoing->node = node ? base_strdup(node) : NULL;
}

/* Controllers write in the version that comes first. Where all have one form, the one that this server has will do; a whole
 * object says its version itself. */
static const struct store_api *served_api(const struct remote *remote, const struct store_request *request)
{
	const struct store_type *type = request->api->type;
	bool whole = request->verb == STORE_CREATE || request->verb == STORE_UPDATE;
	return !type->one_form && !whole && follow_has(remote, type) ? follow_api(remote, type) : request->api;
}

void write_forward(void *context, const struct store_request *request, const struct store_object *object,
                   struct store_ticket *ticket)
{
	static const char *const methods[] = {
		[STORE_CREATE] = "POST", [STORE_UPDATE] = "PUT", [STORE_PATCH] = "PATCH", [STORE_DELETE] = "DELETE"};
	struct remote *remote = context;
	/* Nobody above asks for this one; single deletes do the same. */
	if (request->verb == STORE_DELETE_COLLECTION) {
		claim_refuse(remote, ticket, 405, "MethodNotAllowed", "a mirror deletes objects one by one");
		return;
	}
	const struct store_type *type = request->api->type;
	bool creates = request->verb == STORE_CREATE && request->subresource == STORE_MAIN;
	const char *name = creates && object ? object->name : request->name;
	const char *namespace_ = object ? object->namespace_ : request->namespace_ ? request->namespace_ : "";
	if (is_too_much(remote, request, type)) {
		claim_refuse(remote, ticket, 429, "TooManyRequests", "too many events wait to be sent");
		store_mirror_remove(remote->store, type, namespace_, name);
		return;
	}
	struct assumed *assumed = write_about(remote, type, namespace_, name);
	struct outgoing *outgoing = base_calloc(1, sizeof(*outgoing));
	outgoing->about = assumed;
	outgoing->method = methods[request->verb];
	const struct store_api *api = served_api(remote, request);
	outgoing->path = write_path(assumed, api, subresource_of(request->subresource), creates);
	outgoing->binding = request->subresource == STORE_BINDING;
	outgoing->terse = outgoing->binding || request->subresource == STORE_EVICTION ||
	                  request->subresource == STORE_SCALE || request->verb == STORE_DELETE;
	outgoing->rank = rank_of(request, type);
	take_ticket(outgoing, request, ticket);
	remote->courtesies += outgoing->rank == RANK_LAST;
	outgoing->foreign = is_foreign(api, follow_api(remote, type));
	if (request->verb == STORE_DELETE)
		outgoing->body = delete_options(&request->options);
	else if (creates && object && !val_str(val_path(request->body, "metadata", "name", NULL), NULL))
		outgoing->body = json_of(object->root); /* with the name that was made up for it */
	else
		outgoing->body = json_of(request->body);
	if (request->verb == STORE_PATCH)
		outgoing->content_type = patch_type(request->patch);
	if (request->manager && request->manager[0] && request->verb != STORE_DELETE)
		add_query(outgoing, request);
	if (creates && object)
		pending_creates_add(outgoing, object->uid);
	pending_creates_hold(outgoing, object);
	outgoing->term = fence_term(assumed);
	write_add(assumed, outgoing);
	/* What the mirror does not show it does not keep either. */
	if (!assumed->followed)
		store_mirror_remove(remote->store, type, namespace_, name);
}
