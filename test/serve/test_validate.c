/* What the API server of Kubernetes refuses: every problem of an object at once, each with its path. */
#include "object/manifest.h"
#include "serve/api/validate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define POD(container) "{spec: {containers: [" container "]}}"
#define SET(spec, labels, pod)                                                                                         \
	"{spec: {" spec "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {" labels "}}, spec: {" pod    \
	"containers: [{name: a, image: x}]}}}}"
#define JOB(spec, pod) "{spec: {" spec "template: {spec: {" pod "containers: [{name: a, image: x}]}}}}"

struct row {
	const char *group, *kind;
	const char *object, *old; /* YAML; old NULL: a create */
	const char *problems;     /* paths, or path: part of the message, with | between; "": it is accepted */
};

static const struct row rows[] = {
	/* pods */
	{"", "Pod", POD("{name: a, image: x}"), NULL, ""},
	{"", "Pod", "{spec: {}}", NULL, "spec.containers: Required"},
	{"", "Pod", POD("{}"), NULL, "spec.containers[0].name: Required|spec.containers[0].image: Required"},
	{"", "Pod", POD("{name: A, image: x}, {name: b, image: x}, {name: b, image: x}"), NULL,
         "spec.containers[0].name: Invalid|spec.containers[2].name: Duplicate"},
	{"", "Pod", POD("{name: a, image: x, imagePullPolicy: Soon, env: [{value: v}]}"), NULL,
         "spec.containers[0].imagePullPolicy: Unsupported|spec.containers[0].env[0].name: Required"},
	{"", "Pod", POD("{name: a, image: x, volumeMounts: [{name: v, mountPath: /v}, {}]}"), NULL,
         "spec.containers[0].volumeMounts[0].name: Not found|spec.containers[0].volumeMounts[1].name: Required|"
         "spec.containers[0].volumeMounts[1].mountPath: Required"},
	{"", "Pod",
         "{spec: {volumes: [{name: v}], containers: [{name: a, image: x, volumeMounts: [{name: v, mountPath: /v}]}]}}",
         NULL, ""},
	{"", "Pod",
         "{spec: {restartPolicy: Sometimes, terminationGracePeriodSeconds: -1, containers: [{name: a, image: x}]}}",
         NULL, "spec.restartPolicy: Unsupported|spec.terminationGracePeriodSeconds: Invalid"},
	/* amounts that cannot be shared */
	{"", "Pod", POD("{name: a, image: x, resources: {requests: {nvidia.com/gpu: 1}}}"), NULL,
         "spec.containers[0].resources.limits: Required value: Limit must be set"},
	{"", "Pod", POD("{name: a, image: x, resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}}"),
         NULL, "spec.containers[0].resources.requests: must be equal to nvidia.com/gpu limit of 2"},
	{"", "Pod",
         POD("{name: a, image: x, resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: '2'}}}"), NULL,
         ""},
	{"", "Pod", POD("{name: a, image: x, resources: {limits: {nvidia.com/gpu: 2}}}"), NULL, ""},
	{"", "Pod", POD("{name: a, image: x, resources: {requests: {cpu: 2, memory: 1Gi}}}"), NULL, ""},
	{"", "Pod", POD("{name: a, image: x, resources: {requests: {hugepages-2Mi: 4Mi}}}"), NULL,
         "spec.containers[0].resources.limits: Required"},
	/* pods that exist */
	{"", "Pod", POD("{name: a, image: y}"), POD("{name: a, image: x}"), ""},
	{"", "Pod", POD("{name: b, image: x}"), POD("{name: a, image: x}"), "spec: Forbidden"},
	{"", "Pod", POD("{name: a, image: x}, {name: b, image: x}"), POD("{name: a, image: x}"), "spec: Forbidden"},
	{"", "Pod", "{spec: {hostname: h, containers: [{name: a, image: x}]}}", POD("{name: a, image: x}"),
         "spec: Forbidden"},
	{"", "Pod", POD("{name: a, image: x}"), "{spec: {hostname: h, containers: [{name: a, image: x}]}}",
         "spec: Forbidden"},
	{"", "Pod", "{spec: {tolerations: [{operator: Exists}], containers: [{name: a, image: x}]}}",
         POD("{name: a, image: x}"), ""},
	{"", "Pod", "{spec: {nodeSelector: {a: b}, containers: [{name: a, image: x}]}}", POD("{name: a, image: x}"),
         "spec: Forbidden"},
	{"", "Pod", "{spec: {nodeSelector: {a: b}, containers: [{name: a, image: x}]}}",
         "{spec: {schedulingGates: [{name: g}], containers: [{name: a, image: x}]}}", ""},
	{"", "Pod", "{metadata: {labels: {a: b}}, spec: {containers: []}}", "{spec: {containers: []}}", ""},
	/* sets of pods */
	{"apps", "Deployment", SET("", "a: b", ""), NULL, ""},
	{"apps", "Deployment", SET("replicas: -1, ", "a: c", "restartPolicy: Never, "), NULL,
         "spec.replicas: Invalid|spec.template.metadata.labels: does not match|spec.template.spec.restartPolicy: "
         "Unsupported"},
	{"apps", "ReplicaSet", "{spec: {}}", NULL, "spec.selector: Required|spec.template.spec: Required"},
	{"apps", "DaemonSet", "{spec: {selector: {}, template: {spec: {containers: [{name: a, image: x}]}}}}", NULL,
         "spec.selector: empty"},
	{"apps", "Deployment",
         "{spec: {selector: {matchExpressions: [{key: a, operator: In, values: [b, c]}, {key: z, operator: "
         "DoesNotExist}]},"
         " template: {metadata: {labels: {a: c}}, spec: {containers: [{name: a, image: x, ports: [{containerPort: 0}],"
         " resources: {requests: {cpu: 2, memory: much}, limits: {cpu: 1}}}]}}}}",
         NULL,
         "spec.template.spec.containers[0].ports[0].containerPort: must be between|"
         "spec.template.spec.containers[0].resources.requests[memory]: quantity|"
         "spec.template.spec.containers[0].resources.requests: less than or equal to cpu limit of 1"},
	{"apps", "Deployment", SET("replicas: 3, ", "a: b, c: d", ""), SET("", "a: b", ""), ""},
	{"apps", "Deployment",
         "{spec: {selector: {matchLabels: {c: d}}, template: {metadata: {labels: {c: d}}, spec: {containers: [{name: "
         "a, "
         "image: x}]}}}}",
         SET("", "a: b", ""), "spec.selector: immutable"},
	{"apps", "StatefulSet", SET("replicas: 2, ", "a: b", ""), SET("", "a: b", ""), ""},
	{"apps", "StatefulSet", SET("serviceName: s, ", "a: b", ""), SET("", "a: b", ""), "spec: Forbidden"},
	{"apps", "StatefulSet", SET("", "a: b", ""), SET("podManagementPolicy: Parallel, ", "a: b", ""),
         "spec: Forbidden"},
	{"apps", "StatefulSet",
         "{spec: {selector: {matchLabels: {a: b}}, volumeClaimTemplates: [{metadata: {name: data}}], template: "
         "{metadata: {labels: {a: "
         "b}}, spec: {containers: [{name: a, image: x, volumeMounts: [{name: data, mountPath: /d}, {name: other, "
         "mountPath: /o}]}]}}}}",
         NULL, "spec.template.spec.containers[0].volumeMounts[1].name: Not found"},
	/* jobs */
	{"batch", "Job", JOB("", "restartPolicy: Never, "), NULL, ""},
	{"batch", "Job", JOB("completionMode: Indexed, parallelism: -1, ", ""), NULL,
         "spec.parallelism: Invalid|spec.completions: Required|spec.template.spec.restartPolicy: Required"},
	{"batch", "Job", JOB("", "restartPolicy: Always, "), NULL, "spec.template.spec.restartPolicy: Unsupported"},
	{"batch", "Job", JOB("parallelism: 5, completions: 2, ", "restartPolicy: Never, "),
         JOB("parallelism: 1, completions: 2, ", "restartPolicy: Never, "), ""},
	{"batch", "Job", JOB("completions: 3, ", "restartPolicy: Never, "),
         JOB("completions: 2, ", "restartPolicy: Never, "), "spec.completions: immutable"},
	{"batch", "Job", JOB("completionMode: Indexed, parallelism: 3, completions: 3, ", "restartPolicy: Never, "),
         JOB("completionMode: Indexed, parallelism: 2, completions: 2, ", "restartPolicy: Never, "), ""},
	{"batch", "Job", JOB("", "restartPolicy: Never, hostname: h, "), JOB("", "restartPolicy: Never, "),
         "spec.template: immutable"},
	{"batch", "Job", JOB("", "restartPolicy: Never, hostname: h, "),
         JOB("suspend: true, ", "restartPolicy: Never, "), ""},
	{"batch", "CronJob", "{spec: {schedule: '1 2 3', jobTemplate: " JOB("", "restartPolicy: Never, ") "}}", NULL,
         "spec.schedule: found 3"},
	{"batch", "CronJob", "{spec: {jobTemplate: " JOB("", "") "}}", NULL,
         "spec.schedule: Required|spec.jobTemplate.spec.template.spec.restartPolicy: Required"},
	{"batch", "CronJob", "{spec: {schedule: '@hourly', jobTemplate: " JOB("", "restartPolicy: Never, ") "}}", NULL,
         ""},
	/* others */
	{"", "Service", "{spec: {ports: [{port: 80}]}}", NULL, ""},
	{"", "Service", "{spec: {}}", NULL, "spec.ports: Required"},
	{"", "Service", "{spec: {clusterIP: None}}", NULL, ""},
	{"", "Service", "{spec: {type: ExternalName}}", NULL, "spec.externalName: Required"},
	{"", "Service", "{spec: {type: Port, ports: [{port: 0}, {port: 1, name: b}]}}", NULL,
         "spec.type: Unsupported|spec.ports[0].port: Invalid|spec.ports[0].name: Required"},
	{"", "PersistentVolumeClaim", "{spec: {}}", NULL,
         "spec.accessModes: Required|spec.resources[storage]: Required"},
	{"", "ConfigMap", "{data: {a: c}}", "{immutable: true, data: {a: b}}", "data: Forbidden|immutable: Forbidden"},
	{"", "ConfigMap", "{data: {a: c}}", "{data: {a: b}}", ""},
	{"autoscaling", "HorizontalPodAutoscaler",
         "{spec: {minReplicas: 5, maxReplicas: 3, scaleTargetRef: {kind: D, name: d}}}", NULL,
         "spec.maxReplicas: greater than or equal"},
	{"autoscaling", "HorizontalPodAutoscaler", "{spec: {}}", NULL,
         "spec.maxReplicas: greater than 0|spec.scaleTargetRef.name|spec.scaleTargetRef.kind"},
	{"policy", "PodDisruptionBudget", "{spec: {minAvailable: 1, maxUnavailable: 1}}", NULL, "spec: both"},
	{"example.com", "Pod", "{spec: {}}", NULL, ""},
};

