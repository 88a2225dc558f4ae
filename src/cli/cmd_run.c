/* Owns the command `run`: controllers and scheduler over a mirror of a real cluster. */
#include "cli/output.h"
#include "cli/run_internal.h"
#include "control/grouping.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_WAIT 1000    /* milliseconds, so that signals and timers are noticed */
#define LAST_WRITES_TURNS 50 /* of 100 ms: what was decided is sent before the end */
#define PROBLEM_PAUSE INT64_C(10000000000)

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = 1;
}

#define GROUP_LABEL "rbg.workloads.x-k8s.io/group-name" /* on everything that belongs to a RoleBasedGroup */

/* Everything the controllers read. Kinds that a cluster may not have are optional. */
static const struct remote_follow types[] = {
	{"", "v1", "nodes", .optional = false},
	{"", "v1", "pods", .optional = false},
	{"", "v1", "namespaces", .optional = false},
	{"", "v1", "persistentvolumes", .optional = false},
	{"", "v1", "persistentvolumeclaims", .optional = false},
	{"scheduling.k8s.io", "v1", "priorityclasses", .optional = false},
	{"scheduling.run.ai", "v2alpha2", "podgroups", .optional = false},
	{"scheduling.run.ai", "v2", "queues", .optional = false},
	{"kai.scheduler", "v1alpha1", "topologies", .optional = false},
	{"workloads.x-k8s.io", "v1alpha2", "rolebasedgroups", .optional = true},
	{"workloads.x-k8s.io", "v1alpha2", "coordinatedpolicies", .optional = true},
	{"workloads.x-k8s.io", "v1alpha1", "clustertopologies", .optional = true},
	{"workloads.x-k8s.io", "v1alpha2", "rolebasedgroupscalingadapters", .optional = true},
	/* Of these only what belongs to RoleBasedGroups. */
	{"", "v1", "services", .optional = true, .labels = GROUP_LABEL},
	{"", "v1", "configmaps", .optional = true, .labels = GROUP_LABEL},
	{"apps", "v1", "controllerrevisions", .optional = true, .labels = GROUP_LABEL},
	{"", "v1", "configmaps", .namespace_ = GROUPING_DEFAULTS_NAMESPACE, .name = GROUPING_DEFAULTS_NAME},
	{"apps", "v1", "deployments", .optional = false},
	{"apps", "v1", "replicasets", .optional = false},
	{"apps", "v1", "statefulsets", .optional = false},
	{"batch", "v1", "jobs", .optional = false},
	{"batch", "v1", "cronjobs", .optional = false},
	{"kubeflow.org", "v1", "pytorchjobs", .optional = true},
	{"kubeflow.org", "v1", "tfjobs", .optional = true},
	{"kubeflow.org", "v1", "mpijobs", .optional = true},
	{"kubeflow.org", "v2beta1", "mpijobs", .optional = true},
	{"kubeflow.org", "v1", "jaxjobs", .optional = true},
	{"kubeflow.org", "v1", "xgboostjobs", .optional = true},
	{"leaderworkerset.x-k8s.io", "v1", "leaderworkersets", .optional = true},
	{"jobset.x-k8s.io", "v1alpha2", "jobsets", .optional = true},
	{"ray.io", "v1", "rayclusters", .optional = true},
	{"ray.io", "v1", "rayjobs", .optional = true},
	{"ray.io", "v1", "rayservices", .optional = true},
	{"grove.io", "v1alpha1", "podcliques", .optional = true},
	{"grove.io", "v1alpha1", "podcliquescalinggroups", .optional = true},
	{"grove.io", "v1alpha1", "podcliquesets", .optional = true},
	{"grove.io", "v1alpha1", "podgangsets", .optional = true},
};
#define TYPES (sizeof(types) / sizeof(types[0]))

static bool confirmed(void *context, const struct store_type *type, const char *namespace_, const char *name)
{
	return remote_confirmed(context, type, namespace_, name);
}

