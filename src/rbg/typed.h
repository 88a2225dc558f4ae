/* Specs in the form in which typed clients write them: compact, keys in order, without fields that say nothing and with
 * those that are always there. ControllerRevisions are named after hashes of such texts, so two controllers that mean the
 * same give a revision the same name. */
#ifndef RBG_TYPED_H
#define RBG_TYPED_H

#include "base/arena.h"
#include "base/strings.h"
#include "object/doc.h"

enum typed_kind {
	TYPED_TEXTS,      /* keys and values of somebody else: all of it counts */
	TYPED_FIELDS,     /* a struct without anything special */
	TYPED_QUANTITIES, /* of resources, by name */
	TYPED_TEMPLATE,   /* of a pod */
	TYPED_CONTAINER,
	TYPED_DIVISOR, /* resourceFieldRef */
	TYPED_CLAIM,   /* volumeClaimTemplate */
	TYPED_CLAIM_SPEC,
	TYPED_PORT,         /* of a service */
	TYPED_STRATEGY,     /* rolloutStrategy */
	TYPED_ROLE,         /* of a group: its replicas are no part of a revision */
	TYPED_INSTANCE,     /* what a RoleInstanceSet makes instances from, to replace what was there */
	TYPED_COMPONENT,    /* of a RoleInstance: its size is no part of a revision */
	TYPED_NEW_TEMPLATE, /* a template that replaces what was there */
};

void typed_write(const struct val *val, enum typed_kind kind, struct buffer *out);

/* 32 bits of a hash as names of revisions have them. */
const char *typed_hash_name(uint32_t hash, struct arena *arena);
/* FNV-1a, of revisions of groups and roles; `hash` is TYPED_FNV or what came out before. */
#define TYPED_FNV 2166136261U
uint32_t typed_fnv1a(uint32_t hash, const char *text, size_t length);
/* FNV-1 of the text and the number of an attempt, of revisions of sets and instances. */
uint32_t typed_fnv1(const struct buffer *text, int attempt);

#endif
