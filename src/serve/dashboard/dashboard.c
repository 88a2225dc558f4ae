/* Owns what the dashboard answers: which path is what, and the streams. */
#include "serve/dashboard/dashboard.h"

#include "serve/dashboard/ask.h"
#include "serve/dashboard/files.h"
#include "object/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN_PIECES (100 * CLOCK_MILLISECOND) /* changes that come closer together are sent together */
#define SIGN_OF_LIFE (15000 * CLOCK_MILLISECOND)
#define PORTION ((size_t)128 << 10) /* handed on at a time; the next one when this is sent */

struct stream {
	struct dashboard *dashboard;
	struct http_stream *http;
	struct feed_reader *reader;
	struct stream *previous, *next;
	int64_t sent_at;
	bool is_armed; /* it will look at the feed soon */
};

struct dashboard {
	struct dashboard_options options;
	const struct clock_source *clock;
	struct feed *feed;
	struct asks *asks; /* NULL: nothing can be asked */
	struct stream *streams;
	size_t stream_count;
	uint64_t stepped; /* sequence of the feed that the streams know of */
};

struct dashboard *dashboard_create(const struct dashboard_options *options)
{
	struct dashboard *dashboard = base_calloc(1, sizeof(*dashboard));
	dashboard->options = *options;
	dashboard->clock = options->clock ? options->clock : clock_system();
	struct buffer epoch = {0};
	buffer_printf(&epoch, "%llx", (unsigned long long)clock_now(dashboard->clock));
	struct feed_options feed = options->feed;
	if (!feed.epoch)
		feed.epoch = epoch.text;
	dashboard->feed = feed_create(&feed);
	if (options->what_if)
		dashboard->asks = asks_create(&(struct asks_options){
			.clock = dashboard->clock,
			.function = options->what_if,
			.context = options->context,
		});
	buffer_free(&epoch);
	return dashboard;
}

struct feed *dashboard_feed(struct dashboard *dashboard)
{
	return dashboard->feed;
}

size_t dashboard_readers(const struct dashboard *dashboard)
{
	return dashboard->stream_count;
}

static int64_t milliseconds(const struct dashboard *dashboard)
{
	return clock_now(dashboard->clock) / CLOCK_MILLISECOND;
}

/* ---- streams ---- */

static void forget(struct stream *stream)
{
	struct dashboard *dashboard = stream->dashboard;
	if (stream->previous)
		stream->previous->next = stream->next;
	else
		dashboard->streams = stream->next;
	if (stream->next)
		stream->next->previous = stream->previous;
	dashboard->stream_count--;
	feed_close(stream->reader);
	free(stream);
}

void dashboard_destroy(struct dashboard *dashboard)
{
	if (!dashboard)
		return;
	while (dashboard->streams) {
		http_stream_end(dashboard->streams->http);
		forget(dashboard->streams);
	}
	asks_destroy(dashboard->asks);
	feed_destroy(dashboard->feed);
	free(dashboard);
}

static void arm(struct stream *stream, int64_t at)
{
	stream->is_armed = true;
	http_stream_wake_at(stream->http, at);
}

/* Sends a portion of what is new. The reader that takes it slowly gets the next one when it has. */
static void pump(struct stream *stream)
{
	struct dashboard *dashboard = stream->dashboard;
	int64_t now = clock_now(dashboard->clock);
	struct buffer piece = {0};
	stream->is_armed = false;
	if (http_stream_backlog(stream->http) > 0)
		return;
	buffer_puts(&piece, "data: ");
	int more = feed_read(stream->reader, PORTION, now / CLOCK_MILLISECOND, &piece);
	if (more > 0) {
		buffer_puts(&piece, "\n\n");
	} else if (more == 0) {
		piece.length = 0;
		if (now - stream->sent_at >= SIGN_OF_LIFE)
			buffer_puts(&piece, ": here\n\n");
	} else {
		piece.length = 0;
		buffer_puts(&piece, "event: reset\ndata: {}\n\n");
	}
	if (piece.length > 0) {
		stream->sent_at = now;
		http_stream_write(stream->http, piece.text, piece.length);
	}
	buffer_free(&piece);
	if (more < 0) {
		http_stream_end(stream->http);
		forget(stream);
	} else {
		http_stream_wake_at(stream->http, stream->sent_at + SIGN_OF_LIFE);
	}
}

static void on_closed(void *owner)
{
	forget(owner);
}

static void on_ready(void *owner)
{
	pump(owner);
}

static const struct http_stream_ops stream_ops = {on_closed, on_ready, on_ready};

void dashboard_step(struct dashboard *dashboard)
{
	uint64_t sequence = feed_sequence(dashboard->feed);
	if (sequence == dashboard->stepped)
		return;
	dashboard->stepped = sequence;
	for (struct stream *stream = dashboard->streams; stream; stream = stream->next)
		if (!stream->is_armed)
			arm(stream, stream->sent_at + BETWEEN_PIECES);
}

/* ---- answers ---- */

static void refuse(struct http_response *response, int status, const char *message)
{
	struct buffer body = {0};
	struct build *build = build_create();
	struct node *root = build_map(build);
	build_put_string(build, root, "error", message);
	build_write(build, root, DOC_JSON_COMPACT, &body);
	build_destroy(build);
	buffer_puts(&body, "\n");
	http_respond(response, status, "application/json", &body);
}

static void put_headers(struct http_response *response)
{
	http_response_header(response, "X-Content-Type-Options", "nosniff");
	http_response_header(response, "Referrer-Policy", "no-referrer");
	http_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
}

