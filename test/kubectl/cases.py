"""Plain kubectl, command by command, as a user would type them. Every test starts from an empty namespace of its own."""
import json
import os
import re
import time

from harness import test
from manifests import DEPLOYMENT, NODE, pod


@test
def version_and_discovery(k):
    k.ok("version", out=f"Server Version: {k.release}")
    k.ok("cluster-info", out="control plane")
    k.ok("get", "--raw", "/healthz", out="ok")
    k.ok("get", "--raw", "/readyz", out="ok")
    resources = k.ok("api-resources", out=["deployments", "podgroups", "selfsubjectaccessreviews"])
    assert re.search(r"^pods +po +v1 +true +Pod$", resources, re.M), resources
    assert re.search(r"^nodes +no +v1 +false +Node$", resources, re.M), resources
    k.ok("api-resources", "--api-group=apps", "-o", "name", out="deployments.apps")
    k.ok("api-resources", "--namespaced=false", "--verbs=list", out="nodes")
    k.ok("api-versions", out=["apps/v1", "scheduling.run.ai/v2alpha2", "v1"])
    k.fails("get", "nosuchtype", err="the server doesn't have a resource type")


@test
def legacy_discovery(k):
    groups = json.loads(k.ok("get", "--raw", "/apis"))
    assert groups["kind"] == "APIGroupList"
    names = [group["name"] for group in groups["groups"]]
    assert len(names) == len(set(names)) and "apps" in names and "authorization.k8s.io" in names, names
    core = json.loads(k.ok("get", "--raw", "/api/v1"))
    rows = {row["name"]: row for row in core["resources"]}
    assert rows["pods/eviction"]["group"] == "policy" and rows["pods"]["shortNames"] == ["po"]
    assert json.loads(k.ok("get", "--raw", "/api"))["versions"] == ["v1"]
    assert json.loads(k.ok("get", "--raw", "/apis/apps"))["preferredVersion"]["version"] == "v1"
    k.fails("get", "--raw", "/apis/nosuch.example.com", err="could not find the requested resource")
    k.fails("get", "--raw", "/nowhere", err="NotFound")


@test
def create_and_get(k):
    k.ok("create", "-f", "-", text=pod("p1"), out="pod/p1 created")
    k.fails("create", "-f", "-", text=pod("p1"), err='pods "p1" already exists')
    k.ok("get", "pods", out=["NAME", "READY", "STATUS", "RESTARTS", "AGE", "p1", "0/1", "Pending"])
    k.ok("get", "po", "p1", "-o", "wide", out=["NOMINATED NODE", "<none>"])
    k.ok("get", "pod", "p1", "-o", "yaml", out=["kind: Pod", "name: p1", "cpu: 100m"])
    assert k.get("pod", "p1")["spec"]["containers"][0]["image"] == "nginx:1"
    assert k.ok("get", "pods", "-o", "name") == "pod/p1\n"
    assert k.ok("get", "pods", "-o", "jsonpath={.items[*].metadata.name}") == "p1"
    k.ok("get", "pods", "-o", "custom-columns=N:.metadata.name,P:.status.phase", out="p1    Pending")
    k.ok("get", "pods", "--show-labels", "--sort-by=.metadata.name", out="app=web")
    k.ok("get", "pods", "-L", "app", out="APP")
    k.ok("get", "pods", "-A", out=["NAMESPACE", k.namespace])
    k.ok("get", "pods,nodes", out="pod/p1")
    k.ok("get", "all", out="pod/p1")
    k.fails("get", "pod", "nosuch", err='Error from server (NotFound): pods "nosuch" not found')
    k.fails("create", "-f", "-", "-n", "nowhere", text=pod("p2"), err='namespaces "nowhere" not found')


