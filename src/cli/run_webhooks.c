/* Owns the webhooks of `platoon run`: their listener, the Secret with their certificates, and what the API server is told
 * about them. */
#include "cli/run_internal.h"

#include "loop/writes.h"
#include "grouping/grouping.h"
#include "loop/reconciler.h"
#include "object/build.h"
#include "base/base64.h"
#include "serve/webhook/webhook.h"
#include "serve/webhook/certs.h"
#include "remote/config.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_AGAIN (600 * CLOCK_SECOND) /* certificates get older without a change of anything */
#define BODY_MAX ((size_t)64 << 20)     /* a conversion may be of a whole list */

static const char *const group_labels[] = {"rbg.workloads.x-k8s.io/group-name",
                                           "rolebasedgroup.workloads.x-k8s.io/name"};

bool run_webhooks_convert(const struct kind_row *row)
{
	return row->convert && row->flags & ROW_INSTALLED;
}

struct run_webhooks {
	struct run *run;
	struct ssl_ctx_st *tls;
	struct listener *listener;
	struct webhook *webhook;
	struct reconciler *reconciler; /* NULL while another replica acts */
	char *host;                    /* name of the Service in certificates */
	uint64_t loaded;               /* version of the Secret that TLS has; 0: none */
};

/* ---- pods ---- */

static bool is_of_group(const struct val *pod)
{
	const struct val *labels = val_path(pod, "metadata", "labels", NULL);
	return val_get(labels, group_labels[0]) || val_get(labels, group_labels[1]);
}

/* With our scheduler's name, when it is of a RoleBasedGroup and leaves the name open. */
static struct doc *claim(const struct settings *settings, const struct val *pod)
{
	const char *scheduler = val_str(val_path(pod, "spec", "schedulerName", NULL), "default-scheduler");
	if (strcmp(scheduler, "default-scheduler") != 0 || !is_of_group(pod))
		return NULL;
	struct build *build = build_create();
	struct node *root = build_copy(build, pod), *spec = build_copy(build, val_get(pod, "spec"));
	build_put_string(build, spec, "schedulerName", settings->schedulers[0]);
	build_put(build, root, "spec", spec);
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}

static struct doc *mutate(void *context, const struct val *pod)
{
	const struct run_webhooks *webhooks = context;
	const struct run *run = webhooks->run;
	const struct settings *settings = settings_now(run->settings);
	struct doc *claimed = claim(settings, pod);
	struct doc *grouped = grouping_admit(remote_store(run->remote), settings, claimed ? doc_root(claimed) : pod);
	if (!grouped)
		return claimed;
	doc_destroy(claimed);
	return grouped;
}

static struct doc *mutate_job(void *context, const struct val *job)
{
	const struct run_webhooks *webhooks = context;
	return grouping_admit_job(settings_now(webhooks->run->settings), job);
}

static bool judges_as_kai(void *context)
{
	const struct run_webhooks *webhooks = context;
	return settings_now(webhooks->run->settings)->group.kai_minimums;
}

/* ---- the Secret ---- */

static struct store_object *secret_of(const struct run_webhooks *webhooks)
{
	struct store *store = remote_store(webhooks->run->remote);
	return store_peek(store, store_type_find(store, "", "secrets"), webhooks->run->access.namespace_,
	                  RUN_WEBHOOK_SECRET);
}

static void read_certs(const struct store_object *secret, struct webhook_certs *certs)
{
	const struct val *data = secret ? val_get(secret->root, "data") : NULL;
	base64_decode(val_str(val_get(data, "ca.crt"), ""), &certs->authorities);
	base64_decode(val_str(val_get(data, "ca.key"), ""), &certs->authority_key);
	base64_decode(val_str(val_get(data, "tls.crt"), ""), &certs->server.pem);
	base64_decode(val_str(val_get(data, "tls.key"), ""), &certs->server.key_pem);
}

