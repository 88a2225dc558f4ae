/* SchedulingShard: decode and rules of one object. What it says about KAI's own process is passed over, what it says about
 * decisions is read or told. */
#include "admit/shard.h"

#include "admit/decode.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "base/strings.h"

#include <string.h>

#define LARGEST_FACTOR (INT64_C(1000) * 1000)

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

/* ---- args: flags of KAI's scheduler ---- */

/* Flags about its process: connections, logs, profiles, how often it works. */
static const char *const process_flags[] = {
	"burst",
	"detailed-fit-errors",
	"enable-profiler",
	"leader-elect",
	"listen-address",
	"log-json",
	"metrics-namespace",
	"namespace",
	"num-of-status-recording-workers",
	"plugin-server-port",
	"profiler-port",
	"pyroscope-address",
	"pyroscope-block-profiler-rate",
	"pyroscope-mutex-profiler-rate",
	"qps",
	"resource-reservation-app-label",
	"schedule-period",
	"scheduler-conf",
	"update-pod-eviction-condition",
	"use-scheduling-signatures",
	"v",
	"version",
};

/* Flags that change decisions and are not read here. */
static const struct {
	const char *name, *fix;
} other_flags[] = {
	{"allow-consolidating-reclaim", "remove it: pods that find another place are moved"},
	{"cpu-worker-node-label-key", "use the label node-role.kubernetes.io/cpu-worker"},
	{"gpu-worker-node-label-key", "use the label node-role.kubernetes.io/gpu-worker"},
	{"max-consolidation-preemptees", "remove it: moves are limited by the search budget"},
	{"mig-worker-node-label-key", "use the label node-role.kubernetes.io/gpu-worker"},
	{"nodepool-label-key", "set nodePoolLabelKey in the configuration of run"},
	{"partition-label-value", "write spec.partitionLabelValue"},
	{"queue-label-key", "set queueLabelKey in the configuration of run"},
	{"schedule-csi-storage", "remove it: volumes of all drivers count"},
	{"scheduler-name", "set schedulerNames in the configuration of run"},
	{"stuck-in-releasing-threshold", "remove it: pods that are leaving hold their room until they have left"},
};

static bool is_process_flag(const char *name)
{
	for (size_t i = 0; i < sizeof(process_flags) / sizeof(process_flags[0]); i++)
		if (strcmp(name, process_flags[i]) == 0)
			return true;
	return false;
}

/* As Go reads booleans. */
static bool read_flag(const struct decode *decode, const struct decode_path *path, const char *text, bool *out)
{
	static const char *const names[] = {"1", "t", "T", "true",  "TRUE",  "True",
	                                    "0", "f", "F", "false", "FALSE", "False"};
	enum { COUNT = sizeof(names) / sizeof(names[0]) };
	for (size_t i = 0; i < COUNT; i++)
		if (strcmp(text, names[i]) == 0) {
			*out = i < COUNT / 2;
			return true;
		}
	decode_error(decode, path, "write \"true\" or \"false\"", "must be a boolean in quotes, not %s",
	             decode_show(decode->arena, text));
	return false;
}

static void read_arg(const struct decode *decode, const struct decode_path *path, const char *name, const char *text,
                     struct shard_spec *out)
{
	bool full = true;
	if (strcmp(name, "restrict-node-scheduling") == 0) {
		out->has_restrict = read_flag(decode, path, text, &out->restrict_nodes);
	} else if (strcmp(name, "full-hierarchy-fairness") == 0) {
		read_flag(decode, path, text, &full);
		out->ignore_parents = !full;
	} else if (strcmp(name, "default-staleness-grace-period") == 0) {
		out->has_grace = clock_parse_duration(text, &out->grace_ns) == 0;
		if (!out->has_grace)
			decode_error(decode, path, "write a duration such as 60s", "must be a duration, not %s",
			             decode_show(decode->arena, text));
	} else if (!is_process_flag(name)) {
		const char *fix = "remove it";
		for (size_t i = 0; i < sizeof(other_flags) / sizeof(other_flags[0]); i++)
			if (strcmp(name, other_flags[i].name) == 0)
				fix = other_flags[i].fix;
		decode_warning(decode, path, fix, "this flag of KAI's scheduler has no effect here");
	}
}

static void read_args(const struct decode *decode, const struct val *spec, struct shard_spec *out)
{
	const struct decode_path *path = PATH_KEY(spec_path, "args");
	struct labels args = decode_labels(decode, spec_path, spec, "args");
	for (size_t i = 0; i < args.count; i++)
		read_arg(decode, PATH_KEY(path, args.items[i].key), args.items[i].key, args.items[i].value, out);
}

/* ---- the rest ---- */

