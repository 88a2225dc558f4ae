"""What the tests with kubectl share: a list of tests, and running them one after the other."""
import os
import shutil
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True
KUBECTL = os.environ.get("KUBECTL") or shutil.which("kubectl")
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def only_embedded(why):
    """A test that a real API server cannot pass, and the reason."""
    def mark(function):
        function.only_embedded = why
        return test(function)
    return mark


def run_tests(only, call):
    """Calls call(function) for each test whose name contains one of the texts (none: all). How many passed and failed."""
    if not KUBECTL:
        print("kubectl is not installed; run: make deps")
        return 0, 1
    passed = failed = 0
    for function in TESTS:
        if only and not any(text in function.__name__ for text in only):
            continue
        started = time.monotonic()
        try:
            call(function)
            passed += 1
            print(f"ok {function.__name__} ({time.monotonic() - started:.1f} s)")
        except (AssertionError, subprocess.TimeoutExpired, ValueError, KeyError) as error:
            failed += 1
            frames = traceback.extract_tb(error.__traceback__)
            line = next((frame for frame in frames if frame.name == function.__name__), frames[-1])
            print(f"FAILED {function.__name__} line {line.lineno}: {type(error).__name__} {error}\n    {line.line}")
        sys.stdout.flush()
    return passed, failed


def finish(passed, failed):
    print(f"{passed} passed, {failed} failed")
    sys.exit(0 if passed and not failed else 1)
