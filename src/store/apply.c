/* Server-side apply. */
#include "store/write.h"

int apply_merge(struct draft *draft)
{
	return refuse(draft, 415, "UnsupportedMediaType", "not yet");
}

void apply_track(struct draft *draft)
{
}
