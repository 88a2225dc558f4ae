/* Which volume each claim of decided pods gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "admit/volume_book.h"
#include "object/manifest.h"
#include "schedule/volume_choice.h"

#include <string.h>

#define CLASS(name, provisioner)                                                                                       \
	"---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name                              \
	"}, provisioner: " provisioner ", volumeBindingMode: WaitForFirstConsumer}\n"
#define ON(host)                                                                                                       \
	", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: " \
	"In, values: [" host "]}]}]}}"
#define VOLUME(name, size, rest)                                                                                       \
	"---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name ", labels: {id: " name                  \
	"}}, spec: {storageClassName: local, capacity: {storage: " size "}" rest "}, status: {phase: Available}}\n"
#define CLAIM(name, size, meta, rest)                                                                                  \
	"---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name ", uid: u-" name meta              \
	"}, spec: {resources: {requests: {storage: " size "}}" rest "}}\n"
#define LOCAL ", storageClassName: local"

static const struct {
	const char *story, *objects;
	const char *pods; /* "node claim claim; node claim" */
	const char *want; /* "claim=volume claim=node*"; NULL: there is no way */
} rows[] = {
	{"the smallest that fits",
         VOLUME("v8", "8", ON("n1")) VOLUME("v5", "5", ON("n1")) VOLUME("v2", "2", ON("n1")) CLAIM("a", "3", "", LOCAL),
         "n1 a", "a=v5"},
	{"on the node of the pod", VOLUME("v5", "5", ON("n1")) VOLUME("v8", "8", ON("n2")) CLAIM("a", "3", "", LOCAL),
         "n2 a", "a=v8"},
	{"each another one",
         VOLUME("v5", "5", ON("n1")) VOLUME("v8", "8", ON("n1")) CLAIM("a", "3", "", LOCAL) CLAIM("b", "3", "", LOCAL),
         "n1 a; n1 b", "a=v5 b=v8"},
	{"too few", VOLUME("v5", "5", ON("n1")) CLAIM("a", "3", "", LOCAL) CLAIM("b", "3", "", LOCAL), "n1 a b", NULL},
	{"one gives way to another that is picky",
         VOLUME("v5", "5", ON("n1")) VOLUME("v8", "8", ON("n1")) CLAIM("a", "3", "", LOCAL)
                 CLAIM("b", "3", "", LOCAL ", selector: {matchLabels: {id: v5}}"),
         "n1 a; n1 b", "a=v8 b=v5"},
	{"volumes that several nodes reach",
         VOLUME("v5", "5", ON("n1, n2")) VOLUME("v8", "8", ON("n1")) CLAIM("a", "3", "", LOCAL)
                 CLAIM("b", "3", "", LOCAL),
         "n1 a; n2 b", "a=v8 b=v5"},
	{"a shared claim is chosen once, where all reach it",
         VOLUME("v5", "5", ON("n1")) VOLUME("v8", "8", ON("n1, n2")) CLAIM("a", "3", "", LOCAL), "n1 a; n2 a", "a=v8"},
	{"nobody reaches it from both",
         VOLUME("v5", "5", ON("n1")) VOLUME("v8", "8", ON("n2")) CLAIM("a", "3", "", LOCAL), "n1 a; n2 a", NULL},
	{"made where nothing is there", CLAIM("a", "3", "", ", storageClassName: made"), "n2 a", "a=n2*"},
	{"one that is meant for it",
         VOLUME("v9", "9", ON("n1") ", claimRef: {namespace: default, name: a}") VOLUME("v5", "5", ON("n1"))
                 CLAIM("a", "3", "", LOCAL),
         "n1 a", "a=v9"},
	{"one that was written is kept",
         VOLUME("v9", "9", ON("n1") ", claimRef: {namespace: default, name: a, uid: u-a}") VOLUME("v5", "5", ON("n1"))
                 CLAIM("a", "3", "", LOCAL) CLAIM("b", "7", "", LOCAL),
         "n1 a", "a=v9!"},
	{"and is nobody else's",
         VOLUME("v9", "9", ON("n1") ", claimRef: {namespace: default, name: a, uid: u-a}") CLAIM("a", "3", "", LOCAL)
                 CLAIM("b", "7", "", LOCAL),
         "n1 b", NULL},
	{"being made",
         CLAIM("a", "3", ", annotations: {volume.kubernetes.io/selected-node: n1}", ", storageClassName: made"), "n1 a",
         "a=n1*!"},
	{"being made elsewhere",
         CLAIM("a", "3", ", annotations: {volume.kubernetes.io/selected-node: n1}", ", storageClassName: made"), "n2 a",
         NULL},
	{"made for one node only, when one writes",
         CLAIM("a", "3", "", ", storageClassName: made, accessModes: [ReadWriteOnce]"), "n1 a; n2 a", NULL},
	{"made for many", CLAIM("a", "3", "", ", storageClassName: made, accessModes: [ReadWriteMany]"), "n1 a; n2 a",
         "a=n1*"},
	{"bound",
         "---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: v5}, spec: {}}\n"
         "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, annotations: "
         "{pv.kubernetes.io/bind-completed: \"yes\"}}, spec: {volumeName: v5}}\n",
         "n1 a", ""},
	{"gone", "", "n1 a", NULL},
};