@test
def selectors_and_pages(k):
    for i in range(5):
        k.ok("create", "-f", "-", text=pod(f"p{i}", labels=f"app: web, num: n{i % 2}"))
    assert k.ok("get", "pods", "-l", "num=n0", "-o", "name").split() == ["pod/p0", "pod/p2", "pod/p4"]
    assert k.ok("get", "pods", "-l", "num in (n1),app", "-o", "name").split() == ["pod/p1", "pod/p3"]
    assert k.ok("get", "pods", "-l", "num!=n0", "-o", "name").split() == ["pod/p1", "pod/p3"]
    assert k.ok("get", "pods", "-l", "!app", "-o", "name") == ""
    assert k.ok("get", "pods", "--field-selector=metadata.name=p3", "-o", "name").split() == ["pod/p3"]
    assert len(k.ok("get", "pods", "--field-selector=status.phase=Pending", "-o", "name").split()) == 5
    assert len(k.ok("get", "pods", "--chunk-size=2", "--no-headers").splitlines()) == 5
    k.fails("get", "pods", "--field-selector=spec.nosuch=1", err="BadRequest")
    first = json.loads(k.ok("get", "--raw", f"/api/v1/namespaces/{k.namespace}/pods?limit=2"))
    assert len(first["items"]) == 2 and first["metadata"]["remainingItemCount"] == 3
    token = first["metadata"]["continue"]
    second = json.loads(k.ok("get", "--raw", f"/api/v1/namespaces/{k.namespace}/pods?limit=3&continue={token}"))
    assert [item["metadata"]["name"] for item in second["items"]] == ["p2", "p3", "p4"]
    assert "continue" not in second["metadata"]


@test
def watching(k):
    k.ok("create", "-f", "-", text=pod("p1"))
    watcher = k.background("get", "pods", "-w", "--output-watch-events")
    plain = k.background("get", "pods", "--watch-only", "-o", "name")
    time.sleep(1)
    k.ok("label", "pod", "p1", "seen=yes")
    k.ok("create", "-f", "-", text=pod("p2"))
    k.ok("delete", "pod", "p1")
    time.sleep(0.5)
    watcher.terminate()
    plain.terminate()
    lines = [line.split()[:2] for line in watcher.communicate()[0].splitlines()[1:]]
    assert [line for line in lines if line[1] == "p2"] == [["ADDED", "p2"]], lines
    assert ["ADDED", "p1"] in lines and ["MODIFIED", "p1"] in lines and lines[-1] == ["DELETED", "p1"], lines
    seen = plain.communicate()[0].split()
    # kube-apiserver tells of a pod that nobody runs twice when it goes: that it is to go, and that it is gone.
    assert seen == ["pod/p1", "pod/p2", "pod/p1"] + ([] if k.embedded else ["pod/p1"]), seen


@test
def describe(k):
    k.ok("create", "-f", "-", text=pod("p1"))
    k.ok("describe", "pod", "p1", out=["Name:         p1", "nginx:1", "Status:       Pending"])
    k.ok("create", "-f", "-", text=NODE % "describe-node")
    k.ok("describe", "node", "describe-node", out=["Ready", "10.0.0.1", "Non-terminated Pods"])
    k.ok("describe", "ns", k.namespace, out="Active")
    k.ok("create", "-f", "-", text=DEPLOYMENT)
    k.ok("describe", "deploy", "dep", out="Replicas:")
    k.ok("delete", "node", "describe-node")


