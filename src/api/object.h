/* Objects: immutable, counted versions of a document. Everybody who keeps one retains it; nobody copies it. The encoded
 * JSON is made when first asked for and shared by all lists and watches, at least while the object is in the history. */
#ifndef API_OBJECT_H
#define API_OBJECT_H

#include "base/labels.h"
#include "object/derivation.h"
#include "object/doc.h"
#include "api/types.h"

#include <stdint.h>

/* Read only. Strings live as long as the object. */
struct store_object {
	const struct store_type *type;
	const struct val *root; /* as stored, with apiVersion and kind */
	const char *namespace_; /* "" for cluster scope */
	const char *name;
	const char *uid;
	uint64_t version;     /* resourceVersion; 0 for what was never stored (dry run) */
	struct labels labels; /* sorted */
};

struct store_object *store_object_retain(struct store_object *object); /* NULL gives NULL */
void store_object_release(struct store_object *object);                /* NULL is a no-op */

/* The object as `api` shows it (NULL: as stored): the same document, or one with another apiVersion, converted once and
 * kept with the object. An api of another type gives it as stored. */
const struct val *store_object_root(struct store_object *object, const struct store_api *api);
/* Compact JSON of the same; *length without the NUL behind it. Lives until the next commit of the store, or as long as the
 * object. */
const char *store_object_json(struct store_object *object, const struct store_api *api, size_t *length);

/* What `derivation` makes of the object as stored: made when first asked for and owned by the object, so that all who read
 * this version read the same struct. It is there until the next commit of the store, or as long as somebody holds it: what
 * was derived from a version that was replaced is not kept with the history. An object has one derivation at most: asking
 * for a second one is a mistake in the program and ends it. Only for objects that a store made. */
const void *store_object_derived(const struct store_object *object, const struct derivation *derivation);
/* The same, held until store_object_derived_drop(); the caller holds the object for as long. */
const void *store_object_derived_hold(struct store_object *object, const struct derivation *derivation);
void store_object_derived_drop(struct store_object *object); /* NULL is a no-op */

/* A document of one version of its kind in another one. The caller destroys it. */
struct doc *store_convert(const struct val *object, const char *api_version);

#endif
