/* Metadata of objects on their way in: identity, form, and what only the store may set. */
#include "local/draft.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LENGTH 253
#define LABEL_MAX_LENGTH 63
#define ANNOTATIONS_MAX ((size_t)256 << 10)
#define GENERATED_LETTERS "bcdfghjklmnpqrstvwxz2456789" /* no vowels: no words */
#define GENERATED_LENGTH 5

void metadata_timestamp(struct draft *draft, char out[32])
{
	clock_print_rfc3339(clock_seconds(draft->store->clock), out);
}

/* ---- identity ---- */

static int check_text(struct draft *draft, const char *field, const char *wanted, struct tree *at)
{
	const char *text = tree_str(tree_get(draft->arena, at, field), NULL);
	if (tree_kind(tree_get(draft->arena, at, field)) != VAL_NULL && !text)
		return draft_refuse(draft, 400, "BadRequest", "%s must be a string", field);
	if (!text || !*text)
		tree_put_string(draft->arena, at, field, wanted);
	else if (strcmp(text, wanted) != 0)
		return draft_refuse(draft, 400, "BadRequest", "%s of the object is \"%s\", the request is for \"%s\"",
		                    field, text, wanted);
	return 0;
}

int metadata_identify(struct draft *draft)
{
	if (tree_kind(draft->root) != VAL_MAP)
		return draft_refuse(draft, 400, "BadRequest", "the body must be a %s, but it is a %s",
		                    draft->bucket->type.kind, val_kind_name(tree_kind(draft->root)));
	if (check_text(draft, "apiVersion", draft->api->api_version, draft->root) < 0 ||
	    check_text(draft, "kind", draft->bucket->type.kind, draft->root) < 0)
		return -1;
	struct tree *metadata = tree_get(draft->arena, draft->root, "metadata");
	if (metadata && tree_kind(metadata) != VAL_MAP && tree_kind(metadata) != VAL_NULL)
		return draft_refuse(draft, 400, "BadRequest", "metadata must be a map");
	metadata = tree_need_map(draft->arena, draft->root, "metadata");
	if (draft->bucket->type.namespaced) {
		const char *text = tree_str(tree_get(draft->arena, metadata, "namespace"), "");
		if (*text && strcmp(text, draft->namespace_) != 0)
			return draft_refuse(
				draft, 400, "BadRequest",
				"the namespace of the provided object does not match the namespace sent on the "
				"request");
		tree_put_string(draft->arena, metadata, "namespace", draft->namespace_);
	} else {
		tree_remove(draft->arena, metadata, "namespace");
	}
	if (*draft->name) {
		const char *text = tree_str(tree_get(draft->arena, metadata, "name"), "");
		if (*text && strcmp(text, draft->name) != 0)
			return draft_refuse(draft, 400, "BadRequest",
			                    "the name of the object (%s) does not match the name on the URL (%s)", text,
			                    draft->name);
		tree_put_string(draft->arena, metadata, "name", draft->name);
	}
	return 0;
}

/* ---- form ---- */

static bool is_dns_label(const char *text, size_t length)
{
	if (length == 0 || length > LABEL_MAX_LENGTH)
		return false;
	for (size_t i = 0; i < length; i++) {
		bool inner = i > 0 && i + 1 < length && text[i] == '-';
		if (!(text[i] >= 'a' && text[i] <= 'z') && !(text[i] >= '0' && text[i] <= '9') && !inner)
			return false;
	}
	return true;
}

static bool is_subdomain(const char *text, size_t length)
{
	if (length == 0 || length > NAME_MAX_LENGTH)
		return false;
	bool after_dot = true;
	for (size_t i = 0; i < length; i++) {
		bool alnum = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9');
		bool last = i + 1 == length || text[i + 1] == '.';
		if (!alnum && (after_dot || last || text[i] != '-') && (text[i] != '.' || after_dot || i + 1 == length))
			return false;
		after_dot = text[i] == '.';
	}
	return true;
}

