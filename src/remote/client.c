/* Owns transport to an API server: connections, headers, credentials, time limits. */
#include "remote/client.h"

#include "base/vec.h"
#include "remote/credentials.h"
#include "remote/sockets.h"
#include "remote/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TIMEOUT_MS 30000
#define CONNECT_TIMEOUT_MS 10000
#define SILENCE_SECONDS 120
#define COMMAND_TURN_MS 20 /* how often it is looked whether a command that gives credentials has ended */
#define BODY_MAX ((size_t)1 << 30)
/* The answer to what may not be sent, as if the server had said that somebody else was first. */
#define WITHHELD                                                                                                       \
	"{\"kind\":\"Status\",\"code\":409,\"reason\":\"Conflict\",\"message\":\"not sent: this replica is not the "   \
	"leader now\"}"
#define ERROR_BODY_MAX ((size_t)64 << 10) /* of a stream that is refused */

struct remote_request {
	struct remote_client *client;
	struct remote_call call;
	CURL *easy;
	struct curl_slist *headers;
	struct buffer body, sent;
	char problem[CURL_ERROR_SIZE];
	bool over; /* the receiver wants no more */
	bool ours; /* body too large: ended by us */
	bool held; /* not sent: waits for credentials */
	bool lost; /* there are none for it */
	bool withheld;
	uint64_t identity;
	struct remote_request *previous, *next;
};

struct remote_client {
	const struct remote_access *access;
	struct remote_credentials *credentials;
	CURLM *multi;
	struct remote_sockets *sockets;
	CURLSH *sessions; /* of TLS: a further connection resumes one of them, which costs both sides much less */
	char *url;        /* in front of every path */
	struct curl_slist *connect_to; /* the address, when the certificate is for another name */
	VEC(CURL *) idle;
	struct remote_request *requests;
	size_t in_flight, held;
};

/* ---- life ---- */

/* The certificate is for another name than the host's: that name is asked for, at the host's address. */
static void use_server_name(struct remote_client *client)
{
	const struct remote_access *access = client->access;
	const char *host = strstr(access->server, "://") + 3, *colon = strrchr(host, ':');
	bool has_port = colon && !strchr(colon, ']');
	int length = has_port ? (int)(colon - host) : (int)strlen(host);
	const char *port = has_port ? colon + 1 : "443";
	struct buffer text = {0};
	buffer_printf(&text, "%s:%s:%.*s:%s", access->server_name, port, length, host, port);
	client->connect_to = curl_slist_append(NULL, text.text);
	text.length = 0;
	buffer_printf(&text, "https://%s:%s", access->server_name, port);
	client->url = base_strdup(text.text);
	buffer_free(&text);
}

struct remote_client *remote_client_create(const struct remote_access *access, const struct clock_source *clock,
                                           struct error *error)
{
	if (remote_credentials_check(access, error) < 0)
		return NULL;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		error_set(error, ERROR_INTERNAL, "libcurl cannot be used");
		return NULL;
	}
	struct remote_client *client = base_calloc(1, sizeof(*client));
	client->access = access;
	client->credentials = remote_credentials_create(access, clock);
	client->multi = curl_multi_init();
	client->sockets = remote_sockets_create(client->multi, error);
	/* Watches keep a connection each; the bound on writes in flight is the caller's. */
	curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, 256L);
	curl_multi_setopt(client->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	client->sessions = curl_share_init();
	curl_share_setopt(client->sessions, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
	if (access->server_name)
		use_server_name(client);
	else
		client->url = base_strdup(access->server);
	if (client->sockets)
		return client;
	remote_client_destroy(client);
	return NULL;
}

static void request_free(struct remote_request *request)
{
	struct remote_client *client = request->client;
	curl_multi_remove_handle(client->multi, request->easy);
	vec_push(&client->idle, request->easy);
	curl_slist_free_all(request->headers);
	if (request->previous)
		request->previous->next = request->next;
	else
		client->requests = request->next;
	if (request->next)
		request->next->previous = request->previous;
	client->in_flight--;
	client->held -= request->held;
	buffer_free(&request->body);
	buffer_free(&request->sent);
	free(request);
}

void remote_client_cancel(struct remote_request *request)
{
	request_free(request);
}

void remote_client_cut(struct remote_client *client)
{
	remote_sockets_cut(client->sockets);
}

void remote_client_destroy(struct remote_client *client)
{
	if (!client)
		return;
	while (client->requests)
		request_free(client->requests);
	for (size_t i = 0; i < client->idle.count; i++)
		curl_easy_cleanup(client->idle.items[i]);
	vec_free(&client->idle);
	curl_multi_cleanup(client->multi);
	remote_sockets_destroy(client->sockets);
	curl_share_cleanup(client->sessions);
	curl_slist_free_all(client->connect_to);
	free(client->url);
	remote_credentials_destroy(client->credentials);
	free(client);
	curl_global_cleanup();
}

const char *remote_client_warning(const struct remote_client *client)
{
	return remote_credentials_warning(client->credentials);
}

/* ---- sending ---- */

static size_t on_data(char *bytes, size_t size, size_t count, void *context)
{
	struct remote_request *request = context;
	size_t length = size * count;
	long code = 0;
	curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &code);
	bool stream = request->call.data && code < 300;
	if (stream) {
		request->over = !request->call.data(request->call.context, bytes, length);
		return request->over ? 0 : length;
	}
	if (request->body.length + length > (request->call.data ? ERROR_BODY_MAX : BODY_MAX)) {
		request->ours = true;
		return 0;
	}
	buffer_append(&request->body, bytes, length);
	return length;
}

