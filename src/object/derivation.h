/* Derivation: how something is computed from a document, for whoever owns documents and keeps what was computed with them.
 * One constant per kind of thing; the layers that read documents define them, those that own documents call them. */
#ifndef OBJECT_DERIVATION_H
#define OBJECT_DERIVATION_H

#include "base/labels.h"
#include "object/doc.h"

struct derivation;

/* What every derived thing begins with. Whoever owns the document fills it in. */
struct derived {
	const struct derivation *by;
	unsigned holders;
};

struct derivation {
	/* Never NULL. It may point into the document and into `labels`, which are its metadata.labels, sorted: both live
	 * longer than it does. */
	struct derived *(*derive)(const struct val *root, const struct labels *labels);
	void (*destroy)(struct derived *derived);
};

#endif
