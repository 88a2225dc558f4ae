/* From a workload to its PodGroups: the pods that the controllers make carry what the grouping reads. And no spec,
 * however odd, does harm. */
#include "fixtures/workload_fixture.h"

#include "grouping/grouping.h"

#define POD(more)                                                                                                      \
	"{'metadata':{'annotations':{'a':'b'" more "}},'spec':{'schedulerName':'platoon','containers':[{'name':'c'}]}" \
	"}"
#define SEGMENTS(size)                                                                                                 \
	",'kai.scheduler/topology':'t','kai.scheduler/segment-size':'" #size                                           \
	"','kai.scheduler/segment-topology-required-placement':'rack'"

struct row {
	const char *resource, *spec;
	int groups;
	const char *leaves; /* of the pods in order of their names, "-" for none */
};

static const struct row rows[] = {
	{"deployments.apps", "'replicas':2,'selector':{'matchLabels':{}},'template':" POD(""), 2, "- -"},
	{"statefulsets.apps", "'replicas':3,'podManagementPolicy':'Parallel','template':" POD(""), 1, "- - -"},
	{"jobs.batch", "'completions':2,'parallelism':2,'template':" POD(""), 1, "- -"},
	{"jobs.batch", "'completionMode':'Indexed','completions':4,'parallelism':4,'template':" POD(SEGMENTS(2)), 1,
         "worker-0 worker-0 worker-1 worker-1"},
	{"pytorchjobs.kubeflow.org",
         "'pytorchReplicaSpecs':{'Master':{'template':" POD("") "},'Worker':{'replicas':4,'template':" POD(
		 SEGMENTS(2)) "}}",
         1, "master worker-0 worker-0 worker-1 worker-1"},
	{"tfjobs.kubeflow.org",
         "'tfReplicaSpecs':{'PS':{'template':" POD("") "},'Worker':{'replicas':2,'template':" POD(SEGMENTS(1)) "}}", 1,
         "ps worker-0 worker-1"},
	{"mpijobs.kubeflow.org",
         "'mpiReplicaSpecs':{'Launcher':{'template':" POD("") "},'Worker':{'replicas':2,'template':" POD("") "}}", 1,
         "- - -"},
	{"jaxjobs.kubeflow.org", "'jaxReplicaSpecs':{'Worker':{'replicas':2,'template':" POD("") "}}", 1, "- -"},
	{"xgboostjobs.kubeflow.org",
         "'xgbReplicaSpecs':{'Master':{'template':" POD("") "},'Worker':{'replicas':1,'template':" POD("") "}}", 1,
         "- -"},
	{"leaderworkersets.leaderworkerset.x-k8s.io",
         "'replicas':2,'leaderWorkerTemplate':{'size':2,'workerTemplate':" POD("") "}", 2,
         "leader workers leader workers"},
	{"jobsets.jobset.x-k8s.io",
         "'replicatedJobs':[{'name':'a','replicas':2,'template':{'spec':{'template':" POD(
		 "") "}}},{'name':'b',"
                     "'template':{'spec':{'template':" POD("") "}}}]",
         1, "a-replica-0 a-replica-1 b-replica-0"},
	{"rayclusters.ray.io",
         "'headGroupSpec':{'template':" POD("") "},'workerGroupSpecs':[{'groupName':'g','replicas':2,'template':" POD(
		 "") "}]",
         1, "g g headgroup"},
	{"rayjobs.ray.io",
         "'rayClusterSpec':{'headGroupSpec':{'template':" POD("") "},'workerGroupSpecs':[{'groupName':'g','replicas':1,"
                                                                  "'template':" POD("") "}]}",
         1, "g headgroup"},
	{"podcliquesets.grove.io",
         "'replicas':2,'template':{'cliques':[{'name':'a','spec':{'replicas':2,'podSpec':{'schedulerName':'platoon',"
         "'containers':[{'name':'c'}]}}}]}",
         2, "w-0-a w-0-a w-1-a w-1-a"},
};

