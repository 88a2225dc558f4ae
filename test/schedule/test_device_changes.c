/* What changes about devices reaches the pods that wait: who names a claim, and devices that go and come back. */
#include "fixtures/scheduler_fixture.h"

#include <string.h>

#define SLICE(name, devices)                                                                                           \
	"{'metadata':{'name':'" name "'},'spec':{'driver':'d.example.com','nodeName':'n0','pool':{'name':'" name       \
	"','generation':1,'resourceSliceCount':1},'devices':[" devices "]}}"

static void make(struct scheduler_fixture *fixture, const char *resource, const char *namespace_, const char *body)
{
	assert_code(&fixture->base, fixture_create(&fixture->base, resource, namespace_, body), 201);
}

static void make_claim(struct scheduler_fixture *fixture, const char *name)
{
	char body[256];
	snprintf(body, sizeof(body),
	         "{'metadata':{'name':'%s'},'spec':{'devices':{'requests':[{'name':'g','exactly':{'deviceClassName':"
	         "'gpu'}}]}}}",
	         name);
	make(fixture, "resourceclaims.resource.k8s.io", "default", body);
}

/* A gang of its own, so that what is said of it can be read. */
static void make_pod(struct scheduler_fixture *fixture, const char *name, const char *claim)
{
	char body[512];
	scheduler_fixture_group(fixture, name, "'minMember':1");
	snprintf(body, sizeof(body),
	         "{'metadata':{'name':'%s','annotations':{'pod-group-name':'%s'}},'spec':{'schedulerName':'platoon',"
	         "'resourceClaims':[{'name':'g','resourceClaimName':'%s'}],'containers':[{'name':'c','image':'i'}]}}",
	         name, name, claim);
	make(fixture, "pods", "default", body);
}

static void open_devices(struct scheduler_fixture *fixture)
{
	scheduler_fixture_nodes(fixture, 1);
	make(fixture, "deviceclasses.resource.k8s.io", "",
	     "{'metadata':{'name':'gpu'},'spec':{'selectors':[{'cel':{'expression':'device.driver == "
	     "\\\"d.example.com\\\"'}}]}}");
}

static void take_device(struct scheduler_fixture *fixture, const char *claim, const char *pool, const char *device)
{
	char body[256];
	make_claim(fixture, claim);
	snprintf(body, sizeof(body),
	         "{'status':{'allocation':{'devices':{'results':[{'request':'g','driver':'d.example.com','pool':'%s',"
	         "'device':'%s'}]}}}}",
	         pool, device);
	assert_code(&fixture->base,
	            fixture_merge_status(&fixture->base, "resourceclaims.resource.k8s.io", "default", claim, body),
	            200);
}

static void free_device(struct scheduler_fixture *fixture, const char *claim)
{
	assert_code(&fixture->base,
	            fixture_merge_status(&fixture->base, "resourceclaims.resource.k8s.io", "default", claim,
	                                 "{'status':{'allocation':null}}"),
	            200);
}

/* As many name the claim as before, and they are others. */
static void a_pod_that_comes_as_another_ends_has_the_claim(void **state)
{
	struct scheduler_fixture *fixture = *state;
	open_devices(fixture);
	make(fixture, "resourceslices.resource.k8s.io", "", SLICE("s", "{'name':'d0'},{'name':'d1'}"));
	take_device(fixture, "x0", "s", "d0");
	take_device(fixture, "x1", "s", "d1");
	make_claim(fixture, "c");
	make_claim(fixture, "other");
	make_pod(fixture, "first", "c");
	make_pod(fixture, "third", "other"); /* asks for the same all the time */
	scheduler_fixture_turns(fixture, 5);
	assert_string_equal(scheduler_fixture_node_of(fixture, "first"), "");
	make_pod(fixture, "second", "c");
	scheduler_fixture_phase(fixture, "first", "Succeeded");
	free_device(fixture, "x0");
	free_device(fixture, "x1");
	for (int i = 0; i < 20; i++) {
		scheduler_fixture_turns(fixture, 1);
		fixture_get(&fixture->base, "pods", "default", "second");
		assert_null(strstr(fixture->base.text.text, "several pods"));
	}
	assert_string_equal(scheduler_fixture_node_of(fixture, "second"), "n0");
}

/* Whoever has a device has it again when its slice is back: the next pod is told that it is in use. */
static void a_device_that_comes_back_is_whose_it_was(void **state)
{
	struct scheduler_fixture *fixture = *state;
	open_devices(fixture);
	make(fixture, "resourceslices.resource.k8s.io", "", SLICE("s", "{'name':'d0'}"));
	make_claim(fixture, "c0");
	make_claim(fixture, "c1");
	make_pod(fixture, "first", "c0");
	scheduler_fixture_turns(fixture, 20);
	assert_string_equal(scheduler_fixture_node_of(fixture, "first"), "n0");
	/* One more like it, so that what is counted stays the same; it is somebody else's. */
	make(fixture, "resourceslices.resource.k8s.io", "", SLICE("t", "{'name':'d1'}"));
	take_device(fixture, "x", "t", "d1");
	make_pod(fixture, "second", "c1");
	scheduler_fixture_turns(fixture, 20);
	assert_code(&fixture->base, fixture_delete(&fixture->base, "resourceslices.resource.k8s.io", "", "s", NULL),
	            200);
	scheduler_fixture_turns(fixture, 20);
	make(fixture, "resourceslices.resource.k8s.io", "", SLICE("s", "{'name':'d0'}"));
	scheduler_fixture_turns(fixture, 20);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_pending_groups{reason=\"InsufficientDomain\"}"), 1);
	assert_string_equal(scheduler_fixture_node_of(fixture, "second"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pod_that_comes_as_another_ends_has_the_claim, scheduler_fixture_begin,
	                                        scheduler_fixture_end),
		cmocka_unit_test_setup_teardown(a_device_that_comes_back_is_whose_it_was, scheduler_fixture_begin,
	                                        scheduler_fixture_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
