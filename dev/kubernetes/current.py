"""The cluster of the current kubectl context, as it is: nothing is started and nothing removed."""

import os
import subprocess

from dev import folders
from dev.errors import StartError
from dev.kubernetes import kubectl
from dev.kubernetes.cluster import Cluster


class CurrentCluster(Cluster):
    """Whoever sets CLUSTER=current gives us this cluster to work in."""

    def start(self) -> None:
        folders.make_passage(self.folder)
        context = subprocess.run(
            [str(kubectl.find()), "config", "view", "--raw", "--flatten", "--minify"],
            check=False,
            capture_output=True,
            text=True,
            env=os.environ,
        )
        if context.returncode != 0:
            raise StartError(f"kubectl has no current context\n{context.stderr.strip()}")
        self.admin_kubeconfig.touch(mode=0o600)
        self.admin_kubeconfig.write_text(context.stdout, encoding="utf-8")
        if not self.is_healthy():
            raise StartError("the cluster of the current kubectl context does not answer")

    def is_healthy(self) -> bool:
        return kubectl.answers(self.admin_kubeconfig)

    def remove(self) -> None:
        """Leave the cluster alone: it was there before us."""
