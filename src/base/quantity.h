/* Kubernetes quantities as exact integers. Suffixes n u m "" k M G T P E, Ki Mi Gi Ti Pi Ei, and e/E exponents.
 * Values that are not whole at the asked scale are rounded away from zero, as Kubernetes does. A negative one is read
 * (callers refuse it where it makes no sense). Overflow is an error, never a wrap. */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum quantity_scale { QUANTITY_UNITS, QUANTITY_MILLI };

int quantity_parse(const char *text, size_t length, enum quantity_scale scale, int64_t *value, struct error *error);
/* The scale Platoon keeps a resource in: milli for cpu, units for the rest. */
enum quantity_scale quantity_scale_of(const char *resource_name);
/* Short text for people: 1500m, 2Gi, 8. Exact (a value without a short form is printed in full). */
const char *quantity_print(struct arena *arena, const char *resource_name, int64_t value);

#endif
