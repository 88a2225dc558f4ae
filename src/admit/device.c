/* The expressions of device selectors, compiled where they are written: a wrong one is told at once. */
#include "admit/device.h"

#include "admit/decode.h"
#include "cel/cel.h"

#include <string.h>

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

/* NULL when it cannot be used, which is told. */
static const struct cel_program *judge_expression(const struct decode *decode, const struct decode_path *path,
                                                  const char *text)
{
	struct error error = {0};
	const struct cel_program *program = cel_compile(decode->arena, text, strlen(text), &error);
	if (program)
		return program;
	if (error.code == ERROR_SYNTAX)
		decode_error(decode, path, "see the Kubernetes documentation on CEL in device selectors", "%s",
		             error.text);
	else
		decode_warning(decode, path, "write it in another way if you can", "not supported: %s", error.text);
	return NULL;
}

/* The programs of the `selectors` of a class or a request, in their order; NULL for those that cannot be used. */
static const struct cel_program **judge_selectors(const struct decode *decode, const struct decode_path *up,
                                                  const struct val *owner)
{
	const struct decode_path *path = PATH_KEY(up, "selectors");
	const struct val *list = decode_list(decode, up, owner, "selectors"), *selector;
	const struct cel_program **programs = arena_array(decode->arena, const struct cel_program *, val_count(list));
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &selector); index++) {
		const struct decode_path *item = PATH_INDEX(path, index);
		if (!decode_is(decode, item, selector, VAL_MAP))
			continue;
		const struct val *cel = decode_map(decode, item, selector, "cel");
		const char *text = decode_string(decode, PATH_KEY(item, "cel"), cel, "expression");
		if (text)
			programs[index] = judge_expression(decode, PATH_KEY(PATH_KEY(item, "cel"), "expression"), text);
		else
			decode_error(decode, item, "add cel.expression", "a selector without an expression");
	}
	return programs;
}

/* ---- a class among devices ---- */

struct trial {
	const struct decode *decode;
	const struct cel_program **programs;
	size_t program_count;
	size_t tried, selected;
	bool told; /* the first failure is enough */
};

static void try_device(struct trial *trial, const struct device_slice *slice, const struct device_spec *device)
{
	const struct decode *decode = trial->decode;
	enum cel_result result = CEL_YES;
	if (device->unreadable)
		return;
	trial->tried++;
	for (size_t i = 0; i < trial->program_count && result == CEL_YES; i++) {
		struct error error = {0};
		result = cel_evaluate(trial->programs[i], &device->seen, decode->arena, &error);
		if (result == CEL_FAILED && !trial->told)
			decode_warning(decode, PATH_INDEX(PATH_KEY(spec_path, "selectors"), i),
			               "guard it with has(), or with a comparison of device.driver before it",
			               "fails for device %s of ResourceSlice %s: %s; pods that ask for this class do "
			               "not start",
			               decode_show(decode->problems->arena, device->name),
			               decode_show(decode->problems->arena, slice->name), error.text);
		trial->told |= result == CEL_FAILED;
	}
	trial->selected += result == CEL_YES;
}

static void judge_request(const struct decode *decode, const struct decode_path *path, const struct val *request)
{
	const struct decode_path *list = PATH_KEY(path, "firstAvailable");
	const struct val *exactly = decode_map(decode, path, request, "exactly"), *choice;
	if (exactly)
		judge_selectors(decode, PATH_KEY(path, "exactly"), exactly);
	size_t index = 0;
	for (struct val_iter it = val_iter(decode_list(decode, path, request, "firstAvailable"));
	     val_next(&it, NULL, &choice); index++)
		if (decode_is(decode, PATH_INDEX(list, index), choice, VAL_MAP))
			judge_selectors(decode, PATH_INDEX(list, index), choice);
}

/* The spec of a claim, which stands at `path`. */
static void judge_claim(const struct decode *decode, const struct decode_path *path, const struct val *spec)
{
	const struct decode_path *devices_path = PATH_KEY(path, "devices");
	const struct decode_path *list = PATH_KEY(devices_path, "requests");
	const struct val *devices = decode_map(decode, path, spec, "devices"), *request;
	size_t index = 0;
	for (struct val_iter it = val_iter(decode_list(decode, devices_path, devices, "requests"));
	     val_next(&it, NULL, &request); index++)
		if (decode_is(decode, PATH_INDEX(list, index), request, VAL_MAP))
			judge_request(decode, PATH_INDEX(list, index), request);
}

void device_class_judge(const struct val *object, const struct device_slice *slices, size_t slice_count,
                        struct arena *arena, struct problems *problems)
{
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_map(&decode, NULL, object, "spec");
	struct trial trial = {.decode = &decode, .programs = judge_selectors(&decode, spec_path, spec)};
	trial.program_count = val_count(val_get(spec, "selectors"));
	for (size_t i = 0; i < trial.program_count; i++)
		if (!trial.programs[i])
			return;
	for (size_t i = 0; i < slice_count; i++)
		for (size_t d = 0; d < slices[i].device_count; d++)
			try_device(&trial, &slices[i], &slices[i].devices[d]);
	if (trial.tried && !trial.selected && !trial.told)
		decode_warning(&decode, PATH_KEY(spec_path, "selectors"),
		               "compare them with the attributes in the ResourceSlices",
		               "none of the %zu devices in the ResourceSlices is selected", trial.tried);
}

void device_claim_judge(const struct val *object, struct arena *arena, struct problems *problems)
{
	struct decode decode = {.arena = arena, .problems = problems};
	judge_claim(&decode, spec_path, decode_map(&decode, NULL, object, "spec"));
}

void device_claim_template_judge(const struct val *object, struct arena *arena, struct problems *problems)
{
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *spec = decode_map(&decode, NULL, object, "spec");
	judge_claim(&decode, PATH_KEY(spec_path, "spec"), decode_map(&decode, spec_path, spec, "spec"));
}
