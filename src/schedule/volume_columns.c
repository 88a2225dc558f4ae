/* Owns families of open claims and their columns in the cluster. */
#include "schedule/volume_columns_internal.h"

#include "base/quantity.h"
#include "base/strings.h"
#include "schedule/volume_attach.h"
#include "schedule/volume_nodes.h"
#include "schedule/volume_single.h"
#include "schedule/volume_sorts.h"

#include <stdlib.h>
#include <string.h>

struct volume_columns *volume_columns_create(const struct volume_book *book, struct cluster *cluster,
                                             const struct volume_callbacks *callbacks, const void *context)
{
	struct volume_columns *columns = base_calloc(1, sizeof(*columns));
	*columns = (struct volume_columns){.book = book,
	                                   .cluster = cluster,
	                                   .callbacks = *callbacks,
	                                   .context = context,
	                                   .attach = volume_attach_create(book, cluster, callbacks, context),
	                                   .nodes = volume_nodes_create(cluster),
	                                   .pool_arena = arena_create_small()};
	return columns;
}

static void free_volume(struct volume_columns *columns, struct counted_volume *volume)
{
	HASH_DEL(columns->volumes, volume);
	vec_free(&volume->families);
	free(volume->nodes);
	free(volume->name);
	free(volume);
}

static void forget_volumes(struct volume_columns *columns)
{
	struct counted_volume *volume, *next;
	HASH_ITER(hh, columns->volumes, volume, next)
		free_volume(columns, volume);
}

void volume_columns_destroy(struct volume_columns *columns)
{
	if (!columns)
		return;
	forget_volumes(columns);
	struct claim_family *family, *next_family;
	HASH_ITER(hh, columns->families, family, next_family) {
		HASH_DEL(columns->families, family);
		for (size_t i = 0; i < family->columns.count; i++) {
			free(family->columns.items[i].count);
			free(family->columns.items[i].make);
		}
		vec_free(&family->columns);
		arena_destroy(family->arena);
		free(family->key);
		free(family);
	}
	struct column_class *class_, *next_class;
	HASH_ITER(hh, columns->classes, class_, next_class) {
		HASH_DEL(columns->classes, class_);
		free(class_->name);
		free(class_);
	}
	volume_attach_destroy(columns->attach);
	volume_nodes_destroy(columns->nodes);
	arena_destroy(columns->pool_arena);
	free(columns);
}

/* ---- amounts ---- */

static void put_amount(struct volume_columns *columns, const struct claim_family *family,
                       const struct volume_column *column, int node)
{
	int64_t amount =
		column->make[node] || (family->shared && column->count[node]) ? VOLUMES_AMPLE : column->count[node];
	cluster_set_amount(columns->cluster, column->resource, node, amount);
}

static void count_volume(struct volume_columns *columns, const struct counted_volume *volume,
                         const struct claim_family *family, struct volume_column *column, int change)
{
	if (volume->capacity < column->size)
		return;
	for (size_t i = 0; i < volume->node_count; i++) {
		column->count[volume->nodes[i]] += change;
		put_amount(columns, family, column, volume->nodes[i]);
	}
}

/* The volume with the nodes it reaches and the families it serves, counted nowhere yet. */
static struct counted_volume *look_at_volume(struct volume_columns *columns, const struct volume_spec *spec)
{
	struct counted_volume *volume;
	HASH_FIND(hh, columns->volumes, spec->name, strlen(spec->name), volume);
	if (volume)
		return volume;
	volume = base_calloc(1, sizeof(*volume));
	volume->name = base_strdup(spec->name);
	volume->capacity = spec->capacity;
	volume->nodes = volume_nodes_reached(columns->nodes, spec, &volume->node_count);
	HASH_ADD_KEYPTR(hh, columns->volumes, volume->name, strlen(volume->name), volume);
	return volume;
}

static void find_where_made(struct volume_columns *columns, const struct claim_family *family,
                            struct volume_column *column)
{
	const struct storage_class_spec *class_ = volume_book_class(columns->book, family->like.class_);
	volume_nodes_for_new(columns->nodes, columns->book, class_, family->like.has_request, column->size,
	                     column->make);
}

