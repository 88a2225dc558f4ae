/* Owns what a mirror keeps of an object: of pods and nodes, of which there are many, only what somebody reads.
 *
 * What is read from a pod or a node has to be in these tables. Nothing may write one of them back whole: writes are
 * patches, and a list that a patch replaces (conditions, taints) is kept with all it has. Objects of other kinds are kept
 * whole, but for the book-keeping of the server. */
#include "remote/internal.h"
#include "kinds/schema.h"

#include <string.h>

/* ---- metadata ---- */

static const struct copy_field owner_fields[] = {
	COPY_FIELD("apiVersion"),
	COPY_FIELD("kind"),
	COPY_FIELD("name"),
	COPY_FIELD("uid"),
	COPY_FIELD("controller"),
	COPY_FIELD("blockOwnerDeletion"),
	COPY_END,
};

/* kubectl keeps a second copy of the whole object there. */
static const struct copy_field annotation_fields[] = {
	COPY_DROP("kubectl.kubernetes.io/last-applied-configuration"),
	COPY_REST,
	COPY_END,
};

static const struct copy_field metadata_fields[] = {
	COPY_FIELD("name"),
	COPY_FIELD("generateName"),
	COPY_FIELD("namespace"),
	COPY_FIELD("uid"),
	COPY_FIELD("resourceVersion"),
	COPY_FIELD("generation"),
	COPY_FIELD("creationTimestamp"),
	COPY_FIELD("deletionTimestamp"),
	COPY_FIELD("deletionGracePeriodSeconds"),
	COPY_FIELD("labels"),
	COPY_PART("annotations", annotation_fields),
	COPY_PART("ownerReferences", owner_fields),
	COPY_FIELD("finalizers"),
	COPY_END,
};

static const struct copy_field condition_fields[] = {
	COPY_FIELD("type"),
	COPY_FIELD("status"),
	COPY_FIELD("reason"),
	COPY_FIELD("message"),
	COPY_FIELD("lastProbeTime"),
	COPY_FIELD("lastTransitionTime"),
	COPY_FIELD("lastHeartbeatTime"),
	COPY_FIELD("observedGeneration"),
	COPY_REST,
	COPY_END,
};

/* ---- pods ---- */

static const struct copy_field amount_fields[] = {
	COPY_FIELD("cpu"),
	COPY_FIELD("memory"),
	COPY_FIELD("ephemeral-storage"),
	COPY_FIELD("nvidia.com/gpu"),
	COPY_REST,
	COPY_END,
};

static const struct copy_field resource_fields[] = {
	COPY_PART("requests", amount_fields),
	COPY_PART("limits", amount_fields),
	COPY_FIELD("claims"),
	COPY_END,
};

static const struct copy_field port_fields[] = {
	COPY_FIELD("name"),     COPY_FIELD("containerPort"), COPY_FIELD("hostPort"),
	COPY_FIELD("protocol"), COPY_FIELD("hostIP"),        COPY_END,
};

/* A sidecar among the init containers has a restartPolicy. */
#define CONTAINER_FIELDS                                                                                               \
	COPY_FIELD("name"), COPY_FIELD("image"), COPY_PART("resources", resource_fields),                              \
		COPY_PART("ports", port_fields), COPY_FIELD("restartPolicy")

/* Of others only that they are there. Disks are not served: that a pod asks for one is all that is read. */
#define VOLUME_FIELDS                                                                                                  \
	COPY_FIELD("name"), COPY_FIELD("persistentVolumeClaim"), COPY_FIELD("ephemeral"),                              \
		COPY_FIELD("awsElasticBlockStore"), COPY_FIELD("gcePersistentDisk"), COPY_FIELD("iscsi"),              \
		COPY_FIELD("rbd")

static const struct copy_field container_fields[] = {CONTAINER_FIELDS, COPY_END};
static const struct copy_field volume_fields[] = {VOLUME_FIELDS, COPY_END};

static const struct copy_field toleration_fields[] = {
	COPY_FIELD("key"),    COPY_FIELD("operator"),          COPY_FIELD("value"),
	COPY_FIELD("effect"), COPY_FIELD("tolerationSeconds"), COPY_END,
};

