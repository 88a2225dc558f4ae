/* Owns the memory of the grouping controller: pods, their groups, and the objects their grouping was read from. Every
 * change costs what it touches; removing a pod of a large group does not look at the others. */
#include "grouping/internal.h"

#include <stdlib.h>
#include <string.h>

#define VERSION_MIXED UINT64_MAX /* pods saw different states of the object */

struct need { /* an object that pods depend on */
	struct grouping_link *links;
	uint64_t version;
	UT_hash_handle hh;
	char key[];
};

struct grouping_link {
	struct need *need;
	struct grouping_pod *pod;
	struct grouping_link *previous, *following; /* of the same need */
	struct grouping_link *next;                 /* of the same pod */
};

struct grouping_index {
	struct grouping_pod *pods;
	struct grouping_group *groups;
	struct need *needs;
	struct buffer key;
};

struct grouping_index *grouping_index_create(void)
{
	return base_calloc(1, sizeof(struct grouping_index));
}

/* ---- needs ---- */

static const char *need_key(struct grouping_index *index, const struct grouping_need *need)
{
	index->key.length = 0;
	buffer_printf(&index->key, "%s/%s/%s/%s", need->group, need->kind, need->namespace_, need->name);
	return index->key.text;
}

static struct need *find_need(struct grouping_index *index, const struct grouping_need *need)
{
	struct need *found;
	need_key(index, need);
	HASH_FIND(hh, index->needs, index->key.text, index->key.length, found);
	return found;
}

void grouping_index_depend(struct grouping_index *index, struct grouping_pod *pod, const struct grouping_need *asked)
{
	struct need *need = find_need(index, asked);
	if (!need) {
		need = base_calloc(1, sizeof(*need) + index->key.length + 1);
		memcpy(need->key, index->key.text, index->key.length + 1);
		need->version = asked->version;
		HASH_ADD_KEYPTR(hh, index->needs, need->key, index->key.length, need);
	}
	if (need->version != asked->version)
		need->version = VERSION_MIXED;
	for (const struct grouping_link *link = pod->links; link; link = link->next)
		if (link->need == need)
			return;
	struct grouping_link *link = base_malloc(sizeof(*link));
	*link = (struct grouping_link){.need = need, .pod = pod, .following = need->links, .next = pod->links};
	if (need->links)
		need->links->previous = link;
	need->links = pod->links = link;
}

void grouping_index_forget(struct grouping_index *index, struct grouping_pod *pod)
{
	for (struct grouping_link *link = pod->links, *next; link; link = next) {
		struct need *need = link->need;
		next = link->next;
		if (link->previous)
			link->previous->following = link->following;
		else
			need->links = link->following;
		if (link->following)
			link->following->previous = link->previous;
		if (!need->links && index->needs) { /* the second is for the analyzer: need is in there */
			HASH_DEL(index->needs, need);
			free(need);
		}
		free(link);
	}
	pod->links = NULL;
	pod->unserved = false;
}

void grouping_index_visit(struct grouping_index *index, const struct grouping_need *now,
                          void (*visit)(void *context, struct grouping_pod *pod), void *context)
{
	const struct need *need = find_need(index, now);
	if (!need || need->version == now->version)
		return;
	for (const struct grouping_link *link = need->links; link; link = link->following)
		visit(context, link->pod);
}

void grouping_index_check(struct grouping_index *index, const char *group, const char *kind,
                          uint64_t (*version)(void *context, const char *namespace_, const char *name),
                          void (*visit)(void *context, struct grouping_pod *pod), void *context)
{
	struct need *need, *next;
	struct buffer prefix = {0};
	buffer_printf(&prefix, "%s/%s/", group, kind);
	HASH_ITER(hh, index->needs, need, next) {
		if (!text_starts_with(need->key, prefix.text))
			continue;
		char *namespace_ = base_strdup(need->key + prefix.length), *name = strchr(namespace_, '/');
		*name++ = '\0';
		if (!*name || version(context, namespace_, name) != need->version)
			for (const struct grouping_link *link = need->links; link; link = link->following)
				visit(context, link->pod);
		free(namespace_);
	}
	buffer_free(&prefix);
}

/* ---- groups ---- */

struct grouping_group *grouping_index_group(struct grouping_index *index, const char *namespace_, const char *name)
{
	struct grouping_group *group;
	index->key.length = 0;
	buffer_printf(&index->key, "%s/%s", namespace_, name);
	HASH_FIND(hh, index->groups, index->key.text, index->key.length, group);
	return group;
}

