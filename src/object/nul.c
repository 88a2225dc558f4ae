/* Finds texts with the character U+0000: whoever reads them as C does sees their beginning for the whole. */
#include "object/doc_internal.h"

#include <string.h>

static bool has_nul(yyjson_val *text)
{
	return memchr(unsafe_yyjson_get_str(text), '\0', unsafe_yyjson_get_len(text)) != NULL;
}

/* `path` is what leads to the value; on success what leads to the text. As deep as a document may be. */
static bool find(yyjson_val *json, struct buffer *path)
{
	size_t length = path->length, index, count;
	yyjson_val *key, *item;
	if (yyjson_is_str(json))
		return has_nul(json);
	yyjson_obj_foreach(json, index, count, key, item)
	{
		buffer_printf(path, "%s%s", length ? "." : "", unsafe_yyjson_get_str(key));
		if (has_nul(key) || find(item, path))
			return true;
		path->length = length;
	}
	yyjson_arr_foreach(json, index, count, item)
	{
		buffer_printf(path, "[%zu]", index);
		if (find(item, path))
			return true;
		path->length = length;
	}
	return false;
}

bool val_find_nul(const struct val *val, struct buffer *path)
{
	return val && find(val_json(val), path);
}
