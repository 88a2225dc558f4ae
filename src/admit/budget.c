/* PodDisruptionBudget: decode and rules of one object, and the arithmetic of the disruption controller. */
#include "admit/budget.h"

#include "admit/decode.h"
#include "admit/rules.h"

#define COUNT_MAX INT32_MAX

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

/* A number, or a percentage in quotes; both may be any size, as in Kubernetes. */
static struct percent read_share(const struct decode *decode, const struct val *spec, const char *key)
{
	const struct val *val = val_get(spec, key);
	struct percent share = {0};
	struct error error = {0};
	int64_t count = 0;
	if (!val || val_kind(val) == VAL_NULL)
		return share;
	if (val_kind(val) != VAL_STRING) {
		if (decode_int(decode, spec_path, spec, key, 0, COUNT_MAX, &count))
			share = percent_count(count);
		return share;
	}
	if (percent_parse(val_str(val, ""), &share, &error) < 0) {
		decode_error(decode, PATH_KEY(spec_path, key),
		             "write a number, or a percentage in quotes such as \"25%\"", "%s", error.text);
		return (struct percent){0};
	}
	return share;
}

bool budget_read_status(const struct val *object, struct budget_status *out)
{
	const struct val *status = val_get(object, "status");
	struct budget_status read = {0};
	int64_t observed = 0, generation = 0;
	if (val_int(val_get(status, "disruptionsAllowed"), &read.allowed) < 0 ||
	    val_int(val_get(status, "observedGeneration"), &observed) < 0)
		return false;
	val_int(val_get(status, "currentHealthy"), &read.healthy);
	val_int(val_get(status, "desiredHealthy"), &read.desired);
	val_int(val_get(status, "expectedPods"), &read.expected);
	val_int(val_path(object, "metadata", "generation", NULL), &generation);
	read.current = observed >= generation;
	*out = read;
	return true;
}

int budget_decode(const struct val *object, struct arena *arena, struct budget_spec *out, struct problems *problems)
{
	static const char *const policies[] = {"IfHealthyBudget", "AlwaysAllow"};
	struct decode decode = {.arena = arena, .problems = problems};
	size_t errors = problems->errors;
	struct metadata meta = decode_metadata(&decode, object, true);
	const struct val *spec = decode_spec(&decode, object);
	*out = (struct budget_spec){.namespace_ = meta.namespace_, .name = meta.name};
	const struct val *selector = decode_map(&decode, spec_path, spec, "selector");
	out->has_selector = selector != NULL;
	rules_label_selector(&decode, PATH_KEY(spec_path, "selector"), selector, &out->selector);
	out->min_available = read_share(&decode, spec, "minAvailable");
	out->max_unavailable = read_share(&decode, spec, "maxUnavailable");
	if (val_get(spec, "minAvailable") && val_get(spec, "maxUnavailable"))
		decode_error(&decode, spec_path, "remove one of them",
		             "minAvailable and maxUnavailable cannot both be set");
	const char *policy = decode_string(&decode, spec_path, spec, "unhealthyPodEvictionPolicy");
	const struct decode_path *path = PATH_KEY(spec_path, "unhealthyPodEvictionPolicy");
	out->evicts_unhealthy = policy && decode_enum(&decode, path, policy, policies, 2) == 1;
	out->has_status = budget_read_status(object, &out->status);
	return problems->errors > errors ? -1 : 0;
}

bool budget_is_scaled(const struct budget_spec *budget)
{
	return budget->max_unavailable.form != PERCENT_UNSET || budget->min_available.form == PERCENT_SHARE;
}

/* Percentages are rounded up on both sides, as the disruption controller does. */
int64_t budget_desired_healthy(const struct budget_spec *budget, int64_t expected)
{
	if (budget->max_unavailable.form == PERCENT_UNSET)
		return percent_of(budget->min_available, expected, PERCENT_UP);
	int64_t desired = expected - percent_of(budget->max_unavailable, expected, PERCENT_UP);
	return desired > 0 ? desired : 0;
}

bool budget_selects(const struct budget_spec *budget, const struct labels *labels)
{
	return budget->has_selector && selector_matches(&budget->selector, labels, "");
}
