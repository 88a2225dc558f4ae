#!/usr/bin/env python3
"""`platoon install` without a cluster: the manifests are the chart, rendered; wrong usage is told.

    test_install.py PLATOON SOURCE_ROOT

The last line is `N passed, M failed`.
"""
import filecmp
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml

PLATOON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
CHART = os.path.join(ROOT, "deploy", "chart")
ORDER = ["namespace", "definitions", "rbac", "priorities", "deployment", "webhooks", "monitor"]
ACTION = re.compile(r"(\s*)\{\{(-?)\s*(.*?)\s*\}\}")
RANGE = re.compile(r"\s*\{\{- range (\S+) \}\}(.*?)\{\{- end \}\}", re.S)
TEMPLATES = ORDER[:3] + ["rights"] + ORDER[3:]  # the rights, made from the registry, are part of rbac
RESULTS = []


def run(*args):
    return subprocess.run([PLATOON, *args], check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def check(what, good, seen=""):
    RESULTS.append(bool(good))
    if not good:
        print(f"FAIL {what}: {str(seen)[:2000]}")


# ---- the part of Helm's language that the chart uses, written from its documentation ----

def look_up(path, scope):
    at = scope
    for key in path.strip(".").split("."):
        at = at[key]
    return at


def is_true(value):
    return value not in (False, None, "", 0, [], {})


def render_value(expression, scope):
    path, _, function = (part.strip() for part in expression.partition("|"))
    value = look_up(path, scope)
    if function == "toJson":
        return json.dumps(value, separators=(",", ":"))
    assert not function, function
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def unroll(text, scope):
    """Ranges, none of which has another block in it."""
    return RANGE.sub(lambda match: "".join(render(match.group(2).rstrip(), item) for item in look_up(match.group(1), scope)), text)


def render(text, scope):
    out, stack, at = [], [], 0
    text = unroll(text, scope)
    for match in ACTION.finditer(text):
        blank, trim, action = match.groups()
        if all(stack):
            out.append(text[at:match.start()] + ("" if trim else blank))
        at = match.end()
        if action.startswith("if "):
            negated = action.startswith("if not ")
            stack.append(is_true(look_up(action.split()[-1], scope)) != negated)
        elif action == "else":
            stack[-1] = not stack[-1]
        elif action == "end":
            stack.pop()
        elif all(stack):
            out.append(render_value(action, scope))
    assert not stack
    return "".join(out) + text[at:]


def rendered(values):
    with open(os.path.join(CHART, "values.yaml"), encoding="utf-8") as file:
        usual = yaml.safe_load(file)
    with open(os.path.join(CHART, "Chart.yaml"), encoding="utf-8") as file:
        version = re.search(r"^appVersion: (.*)$", file.read(), re.M).group(1)
    scope = {"Values": {**usual, "createNamespace": True, **values}, "Release": {"Namespace": "platoon-system"},
             "Chart": {"AppVersion": version}}
    text = []
    for part in TEMPLATES:
        with open(os.path.join(CHART, "templates", part + ".yaml"), encoding="utf-8") as file:
            text.append(render(file.read(), scope))
    return objects("\n".join(text))


def objects(text):
    return [doc for doc in yaml.safe_load_all(text) if doc]


def test_chart():
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "chart")
        check("chart is written", run("install", "--chart", made).returncode == 0)
        for base, _, names in os.walk(made):
            for name in names:
                path = os.path.join(base, name)
                kept = os.path.join(CHART, os.path.relpath(path, made))
                check(f"{kept} is what the program writes (make chart)",
                      os.path.exists(kept) and filecmp.cmp(path, kept, shallow=False))
        count = sum(len(names) for _, _, names in os.walk(made))
        check("nothing else is in the chart", count == sum(len(names) for _, _, names in os.walk(CHART)))
    version = run("--version").stdout.split()[-1]
    for name, words in (("Chart.yaml", [f"version: {version}", f"appVersion: {version}"]), ("values.yaml", [f"platoon:{version}"])):
        with open(os.path.join(CHART, name), encoding="utf-8") as file:
            text = file.read()
        for word in words:
            check(f"{name} has {word}", word in text)


def test_rendering():
    for args, values in (
            ([], {}),
            (["--webhooks=false"], {"webhooks": False}),
            (["--image", "registry.example/p:1", "--replicas", "3"], {"image": "registry.example/p:1", "replicas": 3}),
            (["--service-monitor"], {"serviceMonitor": True}),
            (["--webhook-url", "https://192.0.2.1:9443"], {"webhookURL": "https://192.0.2.1:9443"}),
            (["--scheduler-name", "mine"], {"schedulerNames": ["mine"]}),
            (["--profile", "kai"], {"profile": "kai", "schedulerNames": ["kai-scheduler"]})):
        answer = run("install", *args)
        check(f"install {args}", answer.returncode == 0, answer.stderr)
        ours, helm = objects(answer.stdout), rendered(values)
        names = [f"{doc['kind']} {doc['metadata']['name']}" for doc in ours]
        check(f"install {args} has the objects of the chart", names == [f"{doc['kind']} {doc['metadata']['name']}" for doc in helm],
              names)
        for mine, other in zip(ours, helm):
            check(f"install {args} {mine['kind']} {mine['metadata']['name']} is that of the chart", mine == other,
                  f"{mine}\n{other}")
        items = json.loads(run("install", *args, "-o", "json").stdout)["items"]
        check(f"install {args} -o json is the same", items == json.loads(json.dumps(ours)))


def with_values(values):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(values, file, sort_keys=False)
        file.flush()
        return run("install", "--values", file.name)


FLOWS = {"group": "jobs.example.com", "version": "v1", "kind": "Flow", "resource": "flows"}
RIVERS = {"group": "other.example.com", "version": "v2", "kind": "River", "resource": "rivers"}


