/* Queue: decode and rules of one object. Parents that exist and cycles among several Queues are judged in admit.c. */
#include "admit/queue.h"

#include "admit/decode.h"
#include "base/quantity.h"
#include "base/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough for any cluster, and far enough from the end of int64 that sums of many queues still fit. */
#define LARGEST_SHARE ((int64_t)1 << 56)
#define DEFAULT_PRIORITY 100

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

/* The number times 10^shift, exactly from its digits and rounded up to a whole. -1 when it does not fit. */
static int scaled(const char *text, long shift, int64_t *out)
{
	const char *mark = strpbrk(text, "eE");
	size_t digits = mark ? (size_t)(mark - text) : strlen(text);
	long exponent = mark ? strtol(mark + 1, NULL, 10) : 0;
	if (exponent < -10000)
		exponent = -10000;
	if (exponent > 10000)
		exponent = 10000;
	char moved[96];
	int length = snprintf(moved, sizeof(moved), "%.*se%ld", (int)digits, text, exponent + shift);
	if (length < 0 || (size_t)length >= sizeof(moved))
		return -1;
	return quantity_parse(moved, (size_t)length, QUANTITY_UNITS, out, NULL);
}

struct number_rule {
	const char *field;
	bool unlimited; /* -1 is allowed and means unlimited */
	const char *fix;
};

static bool read_number(const struct decode *decode, const struct decode_path *path, const struct val *map,
                        const struct number_rule *rule, long shift, int64_t *out)
{
	const struct val *val = val_get(map, rule->field);
	const struct decode_path *here = PATH_KEY(path, rule->field);
	enum val_kind kind = val ? val_kind(val) : VAL_NULL;
	if (kind == VAL_NULL)
		return false;
	if (kind != VAL_INT && kind != VAL_REAL) {
		decode_error(decode, here, kind == VAL_STRING ? "write the number without quotes" : rule->fix,
		             "must be a number, not a %s", val_kind_name(kind));
		return false;
	}
	char scratch[64];
	const char *text = val_scalar_text(val, scratch);
	int64_t whole, value;
	if (rule->unlimited && val_int(val, &whole) == 0 && whole == -1) {
		*out = -1;
		return true;
	}
	if (!text || scaled(text, shift, &value) < 0 || value > LARGEST_SHARE || value < -LARGEST_SHARE) {
		decode_error(decode, here, rule->fix, "the number is too large");
		return false;
	}
	if (value < 0) {
		decode_error(decode, here, rule->fix, "%s must not be negative%s", rule->field,
		             rule->unlimited ? ", save -1 for unlimited" : "");
		return false;
	}
	*out = value;
	return true;
}

static void read_share(const struct decode *decode, const struct val *resources, const char *name, long shift,
                       struct queue_share *share)
{
	static const struct number_rule quota = {"quota", true,
	                                         "write what the queue is guaranteed, or -1 for unlimited"};
	static const struct number_rule limit = {"limit", true,
	                                         "write the most the queue may use, or -1 for unlimited"};
	static const struct number_rule weight = {"overQuotaWeight", false, "write 0 or more"};
	const struct decode_path *up = PATH_KEY(spec_path, "resources");
	const struct decode_path *path = PATH_KEY(up, name);
	*share = (struct queue_share){0};
	static const char *const names[] = {"quota", "limit", "overQuotaWeight"};
	const struct val *map = decode_map(decode, up, resources, name);
	decode_known(decode, path, map, names, sizeof(names) / sizeof(names[0]));
	read_number(decode, path, map, &quota, shift, &share->quota);
	read_number(decode, path, map, &limit, shift, &share->limit);
	read_number(decode, path, map, &weight, 3, &share->weight);
	if (share->limit > 0 && share->quota > share->limit)
		decode_warning(decode, PATH_KEY(path, "limit"), "raise the limit, or lower the quota",
		               "the limit is below the quota, so part of the quota can never be used");
}

