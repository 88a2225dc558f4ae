/* Files that only their owner may read: keys, tokens, kubeconfigs. */
#ifndef SERVE_TLS_SECRET_FILE_H
#define SERVE_TLS_SECRET_FILE_H

#include "base/error.h"
#include "base/strings.h"

/* Makes the directory (and its parents) for its owner only; one that exists is left as it is. */
int secret_directory(const char *path, struct error *error);
/* Writes a new file with mode 0600 beside the old one and puts it in its place, so that nobody sees half of it. */
int secret_write(const char *path, const char *text, size_t length, struct error *error);
/* 1 and *text; 0 when there is no such file; -1 when it cannot be read. At most 1 MiB. */
int secret_read(const char *path, struct buffer *text, struct error *error);

#endif
