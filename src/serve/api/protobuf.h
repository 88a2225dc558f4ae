/* Kubernetes protobuf bodies: kubectl sends a few of its requests in this form and does not fall back to JSON. */
#ifndef SERVE_API_PROTOBUF_H
#define SERVE_API_PROTOBUF_H

#include "object/doc.h"

/* The object as if it had been sent as JSON. NULL and *error when it is malformed or of a kind we have no schema for. */
struct doc *protobuf_read(const char *data, size_t length, struct error *error);

#endif
