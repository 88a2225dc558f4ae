/* A simulated cluster whose settings are looked at. */
#include "loop/settings_story.h"

#include "cli/what_if.h"
#include "object/build.h"

int story_open(void **state)
{
	*state = simulation_create(&(struct simulation_options){.seed = 1});
	return 0;
}

int story_close(void **state)
{
	simulation_destroy(*state);
	return 0;
}

void story_apply(struct simulation *simulation, const char *yaml)
{
	struct manifests objects;
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct store_error error = {0};
	manifests_init(&objects);
	assert_int_equal(manifests_parse(&objects, yaml, strlen(yaml), "test", &problems), 0);
	for (size_t i = 0; i < objects.count; i++)
		if (simulation_apply(simulation, objects.items[i].object, arena, &error) < 0)
			fail_msg("%s %s: %s", objects.items[i].kind, objects.items[i].name, error.message);
	manifests_free(&objects);
	arena_destroy(arena);
}

void story_run(struct simulation *simulation)
{
	assert_int_equal(simulation_advance(simulation, 10 * CLOCK_SECOND), 0);
}

const struct val *story_object(struct simulation *simulation, const char *group, const char *resource, const char *name)
{
	const struct store_object *found =
		store_peek(simulation->store, store_type_find(simulation->store, group, resource), "default", name);
	return found ? found->root : NULL;
}

const char *story_node_of(struct simulation *simulation, const char *pod)
{
	return val_str(val_path(story_object(simulation, "", "pods", pod), "spec", "nodeName", NULL), "");
}

const struct val *story_starting(struct simulation *simulation, const char *group, const char *resource,
                                 const char *prefix)
{
	struct arena *arena = arena_create();
	const struct val *first = NULL;
	struct store_list list;
	const struct store_type *type = store_type_find(simulation->store, group, resource);
	assert_int_equal(store_list(simulation->store, &(struct store_list_request){.api = type->apis}, &list, arena,
	                            NULL),
	                 0);
	for (size_t i = 0; i < list.count && !first; i++)
		if (strncmp(list.items[i]->name, prefix, strlen(prefix)) == 0)
			first = list.items[i]->root;
	store_list_clear(&list);
	arena_destroy(arena);
	return first;
}

const struct val *story_group_of(struct simulation *simulation, const char *prefix)
{
	return story_starting(simulation, "scheduling.run.ai", "podgroups", prefix);
}

const char *story_queue_of(struct simulation *simulation, const char *prefix)
{
	return val_str(val_path(story_group_of(simulation, prefix), "spec", "queue", NULL), "");
}

const char *story_segment_of(struct simulation *simulation, const char *prefix)
{
	const struct val *env =
		val_get(val_item(val_path(story_starting(simulation, "", "pods", prefix), "spec", "containers", NULL),
	                         0),
	                "env");
	return val_str(val_get(val_item(env, 0), "name"), "");
}

struct settings story_now(struct simulation *simulation)
{
	return *settings_now(simulation->settings);
}

bool story_would_place(struct simulation *simulation, const char *manifest, const char *pod)
{
	struct buffer answer = {0};
	struct error error = {0};
	bool placed = false;
	const struct val *item;
	what_if(simulation->store, settings_now(simulation->settings), manifest, strlen(manifest), &answer);
	struct doc *doc = doc_parse_json(answer.text, answer.length, &error);
	for (struct val_iter it = val_iter(val_get(doc_root(doc), "pods")); val_next(&it, NULL, &item);)
		placed |= strncmp(val_str(val_get(item, "n"), ""), pod, strlen(pod)) == 0;
	doc_destroy(doc);
	buffer_free(&answer);
	return placed;
}
