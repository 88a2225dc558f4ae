/* What a mirror keeps of pods and nodes: all that is read, and little else. */
#include "admit/pod.h"
#include "kinds/schema.h"
#include "fixtures/store_fixture.h"
#include "remote/internal.h"
#include "fixtures/protobuf_write.h"

#include <inttypes.h>
#include <stdlib.h>

static const char pod_text[] =
	"{'metadata':{'name':'a','generateName':'a-','namespace':'n','uid':'u','resourceVersion':'7','generation':2,"
	"'creationTimestamp':'2026-01-01T00:00:00Z','deletionTimestamp':'2026-01-02T00:00:00Z','"
	"deletionGracePeriodSeconds':30,"
	"'labels':{'app':'x','kai.scheduler/subgroup-name':'s'},"
	"'annotations':{'pod-group-name':'g','kubectl.kubernetes.io/last-applied-configuration':'{}'},"
	"'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':'j','uid':'o','controller':true}],"
	"'finalizers':['f'],'managedFields':[{'manager':'kubectl','fieldsV1':{'f:metadata':{}}}]},"
	"'spec':{'nodeName':'node','schedulerName':'platoon','priority':5,'priorityClassName':'high','preemptionPolicy'"
	":'Never',"
	"'hostNetwork':true,'restartPolicy':'Never','terminationGracePeriodSeconds':3,'serviceAccountName':'default',"
	"'dnsPolicy':'ClusterFirst','enableServiceLinks':true,'securityContext':{'runAsUser':1},'imagePullSecrets':[{'"
	"name':'x'}],"
	"'overhead':{'cpu':'10m'},'nodeSelector':{'zone':'a'},"
	"'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':"
	"[{'matchExpressions':[{'key':'zone','operator':'In','values':['a']}]}]}}},"
	"'tolerations':[{'key':'gpu','operator':'Exists','effect':'NoSchedule','tolerationSeconds':3}],"
	"'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'DoNotSchedule'}],"
	"'schedulingGates':[{'name':'wait'}],"
	"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}},{'name':'t','projected':{'sources':[{}]}},"
	"{'name':'e','ephemeral':{'volumeClaimTemplate':{}}}],"
	"'initContainers':[{'name':'i','image':'i:1','restartPolicy':'Always','env':[{'name':'A','value':'b'}],"
	"'resources':{'requests':{'cpu':'2'}}}],"
	"'containers':[{'name':'c','image':'c:1','command':['run'],'args':['x'],'env':[{'name':'A','value':'b'}],"
	"'envFrom':[{}],'volumeMounts':[{'name':'v','mountPath':'/"
	"v'}],'livenessProbe':{'exec':{}},'imagePullPolicy':'Always',"
	"'terminationMessagePath':'/dev/"
	"termination-log','ports':[{'containerPort':80,'hostPort':8080,'protocol':'TCP'}],"
	"'resources':{'requests':{'cpu':'1','memory':'1Gi'},'limits':{'nvidia.com/gpu':8,'example.com/nic':1}}}]},"
	"'status':{'phase':'Running','reason':'r','message':'m','nominatedNodeName':'other','startTime':'2026-01-01T00:"
	"00:01Z',"
	"'podIP':'10.0.0.1','podIPs':[{'ip':'10.0.0.1'}],'hostIP':'10.0.0.2','qosClass':'Burstable',"
	"'conditions':[{'type':'Ready','status':'True','lastProbeTime':null,'lastTransitionTime':'2026-01-01T00:00:02Z'"
	","
	"'reason':'r','message':'m','somethingNew':1}],"
	"'containerStatuses':[{'name':'c','ready':true,'started':true,'restartCount':2,'image':'c:1','imageID':'sha256:"
	"1',"
	"'containerID':'containerd://1','state':{'running':{'startedAt':'2026-01-01T00:00:02Z'}},"
	"'lastState':{'terminated':{'exitCode':1}},'allocatedResources':{'cpu':'1'}}]}}";

static const char node_text[] =
	"{'metadata':{'name':'n','uid':'u','resourceVersion':'7','labels':{'zone':'a'},'annotations':{'x':'y'}},"
	"'spec':{'unschedulable':true,'podCIDR':'10.0.0.0/24','providerID':'x',"
	"'taints':[{'key':'a','value':'b','effect':'NoExecute','timeAdded':'2026-01-01T00:00:00Z','somethingNew':1}]},"
	"'status':{'capacity':{'cpu':'8','nvidia.com/gpu':'8'},'allocatable':{'cpu':'7','nvidia.com/gpu':'8','x.com/"
	"y':'1'},"
	"'conditions':[{'type':'Ready','status':'True','lastHeartbeatTime':'2026-01-01T00:00:00Z','message':'m'}],"
	"'images':[{'names':['a','b'],'sizeBytes':1}],'nodeInfo':{'kernelVersion':'6'},'addresses':[{'type':'"
	"InternalIP'}],"
	"'volumesInUse':['v'],'daemonEndpoints':{'kubeletEndpoint':{'Port':1}}}}";

