/* Creating, updating and reading objects: what the store fills in, what it refuses, what it leaves alone. */
#include "fixtures/store_fixture.h"

#include <stdlib.h>

static void a_new_object_gets_its_metadata(void **state)
{
	struct store_fixture *fixture = *state;
	assert_code(fixture,
	            fixture_create(fixture, "pods", "default",
	                           "{'metadata':{'name':'a'},'spec':{'x':1},'status':{'phase':'Running'}}"),
	            201);
	assert_at(fixture, "apiVersion", "v1");
	assert_at(fixture, "kind", "Pod");
	assert_at(fixture, "metadata.namespace", "default");
	assert_at(fixture, "metadata.creationTimestamp", "2026-01-01T00:00:00Z");
	assert_at(fixture, "metadata.generation", "1");
	assert_at(fixture, "metadata.resourceVersion", "5"); /* behind the four namespaces */
	assert_at(fixture, "status.phase", "Pending");       /* a status comes only through its subresource */
	assert_int_equal(strlen(fixture_at(fixture, "metadata.uid")), 36);
	assert_code(fixture, fixture_create(fixture, "pods", "default", "{'metadata':{'name':'a'}}"), 409);
	assert_at(fixture, "reason", "AlreadyExists");
	assert_at(fixture, "message", "pods \"a\" already exists");
}

static void generated_names_differ(void **state)
{
	struct store_fixture *fixture = *state;
	char first[64];
	assert_code(fixture, fixture_create(fixture, "pods", "default", "{'metadata':{'generateName':'web-'}}"), 201);
	snprintf(first, sizeof(first), "%s", fixture_at(fixture, "metadata.name"));
	assert_int_equal(strlen(first), 9);
	assert_memory_equal(first, "web-", 4);
	assert_code(fixture, fixture_create(fixture, "pods", "default", "{'metadata':{'generateName':'web-'}}"), 201);
	assert_string_not_equal(first, fixture_at(fixture, "metadata.name"));
}

static void refused_creates(void **state)
{
	static const struct {
		const char *resource, *namespace_, *body;
		int code;
		const char *message; /* a part of it */
	} table[] = {
		{"pods", "default", "{}", 422, "name or generateName is required"},
		{"pods", "default", "[]", 400, "must be a Pod"},
		{"pods", "nowhere", "{'metadata':{'name':'a'}}", 404, "namespaces \"nowhere\" not found"},
		{"pods", "", "{'metadata':{'name':'a'}}", 400, "empty namespace"},
		{"pods", "default", "{'kind':'Node','metadata':{'name':'a'}}", 400, "kind"},
		{"pods", "default", "{'apiVersion':'apps/v1','metadata':{'name':'a'}}", 400, "apiVersion"},
		{"pods", "default", "{'metadata':{'name':'a','namespace':'other'}}", 400, "namespace"},
		{"pods", "default", "{'metadata':{'name':'Big'}}", 422, "DNS subdomain"},
		{"pods", "default", "{'metadata':{'name':'a..b'}}", 422, "DNS subdomain"},
		{"pods", "default", "{'metadata':{'name':'-a'}}", 422, "DNS subdomain"},
		{"services", "default", "{'metadata':{'name':'a.b'}}", 422, "DNS label"},
		{"clusterroles.rbac.authorization.k8s.io", "", "{'metadata':{'name':'a/b'}}", 422, "path"},
		{"pods", "default", "{'metadata':{'name':'a','resourceVersion':'3'}}", 400, "resourceVersion"},
		{"pods", "default", "{'metadata':{'name':'a','labels':{'a b':'c'}}}", 422, "label key"},
		{"pods", "default", "{'metadata':{'name':'a','labels':{'a':'b c'}}}", 422, "label value"},
		{"pods", "default", "{'metadata':{'name':'a','labels':{'a':1}}}", 422, "label value"},
		{"pods", "default", "{'metadata':{'name':'a','labels':[]}}", 422, "map of strings"},
		{"pods", "default", "{'metadata':{'name':'a','annotations':{'a':true}}}", 422, "must be a string"},
		{"pods", "default", "{'metadata':{'name':'a','finalizers':['a b']}}", 422, "finalizer"},
		{"pods", "default", "{'metadata':{'name':'a','ownerReferences':[{'kind':'Job'}]}}", 422, "uid"},
		{"pods", "default", "{'metadata':[]}", 400, "metadata must be a map"},
	};
	struct store_fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_code(fixture, fixture_create(fixture, table[i].resource, table[i].namespace_, table[i].body),
		            table[i].code);
		if (!strstr(fixture->text.text, table[i].message) &&
		    !strstr(fixture_at(fixture, "message"), table[i].message))
			fail_msg("row %zu: %s", i, fixture->text.text);
	}
	assert_string_equal(fixture_names(fixture, "pods", NULL, NULL, NULL), "");
	assert_code(fixture,
	            fixture_create(fixture, "clusterroles.rbac.authorization.k8s.io", "",
	                           "{'metadata':{'name':'system:node'}}"),
	            201);
}

