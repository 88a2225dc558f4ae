/* Rows that a program adds to the registry. The library has none (more.c); a program that defines these itself is linked
 * with its own, which is how a test shows what one more row is worth. */
#ifndef KINDS_MORE_H
#define KINDS_MORE_H

#include "kinds/kinds.h"

extern const struct kind_row kinds_more[];
extern const size_t kinds_more_count;

#endif
