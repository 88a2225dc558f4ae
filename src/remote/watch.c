/* Owns watches of a type: from the version that was seen last until the server ends them. */
#include "remote/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATCH_SECONDS 300           /* then the server ends it, and it is opened anew */
#define WATCH_SHORTEST CLOCK_SECOND /* one that ends sooner and said nothing is no good */

static void take_version(struct follow *follow, const struct val *object)
{
	const char *version = val_str(val_path(object, "metadata", "resourceVersion", NULL), "");
	if (!version[0])
		return;
	free(follow->version);
	follow->version = base_strdup(version);
}

static int refuse_event(struct follow *follow, const char *what)
{
	return error_set(&follow->problem, ERROR_INVALID, "the watch says what cannot be understood: %s", what);
}

static int take_error(struct follow *follow, int64_t code, const char *message)
{
	follow->expired = code == 410;
	if (!follow->expired)
		error_set(&follow->problem, ERROR_IO, "the watch ended: %.200s",
		          message[0] ? message : "the server does not say why");
	return -1;
}

/* The document is what the mirror keeps of the object, and is taken. */
static int take_event(struct follow *follow, const char *type, struct doc *doc)
{
	const struct val *metadata = val_get(doc_root(doc), "metadata");
	const char *namespace_ = val_str(val_get(metadata, "namespace"), ""),
		   *name = val_str(val_get(metadata, "name"), "");
	bool bookmark = strcmp(type, "BOOKMARK") == 0, gone = strcmp(type, "DELETED") == 0;
	const char *wrong = NULL;
	if (!bookmark && !gone && strcmp(type, "ADDED") != 0 && strcmp(type, "MODIFIED") != 0)
		wrong = "an event of unknown type";
	else if (val_kind(metadata) != VAL_MAP || (!bookmark && !name[0]))
		wrong = "an object without a name";
	if (wrong) {
		doc_destroy(doc);
		return refuse_event(follow, wrong);
	}
	follow->remote->counts.events++;
	follow->heard = true;
	follow->expiries = 0;
	follow_succeed(follow);
	take_version(follow, doc_root(doc));
	bool others = follow->wanted->metadata && follow_is_named_elsewhere(follow, namespace_, name);
	if (!gone && !bookmark && !others) {
		write_feed(follow->remote, follow->api->type, namespace_, name, doc, -1);
		return 0;
	}
	if (gone && !others && !follow_has_lost(follow, namespace_, name))
		write_feed_gone(follow->remote, follow->api->type, namespace_, name,
		                val_str(val_get(metadata, "uid"), ""));
	doc_destroy(doc);
	return 0;
}

static int take_line(void *context, const char *text, size_t length)
{
	struct follow *follow = context;
	struct doc *doc = doc_parse_json(text, length, NULL);
	if (!doc)
		return refuse_event(follow, "a line that is not JSON");
	const struct val *object = val_get(doc_root(doc), "object");
	const char *type = val_str(val_get(doc_root(doc), "type"), "");
	int64_t code = 0;
	int status;
	if (strcmp(type, "ERROR") == 0) {
		val_int(val_get(object, "code"), &code);
		status = take_error(follow, code, val_str(val_get(object, "message"), ""));
	} else {
		status = take_event(follow, type, follow_keep(follow, object));
	}
	doc_destroy(doc);
	return status;
}

static int take_wire_error(struct follow *follow, struct wire_span object)
{
	struct remote_wire_status status;
	char message[256] = "";
	if (remote_wire_status(object, &status) < 0)
		return refuse_event(follow, "an error that is malformed");
	snprintf(message, sizeof(message), "%.*s", (int)(status.message.end - status.message.at),
	         (const char *)status.message.at);
	return take_error(follow, status.code, message);
}

static int take_frame(void *context, const char *bytes, size_t length)
{
	struct follow *follow = context;
	struct remote_wire_event event;
	if (remote_wire_event(bytes, length, &event) < 0)
		return refuse_event(follow, "a frame that is not protobuf");
	if (strcmp(event.type, "ERROR") == 0)
		return take_wire_error(follow, event.object.object);
	struct doc *doc = remote_trim_wire(follow->remote->copier, follow->plan, event.object.object, follow->api,
	                                   &follow->problem);
	return doc ? take_event(follow, event.type, doc) : -1;
}

static bool on_watch_data(void *context, const char *bytes, size_t length)
{
	struct follow *follow = context;
	if (length > 0 && follow->form == FORM_UNKNOWN)
		follow->form = follow_form_of(follow, bytes);
	if (follow->form == FORM_WIRE)
		return remote_wire_frames_feed(&follow->lines, bytes, length, FOLLOW_OBJECT_MAX_BYTES, take_frame,
		                               follow, &follow->problem) == 0;
	return remote_lines_feed(&follow->lines, bytes, length, FOLLOW_OBJECT_MAX_BYTES, take_line, follow,
	                         &follow->problem) == 0;
}

static void on_watch_end(void *context, const struct remote_answer *answer)
{
	struct follow *follow = context;
	follow->request = NULL;
	bool expired = follow->expired || answer->code == 410;
	bool usual = answer->code == 200 && !answer->problem[0] && !follow->problem.text[0];
	if (expired) {
		log_write(follow->remote->options.logger, LOG_INFO, LOG_FLAG_WATCH,
		          "the server forgot the version of the watch, listing again", "resource",
		          follow->api->type->resource, NULL);
		free(follow->version);
		follow->version = NULL;
		follow->expiries++;
	}
	if (usual && !expired && !follow->heard && clock_now(follow->remote->clock) - follow->opened < WATCH_SHORTEST) {
		error_set(&follow->problem, ERROR_IO, "the server ends the watch at once");
		usual = false;
	}
	/* The usual end, after WATCH_SECONDS, or a list that is due: no pause. But a server that knows no version for
	 * long is not listed without end. */
	if (expired ? follow->expiries <= 1 : usual)
		follow_go_on(follow);
	else
		follow_pause(follow, answer);
}

void watch_start(struct follow *follow)
{
	struct buffer path = {0};
	follow_path(follow, &path);
	buffer_printf(&path, "watch=true&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=", WATCH_SECONDS);
	follow_add_encoded(&path, follow->version);
	follow_begin_answer(follow, FOLLOW_WATCHING);
	follow->opened = clock_now(follow->remote->clock);
	follow->remote->counts.watches++;
	follow->request = remote_client_send(follow->remote->client, &(struct remote_call){
									     .method = "GET",
									     .path = path.text,
									     .accept = follow_accept(follow, true),
									     .timeout_ms = -1,
									     .data = on_watch_data,
									     .done = on_watch_end,
									     .context = follow,
								     });
	buffer_free(&path);
}