static void all_problems_at_once(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(fixture, "pods", "default", "{'metadata':{'name':'A','labels':{'x':' '},'finalizers':['']}}");
	assert_at(fixture, "code", "422");
	assert_at(fixture, "details.kind", "Pod");
	assert_at(fixture, "details.causes.0.field", "metadata.name");
	assert_at(fixture, "details.causes.1.field", "metadata.labels");
	assert_at(fixture, "details.causes.2.field", "metadata.finalizers[0]");
}

static void updates_are_optimistic(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'c'},'data':{'a':'1'}}");
	char version[32], uid[64];
	snprintf(version, sizeof(version), "%s", fixture_at(fixture, "metadata.resourceVersion"));
	snprintf(uid, sizeof(uid), "%s", fixture_at(fixture, "metadata.uid"));
	char body[256];
	snprintf(body, sizeof(body), "{'metadata':{'name':'c','resourceVersion':'%s'},'data':{'a':'2'}}", version);
	assert_code(fixture, fixture_update(fixture, "configmaps", "default", "c", body), 200);
	assert_at(fixture, "metadata.uid", uid);
	assert_at(fixture, "data.a", "2");
	assert_code(fixture, fixture_update(fixture, "configmaps", "default", "c", body),
	            409); /* the version is stale now */
	assert_at(fixture, "reason", "Conflict");
	assert_at(fixture, "message",
	          "Operation cannot be fulfilled on configmaps \"c\": the object has been modified; please apply your "
	          "changes "
	          "to the latest version and try again");
	assert_code(fixture, fixture_update(fixture, "configmaps", "default", "c", "{'metadata':{},'data':{'a':'3'}}"),
	            200); /* last wins */
	assert_code(fixture, fixture_update(fixture, "configmaps", "default", "c", "{'metadata':{'uid':'other'}}"),
	            409);
	assert_code(fixture, fixture_update(fixture, "configmaps", "default", "c", "{'metadata':{'name':'d'}}"), 400);
	assert_code(fixture, fixture_update(fixture, "configmaps", "default", "d", "{'metadata':{'name':'d'}}"), 404);
	assert_at(fixture, "details.kind", "configmaps");
}

static void an_update_that_changes_nothing_is_no_write(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'c'},'data':{'a':'1'}}");
	uint64_t before = store_version(fixture->store);
	assert_code(fixture, fixture_merge(fixture, "configmaps", "default", "c", "{'data':{'a':'1'}}"), 200);
	assert_code(fixture, fixture_update(fixture, "configmaps", "default", "c", "{'data':{'a':'1'}}"), 200);
	assert_int_equal(store_version(fixture->store), before);
}

