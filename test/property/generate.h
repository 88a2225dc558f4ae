/* Random instances: the same seed gives the same instance. */
#ifndef PROPERTY_GENERATE_H
#define PROPERTY_GENERATE_H

#include "instance.h"

void generate_instance(uint64_t seed, struct instance *instance);

#endif
