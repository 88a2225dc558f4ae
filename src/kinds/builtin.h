/* The table of built-in resource types. */
#ifndef KINDS_BUILTIN_H
#define KINDS_BUILTIN_H

#include <stddef.h>

struct kind_column { /* additionalPrinterColumns */
	const char *name, *type, *format, *description;
	const char *path; /* JSONPath such as .status.phase */
	int priority;     /* > 0: only with -o wide */
};

enum builtin_flag {
	BUILTIN_CLUSTER = 1 << 0, /* not in a namespace */
	BUILTIN_STATUS = 1 << 1,
	BUILTIN_SCALE = 1 << 2,
	BUILTIN_CUSTOM = 1 << 3, /* behaves like a custom resource: no strategic merge patch */
	BUILTIN_GRACEFUL = 1 << 4,
	BUILTIN_KEEPS_STATUS = 1 << 5, /* a create may carry a status */
	BUILTIN_PATH_NAME = 1 << 6,    /* names are path segments (RBAC), not DNS names */
	BUILTIN_LABEL_NAME = 1 << 7,   /* names are DNS labels */
	BUILTIN_ALL = 1 << 8,          /* in the category "all" */
	BUILTIN_ONE_FORM = 1 << 9,     /* its versions differ in form: kept in that of the first row */
	BUILTIN_INDEXED = 1 << 10,     /* many ask by the first of `fields` */
};

struct builtin {
	/* A row with the group and resource of an earlier row is one more version of it; `face_of` names the core
	 * resource whose objects the row shows under another group. */
	const char *group, *version, *resource, *singular, *kind;
	unsigned flags;
	const char *short_names[4];
	const char *face_of;
	const char *status;                    /* JSON: status of new objects, "" for none */
	const char *const *fields;             /* field selectors besides metadata.name and metadata.namespace */
	const struct kind_column *columns;     /* ends with a NULL name */
	const char *selector;                  /* path of the selector for the Scale subresource */
	const char *scale_spec, *scale_status; /* paths of the counts; NULL: .spec.replicas and .status.replicas */
};

extern const struct builtin builtins[];
extern const size_t builtin_count;

#endif
