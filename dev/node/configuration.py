"""What container runtime, pod network, kubelet and DNS are told, as texts and objects."""

import json
from pathlib import Path
from typing import Any

PAUSE = "localhost/receipts-dev/pause:1"
COREDNS = "localhost/receipts-dev/coredns:1"

SOCKET = "/run/containerd/containerd.sock"  # inside the room, like all of /run
CNI_FOLDER = "cni"
PODS = "10.244.0.0/24"

_DNS = "10.96.0.10"
_DOMAIN = "cluster.local"
_PLUGINS = "/usr/lib/cni"

# restrict_oom_score_adj: where a process may not make itself less likely to be killed than its
# parent, no pod would start without it.
_CONTAINERD = """\
version = 2
root = "{root}"
state = "/run/containerd"
[grpc]
  address = "{socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{root}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{networks}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
"""

_COREFILE = f"""\
.:53 {{
    errors
    health
    ready
    kubernetes {_DOMAIN} in-addr.arpa
}}
"""


def containerd(folder: Path) -> str:
    """Return containerd's configuration file."""
    return _CONTAINERD.format(
        root=folder / "containerd",
        socket=SOCKET,
        pause=PAUSE,
        plugins=_PLUGINS,
        networks=folder / CNI_FOLDER,
    )


def network() -> str:
    """Return the configuration of the pods' network: one bridge, out by the node's address."""
    bridge = {
        "type": "bridge",
        "bridge": "pods",
        "isGateway": True,
        "ipMasq": True,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "ranges": [[{"subnet": PODS}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return json.dumps({"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge, ports]})


def kubelet(folder: Path, *, address: str, authority: Path, control_group: str) -> str:
    """Return the kubelet's configuration file."""
    return json.dumps(
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": address,
            "authentication": {
                "anonymous": {"enabled": False},
                "x509": {"clientCAFile": str(authority)},
            },
            "authorization": {"mode": "Webhook"},
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": control_group,
            "clusterDNS": [_DNS],
            "clusterDomain": _DOMAIN,
            "containerRuntimeEndpoint": f"unix://{SOCKET}",
            "enforceNodeAllocatable": ["pods"],
            # A developer's disk may be nearly full, and images come from this machine alone.
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%"},
            "imageGCHighThresholdPercent": 100,
            "failCgroupV1": False,
            "failSwapOn": False,
            "podLogsDir": str(folder / "logs"),
            "resolvConf": "/dev/null",
            "syncFrequency": "10s",
        }
    )


def dns() -> list[dict[str, Any]]:
    """Return the objects that answer for the names of Services."""
    labels = {"k8s-app": "kube-dns"}
    metadata = {"name": "coredns", "namespace": "kube-system", "labels": labels}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"Corefile": _COREFILE},
    }
    container = {
        "name": "coredns",
        "image": COREDNS,
        "imagePullPolicy": "Never",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 2},
        "volumeMounts": [{"name": "settings", "mountPath": "/etc/coredns"}],
    }
    pod = {
        "serviceAccountName": "coredns",
        "dnsPolicy": "Default",
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
        "volumes": [{"name": "settings", "configMap": {"name": "coredns"}}],
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**metadata, "name": "kube-dns"},
        "spec": {
            "clusterIP": _DNS,
            "selector": labels,
            "ports": [
                {"name": "dns", "port": 53, "protocol": "UDP"},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
            ],
        },
    }
    return [account, *_dns_rights(), settings, deployment, service]


def _dns_rights() -> list[dict[str, Any]]:
    group = "rbac.authorization.k8s.io"
    look = ["list", "watch"]
    role = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "coredns"},
        "rules": [
            {"apiGroups": [""], "resources": ["services", "pods", "namespaces"], "verbs": look},
            {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": look},
        ],
    }
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "coredns"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "coredns"},
        "subjects": [{"kind": "ServiceAccount", "name": "coredns", "namespace": "kube-system"}],
    }
    return [role, binding]


def volumes(folder: Path, *, count: int) -> list[dict[str, Any]]:
    """Return volumes on this machine's disk that claims without a storage class get."""
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"disk-{number}"},
            "spec": {
                "accessModes": ["ReadWriteOnce", "ReadWriteMany"],
                "capacity": {"storage": "20Gi"},
                "persistentVolumeReclaimPolicy": "Retain",
                "hostPath": {"path": str(folder / str(number))},
            },
        }
        for number in range(count)
    ]


def document(objects: list[dict[str, Any]]) -> str:
    """Return objects as one text for kubectl."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
