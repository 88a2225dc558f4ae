/* Owns the command `up`: the store, the API and the world of controllers, scheduler and kubelets on one thread. */
#include "cli/dashboard_source.h"
#include "kinds/names.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/run_config.h"
#include "cli/until_placed.h"
#include "cli/up_objects.h"

#include "base/clock.h"
#include "manager/manager.h"
#include "loop/writes.h"
#include "serve/http/http.h"
#include "serve/tls/secret_file.h"
#include "serve/api/serve.h"
#include "cluster/world.h"
#include "cluster/world_admission.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_WAIT 500 /* milliseconds: a signal between the look at `stopped` and the wait is noticed after this */
#define DRAIN_TURNS 50
#define DRAIN_WAIT 20
#define LOST_SECONDS 30 /* pods of a node that is down */

static volatile sig_atomic_t stopped, reload;

static void on_signal(int number)
{
	if (number == SIGHUP)
		reload = 1;
	else
		stopped = number;
}

struct up {
	struct cli_args *args;
	const struct manifests *given;
	const struct manifests *nodes;
	struct run_config *start; /* what it was started with */
	struct stat file;         /* of the configuration, when it was last looked at */
	struct settings_source *settings;
	struct world_admission *admission;
	struct store *store;
	struct serve *serve;
	struct world *world;
	struct dashboard_source *dashboard;
	struct until_placed *until; /* NULL: it goes on until it is told to end */
	bool in_round;              /* of turns; `seen`: what was committed when it began */
	uint64_t seen;
};

/* ---- configuration ---- */

static void use_config(struct up *up, const struct run_config *config)
{
	if (up->args->config) { /* otherwise the flags alone say it */
		up->args->logger.level = config->log_level;
		up->args->logger.format = config->log_format;
	}
	settings_source_replace(up->settings, &config->settings);
}

static int open_config(struct up *up)
{
	up->args->places_alone = true;
	up->start = run_config_open(up->args);
	if (!up->start)
		return -1;
	run_config_is_new(up->args, &up->file);
	up->settings = settings_source_create(&up->start->settings);
	use_config(up, up->start);
	return 0;
}

static void look_at_config(struct up *up)
{
	bool asked = reload;
	reload = 0;
	struct run_config *next = run_config_reload(up->args, &up->file, asked, up->start);
	if (!next)
		return;
	use_config(up, next);
	run_config_free(next);
}

/* ---- the loop ---- */

/* What a newcomer came for: where everything is, how long it took, and what to type next. */
static void show_result(const struct up *up)
{
	const struct cli_args *args = up->args;
	struct draw_style style = draw_style(stdout, args->colour);
	until_placed_show(up->until, &style, world_decision_ns(up->world));
	struct buffer again = {0};
	buffer_printf(&again, "  %s up", strchr(cli_program, ' ') ? cli_program : program_invocation_name);
	if (args->nodes_file)
		buffer_printf(&again, " --nodes-file %s", args->nodes_file);
	else
		buffer_printf(&again, " --nodes %dx%dx%d", args->shape.zones, args->shape.racks, args->shape.nodes);
	for (size_t i = 0; i < args->file_count; i++)
		buffer_printf(&again, " -f %s", args->files[i]);
	output_line(stdout, "Next, one that stays, with kubectl and a dashboard:");
	output_line(stdout, "%s", again.text);
	fflush(stdout);
	buffer_free(&again);
}

/* Between two turns others are served: who asks something waits for one controller, not for all of them. True when everybody had
 * a turn; `wait` says then how long nothing is due. */
static bool turn(struct up *up, int *wait)
{
	if (!up->in_round) {
		settings_turn(up->settings);
		look_at_config(up);
		up->seen = store_committed(up->store);
	}
	up->in_round = !world_turn(up->world, wait);
	if (up->in_round) {
		*wait = 0;
		return false;
	}
	*wait = manager_sooner(*wait, dashboard_source_step(up->dashboard));
	if (store_committed(up->store) != up->seen) /* which those at the beginning of the round did not see */
		*wait = 0;
	return true;
}

static int loop(struct up *up)
{
	struct error error = {0};
	int wait = 0, rc = CLI_OK;
	while (!stopped) {
		bool asked = !up->in_round || serve_is_asked(up->serve);
		if (asked && serve_run_once(up->serve, manager_sooner(wait, LONGEST_WAIT), &error)) {
			output_line(stderr, "platoon up: %s", error.text);
			rc = CLI_FOUND;
			break;
		}
		if (turn(up, &wait) && up->until && (rc = until_placed_look(up->until)) >= 0)
			break;
		rc = CLI_OK;
	}
	if (up->until && !stopped && rc != -1)
		show_result(up);
	serve_drain(up->serve);
	/* Also commits what the last turn wrote. */
	for (int i = 0; i < DRAIN_TURNS && (i == 0 || !serve_idle(up->serve)); i++)
		serve_run_once(up->serve, DRAIN_WAIT, &error);
	return rc;
}

