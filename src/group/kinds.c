/* Which function groups the pods of a kind. The registry of kinds names the family; versions do not matter. */
#include "group/internal.h"

group_family *kind_family(const char *api_version, const char *kind)
{
#define FUNCTION(id, name) [FAMILY_##id] = family_##name,
	static group_family *const families[FAMILIES] = {KIND_FAMILIES(FUNCTION)};
#undef FUNCTION
	const struct kind_row *row = kinds_find(api_version, kind);
	return row ? families[row->family] : NULL;
}

bool kind_is_skipped(const char *api_version, const char *kind)
{
	const struct kind_row *row = kinds_find(api_version, kind);
	return row && row->family == FAMILY_WRAPPER;
}

bool kind_is_known(const char *api_version, const char *kind)
{
	const struct kind_row *row = kinds_find(api_version, kind);
	return row && row->family != FAMILY_NONE;
}