static const struct val *read(struct manifests *manifests, struct arena *arena, const char *text)
{
	struct problems problems = {.arena = arena};
	struct buffer whole = {0};
	buffer_printf(&whole, "{kind: Row, apiVersion: v1, row: %s}", text);
	if (manifests_parse(manifests, whole.text, whole.length, "row", &problems) < 0)
		fail_msg("%s: %s", text, problems.items[0].message);
	buffer_free(&whole);
	return val_get(manifests->items[manifests->count - 1].object, "row");
}

/* Each expected problem is there, in order, and no other. */
static void compare(const struct row *row, const struct problems *problems)
{
	const char *at = row->problems;
	size_t index = 0;
	for (; *at; index++) {
		size_t length = strcspn(at, "|"), path = strcspn(at, ":|");
		if (index >= problems->count)
			fail_msg("%s: nothing is said about %s", row->object, at);
		const struct problem *problem = &problems->items[index];
		char part[200] = "";
		if (path < length)
			snprintf(part, sizeof(part), "%.*s", (int)(length - path - 2), at + path + 2);
		if (strlen(problem->path) != path || strncmp(problem->path, at, path) != 0 ||
		    !strstr(problem->message, part))
			fail_msg("%s: %s: %s, not %.*s", row->object, problem->path, problem->message, (int)length, at);
		at += length + (at[length] == '|');
	}
	if (index < problems->count)
		fail_msg("%s: %s: %s", row->object, problems->items[index].path, problems->items[index].message);
}

static void every_problem_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct arena *arena = arena_create();
		struct manifests manifests;
		struct problems problems = {.arena = arena};
		manifests_init(&manifests);
		const struct val *object = read(&manifests, arena, rows[i].object);
		const struct val *old = rows[i].old ? read(&manifests, arena, rows[i].old) : NULL;
		validate_object(rows[i].group, rows[i].kind, object, old, &problems);
		compare(&rows[i], &problems);
		manifests_free(&manifests);
		arena_destroy(arena);
	}
}

static void what_nobody_acts_on_is_said(void **state)
{
	(void)state;
	assert_non_null(validate_idle("autoscaling", "HorizontalPodAutoscaler"));
	assert_null(validate_idle("", "HorizontalPodAutoscaler"));
	assert_null(validate_idle("", "Pod"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_problem_is_named),
		cmocka_unit_test(what_nobody_acts_on_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
