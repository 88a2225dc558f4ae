/* Volumes: what the claims of a pod are to it, and where it may run because of them. */
#include "verdict.h"

#include "admit/volume_book.h"

#include <string.h>

#define GI (INT64_C(1) << 30)

static const struct pod_rules no_rules;

#define BOUND "annotations: {pv.kubernetes.io/bind-completed: \"yes\"}"
#define CLAIM(name, meta, spec)                                                                                        \
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " name meta "}\nspec: {" spec "}\n"
#define ON(values)                                                                                                     \
	"nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [" values \
	"]}]}]}}"
#define CLASS(name, rest) "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: " name "}\n" rest

static const char world[] = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-a}\nspec: {" ON(
	"a, b") "}\n---\n"
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-free}\nspec: "
		"{}\n---\n"
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-zone, labels: "
		"{failure-domain.beta.kubernetes.io/zone: z1__z2, "
		"topology.kubernetes.io/region: r}}\nspec: {}\n---\n"
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-meant}\nspec: "
		"{" ON(
			"b") ", capacity: {storage: 10Gi}, "
			     "storageClassName: wait, claimRef: {namespace: default, name: "
			     "meant}}\nstatus: {phase: "
			     "Available}\n---\n"
			     "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: "
			     "pv-other}\nspec: {capacity: "
			     "{storage: 10Gi}, "
			     "storageClassName: wait, claimRef: {namespace: default, name: "
			     "other, uid: "
			     "u-old}}\nstatus: {phase: Available}\n---\n" CLAIM("data", ", " BOUND, "volumeName: pv-a") "---\n" CLAIM(
				     "free",
				     ", " BOUND, "volumeName: pv-free") "---\n" CLAIM("z"
                                                                                      "o"
                                                                                      "n"
                                                                                      "e"
                                                                                      "d",
                                                                                      ","
                                                                                      " " BOUND,
                                                                                      "v"
                                                                                      "o"
                                                                                      "l"
                                                                                      "u"
                                                                                      "m"
                                                                                      "e"
                                                                                      "N"
                                                                                      "a"
                                                                                      "m"
                                                                                      "e"
                                                                                      ":"
                                                                                      " "
                                                                                      "p"
                                                                                      "v"
                                                                                      "-"
                                                                                      "z"
                                                                                      "o"
                                                                                      "n"
                                                                                      "e") "---"
											   "\n" CLAIM("gone", ", " BOUND, "volumeName: pv-gone") "---\n" CLAIM("half", "", "volumeName: pv-a, storageClassName: wait") "---\n" CLAIM("lost", ", " BOUND, "volumeName: pv-a") "status: {phase: Lost}\n---\n" CLAIM("leaving", ", deletionTimestamp: 2026-01-01T00:00:00Z", "storageClassName: wait") "---\n" CLAIM("classless", "", "") "---\n" CLAIM("no-class",
                                                                                                                                                                                                                                                                                                                                                                                                                                                     "",
                                                                                                                                                                                                                                                                                                                                                                                                                                                     "storageClassName: nowhere") "---\n" CLAIM("now",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                "", "storageClassName: now") "---\n" CLAIM("unset", "", "storageClassName: unset") "---\n" CLAIM("open",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "", "storageClassName: wait") "---\n" CLAIM("annotated",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             ", annotations: {volume.beta.kubernetes.io/storage-class: wait}", "storageClassName: now") "---\n" CLAIM("meant",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "storageClassName: wait, resources: {requests: {storage: 5Gi}}") "---\n" CLAIM("other", ", uid: u-new", "storageClassName: wait, resources: {requests: {storage: 5Gi}}") "---\n" CLAIM("making",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             ", annotations: {volume.kubernetes.io/selected-node: n1}", "storageClassName: make") "---\n" CLAIM("making-none", ", annotations: {volume.kubernetes.io/selected-node: n1}", "storageClassName: wait") "---\n" CLAIM("p-scratch",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  ", ownerReferences: [{controller: true, uid: u1}]", "storageClassName: wait") "---\n" CLAIM("q-scratch",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              ", ownerReferences: [{controller: true, uid: u1}]",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "storageClassName: wait")
												   CLASS("wait",
                                                                                                         "provi"
                                                                                                         "sione"
                                                                                                         "r: "
                                                                                                         "kuber"
                                                                                                         "netes"
                                                                                                         ".io/"
                                                                                                         "no-"
                                                                                                         "provi"
                                                                                                         "sione"
                                                                                                         "r\nvo"
                                                                                                         "lumeB"
                                                                                                         "indin"
                                                                                                         "gMode"
                                                                                                         ": "
                                                                                                         "WaitF"
                                                                                                         "orFir"
                                                                                                         "stCon"
                                                                                                         "sumer"
                                                                                                         "\n") CLASS("m"
                                                                                                                     "a"
                                                                                                                     "k"
                                                                                                                     "e",
                                                                                                                     "p"
                                                                                                                     "r"
                                                                                                                     "o"
                                                                                                                     "v"
                                                                                                                     "i"
                                                                                                                     "s"
                                                                                                                     "i"
                                                                                                                     "o"
                                                                                                                     "n"
                                                                                                                     "e"
                                                                                                                     "r"
                                                                                                                     ":"
                                                                                                                     " "
                                                                                                                     "x"
                                                                                                                     "\nvolumeBi"
                                                                                                                     "n"
                                                                                                                     "d"
                                                                                                                     "i"
                                                                                                                     "n"
                                                                                                                     "g"
                                                                                                                     "M"
                                                                                                                     "o"
                                                                                                                     "d"
                                                                                                                     "e"
                                                                                                                     ":"
                                                                                                                     " "
                                                                                                                     "W"
                                                                                                                     "a"
                                                                                                                     "i"
                                                                                                                     "t"
                                                                                                                     "F"
                                                                                                                     "o"
                                                                                                                     "r"
                                                                                                                     "F"
                                                                                                                     "i"
                                                                                                                     "r"
                                                                                                                     "s"
                                                                                                                     "t"
                                                                                                                     "C"
                                                                                                                     "o"
                                                                                                                     "n"
                                                                                                                     "s"
                                                                                                                     "u"
                                                                                                                     "m"
                                                                                                                     "e"
                                                                                                                     "r"
                                                                                                                     "\n"
                                                                                                                     "a"
                                                                                                                     "l"
                                                                                                                     "l"
                                                                                                                     "o"
                                                                                                                     "w"
                                                                                                                     "e"
                                                                                                                     "d"
                                                                                                                     "T"
                                                                                                                     "o"
                                                                                                                     "p"
                                                                                                                     "o"
                                                                                                                     "l"
                                                                                                                     "o"
                                                                                                                     "g"
                                                                                                                     "i"
                                                                                                                     "e"
                                                                                                                     "s"
                                                                                                                     ":"
                                                                                                                     " "
                                                                                                                     "["
                                                                                                                     "{"
                                                                                                                     "m"
                                                                                                                     "a"
                                                                                                                     "t"
                                                                                                                     "c"
                                                                                                                     "h"
                                                                                                                     "L"
                                                                                                                     "a"
                                                                                                                     "b"
                                                                                                                     "e"
                                                                                                                     "l"
                                                                                                                     "E"
                                                                                                                     "x"
                                                                                                                     "p"
                                                                                                                     "r"
                                                                                                                     "e"
                                                                                                                     "s"
                                                                                                                     "s"
                                                                                                                     "i"
                                                                                                                     "o"
                                                                                                                     "n"
                                                                                                                     "s"
                                                                                                                     ":"
                                                                                                                     " "
                                                                                                                     "["
                                                                                                                     "{"
                                                                                                                     "k"
                                                                                                                     "e"
                                                                                                                     "y"
                                                                                                                     ":"
                                                                                                                     " "
                                                                                                                     "z"
                                                                                                                     "o"
                                                                                                                     "n"
                                                                                                                     "e"
                                                                                                                     ","
                                                                                                                     " "
                                                                                                                     "v"
                                                                                                                     "a"
                                                                                                                     "l"
                                                                                                                     "u"
                                                                                                                     "e"
                                                                                                                     "s"
                                                                                                                     ":"
                                                                                                                     " "
                                                                                                                     "["
                                                                                                                     "a"
                                                                                                                     "]"
                                                                                                                     "}"
                                                                                                                     "]"
                                                                                                                     "}"
                                                                                                                     "]"
                                                                                                                     "\n")
													   CLASS("now",
                                                                                                                 "provi"
                                                                                                                 "sione"
                                                                                                                 "r: "
                                                                                                                 "x\nvo"
                                                                                                                 "lumeB"
                                                                                                                 "indin"
                                                                                                                 "gMode"
                                                                                                                 ": "
                                                                                                                 "Immed"
                                                                                                                 "iate"
                                                                                                                 "\n")
														   CLASS("unset",
                                                                                                                         "provisioner: x\n");