static void spec_and_status_are_apart(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_create(fixture, "deployments.apps", "default", "{'metadata':{'name':'d'},'spec':{'replicas':1}}");
	assert_at(fixture, "metadata.generation", "1");
	assert_code(fixture,
	            fixture_merge(fixture, "deployments.apps", "default", "d",
	                          "{'spec':{'replicas':2},'status':{'replicas':9}}"),
	            200);
	assert_at(fixture, "metadata.generation", "2");
	assert_at(fixture, "status", "");
	struct store_request status = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_STATUS};
	assert_code(fixture,
	            fixture_do(fixture, status, "deployments.apps", "default", "d",
	                       "{'spec':{'replicas':7},'status':{'replicas':2}}"),
	            200);
	assert_at(fixture, "metadata.generation", "2");
	assert_at(fixture, "spec.replicas", "2");
	assert_at(fixture, "status.replicas", "2");
	assert_code(fixture,
	            fixture_merge(fixture, "deployments.apps", "default", "d", "{'metadata':{'labels':{'a':'b'}}}"),
	            200);
	assert_at(fixture, "metadata.generation", "2");
	assert_at(fixture, "status.replicas", "2");
	assert_code(fixture, fixture_do(fixture, status, "configmaps", "default", "d", "{}"), 405);
}

static void dry_runs_leave_no_trace(void **state)
{
	struct store_fixture *fixture = *state;
	uint64_t before = store_version(fixture->store);
	assert_code(fixture,
	            fixture_do(fixture, (struct store_request){.verb = STORE_CREATE, .dry_run = true}, "pods",
	                       "default", NULL, "{'metadata':{'name':'a'}}"),
	            201);
	assert_at(fixture, "metadata.resourceVersion", "");
	assert_at(fixture, "metadata.creationTimestamp", "2026-01-01T00:00:00Z");
	assert_int_equal(store_version(fixture->store), before);
	assert_string_equal(fixture_names(fixture, "pods", "default", NULL, NULL), "");
	fixture_create(fixture, "pods", "default", "{'metadata':{'name':'a'}}");
	assert_code(fixture,
	            fixture_do(fixture, (struct store_request){.verb = STORE_DELETE, .dry_run = true}, "pods",
	                       "default", "a", NULL),
	            200);
	assert_code(fixture, fixture_delete(fixture, "pods", "default", "a", "{'dryRun':['All']}"), 200);
	assert_string_equal(fixture_names(fixture, "pods", "default", NULL, NULL), "a");
}

static void objects_have_a_largest_size(void **state)
{
	struct store_fixture *fixture = *state;
	struct buffer body = {0};
	buffer_puts(&body, "{'metadata':{'name':'big'},'data':{'x':'");
	for (size_t i = 0; i < STORE_MAX_OBJECT / 16; i++)
		buffer_puts(&body, "0123456789abcdef");
	buffer_puts(&body, "\"}}");
	assert_code(fixture, fixture_create(fixture, "configmaps", "default", body.text), 413);
	buffer_free(&body);
	assert_string_equal(fixture_names(fixture, "configmaps", "default", NULL, NULL), "");
}

/* Refuses names that start with "bad", warns about those with "odd", and adds a default. */
static int admit(void *context, struct store_admission *admission, struct store_error *error)
{
	int *calls = context;
	++*calls;
	if (text_starts_with(admission->name, "bad"))
		return store_fail(admission->arena, error, 422, "Invalid", "a bad name");
	if (text_starts_with(admission->name, "odd"))
		problem_add(admission->warnings, SEVERITY_WARNING, "metadata.name", NULL, "an odd name");
	if (strcmp(admission->name, "fill") == 0)
		admission->replacement = fixture_json("{'spec':{'given':1,'filled':2},'status':{'phase':'Pending'}}");
	if (!admission->status && val_path(admission->object, "spec", "want", NULL))
		admission->replacement = fixture_json("{'metadata':{'name':'x','uid':'stolen'},'spec':{'got':1}}");
	return 0;
}

