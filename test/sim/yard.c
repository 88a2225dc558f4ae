#include "yard.h"

#include "object/build.h"

#include <stdlib.h>

static void open_workloads(struct yard *yard)
{
	yard->workloads = workloads_create(
		&(struct workloads_options){.store = yard->kit.store, .clock = &yard->kit.clock.source});
}

/* Every fifth write of the controllers fails, every tenth only seems to. */
static struct store_fault fail_some(void *context, const struct store_request *request)
{
	struct yard *yard = context;
	if (!request->actor || strcmp(request->actor, "platoon-workloads") != 0 || ++yard->writes % 5 != 0)
		return (struct store_fault){0};
	return (struct store_fault){.code = yard->writes % 3 == 0 ? 409 : 500, .after = yard->writes % 10 == 0};
}

void yard_open(struct yard *yard, enum yard_mode mode)
{
	*yard = (struct yard){.mode = mode};
	kit_open(&yard->kit, NULL);
	if (mode == YARD_FAULTS)
		store_set_fault(yard->kit.store, fail_some, yard);
	open_workloads(yard);
}

void yard_close(struct yard *yard)
{
	workloads_destroy(yard->workloads);
	kit_close(&yard->kit);
}

void yard_settle(struct yard *yard)
{
	uint64_t version = 0;
	for (int quiet = 0, rounds = 0; quiet < 12; rounds++) {
		struct error error = {0};
		if (rounds > 2000)
			fail_msg("the controllers never come to rest");
		/* A failed write is tried again after a pause that grows. */
		clock_virtual_advance(&yard->kit.clock, CLOCK_SECOND / 20);
		if (yard->mode == YARD_RESTARTS) {
			workloads_destroy(yard->workloads);
			open_workloads(yard);
		}
		workloads_step(yard->workloads);
		store_chores(yard->kit.store, 100);
		assert_int_equal(store_commit(yard->kit.store, &error), 0);
		quiet = store_version(yard->kit.store) == version ? quiet + 1 : 0;
		version = store_version(yard->kit.store);
	}
}

void yard_pass(struct yard *yard, int seconds)
{
	clock_virtual_advance(&yard->kit.clock, seconds * CLOCK_SECOND);
	yard_settle(yard);
}

void yard_make(struct yard *yard, const char *resource, const char *body)
{
	assert_code(&yard->kit, kit_create(&yard->kit, resource, "default", body), 201);
	yard_settle(yard);
}

void yard_change(struct yard *yard, const char *resource, const char *name, const char *patch)
{
	assert_code(&yard->kit, kit_merge(&yard->kit, resource, "default", name, patch), 200);
	yard_settle(yard);
}

void yard_drop(struct yard *yard, const char *resource, const char *name)
{
	assert_code(&yard->kit, kit_delete(&yard->kit, resource, "default", name, NULL), 200);
	yard_settle(yard);
}

/* ---- pods ---- */

static void list_pods(struct yard *yard, const char *labels, struct store_list *list)
{
	struct store_error error = {0};
	struct store_selector selector = {0};
	const struct store_api *api = kit_api(&yard->kit, "pods");
	assert_int_equal(store_selector_parse(yard->kit.arena, api, labels, NULL, &selector, &error), 0);
	struct store_list_request request = {.api = api, .namespace_ = "default", .selector = &selector};
	assert_int_equal(store_list(yard->kit.store, &request, list, yard->kit.arena, &error), 0);
}

static bool leaving(const struct store_object *pod)
{
	return val_kind(val_path(pod->root, "metadata", "deletionTimestamp", NULL)) == VAL_STRING;
}

static bool in_phase(const struct store_object *pod, const char *phase)
{
	return strcmp(val_str(val_path(pod->root, "status", "phase", NULL), ""), phase) == 0;
}

static void set_status(struct yard *yard, const struct store_object *pod, const char *status)
{
	struct store_request request = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_STATUS};
	assert_code(&yard->kit, kit_do(&yard->kit, request, "pods", "default", pod->name, status), 200);
}