/* The number of a query; -1 when it is none. */
static int parse_number(const char *text, uint64_t *number)
{
	char *end;
	if (!text || text[0] < '0' || text[0] > '9')
		return -1;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return *end || errno ? -1 : 0;
}

static void answer_stream(struct dashboard *dashboard, struct http_request *request, struct http_response *response)
{
	struct http_query query;
	uint64_t since = 0;
	if (http_query_parse(request->arena, request->query, &query) ||
	    parse_number(http_query_get(&query, "since"), &since) || !http_query_get(&query, "epoch")) {
		refuse(response, 400,
		       "the stream needs ?epoch=EPOCH&since=NUMBER with the epoch and seq of a snapshot");
		return;
	}
	if (dashboard->stream_count >= DASHBOARD_MOST_READERS) {
		http_response_header(response, "Retry-After", "10");
		refuse(response, 503, "too many dashboards are open; close one");
		return;
	}
	struct feed_reader *reader = feed_open(dashboard->feed, http_query_get(&query, "epoch"), since);
	if (!reader) {
		refuse(response, 410, "these changes are no longer known; read the snapshot again");
		return;
	}
	http_response_header(response, "Cache-Control", "no-store");
	struct stream *stream = base_calloc(1, sizeof(*stream));
	stream->dashboard = dashboard;
	stream->reader = reader;
	stream->sent_at = clock_now(dashboard->clock);
	stream->next = dashboard->streams;
	if (stream->next)
		stream->next->previous = stream;
	dashboard->streams = stream;
	dashboard->stream_count++;
	stream->http = http_stream_open(response, 200, "text/event-stream", &stream_ops, stream);
	if (!stream->http) {
		forget(stream);
		return;
	}
	/* The page shows that it is connected as soon as something arrives. */
	http_stream_write(stream->http, ": hello\n\n", 9);
	arm(stream, stream->sent_at + BETWEEN_PIECES);
}

static void answer_what_if(struct dashboard *dashboard, struct http_request *request, struct http_response *response)
{
	if (request->body_length > DASHBOARD_MOST_MANIFEST) {
		refuse(response, 413, "the manifest is larger than 1 MiB");
		return;
	}
	http_response_header(response, "Cache-Control", "no-store");
	asks_begin(dashboard->asks, request, response);
}

static void answer_snapshot(struct dashboard *dashboard, struct http_response *response)
{
	struct buffer body = {0};
	feed_snapshot(dashboard->feed, milliseconds(dashboard), &body);
	http_response_header(response, "Cache-Control", "no-store");
	http_respond(response, 200, "application/json", &body);
}

static void answer_data(struct dashboard *dashboard, const char *path, struct http_request *request,
                        struct http_response *response)
{
	const struct auth *auth = dashboard->options.auth;
	bool asks = strcmp(path, "/what-if") == 0 && dashboard->asks;
	bool reads = request->verb == HTTP_VERB_GET || request->verb == HTTP_VERB_HEAD;
	if (auth && !auth_identify(auth, request))
		refuse(response, 401, "show the token of the dashboard");
	else if (strcmp(path, "/snapshot") != 0 && strcmp(path, "/stream") != 0 && !asks)
		refuse(response, 404, "there is snapshot, stream and what-if");
	else if (asks ? request->verb != HTTP_VERB_POST : !reads)
		refuse(response, 405, "snapshot and stream are read with GET, what-if is asked with POST");
	else if (asks)
		answer_what_if(dashboard, request, response);
	else if (strcmp(path, "/stream") == 0)
		answer_stream(dashboard, request, response);
	else
		answer_snapshot(dashboard, response);
}

static void answer_file(const struct dashboard_file *file, struct http_request *request, struct http_response *response)
{
	const char *known = http_header(request, "if-none-match");
	struct buffer body = {0};
	http_response_header(response, "ETag", file->tag);
	http_response_header(response, "Cache-Control", "no-cache");
	http_response_header(response, "Vary", "Accept-Encoding");
	http_response_header(response, "Content-Security-Policy",
	                     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	                     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
	if (known && strstr(known, file->tag)) {
		http_respond(response, 304, NULL, NULL);
		return;
	}
	if (http_header_has(request, "accept-encoding", "gzip")) {
		http_response_header(response, "Content-Encoding", "gzip");
		buffer_append(&body, file->gzip, (size_t)(file->gzip_end - file->gzip));
	} else {
		buffer_append(&body, file->data, (size_t)(file->data_end - file->data));
	}
	http_respond(response, 200, file->type, &body);
}

void dashboard_handle(void *context, struct http_request *request, struct http_response *response)
{
	struct dashboard *dashboard = context;
	const char *path = request->path + strlen(DASHBOARD_PATH);
	put_headers(response);
	if (text_starts_with(request->path, DASHBOARD_DATA "/")) {
		answer_data(dashboard, request->path + strlen(DASHBOARD_DATA), request, response);
		return;
	}
	if (request->verb != HTTP_VERB_GET && request->verb != HTTP_VERB_HEAD) {
		refuse(response, 405, "the dashboard is read with GET");
		return;
	}
	if (!*path) {
		http_response_header(response, "Location", DASHBOARD_PATH "/");
		http_respond(response, 301, NULL, NULL);
		return;
	}
	const char *name = strcmp(path, "/") == 0 ? "index.html" : path + 1;
	for (size_t i = 0; i < dashboard_file_count; i++)
		if (strcmp(dashboard_files[i].name, name) == 0) {
			answer_file(&dashboard_files[i], request, response);
			return;
		}
	refuse(response, 404, "the dashboard has no such file");
}
