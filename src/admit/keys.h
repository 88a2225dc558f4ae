/* Annotations and labels that are called like ours and that nobody reads: slips of the pen that would have no effect. */
#ifndef ADMIT_KEYS_H
#define ADMIT_KEYS_H

#include "base/problems.h"
#include "object/doc.h"

/* Warns of keys below the metadata of an object, or with a path ("spec.template") of a template in it, that begin with
 * kai.scheduler/ and stand in no row of the table of what a pod can ask for: with the nearest one that does, or with the
 * place where this one belongs. */
void keys_judge(const struct val *object, const char *path, struct problems *problems);

#endif
