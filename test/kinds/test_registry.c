/* The registry of kinds: what must hold between the fields of a row and between rows, whatever is added. */
#include "cluster/workload.h"
#include "kinds/kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void rows_are_complete(void **state)
{
	const struct kind_row *row;
	for (size_t i = 0; (row = kinds_row(i)); i++) {
		assert_non_null(row->group);
		assert_non_null(row->versions[0]);
		assert_true(row->resource[0] && row->singular[0] && row->kind[0]);
		if (row->convert && !row->face_of && row->group[0])
			assert_non_null(row->versions[1]);
	}
}

static void names_are_taken_once(void **state)
{
	const struct kind_row *row, *other;
	for (size_t i = 0; (row = kinds_row(i)); i++)
		for (size_t j = 0; j < i && (other = kinds_row(j)); j++)
			if (strcmp(row->group, other->group) == 0) {
				assert_string_not_equal(row->resource, other->resource);
				assert_string_not_equal(row->kind, other->kind);
			}
}

/* Otherwise its pods would wait for an object that `run` never sees. */
static void what_grouping_reads_is_mirrored(void **state)
{
	const struct kind_row *row;
	for (size_t i = 0; (row = kinds_row(i)); i++) {
		if (row->family != FAMILY_NONE)
			assert_int_not_equal(row->mirror, MIRROR_NEVER);
		if (row->family != FAMILY_NONE && row->family != FAMILY_POD)
			assert_true(row->flags & ROW_OWNER);
		for (size_t n = 0; n < sizeof(row->needs) / sizeof(*row->needs) && row->needs[n]; n++) {
			const struct kind_row *needed = kinds_named(row->needs[n]);
			assert_non_null(needed);
			assert_int_not_equal(needed->mirror, MIRROR_NEVER);
		}
	}
}

/* What is mirrored is listed before the first decision, unless the server does not have it. */
static void decisions_wait_for_what_they_rest_on(void **state)
{
	const struct kind_row *row;
	for (size_t i = 0; (row = kinds_row(i)); i++)
		if (row->flags & ROW_DECIDES)
			assert_int_not_equal(row->mirror, MIRROR_NEVER);
}

/* A snapshot sorts what it is given by these ids. */
static void kinds_that_decide_have_an_id(void **state)
{
	const struct kind_row *row, *other;
	for (size_t i = 0; (row = kinds_row(i)); i++) {
		if (row->flags & ROW_DECIDES)
			assert_int_not_equal(row->id, KIND_OTHER);
		for (size_t j = 0; row->id != KIND_OTHER && j < i && (other = kinds_row(j)); j++)
			assert_int_not_equal(row->id, other->id);
	}
	for (int id = KIND_OTHER + 1; id < KIND_IDS; id++)
		assert_int_equal(kinds_of_id((enum kind_id)id)->id, id);
	assert_int_equal(kinds_find("scheduling.run.ai/v9", "PodGroup")->id, KIND_POD_GROUP);
	assert_true(kinds_has_version(kinds_of_id(KIND_POD), "v1"));
	assert_false(kinds_has_version(kinds_of_id(KIND_POD), "v2"));
	assert_true(kinds_has_version(kinds_of_id(KIND_RBG), "workloads.x-k8s.io/v1alpha1"));
	assert_false(kinds_has_version(kinds_of_id(KIND_RBG), "v1alpha1"));
}

static void rows_are_found(void **state)
{
	static const struct {
		const char *api_version, *kind, *resource;
	} cases[] = {
		{"v1", "Pod", "pods"},
		{"apps/v1", "Deployment", "deployments"},
		{"apps/v1beta1", "Deployment", "deployments"}, /* an old reference */
		{"kubeflow.org/v1", "Notebook", "notebooks"},
		{"v1", "Service", "services"},
		{"serving.knative.dev/v1", "Service", "services"},
		{"v1", "Deployment", NULL},
		{"app/v1", "Deployment", NULL},
		{"apps", "Deployment", NULL},
		{"apps/v1", "Deploymen", NULL},
		{"", "", NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct kind_row *row = kinds_find(cases[i].api_version, cases[i].kind);
		if (!cases[i].resource) {
			assert_null(row);
			continue;
		}
		assert_non_null(row);
		assert_string_equal(row->resource, cases[i].resource);
		assert_ptr_equal(kinds_resource(row->group, row->resource), row);
	}
	assert_string_equal(kinds_named("services.serving.knative.dev")->group, "serving.knative.dev");
	assert_string_equal(kinds_named("services")->group, "");
	assert_null(kinds_named("service"));
	assert_null(kinds_named("services.serving.knative"));
	const struct kind_row *group = kinds_of_id(KIND_POD_GROUP);
	assert_true(kinds_is_called(group, "pg") && kinds_is_called(group, "PodGroup") &&
	            kinds_is_called(group, "podgroups"));
	assert_true(kinds_is_called(group, "podgroups.scheduling.run.ai"));
	assert_false(kinds_is_called(group, "podgroups.scheduling.volcano.sh"));
	assert_false(kinds_is_called(group, "podgroupss") || kinds_is_called(group, "") || kinds_is_called(group, "p"));
}

static void families_have_names(void **state)
{
	assert_string_equal(kinds_family_name(FAMILY_NONE), "");
	assert_string_equal(kinds_family_name(FAMILY_KUBEFLOW), "kubeflow");
	for (int family = FAMILY_WRAPPER; family < FAMILIES; family++)
		assert_true(kinds_family_name((enum kind_family)family)[0]);
}

/* What a row says about the embedded cluster is what the controllers there do. */
static void simulated_kinds_have_a_controller(void **state)
{
	const struct kind_row *row;
	char api_version[128];
	for (size_t i = 0; (row = kinds_row(i)); i++) {
		if (!row->group[0])
			continue;
		snprintf(api_version, sizeof(api_version), "%s/%s", row->group, row->versions[0]);
		assert_int_equal(workloads_know(api_version, row->kind), row->simulator > SIMULATE_POD);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(names_are_taken_once),
		cmocka_unit_test(what_grouping_reads_is_mirrored),
		cmocka_unit_test(decisions_wait_for_what_they_rest_on),
		cmocka_unit_test(kinds_that_decide_have_an_id),
		cmocka_unit_test(rows_are_found),
		cmocka_unit_test(families_have_names),
		cmocka_unit_test(simulated_kinds_have_a_controller),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