/* The part of a label key behind the slash, or a label value. */
static bool is_label_text(const char *text)
{
	size_t length = strlen(text);
	if (length == 0 || length > LABEL_MAX_LENGTH || !isalnum((unsigned char)text[0]) ||
	    !isalnum((unsigned char)text[length - 1]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_.", text[i]))
			return false;
	return true;
}

static bool is_label_key(const char *key)
{
	const char *slash = strchr(key, '/');
	if (!slash)
		return is_label_text(key);
	return is_subdomain(key, (size_t)(slash - key)) && is_label_text(slash + 1);
}

static void check_name(struct draft *draft, const char *name, struct problems *problems)
{
	const struct kind_row *builtin = draft->bucket->builtin;
	size_t length = strlen(name);
	if (builtin && builtin->flags & ROW_PATH_NAME) {
		if (strchr(name, '/') || strchr(name, '%') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			problem_add(problems, SEVERITY_ERROR, "metadata.name", "use a name without / and %",
			            "\"%s\" cannot stand in a path", name);
	} else if (builtin && builtin->flags & ROW_LABEL_NAME) {
		if (!is_dns_label(name, length))
			problem_add(problems, SEVERITY_ERROR, "metadata.name",
			            "use at most 63 lower case letters, digits and '-', with a letter or digit at both "
			            "ends",
			            "\"%s\" is not a DNS label", name);
	} else if (!is_subdomain(name, length)) {
		problem_add(problems, SEVERITY_ERROR, "metadata.name",
		            "use lower case letters, digits, '-' and '.', with a letter or digit at both ends",
		            "\"%s\" is not a DNS subdomain name", name);
	}
}

static void check_labels(struct draft *draft, struct tree *labels, struct problems *problems)
{
	if (labels && tree_kind(labels) != VAL_MAP && tree_kind(labels) != VAL_NULL)
		problem_add(problems, SEVERITY_ERROR, "metadata.labels", NULL, "must be a map of strings");
	const char *key;
	size_t at = 0;
	for (struct tree *item; (item = tree_walk(draft->arena, labels, &at, &key));) {
		const char *value = tree_str(item, NULL);
		if (!key)
			return;
		if (!is_label_key(key))
			problem_add(problems, SEVERITY_ERROR, "metadata.labels", NULL,
			            "\"%s\" is not a label key ([prefix/]name, the name at most 63 letters, digits, "
			            "'-', '_', '.')",
			            key);
		if (!value || (*value && !is_label_text(value)))
			problem_add(problems, SEVERITY_ERROR, "metadata.labels",
			            "quote it, at most 63 letters, digits, '-', '_', '.'",
			            "the value of \"%s\" is not a label value", key);
	}
}

static void check_annotations(struct draft *draft, struct tree *annotations, struct problems *problems)
{
	if (annotations && tree_kind(annotations) != VAL_MAP && tree_kind(annotations) != VAL_NULL)
		problem_add(problems, SEVERITY_ERROR, "metadata.annotations", NULL, "must be a map of strings");
	const char *key;
	size_t at = 0, total = 0;
	for (struct tree *item; (item = tree_walk(draft->arena, annotations, &at, &key));) {
		const char *value = tree_str(item, NULL);
		if (!key)
			return;
		if (!value)
			problem_add(problems, SEVERITY_ERROR, "metadata.annotations", "put it in quotes",
			            "the value of \"%s\" must be a string", key);
		else
			total += strlen(key) + strlen(value);
	}
	if (total > ANNOTATIONS_MAX)
		problem_add(problems, SEVERITY_ERROR, "metadata.annotations", NULL,
		            "%zu bytes, at most %zu are allowed", total, ANNOTATIONS_MAX);
}

static void check_lists(struct draft *draft, struct tree *metadata, struct problems *problems)
{
	struct tree *finalizers = tree_get(draft->arena, metadata, "finalizers"), *item;
	struct tree *owners = tree_get(draft->arena, metadata, "ownerReferences");
	size_t at = 0, index = 0;
	for (; (item = tree_walk(draft->arena, finalizers, &at, NULL)); index++)
		if (!is_label_key(tree_str(item, "")))
			problem_add(problems, SEVERITY_ERROR, problem_path(problems, "metadata.finalizers[%zu]", index),
			            NULL, "\"%s\" is not a finalizer name such as example.com/cleanup",
			            tree_str(item, ""));
	static const char *const needed[] = {"apiVersion", "kind", "name", "uid"};
	at = 0;
	index = 0;
	for (; (item = tree_walk(draft->arena, owners, &at, NULL)); index++)
		for (size_t i = 0; i < 4; i++)
			if (!*tree_str(tree_get(draft->arena, item, needed[i]), ""))
				problem_add(problems, SEVERITY_ERROR,
				            problem_path(problems, "metadata.ownerReferences[%zu].%s", index,
				                         needed[i]),
				            NULL, "must not be empty");
}

int metadata_check(struct draft *draft)
{
	struct problems problems = {.arena = draft->arena};
	struct tree *metadata = tree_get(draft->arena, draft->root, "metadata");
	const char *name = tree_str(tree_get(draft->arena, metadata, "name"), "");
	const char *prefix = tree_str(tree_get(draft->arena, metadata, "generateName"), "");
	if (*name)
		check_name(draft, name, &problems);
	else if (!*prefix)
		problem_add(&problems, SEVERITY_ERROR, "metadata.name", NULL, "name or generateName is required");
	else
		check_name(draft, arena_printf(draft->arena, "%sx", prefix), &problems);
	check_labels(draft, tree_get(draft->arena, metadata, "labels"), &problems);
	check_annotations(draft, tree_get(draft->arena, metadata, "annotations"), &problems);
	check_lists(draft, metadata, &problems);
	return problems.errors ? draft_refuse_problems(draft, &problems) : 0;
}

/* ---- new objects ---- */

static char *make_uid(struct store *store, char uid[37])
{
	uint64_t high = store_random(store), low = store_random(store);
	snprintf(uid, 37, "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64, high >> 32,
	         (high >> 16) & 0xffff, high & 0xfff, ((low >> 48) & 0x3fff) | 0x8000, low & UINT64_C(0xffffffffffff));
	return uid;
}

static int choose_name(struct draft *draft, struct tree *metadata)
{
	const char *name = tree_str(tree_get(draft->arena, metadata, "name"), "");
	if (*name) {
		if (!index_find(&draft->bucket->index, draft->namespace_, name)) {
			draft->name = name;
			return 0;
		}
		draft->name = name;
		return draft_refuse(draft, 409, "AlreadyExists", "%s \"%s\" already exists",
		                    draft_qualified(draft->arena, &draft->bucket->type), name);
	}
	const char *prefix = tree_str(tree_get(draft->arena, metadata, "generateName"), "");
	for (int attempt = 0; attempt < 16; attempt++) {
		char tail[GENERATED_LENGTH + 1] = "";
		for (int i = 0; i < GENERATED_LENGTH; i++)
			tail[i] = GENERATED_LETTERS[store_random(draft->store) % (sizeof(GENERATED_LETTERS) - 1)];
		draft->name = arena_printf(draft->arena, "%.*s%s", NAME_MAX_LENGTH - GENERATED_LENGTH, prefix, tail);
		if (!index_find(&draft->bucket->index, draft->namespace_, draft->name)) {
			tree_put_string(draft->arena, metadata, "name", draft->name);
			return 0;
		}
	}
	return draft_refuse(draft, 409, "AlreadyExists", "no free name found for the prefix \"%s\"; try again", prefix);
}

int metadata_begin(struct draft *draft)
{
	struct tree *metadata = tree_get(draft->arena, draft->root, "metadata");
	if (*tree_str(tree_get(draft->arena, metadata, "resourceVersion"), ""))
		return draft_refuse(draft, 400, "BadRequest",
		                    "resourceVersion should not be set on objects to be created");
	if (choose_name(draft, metadata) < 0)
		return -1;
	static const char *const ours[] = {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"};
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		tree_remove(draft->arena, metadata, ours[i]);
	if (!draft->applied)
		tree_remove(draft->arena, metadata, "managedFields");
	char uid[37], now[32];
	metadata_timestamp(draft, now);
	tree_put_string(draft->arena, metadata, "uid", make_uid(draft->store, uid));
	tree_put_string(draft->arena, metadata, "creationTimestamp", now);
	if (draft->api->has_status)
		tree_put(draft->arena, metadata, "generation", tree_int(draft->arena, 1));
	return 0;
}

/* ---- updates ---- */

int metadata_carry(struct draft *draft)
{
	struct tree *metadata = tree_get(draft->arena, draft->root, "metadata");
	const struct val *old = val_get(draft->old->root, "metadata");
	const char *version = tree_str(tree_get(draft->arena, metadata, "resourceVersion"), "");
	const char *uid = tree_str(tree_get(draft->arena, metadata, "uid"), "");
	if (*version && strcmp(version, val_str(val_get(old, "resourceVersion"), "")) != 0) {
		if (version[strspn(version, "0123456789")])
			return draft_refuse(draft, 400, "BadRequest", "metadata.resourceVersion \"%s\" is not a number",
			                    version);
		return draft_refuse_conflict(
			draft, "the object has been modified; please apply your changes to the latest version "
			       "and try again");
	}
	if (*uid && strcmp(uid, draft->old->uid) != 0)
		return draft_refuse_conflict(
			draft, arena_printf(draft->arena,
		                            "Precondition failed: UID in precondition: %s, UID in object meta: %s", uid,
		                            draft->old->uid));
	static const char *const kept[] = {
		"uid",        "resourceVersion",   "creationTimestamp",          "generateName",
		"generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"};
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		const struct val *value = val_get(old, kept[i]);
		if (value)
			tree_put(draft->arena, metadata, kept[i], tree_of(draft->arena, value));
		else
			tree_remove(draft->arena, metadata, kept[i]);
	}
	/* An update that says nothing about managedFields leaves them; an empty list clears them. */
	if (!tree_get(draft->arena, metadata, "managedFields") && val_get(old, "managedFields"))
		tree_put(draft->arena, metadata, "managedFields", tree_of(draft->arena, val_get(old, "managedFields")));
	return 0;
}
