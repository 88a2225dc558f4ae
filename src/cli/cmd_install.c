/* Owns the command `install`: the manifests that a real cluster needs. */
#include "cli/cli.h"
#include "cli/install_objects.h"
#include "serve/crd.h"

#include <stdio.h>

static void print_definitions(struct store *store, FILE *stream)
{
	static const char *const kinds[][2] = {
		{"kai.scheduler", "topologies"},
		{"scheduling.run.ai", "podgroups"},
		{"scheduling.run.ai", "queues"},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct build *build = build_create();
		struct buffer out = {0};
		build_write(build, crd_build(build, store_type_find(store, kinds[i][0], kinds[i][1])), DOC_YAML, &out);
		fprintf(stream, "---\n%s", out.text);
		buffer_free(&out);
		build_destroy(build);
	}
}

int cmd_install(struct cli_args *args)
{
	struct error error = {0};
	struct store *store = store_open(&(struct store_options){.bare = true}, &error);
	if (!store) {
		fprintf(stderr, "platoon install: %s\n", error.text);
		return CLI_USAGE;
	}
	print_definitions(store, stdout);
	store_close(store);
	install_objects_print(args->namespace_ ? args->namespace_ : "platoon-system",
	                      args->image ? args->image : "platoon:" PLATOON_VERSION, stdout);
	return ferror(stdout) ? CLI_USAGE : CLI_OK;
}
