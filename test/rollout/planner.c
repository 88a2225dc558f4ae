/* Runs cases `given -> expect` for src/plan: planner FILE.json...
 *
 * A file is {"cases": [{id, kind, title, given, expect}]}. Prints a line for each failed case, then `N passed, N failed`;
 * the exit status is 0 when none failed. A kind that is not in the table fails by its name. Where a case lists what
 * several algorithms give (`checks`), only `expect` counts: it is what our rule gives. */
#include "planner.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *kind;
	planner_check *check;
} checks[] = {
	{"segment.step", planner_segment_step},
	{"segment.sequence", planner_segment_sequence},
	{"segment.conflict", planner_segment_conflict},
	{"segment.condition", planner_segment_condition},
	{"segment.manifest", planner_segment_manifest},
	{"segment.capacity", planner_segment_capacity},
	{"segment.failure_domain", planner_segment_failure_domain},
	{"segment.rolling_update", planner_segment_rolling_update},
	{"gang.minmember", planner_gang_minmember},
	{"gang.single_podgroup", planner_gang_single},
	{"gang.per_instance", planner_gang_per_instance},
	{"topology.batches", planner_topology_batches},
	{"topology.labels", planner_topology_labels},
	{"topology.naming", planner_topology_naming},
	{"topology.affinity", planner_topology_affinity},
	{"topology.story", planner_topology_story},
	{"topology.gates", planner_topology_gates},
	{"topology.crd", planner_topology_crd},
	{"scale.step", planner_scale_step},
	{"scale.multi", planner_scale_multi},
	{"roll.bound", planner_roll_bound},
	{"roll.rank", planner_roll_rank},
	{"roll.sequence", planner_roll_sequence},
	{"roll.merge", planner_roll_merge},
	{"roll.e2e", planner_roll_e2e},
	{"ris.topology", planner_ris_topology},
	{"ris.progress", planner_ris_progress},
	{"ris.e2e", planner_ris_e2e},
	{"partition", planner_partition},
	{"restart.delay", planner_restart_delay},
};

struct tally {
	size_t passed, failed;
};

void planner_wrong(struct planner_case *test, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = arena_vprintf(test->arena, format, args);
	va_end(args);
	buffer_printf(&test->wrong, "%s%s", test->wrong.length > 0 ? "; " : "", text);
}

void planner_int(struct planner_case *test, const char *what, const struct val *want, int64_t got)
{
	int64_t number;
	if (val_kind(want) == VAL_NULL)
		return;
	if (val_int(want, &number) != 0)
		planner_wrong(test, "%s: expected something that is no number, got %lld", what, (long long)got);
	else if (number != got)
		planner_wrong(test, "%s: expected %lld, got %lld", what, (long long)number, (long long)got);
}

void planner_bool(struct planner_case *test, const char *what, const struct val *want, bool got)
{
	if (val_kind(want) == VAL_NULL)
		return;
	if (val_kind(want) != VAL_BOOL || val_bool(want, !got) != got)
		planner_wrong(test, "%s: got %s", what, got ? "true" : "false");
}

void planner_text(struct planner_case *test, const char *what, const struct val *want, const char *got)
{
	if (val_kind(want) == VAL_NULL)
		return;
	const char *text = val_str(want, NULL);
	if (!text || !got || strcmp(text, got) != 0)
		planner_wrong(test, "%s: expected \"%s\", got \"%s\"", what, text ? text : "(no text)",
		              got ? got : "(none)");
}

void planner_known(struct planner_case *test, const struct val *map, const char *const *known)
{
	const char *key;
	const struct val *item;
	if (map && val_kind(map) != VAL_MAP)
		planner_wrong(test, "expectation must be a map");
	for (struct val_iter it = val_iter(map); val_kind(map) == VAL_MAP && val_next(&it, &key, &item);) {
		const char *const *name = known;
		while (*name && strcmp(*name, key) != 0)
			name++;
		if (!*name)
			planner_wrong(test, "expectation %s is not understood", key);
	}
}

int64_t planner_number(const struct val *map, const char *key, int64_t fallback)
{
	int64_t number = fallback;
	(void)val_int(val_get(map, key), &number);
	return number;
}

int planner_percent(const struct val *val, struct percent *out)
{
	int64_t number;
	*out = (struct percent){PERCENT_UNSET, 0};
	if (val_kind(val) == VAL_NULL)
		return 0;
	if (val_int(val, &number) == 0) {
		*out = percent_count(number);
		return 0;
	}
	return val_kind(val) == VAL_STRING ? percent_parse(val_str(val, ""), out, NULL) : -1;
}

/* Marks by ordinal where a case names ordinals: those listed, or all but those listed. */
static const bool *read_ready(struct planner_case *test, const struct val *role, int64_t current)
{
	const struct val *ready = val_get(role, "ready_ordinals"), *unready = val_get(role, "unready_ordinals");
	if ((!ready && !unready) || current < 0 || current > 1000000)
		return NULL;
	bool *marks = arena_array(test->arena, bool, (size_t)current + 1);
	for (int64_t i = 0; i < current; i++)
		marks[i] = !ready;
	const struct val *item;
	for (struct val_iter it = val_iter(ready ? ready : unready); val_next(&it, NULL, &item);) {
		int64_t ordinal;
		if (val_int(item, &ordinal) == 0 && ordinal >= 0 && ordinal < current)
			marks[ordinal] = ready != NULL;
	}
	return marks;
}

