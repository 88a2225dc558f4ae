"""Runs of the program with hostile input, and what has to hold for each of them."""
import os
import re
import subprocess
import sys
import tempfile
import threading

PLATOON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
FOLDER = tempfile.TemporaryDirectory(prefix="platoon-hostile-")  # goes with this process
SCRATCH = FOLDER.name

# A small quarantine: memory is measured here, and ASan would keep 256 MiB of freed blocks.
ENVIRONMENT = dict(os.environ, LC_ALL="C.UTF-8", ASAN_OPTIONS="detect_leaks=1:quarantine_size_mb=8:exitcode=99",
                   UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1:exitcode=99")
# Control characters other than tab and newline, and bytes that are not UTF-8.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")


class Run:
    """One finished run of the program: exit code (negative: signal), output, seconds, peak memory in MiB.

    Seconds are those of its own processor time: how busy the machine is does not count. One that hangs is ended after
    `timeout` seconds of the clock."""

    def __init__(self, args, feed=None, env=None, timeout=300, **more):
        self.args = args
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            more = {"stdin": subprocess.PIPE if feed is not None else subprocess.DEVNULL, "stdout": out, "stderr": err,
                    "cwd": SCRATCH, **more}
            process = subprocess.Popen([PLATOON, *args], env=dict(ENVIRONMENT, **(env or {})), **more)
            killer = threading.Timer(timeout, process.kill)
            killer.start()
            if feed is not None:
                pour(feed, process.stdin)
            _, status, usage = os.wait4(process.pid, 0)
            killer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            self.code = process.returncode
            out.seek(0)
            err.seek(0)
            self.out_bytes, self.err_bytes = out.read(), err.read()
        self.seconds = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss // 1024
        self.out = self.out_bytes.decode(errors="replace")
        self.err = self.err_bytes.decode(errors="replace")

    def __str__(self):
        return (f"platoon {' '.join(self.args)}: exit {self.code}, {self.seconds:.1f} s, {self.memory} MiB\n"
                f"{self.out[:1500]}{self.err[:3000]}")


def pour(feed, pipe):
    """Writes bytes, or an iterable of them, until the reader has had enough."""
    try:
        for piece in [feed] if isinstance(feed, bytes) else feed:
            pipe.write(piece)
        pipe.close()
    except BrokenPipeError:
        try:
            pipe.close()
        except BrokenPipeError:
            pass


def require(condition, run, what):
    if not condition:
        raise AssertionError(f"{what}\n{run}")


def sane(run, memory=400, seconds=20):
    """What holds for every run, whatever it was given."""
    require("Sanitizer" not in run.err and "runtime error" not in run.err, run, "a sanitizer complained")
    require(run.code in (0, 1, 2), run, "exit code that is not documented")
    for name, text in (("output", run.out), ("messages", run.err)):
        found = CONTROL.search(text)
        require(not found, run, f"the {name} contain a control character: {found and found.group()!r}")
        try:
            (run.out_bytes if name == "output" else run.err_bytes).decode()
        except UnicodeDecodeError as error:
            require(False, run, f"the {name} are not UTF-8: {error}")
    require(run.seconds < seconds, run, f"took longer than {seconds} s")
    require(run.memory < memory, run, f"used more than {memory} MiB")
    return run


def expect(code, args, *texts, feed=None, memory=400, seconds=20, **more):
    """A sane run with this exit code whose output or messages contain every text."""
    run = sane(Run(args, feed, **more), memory, seconds)
    require(run.code == code, run, f"wanted exit code {code}")
    for text in texts:
        require(text in run.out + run.err, run, f"{text!r} is not said")
    return run


def write(name, content):
    path = os.path.join(SCRATCH, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        for piece in [content] if isinstance(content, (bytes, str)) else content:
            file.write(piece.encode() if isinstance(piece, str) else piece)
    return name


def everywhere(code, name, *texts, **limits):
    """The same answer from plan and validate; simulate at least stays sane."""
    for command in ("plan", "validate"):
        expect(code, [command, "-f", name], *texts, **limits)
    sane(Run(["simulate", name]))
