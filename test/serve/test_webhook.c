/* Reviews as a real API server sends them, and the life of the certificates behind them. */
#include "base/arena.h"
#include "base/clock.h"
#include "serve/webhook/webhook.h"
#include "serve/webhook/certs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DAY INT64_C(86400)
#define START INT64_C(1800000000)
#define HOST "platoon-webhook.platoon-system.svc"

/* ---- reviews ---- */

struct desk {
	struct store *store;
	struct webhook *webhook;
};

static struct doc *give_scheduler(void *context, const struct val *pod)
{
	static const char text[] =
		"{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"y\"}},\"spec\":{\"schedulerName\":"
		"\"platoon\",\"containers\":[]}}";
	(void)context;
	return strcmp(val_str(val_path(pod, "metadata", "name", NULL), ""), "a") == 0
	               ? doc_parse_json(text, strlen(text), NULL)
	               : NULL;
}

static struct doc *give_policy(void *context, const struct val *job)
{
	static const char text[] = "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"podFailurePolicy\":{\"rules\":[]},"
				   "\"podReplacementPolicy\":\"Failed\"}}";
	(void)context;
	(void)job;
	return doc_parse_json(text, strlen(text), NULL);
}

static int open_desk(void **state)
{
	struct error error = {0};
	struct desk *desk = base_calloc(1, sizeof(*desk));
	desk->store = store_open(&(struct store_options){.bare = true}, &error);
	desk->webhook = webhook_create(
		&(struct webhook_options){.store = desk->store, .mutate = give_scheduler, .mutate_job = give_policy});
	*state = desk;
	return 0;
}

static int close_desk(void **state)
{
	struct desk *desk = *state;
	webhook_destroy(desk->webhook);
	store_close(desk->store);
	free(desk);
	return 0;
}

#define REVIEW(resource, object, old)                                                                                  \
	"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u1\",\"name\":"   \
	"\"q\",\"namespace\":\"\",\"resource\":" resource ",\"object\":" object ",\"oldObject\":" old "}}"
#define QUEUES "{\"group\":\"scheduling.run.ai\",\"version\":\"v2\",\"resource\":\"queues\"}"
#define QUEUE(extra, spec)                                                                                             \
	"{\"apiVersion\":\"scheduling.run.ai/v2\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"q\"" extra               \
	"},\"spec\":" spec "}"
#define GOOD "{\"resources\":{\"gpu\":{\"limit\":-1},\"cpu\":{\"limit\":-1},\"memory\":{\"limit\":-1}}}"
#define OWN_PARENT "{\"parentQueue\":\"q\",\"resources\":{}}"
#define TOPOLOGIES "{\"group\":\"workloads.x-k8s.io\",\"version\":\"v1alpha1\",\"resource\":\"clustertopologies\"}"
#define TOPOLOGY(key)                                                                                                  \
	"{\"apiVersion\":\"workloads.x-k8s.io/v1alpha1\",\"kind\":\"ClusterTopology\",\"metadata\":{\"name\":\"t\"},"  \
	"\"spec\":{\"layers\":[{\"name\":\"rack\",\"key\":\"" key "\"}]}}"
#define LEVELS "{\"group\":\"kai.scheduler\",\"version\":\"v1alpha1\",\"resource\":\"topologies\"}"
#define LEVEL(label, more)                                                                                             \
	"{\"apiVersion\":\"kai.scheduler/v1alpha1\",\"kind\":\"Topology\",\"metadata\":{\"name\":\"t\"},"              \
	"\"spec\":{\"levels\":[{\"nodeLabel\":\"" label "\"" more "]}}"
