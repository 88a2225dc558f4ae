/* How often objects are decoded: once per version, by whoever asks first. Admission, the controllers, the scheduler and the
 * dashboard all read them. The linker hands the calls of the decoders to the functions below, which count them. */
#include "fixtures/control_fixture.h"

#include "admit/pod.h"
#include "admit/rbg.h"
#include "view/records.h"

#define GROUPS "rolebasedgroups.workloads.x-k8s.io"
#define POLICIES "coordinatedpolicies.workloads.x-k8s.io"
#define SETS "rolebasedgroupsets.workloads.x-k8s.io"
#define TEMPLATE                                                                                                       \
	"standalonePattern: {template: {spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: " \
	"1}}}]}}}"
#define HEAD(kind, name) "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: " kind "\nmetadata: {name: " name "}\nspec:\n"

int __wrap_rbg_decode(const struct val *object, struct arena *arena, struct rbg_spec *out, struct problems *problems);
int __wrap_rbg_policy_decode(const struct val *object, struct arena *arena, struct rbg_policy *out,
                             struct problems *problems);
int __wrap_rbg_set_decode(const struct val *object, struct arena *arena, struct rbg_set *out,
                          struct problems *problems);
int __wrap_pod_decode(const struct val *object, struct arena *arena, struct pod_spec *out, struct problems *problems);
int __real_rbg_decode(const struct val *object, struct arena *arena, struct rbg_spec *out, struct problems *problems);
int __real_rbg_policy_decode(const struct val *object, struct arena *arena, struct rbg_policy *out,
                             struct problems *problems);
int __real_rbg_set_decode(const struct val *object, struct arena *arena, struct rbg_set *out,
                          struct problems *problems);
int __real_pod_decode(const struct val *object, struct arena *arena, struct pod_spec *out, struct problems *problems);

/* "kind name version", of those that have been decoded. */
static char seen[2000][80];
static int seen_count;
static char again[1000];
static struct {
	int groups, policies, sets, pods;
} made;

/* What is no object of the store (a template, a member that a set would make) has no version. */
static bool note(const char *kind, const struct val *object)
{
	char text[80];
	const struct val *metadata = val_get(object, "metadata");
	const char *version = val_str(val_get(metadata, "resourceVersion"), NULL);
	snprintf(text, sizeof(text), "%s %s %s", kind, val_str(val_get(metadata, "name"), ""),
	         version ? version : "none");
	bool twice = !version && val_get(metadata, "name") && strcmp(kind, "pod") == 0;
	for (int i = 0; version && i < seen_count; i++)
		twice |= strcmp(seen[i], text) == 0;
	size_t used = strlen(again);
	if (twice)
		snprintf(again + used, sizeof(again) - used, "%s, ", text);
	assert_true(seen_count < (int)(sizeof(seen) / sizeof(seen[0])));
	memcpy(seen[seen_count++], text, sizeof(text));
	return version != NULL;
}

int __wrap_rbg_decode(const struct val *object, struct arena *arena, struct rbg_spec *out, struct problems *problems)
{
	made.groups += note("group", object);
	return __real_rbg_decode(object, arena, out, problems);
}

int __wrap_rbg_policy_decode(const struct val *object, struct arena *arena, struct rbg_policy *out,
                             struct problems *problems)
{
	made.policies += note("policy", object);
	return __real_rbg_policy_decode(object, arena, out, problems);
}

int __wrap_rbg_set_decode(const struct val *object, struct arena *arena, struct rbg_set *out, struct problems *problems)
{
	made.sets += note("set", object);
	return __real_rbg_set_decode(object, arena, out, problems);
}

int __wrap_pod_decode(const struct val *object, struct arena *arena, struct pod_spec *out, struct problems *problems)
{
	made.pods += note("pod", object);
	return __real_pod_decode(object, arena, out, problems);
}

/* How many there are without a version, of a kind: what admission judges before the store has it. */
static int loose(const char *kind)
{
	char end[] = " none";
	int count = 0;
	for (int i = 0; i < seen_count; i++)
		count += strncmp(seen[i], kind, strlen(kind)) == 0 &&
		         strcmp(seen[i] + strlen(seen[i]) - strlen(end), end) == 0;
	return count;
}

static void shown(void *context, char kind, const char *name, const char *json)
{
	(void)name;
	*(int *)context += json && strchr("pry", kind);
}

static void apply(struct control_fixture *fixture, const char *text)
{
	int code = control_apply(fixture, text);
	if (code >= 300)
		fail_msg("%d: %s", code, fixture->base.text.text);
}

/* The dashboard reads after each turn, as in `up`. */
static void read_records(struct control_fixture *fixture)
{
	while (!records_poll(fixture->context))
		;
}

static void once_per_version(void **state)
{
	struct control_fixture *fixture = *state;
	int records_made = 0;
	struct records *records = records_create(
		&(struct records_options){.store = fixture->base.store, .put = shown, .context = &records_made});
	fixture->context = records;
	fixture->watch = read_records;
	control_nodes(fixture, 4, 8, 2);
	apply(fixture,
	      HEAD("RoleBasedGroup", "g") "  roles:\n  - {name: a, replicas: 4, " TEMPLATE "}\n  - {name: b, replicas: "
	                                  "2, " TEMPLATE "}\n");
	apply(fixture,
	      HEAD("CoordinatedPolicy", "g") "  policies: [{name: pd, roles: [a, b], strategy: {scaling: {maxSkew: "
	                                     "50%}}}]\n");
	apply(fixture,
	      HEAD("RoleBasedGroupSet", "farm") "  replicas: 2\n  groupTemplate: {spec: {roles: [{name: a, replicas: "
	                                        "1, " TEMPLATE "}]}}\n");
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "g", ""), 6);
	assert_int_equal(control_ready(fixture, "farm-1", ""), 1);

	/* What changes is a new version, what it replaces is not looked at again. */
	apply(fixture,
	      HEAD("RoleBasedGroup", "g") "  roles:\n  - {name: a, replicas: 6, " TEMPLATE "}\n  - {name: b, replicas: "
	                                  "3, " TEMPLATE "}\n");
	apply(fixture,
	      HEAD("CoordinatedPolicy", "g") "  policies: [{name: pd, roles: [a, b], strategy: {scaling: {maxSkew: "
	                                     "60%}}}]\n");
	apply(fixture, HEAD("RoleBasedGroupSet", "farm") "  replicas: 3\n");
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "g", ""), 9);
	assert_int_equal(control_ready(fixture, "farm-2", ""), 1);
	/* A policy is judged beside its group, and a group beside its policies. */
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, POLICIES, "default", "g", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, GROUPS, "default", "g", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	control_run(fixture, 20);

	assert_code(&fixture->base, fixture_delete(&fixture->base, POLICIES, "default", "g", NULL), 200);
	assert_code(&fixture->base, fixture_delete(&fixture->base, GROUPS, "default", "g", NULL), 200);
	assert_code(&fixture->base, fixture_delete(&fixture->base, SETS, "default", "farm", NULL), 200);
	control_run(fixture, 20);
	assert_string_equal(fixture_names(&fixture->base, "pods", "default", NULL, NULL), "");
	records_destroy(records);

	assert_string_equal(again, "");
	assert_int_equal(loose("group g "), 0);
	assert_int_equal(loose("group farm-"), 2); /* for each version of the set a member, as it would be made */
	assert_int_equal(loose("policy"), 0);
	assert_int_equal(loose("set"), 0);
	assert_true(made.groups > 10 && made.policies > 2 && made.sets > 2 && made.pods > 20 && records_made > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(once_per_version, control_setup, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
