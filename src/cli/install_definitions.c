/* Owns which kinds are defined on a cluster. */
#include "cli/install_definitions.h"

#include "serve/api/crd.h"

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
	const struct kind_row *row;
	for (size_t i = 0; store && (row = kinds_row(i)); i++) {
		const struct store_type *type = store_type_find(store, row->group, row->resource);
		if (!(row->flags & ROW_INSTALLED))
			continue;
		if (row->convert) {
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