static void print_next_steps(const struct up *up)
{
	char path[PATH_MAX];
	const char *kubeconfig = serve_kubeconfig(up->serve);
	if (up->args->until_placed) { /* it ends before anybody could go there */
		output_line(stdout, "The API listens on %s until every group is decided.", serve_url(up->serve));
		fflush(stdout);
		return;
	}
	output_line(stdout, "The API listens on %s. Ctrl-C ends it. In another shell:", serve_url(up->serve));
	output_line(stdout, "  export KUBECONFIG=%s", realpath(kubeconfig, path) ? path : kubeconfig);
	output_line(stdout, "  kubectl get nodes -L example.com/rack");
	output_line(stdout, "  kubectl apply -f examples/up-gang.yaml");
	output_line(stdout, "  kubectl get podgroups,pods -o wide");
	output_line(stdout, "The dashboard, read-only: %s" DASHBOARD_PATH "/#token=%s", serve_browser_url(up->serve),
	            serve_token(up->serve, true));
	fflush(stdout);
}

/* ---- start and end ---- */

static void catch_signals(const struct up *up)
{
	struct sigaction action = {.sa_handler = on_signal};
	stopped = reload = 0;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (up->args->config) /* without one it means the end, as for any program of a terminal */
		sigaction(SIGHUP, &action, NULL);
}

static int open_store(struct up *up, struct error *error)
{
	struct cli_args *args = up->args;
	if (secret_directory(args->data_dir, error) < 0)
		return -1;
	up->admission = world_admission_create(
		&(struct world_admission_options){.settings = up->settings, .claims = true, .strict = true});
	struct store_options options = {
		.path = args->in_memory ? NULL : arena_printf(args->arena, "%s/store.db", args->data_dir),
		.seed = (uint64_t)clock_now(clock_system()) ^ ((uint64_t)getpid() << 32),
		.admit = world_admission_check,
		.context = up->admission,
	};
	up->store = store_open(&options, error);
	if (!up->store)
		return -1;
	world_admission_use(up->admission, up->store);
	settings_source_follow(up->settings, up->store);
	return up_seed(up->store, up->nodes, error);
}

static void answer_metrics(void *context, struct http_request *request, struct http_response *response)
{
	const struct up *up = context;
	struct buffer text = {0};
	(void)request;
	world_metrics(up->world, &text);
	http_respond(response, 200, "text/plain; version=0.0.4", &text);
	buffer_free(&text);
}

static int open_services(struct up *up, struct error *error)
{
	struct serve_options options = {
		.store = up->store,
		.directory = up->args->data_dir,
		.port = up->args->port,
		.logger = &up->args->logger,
	};
	up->serve = serve_create(&options, error);
	if (!up->serve)
		return -1;
	up->dashboard = dashboard_source_create(up->store, up->settings, NULL);
	up->world = world_create(&(struct world_options){
		.store = up->store,
		.logger = &up->args->logger,
		.settings = up->settings,
		.beside = true,
		.kubelet =
			{
				.start_seconds = 1,
				.ready_seconds = 1,
				.stop_seconds = 1,
				.heartbeat_seconds = up->args->until_placed ? 0 : up->args->heartbeat,
				.lost_seconds = LOST_SECONDS,
			},
		.decided = dashboard_source_decided,
		.decided_context = up->dashboard,
	});
	struct dashboard *dashboard = dashboard_source_dashboard(up->dashboard);
	serve_route_with(up->serve, DASHBOARD_PATH, SERVE_OPEN | SERVE_BROWSER, dashboard_handle, dashboard);
	serve_route_with(up->serve, DASHBOARD_DATA, SERVE_ASKING | SERVE_BROWSER, dashboard_handle, dashboard);
	serve_route(up->serve, "/metrics", answer_metrics, up);
	return store_commit(up->store, error);
}

static void close_all(struct up *up)
{
	until_placed_destroy(up->until);
	world_destroy(up->world);
	serve_destroy(up->serve);
	dashboard_source_destroy(up->dashboard);
	world_admission_destroy(up->admission);
	settings_source_destroy(up->settings);
	run_config_free(up->start);
	store_close(up->store);
}

static int run(struct up *up)
{
	struct error error = {0};
	if (open_store(up, &error) < 0) {
		output_line(stderr, "platoon up: %s", error.text);
		return CLI_USAGE;
	}
	size_t refused = up_apply(up->store, up->given);
	if (refused > 0) {
		output_line(stderr, "platoon up: %zu of %zu objects were refused; nothing was changed", refused,
		            up->given->count);
		return CLI_FOUND;
	}
	if (open_services(up, &error) < 0) {
		output_line(stderr, "platoon up: %s", error.text);
		return CLI_USAGE;
	}
	if (up->args->until_placed)
		up->until = until_placed_create(up->store, up->settings);
	print_next_steps(up);
	return loop(up);
}

int cmd_up(struct cli_args *args)
{
	struct manifests given, nodes;
	manifests_init(&given);
	manifests_init(&nodes);
	int rc = cli_load(args, args->files, args->file_count, args->recursive, &given);
	if (rc == CLI_OK)
		rc = up_nodes(args, &nodes);
	if (rc == CLI_OK && args->until_placed && given.count == 0) {
		fprintf(stderr,
		        "platoon up: --until-placed needs a workload or PodGroup to wait for; give one with -f\n");
		rc = CLI_USAGE;
	}
	if (rc == CLI_OK) {
		struct up up = {.args = args, .given = &given, .nodes = &nodes};
		catch_signals(&up);
		rc = open_config(&up) < 0 ? CLI_USAGE : run(&up);
		close_all(&up);
	}
	manifests_free(&given);
	manifests_free(&nodes);
	return rc;
}
