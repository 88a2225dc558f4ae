#!/usr/bin/env python3
"""Platoon beside the real controllers of workloads, on a real control plane; nodes and kubelets are played.

    test_operators.py PLATOON [--results FILE] [--rounds N] [--seed N] [TEXT...]

TEXT picks tests by name. The controllers are built once from the Go modules pinned in go.mod: see scripts/kube-binaries.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "kube"))
import runner  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
import cases_builtin  # noqa: E402,F401  pylint: disable=unused-import
import cases_lws  # noqa: E402,F401  pylint: disable=unused-import
import cases_kubeflow  # noqa: E402,F401  pylint: disable=unused-import
import cases_trainer  # noqa: E402,F401  pylint: disable=unused-import
import cases_ray  # noqa: E402,F401  pylint: disable=unused-import
import cases_jobset  # noqa: E402,F401  pylint: disable=unused-import
import cases_preemption  # noqa: E402,F401  pylint: disable=unused-import
import cases_evictions  # noqa: E402,F401  pylint: disable=unused-import
import cases_nodes  # noqa: E402,F401  pylint: disable=unused-import
import cases_stranding  # noqa: E402,F401  pylint: disable=unused-import

if __name__ == "__main__":
    sys.exit(runner.main("operators", ControlPlane))