void yard_run(struct yard *yard, const char *labels)
{
	struct store_list list;
	list_pods(yard, labels, &list);
	for (size_t i = 0; i < list.count; i++)
		if (in_phase(list.items[i], "Pending"))
			set_status(yard, list.items[i],
			           "{'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}");
	store_list_clear(&list);
	yard_settle(yard);
}

void yard_end(struct yard *yard, const char *labels, bool succeed, int exit_code)
{
	struct store_list list;
	list_pods(yard, labels, &list);
	assert_true(list.count > 0);
	struct buffer text = {0};
	buffer_printf(&text,
	              "{'status':{'phase':'%s','conditions':[{'type':'Ready','status':'False'}],'containerStatuses':["
	              "{'name':'c','state':{'terminated':{'exitCode':%d}}}]}}",
	              succeed ? "Succeeded" : "Failed", exit_code);
	for (size_t i = 0; i < list.count; i++)
		if (in_phase(list.items[i], "Running") && !leaving(list.items[i]))
			set_status(yard, list.items[i], text.text);
	buffer_free(&text);
	store_list_clear(&list);
	yard_settle(yard);
}

void yard_gone(struct yard *yard)
{
	struct store_list list;
	list_pods(yard, NULL, &list);
	for (size_t i = 0; i < list.count; i++)
		if (leaving(list.items[i]))
			kit_delete(&yard->kit, "pods", "default", list.items[i]->name, "{'gracePeriodSeconds':0}");
	store_list_clear(&list);
	yard_settle(yard);
}

static const char *names(struct yard *yard, const char *labels, bool stems)
{
	struct store_list list;
	list_pods(yard, labels, &list);
	struct buffer text = {0};
	buffer_puts(&text, "");
	for (size_t i = 0; i < list.count; i++) {
		const char *name = list.items[i]->name, *end = strrchr(name, '-');
		int length = stems && end ? (int)(end - name) : (int)strlen(name);
		buffer_printf(&text, "%s%.*s", text.length ? " " : "", length, name);
	}
	store_list_clear(&list);
	const char *copy = arena_strdup(yard->kit.arena, text.text);
	buffer_free(&text);
	return copy;
}

const char *yard_pods(struct yard *yard, const char *labels)
{
	return names(yard, labels, false);
}

const char *yard_stems(struct yard *yard, const char *labels)
{
	return names(yard, labels, true);
}

int yard_count(struct yard *yard, const char *labels)
{
	struct store_list list;
	list_pods(yard, labels, &list);
	int count = (int)list.count;
	store_list_clear(&list);
	return count;
}

const char *yard_at(struct yard *yard, const char *resource, const char *name, const char *path)
{
	assert_code(&yard->kit, kit_get(&yard->kit, resource, "default", name), 200);
	return kit_at(&yard->kit, path);
}

const char *yard_condition(struct yard *yard, const char *resource, const char *name, const char *type)
{
	for (int i = 0; i < 20; i++) {
		char path[64];
		snprintf(path, sizeof(path), "status.conditions.%d.type", i);
		const char *found = yard_at(yard, resource, name, path);
		if (!*found)
			return "";
		if (strcmp(found, type) != 0)
			continue;
		snprintf(path, sizeof(path), "status.conditions.%d.status", i);
		return kit_at(&yard->kit, path);
	}
	return "";
}

const char *yard_pod_at(struct yard *yard, const char *labels, const char *path)
{
	struct store_list list;
	list_pods(yard, labels, &list);
	assert_true(list.count > 0);
	const char *found = yard_at(yard, "pods", list.items[0]->name, path);
	store_list_clear(&list);
	return found;
}

void yard_tell(void (*story)(struct yard *yard))
{
	for (int mode = 0; mode < YARD_MODES; mode++) {
		struct yard yard;
		yard_open(&yard, (enum yard_mode)mode);
		story(&yard);
		yard_close(&yard);
	}
}
