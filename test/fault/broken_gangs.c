/* A scheduler that has forgotten what a gang is, for the test of the fault runs: every placement is asked for as if one
 * pod of each leaf and one child of each parent were enough, and nobody holds back what is bound of a gang that is not
 * whole. The linker puts these in front of the real functions. */
#include "engine/place/place.h"
#include "engine/cycle/reserve.h"

enum place_outcome __real_engine_place(struct cluster *cluster, const struct gang *gang,
                                       const struct place_options *options, struct arena *arena, struct placement *out);
enum place_outcome __wrap_engine_place(struct cluster *cluster, const struct gang *gang,
                                       const struct place_options *options, struct arena *arena, struct placement *out);

enum place_outcome __wrap_engine_place(struct cluster *cluster, const struct gang *gang,
                                       const struct place_options *options, struct arena *arena, struct placement *out)
{
	struct gang easy = *gang;
	easy.tree = arena_array(arena, struct gang_node, gang->tree_count);
	for (size_t n = 0; n < gang->tree_count; n++) {
		easy.tree[n] = gang->tree[n];
		if (easy.tree[n].minimum > 1)
			easy.tree[n].minimum = 1;
	}
	return __real_engine_place(cluster, &easy, options, arena, out);
}

void __wrap_reserve_whole_gangs(struct cycle *cycle);

void __wrap_reserve_whole_gangs(struct cycle *cycle)
{
	(void)cycle;
	(void)reserve_whole_gangs; /* does not compile when that has another name: then nothing would be replaced */
}
