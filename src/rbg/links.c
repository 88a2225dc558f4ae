/* Owns the index of references by name. */
#include "rbg/links.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct link {
	char *from;
	UT_hash_handle hh;
};

struct target {
	char *to;
	struct link *links;
	UT_hash_handle hh;
};

struct rbg_links {
	struct target *targets;
};

struct rbg_links *rbg_links_create(void)
{
	return base_calloc(1, sizeof(struct rbg_links));
}

static void drop_link(struct target *target, struct link *link)
{
	HASH_DEL(target->links, link);
	free(link->from);
	free(link);
}

static void drop_target(struct rbg_links *links, struct target *target)
{
	HASH_DEL(links->targets, target);
	free(target->to);
	free(target);
}

void rbg_links_destroy(struct rbg_links *links)
{
	if (!links)
		return;
	struct target *target, *next_target;
	struct link *link, *next_link;
	HASH_ITER(hh, links->targets, target, next_target) {
		HASH_ITER(hh, target->links, link, next_link)
			drop_link(target, link);
		drop_target(links, target);
	}
	free(links);
}

static void note(struct rbg_links *links, struct target *target, const char *to, const char *from)
{
	if (!target) {
		target = base_calloc(1, sizeof(*target));
		target->to = base_strdup(to);
		HASH_ADD_KEYPTR(hh, links->targets, target->to, strlen(target->to), target);
	}
	struct link *link;
	HASH_FIND_STR(target->links, from, link);
	if (link)
		return;
	link = base_calloc(1, sizeof(*link));
	link->from = base_strdup(from);
	HASH_ADD_KEYPTR(hh, target->links, link->from, strlen(link->from), link);
}

void rbg_links_set(struct rbg_links *links, const char *to, const char *from, bool present)
{
	struct target *target;
	struct link *link = NULL;
	HASH_FIND_STR(links->targets, to, target);
	if (present) {
		note(links, target, to, from);
		return;
	}
	if (!target)
		return;
	HASH_FIND_STR(target->links, from, link);
	if (link)
		drop_link(target, link);
	if (!target->links)
		drop_target(links, target);
}

void rbg_links_forget(struct rbg_links *links, const char *from, void (*forgot)(void *context, const char *to),
                      void *context)
{
	struct target *target, *next;
	HASH_ITER(hh, links->targets, target, next) {
		struct link *link;
		HASH_FIND_STR(target->links, from, link);
		if (!link)
			continue;
		drop_link(target, link);
		if (forgot)
			forgot(context, target->to);
		if (!target->links)
			drop_target(links, target);
	}
}

size_t rbg_links_each(const struct rbg_links *links, const char *to, void (*visit)(void *context, const char *from),
                      void *context)
{
	struct target *target;
	size_t count = 0;
	HASH_FIND_STR(links->targets, to, target);
	for (struct link *link = target ? target->links : NULL; link; link = link->hh.next, count++)
		if (visit)
			visit(context, link->from);
	return count;
}
