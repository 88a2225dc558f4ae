/* Scenarios with steps: each verb does what it says, each kind of expectation that does not hold fails by its path, and
 * everything that is misspelt is refused before anything runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/scenario.h"

#include <string.h>

/* Two racks of one node with 2 CPUs each; `pair` is a gang of two pods of one CPU. */
static const char objects[] =
	"{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: cluster}, spec: {levels: [{nodeLabel: "
	"rack}]}},\n"
	"{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {rack: r1}}, status: {allocatable: {cpu: 2, pods: "
	"9}}},\n"
	"{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {rack: r2}}, status: {allocatable: {cpu: 2, pods: "
	"9}}},\n"
	"{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: pair, namespace: default},\n"
	" spec: {minMember: 2, topologyConstraint: {topology: cluster, requiredTopologyLevel: rack}}},\n"
	"{apiVersion: v1, kind: Pod, metadata: {name: p0, namespace: default, labels: {app: pair}, annotations: "
	"{pod-group-name: pair}},\n"
	" spec: {schedulerName: platoon, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}},\n"
	"{apiVersion: v1, kind: Pod, metadata: {name: p1, namespace: default, labels: {app: pair}, annotations: "
	"{pod-group-name: pair}},\n"
	" spec: {schedulerName: platoon, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}},\n";

struct row {
	const char *story;
	const char *steps;
	const char *failure; /* part of some failure; NULL: the scenario passes */
};

static void run(const struct row *row, struct arena *arena, struct buffer *failures)
{
	struct buffer text = {0};
	struct problems problems = {.arena = arena};
	struct manifests manifests;
	struct scenario_result result;
	buffer_printf(&text,
	              "{apiVersion: platoon.dev/v1alpha1, kind: Scenario, metadata: {name: t}, spec: {title: t,\n"
	              "objects: [%s],\nsteps: [%s]}}\n",
	              objects, row->steps);
	manifests_init(&manifests);
	if (manifests_parse(&manifests, text.text, text.length, "test", &problems) < 0)
		fail_msg("%s: %s", row->story, problems.items[0].message);
	scenario_run(&manifests.items[0], NULL, NULL, arena, &result);
	for (size_t i = 0; i < result.failure_count; i++)
		buffer_printf(failures, "%s\n", result.failures[i]);
	manifests_free(&manifests);
	buffer_free(&text);
}

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct arena *arena = arena_create();
		struct buffer failures = {0};
		run(&rows[i], arena, &failures);
		const char *got = failures.text ? failures.text : "";
		if (!rows[i].failure && got[0])
			fail_msg("%s: %s", rows[i].story, got);
		if (rows[i].failure && !strstr(got, rows[i].failure))
			fail_msg("%s: \"%s\" is not in: %s", rows[i].story, rows[i].failure, got);
		buffer_free(&failures);
		arena_destroy(arena);
	}
}
#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))

#define RUNS "{expect: {groups: {default/pair: {running: 2}}}}"

