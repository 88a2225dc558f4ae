/* Columns of the tables that kubectl prints: what they are called and how a cell is computed from an object. */
#ifndef SERVE_API_TABLE_H
#define SERVE_API_TABLE_H

#include "object/doc.h"

#include <stdint.h>

/* One cell under way: exactly one JSON value is to be appended to `out`. */
struct table_cell {
	struct buffer *out;
	const struct val *object;
	const char *path; /* of the column; NULL when it has none */
	int64_t now;      /* seconds */
};

struct table_column {
	const char *name, *type, *format;
	int priority; /* 1: only with -o wide */
	void (*put)(struct table_cell *cell);
	const char *path;
};

/* Columns of a built-in kind, ended by a NULL name; NULL when it has no own ones: name and age do. */
const struct table_column *table_columns(const char *group, const char *resource);

/* ---- cells, table_cells.c ---- */
void table_put_text(struct table_cell *cell, const char *text);
void table_put_printf(struct table_cell *cell, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_put_number(struct table_cell *cell, int64_t number);
int64_t table_int(const struct val *val, int64_t fallback);

void table_name(struct table_cell *cell);                    /* metadata.name */
void table_age(struct table_cell *cell);                     /* since metadata.creationTimestamp */
void table_since(struct table_cell *cell);                   /* since the time at `path` */
void table_value(struct table_cell *cell);                   /* the first match of `path`; nothing: <none> */
void table_string(struct table_cell *cell);                  /* the same; nothing: "" */
void table_integer(struct table_cell *cell);                 /* the number at `path`, 0 when missing */
void table_boolean(struct table_cell *cell);                 /* the boolean at `path` as text, false when missing */
void table_count(struct table_cell *cell);                   /* how many entries `path` has */
void table_joined(struct table_cell *cell);                  /* all matches of `path`, with commas; nothing: <none> */
void table_labels(struct table_cell *cell);                  /* the map at `path` as a=b,c=d */
void table_selector(struct table_cell *cell);                /* the label selector at `path` */
void table_typed(struct table_cell *cell, const char *type); /* as a column of a definition asks */
/* 12s, 5m3s, 2d: as kubectl writes a span. */
void table_put_span(struct buffer *out, int64_t seconds);

/* ---- kinds, table_pod.c, table_node.c and table_kinds.c ---- */
void table_pod_ready(struct table_cell *cell);
void table_pod_status(struct table_cell *cell);
void table_pod_restarts(struct table_cell *cell);
void table_pod_gates(struct table_cell *cell);
void table_node_status(struct table_cell *cell);
void table_node_roles(struct table_cell *cell);
void table_node_address(struct table_cell *cell); /* path: the type of the address */

#endif
