#!/usr/bin/env python3
"""Platoon on a real control plane: etcd and kube-apiserver of the pinned release, nodes and kubelets simulated.

    test_kube.py PLATOON [--results FILE] [--seed N] [--long] [TEXT...]

TEXT picks tests by name. --long makes faults last longer, --seed chooses them. FILE gets a line `passed NAME` or
`failed NAME` per test. The last line is `N passed, M failed`.
"""
import sys

import runner
from control_plane import ControlPlane
from installed import ACCOUNT
import cases_rights  # noqa: F401  pylint: disable=unused-import
import cases_install  # noqa: F401  pylint: disable=unused-import
import cases_definitions  # noqa: F401  pylint: disable=unused-import
import cases_devices  # noqa: F401  pylint: disable=unused-import
import cases_webhooks  # noqa: F401  pylint: disable=unused-import
import cases_encodings  # noqa: F401  pylint: disable=unused-import
import cases_expressions  # noqa: F401  pylint: disable=unused-import
import cases_faults  # noqa: F401  pylint: disable=unused-import
import cases_kubectl  # noqa: F401  pylint: disable=unused-import
import cases_claims  # noqa: F401  pylint: disable=unused-import
import cases_leaders  # noqa: F401  pylint: disable=unused-import
import cases_native  # noqa: F401  pylint: disable=unused-import
import cases_run  # noqa: F401  pylint: disable=unused-import
import cases_schedulers  # noqa: F401  pylint: disable=unused-import
import cases_scenarios  # noqa: F401  pylint: disable=unused-import

FLAGS = ["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"]


if __name__ == "__main__":
    sys.exit(runner.main("kube", lambda: ControlPlane(audited=[ACCOUNT], flags=FLAGS)))
