/* Owns the scheduler of the tests and the objects around it. */
#include "tale.h"

#include <stdlib.h>

/* The node a binding names. */
static void note_target(struct trouble *trouble, const struct store_request *request)
{
	snprintf(trouble->node, sizeof(trouble->node), "%s",
	         val_str(val_path(request->body, "target", "name", NULL), ""));
}

static struct store_fault refuse(void *context, const struct store_request *request)
{
	struct tale *tale = context;
	for (size_t i = 0; i < 4 && request->subresource == STORE_BINDING; i++) {
		struct trouble *trouble = &tale->troubles[i];
		if (!trouble->pod || (trouble->node[0] && !trouble->always) || strcmp(request->name, trouble->pod) != 0)
			continue;
		note_target(trouble, request);
		return (struct store_fault){.code = trouble->code};
	}
	if (!tale->fails || request->subresource != STORE_BINDING || strcmp(request->name, tale->fails) != 0 ||
	    tale->times == 0)
		return (struct store_fault){0};
	tale->times -= tale->times > 0;
	return (struct store_fault){.code = 409};
}

void tale_start(struct tale *tale)
{
	scheduler_destroy(tale->scheduler);
	tale->scheduler = scheduler_create(
		&(struct scheduler_options){.store = tale->kit.store, .clock = &tale->kit.clock.source});
}

void tale_node(struct tale *tale, const char *name, const char *rack)
{
	char body[512];
	snprintf(body, sizeof(body),
	         "{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','labels':{'rack':'%s'}},'status':{"
	         "'allocatable':{'cpu':'2','memory':'8Gi','pods':'9'}}}",
	         name, rack);
	assert_code(&tale->kit, kit_create(&tale->kit, "nodes", "", body), 201);
}

int tale_begin(void **state)
{
	static struct tale tale;
	tale = (struct tale){0};
	kit_open(&tale.kit, NULL);
	store_set_fault(tale.kit.store, refuse, &tale);
	kit_create(&tale.kit, "queues.scheduling.run.ai", "",
	           "{'apiVersion':'scheduling.run.ai/v2','kind':'Queue','metadata':{'name':'default-queue'},'spec':{"
	           "'resources':{'gpu':{'quota':-1,'limit':-1},'cpu':{'quota':4000,'limit':-1,'overQuotaWeight':1},"
	           "'memory':{'quota':-1,'limit':-1}}}}");
	kit_create(&tale.kit, "topologies.kai.scheduler", "",
	           "{'apiVersion':'kai.scheduler/v1alpha1','kind':'Topology','metadata':{'name':'cluster'},'spec':{"
	           "'levels':[{'nodeLabel':'rack'}]}}");
	tale_start(&tale);
	*state = &tale;
	return 0;
}

int tale_end(void **state)
{
	struct tale *tale = *state;
	scheduler_destroy(tale->scheduler);
	kit_close(&tale->kit);
	return 0;
}

/* Turns of a tenth of a second. */
void tale_turns(struct tale *tale, int count)
{
	struct error error = {0};
	for (int i = 0; i < count; i++) {
		clock_virtual_advance(&tale->kit.clock, CLOCK_SECOND / 10);
		scheduler_step(tale->scheduler);
		assert_int_equal(store_commit(tale->kit.store, &error), 0);
	}
}

void tale_group(struct tale *tale, const char *name, const char *spec)
{
	char body[1024];
	snprintf(body, sizeof(body),
	         "{'apiVersion':'scheduling.run.ai/v2alpha2','kind':'PodGroup','metadata':{'name':'%s'},'spec':{%s}}",
	         name, spec);
	assert_code(&tale->kit, kit_create(&tale->kit, "podgroups.scheduling.run.ai", "default", body), 201);
}

/* A pod that takes a whole node. */
void tale_pod(struct tale *tale, const char *name, const char *group, const char *subgroup)
{
	char body[1024];
	snprintf(body, sizeof(body),
	         "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','annotations':{'pod-group-name':'%s'},'"
	         "labels':{"
	         "'kai.scheduler/"
	         "subgroup-name':'%s'}},'spec':{'schedulerName':'platoon','containers':[{'name':'c','image':"
	         "'i','resources':{'requests':{'cpu':'2'}}}]}}",
	         name, group, subgroup);
	assert_code(&tale->kit, kit_create(&tale->kit, "pods", "default", body), 201);
}

void tale_gang(struct tale *tale, const char *name, int minimum, int pods, const char *more)
{
	char spec[512], pod[64];
	snprintf(spec, sizeof(spec), "'minMember':%d%s", minimum, more);
	tale_group(tale, name, spec);
	for (int i = 0; i < pods; i++) {
		snprintf(pod, sizeof(pod), "%s-%d", name, i);
		tale_pod(tale, pod, name, "");
	}
}

const char *tale_at(struct tale *tale, const char *resource, const char *namespace_, const char *name, const char *path)
{
	return kit_get(&tale->kit, resource, namespace_, name) == 200 ? kit_at(&tale->kit, path) : "gone";
}

const char *tale_node_of(struct tale *tale, const char *pod)
{
	return tale_at(tale, "pods", "default", pod, "spec.nodeName");
}

const char *tale_group_at(struct tale *tale, const char *group, const char *path)
{
	return tale_at(tale, "podgroups.scheduling.run.ai", "default", group, path);
}

/* How many pods of a gang have a node and are not on their way out. */
int tale_placed(struct tale *tale, const char *gang, int pods)
{
	int count = 0;
	char pod[64];
	for (int i = 0; i < pods; i++) {
		snprintf(pod, sizeof(pod), "%s-%d", gang, i);
		const char *node = tale_node_of(tale, pod);
		if (node[0] && strcmp(node, "gone") != 0)
			count += tale_at(tale, "pods", "default", pod, "metadata.deletionTimestamp")[0] == '\0';
	}
	return count;
}

/* The value of a metric; the test fails when there is no such line. */
long tale_metric(struct tale *tale, const char *name)
{
	struct buffer text = {0};
	char line[160];
	scheduler_metrics(tale->scheduler, &text);
	snprintf(line, sizeof(line), "\n%s ", name);
	const char *found = strstr(text.text, line);
	long value = found ? strtol(found + strlen(line), NULL, 10) : -1;
	if (!found)
		printf("%s", text.text);
	buffer_free(&text);
	assert_non_null(found);
	return value;
}

void tale_phase(struct tale *tale, const char *pod, const char *phase)
{
	char body[64];
	snprintf(body, sizeof(body), "{'status':{'phase':'%s'}}", phase);
	assert_code(&tale->kit, kit_merge_status(&tale->kit, "pods", "default", pod, body), 200);
}

void tale_nodes(struct tale *tale, int count)
{
	char name[16];
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		tale_node(tale, name, "r");
	}
}