static const char *const pod_kept[] = {
	"metadata.name", "metadata.generateName", "metadata.namespace", "metadata.uid", "metadata.resourceVersion",
	"metadata.generation", "metadata.creationTimestamp", "metadata.deletionTimestamp",
	"metadata.deletionGracePeriodSeconds", "metadata.labels", "metadata.annotations.pod-group-name",
	"metadata.ownerReferences", "metadata.finalizers", "spec.nodeName", "spec.schedulerName", "spec.priority",
	"spec.priorityClassName", "spec.preemptionPolicy", "spec.hostNetwork", "spec.restartPolicy",
	"spec.terminationGracePeriodSeconds", "spec.overhead", "spec.nodeSelector", "spec.affinity", "spec.tolerations",
	"spec.topologySpreadConstraints", "spec.schedulingGates", "spec.volumes.0", "spec.volumes.2",
	"spec.initContainers.0.name", "spec.initContainers.0.image", "spec.initContainers.0.restartPolicy",
	"spec.initContainers.0.resources", "spec.containers.0.name", "spec.containers.0.image",
	"spec.containers.0.ports", "spec.containers.0.resources", "status.phase", "status.reason", "status.message",
	"status.nominatedNodeName", "status.startTime", "status.podIP",
	/* A patch replaces the list: all of it, also what we have never heard of. */
	"status.conditions", "status.containerStatuses.0.name", "status.containerStatuses.0.ready",
	"status.containerStatuses.0.restartCount", "status.containerStatuses.0.imageID",
	"status.containerStatuses.0.state", "status.containerStatuses.0.lastState",
	"status.containerStatuses.0.allocatedResources", NULL};
static const char *const pod_dropped[] = {"metadata.managedFields",
                                          "spec.serviceAccountName",
                                          "spec.dnsPolicy",
                                          "spec.securityContext",
                                          "spec.imagePullSecrets",
                                          "spec.volumes.1.projected",
                                          "spec.initContainers.0.env",
                                          "spec.containers.0.env",
                                          "spec.containers.0.envFrom",
                                          "spec.containers.0.command",
                                          "spec.containers.0.args",
                                          "spec.containers.0.volumeMounts",
                                          "spec.containers.0.livenessProbe",
                                          "status.podIPs",
                                          "status.containerStatuses.0.containerID",
                                          NULL};

static const char *const node_kept[] = {"metadata.name",      "metadata.labels",   "metadata.annotations",
                                        "spec.unschedulable", "spec.taints",       "status.allocatable",
                                        "status.capacity",    "status.conditions", NULL};
static const char *const node_dropped[] = {"spec.podCIDR",           "spec.providerID",
                                           "status.images",          "status.nodeInfo",
                                           "status.addresses",       "status.volumesInUse",
                                           "status.daemonEndpoints", NULL};

struct trimmed {
	struct store_fixture *fixture;
	struct copier *copier;
	struct doc *full, *part;
};

static void trim(struct trimmed *trimmed, struct store_fixture *fixture, const char *resource, const char *text)
{
	trimmed->copier = copier_create();
	trimmed->full = fixture_json(text);
	trimmed->part =
		remote_trim(trimmed->copier, doc_root(trimmed->full), fixture_api(fixture, resource), KEEP_READ);
}

static void trim_end(struct trimmed *trimmed)
{
	copier_destroy(trimmed->copier);
	doc_destroy(trimmed->part);
	doc_destroy(trimmed->full);
}

/* Dotted, with numbers for items of lists. */
static const struct val *at(const struct val *val, const char *path)
{
	char key[128];
	while (val && *path) {
		size_t length = strcspn(path, ".");
		assert_true(length < sizeof(key));
		memcpy(key, path, length);
		key[length] = '\0';
		val = key[0] >= '0' && key[0] <= '9' ? val_item(val, strtoul(key, NULL, 10)) : val_get(val, key);
		path += length + (path[length] == '.');
	}
	return val;
}