static void put_column(struct volume_columns *columns, const struct claim_family *family, struct volume_column *column)
{
	for (int n = 0; n < cluster_node_count(columns->cluster); n++)
		put_amount(columns, family, column, n);
}

/* Counts the volumes of a column that was never counted, or is to be counted again. */
static void fill_column(struct volume_columns *columns, struct claim_family *family, struct volume_column *column)
{
	size_t nodes = (size_t)cluster_node_count(columns->cluster);
	free(column->count);
	free(column->make);
	column->count = base_calloc(nodes, sizeof(*column->count));
	column->make = base_calloc(nodes, sizeof(*column->make));
	const char *class_ = family->like.class_;
	for (const struct book_entry *at = volume_book_next(columns->book, BOOK_VOLUME, class_, NULL); at;
	     at = volume_book_next(columns->book, BOOK_VOLUME, class_, at)) {
		const struct volume_spec *spec = volume_book_spec(at);
		if (!volume_suits_claim(spec, &family->like))
			continue;
		struct counted_volume *volume = look_at_volume(columns, spec);
		if (!volume_serves_family(volume, family))
			vec_push(&volume->families, family);
		for (size_t i = 0; spec->capacity >= column->size && i < volume->node_count; i++)
			column->count[volume->nodes[i]]++;
	}
	find_where_made(columns, family, column);
	put_column(columns, family, column);
	columns->pool_stale = true;
}

static void count_again(struct volume_columns *columns)
{
	struct claim_family *family, *next;
	volume_nodes_destroy(columns->nodes);
	columns->nodes = volume_nodes_create(columns->cluster);
	forget_volumes(columns);
	HASH_ITER(hh, columns->families, family, next)
		for (size_t c = 0; c < family->columns.count; c++)
			fill_column(columns, family, &family->columns.items[c]);
	columns->recount = false;
}

/* ---- families ---- */

static struct column_class *need_class(struct volume_columns *columns, const char *name)
{
	struct column_class *class_;
	HASH_FIND(hh, columns->classes, name, strlen(name), class_);
	if (class_)
		return class_;
	class_ = base_calloc(1, sizeof(*class_));
	class_->name = base_strdup(name);
	HASH_ADD_KEYPTR(hh, columns->classes, class_->name, strlen(class_->name), class_);
	return class_;
}

/* Sorts that differ in what the name leaves out are numbered. */
static const char *name_family(const struct column_class *class_, struct claim_family *family)
{
	struct buffer text = {0};
	int alike = 1;
	volume_sort_name(&text, &family->like, family->shared);
	size_t length = text.length;
	for (const struct claim_family *other = class_->families; other; other = other->next)
		alike += strncmp(other->name, text.text, length) == 0 &&
		         (!other->name[length] || other->name[length] == '#');
	if (alike > 1)
		buffer_printf(&text, "#%d", alike);
	const char *name = arena_strdup(family->arena, text.text);
	buffer_free(&text);
	return name;
}

static void put_key(struct volume_columns *columns, struct claim_family *family, const struct buffer *key)
{
	free(family->key);
	family->key = base_malloc(key->length);
	memcpy(family->key, key->text, key->length);
	HASH_ADD_KEYPTR(hh, columns->families, family->key, key->length, family);
}

/* A claim that several pods name was deleted and made again: it is the same family, so that its columns have the names that
 * they would have had if nobody had seen the former one. NULL when it is new. */
static struct claim_family *find_former(struct volume_columns *columns, const struct claim_spec *claim,
                                        const struct buffer *key)
{
	struct column_class *class_ = need_class(columns, claim->class_);
	struct claim_family *family = class_->families;
	for (; family; family = family->next) {
		struct buffer same = {0};
		struct claim_spec former = *claim;
		if (!family->shared || strcmp(family->like.name, claim->name) != 0 ||
		    strcmp(family->like.namespace_, claim->namespace_) != 0)
			continue;
		former.uid = family->like.uid;
		volume_sort_key(&same, &former, true);
		struct claim_family *found;
		HASH_FIND(hh, columns->families, same.text, same.length, found);
		buffer_free(&same);
		if (found == family)
			break;
	}
	if (!family)
		return NULL;
	HASH_DEL(columns->families, family);
	family->like.uid = arena_strdup(family->arena, claim->uid);
	put_key(columns, family, key);
	columns->recount = true; /* a volume may be reserved for one of the two */
	return family;
}

