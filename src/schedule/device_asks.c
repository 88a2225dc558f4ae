/* Owns the asks: what requests select, with their expressions compiled. */
#include "schedule/device_columns_internal.h"

#include "base/strings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 80 /* characters of expressions */

/* Everything that decides which devices are selected. */
static void write_key(struct buffer *key, const struct device_class_spec *class_, const struct device_option *option)
{
	buffer_printf(key, "%s", class_->name);
	for (size_t i = 0; i < option->selector_count; i++)
		buffer_printf(key, "\n%s", option->selectors[i]);
	for (size_t i = 0; i < option->toleration_count; i++) {
		const struct toleration *one = &option->tolerations[i];
		buffer_printf(key, "\t%s\t%s\t%d%d%d%d", one->key ? one->key : "", one->value, one->exists,
		              one->compares, one->any_effect, (int)one->effect);
	}
	for (size_t i = 0; i < option->capacity_count; i++)
		buffer_printf(key, "\v%s\v%" PRId64 ".%d", option->capacities[i].name,
		              option->capacities[i].amount.whole, (int)option->capacities[i].amount.nano);
}

/* "gpu.nvidia.com", "gpu.nvidia.com(device.driver == 'd')": how people read it. */
static const char *name_ask(const struct device_columns *columns, struct arena *arena,
                            const struct device_class_spec *class_, const struct device_option *option)
{
	struct buffer text = {0};
	int alike = 1;
	buffer_printf(&text, "%s", class_->name);
	for (size_t i = 0; i < option->selector_count; i++)
		buffer_printf(&text, "%s%.*s", i ? " && " : "(", LONGEST_NAME, option->selectors[i]);
	if (option->selector_count)
		buffer_printf(&text, ")");
	for (size_t i = 0; i < option->toleration_count; i++)
		buffer_printf(&text, " tolerating %s", option->tolerations[i].key ? option->tolerations[i].key : "*");
	for (size_t i = 0; i < option->capacity_count; i++)
		buffer_printf(&text, " with %s", option->capacities[i].name);
	size_t length = text.length;
	for (size_t i = 0; i < columns->by_number.count; i++) {
		const char *other = columns->by_number.items[i]->name;
		alike += strncmp(other, text.text, length) == 0 && (!other[length] || other[length] == '#');
	}
	if (alike > 1)
		buffer_printf(&text, "#%d", alike);
	const char *name = arena_strdup(arena, text.text);
	buffer_free(&text);
	return name;
}

static void compile(struct device_ask *ask, const char *text)
{
	struct error error = {0};
	text = arena_strdup(ask->arena, text);
	const struct cel_program *program = cel_compile(ask->arena, text, strlen(text), &error);
	if (!program && !ask->problem)
		ask->problem = arena_printf(ask->arena, "selector %s is not served: %s", text, error.text);
	ask->texts[ask->program_count] = text;
	ask->programs[ask->program_count++] = program;
}

static struct device_ask *ask_new(struct device_columns *columns, const struct device_class_spec *class_,
                                  const struct device_option *option)
{
	struct device_ask *ask = base_calloc(1, sizeof(*ask));
	size_t most = class_->selector_count + option->selector_count;
	ask->arena = arena_create_small();
	ask->number = (int)columns->by_number.count;
	ask->name = name_ask(columns, ask->arena, class_, option);
	ask->texts = arena_array(ask->arena, const char *, most);
	ask->programs = arena_array(ask->arena, const struct cel_program *, most);
	for (size_t i = 0; i < class_->selector_count; i++)
		compile(ask, class_->selectors[i]);
	for (size_t i = 0; i < option->selector_count; i++)
		compile(ask, option->selectors[i]);
	ask->toleration_count = option->toleration_count;
	ask->tolerations = arena_array(ask->arena, struct toleration, option->toleration_count);
	for (size_t i = 0; i < option->toleration_count; i++) {
		ask->tolerations[i] = option->tolerations[i];
		if (option->tolerations[i].key)
			ask->tolerations[i].key = arena_strdup(ask->arena, option->tolerations[i].key);
		ask->tolerations[i].value = arena_strdup(ask->arena, option->tolerations[i].value);
	}
	ask->capacity_count = option->capacity_count;
	ask->capacities = arena_array(ask->arena, struct device_capacity, option->capacity_count);
	for (size_t i = 0; i < option->capacity_count; i++)
		ask->capacities[i] = (struct device_capacity){arena_strdup(ask->arena, option->capacities[i].name),
		                                              option->capacities[i].amount};
	vec_push(&columns->by_number, ask);
	return ask;
}

/* As KAI-Scheduler has it. */
bool device_class_is_of_gpus(const char *name)
{
	return strstr(name, "gpu") != NULL;
}

struct device_ask *device_asks_need(struct device_columns *columns, const struct device_option *option,
                                    struct arena *arena, enum block_code *code, const char **why)
{
	const struct device_class_spec *class_ = device_book_class(columns->book, option->class_);
	struct buffer key = {0};
	struct device_ask *ask;
	if (!class_) {
		*code = BLOCK_MISSING;
		*why = arena_printf(arena, "deviceclass \"%s\" not found", option->class_);
		return NULL;
	}
	*code = BLOCK_UNSUPPORTED;
	if (class_->unserved) {
		*why = arena_printf(arena, "%s of deviceclass \"%s\" is not served", class_->unserved, class_->name);
		return NULL;
	}
	write_key(&key, class_, option);
	HASH_FIND(hh, columns->asks, key.text, key.length, ask);
	if (!ask && columns->by_number.count == DEVICE_MOST_ASKS) {
		*why = arena_printf(arena, "more than %d selections of devices at a time are not served",
		                    DEVICE_MOST_ASKS);
	} else if (!ask) {
		ask = ask_new(columns, class_, option);
		ask->key = base_strdup(key.text);
		HASH_ADD_KEYPTR(hh, columns->asks, ask->key, key.length, ask);
		if (!ask->problem)
			device_pools_judge(columns, ask);
		columns->relations_stale = true;
	}
	buffer_free(&key);
	return ask;
}

