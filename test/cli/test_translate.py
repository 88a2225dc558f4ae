#!/usr/bin/env python3
"""`platoon translate`: what it prints, what it says is lost, and that what it prints says the same when it is read again.

    test_translate.py PLATOON SOURCE_ROOT [--update] [--seed N] [TEXT...]

Inputs are in translate/, golden outputs in golden/translate/; --update writes these anew. The last line is `N passed, M failed`.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from runner import run_tests, test

PLATOON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
WORDS = sys.argv[3:]
UPDATE = "--update" in WORDS
SEED = int(WORDS[WORDS.index("--seed") + 1]) if "--seed" in WORDS else 1
ONLY = [word for word in WORDS if not word.startswith("--") and not word.isdigit()]
INPUTS, GOLDEN = os.path.join("test", "cli", "translate"), os.path.join(ROOT, "test", "cli", "golden", "translate")
TARGETS = ("kai", "native", "volcano", "slurm")
LEVELS = ("example.com/block", "example.com/rack", "kubernetes.io/hostname")
TREES = 150


def run(*args, text=None):
    done = subprocess.run([PLATOON, "translate", *args], cwd=ROOT, input=text, capture_output=True, text=True, timeout=120,
                          check=False)
    return done.returncode, done.stdout, done.stderr


@test
def golden_outputs():
    wrong = []
    for name in sorted(os.listdir(os.path.join(ROOT, INPUTS))):
        for target in TARGETS:
            code, out, err = run("-f", os.path.join(INPUTS, name), "--to", target)
            assert code == (1 if err else 0), (name, target, code, err)
            text = f"# exit {code}\n" + "".join(f"# {line}\n" for line in err.splitlines()) + out
            path = os.path.join(GOLDEN, f"{os.path.splitext(name)[0]}.{target}.txt")
            if UPDATE:
                os.makedirs(GOLDEN, exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            with open(path, encoding="utf-8") as file:
                if file.read() != text:
                    wrong.append(path)
    assert not wrong, f"differ: {wrong}"


@test
def scripts_are_shell():
    for name in sorted(os.listdir(os.path.join(ROOT, INPUTS))):
        script = run("-f", os.path.join(INPUTS, name), "--to", "slurm")[1]
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


@test
def json_is_one_list():
    gang = os.path.join(INPUTS, "gang.yaml")
    code, out, err = run("-f", gang, "--to", "kai", "-o", "json")
    items = json.loads(out)["items"]
    assert code == 0 and not err and [item["kind"] for item in items] == ["PodGroup", "Pod", "Pod"], (code, out, err)
    assert run("-f", gang, "--to", "kai", "-o", "yaml") == run("-f", gang, "--to", "kai")


@test
def wrong_usage():
    gang = os.path.join(INPUTS, "gang.yaml")
    for args, words in (
            (("-f", gang), "--to is missing: use one of: kai native volcano slurm"),
            (("-f", gang, "--to", "pbs"), "--to pbs: use one of: kai native volcano slurm"),
            (("--to", "kai"), "give at least one file, folder or - with -f"),
            (("-f", gang, "--to", "slurm", "-o", "json"), "what --to slurm prints is a script"),
            (("-f", gang, "--to", "kai", "-o", "wide"), "not a format"),
            (("-f", "/nonexistent", "--to", "kai"), "/nonexistent")):
        code, out, err = run(*args)
        assert (code, out) == (2, "") and words in err, (args, code, out, err)


@test
def nothing_to_translate():
    code, out, err = run("-f", "-", "--to", "kai", text="{apiVersion: v1, kind: Node, metadata: {name: n1}}")
    assert (code, out) == (1, "") and "no group among the objects" in err, (code, out, err)


@test
def what_is_wrong_is_left_out():
    """All problems are named, with their paths, and what is right is translated."""
    text = """
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: bad}
spec: {minMember: -1, subGroups: [{name: UP, minMember: x}]}
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: none}
spec: {minMember: many}
---
apiVersion: v1
kind: Pod
metadata: {name: lost, annotations: {pod-group-name: good}, labels: {kai.scheduler/subgroup-name: typo}}
spec: {containers: [{name: main, image: a}]}
---
apiVersion: v1
kind: Pod
metadata: {name: seeks, labels: {scheduling.x-k8s.io/pod-group: nowhere}}
spec: {containers: [{name: main, image: a}]}
---
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: good}
spec: {subGroups: [{name: a, minMember: 1}]}
"""
    code, out, err = run("-f", "-", "--to", "kai", "-o", "json", text=text)
    names = [item["metadata"]["name"] for item in json.loads(out)["items"]]
    assert code == 1 and names == ["good"], (code, names, err)
    for words in ("error: PodGroup bad: spec.minMember", "error: PodGroup bad: spec.subGroups[0].name",
                  "error: PodGroup bad: spec.subGroups[0].minMember", "error: PodGroup none: spec.minMember",
                  "error: Pod lost: metadata.labels[kai.scheduler/subgroup-name]", 'there is no PodGroup "nowhere"'):
        assert words in err, (words, err)


# ---- what was printed is read again ----

def random_leaf(chance, name):
    return {"name": name, "minMember": chance.choice((0, 1, 1, 2, 3))}


def constrain(chance, part):
    if chance.random() < 0.3:
        part["topologyConstraint"] = {"topology": "cluster", chance.choice(
            ("requiredTopologyLevel", "requiredTopologyLevel", "preferredTopologyLevel")): chance.choice(LEVELS)}
    return part


def random_group(chance, name):
    """A PodGroup with subgroups up to three levels deep, and its pods: as many as each leaf needs, or more."""
    spec, leaves, numbers = constrain(chance, {}), [], iter(range(100))

    def add(parent, depth):
        part = {"name": f"s{next(numbers)}"}
        if parent:
            part["parent"] = parent
        if depth > 1 and chance.random() < 0.4:
            spec["subGroups"].append(constrain(chance, part))
            children = [add(part["name"], depth - 1) for _ in range(chance.randint(1, 3))]
            part["minSubGroup"] = chance.choice((len(children), len(children), chance.randint(0, len(children))))
        else:
            part.update(minMember=random_leaf(chance, "")["minMember"])
            spec["subGroups"].append(constrain(chance, part))
            leaves.append(part)
        return part

    if chance.random() < 0.3:
        spec["minMember"] = chance.randint(1, 4)
        leaves.append(spec)
    else:
        spec["subGroups"] = []
        children = [add(None, 3) for _ in range(chance.randint(1, 4))]
        spec["minSubGroup"] = chance.choice((len(children), len(children), chance.randint(0, len(children))))
    if chance.random() < 0.2:
        spec["priorityClassName"] = "inference"
    docs = [{"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": name, "namespace": name},
             "spec": spec}]
    for leaf in leaves:
        for number in range(leaf["minMember"] + chance.choice((0, 0, 1))):
            labels = {"kai.scheduler/subgroup-name": leaf["name"]} if "name" in leaf else {}
            docs.append({"apiVersion": "v1", "kind": "Pod", "metadata": {
                "name": f"{name}-{leaf.get('name', 'pod')}-{number}", "namespace": name, "labels": labels,
                "annotations": {"pod-group-name": name}}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}})
    return docs


TOPOLOGY = {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "cluster"},
            "spec": {"levels": [{"nodeLabel": label} for label in LEVELS]}}
CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "inference"}, "value": 125}


def trees_of(text):
    """Of each group the parts with what they ask for, by path of names without that of the group before them."""
    items, trees = json.loads(text)["items"], {}
    for item in items:
        if item["kind"] != "PodGroup":
            continue
        group, spec = item["metadata"]["name"], item["spec"]
        prefix, parts = group + "-", {part["name"]: part for part in spec.get("subGroups", [])}

        def short(name):
            return name[len(prefix):] if name.startswith(prefix) else name

        def path(name):
            parent = parts[name].get("parent")
            return (path(parent) if parent else ()) + (short(name),)

        def asks(part):
            constraint = part.get("topologyConstraint", {})
            return (part.get("minMember"), part.get("minSubGroup"), constraint.get("requiredTopologyLevel"),
                    constraint.get("preferredTopologyLevel"))
        tree = {(): asks(spec), "class": spec.get("priorityClassName")}
        tree.update({path(name): asks(part) for name, part in parts.items()})
        for pod in items:
            if pod["kind"] == "Pod" and pod["metadata"].get("namespace") == item["metadata"].get("namespace"):
                leaf = pod["metadata"].get("labels", {}).get("kai.scheduler/subgroup-name")
                tree["pod", pod["metadata"]["name"]] = short(leaf) if leaf else None
        trees[item["metadata"]["namespace"]] = tree
    return trees


@test
def what_loses_nothing_says_the_same_again():
    chance = random.Random(SEED)
    docs = [doc for number in range(TREES) for doc in random_group(chance, f"g{number}")]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [TOPOLOGY, CLASS, *docs]})
    code, out, err = run("-f", "-", "--to", "kai", "-o", "json", text=text)
    assert code == 0, err
    wanted = trees_of(out)
    assert len(wanted) == TREES
    for target, least in (("kai", TREES), ("native", TREES // 10), ("volcano", TREES // 10)):
        _, out, err = run("-f", "-", "--to", target, "-o", "json", text=text)
        lossy = set(re.findall(r": PodGroup (g\d+)/", err))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(json.dumps({"apiVersion": "v1", "kind": "List", "items": [TOPOLOGY, CLASS] + json.loads(out)["items"]}))
            file.flush()
            _, out, err = run("-f", file.name, "--to", "kai", "-o", "json")
        got, exact = trees_of(out), sorted(set(wanted) - lossy)
        assert len(exact) >= least, f"{target}: only {len(exact)} of {TREES} lose nothing"
        for name in exact:
            assert got.get(name) == wanted[name], f"{target}, seed {SEED}, {name}:\n{wanted[name]}\nbecame\n{got.get(name)}\n{err[:1000]}"


if __name__ == "__main__":
    run_tests(ONLY)