static bool is_label_value(const char *text)
{
	static const char in_names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t length = strlen(text);
	return length <= 63 && strspn(text, in_names) == length && !strchr("-_.", text[0]) &&
	       !strchr("-_.", text[length - 1]);
}

static enum shard_order read_order(const struct decode *decode, const struct val *map, const char *key)
{
	static const char *const names[] = {"binpack", "spread"};
	const struct decode_path *path = PATH_KEY(spec_path, "placementStrategy");
	const char *text = decode_string(decode, path, map, key);
	int which = text ? decode_enum(decode, PATH_KEY(path, key), text, names, 2) : -1;
	return which < 0 ? SHARD_UNSAID : which == 0 ? SHARD_BINPACK : SHARD_SPREAD;
}

static void read_factor(const struct decode *decode, const struct val *spec, struct shard_spec *out)
{
	const struct val *val = val_get(spec, "kValue");
	enum val_kind kind = val ? val_kind(val) : VAL_NULL;
	char scratch[64];
	out->factor = -1;
	if (kind == VAL_NULL)
		return;
	const char *text = kind == VAL_INT || kind == VAL_REAL ? val_scalar_text(val, scratch) : NULL;
	if (!text || quantity_parse(text, strlen(text), QUANTITY_MILLI, &out->factor, NULL) < 0 || out->factor < 0 ||
	    out->factor > LARGEST_FACTOR) {
		out->factor = -1;
		decode_error(decode, PATH_KEY(spec_path, "kValue"), "write a number such as 1.0",
		             "must be a number from 0 to 1000");
	}
}

/* What KAI reads and nobody does here. */
static void tell_unserved(const struct decode *decode, const struct val *spec)
{
	static const struct {
		const char *key, *what, *fix;
	} fields[] = {
		{"queueDepthPerAction", "every group of a queue is tried", "remove it"},
		{"scenarioSearchBudgets", "searches are limited by their steps",
	         "set budget in the configuration of run"},
		{"plugins", "the rules of scheduling are the same in every pool", "remove it"},
		{"actions", "all actions run in every pool", "remove it"},
		{"usageDBConfig", "what queues used is counted by Platoon itself",
	         "set timeBasedFairshare in the configuration of run"},
	};
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct val *val = val_get(spec, fields[i].key);
		if (val && val_kind(val) != VAL_NULL)
			decode_warning(decode, PATH_KEY(spec_path, fields[i].key), fields[i].fix,
			               "it has no effect here: %s", fields[i].what);
	}
}

int shard_decode(const struct val *object, struct arena *arena, struct shard_spec *out, struct problems *problems)
{
	static const char *const names[] = {"args",
	                                    "partitionLabelValue",
	                                    "placementStrategy",
	                                    "minRuntime",
	                                    "kValue",
	                                    "goMemLimit",
	                                    "goMemLimitRatio",
	                                    "queueDepthPerAction",
	                                    "scenarioSearchBudgets",
	                                    "plugins",
	                                    "actions",
	                                    "usageDBConfig"};
	static const char *const strategy_names[] = {"gpu", "cpu"};
	static const char *const runtime_names[] = {"preemptMinRuntime", "reclaimMinRuntime"};
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object);
	const struct decode_path *times_path = PATH_KEY(spec_path, "minRuntime");
	*out = (struct shard_spec){.name = decode_metadata(&decode, object, false).name,
	                           .pool = decode_string(&decode, spec_path, spec, "partitionLabelValue")};
	decode_known(&decode, spec_path, spec, names, sizeof(names) / sizeof(names[0]));
	if (out->pool && !is_label_value(out->pool))
		decode_error(&decode, PATH_KEY(spec_path, "partitionLabelValue"),
		             "write the value of the label on the nodes", "%s can be the value of no label",
		             decode_show(arena, out->pool));
	const struct val *strategy = decode_map(&decode, spec_path, spec, "placementStrategy");
	decode_known(&decode, PATH_KEY(spec_path, "placementStrategy"), strategy, strategy_names, 2);
	out->gpu = read_order(&decode, strategy, "gpu");
	out->cpu = read_order(&decode, strategy, "cpu");
	const struct val *times = decode_map(&decode, spec_path, spec, "minRuntime");
	decode_known(&decode, times_path, times, runtime_names, 2);
	out->has_preempt_runtime =
		decode_duration(&decode, times_path, times, "preemptMinRuntime", &out->preempt_runtime_ns);
	out->has_reclaim_runtime =
		decode_duration(&decode, times_path, times, "reclaimMinRuntime", &out->reclaim_runtime_ns);
	read_factor(&decode, spec, out);
	read_args(&decode, spec, out);
	tell_unserved(&decode, spec);
	return problems->errors > errors ? -1 : 0;
}
