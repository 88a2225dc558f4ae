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

/* A quantity as written, rounded away from zero at the ninth decimal only: whole + nano / 10^9, 0 <= nano < 10^9. */
struct quantity {
	int64_t whole;
	int32_t nano;
};

int quantity_parse_exact(const char *text, size_t length, struct quantity *value, struct error *error);
/* Below zero, zero or above, as memcmp. */
int quantity_compare(struct quantity a, struct quantity b);

/* The scale Platoon keeps a resource in: milli for cpu, units for the rest. */
enum quantity_scale quantity_scale_of(const char *resource_name);
/* Short text for people: 1500m, 2Gi, 8. Exact (a value without a short form is printed in full). */
const char *quantity_print(struct arena *arena, const char *resource_name, int64_t value);

#endif
