/* Owns the way from the store to the dashboard. */
#include "cli/dashboard_source.h"

#include "cli/what_if.h"
#include "view/records.h"

#include <stdlib.h>

struct board {
	struct store *store;
	struct settings_source *settings;
	struct records *records;
	struct dashboard *dashboard;
	bool complete; /* everything has been read once: what follows is news */
};

static void put(void *context, char kind, const char *name, const char *json)
{
	struct board *board = context;
	feed_put(dashboard_feed(board->dashboard), kind, name, json, clock_now(clock_system()) / 1000000);
}

static void ask(void *context, const char *manifest, size_t length, struct buffer *out)
{
	const struct board *board = context;
	what_if(board->store, settings_now(board->settings), manifest, length, out);
}

struct board *board_create(struct store *store, struct settings_source *settings, const struct auth *auth)
{
	struct board *board = base_calloc(1, sizeof(*board));
	board->store = store;
	board->settings = settings;
	board->dashboard = dashboard_create(&(struct dashboard_options){
		.auth = auth,
		.feed = {.version = PLATOON_VERSION},
		.what_if = ask,
		.context = board,
	});
	board->records = records_create(&(struct records_options){.store = store, .put = put, .context = board});
	return board;
}

void board_destroy(struct board *board)
{
	if (!board)
		return;
	records_destroy(board->records);
	dashboard_destroy(board->dashboard);
	free(board);
}

void board_step(struct board *board)
{
	if (records_poll(board->records) && !board->complete) {
		board->complete = true;
		feed_begin_history(dashboard_feed(board->dashboard));
	}
	dashboard_step(board->dashboard);
}

void board_decided(void *board, const struct plan *plan)
{
	records_note_plan(((struct board *)board)->records, plan);
}

struct dashboard *board_dashboard(struct board *board)
{
	return board->dashboard;
}