static void check(const struct trimmed *trimmed, const char *const *kept, const char *const *dropped)
{
	for (; *kept; kept++) {
		if (!at(doc_root(trimmed->full), *kept))
			fail_msg("%s is not in the object", *kept);
		if (!at(doc_root(trimmed->part), *kept) ||
		    !val_equal(at(doc_root(trimmed->full), *kept), at(doc_root(trimmed->part), *kept)))
			fail_msg("%s is not kept", *kept);
	}
	for (; *dropped; dropped++) {
		if (!at(doc_root(trimmed->full), *dropped))
			fail_msg("%s is not in the object", *dropped);
		if (at(doc_root(trimmed->part), *dropped))
			fail_msg("%s is kept", *dropped);
	}
}

static void print_amounts(const struct resource_amount *amounts, size_t count, struct buffer *out)
{
	for (size_t i = 0; i < count; i++)
		buffer_printf(out, "%s=%" PRId64 " ", amounts[i].name, amounts[i].amount);
}

/* What scheduling makes of it. */
static void print_pod(const struct val *pod, struct buffer *out)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct pod_spec spec;
	assert_int_equal(pod_decode(pod, arena, &spec, &problems), 0);
	assert_int_equal(problems.count, 0);
	print_amounts(spec.requests, spec.request_count, out);
	buffer_printf(out, "%s/%s %s %zu labels %s %s %s %s %s %d %d %d %" PRId64 " %" PRId64 " %s %d claims %zu:",
	              spec.namespace_, spec.name, spec.uid, spec.labels.count, spec.group, spec.subgroup,
	              spec.scheduler, spec.node, spec.nominated, spec.phase, spec.deleting, spec.gated,
	              spec.creation_seconds, spec.started_seconds, spec.priority_class, spec.priority,
	              spec.claim_count);
	for (size_t i = 0; i < spec.claim_count; i++)
		buffer_printf(out, " %s", spec.claims[i]);
	arena_destroy(arena);
}

static void of_a_pod_what_is_read_is_kept(void **state)
{
	struct trimmed pod;
	struct buffer full = {0}, part = {0};
	trim(&pod, *state, "pods", pod_text);
	check(&pod, pod_kept, pod_dropped);
	assert_null(val_path(doc_root(pod.part), "metadata", "annotations",
	                     "kubectl.kubernetes.io/last-applied-configuration", NULL));
	assert_string_equal(val_str(val_get(doc_root(pod.part), "apiVersion"), ""), "v1");
	assert_string_equal(val_str(val_get(doc_root(pod.part), "kind"), ""), "Pod");
	print_pod(doc_root(pod.full), &full);
	print_pod(doc_root(pod.part), &part);
	assert_string_equal(full.text, part.text);
	buffer_free(&full);
	buffer_free(&part);
	trim_end(&pod);
}

static void of_a_node_what_is_read_is_kept(void **state)
{
	struct trimmed node;
	trim(&node, *state, "nodes", node_text);
	check(&node, node_kept, node_dropped);
	trim_end(&node);
}

/* What only JSON can say is not on the wire: fields that our tables do not have, null, amounts that are numbers. */
static char *as_on_the_wire(const char *text)
{
	static const char *const changes[][2] = {
		{",'somethingNew':1", ""},
		{"'lastProbeTime':null,", ""},
		{"'nvidia.com/gpu':8,'example.com/nic':1", "'nvidia.com/gpu':'8','example.com/nic':'1'"},
	};
	char *changed = base_strdup(text);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		char *found = strstr(changed, changes[i][0]);
		if (!found)
			continue;
		struct buffer out = {0};
		buffer_append(&out, changed, (size_t)(found - changed));
		buffer_puts(&out, changes[i][1]);
		buffer_puts(&out, found + strlen(changes[i][0]));
		free(changed);
		changed = base_strdup(out.text);
		buffer_free(&out);
	}
	return changed;
}

static void trim_wire(struct trimmed *trimmed, struct store_fixture *fixture, const char *resource, const char *text)
{
	const struct store_api *api = fixture_api(fixture, resource);
	struct buffer bytes = {0};
	struct error error = {0};
	char *changed = as_on_the_wire(text);
	trimmed->copier = copier_create();
	trimmed->full = fixture_json(changed);
	struct wire_plan *plan = remote_trim_plan(api, KEEP_READ);
	protobuf_write_message(&bytes, kinds_schema("", "v1", api->type->kind), doc_root(trimmed->full));
	/* Of its own size: reading beyond its end would be seen. */
	unsigned char *copy = base_malloc(bytes.length);
	memcpy(copy, bytes.text, bytes.length);
	trimmed->part =
		remote_trim_wire(trimmed->copier, plan, (struct wire_span){copy, copy + bytes.length}, api, &error);
	if (!trimmed->part)
		fail_msg("%s", error.text);
	for (size_t i = 0; i < bytes.length; i++) { /* cut anywhere it is an error, or an object that ends earlier */
		unsigned char *cut = base_malloc(i ? i : 1);
		memcpy(cut, copy, i);
		struct doc *doc =
			remote_trim_wire(trimmed->copier, plan, (struct wire_span){cut, cut + i}, api, &error);
		assert_true(doc || error.text[0]);
		doc_destroy(doc);
		free(cut);
	}
	wire_plan_destroy(plan); /* the copy does without */
	free(copy);
	buffer_free(&bytes);
	free(changed);
}

