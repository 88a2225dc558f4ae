"""The webhooks asked by a real kube-apiserver: checks, changes of pods, conversion, certificates, and what happens while
Platoon is away."""
import base64
import contextlib
import json
import os
import signal
import socket
import ssl
import subprocess
import time

from installed import Replica, pod, test, wait_until

QUEUE = {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "team"}, "spec": {}}


def bundles(installed):
    """Every authority that the API server was told, as PEM."""
    found = []
    for kind in ("validatingwebhookconfiguration", "mutatingwebhookconfiguration"):
        for webhook in installed.get(kind, "platoon")["webhooks"]:
            found.append(webhook["clientConfig"].get("caBundle", ""))
    for kind in ("rolebasedgroups", "rolebasedgroupsets"):
        crd = installed.get("crd", f"{kind}.workloads.x-k8s.io")
        found.append(crd["spec"]["conversion"]["webhook"]["clientConfig"].get("caBundle", ""))
    return [base64.b64decode(item).decode() for item in found]


def secret(installed):
    data = installed.get("secret", "platoon-webhook", "-n", "platoon-system")
    assert data["type"] == "kubernetes.io/tls", data["type"]
    return {key: base64.b64decode(value).decode() for key, value in data["data"].items()}


def wait_told(installed, replica):
    """Until the API server was told the authority of the Secret everywhere, and uses it."""
    replica.wait_ready()
    wait_until("the authority is everywhere", lambda: set(bundles(installed)) == {secret(installed)["ca.crt"]} or
               bundles(installed), replica)
    bad = {**QUEUE, "metadata": {"name": "probe"}, "spec": {"parentQueue": "probe"}}
    wait_until("the API server asks", lambda: "is invalid" in installed.create(bad, check=False).stderr or
               installed.plane.kubectl("delete", "queue", "probe", check=False).stdout, replica)


def messages_of_validate(installed, doc):
    """What `platoon validate` says about an object."""
    path = installed.plane.path("validate.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(doc, file)
    answer = subprocess.run([installed.platoon, "validate", "-f", path, "-o", "json"], check=False, text=True,
                            stdout=subprocess.PIPE)
    found = []

    def collect(value):
        if isinstance(value, dict):
            if value.get("severity") == "error":
                found.append(value["message"])
            for item in value.values():
                collect(item)
        elif isinstance(value, list):
            for item in value:
                collect(item)
    collect(json.loads(answer.stdout))
    assert found, answer.stdout
    return found


@test
def the_api_server_is_told_the_authority(installed):
    with Replica(installed) as replica:
        wait_told(installed, replica)
        installed.plane.kubectl("apply", "-f", "-", text=installed.manifests())
        assert set(bundles(installed)) == {secret(installed)["ca.crt"]}, "applying the manifests again took it away"
        assert "PRIVATE KEY" not in replica.log()
        replica.stop()


@test
def every_kind_is_checked_with_the_words_of_validate(installed):
    role = {"name": "a", "replicas": 1, "standalonePattern": {"template": {"spec": {"containers": [
        {"name": "x", "image": "y"}]}}}}
    # What the definitions refuse does not get here.
    bad = [
        {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "bad", "namespace": "default"},
         "spec": {"minSubGroup": 3, "subGroups": [{"name": "a", "minMember": 1}, {"name": "a"}]}},
        {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "bad"},
         "spec": {"resources": {"gpu": {"quota": 1e300}}}},
        {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "bad"},
         "spec": {"levels": [{"nodeLabel": "a" * 70}]}},
        {"apiVersion": "workloads.x-k8s.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": "bad"},
         "spec": {"layers": [{"name": "rack", "key": "k"}], "topologyScope": {"pod": 1}}},
        {"apiVersion": "workloads.x-k8s.io/v1alpha2", "kind": "RoleBasedGroup",
         "metadata": {"name": "bad", "namespace": "default"},
         "spec": {"roles": [role, role]}},
        {"apiVersion": "workloads.x-k8s.io/v1alpha2", "kind": "CoordinatedPolicy",
         "metadata": {"name": "bad", "namespace": "default"},
         "spec": {"policies": [{"name": "p", "strategy": {"segmentPlacement": {"segmentSize": {"a": 0}}}}]}},
    ]
    with Replica(installed) as replica:
        wait_told(installed, replica)
        for doc in bad:
            refusal = installed.create(doc, check=False).stderr
            assert "is invalid" in refusal, f"{doc['kind']}: {refusal}\n{replica.log()[-2000:]}"
            for message in messages_of_validate(installed, doc):
                assert message in refusal, f"{doc['kind']}: {message!r} is not in {refusal!r}"
        replica.stop()