static struct claim_family *need_family(struct volume_columns *columns, const struct claim_spec *claim, bool shared)
{
	struct buffer key = {0};
	struct claim_family *family;
	volume_sort_key(&key, claim, shared);
	HASH_FIND(hh, columns->families, key.text, key.length, family);
	if (!family && shared)
		family = find_former(columns, claim, &key);
	if (!family) {
		struct column_class *class_ = need_class(columns, claim->class_);
		family = base_calloc(1, sizeof(*family));
		family->arena = arena_create_small();
		family->like = volume_sort_copy(family->arena, claim);
		family->shared = shared;
		family->name = name_family(class_, family);
		family->next = class_->families;
		class_->families = family;
		put_key(columns, family, &key);
	}
	buffer_free(&key);
	return family;
}

static int name_column(struct volume_columns *columns, const struct claim_family *family, int64_t size)
{
	struct buffer name = {0};
	struct arena *arena = arena_create_small();
	buffer_printf(&name, VOLUME_COLUMN "%s>=%s", family->name, quantity_print(arena, "storage", size));
	int resource = cluster_need_resource(columns->cluster, name.text);
	buffer_free(&name);
	arena_destroy(arena);
	return resource;
}

static void need_size(struct volume_columns *columns, struct claim_family *family, int64_t size)
{
	size_t at = 0;
	if (columns->recount)
		count_again(columns);
	while (at < family->columns.count && family->columns.items[at].size < size)
		at++;
	if (at < family->columns.count && family->columns.items[at].size == size)
		return;
	columns->grew |= at < family->columns.count;
	struct volume_column column = {.size = size, .resource = name_column(columns, family, size)};
	vec_push(&family->columns, column);
	memmove(&family->columns.items[at + 1], &family->columns.items[at],
	        (family->columns.count - 1 - at) * sizeof(column));
	family->columns.items[at] = column;
	fill_column(columns, family, &family->columns.items[at]);
}

/* ---- pods ---- */

struct asking {
	struct volume_terms terms;
	struct claim_family **families; /* of its open claims */
	int64_t *sizes;
	size_t open;
	size_t requests; /* how many there may be */
};

/* False when some claim keeps the pod from being placed; *block says which. */
static bool ask_claims(struct volume_columns *columns, const struct pod_spec *pod, struct arena *arena,
                       struct asking *asking, const struct pod_block **block)
{
	bool fine = true;
	asking->families = arena_array(arena, struct claim_family *, pod->claim_count);
	asking->sizes = arena_array(arena, int64_t, pod->claim_count);
	for (size_t i = 0; i < pod->claim_count; i++) {
		struct claim_answer answer = volume_book_ask(columns->book, pod, i, arena);
		if (answer.verdict == CLAIM_BLOCKED) {
			pod_block_add(block, arena, answer.code, "%s", answer.problem);
			fine = false;
		}
		if (!fine)
			continue;
		volume_terms_add(&asking->terms, &answer, arena);
		if (answer.verdict != CLAIM_OPEN)
			continue;
		bool named_before = false; /* two volumes of one pod may be the same claim */
		for (size_t k = 0; k < i; k++)
			named_before |= strcmp(pod->claims[k], pod->claims[i]) == 0;
		if (named_before)
			continue;
		bool shared = columns->callbacks.users(columns->context, pod->namespace_, pod->claims[i]) > 1;
		struct claim_family *family = need_family(columns, answer.claim, shared);
		need_size(columns, family, answer.claim->request);
		asking->families[asking->open] = family;
		asking->sizes[asking->open++] = answer.claim->request;
	}
	for (size_t i = 0; i < asking->open; i++)
		asking->requests += asking->families[i]->columns.count;
	return fine;
}

