/* Owns what whoever submitted a write is told: that the server accepted it, or that it did not. An answer that is no success is
 * no proof that nothing was done, so the server is asked for the object first, and what it has decides. */
#include "remote/internal.h"

#include <stdlib.h>
#include <string.h>

static void free_claim(struct claim *claim)
{
	if (!claim)
		return;
	free(claim->uid);
	free(claim->node);
	free(claim->reason);
	free(claim->message);
	free(claim);
}

void claim_free(struct outgoing *outgoing)
{
	if (outgoing->ticket)
		store_mirror_drop(outgoing->about->remote->store, outgoing->ticket);
	outgoing->ticket = NULL;
	free_claim(outgoing->claim);
	outgoing->claim = NULL;
	free(outgoing->uid);
	free(outgoing->node);
}

/* No answer has no code of its own in HTTP: the request timed out. */
static int code_of(const struct remote_answer *answer)
{
	return answer->code && !answer->problem[0] ? answer->code : 504;
}

void claim_keep(struct outgoing *from, struct outgoing *get, const struct store_error *error)
{
	if (!from->ticket)
		return;
	struct claim *claim = base_calloc(1, sizeof(*claim));
	*claim = (struct claim){
		.binding = from->binding,
		.deletion = strcmp(from->method, "DELETE") == 0,
		.uid = from->uid,
		.node = from->node,
		.code = error->code,
		.retry_after = error->retry_after,
		.reason = base_strdup(error->reason),
		.message = base_strdup(error->message),
	};
	get->claim = claim;
	get->ticket = from->ticket;
	from->ticket = NULL;
	from->uid = from->node = NULL;
}

void claim_move(struct outgoing *from, struct outgoing *get, const struct remote_answer *answer)
{
	if (!from->ticket)
		return;
	struct doc *doc = doc_parse_json(answer->body, answer->length, NULL);
	claim_keep(from, get,
	           &(struct store_error){.code = code_of(answer),
	                                 .reason = doc ? val_str(val_get(doc_root(doc), "reason"), "") : "",
	                                 .message = remote_answer_message(answer),
	                                 .retry_after = answer->retry_after});
	doc_destroy(doc);
}

void claim_accept(struct outgoing *outgoing)
{
	if (!outgoing->ticket)
		return;
	store_mirror_answer(outgoing->about->remote->store, outgoing->ticket, NULL);
	outgoing->ticket = NULL;
}

void claim_refuse(struct remote *remote, struct store_ticket *ticket, int code, const char *reason, const char *message)
{
	if (ticket)
		store_mirror_answer(remote->store, ticket,
		                    &(struct store_error){.code = code, .reason = reason, .message = message});
}

static bool was_carried_out(const struct claim *claim, const struct val *root)
{
	const struct val *metadata = val_get(root, "metadata");
	bool same = root && (!claim->uid || strcmp(val_str(val_get(metadata, "uid"), ""), claim->uid) == 0);
	if (claim->deletion)
		return !same || val_get(metadata, "deletionTimestamp");
	return claim->binding && same && claim->node &&
	       strcmp(val_str(val_path(root, "spec", "nodeName", NULL), ""), claim->node) == 0;
}

bool claim_settle(struct outgoing *get, const struct val *root, bool known)
{
	struct claim *claim = get->claim;
	if (!claim)
		return true;
	if (known && was_carried_out(claim, root)) {
		claim_accept(get);
		return true;
	}
	store_mirror_answer(get->about->remote->store, get->ticket,
	                    &(struct store_error){.code = claim->code,
	                                          .reason = claim->reason,
	                                          .message = claim->message,
	                                          .retry_after = claim->retry_after});
	get->ticket = NULL;
	return false;
}