@test
def warnings_reach_the_user(installed):
    with Replica(installed) as replica:
        wait_told(installed, replica)
        answer = installed.create({
            "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
            "metadata": {"name": "warned", "namespace": "default"}, "spec": {"minMember": 1, "queue": "nowhere"}})
        assert "Warning: spec.queue: Queue \"nowhere\" does not exist" in answer.stderr, answer.stderr
        installed.plane.kubectl("delete", "podgroup", "warned")
        replica.stop()


@test
def only_our_pods_are_changed(installed):
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "examples", "indexed-job.yaml"), encoding="utf-8") as file:
        installed.plane.kubectl("apply", "-f", "-", text=file.read())
    job = installed.get("job", "sweep")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "sweep", "uid": job["metadata"]["uid"], "controller": True}
    template = job["spec"]["template"]
    with Replica(installed) as replica:
        wait_told(installed, replica)
        wait_until("the job is known", lambda: replica.get("/readyz")[0] == 200, replica)
        member = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"], "metadata": {
            "name": "sweep-5", "namespace": "default", "ownerReferences": [owner],
            "annotations": {**template["metadata"]["annotations"], "batch.kubernetes.io/job-completion-index": "5"},
            "labels": {**template["metadata"].get("labels", {}), "batch.kubernetes.io/job-completion-index": "5"}}}
        installed.create(member)
        env = installed.get("pod", "sweep-5")["spec"]["containers"][0].get("env", [])
        assert {"name": "KAI_SEGMENT_INDEX", "value": "2"} in env, env

        group = {"rbg.workloads.x-k8s.io/group-name": "chat"}
        installed.create(pod("of-a-group", "default-scheduler", labels=group))
        assert installed.get("pod", "of-a-group")["spec"]["schedulerName"] == "platoon"
        installed.create(pod("of-another-scheduler", "other", labels=group))
        assert installed.get("pod", "of-another-scheduler")["spec"]["schedulerName"] == "other"

        before = replica.metric("platoon_webhook_reviews_total")
        for i in range(5):
            installed.create(pod(f"stranger-{i}", "default-scheduler"))
        assert replica.metric("platoon_webhook_reviews_total") == before, "the API server asked about pods of others"
        replica.stop()
    installed.plane.kubectl("delete", "pods", "--all", "--force", "--grace-period=0")
    installed.plane.kubectl("delete", "job", "sweep", "--wait=false")


@test
def versions_are_converted_there_and_back(installed):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "x", "image": "y"}]}}
    old = {"roles": [
        {"name": "prefill", "replicas": 2, "template": template, "restartPolicy": "RecreateRoleInstanceOnPodRestart",
         "servicePorts": [{"name": "http", "port": 80}]},
        {"name": "decode", "replicas": 1, "dependencies": ["prefill"], "workload": {
            "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"}, "template": template,
         "leaderWorkerSet": {"size": 2, "patchLeaderTemplate": {"metadata": {"labels": {"role": "leader"}}}}}],
        "coordination": [{"name": "pd", "strategy": {"segmentPlacement": {"segmentSize": {"prefill": 2, "decode": 1}}}}]}
    name = {"name": "both", "namespace": "default"}
    kinds = "rolebasedgroups.{}.workloads.x-k8s.io"
    with Replica(installed) as replica:
        wait_told(installed, replica)
        installed.create({"apiVersion": "workloads.x-k8s.io/v1alpha1", "kind": "RoleBasedGroup", "metadata": name, "spec": old})
        assert installed.get(kinds.format("v1alpha1"), "both")["spec"] == old
        new = installed.get(kinds.format("v1alpha2"), "both")
        assert new["apiVersion"].endswith("/v1alpha2") and "standalonePattern" in new["spec"]["roles"][0], new["spec"]
        installed.plane.kubectl("delete", "rbg", "both")
        installed.create({"apiVersion": "workloads.x-k8s.io/v1alpha2", "kind": "RoleBasedGroup", "metadata": name,
                          "spec": new["spec"]})
        assert installed.get(kinds.format("v1alpha2"), "both")["spec"] == new["spec"]
        assert installed.get(kinds.format("v1alpha1"), "both")["spec"] == old
        wait_until("counted", lambda: replica.metric("platoon_webhook_conversions_total") > 0, replica)
        installed.plane.kubectl("delete", "rbg", "both")
        replica.stop()