/* A limit of 0 is easily written by leaving it out, and closes the queue for every pod that asks for the resource. */
static void warn_closed(const struct decode *decode, const struct val *resources, const struct queue_spec *queue)
{
	static const struct {
		const char *key, *what;
	} names[QUEUE_RESOURCES] = {
		[QUEUE_GPU] = {"gpu", "GPUs"}, [QUEUE_CPU] = {"cpu", "CPU"}, [QUEUE_MEMORY] = {"memory", "memory"}};
	static const char fix[] = "write limit: -1 for no limit";
	const struct decode_path *path = PATH_KEY(spec_path, "resources");
	size_t closed = 0;
	for (int r = 0; r < QUEUE_RESOURCES; r++)
		closed += queue->share[r].limit == 0;
	if (closed == QUEUE_RESOURCES) {
		decode_warning(decode, path, fix,
		               "no resource has a limit other than 0, so nothing runs in this queue");
		return;
	}
	for (int r = 0; r < QUEUE_RESOURCES; r++)
		if (queue->share[r].limit == 0)
			decode_warning(decode, PATH_KEY(PATH_KEY(path, names[r].key), "limit"), fix,
			               "the limit is %s, so pods that request %s do not run in this queue",
			               val_get(val_get(resources, names[r].key), "limit") ? "0" : "unset, which is 0",
			               names[r].what);
}

static bool read_runtime(const struct decode *decode, const struct val *spec, const char *field, int64_t *ns)
{
	if (!decode_duration(decode, spec_path, spec, field, ns))
		return false;
	if (*ns < 0)
		decode_warning(decode, PATH_KEY(spec_path, field), "write 0s to grant nothing",
		               "a negative time protects nobody");
	return true;
}

int queue_decode(const struct val *object, struct arena *arena, struct queue_spec *out, struct problems *problems)
{
	size_t errors = problems->errors;
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_spec(&decode, object);
	static const char *const names[] = {"displayName", "parentQueue",       "resources",
	                                    "priority",    "preemptMinRuntime", "reclaimMinRuntime"};
	static const char *const resource_names[] = {"gpu", "cpu", "memory"};
	decode_known(&decode, spec_path, spec, names, sizeof(names) / sizeof(names[0]));
	struct metadata meta = decode_metadata(&decode, object, false);
	*out = (struct queue_spec){.name = meta.name,
	                           .creation_seconds = meta.creation_seconds,
	                           .priority = DEFAULT_PRIORITY,
	                           .parent = decode_string(&decode, spec_path, spec, "parentQueue")};
	decode_string(&decode, spec_path, spec, "displayName");
	decode_int(&decode, spec_path, spec, "priority", INT32_MIN, INT32_MAX, &out->priority);
	out->has_preempt_runtime = read_runtime(&decode, spec, "preemptMinRuntime", &out->preempt_runtime_ns);
	out->has_reclaim_runtime = read_runtime(&decode, spec, "reclaimMinRuntime", &out->reclaim_runtime_ns);
	if (out->parent && text_equal(out->parent, out->name))
		decode_error(&decode, PATH_KEY(spec_path, "parentQueue"),
		             "name another queue, or leave parentQueue out", "the queue is its own parent");
	const struct val *resources = val_get(spec, "resources");
	if (!resources || val_kind(resources) == VAL_NULL)
		decode_error(&decode, PATH_KEY(spec_path, "resources"),
		             "add resources with quota, limit and overQuotaWeight for gpu, cpu and memory",
		             "resources must be specified");
	resources = decode_map(&decode, spec_path, spec, "resources");
	decode_known(&decode, PATH_KEY(spec_path, "resources"), resources, resource_names, 3);
	read_share(&decode, resources, "gpu", 3, &out->share[QUEUE_GPU]);
	read_share(&decode, resources, "cpu", 0, &out->share[QUEUE_CPU]);
	read_share(&decode, resources, "memory", 6, &out->share[QUEUE_MEMORY]);
	if (problems->errors == errors)
		warn_closed(&decode, resources, out);
	return problems->errors > errors ? -1 : 0;
}
