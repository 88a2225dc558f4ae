/* The table of what a pod can ask for: it is whole, and what it says is so. */
#include "verdict.h"

#include "admit/pod.h"
#include "admit/pod_fields.h"
#include "base/strings.h"
#include "object/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void reasons_are_joined(void **state)
{
	struct arena *arena = arena_create();
	const struct pod_block *block = NULL, *first;
	(void)state;
	assert_true(pod_block_equal(NULL, NULL));
	assert_null(pod_block_copy(NULL));
	pod_block_add(&block, arena, BLOCK_MISSING, "claim %s is missing", "a");
	first = block;
	pod_block_add(&block, arena, BLOCK_UNSUPPORTED, "and more");
	assert_string_equal(first->message, "claim a is missing");
	assert_string_equal(block->message, "claim a is missing; and more");
	assert_string_equal(block_code_name(block->code), "MissingObject");
	struct pod_block *copy = pod_block_copy(block);
	assert_true(pod_block_equal(copy, block));
	assert_false(pod_block_equal(copy, first));
	assert_false(pod_block_equal(copy, NULL));
	free(copy);
	arena_destroy(arena);
}

/* ---- the table is whole ---- */

static bool has_row(enum pod_field_place place, const char *name, size_t length)
{
	for (size_t i = 0; i < pod_field_count; i++) {
		if (pod_fields[i].place != place)
			continue;
		for (const char *at = pod_fields[i].names; *at; at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' '))
			if (strncmp(at, name, length) == 0 && strchr(" .[", at[length]))
				return true;
	}
	return false;
}

/* Every field that a pod and its containers have in this release has a row. */
static void every_field_has_a_row(void **state)
{
	static const struct {
		enum pod_field_place place;
		const char *type;
	} types[] = {{FIELD_SPEC, "PodSpec"}, {FIELD_CONTAINER, "Container"}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct schema_field field;
		const char *at = schema_find(types[i].type)->fields;
		size_t count = 0;
		for (; schema_next(&at, &field); count++)
			if (!has_row(types[i].place, field.name, field.name_length))
				fail_msg("%s.%.*s is in no row", types[i].type, (int)field.name_length, field.name);
		assert_in_range(count, 20, 100);
	}
}

static void every_row_says_what_it_must(void **state)
{
	(void)state;
	for (size_t i = 0; i < pod_field_count; i++) {
		const struct pod_field *field = &pod_fields[i];
		char path[512];
		assert_true(field->names[0] && field->about[0]);
		snprintf(path, sizeof(path), "%s/%s", TESTS, field->test ? field->test : "");
		if ((field->state == FIELD_HONOURED) != (field->test != NULL) || access(path, R_OK) != 0)
			fail_msg("%s: no test that shows it", field->names);
		if ((field->state == FIELD_HONOURED && field->not_served) != (field->otherwise != NULL))
			fail_msg("%s: what of values that are not served?", field->names);
	}
}

/* ---- what is not served blocks ---- */

/* The field as YAML in braces: a.b[].c becomes {a: {b: [{c: value}]}}. */
static void print_nested(struct buffer *out, const char *path, size_t length, const char *value)
{
	size_t part = 0;
	while (part < length && path[part] != '.' && path[part] != '[')
		part++;
	buffer_printf(out, "{%.*s: ", (int)part, path);
	if (part == length) {
		buffer_printf(out, "%s}", value);
		return;
	}
	bool list = path[part] == '[';
	size_t rest = part + (list ? 3 : 1);
	buffer_printf(out, "%s", list ? "[" : "");
	print_nested(out, path + rest, length - rest, value);
	buffer_printf(out, "%s}", list ? "]" : "");
}

/* A pod that asks for it; `variant` 1 of a container and a resource is in an init container. */
static void print_asking_pod(struct buffer *out, const struct pod_field *field, const char *name, int variant)
{
	int length = (int)strcspn(name, " ");
	bool star = name[length - 1] == '*';
	const char *value = field->example ? field->example : "'1'";
	const char *list = variant ? "containers: [{name: c}], initContainers" : "containers";
	struct buffer nested = {0};
	print_nested(&nested, name, (size_t)length, value);
	const char *inner = nested.text + 1; /* without its braces */
	int inner_length = (int)nested.length - 2;
	buffer_printf(out, "apiVersion: v1\nkind: Pod\n");
	switch (field->place) {
	case FIELD_SPEC:
		buffer_printf(out, "metadata: {name: p}\nspec: {containers: [{name: c}], %.*s}\n", inner_length, inner);
		break;
	case FIELD_CONTAINER:
		buffer_printf(out, "metadata: {name: p}\nspec: {%s: [{name: a, %.*s}]}\n", list, inner_length, inner);
		break;
	case FIELD_RESOURCE:
		buffer_printf(out, "metadata: {name: p}\nspec: {%s: [{name: a, resources: {%s: {%.*s%s: 1}}}]}\n", list,
		              variant ? "requests" : "limits", length - star, name, star ? "x" : "");
		break;
	default:
		buffer_printf(out, "metadata: {name: p, %s: {%.*s%s: %s}}\nspec: {containers: [{name: c}]}\n",
		              field->place == FIELD_LABEL ? "labels" : "annotations", length - star, name,
		              star ? "x" : "", value);
	}
	buffer_free(&nested);
}