static bool write_secret(struct run_webhooks *webhooks, struct reconcile *turn, const struct store_object *old,
                         const struct webhook_certs *certs)
{
	struct run *run = webhooks->run;
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build), *data = build_map(build),
		    *labels = build_map(build);
	build_put_string(build, root, "apiVersion", "v1");
	build_put_string(build, root, "kind", "Secret");
	build_put_string(build, root, "type", "kubernetes.io/tls");
	build_put_string(build, metadata, "name", RUN_WEBHOOK_SECRET);
	build_put_string(build, metadata, "namespace", run->access.namespace_);
	build_put_string(build, labels, "app.kubernetes.io/name", "platoon");
	build_put(build, metadata, "labels", labels);
	if (old)
		build_put_string(build, metadata, "resourceVersion",
		                 val_str(val_path(old->root, "metadata", "resourceVersion", NULL), ""));
	build_put(build, root, "metadata", metadata);
	build_put_string(build, data, "ca.crt",
	                 base64_encode(turn->arena, certs->authorities.text, certs->authorities.length));
	build_put_string(build, data, "ca.key",
	                 base64_encode(turn->arena, certs->authority_key.text, certs->authority_key.length));
	build_put_string(build, data, "tls.crt",
	                 base64_encode(turn->arena, certs->server.pem.text, certs->server.pem.length));
	build_put_string(build, data, "tls.key",
	                 base64_encode(turn->arena, certs->server.key_pem.text, certs->server.key_pem.length));
	build_put(build, root, "data", data);
	struct doc *doc = build_finish(build, root);
	struct store_request request = writes_create(store_api_find(turn->store, "", "v1", "secrets"),
	                                             run->access.namespace_, doc_root(doc), WRITES_ACTOR);
	struct store_error error;
	if (old) {
		request.verb = STORE_UPDATE;
		request.name = RUN_WEBHOOK_SECRET;
	}
	bool done = writes_send(turn->store, &request, turn->arena, &error) == 0;
	if (!done)
		turn->failure = error.message;
	doc_destroy(doc);
	build_destroy(build);
	return done;
}

/* ---- what the API server is told ---- */

static void add_op(struct build *build, struct node *patch, const char *op, const char *path, const char *value)
{
	struct node *item = build_map(build);
	build_put_string(build, item, "op", op);
	build_put_string(build, item, "path", path);
	build_put_string(build, item, "value", value);
	build_append(build, patch, item);
}

static int send_patch(struct reconcile *turn, const struct store_object *object, struct build *build,
                      struct node *patch)
{
	struct doc *doc = build_finish(build, patch);
	struct store_request request = writes_change(object, doc_root(doc), WRITES_ACTOR);
	struct store_error error;
	request.patch = STORE_PATCH_JSON;
	int rc = writes_send(turn->store, &request, turn->arena, &error);
	if (rc < 0)
		turn->failure = error.message;
	doc_destroy(doc);
	return rc;
}

/* The authority of each webhook of a configuration; the test keeps us from writing into another one that took its
 * place meanwhile. */
static int tell_configuration(struct reconcile *turn, const char *resource, const char *bundle)
{
	const struct store_type *type = store_type_find(turn->store, KINDS_ADMISSION, resource);
	const struct store_object *object = store_peek(turn->store, type, "", RUN_WEBHOOK_CONFIG);
	const struct val *webhook;
	if (!object)
		return 0;
	struct build *build = build_create();
	struct node *patch = build_list(build);
	size_t index = 0, count = 0;
	for (struct val_iter it = val_iter(val_get(object->root, "webhooks")); val_next(&it, NULL, &webhook); index++) {
		if (strcmp(val_str(val_path(webhook, "clientConfig", "caBundle", NULL), ""), bundle) == 0)
			continue;
		add_op(build, patch, "test", arena_printf(turn->arena, "/webhooks/%zu/name", index),
		       val_str(val_get(webhook, "name"), ""));
		add_op(build, patch, "add", arena_printf(turn->arena, "/webhooks/%zu/clientConfig/caBundle", index),
		       bundle);
		count++;
	}
	int rc = count ? send_patch(turn, object, build, patch) : 0;
	build_destroy(build);
	return rc;
}

