#!/usr/bin/env python3
"""What a benchmark says while it measures: on standard error of a terminal, and nowhere else.

    test_stage.py BENCH
"""
import os
import pty
import subprocess
import sys

BENCH = [sys.argv[1], "--quick"]


def on_terminal(**env):
    """Standard output, and what a terminal at standard error got."""
    master, slave = pty.openpty()
    child = subprocess.Popen(BENCH, stdout=subprocess.PIPE, stderr=slave, text=True, env=dict(os.environ, **env))
    os.close(slave)
    out, _ = child.communicate(timeout=120)
    told = b""
    try:
        while piece := os.read(master, 4096):
            told += piece
    except OSError:  # the other end is closed
        pass
    os.close(master)
    return out, told.decode()


def main():
    for env in ({}, {"NO_COLOR": "1"}):
        out, told = on_terminal(**env)
        assert "2 groups ..." in told and "8 groups ..." in told, told
        assert told.endswith("\r\x1b[K"), "the last line is taken away"
        assert "..." not in out and "\x1b" not in out, out
    piped = subprocess.run(BENCH, capture_output=True, text=True, check=True, timeout=120)
    assert piped.stderr == "" and "\x1b" not in piped.stdout, piped.stderr
    print("passed")


if __name__ == "__main__":
    main()