#define POD_SPEC_FIELDS(containers, volumes)                                                                           \
	COPY_FIELD("nodeName"), COPY_FIELD("schedulerName"), COPY_PART("containers", containers),                      \
		COPY_PART("initContainers", containers), COPY_PART("resources", resource_fields),                      \
		COPY_PART("overhead", amount_fields), COPY_PART("tolerations", toleration_fields),                     \
		COPY_FIELD("nodeSelector"), COPY_FIELD("os"), COPY_FIELD("affinity"),                                  \
		COPY_FIELD("topologySpreadConstraints"), COPY_PART("volumes", volumes), COPY_FIELD("priority"),        \
		COPY_FIELD("priorityClassName"), COPY_FIELD("preemptionPolicy"), COPY_FIELD("schedulingGates"),        \
		COPY_FIELD("schedulingGroup"), COPY_FIELD("workloadRef"), COPY_FIELD("resourceClaims"),                \
		COPY_FIELD("readinessGates"), COPY_FIELD("hostNetwork"), COPY_FIELD("hostname"),                       \
		COPY_FIELD("subdomain"), COPY_FIELD("restartPolicy"), COPY_FIELD("terminationGracePeriodSeconds"),     \
		COPY_FIELD("activeDeadlineSeconds")

static const struct copy_field pod_spec_fields[] = {POD_SPEC_FIELDS(container_fields, volume_fields), COPY_END};

static const struct copy_field status_resource_fields[] = {
	COPY_PART("requests", amount_fields),
	COPY_END,
};

static const struct copy_field container_status_fields[] = {
	COPY_FIELD("name"),
	COPY_FIELD("ready"),
	COPY_FIELD("started"),
	COPY_FIELD("restartCount"),
	COPY_FIELD("state"),
	COPY_FIELD("lastState"),
	COPY_FIELD("image"),
	COPY_FIELD("imageID"), /* whether a container was started again in place */
	COPY_PART("allocatedResources", amount_fields),
	COPY_PART("resources", status_resource_fields),
	COPY_END,
};

static const struct copy_field pod_status_fields[] = {
	COPY_FIELD("phase"),
	COPY_FIELD("reason"),
	COPY_FIELD("message"),
	COPY_PART("conditions", condition_fields),
	COPY_FIELD("nominatedNodeName"),
	COPY_FIELD("startTime"),
	COPY_FIELD("podIP"),
	COPY_FIELD("resourceClaimStatuses"),
	COPY_PART("containerStatuses", container_status_fields),
	COPY_PART("initContainerStatuses", container_status_fields),
	COPY_END,
};

static const struct copy_field pod_fields[] = {
	COPY_PART("metadata", metadata_fields),
	COPY_PART("spec", pod_spec_fields),
	COPY_PART("status", pod_status_fields),
	COPY_END,
};

/* ---- pods, with the ConfigMaps that they need ---- */

static const struct copy_field reference_fields[] = {COPY_FIELD("name"), COPY_FIELD("optional"), COPY_END};
static const struct copy_field value_fields[] = {COPY_PART("configMapKeyRef", reference_fields), COPY_END};
static const struct copy_field variable_fields[] = {COPY_PART("valueFrom", value_fields), COPY_END};
static const struct copy_field variables_fields[] = {COPY_PART("configMapRef", reference_fields), COPY_END};
static const struct copy_field mount_fields[] = {COPY_FIELD("name"), COPY_END};
static const struct copy_field source_fields[] = {COPY_PART("configMap", reference_fields), COPY_END};
static const struct copy_field projected_fields[] = {COPY_PART("sources", source_fields), COPY_END};

static const struct copy_field container_fields_with_maps[] = {
	CONTAINER_FIELDS,
	COPY_PART("env", variable_fields),
	COPY_PART("envFrom", variables_fields),
	COPY_PART("volumeMounts", mount_fields),
	COPY_END,
};

static const struct copy_field volume_fields_with_maps[] = {
	VOLUME_FIELDS,
	COPY_PART("configMap", reference_fields),
	COPY_PART("projected", projected_fields),
	COPY_END,
};

