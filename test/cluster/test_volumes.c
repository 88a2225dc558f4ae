/* The stand-ins for the PersistentVolume controller, the one of ephemeral volumes, and a provisioner. Each story is told
 * undisturbed, with a restart before each turn, and with writes that are refused. */
#include "fixtures/store_fixture.h"

#include "cluster/volumes.h"

enum mode { CALM, RESTARTS, FAULTS, MODES };

struct volumes_fixture {
	struct store_fixture base;
	struct volumes *volumes;
	enum mode mode;
	unsigned writes;
};

static void start(struct volumes_fixture *fixture)
{
	fixture->volumes = volumes_create(
		&(struct volumes_options){.store = fixture->base.store, .clock = &fixture->base.clock.source});
}

static struct store_fault fail_some(void *context, const struct store_request *request)
{
	struct volumes_fixture *fixture = context;
	if (!request->actor || strcmp(request->actor, "volume-controller") != 0 || ++fixture->writes % 4 != 0)
		return (struct store_fault){0};
	return (struct store_fault){.code = 500, .after = fixture->writes % 8 == 0};
}

static void settle(struct volumes_fixture *fixture)
{
	uint64_t version = 0;
	for (int quiet = 0, rounds = 0; quiet < 12; rounds++) {
		struct error error = {0};
		assert_true(rounds < 2000);
		clock_virtual_advance(&fixture->base.clock, CLOCK_SECOND / 20);
		if (fixture->mode == RESTARTS) {
			volumes_destroy(fixture->volumes);
			start(fixture);
		}
		volumes_step(fixture->volumes);
		store_collect_garbage(fixture->base.store, 100);
		assert_int_equal(store_commit(fixture->base.store, &error), 0);
		quiet = store_version(fixture->base.store) == version ? quiet + 1 : 0;
		version = store_version(fixture->base.store);
	}
}

static void make(struct volumes_fixture *fixture, const char *resource, const char *namespace_, const char *body)
{
	assert_code(&fixture->base, fixture_create(&fixture->base, resource, namespace_, body), 201);
	settle(fixture);
}

static void change(struct volumes_fixture *fixture, const char *resource, const char *namespace_, const char *name,
                   const char *patch)
{
	assert_code(&fixture->base, fixture_merge(&fixture->base, resource, namespace_, name, patch), 200);
	settle(fixture);
}

static const char *at(struct volumes_fixture *fixture, const char *resource, const char *namespace_, const char *name,
                      const char *path)
{
	assert_code(&fixture->base, fixture_get(&fixture->base, resource, namespace_, name), 200);
	return fixture_at(&fixture->base, path);
}

static void class_with(struct volumes_fixture *fixture, const char *name, const char *rest)
{
	struct buffer text = {0};
	buffer_printf(&text, "{'metadata':{'name':'%s'},%s}", name, rest);
	make(fixture, "storageclasses.storage.k8s.io", "", text.text);
	buffer_free(&text);
}

static void claim_of(struct volumes_fixture *fixture, const char *name, const char *class_, const char *size,
                     const char *more)
{
	struct buffer text = {0};
	buffer_printf(&text,
	              "{'metadata':{'name':'%s'},'spec':{'storageClassName':'%s','accessModes':['ReadWriteOnce'],"
	              "'resources':{'requests':{'storage':'%s'}}%s}}",
	              name, class_, size, more);
	make(fixture, "persistentvolumeclaims", "default", text.text);
	buffer_free(&text);
}

static void volume_of(struct volumes_fixture *fixture, const char *name, const char *class_, const char *size,
                      const char *more)
{
	struct buffer text = {0};
	buffer_printf(&text,
	              "{'metadata':{'name':'%s'},'spec':{'storageClassName':'%s','accessModes':['ReadWriteOnce'],"
	              "'capacity':{'storage':'%s'},'local':{'path':'/d'}%s}}",
	              name, class_, size, more);
	make(fixture, "persistentvolumes", "", text.text);
	buffer_free(&text);
}

#define CLAIM(name, path) at(fixture, "persistentvolumeclaims", "default", name, path)
#define VOLUME(name, path) at(fixture, "persistentvolumes", "", name, path)
#define LOCAL "'provisioner':'kubernetes.io/no-provisioner','volumeBindingMode':'WaitForFirstConsumer'"
#define DYNAMIC "'provisioner':'example.com/disks','volumeBindingMode':'WaitForFirstConsumer'"

static void tell(void (*story)(struct volumes_fixture *fixture))
{
	for (enum mode mode = CALM; mode < MODES; mode++) {
		struct volumes_fixture fixture = {.mode = mode};
		print_message("# mode %d\n", (int)mode);
		fixture_open(&fixture.base, NULL);
		if (mode == FAULTS)
			store_set_fault(fixture.base.store, fail_some, &fixture);
		start(&fixture);
		story(&fixture);
		volumes_destroy(fixture.volumes);
		fixture_close(&fixture.base);
	}
}

