/* Prints an instance in a few lines for people. */
#ifndef PROPERTY_PRINT_H
#define PROPERTY_PRINT_H

#include "instance.h"

#include <stdio.h>

void print_instance(const struct instance *instance, FILE *file);

#endif