struct volume_choice_fixture {
	struct arena *arena;
	struct manifests manifests;
	struct problems problems;
	struct volume_book *book;
};

static void open_fixture(struct volume_choice_fixture *fixture, const char *objects)
{
	static const char *const kinds[] = {"PersistentVolumeClaim", "PersistentVolume", "StorageClass"};
	fixture->arena = arena_create();
	fixture->problems = (struct problems){.arena = fixture->arena};
	fixture->book = volume_book_create();
	manifests_init(&fixture->manifests);
	const char *text =
		arena_printf(fixture->arena, CLASS("local", "kubernetes.io/no-provisioner") CLASS("made", "x") "%s",
	                     objects);
	assert_int_equal(manifests_parse(&fixture->manifests, text, strlen(text), "test", &fixture->problems), 0);
	for (size_t i = 0; i < fixture->manifests.count; i++)
		for (int kind = 0; kind < 3; kind++)
			if (strcmp(fixture->manifests.items[i].kind, kinds[kind]) == 0)
				assert_int_equal(volume_book_set(fixture->book, (enum book_kind)kind,
				                                 fixture->manifests.items[i].object,
				                                 &fixture->problems),
				                 0);
}

static size_t read_pods(struct arena *arena, const char *text, struct volume_pod *pods)
{
	static struct label labels[2] = {{"kubernetes.io/hostname", "n1"}, {"kubernetes.io/hostname", "n2"}};
	static const struct labels nodes[2] = {{&labels[0], 1}, {&labels[1], 1}};
	size_t count = 0;
	char *rest = arena_strdup(arena, text), *pod;
	while ((pod = strsep(&rest, ";"))) {
		struct pod_spec *spec = arena_new(arena, struct pod_spec);
		*spec = (struct pod_spec){.namespace_ = "default", .name = "p", .uid = "p"};
		spec->claims = arena_array(arena, const char *, 4);
		pods[count] = (struct volume_pod){.pod = spec};
		char *word;
		while ((word = strsep(&pod, " ")))
			if (*word && !pods[count].node)
				pods[count].node = word;
			else if (*word)
				spec->claims[spec->claim_count++] = word;
		pods[count].labels = &nodes[text_equal(pods[count].node, "n2")];
		count++;
	}
	return count;
}

static void choose(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct volume_choice_fixture fixture;
		struct volume_pod pods[4];
		open_fixture(&fixture, rows[i].objects);
		size_t count = read_pods(fixture.arena, rows[i].pods, pods);
		struct volume_choices choices = volume_choices_find(fixture.book, pods, count, fixture.arena);
		const char *got = "";
		for (size_t c = 0; c < choices.count; c++)
			got = arena_printf(fixture.arena, "%s%s%s=%s%s%s", got, c ? " " : "", choices.items[c].claim,
			                   choices.items[c].volume ? choices.items[c].volume : choices.items[c].node,
			                   choices.items[c].volume ? "" : "*", choices.items[c].written ? "!" : "");
		if (!rows[i].want != !!choices.problem || (rows[i].want && strcmp(rows[i].want, got) != 0))
			fail_msg("%s: %s, %s", rows[i].story, got, choices.problem ? choices.problem : "no problem");
		volume_book_destroy(fixture.book);
		manifests_free(&fixture.manifests);
		arena_destroy(fixture.arena);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(choose)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
