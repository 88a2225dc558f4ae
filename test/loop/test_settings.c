/* One set of settings: everybody who decides borrows the same. */
#include "loop/settings_story.h"
#include "object/yaml_read.h"

/* ---- the owner ---- */

static void what_is_borrowed_stays_until_the_turn(void **state)
{
	(void)state;
	struct settings given = settings_usual;
	char queue[] = "team-a";
	given.group.default_queue = queue;
	struct settings_source *source = settings_source_create(&given);
	queue[0] = 'x'; /* it was copied */
	const struct settings *before = settings_now(source);
	given = settings_usual;
	given.budget = 7;
	settings_source_replace(source, &given);
	const struct settings *after = settings_now(source);
	assert_string_equal(settings_default_queue(before), "team-a");
	assert_string_equal(settings_default_queue(after), "default-queue");
	assert_int_equal(after->budget, 7);
	assert_int_not_equal(before->placing, after->placing);
	assert_int_not_equal(before->grouping, after->grouping);
	settings_turn(source);
	/* The same again is no news to anybody. */
	settings_source_replace(source, &given);
	assert_int_equal(settings_now(source)->placing, 1);
	assert_int_equal(settings_now(source)->grouping, 1);
	settings_source_destroy(source);
	assert_ptr_equal(settings_now(NULL), &settings_usual);
}

static void windows_of_defragmentation(void **state)
{
	static const struct {
		const char *text;
		bool good, at_midnight, at_noon, before_noon;
	} table[] = {
		{"{enabled: true}", true, true, true, true},
		{"{enabled: false}", true, false, false, false},
		{"{enabled: true, movesPerHour: 0}", true, false, false, false},
		{"{enabled: true, window: '22:00-06:00'}", true, true, false, false},
		{"{enabled: true, window: '06:00-12:00'}", true, false, false, true},
		{"{enabled: true, window: '12:00-24:00'}", true, false, true, false},
		{"{enabled: true, window: '12:00-12:00'}", false, true, true, true},
		{"{enabled: true, window: '24:00-12:00'}", false, true, true, true},
		{"{enabled: true, window: '9:00-12:00'}", false, true, true, true},
		{"{enabled: true, window: '09:60-12:00'}", false, true, true, true},
		{"{enabled: true, movesPerHour: -1}", false, true, true, true},
		{"{enabled: true, movesPerHour: 10001}", false, true, true, true},
	};
	enum { NOON = 20000 * 86400 + 12 * 3600 };
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct arena *arena = arena_create();
		struct problems problems = {.arena = arena};
		struct settings settings = settings_usual;
		struct yaml_document *docs = NULL;
		size_t count = 0;
		struct error error;
		print_message("%s\n", table[i].text);
		assert_int_equal(yaml_read(table[i].text, strlen(table[i].text), &docs, &count, &error), 0);
		settings_read_defragment(doc_root(docs[0].doc), "d", arena, &settings.defragment, &problems);
		assert_int_equal(problems.errors == 0, table[i].good);
		if (table[i].good) {
			assert_int_equal(settings_may_defragment(&settings, NOON - 12 * 3600), table[i].at_midnight);
			assert_int_equal(settings_may_defragment(&settings, NOON), table[i].at_noon);
			assert_int_equal(settings_may_defragment(&settings, NOON - 1), table[i].before_noon);
		}
		doc_destroy(docs[0].doc);
		free(docs);
		arena_destroy(arena);
	}
}

static void a_change_concerns_only_whom_it_concerns(void **state)
{
	(void)state;
	static const char *const names[] = {"other"};
	static const struct group_kind_default row = {.api_group = "*", .kind = "Job", .priority_class = "train"};
	struct settings cases[19];
	static const bool placing[19] = {true, true, true, true, true, false, true, false, false, true,
	                                 true, true, true, true, true, false, true, true,  true};
	static const bool grouping[19] = {true,  true,  true,  false, false, true, true,  true,  true, true,
	                                  false, false, false, false, false, true, false, false, false};
	for (int i = 0; i < 19; i++)
		cases[i] = settings_usual;
	cases[0].schedulers = names;
	cases[0].scheduler_count = 1;
	cases[1].group.default_queue = "q";
	cases[2].group.queue_label = "team";
	cases[3].budget = 1;
	cases[4].strategy.cpu = ORDER_SPREAD;
	cases[5].single_groups = true;
	cases[6].group.pool_label = "pool";
	cases[7].group.knative_gang = true;
	cases[8].group.defaults = &row;
	cases[8].group.default_count = 1;
	cases[9].node_pool = "red";
	cases[10].restrict_nodes = true;
	cases[11].plain_reasons = true;
	cases[12].starvation_ns = 1;
	cases[13].config_maps = true;
	cases[14].ignore_parent_queues = true;
	cases[15].group.kai_minimums = true;
	cases[16].spare_gpus = true;
	cases[17].past.half_life = 60;
	cases[18].defragment.level = "rack";
	for (int i = 0; i < 19; i++) {
		struct settings_source *source = settings_source_create(&settings_usual);
		settings_source_replace(source, &cases[i]);
		print_message("case %d\n", i);
		assert_int_equal(settings_now(source)->placing, placing[i]);
		assert_int_equal(settings_now(source)->grouping, grouping[i]);
		settings_source_destroy(source);
	}
}