#define STORY(name)                                                                                                    \
	static void name##_story(struct volumes_fixture *fixture);                                                     \
	static void name(void **state)                                                                                 \
	{                                                                                                              \
		(void)state;                                                                                           \
		tell(name##_story);                                                                                    \
	}                                                                                                              \
	static void name##_story(struct volumes_fixture *fixture)

STORY(an_immediate_claim_gets_the_smallest_volume_that_fits)
{
	class_with(fixture, "now", "'provisioner':'kubernetes.io/no-provisioner','volumeBindingMode':'Immediate'");
	volume_of(fixture, "big", "now", "20Gi", "");
	volume_of(fixture, "fits", "now", "10Gi", "");
	volume_of(fixture, "small", "now", "1Gi", "");
	volume_of(fixture, "other", "else", "10Gi", "");
	volume_of(fixture, "block", "now", "9Gi", ",'volumeMode':'Block'");
	assert_string_equal(VOLUME("fits", "status.phase"), "Available");
	claim_of(fixture, "c", "now", "5Gi", "");
	assert_string_equal(CLAIM("c", "spec.volumeName"), "fits");
	assert_string_equal(CLAIM("c", "status.phase"), "Bound");
	assert_string_equal(CLAIM("c", "status.capacity.storage"), "10Gi");
	assert_string_equal(VOLUME("fits", "status.phase"), "Bound");
	assert_string_equal(VOLUME("fits", "spec.claimRef.name"), "c");
	assert_non_null(strstr(fixture->base.text.text, "bound-by-controller"));
	/* One that waits gets what comes. */
	claim_of(fixture, "d", "now", "30Gi", "");
	assert_string_equal(CLAIM("d", "status.phase"), "Pending");
	volume_of(fixture, "huge", "now", "30Gi", "");
	assert_string_equal(CLAIM("d", "spec.volumeName"), "huge");
}

STORY(a_claim_waits_for_its_first_consumer)
{
	class_with(fixture, "local", LOCAL);
	volume_of(fixture, "v", "local", "10Gi", "");
	claim_of(fixture, "c", "local", "5Gi", "");
	assert_string_equal(CLAIM("c", "status.phase"), "Pending");
	assert_string_equal(CLAIM("c", "spec.volumeName"), "");
	/* What a scheduler writes. */
	struct buffer patch = {0};
	buffer_printf(&patch,
	              "{'metadata':{'annotations':{'pv.kubernetes.io/bound-by-controller':'yes'}},'spec':{'claimRef':{"
	              "'namespace':'default','name':'c','uid':'%s'}}}",
	              CLAIM("c", "metadata.uid"));
	change(fixture, "persistentvolumes", "", "v", patch.text);
	buffer_free(&patch);
	assert_string_equal(CLAIM("c", "spec.volumeName"), "v");
	assert_string_equal(CLAIM("c", "status.phase"), "Bound");
	assert_string_equal(VOLUME("v", "status.phase"), "Bound");
	/* The claim goes: its data stays. */
	assert_code(&fixture->base, fixture_delete(&fixture->base, "persistentvolumeclaims", "default", "c", NULL),
	            200);
	settle(fixture);
	assert_string_equal(VOLUME("v", "status.phase"), "Released");
	/* The volume of a claim goes. */
	claim_of(fixture, "d", "local", "5Gi", ",'volumeName':'w'");
	volume_of(fixture, "w", "local", "10Gi", "");
	assert_string_equal(CLAIM("d", "status.phase"), "Bound");
	assert_code(&fixture->base, fixture_delete(&fixture->base, "persistentvolumes", "", "w", NULL), 200);
	settle(fixture);
	assert_string_equal(CLAIM("d", "status.phase"), "Lost");
}

STORY(a_volume_that_lost_its_claim_to_another_is_free_again)
{
	class_with(fixture, "local", LOCAL);
	volume_of(fixture, "v", "local", "10Gi", ",'claimRef':{'namespace':'default','name':'c'}");
	assert_string_equal(VOLUME("v", "status.phase"), "Available");
	claim_of(fixture, "c", "local", "1Gi", "");
	assert_string_equal(CLAIM("c", "spec.volumeName"), "v");
	struct buffer text = {0};
	buffer_printf(&text,
	              "{'metadata':{'name':'w','annotations':{'pv.kubernetes.io/bound-by-controller':'yes'}},'spec':{"
	              "'storageClassName':'local','capacity':{'storage':'10Gi'},'claimRef':{'namespace':'default',"
	              "'name':'c','uid':'%s'}}}",
	              CLAIM("c", "metadata.uid"));
	make(fixture, "persistentvolumes", "", text.text);
	buffer_free(&text);
	assert_string_equal(VOLUME("w", "status.phase"), "Available");
	assert_string_equal(VOLUME("w", "spec.claimRef"), "");
}

STORY(a_volume_is_provisioned_where_the_pod_goes)
{
	class_with(fixture, "fast", DYNAMIC);
	make(fixture, "nodes", "", "{'metadata':{'name':'n1','labels':{'kubernetes.io/hostname':'h1'}}}");
	claim_of(fixture, "c", "fast", "5Gi", "");
	assert_string_equal(CLAIM("c", "status.phase"), "Pending");
	change(fixture, "persistentvolumeclaims", "default", "c",
	       "{'metadata':{'annotations':{'volume.kubernetes.io/selected-node':'n1'}}}");
	assert_string_equal(CLAIM("c", "status.phase"), "Bound");
	char name[64];
	snprintf(name, sizeof(name), "%s", CLAIM("c", "spec.volumeName"));
	assert_memory_equal(name, "pvc-", 4);
	assert_string_equal(VOLUME(name, "spec.nodeAffinity.required.nodeSelectorTerms.0.matchExpressions.0.values.0"),
	                    "h1");
	assert_string_equal(VOLUME(name, "spec.csi.driver"), "example.com/disks");
	assert_string_equal(VOLUME(name, "spec.capacity.storage"), "5Gi");
	/* The claim goes and takes its volume along. */
	assert_code(&fixture->base, fixture_delete(&fixture->base, "persistentvolumeclaims", "default", "c", NULL),
	            200);
	settle(fixture);
	assert_string_equal(fixture_names(&fixture->base, "persistentvolumes", NULL, NULL, NULL), "");
}

STORY(a_provisioner_fails_as_often_as_its_class_says)
{
	class_with(fixture, "weak",
	           DYNAMIC ",'parameters':{'platoon.dev/fail-claims':'c, x','platoon.dev/fail-times':'1'}");
	make(fixture, "nodes", "", "{'metadata':{'name':'n1'}}");
	claim_of(fixture, "c", "weak", "5Gi", "");
	for (int i = 0; i < 2; i++) {
		assert_string_equal(CLAIM("c", "spec.volumeName"), "");
		change(fixture, "persistentvolumeclaims", "default", "c",
		       "{'metadata':{'annotations':{'volume.kubernetes.io/selected-node':'n1'}}}");
	}
	assert_string_equal(CLAIM("c", "status.phase"), "Bound");
	/* A node that is not there is no place either. */
	claim_of(fixture, "d", "weak", "5Gi", "");
	change(fixture, "persistentvolumeclaims", "default", "d",
	       "{'metadata':{'annotations':{'volume.kubernetes.io/selected-node':'n2'}}}");
	assert_string_equal(CLAIM("d", "status.phase"), "Pending");
	assert_null(strstr(CLAIM("d", "metadata.annotations"), "selected-node"));
}

STORY(a_slow_provisioner_takes_its_time)
{
	class_with(fixture, "slow",
	           "'provisioner':'example.com/disks','volumeBindingMode':'Immediate',"
	           "'parameters':{'platoon.dev/provision-seconds':'600'}");
	claim_of(fixture, "c", "slow", "5Gi", "");
	assert_string_equal(CLAIM("c", "status.phase"), "Pending");
	clock_virtual_advance(&fixture->base.clock, 600 * CLOCK_SECOND);
	settle(fixture);
	assert_string_equal(CLAIM("c", "status.phase"), "Bound");
}

STORY(claims_without_a_class_get_the_default)
{
	make(fixture, "persistentvolumeclaims", "default",
	     "{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1'}}"
	     "}}");
	assert_string_equal(CLAIM("c", "spec.storageClassName"), "");
	make(fixture, "storageclasses.storage.k8s.io", "",
	     "{'metadata':{'name':'standard','annotations':{'storageclass.kubernetes.io/"
	     "is-default-class':'true'}}," DYNAMIC "}");
	assert_string_equal(CLAIM("c", "spec.storageClassName"), "standard");
}

STORY(an_ephemeral_volume_has_a_claim_of_its_pod)
{
	static const char pod[] =
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c'}],'volumes':[{'name':'v','ephemeral':{"
		"'volumeClaimTemplate':{'metadata':{'labels':{'a':'b'}},'spec':{'accessModes':['ReadWriteOnce'],"
		"'resources':{'requests':{'storage':'1Gi'}}}}}}]}}";
	make(fixture, "pods", "default", pod);
	assert_string_equal(CLAIM("p-v", "metadata.ownerReferences.0.name"), "p");
	assert_string_equal(CLAIM("p-v", "metadata.labels.a"), "b");
	assert_code(&fixture->base, fixture_delete(&fixture->base, "pods", "default", "p", "{'gracePeriodSeconds':0}"),
	            200);
	settle(fixture);
	assert_string_equal(fixture_names(&fixture->base, "persistentvolumeclaims", NULL, NULL, NULL), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_immediate_claim_gets_the_smallest_volume_that_fits),
		cmocka_unit_test(a_claim_waits_for_its_first_consumer),
		cmocka_unit_test(a_volume_that_lost_its_claim_to_another_is_free_again),
		cmocka_unit_test(a_volume_is_provisioned_where_the_pod_goes),
		cmocka_unit_test(a_provisioner_fails_as_often_as_its_class_says),
		cmocka_unit_test(a_slow_provisioner_takes_its_time),
		cmocka_unit_test(claims_without_a_class_get_the_default),
		cmocka_unit_test(an_ephemeral_volume_has_a_claim_of_its_pod),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
