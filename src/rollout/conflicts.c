/* Owns the rules a set of coordinations must obey and the words they are refused with. */
#include "rollout/conflicts.h"

#include "base/hash.h"
#include "base/vec.h"
#include "rollout/count.h"

#include <string.h>

#define NO_RULE SIZE_MAX

/* What is known of a role so far. */
struct seen {
	const char *name;
	bool exists;
	size_t first, last; /* rules that name it with a size; NO_RULE when none */
	int64_t size;       /* as given first */
	size_t listed_in;   /* the last rule whose `roles` name it */
	UT_hash_handle hh;
};

struct search {
	struct arena *arena;
	struct seen *seen;
	const struct conflict_rule *rules;
	VEC(struct conflict) found;
};

static struct seen *look_up(struct search *search, const char *name)
{
	struct seen *seen = NULL;
	HASH_FIND_STR(search->seen, name, seen);
	if (seen)
		return seen;
	seen = arena_new(search->arena, struct seen);
	seen->name = name;
	seen->first = seen->last = seen->listed_in = NO_RULE;
	HASH_ADD_KEYPTR(hh, search->seen, seen->name, strlen(seen->name), seen);
	return seen;
}

static void report(struct search *search, enum conflict_kind kind, size_t rule, const char *role, const char *message,
                   const char *fix)
{
	vec_push(&search->found, ((struct conflict){kind, rule, role, message, fix}));
}

static void compare_with_first(struct search *search, size_t number, const struct conflict_entry *entry,
                               const struct seen *seen)
{
	const struct conflict_rule *rule = &search->rules[number], *other = &search->rules[seen->first];
	if (seen->size != entry->size)
		report(search, CONFLICT_SIZE, number, entry->role,
		       arena_printf(search->arena,
		                    "segment size conflict for role \"%s\": coordination has segment size %lld, but "
		                    "another coordination has %lld",
		                    entry->role, (long long)entry->size, (long long)seen->size),
		       "give the role the same segmentSize in every coordination");
	if (rule->progression != other->progression)
		report(search, CONFLICT_PROGRESSION, number, entry->role,
		       arena_printf(
			       search->arena,
			       "progression strategy conflict for role \"%s\": coordination has strategy \"%s\", but "
			       "another coordination has \"%s\"",
			       entry->role, segment_progression_name(rule->progression),
			       segment_progression_name(other->progression)),
		       "give coordinations that share a role the same progression");
}

static void check_entry(struct search *search, size_t number, const struct conflict_entry *entry)
{
	struct seen *seen = look_up(search, entry->role);
	if (!seen->exists)
		report(search, CONFLICT_ROLE, number, entry->role,
		       arena_printf(search->arena, "there is no role \"%s\"", entry->role),
		       "name a role of spec.roles, or remove the entry");
	if (entry->size < 1)
		report(search, CONFLICT_SIZE_RANGE, number, entry->role,
		       arena_printf(search->arena, "segment size of role \"%s\" is %lld", entry->role,
		                    (long long)entry->size),
		       "write at least 1");
	if (seen->last == number)
		report(search, CONFLICT_TWICE, number, entry->role,
		       arena_printf(search->arena, "role \"%s\" is named twice in one coordination", entry->role),
		       "keep one of the entries");
	else if (seen->first != NO_RULE && entry->size >= 1)
		compare_with_first(search, number, entry, seen);
	seen->last = number;
	if (seen->first == NO_RULE && entry->size >= 1) {
		seen->first = number;
		seen->size = entry->size;
	}
}

/* `roles` and the sizes must name the same roles. */
static void check_listed(struct search *search, size_t number)
{
	const struct conflict_rule *rule = &search->rules[number];
	if (!rule->listed)
		return;
	for (size_t i = 0; i < rule->listed_count; i++) {
		struct seen *seen = look_up(search, rule->listed[i]);
		seen->listed_in = number;
		if (seen->last != number)
			report(search, CONFLICT_LISTED, number, rule->listed[i],
			       arena_printf(search->arena, "role \"%s\" is listed in roles but has no segment size",
			                    rule->listed[i]),
			       "add it to segmentSize, or remove it from roles");
	}
	for (size_t i = 0; i < rule->count; i++)
		if (look_up(search, rule->entries[i].role)->listed_in != number)
			report(search, CONFLICT_LISTED, number, rule->entries[i].role,
			       arena_printf(search->arena, "role \"%s\" has a segment size but is not listed in roles",
			                    rule->entries[i].role),
			       "add it to roles, or leave roles out");
}

struct conflict *conflicts_find(const char *const *roles, size_t role_count, const struct conflict_rule *rules,
                                size_t rule_count, struct arena *arena, size_t *count)
{
	struct search search = {.arena = arena, .rules = rules};
	for (size_t r = 0; r < role_count; r++)
		look_up(&search, roles[r])->exists = true;
	for (size_t k = 0; k < rule_count; k++) {
		if (rules[k].count == 0)
			report(&search, CONFLICT_EMPTY, k, "", "segmentSize is empty", "give at least one role a size");
		for (size_t i = 0; i < rules[k].count; i++)
			check_entry(&search, k, &rules[k].entries[i]);
		check_listed(&search, k);
	}
	HASH_CLEAR(hh, search.seen);
	*count = search.found.count;
	struct conflict *result = NULL;
	if (search.found.count > 0) {
		result = arena_array(arena, struct conflict, search.found.count);
		memcpy(result, search.found.items, search.found.count * sizeof(*result));
	}
	vec_free(&search.found);
	return result;
}

const char *conflict_mismatch(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule,
                              struct arena *arena)
{
	const struct segment_role *most = NULL, *fewest = NULL;
	int64_t most_count = 0, fewest_count = 0;
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_size *entry = &rule->sizes[i];
		if (entry->role >= role_count || entry->size < 1 || roles[entry->role].desired < 1)
			continue;
		int64_t needed = segment_count(entry->size, roles[entry->role].desired);
		if (!most || needed > most_count) {
			most = &roles[entry->role];
			most_count = needed;
		}
		if (!fewest || needed < fewest_count) {
			fewest = &roles[entry->role];
			fewest_count = needed;
		}
	}
	if (!most || most_count == fewest_count)
		return NULL;
	return arena_printf(arena,
	                    "role %s needs %lld segments but role %s only %lld: from segment %lld on the ratio of "
	                    "coordination %s is not kept",
	                    most->name, (long long)most_count, fewest->name, (long long)fewest_count,
	                    (long long)fewest_count + 1, rule->name);
}
