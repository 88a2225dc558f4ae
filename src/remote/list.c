/* Owns lists of a type: what they bring goes to the mirror while they arrive, and what they do not have any more is removed.
 *
 * They ask for the newest state (no resourceVersion): an old one would not show what was bound a moment ago. */
#include "remote/follow.h"

#include <stdlib.h>
#include <string.h>

static void forget_answer(struct follow *follow)
{
	remote_items_free(&follow->items);
	follow->items = (struct remote_items){0};
	remote_wire_list_free(&follow->wire_list);
	follow->wire_list = (struct remote_wire_list){0};
}

void list_forget(struct follow *follow)
{
	interner_destroy(follow->listed);
	follow->listed = NULL;
	free(follow->continue_);
	follow->continue_ = NULL;
	forget_answer(follow);
}

/* Whether an object of the type would be in the list of this follow, and not in that of another. Labels are asked for by the
 * request. */
static bool covers(const struct follow *follow, const struct store_object *object)
{
	const char *namespace_ = follow->wanted->namespace_;
	if (follow->wanted->name)
		return strcmp(follow->wanted->name, object->name) == 0 &&
		       (!namespace_ || strcmp(namespace_, object->namespace_) == 0);
	return !follow_is_named_elsewhere(follow, object->namespace_, object->name);
}

/* What the mirror has and the list has not is gone, unless the server has not heard of it yet. */
static void remove_missing(struct follow *follow)
{
	struct remote *remote = follow->remote;
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_selector selector;
	struct store_error error = {0};
	bool by_labels = follow->wanted->labels &&
	                 store_selector_parse(arena, follow->api, follow->wanted->labels, NULL, &selector, &error) == 0;
	struct store_list_request request = {.api = follow->api, .selector = by_labels ? &selector : NULL};
	if (follow->listed && store_list(remote->store, &request, &list, arena, &error) == 0) {
		for (size_t i = 0; i < list.count; i++) {
			const struct store_object *object = list.items[i];
			const char *key = arena_printf(arena, "%s/%s", object->namespace_, object->name);
			if (covers(follow, object) && interner_find(follow->listed, key) == UINT32_MAX &&
			    !write_is_assumed(remote, object->type, object->namespace_, object->name))
				store_mirror_remove(remote->store, object->type, object->namespace_, object->name);
		}
		store_list_clear(&list);
	}
	arena_destroy(arena);
}

/* Whether this is what a list of the kind says about itself. */
static bool is_right_kind(const struct follow *follow, const char *kind)
{
	const struct store_api *api = follow->api;
	if (strcmp(kind, "PartialObjectMetadataList") == 0)
		return follow->wanted->metadata;
	if (api->group[0]) /* definitions may call their lists as they like */
		return text_ends_with(kind, "List");
	size_t length = strlen(api->type->kind);
	return strncmp(kind, api->type->kind, length) == 0 && strcmp(kind + length, "List") == 0;
}

/* Something that is no list must not be taken for one without items: all objects would seem to be gone. */
static int check_envelope(struct follow *follow, const struct val *root, bool whole)
{
	const char *kind = val_str(val_get(root, "kind"), ""),
		   *version = val_str(val_path(root, "metadata", "resourceVersion", NULL), "");
	const struct val *items = val_get(root, "items");
	if (!whole && !val_get(root, "kind"))
		return 0; /* it may come later */
	if (!is_right_kind(follow, kind))
		return error_set(&follow->problem, ERROR_INVALID, "the answer is no list of %s but \"%.60s\"",
		                 follow->api->type->kind, kind);
	if (whole && (!version[0] || !items || (val_kind(items) != VAL_LIST && val_kind(items) != VAL_NULL)))
		return error_set(&follow->problem, ERROR_INVALID, "the list has no resourceVersion or no items");
	return 0;
}

static struct doc *envelope_of(const struct follow *follow)
{
	return follow->form == FORM_WIRE ? remote_wire_list_envelope(&follow->wire_list)
	                                 : remote_items_envelope(&follow->items);
}

static bool is_whole(const struct follow *follow)
{
	return follow->form == FORM_WIRE ? remote_wire_list_is_whole(&follow->wire_list)
	                                 : follow->items.where != ITEMS_INSIDE;
}

/* The first item shows whether the list is one. */
static int check_first(struct follow *follow)
{
	struct doc *envelope = envelope_of(follow);
	int status = check_envelope(follow, doc_root(envelope), false);
	doc_destroy(envelope);
	follow->checked = status == 0;
	return status;
}