static int tell_definition(struct reconcile *turn, const char *name, const char *bundle)
{
	const struct store_type *type = store_type_find(turn->store, KINDS_DEFINITIONS, "customresourcedefinitions");
	const struct store_object *object = store_peek(turn->store, type, "", name);
	const struct val *client =
		object ? val_path(object->root, "spec", "conversion", "webhook", "clientConfig", NULL) : NULL;
	if (!client || strcmp(val_str(val_get(client, "caBundle"), ""), bundle) == 0)
		return 0;
	struct build *build = build_create();
	struct node *patch = build_list(build);
	add_op(build, patch, "test", "/spec/conversion/strategy", "Webhook");
	add_op(build, patch, "add", "/spec/conversion/webhook/clientConfig/caBundle", bundle);
	int rc = send_patch(turn, object, build, patch);
	build_destroy(build);
	return rc;
}

static int reconcile(void *context, struct reconcile *turn)
{
	struct run_webhooks *webhooks = context;
	const struct store_object *secret = secret_of(webhooks);
	const struct store_type *type = store_type_find(turn->store, "", "secrets");
	if (store_is_assumed(remote_store(webhooks->run->remote), type, webhooks->run->access.namespace_,
	                     RUN_WEBHOOK_SECRET)) {
		turn->again_ns = CLOCK_SECOND / 5;
		return 0;
	}
	struct webhook_certs certs = {0};
	struct error error = {0};
	read_certs(secret, &certs);
	int rc = webhook_certs_renew(&certs, webhooks->host, turn->now_ns / CLOCK_SECOND, &error);
	turn->again_ns = rc > 0 ? CLOCK_SECOND / 5 : LOOK_AGAIN;
	if (rc < 0) {
		turn->failure = arena_strdup(turn->arena, error.text);
	} else if (rc > 0) {
		log_write(turn->logger, LOG_INFO, 0, "certificates of the webhooks made", "secret", RUN_WEBHOOK_SECRET,
		          NULL);
		rc = write_secret(webhooks, turn, secret, &certs) ? 0 : -1;
	} else {
		const char *bundle = base64_encode(turn->arena, certs.authorities.text, certs.authorities.length);
		rc = tell_configuration(turn, "validatingwebhookconfigurations", bundle) |
		     tell_configuration(turn, "mutatingwebhookconfigurations", bundle);
		const struct kind_row *row;
		for (size_t i = 0; (row = kinds_row(i)); i++)
			if (run_webhooks_convert(row))
				rc |= tell_definition(turn,
				                      arena_printf(turn->arena, "%s.%s", row->resource, row->group),
				                      bundle);
	}
	if (certs.authority_key.length > 0)
		explicit_bzero(certs.authority_key.text, certs.authority_key.length);
	webhook_certs_clear(&certs);
	return rc;
}

static void want(struct reconciler *reconciler, void *context, const struct store_object *object,
                 const struct store_object *old, bool deleted)
{
	(void)context;
	(void)object;
	(void)old;
	(void)deleted;
	reconciler_want(reconciler, 0, "", RUN_WEBHOOK_SECRET);
}

static const struct reconciler_watch watches[] = {
	{"", "secrets", .map = want},
	{KINDS_ADMISSION, "validatingwebhookconfigurations", .map = want},
	{KINDS_ADMISSION, "mutatingwebhookconfigurations", .map = want},
	{KINDS_DEFINITIONS, "customresourcedefinitions", .map = want},
};

/* ---- the listener ---- */

static int open_tls(struct run_webhooks *webhooks, struct error *error)
{
	const char *file = webhooks->run->start->client_authority, *text;
	struct error problem = {0};
	webhooks->tls = tls_create();
	if (!webhooks->tls)
		return certificate_failed(error, "a TLS context");
	if (!file[0])
		return 0;
	if (remote_file_read(file, webhooks->run->args->arena, &text, &problem) < 0 ||
	    tls_require_client(webhooks->tls, text, &problem) < 0)
		return error_set(error, ERROR_USAGE, "webhooks.clientAuthority %.200s: %.200s", file, problem.text);
	return 0;
}

