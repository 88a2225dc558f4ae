/* Writes an instance as a scenario: nodes, topologies, one queue, the other pods, the gang and its pods. What is
 * expected comes from the exhaustive solver. */
#include "save.h"

#include "build.h"
#include "oracle.h"

#include <stdarg.h>

void save_object(struct writer *writer, const char *format, ...)
{
	fputs(writer->more ? ",\n  " : "\n  ", writer->file);
	writer->more = true;
	va_list args;
	va_start(args, format);
	vfprintf(writer->file, format, args);
	va_end(args);
}

static void resources(FILE *file, const struct instance *instance, const int *amounts, int pods)
{
	static const char *const suffix[INSTANCE_RESOURCES] = {"", "", "Gi"};
	const char *comma = "";
	for (int r = 0; r < instance->resource_count && r < INSTANCE_RESOURCES; r++)
		if (amounts[r] > 0) {
			fprintf(file, "%s\"%s\": \"%d%s\"", comma, built_resource_name(r), amounts[r], suffix[r]);
			comma = ", ";
		}
	if (pods >= 0)
		fprintf(file, "%s\"pods\": \"%d\"", comma, pods);
}

static void write_topologies(struct writer *writer, const struct instance *instance)
{
	for (int i = 0; i < instance->topology_count; i++) {
		save_object(writer,
		            "{\"apiVersion\": \"kai.scheduler/v1alpha1\", \"kind\": \"Topology\", \"metadata\": "
		            "{\"name\": \"%s\"}, \"spec\": {\"levels\": [",
		            i ? "second" : "first");
		for (int level = 0; level < instance->topologies[i].level_count; level++)
			fprintf(writer->file, "%s{\"nodeLabel\": \"%s\"}", level ? ", " : "",
			        built_key_name(instance, instance_level_key(instance, i, level)));
		fputs("]}}", writer->file);
	}
}

static void write_node(struct writer *writer, const struct instance *instance, int number)
{
	const struct w_node *node = &instance->nodes[number];
	save_object(writer,
	            "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"n%d\", \"labels\": {",
	            number);
	fprintf(writer->file, "\"kubernetes.io/hostname\": \"n%d\"", number);
	for (int key = 1; key < INSTANCE_KEYS; key++)
		if (node->label[key] >= 0)
			fprintf(writer->file, ", \"%s\": \"v%d\"", built_key_name(instance, key), node->label[key]);
	if (node->colour >= 0)
		fprintf(writer->file, ", \"colour\": \"%s\"", node->colour ? "red" : "blue");
	fprintf(writer->file, "}}, \"spec\": {%s%s%s}, \"status\": {\"allocatable\": {",
	        node->unschedulable ? "\"unschedulable\": true" : "", node->unschedulable && node->tainted ? ", " : "",
	        node->tainted
	                ? "\"taints\": [{\"key\": \"dedicated\", \"value\": \"other\", \"effect\": \"NoSchedule\"}]"
	                : "");
	resources(writer->file, instance, node->capacity, node->pods);
	fprintf(writer->file, "}, \"conditions\": [{\"type\": \"Ready\", \"status\": \"%s\"}]}}",
	        node->not_ready ? "False" : "True");
}

static void write_term(FILE *file, const struct instance *instance, const char *field, struct w_term term)
{
	fprintf(file,
	        "\"%s\": {\"requiredDuringSchedulingIgnoredDuringExecution\": [{\"labelSelector\": {\"matchLabels\": "
	        "{\"app\": \"a%d\"}}, \"topologyKey\": \"%s\"}]}",
	        field, term.app, built_key_name(instance, term.key));
}

static void write_affinity(FILE *file, const struct instance *instance, const struct w_pod_class *pod_class)
{
	const char *comma = "";
	bool colour = pod_class->colour >= 0 && pod_class->selection != SELECT_LABEL;
	if (!colour && pod_class->affinity.key == KEY_NONE && pod_class->anti.key == KEY_NONE)
		return;
	fputs(", \"affinity\": {", file);
	if (colour) {
		fprintf(file,
		        "\"nodeAffinity\": {\"requiredDuringSchedulingIgnoredDuringExecution\": "
		        "{\"nodeSelectorTerms\": "
		        "[{\"matchExpressions\": [{\"key\": \"colour\", \"operator\": \"%s\", \"values\": "
		        "[\"%s\"]}]}]}}",
		        pod_class->selection == SELECT_IN ? "In" : "NotIn", pod_class->colour ? "red" : "blue");
		comma = ", ";
	}
	if (pod_class->affinity.key != KEY_NONE) {
		fputs(comma, file);
		write_term(file, instance, "podAffinity", pod_class->affinity);
		comma = ", ";
	}
	if (pod_class->anti.key != KEY_NONE) {
		fputs(comma, file);
		write_term(file, instance, "podAntiAffinity", pod_class->anti);
	}
	fputs("}", file);
}

