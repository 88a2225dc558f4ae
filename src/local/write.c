/* Owns which request is carried out by what, and the faults that tests put in between. */
#include "local/draft.h"

#include <stdlib.h>

static int write_main(struct draft *draft)
{
	const struct store_request *request = draft->request;
	if (request->verb == STORE_CREATE) {
		draft->root = tree_of(draft->arena, request->body);
		if (!*draft->namespace_ && draft->bucket->type.namespaced)
			draft->namespace_ = val_str(val_path(request->body, "metadata", "namespace", NULL), "");
		return draft_create(draft);
	}
	if (request->verb == STORE_UPDATE) {
		/* A body that names another object is a bad request, whether or not the named one exists. */
		draft->root = tree_of(draft->arena, request->body);
		if (metadata_identify(draft) < 0 || draft_find(draft) < 0)
			return -1;
		return draft_update(draft);
	}
	if (request->patch == STORE_PATCH_APPLY)
		return apply_merge(draft);
	if (draft_find(draft) < 0)
		return -1;
	draft->root = tree_of(draft->arena, store_object_root(draft->old, draft->api));
	return patch_apply(draft) < 0 ? -1 : draft_update(draft);
}

/* PUT of a namespace's finalize: only spec.finalizers is taken. */
static int write_finalize(struct draft *draft)
{
	if (draft->bucket != draft->store->namespaces || draft->request->verb != STORE_UPDATE)
		return draft_refuse(draft, 405, "MethodNotAllowed",
		                    "the server does not allow this method on the requested resource");
	if (draft_find(draft) < 0)
		return -1;
	const struct val *finalizers = val_path(draft->request->body, "spec", "finalizers", NULL);
	draft->root = tree_of(draft->arena, draft->old->root);
	tree_put(draft->arena, tree_need_map(draft->arena, draft->root, "spec"), "finalizers",
	         finalizers ? tree_of(draft->arena, finalizers) : tree_list(draft->arena));
	return draft_settle(draft);
}

static int carry_out(struct draft *draft)
{
	const struct store_request *request = draft->request;
	bool creates = request->verb == STORE_CREATE;
	switch (request->subresource) {
	case STORE_STATUS:
		if (creates || !draft->api->has_status)
			break;
		return write_main(draft);
	case STORE_MAIN:
		return write_main(draft);
	case STORE_SCALE:
		if (creates || !draft->api->has_scale)
			break;
		return write_scale(draft);
	case STORE_BINDING:
		if (!creates || draft->bucket != draft->store->pods)
			break;
		return write_binding(draft);
	case STORE_EVICTION:
		if (!creates || draft->bucket != draft->store->pods)
			break;
		return write_eviction(draft);
	case STORE_FINALIZE:
		return write_finalize(draft);
	}
	return draft_refuse(draft, 405, "MethodNotAllowed",
	                    "the server does not allow this method on the requested resource");
}

void store_set_fault(struct store *store, store_fault *fault, void *context)
{
	store->fault = fault;
	store->fault_context = context;
}

static int fail_with(const struct store_fault *fault, struct store_result *result)
{
	static const struct {
		int code;
		const char *reason, *message;
	} table[] = {
		{403, "Forbidden", "the request was refused by a policy"},
		{409, "Conflict", "the object has been modified; please apply your changes to the latest version"},
		{429, "TooManyRequests", "too many requests, please try again later"},
		{504, "Timeout", "request did not complete within the allotted timeout"},
		{500, "InternalError", "an internal error occurred"}, /* and everything else */
	};
	size_t row = 0;
	while (table[row].code != fault->code && table[row].code != 500)
		row++;
	struct arena *arena = result->arena;
	store_result_clear(result);
	*result = (struct store_result){.arena = arena, .code = fault->code};
	store_fail(arena, &result->error, fault->code, table[row].reason, "%s", table[row].message);
	result->error.retry_after = fault->retry_after;
	return -1;
}

/* `is_new`: the store has something else than before. */
static int write_request(struct store *store, const struct store_request *request, struct store_result *result,
                         bool *is_new)
{
	int status;
	*is_new = true;
	if (request->verb == STORE_DELETE) {
		status = write_delete(store, request, result);
	} else if (request->verb == STORE_DELETE_COLLECTION) {
		status = write_delete_collection(store, request, result);
	} else {
		struct draft draft;
		draft_begin(&draft, store, request, result);
		status = carry_out(&draft);
		*is_new = !draft.old || result->object != draft.old;
		draft_end(&draft);
	}
	if (status < 0)
		result->code = result->error.code;
	return status;
}

int write_with_ticket(struct store *store, const struct store_request *request, struct store_result *result,
                      struct store_ticket *ticket, bool *forwarded)
{
	struct store_fault fault = {0};
	if (store->fault)
		fault = store->fault(store->fault_context, request);
	if (fault.code && !fault.after)
		return fail_with(&fault, result);
	bool is_new;
	int status = write_request(store, request, result, &is_new);
	/* Where nobody waits for the answer, a patch that changes nothing does not bother the server: if that has something
	 * else by now, its watch says so, and whoever patched decides anew. */
	bool is_idle = request->verb == STORE_PATCH && !ticket && !is_new;
	bool forward = status == 0 && store->mirror.forward && !request->dry_run && !is_idle;
	if (forward)
		store->mirror.forward(store->mirror.context, request, result->object, fault.code ? NULL : ticket);
	if (forwarded)
		*forwarded = forward && !fault.code;
	return fault.code ? fail_with(&fault, result) : status;
}

int store_write(struct store *store, const struct store_request *request, struct store_result *result)
{
	return write_with_ticket(store, request, result, NULL, NULL);
}