@test
def apply_client_side(k):
    path = k.file("apply.yaml", DEPLOYMENT)
    k.ok("apply", "-f", path, out="deployment.apps/dep created")
    k.ok("apply", "-f", path, out="deployment.apps/dep unchanged")
    k.want(0, "diff", "-f", path)
    k.file("apply.yaml", DEPLOYMENT.replace("nginx:1", "nginx:2").replace("replicas: 2", "replicas: 3"))
    k.fails("diff", "-f", path, out=["-      - image: nginx:1", "+      - image: nginx:2"])
    k.ok("apply", "-f", path, "--dry-run=server", out="configured (server dry run)")
    assert k.get("deploy", "dep")["spec"]["replicas"] == 2
    k.ok("apply", "-f", path, out="deployment.apps/dep configured")
    spec = k.get("deploy", "dep")["spec"]
    assert spec["replicas"] == 3
    assert [c["image"] for c in spec["template"]["spec"]["containers"]] == ["nginx:2", "envoy:1"]
    # A container that leaves the file leaves the object, and only that one.
    k.file("apply.yaml", DEPLOYMENT.replace('      - {name: side, image: "envoy:1"}\n', ""))
    k.ok("apply", "-f", path, out="configured")
    assert [c["name"] for c in k.get("deploy", "dep")["spec"]["template"]["spec"]["containers"]] == ["main"]
    k.ok("delete", "-f", path, out='deployment.apps "dep" deleted')


@test
def apply_server_side(k):
    path = k.file("ssa.yaml", DEPLOYMENT)
    k.ok("apply", "--server-side", "-f", path, out="deployment.apps/dep serverside-applied")
    version = k.get("deploy", "dep")["metadata"]["resourceVersion"]
    k.ok("apply", "--server-side", "-f", path, out="serverside-applied")
    assert k.get("deploy", "dep")["metadata"]["resourceVersion"] == version
    k.file("ssa.yaml", DEPLOYMENT.replace("replicas: 2", "replicas: 5"))
    k.fails("apply", "--server-side", "--field-manager=other", "-f", path, err=["conflict", ".spec.replicas"])
    k.ok("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", path)
    assert k.get("deploy", "dep")["spec"]["replicas"] == 5
    k.ok("get", "deploy", "dep", "-o", "yaml", "--show-managed-fields", out=["manager: other", "operation: Apply"])


@test
def scaling(k):
    k.ok("create", "-f", "-", text=DEPLOYMENT)
    k.ok("scale", "deploy", "dep", "--replicas=4", out="scaled")
    assert k.get("deploy", "dep")["spec"]["replicas"] == 4
    k.ok("scale", "deploy", "dep", "--current-replicas=4", "--replicas=1", out="scaled")
    k.fails("scale", "deploy", "dep", "--current-replicas=4", "--replicas=2", err="Expected replicas to be 4, was 1")
    k.ok("get", "deploy", "dep", "--subresource=scale", out=["DESIRED", "AVAILABLE"])
    k.ok("set", "image", "deploy/dep", "main=nginx:9", out="image updated")
    k.ok("rollout", "restart", "deploy/dep", out="restarted")
    assert k.get("deploy", "dep")["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:9"
    k.ok("get", "deploy", "-o", "wide", out=["0/1", "main,side", "app=dep"])


@test
def patching(k):
    k.ok("create", "-f", "-", text=pod("p1"))
    k.ok("patch", "pod", "p1", "-p", '{"metadata":{"labels":{"p":"strategic"}}}', out="patched")
    assert k.get("pod", "p1")["metadata"]["labels"]["p"] == "strategic"
    k.ok("patch", "pod", "p1", "--type=merge", "-p", '{"metadata":{"labels":{"p":"merge","app":null}}}')
    assert k.get("pod", "p1")["metadata"]["labels"] == {"p": "merge"}
    k.ok("patch", "pod", "p1", "--type=json", "-p", '[{"op":"replace","path":"/metadata/labels/p","value":"json"}]')
    assert k.get("pod", "p1")["metadata"]["labels"]["p"] == "json"
    k.ok("patch", "pod", "p1", "--type=json", "-p", '[{"op":"test","path":"/metadata/labels/p","value":"json"}]',
         out="patched (no change)")
    k.fails("patch", "pod", "p1", "--type=json", "-p", '[{"op":"remove","path":"/metadata/labels/nosuch"}]')
    k.ok("patch", "pod", "p1", "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Running"}}')
    k.ok("get", "pod", "p1", out="Running")
    # Strategic: containers merge by name.
    k.ok("patch", "pod", "p1", "-p", '{"spec":{"containers":[{"name":"main","image":"nginx:7"}]}}')
    container = k.get("pod", "p1")["spec"]["containers"][0]
    assert container["image"] == "nginx:7" and container["env"][0]["value"] == "1"


