/* The table of rules, one keyword per row. Nothing here may refuse what admission accepts. */
#include "serve/api/schema_rules.h"

#include <string.h>

enum keyword {
	MINIMUM,
	MIN_LENGTH,
	MAX_LENGTH,
	MIN_ITEMS,
	MAX_ITEMS,
	PATTERN,
	ENUM,     /* words with spaces between them */
	REQUIRED, /* names of fields with spaces between them */
	CEL,
};

struct rule {
	const char *type, *field; /* field "": the type itself */
	enum keyword keyword;
	const char *text;
	int number;
	const char *message; /* of CEL */
	const char *path;    /* of CEL: the field that is named when it fails, below the one that has the rule */
};

#define DNS_LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define LABEL_KEY "^(" DNS_LABEL "(\\." DNS_LABEL ")*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
/* As time.ParseDuration of Go reads it. */
#define DURATION "^[-+]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"
#define LONGEST_LABEL_KEY 316
#define ONE_MINIMUM "!has(self.minMember) || !has(self.minSubGroup) || self.minMember == 0"
#define ONE_MINIMUM_TEXT "minMember and minSubGroup exclude each other"
#define AMOUNT "self == -1.0 || self >= 0.0"
#define AMOUNT_TEXT "must not be negative, save -1 for unlimited"

/* clang-format off */
static const struct rule rules[] = {
	{"ClusterTopology", "spec", CEL, "self == oldSelf", .message = "the spec of a ClusterTopology cannot be changed"},
	{"ClusterTopologyLayer", "", REQUIRED, "key name"},
	{"ClusterTopologyLayer", "key", MAX_LENGTH, .number = LONGEST_LABEL_KEY},
	{"ClusterTopologyLayer", "key", PATTERN, LABEL_KEY},
	{"ClusterTopologyLayer", "name", MIN_LENGTH, .number = 1},
	{"ClusterTopologyLayer", "name", MAX_LENGTH, .number = 253},
	{"ClusterTopologySpec", "layers", MIN_ITEMS, .number = 1},
	{"ClusterTopologySpec", "layers", MAX_ITEMS, .number = 16},
	{"ClusterTopologySpec", "layers", CEL, "self.all(x, self.exists_one(y, y.name == x.name))",
		.message = "names of layers must be unique"},
	{"ClusterTopologySpec", "layers", CEL, "self.all(x, self.exists_one(y, y.key == x.key))",
		.message = "keys of layers must be unique"},
	{"PodGroupSpec", "", CEL, ONE_MINIMUM, .message = ONE_MINIMUM_TEXT, .path = ".minMember"},
	{"PodGroupSpec", "minMember", MINIMUM, .number = 0},
	{"PodGroupSpec", "minSubGroup", MINIMUM, .number = 0},
	{"PodGroupSpec", "preemptibility", ENUM, "preemptible non-preemptible semi-preemptible"},
	{"PodGroupSpec", "preemptionDelay", PATTERN, DURATION},
	{"PodGroupSpec", "stalenessGracePeriod", PATTERN, DURATION},
	{"PodGroupSubGroup", "", REQUIRED, "name"},
	{"PodGroupSubGroup", "", CEL, ONE_MINIMUM, .message = ONE_MINIMUM_TEXT, .path = ".minMember"},
	{"PodGroupSubGroup", "minMember", MINIMUM, .number = 0},
	{"PodGroupSubGroup", "minSubGroup", MINIMUM, .number = 0},
	{"PodGroupSubGroup", "name", MIN_LENGTH, .number = 1},
	{"PodGroupSubGroup", "name", MAX_LENGTH, .number = 63},
	{"PodGroupSubGroup", "name", PATTERN, "^" DNS_LABEL "$"},
	{"PodGroupSubGroup", "parent", PATTERN, "^(" DNS_LABEL ")?$"},
	{"Queue", "", CEL, "!has(self.spec) || !has(self.spec.parentQueue) || self.spec.parentQueue != self.metadata.name",
		.message = "the queue is its own parent"},
	{"QueueShare", "limit", CEL, AMOUNT, .message = AMOUNT_TEXT},
	{"QueueShare", "overQuotaWeight", MINIMUM, .number = 0},
	{"QueueShare", "quota", CEL, AMOUNT, .message = AMOUNT_TEXT},
	{"QueueSpec", "", REQUIRED, "resources"},
	{"QueueSpec", "preemptMinRuntime", PATTERN, DURATION},
	{"QueueSpec", "reclaimMinRuntime", PATTERN, DURATION},
	{"RoleSpec", "", REQUIRED, "name"},
	{"RoleSpec", "name", MIN_LENGTH, .number = 1},
	{"RoleSpec", "minReadySeconds", MINIMUM, .number = 0},
	{"RoleSpec", "replicas", MINIMUM, .number = 0},
	{"Topology", "", REQUIRED, "spec"},
	{"TopologyLevel", "", REQUIRED, "nodeLabel"},
	{"TopologyLevel", "alias", MIN_LENGTH, .number = 1},
	{"TopologyLevel", "alias", MAX_LENGTH, .number = LONGEST_LABEL_KEY},
	{"TopologyLevel", "alias", PATTERN, LABEL_KEY},
	{"TopologyLevel", "nodeLabel", MIN_LENGTH, .number = 1},
	{"TopologyLevel", "nodeLabel", MAX_LENGTH, .number = LONGEST_LABEL_KEY},
	{"TopologyLevel", "nodeLabel", PATTERN, LABEL_KEY},
	{"TopologySpec", "", REQUIRED, "levels"},
	{"TopologySpec", "levels", MIN_ITEMS, .number = 1},
	{"TopologySpec", "levels", MAX_ITEMS, .number = 16},
	{"TopologySpec", "levels", CEL, "self.map(x, x.nodeLabel) == oldSelf.map(x, x.nodeLabel)",
		.message = "the node labels of a Topology cannot be changed, only aliases"},
	{"TopologySpec", "levels", CEL, "self.all(x, self.exists_one(y, y.nodeLabel == x.nodeLabel))",
		.message = "node labels of levels must be unique"},
	{"TopologySpec", "levels", CEL,
		"self.all(x, x.nodeLabel != 'kubernetes.io/hostname' || x.nodeLabel == self[size(self) - 1].nodeLabel)",
		.message = "kubernetes.io/hostname may only be the last level"},
	{"TopologySpec", "levels", CEL,
		"self.all(x, !has(x.alias) || (self.exists_one(y, has(y.alias) && y.alias == x.alias) && "
		"!self.exists(y, y.nodeLabel == x.alias)))",
		.message = "aliases must be unique, and differ from every node label"},
};
/* clang-format on */

