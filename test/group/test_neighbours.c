/* Groups of other schedulers that pods name. */
#include "story.h"

#define ALL(stories) story_check_all(stories, sizeof(stories) / sizeof(*(stories)))
#define OBJECT(api_version, name, more, spec)                                                                          \
	"---\n{apiVersion: " api_version ", kind: PodGroup, metadata: {" more "name: " name                            \
	", namespace: ns, uid: u-" name "}, spec: {" spec "}}\n"
#define COSCHEDULING(name, more, spec) OBJECT("scheduling.x-k8s.io/v1alpha1", name, more, spec)
#define NAMES(name) "labels: {scheduling.x-k8s.io/pod-group: " name "}, "
#define LABEL_QUEUE "labels: {kai.scheduler/queue: q}, "

static void coscheduling(void **state)
{
	static const struct story stories[] = {
		{"a gang", COSCHEDULING("g", "", "minMember: 4") POD(NAMES("g")), "pg-g-u-g min=4"},
		{"without a minimum", COSCHEDULING("g", "", "") POD(NAMES("g")), "pg-g-u-g min=1"},
		{"whoever owns the pod",
	         COSCHEDULING("g", "", "minMember: 4") WORKLOAD("batch/v1", "Job", LABEL_QUEUE, "parallelism: 6")
	                 POD(OWNED("batch/v1", "Job", "w") NAMES("g")),
	         "pg-g-u-g min=4"},
		{"what was lost on the way is told",
	         COSCHEDULING("g", "", "minMember: 2, minResources: {cpu: 4}, scheduleTimeoutSeconds: 10")
	                 POD(NAMES("g")),
	         "pg-g-u-g min=2 ! no-counterpart no-counterpart"},
		{"a field that nobody knows", COSCHEDULING("g", "", "minMember: 2, maxMember: 3") POD(NAMES("g")),
	         "pg-g-u-g min=2 ! no-counterpart"},
		{"levels are for us to add",
	         COSCHEDULING("g", "annotations: {" TOPOLOGY "kai.scheduler/topology-required-placement: rack}, ",
	                      "minMember: 2") POD(NAMES("g")),
	         "pg-g-u-g min=2@topo,rack,"},
		{"on the workload, too",
	         COSCHEDULING("g", "", "minMember: 2")
	                 WORKLOAD("batch/v1", "Job",
	                          "annotations: {" TOPOLOGY "kai.scheduler/topology-required-placement: rack}, ", "")
	                         POD(OWNED("batch/v1", "Job", "w") NAMES("g")),
	         "pg-g-u-g min=2@topo,rack,"},
		{"pods may come before their group", POD(NAMES("g")), "refused ! object-not-found"},
		{"one of another group of APIs is not theirs",
	         OBJECT("scheduling.k8s.io/v1beta1", "g", "", "schedulingPolicy: {gang: {minCount: 2}}")
	                 POD(NAMES("g")),
	         "refused ! object-not-found"},
		{"no number", COSCHEDULING("g", "", "minMember: many") POD(NAMES("g")), "refused ! wrong-field-type"},
		{"below nothing", COSCHEDULING("g", "", "minMember: -1") POD(NAMES("g")), "refused ! wrong-field-type"},
		{"a group of Kubernetes itself comes first",
	         OBJECT("scheduling.k8s.io/v1beta1", "nat", "", "schedulingPolicy: {gang: {minCount: 3}}")
	                 COSCHEDULING("g", "", "minMember: 2") "---\n{apiVersion: v1, kind: Pod, metadata: {" NAMES(
				 "g") "name: p, namespace: ns, uid: pu}, spec: {schedulingGroup: {podGroupName: "
	                              "nat}}}\n",
	         "pg-nat-u-nat min=3"},
		{"a PodGroup of ours that the user named",
	         COSCHEDULING("g", "", "minMember: 2") POD(NAMES("g") "annotations: {pod-group-name: mine}, "),
	         "none: the pod names a PodGroup of its own"},
		{"one made from a group of that name before",
	         COSCHEDULING("g", "", "minMember: 2") POD(NAMES("g") "annotations: {pod-group-name: pg-g-old}, "),
	         "pg-g-u-g min=2"},
		{"the group that a controller made for its workload",
	         WORKLOAD("kubeflow.org/v1", "PyTorchJob", "", "pytorchReplicaSpecs: {Worker: {replicas: 3}}")
	                 COSCHEDULING("w",
	                              "ownerReferences: [{kind: PyTorchJob, name: w, uid: u1, controller: true}], ",
	                              "minMember: 3, minResources: {cpu: 3}")
	                         POD(OWNED("kubeflow.org/v1", "PyTorchJob",
	                                   "w") "labels: {scheduling.x-k8s.io/pod-group: w, "
	                                        "training.kubeflow.org/replica-type: worker}, "),
	         "pg-w-u1 min=3 worker:3 -> worker"},
		{"the group that one made for a workload without a rule",
	         WORKLOAD("example.com/v1", "Flow", "", "")
	                 COSCHEDULING("w", "ownerReferences: [{kind: Flow, name: w, uid: u1, controller: true}], ",
	                              "minMember: 3") POD(OWNED("example.com/v1", "Flow", "w") NAMES("w")),
	         "pg-w-u-w min=3"},
	};
	ALL(stories);
}

