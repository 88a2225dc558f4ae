/* Owns which kinds are defined on a cluster. */
#include "cli/install_definitions.h"

#include "serve/api/crd.h"

static const struct {
	const char *group, *resource;
	bool differ; /* its versions differ in form */
} kinds[] = {
	{"kai.scheduler", "topologies", false},
	{"scheduling.run.ai", "podgroups", false},
	{"scheduling.run.ai", "queues", false},
	{"workloads.x-k8s.io", "clusterengineruntimeprofiles", false},
	{"workloads.x-k8s.io", "clustertopologies", false},
	{"workloads.x-k8s.io", "coordinatedpolicies", false},
	{"workloads.x-k8s.io", "rolebasedgroups", true},
	{"workloads.x-k8s.io", "rolebasedgroupscalingadapters", false},
	{"workloads.x-k8s.io", "rolebasedgroupsets", true},
};

static const struct crd_conversion elsewhere = {.url = "{{ .Values.webhookURL }}/convert"},
				   behind_service = {
					   .service = "platoon-webhook",
					   .namespace_ = "{{ .Release.Namespace }}",
					   .path = "/convert",
};

static void put(struct buffer *out, const struct store_type *type, bool differ, const struct crd_conversion *by)
{
	struct build *build = build_create();
	buffer_puts(out, "---\n");
	build_write(build, crd_build(build, type, differ, by), DOC_YAML, out);
	build_destroy(build);
}

void install_definitions(struct buffer *out)
{
	struct error error = {0};
	struct store *store = store_open(&(struct store_options){.bare = true}, &error);
	buffer_puts(out, "# Made by `platoon install --chart`; `make chart` writes it again.\n"
	                 "{{- if .Values.definitions }}\n");
	for (size_t i = 0; store && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct store_type *type = store_type_find(store, kinds[i].group, kinds[i].resource);
		if (kinds[i].differ) {
			buffer_puts(out, "{{- if .Values.webhooks }}\n{{- if .Values.webhookURL }}\n");
			put(out, type, true, &elsewhere);
			buffer_puts(out, "{{- else }}\n");
			put(out, type, true, &behind_service);
			buffer_puts(out, "{{- end }}\n{{- else }}\n");
			put(out, type, true, NULL);
			buffer_puts(out, "{{- end }}\n");
		} else {
			put(out, type, false, NULL);
		}
	}
	buffer_puts(out, "{{- end }}\n");
	store_close(store);
}