struct volume_needs volume_columns_ask(struct volume_columns *columns, const struct pod_spec *pod, struct arena *arena)
{
	struct volume_needs needs = {.block = pod->block,
	                             .rules = pod->rules,
	                             .requests = pod->requests,
	                             .request_count = pod->request_count,
	                             .labels = pod->labels};
	if (pod->claim_count == 0)
		return needs;
	volume_single_add(columns->book, columns->callbacks.users, columns->context, pod, arena, &needs);
	struct asking asking = {0};
	bool fine = ask_claims(columns, pod, arena, &asking, &needs.block);
	struct request_list list = {.items = arena_array(arena, struct resource_amount,
	                                                 pod->request_count + asking.requests + pod->claim_count),
	                            .count = pod->request_count};
	if (pod->request_count)
		memcpy(list.items, pod->requests, pod->request_count * sizeof(*list.items));
	/* Also of pods that could not be placed any more: they may run. */
	volume_attach_ask(columns->attach, pod, &list, arena);
	needs.requests = list.items;
	needs.request_count = list.count;
	if (!fine)
		return needs;
	for (size_t i = 0; i < asking.open; i++)
		for (size_t c = 0; c < asking.families[i]->columns.count; c++) {
			const struct volume_column *column = &asking.families[i]->columns.items[c];
			if (column->size <= asking.sizes[i] &&
			    (!asking.families[i]->shared || column->size == asking.sizes[i]))
				request_list_add(&list, cluster_resource_name(columns->cluster, column->resource));
		}
	struct pod_rules *rules = arena_new(arena, struct pod_rules);
	*rules = *needs.rules;
	rules->volume_terms = asking.terms.terms;
	rules->volume_term_counts = asking.terms.counts;
	rules->volume_count = asking.terms.count;
	needs.rules = rules;
	needs.request_count = list.count;
	return needs;
}

bool volume_columns_grew(struct volume_columns *columns)
{
	bool grew = columns->grew;
	columns->grew = false;
	return grew;
}

/* ---- changes ---- */

static void count_everywhere(struct volume_columns *columns, const struct counted_volume *volume, int change)
{
	for (size_t f = 0; f < volume->families.count; f++) {
		struct claim_family *family = volume->families.items[f];
		for (size_t c = 0; c < family->columns.count; c++)
			count_volume(columns, volume, family, &family->columns.items[c], change);
	}
}

void volume_columns_volume(struct volume_columns *columns, const char *name)
{
	if (columns->recount)
		return;
	columns->pool_stale = true;
	struct counted_volume *volume;
	HASH_FIND(hh, columns->volumes, name, strlen(name), volume);
	if (volume) {
		count_everywhere(columns, volume, -1);
		free_volume(columns, volume);
	}
	const struct volume_spec *spec = volume_book_volume(columns->book, name);
	struct column_class *class_ = NULL;
	if (spec)
		HASH_FIND(hh, columns->classes, spec->class_, strlen(spec->class_), class_);
	volume = NULL;
	for (struct claim_family *family = class_ ? class_->families : NULL; family; family = family->next) {
		if (!volume_suits_claim(spec, &family->like))
			continue;
		volume = look_at_volume(columns, spec);
		vec_push(&volume->families, family);
	}
	if (volume)
		count_everywhere(columns, volume, 1);
}

void volume_columns_class(struct volume_columns *columns, const char *name)
{
	struct column_class *class_, *next;
	HASH_ITER(hh, columns->classes, class_, next)
		if (!name || strcmp(class_->name, name) == 0)
			class_->stale = columns->any_stale = true;
}

void volume_columns_nodes(struct volume_columns *columns)
{
	columns->recount = true;
	volume_attach_all(columns->attach);
}

void volume_columns_attached(struct volume_columns *columns, int node)
{
	if (node < 0)
		volume_attach_all(columns->attach);
	else
		volume_attach_node(columns->attach, node);
}

static void ask_where_made(struct volume_columns *columns)
{
	struct column_class *class_, *next;
	columns->any_stale = false;
	HASH_ITER(hh, columns->classes, class_, next) {
		for (struct claim_family *family = class_->families; family && class_->stale; family = family->next)
			for (size_t c = 0; c < family->columns.count; c++) {
				find_where_made(columns, family, &family->columns.items[c]);
				put_column(columns, family, &family->columns.items[c]);
			}
		class_->stale = false;
	}
}

void volume_columns_settle(struct volume_columns *columns)
{
	if (columns->recount)
		count_again(columns);
	if (columns->any_stale)
		ask_where_made(columns);
	if (columns->pool_stale)
		volume_pool_build(columns);
	columns->grew |= volume_attach_settle(columns->attach);
}
