/* Owns the format `slurm` of a translation: a batch script per group. A pod is a task, and pods of one leaf with the same requests
 * and command are a component of a heterogeneous job, of which all start together. */
#include "cli/translate.h"

#include "admit/pod.h"
#include "kinds/kinds.h"

#include <stdlib.h>
#include <string.h>

#define SCHEDULER "Slurm"
#define HOST "kubernetes.io/hostname"
#define GPU "gpu" /* in the last part of the name of a resource that counts them */
#define MEBIBYTE INT64_C(1048576)

/* Tasks that are alike. */
struct component {
	const struct translated_pod *pod; /* the first of them */
	int64_t tasks, cpus, memory, gpus;
	const char *command; /* as a shell reads it */
};

struct job {
	struct translation *translation;
	const struct translated_group *group;
	struct component *components;
	size_t count;
};

/* ---- what a pod asks for ---- */

static bool is_gpu(const char *resource)
{
	const char *slash = strrchr(resource, '/');
	return slash && text_equal(slash + 1, GPU);
}

static void lose_of_pod(struct job *job, const struct translated_pod *pod, const char *path, const char *message)
{
	struct arena *arena = job->translation->arena;
	translate_report(job->translation, &(struct translate_loss){.source = pod->manifest->source,
	                                                            .object = translate_name(arena, pod->manifest),
	                                                            .path = path,
	                                                            .message = message});
}

static void read_requests(struct job *job, struct component *component)
{
	struct arena *arena = job->translation->arena;
	struct problems ignored = {.arena = arena};
	struct pod_spec spec;
	if (pod_decode(component->pod->manifest->object, arena, &spec, &ignored) < 0) {
		lose_of_pod(job, component->pod, "spec", "it cannot be read: nothing is asked for it");
		return;
	}
	for (size_t i = 0; i < spec.request_count; i++) {
		const struct resource_amount *request = &spec.requests[i];
		if (text_equal(request->name, "cpu"))
			component->cpus = request->amount / 1000 + (request->amount % 1000 > 0);
		else if (text_equal(request->name, "memory"))
			component->memory = request->amount / MEBIBYTE + (request->amount % MEBIBYTE > 0);
		else if (is_gpu(request->name))
			component->gpus = request->amount;
	}
}

static void lose_requests(struct job *job, const struct component *component)
{
	struct arena *arena = job->translation->arena;
	struct problems ignored = {.arena = arena};
	struct pod_spec spec;
	if (pod_decode(component->pod->manifest->object, arena, &spec, &ignored) < 0)
		return;
	for (size_t i = 0; i < spec.request_count; i++) {
		const char *name = spec.requests[i].name;
		if (text_equal(name, "cpu") && spec.requests[i].amount % 1000 != 0)
			lose_of_pod(job, component->pod, "spec.containers[0].resources.requests.cpu",
			            "parts of a CPU are rounded up");
		else if (!text_equal(name, "cpu") && !text_equal(name, "memory") && !text_equal(name, "pods") &&
		         !is_gpu(name))
			lose_of_pod(job, component->pod,
			            arena_printf(arena, "spec.containers[0].resources.requests[%s]", name),
			            "it is not known what of Slurm it would be: write --gres");
	}
}

/* In quotes, unless it needs none. */
static const char *quoted(struct arena *arena, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
	if (*word && strspn(word, plain) == strlen(word))
		return word;
	struct buffer text = {0};
	buffer_puts(&text, "'");
	for (const char *at = word; *at; at++) {
		if (*at == '\'')
			buffer_puts(&text, "'\\''");
		else
			buffer_append(&text, at, 1);
	}
	buffer_puts(&text, "'");
	const char *result = arena_strdup(arena, text.text);
	buffer_free(&text);
	return result;
}

