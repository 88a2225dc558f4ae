/* Typed reading of fields with a path, shared by the decoders of this folder.
 *
 * Absent and null mean the same. A wrong type is an error at the field's path and then reads as absent, so that a
 * decoder goes on and finds the other problems too. Paths are linked on the stack and only turned into text when
 * there is something to say. */
#ifndef ADMIT_DECODE_H
#define ADMIT_DECODE_H

#include "base/arena.h"
#include "base/labels.h"
#include "base/problems.h"
#include "object/doc.h"

#include <stdbool.h>
#include <stdint.h>

/* One step of a path; key NULL means the list index. NULL is the whole object. */
struct decode_path {
	const struct decode_path *up;
	const char *key;
	size_t index;
};

#define PATH_KEY(up_, key_) (&(const struct decode_path){.up = (up_), .key = (key_)})
#define PATH_INDEX(up_, index_) (&(const struct decode_path){.up = (up_), .index = (index_)})

struct decode {
	struct arena *arena; /* what the decoded struct points to */
	struct problems *problems;
};

const char *decode_path_text(struct arena *arena, const struct decode_path *path);
/* User text made fit for a message: quoted, shortened, control characters masked. */
const char *decode_show(struct arena *arena, const char *text);

void decode_error(const struct decode *decode, const struct decode_path *path, const char *fix, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void decode_warning(const struct decode *decode, const struct decode_path *path, const char *fix, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/* NULL when absent or of another kind (an error then). */
const struct val *decode_map(const struct decode *decode, const struct decode_path *up, const struct val *map,
                             const char *key);
const struct val *decode_list(const struct decode *decode, const struct decode_path *up, const struct val *map,
                              const char *key);
/* Whether a list item or map value has the kind; an error at `path` if not (null counts as not). */
bool decode_is(const struct decode *decode, const struct decode_path *path, const struct val *val, enum val_kind kind);
/* NULL when absent, "" or wrong: an empty string never differs from an absent one in the kinds we read. */
const char *decode_string(const struct decode *decode, const struct decode_path *up, const struct val *map,
                          const char *key);
bool decode_bool(const struct decode *decode, const struct decode_path *up, const struct val *map, const char *key,
                 bool fallback);
/* true and *out only when present and within low..high. */
bool decode_int(const struct decode *decode, const struct decode_path *up, const struct val *map, const char *key,
                int64_t low, int64_t high, int64_t *out);
/* true and *ns only when present and a Go duration such as 1m30s. */
bool decode_duration(const struct decode *decode, const struct decode_path *up, const struct val *map, const char *key,
                     int64_t *ns);
/* List of strings, others are errors. */
const char **decode_strings(const struct decode *decode, const struct decode_path *up, const struct val *map,
                            const char *key, size_t *count);
/* String to string map as sorted labels. */
struct labels decode_labels(const struct decode *decode, const struct decode_path *up, const struct val *map,
                            const char *key);
/* -1 and an error when the text is not one of the count names (exact case). */
int decode_enum(const struct decode *decode, const struct decode_path *path, const char *text, const char *const *names,
                size_t count);

/* A warning for every key of the map that is not one of the names: a misspelt field would have no effect, silently. */
void decode_known(const struct decode *decode, const struct decode_path *path, const struct val *map,
                  const char *const *names, size_t count);

struct metadata {
	const struct val *val;
	const char *name, *namespace_, *uid; /* "" when absent; namespace "default" when absent and namespaced */
	int64_t creation_seconds;            /* INT64_MIN when unset */
	bool deleting;
};

/* Checks name (or generateName), namespace and time stamps. */
struct metadata decode_metadata(const struct decode *decode, const struct val *object, bool namespaced);
/* spec as a map; an empty one reads like an absent one. Also an error when the object is no map. */
const struct val *decode_spec(const struct decode *decode, const struct val *object);

/* What to do about a label key that is none. */
extern const char decode_label_key_fix[];

/* RFC 1123 names as Kubernetes has them. */
bool name_is_label(const char *text);     /* at most 63 of a-z 0-9 -, alphanumeric at both ends */
bool name_is_subdomain(const char *text); /* labels joined by dots, at most 253 */
bool name_is_label_key(const char *text); /* [subdomain/]name, at most 63 in the name part */

#endif