static void verbs_do_what_they_say(void **state)
{
	static const struct row rows[] = {
		{"a gang runs when all is quiet",
	         "{settle: {}}, {expect: {groups: {default/pair: {placed: 2, running: 2, pending: 0, phase: Running, "
	         "domains: {rack: 1}}}}}",
	         NULL},
		{"time passes as told: binding takes none, starting a second",
	         "{advance: 0s}, {expect: {groups: {default/pair: {placed: 2, running: 0}}}}, {advance: 1500ms}, " RUNS,
	         NULL},
		{"a patch changes an object",
	         "{patch: {kind: Node, name: n1, patch: {metadata: {labels: {rack: r9}}}}},\n"
	         "{expect: {objects: [{kind: Node, name: n1, fields: {.metadata.labels.rack: r9}}]}}",
	         NULL},
		{"a JSON patch too",
	         "{patch: {kind: Node, name: n1, type: json, patch: [{op: remove, path: /metadata/labels/rack}]}},\n"
	         "{expect: {objects: [{kind: Node, name: n1, fields: {.metadata.labels.rack: null}}]}}",
	         NULL},
		{"and the status by its subresource",
	         "{patch: {kind: Pod, name: p0, subresource: status, patch: {status: {phase: Failed}}}},\n"
	         "{expect: {pods: {default/p0: {state: Failed}}}}",
	         NULL},
		{"a pod that is deleted ends within its grace",
	         "{settle: {}}, {delete: {kind: Pod, name: p0}}, {expect: {pods: {default/p0: {state: "
	         "Terminating}}}},\n"
	         "{advance: 40s}, {expect: {pods: {default/p0: {state: Gone}}}}",
	         NULL},
		{"or at once when told so",
	         "{settle: {}}, {delete: {kind: Pod, name: p0, gracePeriodSeconds: 0}},\n"
	         "{expect: {pods: {default/p0: {state: Gone}}}}",
	         NULL},
		{"a Deployment is scaled",
	         "{apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 0,\n"
	         " selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},\n"
	         " spec: {containers: [{name: c, image: i}]}}}}},\n"
	         "{scale: {kind: Deployment, name: web, replicas: 2}}, {advance: 5s},\n"
	         "{expect: {objects: [{kind: Pod, selector: app=web, count: 2}]}}",
	         NULL},
		{"a cordoned node takes nothing, an uncordoned one does",
	         "{cordon: n1}, {cordon: n2}, {settle: {}}, {expect: {groups: {default/pair: {pending: 2}}}},\n"
	         "{uncordon: n2}, {settle: {}}, " RUNS ", {expect: {pods: {default/p0: {node: n2}}}}",
	         NULL},
		{"nobody goes to a node that failed, and what ran there is given up after its time",
	         "{cordon: n1}, {cordon: n2}, {killNode: n1}, {advance: 1s}, {uncordon: n1}, {uncordon: n2}, {settle: "
	         "{}},\n"
	         "{expect: {pods: {default/p0: {node: n2}}}},\n"
	         "{killNode: n2}, {advance: 60s}, {expect: {pods: {default/p0: {state: Running}}}},\n"
	         "{advance: 10m}, {expect: {pods: {default/p0: {state: Gone}}}}",
	         NULL},
		{"unless its pods are gone at once",
	         "{cordon: n1}, {settle: {}}, {killNode: {name: n2, pods: Delete}},\n"
	         "{expect: {pods: {default/p0: {state: Gone}, default/p1: {state: Gone}}}}",
	         NULL},
		{"or fail in an orderly way",
	         "{cordon: n1}, {settle: {}}, {killNode: {name: n2, pods: Fail}},\n"
	         "{expect: {pods: {default/p0: {state: Failed}}}}",
	         NULL},
		{"a node that comes back is used",
	         "{cordon: n1}, {cordon: n2}, {killNode: n1}, {killNode: n2}, {advance: 1s}, {uncordon: n1}, "
	         "{uncordon: n2},\n"
	         "{settle: {}}, {expect: {groups: {default/pair: {pending: 2}}}},\n"
	         "{restoreNode: n1}, {settle: {}}, " RUNS,
	         NULL},
		{"a restart loses nothing", "{advance: 0s}, {restart: {}}, {settle: {}}, " RUNS, NULL},
		{"what must be refused is",
	         "{apply: {apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: bad}, spec: "
	         "{minMember: -1}},\n refused: [minMember]}",
	         NULL},
	};
	(void)state;
	CHECK(rows);
}

static void expectations_that_do_not_hold_fail(void **state)
{
	static const struct row rows[] = {
		{"counts of a group", "{settle: {}}, {expect: {groups: {default/pair: {placed: 1}}}}",
	         "spec.steps[1].expect.groups.default/pair: expected placed 1, got 2"},
		{"its phase", "{settle: {}}, {expect: {groups: {default/pair: {phase: Pending}}}}",
	         "expected phase Pending, got Running"},
		{"its reason",
	         "{cordon: n1}, {cordon: n2}, {settle: {}}, {expect: {groups: {default/pair: {reason: moon}}}}",
	         "expected reason \"moon\", got "},
		{"domains", "{settle: {}}, {expect: {groups: {default/pair: {domains: {rack: 2}}}}}",
	         "expected domains of rack 2, got 1"},
		{"a level that is none", "{settle: {}}, {expect: {groups: {default/pair: {domains: {moon: 1}}}}}",
	         "moon is not a level"},
		{"a leaf that is none", "{expect: {groups: {default/pair: {leaves: {x: 1}}}}}", "there is no leaf x"},
		{"a group that is none", "{expect: {groups: {default/none: {placed: 0}}}}",
	         "there is no such PodGroup"},
		{"state of a pod", "{settle: {}}, {expect: {pods: {default/p0: {state: Gone}}}}",
	         "expected state Gone, got Running"},
		{"node of a pod", "{cordon: n1}, {settle: {}}, {expect: {pods: {default/p0: {node: n1}}}}",
	         "expected node n1, got n2"},
		{"number of objects", "{expect: {objects: [{kind: Pod, selector: app=pair, count: 3}]}}",
	         "spec.steps[0].expect.objects[0]: expected 3 objects, got 2"},
		{"at least", "{expect: {objects: [{kind: Pod, atLeast: 3}]}}", "expected at least 3 objects, got 2"},
		{"at most", "{expect: {objects: [{kind: Pod, atMost: 1}]}}", "expected at most 1 objects, got 2"},
		{"an object that is not there", "{expect: {objects: [{kind: Pod, name: p7}]}}", "there is no such Pod"},
		{"a field", "{expect: {objects: [{kind: Node, name: n1, fields: {.metadata.labels.rack: r2}}]}}",
	         "expected .metadata.labels.rack to be \"r2\", got \"r1\""},
		{"a field that must not be",
	         "{expect: {objects: [{kind: Pod, name: p0, fields: {.spec.schedulerName: null}}]}}",
	         "expected .spec.schedulerName to be null, got \"platoon\""},
		{"a question about a field",
	         "{expect: {objects: [{kind: PodGroup, name: pair, fields: {.spec.minMember: {atLeast: 3}}}]}}",
	         "got 2"},
		{"a part of a field",
	         "{expect: {objects: [{kind: Pod, name: p0, fields: {.spec.schedulerName: {contains: moon}}}]}}",
	         "got \"platoon\""},
		{"a match",
	         "{expect: {objects: [{kind: Pod, name: p0, match: {spec: {containers: [{name: c, image: j}]}}}]}}",
	         "does not match"},
		{"an event", "{settle: {}}, {expect: {events: [{reason: Moon}]}}", "there is no event"},
		{"a number of events", "{settle: {}}, {expect: {events: [{reason: Scheduled, kind: Pod, count: 5}]}}",
	         "expected 5 events, got 2"},
		{"a PodGroup", "{expect: {podGroups: [{spec: {minMember: 7}}]}}", "there is no PodGroup like"},
		{"a refusal that did not come",
	         "{patch: {kind: Node, name: n1, patch: {metadata: {labels: {a: b}}}}, refused: []}",
	         "expected to be refused, and was carried out"},
		{"a refusal in other words", "{delete: {kind: Pod, name: p7}, refused: [moon]}",
	         "expected a refusal with \"moon\""},
		{"a refusal that was not expected", "{delete: {kind: Pod, name: p7}}, " RUNS, "spec.steps[0].delete: "},
		{"a node that is none", "{killNode: n9}, " RUNS, "spec.steps[0].killNode: "},
		{"a world that does not become quiet in time",
	         "{settle: {within: 0s, quiet: 10s}}, {expect: {groups: {default/pair: {placed: 2}}}}",
	         "still changing"},
	};
	(void)state;
	CHECK(rows);
}