static const struct copy_field pod_spec_fields_with_maps[] = {
	POD_SPEC_FIELDS(container_fields_with_maps, volume_fields_with_maps),
	COPY_END,
};

static const struct copy_field pod_fields_with_maps[] = {
	COPY_PART("metadata", metadata_fields),
	COPY_PART("spec", pod_spec_fields_with_maps),
	COPY_PART("status", pod_status_fields),
	COPY_END,
};

/* ---- nodes ---- */

static const struct copy_field taint_fields[] = {
	COPY_FIELD("key"), COPY_FIELD("value"), COPY_FIELD("effect"), COPY_FIELD("timeAdded"), COPY_REST, COPY_END,
};

static const struct copy_field node_spec_fields[] = {
	COPY_FIELD("unschedulable"),
	COPY_PART("taints", taint_fields),
	COPY_END,
};

static const struct copy_field node_status_fields[] = {
	COPY_PART("allocatable", amount_fields),
	COPY_PART("capacity", amount_fields),
	COPY_PART("conditions", condition_fields),
	COPY_END,
};

static const struct copy_field node_fields[] = {
	COPY_PART("metadata", metadata_fields),
	COPY_PART("spec", node_spec_fields),
	COPY_PART("status", node_status_fields),
	COPY_END,
};

/* ---- all others ---- */

static const struct copy_field whole_metadata_fields[] = {
	COPY_DROP("managedFields"),
	COPY_FIELD("name"),
	COPY_FIELD("namespace"),
	COPY_FIELD("uid"),
	COPY_FIELD("resourceVersion"),
	COPY_FIELD("generation"),
	COPY_FIELD("labels"),
	COPY_FIELD("creationTimestamp"),
	COPY_FIELD("annotations"),
	COPY_REST,
	COPY_END,
};

static const struct copy_field whole_fields[] = {
	COPY_PART("metadata", whole_metadata_fields), COPY_FIELD("spec"), COPY_FIELD("status"), COPY_REST, COPY_END,
};

/* Of objects of which only matters that they are there. */
static const struct copy_field name_fields[] = {
	COPY_FIELD("name"),
	COPY_FIELD("namespace"),
	COPY_FIELD("uid"),
	COPY_FIELD("labels"),
	COPY_FIELD("resourceVersion"),
	COPY_FIELD("creationTimestamp"),
	COPY_END,
};

static const struct copy_field metadata_alone[] = {COPY_PART("metadata", name_fields), COPY_END};

static const struct copy_field *fields_of(const struct store_api *api, enum remote_keep keep)
{
	if (keep == KEEP_NAMES)
		return metadata_alone;
	if (keep == KEEP_ALL)
		return whole_fields;
	if (!api->group[0] && strcmp(api->type->resource, "pods") == 0)
		return keep == KEEP_CONFIG_MAPS ? pod_fields_with_maps : pod_fields;
	if (!api->group[0] && strcmp(api->type->resource, "nodes") == 0)
		return node_fields;
	return whole_fields;
}

/* Items of a list do not say what they are. */
struct identity {
	struct copy_member members[2];
};

static struct identity identity_of(const struct store_api *api)
{
	return (struct identity){{{"apiVersion", api->api_version}, {"kind", api->type->kind}}};
}

struct doc *remote_trim(struct copier *copier, const struct val *object, const struct store_api *api,
                        enum remote_keep keep)
{
	struct identity identity = identity_of(api);
	return doc_copy_with(copier, object, fields_of(api, keep), identity.members, 2);
}

struct wire_plan *remote_trim_plan(const struct store_api *api, enum remote_keep keep)
{
	const struct copy_field *fields = fields_of(api, keep);
	const struct schema_type *type =
		fields == whole_fields ? NULL : kinds_schema(api->group, api->version, api->type->kind);
	return type ? wire_plan_create(type, fields) : NULL;
}

struct doc *remote_trim_wire(struct copier *copier, const struct wire_plan *plan, struct wire_span in,
                             const struct store_api *api, struct error *error)
{
	struct identity identity = identity_of(api);
	return doc_copy_wire(copier, plan, in, identity.members, 2, error);
}
