/* The shared parts of the tests of the remote store. */
#include "remote_kit.h"

#include <stdlib.h>

#define QUIET 12       /* turns in which nothing may happen before all is taken to have arrived */
#define PATIENCE 20000 /* turns of a millisecond */
#define TENTH (CLOCK_SECOND / 10)

static const struct remote_follow pods[] = {{"", "v1", "pods", .optional = false}};

int remote_kit_setup(void **state)
{
	static struct remote_kit kit;
	int64_t start;
	kit = (struct remote_kit){0};
	clock_parse_rfc3339("2026-01-01T00:00:00Z", &start);
	clock_virtual_init(&kit.kit.clock, start * CLOCK_SECOND);
	kit.fake = fake_create(&(struct fake_options){0});
	kit.access = (struct remote_access){.server = fake_url(kit.fake), .namespace_ = "default", .context = "fake"};
	kit.options = (struct remote_options){
		.access = &kit.access,
		.clock = &kit.kit.clock.source,
		.follow = pods,
		.follow_count = 1,
		.page = 2,
		.seed = 7,
	};
	*state = &kit;
	return 0;
}

int remote_kit_teardown(void **state)
{
	struct remote_kit *kit = *state;
	store_result_clear(&kit->kit.result);
	remote_destroy(kit->remote);
	arena_destroy(kit->kit.arena);
	buffer_free(&kit->kit.text);
	fake_destroy(kit->fake);
	return 0;
}

void remote_kit_start(struct remote_kit *kit)
{
	struct error error = {0};
	kit->remote = remote_create(&kit->options, &error);
	if (!kit->remote)
		fail_msg("remote_create: %s", error.text);
	kit->kit.store = remote_store(kit->remote);
	kit->kit.arena = arena_create();
	kit->kit.result.arena = kit->kit.arena;
	/* Nobody creates anything where there is no namespace. */
	store_mirror_put(kit->kit.store, store_type_find(kit->kit.store, "", "namespaces"),
	                 kit_json("{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'default','uid':'n'}}"));
}

void remote_kit_start_empty(struct remote_kit *kit)
{
	fake_on(kit->fake, LIST, 200, "", "{'kind':'PodList','metadata':{'resourceVersion':'10'},'items':[]}");
	remote_kit_start(kit);
	remote_kit_await(kit, WATCH, 1);
	assert_true(remote_synced(kit->remote));
}

static void turn(struct remote_kit *kit)
{
	remote_run(kit->remote, 1, -1);
	fake_step(kit->fake);
}

void remote_kit_move(struct remote_kit *kit)
{
	for (int i = 0; i < QUIET; i++) {
		struct remote_counts before = remote_counts(kit->remote);
		size_t requests = fake_count(kit->fake, "");
		turn(kit);
		struct remote_counts after = remote_counts(kit->remote);
		if (memcmp(&before, &after, sizeof(before)) != 0 || fake_count(kit->fake, "") != requests)
			i = 0;
	}
}

void remote_kit_await(struct remote_kit *kit, const char *match, size_t count)
{
	for (int i = 0; i < PATIENCE && fake_count(kit->fake, match) < count; i++)
		turn(kit);
	if (fake_count(kit->fake, match) < count)
		fail_msg("%zu requests instead of %zu match \"%s\"; problem: %s", fake_count(kit->fake, match), count,
		         match, remote_problem(kit->remote));
	remote_kit_move(kit);
}

/* A tenth of a second passes. Loopback has no delay: a few turns carry a request over. */
static void pass_tenth(struct remote_kit *kit)
{
	size_t requests = fake_count(kit->fake, "");
	clock_virtual_advance(&kit->kit.clock, TENTH);
	for (int i = 0; i < 5; i++) {
		remote_run(kit->remote, 0, -1);
		fake_step(kit->fake);
	}
	if (fake_count(kit->fake, "") != requests)
		remote_kit_move(kit);
}

void remote_kit_pass(struct remote_kit *kit, int64_t seconds)
{
	for (int64_t i = 0; i < seconds * 10; i++)
		pass_tenth(kit);
	remote_kit_move(kit);
}

int64_t remote_kit_tenths(struct remote_kit *kit, const char *match, size_t count, int64_t most)
{
	remote_kit_move(kit);
	for (int64_t i = 0; i < most; i++) {
		if (fake_count(kit->fake, match) >= count)
			return i;
		pass_tenth(kit);
	}
	return most;
}

const char *remote_kit_pods(struct remote_kit *kit)
{
	static char text[4096];
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_list_request request = {.api = kit_api(&kit->kit, "pods")};
	struct store_error error = {0};
	text[0] = '\0';
	assert_int_equal(store_list(kit->kit.store, &request, &list, arena, &error), 0);
	for (size_t i = 0; i < list.count; i++) {
		size_t length = strlen(text);
		snprintf(text + length, sizeof(text) - length, "%s%s:%s", i ? " " : "", list.items[i]->name,
		         val_str(val_path(list.items[i]->root, "metadata", "resourceVersion", NULL), ""));
	}
	store_list_clear(&list);
	arena_destroy(arena);
	return text;
}

const char *remote_kit_pod(const char *name, const char *uid, int version, const char *more_metadata, const char *spec)
{
	static char texts[8][2048];
	static int next;
	char *text = texts[next++ % 8];
	snprintf(text, sizeof(texts[0]),
	         "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default','uid':'%s',"
	         "'resourceVersion':'%d'%s%s},'spec':{'containers':[{'name':'c','image':'i'}]%s%s}}",
	         name, uid, version, more_metadata[0] ? "," : "", more_metadata, spec[0] ? "," : "", spec);
	return text;
}
