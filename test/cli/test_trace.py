#!/usr/bin/env python3
"""Traces and recorded clusters: what the replay measures, and the page it writes.

    test_trace.py PLATOON SOURCE_ROOT [NAME...]

All tables are made here. The last line is `N passed, M failed`.
"""
import html.parser
import json
import os
import random as chance
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from runner import run_tests, test  # noqa: E402

PLATOON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ONLY = sys.argv[3:]
SCRATCH = tempfile.TemporaryDirectory()


def file(name, text):
    path = os.path.join(SCRATCH.name, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def run(*args, code=0):
    done = subprocess.run([PLATOON, "simulate", *args], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, f"{args}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def replay(*args):
    data = json.loads(run(*args, "-o", "json"))
    return data["policies"][0] if len(data["policies"]) == 1 else data["policies"]


def table(*rows, columns="name,gang,gpu,arrival,duration"):
    return file("trace.csv", columns + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))


def gang(name, pods, gpus, arrival, duration):
    return [(f"{name}-{i}", name, gpus, arrival, duration) for i in range(pods)]


NODES = file("nodes.csv", "node_name,gpu_capacity_num,cpu_num\na,4,64\nb,4,64\n")


@test
def a_gang_waits_for_the_one_before_it():
    """Eight GPUs. One gang takes all of them for 100 s, the next one comes after 20 s and runs for 60."""
    result = replay(table(*gang("first", 8, 1, 0, 100), *gang("second", 8, 1, 20, 60)), "--nodes-file", NODES)
    assert (result["gangs"], result["placed"], result["bound"]) == (2, 2, 16), result
    assert result["longestWaitSeconds"] == 80 and result["medianWaitSeconds"] == 0, result
    assert result["gpuThousandths"] == 1000, "160 seconds, all in use"
    sizes = {size["pods"]: size for size in result["waitsBySize"]}
    assert sizes["5-8"]["gangs"] == 2 and sizes["5-8"]["longestSeconds"] == 80
    assert sizes["1"]["gangs"] == 0


@test
def no_part_of_a_gang_runs_alone():
    """Five of eight GPUs are taken: a gang of four waits though three are free, a single pod does not."""
    rows = gang("big", 5, 1, 0, 100) + gang("four", 4, 1, 10, 10) + gang("one", 1, 1, 20, 10)
    result = replay(table(*rows), "--nodes-file", NODES)
    sizes = {size["pods"]: size for size in result["waitsBySize"]}
    assert sizes["2-4"]["longestSeconds"] == 90 and sizes["1"]["longestSeconds"] == 0, result["waitsBySize"]


@test
def use_and_fragmentation_are_means_over_time():
    """Half of the time one GPU of eight is used: 62 thousandths, and three of the seven free are on a broken node."""
    rows = [("x", "g", 1, 0, 50), ("y", "h", 0, 0, 100)]
    result = replay(table(*rows), "--nodes-file", NODES)
    assert result["gpuThousandths"] == 62, result["gpuThousandths"]
    # 3 broken of 7 free for 50 s, 0 of 8 for 50 s: 150 of 750.
    assert result["fragmentedThousandths"] == 200, result["fragmentedThousandths"]
    assert result["series"][0]["gpuThousandths"] == 125 and result["series"][-1]["gpuThousandths"] == 0
    assert len(result["series"]) == 240


def count_independently(gangs, gpus):
    """One node, allocate only, everybody in the order of arrival and name: what the replay must measure, counted by hand.
    A gang is (name, pods, arrival, duration)."""
    free, waiting, ends, spans, waits, now = gpus, [], [], [], {}, 0
    todo = sorted(gangs, key=lambda each: (each[2], each[0]))
    while todo or ends:
        time_of_next = min([todo[0][2]] if todo else [], default=None)
        if ends and (time_of_next is None or min(ends)[0] < time_of_next):
            time_of_next = min(ends)[0]
        spans.append((now, time_of_next, gpus - free, sum(each[1] for each in waiting)))
        now = time_of_next
        for end in [each for each in ends if each[0] == now]:
            ends.remove(end)
            free += end[1]
        while todo and todo[0][2] == now:
            waiting.append(todo.pop(0))
        for each in list(waiting):
            if each[1] <= free:
                waiting.remove(each)
                free -= each[1]
                waits[each[0]] = now - each[2]
                ends.append((now + each[3], each[1]))
    return spans, waits, now


def thousandths(part, whole):
    return part * 1000 // whole if whole else 0


@test
def the_numbers_are_those_of_an_independent_count():
    gpus = 8
    node = file("one.csv", f"node_name,gpu_capacity_num,cpu_num\na,{gpus},64\n")
    for seed in range(5):
        random = chance.Random(seed)
        gangs = [(f"g{i}", random.choice((1, 1, 2, 3, 5, 8)), random.randrange(3000), random.randrange(1, 400)) for i in range(60)]
        spans, waits, length = count_independently(gangs, gpus)
        rows = [row for name, pods, arrival, duration in gangs for row in gang(name, pods, 1, arrival, duration)]
        result = replay(table(*rows), "--nodes-file", node, "--actions", "allocate")

        def over(begin, end, value):
            return sum(value(used, waiting) * max(0, min(end, b) - max(begin, a)) for a, b, used, waiting in spans)

        def share(begin, end):
            free = over(begin, end, lambda used, _: gpus - used)
            broken = over(begin, end, lambda used, _: gpus - used if used else 0)
            return thousandths(over(begin, end, lambda used, _: used), gpus * (end - begin)), thousandths(broken, free)

        assert (result["gpuThousandths"], result["fragmentedThousandths"]) == share(0, length), seed
        assert result["placed"] == len(gangs) and result["evicted"] == result["moved"] == 0
        for size in result["waitsBySize"]:
            low, high = (int(each or 10**9) for each in (re.split("[-+]", size["pods"]) * 2)[:2])
            own = sorted(waits[name] for name, pods, _, _ in gangs if low <= pods <= high)
            count = len(own)
            wanted = (own[(count - 1) // 2], own[(count - 1) * 9 // 10], own[-1]) if own else (0, 0, 0)
            got = (size["medianSeconds"], size["p90Seconds"], size["longestSeconds"])
            assert (size["gangs"], size["placed"], got) == (count, count, wanted), (seed, size)
        for i, bucket in enumerate(result["series"]):
            begin, end = length * i // 240, length * (i + 1) // 240
            assert (bucket["gpuThousandths"], bucket["fragmentedThousandths"]) == share(begin, end), (seed, i, bucket)
            assert bucket["waitingPods"] == over(begin, end, lambda _, waiting: waiting) // (end - begin), (seed, i)


@test
def what_is_deleted_leaves():
    columns = "instance_sn,app_name,role,gpu_request,creation_time,deletion_time"
    rows = [("a", "s", "CN", 4, "", 30), ("b", "s", "HN", 4, "", 40), ("c", "t", "", 8, 10, 20), ("d", "u", "", 4, 35, "")]
    result = replay(table(*rows, columns=columns), "--nodes-file", NODES)
    assert (result["placed"], result["withdrawn"], result["waiting"]) == (2, 1, 0), result
    assert result["longestWaitSeconds"] == 0


@test
def what_has_left_is_not_waited_for():
    """Eight GPUs are taken until second 50. A gang of three waits; one of them is deleted at 30: the other two start at 50.
    Which role it is of makes no difference."""
    columns = "instance_sn,app_name,role,gpu_request,creation_time,deletion_time"
    rows = [("big-0", "big", "", 4, "", 50), ("big-1", "big", "", 4, "", 50)]
    for first in ("left", "right"):
        later = [("a", "svc", "left", 1, 10, 30 if first == "left" else 90), ("b", "svc", "right", 1, 10, 90),
                 ("c", "svc", "right", 1, 10, 90 if first == "left" else 30)]
        result = replay(table(*rows, *later, columns=columns), "--nodes-file", NODES)
        assert (result["placed"], result["withdrawn"], result["bound"]) == (2, 0, 4), (first, result)
        assert result["longestWaitSeconds"] == 40, result["longestWaitSeconds"]


@test
def what_is_still_to_come_is_waited_for():
    """A pod of a recorded gang is lost and comes back under another name: until then the minimum is what it was."""
    def pod(name, arrives, leaves):
        return (f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, annotations: {{pod-group-name: g, platoon.dev/arrives: '{arrives}', "
                f"platoon.dev/leaves: '{leaves}'}}}}, spec: {{schedulerName: platoon, containers: [{{name: m, image: x, resources: "
                f"{{limits: {{nvidia.com/gpu: 2}}}}}}]}}}}\n---\n")
    for spec in ("minMember: 2", "minMember: 2, subGroups: [{name: s, minMember: 2}]", "subGroups: [{name: up}, {name: s, parent: up, minMember: 2}]"):
        label = "labels: {kai.scheduler/subgroup-name: s}, annotations:"
        pods = pod("a", 0, 10) + pod("b", 0, 100) + pod("c", 40, 100)
        pods = pods.replace("annotations:", label) if "subGroups" in spec else pods
        node = "{apiVersion: v1, kind: Node, metadata: {name: one}, status: {allocatable: {cpu: 64, pods: 10, nvidia.com/gpu: 4}}}\n---\n"
        group = (f"{{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {{name: g, annotations: {{platoon.dev/arrives: '0'}}}}, "
                 f"spec: {{queue: default-queue, {spec}}}}}\n---\n")
        path = file("cluster.yaml", node + group + pods)
        result = replay(path, "--actions", "allocate")
        assert (result["placed"], result["bound"], result["waiting"]) == (1, 3, 0), (spec, result)
        # The gang is all of the cluster but for 30 s, in which it has lost a half, and nothing waits.
        assert result["gpuThousandths"] == 850, (spec, result["gpuThousandths"])


@test
def a_number_per_node_is_kept():
    columns = "name,gang,gpu,cpu,max_instance_per_node,duration"
    rows = [(f"p{i}", f"g{i}", 1, 1, 1, 10) for i in range(3)]
    result = replay(table(*rows, columns=columns), "--nodes-file", NODES)
    assert result["longestWaitSeconds"] == 0, "three groups are not in each other's way"
    rows = [(f"p{i}", "same", 1, 1, 1, 10) for i in range(3)]
    result = replay(table(*rows, columns=columns), "--nodes-file", NODES)
    assert result["placed"] == 0 and result["waiting"] == 1, "three on two nodes, one each"
    rows = [(f"p{i}", "same", 1, 1, -1, 10) for i in range(3)]
    assert replay(table(*rows, columns=columns), "--nodes-file", NODES)["placed"] == 1


@test
def policies_are_compared():
    """Two halves of nodes are free; only by moving a pod a whole node becomes so."""
    rows = (gang("left", 1, 3, 0, 1000) + gang("right", 1, 3, 0, 1000) + gang("small", 1, 1, 1, 1000) +
            gang("tiny", 1, 1, 1, 20))
    rows += gang("short", 1, 4, 30, 10)
    both = replay(table(*rows), "--nodes-file", NODES, "--compare", "allocate")
    assert [policy["policy"] for policy in both] == ["all actions", "allocate"]
    assert both[1]["moved"] == both[1]["evicted"] == 0
    assert both[0]["placed"] == both[1]["placed"] == 5
    text = run(table(*rows), "--nodes-file", NODES, "--compare", "allocate", "--actions", "allocate,consolidate")
    assert "allocate, consolidate" in text and "POLICY" in text


@test
def strategies_are_compared():
    """Two nodes of four devices: packed, the second pod leaves a whole node to the wide one."""
    rows = gang("one", 1, 1, 0, 100) + gang("two", 1, 1, 1, 100) + gang("wide", 1, 4, 2, 10)
    for compare, more in (("binpack,spread", ()), ("spread", ()), ("spread", ("--placement", "binpack"))):
        packed, apart = replay(table(*rows), "--nodes-file", NODES, "--compare", compare, "--actions", "allocate", *more)
        assert packed["policy"] == "binpack, allocate" and apart["policy"] == "spread, allocate", (packed, apart)
        assert packed["longestWaitSeconds"] == 0 and apart["longestWaitSeconds"] >= 98, "the wide one waits for an end"
    alone = replay(table(*rows), "--nodes-file", NODES, "--placement", "gpu=spread", "--actions", "allocate")
    assert alone["longestWaitSeconds"] >= 98 and alone["policy"] == "gpu=spread, allocate"


class Page(html.parser.HTMLParser):
    VOID = {"meta", "input", "line", "rect"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.outside = [], {}, []
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.outside += [value for name, value in attrs if name in ("src", "href", "srcset", "action") and value]
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> after {self.open[-3:]}"
        self.open.pop()


@test
def the_page_is_whole_and_alone():
    out = os.path.join(SCRATCH.name, "page.html")
    args = ("examples/trace.csv", "--nodes", "1x2x8", "--compare", "allocate", "--report", out)
    text = run(*args)
    assert f"The report is in {out}" in text
    with open(out, encoding="utf-8") as page:
        first = page.read()
    run(*args)
    with open(out, encoding="utf-8") as page:
        assert page.read() == first, "the same input gives the same bytes"
    page = Page(first)
    assert page.outside == [] and "http:" not in first and "https:" not in first and "url(" not in first
    assert page.tags["polyline"] == 10, "five charts of two policies"
    assert first.count("<title>z1-") == 2 * 16 and 'class="tick" x="0" y="8">z1<' in first
    frames = json.loads("[" + re.search(r"const frames = \[(.*?)\];\nconst times", first, re.S).group(1) + "]")
    assert [len(policy) for policy in frames] == [49, 49]
    cpus = json.loads("[" + re.search(r"const cpus = \[(.*?)\];\n", first, re.S).group(1) + "]")
    assert all(len(frame) == 16 and set(frame) <= set("0123456789-") for policy in frames + cpus for frame in policy)
    assert frames != cpus and [len(policy) for policy in cpus] == [49, 49]
    data = json.loads(run(*args[:-2], "-o", "json"))
    for policy in data["policies"]:
        assert f"{policy['placed']} of {policy['gangs']}" in first
        share = policy["gpuThousandths"]
        assert f"{share // 10}.{share % 10} %" in first


@test
def a_page_says_what_there_was_not():
    """Nothing waits, nothing leaves: a sentence in place of a line at zero. Sizes without gangs, and bars of nothing, neither."""
    out = os.path.join(SCRATCH.name, "quiet.html")
    run(table(*gang("g", 2, 1, 0, 100)), "--nodes-file", NODES, "--report", out)
    with open(out, encoding="utf-8") as page:
        text = page.read()
    assert Page(text).tags["polyline"] == 3 - 1, "GPUs and fragmentation; the pods ask for no CPU"
    assert text.count("None in the whole time.") == 3
    assert 'scope="rowgroup">2-4<' in text and 'scope="rowgroup">65+<' not in text and 'class="bar"' not in text


@test
def names_do_not_become_markup():
    out = os.path.join(SCRATCH.name, "evil.html")
    nodes = file("evil.yaml", "{apiVersion: v1, kind: Node, metadata: {name: 'n</title><script>alert(1)</script>'}, "
                 "status: {allocatable: {cpu: 4, pods: 10}}}\n")
    run(table(("p", "g", 0, 0, 5)), "--nodes-file", nodes, "--report", out)
    with open(out, encoding="utf-8") as page:
        text = page.read()
    assert "<script>alert" not in text and "&lt;script&gt;" in text
    Page(text)


@test
def objects_are_replayed():
    """What `kubectl get -o yaml` shows: pods come in the order in which they were made, and run where the engine says."""
    def pod(name, made, gpus, extra=""):
        return (f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, creationTimestamp: '2026-01-01T00:{made}:00Z'{extra}}}, "
                f"spec: {{nodeName: gone, schedulerName: platoon, containers: [{{name: m, image: x, resources: {{limits: "
                f"{{nvidia.com/gpu: {gpus}}}}}}}]}}, status: {{phase: Running}}}}\n---\n")
    path = file("cluster.yaml",
                "{apiVersion: v1, kind: Node, metadata: {name: one}, status: {allocatable: {cpu: 64, pods: 10, nvidia.com/gpu: 4}}}\n---\n"
                + pod("late", "10", 4) + pod("early", "05", 4, ", annotations: {platoon.dev/run-seconds: '600'}"))
    out = os.path.join(SCRATCH.name, "cluster.html")
    run(path, "--report", out)
    result = replay(path, "--compare", "allocate")[0]
    assert (result["pods"], result["bound"]) == (2, 2), result
    assert result["gpuThousandths"] == 1000
    # 300 s between them, and the first runs for 600.
    assert result["series"][0]["waitingPods"] == 0 and result["series"][-1]["waitingPods"] == 1


SECRET = """
apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {name: secret-halls}
spec: {levels: [{nodeLabel: secret.corp/hall}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: secret-team, labels: {secret-label: secret}}
spec: {displayName: secret, resources: {gpu: {quota: 8, limit: -1, overQuotaWeight: 1}, cpu: {limit: -1}, memory: {limit: -1}}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: secret-urgent}
value: 90
description: secret
---
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: secret-gang, namespace: default, creationTimestamp: "2031-02-03T04:05:06Z", annotations: {secret: secret}}
spec:
  queue: secret-team
  priorityClassName: secret-urgent
  subGroups:
  - {name: secret-left, minMember: 1, topologyConstraint: {topology: secret-halls, requiredTopologyLevel: secret.corp/hall}}
  - {name: secret-right, minMember: 1}
"""
for part in ("left", "right"):
    SECRET += f"""---
apiVersion: v1
kind: Pod
metadata:
  name: secret-{part}-0
  namespace: default
  creationTimestamp: "2031-02-03T04:05:06Z"
  labels: {{app: secret, kai.scheduler/subgroup-name: secret-{part}}}
  annotations: {{pod-group-name: secret-gang, secret.corp/note: secret, kubectl.kubernetes.io/last-applied: secret}}
  ownerReferences: [{{apiVersion: batch/v1, kind: Job, name: secret, uid: secret}}]
spec:
  schedulerName: platoon
  serviceAccountName: secret
  hostname: secret
  nodeSelector: {{secret.corp/model: secret-a}}
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {{topologyKey: secret.corp/hall, labelSelector: {{matchLabels: {{app: secret-other}}}}}}
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{{matchExpressions: [{{key: secret.corp/model, operator: NotIn, values: [secret-b]}}]}}]
  tolerations: [{{key: secret.corp/taint, operator: Equal, value: secret, effect: NoSchedule}}]
  containers:
  - name: secret
    image: secret.corp/secret:secret
    command: [secret]
    env: [{{name: SECRET, value: secret}}]
    resources: {{limits: {{nvidia.com/gpu: 4, secret.corp/chip: 1}}, requests: {{cpu: 2}}}}
status: {{phase: Pending, message: secret, conditions: [{{type: PodScheduled, status: "False", message: secret}}]}}
"""
for number in range(4):
    SECRET += f"""---
apiVersion: v1
kind: Node
metadata:
  name: secret-node-{number}
  labels: {{secret.corp/hall: secret-hall-{number // 2}, secret.corp/model: secret-a, kubernetes.io/hostname: secret-node-{number}}}
spec: {{providerID: secret, taints: [{{key: secret.corp/taint, value: secret, effect: NoSchedule}}]}}
status:
  allocatable: {{cpu: 16, memory: 64Gi, pods: 10, nvidia.com/gpu: 4, secret.corp/chip: 2}}
  addresses: [{{type: InternalIP, address: secret}}]
  nodeInfo: {{machineID: secret}}
  conditions: [{{type: Ready, status: "True", message: secret}}]
"""


def platoon(*args, text=None):
    done = subprocess.run([PLATOON, *args], cwd=ROOT, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{args}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def shape(plan):
    """A plan without names: what happens to each group, and how its pods share nodes."""
    groups = sorted((group["state"], group["placed"], group["minimum"]) for group in plan["groups"])
    nodes = {}
    for binding in plan["bindings"]:
        nodes[binding["node"]] = nodes.get(binding["node"], 0) + 1
    return groups, sorted(nodes.values())


@test
def a_record_tells_no_names():
    path = file("secret.yaml", SECRET)
    for form in ("json", "yaml"):
        text = platoon("record", "-f", path, "-o", form)
        assert "secret" not in text.lower(), re.findall(".*secret.*", text, re.I)[:5]
        assert "2031" not in text, "nor when it was"
        assert "default" not in re.sub("default-scheduler|globalDefault", "", text)
    assert platoon("record", "-f", path) != platoon("record", "-f", path), "the salt is new each time"


@test
def a_record_is_planned_like_the_cluster():
    for source in (file("secret.yaml", SECRET), "examples/first-gang.yaml", "examples/nested-levels.yaml", "examples/elastic.yaml"):
        want = shape(json.loads(platoon("plan", "-f", source, "-o", "json")))
        text = platoon("record", "-f", source)
        assert shape(json.loads(platoon("plan", "-f", "-", "-o", "json", text=text))) == want, source
        assert want[1], f"{source}: nothing is placed"


@test
def a_record_of_a_live_cluster_is_replayed():
    folder = os.path.join(SCRATCH.name, "up")
    up = subprocess.Popen([PLATOON, "up", "--in-memory", "--data-dir", folder, "--port", "0", "-f", "examples/up-gang.yaml",
                           "-f", "examples/up-impossible.yaml"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        for line in up.stdout:
            if "get podgroups" in line:
                break
        config = os.path.join(folder, "kubeconfig")
        end = time.monotonic() + 60
        while time.monotonic() < end and json.loads(platoon("top", "-o", "json", "--kubeconfig", config))["bound"] < 4:
            time.sleep(0.5)
        text = platoon("record", "--kubeconfig", config)
    finally:
        up.terminate()
        up.wait(timeout=30)
        up.stdout.close()
    for name in ("pretrain", "too-wide", "z1-r1", "example.com"):
        assert name not in text, name
    path = file("recorded.json", text)
    state = json.loads(platoon("top", "-o", "json", "-f", path))
    assert (state["bound"], state["pods"], state["used"]) == (4, 9, 32), state
    result = replay(path, "--compare", "allocate")[0]
    assert (result["gangs"], result["placed"], result["waiting"], result["bound"]) == (2, 1, 1, 4), result


def kubectl(config, *args, text=None):
    subprocess.run(["kubectl", "--kubeconfig", config, *args], input=text, text=True, check=True, capture_output=True)


@test
def a_period_is_recorded_whatever_ends_it():
    """What arrives and leaves while it is recorded is in the file at once: it is killed without warning."""
    folder, path = os.path.join(SCRATCH.name, "period"), os.path.join(SCRATCH.name, "period.json")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "secret", "namespace": "default"},
           "spec": {"schedulerName": "platoon", "containers": [
               {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}
    up = subprocess.Popen([PLATOON, "up", "--in-memory", "--data-dir", folder, "--port", "0", "-f", "examples/up-gang.yaml"],
                          cwd=ROOT, stdout=subprocess.PIPE, text=True)
    record = None

    def wait_for(what, count):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with open(path, encoding="utf-8") as lines:
                whole = [json.loads(line) for line in lines if line.endswith("\n")]
            if sum(what(item) for item in whole) >= count:
                return whole
            time.sleep(0.2)
        raise AssertionError(f"never {count} of them; the file has {len(whole)} objects")

    try:
        for line in up.stdout:
            if "get podgroups" in line:
                break
        config = os.path.join(folder, "kubeconfig")
        with open(path, "w", encoding="utf-8") as out:
            record = subprocess.Popen([PLATOON, "record", "--for", "ever", "--kubeconfig", config], stdout=out,
                                      stderr=subprocess.DEVNULL)
        wait_for(lambda item: item["kind"] == "Pod", 4)
        for count in (5, 6):  # twice the same name: two pods
            kubectl(config, "apply", "-f", "-", text=json.dumps(pod))
            kubectl(config, "wait", "--for=condition=Ready", "pod/secret", "--timeout=60s")
            wait_for(lambda item: item["kind"] == "Pod", count)
            kubectl(config, "delete", "pod", "secret")
        whole = wait_for(lambda item: item["kind"] == "Departure", 2)
        record.kill()
    finally:
        for process in (record, up):
            if process:
                process.terminate()
                process.wait(timeout=30)
        up.stdout.close()
    assert "secret" not in json.dumps(whole) and "pretrain" not in json.dumps(whole)
    ends = [item for item in whole if item["kind"] == "Departure"]
    assert len({item["metadata"]["name"] for item in ends}) == 2 and all("leaves" in item for item in ends), ends
    result = replay(path, "--compare", "allocate")[0]
    assert (result["pods"], result["bound"], result["waiting"]) == (6, 6, 0), (result["bound"], result["waiting"])
    for wrong in (["--for", "0s"], ["--for", "soon"], ["--for", "1s", "-f", "examples/up-gang.yaml"], ["--for", "1s", "-o", "yaml"]):
        done = subprocess.run([PLATOON, "record", *wrong], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "--for" in done.stderr, (wrong, done.stderr)


@test
def bad_tables_are_explained():
    cases = [
        ("", "there is nothing to replay"),
        ("name\nx\n", "names no column app_name"),
        ("name,gang,gpu\nx,g,many\ny,g,-1\n", "trace.csv:3: error: \"-1\" is no gpu_request"),
        ("name,gang\nx,g\nx,h\n", "the name x stands above already"),
        ("name,gang\nx,\n", "the app_name is missing"),
        ("name,gang,arrival\nx,g,9999999999999999999\n", "is no creation_time"),
        ("name,gang,max_instance_per_node\nx,g,-2\n", "is no max_instance_per_node"),
    ]
    for text, wanted in cases:
        said = run(file("trace.csv", text), code=2)
        assert wanted in said, f"{text!r}: {said}"
    assert "no such" in run("/nonexistent.csv", code=2).lower()
    assert "a Scenario is no trace" in run("test/scenarios/two-racks.yaml", "--report", "x.html", code=2)
    assert "not for --seeds" in run("--seeds", "1", "--report", "x.html", code=2)
    trace = table(*gang("g", 1, 1, 0, 1))
    assert "Is a directory" in run(trace, "--report", SCRATCH.name, code=2)
    for compare in ("nothing", "", "binpack,allocate", "allocate,spread", "spread,spread", "binpack,spread,binpack", "binpack"):
        assert "--compare " + compare in run(trace, "--compare", compare, code=2)


if __name__ == "__main__":
    run_tests(ONLY, SCRATCH.cleanup)
