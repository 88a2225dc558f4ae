/* Owns the choice of volumes for decided pods: a matching of claims and volumes, the smallest volume that fits first. */
#include "schedule/volume_choice.h"

#include "admit/volume_book.h"
#include "base/hash.h"
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#define HOSTNAME "kubernetes.io/hostname"

struct offer { /* a volume that claims may get */
	const struct volume_spec *volume;
	const char *host; /* the only host it may be reached from, "" when that takes more to say */
	int taken;        /* number of the wish that has it, -1 for none */
	int visited;      /* by the search of that number */
};

struct offer_class { /* of one storage class, by host, then size, then name */
	const char *name;
	struct offer *offers;
	size_t count;
	struct offer_class *next;
};

struct wish { /* an open claim */
	const struct claim_spec *claim;
	const struct storage_class_spec *class_;
	size_t choice; /* in the result */
	size_t *pods;  /* those that name it */
	size_t pod_count;
	struct offer **offers; /* smallest first */
	size_t offer_count;
	struct offer *got;
	bool can_be_made;
};

struct choosing {
	const struct volume_book *book;
	const struct volume_pod *pods;
	struct arena *arena;
	struct volume_choices *out;
	struct interner *names; /* "namespace/claim": number in `seen` */
	struct wish **seen;     /* NULL: no wish, it is chosen already */
	struct wish *wishes;
	size_t wish_count;
	struct offer_class *classes;
	int searches;
};

/* ---- what there is ---- */

static const char *only_host(const struct volume_spec *volume)
{
	if (!volume->has_terms || volume->term_count != 1)
		return "";
	const struct selector *selector = &volume->terms[0].selector;
	for (size_t i = 0; i < selector->count; i++)
		if (!selector->items[i].field_name && selector->items[i].op == MATCH_IN &&
		    selector->items[i].value_count == 1 && strcmp(selector->items[i].key, HOSTNAME) == 0)
			return selector->items[i].values[0];
	return "";
}

static int compare_offers(const void *left, const void *right)
{
	const struct offer *a = left, *b = right;
	int order = strcmp(a->host, b->host);
	if (order)
		return order;
	if (a->volume->capacity != b->volume->capacity)
		return a->volume->capacity < b->volume->capacity ? -1 : 1;
	return strcmp(a->volume->name, b->volume->name);
}

static struct offer_class *offers_of(struct choosing *choosing, const char *name)
{
	struct offer_class *class_ = choosing->classes;
	while (class_ && strcmp(class_->name, name) != 0)
		class_ = class_->next;
	if (class_)
		return class_;
	class_ = arena_new(choosing->arena, struct offer_class);
	*class_ = (struct offer_class){.name = name, .next = choosing->classes};
	choosing->classes = class_;
	const struct book_entry *at = NULL;
	size_t count = 0;
	while ((at = volume_book_next(choosing->book, BOOK_VOLUME, name, at)))
		count++;
	class_->offers = arena_array(choosing->arena, struct offer, count);
	while ((at = volume_book_next(choosing->book, BOOK_VOLUME, name, at))) {
		const struct volume_spec *volume = volume_book_spec(at);
		if (volume->phase == VOLUME_AVAILABLE && !volume->deleting && !volume->has_claim)
			class_->offers[class_->count++] =
				(struct offer){.volume = volume, .host = only_host(volume), .taken = -1};
	}
	if (class_->count > 1)
		qsort(class_->offers, class_->count, sizeof(*class_->offers), compare_offers);
	return class_;
}

/* ---- what is wished for ---- */

static bool reaches_pods(const struct choosing *choosing, const struct volume_spec *volume, const struct wish *wish)
{
	for (size_t i = 0; i < wish->pod_count; i++) {
		const struct volume_pod *pod = &choosing->pods[wish->pods[i]];
		if (!volume_reaches_node(volume, pod->labels, pod->node))
			return false;
	}
	return true;
}

