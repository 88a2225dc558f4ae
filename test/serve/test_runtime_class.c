/* What a new pod gets from its RuntimeClass, as the API server of Kubernetes writes it. */
#include "fixtures/store_fixture.h"
#include "serve/api/admission.h"

#define CLASS                                                                                                          \
	"{'apiVersion':'node.k8s.io/v1','kind':'RuntimeClass','metadata':{'name':'kata'},'handler':'kata',"            \
	"'overhead':{'podFixed':{'cpu':'250m','memory':'120Mi'}},"                                                     \
	"'scheduling':{'nodeSelector':{'runtime':'kata'},'tolerations':[{'key':'kata','operator':'Exists'}]}}"
#define POD(name, more)                                                                                                \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'" name "'},'spec':{" more                                 \
	"'containers':[{'name':'c','image':'i'}]}}"

static void the_class_is_written_into_the_pod(void **state)
{
	struct store_fixture fixture = {0};
	struct admission *admission = admission_create();
	fixture.options.admit = admission_check;
	fixture.options.context = admission;
	fixture_open(&fixture, NULL);
	admission_use(admission, fixture.store);
	admission_be_strict(admission);
	assert_code(&fixture, fixture_create(&fixture, "pods", "default", POD("early", "'runtimeClassName':'kata',")),
	            422);
	assert_non_null(strstr(fixture.text.text, "there is no RuntimeClass kata"));
	assert_code(&fixture, fixture_create(&fixture, "runtimeclasses.node.k8s.io", "", CLASS), 201);
	assert_code(&fixture,
	            fixture_create(&fixture, "pods", "default",
	                           POD("a", "'runtimeClassName':'kata','nodeSelector':{'zone':'z'},"
	                                    "'tolerations':[{'key':'other','operator':'Exists'}],")),
	            201);
	assert_at(&fixture, "spec.overhead", "{\"cpu\":\"250m\",\"memory\":\"120Mi\"}");
	assert_at(&fixture, "spec.nodeSelector", "{\"zone\":\"z\",\"runtime\":\"kata\"}");
	assert_at(&fixture, "spec.tolerations.1.key", "kata");
	/* Later writes of the pod change nothing, and pods without a class get nothing. */
	assert_code(&fixture, fixture_merge(&fixture, "pods", "default", "a", "{'metadata':{'labels':{'x':'1'}}}"),
	            200);
	assert_at(&fixture, "spec.tolerations.2.key", "");
	assert_code(&fixture, fixture_create(&fixture, "pods", "default", POD("b", "")), 201);
	assert_at(&fixture, "spec.overhead", "");
	/* What contradicts the class. */
	assert_code(&fixture,
	            fixture_create(&fixture, "pods", "default",
	                           POD("c", "'runtimeClassName':'kata','overhead':{'cpu':'1'},")),
	            422);
	assert_code(&fixture,
	            fixture_create(&fixture, "pods", "default",
	                           POD("c", "'runtimeClassName':'kata','nodeSelector':{'runtime':'runc'},")),
	            422);
	assert_code(&fixture,
	            fixture_create(&fixture, "pods", "default",
	                           POD("c", "'runtimeClassName':'kata','overhead':{'cpu':'250m','memory':'120Mi'},")),
	            201);
	admission_destroy(admission);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_class_is_written_into_the_pod),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