static void admission_sees_every_write(void **state)
{
	struct store_fixture *fixture = *state;
	int calls = 0;
	fixture_close(fixture);
	fixture->options.admit = admit;
	fixture->options.context = &calls;
	fixture_open(fixture, NULL);
	assert_int_equal(calls, 0); /* not for the namespaces the store makes itself */
	assert_code(fixture, fixture_create(fixture, "pods", "default", "{'metadata':{'name':'bad'}}"), 422);
	assert_code(fixture, fixture_create(fixture, "pods", "default", "{'metadata':{'name':'odd'}}"), 201);
	assert_int_equal(fixture->result.warning_count, 1);
	assert_string_equal(fixture->result.warnings[0], "metadata.name: an odd name");
	assert_int_equal(calls, 2);
	fixture_merge(fixture, "pods", "default", "odd", "{'metadata':{'labels':{'a':'b'}}}");
	assert_int_equal(calls, 3);
	fixture_merge(fixture, "pods", "default", "odd", "{'metadata':{'labels':{'a':'b'}}}"); /* nothing to admit */
	assert_int_equal(calls, 3);
	assert_code(fixture, fixture_create(fixture, "pods", "default", "{'metadata':{'name':'d'},'spec':{'want':1}}"),
	            201);
	assert_at(fixture, "spec", "{\"got\":1}");
	assert_code(fixture, fixture_get(fixture, "pods", "default", "d"), 200);
	assert_at(fixture, "metadata.name", "d"); /* a default cannot make another object of it */
	assert_at(fixture, "kind", "Pod");
	assert_int_equal(strlen(fixture_at(fixture, "metadata.uid")), 36);
}

static void defaults_are_no_change(void **state)
{
	struct store_fixture *fixture = *state;
	int calls = 0;
	fixture_close(fixture);
	fixture->options.admit = admit;
	fixture->options.context = &calls;
	fixture_open(fixture, NULL);
	assert_code(fixture,
	            fixture_create(fixture, "pods", "default", "{'metadata':{'name':'fill'},'spec':{'given':1}}"), 201);
	assert_at(fixture, "spec.filled", "2");
	uint64_t version = store_version(fixture->store);
	assert_code(fixture, fixture_update(fixture, "pods", "default", "fill", "{'spec':{'given':1}}"), 200);
	assert_at(fixture, "metadata.generation", "1");
	assert_int_equal(store_version(fixture->store), version);
}

static void events_have_two_faces(void **state)
{
	struct store_fixture *fixture = *state;
	assert_code(fixture,
	            fixture_create(fixture, "events", "default",
	                           "{'metadata':{'name':'e'},'involvedObject':{'name':'p'},'message':'hello'}"),
	            201);
	size_t length;
	const struct store_api *face = store_api_find(fixture->store, "events.k8s.io", "v1", "events");
	assert_non_null(face);
	const char *json = store_object_json(fixture->result.object, face, &length);
	assert_non_null(strstr(json, "\"apiVersion\":\"events.k8s.io/v1\""));
	assert_non_null(strstr(json, "\"regarding\":{\"name\":\"p\"}"));
	assert_non_null(strstr(json, "\"note\":\"hello\""));
	struct doc *body = fixture_json("{'metadata':{'name':'f'},'regarding':{'name':'q'},'note':'hi'}");
	store_result_clear(&fixture->result);
	assert_int_equal(store_write(fixture->store,
	                             &(struct store_request){.verb = STORE_CREATE,
	                                                     .api = face,
	                                                     .namespace_ = "default",
	                                                     .body = doc_root(body)},
	                             &fixture->result),
	                 0);
	doc_destroy(body);
	assert_string_equal(fixture_names(fixture, "events", "default", NULL, "involvedObject.name=q"), "f");
	fixture_get(fixture, "events", "default", "f");
	assert_at(fixture, "message", "hi");
	assert_at(fixture, "apiVersion", "v1");
}

