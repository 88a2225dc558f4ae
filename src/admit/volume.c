/* Volumes: decode PersistentVolumes and claims. */
#include "admit/volume.h"

#include "admit/amounts.h"
#include "admit/decode.h"
#include "admit/rules.h"

#include <string.h>

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

static unsigned read_modes(const struct decode *decode, const struct val *spec)
{
	static const char *const names[] = {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"};
	const struct decode_path *path = PATH_KEY(spec_path, "accessModes");
	size_t count;
	const char **texts = decode_strings(decode, spec_path, spec, "accessModes", &count);
	unsigned modes = 0;
	for (size_t i = 0; i < count; i++) {
		int mode = decode_enum(decode, PATH_INDEX(path, i), texts[i], names, 4);
		modes |= mode < 0 ? 0 : 1u << mode;
	}
	return modes;
}

static bool read_block(const struct decode *decode, const struct val *spec)
{
	static const char *const names[] = {"Filesystem", "Block"};
	const char *mode = decode_string(decode, spec_path, spec, "volumeMode");
	return mode && decode_enum(decode, PATH_KEY(spec_path, "volumeMode"), mode, names, 2) == 1;
}

static int64_t read_storage(const struct decode *decode, const struct decode_path *up, const struct val *map,
                            const char *key, bool *present)
{
	struct amounts amounts;
	amounts_read(decode, up, map, key, &amounts);
	const int64_t *storage = amounts_find(&amounts, "storage");
	if (present)
		*present = storage != NULL;
	return storage ? *storage : 0;
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static void read_claim_ref(const struct decode *decode, const struct val *spec, struct volume_spec *out)
{
	const struct decode_path *path = PATH_KEY(spec_path, "claimRef");
	const struct val *claim = decode_map(decode, spec_path, spec, "claimRef");
	out->has_claim = claim != NULL;
	const char *namespace_ = decode_string(decode, path, claim, "namespace");
	out->claim_namespace = namespace_ ? namespace_ : "default";
	out->claim_name = text_or_empty(decode_string(decode, path, claim, "name"));
	out->claim_uid = text_or_empty(decode_string(decode, path, claim, "uid"));
}

static void read_volume_affinity(const struct decode *decode, const struct val *spec, struct volume_spec *out)
{
	const struct decode_path *path = PATH_KEY(spec_path, "nodeAffinity");
	const struct val *affinity = decode_map(decode, spec_path, spec, "nodeAffinity");
	const struct val *required = decode_map(decode, path, affinity, "required");
	if (!required)
		return;
	out->has_terms = true;
	out->terms = rules_node_terms(decode, PATH_KEY(path, "required"), required, &out->term_count);
}

/* Plugins that left the tree: Kubernetes treats their volumes as those of a CSI driver. */
static const struct {
	const char *plugin, *driver; /* the name of the provisioner, and of who does it now */
	const char *source, *id;     /* where a PersistentVolume names the disk */
} migrated[] = {
	{"kubernetes.io/aws-ebs", "ebs.csi.aws.com", "awsElasticBlockStore", "volumeID"},
	{"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "gcePersistentDisk", "pdName"},
	{"kubernetes.io/azure-disk", "disk.csi.azure.com", "azureDisk", "diskURI"},
	{"kubernetes.io/azure-file", "file.csi.azure.com", "azureFile", "shareName"},
	{"kubernetes.io/cinder", "cinder.csi.openstack.org", "cinder", "volumeID"},
	{"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "vsphereVolume", "volumePath"},
	{"kubernetes.io/portworx-volume", "pxd.portworx.com", "portworxVolume", "volumeID"},
};
enum { MIGRATED = sizeof(migrated) / sizeof(*migrated) };

const char *volume_driver_of(const char *provisioner)
{
	for (size_t i = 0; i < MIGRATED; i++)
		if (strcmp(provisioner, migrated[i].plugin) == 0)
			return migrated[i].driver;
	return provisioner;
}

static void read_driver(const struct decode *decode, const struct val *spec, struct volume_spec *out)
{
	const struct decode_path *path = PATH_KEY(spec_path, "csi");
	const struct val *csi = decode_map(decode, spec_path, spec, "csi");
	out->driver = text_or_empty(decode_string(decode, path, csi, "driver"));
	out->handle = text_or_empty(decode_string(decode, path, csi, "volumeHandle"));
	for (size_t i = 0; i < MIGRATED && !csi; i++) {
		const struct val *source = decode_map(decode, spec_path, spec, migrated[i].source);
		if (!source)
			continue;
		out->driver = migrated[i].driver;
		out->handle = text_or_empty(
			decode_string(decode, PATH_KEY(spec_path, migrated[i].source), source, migrated[i].id));
	}
}

int volume_decode(const struct val *object, struct arena *arena, struct volume_spec *out, struct problems *problems)
{
	static const char *const phases[] = {"Pending", "Available", "Bound", "Released", "Failed"};
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object);
	struct metadata meta = decode_metadata(&decode, object, false);
	const struct decode_path *status_path = PATH_KEY(NULL, "status");
	const char *phase = decode_string(&decode, status_path, decode_map(&decode, NULL, object, "status"), "phase");
	*out = (struct volume_spec){
		.name = meta.name,
		.labels = decode_labels(&decode, PATH_KEY(NULL, "metadata"), meta.val, "labels"),
		.class_ = text_or_empty(decode_string(&decode, spec_path, spec, "storageClassName")),
		.attributes_class = text_or_empty(decode_string(&decode, spec_path, spec, "volumeAttributesClassName")),
		.capacity = read_storage(&decode, spec_path, spec, "capacity", NULL),
		.modes = read_modes(&decode, spec),
		.block = read_block(&decode, spec),
		.deleting = meta.deleting,
	};
	int number = phase ? decode_enum(&decode, PATH_KEY(status_path, "phase"), phase, phases, 5) : 0;
	out->phase = number < 0 ? VOLUME_PENDING : (enum volume_phase)number;
	read_driver(&decode, spec, out);
	read_claim_ref(&decode, spec, out);
	read_volume_affinity(&decode, spec, out);
	return problems->errors > errors ? -1 : 0;
}

static const char *read_owner(const struct decode *decode, const struct val *meta)
{
	const struct val *list = decode_list(decode, PATH_KEY(NULL, "metadata"), meta, "ownerReferences"), *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		if (val_bool(val_get(item, "controller"), false))
			return val_str(val_get(item, "uid"), NULL);
	return NULL;
}

int claim_decode(const struct val *object, struct arena *arena, struct claim_spec *out, struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object);
	struct metadata meta = decode_metadata(&decode, object, true);
	const struct decode_path *up = PATH_KEY(NULL, "metadata"), *path = PATH_KEY(spec_path, "resources");
	const struct val *annotations = decode_map(&decode, up, meta.val, "annotations");
	const char *beta_class = val_str(val_get(annotations, "volume.beta.kubernetes.io/storage-class"), NULL);
	const char *class_ = decode_string(&decode, spec_path, spec, "storageClassName");
	*out = (struct claim_spec){
		.namespace_ = meta.namespace_,
		.name = meta.name,
		.uid = meta.uid,
		.class_ = text_or_empty(beta_class ? beta_class : class_),
		.attributes_class = text_or_empty(decode_string(&decode, spec_path, spec, "volumeAttributesClassName")),
		.volume = decode_string(&decode, spec_path, spec, "volumeName"),
		.lost = strcmp(val_str(val_path(object, "status", "phase", NULL), ""), "Lost") == 0,
		.selected_node = val_str(val_get(annotations, "volume.kubernetes.io/selected-node"), NULL),
		.deleting = meta.deleting,
		.modes = read_modes(&decode, spec),
		.block = read_block(&decode, spec),
		.owner = read_owner(&decode, meta.val),
	};
	out->bound = out->volume && val_get(annotations, "pv.kubernetes.io/bind-completed");
	out->request = read_storage(&decode, path, decode_map(&decode, spec_path, spec, "resources"), "requests",
	                            &out->has_request);
	out->has_selector = rules_label_selector(&decode, PATH_KEY(spec_path, "selector"),
	                                         decode_map(&decode, spec_path, spec, "selector"), &out->selector);
	return problems->errors > errors ? -1 : 0;
}
