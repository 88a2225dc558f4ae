/* Objects of storage: what is read of them, and what is wrong with them. */
#include "verdict.h"

#include "admit/storage.h"
#include "admit/volume.h"

#include <string.h>

static const char objects[] =
	"apiVersion: v1\nkind: PersistentVolume\n"
	"metadata: {name: pv, deletionTimestamp: 2026-01-01T00:00:00Z, labels: {tier: fast}}\n"
	"spec: {capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce, ReadOnlyMany], volumeMode: Block, "
	"storageClassName: local,"
	" volumeAttributesClassName: gold, claimRef: {namespace: d, name: c, uid: u}, csi: {driver: x, volumeHandle: "
	"h}}\n"
	"status: {phase: Released}\n---\n"
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, uid: c1, annotations: "
	"{volume.kubernetes.io/selected-node: n1, volume.beta.kubernetes.io/storage-class: old}, "
	"ownerReferences: [{uid: q}, {controller: true, uid: p}]}\n"
	"spec: {volumeName: pv, accessModes: [ReadWriteOncePod], storageClassName: local, "
	"resources: {requests: {storage: 1500}}, selector: {matchLabels: {tier: fast}}}\nstatus: {phase: Lost}\n---\n"
	"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: local}\nprovisioner: p\n"
	"volumeBindingMode: WaitForFirstConsumer\n"
	"allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, b]}]}]\n---\n"
	"apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: x}\n"
	"spec: {storageCapacity: true, preventPodSchedulingIfMissing: true}\n---\n"
	"apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: n1}\n"
	"spec: {drivers: [{name: x, nodeID: n1, allocatable: {count: 3}}, {name: z}]}\n---\n"
	"apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {name: c}\nstorageClassName: local\n"
	"nodeTopology: {matchLabels: {zone: a}}\ncapacity: 10\nmaximumVolumeSize: 5\n---\n"
	"apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: a}\n"
	"spec: {attacher: x, nodeName: n1, source: {persistentVolumeName: pv}}\n";

static void read_volumes(void **state)
{
	struct parsed parsed;
	struct volume_spec volume;
	struct claim_spec claim;
	parsed_open(&parsed, objects);
	assert_int_equal(volume_decode(parsed_object(&parsed, 0), parsed.arena, &volume, &parsed.problems), 0);
	assert_int_equal(volume.capacity, INT64_C(10) << 30);
	assert_int_equal(volume.modes, ACCESS_READ_WRITE_ONCE | ACCESS_READ_ONLY_MANY);
	assert_true(volume.block && volume.deleting && volume.has_claim && !volume.has_terms);
	assert_int_equal(volume.phase, VOLUME_RELEASED);
	assert_string_equal(volume.claim_namespace, "d");
	assert_string_equal(volume.claim_uid, "u");
	assert_string_equal(volume.attributes_class, "gold");
	assert_string_equal(volume.handle, "h");
	assert_int_equal(claim_decode(parsed_object(&parsed, 1), parsed.arena, &claim, &parsed.problems), 0);
	assert_string_equal(claim.class_, "old"); /* the annotation counts */
	assert_string_equal(claim.owner, "p");
	assert_string_equal(claim.selected_node, "n1");
	assert_int_equal(claim.request, 1500);
	assert_int_equal(claim.modes, ACCESS_READ_WRITE_ONCE_POD);
	assert_true(claim.has_selector && claim.lost && claim.has_request);
	assert_false(claim.bound); /* without pv.kubernetes.io/bind-completed the PV controller is not done */
	parsed_close(&parsed);
	(void)state;
}

static void read_storage(void **state)
{
	struct parsed parsed;
	struct storage_class_spec class;
	struct csi_driver_spec driver;
	struct csi_node_spec node;
	struct storage_capacity_spec capacity;
	struct attachment_spec attachment;
	parsed_open(&parsed, objects);
	assert_int_equal(storage_class_decode(parsed_object(&parsed, 2), parsed.arena, &class, &parsed.problems), 0);
	assert_string_equal(class.provisioner, "p");
	assert_int_equal(class.mode, BINDING_WAIT);
	assert_int_equal(class.term_count, 1);
	assert_int_equal(class.terms[0].selector.items[0].value_count, 2);
	assert_int_equal(csi_driver_decode(parsed_object(&parsed, 3), parsed.arena, &driver, &parsed.problems), 0);
	assert_true(driver.storage_capacity && driver.needed_on_node);
	assert_int_equal(csi_node_decode(parsed_object(&parsed, 4), parsed.arena, &node, &parsed.problems), 0);
	assert_int_equal(node.driver_count, 2);
	assert_int_equal(node.drivers[0].limit, 3);
	assert_int_equal(node.drivers[1].limit, -1);
	assert_int_equal(storage_capacity_decode(parsed_object(&parsed, 5), parsed.arena, &capacity, &parsed.problems),
	                 0);
	assert_int_equal(capacity.largest, 5); /* the size of one volume, not of all together */
	assert_true(capacity.has_topology);
	assert_int_equal(attachment_decode(parsed_object(&parsed, 6), parsed.arena, &attachment, &parsed.problems), 0);
	assert_string_equal(attachment.volume, "pv");
	assert_int_equal(parsed.problems.count, 0);
	parsed_close(&parsed);
	(void)state;
}

static void find_mistakes(void **state)
{
	static const struct {
		const char *object, *path;
	} rows[] = {
		{"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: x}\nspec: {capacity: {storage: lots}}",
	         "spec.capacity.storage"},
		{"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: x}\nspec: {accessModes: [Sometimes]}",
	         "spec.accessModes[0]"},
		{"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: x}\nspec: {volumeMode: Round}",
	         "spec.volumeMode"},
		{"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: x}\nvolumeBindingMode: Later",
	         "volumeBindingMode"},
		{"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: x}\nallowedTopologies: "
	         "[{matchLabelExpressions: [{values: [a]}]}]",
	         "allowedTopologies[0].matchLabelExpressions[0].key"},
		{"apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: x}\nspec: {drivers: [{name: d, "
	         "allocatable: {count: -1}}]}",
	         "spec.drivers[0].allocatable.count"},
		{"apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {name: x}\ncapacity: -5",
	         "capacity"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct parsed parsed;
		parsed_open(&parsed, rows[i].object);
		admit_object(&parsed.manifests.items[0], NULL, &parsed.problems);
		assert_int_equal(parsed.problems.errors, 1);
		assert_string_equal(parsed.problems.items[0].path, rows[i].path);
		parsed_close(&parsed);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_volumes),
		cmocka_unit_test(read_storage),
		cmocka_unit_test(find_mistakes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