@test
def labels_and_annotations(k):
    k.ok("create", "-f", "-", text=pod("p1"))
    k.ok("label", "pod", "p1", "a=b", out="labeled")
    k.fails("label", "pod", "p1", "a=c", err="already has a value")
    k.ok("label", "pod", "p1", "a=c", "--overwrite", out="labeled")
    k.ok("label", "pods", "--all", "z=1", out="labeled")
    k.ok("label", "pod", "p1", "a-", out="unlabeled")
    k.ok("annotate", "pod", "p1", "note=hello", out="annotated")
    metadata = k.get("pod", "p1")["metadata"]
    assert metadata["labels"] == {"app": "web", "z": "1"} and metadata["annotations"]["note"] == "hello"


@test
def editing(k):
    k.ok("create", "-f", "-", text=pod("p1"))
    editor = k.file("editor.sh", "#!/bin/sh\nsed -i 's/app: web/app: edited/' \"$1\"\n")
    os.chmod(editor, 0o755)
    k.ok("edit", "pod", "p1", env={"EDITOR": editor, "KUBE_EDITOR": editor}, out="pod/p1 edited")
    assert k.get("pod", "p1")["metadata"]["labels"]["app"] == "edited"
    k.ok("edit", "pod", "p1", env={"EDITOR": "true", "KUBE_EDITOR": "true"}, err="cancelled")


@test
def replacing(k):
    path = k.file("replace.yaml", pod("p1"))
    k.ok("create", "-f", path)
    k.file("replace.yaml", pod("p1", labels="app: new"))
    k.ok("replace", "-f", path, out="pod/p1 replaced")
    current = k.get("pod", "p1")
    assert current["metadata"]["labels"] == {"app": "new"}
    current["metadata"]["resourceVersion"] = "1"
    k.fails("replace", "-f", "-", text=json.dumps(current), err="the object has been modified")
    k.ok("replace", "--force", "-f", path, out="replaced")


@test
def deleting(k):
    k.ok("create", "-f", "-", text=pod("p1"))
    k.ok("delete", "pod", "p1", out='pod "p1" deleted')
    k.fails("delete", "pod", "p1", err="not found")
    k.ok("delete", "pod", "p1", "--ignore-not-found")
    for name in ("a", "b", "c"):
        k.ok("create", "-f", "-", text=pod(name, labels=f"app: {name}"))
    k.ok("delete", "pods", "-l", "app=a", out='"a" deleted')
    k.ok("delete", "pod", "b", "--grace-period=0", "--force", out="force deleted")
    k.ok("delete", "pods", "--all", "--now", out='"c" deleted')
    assert k.ok("get", "pods", "-o", "name") == ""
    k.ok("create", "-f", "-", text=DEPLOYMENT)
    k.ok("delete", "deploy", "dep", "--cascade=orphan", "--wait=false", out="deleted")
    if not k.skips("orphans are left by the garbage collector, which is not there"):
        k.fails("get", "deploy", "dep", err="not found")
    k.ok("create", "-f", "-", text=pod("d", labels="app: web"))
    k.ok("delete", "--raw", f"/api/v1/namespaces/{k.namespace}/pods?labelSelector=app%3Dweb", out='"d"')
    assert k.ok("get", "pods", "-o", "name") == ""
    k.ok("create", "-f", "-", text=pod("e"))
    k.ok("delete", "pod", "e", "--dry-run=server", out="deleted (server dry run)")
    k.ok("get", "pod", "e")


