/* What the files of this room share: values, types, the tree of an expression, the table of functions. */
#ifndef CEL_INTERNAL_H
#define CEL_INTERNAL_H

#include "cel/cel.h"
#include "object/pattern.h"

#define MAX_ARGUMENTS 3
#define MAX_VARIABLES 32

/* ---- values ---- */

enum value_kind {
	VALUE_FAILED, /* the error of the evaluation says why */
	VALUE_BOOL,
	VALUE_INT,
	VALUE_STRING,
	VALUE_VERSION,
	VALUE_QUANTITY,
	VALUE_LIST,
	VALUE_MAP,
	VALUE_OPTIONAL,
	VALUE_DEVICE,
};

/* Maps are views of the device: attributes or capacity, all of it by domain, or one domain by id. */
struct value_map {
	bool capacity;
	bool inner;
	struct cel_text domain; /* inner */
};

struct value {
	enum value_kind kind;
	union {
		bool truth;
		int64_t number;
		struct cel_text text;
		const struct cel_version *version;
		struct quantity quantity;
		struct {
			const struct value *items;
			size_t count;
		} list;
		struct value_map map;
		const struct value *some; /* of an optional; NULL: none */
	};
};

/* ---- types: what is known before a device is seen ---- */

enum type_kind {
	TYPE_ANY, /* an attribute: known when it is read */
	TYPE_DYN, /* the result of something done to such */
	TYPE_BOOL,
	TYPE_INT,
	TYPE_STRING,
	TYPE_VERSION,
	TYPE_QUANTITY,
	TYPE_LIST,
	TYPE_MAP, /* keys are strings */
	TYPE_OPTIONAL,
	TYPE_DEVICE,
};

struct type {
	enum type_kind kind;
	const struct type *of; /* of a list, a map, an optional */
};

extern const struct type cel_type_any, cel_type_dyn, cel_type_bool, cel_type_int, cel_type_string, cel_type_version,
	cel_type_quantity;

bool cel_type_is_dynamic(const struct type *type);
/* Whether a value of one may be where the other is expected, as far as can be known. */
bool cel_type_agrees(const struct type *a, const struct type *b);
/* The type of a value that is of one or the other; NULL when they do not agree. */
const struct type *cel_type_join(const struct type *a, const struct type *b);

/* ---- functions ---- */

struct evaluation;

/* One overload. Rows of one name stand together. */
struct function {
	const char *name;
	bool member; /* called as target.name(..); the target is the first argument */
	uint8_t count;
	enum type_kind arguments[MAX_ARGUMENTS];
	const struct type *result;
	struct value (*run)(struct evaluation *evaluation, const struct value *arguments);
};

/* The first row of the name, or NULL. */
const struct function *cel_function_find(struct cel_text name, bool member);
/* The row after this one if it has the same name, or NULL. */
const struct function *cel_function_next(const struct function *function);

/* ---- the tree ---- */

enum node_kind {
	NODE_LITERAL,
	NODE_DEVICE,
	NODE_VARIABLE,
	NODE_SELECT,
	NODE_SELECT_OPTIONAL,
	NODE_HAS,
	NODE_INDEX,
	NODE_LIST,
	NODE_AND,
	NODE_OR,
	NODE_NOT,
	NODE_NEGATE,
	NODE_CONDITION,
	NODE_EQUAL,
	NODE_NOT_EQUAL,
	NODE_LESS,
	NODE_LESS_EQUAL,
	NODE_GREATER,
	NODE_GREATER_EQUAL,
	NODE_IN,
	NODE_ADD,
	NODE_SUBTRACT,
	NODE_CALL,
	NODE_OR_VALUE,
	NODE_BIND,
	NODE_EXISTS,
	NODE_ALL,
	NODE_EXISTS_ONE,
};

struct node {
	enum node_kind kind;
	uint32_t offset; /* of its first or most telling character in the text */
	const struct type *type;
	struct node **children;
	size_t count;
	struct cel_text name; /* field, function */
	struct value literal;
	unsigned variable;               /* NODE_VARIABLE, and what binds one */
	const struct function *function; /* first row of the name */
	const struct pattern *pattern;   /* of matches() with a literal */
};

struct cel_program {
	const struct node *root;
	struct cel_text text;
};

/* ---- evaluation ---- */

struct evaluation {
	const struct cel_device *device;
	struct arena *arena;
	struct error *error;
	const struct node *node; /* whose value is being made, for messages */
	struct value variables[MAX_VARIABLES];
	const struct node *unread[MAX_VARIABLES]; /* what a variable stands for, until it is first read */
	size_t steps;
	bool stopped; /* a failure that && and || do not make up for */
};

/* Evaluation fails: for the API server too, or (cel_beyond) only here, where a bound of ours was met. */
struct value cel_beyond(struct evaluation *evaluation, const char *what);
struct value cel_failed(struct evaluation *evaluation, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct value cel_value_of_bool(bool truth);
struct value cel_value_of_int(int64_t number);
struct value cel_value_of_text(const char *text, size_t length);
/* The equality of `==`: cel_failed where versions and quantities meet other kinds on their right. */
struct value cel_value_equal(struct evaluation *evaluation, const struct value *a, const struct value *b);
const char *cel_value_kind_name(enum value_kind kind);

/* Maps. `value` may be NULL when only presence is asked. */
bool cel_map_find(const struct cel_device *device, const struct value_map *map, struct cel_text key,
                  struct value *value);
bool cel_map_has_key(const struct cel_device *device, const struct value_map *map, struct cel_text key);
/* The distinct keys, in order of first appearance. */
size_t cel_map_keys(const struct cel_device *device, const struct value_map *map, struct arena *arena,
                    const struct value **keys);

bool cel_text_equal(struct cel_text a, struct cel_text b);

#endif
