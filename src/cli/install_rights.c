/* Owns writing the rights of the registry as rules of a ClusterRole. */
#include "cli/install_rights.h"

#include "kinds/kinds.h"

#include <string.h>

#define MOST_RIGHTS (sizeof(((struct kind_row *)0)->rights) / sizeof(struct kind_right))

/* One verb list for one resource: of a row, or of one of its subresources. */
struct right {
	const char *group, *resource, *verbs;
};

struct rights {
	struct arena *arena;
	struct right *items;
	size_t count;
};

/* "get create" as "get, create" */
static const char *with_commas(struct arena *arena, const char *words)
{
	const char *text = "";
	for (const char *at = words; *at; at += strcspn(at, " "), at += strspn(at, " "))
		text = arena_printf(arena, "%s%s%.*s", text, *text ? ", " : "", (int)strcspn(at, " "), at);
	return text;
}

static void collect(struct rights *rights, bool writes, bool subresources)
{
	const struct kind_row *row;
	rights->count = 0;
	for (size_t i = 0; (row = kinds_row(i)); i++) {
		const char *verbs = kinds_verbs(row, rights->arena);
		if (!subresources && *verbs && writes == (row->verbs != NULL))
			rights->items[rights->count++] = (struct right){row->group, row->resource, verbs};
		for (size_t r = 0; subresources && r < MOST_RIGHTS && row->rights[r].verbs; r++)
			rights->items[rights->count++] = (struct right){
				row->group,
				arena_printf(rights->arena, "%s/%s", row->resource, row->rights[r].subresource),
				with_commas(rights->arena, row->rights[r].verbs),
			};
	}
}

/* One rule for all resources of a group with the same verbs, where the first of them stands. */
static void put_rules(const struct rights *rights, struct buffer *out)
{
	for (size_t i = 0; i < rights->count; i++) {
		const struct right *first = &rights->items[i];
		bool told = false;
		for (size_t j = 0; j < i; j++)
			told |= strcmp(rights->items[j].group, first->group) == 0 &&
			        strcmp(rights->items[j].verbs, first->verbs) == 0;
		if (told)
			continue;
		buffer_printf(out, "- apiGroups: [%s]\n  resources: [%s", *first->group ? first->group : "\"\"",
		              first->resource);
		for (size_t j = i + 1; j < rights->count; j++)
			if (strcmp(rights->items[j].group, first->group) == 0 &&
			    strcmp(rights->items[j].verbs, first->verbs) == 0)
				buffer_printf(out, ", %s", rights->items[j].resource);
		buffer_printf(out, "]\n  verbs: [%s]\n", first->verbs);
	}
}

/* Definitions whose versions the webhooks convert. */
static void put_converted(struct buffer *out)
{
	const struct kind_row *row;
	const char *comma = "";
	for (size_t i = 0; (row = kinds_row(i)); i++)
		if (row->flags & ROW_INSTALLED && row->convert) {
			buffer_printf(out, "%s%s.%s", comma, row->resource, row->group);
			comma = ", ";
		}
}

void install_rights(struct buffer *out)
{
	struct rights rights = {.arena = arena_create()};
	size_t rows = 0;
	while (kinds_row(rows))
		rows++;
	rights.items = arena_array(rights.arena, struct right, rows * MOST_RIGHTS);
	buffer_puts(out,
	            "# Made by `platoon install --chart` from the registry of kinds; `make chart` writes it again.\n"
	            "---\n"
	            "# Every verb is used: test/kube compares them with the audit log of an API server. What is "
	            "written is\n"
	            "# also read by its name (get), after a refusal.\n"
	            "apiVersion: rbac.authorization.k8s.io/v1\n"
	            "kind: ClusterRole\n"
	            "metadata:\n"
	            "  name: platoon\n"
	            "  labels: {app.kubernetes.io/name: platoon}\n"
	            "rules:\n"
	            "# What there is to schedule, and where.\n");
	collect(&rights, false, false);
	put_rules(&rights, out);
	buffer_puts(out,
	            "{{- range .Values.workloadKinds }}\n"
	            "- apiGroups: [{{ .group | toJson }}]\n"
	            "  resources: [{{ .resource | toJson }}]\n"
	            "  verbs: [list, watch]\n"
	            "{{- end }}\n"
	            "# What is written: pods, gangs, queues, topologies, RoleBasedGroups and what belongs to them.\n");
	collect(&rights, true, false);
	put_rules(&rights, out);
	buffer_puts(out, "# Statuses, bindings, and owning objects whose owner waits for them.\n");
	collect(&rights, true, true);
	put_rules(&rights, out);
	buffer_puts(out, "{{- if .Values.webhooks }}\n"
	                 "# Telling the API server which certificate the webhooks have.\n"
	                 "- apiGroups: [" KINDS_ADMISSION "]\n"
	                 "  resources: [mutatingwebhookconfigurations, validatingwebhookconfigurations]\n"
	                 "  resourceNames: [platoon]\n"
	                 "  verbs: [get, list, watch, patch]\n"
	                 "- apiGroups: [" KINDS_DEFINITIONS "]\n"
	                 "  resources: [customresourcedefinitions]\n"
	                 "  resourceNames: [");
	put_converted(out);
	buffer_puts(out, "]\n"
	                 "  verbs: [get, list, watch, patch]\n"
	                 "{{- end }}\n");
	arena_destroy(rights.arena);
}
