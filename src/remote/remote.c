/* Owns the life of a remote and the turn in which everything of it moves. */
#include "remote/internal.h"

#include "base/backoff.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_WRITES 64 /* enough to keep a server busy; each has a connection, and new ones cost much */
#define HISTORY 1024      /* changes of one type that informers may be behind, besides those of the last turn */
#define LONGEST_ASKED 900 /* seconds */

static bool is_assumed(void *context, const struct store_type *type, const char *namespace_, const char *name)
{
	return write_is_assumed(context, type, namespace_, name);
}

struct remote *remote_create(const struct remote_options *options, struct error *error)
{
	struct remote *remote = base_calloc(1, sizeof(*remote));
	remote->options = *options;
	remote->clock = options->clock ? options->clock : clock_system();
	remote->random = options->seed;
	if (!remote->options.writes)
		remote->options.writes = DEFAULT_WRITES;
	remote->client = remote_client_create(options->access, options->clock, error);
	struct store_options mirror = {.clock = options->mirror_clock ? options->mirror_clock : options->clock,
	                               .seed = options->seed,
	                               .mirror = true,
	                               .history = HISTORY};
	remote->store = remote->client ? store_open(&mirror, error) : NULL;
	if (!remote->store) {
		remote_client_destroy(remote->client);
		free(remote);
		return NULL;
	}
	remote->copier = copier_create();
	store_set_mirror(remote->store, &(struct store_mirror){write_forward, is_assumed, follow_lacks, remote});
	follow_begin(remote);
	return remote;
}

void remote_destroy(struct remote *remote)
{
	if (!remote)
		return;
	/* First, so that no answer comes any more. */
	remote_client_destroy(remote->client);
	write_end(remote);
	follow_end(remote);
	store_close(remote->store);
	copier_destroy(remote->copier);
	free(remote);
}

struct store *remote_store(const struct remote *remote)
{
	return remote->store;
}

bool remote_synced(const struct remote *remote)
{
	return follow_synced(remote);
}

const char *remote_problem(const struct remote *remote)
{
	return remote->problem;
}

bool remote_away(const struct remote *remote)
{
	return remote->away;
}

bool remote_settled(const struct remote *remote)
{
	return !remote->assumed;
}

struct remote_counts remote_counts(const struct remote *remote)
{
	return remote->counts;
}

int64_t remote_pause(struct remote *remote, int64_t base, unsigned attempts, int64_t longest)
{
	int64_t pause = backoff_pause(base, attempts, longest);
	remote->random = hash_mix(remote->random, 0x9e3779b97f4a7c15ULL);
	return pause / 2 + (int64_t)(remote->random % (uint64_t)(pause / 2 + 1));
}

int64_t remote_asked_pause(const struct remote_answer *answer)
{
	int64_t seconds = answer->retry_after;
	if (seconds <= 0)
		return 0;
	return (seconds < LONGEST_ASKED ? seconds : LONGEST_ASKED) * CLOCK_SECOND;
}

void remote_path(const struct store_api *api, const char *namespace_, struct buffer *out)
{
	if (api->group[0])
		buffer_printf(out, "/apis/%s/%s", api->group, api->version);
	else
		buffer_printf(out, "/api/%s", api->version);
	if (namespace_[0])
		buffer_printf(out, "/namespaces/%s", namespace_);
	buffer_printf(out, "/%s", api->type->resource);
}

/* ---- the turn ---- */

static int wait_for(const struct remote *remote, int64_t due, int timeout_ms)
{
	if (due == INT64_MAX)
		return timeout_ms;
	int64_t wait = due <= remote->now ? 0 : (due - remote->now + CLOCK_MILLISECOND - 1) / CLOCK_MILLISECOND;
	return wait < timeout_ms ? (int)wait : timeout_ms;
}

/* Before calls fail, so that there is time to do something about it. */
static void tell_warning(struct remote *remote)
{
	const char *warning = remote_client_warning(remote->client);
	if (!warning || (remote->warning_told && remote->now - remote->warning_told < REMOTE_PAUSE_TELLING))
		return;
	remote->warning_told = remote->now;
	log_write(remote->options.logger, LOG_WARN, LOG_FLAG_HTTP,
	          "credentials cannot be renewed, the old ones are used while they are good", "error", warning, NULL);
}

void remote_run(struct remote *remote, int timeout_ms, int extra_fd)
{
	remote->now = clock_now(remote->clock);
	int64_t follows = follow_step(remote), writes = write_step(remote);
	/* What is in memory already must be seen before anybody waits. */
	if (store_pending(remote->store))
		timeout_ms = 0;
	remote_client_run(remote->client, wait_for(remote, follows < writes ? follows : writes, timeout_ms), extra_fd);
	tell_warning(remote);
	struct error error;
	store_commit(remote->store, &error);
}