static bool rule_matches(const struct device_rule_spec *rule, const struct counted_device *device)
{
	const char *pool = strchr(device->pool->key, '/');
	size_t driver = (size_t)(pool - device->pool->key);
	return rule->keeps_away && (!rule->pool || strcmp(rule->pool, pool + 1) == 0) &&
	       (!rule->device || strcmp(rule->device, device->spec->name) == 0) &&
	       (!rule->driver || (strlen(rule->driver) == driver && !strncmp(rule->driver, device->key, driver)));
}

static bool is_kept_away(const struct device_columns *columns, const struct device_ask *ask,
                         const struct counted_device *counted)
{
	const struct device_spec *device = counted->spec;
	for (size_t i = 0; i < device->taint_count; i++)
		if (!taint_tolerated(&device->taints[i], ask->tolerations, ask->toleration_count))
			return true;
	const struct device_entry *at = NULL;
	while ((at = device_book_next(columns->book, DEVICE_RULE, at))) {
		const struct device_rule_spec *rule = device_book_spec(at);
		if (rule_matches(rule, counted) &&
		    !taint_tolerated(&rule->taint, ask->tolerations, ask->toleration_count))
			return true;
	}
	return false;
}

static bool is_domain(struct cel_text domain, const char *from, size_t length)
{
	return domain.length == length && memcmp(domain.text, from, length) == 0;
}

bool device_name_matches(const char *name, struct cel_text domain, struct cel_text id, struct cel_text driver)
{
	const char *slash = strchr(name, '/'), *own = slash ? slash + 1 : name;
	return id.length == strlen(own) && memcmp(id.text, own, id.length) == 0 &&
	       (slash ? is_domain(domain, name, (size_t)(slash - name))
	              : is_domain(domain, driver.text, driver.length));
}

/* Whether the device has as much of each capacity as is asked for. */
static bool is_large_enough(const struct device_ask *ask, const struct cel_device *device)
{
	bool enough = true;
	for (size_t i = 0; i < ask->capacity_count && enough; i++) {
		enough = false;
		for (size_t c = 0; c < device->capacity_count; c++)
			enough |= device_name_matches(ask->capacities[i].name, device->capacities[c].domain,
			                              device->capacities[c].id, device->driver) &&
			          quantity_compare(device->capacities[c].value, ask->capacities[i].amount) >= 0;
	}
	return enough;
}

enum cel_result device_asks_judge(const struct device_columns *columns, const struct device_ask *ask,
                                  const struct counted_device *counted, struct arena *scratch, const char **text,
                                  bool *barred, struct error *error)
{
	const struct device_spec *device = counted->spec;
	enum cel_result result = ask->problem ? CEL_NO : CEL_YES;
	*text = NULL;
	*barred = false;
	for (size_t i = 0; i < ask->program_count && result == CEL_YES && !device->unreadable; i++) {
		*text = ask->texts[i];
		result = cel_evaluate(ask->programs[i], &device->seen, scratch, error);
	}
	if (result == CEL_YES && !is_large_enough(ask, &device->seen))
		return CEL_NO;
	*barred = result == CEL_YES && is_kept_away(columns, ask, counted);
	return *barred ? CEL_NO : result;
}

/* The first by its name: the same one is named every time. */
static const struct counted_device *find_bad(const struct device_columns *columns, const struct device_ask *ask,
                                             bool failed)
{
	const struct counted_device *device, *found = NULL;
	device_mask bit = (device_mask)1 << ask->number;
	for (device = columns->devices; device; device = device->hh.next) {
		bool bad = failed ? (device->failed & bit) : (device->unserved && (device->selected & bit));
		if (bad && (!found || strcmp(device->key, found->key) < 0))
			found = device;
	}
	return found;
}

const char *device_asks_problem(const struct device_columns *columns, const struct device_ask *ask, struct arena *arena,
                                enum block_code *code)
{
	*code = BLOCK_UNSUPPORTED;
	if (ask->problem)
		return ask->problem;
	const struct counted_device *bad = ask->unserved ? find_bad(columns, ask, false) : NULL;
	if (bad)
		return arena_printf(arena, "%s of device %s, which its request selects, is not served", bad->unserved,
		                    bad->key);
	bad = ask->failed ? find_bad(columns, ask, true) : NULL;
	if (!bad)
		return NULL;
	struct error error = {0};
	const char *text;
	bool barred;
	device_asks_judge(columns, ask, bad, arena, &text, &barred, &error);
	*code = BLOCK_NOT_READY;
	return arena_printf(arena, "selector %s fails for device %s: %s", text, bad->key, error.text);
}

device_mask device_asks_used(const struct device_columns *columns)
{
	device_mask used = 0;
	for (size_t a = 0; a < columns->by_number.count; a++)
		used |= (device_mask)(columns->by_number.items[a]->users > 0) << a;
	return used;
}

void device_asks_free(struct device_columns *columns)
{
	HASH_CLEAR(hh, columns->asks);
	for (size_t i = 0; i < columns->by_number.count; i++) {
		struct device_ask *ask = columns->by_number.items[i];
		vec_free(&ask->columns);
		arena_destroy(ask->arena);
		free(ask->key);
		free(ask);
	}
	vec_free(&columns->by_number);
}