struct planner_roles planner_read_roles(struct planner_case *test, const struct val *map)
{
	struct planner_roles roles = {0};
	const char *name;
	const struct val *item;
	roles.items = arena_array(test->arena, struct segment_role, val_count(map) + 1);
	if (val_kind(map) != VAL_MAP)
		planner_wrong(test, "roles must be a map");
	for (struct val_iter it = val_iter(map); val_kind(map) == VAL_MAP && val_next(&it, &name, &item);) {
		struct segment_role *role = &roles.items[roles.count++];
		role->name = name;
		if (val_int(item, &role->desired) == 0)
			continue;
		role->desired = planner_number(item, "desired", planner_number(item, "replicas", 0));
		role->current = planner_number(item, "current", 0);
		role->asked = planner_number(item, "asked", 0);
		role->ready = planner_number(item, "ready", 0);
		role->is_ready = read_ready(test, item, role->current);
	}
	return roles;
}

size_t planner_find_role(const struct planner_roles *roles, const char *name)
{
	for (size_t i = 0; i < roles->count; i++)
		if (strcmp(roles->items[i].name, name) == 0)
			return i;
	return SEGMENT_NO_ROLE;
}

struct segment_rule planner_read_rule(struct planner_case *test, const struct planner_roles *roles,
                                      const struct val *sizes, const char *progression)
{
	struct segment_size *entries = arena_array(test->arena, struct segment_size, val_count(sizes) + 1);
	struct segment_rule rule = {.name = "", .sizes = entries};
	const char *name;
	const struct val *item;
	if (!segment_progression_parse(progression, &rule.progression))
		planner_wrong(test, "progression %s is not known", progression);
	if (val_kind(sizes) != VAL_MAP)
		planner_wrong(test, "sizes must be a map");
	for (struct val_iter it = val_iter(sizes); val_kind(sizes) == VAL_MAP && val_next(&it, &name, &item);) {
		struct segment_size *entry = &entries[rule.count];
		entry->role = planner_find_role(roles, name);
		if (entry->role != SEGMENT_NO_ROLE && val_int(item, &entry->size) == 0)
			rule.count++;
	}
	return rule;
}

void planner_by_role(struct planner_case *test, const char *what, const struct val *want,
                     const struct planner_roles *roles, const int64_t *got)
{
	const char *name;
	const struct val *item;
	if (want && val_kind(want) != VAL_MAP)
		planner_wrong(test, "%s must be a map", what);
	for (struct val_iter it = val_iter(want); val_kind(want) == VAL_MAP && val_next(&it, &name, &item);) {
		size_t role = planner_find_role(roles, name);
		const char *path = arena_printf(test->arena, "%s.%s", what, name);
		if (role == SEGMENT_NO_ROLE)
			planner_wrong(test, "%s: there is no such role", path);
		else
			planner_int(test, path, item, got[role]);
	}
}

static void run_case(const struct val *item, const char *path, struct planner_story *story, struct tally *tally)
{
	struct planner_case test = {
		.arena = arena_create(),
		.id = val_str(val_get(item, "id"), "(no id)"),
		.kind = val_str(val_get(item, "kind"), "(no kind)"),
		.given = val_get(item, "given"),
		.expect = val_get(item, "expect"),
		.story = story,
	};
	size_t i = 0;
	while (i < sizeof(checks) / sizeof(checks[0]) && strcmp(checks[i].kind, test.kind) != 0)
		i++;
	if (i == sizeof(checks) / sizeof(checks[0]))
		planner_wrong(&test, "kind %s is not known", test.kind);
	else if (val_kind(test.given) != VAL_MAP || val_kind(test.expect) != VAL_MAP || val_count(test.expect) == 0)
		planner_wrong(&test, "given and expect must be maps, and expect not empty");
	else
		checks[i].check(&test);
	if (test.wrong.length > 0) {
		printf("%s: %s (%s): %s\n", path, test.id, val_str(val_get(item, "title"), test.kind), test.wrong.text);
		tally->failed++;
	} else {
		tally->passed++;
	}
	buffer_free(&test.wrong);
	arena_destroy(test.arena);
}

static int read_text(const char *path, struct buffer *text)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return -1;
	char block[65536];
	size_t length;
	while ((length = fread(block, 1, sizeof(block), file)) > 0)
		buffer_append(text, block, length);
	int status = ferror(file) ? -1 : 0;
	(void)fclose(file);
	return status;
}

static void run_file(const char *path, struct tally *tally)
{
	struct buffer text = {0};
	struct error error = {0};
	struct doc *doc = NULL;
	if (read_text(path, &text) != 0) {
		printf("%s: %s\n", path, strerror(errno));
		tally->failed++;
	} else if (!(doc = doc_parse_json(text.text ? text.text : "", text.length, &error))) {
		printf("%s: %s\n", path, error.text);
		tally->failed++;
	} else if (val_count(val_get(doc_root(doc), "cases")) == 0) {
		printf("%s: there are no cases\n", path);
		tally->failed++;
	} else {
		struct planner_story story = {0};
		const struct val *item;
		for (struct val_iter it = val_iter(val_get(doc_root(doc), "cases")); val_next(&it, NULL, &item);)
			run_case(item, path, &story, tally);
	}
	doc_destroy(doc);
	buffer_free(&text);
}

int main(int argc, char **argv)
{
	struct tally tally = {0};
	if (argc < 2) {
		fprintf(stderr, "usage: planner FILE.json...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++)
		run_file(argv[i], &tally);
	printf("%zu passed, %zu failed\n", tally.passed, tally.failed);
	return tally.failed > 0 ? 1 : 0;
}
