/* Owns what SchedulingShards change in their pools: the order in which nodes are taken, and what settings and queues do not
 * say. */
#include "schedule/snapshot_build.h"

#include "admit/shard.h"

#include <string.h>

static enum node_order order_of(enum shard_order said, enum node_order usual)
{
	return said == SHARD_UNSAID ? usual : said == SHARD_SPREAD ? ORDER_SPREAD : ORDER_BINPACK;
}

void build_shards(struct snapshot_build *build)
{
	const struct build_slice *slice = &build->kinds[KIND_SHARD];
	struct strategy usual = build->settings->strategy;
	build->shards = arena_array(build->arena, struct shard_spec, slice->count);
	for (size_t i = 0; i < slice->count; i++) {
		struct problems ignored = {.arena = build->arena};
		struct shard_spec *shard = &build->shards[build->shard_count];
		build_judge(build, slice->items[i], build->arena);
		if (shard_decode(slice->items[i]->object, build->arena, shard, &ignored) < 0 ||
		    build_shard(build, shard->pool))
			continue;
		build->shard_count++;
		cluster_set_pool_strategy(build->snapshot->cycle.cluster, shard->pool,
		                          (struct strategy){.gpu = order_of(shard->gpu, usual.gpu),
		                                            .cpu = order_of(shard->cpu, usual.cpu)});
	}
}

const struct shard_spec *build_shard(const struct snapshot_build *build, const char *pool)
{
	for (size_t i = 0; i < build->shard_count; i++)
		if (text_equal(build->shards[i].pool, pool && *pool ? pool : NULL))
			return &build->shards[i];
	return NULL;
}
