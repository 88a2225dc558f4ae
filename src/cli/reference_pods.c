/* Owns the page of what a pod can ask for, from its table. */
#include "cli/cli.h"

#include "admit/pod_fields.h"

#include <string.h>

static const char about[] =
	"# What a pod can ask for\n\n"
	"Nothing is bound that was not understood. Every field of a pod, and every annotation, label and resource that "
	"is "
	"known to\n"
	"decide where pods run, is in one of these tables. A pod that asks for what is not served is *blocked*, and so "
	"is a "
	"group that\n"
	"cannot do without it: its state is `Blocked`, the reason `UnsupportedRequest` names the field, and the "
	"condition\n"
	"`PodScheduled` carries that reason instead of `Unschedulable`, so that autoscalers buy no nodes for it. "
	"`validate`, `plan`, `up`\n"
	"and `run` say the same. Fields that are in no table do not exist in this release of Kubernetes: the API "
	"server "
	"drops them, and\n"
	"`validate` warns. An annotation or label that is not served blocks the group also where it stands on the "
	"workload above the\n"
	"pods: its PodGroup takes it over. Written by `platoon help --reference pods`.\n";

/* "`spec.nodeName`" for every name of a row. */
static const char *names_of(const struct pod_field *field, struct arena *arena)
{
	static const char *const before[FIELD_PLACES] = {
		[FIELD_SPEC] = "spec.",   [FIELD_CONTAINER] = "containers[].", [FIELD_ANNOTATION] = "annotation ",
		[FIELD_LABEL] = "label ", [FIELD_RESOURCE] = "resource ",
	};
	const char *text = "", *name = field->names, *head = before[field->place];
	bool word = head[strlen(head) - 1] == ' ';
	while (*name) {
		size_t length = strcspn(name, " ");
		const char *first = word && !*text ? head : "";
		text = arena_printf(arena, "%s%s%s`%s%.*s`", text, *text ? ", " : "", first, word ? "" : head,
		                    (int)length, name);
		name += length + (name[length] == ' ');
	}
	return text;
}

static void print_rows(enum pod_field_state state, const char *title, const char *column, struct arena *arena)
{
	bool tests = state == FIELD_HONOURED;
	printf("\n## %s\n\n| asked by | %s |%s\n|---|---|%s\n", title, column, tests ? " shown by |" : "",
	       tests ? "---|" : "");
	for (size_t i = 0; i < pod_field_count; i++) {
		const struct pod_field *field = &pod_fields[i];
		if (field->state != state)
			continue;
		const char *but =
			field->otherwise ? arena_printf(arena, "; otherwise blocked: %s", field->otherwise) : "";
		printf("| %s | %s%s |", names_of(field, arena), field->about, but);
		if (tests)
			printf(" `test/%s` |", field->test);
		putchar('\n');
	}
}

void cli_reference_pods(struct arena *arena)
{
	fputs(about, stdout);
	print_rows(FIELD_HONOURED, "Honoured", "how", arena);
	print_rows(FIELD_NOT_SERVED, "Not served", "why", arena);
	print_rows(FIELD_IGNORED, "Ignored on purpose", "why", arena);
}
