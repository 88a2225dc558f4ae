"""The controllers of workloads: kube-controller-manager and the operators, at the versions pinned in go.mod.

Each runs beside the API server as administrator, with the definitions and webhooks of its own release; the API server reaches
the webhooks by address instead of by Service, with a certificate of the plane.
"""
import base64
import glob
import json
import os
import shutil
import subprocess

import yaml

import kit
from control_plane import ROOT, binaries, free_port

HERE = os.path.join(ROOT, "test", "operators")
GRACE = 20  # seconds after which a node that sends nothing is given up


def start(plane, name, command, *args, env=None):
    """A process that the plane ends with the others."""
    with open(plane.path(name + ".log"), "ab") as log:
        plane.processes[name] = subprocess.Popen(["nice", command, *args], stdout=log, stderr=subprocess.STDOUT,
                                                 cwd=plane.folder, env={**os.environ, "KUBECONFIG": plane.kubeconfig, **(env or {})})


def start_controller_manager(plane):
    start(plane, "kube-controller-manager", os.path.join(binaries("kube-controller-manager"), "kube-controller-manager"),
          f"--kubeconfig={plane.kubeconfig}", "--leader-elect=false", "--secure-port=0",
          f"--service-account-private-key-file={plane.path('accounts.key')}", f"--root-ca-file={plane.path('ca.crt')}",
          "--controllers=*,-nodeipam",
          f"--node-monitor-grace-period={GRACE}s", "--node-monitor-period=2s", "--kube-api-qps=300", "--kube-api-burst=600")


def module_folder(module, folder=HERE):
    """Where the source of a pinned module is, from which its definitions and webhooks come."""
    env = {**os.environ, "GOFLAGS": "-mod=readonly"}
    subprocess.run(["go", "mod", "download", module], check=True, cwd=folder, env=env)
    return subprocess.run(["go", "list", "-m", "-f", "{{.Dir}}", module], check=True, cwd=folder, env=env, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def apply(plane, docs):
    plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-",
                  text=json.dumps({"apiVersion": "v1", "kind": "List", "items": docs}))


def define(plane, pattern):
    files = [file for file in sorted(glob.glob(pattern)) if "kustomization" not in file]
    assert files, f"no definitions: {pattern}"
    for file in files:
        plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", file)

    def established():  # kubectl wait fails on a definition that has no conditions yet
        items = json.loads(plane.kubectl("get", "crd", "-o", "json").stdout)["items"]
        waiting = [item["metadata"]["name"] for item in items if not any(
            condition["type"] == "Established" and condition["status"] == "True"
            for condition in item.get("status", {}).get("conditions") or [])]
        return not waiting or waiting
    kit.wait_until("definitions are established", established)