/* The last part of the name must be in the message: that is what people look for. */
static void check_asking_pod(const struct pod_field *field, const char *name, int variant)
{
	struct buffer text = {0};
	struct parsed parsed;
	const struct pod_block *block = NULL;
	size_t length = strcspn(name, " "), begin = length;
	const char *about = field->otherwise ? field->otherwise : field->about;
	char last[128];
	while (begin > 0 && !strchr(field->place <= FIELD_CONTAINER ? ".[]" : "", name[begin - 1]))
		begin--;
	snprintf(last, sizeof(last), "%.*s", (int)(length - begin - (name[length - 1] == '*')), name + begin);
	print_asking_pod(&text, field, name, variant);
	parsed_open(&parsed, text.text);
	pod_fields_block(parsed_object(&parsed, 0), parsed.arena, &block);
	if (!block || block->code != BLOCK_UNSUPPORTED || !strstr(block->message, last) ||
	    !strstr(block->message, about))
		fail_msg("%s is not blocked for %s: %s", text.text, last, block ? block->message : "not at all");
	/* the same by validate, alone and in a template */
	struct problems problems = {.arena = parsed.arena};
	pod_fields_judge(parsed_object(&parsed, 0), "", &problems);
	assert_int_equal(problems.count, 1);
	assert_non_null(strstr(problems.items[0].path, last));
	assert_int_equal(problems.items[0].severity, SEVERITY_WARNING);
	parsed_close(&parsed);
	buffer_free(&text);
}

static void what_is_not_served_blocks(void **state)
{
	(void)state;
	for (size_t i = 0; i < pod_field_count; i++) {
		const struct pod_field *field = &pod_fields[i];
		if (field->state != FIELD_NOT_SERVED && !field->not_served)
			continue;
		for (const char *at = field->names; *at; at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' '))
			for (int variant = 0; variant < 2; variant++)
				check_asking_pod(field, at, variant);
	}
}

/* Everything else does not, whatever is in it. */
static void what_is_served_does_not(void **state)
{
	static const char *const pods[] = {
		"metadata: {name: p}\nspec: {containers: [{name: c}]}",
		"metadata: {name: p}\nspec: {containers: [{name: c, resources: {claims: []}}], resourceClaims: []}",
		"metadata: {name: p}\nspec: {containers: [{name: c, resources: {claims: null}}], resourceClaims: null}",
		"metadata: {name: p, annotations: {gpu-fractions: x, my/gpu-fraction: x, gpu-memory: null}}\n"
		"spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1, nvidia.com/mig-1g.10gb: 1, "
		"nvidia.com/gpu.shared: 1, example.com/gpumem: 1}}}]}",
		"metadata: {name: p, annotations: {volcano.sh/numa-topology-policy: none}}\nspec: {containers: [{name: "
		"c}]}",
		"metadata: {name: p}\nspec: {containers: [{name: c}], affinity: {podAffinity: "
		"{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {}, "
		"namespaceSelector: "
		"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [a, b]}]}}, "
		"{topologyKey: a, "
		"labelSelector: {}, namespaceSelector: {}}]}}}",
		"metadata: {name: p}\nspec: {containers: [{name: c}], volumes: [{name: a, emptyDir: {}}, {name: b, "
		"configMap: {name: rbd}}]}",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
		struct buffer text = {0};
		struct parsed parsed;
		struct pod_spec pod;
		buffer_printf(&text, "apiVersion: v1\nkind: Pod\n%s\n", pods[i]);
		parsed_open(&parsed, text.text);
		pod_decode(parsed_object(&parsed, 0), parsed.arena, &pod, &parsed.problems);
		if (pod.block)
			fail_msg("%s: %s", pods[i], pod.block->message);
		parsed_close(&parsed);
		buffer_free(&text);
	}
}

static void requests_of_one_kind_are_told_together(void **state)
{
	struct parsed parsed;
	struct pod_spec pod;
	(void)state;
	parsed_open(&parsed,
	            "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {mps: 'true', gpu-fraction: 0.5}}\n"
	            "spec: {workloadRef: {name: w}, containers: [{name: c, resources: {limits: "
	            "{nvidia.com/gpumem: 1}, requests: {nvidia.com/gpumem: 1}}}]}\n");
	pod_decode(parsed_object(&parsed, 0), parsed.arena, &pod, &parsed.problems);
	assert_string_equal(pod.block->message,
	                    "spec.workloadRef: of Kubernetes 1.35 only; since 1.36 it is spec.schedulingGroup; "
	                    "spec.containers[0].resources.limits.nvidia.com/gpumem, metadata.annotations.mps, "
	                    "metadata.annotations.gpu-fraction: GPUs are given to pods as a whole, not shared");
	parsed_close(&parsed);
}

/* ---- validate ---- */

static void templates_are_looked_into(void **state)
{
	struct parsed parsed;
	(void)state;
	parsed_open(&parsed,
	            "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: t}\nspec: {pytorchReplicaSpecs: "
	            "{Worker: {template: {metadata: {annotations: {gpu-fraction: '0.5'}}, spec: {containers: "
	            "[{name: c, imagePullpolicy: Always}], nodeSelectors: {a: b}}}}}}\n");
	struct problems problems = {.arena = parsed.arena};
	pod_fields_judge_templates(parsed_object(&parsed, 0), &problems);
	assert_int_equal(problems.count, 3);
	assert_string_equal(problems.items[0].path,
	                    "spec.pytorchReplicaSpecs.Worker.template.metadata.annotations.gpu-fraction");
	assert_string_equal(problems.items[1].path, "spec.pytorchReplicaSpecs.Worker.template.spec.nodeSelectors");
	assert_non_null(strstr(problems.items[1].message, "no such field"));
	assert_string_equal(problems.items[2].path,
	                    "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].imagePullpolicy");
	parsed_close(&parsed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_are_joined),          cmocka_unit_test(every_field_has_a_row),
		cmocka_unit_test(every_row_says_what_it_must), cmocka_unit_test(what_is_not_served_blocks),
		cmocka_unit_test(what_is_served_does_not),     cmocka_unit_test(requests_of_one_kind_are_told_together),
		cmocka_unit_test(templates_are_looked_into),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