static struct volume_book *open_book(struct parsed *parsed, const char *text)
{
	static const char *const kinds[BOOK_KINDS] = {
		"PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSIDriver", "CSINode",
		"CSIStorageCapacity",    "VolumeAttachment"};
	struct volume_book *book = volume_book_create();
	parsed_open(parsed, text);
	for (size_t i = 0; i < parsed->manifests.count; i++)
		for (int kind = 0; kind < BOOK_KINDS; kind++)
			if (strcmp(parsed->manifests.items[i].kind, kinds[kind]) == 0)
				assert_int_equal(volume_book_set(book, (enum book_kind)kind, parsed_object(parsed, i),
				                                 &parsed->problems),
				                 0);
	return book;
}

static void ask(void **state)
{
	static const struct {
		const char *claim;
		bool ephemeral;
		enum claim_verdict verdict;
		enum block_code code;
		const char *words;
	} rows[] = {
		{"absent", false, CLAIM_BLOCKED, BLOCK_MISSING, "persistentvolumeclaim \"absent\" not found"},
		{"absent", true, CLAIM_BLOCKED, BLOCK_MISSING,
	         "the ephemeral volume controller has not created it yet"},
		{"data", false, CLAIM_BOUND, 0, NULL},
		{"gone", false, CLAIM_BLOCKED, BLOCK_NOT_READY, "bound to volume \"pv-gone\", which does not exist"},
		{"half", false, CLAIM_BLOCKED, BLOCK_NOT_READY, "\"half\" is not bound to pv-a yet"},
		{"lost", false, CLAIM_BLOCKED, BLOCK_NOT_READY, "is bound to a volume that no longer exists"},
		{"leaving", false, CLAIM_BLOCKED, BLOCK_NOT_READY, "\"leaving\" is being deleted"},
		{"classless", false, CLAIM_BLOCKED, BLOCK_NOT_READY, "is not bound and has no storage class"},
		{"no-class", false, CLAIM_BLOCKED, BLOCK_NOT_READY, "storage class \"nowhere\" not found"},
		{"now", false, CLAIM_BLOCKED, BLOCK_NOT_READY, "class \"now\" binds immediately"},
		{"unset", false, CLAIM_BLOCKED, BLOCK_NOT_READY, "has no volumeBindingMode"},
		{"open", false, CLAIM_OPEN, 0, NULL},
		{"annotated", false, CLAIM_OPEN, 0, NULL},
		{"meant", false, CLAIM_CHOSEN, 0, NULL},
		{"other", false, CLAIM_OPEN, 0, NULL}, /* the volume was meant for a claim of that name that is gone */
		{"making", false, CLAIM_MAKING, 0, NULL},
		{"making-none", false, CLAIM_BLOCKED, BLOCK_NOT_READY, "class \"wait\" makes none"},
		{"p-scratch", true, CLAIM_OPEN, 0, NULL},
		{"q-scratch", true, CLAIM_OPEN, 0, NULL},
	};
	struct parsed parsed;
	struct volume_book *book = open_book(&parsed, world);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *claims[] = {rows[i].claim};
		struct pod_spec pod = {.namespace_ = "default",
		                       .name = "p",
		                       .uid = "u1",
		                       .claims = claims,
		                       .claim_count = 1,
		                       .ephemeral_count = rows[i].ephemeral,
		                       .rules = &no_rules};
		struct claim_answer answer = volume_book_ask(book, &pod, 0, parsed.arena);
		if (answer.verdict != rows[i].verdict)
			fail_msg("%s: %d %s", rows[i].claim, answer.verdict, answer.problem ? answer.problem : "");
		if (rows[i].words && (!strstr(answer.problem, rows[i].words) || answer.code != rows[i].code))
			fail_msg("%s: %s", rows[i].claim, answer.problem);
		pod.uid = "u2";
		answer = volume_book_ask(book, &pod, 0, parsed.arena);
		if (rows[i].ephemeral && rows[i].verdict == CLAIM_OPEN)
			assert_non_null(strstr(answer.problem, "was not created for pod p"));
	}
	volume_book_destroy(book);
	parsed_close(&parsed);
	(void)state;
}

