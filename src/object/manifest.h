/* Manifests: Kubernetes objects from files, folders and standard input.
 * Accepts .yaml .yml .json (folders are read in name order, not recursively unless asked, hidden entries left out; a
 * file that is named itself may be called anything), multi-document YAML, one or several JSON values, and `kind: List`
 * or a typed list such as PodList, which are flattened. Every bad file is reported, good ones are still read. */
#ifndef OBJECT_MANIFEST_H
#define OBJECT_MANIFEST_H

#include "base/arena.h"
#include "base/problems.h"
#include "object/doc.h"

struct manifest {
	const struct val *object; /* a map */
	const char *source;       /* "jobs.yaml:12" or "pods.json:1 items[3]" for messages */
	/* "" when absent, kind is never; namespace "" for cluster scope. An item of a typed list (PodList) that has no
	 * apiVersion and kind of its own takes them from the list; use these, not the map. */
	const char *api_version, *kind, *name, *namespace_;
	/* What the derivation of its kind made of the object, for one that a store keeps; NULL when nobody asked for that. */
	const void *decoded;
};

struct manifests {
	struct arena *arena;
	struct manifest *items;
	size_t count, capacity;
	struct doc **docs;
	size_t doc_count, doc_capacity;
};

void manifests_init(struct manifests *manifests);
void manifests_free(struct manifests *manifests);
/* path "-" is standard input. Problems carry the source as path. Returns -1 when any error was added. */
int manifests_load(struct manifests *manifests, const char *path, bool recursive, struct problems *problems);
/* Same for text in memory (tests, fuzzers, scenarios). */
int manifests_parse(struct manifests *manifests, const char *text, size_t length, const char *source,
                    struct problems *problems);
/* The manifests own the document from now on: for objects of manifests_add that come from elsewhere. */
void manifests_keep(struct manifests *manifests, struct doc *doc);
/* Adds one object, flattening lists. The val must outlive the manifests. */
void manifests_add(struct manifests *manifests, const struct val *object, const char *source,
                   struct problems *problems);

#endif
