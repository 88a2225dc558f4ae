/* The files of the dashboard, which are part of the program. web/embed.py writes the other side of this. */
#ifndef SERVE_DASHBOARD_FILES_H
#define SERVE_DASHBOARD_FILES_H

#include <stddef.h>

struct dashboard_file {
	const char *name; /* below DASHBOARD_PATH/ */
	const char *type;
	const char *tag; /* changes with the content; with its quotes */
	const char *data, *data_end;
	const char *gzip, *gzip_end;
};

extern const struct dashboard_file dashboard_files[];
extern const size_t dashboard_file_count;

#endif
