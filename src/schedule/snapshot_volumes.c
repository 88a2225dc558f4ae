/* Owns the volumes of the snapshot: the book they are written in, and which claims pods share. */
#include "schedule/snapshot_build.h"

#include <stdlib.h>

_Static_assert((int)KIND_ATTACHMENT - (int)KIND_CLAIM == (int)BOOK_ATTACHMENT - (int)BOOK_CLAIM &&
                       (int)KIND_VOLUME - (int)KIND_CLAIM == (int)BOOK_VOLUME &&
                       (int)KIND_CSI_NODE - (int)KIND_CLAIM == (int)BOOK_CSI_NODE,
               "kinds of storage are numbered alike in both layers");

static void read_objects(struct snapshot_build *build, enum book_kind kind)
{
	const struct build_slice *slice = &build->kinds[KIND_CLAIM + (int)kind];
	bool namespaced = kind == BOOK_CLAIM || kind == BOOK_CAPACITY;
	struct interner *names = interner_create();
	for (size_t i = 0; i < slice->count; i++) {
		const struct manifest *manifest = slice->items[i];
		const char *key = namespaced ? build_key(build, manifest->namespace_, manifest->name) : manifest->name;
		struct problems problems = {.arena = build->arena};
		if (!build_claim_name(build, names, key, manifest))
			continue;
		volume_book_set(build->book, kind, manifest->object, &problems);
		build_verdict(build, manifest, &problems);
	}
	interner_destroy(names);
}

static size_t count_users(const void *context, const char *namespace_, const char *claim)
{
	const struct snapshot *snapshot = context;
	return build_count_users(&snapshot->claim_users, namespace_, claim);
}

static const char *attached_key(struct buffer *key, const char *volume, int node)
{
	key->length = 0;
	buffer_printf(key, "%d %s", node, volume);
	return key->text;
}

static bool is_on_node(const void *context, const char *volume, int node)
{
	const struct snapshot *snapshot = context;
	struct buffer key = {0};
	bool found = interner_find(snapshot->used_volumes, attached_key(&key, volume, node)) != UINT32_MAX;
	buffer_free(&key);
	return found;
}

void build_used_volumes(struct snapshot_build *build)
{
	struct snapshot *snapshot = build->snapshot;
	struct buffer key = {0};
	for (size_t i = 0; i < snapshot->pod_count; i++) {
		const struct snapshot_pod *pod = &snapshot->pods[i];
		for (size_t c = 0; pod->node >= 0 && c < pod->spec->claim_count; c++) {
			const struct claim_spec *claim =
				volume_book_claim(build->book, pod->namespace_, pod->spec->claims[c]);
			if (claim && claim->volume)
				interner_id(snapshot->used_volumes, attached_key(&key, claim->volume, pod->node));
		}
	}
	buffer_free(&key);
	volume_columns_attached(build->columns, -1);
}

void build_volumes(struct snapshot_build *build)
{
	struct snapshot *snapshot = build->snapshot;
	build->book = snapshot->book = volume_book_create();
	for (int kind = 0; kind < BOOK_KINDS; kind++)
		read_objects(build, (enum book_kind)kind);
	snapshot->used_volumes = interner_create();
	static const struct volume_callbacks callbacks = {count_users, is_on_node};
	build->columns = snapshot->columns =
		volume_columns_create(build->book, snapshot->cycle.cluster, &callbacks, snapshot);
}

void build_claims(struct snapshot_build *build, const struct pod_spec *const *pods, size_t count)
{
	struct snapshot *snapshot = build->snapshot;
	size_t claims = 0;
	for (size_t i = 0; i < count; i++)
		claims += pods[i]->claim_count;
	build_users(build, &snapshot->claim_users, claims);
	for (size_t i = 0; i < count; i++)
		for (size_t c = 0; c < pods[i]->claim_count; c++)
			build_user(build, &snapshot->claim_users, pods[i], pods[i]->claims[c]);
	/* All sizes are known before it is said what a pod takes. */
	struct arena *arena = arena_create();
	for (size_t i = 0; i < count; i++)
		if (pods[i]->claim_count)
			volume_columns_ask(build->columns, pods[i], arena);
	arena_destroy(arena);
}