static int open_remote(struct run *run, struct error *error)
{
	struct cli_args *args = run->args;
	if (remote_config_load(args->kubeconfig, args->context, args->arena, &run->access, error) < 0)
		return -1;
	if (args->namespace_)
		run->access.namespace_ = args->namespace_;
	struct remote_follow *follow = arena_array(args->arena, struct remote_follow, TYPES + 1);
	memcpy(follow, types, sizeof(types));
	size_t count = TYPES;
	if (args->leader_elect)
		follow[count++] = (struct remote_follow){"coordination.k8s.io", "v1", "leases",
		                                         .namespace_ = run->access.namespace_};
	int64_t now = clock_now(clock_system());
	run->remote = remote_create(
		&(struct remote_options){
			.access = &run->access,
			.logger = &args->logger,
			.follow = follow,
			.follow_count = count,
			.seed = (uint64_t)now ^ ((uint64_t)getpid() << 32),
		},
		error);
	if (!run->remote)
		return -1;
	char host[64] = "platoon";
	gethostname(host, sizeof(host) - 1);
	snprintf(run->identity, sizeof(run->identity), "%s_%08llx", host,
	         (unsigned long long)(now ^ getpid()) & 0xffffffff);
	if (args->leader_elect)
		run->lease = lease_create(&(struct lease_options){
			.store = remote_store(run->remote),
			.logger = &args->logger,
			.namespace_ = run->access.namespace_,
			.name = "platoon",
			.identity = run->identity,
			.confirmed = confirmed,
			.context = run->remote,
		});
	return 0;
}

/* Controllers exist only while this replica may act: another one may have changed everything meanwhile. */
static void open_controllers(struct run *run)
{
	if (run->manager)
		return;
	run->manager = manager_create(&(struct manager_options){
		.store = remote_store(run->remote),
		.logger = &run->args->logger,
		.schedulers = run->args->schedulers,
		.scheduler_count = run->args->scheduler_count,
		.budget = run->args->budget,
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
}

static int step(struct run *run)
{
	if (!remote_synced(run->remote))
		return -1;
	int wait = run->lease ? lease_step(run->lease) : -1;
	if (run->lease && !lease_held(run->lease)) {
		close_controllers(run);
		return wait;
	}
	open_controllers(run);
	wait = manager_sooner(wait, manager_step(run->manager));
	return run->kubelet ? manager_sooner(wait, kubelet_step(run->kubelet)) : wait;
}

static void tell_problem(struct run *run)
{
	int64_t now = clock_now(clock_system());
	const char *problem = remote_problem(run->remote);
	if (!problem[0] || now - run->told < PROBLEM_PAUSE)
		return;
	run->told = now;
	output_line(stderr, "platoon run: waiting for %s: %s", run->access.server, problem);
}

/* Moves what the API server and those who ask us have to say. */
static void turn(struct run *run, int wait)
{
	if (!run->listener) {
		remote_run(run->remote, wait, -1);
		return;
	}
	remote_run(run->remote, manager_sooner(wait, listener_wait_ms(run->listener)), listener_fd(run->listener));
	listener_step(run->listener);
}

static void loop(struct run *run)
{
	int wait = 0;
	bool synced = false;
	while (!stopped) {
		turn(run, manager_sooner(wait, LONGEST_WAIT));
		wait = step(run);
		if (!remote_synced(run->remote)) {
			tell_problem(run);
		} else if (!synced) {
			synced = true;
			output_line(stdout, "platoon run: connected to %s (context %s)", run->access.server,
			            run->access.context);
			fflush(stdout);
		}
	}
	run->ending = true;
	close_controllers(run);
	if (run->lease)
		lease_release(run->lease);
	if (run->listener)
		listener_drain(run->listener);
	for (int i = 0; i < LAST_WRITES_TURNS && (i == 0 || remote_counts(run->remote).waiting > 0); i++)
		turn(run, 100);
}

int cmd_run(struct cli_args *args)
{
	struct run run = {.args = args};
	struct error error = {0};
	struct sigaction action = {.sa_handler = on_signal};
	stopped = 0;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	int rc = CLI_OK;
	if (open_remote(&run, &error) < 0 || run_listen(&run, &error) < 0) {
		output_line(stderr, "platoon run: %s", error.text);
		rc = CLI_USAGE;
	} else {
		if (run.listener)
			output_line(stdout, "platoon run: health and metrics on %s", listener_url(run.listener));
		fflush(stdout);
		loop(&run);
	}
	listener_destroy(run.listener);
	close_controllers(&run);
	lease_destroy(run.lease);
	remote_destroy(run.remote);
	return rc;
}
