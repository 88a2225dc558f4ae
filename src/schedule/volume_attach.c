/* Owns the columns of what nodes can attach. */
#include "schedule/volume_attach.h"

#include "base/strings.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct attach_driver {
	char *name;
	int resource;
	VEC(int) shared; /* resources of volumes that several pods use */
};

struct volume_attach {
	const struct volume_book *book;
	struct cluster *cluster;
	struct volume_callbacks callbacks;
	const void *context;
	VEC(struct attach_driver) drivers;
	VEC(int) stale; /* nodes to count again */
	bool all_stale;
	bool grew; /* a driver was added since volume_attach_settle */
};

struct volume_attach *volume_attach_create(const struct volume_book *book, struct cluster *cluster,
                                           const struct volume_callbacks *callbacks, const void *context)
{
	struct volume_attach *attach = base_calloc(1, sizeof(*attach));
	*attach = (struct volume_attach){
		.book = book, .cluster = cluster, .callbacks = *callbacks, .context = context, .all_stale = true};
	volume_attach_settle(attach);
	return attach;
}

void volume_attach_destroy(struct volume_attach *attach)
{
	if (!attach)
		return;
	for (size_t i = 0; i < attach->drivers.count; i++) {
		free(attach->drivers.items[i].name);
		vec_free(&attach->drivers.items[i].shared);
	}
	vec_free(&attach->drivers);
	vec_free(&attach->stale);
	free(attach);
}

/* ---- drivers and nodes ---- */

static struct attach_driver *find_driver(const struct volume_attach *attach, const char *name)
{
	for (size_t i = 0; i < attach->drivers.count; i++)
		if (strcmp(attach->drivers.items[i].name, name) == 0)
			return &attach->drivers.items[i];
	return NULL;
}

static bool is_needed_on_node(const struct volume_attach *attach, const char *name)
{
	const struct csi_driver_spec *driver = volume_book_find(attach->book, BOOK_DRIVER, "", name);
	return driver && driver->needed_on_node;
}

static const struct csi_node_driver *on_node(const struct volume_attach *attach, const char *driver, int node)
{
	const struct csi_node_spec *spec =
		volume_book_find(attach->book, BOOK_CSI_NODE, "", cluster_node_name(attach->cluster, node));
	for (size_t i = 0; spec && i < spec->driver_count; i++)
		if (strcmp(spec->drivers[i].name, driver) == 0)
			return &spec->drivers[i];
	return NULL;
}

/* Whether a pod on the node uses the volume, or another that is the same disk. */
static bool is_used(const struct volume_attach *attach, const struct volume_spec *volume, int node)
{
	for (const struct book_entry *at = volume_book_next_alike(attach->book, volume, NULL); at;
	     at = volume_book_next_alike(attach->book, volume, at))
		if (attach->callbacks.on_node(attach->context, ((const struct volume_spec *)volume_book_spec(at))->name,
		                              node))
			return true;
	return false;
}

/* Volumes that are attached to the node, and that no pod there uses. */
static int64_t count_left_over(const struct volume_attach *attach, const char *driver, int node)
{
	const char *name = cluster_node_name(attach->cluster, node);
	int64_t count = 0;
	for (const struct book_entry *at = volume_book_next(attach->book, BOOK_ATTACHMENT, name, NULL); at;
	     at = volume_book_next(attach->book, BOOK_ATTACHMENT, name, at)) {
		const struct attachment_spec *attachment = volume_book_spec(at);
		const struct volume_spec *volume =
			attachment->volume ? volume_book_volume(attach->book, attachment->volume) : NULL;
		count += volume && strcmp(attachment->attacher, driver) == 0 && !is_used(attach, volume, node);
	}
	return count;
}

static void put_node(struct volume_attach *attach, const struct attach_driver *driver, int node)
{
	const struct csi_node_driver *there = on_node(attach, driver->name, node);
	bool closed = !there && is_needed_on_node(attach, driver->name);
	bool limited = there && there->limit >= 0;
	cluster_set_amount(attach->cluster, driver->resource, node,
	                   closed    ? 0
	                   : limited ? there->limit
	                             : VOLUMES_AMPLE);
	/* What is not detached yet will be, one day: it is in use, like the volumes of pods. */
	cluster_hold_amount(attach->cluster, driver->resource, node,
	                    limited ? count_left_over(attach, driver->name, node) : 0);
	for (size_t i = 0; i < driver->shared.count; i++)
		cluster_set_amount(attach->cluster, driver->shared.items[i], node, closed ? 0 : VOLUMES_AMPLE);
}

static struct attach_driver *need_driver(struct volume_attach *attach, const char *name)
{
	struct attach_driver *driver = find_driver(attach, name);
	if (driver)
		return driver;
	struct buffer resource = {0};
	buffer_printf(&resource, VOLUME_COLUMN "attached:%s", name);
	vec_push(&attach->drivers,
	         (struct attach_driver){.name = base_strdup(name),
	                                .resource = cluster_need_resource(attach->cluster, resource.text)});
	buffer_free(&resource);
	driver = &attach->drivers.items[attach->drivers.count - 1];
	for (int n = 0; n < cluster_node_count(attach->cluster); n++)
		put_node(attach, driver, n);
	attach->grew = true;
	return driver;
}

