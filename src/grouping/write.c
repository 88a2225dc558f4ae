/* Owns what the grouping controller writes: PodGroups, marks on pods, events and the condition of pods that cannot be
 * grouped. Everything is compared with what the store has first. */
#include "grouping/internal.h"
#include "kinds/names.h"
#include "loop/writes.h"
#include "object/difference.h"

#include "base/strings.h"

#include <ctype.h>
#include <string.h>

#define MANAGER "platoon-grouping"

static int carry_out(const struct reconcile *turn, const struct store_request *request,
                     struct grouping_failure *failure)
{
	struct store_error error;
	int rc = writes_send(turn->store, request, turn->arena, &error);
	if (rc < 0)
		*failure = (struct grouping_failure){
			.message = error.message,
			.refused = error.code == 400 || error.code == 403 || error.code == 413 || error.code == 422,
		};
	return rc;
}

int grouping_write_group(const struct reconcile *turn, const struct group_result *result,
                         const struct group_options *options, const struct store_object *existing,
                         struct grouping_failure *failure)
{
	struct doc *doc = group_document(result, options, existing ? existing->root : NULL), *patch = NULL;
	/* Of a group that is there only what differs is written, whatever its version is by then: the scheduler writes its
	 * status all the time, and others may set fields that are theirs. */
	if (existing) {
		struct build *build = build_create();
		struct node *changes = difference_merge(build, existing->root, doc_root(doc));
		patch = changes ? build_finish(build, changes) : NULL;
		build_destroy(build);
	}
	int rc = 0;
	if (!existing || patch) {
		struct store_request request =
			writes_create(store_api_find(turn->store, KINDS_SCHEDULING, "v2alpha2", "podgroups"),
		                      result->namespace_, doc_root(patch ? patch : doc), WRITES_ACTOR);
		if (existing) {
			request.verb = STORE_PATCH;
			request.patch = STORE_PATCH_MERGE;
			request.name = result->name;
		}
		request.manager = MANAGER;
		rc = carry_out(turn, &request, failure);
	}
	doc_destroy(patch);
	doc_destroy(doc);
	return rc;
}

int grouping_write_pod(const struct reconcile *turn, const struct group_result *result, const struct store_object *pod,
                       struct grouping_failure *failure)
{
	struct doc *patch = group_pod_patch(result, pod->root);
	if (!patch)
		return 0;
	struct store_request request = writes_change(pod, doc_root(patch), WRITES_ACTOR);
	request.manager = MANAGER;
	int rc = carry_out(turn, &request, failure);
	doc_destroy(patch);
	return rc;
}

/* "segment-topology-missing" as the reason of an event: SegmentTopologyMissing. */
static const char *event_reason(struct arena *arena, enum group_about about)
{
	char *reason = arena_strdup(arena, group_about_name(about)), *to = reason;
	bool first = true;
	for (const char *from = reason; *from; from++) {
		if (*from != '-')
			*to++ = (char)(first ? toupper((unsigned char)*from) : *from);
		first = *from == '-';
	}
	*to = '\0';
	return reason;
}

static const char *sentence(struct arena *arena, const struct group_warning *warning)
{
	return arena_printf(arena, "%s%s%s: %s (%s)", warning->object, warning->path[0] ? ": " : "", warning->path,
	                    warning->message, warning->fix);
}

void grouping_tell(const struct reconcile *turn, const struct group_result *result, const struct store_object *owner,
                   const struct store_object *pod)
{
	for (size_t i = 0; i < result->warning_count; i++) {
		const struct group_warning *warning = &result->warnings[i];
		/* What is wrong with the workload is told once, there, and not by each of its pods. */
		const struct store_object *about = owner && !warning->on_pod ? owner : pod;
		writes_event_once(turn->store, about, true, event_reason(turn->arena, warning->about),
		                  sentence(turn->arena, warning), turn->now_ns / CLOCK_SECOND);
	}
}

const char *grouping_warnings(const struct reconcile *turn, const struct group_result *result)
{
	struct buffer text = {0};
	for (size_t i = 0; i < result->warning_count; i++)
		buffer_printf(&text, "%s%s", i ? "; " : "", sentence(turn->arena, &result->warnings[i]));
	const char *all = arena_strdup(turn->arena, text.text ? text.text : "");
	buffer_free(&text);
	return all;
}

static void write_condition(const struct reconcile *turn, const struct store_object *pod,
                            const struct condition *condition)
{
	if (writes_has_condition(pod->root, condition))
		return;
	struct build *build = build_create();
	writes_pod_condition(turn->store, pod, condition, turn->now_ns / CLOCK_SECOND, build, NULL);
	build_destroy(build);
}

void grouping_mark_refused(const struct reconcile *turn, const struct store_object *pod, const char *message)
{
	struct condition condition = {"PodScheduled", "False", PODS_NOT_GROUPED, message};
	write_condition(turn, pod, &condition);
}

void grouping_unmark_refused(const struct reconcile *turn, const struct store_object *pod)
{
	const struct val *told = writes_find_condition(pod->root, "PodScheduled");
	if (text_equal(val_str(val_get(told, "reason"), NULL), PODS_NOT_GROUPED))
		write_condition(turn, pod,
		                &(struct condition){"PodScheduled", "False", "Waiting",
		                                    "it is known now to what it belongs"});
}
