/* Owns which waiting pods of the live state a Service may select: those that nothing controls. When the Services of their
 * namespace change, they are read again. */
#include "schedule/live_internal.h"

#include <assert.h>
#include <stdlib.h>

/* Such pods of one namespace. */
struct live_bare {
	UT_hash_handle hh;
	char *namespace_;
	VEC(struct live_object *) pods;
};

static struct live_bare *find(const struct live *live, const char *namespace_)
{
	struct live_bare *bare;
	HASH_FIND(hh, live->bare, namespace_, strlen(namespace_), bare);
	return bare;
}

void live_services_join(struct live *live, struct live_object *pod, const struct pod_spec *spec)
{
	if (!live->options.settings->spread_zones || spec->maker != MAKER_NONE || spec->node || spec->labels.count == 0)
		return;
	struct live_bare *bare = find(live, pod->namespace_);
	if (!bare) {
		bare = base_calloc(1, sizeof(*bare));
		bare->namespace_ = base_strdup(pod->namespace_);
		HASH_ADD_KEYPTR(hh, live->bare, bare->namespace_, strlen(bare->namespace_), bare);
	}
	pod->bare = bare;
	pod->bare_place = bare->pods.count;
	vec_push(&bare->pods, pod);
}

void live_services_leave(struct live *live, struct live_object *pod)
{
	struct live_bare *bare = pod->bare;
	if (!bare)
		return;
	struct live_object *last = bare->pods.items[--bare->pods.count];
	bare->pods.items[pod->bare_place] = last;
	last->bare_place = pod->bare_place;
	pod->bare = NULL;
	if (bare->pods.count > 0)
		return;
	assert(live->bare); /* the list is one of them */
	HASH_DEL(live->bare, bare);
	vec_free(&bare->pods);
	free(bare->namespace_);
	free(bare);
}

void live_services_clear(struct live *live)
{
	struct live_object *pod, *next;
	HASH_ITER(hh, live->objects[KIND_POD], pod, next)
		live_services_leave(live, pod);
}

void live_service_changed(struct live *live, const char *namespace_, const char *name, const struct val *object)
{
	if (!service_book_set(live->services, namespace_, name, object) || live->stale)
		return;
	const struct live_bare *bare = find(live, namespace_);
	VEC(struct live_object *) pods = {0};
	for (size_t i = 0; bare && i < bare->pods.count; i++)
		vec_push(&pods, bare->pods.items[i]);
	for (size_t i = 0; i < pods.count; i++) /* reading a pod moves it in the list */
		live_pod_update(live, pods.items[i]);
	vec_free(&pods);
}
