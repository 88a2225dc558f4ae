/* Errors of requests and how they print as Status objects. */
#include "api/status.h"

#include "object/build.h"

#include <stdarg.h>

#include <string.h>

int store_fail(struct arena *arena, struct store_error *error, int code, const char *reason, const char *format, ...)
{
	if (!error)
		return -1;
	va_list args;
	va_start(args, format);
	*error = (struct store_error){
		.code = code,
		.reason = reason,
		.message = arena_vprintf(arena, format, args),
		.name = "",
		.group = "",
		.kind = "",
		.uid = "",
		.continue_ = "",
	};
	va_end(args);
	return -1;
}

/* Kubernetes has a word for each cause. */
static const char *cause_reason(enum problem_cause cause)
{
	static const char *const reasons[] = {
		[PROBLEM_INVALID] = "FieldValueInvalid",      [PROBLEM_REQUIRED] = "FieldValueRequired",
		[PROBLEM_DUPLICATE] = "FieldValueDuplicate",  [PROBLEM_NOT_FOUND] = "FieldValueNotFound",
		[PROBLEM_FORBIDDEN] = "FieldValueForbidden",  [PROBLEM_UNSUPPORTED] = "FieldValueNotSupported",
		[PROBLEM_CONFLICT] = "FieldValueInvalid",     [PROBLEM_PARENT_MINIMUM] = "FieldValueInvalid",
		[PROBLEM_FEW_CHILDREN] = "FieldValueInvalid",
	};
	return reasons[cause];
}

int store_fail_problems(struct arena *arena, struct store_error *error, const char *kind, const char *group,
                        const char *name, const struct problems *problems)
{
	struct store_cause *causes = arena_array(arena, struct store_cause, problems->errors);
	size_t count = 0;
	struct buffer text = {0};
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->items[i];
		if (problem->severity != SEVERITY_ERROR)
			continue;
		const char *message = problem->message;
		if (problem->fix && *problem->fix)
			message = arena_printf(arena, "%s; %s", message, problem->fix);
		causes[count++] = (struct store_cause){
			.reason = cause_reason(problem->cause),
			.message = arena_strdup(arena, message),
			.field = arena_strdup(arena, problem->path ? problem->path : ""),
		};
		buffer_printf(&text, "%s%s%s%s", count > 1 ? ", " : "", causes[count - 1].field,
		              *causes[count - 1].field ? ": " : "", message);
	}
	store_fail(arena, error, 422, "Invalid", "%s%s%s \"%s\" is invalid: %s%s%s", kind, *group ? "." : "", group,
	           name, count > 1 ? "[" : "", text.text ? text.text : "", count > 1 ? "]" : "");
	buffer_free(&text);
	if (error) {
		error->kind = arena_strdup(arena, kind);
		error->group = arena_strdup(arena, group);
		error->name = arena_strdup(arena, name);
		error->causes = causes;
		error->cause_count = count;
	}
	return -1;
}

static void put_text(struct build *build, struct node *map, const char *key, const char *text)
{
	if (text && *text)
		build_put_string(build, map, key, text);
}

static struct node *write_details(struct build *build, const struct store_error *error)
{
	struct node *details = build_map(build);
	put_text(build, details, "name", error->name);
	put_text(build, details, "group", error->group);
	put_text(build, details, "kind", error->kind);
	put_text(build, details, "uid", error->uid);
	if (error->cause_count) {
		struct node *causes = build_list(build);
		for (size_t i = 0; i < error->cause_count; i++) {
			struct node *cause = build_map(build);
			put_text(build, cause, "reason", error->causes[i].reason);
			put_text(build, cause, "message", error->causes[i].message);
			put_text(build, cause, "field", error->causes[i].field);
			build_append(build, causes, cause);
		}
		build_put(build, details, "causes", causes);
	}
	if (error->retry_after)
		build_put_int(build, details, "retryAfterSeconds", error->retry_after);
	return details;
}

void store_error_write(const struct store_error *error, struct buffer *out)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build);
	build_put_string(build, root, "kind", "Status");
	build_put_string(build, root, "apiVersion", "v1");
	put_text(build, metadata, "continue", error->continue_);
	build_put(build, root, "metadata", metadata);
	build_put_string(build, root, "status", "Failure");
	build_put_string(build, root, "message", error->message ? error->message : "");
	build_put_string(build, root, "reason", error->reason ? error->reason : "");
	if ((error->name && *error->name) || (error->kind && *error->kind) || error->cause_count || error->retry_after)
		build_put(build, root, "details", write_details(build, error));
	build_put_int(build, root, "code", error->code);
	build_write(build, root, DOC_JSON_COMPACT, out);
	build_destroy(build);
}
