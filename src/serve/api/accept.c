/* Content negotiation: JSON in several forms, and YAML. */
#include "serve/api/internal.h"

#include <string.h>
#include <strings.h>

/* A part of a header, not terminated. */
struct part {
	const char *text;
	size_t length;
};

static bool is(struct part part, const char *text)
{
	return part.length == strlen(text) && strncasecmp(part.text, text, part.length) == 0;
}

static struct part trimmed(const char *text, size_t length)
{
	while (length > 0 && (*text == ' ' || *text == '\t')) {
		text++;
		length--;
	}
	while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		length--;
	return (struct part){text, length};
}

/* The next piece up to the separator; moves *rest behind it. */
static struct part next(struct part *rest, char separator)
{
	const char *end = memchr(rest->text, separator, rest->length);
	size_t length = end ? (size_t)(end - rest->text) : rest->length;
	struct part piece = trimmed(rest->text, length);
	size_t skip = end ? length + 1 : length;
	rest->text += skip;
	rest->length -= skip;
	return piece;
}

struct range {
	struct part type, as, group, version;
	bool refused;
};

static struct range read_range(struct part text)
{
	struct range range = {.type = next(&text, ';')};
	while (text.length > 0) {
		struct part value = next(&text, ';');
		struct part key = next(&value, '=');
		value = trimmed(value.text, value.length);
		if (is(key, "as"))
			range.as = value;
		else if (is(key, "g"))
			range.group = value;
		else if (is(key, "v"))
			range.version = value;
		else if (is(key, "q"))
			range.refused = is(value, "0") || is(value, "0.0") || is(value, "0.00") || is(value, "0.000");
	}
	return range;
}

static bool choose_form(struct api_call *call, const struct range *range)
{
	bool meta = is(range->group, "meta.k8s.io") && (is(range->version, "v1") || is(range->version, "v1beta1"));
	if (range->as.length == 0)
		call->form = API_PLAIN;
	else if (is(range->as, "Table") && meta)
		call->form = API_TABLE;
	else if ((is(range->as, "PartialObjectMetadata") || is(range->as, "PartialObjectMetadataList")) && meta)
		call->form = API_METADATA;
	else if (is(range->as, "APIGroupDiscoveryList") && is(range->group, "apidiscovery.k8s.io") &&
	         (is(range->version, "v2") || is(range->version, "v2beta1")))
		call->form = API_DISCOVERY;
	else
		return false;
	call->form_version =
		arena_strndup(call->arena, range->version.text ? range->version.text : "", range->version.length);
	return true;
}

int api_accept(struct api_call *call)
{
	const char *header = http_header(call->request, "accept");
	call->form_version = "";
	if (!header || !*header)
		return 0;
	struct part rest = {header, strlen(header)};
	while (rest.length > 0) {
		struct range range = read_range(next(&rest, ','));
		bool yaml = is(range.type, "application/yaml");
		bool json =
			is(range.type, "application/json") || is(range.type, "application/*") || is(range.type, "*/*");
		if (range.refused || !(json || yaml) || !choose_form(call, &range))
			continue;
		call->yaml = yaml;
		return 0;
	}
	return -1;
}