@test
def waiting(k):
    k.ok("create", "-f", "-", text=pod("p1"))
    ready = '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
    waiter = k.background("wait", "--for=condition=Ready", "pod/p1", "--timeout=20s")
    time.sleep(0.5)
    k.ok("patch", "pod", "p1", "--subresource=status", "--type=merge", "-p", ready)
    assert "condition met" in waiter.communicate(timeout=30)[0]
    k.ok("wait", "--for=jsonpath={.status.phase}=Running", "pod/p1", "--timeout=5s", out="condition met")
    k.fails("wait", "--for=condition=Nope", "pod/p1", "--timeout=1s", err="timed out")
    gone = k.background("wait", "--for=delete", "pod/p1", "--timeout=20s")
    time.sleep(0.5)
    k.ok("delete", "pod", "p1")
    assert "condition met" in gone.communicate(timeout=30)[0]
    assert gone.returncode == 0


@test
def cordon_and_drain(k):
    k.ok("create", "-f", "-", text=NODE % "drain-1")
    k.ok("get", "nodes", "drain-1", out=["Ready", "worker", "v1.32.0"])
    k.ok("get", "node", "drain-1", "-o", "wide", out=["10.0.0.1", "none://1"])
    k.ok("cordon", "drain-1", out="cordoned")
    k.ok("cordon", "drain-1", out="already cordoned")
    k.ok("get", "nodes", "drain-1", out="Ready,SchedulingDisabled")
    k.ok("uncordon", "drain-1", out="uncordoned")
    k.ok("create", "-f", "-", text=pod("bound", extra="  nodeName: drain-1\n"))
    k.ok("get", "pods", "--field-selector=spec.nodeName=drain-1", out="bound")
    k.fails("drain", "drain-1", err="cannot delete")
    with k.kubelets():
        k.ok("drain", "drain-1", "--force", "--ignore-daemonsets", "--timeout=20s", out=["evicting pod", "drained"])
        assert k.ok("get", "pods", "-o", "name") == ""
        k.ok("create", "-f", "-", text=pod("bound2", extra="  nodeName: drain-1\n"))
        k.ok("drain", "drain-1", "--force", "--disable-eviction", "--timeout=20s", out="drained")
    k.ok("taint", "nodes", "drain-1", "gpu=yes:NoSchedule", out="tainted")
    k.ok("taint", "nodes", "drain-1", "gpu-", out="untainted")
    k.ok("delete", "node", "drain-1")


@test
def events(k):
    k.ok("create", "-f", "-", text=pod("p1"))
    uid = k.get("pod", "p1")["metadata"]["uid"]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    k.ok("create", "-f", "-", text=f"""apiVersion: v1
kind: Event
metadata: {{name: e1}}
type: Warning
reason: FailedScheduling
message: "0/3 nodes are available"
involvedObject: {{kind: Pod, apiVersion: v1, name: p1, namespace: {k.namespace}, uid: {uid}}}
firstTimestamp: {stamp}
lastTimestamp: {stamp}
count: 3
source: {{component: platoon}}
""")
    k.ok("get", "events", out=["LAST SEEN", "FailedScheduling", "pod/p1", "0/3 nodes are available"])
    k.ok("events", out=["FailedScheduling", "Pod/p1"])
    k.ok("events", "--for", "pod/p1", out="FailedScheduling")
    k.ok("describe", "pod", "p1", out="0/3 nodes are available")