static bool allows(const struct volume_terms *terms, const struct labels *labels, const char *name)
{
	size_t at = 0;
	for (size_t v = 0; v < terms->count; v++) {
		bool any = false;
		for (size_t t = 0; t < terms->counts[v]; t++)
			any |= selector_matches(&terms->terms[at + t].selector, labels, name);
		at += terms->counts[v];
		if (!any)
			return false;
	}
	return true;
}

static void nodes(void **state)
{
	static const struct {
		const char *claim, *node;
		struct label labels[3]; /* sorted */
		size_t count;
		bool allowed;
	} rows[] = {
		{"data", "n1", {{"zone", "b"}}, 1, true},
		{"data", "n1", {{"zone", "c"}}, 1, false},
		{"free", "n1", {{"zone", "c"}}, 1, true},
		{"zoned", "n1", {{"zone", "c"}}, 1, true}, /* no label of zones or regions at all */
		{"zoned",
	         "n1",
	         {{"topology.kubernetes.io/region", "r"}, {"topology.kubernetes.io/zone", "z2"}},
	         2,
	         true},
		{"zoned",
	         "n1",
	         {{"topology.kubernetes.io/region", "r"}, {"topology.kubernetes.io/zone", "z3"}},
	         2,
	         false},
		{"zoned",
	         "n1",
	         {{"topology.kubernetes.io/region", "q"}, {"topology.kubernetes.io/zone", "z1"}},
	         2,
	         false},
		{"zoned",
	         "n1",
	         {{"failure-domain.beta.kubernetes.io/zone", "z1"}, {"topology.kubernetes.io/region", "r"}},
	         2,
	         true},
		{"zoned", "n1", {{"failure-domain.beta.kubernetes.io/zone", "z1"}}, 1, false}, /* no region */
		{"meant", "n1", {{"zone", "b"}}, 1, true},
		{"meant", "n1", {{"zone", "a"}}, 1, false},
		{"making", "n1", {{"zone", "a"}}, 1, true},
		{"making", "n1", {{"zone", "b"}}, 1, false}, /* the class does not go there */
		{"making", "n2", {{"zone", "a"}}, 1, false},
		{"open", "n2", {{"zone", "a"}}, 1, true},
	};
	struct parsed parsed;
	struct volume_book *book = open_book(&parsed, world);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *claims[] = {rows[i].claim};
		struct pod_spec pod = {.namespace_ = "default", .name = "p", .claims = claims, .claim_count = 1};
		struct claim_answer answer = volume_book_ask(book, &pod, 0, parsed.arena);
		struct volume_terms terms = {0};
		volume_terms_add(&terms, &answer, parsed.arena);
		struct label copy[3];
		memcpy(copy, rows[i].labels, sizeof(copy));
		const struct labels labels = {copy, rows[i].count};
		if (allows(&terms, &labels, rows[i].node) != rows[i].allowed)
			fail_msg("row %zu: %s on %s", i, rows[i].claim, rows[i].node);
	}
	volume_book_destroy(book);
	parsed_close(&parsed);
	(void)state;
}