@test
def both_versions_can_be_applied(installed):
    """One object by two people with kubectl apply, one with v1alpha1 and one with v1alpha2."""
    template = {"spec": {"containers": [{"name": "x", "image": "y"}]}}
    name = {"name": "shared", "namespace": "default"}
    old = {"apiVersion": "workloads.x-k8s.io/v1alpha1", "kind": "RoleBasedGroup", "metadata": name,
           "spec": {"roles": [{"name": "serve", "replicas": 1, "template": template}]}}
    new = {"apiVersion": "workloads.x-k8s.io/v1alpha2", "kind": "RoleBasedGroup", "metadata": name,
           "spec": {"roles": [{"name": "serve", "replicas": 2, "standalonePattern": {"template": template}}]}}
    kinds = "rolebasedgroups.{}.workloads.x-k8s.io"
    with Replica(installed) as replica:
        wait_told(installed, replica)
        for count, doc in ((1, old), (2, new), (3, old), (4, new)):
            doc["spec"]["roles"][0]["replicas"] = count
            installed.plane.kubectl("apply", "-f", "-", text=json.dumps(doc))
            for version in ("v1alpha1", "v1alpha2"):
                role = installed.get(kinds.format(version), "shared")["spec"]["roles"][0]
                assert role["replicas"] == count and ("template" in role) == (version == "v1alpha1"), f"{version}: {role}"
        installed.plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=json.dumps(old))
        assert installed.get(kinds.format("v1alpha2"), "shared")["spec"]["roles"][0]["replicas"] == 3
        items = installed.get(kinds.format("v1alpha1"))["items"]
        assert [item["apiVersion"] for item in items] == ["workloads.x-k8s.io/v1alpha1"] * len(items), items
        installed.plane.kubectl("delete", "rbg", "shared")
        replica.stop()


@test
def certificates_change_while_requests_run(installed):
    """The Secret is deleted, so that authority and certificate are new. No request fails, and soon all are checked again."""
    bad = {**QUEUE, "metadata": {"name": "probe"}, "spec": {"parentQueue": "probe"}}
    good = {**QUEUE, "metadata": {"name": "rotated"}, "spec": {"resources": {
        kind: {"quota": -1, "limit": -1, "overQuotaWeight": 1} for kind in ("cpu", "gpu", "memory")}}}
    with Replica(installed) as replica:
        wait_told(installed, replica)
        before, counts = secret(installed)["ca.crt"], {"good": 0, "checked": 0, "let through": 0}
        installed.plane.kubectl("delete", "secret", "platoon-webhook", "-n", "platoon-system")
        end = time.monotonic() + 2
        while time.monotonic() < end or bundles(installed)[0] == before:
            assert time.monotonic() < end + 60, "the authority did not change"
            installed.create(good)
            installed.plane.kubectl("delete", "queue", "rotated")
            counts["good"] += 1
            answer = installed.create(bad, check=False)
            assert answer.returncode == 0 or "is invalid" in answer.stderr, answer.stderr
            counts["checked" if answer.returncode else "let through"] += 1
            installed.plane.kubectl("delete", "queue", "probe", "--ignore-not-found")
        wait_told(installed, replica)
        print(f"# while certificates changed: {counts}")
        assert counts["good"] > 0 and counts["checked"] > 0, counts
        replica.stop()


