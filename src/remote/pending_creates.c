/* Owns objects that the server has not created yet. Only the server gives out uids, so what we create has an assumed one
 * until the answer comes. Writes that name it (children with their owner, events) wait for the answer and then go out
 * with the real uid, and the mirror's objects that name it are corrected at the same moment. */
#include "remote/internal.h"

#include "object/build.h"

#include <stdlib.h>
#include <string.h>

static struct pending_create *find(const struct remote *remote, const char *uid)
{
	struct pending_create *found;
	HASH_FIND_STR(remote->pending_creates, uid, found);
	return found;
}

void pending_creates_add(struct assumed *assumed, const char *uid)
{
	/* What the server has of that name may be a predecessor. */
	const char *known =
		assumed->server ? val_str(val_path(doc_root(assumed->server), "metadata", "uid", NULL), "") : "";
	if (assumed->create || !uid[0] || strcmp(known, uid) == 0)
		return;
	struct pending_create *create = base_calloc(1, sizeof(*create));
	create->uid = base_strdup(uid);
	assumed->create = create;
	HASH_ADD_KEYPTR(hh, assumed->remote->pending_creates, create->uid, strlen(create->uid), create);
}

static void wait_for(struct remote *remote, struct outgoing *outgoing, const char *uid)
{
	struct pending_create *create = find(remote, uid);
	if (!create || create == outgoing->about->create)
		return;
	vec_push(&create->waiting, outgoing);
	outgoing->holds++;
}

void pending_creates_hold(struct outgoing *outgoing, const struct store_object *object)
{
	struct remote *remote = outgoing->about->remote;
	const struct val *reference;
	if (!remote->pending_creates || !object)
		return;
	for (struct val_iter it = val_iter(val_path(object->root, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &reference);)
		wait_for(remote, outgoing, val_str(val_get(reference, "uid"), ""));
	wait_for(remote, outgoing, val_str(val_path(object->root, "involvedObject", "uid", NULL), ""));
}

/* ---- from the assumed uid to the real one ---- */

/* A copy in which every text that is `from` is `to`: references to owners, events and preconditions have it as a uid, pods
 * of Jobs as a label. Names that were made from it stay, because others have them by now. */
static struct node *copy_with(struct build *build, const struct val *val, const char *from, const char *to)
{
	enum val_kind kind = val_kind(val);
	const struct val *item;
	const char *key;
	if (kind != VAL_MAP && kind != VAL_LIST)
		return kind == VAL_STRING && strcmp(val_str(val, ""), from) == 0 ? build_string(build, to)
		                                                                 : build_copy(build, val);
	struct node *copy = kind == VAL_MAP ? build_map(build) : build_list(build);
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item);)
		if (kind == VAL_MAP)
			build_put(build, copy, key, copy_with(build, item, from, to));
		else
			build_append(build, copy, copy_with(build, item, from, to));
	return copy;
}

static struct doc *doc_with(const struct val *root, const char *from, const char *to)
{
	struct build *build = build_create();
	struct doc *doc = build_finish(build, copy_with(build, root, from, to));
	build_destroy(build);
	return doc;
}

static void correct_request(struct outgoing *outgoing, const char *from, const char *to)
{
	struct doc *before = outgoing->body ? doc_parse_json(outgoing->body, strlen(outgoing->body), NULL) : NULL;
	if (before) {
		struct doc *after = doc_with(doc_root(before), from, to);
		struct buffer text = {0};
		val_write(doc_root(after), DOC_JSON_COMPACT, &text);
		free(outgoing->body);
		outgoing->body = text.text;
		doc_destroy(after);
		doc_destroy(before);
	}
	if (outgoing->uid && strcmp(outgoing->uid, from) == 0) {
		free(outgoing->uid);
		outgoing->uid = base_strdup(to);
	}
}

static void correct(struct remote *remote, const struct store_object *object, const char *from, const char *to)
{
	struct doc *doc = doc_with(object->root, from, to);
	if (doc)
		store_mirror_put(remote->store, object->type, doc);
}

/* The object itself too: more writes of it may be on their way, and until they are answered the mirror shows what is
 * assumed. */
static void correct_mirror(const struct assumed *assumed, const char *from, const char *to)
{
	struct remote *remote = assumed->remote;
	struct store_list list;
	const struct store_object *own = store_peek(remote->store, assumed->type, assumed->namespace_, assumed->name);
	if (own)
		correct(remote, own, from, to);
	store_dependents(remote->store, from, NULL, &list);
	for (size_t i = 0; i < list.count; i++)
		correct(remote, list.items[i], from, to);
	store_list_clear(&list);
}

static void forget(struct remote *remote, struct pending_create *create)
{
	HASH_DEL(remote->pending_creates, create);
	vec_free(&create->waiting);
	free(create->uid);
	free(create);
}

void pending_creates_end(struct assumed *assumed, const char *uid)
{
	struct pending_create *create = assumed->create;
	struct remote *remote = assumed->remote;
	if (!create)
		return;
	assumed->create = NULL;
	if (uid[0]) {
		for (struct outgoing *own = assumed->first; own; own = own->next)
			correct_request(own, create->uid, uid);
		correct_mirror(assumed, create->uid, uid);
	}
	/* Without an owner they go out as they are: the server's garbage collection knows what to do with them. */
	for (size_t i = 0; i < create->waiting.count; i++) {
		struct outgoing *outgoing = create->waiting.items[i];
		if (uid[0])
			correct_request(outgoing, create->uid, uid);
		if (--outgoing->holds == 0)
			write_advance(outgoing->about);
	}
	forget(remote, create);
}

void pending_creates_free(struct remote *remote)
{
	struct pending_create *create, *next;
	HASH_ITER(hh, remote->pending_creates, create, next)
		forget(remote, create);
}
