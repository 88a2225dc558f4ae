/* Types of expressions: what agrees with what. */
#include "cel/internal.h"

const struct type cel_type_any = {TYPE_ANY, NULL};
const struct type cel_type_dyn = {TYPE_DYN, NULL};
const struct type cel_type_bool = {TYPE_BOOL, NULL};
const struct type cel_type_int = {TYPE_INT, NULL};
const struct type cel_type_string = {TYPE_STRING, NULL};
const struct type cel_type_version = {TYPE_VERSION, NULL};
const struct type cel_type_quantity = {TYPE_QUANTITY, NULL};

bool cel_type_is_dynamic(const struct type *type)
{
	return type->kind == TYPE_ANY || type->kind == TYPE_DYN;
}

bool cel_type_agrees(const struct type *a, const struct type *b)
{
	if (cel_type_is_dynamic(a) || cel_type_is_dynamic(b))
		return true;
	return a->kind == b->kind && (!a->of || cel_type_agrees(a->of, b->of));
}

const struct type *cel_type_join(const struct type *a, const struct type *b)
{
	if (!cel_type_agrees(a, b))
		return NULL;
	if (cel_type_is_dynamic(b))
		return b;
	if (cel_type_is_dynamic(a))
		return a;
	/* Lists of lists and their like keep the first one's type: what is read from them is checked again. */
	return a;
}