/* The item as the mirror keeps it. NULL when it is malformed. */
static struct doc *read_item(struct follow *follow, const char *text, size_t length)
{
	struct remote *remote = follow->remote;
	if (follow->form == FORM_WIRE) {
		struct wire_span in = {(const unsigned char *)text, (const unsigned char *)text + length};
		return remote_trim_wire(remote->copier, follow->plan, in, follow->api, &follow->problem);
	}
	struct doc *doc = doc_parse_json_scanned(text, length, &follow->problem);
	struct doc *kept = doc ? follow_keep(follow, doc_root(doc)) : NULL;
	doc_destroy(doc);
	return kept;
}

static int take_item(void *context, const char *text, size_t length)
{
	struct follow *follow = context;
	if (!follow->checked && check_first(follow) < 0)
		return -1;
	struct doc *doc = read_item(follow, text, length);
	if (!doc)
		return -1;
	const struct val *metadata = val_get(doc_root(doc), "metadata");
	const char *namespace_ = val_str(val_get(metadata, "namespace"), ""),
		   *name = val_str(val_get(metadata, "name"), "");
	if (!name[0]) {
		doc_destroy(doc);
		return error_set(&follow->problem, ERROR_INVALID, "an item of the list has no name");
	}
	if (follow->listed) {
		struct buffer key = {0};
		buffer_printf(&key, "%s/%s", namespace_, name);
		interner_id(follow->listed, key.text);
		buffer_free(&key);
	}
	if (follow->wanted->metadata && follow_is_named_elsewhere(follow, namespace_, name))
		doc_destroy(doc);
	else
		write_feed(follow->remote, follow->api->type, namespace_, name, doc, (int64_t)follow->began);
	return 0;
}

static bool on_list_data(void *context, const char *bytes, size_t length)
{
	struct follow *follow = context;
	if (length > 0 && follow->form == FORM_UNKNOWN)
		follow->form = follow_form_of(follow, bytes);
	if (follow->form == FORM_WIRE)
		return remote_wire_list_feed(&follow->wire_list, bytes, length, FOLLOW_OBJECT_MAX_BYTES, take_item,
		                             follow, &follow->problem) == 0;
	return remote_items_feed(&follow->items, bytes, length, FOLLOW_OBJECT_MAX_BYTES, take_item, follow,
	                         &follow->problem) == 0;
}

static void end_page(struct follow *follow, const struct val *root)
{
	const struct val *metadata = val_get(root, "metadata");
	const char *more = val_str(val_get(metadata, "continue"), "");
	free(follow->continue_);
	follow->continue_ = more[0] ? base_strdup(more) : NULL;
	if (follow->continue_)
		return;
	free(follow->version);
	follow->version = base_strdup(val_str(val_get(metadata, "resourceVersion"), "0"));
	remove_missing(follow);
	tombstones_listed(follow->remote, follow->api->type, follow->began);
	list_forget(follow);
	follow->synced = true;
}

static void on_list(void *context, const struct remote_answer *answer)
{
	struct follow *follow = context;
	bool good = answer->code == 200 && !answer->problem[0] && !follow->problem.text[0];
	follow->request = NULL;
	struct doc *doc = good ? envelope_of(follow) : NULL;
	if (good && !doc)
		error_set(&follow->problem, ERROR_SYNTAX, "the answer is not JSON");
	if (!doc || check_envelope(follow, doc_root(doc), true) < 0 || !is_whole(follow)) {
		/* A page that expired, or anything else: from the beginning. */
		list_forget(follow);
		follow_pause(follow, answer);
	} else {
		follow_succeed(follow);
		end_page(follow, doc_root(doc));
		follow_go_on(follow);
	}
	doc_destroy(doc);
}

static bool has_objects(const struct follow *follow)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_list_request request = {.api = follow->api, .limit = 1};
	struct store_error error = {0};
	bool has = store_list(follow->remote->store, &request, &list, arena, &error) < 0 || list.count > 0;
	store_list_clear(&list);
	arena_destroy(arena);
	return has;
}

void list_start(struct follow *follow)
{
	struct remote *remote = follow->remote;
	struct buffer path = {0};
	follow_path(follow, &path);
	if (remote->options.page)
		buffer_printf(&path, "limit=%zu", remote->options.page);
	else if (strchr("?&", path.text[path.length - 1]))
		path.text[--path.length] = '\0';
	forget_answer(follow);
	if (follow->continue_) {
		buffer_puts(&path, "&continue=");
		follow_add_encoded(&path, follow->continue_);
	} else {
		if (has_objects(follow))
			follow->listed = interner_create();
		follow->began = remote->burials;
		remote->counts.lists++;
	}
	follow_begin_answer(follow, FOLLOW_LISTING);
	follow->request = remote_client_send(remote->client, &(struct remote_call){
								     .method = "GET",
								     .path = path.text,
								     .accept = follow_accept(follow, false),
								     .timeout_ms = -1,
								     .compressed = true,
								     .data = on_list_data,
								     .done = on_list,
								     .context = follow,
							     });
	buffer_free(&path);
}
