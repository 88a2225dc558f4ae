/* The generator of the property tests is the one of the simulations. */
#ifndef PROPERTY_RANDOM_H
#define PROPERTY_RANDOM_H

#include "base/random.h"

#endif