def test_rights_for_kinds():
    for kinds in ([], [FLOWS], [FLOWS, RIVERS]):
        answer = with_values({"workloadKinds": kinds})
        ours = objects(answer.stdout)
        check(f"{len(kinds)} kinds are those of the chart", ours == rendered({"workloadKinds": kinds}), answer.stderr)
        rules = [rule for doc in ours if doc["kind"] == "ClusterRole" for rule in doc["rules"]]
        given = [rule for rule in rules if rule["apiGroups"][0].endswith(".example.com")]
        check(f"rights for {len(kinds)} kinds", given == [
            {"apiGroups": [kind["group"]], "resources": [kind["resource"]], "verbs": ["list", "watch"]} for kind in kinds], given)
    answer = with_values({"workloadKinds": [FLOWS, {"group": "a.b", "kind": "C"}, {**FLOWS, "version": "v2"}]})
    check("wrong kinds end with 2", answer.returncode == 2 and not answer.stdout)
    for words in ("workloadKinds[1]: error: must have group", "workloadKinds[2]: error: is there twice"):
        check(f"wrong kinds: {words}", words in answer.stderr, answer.stderr)


def test_rights_from_the_registry():
    """What the table of kinds says is what the role grants, no more and no less."""
    wanted = set()
    for line in run("help", "--reference", "kinds").stdout.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| ") or cells[0] == "kind":
            continue
        for part in filter(None, cells[7].split("; ")):
            sub, _, verbs = part.rpartition(": ")
            wanted |= {(cells[1], cells[3] + ("/" + sub if sub else ""), verb) for verb in re.split(", | ", verbs)}
    role = [doc for doc in objects(run("install", "--webhooks=false").stdout) if doc["kind"] == "ClusterRole"][0]
    given = {(rule["apiGroups"][0], resource, verb) for rule in role["rules"] for resource in rule["resources"]
             for verb in rule["verbs"]}
    check("the role grants what the registry says", given == wanted, given ^ wanted)
    check("notebooks may be watched", ("kubeflow.org", "notebooks", "watch") in given)


def test_contents():
    docs = {(doc["kind"], doc["metadata"]["name"]): doc for doc in objects(run("install", "-n", "gangs").stdout)}
    container = docs["Deployment", "platoon"]["spec"]["template"]["spec"]["containers"][0]
    check("no capabilities", container["securityContext"]["capabilities"] == {"drop": ["ALL"]})
    check("read-only", container["securityContext"]["readOnlyRootFilesystem"])
    check("no escalation", container["securityContext"]["allowPrivilegeEscalation"] is False)
    check("two replicas", docs["Deployment", "platoon"]["spec"]["replicas"] == 2)
    for doc in docs.values():
        check(f"{doc['metadata']['name']} is in the namespace", doc["metadata"].get("namespace", "gangs") == "gangs")
        for webhook in doc.get("webhooks", []):
            check("nothing waits for a webhook", webhook["failurePolicy"] == "Ignore" and webhook["timeoutSeconds"] <= 5)
    for rule in docs["ClusterRole", "platoon"]["rules"] + docs["Role", "platoon"]["rules"]:
        check("no wildcard", "*" not in json.dumps(rule), rule)
    without = objects(run("install", "--webhooks=false").stdout)
    group = [doc for doc in without if doc["metadata"]["name"] == "rolebasedgroups.workloads.x-k8s.io"][0]
    check("without conversion only the stored version is served",
          [(item["name"], item["served"]) for item in group["spec"]["versions"]] == [("v1alpha2", True), ("v1alpha1", False)])
    check("without webhooks nobody reads secrets", "secrets" not in json.dumps(without))
    # The configuration in the ConfigMap is one that `run` accepts.
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(docs["ConfigMap", "platoon-config"]["data"]["config.yaml"])
        file.flush()
        answer = run("run", "--config", file.name, "--print-config")
        check("run accepts the configuration", answer.returncode == 0, answer.stderr)


def test_only():
    parts = {part: objects(run("install", "--only", part).stdout) for part in ORDER}
    together = [doc for part in ORDER for doc in parts[part]]
    check("the parts are the whole", together == objects(run("install").stdout))
    check("only definitions", {doc["kind"] for doc in parts["definitions"]} == {"CustomResourceDefinition"})


def test_wrong_usage():
    answer = with_values({"imge": "x", "replicas": "many", "resources": {"anything": "goes"}})
    check("wrong values end with 2", answer.returncode == 2 and not answer.stdout)
    for words in ("imge: error: there is no such setting", "use image", "replicas: error: must be of type integer, not string"):
        check(f"wrong values: {words}", words in answer.stderr, answer.stderr)
    for args, words in (
            (["-n", "Bad Name"], "not a name of a namespace"), (["--only", "rbac,nothing"], "\"nothing\" is not a part"),
            (["--webhooks", "maybe"], "must be true or false"), (["--webhook-url", "http://x"], "must be https://"),
            (["--values", "/nowhere"], "/nowhere"), (["--replicas", "x"], "--replicas"), (["extra"], "takes no operand")):
        answer = run("install", *args)
        check(f"install {args}", answer.returncode == 2 and words in answer.stderr and not answer.stdout, answer.stderr)
    check("a chart where no folder is", run("install", "--chart", "/nowhere/chart").returncode == 2)


for test in (test_chart, test_rendering, test_rights_for_kinds, test_rights_from_the_registry, test_contents, test_only, test_wrong_usage):
    test()
print(f"{sum(RESULTS)} passed, {len(RESULTS) - sum(RESULTS)} failed")
sys.exit(0 if all(RESULTS) else 1)
