/* Expressions that select devices: the part of CEL that people write in DeviceClasses and ResourceClaims.
 *
 * An expression is compiled once, with its types checked, and evaluated against many devices. It means exactly what it
 * means to the API server, or it is refused as not supported; it is never read as something else. Evaluation is bounded
 * in steps and memory, and has no effect but its result. */
#ifndef CEL_CEL_H
#define CEL_CEL_H

#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest expression that the API server accepts. */
#define CEL_MAX_LENGTH 10240

struct cel_text {
	const char *text;
	size_t length;
};

/* A semantic version. The order is that of semver.org; what follows a '+' does not count. */
struct cel_version {
	uint64_t major, minor, patch;
	struct cel_text before; /* "alpha.1" of 1.0.0-alpha.1; empty: a release */
};

/* False when the text is no version. `lenient` drops a "v", adds missing numbers and ignores leading zeros. The
 * version borrows the text. */
bool cel_version_parse(struct cel_text text, bool lenient, struct cel_version *version);
int cel_version_compare(const struct cel_version *a, const struct cel_version *b);

enum cel_attribute_type { CEL_ATTRIBUTE_INT, CEL_ATTRIBUTE_BOOL, CEL_ATTRIBUTE_STRING, CEL_ATTRIBUTE_VERSION };

struct cel_attribute {
	struct cel_text domain, id;
	enum cel_attribute_type type;
	union {
		int64_t number;
		bool truth;
		struct cel_text text;
		struct cel_version version;
	};
};

struct cel_capacity {
	struct cel_text domain, id;
	struct quantity value;
};

/* What an expression sees. All of it is borrowed; a domain and id stand at most once in each array. */
struct cel_device {
	struct cel_text driver;
	bool shared; /* allowMultipleAllocations */
	const struct cel_attribute *attributes;
	size_t attribute_count;
	const struct cel_capacity *capacities;
	size_t capacity_count;
};

struct cel_program;

/* The program lives in the arena and borrows the text. NULL when it cannot be used, with the place in the text:
 * ERROR_SYNTAX if the API server refuses it too, ERROR_LIMIT if it is not supported here. */
const struct cel_program *cel_compile(struct arena *arena, const char *text, size_t length, struct error *error);

enum cel_result { CEL_NO, CEL_YES, CEL_FAILED };

/* Whether it selects the device. CEL_FAILED with what and where in *error: ERROR_INVALID when it fails for the API
 * server too (a key that is not there, values of different types), ERROR_LIMIT when it met a bound that is ours.
 * Scratch memory comes from the arena. */
enum cel_result cel_evaluate(const struct cel_program *program, const struct cel_device *device, struct arena *arena,
                             struct error *error);

#endif
