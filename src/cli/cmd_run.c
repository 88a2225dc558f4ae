/* Owns the command `run`: controllers and scheduler over a mirror of a real cluster. */
#include "cli/followed.h"
#include "cli/output.h"
#include "cli/run_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST_WAIT 1000 /* milliseconds, so that signals, timers and a new configuration are noticed */

static volatile sig_atomic_t stopped, reload;
static struct remote *volatile connected; /* whose connections end when this process was stopped */

static void on_signal(int number)
{
	switch (number) {
	case SIGCONT:
		if (connected)
			remote_cut(connected);
		return;
	case SIGHUP:
		reload = 1;
		return;
	default:
		stopped = 1;
	}
}

/* ---- the cluster ---- */

/* What follow_more() may add at most: four objects, and the definitions of kinds. */
static size_t count_more(void)
{
	size_t rows = 0;
	while (kinds_row(rows))
		rows++;
	return 4 + rows;
}

/* What only some configurations need, each by its name: no right to read others of the kind is needed. */
static size_t follow_more(const struct run *run, struct remote_follow *follow, size_t count)
{
	const struct kind_row *row;
	const char *namespace_ = run->access.namespace_;
	if (run->start->leader_elect)
		follow[count++] = (struct remote_follow){KINDS_COORDINATION, "v1", "leases", .namespace_ = namespace_,
		                                         .name = run->start->lease_name};
	if (!run->start->webhooks)
		return count;
	follow[count++] =
		(struct remote_follow){"", "v1", "secrets", .namespace_ = namespace_, .name = RUN_WEBHOOK_SECRET};
	follow[count++] = (struct remote_follow){KINDS_ADMISSION, "v1", "validatingwebhookconfigurations",
	                                         .name = RUN_WEBHOOK_CONFIG};
	follow[count++] = (struct remote_follow){KINDS_ADMISSION, "v1", "mutatingwebhookconfigurations",
	                                         .name = RUN_WEBHOOK_CONFIG};
	for (size_t i = 0; (row = kinds_row(i)); i++)
		if (run_webhooks_convert(row))
			follow[count++] = (struct remote_follow){KINDS_DEFINITIONS, "v1", "customresourcedefinitions",
			                                         .name = arena_printf(run->args->arena, "%s.%s",
			                                                              row->resource, row->group)};
	return count;
}

static uint64_t term_of(void *context)
{
	return lease_term(((struct run *)context)->lease);
}

static bool holds(void *context, uint64_t term)
{
	const struct run *run = context;
	return lease_held(run->lease) && lease_term(run->lease) == term;
}

static void open_lease(struct run *run, int64_t now)
{
	char host[64] = "platoon";
	gethostname(host, sizeof(host) - 1);
	snprintf(run->identity, sizeof(run->identity), "%s_%08llx", host,
	         (unsigned long long)(now ^ getpid()) & 0xffffffff);
	run->lease = lease_create(&(struct lease_options){
		.store = remote_store(run->remote),
		.logger = &run->args->logger,
		.namespace_ = run->access.namespace_,
		.name = run->start->lease_name,
		.identity = run->identity,
		.duration_ns = run->start->lease_duration_ns,
	});
	remote_set_fence(run->remote, &(struct remote_fence){.term = term_of, .holds = holds, .context = run});
}

static int open_remote(struct run *run, struct error *error)
{
	struct cli_args *args = run->args;
	if (remote_config_load(args->kubeconfig, args->context, args->arena, &run->access, error) < 0)
		return -1;
	if (args->namespace_)
		run->access.namespace_ = args->namespace_;
	size_t kinds = run->start->kind_count;
	struct followed followed = followed_by_run(args->arena, kinds + count_more(), &run->start->settings);
	for (size_t i = 0; i < kinds; i++)
		followed.items[followed.count++] = run->start->kinds[i];
	int64_t now = clock_now(clock_system());
	run->remote = remote_create(
		&(struct remote_options){
			.access = &run->access,
			.logger = &args->logger,
			.follow = followed.items,
			.follow_count = follow_more(run, followed.items, followed.count),
			.config_maps = run->start->settings.config_maps,
			.seed = (uint64_t)now ^ ((uint64_t)getpid() << 32),
		},
		error);
	if (!run->remote)
		return -1;
	settings_source_follow(run->settings, remote_store(run->remote));
	if (run->start->leader_elect) {
		open_lease(run, now);
		connected = run->remote;
	}
	return 0;
}

