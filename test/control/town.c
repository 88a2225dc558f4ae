/* The shared parts of tests in virtual time. */
#include "town.h"

#include "object/manifest.h"
#include "serve/api/admission.h"

#include <stdlib.h>

#define GROUP_LABEL "rbg.workloads.x-k8s.io/group-name"
#define ROLE_LABEL "rbg.workloads.x-k8s.io/role-name"

static void start_world(struct town *town)
{
	town->world = world_create(&(struct world_options){
		.store = town->kit.store,
		.clock = &town->kit.clock.source,
		.settings = town->settings,
		.kubelet = {.start_seconds = 1, .ready_seconds = 2, .stop_seconds = 1},
	});
}

void town_open(struct town *town)
{
	town->admission = admission_create();
	if (!town->open_door) {
		town->kit.options.admit = admission_check;
		town->kit.options.context = town->admission;
	}
	kit_open(&town->kit, NULL);
	admission_use(town->admission, town->kit.store);
	town->settings = settings_source_create(&settings_usual);
	settings_source_follow(town->settings, town->kit.store);
	start_world(town);
}

void town_close(struct town *town)
{
	world_destroy(town->world);
	settings_source_destroy(town->settings);
	admission_destroy(town->admission);
	kit_close(&town->kit);
}

static int set_up(void **state, bool open_door)
{
	static struct town town;
	town = (struct town){.open_door = open_door};
	town_open(&town);
	*state = &town;
	return 0;
}

int town_setup(void **state)
{
	return set_up(state, false);
}

int town_setup_open_door(void **state)
{
	return set_up(state, true);
}

int town_teardown(void **state)
{
	town_close(*state);
	return 0;
}

void town_nodes(struct town *town, int count, int gpus, int per_rack)
{
	char body[1024];
	for (int i = 0; i < count; i++) {
		snprintf(body, sizeof(body),
		         "{'metadata':{'name':'n%d','labels':{'kubernetes.io/"
		         "hostname':'n%d','rack':'r%d','zone':'z%d'}},"
		         "'status':{'allocatable':{'cpu':'1000','memory':'1000Gi','pods':'1000','nvidia.com/gpu':'%d'},"
		         "'capacity':{'cpu':'1000','memory':'1000Gi','pods':'1000','nvidia.com/gpu':'%d'},"
		         "'conditions':[{'type':'Ready','status':'True'}]}}",
		         i + 1, i + 1, i / per_rack + 1, i / (2 * per_rack) + 1, gpus, gpus);
		assert_code(&town->kit, kit_create(&town->kit, "nodes", "", body), 201);
	}
}

int town_apply(struct town *town, const char *yaml)
{
	struct manifests manifests;
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	int code = 0;
	manifests_init(&manifests);
	if (manifests_parse(&manifests, yaml, strlen(yaml), "test", &problems) < 0)
		fail_msg("%s: %s", problems.items[0].path, problems.items[0].message);
	for (size_t i = 0; i < manifests.count; i++) {
		const struct manifest *one = &manifests.items[i];
		const struct store_api *api = store_api_of_kind(town->kit.store, one->api_version, one->kind);
		if (!api) {
			fail_msg("no kind %s %s", one->api_version, one->kind);
			return -1; /* for readers that do not know that the line above ends the test */
		}
		const char *space = !api->type->namespaced ? "" : *one->namespace_ ? one->namespace_ : "default";
		struct buffer body = {0};
		val_write(one->object, DOC_JSON_COMPACT, &body);
		char resource[256];
		snprintf(resource, sizeof(resource), "%s%s%s/%s", api->type->resource, *api->group ? "." : "",
		         api->group, api->version);
		bool exists = store_peek(town->kit.store, api->type, space, one->name) != NULL;
		code = exists ? kit_do(&town->kit,
		                       (struct store_request){.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE},
		                       resource, space, one->name, body.text)
		              : kit_create(&town->kit, resource, space, body.text);
		buffer_free(&body);
	}
	manifests_free(&manifests);
	arena_destroy(arena);
	return code;
}

static int turn(struct town *town)
{
	if (town->restarts) {
		world_destroy(town->world);
		start_world(town);
	}
	int wait = world_step(town->world);
	bool chores = store_chores(town->kit.store, 1000);
	bool pending = store_pending(town->kit.store);
	store_commit(town->kit.store, NULL);
	if (town->watch)
		town->watch(town);
	return chores || pending ? 0 : wait;
}

void town_run(struct town *town, int64_t seconds)
{
	int64_t end = town->kit.clock.now + seconds * 1000 * CLOCK_MILLISECOND;
	int still = 0;
	while (town->kit.clock.now < end) {
		int wait = turn(town);
		/* Turns at one moment are bounded: an actor that never rests would never let time pass. */
		if (wait == 0 && ++still < 50)
			continue;
		int64_t step = wait <= 0 ? 1000 * CLOCK_MILLISECOND : wait * CLOCK_MILLISECOND;
		if (still < 50 && wait < 0)
			step = end - town->kit.clock.now;
		still = 0;
		if (step > end - town->kit.clock.now)
			step = end - town->kit.clock.now;
		clock_virtual_advance(&town->kit.clock, step);
	}
	turn(town);
}