def certificates(plane, folder):
    """tls.crt and tls.key for 127.0.0.1, signed by the authority of the plane."""
    os.makedirs(plane.path(folder), exist_ok=True)
    plane.sign(os.path.join(folder, "tls"), "/CN=localhost", "subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    return plane.path(folder)


def webhooks(plane, file, prefix, port, pod_label=None):
    """The webhook configurations of a file, reached by address. With `pod_label` those for pods see only pods that have it."""
    with open(plane.path("ca.crt"), "rb") as authority:
        bundle = base64.b64encode(authority.read()).decode()
    with open(file, encoding="utf-8") as text:
        docs = [doc for doc in yaml.safe_load_all(text) if doc and "Webhook" in doc["kind"]]
    for doc in docs:
        doc["metadata"] = {"name": f"{prefix}-{doc['kind'].lower()}"}
        for hook in doc["webhooks"]:
            path = hook["clientConfig"]["service"].get("path", "/")
            hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
            if pod_label and any("pods" in rule["resources"] for rule in hook["rules"]):
                hook["objectSelector"] = {"matchExpressions": [{"key": pod_label, "operator": "Exists"}]}
    return docs


def configured(plane, name, api, webhook=None, env=None, **more):
    """Starts an operator that reads a file of the form that several have in common. The port of its webhooks."""
    port, health = free_port(), free_port()
    with open(plane.path(name + ".yaml"), "w", encoding="utf-8") as file:
        yaml.safe_dump({"apiVersion": api, "kind": "Configuration",
                        "webhook": {"port": port, "host": "127.0.0.1", **(webhook or {})},
                        "metrics": {"bindAddress": "0"}, "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
                        "leaderElection": {"leaderElect": False}, **more}, file)
    start(plane, name, os.path.join(binaries(name), name), "--config", plane.path(name + ".yaml"), env=env)
    plane.wait_for(name, f"http://127.0.0.1:{health}/readyz")
    return port


def lws(plane):
    source = module_folder("sigs.k8s.io/lws")
    define(plane, source + "/config/crd/bases/*.yaml")
    plane.kubectl("create", "namespace", "lws-system")
    port = configured(plane, "lws", "config.lws.x-k8s.io/v1alpha1", {"certDir": certificates(plane, "certificates-lws")},
                      internalCertManagement={"enable": False})
    apply(plane, webhooks(plane, source + "/config/webhook/manifests.yaml", "lws", port, "leaderworkerset.sigs.k8s.io/name"))


def jobset(plane):
    source = module_folder("sigs.k8s.io/jobset")
    define(plane, source + "/config/components/crd/bases/*.yaml")
    plane.kubectl("create", "namespace", "jobset-system")
    port = configured(plane, "jobset", "config.jobset.x-k8s.io/v1alpha1", {"certDir": certificates(plane, "certificates-jobset")},
                      internalCertManagement={"enable": False})
    apply(plane, webhooks(plane, source + "/config/components/webhook/manifests.yaml", "jobset", port,
                          "jobset.sigs.k8s.io/jobset-name"))


def kuberay(plane):
    define(plane, module_folder("github.com/ray-project/kuberay/ray-operator") + "/config/crd/bases/*.yaml")
    health = free_port()
    start(plane, "kuberay", os.path.join(binaries("kuberay"), "kuberay"), "--metrics-addr=0",
          f"--health-probe-bind-address=127.0.0.1:{health}", "--enable-leader-election=false")
    plane.wait_for("kuberay", f"http://127.0.0.1:{health}/readyz")


def trainer(plane):
    """Makes JobSets, whose controller has to run too."""
    source = module_folder("github.com/kubeflow/trainer/v2")
    define(plane, source + "/manifests/base/crds/*.yaml")
    plane.kubectl("create", "namespace", "kubeflow-system")
    certificates(plane, "trainer/k8s-webhook-server/serving-certs")  # where its libraries look, below the temporary folder
    port = configured(plane, "trainer", "config.trainer.kubeflow.org/v1alpha1", env={"TMPDIR": plane.path("trainer")},
                      certManagement={"enable": False})
    apply(plane, webhooks(plane, source + "/manifests/base/webhook/manifests.yaml", "trainer", port))


# Fixed in training-operator, which looks whether the files are there and takes its certificate from elsewhere.
FIXED_FOLDER = "/tmp/k8s-webhook-server/serving-certs"


def training_operator(plane):
    """All its kinds but MPIJob, which is mpi-operator's here."""
    source = module_folder("github.com/kubeflow/training-operator")
    define(plane, source + "/manifests/base/crds/*[!i]jobs.yaml")
    plane.kubectl("create", "namespace", "kubeflow")
    # Its own rotation of certificates wants these two by name.
    apply(plane, [{"apiVersion": "v1", "kind": "Secret", "metadata": {
        "name": "training-operator-webhook-cert", "namespace": "kubeflow"}},
                  {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                   "metadata": {"name": "validator.training-operator.kubeflow.org"}, "webhooks": []}])
    folder = certificates(plane, "training/k8s-webhook-server/serving-certs")
    os.makedirs(FIXED_FOLDER, exist_ok=True)
    for file in ("tls.crt", "tls.key"):
        shutil.copy(os.path.join(folder, file), FIXED_FOLDER)
    health, port = free_port(), free_port()
    start(plane, "training-operator", os.path.join(binaries("training-operator"), "training-operator"),
          "--metrics-bind-address=0", f"--health-probe-bind-address=127.0.0.1:{health}", f"--webhook-server-port={port}",
          "--kube-api-qps=200", "--kube-api-burst=300", "--enable-scheme=pytorchjob", "--enable-scheme=tfjob",
          "--enable-scheme=xgboostjob", "--enable-scheme=jaxjob",
          env={"KUBEFLOW_NAMESPACE": "", "TMPDIR": plane.path("training")})
    plane.wait_for("training-operator", f"http://127.0.0.1:{health}/readyz")


def mpi_operator(plane):
    source = module_folder("github.com/kubeflow/mpi-operator", os.path.join(HERE, "mpi"))
    define(plane, source + "/manifests/base/kubeflow.org_mpijobs.yaml")
    plane.kubectl("create", "namespace", "mpi-operator")
    start(plane, "mpi-operator", os.path.join(binaries("mpi-operator"), "mpi-operator"), "-kubeConfig", plane.kubeconfig,
          "-lock-namespace", "mpi-operator", "-monitoring-port", "0", "-kube-api-qps", "100", "-kube-api-burst", "200")


OPERATORS = {"lws": lws, "jobset": jobset, "kuberay": kuberay, "trainer": trainer, "training-operator": training_operator,
             "mpi-operator": mpi_operator}
