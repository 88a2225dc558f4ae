/* Owns JSON that is written straight into a buffer: strings, and members of maps. */
#include "object/json.h"

#include <inttypes.h>

void json_quote(struct buffer *out, const char *text)
{
	static const char hex[] = "0123456789abcdef";
	buffer_puts(out, "\"");
	for (const char *at = text; *at;) {
		size_t plain = 0;
		while ((unsigned char)at[plain] >= ' ' && at[plain] != '"' && at[plain] != '\\')
			plain++;
		buffer_append(out, at, plain);
		at += plain;
		unsigned char c = (unsigned char)*at;
		if (!c)
			break;
		char escape[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
		if (c == '"' || c == '\\') {
			escape[1] = (char)c;
			buffer_append(out, escape, 2);
		} else {
			buffer_append(out, escape, sizeof(escape));
		}
		at++;
	}
	buffer_puts(out, "\"");
}

void json_put_key(struct buffer *out, const char *key)
{
	if (out->length > 0 && out->text[out->length - 1] != '{')
		buffer_puts(out, ",");
	json_quote(out, key);
	buffer_puts(out, ":");
}

void json_put_string(struct buffer *out, const char *key, const char *text)
{
	json_put_key(out, key);
	json_quote(out, text);
}

void json_put_int(struct buffer *out, const char *key, int64_t number)
{
	json_put_key(out, key);
	buffer_printf(out, "%" PRId64, number);
}
