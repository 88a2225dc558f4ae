/* kill -9 at random points under load: what was acknowledged is there, what was not is there as a whole turn or not at
 * all, and watches go on where they were or are told that they cannot. */
#include "fixtures/store_fixture.h"

#include "property/random.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILLS 200
#define KEYS 40
#define HISTORY 64
#define MOST_IN_TURN 8
#define MOST_OPS 20000 /* of one life of the writer */

static char folder[64], path[128];

/* ---- the script: what is written, the same for the writer and for the judge ---- */

struct op {
	enum store_verb verb;
	uint32_t key, value;
	bool last; /* of its turn */
};

struct script {
	struct random random;
	uint32_t values[KEYS]; /* 0: no such object */
	uint32_t number;
	int left; /* of the turn */
};

static struct op next_op(struct script *script)
{
	struct random *random = &script->random;
	if (script->left == 0)
		script->left = random_range(random, 1, MOST_IN_TURN);
	struct op op = {.key = (uint32_t)random_range(random, 0, KEYS - 1), .last = --script->left == 0};
	if (!script->values[op.key])
		op.verb = STORE_CREATE;
	else
		op.verb = random_chance(random, 25)   ? STORE_DELETE
		          : random_chance(random, 50) ? STORE_UPDATE
		                                      : STORE_PATCH;
	script->number++;
	op.value = op.verb == STORE_DELETE ? 0 : script->number;
	script->values[op.key] = op.value;
	return op;
}

/* ---- the writer, which is killed ---- */

struct ack {
	uint64_t version; /* 0 for deletes */
	uint32_t number;  /* of the op in this life */
	uint32_t code;
};

struct writer {
	int pipe;
	uint32_t done;
};

static void acknowledge(void *context, const struct store_result *result)
{
	struct writer *writer = context;
	struct ack ack = {.number = writer->done++, .code = (uint32_t)result->code};
	if (result->object)
		ack.version = result->object->version;
	if (write(writer->pipe, &ack, sizeof(ack)) != (ssize_t)sizeof(ack))
		_exit(1);
}

static void write_until_killed(struct store_fixture *fixture, struct script script, int pipe)
{
	struct writer writer = {.pipe = pipe};
	fixture_open(fixture, path);
	for (int i = 0; i < MOST_OPS; i++) {
		struct op op = next_op(&script);
		char name[16], text[160];
		snprintf(name, sizeof(name), "k%u", op.key);
		snprintf(text, sizeof(text), "{'metadata':{'name':'%s'},'data':{'v':'%u','pad':'%0*u'}}", name,
		         op.value, (int)(op.value % 60 + 1), 0U);
		struct doc *body = fixture_json(text);
		struct store_request request = {.verb = op.verb,
		                                .api = fixture_api(fixture, "configmaps"),
		                                .namespace_ = "default",
		                                .name = op.verb == STORE_CREATE ? NULL : name,
		                                .patch = STORE_PATCH_MERGE,
		                                .body = op.verb == STORE_DELETE ? NULL : doc_root(body)};
		store_submit(fixture->store, &request, acknowledge, &writer);
		doc_destroy(body);
		if (op.last && store_commit(fixture->store, NULL) < 0)
			_exit(1);
	}
	pause(); /* the judge is slow */
}

/* ---- the judge ---- */

struct tally {
	size_t acknowledged, extra, inside, resumed, expired;
};

/* Reads acknowledgements until there are `wanted` or the writer is gone; how many there are. */
static size_t read_acks(int pipe, struct ack *acks, size_t count, size_t wanted)
{
	while (count < wanted) {
		struct pollfd ready = {.fd = pipe, .events = POLLIN};
		if (poll(&ready, 1, 20000) <= 0 || read(pipe, &acks[count], sizeof(*acks)) != (ssize_t)sizeof(*acks))
			break;
		count++;
	}
	return count;
}

static uint32_t stored_value(struct store_fixture *fixture, uint32_t key)
{
	char name[16];
	snprintf(name, sizeof(name), "k%u", key);
	struct store_object *object =
		store_peek(fixture->store, fixture_api(fixture, "configmaps")->type, "default", name);
	return object ? (uint32_t)strtoul(val_str(val_path(object->root, "data", "v", NULL), "0"), NULL, 10) : 0;
}

/* One version, one op: the version of the store says how many ops survived. */
static void judge_state(struct store_fixture *fixture, struct script *script, uint64_t base, const struct ack *acks,
                        size_t count, struct op *ops, struct tally *tally)
{
	static const uint32_t codes[] = {
		[STORE_CREATE] = 201, [STORE_UPDATE] = 200, [STORE_PATCH] = 200, [STORE_DELETE] = 200};
	size_t survived = (size_t)(store_version(fixture->store) - base);
	if (survived < count)
		fail_msg("%zu writes were acknowledged and %zu are there", count, survived);
	for (size_t i = 0; i < survived; i++) {
		ops[i] = next_op(script);
		if (i >= count)
			continue;
		assert_int_equal(acks[i].number, i);
		assert_int_equal(acks[i].code, codes[ops[i].verb]);
		if (ops[i].verb != STORE_DELETE)
			assert_int_equal(acks[i].version, base + i + 1);
	}
	if (survived && !ops[survived - 1].last)
		fail_msg("half a turn is there: %zu writes", survived);
	for (uint32_t key = 0; key < KEYS; key++)
		assert_int_equal(stored_value(fixture, key), script->values[key]);
	tally->acknowledged += count;
	tally->extra += survived - count;
	tally->inside += survived > count;
}

