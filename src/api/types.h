/* Resource types: what the store knows about a kind of object. Built-in ones are rows of the registry (kinds), others
 * come and go with CustomResourceDefinitions.
 *
 * A store_type is the storage identity (group, resource) and lives as long as the store, also when its definition is
 * deleted (`api_count` is then 0). A store_api is one served group/version of a type. It stays readable as long as the
 * store, but says what was true when it was found: look it up per request. */
#ifndef API_TYPES_H
#define API_TYPES_H

#include "kinds/kinds.h"
#include "object/doc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;
struct store_type;

struct store_api {
	const struct store_type *type;
	const char *group;       /* "" for core */
	const char *version;     /* "v1" */
	const char *api_version; /* "v1", "apps/v1": what stands in objects */
	bool has_status;         /* status subresource: the main resource ignores status and the reverse */
	bool has_scale;
	const char *scale_spec, *scale_status, *scale_selector; /* ".spec.replicas" ...; selector path may be "" */
	const struct kind_column *columns; /* none for core kinds: their tables are made by whoever prints them */
	size_t column_count;
	const struct val *schema; /* openAPIV3Schema of a CRD, NULL for built-in types */
	bool deprecated;
};

struct store_type {
	const char *group;    /* of the storage: events.k8s.io/v1 is an API of the core type "events" */
	const char *resource; /* plural: "pods" */
	const char *singular, *kind, *list_kind;
	const char *const *short_names; /* NULL-terminated, never NULL */
	const char *const *categories;  /* NULL-terminated, never NULL */
	bool namespaced;
	bool custom;                  /* from a CRD: no strategic merge patch */
	bool graceful;                /* pods: deletion waits for the kubelet */
	bool one_form;                /* its versions differ in form; it is kept in that of the first */
	const struct store_api *apis; /* served ones, the preferred first */
	size_t api_count;
};

/* NULL when not served. `resource` is the plural. */
const struct store_api *store_api_find(const struct store *store, const char *group, const char *version,
                                       const char *resource);
/* By what stands in an object: apiVersion and kind. */
const struct store_api *store_api_of_kind(const struct store *store, const char *api_version, const char *kind);
/* NULL when there never was one; with group "" for core. */
const struct store_type *store_type_find(const struct store *store, const char *group, const char *resource);
/* Every served API for discovery, ordered by group ("" first), then preference of the version, then resource.
 * Borrowed until the next change. */
const struct store_api *const *store_apis(const struct store *store, size_t *count);
/* Grows when the answer of store_apis changes: for ETags and caches. */
uint64_t store_types_generation(const struct store *store);

#endif