@test
def a_lost_secret_is_made_again(installed):
    with Replica(installed) as replica:
        wait_told(installed, replica)
        before = secret(installed)["ca.crt"]
        installed.plane.kubectl("delete", "secret", "platoon-webhook", "-n", "platoon-system")
        wait_until("another authority", lambda: bundles(installed)[0] != before, replica)
        wait_told(installed, replica)
        replica.stop()


@test
def nothing_waits_while_platoon_is_away(installed):
    """Killed, and with a port that swallows connections: the API server is not even refused."""
    plane = installed.plane
    others = [pod("away-other", "default-scheduler"), {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "away"}}, {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "away", "namespace": "default"}, "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
                "containers": [{"name": "x", "image": "y"}]}}}}]
    ours = [pod("away-ours"), {
        "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "away", "namespace": "default"},
        "spec": {"minMember": 1}}]
    with Replica(installed) as replica:
        wait_told(installed, replica)
        replica.stop(signal.SIGKILL)
    for silent in (False, True):
        with socket.create_server(("127.0.0.1", installed.webhook_port), backlog=64) if silent else contextlib.nullcontext():
            times = []
            for docs in (others, ours):
                started = time.monotonic()
                installed.create(*docs)
                times.append(time.monotonic() - started)
            print(f"# Platoon {'swallows' if silent else 'is away'}: others {times[0]:.2f} s, ours {times[1]:.2f} s")
            # Nobody asks about others; ours wait for 2 seconds (pods) and 5 (our kinds) at most.
            assert not silent or times[0] < times[1], times
            if not silent:
                answer = plane.kubectl("get", "rolebasedgroups.v1alpha1.workloads.x-k8s.io", check=False)
                installed.get("rolebasedgroups.v1alpha2.workloads.x-k8s.io")
                assert answer.returncode == 0 or "conversion webhook" in answer.stderr, answer.stderr
            plane.kubectl("delete", "pods,podgroups", "--all", "--force", "--grace-period=0")
            plane.kubectl("delete", "node/away", "deployment/away")


def handshake(installed, **certificate):
    """What becomes of a GET with this client certificate."""
    context = ssl.create_default_context(cadata=secret(installed)["ca.crt"])
    if certificate:
        context.load_cert_chain(**certificate)
    import http.client
    connection = http.client.HTTPSConnection("127.0.0.1", installed.webhook_port, context=context, timeout=10)
    try:
        connection.request("GET", "/validate")
        return connection.getresponse().status
    except (ssl.SSLError, OSError) as error:
        return f"refused: {error}"
    finally:
        connection.close()


@test
def clients_of_other_authorities_are_refused_where_configured(installed):
    plane = installed.plane
    plane.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "stranger.key", "-out", "stranger.crt", "-days",
                  "2", "-subj", "/CN=stranger")
    ours = {"certfile": plane.path("admin.crt"), "keyfile": plane.path("admin.key")}
    other = {"certfile": plane.path("stranger.crt"), "keyfile": plane.path("stranger.key")}
    webhooks = {"enabled": True, "listen": f"127.0.0.1:{installed.webhook_port}"}
    with Replica(installed) as replica:
        replica.wait_ready()
        assert handshake(installed) == 405, "without the setting everybody may ask"
        replica.stop()
    with Replica(installed, config={"webhooks": {**webhooks, "clientAuthority": plane.path("ca.crt")}}) as replica:
        replica.wait_ready()
        assert handshake(installed, **ours) == 405
        assert "refused" in str(handshake(installed, **other))
        assert "refused" in str(handshake(installed))
        replica.stop()


@test
def old_tls_is_refused(installed):
    with Replica(installed) as replica:
        replica.wait_ready()
        for option, works in (("-tls1_1", False), ("-tls1_2", True), ("-tls1_3", True)):
            answer = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{installed.webhook_port}", option],
                                    check=False, input=b"", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20)
            assert (answer.returncode == 0) == works, f"{option}: {answer.stdout.decode(errors='replace')[-500:]}"
        replica.stop()
