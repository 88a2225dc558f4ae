/* Device book: the ResourceSlices, DeviceClasses and ResourceClaims there are, decoded, by name. */
#ifndef ADMIT_DEVICE_BOOK_H
#define ADMIT_DEVICE_BOOK_H

#include "admit/device.h"
#include "admit/device_claim.h"

enum device_kind { DEVICE_CLASS, DEVICE_SLICE, DEVICE_CLAIM, DEVICE_RULE, DEVICE_KINDS };

struct device_book;

struct device_book *device_book_create(void);
void device_book_destroy(struct device_book *book); /* NULL is a no-op */

/* Takes an object in, in place of one with its name. Its texts are borrowed until it is replaced or removed. -1 when it cannot
 * be used (the problems say why); then there is none of that name. */
int device_book_set(struct device_book *book, enum device_kind kind, const struct val *object,
                    struct problems *problems);
void device_book_remove(struct device_book *book, enum device_kind kind, const char *namespace_, const char *name);

/* By name; NULL when there is none. */
const struct device_class_spec *device_book_class(const struct device_book *book, const char *name);
const struct device_slice *device_book_slice(const struct device_book *book, const char *name);
const struct device_claim_spec *device_book_claim(const struct device_book *book, const char *namespace_,
                                                  const char *name);

/* All of a kind, in no certain order: `last` NULL starts; NULL is the end. */
struct device_entry;
const struct device_entry *device_book_next(const struct device_book *book, enum device_kind kind,
                                            const struct device_entry *last);
const void *device_book_spec(const struct device_entry *entry);

#endif