static void protobuf_keeps_the_same(void **state)
{
	struct trimmed object;
	struct buffer full = {0}, part = {0};
	trim_wire(&object, *state, "pods", pod_text);
	check(&object, pod_kept, pod_dropped);
	assert_null(val_path(doc_root(object.part), "metadata", "annotations",
	                     "kubectl.kubernetes.io/last-applied-configuration", NULL));
	assert_string_equal(val_str(val_get(doc_root(object.part), "kind"), ""), "Pod");
	print_pod(doc_root(object.full), &full);
	print_pod(doc_root(object.part), &part);
	assert_string_equal(full.text, part.text);
	trim_end(&object);
	trim_wire(&object, *state, "nodes", node_text);
	check(&object, node_kept, node_dropped);
	trim_end(&object);
	buffer_free(&full);
	buffer_free(&part);
}

/* What is zero, and what is not there. */
static void protobuf_knows_zero_from_nothing(void **state)
{
	struct trimmed pod;
	trim_wire(&pod, *state, "pods",
	          "{'metadata':{'name':'a','generation':0,'labels':{'e':''}},'spec':{'priority':0,'hostNetwork':false,"
	          "'terminationGracePeriodSeconds':0,'tolerations':[{'tolerationSeconds':0},{'tolerationSeconds':-7}]},"
	          "'status':{'containerStatuses':[{'ready':false,'restartCount':0,'started':false,"
	          "'state':{'terminated':{'exitCode':-1}}}]}}");
	check(&pod,
	      (const char *const[]){"metadata.labels", "spec.priority", "spec.terminationGracePeriodSeconds",
	                            "spec.tolerations", "status.containerStatuses.0.ready",
	                            "status.containerStatuses.0.started", "status.containerStatuses.0.restartCount",
	                            "status.containerStatuses.0.state", NULL},
	      (const char *const[]){"metadata.generation", "spec.hostNetwork", NULL});
	trim_end(&pod);
}

static void protobuf_that_is_wrong_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *problem;
	} cases[] = {
		{"\x0a\x05\x0a\x01", 4, "cut off"},
		{"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11, "cut off"},
		{"\x00\x00", 2, "cut off"},                 /* field 0 */
		{"\x0b", 1, "cut off"},                     /* a wire type that is not used */
		{"\x0a\x03\x0a\x01\xff", 5, "UTF-8"},       /* metadata.name */
		{"\x0a\x03\x0a\x01\x00", 5, "UTF-8"},       /* a zero in it */
		{"\x08\x01", 2, "wrong type"},              /* metadata is a number */
		{"\x0a\x02\x08\x01", 4, "wrong type"},      /* metadata.name too */
		{"\x0a\x06\x0a\x01x\x0a\x01y", 8, "twice"}, /* two names */
		{"\x0a\x04\x5a\x02\x0a\x09", 6, "cut off"}, /* an entry of labels */
	};
	struct copier *copier = copier_create();
	const struct store_api *api = fixture_api(*state, "pods");
	struct wire_plan *plan = remote_trim_plan(api, KEEP_READ);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const unsigned char *bytes = (const unsigned char *)cases[i].bytes;
		struct error error = {0};
		struct doc *doc =
			remote_trim_wire(copier, plan, (struct wire_span){bytes, bytes + cases[i].length}, api, &error);
		if (doc || !strstr(error.text, cases[i].problem))
			fail_msg("case %zu: %s instead of %s", i, error.text, cases[i].problem);
	}
	wire_plan_destroy(plan);
	copier_destroy(copier);
	/* A plan has room for all fields. */
	struct schema_field field;
	for (size_t i = 0; i < schema_core_count; i++)
		for (const char *next = schema_core[i].fields; schema_next(&next, &field);)
			assert_true(field.number < 64);
}

