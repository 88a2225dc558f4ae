/* Reviews of the webhooks. The first byte picks the path; whatever is sent, the answer to a review is a review. */
#include "fuzz.h"

#include "serve/webhook/webhook.h"

#include <string.h>

static struct doc *mutate(void *context, const struct val *pod)
{
	(void)context;
	struct buffer text = {0};
	val_write(pod, DOC_JSON_COMPACT, &text);
	struct doc *doc = doc_parse_json(text.text, text.length, NULL);
	buffer_free(&text);
	return doc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct store *store;
	static struct webhook *webhook;
	struct error error;
	if (!store) {
		store = store_open(&(struct store_options){.bare = true}, &error);
		webhook = webhook_create(&(struct webhook_options){.store = store, .mutate = mutate});
	}
	if (size == 0)
		return 0;
	struct buffer out = {0};
	const char *body = (const char *)data + 1;
	int code = data[0] % 3 == 0   ? webhook_validate(webhook, body, size - 1, false, &out)
	           : data[0] % 3 == 1 ? webhook_mutate(webhook, body, size - 1, &out)
	                              : webhook_convert(webhook, body, size - 1, &out);
	fuzz_require(code == 200 || code == 400);
	fuzz_require(out.length > 0);
	if (code == 200) {
		struct doc *doc = doc_parse_json(out.text, out.length, &error);
		fuzz_require(doc && val_str(val_path(doc_root(doc), "response", "uid", NULL), "")[0]);
		doc_destroy(doc);
	}
	buffer_free(&out);
	return 0;
}
