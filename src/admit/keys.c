/* Owns telling keys of metadata that are called like ours and are not. */
#include "admit/keys.h"

#include "admit/decode.h"
#include "admit/pod_fields.h"
#include "base/strings.h"
#include "kinds/names.h"

#include <string.h>

#define PREFIX KINDS_KAI "/"

struct place {
	enum pod_field_place field;
	const char *key, *name;
};

static const struct place places[] = {{FIELD_ANNOTATION, "annotations", "annotation"},
                                      {FIELD_LABEL, "labels", "label"}};

/* What follows the prefix is compared: it is what people write wrong. */
static void consider(struct nearest_name *nearest, const char *name, size_t length, struct arena *arena)
{
	if (name[length - 1] != '*' && text_starts_with(name, PREFIX))
		text_consider(nearest, arena_strndup(arena, name + strlen(PREFIX), length - strlen(PREFIX)));
}

/* Whether the table has the key in this place; else the nearest that it has there is considered. */
static bool is_known(const struct place *place, const char *key, struct nearest_name *nearest, struct arena *arena)
{
	for (size_t i = 0; i < pod_field_count; i++) {
		if (pod_fields[i].place != place->field)
			continue;
		for (const char *name = pod_fields[i].names; *name;) {
			size_t length = strcspn(name, " ");
			bool open = name[length - 1] == '*';
			if (strncmp(name, key, length - open) == 0 && (open || !key[length]))
				return true;
			consider(nearest, name, length, arena);
			name += length + (name[length] == ' ');
		}
	}
	return false;
}

static void judge_key(const char *key, const struct place *place, const char *path, struct problems *problems)
{
	const struct place *other = place == places ? &places[1] : &places[0];
	if (!text_starts_with(key, PREFIX))
		return;
	struct nearest_name nearest = {.word = key + strlen(PREFIX)}, elsewhere = nearest;
	if (is_known(place, key, &nearest, problems->arena))
		return;
	const char *fix = "check its name, or remove it";
	if (is_known(other, key, &elsewhere, problems->arena))
		fix = problem_path(problems, "write it below metadata.%s", other->key);
	else if (nearest.name)
		fix = problem_path(problems, "write " PREFIX "%s", nearest.name);
	problem_add(problems, SEVERITY_WARNING, path, fix, "there is no such %s, so it has no effect", place->name);
}

void keys_judge(const struct val *object, const char *path, struct problems *problems)
{
	const char *key;
	const struct val *item;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const struct decode_path *up = PATH_KEY(PATH_KEY(NULL, "metadata"), places[i].key);
		const struct val *map = val_path(object, "metadata", places[i].key, NULL);
		if (val_kind(map) != VAL_MAP)
			continue;
		for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);)
			judge_key(key, &places[i],
			          problem_path(problems, "%s%s%s", path, path[0] ? "." : "",
			                       decode_path_text(problems->arena, PATH_KEY(up, key))),
			          problems);
	}
}