static void write_spread(FILE *file, const struct instance *instance, const struct w_spread *spread)
{
	fprintf(file,
	        ", \"topologySpreadConstraints\": [{\"maxSkew\": %d, \"topologyKey\": \"%s\", \"whenUnsatisfiable\": "
	        "\"DoNotSchedule\", \"labelSelector\": {\"matchLabels\": {\"app\": \"a%d\"}}",
	        spread->max_skew, built_key_name(instance, spread->key), spread->app);
	if (spread->min_domains > 0)
		fprintf(file, ", \"minDomains\": %d", spread->min_domains);
	fprintf(file, ", \"nodeAffinityPolicy\": \"%s\", \"nodeTaintsPolicy\": \"%s\"}]",
	        spread->ignore_node_affinity ? "Ignore" : "Honor", spread->honor_taints ? "Honor" : "Ignore");
}

static void write_spec(FILE *file, const struct instance *instance, const struct w_pod_class *pod_class)
{
	fputs("\"schedulerName\": \"platoon\", \"containers\": [{\"name\": \"main\", \"image\": \"pause\", "
	      "\"resources\": "
	      "{\"requests\": {",
	      file);
	resources(file, instance, pod_class->request, -1);
	fputs("}}", file);
	if (pod_class->port >= 0)
		fprintf(file, ", \"ports\": [{\"containerPort\": %d, \"hostPort\": %d}]", 8000 + pod_class->port,
		        8000 + pod_class->port);
	fputs("}]", file);
	if (pod_class->tolerates)
		fputs(", \"tolerations\": [{\"key\": \"dedicated\", \"operator\": \"Exists\"}]", file);
	if (pod_class->colour >= 0 && pod_class->selection == SELECT_LABEL)
		fprintf(file, ", \"nodeSelector\": {\"colour\": \"%s\"}", pod_class->colour ? "red" : "blue");
	write_affinity(file, instance, pod_class);
	if (pod_class->spread.key != KEY_NONE)
		write_spread(file, instance, &pod_class->spread);
}

static void write_other(struct writer *writer, const struct instance *instance, int number)
{
	const struct w_other *other = &instance->others[number];
	const struct w_pod_class *pod_class = &instance->pod_classes[other->pod_class];
	save_object(writer,
	            "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"other%d\", \"namespace\": "
	            "\"%s\"",
	            number, other->foreign ? "elsewhere" : "default");
	if (pod_class->app >= 0)
		fprintf(writer->file, ", \"labels\": {\"app\": \"a%d\"}", pod_class->app);
	if (other->occupancy == W_RELEASING)
		fputs(", \"deletionTimestamp\": \"2025-01-01T00:00:00Z\"", writer->file);
	fputs("}, \"spec\": {", writer->file);
	write_spec(writer->file, instance, pod_class);
	fprintf(writer->file, ", \"nodeName\": \"n%d\"}, \"status\": {\"phase\": \"Running\"}}", other->node);
}

static void write_levels(FILE *file, const struct instance *instance, const struct w_tree *node)
{
	struct w_level any = node->required.topology >= 0 ? node->required : node->preferred;
	if (any.topology < 0)
		return;
	fprintf(file, ", \"topologyConstraint\": {\"topology\": \"%s\"", any.topology ? "second" : "first");
	if (node->required.topology >= 0)
		fprintf(file, ", \"requiredTopologyLevel\": \"%s\"",
		        built_key_name(instance,
		                       instance_level_key(instance, node->required.topology, node->required.level)));
	if (node->preferred.topology >= 0)
		fprintf(file, ", \"preferredTopologyLevel\": \"%s\"",
		        built_key_name(instance,
		                       instance_level_key(instance, node->preferred.topology, node->preferred.level)));
	fputs("}", file);
}

static void write_minimum(FILE *file, const struct instance *instance, int node)
{
	bool leaf = instance_child_count(instance, node) == 0;
	fprintf(file, "\"%s\": %d", leaf ? "minMember" : "minSubGroup", instance->tree[node].minimum);
	write_levels(file, instance, &instance->tree[node]);
}

static void write_group(struct writer *writer, const struct instance *instance, const char *name, const char *spec)
{
	save_object(writer,
	            "{\"apiVersion\": \"scheduling.run.ai/v2alpha2\", \"kind\": \"PodGroup\", \"metadata\": {\"name\": "
	            "\"%s\", \"namespace\": \"default\"}, \"spec\": {%s, ",
	            name, spec);
	write_minimum(writer->file, instance, 0);
	for (int node = 1; node < instance->tree_count; node++) {
		fprintf(writer->file, "%s{\"name\": \"s%d\", ", node == 1 ? ", \"subGroups\": [" : ", ", node);
		if (instance->tree[node].parent > 0)
			fprintf(writer->file, "\"parent\": \"s%d\", ", instance->tree[node].parent);
		write_minimum(writer->file, instance, node);
		fputs("}", writer->file);
	}
	fputs(instance->tree_count > 1 ? "]}}" : "}}", writer->file);
}