#define RBGS "{\"group\":\"workloads.x-k8s.io\",\"version\":\"v1alpha1\",\"resource\":\"rolebasedgroups\"}"
#define RBG_IN(topology)                                                                                               \
	"{\"apiVersion\":\"workloads.x-k8s.io/v1alpha1\",\"kind\":\"RoleBasedGroup\",\"metadata\":{\"name\":\"g\"},"   \
	"\"spec\":{\"roles\":[{\"name\":\"a\",\"replicas\":1,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"," \
	"\"image\":\"i\"}]}}}],\"coordination\":[{\"name\":\"c\",\"roles\":[\"a\"],\"strategy\":{\"rollingDeploy\":{"  \
	"\"roleDeployStep\":{\"a\":1},\"deployTopologyConstraint\":{\"clusterTopologyName\":\"" topology "\","         \
	"\"topologyLayerName\":\"rack\",\"constraintMode\":\"hard\"}}}}]}}"
#define PODS "{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"}"
#define POD(name) "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"containers\":[]}}"

static void test_validate(void **state)
{
	struct desk *desk = *state;
	static const struct {
		const char *what, *body, *has, *has_not;
		int code;
	} cases[] = {
		{"a good object", REVIEW(QUEUES, QUEUE("", GOOD), "null"), "\"uid\":\"u1\",\"allowed\":true", "status",
	         200},
		{"a bad one", REVIEW(QUEUES, QUEUE("", OWN_PARENT), "null"), "the queue is its own parent",
	         "\"allowed\":true", 200},
		{"with a code", REVIEW(QUEUES, QUEUE("", OWN_PARENT), "null"), "\"code\":422", NULL, 200},
		{"a deletion", REVIEW(QUEUES, "null", QUEUE("", OWN_PARENT)), "\"allowed\":true", NULL, 200},
		{"on its way out",
	         REVIEW(QUEUES, QUEUE("", OWN_PARENT),
	                QUEUE(",\"deletionTimestamp\":\"2030-01-01T00:00:00Z\"", OWN_PARENT)),
	         "\"allowed\":true", NULL, 200},
		{"what may not change", REVIEW(TOPOLOGIES, TOPOLOGY("a"), TOPOLOGY("b")), "cannot be changed",
	         "\"allowed\":true", 200},
		{"what did not change", REVIEW(TOPOLOGIES, TOPOLOGY("a"), TOPOLOGY("a")), "\"allowed\":true", NULL,
	         200},
		{"another level", REVIEW(LEVELS, LEVEL("a", "}"), LEVEL("b", "}")), "cannot be changed",
	         "\"allowed\":true", 200},
		{"one level less", REVIEW(LEVELS, LEVEL("a", "}"), LEVEL("a", "},{\"nodeLabel\":\"b\"}")),
	         "cannot be changed", "\"allowed\":true", 200},
		{"an alias", REVIEW(LEVELS, LEVEL("a", ",\"alias\":\"hall\"}"), LEVEL("a", "}")), "\"allowed\":true",
	         NULL, 200},
		{"a topology that is not there", REVIEW(RBGS, RBG_IN("late"), "null"), "does not exist",
	         "\"allowed\":true", 200},
		{"somebody else's kind",
	         REVIEW("{\"group\":\"x.example\",\"version\":\"v1\",\"resource\":\"things\"}", "{}", "null"),
	         "\"allowed\":true", NULL, 200},
		{"no JSON", "{", NULL, NULL, 400},
		{"no review", "{\"kind\":\"Pod\"}", "not a review", NULL, 400},
		{"no request", "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\"}", "not a review",
	         NULL, 400},
		{"no uid", "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{}}",
	         "not a review", NULL, 400},
		{"an old version",
	         "{\"apiVersion\":\"admission.k8s.io/"
	         "v1beta1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u\"}}",
	         "not a review", NULL, 400},
		{"nothing", "", NULL, NULL, 400},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buffer out = {0};
		int code = webhook_validate(desk->webhook, cases[i].body, strlen(cases[i].body), false, &out);
		if (code != cases[i].code || (cases[i].has && !strstr(out.text, cases[i].has)) ||
		    (cases[i].has_not && strstr(out.text, cases[i].has_not)))
			fail_msg("%s: %d %s", cases[i].what, code, out.text);
		buffer_free(&out);
	}
	assert_int_equal(webhook_counts(desk->webhook).malformed, 6);
	assert_int_equal(webhook_counts(desk->webhook).refused, 6);
}