#define VOLCANO(name, more, spec) OBJECT("scheduling.volcano.sh/v1beta1", name, more, spec)
#define HYPERNODE(name, tier, member)                                                                                  \
	"---\n{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: " name                      \
	"}, spec: {tier: " tier ", members: [" member "]}}\n"
#define LABELLED(key, value) "{type: Node, selector: {labelMatch: {matchLabels: {" key ": " value "}}}}"
#define TASK_OF(group, task) "annotations: {scheduling.k8s.io/group-name: " group ", volcano.sh/task-spec: " task "}, "
#define NAMES_VOLCANO(group) "annotations: {scheduling.k8s.io/group-name: " group "}, "
#define LEVELS                                                                                                         \
	"---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: net}, spec: {levels: "             \
	"[{nodeLabel: "                                                                                                \
	"example.com/zone}, {nodeLabel: example.com/rack}, {nodeLabel: kubernetes.io/hostname}]}}\n"
#define TIERS(fields) "minMember: 2, networkTopology: {" fields "}"

static void volcano(void **state)
{
	static const struct story stories[] = {
		{"a gang", VOLCANO("g", "", "minMember: 4") POD(NAMES_VOLCANO("g")), "pg-g-u-g min=4"},
		{"by its other name",
	         VOLCANO("g", "", "minMember: 4") POD("annotations: {scheduling.volcano.sh/group-name: g}, "),
	         "pg-g-u-g min=4"},
		{"tasks",
	         VOLCANO("g", "", "minMember: 3, minTaskMember: {ps: 1, worker: 2}") POD(TASK_OF("g", "worker")),
	         "pg-g-u-g min=3 ps:1 worker:2 -> worker"},
		{"one task has the minimum of all",
	         VOLCANO("g", "", "minMember: 3, minTaskMember: {worker: 2}") POD(TASK_OF("g", "worker")),
	         "pg-g-u-g min=3 worker:3 -> worker"},
		{"more than the sum of several",
	         VOLCANO("g", "", "minMember: 4, minTaskMember: {ps: 1, worker: 2}") POD(TASK_OF("g", "ps")),
	         "pg-g-u-g min=3 ps:1 worker:2 -> ps ! no-counterpart"},
		{"less: tasks do not count",
	         VOLCANO("g", "", "minMember: 2, minTaskMember: {ps: 1, worker: 2}") POD(TASK_OF("g", "ps")),
	         "pg-g-u-g min=2 ! no-counterpart"},
		{"a task that nobody knows",
	         VOLCANO("g", "", "minMember: 3, minTaskMember: {ps: 1, worker: 2}") POD(TASK_OF("g", "other")),
	         "pg-g-u-g min=3 ps:1 worker:2 ! unknown-subgroup"},
		{"a pod without a task",
	         VOLCANO("g", "", "minMember: 3, minTaskMember: {ps: 1, worker: 2}") POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=3 ps:1 worker:2 ! pod-label-missing"},
		{"no number of a task",
	         VOLCANO("g", "", "minMember: 3, minTaskMember: {ps: x}") POD(TASK_OF("g", "ps")),
	         "refused ! wrong-field-type"},
		{"tasks that are no map", VOLCANO("g", "", "minTaskMember: [a]") POD(NAMES_VOLCANO("g")),
	         "refused ! wrong-field-type"},
		{"a topology that is no map", VOLCANO("g", "", "networkTopology: [a]") POD(NAMES_VOLCANO("g")),
	         "refused ! wrong-field-type"},
		{"a tier is a level of the only Topology",
	         LEVELS VOLCANO("g", "", TIERS("mode: hard, highestTierAllowed: 1")) POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=2@net,example.com/rack,"},
		{"the next one", LEVELS VOLCANO("g", "", TIERS("highestTierAllowed: 2")) POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=2@net,example.com/zone,"},
		{"above all of them", LEVELS VOLCANO("g", "", TIERS("highestTierAllowed: 3")) POD(NAMES_VOLCANO("g")),
	         "refused ! unsupported"},
		{"none", LEVELS VOLCANO("g", "", TIERS("mode: hard")) POD(NAMES_VOLCANO("g")), "refused ! unsupported"},
		{"by its name", LEVELS VOLCANO("g", "", TIERS("highestTierName: zone")) POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=2@net,example.com/zone,"},
		{"by a name that no level has",
	         LEVELS VOLCANO("g", "", TIERS("highestTierName: spine")) POD(NAMES_VOLCANO("g")),
	         "refused ! unsupported"},
		{"without a Topology", VOLCANO("g", "", TIERS("highestTierAllowed: 1")) POD(NAMES_VOLCANO("g")),
	         "refused ! object-not-found"},
		{"preferred",
	         LEVELS VOLCANO("g", "", TIERS("mode: soft, highestTierAllowed: 2")) POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=2@net,,example.com/zone"},
		{"as narrow as possible", LEVELS VOLCANO("g", "", TIERS("mode: soft")) POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=2@net,,example.com/rack"},
		{"what is only preferred may be lost",
	         VOLCANO("g", "", TIERS("mode: soft, highestTierAllowed: 1")) POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=2 ! no-counterpart"},
		{"two Topologies, none of them named",
	         LEVELS "---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: other}, spec: "
	                "{levels: [{nodeLabel: rack}]}}\n" VOLCANO("g", "", TIERS("highestTierAllowed: 1"))
	                        POD(NAMES_VOLCANO("g")),
	         "refused ! object-not-found"},
		{"one of them named",
	         LEVELS "---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: other}, spec: "
	                "{levels: [{nodeLabel: example.com/row}]}}\n" VOLCANO(
				"g", "annotations: {kai.scheduler/topology: other}, ", TIERS("highestTierAllowed: 1"))
	                        POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=2@other,example.com/row,"},
		{"a level that is annotated says it better",
	         LEVELS VOLCANO("g", "annotations: {" TOPOLOGY "kai.scheduler/topology-required-placement: rack}, ",
	                        TIERS("highestTierAllowed: 7")) POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=2@topo,rack,"},
		{"no mode", LEVELS VOLCANO("g", "", TIERS("mode: firm")) POD(NAMES_VOLCANO("g")),
	         "refused ! wrong-field-type"},
		{"what was lost on the way",
	         VOLCANO("g", "", "minMember: 1, minResources: {cpu: 1}, subGroupPolicy: [{name: a}]")
	                 POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=1 ! no-counterpart no-counterpart"},
		{"HyperNodes say what a tier is",
	         LEVELS HYPERNODE("r1", "1", LABELLED("net.example.com/leaf", "r1"))
	                 HYPERNODE("r2", "1", LABELLED("net.example.com/leaf", "r2"))
	                         VOLCANO("g", "", TIERS("highestTierAllowed: 1")) POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=2@labels:net.example.com/leaf,net.example.com/leaf,"},
		{"by name, too, and softly",
	         HYPERNODE("r1", "1, tierName: leaf", LABELLED("net.example.com/leaf", "r1"))
	                 VOLCANO("g", "", "networkTopology: {mode: soft, highestTierName: leaf}")
	                         POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=1@labels:net.example.com/leaf,,net.example.com/leaf"},
		{"unless a Topology is annotated",
	         LEVELS HYPERNODE("r1", "1", LABELLED("net.example.com/leaf", "r1"))
	                 VOLCANO("g", "annotations: {kai.scheduler/topology: net}, ", TIERS("highestTierAllowed: 1"))
	                         POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=2@net,example.com/rack,"},
		{"of another tier they say nothing",
	         LEVELS HYPERNODE("s0", "2", LABELLED("net.example.com/spine", "s0"))
	                 VOLCANO("g", "", TIERS("highestTierAllowed: 1")) POD(NAMES_VOLCANO("g")),
	         "pg-g-u-g min=2@net,example.com/rack,"},
		{"HyperNodes that list their nodes are no label",
	         LEVELS HYPERNODE("r1", "1", "{type: Node, selector: {exactMatch: {name: n1}}}")
	                 VOLCANO("g", "", TIERS("highestTierAllowed: 1")) POD(NAMES_VOLCANO("g")),
	         "refused ! unsupported"},
		{"nor are those of several labels",
	         LEVELS HYPERNODE("r1", "1", LABELLED("a", "r1")) HYPERNODE("r2", "1", LABELLED("b", "r2"))
	                 VOLCANO("g", "", TIERS("highestTierAllowed: 1")) POD(NAMES_VOLCANO("g")),
	         "refused ! unsupported"},
	};
	ALL(stories);
}

#define GANG(more) "annotations: {gang.scheduling.koordinator.sh/name: g" more "}, "
#define ASKS(key, value) ", gang.scheduling.koordinator.sh/" key ": \"" value "\""
#define KOORDINATOR(more, spec) OBJECT("scheduling.sigs.k8s.io/v1alpha1", "g", more, spec)
#define NAMES_KOORDINATOR "labels: {pod-group.scheduling.sigs.k8s.io: g}, "

static void koordinator(void **state)
{
	static const struct story stories[] = {
		{"on the pods", POD(GANG(ASKS("min-available", "4"))), "pg-g-koordinator min=4"},
		{"what is usual is not lost",
	         POD(GANG(ASKS("min-available", "4") ASKS("total-number", "6") ASKS("mode", "Strict")
	                          ASKS("match-policy", "once-satisfied") ASKS("groups", "[]"))),
	         "pg-g-koordinator min=4"},
		{"what is lost",
	         POD(GANG(ASKS("min-available", "4") ASKS("mode", "NonStrict") ASKS("waiting-time", "30s")
	                          ASKS("match-policy", "only-waiting") ASKS("groups", "[ns/g, ns/h]"))),
	         "pg-g-koordinator min=4 ! no-counterpart no-counterpart no-counterpart no-counterpart"},
		{"layers that are preferred",
	         POD(GANG(ASKS("min-available", "4") ASKS("network-topology-spec", "PreferGather"))),
	         "pg-g-koordinator min=4 ! no-counterpart"},
		{"layers that are required",
	         POD(GANG(ASKS("min-available", "4") ASKS("network-topology-spec", "MustGather"))),
	         "refused ! unsupported"},
		{"no minimum", POD(GANG("")), "refused ! min-member-not-a-number"},
		{"no number", POD(GANG(ASKS("min-available", "x"))), "refused ! min-member-not-a-number"},
		{"too small", POD(GANG(ASKS("min-available", "0"))), "refused ! min-member-not-positive"},
		{"of a Job",
	         WORKLOAD("batch/v1", "Job",
	                  "annotations: {" TOPOLOGY "kai.scheduler/topology-required-placement: rack}, ", "")
	                 POD(OWNED("batch/v1", "Job", "w") GANG(ASKS("min-available", "2"))),
	         "pg-g-koordinator min=2@topo,rack,"},
		{"a PodGroup", KOORDINATOR("", "minMember: 3") POD(NAMES_KOORDINATOR), "pg-g-u-g min=3"},
		{"with annotations",
	         KOORDINATOR("annotations: {gang.scheduling.koordinator.sh/mode: NonStrict}, ",
	                     "minMember: 3, scheduleTimeoutSeconds: 5") POD(NAMES_KOORDINATOR),
	         "pg-g-u-g min=3 ! no-counterpart no-counterpart"},
		{"a PodGroup that is missing", POD(NAMES_KOORDINATOR), "refused ! object-not-found"},
		{"labels of the first coscheduling",
	         POD("labels: {pod-group.scheduling.sigs.k8s.io/name: g, "
	             "pod-group.scheduling.sigs.k8s.io/min-available: \"2\"}, "),
	         "pg-g-coscheduling min=2"},
	};
	struct story_run run;
	ALL(stories);
	story_open(&run, POD(GANG(ASKS("min-available", "2") ASKS("total-number", "6"))), NULL);
	assert_int_equal(run.result.expected, 6);
	story_close(&run);
}

#define KUEUE_POD(labels, annotations)                                                                                 \
	POD("labels: {kueue.x-k8s.io/pod-group-name: g" labels "}, annotations: {" annotations "}, ")
#define TOTAL(count) "kueue.x-k8s.io/pod-group-total-count: \"" count "\", "
#define LEVEL_OF(what, label) "kueue.x-k8s.io/podset-" what "topology: " label ", "
#define SLICES(size) LEVEL_OF("slice-required-", "rack") "kueue.x-k8s.io/podset-slice-size: \"" size "\", "

static void kueue(void **state)
{
	static const struct story stories[] = {
		{"all pods of the group", KUEUE_POD("", TOTAL("4")), "pg-g-kueue min=4"},
		{"no count", KUEUE_POD("", ""), "refused ! min-member-not-a-number"},
		{"no number", KUEUE_POD("", TOTAL("0")), "refused ! min-member-not-a-number"},
		{"a label of nodes is a level", KUEUE_POD("", TOTAL("4") LEVEL_OF("required-", "example.com/rack")),
	         "pg-g-kueue min=4@labels:example.com/rack,example.com/rack,"},
		{"preferred", KUEUE_POD("", TOTAL("4") LEVEL_OF("preferred-", "rack")),
	         "pg-g-kueue min=4@labels:rack,,rack"},
		{"in a Topology, where one is named", KUEUE_POD("", TOTAL("4") TOPOLOGY LEVEL_OF("required-", "rack")),
	         "pg-g-kueue min=4@topo,rack,"},
		{"both", KUEUE_POD("", TOTAL("4") LEVEL_OF("required-", "rack") LEVEL_OF("preferred-", "rack")),
	         "refused ! unsupported"},
		{"slices are segments",
	         KUEUE_POD(", kueue.x-k8s.io/pod-group-pod-index: \"3\"",
	                   TOTAL("4") LEVEL_OF("required-", "zone") SLICES("2")),
	         "pg-g-kueue min=4@labels:zone,zone, worker worker-0<worker:2@labels:rack,rack, "
	         "worker-1<worker:2@labels:rack,rack, -> worker-1 #1"},
		{"by a label of their own",
	         KUEUE_POD(", mine: \"0\"", TOTAL("2") SLICES("2") "kueue.x-k8s.io/pod-group-pod-index-label: mine, "),
	         "pg-g-kueue min=2 worker worker-0<worker:2@labels:rack,rack, -> worker-0 #0"},
		{"a pod without an index", KUEUE_POD("", TOTAL("2") SLICES("2")),
	         "pg-g-kueue min=2 worker worker-0<worker:2@labels:rack,rack, ! index-label-missing"},
		{"slices without a size", KUEUE_POD("", TOTAL("2") LEVEL_OF("slice-required-", "rack")),
	         "refused ! segment-size-invalid"},
		{"a size without slices", KUEUE_POD("", TOTAL("2") "kueue.x-k8s.io/podset-slice-size: \"2\", "),
	         "pg-g-kueue min=2 ! no-counterpart"},
		{"slices in slices",
	         KUEUE_POD("",
	                   TOTAL("2")
	                           LEVEL_OF("slice-required-",
	                                    "rack") "kueue.x-k8s.io/podset-slice-required-topology-constraints: x, "),
	         "refused ! unsupported"},
		{"what is lost",
	         KUEUE_POD(", kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: p",
	                   TOTAL("2") "kueue.x-k8s.io/podset-group-name: a, "
	                              "kueue.x-k8s.io/pod-group-fast-admission: \"true\""),
	         "pg-g-kueue min=2 ! no-counterpart no-counterpart no-counterpart no-counterpart"},
		{"a queue of ours", KUEUE_POD(", kueue.x-k8s.io/queue-name: q, kai.scheduler/queue: mine", TOTAL("2")),
	         "pg-g-kueue min=2"},
	};
	ALL(stories);
}

#define KUEUE_LEVEL(what, label) "kueue.x-k8s.io/podset-" what "topology: " label ", "
#define KUEUE_SLICES(size, label)                                                                                      \
	KUEUE_LEVEL("slice-required-", label) "kueue.x-k8s.io/podset-slice-size: \"" size "\", "
#define OF_JOB OWNED("batch/v1", "Job", "w")

/* The same words on templates of workloads that Kueue admits. */
static void kueue_on_templates(void **state)
{
	static const struct story stories[] = {
		{"a required level",
	         WORKLOAD("batch/v1", "Job", "", "parallelism: 3, " TEMPLATE(KUEUE_LEVEL("required-", "rack")))
	                 POD(OF_JOB "annotations: {" KUEUE_LEVEL("required-", "rack") "}, "),
	         "pg-w-u1 min=1@labels:rack,rack,"},
		{"a preferred one",
	         WORKLOAD("batch/v1", "Job", "", "parallelism: 3, " TEMPLATE(KUEUE_LEVEL("preferred-", "rack")))
	                 POD(OF_JOB),
	         "pg-w-u1 min=1@labels:rack,,rack"},
		{"of a Topology that is annotated",
	         WORKLOAD("batch/v1", "Job", "annotations: {" TOPOLOGY "}, ",
	                  "parallelism: 3, " TEMPLATE(KUEUE_LEVEL("required-", "rack"))) POD(OF_JOB),
	         "pg-w-u1 min=1@topo,rack,"},
		{"annotations of ours come first",
	         WORKLOAD("batch/v1", "Job",
	                  "annotations: {" TOPOLOGY "kai.scheduler/topology-required-placement: zone}, ",
	                  "parallelism: 3, " TEMPLATE(KUEUE_LEVEL("required-", "rack"))) POD(OF_JOB),
	         "pg-w-u1 min=1@topo,zone,"},
		{"slices are segments",
	         WORKLOAD("batch/v1", "Job", "annotations: {kai.scheduler/batch-min-member: \"4\"}, ",
	                  "completionMode: Indexed, parallelism: 4, completions: 4, " TEMPLATE(
				  KUEUE_LEVEL("required-", "zone") KUEUE_SLICES("2", "rack")))
	                 POD(OF_JOB "labels: {batch.kubernetes.io/job-completion-index: \"3\"}, "),
	         "pg-w-u1 min=4@labels:zone,rack,zone, worker worker-0<worker:2@labels:zone,rack,rack, "
	         "worker-1<worker:2@labels:zone,rack,rack, -> worker-1 #1"},
		{"each role of a JobSet has its own",
	         WORKLOAD("jobset.x-k8s.io/v1alpha2", "JobSet", "",
	                  "replicatedJobs: [{name: a, replicas: 1, template: {spec: {parallelism: 2, completions: "
	                  "2, " TEMPLATE(KUEUE_LEVEL("required-", "rack")) "}}}]")
	                 POD(OWNED("jobset.x-k8s.io/v1alpha2", "JobSet",
	                           "w") "labels: "
	                                "{jobset.sigs.k8s.io/replicatedjob-name: a, jobset.sigs.k8s.io/job-index: "
	                                "\"0\"}, "),
	         "pg-w-u1 min=2 a@labels:rack,rack, a-replica-0<a:2 -> a-replica-0"},
		{"each role of a training job, too",
	         WORKLOAD("kubeflow.org/v1", "PyTorchJob", "",
	                  "pytorchReplicaSpecs: {Worker: {replicas: 3, " TEMPLATE(
				  KUEUE_LEVEL("required-", "rack")) "}}")
	                 POD(OWNED("kubeflow.org/v1", "PyTorchJob", "w") "annotations: {" KUEUE_LEVEL(
				 "required-", "rack") "}, labels: {training.kubeflow.org/replica-type: worker}, "),
	         "pg-w-u1 min=3 worker:3@labels:rack,rack, -> worker"},
		{"where no part can have it, that is told",
	         WORKLOAD("example.com/v1", "Flow", "", "") POD(
			 OWNED("example.com/v1", "Flow", "w") "annotations: {" KUEUE_LEVEL("required-", "rack") "}, "),
	         "pg-w-u1 min=1 ! no-counterpart"},
		{"and so are slices inside of slices",
	         WORKLOAD("batch/v1", "Job", "", "parallelism: 3") POD(
			 OF_JOB "annotations: {kueue.x-k8s.io/podset-slice-required-topology-constraints: \"[]\"}, "),
	         "pg-w-u1 min=1 ! no-counterpart"},
	};
	ALL(stories);
}

static void queues_and_priorities(void **state)
{
	struct story_run run;
	story_open(&run, VOLCANO("g", "", "minMember: 1, queue: q, priorityClassName: high") POD(NAMES_VOLCANO("g")),
	           NULL);
	assert_string_equal(run.result.queue, "q");
	assert_string_equal(run.result.priority_class, "high");
	story_close(&run);
	/* What Volcano fills in is none. */
	story_open(&run, VOLCANO("g", "", "minMember: 1, queue: default") POD(NAMES_VOLCANO("g")), NULL);
	assert_string_equal(run.result.queue, "default-queue");
	story_close(&run);
	story_open(&run,
	           VOLCANO("g", "labels: {kai.scheduler/queue: mine}, ", "minMember: 1, queue: q")
	                   POD(NAMES_VOLCANO("g")),
	           NULL);
	assert_string_equal(run.result.queue, "mine");
	story_close(&run);
}

static bool serves_nothing(void *context, const char *api_version, const char *kind)
{
	return false;
}

static void a_kind_that_is_not_served(void **state)
{
	struct story_run run;
	struct group_result result;
	story_open(&run,
	           WORKLOAD("batch/v1", "Job", "", "parallelism: 3") POD(OWNED("batch/v1", "Job", "w") NAMES("g")),
	           NULL);
	run.source.is_served = serves_nothing;
	group_pod(run.pod, &run.source, NULL, run.arena, &result);
	assert_int_equal(result.verdict, GROUP_WANTED);
	assert_string_equal(result.name, "pg-w-u1");
	assert_int_equal(result.warning_count, 1);
	assert_string_equal(result.warnings[0].object, "Job ns/w");
	story_close(&run);
}

static void what_else_it_says(void **state)
{
	struct story_run run;
	story_open(&run,
	           COSCHEDULING("g", "labels: {kai.scheduler/preemptibility: non-preemptible}, ", "minMember: 2")
	                   WORKLOAD("batch/v1", "Job", LABEL_QUEUE, "") POD(OWNED("batch/v1", "Job", "w") NAMES("g")),
	           NULL);
	assert_string_equal(run.result.queue, "q");
	assert_string_equal(run.result.preemptibility, "non-preemptible");
	assert_string_equal(run.result.staleness_grace, "-1s");
	assert_string_equal(run.result.owner.kind, "PodGroup");
	assert_string_equal(run.result.owner.api_version, "scheduling.x-k8s.io/v1alpha1");
	assert_false(run.result.single);
	story_close(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coscheduling),          cmocka_unit_test(volcano),
		cmocka_unit_test(koordinator),           cmocka_unit_test(kueue),
		cmocka_unit_test(queues_and_priorities), cmocka_unit_test(a_kind_that_is_not_served),
		cmocka_unit_test(what_else_it_says),     cmocka_unit_test(kueue_on_templates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
