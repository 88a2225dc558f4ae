/* Owns who waits for the answer to a write: in a local store until the commit, in a mirror until its server has answered. */
#include "local/internal.h"

#include <stdlib.h>

/* ---- tickets of a mirror ---- */

static struct store_ticket *ticket_create(struct store *store, store_done *done, void *context)
{
	struct store_ticket *ticket = base_calloc(1, sizeof(*ticket));
	ticket->done = done;
	ticket->context = context;
	HASH_ADD_PTR(store->tickets, context, ticket);
	return ticket;
}

void store_mirror_drop(struct store *store, struct store_ticket *ticket)
{
	HASH_DEL(store->tickets, ticket);
	free(ticket);
}

static const char *copy(struct arena *arena, const char *text)
{
	return arena_strdup(arena, text ? text : "");
}

void store_mirror_answer(struct store *store, struct store_ticket *ticket, const struct store_error *error)
{
	struct submission submission = {.done = ticket->done, .context = ticket->context, .result = {.code = 200}};
	if (error) {
		submission.arena = submission.result.arena = arena_create();
		store_fail(submission.arena, &submission.result.error, error->code,
		           copy(submission.arena, error->reason), "%s", error->message ? error->message : "");
		submission.result.error.retry_after = error->retry_after;
		submission.result.code = error->code;
	}
	store_mirror_drop(store, ticket);
	vec_push(&store->submissions, submission);
}

/* ---- submissions ---- */

/* What has more than a uid to say keeps the memory of its texts. */
static void keep_answer(struct store *store, struct submission *submission)
{
	struct store_result *result = &submission->result;
	if (result->error.code || result->warning_count || result->item_count) {
		submission->arena = store->scratch;
		store->scratch = NULL;
	} else {
		if (!store->uids)
			store->uids = arena_create();
		result->uid = arena_strdup(store->uids, result->uid);
		result->arena = NULL;
		arena_reset(store->scratch);
	}
	vec_push(&store->submissions, *submission);
}

void store_submit(struct store *store, const struct store_request *request, store_done *done, void *context)
{
	struct submission submission = {.done = done, .context = context};
	struct store_result *result = &submission.result;
	struct store_ticket *ticket = store->mirror.forward ? ticket_create(store, done, context) : NULL;
	bool forwarded = false;
	if (!store->scratch)
		store->scratch = arena_create();
	result->arena = store->scratch;
	write_with_ticket(store, request, result, ticket, &forwarded);
	if (forwarded) {
		store_result_clear(result);
		arena_reset(store->scratch);
		return;
	}
	if (ticket)
		store_mirror_drop(store, ticket);
	keep_answer(store, &submission);
}

void store_submit_forget(struct store *store, const void *context)
{
	struct store_ticket *ticket, *kept = NULL;
	for (size_t i = 0; i < store->submissions.count; i++)
		if (store->submissions.items[i].context == context)
			store->submissions.items[i].done = NULL;
	/* The server still owes an answer: the ticket stays, under nobody's name. */
	for (;;) {
		HASH_FIND_PTR(store->tickets, &context, ticket);
		if (!ticket)
			break;
		HASH_DEL(store->tickets, ticket);
		ticket->done = NULL;
		ticket->context = kept;
		kept = ticket;
	}
	while (kept) {
		ticket = kept;
		kept = ticket->context;
		ticket->context = NULL;
		HASH_ADD_PTR(store->tickets, context, ticket);
	}
}

/* Done functions may submit again: that belongs to the next turn. */
void submit_acknowledge(struct store *store, const struct error *failure)
{
	size_t count = store->submissions.count;
	struct submission *items = store->submissions.items;
	struct arena *uids = store->uids;
	store->submissions.items = NULL;
	store->submissions.count = store->submissions.capacity = 0;
	store->uids = NULL;
	for (size_t i = 0; i < count; i++) {
		struct store_result *result = &items[i].result;
		if (failure && !result->error.code) {
			store_result_clear(result);
			if (!items[i].arena)
				items[i].arena = result->arena = arena_create();
			store_fail(result->arena, &result->error, 500, "InternalError",
			           "the change could not be saved: %s", failure->text);
			result->code = 500;
		}
		if (items[i].done)
			items[i].done(items[i].context, result);
		store_result_clear(result);
		arena_destroy(items[i].arena);
	}
	free(items);
	arena_destroy(uids);
}

void submit_free(struct store *store)
{
	struct store_ticket *ticket, *next;
	HASH_ITER(hh, store->tickets, ticket, next)
		store_mirror_drop(store, ticket);
	for (size_t i = 0; i < store->submissions.count; i++) {
		store_result_clear(&store->submissions.items[i].result);
		arena_destroy(store->submissions.items[i].arena);
	}
	vec_free(&store->submissions);
	arena_destroy(store->scratch);
	arena_destroy(store->uids);
}