/* What a client that had read up to `version` sees now. */
static void judge_watch(struct store_fixture *fixture, uint64_t version, uint64_t base, const struct op *ops,
                        struct tally *tally)
{
	static const enum store_event_type types[] = {[STORE_CREATE] = STORE_ADDED,
	                                              [STORE_UPDATE] = STORE_MODIFIED,
	                                              [STORE_PATCH] = STORE_MODIFIED,
	                                              [STORE_DELETE] = STORE_DELETED};
	uint64_t now = store_version(fixture->store), missed = now - version;
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, version);
	struct store_watch_request request = {.api = fixture_api(fixture, "configmaps"), .version = text};
	struct store_error error = {0};
	struct store_watch *watch = store_watch_open(fixture->store, &request, fixture->arena, &error);
	if (!watch) {
		assert_int_equal(error.code, 410);
		assert_true(missed > HISTORY); /* only what does not fit into the window is lost */
		tally->expired++;
		return;
	}
	assert_true(missed <= HISTORY + 2 * MOST_IN_TURN);
	struct store_event event;
	for (uint64_t at = version + 1; at <= now; at++) {
		assert_int_equal(store_watch_next(watch, &event, fixture->arena, &error), 1);
		assert_int_equal(event.version, at);
		if (at > base)
			assert_int_equal(event.type, types[ops[at - base - 1].verb]);
	}
	assert_int_equal(store_watch_next(watch, &event, fixture->arena, &error), 0);
	store_watch_close(watch);
	tally->resumed++;
}

static uint64_t open_version(struct store_fixture *fixture)
{
	fixture_open(fixture, path);
	uint64_t version = store_version(fixture->store);
	fixture_close(fixture);
	return version;
}

static void kills_lose_nothing(void **state)
{
	static struct ack acks[MOST_OPS];
	static struct op ops[MOST_OPS];
	struct random random = {7};
	struct tally tally = {0};
	struct script script = {.random = {1}};
	struct store_fixture fixture = {.options = {.history = HISTORY}};
	uint64_t first = open_version(&fixture), base = first;
	for (int round = 0; round < KILLS; round++) {
		int ends[2];
		fixture.options.sync = round % 2 ? STORE_SYNC_NORMAL : STORE_SYNC_FULL;
		assert_int_equal(pipe(ends), 0);
		pid_t pid = fork();
		if (pid == 0) {
			close(ends[0]);
			write_until_killed(&fixture, script, ends[1]);
		}
		assert_true(pid > 0);
		close(ends[1]);
		/* Every tenth is killed while it opens the file. */
		size_t wanted = round % 10 ? (size_t)random_range(&random, 1, 80) : 0;
		size_t count = read_acks(ends[0], acks, 0, wanted);
		usleep((useconds_t)random_range(&random, 0, 3000));
		kill(pid, SIGKILL);
		count = read_acks(ends[0], acks, count, MOST_OPS);
		close(ends[0]);
		int status;
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		fixture_open(&fixture, path);
		judge_state(&fixture, &script, base, acks, count, ops, &tally);
		uint64_t now = store_version(fixture.store);
		judge_watch(&fixture, base, base, ops, &tally);
		judge_watch(&fixture, base + count, base, ops, &tally);
		judge_watch(&fixture, (uint64_t)random_range(&random, (int)first, (int)now), base, ops, &tally);
		assert_string_equal(fixture_names(&fixture, "namespaces", NULL, NULL, NULL),
		                    "default kube-node-lease kube-public kube-system");
		fixture_close(&fixture);
		base = now;
		script.left = 0; /* a turn that is not there is not taken up again */
	}
	print_message("%d kills: all %zu acknowledged writes are there; %zu more of %zu turns that were committed but "
	              "not yet "
	              "acknowledged, no half turn; %zu watches went on, %zu got 410\n",
	              KILLS, tally.acknowledged, tally.extra, tally.inside, tally.resumed, tally.expired);
	assert_true(tally.acknowledged > 10 * KILLS);
	assert_true(tally.resumed > KILLS && tally.expired > 0);
}

static int setup(void **state)
{
	snprintf(folder, sizeof(folder), "store-kill-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/state.db", folder);
	return 0;
}

static int teardown(void **state)
{
	fixture_remove(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(kills_lose_nothing, setup, teardown)};
	return cmocka_run_group_tests_name("store kill", tests, NULL, NULL);
}