static int on_connection(void *context, char *remote_address, char *local_address, int remote_port, int local_port)
{
	struct remote_request *request = context;
	request->withheld = !request->call.may_go(request->call.context);
	return request->withheld ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static void set_blob(CURL *easy, CURLoption option, const char *text, unsigned copy)
{
	struct curl_blob blob = {.data = (void *)(uintptr_t)text, .len = strlen(text), .flags = copy};
	curl_easy_setopt(easy, option, &blob);
}

static void set_transport(const struct remote_client *client, CURL *easy, const struct remote_identity *identity)
{
	const struct remote_access *access = client->access;
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_SHARE, client->sessions);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (access->authority)
		set_blob(easy, CURLOPT_CAINFO_BLOB, access->authority, CURL_BLOB_NOCOPY);
	if (access->insecure) {
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (access->proxy)
		curl_easy_setopt(easy, CURLOPT_PROXY, access->proxy);
	if (identity->certificate) {
		/* They may be replaced before the connection is made. */
		set_blob(easy, CURLOPT_SSLCERT_BLOB, identity->certificate, CURL_BLOB_COPY);
		set_blob(easy, CURLOPT_SSLKEY_BLOB, identity->key, CURL_BLOB_COPY);
	}
	if (access->user && access->password) {
		curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(easy, CURLOPT_USERNAME, access->user);
		curl_easy_setopt(easy, CURLOPT_PASSWORD, access->password);
	}
}

static void set_headers(struct remote_request *request)
{
	const struct remote_call *call = &request->call;
	char line[256];
	snprintf(line, sizeof(line), "Accept: %s", call->accept ? call->accept : "application/json");
	request->headers = curl_slist_append(request->headers, line);
	if (call->body) {
		snprintf(line, sizeof(line), "Content-Type: %s",
		         call->content_type ? call->content_type : "application/json");
		request->headers = curl_slist_append(request->headers, line);
		request->headers = curl_slist_append(request->headers, "Expect:");
	}
}

static void set_limits(struct remote_request *request)
{
	CURL *easy = request->easy;
	int64_t timeout = request->call.timeout_ms;
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
	if (timeout >= 0) {
		curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(timeout ? timeout : DEFAULT_TIMEOUT_MS));
	} else {
		curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
		curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_SECONDS);
	}
}

static void launch(struct remote_request *request, const struct remote_identity *identity)
{
	set_transport(request->client, request->easy, identity);
	if (identity->token) {
		struct buffer bearer = {0};
		buffer_printf(&bearer, "Authorization: Bearer %s", identity->token);
		request->headers = curl_slist_append(request->headers, bearer.text);
		buffer_free(&bearer);
	}
	curl_easy_setopt(request->easy, CURLOPT_HTTPHEADER, request->headers);
	request->identity = identity->number;
	curl_multi_add_handle(request->client->multi, request->easy);
}

