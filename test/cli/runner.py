"""A list of tests, and running them one after the other."""
import sys

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def run_tests(only, finish=lambda: None):
    """Runs each test whose name contains one of the texts (none: all), then finish(); the last line is the sum."""
    passed = failed = 0
    for function in TESTS:
        if only and not any(name in function.__name__ for name in only):
            continue
        try:
            function()
            passed += 1
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"FAIL {function.__name__}: {type(error).__name__} {error}")
    finish()
    print(f"{passed} passed, {failed} failed")
    sys.exit(0 if passed and not failed else 1)
