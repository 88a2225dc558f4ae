/* `up --until-placed`: says what becomes of every group, knows when all are decided, and shows in the end where they are. */
#ifndef CLI_UNTIL_PLACED_H
#define CLI_UNTIL_PLACED_H

#include "api/store.h"
#include "cli/draw.h"
#include "loop/settings.h"

#include <stdint.h>

struct until_placed;

/* The store and the settings are borrowed. */
struct until_placed *until_placed_create(struct store *store, struct settings_source *settings);
void until_placed_destroy(struct until_placed *until); /* NULL is a no-op */
/* Prints what is new. CLI_OK or CLI_FOUND when it is time to end, -1 to go on. */
int until_placed_look(struct until_placed *until);
/* Prints the map and where the parts of every group sit. `decided_ns`: how long all decisions took together. */
void until_placed_show(const struct until_placed *until, const struct draw_style *style, int64_t decided_ns);

#endif
