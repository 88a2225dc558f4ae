/* The definitions of all kinds that Platoon drives, as a template of the chart. */
#ifndef CLI_INSTALL_DEFINITIONS_H
#define CLI_INSTALL_DEFINITIONS_H

#include "base/strings.h"

/* Appends the text of templates/definitions.yaml. */
void install_definitions(struct buffer *out);

#endif
