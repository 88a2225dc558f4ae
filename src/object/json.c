/* JSON strings. */
#include "object/json.h"

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