/* ---- controllers ---- */

/* Controllers exist only while this replica may act: another one may have changed everything meanwhile. */
static void open_controllers(struct run *run)
{
	if (run->manager)
		return;
	run->manager = manager_create(&(struct manager_options){
		.store = remote_store(run->remote),
		.logger = &run->args->logger,
		.settings = run->settings,
		.beside = true,
		.decided = run->dashboard ? dashboard_source_decided : NULL,
		.decided_context = run->dashboard,
	});
	if (run->args->simulate_kubelets)
		run->kubelet = kubelet_create(&(struct kubelet_options){
			.store = remote_store(run->remote),
			.logger = &run->args->logger,
			.start_seconds = 1,
			.ready_seconds = 1,
			.stop_seconds = 1,
		});
}

static void close_controllers(struct run *run)
{
	kubelet_destroy(run->kubelet);
	manager_destroy(run->manager);
	run->kubelet = NULL;
	run->manager = NULL;
	run->queue = (struct run_queue){0};
}

static int step(struct run *run)
{
	if (!remote_synced(run->remote)) {
		/* Behind a lease it is not known yet whether this replica will act. */
		if (!run->lease) {
			open_controllers(run);
			manager_read(run->manager);
		}
		return -1;
	}
	int wait = run->lease ? lease_step(run->lease) : -1;
	bool acts = !run->lease || lease_held(run->lease);
	if (run->webhooks)
		wait = manager_sooner(wait, run_webhooks_step(run->webhooks, acts));
	if (!acts) {
		close_controllers(run);
		return wait;
	}
	open_controllers(run);
	wait = manager_sooner(wait, run_ensure_queue(run));
	wait = manager_sooner(wait, manager_step(run->manager));
	return run->kubelet ? manager_sooner(wait, kubelet_step(run->kubelet)) : wait;
}

/* ---- configuration ---- */

static void use_log(struct run *run)
{
	run->args->logger.level = run->config->log_level;
	run->args->logger.format = run->config->log_format;
}

static void use_config(struct run *run, struct run_config *config)
{
	if (run->config != run->start)
		run_config_free(run->config);
	run->config = config;
	run->queue = (struct run_queue){0};
	use_log(run);
	config->settings.config_maps = run->start->settings.config_maps; /* the mirror follows them, or does not */
	settings_source_replace(run->settings, &config->settings);
}

static void look_at_config(struct run *run)
{
	bool asked = reload;
	reload = 0;
	struct run_config *next = run_config_reload(run->args, &run->file, asked, run->start);
	if (!next)
		return;
	remote_follow_kinds(run->remote, next->kinds, next->kind_count);
	use_config(run, next);
}

/* ---- the loop ---- */

/* Moves what the API server and those who ask us have to say. */
static void turn(struct run *run, int wait)
{
	struct listener *webhooks = run->webhooks ? run_webhooks_listener(run->webhooks) : NULL;
	if (run->listener)
		wait = manager_sooner(wait, listener_wait_ms(run->listener));
	if (webhooks)
		wait = manager_sooner(wait, listener_wait_ms(webhooks));
	remote_run(run->remote, wait, run->clients);
	if (run->listener)
		listener_step(run->listener);
	if (webhooks)
		listener_step(webhooks);
}