static void take_range(const struct choosing *choosing, struct wish *wish, struct offer_class *class_, const char *host)
{
	size_t low = 0, high = class_->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(class_->offers[middle].host, host) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < class_->count && strcmp(class_->offers[low].host, host) == 0; low++) {
		struct offer *offer = &class_->offers[low];
		if (offer->volume->capacity >= wish->claim->request && volume_suits_claim(offer->volume, wish->claim) &&
		    reaches_pods(choosing, offer->volume, wish))
			wish->offers[wish->offer_count++] = offer;
	}
}

static int compare_sizes(const void *left, const void *right)
{
	const struct volume_spec *a = (*(struct offer *const *)left)->volume,
				 *b = (*(struct offer *const *)right)->volume;
	if (a->capacity != b->capacity)
		return a->capacity < b->capacity ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void find_offers(struct choosing *choosing, struct wish *wish)
{
	struct offer_class *class_ = offers_of(choosing, wish->claim->class_);
	const char *host = labels_get(choosing->pods[wish->pods[0]].labels, HOSTNAME);
	wish->offers = arena_array(choosing->arena, struct offer *, class_->count);
	take_range(choosing, wish, class_, "");
	if (host && *host)
		take_range(choosing, wish, class_, host);
	if (wish->offer_count > 1)
		qsort(wish->offers, wish->offer_count, sizeof(*wish->offers), compare_sizes);
	/* What is made for one node may be out of reach for another, unless it is meant for many. */
	bool many = wish->claim->modes & (ACCESS_READ_WRITE_MANY | ACCESS_READ_ONLY_MANY);
	wish->can_be_made = true;
	for (size_t i = 0; i < wish->pod_count && wish->can_be_made; i++) {
		const struct volume_pod *pod = &choosing->pods[wish->pods[i]];
		wish->can_be_made = volume_can_be_made(choosing->book, wish->class_, wish->claim->has_request,
		                                       wish->claim->request, pod->labels, pod->node) &&
		                    (many || strcmp(pod->node, choosing->pods[wish->pods[0]].node) == 0);
	}
}

/* ---- who gets what ---- */

static void give(struct choosing *choosing, struct wish *wish, struct offer *offer)
{
	offer->taken = (int)(wish - choosing->wishes);
	wish->got = offer;
}

/* Finds a volume for the wish, others giving up theirs for another one where need be. */
static bool serve(struct choosing *choosing, struct wish *wish)
{
	for (size_t i = 0; i < wish->offer_count; i++)
		if (wish->offers[i]->taken < 0) {
			give(choosing, wish, wish->offers[i]);
			return true;
		}
	for (size_t i = 0; i < wish->offer_count; i++) {
		struct offer *offer = wish->offers[i];
		if (offer->visited == choosing->searches)
			continue;
		offer->visited = choosing->searches;
		if (serve(choosing, &choosing->wishes[offer->taken])) {
			give(choosing, wish, offer);
			return true;
		}
	}
	return false;
}

static void refuse(struct choosing *choosing, size_t pod, const char *problem)
{
	if (choosing->out->problem)
		return;
	choosing->out->problem = problem;
	choosing->out->problem_pod = pod;
}

static void serve_all(struct choosing *choosing)
{
	for (int made = 0; made < 2; made++)
		for (size_t w = 0; w < choosing->wish_count; w++) {
			struct wish *wish = &choosing->wishes[w];
			if (wish->can_be_made != made)
				continue;
			choosing->searches++;
			if (!serve(choosing, wish) && !made)
				refuse(choosing, wish->pods[0],
				       arena_printf(
					       choosing->arena,
					       "no volume of class \"%s\" is left on node %s for persistentvolumeclaim "
					       "\"%s\"",
					       wish->claim->class_, choosing->pods[wish->pods[0]].node,
					       wish->claim->name));
		}
	for (size_t w = 0; w < choosing->wish_count; w++)
		if (choosing->wishes[w].got)
			choosing->out->items[choosing->wishes[w].choice].volume = choosing->wishes[w].got->volume->name;
}

/* ---- the claims of the pods ---- */

static void add_choice(struct choosing *choosing, size_t pod, const struct claim_answer *answer)
{
	struct volume_choice *choice = &choosing->out->items[choosing->out->count++];
	*choice = (struct volume_choice){.pod = pod,
	                                 .namespace_ = answer->claim->namespace_,
	                                 .claim = answer->claim->name,
	                                 .node = choosing->pods[pod].node,
	                                 .written = answer->verdict == CLAIM_MAKING};
	if (answer->verdict == CLAIM_CHOSEN) {
		choice->volume = answer->volume->name;
		choice->written = answer->volume->claim_uid[0] != 0;
	}
}

/* Whether a volume that is chosen, or being made, can be reached from the node. */
static void check_chosen(struct choosing *choosing, size_t pod, const struct claim_answer *answer)
{
	const struct volume_pod *at = &choosing->pods[pod];
	if (answer->verdict == CLAIM_CHOSEN && !volume_reaches_node(answer->volume, at->labels, at->node))
		refuse(choosing, pod,
		       arena_printf(choosing->arena,
		                    "volume \"%s\" of persistentvolumeclaim \"%s\" is out of reach of node %s",
		                    answer->volume->name, answer->claim->name, at->node));
	if (answer->verdict == CLAIM_MAKING && strcmp(answer->claim->selected_node, at->node) != 0)
		refuse(choosing, pod,
		       arena_printf(choosing->arena,
		                    "the volume of persistentvolumeclaim \"%s\" is being made for node %s",
		                    answer->claim->name, answer->claim->selected_node));
}

static void read_claim(struct choosing *choosing, size_t pod, size_t number, size_t most)
{
	const struct pod_spec *spec = choosing->pods[pod].pod;
	struct claim_answer answer = volume_book_ask(choosing->book, spec, number, choosing->arena);
	if (answer.verdict == CLAIM_BLOCKED)
		refuse(choosing, pod, answer.problem);
	if (answer.verdict == CLAIM_BLOCKED || answer.verdict == CLAIM_BOUND)
		return;
	check_chosen(choosing, pod, &answer);
	const char *key = arena_printf(choosing->arena, "%s/%s", spec->namespace_, spec->claims[number]);
	uint32_t known = interner_count(choosing->names), id = interner_id(choosing->names, key);
	if (id == known) {
		add_choice(choosing, pod, &answer);
		if (answer.verdict != CLAIM_OPEN)
			return;
		struct wish *wish = choosing->seen[id] = &choosing->wishes[choosing->wish_count++];
		*wish = (struct wish){.claim = answer.claim,
		                      .class_ = answer.class_,
		                      .choice = choosing->out->count - 1};
	}
	struct wish *wish = choosing->seen[id];
	if (!wish)
		return;
	if (!wish->pods || wish->pod_count == 1) { /* most claims have one pod: room for all only when there are more */
		size_t *pods = arena_array(choosing->arena, size_t, wish->pods ? most : 1);
		if (wish->pods)
			pods[0] = wish->pods[0];
		wish->pods = pods;
	}
	wish->pods[wish->pod_count++] = pod;
}

struct volume_choices volume_choices_find(const struct volume_book *book, const struct volume_pod *pods, size_t count,
                                          struct arena *arena)
{
	struct volume_choices out = {0};
	size_t claims = 0;
	for (size_t i = 0; i < count; i++)
		claims += pods[i].pod->claim_count;
	if (claims == 0)
		return out;
	struct choosing choosing = {.book = book,
	                            .pods = pods,
	                            .arena = arena,
	                            .out = &out,
	                            .names = interner_create(),
	                            .seen = arena_array(arena, struct wish *, claims),
	                            .wishes = arena_array(arena, struct wish, claims)};
	out.items = arena_array(arena, struct volume_choice, claims);
	for (size_t i = 0; i < count; i++)
		for (size_t c = 0; c < pods[i].pod->claim_count; c++)
			read_claim(&choosing, i, c, claims);
	for (size_t w = 0; w < choosing.wish_count && !out.problem; w++)
		find_offers(&choosing, &choosing.wishes[w]);
	if (!out.problem)
		serve_all(&choosing);
	interner_destroy(choosing.names);
	if (out.problem)
		out.count = 0;
	return out;
}
