/* Owns the way from the store to the dashboard. */
#include "cli/dashboard_source.h"

#include "cli/what_if.h"
#include "view/records.h"

#include <stdlib.h>

struct dashboard_source {
	struct store *store;
	struct settings_source *settings;
	struct records *records;
	struct dashboard *dashboard;
	bool complete; /* everything has been read once: what follows is news */
};

static void put(void *context, char kind, const char *name, const char *json)
{
	struct dashboard_source *source = context;
	feed_put(dashboard_feed(source->dashboard), kind, name, json, clock_now(clock_system()) / 1000000);
}

static void ask(void *context, const char *manifest, size_t length, struct buffer *out)
{
	const struct dashboard_source *source = context;
	what_if(source->store, settings_now(source->settings), manifest, length, out);
}

struct dashboard_source *dashboard_source_create(struct store *store, struct settings_source *settings,
                                                 const struct auth *auth)
{
	struct dashboard_source *source = base_calloc(1, sizeof(*source));
	source->store = store;
	source->settings = settings;
	source->dashboard = dashboard_create(&(struct dashboard_options){
		.auth = auth,
		.feed = {.version = PLATOON_VERSION},
		.what_if = ask,
		.context = source,
	});
	source->records = records_create(&(struct records_options){.store = store, .put = put, .context = source});
	return source;
}

void dashboard_source_destroy(struct dashboard_source *source)
{
	if (!source)
		return;
	records_destroy(source->records);
	dashboard_destroy(source->dashboard);
	free(source);
}

int dashboard_source_step(struct dashboard_source *source)
{
	bool all = records_poll(source->records);
	if (!source->complete && records_complete(source->records)) {
		source->complete = true;
		feed_begin_history(dashboard_feed(source->dashboard));
	}
	dashboard_step(source->dashboard);
	return all ? -1 : 0;
}

void dashboard_source_decided(void *source, const struct plan *plan, size_t group)
{
	records_note_group(((struct dashboard_source *)source)->records, plan, group);
}

struct dashboard *dashboard_source_dashboard(struct dashboard_source *source)
{
	return source->dashboard;
}