static void versions_follow_the_spec(void **state)
{
	struct store_fixture *fixture = *state;
	const char *old = "rolebasedgroupscalingadapters.workloads.x-k8s.io/v1alpha1",
		   *new = "rolebasedgroupscalingadapters.workloads.x-k8s.io/v1alpha2";
	assert_code(fixture, fixture_create(fixture, old, "default", "{'metadata':{'name':'r'},'spec':{'roles':[]}}"),
	            201);
	size_t length;
	assert_non_null(strstr(store_object_json(fixture->result.object, fixture_api(fixture, new), &length),
	                       "x-k8s.io/v1alpha2"));
	assert_code(fixture, fixture_merge(fixture, new, "default", "r", "{'metadata':{'labels':{'a':'b'}}}"), 200);
	assert_at(fixture, "apiVersion",
	          "workloads.x-k8s.io/v1alpha1"); /* a label says nothing about the form of the spec */
	assert_code(fixture, fixture_merge(fixture, new, "default", "r", "{'spec':{'x':1}}"), 200);
	assert_at(fixture, "apiVersion", "workloads.x-k8s.io/v1alpha2");
}

/* ---- derived data ---- */

static int made, alive;

struct summary {
	struct derived derived;
	const char *name; /* in the document */
	size_t labels;
};

static struct derived *summarize(const struct val *root, const struct labels *labels)
{
	struct summary *summary = base_calloc(1, sizeof(*summary));
	summary->name = val_str(val_path(root, "metadata", "name", NULL), "");
	summary->labels = labels->count;
	made++;
	alive++;
	return &summary->derived;
}

static void forget_summary(struct derived *summary)
{
	free(summary);
	alive--;
}

static const struct derivation summary_derivation = {summarize, forget_summary};

static void derived_data_is_made_once_per_version(void **state)
{
	struct store_fixture *fixture = *state;
	made = alive = 0;
	assert_code(fixture,
	            fixture_create(fixture, "pods", "default", "{'metadata':{'name':'a','labels':{'x':'1','y':'2'}}}"),
	            201);
	struct store_object *first = store_object_retain(fixture->result.object);
	assert_int_equal(made, 0); /* nobody asked */
	const struct summary *summary = store_object_derived(first, &summary_derivation);
	const struct store_object *held = store_peek(fixture->store, first->type, "default", "a");
	assert_ptr_equal(store_object_derived(held, &summary_derivation), summary);
	assert_ptr_equal(summary->name, first->name); /* not a copy */
	assert_int_equal(summary->labels, 2);
	assert_int_equal(made, 1);
	/* Another version is read on its own; the old one stays until the commit. */
	assert_code(fixture, fixture_merge(fixture, "pods", "default", "a", "{'metadata':{'labels':{'y':null}}}"), 200);
	const struct summary *next = store_object_derived(fixture->result.object, &summary_derivation);
	assert_int_equal(next->labels, 1);
	assert_int_equal(made, 2);
	assert_int_equal(store_commit(fixture->store, NULL), 0);
	assert_int_equal(alive, 1); /* though the history has the old version still */
	assert_int_equal(next->labels, 1);
	store_object_release(first);
	fixture_reopen(fixture); /* of a store in memory nothing is left */
	assert_int_equal(alive, 0);
	assert_int_equal(made, 2);
}

static void derived_data_of_an_old_version_stays_while_it_is_held(void **state)
{
	struct store_fixture *fixture = *state;
	made = alive = 0;
	assert_code(fixture, fixture_create(fixture, "pods", "default", "{'metadata':{'name':'a'}}"), 201);
	struct store_object *first = store_object_retain(fixture->result.object);
	const struct summary *summary = store_object_derived_hold(first, &summary_derivation);
	assert_ptr_equal(store_object_derived_hold(first, &summary_derivation), summary);
	assert_code(fixture, fixture_merge(fixture, "pods", "default", "a", "{'metadata':{'labels':{'y':'1'}}}"), 200);
	assert_int_equal(store_commit(fixture->store, NULL), 0);
	assert_int_equal(summary->labels, 0);
	store_object_derived_drop(first);
	assert_int_equal(alive, 1);
	store_object_derived_drop(first);
	assert_int_equal(alive, 0); /* not kept with the history */
	store_object_derived_drop(NULL);
	store_object_release(first);
}