static void suits(void **state)
{
	const struct volume_spec good = {.name = "v",
	                                 .class_ = "c",
	                                 .attributes_class = "",
	                                 .modes = ACCESS_READ_WRITE_ONCE | ACCESS_READ_ONLY_MANY,
	                                 .phase = VOLUME_AVAILABLE};
	const struct claim_spec claim = {.class_ = "c", .attributes_class = "", .modes = ACCESS_READ_WRITE_ONCE};
	assert_true(volume_suits_claim(&good, &claim));
	struct volume_spec volume = good;
	volume.class_ = "d";
	assert_false(volume_suits_claim(&volume, &claim));
	volume = good;
	volume.modes = ACCESS_READ_ONLY_MANY;
	assert_false(volume_suits_claim(&volume, &claim));
	volume = good;
	volume.block = true;
	assert_false(volume_suits_claim(&volume, &claim));
	volume = good;
	volume.phase = VOLUME_RELEASED;
	assert_false(volume_suits_claim(&volume, &claim));
	volume = good;
	volume.deleting = true;
	assert_false(volume_suits_claim(&volume, &claim));
	volume = good;
	volume.has_claim = true;
	assert_false(volume_suits_claim(&volume, &claim));
	volume = good;
	volume.attributes_class = "gold";
	assert_false(volume_suits_claim(&volume, &claim));
	const char *values[] = {"fast"};
	struct match match = {.key = "tier", .op = MATCH_IN, .values = values, .value_count = 1};
	struct claim_spec picky = claim;
	picky.has_selector = true;
	picky.selector = (struct selector){&match, 1};
	assert_false(volume_suits_claim(&good, &picky));
	struct label label = {"tier", "fast"};
	volume = good;
	volume.labels = (struct labels){&label, 1};
	assert_true(volume_suits_claim(&volume, &picky));
	(void)state;
}