struct remote_request *remote_client_send(struct remote_client *client, const struct remote_call *call)
{
	struct remote_request *request = base_calloc(1, sizeof(*request));
	request->client = client;
	request->call = *call;
	request->next = client->requests;
	if (request->next)
		request->next->previous = request;
	client->requests = request;
	client->in_flight++;
	request->easy = client->idle.count ? client->idle.items[--client->idle.count] : curl_easy_init();
	CURL *easy = request->easy;
	curl_easy_reset(easy); /* keeps connections and sessions */
	struct buffer url = {0};
	buffer_printf(&url, "%s%s", client->url, call->path);
	curl_easy_setopt(easy, CURLOPT_URL, url.text);
	buffer_free(&url);
	if (client->connect_to)
		curl_easy_setopt(easy, CURLOPT_CONNECT_TO, client->connect_to);
	if (call->body) {
		buffer_append(&request->sent, call->body, call->length);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->length);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->sent.text);
	}
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
	set_headers(request);
	set_limits(request);
	if (!call->data || call->compressed)
		curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->problem);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, request);
	remote_sockets_own(client->sockets, easy);
	if (call->may_go) {
		curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connection);
		curl_easy_setopt(easy, CURLOPT_PREREQDATA, request);
	}
	struct remote_identity identity;
	request->held = remote_credentials_now(client->credentials, &identity) != CREDENTIALS_READY;
	client->held += request->held;
	if (!request->held)
		launch(request, &identity);
	return request;
}

/* ---- receiving ---- */

static void finish(struct remote_request *request, CURLcode status)
{
	struct remote_client *client = request->client;
	long code = 0;
	curl_off_t retry_after = 0;
	curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &code);
	curl_easy_getinfo(request->easy, CURLINFO_RETRY_AFTER, &retry_after);
	const char *problem = "", *why = remote_credentials_problem(client->credentials);
	bool failed = status != CURLE_OK && !request->over;
	if (why && (failed || code == 401 || code == 403))
		problem = why; /* the server can only say that it knows nobody */
	else if (failed)
		problem = request->ours         ? "the answer is too large"
		          : request->problem[0] ? request->problem
		                                : curl_easy_strerror(status);
	if (code == 401)
		remote_credentials_refused(client->credentials, request->identity);
	struct remote_answer answer = {
		.code = (int)code,
		.problem = problem,
		.body = request->body.text ? request->body.text : "",
		.length = request->body.length,
		.retry_after = retry_after,
		.arena = arena_create(),
	};
	if (request->withheld) {
		answer.code = 409;
		answer.problem = "";
		answer.body = WITHHELD;
		answer.length = sizeof(WITHHELD) - 1;
	}
	request->call.done(request->call.context, &answer);
	arena_destroy(answer.arena);
	request_free(request);
}

/* The server was not asked, because it could only have said that it knows nobody. */
static void lose(struct remote_request *request)
{
	const char *why = remote_credentials_problem(request->client->credentials);
	struct remote_answer answer = {.code = 401,
	                               .problem = why ? why : "there are no credentials",
	                               .body = "",
	                               .arena = arena_create()};
	request->call.done(request->call.context, &answer);
	arena_destroy(answer.arena);
	request_free(request);
}

/* What waits for credentials goes out when there are some, and fails when there are none. Requests that come up meanwhile
 * have their turn the next time. */
static void settle_held(struct remote_client *client)
{
	struct remote_identity identity;
	remote_credentials_step(client->credentials);
	if (client->held == 0)
		return;
	enum remote_credentials_state state = remote_credentials_now(client->credentials, &identity);
	for (struct remote_request *request = client->requests; request && state != CREDENTIALS_AWAITED;
	     request = request->next) {
		if (!request->held)
			continue;
		request->held = false;
		client->held--;
		request->lost = state == CREDENTIALS_NONE;
		if (!request->lost)
			launch(request, &identity);
	}
	struct remote_request *request = client->requests;
	while (state == CREDENTIALS_NONE && request) {
		bool lost = request->lost;
		if (lost)
			lose(request); /* which may change the list */
		request = lost ? client->requests : request->next;
	}
}

