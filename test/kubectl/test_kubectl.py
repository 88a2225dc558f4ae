#!/usr/bin/env python3
"""Plain kubectl against the embedded API server. `make check-kube` runs the same cases against a real one.

    test_kubectl.py SERVER [TEXT...]        TEXT picks tests by name

The last line is `N passed, M failed`.
"""
import os
import sys
import tempfile

from cluster import Embedded
from harness import finish, run_tests
import cases  # noqa: F401  pylint: disable=unused-import
import cases_embedded  # noqa: F401  pylint: disable=unused-import
import cases_kinds  # noqa: F401  pylint: disable=unused-import


def main():
    with tempfile.TemporaryDirectory() as folder:
        cluster = Embedded(os.path.abspath(sys.argv[1]), folder)

        def in_a_namespace(function):
            cluster.namespace = "t-" + function.__name__.replace("_", "-")
            cluster.ok("create", "ns", cluster.namespace, "-n", "default")
            function(cluster)

        passed, failed = run_tests(sys.argv[2:], in_a_namespace)
        try:
            cluster.stop()
        except AssertionError as error:
            failed += 1
            print(f"FAILED the end of the server: {error}")
    finish(passed, failed)


if __name__ == "__main__":
    main()