/* ---- an object that names what the store has not heard of yet ---- */

struct door {
	struct clock_virtual clock;
	struct webhook *webhook;
	struct listener *listener;
	int fd;
	struct buffer in;
};

static void open_door(struct door *door, struct store *store)
{
	struct error error = {0};
	clock_virtual_init(&door->clock, START * CLOCK_SECOND);
	door->webhook = webhook_create(&(struct webhook_options){.store = store, .clock = &door->clock.source});
	door->listener = listener_create(&(struct listener_options){.clock = &door->clock.source}, &error);
	webhook_route(door->webhook, door->listener);
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	to.sin_port = htons((uint16_t)strtoul(strrchr(listener_url(door->listener), ':') + 1, NULL, 10));
	door->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(door->fd, (struct sockaddr *)&to, sizeof(to)), 0);
}

static void close_door(struct door *door)
{
	close(door->fd);
	listener_destroy(door->listener);
	webhook_destroy(door->webhook);
	buffer_free(&door->in);
}

static void ask_at(struct door *door, const char *body)
{
	struct buffer text = {0};
	buffer_printf(&text, "POST /validate HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
	assert_int_equal(send(door->fd, text.text, text.length, 0), text.length);
	buffer_free(&text);
}

/* Turns the loop often enough for all that is due now. */
static bool has_heard(struct door *door, const char *text)
{
	char block[4096];
	ssize_t count;
	for (int turn = 0; turn < 20; turn++) {
		listener_step(door->listener);
		while ((count = recv(door->fd, block, sizeof(block), MSG_DONTWAIT)) > 0)
			buffer_append(&door->in, block, (size_t)count);
	}
	return door->in.text && strstr(door->in.text, text);
}

static void make_topology(struct store *store)
{
	static const char text[] =
		"{\"apiVersion\":\"workloads.x-k8s.io/v1alpha1\",\"kind\":\"ClusterTopology\",\"metadata\":{\"name\":"
		"\"late\"},\"spec\":{\"layers\":[{\"name\":\"rack\",\"key\":\"a\"}]}}";
	struct arena *arena = arena_create();
	struct doc *doc = doc_parse_json(text, strlen(text), NULL);
	const struct store_api *api = store_api_find(store, "workloads.x-k8s.io", "v1alpha1", "clustertopologies");
	struct store_request request = {.verb = STORE_CREATE, .api = api, .body = doc_root(doc), .actor = "test"};
	struct store_result result = {.arena = arena};
	assert_int_equal(store_write(store, &request, &result), 0);
	store_object_release(result.object);
	assert_int_equal(store_commit(store, NULL), 0);
	doc_destroy(doc);
	arena_destroy(arena);
}

/* A file with both is applied, and the copy of the webhook hears of the first object after the second was asked about. */
static void test_late(void **state)
{
	struct desk *desk = *state;
	struct door door = {0};
	open_door(&door, desk->store);
	ask_at(&door, REVIEW(RBGS, RBG_IN("late"), "null"));
	assert_false(has_heard(&door, "allowed"));
	clock_virtual_advance(&door.clock, CLOCK_SECOND);
	assert_false(has_heard(&door, "allowed"));
	make_topology(desk->store);
	clock_virtual_advance(&door.clock, CLOCK_SECOND / 10);
	assert_true(has_heard(&door, "\"allowed\":true"));
	assert_int_equal(webhook_counts(door.webhook).reviews, 1);
	close_door(&door);
}

/* What does not come is refused, and who hangs up meanwhile is forgotten. */
static void test_never(void **state)
{
	struct desk *desk = *state;
	struct door door = {0};
	open_door(&door, desk->store);
	ask_at(&door, REVIEW(RBGS, RBG_IN("never"), "null"));
	assert_false(has_heard(&door, "allowed"));
	clock_virtual_advance(&door.clock, 3 * CLOCK_SECOND);
	assert_true(has_heard(&door, "\"allowed\":false"));
	assert_non_null(strstr(door.in.text, "ClusterTopology \\\"never\\\" does not exist"));
	ask_at(&door, REVIEW(RBGS, RBG_IN("never"), "null"));
	has_heard(&door, "");
	close_door(&door);
}

static void test_mutate(void **state)
{
	struct desk *desk = *state;
	struct buffer out = {0};
	const char *body = REVIEW(PODS, POD("a"), "null"), *other = REVIEW(PODS, POD("b"), "null");
	assert_int_equal(webhook_mutate(desk->webhook, body, strlen(body), &out), 200);
	struct doc *doc = doc_parse_json(out.text, out.length, NULL);
	const struct val *response = val_get(doc_root(doc), "response");
	const char *encoded = val_str(val_get(response, "patch"), "");
	unsigned char patch[1024] = "";
	assert_string_equal(val_str(val_get(response, "patchType"), ""), "JSONPatch");
	assert_true(strlen(encoded) < sizeof(patch) &&
	            EVP_DecodeBlock(patch, (const unsigned char *)encoded, (int)strlen(encoded)) > 0);
	assert_string_equal((const char *)patch,
	                    "[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"x\":\"y\"}},"
	                    "{\"op\":\"add\",\"path\":\"/spec/schedulerName\",\"value\":\"platoon\"}]");
	doc_destroy(doc);
	out.length = 0;
	const char *job = REVIEW("{\"group\":\"batch\",\"version\":\"v1\",\"resource\":\"jobs\"}", POD("a"), "null");
	assert_int_equal(webhook_mutate(desk->webhook, job, strlen(job), &out), 200);
	doc = doc_parse_json(out.text, out.length, NULL);
	encoded = val_str(val_path(doc_root(doc), "response", "patch", NULL), "");
	memset(patch, 0, sizeof(patch));
	assert_true(strlen(encoded) < sizeof(patch) &&
	            EVP_DecodeBlock(patch, (const unsigned char *)encoded, (int)strlen(encoded)) > 0);
	assert_string_equal((const char *)patch,
	                    "[{\"op\":\"add\",\"path\":\"/spec/podFailurePolicy\",\"value\":{\"rules\":[]}},"
	                    "{\"op\":\"add\",\"path\":\"/spec/podReplacementPolicy\",\"value\":\"Failed\"}]");
	doc_destroy(doc);
	out.length = 0;
	assert_int_equal(webhook_mutate(desk->webhook, other, strlen(other), &out), 200);
	assert_null(strstr(out.text, "patch"));
	assert_non_null(strstr(out.text, "\"allowed\":true"));
	buffer_free(&out);
}

#define CONVERT(to, objects)                                                                                           \
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"ConversionReview\",\"request\":{\"uid\":\"u2\","       \
	"\"desiredAPIVersion\":\"" to "\",\"objects\":[" objects "]}}"
#define GROUP                                                                                                          \
	"{\"apiVersion\":\"workloads.x-k8s.io/v1alpha1\",\"kind\":\"RoleBasedGroup\",\"metadata\":{\"name\":\"g\"},"   \
	"\"spec\":{\"roles\":[{\"name\":\"a\",\"replicas\":1,\"template\":{\"spec\":{}}}]}}"

static void test_convert(void **state)
{
	struct desk *desk = *state;
	static const struct {
		const char *body, *has;
	} cases[] = {
		{CONVERT("workloads.x-k8s.io/v1alpha2", GROUP "," GROUP), "\"standalonePattern\":{\"template\""},
		{CONVERT("workloads.x-k8s.io/v1alpha2", GROUP), "\"result\":{\"status\":\"Success\"}"},
		{CONVERT("workloads.x-k8s.io/v1alpha1", GROUP), "\"replicas\":1,\"template\""},
		{CONVERT("workloads.x-k8s.io/v1alpha2", ""), "\"convertedObjects\":[]"},
		{CONVERT("workloads.x-k8s.io/v9", GROUP), "\"Failed\",\"message\":\"cannot convert"},
		{CONVERT("scheduling.run.ai/v2", GROUP), "\"Failed\""},
		{CONVERT("workloads.x-k8s.io/v1alpha2", "7"), "cannot convert ? ?"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buffer out = {0};
		assert_int_equal(webhook_convert(desk->webhook, cases[i].body, strlen(cases[i].body), &out), 200);
		if (!strstr(out.text, cases[i].has))
			fail_msg("%s is not in %s", cases[i].has, out.text);
		buffer_free(&out);
	}
}

/* ---- certificates ---- */

/* Whether a client that trusts these authorities accepts the server at this time. */
static bool trusts(const char *authorities, const struct webhook_certs *certs, int64_t when)
{
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *context = X509_STORE_CTX_new();
	BIO *bio = BIO_new_mem_buf(authorities, -1);
	X509 *authority;
	while ((authority = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
		X509_STORE_add_cert(store, authority);
		X509_free(authority);
	}
	X509_VERIFY_PARAM *param = X509_VERIFY_PARAM_new();
	X509_VERIFY_PARAM_set_time(param, (time_t)when);
	X509_VERIFY_PARAM_set1_host(param, HOST, 0);
	X509_STORE_set1_param(store, param);
	X509_STORE_CTX_init(context, store, certs->server.x509, NULL);
	bool good = X509_verify_cert(context) == 1;
	X509_VERIFY_PARAM_free(param);
	X509_STORE_CTX_free(context);
	X509_STORE_free(store);
	BIO_free(bio);
	return good;
}

static int renew(struct webhook_certs *certs, int64_t when)
{
	struct error error = {0};
	int changed = webhook_certs_renew(certs, HOST, when, &error);
	if (changed < 0)
		fail_msg("%s", error.text);
	return changed;
}

/* Ten years, looked at twice a day. A client hears of a change one look later, and is never without trust. */
static void test_rotation(void **state)
{
	struct webhook_certs certs = {0};
	(void)state;
	assert_int_equal(renew(&certs, START), 1);
	assert_int_equal(renew(&certs, START), 0);
	char *told = base_strdup(certs.authorities.text), *first = base_strdup(told);
	size_t changes = 0;
	for (int64_t now = START; now < START + 3650 * DAY; now += 4 * DAY) {
		bool changed = renew(&certs, now) == 1;
		changes += changed;
		if (!trusts(told, &certs, now))
			fail_msg("not trusted after %lld days", (long long)((now - START) / DAY));
		free(told);
		told = base_strdup(certs.authorities.text);
	}
	assert_true(changes > 3650 / 90 && changes < 100);
	assert_string_not_equal(first, told);
	free(first);
	free(told);
	webhook_certs_clear(&certs);
}

static void test_damage(void **state)
{
	struct webhook_certs certs = {0}, other = {0};
	(void)state;
	renew(&certs, START);
	renew(&other, START);
	/* Another key than the certificate's, and no PEM at all. */
	buffer_free(&certs.server.key_pem);
	buffer_append(&certs.server.key_pem, other.server.key_pem.text, other.server.key_pem.length);
	struct buffer pem = certs.server.pem, key = certs.server.key_pem;
	certs.server.pem = certs.server.key_pem = (struct buffer){0};
	certificate_clear(&certs.server);
	certs.server.pem = pem;
	certs.server.key_pem = key;
	assert_int_equal(renew(&certs, START), 1);
	assert_true(trusts(certs.authorities.text, &certs, START));
	certs.authority_key.length = 10;
	assert_int_equal(renew(&certs, START), 1);
	assert_true(trusts(certs.authorities.text, &certs, START));
	assert_int_equal(renew(&certs, START), 0);
	webhook_certs_clear(&certs);
	webhook_certs_clear(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_validate, open_desk, close_desk),
		cmocka_unit_test_setup_teardown(test_late, open_desk, close_desk),
		cmocka_unit_test_setup_teardown(test_never, open_desk, close_desk),
		cmocka_unit_test_setup_teardown(test_mutate, open_desk, close_desk),
		cmocka_unit_test_setup_teardown(test_convert, open_desk, close_desk),
		cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