static void write_pod(struct writer *writer, const struct instance *instance, const char *group, int number)
{
	const struct w_pod *pod = &instance->pods[number];
	const struct w_pod_class *pod_class = &instance->pod_classes[pod->pod_class];
	const char *comma = "";
	save_object(writer,
	            "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"%s-p%d\", \"namespace\": "
	            "\"default\", "
	            "\"annotations\": {\"pod-group-name\": \"%s\"}, \"labels\": {",
	            group, number, group);
	if (pod->leaf > 0) {
		fprintf(writer->file, "\"kai.scheduler/subgroup-name\": \"s%d\"", pod->leaf);
		comma = ", ";
	}
	if (pod_class->app >= 0)
		fprintf(writer->file, "%s\"app\": \"a%d\"", comma, pod_class->app);
	fputs("}}, \"spec\": {", writer->file);
	write_spec(writer->file, instance, pod_class);
	if (instance_is_member(pod))
		fprintf(writer->file, ", \"nodeName\": \"n%d\"", pod->node);
	if (pod->state == W_GATED)
		fputs(", \"schedulingGates\": [{\"name\": \"example.com/wait\"}]", writer->file);
	fprintf(writer->file, "}, \"status\": {\"phase\": \"%s\"",
	        instance_is_member(pod) ? "Running"
	        : pod->state == W_GONE  ? "Succeeded"
	                                : "Pending");
	if (pod->nominated >= 0)
		fprintf(writer->file, ", \"nominatedNodeName\": \"n%d\"", pod->nominated);
	fputs("}}", writer->file);
}

void save_cluster(struct writer *writer, const struct instance *instance)
{
	write_topologies(writer, instance);
	for (int node = 0; node < instance->node_count; node++)
		write_node(writer, instance, node);
	for (int other = 0; other < instance->other_count; other++)
		write_other(writer, instance, other);
}

void save_gang(struct writer *writer, const struct instance *instance, const char *name, const char *spec)
{
	write_group(writer, instance, name, spec);
	for (int pod = 0; pod < instance->pod_count; pod++)
		write_pod(writer, instance, name, pod);
}

void save_title(FILE *file, const struct instance *instance, const char *pod_class, const char *text)
{
	fprintf(file,
	        "{\"apiVersion\": \"platoon.dev/v1alpha1\", \"kind\": \"Scenario\", \"metadata\": {\"name\": "
	        "\"property-%llu\", \"labels\": {\"area\": \"property\"}}, \"spec\": {\n \"title\": \"%s: ",
	        (unsigned long long)instance->seed, pod_class);
	for (; *text; text++)
		fputc(*text == '"' || *text == '\\' || (unsigned char)*text < ' ' ? '\'' : *text, file);
}

static void write_expect(FILE *file, const struct instance *instance)
{
	struct positions positions;
	bool satisfied[INSTANCE_TREE];
	struct oracle oracle;
	int waiting = 0;
	positions_begin(&positions, instance);
	rules_satisfied(&positions, 0, false, satisfied);
	for (int pod = 0; pod < instance->pod_count; pod++)
		waiting += instance->pods[pod].state == W_WAITING;
	bool possible = satisfied[0] || oracle_solve(&oracle, instance, 0, 2000000) == ORACLE_YES;
	fputs(" \"run\": {\"actions\": [\"allocate\"], \"cycles\": 1},\n \"expect\": {\"groups\": {\"default/gang\": {",
	      file);
	if (!possible)
		fputs("\"placed\": 0, \"impossible\": true", file);
	else if (instance_is_rigid(instance))
		fprintf(file, "\"placed\": %d, \"impossible\": false", waiting);
	else
		fputs("\"impossible\": false", file);
	fputs("}}}\n}}\n", file);
}

int save_scenario(const struct instance *instance, const struct result *result, const char *path)
{
	struct writer writer = {.file = fopen(path, "w")};
	if (!writer.file)
		return -1;
	save_title(writer.file, instance, failure_name((enum failure)result->failure), result->text);
	fprintf(writer.file, "%s%s\",\n \"objects\": [", instance->use_releasing ? " (releasing resources count)" : "",
	        instance->warm_up ? " (after an answer for another state)" : "");
	save_object(
		&writer,
		"{\"apiVersion\": \"scheduling.run.ai/v2\", \"kind\": \"Queue\", \"metadata\": {\"name\": \"main\"}, "
		"\"spec\": {\"resources\": {\"gpu\": {\"quota\": -1, \"limit\": -1}, \"cpu\": {\"quota\": -1, "
		"\"limit\": -1}, \"memory\": {\"quota\": -1, \"limit\": -1}}}}");
	save_cluster(&writer, instance);
	save_gang(&writer, instance, "gang", "\"queue\": \"main\"");
	fputs("],\n", writer.file);
	write_expect(writer.file, instance);
	int broken = ferror(writer.file);
	return fclose(writer.file) || broken ? -1 : 0;
}