/* Environment, command and arguments of the first container; where the image says what runs there is only its name. */
static const char *command_of(struct arena *arena, const struct translated_pod *pod)
{
	static const char *const lists[] = {"command", "args"};
	const struct val *container = val_item(val_path(pod->manifest->object, "spec", "containers", NULL), 0), *item;
	const char *line = "", *env = "";
	for (struct val_iter it = val_iter(val_get(container, "env")); val_next(&it, NULL, &item);)
		if (val_get(item, "value"))
			env = arena_printf(arena, "%s%s=%s ", env, val_str(val_get(item, "name"), ""),
			                   quoted(arena, val_str(val_get(item, "value"), "")));
	for (size_t i = 0; i < 2; i++)
		for (struct val_iter it = val_iter(val_get(container, lists[i])); val_next(&it, NULL, &item);)
			line = arena_printf(arena, "%s%s%s", line, *line ? " " : "", quoted(arena, val_str(item, "")));
	if (!*line)
		line = arena_printf(arena, "%s", "\"$COMMAND\"");
	return *env ? arena_printf(arena, "env %s%s", env, line) : line;
}

/* What a task has no counterpart for is named once for tasks that are alike. */
static void lose_rest(struct job *job, const struct component *component)
{
	static const char *const read[] = {"containers",      "schedulerName",
	                                   "restartPolicy",   "terminationGracePeriodSeconds",
	                                   "schedulingGroup", "priorityClassName",
	                                   "nodeName",        "hostname",
	                                   "dnsPolicy",       "enableServiceLinks",
	                                   "securityContext", "subdomain"};
	struct arena *arena = job->translation->arena;
	const struct val *spec = val_get(component->pod->manifest->object, "spec"), *item;
	const struct val *containers = val_get(spec, "containers"), *first = val_item(containers, 0);
	const char *key;
	for (struct val_iter it = val_iter(spec); val_next(&it, &key, &item);) {
		bool known = val_kind(item) == VAL_NULL;
		for (size_t i = 0; i < sizeof(read) / sizeof(*read); i++)
			known |= strcmp(read[i], key) == 0;
		if (!known)
			lose_of_pod(job, component->pod, arena_printf(arena, "spec.%s", key),
			            "tasks have no such thing");
	}
	if (val_count(containers) > 1)
		lose_of_pod(job, component->pod, "spec.containers[1]",
		            "a task is one process: only the first container counts");
	if (val_get(first, "image"))
		lose_of_pod(job, component->pod, "spec.containers[0].image",
		            val_count(val_get(first, "command")) + val_count(val_get(first, "args")) > 0
		                    ? arena_printf(arena, "%s is not started: the command runs on the node itself",
		                                   val_str(val_get(first, "image"), ""))
		                    : arena_printf(arena, "%s says what runs: set COMMAND",
		                                   val_str(val_get(first, "image"), "")));
	for (struct val_iter it = val_iter(val_get(first, "env")); val_next(&it, NULL, &item);)
		if (val_get(item, "valueFrom"))
			lose_of_pod(job, component->pod,
			            arena_printf(arena, "spec.containers[0].env[%s]",
			                         val_str(val_get(item, "name"), "")),
			            "its value comes from the cluster");
}

/* ---- components ---- */

static bool is_alike(const struct component *a, const struct component *b)
{
	return a->pod->leaf == b->pod->leaf && a->cpus == b->cpus && a->memory == b->memory && a->gpus == b->gpus &&
	       strcmp(a->command, b->command) == 0;
}

static void read_components(struct job *job)
{
	struct arena *arena = job->translation->arena;
	job->components = arena_array(arena, struct component, job->group->pod_count + 1);
	for (size_t i = 0; i < job->group->pod_count; i++) {
		struct component new = {.pod = &job->group->pods[i], .tasks = 1, .cpus = 1};
		size_t at = 0;
		read_requests(job, &new);
		new.command = command_of(arena, new.pod);
		while (at < job->count && !is_alike(&job->components[at], &new))
			at++;
		if (at < job->count)
			job->components[at].tasks++;
		else
			job->components[job->count++] = new;
	}
	for (size_t i = 0; i < job->count; i++) {
		lose_requests(job, &job->components[i]);
		lose_rest(job, &job->components[i]);
	}
}

/* ---- the script ---- */

static void put_level(struct job *job, const struct constraint_spec *asked, const char *path)
{
	struct buffer *out = &job->translation->script;
	if (asked->preferred)
		translate_lose(job->translation, job->group, path, "Slurm prefers no level: %s is lost",
		               asked->preferred);
	if (!asked->required)
		return;
	const char *label = translate_level(job->translation, asked, asked->required);
	if (strcmp(label, HOST) == 0) {
		buffer_puts(out, "#SBATCH --nodes=1\n");
		return;
	}
	buffer_puts(out, "#SBATCH --switches=1\n");
	translate_lose(job->translation, job->group, path,
	               "one switch stands for %s, and Slurm waits for it only as long as its max_switch_wait says",
	               label);
}

