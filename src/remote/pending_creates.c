/* Owns objects that the server has not created yet. Only the server gives out uids, so what we create has an assumed one
 * until the answer comes. Writes that name it (children with their owner, events) wait for the answer and then go out
 * with the real uid, and the mirror's objects that name it are corrected at the same moment. Where it was not created,
 * children are not sent: with an owner that does not exist they would be nobody's, until garbage collection takes them. */
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

void pending_creates_add(struct outgoing *outgoing, const char *uid)
{
	struct pending_create *create = base_calloc(1, sizeof(*create));
	create->about = outgoing->about;
	create->uid = base_strdup(uid);
	create->about->creates++;
	outgoing->create = create;
	HASH_ADD_KEYPTR(hh, create->about->remote->pending_creates, create->uid, strlen(create->uid), create);
}

static void wait_for(struct remote *remote, struct outgoing *outgoing, const char *uid)
{
	struct pending_create *create = find(remote, uid);
	if (!create || create->about == outgoing->about)
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
static void correct_all(struct assumed *assumed, const char *from, const char *to)
{
	struct remote *remote = assumed->remote;
	struct store_list list;
	const struct store_object *own = store_peek(remote->store, assumed->type, assumed->namespace_, assumed->name);
	for (struct outgoing *outgoing = assumed->first; outgoing; outgoing = outgoing->next)
		correct_request(outgoing, from, to);
	if (own)
		correct(remote, own, from, to);
	store_dependents(remote->store, from, NULL, &list);
	for (size_t i = 0; i < list.count; i++)
		correct(remote, list.items[i], from, to);
	store_list_clear(&list);
}

/* What waits is not sent either. Events tell of it all the same, and what is to go may go. */
static void give_up(struct outgoing *outgoing)
{
	bool changes = strcmp(outgoing->method, "GET") != 0 && strcmp(outgoing->method, "DELETE") != 0;
	outgoing->is_moot = changes && outgoing->rank != RANK_LAST;
	if (outgoing->is_moot)
		pending_creates_end(outgoing, "");
}

/* It was not created: the mirror does not show it any more, and what was to follow was decided about that. */
static void take_back(struct assumed *assumed, const char *uid)
{
	struct store *store = assumed->remote->store;
	const struct store_object *own = store_peek(store, assumed->type, assumed->namespace_, assumed->name);
	if (!own || strcmp(own->uid, uid) != 0)
		return;
	for (struct outgoing *outgoing = assumed->first; outgoing; outgoing = outgoing->next)
		give_up(outgoing);
	store_mirror_remove(store, assumed->type, assumed->namespace_, assumed->name);
}

static void forget(struct remote *remote, struct pending_create *create)
{
	HASH_DEL(remote->pending_creates, create);
	vec_free(&create->waiting);
	free(create->uid);
	free(create);
}

void pending_creates_sent(const struct outgoing *outgoing)
{
	if (outgoing->create && strcmp(outgoing->method, "GET") != 0)
		outgoing->create->may_be_ours = true;
}

bool pending_creates_end(struct outgoing *outgoing, const char *uid)
{
	struct pending_create *create = outgoing->create;
	if (!create)
		return true;
	struct assumed *assumed = create->about;
	bool is_ours = uid[0] && create->may_be_ours;
	outgoing->create = NULL;
	assumed->creates--;
	if (is_ours)
		correct_all(assumed, create->uid, uid);
	else
		take_back(assumed, create->uid);
	for (size_t i = 0; i < create->waiting.count; i++) {
		struct outgoing *waiting = create->waiting.items[i];
		if (is_ours)
			correct_request(waiting, create->uid, uid);
		else
			give_up(waiting);
		if (--waiting->holds == 0)
			write_advance(waiting->about);
	}
	forget(assumed->remote, create);
	return is_ours;
}

void pending_creates_free(struct remote *remote)
{
	struct pending_create *create, *next;
	HASH_ITER(hh, remote->pending_creates, create, next)
		forget(remote, create);
}
