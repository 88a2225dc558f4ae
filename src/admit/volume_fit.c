/* Owns what fits what: volumes and claims, volumes and nodes, classes and nodes. */
#include "admit/volume_book.h"

#include "base/grow.h"

#include <string.h>

bool volume_is_for_claim(const struct volume_spec *volume, const struct claim_spec *claim)
{
	return volume->has_claim && strcmp(volume->claim_name, claim->name) == 0 &&
	       strcmp(volume->claim_namespace, claim->namespace_) == 0 &&
	       (!volume->claim_uid[0] || strcmp(volume->claim_uid, claim->uid) == 0);
}

bool volume_suits_claim(const struct volume_spec *volume, const struct claim_spec *claim)
{
	return volume->phase == VOLUME_AVAILABLE && !volume->deleting && !volume->has_claim &&
	       volume->block == claim->block && (volume->modes & claim->modes) == claim->modes &&
	       strcmp(volume->class_, claim->class_) == 0 &&
	       strcmp(volume->attributes_class, claim->attributes_class) == 0 &&
	       (!claim->has_selector || selector_matches(&claim->selector, &volume->labels, volume->name));
}

static bool any_term(const struct node_term *terms, size_t count, const struct labels *node, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (terms[i].selector.count && selector_matches(&terms[i].selector, node, name))
			return true;
	return false;
}

bool volume_reaches_node(const struct volume_spec *volume, const struct labels *node, const char *name)
{
	return !volume->has_terms || any_term(volume->terms, volume->term_count, node, name);
}

/* Whether the driver says where how much can be made, so that it has to be asked. */
static bool publishes_capacity(const struct volume_book *book, const struct storage_class_spec *class_)
{
	const struct csi_driver_spec *driver = volume_book_find(book, BOOK_DRIVER, "", class_->provisioner);
	return driver && driver->storage_capacity;
}

static bool has_capacity(const struct volume_book *book, const struct storage_class_spec *class_, int64_t size,
                         const struct labels *node, const char *name)
{
	for (const struct book_entry *at = volume_book_next(book, BOOK_CAPACITY, class_->name, NULL); at;
	     at = volume_book_next(book, BOOK_CAPACITY, class_->name, at)) {
		const struct storage_capacity_spec *capacity = volume_book_spec(at);
		if (capacity->has_topology && capacity->largest >= size &&
		    selector_matches(&capacity->topology, node, name))
			return true;
	}
	return false;
}

bool volume_can_be_made(const struct volume_book *book, const struct storage_class_spec *class_, bool has_size,
                        int64_t size, const struct labels *node, const char *name)
{
	if (!class_->provisioner)
		return false;
	if (class_->term_count && !any_term(class_->terms, class_->term_count, node, name))
		return false;
	return !has_size || !publishes_capacity(book, class_) || has_capacity(book, class_, size, node, name);
}

/* ---- terms ---- */

static const char *const zone_keys[] = {
	"topology.kubernetes.io/zone",
	"topology.kubernetes.io/region",
	"failure-domain.beta.kubernetes.io/zone",
	"failure-domain.beta.kubernetes.io/region",
};
enum { ZONE_KEYS = 4 };

static void add_term(struct volume_terms *terms, struct arena *arena, struct selector selector)
{
	if (terms->term_count == terms->term_capacity)
		terms->terms = grow_array(arena, terms->terms, terms->term_count, &terms->term_capacity,
		                          sizeof(*terms->terms));
	terms->terms[terms->term_count++] = (struct node_term){.selector = selector};
	terms->counts[terms->count - 1]++;
}

static void begin_volume(struct volume_terms *terms, struct arena *arena)
{
	if (terms->count == terms->capacity)
		terms->counts =
			grow_array(arena, terms->counts, terms->count, &terms->capacity, sizeof(*terms->counts));
	terms->counts[terms->count++] = 0;
}

static struct selector one_match(struct arena *arena, struct match match)
{
	struct selector selector = {.items = arena_new(arena, struct match), .count = 1};
	selector.items[0] = match;
	return selector;
}

/* Values of a zone label: one, or several joined by two underscores. */
static const char **split_zones(struct arena *arena, const char *text, size_t *count)
{
	const char **values = arena_array(arena, const char *, strlen(text) / 2 + 1);
	*count = 0;
	while (text) {
		const char *end = strstr(text, "__");
		size_t length = end ? (size_t)(end - text) : strlen(text);
		while (length && *text == ' ') {
			text++;
			length--;
		}
		while (length && text[length - 1] == ' ')
			length--;
		values[(*count)++] = arena_strndup(arena, text, length);
		text = end ? end + 2 : NULL;
	}
	return values;
}

/* A volume with a zone goes to nodes of that zone, and to nodes that say nothing of zones or regions at all. The label of old
 * volumes is also served by the one of today. */
static void add_zone(struct volume_terms *terms, struct arena *arena, int key, const char *text)
{
	size_t count;
	const char **values = split_zones(arena, text, &count);
	begin_volume(terms, arena);
	for (int k = key; k >= 0; k -= 2)
		add_term(terms, arena,
		         one_match(arena, (struct match){.key = zone_keys[k],
		                                         .op = MATCH_IN,
		                                         .values = values,
		                                         .value_count = count}));
	struct selector none = {.items = arena_array(arena, struct match, ZONE_KEYS), .count = ZONE_KEYS};
	for (int k = 0; k < ZONE_KEYS; k++)
		none.items[k] = (struct match){.key = zone_keys[k], .op = MATCH_NOT_EXISTS};
	add_term(terms, arena, none);
}

static void add_node_name(struct volume_terms *terms, struct arena *arena, const char *node)
{
	const char **value = arena_new(arena, const char *);
	*value = node;
	begin_volume(terms, arena);
	add_term(terms, arena,
	         one_match(arena, (struct match){.key = "metadata.name",
	                                         .op = MATCH_IN,
	                                         .values = value,
	                                         .value_count = 1,
	                                         .field_name = true}));
}

void volume_terms_add(struct volume_terms *terms, const struct claim_answer *answer, struct arena *arena)
{
	const struct volume_spec *volume = answer->volume;
	if (answer->verdict == CLAIM_MAKING) {
		add_node_name(terms, arena, answer->claim->selected_node);
		if (answer->class_->term_count == 0)
			return;
		begin_volume(terms, arena);
		for (size_t i = 0; i < answer->class_->term_count; i++)
			add_term(terms, arena, answer->class_->terms[i].selector);
	}
	if (!volume)
		return;
	if (volume->has_terms) {
		begin_volume(terms, arena);
		for (size_t i = 0; i < volume->term_count; i++)
			add_term(terms, arena, volume->terms[i].selector);
	}
	for (int key = 0; key < ZONE_KEYS && answer->verdict == CLAIM_BOUND; key++) {
		const char *text = labels_get(&volume->labels, zone_keys[key]);
		if (text)
			add_zone(terms, arena, key, text);
	}
}