static const char capacity_world[] =
	"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: c}\nprovisioner: d\n"
	"volumeBindingMode: WaitForFirstConsumer\n---\n"
	"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: free}\nprovisioner: other\n"
	"volumeBindingMode: WaitForFirstConsumer\n---\n"
	"apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: d}\nspec: {storageCapacity: true}\n---\n"
	"apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {name: a}\nstorageClassName: c\n"
	"nodeTopology: {matchLabels: {zone: a}}\ncapacity: 10Gi\nmaximumVolumeSize: 5Gi\n---\n"
	"apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {name: b}\nstorageClassName: c\n"
	"nodeTopology: {matchLabels: {zone: b}}\ncapacity: 10Gi\n---\n"
	"apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {name: nowhere}\nstorageClassName: c\n"
	"capacity: 100Gi\n";

static void capacity(void **state)
{
	static const struct {
		const char *class_;
		char zone[2];
		bool has_size;
		int64_t size;
		bool made;
	} rows[] = {
		{"c", "a", true, 5 * GI, true},   {"c", "a", true, 6 * GI, false}, {"c", "b", true, 6 * GI, true},
		{"c", "x", true, 1, false},       {"c", "x", false, 0, true},      {"free", "x", true, 100 * GI, true},
		{"c", "b", true, 11 * GI, false},
	};
	struct parsed parsed;
	struct volume_book *book = open_book(&parsed, capacity_world);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct label label = {"zone", rows[i].zone};
		const struct labels labels = {&label, 1};
		assert_int_equal(volume_can_be_made(book, volume_book_class(book, rows[i].class_), rows[i].has_size,
		                                    rows[i].size, &labels, "n"),
		                 rows[i].made);
	}
	volume_book_destroy(book);
	parsed_close(&parsed);
	(void)state;
}

static void bad_objects(void **state)
{
	static const struct row rows[] = {
		{"terms",
	         "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {nodeAffinity: {required: {}}}",
	         {{'E', "spec.nodeAffinity.required.nodeSelectorTerms", "at least one"}}},
		{"types",
	         "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {nodeAffinity: {required: 1}}",
	         {{'E', "spec.nodeAffinity.required", "map"}}},
		{"claim",
	         "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec: {volumeName: 1}",
	         {{'E', "spec.volumeName", "string"}}},
	};
	verdict_check_all(NULL, rows, COUNT_OF(rows));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ask),      cmocka_unit_test(nodes),       cmocka_unit_test(suits),
		cmocka_unit_test(capacity), cmocka_unit_test(bad_objects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