static void leave(struct grouping_index *index, struct grouping_pod *pod)
{
	struct grouping_group *group = pod->group;
	if (!group)
		return;
	if (pod->previous)
		pod->previous->following = pod->following;
	else
		group->members = pod->following;
	if (pod->following)
		pod->following->previous = pod->previous;
	if (group->first == pod)
		group->first = NULL;
	pod->group = NULL;
	pod->previous = pod->following = NULL;
	if (group->members)
		return;
	HASH_DEL(index->groups, group);
	free(group);
}

static struct grouping_group *make_group(struct grouping_index *index, const char *namespace_, const char *name)
{
	size_t space = strlen(namespace_), length = space + 1 + strlen(name);
	/* The key, then the namespace once more with an end of its own. */
	struct grouping_group *group = base_calloc(1, sizeof(*group) + length + 1 + space + 1);
	memcpy(group->key, namespace_, space);
	group->key[space] = '/';
	memcpy(group->key + space + 1, name, length - space);
	memcpy(group->key + length + 1, namespace_, space + 1);
	group->namespace_ = group->key + length + 1;
	group->name = group->key + space + 1;
	HASH_ADD_KEYPTR(hh, index->groups, group->key, length, group);
	return group;
}

static int compare_age(const struct grouping_pod *a, const struct grouping_pod *b)
{
	int order = strcmp(a->created, b->created);
	return order ? order : strcmp(a->name, b->name);
}

void grouping_index_join(struct grouping_index *index, struct grouping_pod *pod, const char *namespace_,
                         const char *name)
{
	struct grouping_group *group = name ? grouping_index_group(index, namespace_, name) : NULL;
	if (group && pod->group == group)
		return;
	leave(index, pod);
	if (!name)
		return;
	if (!group)
		group = make_group(index, namespace_, name);
	if (!group->members || (group->first && compare_age(pod, group->first) < 0))
		group->first = pod;
	pod->group = group;
	pod->following = group->members;
	if (group->members)
		group->members->previous = pod;
	group->members = pod;
}

struct grouping_pod *grouping_group_first(struct grouping_group *group)
{
	if (group->first)
		return group->first;
	for (struct grouping_pod *pod = group->members; pod; pod = pod->following)
		if (!group->first || compare_age(pod, group->first) < 0)
			group->first = pod;
	return group->first;
}

/* ---- pods ---- */

struct grouping_pod *grouping_index_find(struct grouping_index *index, const char *namespace_, const char *name)
{
	struct grouping_pod *pod;
	index->key.length = 0;
	buffer_printf(&index->key, "%s/%s", namespace_, name);
	HASH_FIND(hh, index->pods, index->key.text, index->key.length, pod);
	return pod;
}

static void drop(struct grouping_index *index, struct grouping_pod *pod)
{
	grouping_index_forget(index, pod);
	leave(index, pod);
	HASH_DEL(index->pods, pod);
	free((char *)(uintptr_t)pod->namespace_);
	free((char *)(uintptr_t)pod->created);
	free((char *)(uintptr_t)pod->uid);
	free(pod);
}

struct grouping_pod *grouping_index_add(struct grouping_index *index, const struct store_object *object)
{
	struct grouping_pod *pod = grouping_index_find(index, object->namespace_, object->name);
	if (pod && strcmp(pod->uid, object->uid) == 0)
		return pod;
	if (pod)
		drop(index, pod);
	size_t space = strlen(object->namespace_), length = space + 1 + strlen(object->name);
	pod = base_calloc(1, sizeof(*pod) + length + 1);
	memcpy(pod->key, object->namespace_, space);
	pod->key[space] = '/';
	memcpy(pod->key + space + 1, object->name, length - space);
	pod->namespace_ = base_strdup(object->namespace_);
	pod->name = pod->key + space + 1;
	pod->uid = base_strdup(object->uid);
	pod->created = base_strdup(val_str(val_path(object->root, "metadata", "creationTimestamp", NULL), ""));
	HASH_ADD_KEYPTR(hh, index->pods, pod->key, length, pod);
	return pod;
}

void grouping_index_remove(struct grouping_index *index, const char *namespace_, const char *name)
{
	struct grouping_pod *pod = grouping_index_find(index, namespace_, name);
	if (pod)
		drop(index, pod);
}

void grouping_index_each(struct grouping_index *index, bool unserved,
                         void (*visit)(void *context, struct grouping_pod *pod), void *context)
{
	struct grouping_pod *pod, *next;
	HASH_ITER(hh, index->pods, pod, next)
		if (pod->unserved || !unserved)
			visit(context, pod);
}

void grouping_index_destroy(struct grouping_index *index)
{
	struct grouping_pod *pod, *next;
	HASH_ITER(hh, index->pods, pod, next)
		drop(index, pod);
	buffer_free(&index->key);
	free(index);
}
