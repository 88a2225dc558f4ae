/* Owns which changes of pods are bindings. */
#include "kube_bindings.h"

#include "base/hash.h"
#include "object/doc.h"

#include <stdlib.h>
#include <string.h>

struct binding_seen {
	UT_hash_handle hh;
	char uid[];
};

static bool is_new(struct bindings *bindings, const char *uid)
{
	struct binding_seen *seen;
	size_t length = strlen(uid);
	HASH_FIND(hh, bindings->seen, uid, length, seen);
	if (seen)
		return false;
	seen = base_calloc(1, sizeof(*seen) + length + 1);
	memcpy(seen->uid, uid, length);
	HASH_ADD_KEYPTR(hh, bindings->seen, seen->uid, length, seen);
	return true;
}

void bindings_known(struct bindings *bindings, const char *uid)
{
	is_new(bindings, uid);
}

void bindings_saw(struct bindings *bindings, const char *uid, double now)
{
	if (!is_new(bindings, uid))
		return;
	if (bindings->count++ == 0)
		bindings->first = now;
	bindings->last = now;
}

/* Lines without a node are most of them, and parsing would take the processor from those who are measured. */
static void take_line(struct bindings *bindings, double now)
{
	if (!strstr(bindings->line.text, "\"nodeName\":\""))
		return;
	struct doc *doc = doc_parse_json(bindings->line.text, bindings->line.length, NULL);
	if (!doc)
		return;
	const struct val *pod = val_get(doc_root(doc), "object");
	const char *type = val_str(val_get(doc_root(doc), "type"), "");
	bool there = strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0;
	if (there && *val_str(val_path(pod, "spec", "nodeName", NULL), ""))
		bindings_saw(bindings, val_str(val_path(pod, "metadata", "uid", NULL), ""), now);
	doc_destroy(doc);
}

void bindings_feed(struct bindings *bindings, const char *text, size_t length, double now)
{
	while (length > 0) {
		const char *end = memchr(text, '\n', length);
		size_t part = end ? (size_t)(end - text) : length;
		buffer_append(&bindings->line, text, part);
		if (end && bindings->line.length > 0) {
			take_line(bindings, now);
			bindings->line.length = 0;
		}
		text += part + (end != NULL);
		length -= part + (end != NULL);
	}
}

void bindings_free(struct bindings *bindings)
{
	struct binding_seen *seen, *next;
	HASH_ITER(hh, bindings->seen, seen, next) {
		HASH_DEL(bindings->seen, seen);
		free(seen);
	}
	buffer_free(&bindings->line);
}
