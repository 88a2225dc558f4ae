/* Owns what `platoon run` says about its own life: for somebody at a terminal as lines, for whatever collects logs as records
 * like all others. */
#include "cli/output.h"
#include "cli/run_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEM_PAUSE (10 * CLOCK_SECOND)
#define AWAY_PATIENCE                                                                                                  \
	(2 * CLOCK_SECOND) /* an API server that is restarted, or a cut connection, is nothing to tell of */
#define AWAY_PAUSE (60 * CLOCK_SECOND)

static bool is_collected(const struct run *run)
{
	return run->config->log_format == LOG_JSON;
}

/* Where it is, and what it was told to do. */
static void tell_settings(const struct run *run, const struct logger *logger)
{
	struct buffer names = {0};
	for (size_t i = 0; i < run->config->settings.scheduler_count; i++)
		buffer_printf(&names, "%s%s", i ? "," : "", run->config->settings.schedulers[i]);
	log_write(logger, LOG_INFO, 0, "started", "version", PLATOON_VERSION, "server", run->access.server, "context",
	          run->access.context, "namespace", run->access.namespace_, "schedulers", names.text, "replica",
	          run->lease ? run->identity : "alone", "listen", run->listener ? listener_url(run->listener) : "none",
	          "webhooks", run->webhooks ? listener_url(run_webhooks_listener(run->webhooks)) : "none", NULL);
	buffer_free(&names);
}

void run_log_start(const struct run *run)
{
	const char *url = run->listener ? listener_url(run->listener) : "";
	/* A token somebody chose is known to them and stays out of the log. */
	const char *chosen = getenv("PLATOON_DASHBOARD_TOKEN");
	tell_settings(run, &run->args->logger);
	if (is_collected(run)) /* where many may read it: no token at all */
		return;
	if (run->listener) {
		output_line(stdout, "platoon run: health and metrics on %s", url);
		output_line(stdout, "platoon run: dashboard on %s" DASHBOARD_PATH "/%s%s", url,
		            chosen && *chosen ? "" : "#token=", chosen && *chosen ? "" : run->auth.read_token.text);
	}
	if (run->webhooks)
		output_line(stdout, "platoon run: webhooks on %s", listener_url(run_webhooks_listener(run->webhooks)));
	fflush(stdout);
}

void run_log_problem(struct run *run)
{
	int64_t now = clock_now(clock_system());
	const char *problem = remote_problem(run->remote);
	if (!problem[0] || now - run->told < PROBLEM_PAUSE)
		return;
	run->told = now;
	if (is_collected(run))
		log_write(&run->args->logger, LOG_WARN, 0, "waiting for the API server", "server", run->access.server,
		          "error", problem, NULL);
	else
		output_line(stderr, "platoon run: waiting for %s: %s", run->access.server, problem);
}

void run_log_away(struct run *run)
{
	int64_t now = clock_now(clock_system());
	char seconds[32];
	if (!run->away && !remote_away(run->remote))
		return;
	if (!run->away)
		run->away = now;
	snprintf(seconds, sizeof(seconds), "%" PRId64, (now - run->away) / CLOCK_SECOND);
	if (!remote_away(run->remote)) {
		if (run->away_told)
			log_write(&run->args->logger, LOG_WARN, 0, "the API server answers again", "seconds", seconds,
			          NULL);
		run->away = run->away_told = 0;
	} else if (now - run->away >= AWAY_PATIENCE && now - run->away_told >= AWAY_PAUSE) {
		run->away_told = now;
		log_write(&run->args->logger, LOG_WARN, 0,
		          "the API server cannot be reached; nothing is decided until it can, running pods are not "
		          "touched",
		          "server", run->access.server, "seconds", seconds, "error", remote_problem(run->remote), NULL);
	}
}

void run_log_connected(const struct run *run)
{
	if (is_collected(run)) {
		log_write(&run->args->logger, LOG_INFO, 0, "connected", "server", run->access.server, NULL);
		return;
	}
	output_line(stdout, "platoon run: connected to %s (context %s)", run->access.server, run->access.context);
	fflush(stdout);
}

void run_log_ending(const struct run *run)
{
	log_write(&run->args->logger, LOG_INFO, 0, "asked to end: what was decided is still sent", NULL);
}

void run_log_waiting(const struct run *run)
{
	char count[32];
	snprintf(count, sizeof(count), "%zu", remote_counts(run->remote).waiting);
	log_write(&run->args->logger, LOG_INFO, 0, "waiting for answers of the API server", "writes", count, NULL);
}

/* What was not answered may have been done or not; whoever acts next sees which. */
void run_log_ended(const struct run *run)
{
	char count[32];
	size_t waiting = remote_counts(run->remote).waiting;
	snprintf(count, sizeof(count), "%zu", waiting);
	if (waiting)
		log_write(&run->args->logger, LOG_WARN, 0, "ended, with writes that the API server has not answered",
		          "writes", count, NULL);
	else
		log_write(&run->args->logger, LOG_INFO, 0, "ended", NULL);
}
