/* The error table: one sentence of advice per code. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const advice[] = {
	[ERROR_NONE] = "Nothing to do.",
	[ERROR_USAGE] = "Check the command line; --help lists what it accepts.",
	[ERROR_IO] = "Check that the path exists, is readable and that the disk is not full, then try again.",
	[ERROR_SYNTAX] = "Correct the text at the line and column named.",
	[ERROR_LIMIT] = "Make the input smaller or less nested, for example by splitting it over several files.",
	[ERROR_RANGE] = "Use a number that fits a signed 64-bit integer.",
	[ERROR_INVALID] = "Correct the fields named; each problem says how.",
	[ERROR_NOT_FOUND] = "Check the name and the namespace; names are case sensitive.",
	[ERROR_CONFLICT] = "Somebody else changed the object: read it again and repeat the change.",
	[ERROR_INTERNAL] = "This is a defect of platoon: please report it with the input that led here.",
};

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

const char *error_advice(enum error_code code)
{
	unsigned index = (unsigned)code;
	return advice[index < sizeof(advice) / sizeof(*advice) ? index : ERROR_INTERNAL];
}
