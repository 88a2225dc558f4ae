/* No further rows. Nothing else may stand here: a program with rows of its own is linked without this file. */
#include "kinds/more.h"

const struct kind_row kinds_more[] = {{0}};
const size_t kinds_more_count = 0;