static void what_is_misspelt_is_refused(void **state)
{
	static const struct row rows[] = {
		{"a verb", "{aply: {}}, " RUNS, "spec.steps[0].aply: not a key of the scenario format"},
		{"two verbs", "{advance: 1s, settle: {}}, " RUNS,
	         "spec.steps[0]: must have exactly one verb, and has 2"},
		{"no step", "", "spec.steps: must be a list of steps"},
		{"a step that is a text", "settle, " RUNS, "spec.steps[0]: must be a map"},
		{"a key of a target", "{delete: {kind: Pod, nam: x, name: y}}, " RUNS,
	         "spec.steps[0].delete.nam: not a key"},
		{"a target without a name", "{delete: {kind: Pod}}, " RUNS,
	         "spec.steps[0].delete.name: must be a text"},
		{"a duration", "{advance: soon}, " RUNS, "spec.steps[0].advance: must be a duration"},
		{"a key of settle", "{settle: {quite: 1s}}, " RUNS, "spec.steps[0].settle.quite: not a key"},
		{"what becomes of pods", "{killNode: {name: n1, pods: Maybe}}, " RUNS,
	         "must be one of Wait, Delete, Fail"},
		{"a kind of patch", "{patch: {kind: Pod, name: p0, type: odd, patch: {}}}, " RUNS,
	         "must be one of merge"},
		{"a patch without a patch", "{patch: {kind: Pod, name: p0}}, " RUNS,
	         "spec.steps[0].patch.patch: must be given"},
		{"a number of replicas", "{scale: {kind: Deployment, name: x, replicas: -1}}, " RUNS,
	         "spec.steps[0].scale.replicas: must be a whole number"},
		{"an object without a name", "{apply: {apiVersion: v1, kind: Pod}}, " RUNS,
	         "metadata.name: must be given"},
		{"nothing is expected", "{settle: {}}", "no step expects anything"},
		{"an expectation says nothing", "{expect: {}}", "spec.steps[0].expect: says nothing"},
		{"a key of an expectation", "{expect: {group: {}}}", "spec.steps[0].expect.group: not a key"},
		{"a key of a group", "{expect: {groups: {default/pair: {place: 2}}}}",
	         "spec.steps[0].expect.groups.default/pair.place: not a key"},
		{"a state", "{expect: {pods: {default/p0: {state: Happy}}}}", ".state: must be Pending"},
		{"a path", "{expect: {objects: [{kind: Pod, fields: {status: x}}]}}", "is not a path such as"},
		{"a question", "{expect: {objects: [{kind: Pod, fields: {.a: {least: 1}}}]}}", ".least: not a key"},
		{"a count", "{expect: {objects: [{kind: Pod, count: two}]}}", ".count: must be a whole number"},
		{"an event without a reason", "{expect: {events: [{kind: Pod}]}}", ".reason: must be given"},
		{"a refusal of what cannot be refused", "{advance: 1s, refused: [x]}, " RUNS,
	         "spec.steps[0].refused: only"},
		{"later mistakes are found before anything runs", "{settle: {}}, {expect: {pods: {x: {state: Gone}}}}",
	         "spec.steps[1].expect.pods.x: must be namespace/name"},
	};
	(void)state;
	CHECK(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verbs_do_what_they_say),
		cmocka_unit_test(expectations_that_do_not_hold_fail),
		cmocka_unit_test(what_is_misspelt_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
