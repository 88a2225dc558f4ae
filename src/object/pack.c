/* From writable values to a document in one block of memory: the document, its values in the order yyjson wants them, the
 * texts. Texts that other documents have too may be shared. */
#include "base/arena.h"
#include "base/vec.h"
#include "object/doc_internal.h"
#include "object/string_pool.h"

#include <string.h>

/* What one value needs, and all below it. */
struct packing {
	struct string_pool *strings; /* NULL: nothing is shared */
	size_t values, bytes;
	VEC(const char *) shared; /* per text in the order of the walk, NULL for those of our own */
	size_t at;
	yyjson_val *next;
	char *text;
};

static bool has_text(const yyjson_mut_val *json)
{
	yyjson_type type = unsafe_yyjson_get_type((void *)(uintptr_t)json);
	return type == YYJSON_TYPE_STR || type == YYJSON_TYPE_RAW;
}

static void measure_text(struct packing *packing, yyjson_mut_val *json, bool is_key)
{
	size_t length = unsafe_yyjson_get_len(json);
	const char *shared =
		packing->strings ? string_pool_share(packing->strings, json->uni.str, length, is_key) : NULL;
	if (packing->strings)
		vec_push(&packing->shared, shared);
	packing->bytes += shared ? 0 : length + 1;
}

static void measure(struct packing *packing, yyjson_mut_val *json)
{
	packing->values++;
	if (has_text(json)) {
		measure_text(packing, json, false);
	} else if (unsafe_yyjson_is_arr(json)) {
		yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(json);
		for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
			measure(packing, item);
	} else if (unsafe_yyjson_is_obj(json)) {
		yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(json);
		for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
			packing->values++;
			measure_text(packing, key, true);
			measure(packing, key->next);
		}
	}
}

static void put_text(struct packing *packing, const yyjson_mut_val *json)
{
	yyjson_val *out = packing->next++;
	const char *shared = packing->strings ? packing->shared.items[packing->at++] : NULL;
	*out = (yyjson_val){.tag = json->tag, .uni.str = shared};
	if (shared)
		return;
	size_t length = unsafe_yyjson_get_len((void *)(uintptr_t)json);
	memcpy(packing->text, json->uni.str, length);
	packing->text[length] = '\0';
	out->uni.str = packing->text;
	packing->text += length + 1;
}

static void put(struct packing *packing, yyjson_mut_val *json)
{
	if (has_text(json)) {
		put_text(packing, json);
		return;
	}
	yyjson_val *out = packing->next++;
	*out = (yyjson_val){.tag = json->tag, .uni.u64 = json->uni.u64};
	if (unsafe_yyjson_is_arr(json)) {
		yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(json);
		for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
			put(packing, item);
	} else if (unsafe_yyjson_is_obj(json)) {
		yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(json);
		for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
			put_text(packing, key);
			put(packing, key->next);
		}
	}
	if (unsafe_yyjson_is_ctn(json))
		out->uni.ofs = (size_t)((char *)packing->next - (char *)out);
}

struct doc *doc_pack(yyjson_mut_val *json, struct string_pool *strings)
{
	struct packing packing = {.strings = strings};
	measure(&packing, json);
	size_t values = packing.values * sizeof(yyjson_val);
	struct doc *doc = base_malloc(sizeof(*doc) + values + packing.bytes);
	*doc = (struct doc){.root = (yyjson_val *)(doc + 1)};
	packing.next = doc->root;
	packing.text = (char *)doc->root + values;
	put(&packing, json);
	vec_free(&packing.shared);
	return doc;
}
