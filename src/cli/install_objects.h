/* The objects besides definitions that `platoon install` prints. */
#ifndef CLI_INSTALL_OBJECTS_H
#define CLI_INSTALL_OBJECTS_H

#include <stdio.h>

void install_objects_print(const char *namespace_, const char *image, FILE *stream);

#endif
