/* Owns reading pods and PodGroups of a group into facts, and keeping those for the next turn. */
#include "rbg/memo.h"

#include "base/hash.h"
#include "base/vec.h"
#include "rbg/internal.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NAMES 64 /* roles and revisions; beyond, the memo begins anew */

struct known_revision {
	uint64_t key;
	uint16_t name;
};

struct memo {
	struct rbg_fact *slots; /* by version, open addressing */
	size_t slot_count;      /* a power of two */
	size_t fact_count;
	size_t other_count; /* of facts that are about neither pods nor PodGroups */
	VEC(char *) names;
	VEC(struct known_revision) revisions;
	uint64_t wired; /* key of rbg_memo_set_wired, 0: not */
	uint64_t sets;  /* key of rbg_memo_note_sets, 0: not */
	UT_hash_handle hh;
	char key[]; /* namespace, '/', name */
};

struct rbg_memos {
	struct memo *by_group;
};

struct rbg_memos *rbg_memos_create(void)
{
	return base_calloc(1, sizeof(struct rbg_memos));
}

static void clear_names(struct memo *memo)
{
	for (size_t i = 0; i < memo->names.count; i++)
		free(memo->names.items[i]);
	memo->names.count = 0;
	memo->revisions.count = 0;
}

static void drop(struct rbg_memos *memos, struct memo *memo)
{
	HASH_DEL(memos->by_group, memo);
	clear_names(memo);
	vec_free(&memo->names);
	vec_free(&memo->revisions);
	free(memo->slots);
	free(memo);
}

void rbg_memos_destroy(struct rbg_memos *memos)
{
	if (!memos)
		return;
	struct memo *memo, *next;
	HASH_ITER(hh, memos->by_group, memo, next)
		drop(memos, memo);
	free(memos);
}

static struct memo *find(struct rbg_memos *memos, const char *namespace_, const char *name, bool add)
{
	struct buffer key = {0};
	struct memo *memo;
	buffer_printf(&key, "%s/%s", namespace_, name);
	HASH_FIND(hh, memos->by_group, key.text, key.length, memo);
	if (!memo && add) {
		memo = base_calloc(1, sizeof(*memo) + key.length + 1);
		memcpy(memo->key, key.text, key.length);
		HASH_ADD_KEYPTR(hh, memos->by_group, memo->key, key.length, memo);
	}
	buffer_free(&key);
	return memo;
}

void rbg_memos_drop(struct rbg_memos *memos, const char *namespace_, const char *name)
{
	struct memo *memo = find(memos, namespace_, name, false);
	if (memo)
		drop(memos, memo);
}

/* ---- facts ---- */

uint64_t rbg_memo_hash(const char *text)
{
	return XXH3_64bits(text, strlen(text)) | 1; /* 0 stands for none in tables */
}

uint64_t rbg_memo_texts(const char *queue, const char *priority_class)
{
	return hash_mix(queue ? rbg_memo_hash(queue) : 0, priority_class ? rbg_memo_hash(priority_class) : 0);
}

static uint16_t name_number(struct memo *memo, const char *name)
{
	for (size_t i = 0; i < memo->names.count; i++)
		if (strcmp(memo->names.items[i], name) == 0)
			return (uint16_t)i;
	vec_push(&memo->names, base_strdup(name));
	return (uint16_t)(memo->names.count - 1);
}

const char *rbg_memo_name(const struct rbg_turn *turn, uint16_t number)
{
	return turn->memo->names.items[number];
}

static int64_t read_time(const struct val *text)
{
	int64_t seconds = INT64_MIN;
	return clock_parse_rfc3339(val_str(text, ""), &seconds) == 0 ? seconds : INT64_MIN;
}

static int32_t read_index(const struct labels *labels, const char *key)
{
	const char *text = labels_get(labels, key);
	char *end = NULL;
	long long value = text ? strtoll(text, &end, 10) : -1;
	return !text || end == text || *end || value < 0 || value >= INT32_MAX ? -1 : (int32_t)value;
}

static bool is_true(const struct val *condition)
{
	return strcmp(val_str(val_get(condition, "status"), ""), "True") == 0;
}

/* The mark of updates in place: a condition that pods of roles with a grace have as readiness gate. */
static unsigned read_mark(const struct store_object *object, const struct val *spec, struct rbg_fact *fact)
{
	const struct val *mark = writes_find_condition(object->root, RBG_READY_CONDITION), *gate;
	fact->marked_since = read_time(val_get(mark, "lastTransitionTime"));
	if (mark)
		return is_true(mark) ? 0 : RBG_FACT_MARKED;
	for (struct val_iter it = val_iter(val_get(spec, "readinessGates")); val_next(&it, NULL, &gate);)
		if (strcmp(val_str(val_get(gate, "conditionType"), ""), RBG_READY_CONDITION) == 0)
			return RBG_FACT_UNMARKED;
	return 0;
}

