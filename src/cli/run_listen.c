/* Owns what `platoon run` answers over HTTP about itself: health, readiness, metrics, the dashboard. */
#include "cli/run_internal.h"

#include "serve/tls/pki.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT 8080

static void answer_text(struct http_response *response, int code, const char *text)
{
	struct buffer body = {0};
	buffer_puts(&body, text);
	buffer_puts(&body, "\n");
	http_respond(response, code, "text/plain; charset=utf-8", &body);
}

/* A loop that turns is healthy: an API server that is away is no reason to be killed. */
static void answer_health(void *context, struct http_request *request, struct http_response *response)
{
	(void)context;
	(void)request;
	answer_text(response, 200, "ok");
}

/* A replica that waits for the lease is ready: it could take over. */
static void answer_ready(void *context, struct http_request *request, struct http_response *response)
{
	const struct run *run = context;
	(void)request;
	if (run->ending)
		answer_text(response, 503, "shutting down");
	else if (!remote_synced(run->remote))
		answer_text(response, 503, "the cluster was not read yet");
	else if (run->webhooks && !run_webhooks_ready(run->webhooks))
		answer_text(response, 503, "the webhooks have no certificate yet");
	else if (run->manager && !manager_ready(run->manager))
		answer_text(response, 503, "no decision was made yet");
	else
		answer_text(response, 200, "ok");
}

void run_put_metric(struct buffer *out, const char *name, const char *type, const char *help, uint64_t value)
{
	buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", name, help, name, type, name,
	              (unsigned long long)value);
}

static void put_remote(const struct run *run, struct buffer *out)
{
	struct remote_counts counts = remote_counts(run->remote);
	run_put_metric(out, "platoon_leader", "gauge", "1 when this replica is the leader",
	               run->manager && remote_synced(run->remote));
	run_put_metric(out, "platoon_synced", "gauge", "1 when the cluster was read", remote_synced(run->remote));
	run_put_metric(out, "platoon_api_lists_total", "counter", "Lists begun", counts.lists);
	run_put_metric(out, "platoon_api_watches_total", "counter", "Watches opened", counts.watches);
	run_put_metric(out, "platoon_api_events_total", "counter", "Events of watches", counts.events);
	run_put_metric(out, "platoon_api_writes_total", "counter", "Writes answered by the server", counts.writes);
	run_put_metric(out, "platoon_api_retries_total", "counter", "Calls that were tried again", counts.retries);
	run_put_metric(out, "platoon_api_events_dropped_total", "counter",
	               "Events that were not sent, because too many were waiting", counts.dropped);
	run_put_metric(out, "platoon_api_writes_withheld_total", "counter",
	               "Writes that were not sent, because this replica had ceased to be the leader", counts.fenced);
	run_put_metric(out, "platoon_api_refused_total", "counter", "Writes refused for good", counts.refused);
	run_put_metric(out, "platoon_api_failed_calls_total", "counter",
	               "Answers that were no success, and calls without one", counts.errors);
	run_put_metric(out, "platoon_api_writes_waiting", "gauge", "Writes without an answer", counts.waiting);
}

static void answer_metrics(void *context, struct http_request *request, struct http_response *response)
{
	const struct run *run = context;
	struct buffer text = {0};
	(void)request;
	put_remote(run, &text);
	run_webhooks_metrics(run->webhooks, &text);
	if (run->manager)
		manager_metrics(run->manager, &text);
	http_respond(response, 200, "text/plain; version=0.0.4", &text);
}

/* The token is that of PLATOON_DASHBOARD_TOKEN, or a new one with each start. */
static int open_dashboard(struct run *run, struct error *error)
{
	const char *token = getenv("PLATOON_DASHBOARD_TOKEN");
	if (token && *token)
		buffer_puts(&run->auth.read_token, token);
	else if (pki_random_token(&run->auth.read_token, error) < 0)
		return -1;
	run->dashboard = dashboard_source_create(remote_store(run->remote), run->settings, &run->auth);
	listener_route(run->listener, DASHBOARD_PATH, dashboard_handle, dashboard_source_dashboard(run->dashboard));
	return 0;
}

int run_listen(struct run *run, struct error *error)
{
	const char *listen = run->start->listen;
	struct listener_options options = {.port = DEFAULT_PORT, .or_free = !listen[0], .logger = &run->args->logger};
	if (strcmp(listen, "none") == 0)
		return 0;
	if (listen[0])
		run_address(listen, run->args->arena, &options.address, &options.port);
	run->listener = listener_create(&options, error);
	if (!run->listener)
		return -1;
	listener_route(run->listener, "/healthz", answer_health, run);
	listener_route(run->listener, "/livez", answer_health, run);
	listener_route(run->listener, "/readyz", answer_ready, run);
	listener_route(run->listener, "/metrics", answer_metrics, run);
	return open_dashboard(run, error);
}