static struct node *words_of(struct build *build, const char *text)
{
	struct node *list = build_list(build);
	while (*text) {
		char word[64];
		size_t length = strcspn(text, " ");
		length = length < sizeof(word) - 1 ? length : sizeof(word) - 1;
		memcpy(word, text, length);
		word[length] = '\0';
		build_append(build, list, build_string(build, word));
		text += length + (text[length] == ' ');
	}
	return list;
}

static struct node *validation_of(struct build *build, const struct rule *rule)
{
	struct node *out = build_map(build);
	build_put_string(build, out, "rule", rule->text);
	build_put_string(build, out, "message", rule->message);
	if (rule->path)
		build_put_string(build, out, "fieldPath", rule->path);
	return out;
}

static void put_rule(struct build *build, struct node *schema, const struct rule *rule)
{
	static const char *const keywords[] = {
		[MINIMUM] = "minimum",    [MIN_LENGTH] = "minLength", [MAX_LENGTH] = "maxLength",
		[MIN_ITEMS] = "minItems", [MAX_ITEMS] = "maxItems",   [PATTERN] = "pattern",
		[ENUM] = "enum",          [REQUIRED] = "required",
	};
	switch (rule->keyword) {
	case PATTERN:
		build_put_string(build, schema, "pattern", rule->text);
		break;
	case ENUM:
	case REQUIRED:
		build_put(build, schema, keywords[rule->keyword], words_of(build, rule->text));
		break;
	case CEL:
		break; /* all of them together */
	default:
		build_put_int(build, schema, keywords[rule->keyword], rule->number);
	}
}

void schema_rules_put(struct build *build, struct node *schema, const char *type, const char *field,
                      size_t field_length)
{
	struct node *validations = NULL;
	field = field ? field : "";
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct rule *rule = &rules[i];
		if (strcmp(rule->type, type) != 0 || strlen(rule->field) != field_length ||
		    strncmp(rule->field, field, field_length) != 0)
			continue;
		put_rule(build, schema, rule);
		if (rule->keyword != CEL)
			continue;
		if (!validations) {
			validations = build_list(build);
			build_put(build, schema, "x-kubernetes-validations", validations);
		}
		build_append(build, validations, validation_of(build, rule));
	}
}
