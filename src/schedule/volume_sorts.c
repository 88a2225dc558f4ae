/* Owns what makes claims alike, and what such a sort of claims is called. */
#include "schedule/volume_sorts.h"

#include <string.h>

static void put_text(struct buffer *key, const char *text)
{
	buffer_append(key, text, strlen(text) + 1);
}

void volume_sort_key(struct buffer *key, const struct claim_spec *claim, bool shared)
{
	buffer_printf(key, "%d %d %d %u ", shared, claim->block, claim->has_request, claim->modes);
	put_text(key, claim->class_);
	put_text(key, claim->attributes_class);
	if (shared) {
		put_text(key, claim->namespace_);
		put_text(key, claim->name);
		put_text(key, claim->uid);
	}
	for (size_t i = 0; claim->has_selector && i < claim->selector.count; i++) {
		const struct match *match = &claim->selector.items[i];
		put_text(key, match->key);
		buffer_printf(key, "%d %zu ", (int)match->op, match->value_count);
		for (size_t v = 0; v < match->value_count; v++)
			put_text(key, match->values[v]);
	}
}

struct claim_spec volume_sort_copy(struct arena *arena, const struct claim_spec *from)
{
	struct claim_spec copy = *from;
	copy.class_ = arena_strdup(arena, from->class_);
	copy.attributes_class = arena_strdup(arena, from->attributes_class);
	copy.namespace_ = arena_strdup(arena, from->namespace_);
	copy.name = arena_strdup(arena, from->name);
	copy.uid = arena_strdup(arena, from->uid);
	copy.volume = copy.selected_node = copy.owner = NULL;
	copy.selector.items = arena_array(arena, struct match, from->selector.count);
	for (size_t i = 0; i < from->selector.count; i++) {
		struct match *match = &copy.selector.items[i];
		*match = from->selector.items[i];
		match->key = arena_strdup(arena, match->key);
		match->values = arena_array(arena, const char *, match->value_count);
		for (size_t v = 0; v < match->value_count; v++)
			match->values[v] = arena_strdup(arena, from->selector.items[i].values[v]);
	}
	return copy;
}

/* ---- names ---- */

/* They depend on the claims alone, not on which were seen first: a reason reads the same in a plan and in a server that has run
 * for a year. */

static void put_part(struct buffer *out, int *parts, const char *text)
{
	buffer_printf(out, "%s%s", *parts ? "," : "(", text);
	*parts += 1;
}

static void put_modes(struct buffer *out, unsigned modes, int *parts)
{
	static const struct {
		unsigned mode;
		const char *name;
	} names[] = {{ACCESS_READ_WRITE_ONCE, "RWO"},
	             {ACCESS_READ_ONLY_MANY, "ROX"},
	             {ACCESS_READ_WRITE_MANY, "RWX"},
	             {ACCESS_READ_WRITE_ONCE_POD, "RWOP"}};
	for (size_t i = 0; modes != ACCESS_READ_WRITE_ONCE && i < sizeof(names) / sizeof(*names); i++)
		if (modes & names[i].mode)
			put_part(out, parts, names[i].name);
}

static void put_match(struct buffer *out, const struct match *match, int *parts)
{
	static const char *const words[] = {[MATCH_IN] = " in ",     [MATCH_NOT_IN] = " notin ", [MATCH_EXISTS] = "",
	                                    [MATCH_NOT_EXISTS] = "", [MATCH_GT] = ">",           [MATCH_LT] = "<"};
	bool one = match->op == MATCH_IN && match->value_count == 1;
	put_part(out, parts, match->op == MATCH_NOT_EXISTS ? "!" : "");
	buffer_printf(out, "%s%s", match->key, one ? "=" : words[match->op]);
	for (size_t i = 0; i < match->value_count; i++)
		buffer_printf(out, "%s%s", i ? "|" : "", match->values[i]);
}

void volume_sort_name(struct buffer *out, const struct claim_spec *claim, bool shared)
{
	int parts = 0;
	buffer_puts(out, claim->class_);
	if (shared)
		buffer_printf(out, ":%s/%s", claim->namespace_, claim->name);
	put_modes(out, claim->modes, &parts);
	if (claim->block)
		put_part(out, &parts, "Block");
	if (claim->attributes_class[0])
		put_part(out, &parts, claim->attributes_class);
	for (size_t i = 0; claim->has_selector && i < claim->selector.count; i++)
		put_match(out, &claim->selector.items[i], &parts);
	if (parts)
		buffer_puts(out, ")");
}
