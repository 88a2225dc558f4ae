/* Owns the order in which the children of a part are searched. */
#include "engine/place/solver.h"

#include <stdlib.h>

/* Children that are hard to place come first: few copies fit, many pods needed. Spec order breaks ties. */
struct hardness {
	int want;
	int64_t copies, pods; /* copies: how many fit */
	int class_;
	int order;
};

static int compare_hardness(const void *left, const void *right)
{
	const struct hardness *a = left, *b = right;
	if (a->copies != b->copies)
		return a->copies < b->copies ? -1 : 1;
	if (a->pods != b->pods)
		return a->pods > b->pods ? -1 : 1;
	if (a->class_ != b->class_)
		return a->class_ < b->class_ ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

void search_order_kids(struct solver *solver)
{
	size_t widest = 1;
	for (int w = 0; w < solver->want_count; w++)
		if ((size_t)solver->wants[w].kid_count > widest)
			widest = (size_t)solver->wants[w].kid_count;
	struct hardness *list = arena_array(solver->arena, struct hardness, widest);
	for (int w = 0; w < solver->want_count; w++) {
		struct want *want = &solver->wants[w];
		int *kids = solver->kids + want->first_kid;
		if (want->need < want->kid_count) {
			for (int k = 0; k < want->kid_count; k++)
				solver->wants[kids[k]].rest = want->need;
			continue;
		}
		for (int k = 0; k < want->kid_count; k++) {
			const struct want *kid = &solver->wants[kids[k]];
			const struct part_class *class_ = &solver->classes[kid->class_];
			int64_t copies = COPIES_CAP;
			for (int t = 0; t < solver->topology_count; t++)
				if (solver->bound_total[t][kid->class_] < copies)
					copies = solver->bound_total[t][kid->class_];
			list[k] =
				(struct hardness){.want = kids[k], .copies = copies, .class_ = kid->class_, .order = k};
			for (int s = 0; s < solver->shape_count; s++)
				list[k].pods += class_->least[s];
		}
		qsort(list, (size_t)want->kid_count, sizeof(*list), compare_hardness);
		for (int k = want->kid_count; k-- > 0;) {
			kids[k] = list[k].want;
			bool same = k + 1 < want->kid_count && list[k + 1].class_ == list[k].class_;
			solver->wants[kids[k]].rest = same ? solver->wants[kids[k + 1]].rest + 1 : 1;
		}
	}
}