@test
def generators_send_protobuf(k):
    k.ok("create", "configmap", "cm", "--from-literal=a=b", "--from-literal=c=d", out="configmap/cm created")
    assert k.get("cm", "cm")["data"] == {"a": "b", "c": "d"}
    k.ok("create", "secret", "generic", "s", "--from-literal=a=b", out="secret/s created")
    assert k.get("secret", "s")["data"] == {"a": "Yg=="}
    k.ok("create", "serviceaccount", "robot", out="created")
    k.ok("create", "deployment", "web", "--image=nginx", "--replicas=0", "--port=80", out="created")
    spec = k.get("deploy", "web")["spec"]
    assert spec["replicas"] == 0 and spec["template"]["spec"]["containers"][0]["ports"][0]["containerPort"] == 80, spec
    k.ok("create", "job", "once", "--image=busybox", "--", "true", out="created")
    assert k.get("job", "once")["spec"]["template"]["spec"]["containers"][0]["command"] == ["true"]
    k.ok("create", "cronjob", "often", "--image=busybox", "--schedule=* * * * *", out="created")
    k.ok("create", "priorityclass", f"high-{k.namespace}", "--value=1000", out="created")
    assert k.get("pc", f"high-{k.namespace}")["value"] == 1000
    k.ok("create", "quota", "q", "--hard=pods=3", out="created")
    assert k.get("quota", "q")["spec"]["hard"] == {"pods": "3"}
    k.ok("create", "role", "r", "--verb=get", "--resource=pods", out="created")
    k.ok("create", "rolebinding", "rb", "--role=r", "--user=u", out="created")
    k.ok("create", "poddisruptionbudget", "pdb", "--selector=app=x", "--min-available=50%", out="created")
    assert k.get("pdb", "pdb")["spec"]["minAvailable"] == "50%"
    k.ok("create", "ns", f"{k.namespace}-made", out="created")
    k.delete_namespace(f"{k.namespace}-made")
    k.ok("run", "runner", "--image=x", "--restart=Never", out="created")
    k.ok("create", "service", "clusterip", "svc", "--tcp=80:8080", out="created")
    k.ok("get", "svc", "svc", out="80/TCP")
    k.ok("get", "cm,secret,sa,job,cronjob,quota,pdb,role", out=["once", "often"])


@test
def namespaces(k):
    name = f"{k.namespace}-life"
    k.ok("create", "ns", name)
    k.ok("create", "-f", "-", "-n", name, text=pod("p1"))
    k.delete_namespace(name)
    k.fails("get", "ns", name, err="not found")
    k.ok("create", "ns", name)
    assert k.ok("get", "pods", "-n", name, "-o", "name") == ""
    k.ok("delete", "ns", name, "--wait=false")


@test
def binding(k):
    k.ok("create", "-f", "-", text=pod("p1"))
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p1"}, "target": {"kind": "Node", "name": "n1"}}
    path = f"/api/v1/namespaces/{k.namespace}/pods/p1/binding"
    k.ok("create", "--raw", path, "-f", "-", text=json.dumps(binding), out="Success")
    assert k.get("pod", "p1")["spec"]["nodeName"] == "n1"
    k.fails("create", "--raw", path, "-f", "-", text=json.dumps(binding), err="already assigned to node")


@test
def who_may(k):
    assert k.ok("auth", "can-i", "create", "pods").strip() == "yes"
    k.ok("auth", "can-i", "--list", out="*.*")
    k.ok("auth", "whoami", out=[k.admin, "system:masters"])
    if k.skips("a read-only token is made by the embedded server"):
        return
    with open(os.path.join(k.data, "read-only-token"), encoding="utf-8") as file:
        token = file.read().strip()
    reader = ["--kubeconfig", reader_config(k, token)]
    k.ok(*reader, "get", "pods")
    k.fails(*reader, "create", "-f", "-", text=pod("p1"), err="Forbidden")
    assert k.run(*reader, "auth", "can-i", "create", "pods").stdout.startswith("no")
    assert k.ok(*reader, "auth", "can-i", "list", "pods").strip() == "yes"
    k.ok(*reader, "auth", "whoami", out="platoon-reader")
    stranger = ["--kubeconfig", reader_config(k, "wrong" * 8)]
    k.fails(*stranger, "get", "pods", err="You must be logged in to the server")
    k.ok(*stranger, "get", "--raw", "/healthz", out="ok")


def reader_config(k, token):
    """A kubeconfig with a token instead of the certificate."""
    with open(k.env["KUBECONFIG"], encoding="utf-8") as file:
        text = file.read()
    head = text[:text.index("  user:\n")]
    return k.file("reader.kubeconfig", f"{head}  user:\n    token: {token}\n")