static int examine(void *context, struct store_admission *admission, struct store_object *object,
                   struct store_error *error)
{
	assert_string_equal(context, "of admission");
	const struct summary *summary = store_object_derived(object, &summary_derivation);
	assert_string_equal(val_str(val_path(object->root, "metadata", "uid", NULL), ""), object->uid);
	assert_string_not_equal(val_str(val_path(object->root, "metadata", "resourceVersion", NULL), ""), "");
	if (summary->labels > 1)
		return store_fail(admission->arena, error, 422, "Invalid", "too many labels");
	if (summary->labels == 1)
		problem_add(admission->warnings, SEVERITY_WARNING, "metadata.labels", NULL, "has a label");
	return 0;
}

static int admit_later(void *context, struct store_admission *admission, struct store_error *error)
{
	(void)context, (void)error;
	assert_true(admission->examines);
	admission->examine_context = "of admission";
	if (!admission->status)
		admission->examine = examine;
	return 0;
}

/* Admission may look at an object in its last form, and who reads it later has what was derived from it then. */
static void what_admission_derives_is_kept(void **state)
{
	struct store_fixture *fixture = *state;
	made = alive = 0;
	fixture_close(fixture);
	fixture->options.admit = admit_later;
	fixture_open(fixture, NULL);
	assert_code(fixture, fixture_create(fixture, "pods", "default", "{'metadata':{'name':'a','labels':{'x':'1'}}}"),
	            201);
	assert_int_equal(fixture->result.warning_count, 1);
	assert_string_equal(fixture->result.warnings[0], "metadata.labels: has a label");
	assert_int_equal(made, 1);
	store_object_derived(fixture->result.object, &summary_derivation);
	assert_int_equal(made, 1);

	/* What is refused was never there, and neither was a dry run. */
	uint64_t version = store_version(fixture->store);
	assert_code(fixture, fixture_merge(fixture, "pods", "default", "a", "{'metadata':{'labels':{'y':'1'}}}"), 422);
	assert_code(fixture,
	            fixture_create(fixture, "pods", "default", "{'metadata':{'name':'b','labels':{'x':'1','y':'2'}}}"),
	            422);
	assert_int_equal(store_version(fixture->store), version);
	assert_string_equal(fixture_names(fixture, "pods", "default", NULL, NULL), "a");
	assert_code(fixture, fixture_get(fixture, "pods", "default", "a"), 200);
	assert_at(fixture, "metadata.labels", "{\"x\":\"1\"}");
	assert_int_equal(alive, 1);

	/* A status is not examined: it is derived when somebody asks. */
	made = 0;
	struct store_request status = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_STATUS};
	assert_code(fixture, fixture_do(fixture, status, "pods", "default", "a", "{'status':{'phase':'Running'}}"),
	            200);
	assert_int_equal(made, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_new_object_gets_its_metadata, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(generated_names_differ, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(refused_creates, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(all_problems_at_once, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(updates_are_optimistic, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_update_that_changes_nothing_is_no_write, fixture_setup,
	                                        fixture_teardown),
		cmocka_unit_test_setup_teardown(spec_and_status_are_apart, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(dry_runs_leave_no_trace, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(objects_have_a_largest_size, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(admission_sees_every_write, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(defaults_are_no_change, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(events_have_two_faces, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(versions_follow_the_spec, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(derived_data_is_made_once_per_version, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_admission_derives_is_kept, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(derived_data_of_an_old_version_stays_while_it_is_held, fixture_setup,
	                                        fixture_teardown),
	};
	return cmocka_run_group_tests_name("store objects", tests, NULL, NULL);
}