static int need_shared(struct volume_attach *attach, struct attach_driver *driver, const char *name)
{
	bool fresh = cluster_find_resource(attach->cluster, name) < 0;
	int resource = cluster_need_resource(attach->cluster, name);
	if (!fresh)
		return resource;
	cluster_share_resource(attach->cluster, resource, driver->resource);
	vec_push(&driver->shared, resource);
	for (int n = 0; n < cluster_node_count(attach->cluster); n++)
		cluster_set_amount(attach->cluster, resource, n,
		                   !on_node(attach, driver->name, n) && is_needed_on_node(attach, driver->name)
		                           ? 0
		                           : VOLUMES_AMPLE);
	return resource;
}

/* ---- pods ---- */

void request_list_add(struct request_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, name) == 0) {
			list->items[i].amount++;
			return;
		}
	list->items[list->count++] = (struct resource_amount){.name = name, .amount = 1};
}

struct attached { /* what a claim means to a driver */
	const char *driver, *handle;
	bool shared;
};

/* False when nobody counts it: no driver, or none that says a limit. */
static bool find_attached(struct volume_attach *attach, const struct pod_spec *pod, const char *name,
                          struct attached *out, struct arena *arena)
{
	const struct claim_spec *claim = volume_book_claim(attach->book, pod->namespace_, name);
	if (!claim)
		return false;
	const struct volume_spec *volume = claim->volume ? volume_book_volume(attach->book, claim->volume) : NULL;
	const struct storage_class_spec *class_ =
		claim->volume || !claim->class_[0] ? NULL : volume_book_class(attach->book, claim->class_);
	const char *driver = volume                          ? volume->driver
	                     : class_ && class_->provisioner ? volume_driver_of(class_->provisioner)
	                                                     : "";
	if (!driver[0])
		return false;
	if (!find_driver(attach, driver)) {
		if (!is_needed_on_node(attach, driver))
			return false;
		need_driver(attach, driver);
	}
	const struct book_entry *alike = volume ? volume_book_next_alike(attach->book, volume, NULL) : NULL;
	*out = (struct attached){.driver = driver,
	                         .handle =
	                                 volume ? volume->handle : arena_printf(arena, "%s/%s", pod->namespace_, name)};
	out->shared = attach->callbacks.users(attach->context, pod->namespace_, name) > 1 ||
	              (alike && volume_book_next_alike(attach->book, volume, alike));
	return true;
}

void volume_attach_ask(struct volume_attach *attach, const struct pod_spec *pod, struct request_list *list,
                       struct arena *arena)
{
	struct attached *seen = arena_array(arena, struct attached, pod->claim_count);
	size_t count = 0;
	for (size_t i = 0; i < pod->claim_count; i++) {
		struct attached attached;
		if (!find_attached(attach, pod, pod->claims[i], &attached, arena))
			continue;
		size_t at = 0;
		while (at < count &&
		       (strcmp(seen[at].driver, attached.driver) != 0 || strcmp(seen[at].handle, attached.handle) != 0))
			at++;
		if (at < count)
			continue;
		seen[count++] = attached;
		struct attach_driver *driver = find_driver(attach, attached.driver);
		int resource = driver->resource;
		if (attached.shared)
			resource = need_shared(attach, driver,
			                       arena_printf(arena, VOLUME_COLUMN "attached:%s:%s", attached.driver,
			                                    attached.handle));
		request_list_add(list, cluster_resource_name(attach->cluster, resource));
	}
}

/* ---- changes ---- */

void volume_attach_node(struct volume_attach *attach, int node)
{
	if (!attach->all_stale && node >= 0)
		vec_push(&attach->stale, node);
}

void volume_attach_all(struct volume_attach *attach)
{
	attach->all_stale = true;
}

static void count_node(struct volume_attach *attach, int node)
{
	const struct csi_node_spec *spec =
		volume_book_find(attach->book, BOOK_CSI_NODE, "", cluster_node_name(attach->cluster, node));
	for (size_t i = 0; spec && i < spec->driver_count; i++)
		if (spec->drivers[i].limit >= 0)
			need_driver(attach, spec->drivers[i].name);
	for (size_t i = 0; i < attach->drivers.count; i++)
		put_node(attach, &attach->drivers.items[i], node);
}

bool volume_attach_settle(struct volume_attach *attach)
{
	for (int n = 0; attach->all_stale && n < cluster_node_count(attach->cluster); n++)
		count_node(attach, n);
	for (size_t i = 0; !attach->all_stale && i < attach->stale.count; i++)
		count_node(attach, attach->stale.items[i]);
	attach->stale.count = 0;
	attach->all_stale = false;
	bool grew = attach->grew;
	attach->grew = false;
	return grew;
}