static void step(struct workload_fixture *fixture, struct grouping_controller *grouping)
{
	for (int i = 0; i < 20; i++) {
		struct error error = {0};
		clock_virtual_advance(&fixture->base.clock, 50000000);
		workloads_step(fixture->workloads);
		grouping_step(grouping);
		store_collect_garbage(fixture->base.store, 100);
		assert_int_equal(store_commit(fixture->base.store, &error), 0);
	}
}

static void tell_row(const struct row *row)
{
	struct workload_fixture fixture;
	workload_fixture_open(&fixture, WORKLOAD_FIXTURE_CALM);
	struct settings settings = settings_usual;
	settings.single_groups = true;
	struct settings_source *source = settings_source_create(&settings);
	struct grouping_controller *grouping =
		grouping_create(&(struct grouping_options){.store = fixture.base.store,
	                                                   .clock = &fixture.base.clock.source,
	                                                   .settings = source});
	struct buffer text = {0};
	buffer_printf(&text, "{'metadata':{'name':'w'},'spec':{%s}}", row->spec);
	assert_code(&fixture.base, fixture_create(&fixture.base, row->resource, "default", text.text), 201);
	step(&fixture, grouping);
	text.length = 0;
	const char *names = workload_fixture_pods(&fixture, NULL);
	for (size_t length; *names; names += length + (names[length] == ' ')) {
		length = strcspn(names, " ");
		const char *pod = arena_strndup(fixture.base.arena, names, length);
		const char *leaf =
			workload_fixture_at(&fixture, "pods", pod, "metadata.labels.[kai.scheduler/subgroup-name]");
		buffer_printf(&text, "%s%s", text.length ? " " : "", *leaf ? leaf : "-");
		if (!*workload_fixture_at(&fixture, "pods", pod, "metadata.annotations.pod-group-name"))
			fail_msg("%s: pod %s has no group; events: %s", row->resource, pod,
			         fixture_names(&fixture.base, "events", "default", NULL, NULL));
	}
	if (strcmp(text.length ? text.text : "", row->leaves) != 0)
		fail_msg("%s: %s", row->resource, text.text);
	const char *groups = fixture_names(&fixture.base, "podgroups.scheduling.run.ai", "default", NULL, NULL);
	int count = *groups != 0;
	for (; *groups; groups++)
		count += *groups == ' ';
	assert_int_equal(count, row->groups);
	buffer_free(&text);
	grouping_destroy(grouping);
	settings_source_destroy(source);
	workload_fixture_close(&fixture);
}

static void every_kind_is_grouped(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		tell_row(&rows[i]);
}

/* The first value behind each colon, one after the other, becomes something else. */
static void odd_specs_do_no_harm(void **state)
{
	(void)state;
	static const char *const odd[] = {
		"null", "-1", "'x'", "[1,'a',null]", "{'a':{'b':3}}", "true", "99999999999999999999", "1.5", "''"};
	struct workload_fixture fixture;
	workload_fixture_open(&fixture, WORKLOAD_FIXTURE_CALM);
	size_t made = 0;
	for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++)
		for (const char *at = strchr(rows[r].spec, ':'); at; at = strchr(at + 1, ':')) {
			size_t rest = strcspn(at + 1, ",}]");
			/* Only scalars: what is left must stay JSON. */
			if (at[1] == '{' || at[1] == '[' || strchr("'-0123456789tfn", at[1]) == NULL)
				continue;
			for (size_t o = 0; o < sizeof(odd) / sizeof(*odd); o++) {
				struct buffer text = {0};
				buffer_printf(&text, "{'metadata':{'name':'w%zu'},'spec':{%.*s:%s%s}}", made++,
				              (int)(at - rows[r].spec), rows[r].spec, odd[o], at + 1 + rest);
				fixture_create(&fixture.base, rows[r].resource, "default", text.text);
				struct error error = {0};
				workloads_step(fixture.workloads);
				store_commit(fixture.base.store, &error);
				buffer_free(&text);
			}
		}
	for (int i = 0; i < 20; i++) {
		struct error error = {0};
		clock_virtual_advance(&fixture.base.clock, 50000000);
		workloads_step(fixture.workloads);
		store_commit(fixture.base.store, &error);
	}
	assert_true(made > 300);
	workload_fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_grouped),
		cmocka_unit_test(odd_specs_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