/* What a pod was written from, as long as its revision label is the one it was written with: then nobody else has changed
 * it since. */
static const char *read_revision(struct arena *arena, const char *label, const char *noted)
{
	const char *slash = strchr(noted, '/');
	if (!label || !slash || strcmp(slash + 1, label) != 0)
		return "";
	return arena_printf(arena, "%.*s", (int)(slash - noted), noted);
}

static void read_pod(struct arena *arena, struct memo *memo, const struct store_object *object, struct rbg_fact *fact)
{
	const struct val *metadata = val_get(object->root, "metadata"), *spec = val_get(object->root, "spec"),
			 *status = val_get(object->root, "status"), *annotations = val_get(metadata, "annotations");
	const char *phase = val_str(val_get(status, "phase"), "Pending");
	const char *role = labels_get(&object->labels, naming_key(NAMING_V1ALPHA2, NAMING_ROLE));
	const char *revision = labels_get(&object->labels, RBG_LABEL_REVISION);
	const struct val *ready = writes_find_condition(object->root, "Ready");
	unsigned flags = rbg_read_in_place(annotations, status) | read_mark(object, spec, fact);
	if (is_true(ready))
		flags |= RBG_FACT_READY;
	if (*val_str(val_get(spec, "nodeName"), ""))
		flags |= RBG_FACT_SCHEDULED;
	if (val_get(metadata, "deletionTimestamp"))
		flags |= RBG_FACT_TERMINATING;
	if (val_count(val_get(spec, "schedulingGates")) > 0)
		flags |= RBG_FACT_GATED;
	if (strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0)
		flags |= RBG_FACT_OVER;
	if (strcmp(val_str(val_get(annotations, RBG_LABEL "restart-trigger-policy"), ""), "Ignore") == 0)
		flags |= RBG_FACT_MINOR;
	if (labels_get(&object->labels, RBG_LABEL_SUBGROUP))
		flags |= RBG_FACT_SUBGROUP;
	fact->flags = (uint16_t)flags;
	fact->gang = rbg_memo_hash(val_str(val_get(annotations, "pod-group-name"), ""));
	fact->created = read_time(val_get(metadata, "creationTimestamp"));
	fact->ready_since = read_time(val_get(ready, "lastTransitionTime"));
	fact->ordinal = read_index(&object->labels, naming_key(NAMING_V1ALPHA2, NAMING_INDEX));
	fact->index = read_index(&object->labels, RBG_LABEL_POD_INDEX);
	fact->id = read_index(&object->labels, RBG_LABEL_COMPONENT_ID);
	const char *component = labels_get(&object->labels, RBG_LABEL_COMPONENT);
	fact->component = name_number(memo, component ? component : "");
	fact->role = name_number(memo, role ? role : "");
	fact->texts = rbg_memo_hash(revision ? revision : "");
	fact->revision = name_number(memo, read_revision(arena, revision,
	                                                 val_str(val_get(annotations, RBG_REVISION_ANNOTATION), "")));
}

static void read_gang(const struct store_object *object, struct rbg_fact *fact)
{
	const struct val *spec = val_get(object->root, "spec");
	const char *queue = val_str(val_get(spec, "queue"), NULL);
	const char *class = val_str(val_get(spec, "priorityClassName"), NULL);
	fact->gang = rbg_memo_hash(object->name);
	fact->minimum = -1;
	val_int(val_get(spec, "minMember"), &fact->minimum);
	fact->texts = rbg_memo_texts(queue, class);
	/* Anything more makes it unlike all that instances have. */
	if (val_count(spec) != 1 + (size_t)(queue != NULL) + (size_t)(class != NULL))
		fact->minimum = -1;
}

static int64_t read_generation(const struct store_object *object)
{
	int64_t generation = 0;
	val_int(val_path(object->root, "metadata", "generation", NULL), &generation);
	return generation;
}

