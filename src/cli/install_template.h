/* Renders the templates of the chart. Of Helm's language it knows what they use:
 *
 *   {{ .Values.a.b }}  {{ .Release.Namespace }}  {{ .Chart.AppVersion }}, each with | toJson
 *   {{- if .Values.a }}  {{- if not .Values.a }}  {{- else }}  {{- end }}
 *
 * A test renders the chart with Helm's rules and compares. */
#ifndef CLI_INSTALL_TEMPLATE_H
#define CLI_INSTALL_TEMPLATE_H

#include "base/error.h"
#include "object/doc.h"

struct install_scope {
	const struct val *values;
	const char *namespace_, *version;
};

/* Appends; -1 and *error when the template says something else. */
int install_render(const char *text, const struct install_scope *scope, struct buffer *out, struct error *error);

#endif
