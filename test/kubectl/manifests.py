"""Objects that several tests with kubectl use."""


def pod(name, labels="app: web", extra="", image="nginx:1"):
    return f"""apiVersion: v1
kind: Pod
metadata:
  name: {name}
  labels: {{{labels}}}
spec:
  containers:
  - name: main
    image: {image}
    env: [{{name: A, value: "1"}}]
    resources: {{requests: {{cpu: 100m}}}}
{extra}"""


DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: dep, labels: {app: dep}}
spec:
  replicas: 2
  selector: {matchLabels: {app: dep}}
  template:
    metadata: {labels: {app: dep}}
    spec:
      containers:
      - {name: main, image: "nginx:1"}
      - {name: side, image: "envoy:1"}
"""

NODE = """apiVersion: v1
kind: Node
metadata: {name: %s, labels: {node-role.kubernetes.io/worker: "", rack: r1}}
status:
  capacity: {cpu: "8", memory: 16Gi, pods: "110"}
  allocatable: {cpu: "8", memory: 16Gi, pods: "110"}
  conditions: [{type: Ready, status: "True", reason: KubeletReady, lastHeartbeatTime: null, lastTransitionTime: null}]
  addresses: [{type: InternalIP, address: 10.0.0.1}]
  nodeInfo: {kubeletVersion: v1.32.0, osImage: sim, kernelVersion: "6", containerRuntimeVersion: "none://1", architecture: amd64,
    operatingSystem: linux, bootID: "", machineID: "", systemUUID: "", kubeProxyVersion: ""}
"""
