/* The style and the script of the page of a report, in the program. */
#ifndef SIM_REPORT_FILES_H
#define SIM_REPORT_FILES_H

struct report_file {
	const char *name; /* NULL ends the table */
	const char *text;
};

extern const struct report_file report_files[];

#endif
