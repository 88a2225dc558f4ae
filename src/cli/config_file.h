/* Configuration file: one map in YAML, from a file or from text, checked against the keys it may have. What the values
 * mean is the business of others. */
#ifndef CLI_CONFIG_FILE_H
#define CLI_CONFIG_FILE_H

#include "base/arena.h"
#include "base/problems.h"
#include "object/doc.h"

/* NULL and *error when it is not YAML or not one map. Nothing at all is an empty map. */
struct doc *config_file_parse(const char *text, size_t length, struct error *error);
struct doc *config_file_read(const char *path, struct arena *arena, struct error *error);

/* Adds a problem for every key of `given` that `usual` does not have, with the nearest one it has, and for every value
 * of another kind. `path` is "" or that of the map. Maps in maps are checked too, unless the usual one is empty. */
void config_file_check(const struct val *given, const struct val *usual, const char *path, struct problems *problems);
/* Whether a value is of the kind of the usual one; a whole number is where decimal ones are. */
bool config_file_takes(const char *key, const struct val *given, const struct val *usual);

#endif