static void put_component(struct job *job, const struct component *component)
{
	struct buffer *out = &job->translation->script;
	buffer_printf(out, "#SBATCH --ntasks=%lld\n#SBATCH --cpus-per-task=%lld\n", (long long)component->tasks,
	              (long long)component->cpus);
	if (component->memory > 0)
		buffer_printf(out, "#SBATCH --mem-per-cpu=%lldM\n",
		              (long long)((component->memory + component->cpus - 1) / component->cpus));
	if (component->gpus > 0)
		buffer_printf(out, "#SBATCH --gpus-per-task=%lld\n", (long long)component->gpus);
}

static void put_directives(struct job *job)
{
	struct buffer *out = &job->translation->script;
	buffer_printf(out, "#!/bin/bash\n#SBATCH --job-name=%s\n", job->group->name);
	if (job->group->queue)
		buffer_printf(out, "#SBATCH --partition=%s\n", quoted(job->translation->arena, job->group->queue));
	for (size_t i = 0; i < job->count; i++) {
		const struct tree_node *leaf = &job->group->spec.tree[job->components[i].pod->leaf];
		if (i > 0)
			buffer_puts(out, "#SBATCH hetjob\n");
		put_component(job, &job->components[i]);
		/* Of the levels above a part only those of a job that has no other parts are its own. */
		for (const struct tree_node *node = leaf; node;
		     node = node->parent >= 0 && job->count == 1 ? &job->group->spec.tree[node->parent] : NULL)
			put_level(job, &node->constraint, translate_path(job->translation, node, "topologyConstraint"));
	}
}

static void put_commands(struct job *job)
{
	struct buffer *out = &job->translation->script;
	if (job->count == 1) {
		buffer_printf(out, "\nsrun %s\n", job->components[0].command);
		return;
	}
	for (size_t i = 0; i < job->count; i++)
		buffer_printf(out, "%s--het-group=%zu %s", i == 0 ? "\nsrun " : " : \\\n     ", i,
		              job->components[i].command);
	buffer_puts(out, "\n");
}

static void lose_of_tree(struct job *job)
{
	const struct podgroup *spec = &job->group->spec;
	if (podgroup_minimum_pods(spec, 0) < (int64_t)job->group->pod_count)
		translate_lose(job->translation, job->group, "spec",
		               "Slurm starts all %zu tasks or none: a minimum of %lld is lost", job->group->pod_count,
		               (long long)podgroup_minimum_pods(spec, 0));
	for (size_t i = 0; job->count > 1 && i < spec->tree_count; i++)
		if (spec->tree[i].child_count &&
		    (spec->tree[i].constraint.required || spec->tree[i].constraint.preferred))
			translate_lose(job->translation, job->group,
			               translate_path(job->translation, &spec->tree[i], "topologyConstraint"),
			               "a level over several components of a job has no counterpart");
	if (job->group->class)
		translate_lose(job->translation, job->group, "spec.priorityClassName",
		               "Slurm has no class %s: give it a QOS", job->group->class);
	if (spec->never_preempts)
		translate_lose(job->translation, job->group, "metadata.annotations[" KINDS_PREEMPTION "]",
		               "who preempts whom is said by a QOS");
	struct translated_group terms = *job->group;
	terms.queue = NULL; /* a partition */
	translate_lose_terms(job->translation, &terms, SCHEDULER);
}

static void write_group(struct translation *translation, const struct translated_group *group)
{
	struct job job = {.translation = translation, .group = group};
	if (group->pod_count == 0) {
		translate_lose(translation, group, "spec", "a job runs something: give the pods of the group, too");
		return;
	}
	read_components(&job);
	if (translation->script.length > 0)
		buffer_puts(&translation->script, "\n");
	put_directives(&job);
	put_commands(&job);
	lose_of_tree(&job);
}

const struct translate_target translate_slurm = {.name = "slurm", .group = write_group};
