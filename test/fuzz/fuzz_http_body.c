/* Kubernetes protobuf bodies. */
#include "fuzz.h"

#include "serve/api/protobuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error;
	doc_destroy(protobuf_read((const char *)data, size, &error));
	return 0;
}