static void loop(struct run *run)
{
	int wait = 0;
	bool synced = false;
	while (!stopped) {
		turn(run, manager_sooner(wait, LONGEST_WAIT));
		settings_turn(run->settings);
		look_at_config(run);
		wait = step(run);
		if (run->dashboard && remote_synced(run->remote)) /* before that it is not the cluster yet */
			wait = manager_sooner(wait, dashboard_source_step(run->dashboard));
		if (!remote_synced(run->remote)) {
			run_log_problem(run);
		} else if (!synced) {
			synced = true;
			run_log_connected(run);
		} else {
			run_log_away(run);
		}
	}
}

/* Moves until the server has answered everything, but not longer than the configuration says. */
static void finish_writes(struct run *run)
{
	int64_t end = clock_now(clock_system()) + run->start->shutdown_ns;
	turn(run, 100);
	if (remote_counts(run->remote).waiting > 0)
		run_log_waiting(run);
	while (remote_counts(run->remote).waiting > 0 && clock_now(clock_system()) < end)
		turn(run, 100);
}

/* What was decided is done before the lease is given back: whoever takes it sees all of it. */
static void end_well(struct run *run)
{
	run->ending = true;
	run_log_ending(run);
	close_controllers(run);
	if (run->listener)
		listener_drain(run->listener);
	if (run->webhooks)
		listener_drain(run_webhooks_listener(run->webhooks));
	finish_writes(run);
	if (run->lease) {
		lease_release(run->lease);
		finish_writes(run);
	}
	run_log_ended(run);
}

/* ---- start and end ---- */

/* One descriptor that is readable when one of the listeners has something to do. */
static int open_clients(struct run *run, struct error *error)
{
	struct listener *both[] = {run->listener, run->webhooks ? run_webhooks_listener(run->webhooks) : NULL};
	run->clients = epoll_create1(EPOLL_CLOEXEC);
	for (size_t i = 0; i < 2; i++) {
		struct epoll_event event = {.events = EPOLLIN};
		if (both[i] && epoll_ctl(run->clients, EPOLL_CTL_ADD, listener_fd(both[i]), &event) < 0)
			return error_set(error, ERROR_IO, "cannot wait for clients");
	}
	return 0;
}

static int open_all(struct run *run, struct error *error)
{
	if (open_remote(run, error) < 0 || run_listen(run, error) < 0)
		return -1;
	if (run->start->webhooks && !(run->webhooks = run_webhooks_create(run, error)))
		return -1;
	return open_clients(run, error);
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	stopped = reload = 0;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGCONT, &action, NULL);
}

static int run_all(struct run *run)
{
	struct error error = {0};
	if (open_all(run, &error) < 0) {
		output_line(stderr, "platoon run: %s", error.text);
		return CLI_USAGE;
	}
	run_log_start(run);
	loop(run);
	end_well(run);
	return CLI_OK;
}

static int print_config(const struct run *run)
{
	struct buffer text = {0};
	run_config_print(run->config, &text);
	fputs(text.text, stdout);
	buffer_free(&text);
	return CLI_OK;
}

int cmd_run(struct cli_args *args)
{
	struct run run = {.args = args, .clients = -1};
	struct run_config *config = run_config_open(args);
	if (!config)
		return CLI_USAGE;
	run_config_is_new(args, &run.file);
	run.start = config;
	run.settings = settings_source_create(&config->settings);
	use_config(&run, config);
	catch_signals();
	int rc = args->print_config ? print_config(&run) : run_all(&run);
	close_controllers(&run);
	run_webhooks_destroy(run.webhooks);
	listener_destroy(run.listener);
	dashboard_source_destroy(run.dashboard);
	auth_free(&run.auth);
	if (run.clients >= 0)
		close(run.clients);
	lease_destroy(run.lease);
	settings_source_destroy(run.settings);
	connected = NULL;
	remote_destroy(run.remote);
	if (run.config != run.start)
		run_config_free(run.config);
	run_config_free(run.start);
	return rc;
}