static int count_pods(struct town *town, const char *group, const char *role, bool (*counts)(const struct val *pod))
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {.api = store_api_find(town->kit.store, "", "v1", "pods")};
	int count = 0;
	if (store_list(town->kit.store, &request, &list, arena, &error) < 0)
		fail_msg("list");
	for (size_t i = 0; i < list.count; i++) {
		const char *of = labels_get(&list.items[i]->labels, GROUP_LABEL);
		const char *as = labels_get(&list.items[i]->labels, ROLE_LABEL);
		if (of && strcmp(of, group) == 0 && (!*role || (as && strcmp(as, role) == 0)))
			count += counts(list.items[i]->root);
	}
	store_list_clear(&list);
	arena_destroy(arena);
	return count;
}

static bool is_ready(const struct val *pod)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod, "status", "conditions", NULL)); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), "Ready") == 0)
			return strcmp(val_str(val_get(item, "status"), ""), "True") == 0 &&
			       strcmp(val_str(val_path(pod, "status", "phase", NULL), ""), "Running") == 0 &&
			       !val_path(pod, "metadata", "deletionTimestamp", NULL);
	return false;
}

static bool is_bound(const struct val *pod)
{
	return *val_str(val_path(pod, "spec", "nodeName", NULL), "") != '\0';
}

static bool is_there(const struct val *pod)
{
	return pod != NULL;
}

int town_ready(struct town *town, const char *group, const char *role)
{
	return count_pods(town, group, role, is_ready);
}

int town_bound(struct town *town, const char *group, const char *role)
{
	return count_pods(town, group, role, is_bound);
}

int town_pods(struct town *town, const char *group, const char *role)
{
	return count_pods(town, group, role, is_there);
}

static const struct store_object *find_group(struct town *town, const char *group)
{
	const struct store_type *type = store_type_find(town->kit.store, "workloads.x-k8s.io", "rolebasedgroups");
	const struct store_object *object = store_peek(town->kit.store, type, "default", group);
	if (!object)
		fail_msg("no group %s", group);
	return object;
}

const char *town_condition(struct town *town, const char *group, const char *type)
{
	static char text[1024];
	const struct val *item;
	text[0] = '\0';
	for (struct val_iter it = val_iter(val_path(find_group(town, group)->root, "status", "conditions", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), type) == 0)
			snprintf(text, sizeof(text), "%s %s: %s", val_str(val_get(item, "status"), ""),
			         val_str(val_get(item, "reason"), ""), val_str(val_get(item, "message"), ""));
	return text;
}

int town_events(struct town *town, const char *reason)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {.api = store_api_find(town->kit.store, "", "v1", "events")};
	int count = 0;
	if (store_list(town->kit.store, &request, &list, arena, &error) < 0)
		fail_msg("list");
	for (size_t i = 0; i < list.count; i++)
		count += strcmp(val_str(val_get(list.items[i]->root, "reason"), ""), reason) == 0;
	store_list_clear(&list);
	arena_destroy(arena);
	return count;
}

const char *town_group_at(struct town *town, const char *group, const char *path)
{
	kit_get(&town->kit, "rolebasedgroups.workloads.x-k8s.io", "default", group);
	return kit_at(&town->kit, path);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *town_domains(struct town *town, const char *selector, const char *label)
{
	static char text[4096];
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_selector chosen = {0};
	const struct store_api *api = store_api_find(town->kit.store, "", "v1", "pods");
	if (store_selector_parse(arena, api, selector, NULL, &chosen, &error) < 0)
		fail_msg("selector %s", selector);
	struct store_list_request request = {.api = api, .selector = &chosen};
	if (store_list(town->kit.store, &request, &list, arena, &error) < 0)
		fail_msg("list");
	const char **names = arena_array(arena, const char *, list.count + 1);
	size_t count = 0, length = 0;
	for (size_t i = 0; i < list.count; i++) {
		const char *node = val_str(val_path(list.items[i]->root, "spec", "nodeName", NULL), "");
		const struct store_object *object =
			store_peek(town->kit.store, store_type_find(town->kit.store, "", "nodes"), "", node);
		if (object)
			names[count++] = *label ? labels_get(&object->labels, label) : node;
	}
	qsort(names, count, sizeof(*names), compare_texts);
	text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
			length +=
				(size_t)snprintf(text + length, sizeof(text) - length, "%s%s", i ? " " : "", names[i]);
	store_list_clear(&list);
	arena_destroy(arena);
	return text;
}