/* ---- everybody has the same ---- */

static void the_default_queue_is_everybodys(void **state)
{
	struct settings settings = settings_usual;
	settings.group.default_queue = "team-a";
	*state = simulation_create(&(struct simulation_options){.seed = 1, .settings = &settings});
	struct simulation *simulation = *state;
	story_apply(simulation, NODE("n1") TOPOLOGY QUEUE("team-a") POD("single", "platoon") JOB("job", "platoon", "")
	                                ROLES("roles"));
	story_run(simulation);
	assert_true(story_would_place(simulation, POD("asked", "platoon"), "default/asked"));
	assert_string_equal(story_queue_of(simulation, "pg-job-"), "team-a");
	assert_string_equal(story_node_of(simulation, "single"), "n1");
	assert_string_equal(
		val_str(val_path(story_starting(simulation, "", "pods", "job-0-"), "spec", "nodeName", NULL), ""),
		"n1");
	assert_string_equal(
		val_str(val_path(story_starting(simulation, "", "pods", "roles-"), "spec", "nodeName", NULL), ""),
		"n1");
}

static void admission_and_controllers_agree_whose_a_pod_is(void **state)
{
	static const char *const names[] = {"platoon", "default-scheduler"};
	struct settings settings = settings_usual;
	settings.schedulers = names;
	settings.scheduler_count = 2;
	*state = simulation_create(&(struct simulation_options){.seed = 1, .settings = &settings});
	struct simulation *simulation = *state;
	story_apply(simulation, NODE("n1") TOPOLOGY JOB("job", "default-scheduler", ""));
	story_run(simulation);
	assert_string_equal(
		val_str(val_path(story_starting(simulation, "", "pods", "job-0-"), "spec", "nodeName", NULL), ""),
		"n1");
	assert_string_equal(story_segment_of(simulation, "job-0-"), "KAI_SEGMENT_INDEX");
}

#define FLOW                                                                                                           \
	"---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "                 \
	"flows.jobs.example.com}, spec: {group: jobs.example.com, scope: Namespaced, names: {plural: flows, "          \
	"singular: "                                                                                                   \
	"flow, kind: Flow, listKind: FlowList}, versions: [{name: v1, served: true, storage: true, schema: "           \
	"{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}\n"                          \
	"---\n{apiVersion: run.ai/v1alpha1, kind: Karta, metadata: {name: flow}, spec: {structureDefinition: "         \
	"{rootComponent: {name: flow, kind: {group: jobs.example.com, version: v1, kind: Flow}}, childComponents: "    \
	"[{name: worker, ownerRef: flow, scaleDefinition: {replicasPath: .spec.replicas}, podSelector: "               \
	"{componentTypeSelector: {keyPath: .metadata.labels.role, value: worker}}}]}, optimizationInstructions: "      \
	"{gangScheduling: {podGroup: {name: all, subGroups: [{componentName: worker}]}}}}}\n"

static void make_flow_pod(struct simulation *simulation, const char *name)
{
	const struct val *flow = story_object(simulation, "jobs.example.com", "flows", "f");
	struct buffer text = {0};
	buffer_printf(&text,
	              "{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {role: worker}, ownerReferences: "
	              "[{apiVersion: jobs.example.com/v1, kind: Flow, name: f, controller: true, uid: %s}]}, spec: "
	              "{schedulerName: platoon, " CONTAINERS "}}",
	              name, val_str(val_path(flow, "metadata", "uid", NULL), ""));
	story_apply(simulation, text.text);
	buffer_free(&text);
}

static const char *leaf_of(struct simulation *simulation, const char *pod)
{
	return val_str(val_path(story_object(simulation, "", "pods", pod), "metadata", "labels", GROUP_KEY_SUBGROUP,
	                        NULL),
	               "");
}

/* What admission writes is there before any controller has a turn. */
static void admission_obeys_the_config_map(void **state)
{
	struct simulation *simulation = *state;
	story_apply(simulation, FLOW DEFAULTS("genericKartaFallback: 'false'"));
	story_apply(simulation,
	            "{apiVersion: jobs.example.com/v1, kind: Flow, metadata: {name: f}, spec: {replicas: 2}}");
	make_flow_pod(simulation, "f-0");
	assert_string_equal(leaf_of(simulation, "f-0"), "");
	story_apply(simulation, DEFAULTS("genericKartaFallback: 'true'"));
	make_flow_pod(simulation, "f-1");
	assert_string_equal(leaf_of(simulation, "f-1"), "worker");
	/* The controller thinks the same of the first one now. */
	story_run(simulation);
	assert_string_equal(leaf_of(simulation, "f-0"), "worker");
}

int main(void)
{
#define ON_A_CLUSTER(name) cmocka_unit_test_setup_teardown(name, story_open, story_close)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_borrowed_stays_until_the_turn),
		cmocka_unit_test(windows_of_defragmentation),
		cmocka_unit_test(a_change_concerns_only_whom_it_concerns),
		cmocka_unit_test_setup_teardown(the_default_queue_is_everybodys, NULL, story_close),
		cmocka_unit_test_setup_teardown(admission_and_controllers_agree_whose_a_pod_is, NULL, story_close),
		ON_A_CLUSTER(admission_obeys_the_config_map),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