/* They may be written back as a whole. */
/* Of a pod which ConfigMaps it needs, for those who ask: the same from JSON and from protobuf. */
static void config_maps_are_kept_where_they_matter(void **state)
{
	static const char text[] =
		"{'metadata':{'name':'a'},'spec':{'volumes':[{'name':'v','configMap':{'name':'m','items':[{'key':'k','"
		"path':"
		"'p'}]}},{'name':'p','projected':{'sources':[{'configMap':{'name':'q'}},{'secret':{'name':'s'}}]}}],"
		"'containers':[{'name':'c','volumeMounts':[{'name':'v','mountPath':'/v'},{'name':'p','mountPath':'/"
		"p'}],"
		"'env':[{'name':'A','value':'secret'},{'name':'B','valueFrom':{'configMapKeyRef':{'name':'n','key':'k'}"
		"}}],"
		"'envFrom':[{'configMapRef':{'name':'o','optional':true}}]}]}}";
	const struct store_api *api = fixture_api(*state, "pods");
	struct copier *copier = copier_create();
	struct doc *full = fixture_json(text);
	struct buffer bytes = {0};
	struct error error = {0};
	struct wire_plan *plan = remote_trim_plan(api, KEEP_CONFIG_MAPS);
	protobuf_write_message(&bytes, kinds_schema("", "v1", "Pod"), doc_root(full));
	const unsigned char *at = (const unsigned char *)bytes.text;
	struct doc *parts[] = {remote_trim(copier, doc_root(full), api, KEEP_CONFIG_MAPS),
	                       remote_trim_wire(copier, plan, (struct wire_span){at, at + bytes.length}, api, &error),
	                       remote_trim(copier, doc_root(full), api, KEEP_READ)};
	for (int i = 0; i < 3; i++) {
		struct arena *arena = arena_create();
		struct problems problems = {.arena = arena};
		struct pod_spec pod;
		assert_non_null(parts[i]);
		assert_int_equal(pod_decode(doc_root(parts[i]), arena, &pod, &problems), 0);
		assert_int_equal(pod.config_map_count, i < 2 ? 3 : 0);
		if (i < 2) {
			assert_string_equal(pod.config_maps[0], "m");
			assert_string_equal(pod.config_maps[1], "n");
			assert_string_equal(pod.config_maps[2], "q");
			struct buffer written = {0};
			val_write(doc_root(parts[i]), DOC_JSON_COMPACT, &written);
			assert_null(strstr(written.text, "\"value\""));
			buffer_free(&written);
		}
		doc_destroy(parts[i]);
		arena_destroy(arena);
	}
	wire_plan_destroy(plan);
	buffer_free(&bytes);
	doc_destroy(full);
	copier_destroy(copier);
}

static void others_are_kept_whole(void **state)
{
	static const char *const kept[] = {
		"metadata.name", "metadata.annotations", "metadata.selfLink", "spec", "status", "other", NULL};
	static const char *const dropped[] = {"metadata.managedFields", NULL};
	struct trimmed group;
	trim(&group, *state, "podgroups.scheduling.run.ai",
	     "{'kind':'wrong','metadata':{'name':'g','selfLink':'x','annotations':{'kubectl.kubernetes.io/"
	     "last-applied-configuration':'{}'},"
	     "'managedFields':[{}]},'spec':{'minMember':1.5,'big':123456789012345678901234567890,'deep':[[{'a':null}]]}"
	     ","
	     "'status':{'phase':'x'},'other':true}");
	check(&group, kept, dropped);
	assert_string_equal(val_str(val_get(doc_root(group.part), "kind"), ""), "PodGroup");
	trim_end(&group);
	/* So are pods for those who want that. */
	trim(&group, *state, "pods", pod_text);
	doc_destroy(group.part);
	group.part = remote_trim(group.copier, doc_root(group.full), fixture_api(*state, "pods"), KEEP_ALL);
	check(&group, (const char *const[]){"spec", "status", "metadata.annotations", NULL}, dropped);
	trim_end(&group);
	/* What is no object does no harm. */
	for (size_t i = 0; i < 4; i++) {
		static const char *const texts[] = {"[]", "7", "null", "{'metadata':[1],'spec':'x'}"};
		trim(&group, *state, "pods", texts[i]);
		assert_int_equal(val_kind(doc_root(group.part)), VAL_MAP);
		trim_end(&group);
	}
}

int main(void)
{
#define ON_FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		ON_FIXTURE(of_a_pod_what_is_read_is_kept),
		ON_FIXTURE(of_a_node_what_is_read_is_kept),
		ON_FIXTURE(protobuf_keeps_the_same),
		ON_FIXTURE(protobuf_knows_zero_from_nothing),
		ON_FIXTURE(protobuf_that_is_wrong_is_refused),
		ON_FIXTURE(others_are_kept_whole),
		ON_FIXTURE(config_maps_are_kept_where_they_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
