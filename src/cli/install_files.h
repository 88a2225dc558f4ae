/* The files of deploy/chart, in the program: what `platoon install` prints is rendered from them. */
#ifndef CLI_INSTALL_FILES_H
#define CLI_INSTALL_FILES_H

struct install_file {
	const char *name; /* relative to the chart; NULL ends the table */
	const char *text;
};

extern const struct install_file install_files[];

#endif
