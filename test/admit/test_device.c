/* Device selectors: what is refused with its path, and what is only not supported. */
#include "verdict.h"

#define HEAD(kind) "apiVersion: resource.k8s.io/v1\nkind: " kind "\nmetadata: {name: c, namespace: ns}\nspec: "
#define GOOD "{cel: {expression: \"device.driver == 'gpu.example.com'\"}}"
#define WRONG "{cel: {expression: \"device.driver == 1\"}}"
#define FOREIGN "{cel: {expression: \"device.driver.replace('a', 'b') == 'x'\"}}"

static void classes(void **state)
{
	static const struct row rows[] = {
		{"none", "{}", {{0}}},
		{"a good one", "{selectors: [" GOOD "]}", {{0}}},
		{"a wrong one",
	         "{selectors: [" GOOD ", " WRONG "]}",
	         {{'E', "spec.selectors[1].cel.expression", "at character 15"}}},
		{"one that is not supported",
	         "{selectors: [" FOREIGN "]}",
	         {{'W', "spec.selectors[0].cel.expression", "not supported: the function replace at character 15"}}},
		{"nothing in it", "{selectors: [{}]}", {{'E', "spec.selectors[0]", "without an expression"}}},
		{"no list", "{selectors: x}", {{'E', "spec.selectors", NULL}}},
	};
	verdict_check_all(HEAD("DeviceClass"), rows, COUNT_OF(rows));
	(void)state;
}

static void claims(void **state)
{
	static const struct row rows[] = {
		{"plain", "{devices: {requests: [{name: g, exactly: {deviceClassName: d}}]}}", {{0}}},
		{"everything that is wrong",
	         "{devices: {requests: [{name: g, exactly: {deviceClassName: d, selectors: [" WRONG "]}}, "
	         "{name: h, firstAvailable: [{name: a, deviceClassName: d}, {name: b, selectors: [" WRONG "]}]}]}}",
	         {{'E', "spec.devices.requests[0].exactly.selectors[0].cel.expression", NULL},
	          {'E', "spec.devices.requests[1].firstAvailable[1].selectors[0].cel.expression", NULL}}},
	};
	static const struct row templates[] = {
		{"plain", "{spec: {devices: {requests: [{name: g, exactly: {deviceClassName: d}}]}}}", {{0}}},
		{"a wrong one",
	         "{spec: {devices: {requests: [{name: g, exactly: {deviceClassName: d, selectors: [" WRONG "]}}]}}}",
	         {{'E', "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression", NULL}}},
	};
	verdict_check_all(HEAD("ResourceClaim"), rows, COUNT_OF(rows));
	verdict_check_all(HEAD("ResourceClaimTemplate"), templates, COUNT_OF(templates));
	(void)state;
}

#define SLICE                                                                                                          \
	"apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: gpu.example.com, "   \
	"nodeName: a, pool: {name: a, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0, attributes: "     \
	"{type: {string: gpu}, other.example.com/v: {version: 1.2.3}}, capacity: {memory: {value: 40Gi}}}]}\n---\n"

static void classes_among_devices(void **state)
{
	static const struct row rows[] = {
		{"selects", "{selectors: [" GOOD "]}", {{0}}},
		{"reads everything",
	         "{selectors: [{cel: {expression: \"device.attributes['gpu.example.com'].type == 'gpu' && "
	         "device.attributes['other.example.com'].v.minor() == 2 && "
	         "device.capacity['gpu.example.com'].memory == quantity('40Gi')\"}}]}",
	         {{0}}},
		{"selects none",
	         "{selectors: [{cel: {expression: \"device.driver == 'other'\"}}]}",
	         {{'W', "spec.selectors", "none of the 1 devices"}}},
		{"fails",
	         "{selectors: [{cel: {expression: \"device.attributes['gpu.example.com'].index == 0\"}}]}",
	         {{'W', "spec.selectors[0]",
	           "fails for device \"gpu-0\" of ResourceSlice \"s\": there is no key index"}}},
	};
	verdict_check_all(SLICE HEAD("DeviceClass"), rows, COUNT_OF(rows));
	(void)state;
}

static void slices(void **state)
{
	static const struct row rows[] = {
		{"no driver", "{devices: []}", {{'E', "spec.driver", NULL}}},
		{"wrong values",
	         "{driver: d, devices: [{name: a, attributes: {v: {version: x}}, capacity: {m: {value: 1Q}, o: {}}}, "
	         "7]}",
	         {{'E', "spec.devices[0].attributes.v.version", "semantic version"},
	          {'E', "spec.devices[0].capacity.m.value", "1Q"},
	          {'E', "spec.devices[0].capacity.o.value", "missing"},
	          {'E', "spec.devices[1]", NULL}}},
		{"a list",
	         "{driver: d, devices: [{name: a, attributes: {v: {ints: [1]}}}]}",
	         {{'W', "spec.devices[0].attributes.v", "not supported"}}},
	};
	verdict_check_all(HEAD("ResourceSlice"), rows, COUNT_OF(rows));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes),
		cmocka_unit_test(claims),
		cmocka_unit_test(classes_among_devices),
		cmocka_unit_test(slices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