static void read_instance(struct rbg_turn *turn, struct memo *memo, const struct store_object *object,
                          struct rbg_fact *fact)
{
	const char *role = labels_get(&object->labels, naming_key(NAMING_V1ALPHA2, NAMING_ROLE));
	const char *revision = labels_get(&object->labels, RBG_LABEL_REVISION);
	bool is_restarting;
	fact->texts = rbg_instance_digest(object, &is_restarting);
	fact->minimum = read_generation(object);
	fact->flags = (uint16_t)(is_restarting ? RBG_FACT_RESTARTED : 0);
	if (val_path(object->root, "metadata", "deletionTimestamp", NULL))
		fact->flags |= RBG_FACT_TERMINATING;
	fact->ordinal = read_index(&object->labels, naming_key(NAMING_V1ALPHA2, NAMING_INDEX));
	fact->role = name_number(memo, role ? role : "");
	fact->revision = name_number(memo, revision ? rbg_short_hash(revision) : "");
	fact->gang = rbg_memo_hash(rbg_instance_revision(turn, object));
}

static const struct rbg_fact *known(const struct memo *memo, uint64_t version)
{
	if (!memo->slot_count)
		return NULL;
	size_t mask = memo->slot_count - 1;
	for (size_t at = (size_t)hash_mix(0, version) & mask; memo->slots[at].version; at = (at + 1) & mask)
		if (memo->slots[at].version == version)
			return &memo->slots[at];
	return NULL;
}

void rbg_memo_open(struct rbg_turn *turn)
{
	turn->memo = find(turn->controller->memos, turn->object->namespace_, turn->object->name, true);
	if (turn->memo->names.count > MOST_NAMES) {
		clear_names(turn->memo);
		turn->memo->slot_count = 0;
	}
}

const char *rbg_memo_revision(const struct rbg_turn *turn, uint64_t key)
{
	for (size_t i = 0; i < turn->memo->revisions.count; i++)
		if (turn->memo->revisions.items[i].key == key)
			return turn->memo->names.items[turn->memo->revisions.items[i].name];
	return NULL;
}

const char *rbg_memo_note_revision(struct rbg_turn *turn, uint64_t key, const char *revision)
{
	struct known_revision known = {key, name_number(turn->memo, revision)};
	vec_push(&turn->memo->revisions, known);
	return turn->memo->names.items[known.name];
}

void rbg_memo_read(struct rbg_turn *turn)
{
	struct memo *memo = turn->memo;
	size_t others = 0;
	turn->facts = arena_array(turn->arena, struct rbg_fact, turn->owned.count + 1);
	for (size_t i = 0; i < turn->owned.count; i++) {
		const struct store_object *object = turn->owned.items[i];
		const struct rbg_fact *old = known(memo, object->version);
		bool is_other = object->type != turn->pods && object->type != turn->gangs &&
		                object->type != turn->instances && object->type != turn->sets;
		struct rbg_fact *fact = &turn->facts[i];
		others += is_other;
		turn->fresh_facts += old == NULL;
		if (old) {
			*fact = *old;
			continue;
		}
		fact->version = object->version;
		if (object->type == turn->pods)
			read_pod(turn->arena, memo, object, fact);
		else if (object->type == turn->gangs)
			read_gang(object, fact);
		else if (object->type == turn->instances)
			read_instance(turn, memo, object, fact);
		else if (object->type == turn->sets)
			fact->minimum = read_generation(object);
		else
			memo->wired = 0;
	}
	if (others != memo->other_count)
		memo->wired = 0;
	memo->other_count = others;
}

void rbg_memo_keep(struct rbg_turn *turn)
{
	struct memo *memo = turn->memo;
	if (turn->fresh_facts == 0 && memo->fact_count == turn->owned.count)
		return;
	size_t count = 16;
	while (count * 3 / 4 < turn->owned.count)
		count *= 2;
	free(memo->slots);
	memo->slots = base_calloc(count, sizeof(*memo->slots));
	memo->slot_count = count;
	memo->fact_count = turn->owned.count;
	for (size_t i = 0; i < turn->owned.count; i++) {
		size_t at = (size_t)hash_mix(0, turn->facts[i].version) & (count - 1);
		while (memo->slots[at].version)
			at = (at + 1) & (count - 1);
		memo->slots[at] = turn->facts[i];
	}
}

bool rbg_memo_is_wired(const struct rbg_turn *turn, uint64_t key)
{
	return turn->memo->wired == (key | 1);
}

bool rbg_memo_has_sets(const struct rbg_turn *turn, uint64_t key)
{
	return turn->memo->sets == (key | 1);
}

void rbg_memo_note_sets(struct rbg_turn *turn, uint64_t key)
{
	turn->memo->sets = key | 1;
}

void rbg_memo_set_wired(struct rbg_turn *turn, uint64_t key)
{
	turn->memo->wired = key | 1;
}
