/* The error table: names, whether a retry helps, and one sentence of advice per code. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

struct error_row {
	const char *name;
	bool retry;
	const char *advice;
};

static const struct error_row rows[] = {
	[ERROR_NONE] = {"ok", false, "Nothing to do."},
	[ERROR_USAGE] = {"usage", false, "Check the command line; --help lists what it accepts."},
	[ERROR_IO] = {"io", true,
                      "Check that the path exists, is readable and that the disk is not full, then try again."},
	[ERROR_SYNTAX] = {"syntax", false, "Correct the text at the line and column named."},
	[ERROR_LIMIT] = {"limit", false,
                         "Make the input smaller or less nested, for example by splitting it over several files."},
	[ERROR_RANGE] = {"range", false, "Use a number that fits a signed 64-bit integer."},
	[ERROR_INVALID] = {"invalid", false, "Correct the fields named; each problem says how."},
	[ERROR_NOT_FOUND] = {"not found", false, "Check the name and the namespace; names are case sensitive."},
	[ERROR_CONFLICT] = {"conflict", true, "Somebody else changed the object: read it again and repeat the change."},
	[ERROR_INTERNAL] = {"internal", false,
                            "This is a defect of platoon: please report it with the input that led here."},
};

static const struct error_row *row_of(enum error_code code)
{
	unsigned index = (unsigned)code;
	return &rows[index < sizeof(rows) / sizeof(rows[0]) ? index : ERROR_INTERNAL];
}

int error_set(struct error *error, enum error_code code, const char *format, ...)
{
	if (!error)
		return -1;
	error->code = code;
	va_list args;
	va_start(args, format);
	if (vsnprintf(error->text, sizeof(error->text), format, args) < 0)
		error->text[0] = '\0';
	va_end(args);
	return -1;
}

const char *error_name(enum error_code code)
{
	return row_of(code)->name;
}

bool error_retry_helps(enum error_code code)
{
	return row_of(code)->retry;
}

const char *error_advice(enum error_code code)
{
	return row_of(code)->advice;
}