/* Waits for something to happen and lets it happen. */
static void move(struct remote_client *client, int timeout_ms, int extra_fd)
{
	int fds[REMOTE_COMMAND_FDS + 1];
	size_t count = 0;
	if (remote_credentials_busy(client->credentials, fds, &count))
		timeout_ms = timeout_ms < COMMAND_TURN_MS ? timeout_ms : COMMAND_TURN_MS;
	else if (client->held > 0)
		timeout_ms = 0;
	if (extra_fd >= 0)
		fds[count++] = extra_fd;
	remote_sockets_run(client->sockets, timeout_ms, fds, count);
}

void remote_client_run(struct remote_client *client, int timeout_ms, int extra_fd)
{
	int left;
	settle_held(client);
	/* Nothing may arrive before it, because that would wait with it. */
	move(client, timeout_ms, extra_fd);
	const CURLMsg *message;
	while ((message = curl_multi_info_read(client->multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		CURLcode status = message->data.result;
		struct remote_request *request = NULL;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&request);
		finish(request, status);
	}
}

/* ---- one GET ---- */

static const char *wire_message(const struct remote_answer *answer)
{
	const unsigned char *from = (const unsigned char *)answer->body;
	struct wire_envelope envelope;
	struct remote_wire_status status;
	if (wire_unwrap((struct wire_span){from, from + answer->length}, &envelope) < 0 ||
	    remote_wire_status(envelope.object, &status) < 0 || status.message.at == status.message.end)
		return arena_printf(answer->arena, "HTTP %d", answer->code);
	return arena_strndup(answer->arena, (const char *)status.message.at,
	                     (size_t)(status.message.end - status.message.at));
}

const char *remote_answer_message(const struct remote_answer *answer)
{
	if (answer->problem[0])
		return answer->problem;
	if (answer->length >= WIRE_MARK_LENGTH && memcmp(answer->body, WIRE_MARK, WIRE_MARK_LENGTH) == 0)
		return wire_message(answer);
	struct doc *doc = doc_parse_json(answer->body, answer->length, NULL);
	const char *message = doc ? val_str(val_get(doc_root(doc), "message"), "") : "";
	message = message[0] ? arena_strdup(answer->arena, message)
	                     : arena_printf(answer->arena, "HTTP %d %.200s", answer->code, answer->body);
	doc_destroy(doc);
	return message;
}

struct waited {
	const struct remote_access *access;
	const char *path;
	struct doc *doc;
	struct error *error;
	bool done;
};

static const char *advice(int code)
{
	switch (code) {
	case 0:
		return "is the cluster up, and is this the right context?";
	case 401:
		return "the credentials of the kubeconfig are not accepted";
	case 403:
		return "the user of the kubeconfig may not read this";
	case 404:
		return "the server does not have it; are the definitions installed?";
	default:
		return "try again";
	}
}

static void on_waited(void *context, const struct remote_answer *answer)
{
	struct waited *waited = context;
	waited->done = true;
	struct error problem = {0};
	if (answer->code == 200 && !answer->problem[0])
		waited->doc = doc_parse_json(answer->body, answer->length, &problem);
	if (waited->doc)
		return;
	enum error_code code = answer->code == 404 ? ERROR_NOT_FOUND : ERROR_IO;
	if (problem.text[0])
		error_set(waited->error, code, "%s%s: %.300s", waited->access->server, waited->path, problem.text);
	else if (answer->code == 401 && answer->problem[0]) /* it says itself what is wrong */
		error_set(waited->error, code, "%s: %.400s", waited->access->server, answer->problem);
	else
		error_set(waited->error, code, "%s%s: %.250s (%s)", waited->access->server, waited->path,
		          remote_answer_message(answer), advice(answer->code));
}

struct doc *remote_client_get(struct remote_client *client, const char *path, const char *accept, struct error *error)
{
	struct waited waited = {.access = client->access, .path = path, .error = error};
	remote_client_send(client, &(struct remote_call){
					   .method = "GET",
					   .path = path,
					   .accept = accept,
					   .timeout_ms = 10 * DEFAULT_TIMEOUT_MS,
					   .done = on_waited,
					   .context = &waited,
				   });
	while (!waited.done)
		remote_client_run(client, 1000, -1);
	return waited.doc;
}