struct run_webhooks *run_webhooks_create(struct run *run, struct error *error)
{
	struct run_webhooks *webhooks = base_calloc(1, sizeof(*webhooks));
	struct buffer host = {0};
	webhooks->run = run;
	buffer_printf(&host, "%s.%s.svc", run->start->webhook_service, run->access.namespace_);
	webhooks->host = host.text;
	struct listener_options options = {.limits = {.body_bytes = BODY_MAX}, .logger = &run->args->logger};
	run_address(run->start->webhook_listen, run->args->arena, &options.address, &options.port);
	if (open_tls(webhooks, error) == 0) {
		options.tls = webhooks->tls;
		webhooks->listener = listener_create(&options, error);
	}
	if (!webhooks->listener) {
		run_webhooks_destroy(webhooks);
		return NULL;
	}
	webhooks->webhook = webhook_create(&(struct webhook_options){
		.store = remote_store(run->remote),
		.mutate = mutate,
		.mutate_job = mutate_job,
		.judges_as_kai = judges_as_kai,
		.context = webhooks,
		.logger = &run->args->logger,
	});
	webhook_route(webhooks->webhook, webhooks->listener);
	return webhooks;
}

void run_webhooks_destroy(struct run_webhooks *webhooks)
{
	if (!webhooks)
		return;
	reconciler_destroy(webhooks->reconciler);
	listener_destroy(webhooks->listener);
	webhook_destroy(webhooks->webhook);
	tls_destroy(webhooks->tls);
	free(webhooks->host);
	free(webhooks);
}

struct listener *run_webhooks_listener(struct run_webhooks *webhooks)
{
	return webhooks->listener;
}

/* Every replica answers, so every replica needs the certificate as soon as the Secret has one. */
static void load(struct run_webhooks *webhooks)
{
	const struct store_object *secret = secret_of(webhooks);
	struct webhook_certs certs = {0};
	struct error error = {0};
	if (!secret || secret->version == webhooks->loaded)
		return;
	read_certs(secret, &certs);
	certificate_parse(&certs.server);
	if (tls_use(webhooks->tls, &certs.server, &error) < 0)
		log_write(&webhooks->run->args->logger, LOG_WARN, 0, "certificate of the webhooks cannot be used",
		          "error", error.text, NULL);
	else
		webhooks->loaded = secret->version;
	webhook_certs_clear(&certs);
}

int run_webhooks_step(struct run_webhooks *webhooks, bool acts)
{
	struct run *run = webhooks->run;
	load(webhooks);
	if (!acts) {
		reconciler_destroy(webhooks->reconciler);
		webhooks->reconciler = NULL;
		return -1;
	}
	if (!webhooks->reconciler) {
		webhooks->reconciler = reconciler_create(&(struct reconciler_options){
			.name = "webhooks",
			.store = remote_store(run->remote),
			.logger = &run->args->logger,
			.watches = watches,
			.watch_count = sizeof(watches) / sizeof(watches[0]),
			.reconcile = reconcile,
			.context = webhooks,
		});
		reconciler_want(webhooks->reconciler, 0, "", RUN_WEBHOOK_SECRET);
	}
	return reconciler_step(webhooks->reconciler);
}

bool run_webhooks_ready(const struct run_webhooks *webhooks)
{
	return webhooks->loaded != 0;
}

void run_webhooks_metrics(const struct run_webhooks *webhooks, struct buffer *out)
{
	if (!webhooks)
		return;
	struct webhook_counts counts = webhook_counts(webhooks->webhook);
	run_put_metric(out, "platoon_webhook_reviews_total", "counter", "Objects that were judged", counts.reviews);
	run_put_metric(out, "platoon_webhook_refused_total", "counter", "Objects that were refused", counts.refused);
	run_put_metric(out, "platoon_webhook_mutated_total", "counter", "Pods that were changed", counts.mutated);
	run_put_metric(out, "platoon_webhook_conversions_total", "counter", "Conversions between versions",
	               counts.conversions);
	run_put_metric(out, "platoon_webhook_malformed_total", "counter", "Requests that were no review",
	               counts.malformed);
}
