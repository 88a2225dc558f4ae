"""A program on a pseudo terminal, and what its screen shows."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

TOKEN = re.compile(rb"\x1b\[([0-9;?]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)|(.)", re.S)


def environment(**changes):
    """The environment with a colour terminal and no wishes of the tester's own."""
    env = {key: value for key, value in os.environ.items()
           if key not in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "KUBECONFIG")}
    return dict(env, **{"TERM": "xterm-256color", "LANG": "C.UTF-8", **changes})


class Terminal:
    def __init__(self, command, cwd, env=None, rows=30, columns=110, stdout_only=False):
        self.leader, self.follower = pty.openpty()
        self.resize(rows, columns, tell=False)
        self.before = termios.tcgetattr(self.follower)
        self.output = b""
        stdin = subprocess.DEVNULL if stdout_only else self.follower
        self.process = subprocess.Popen(command, cwd=cwd, stdin=stdin, stdout=self.follower, stderr=self.follower,
                                        env=env or environment(), start_new_session=True,
                                        preexec_fn=None if stdout_only else lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def resize(self, rows, columns, tell=True):
        self.rows, self.columns = rows, columns
        fcntl.ioctl(self.leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            self.output = b""

    def read(self, seconds=0.1):
        ready, _, _ = select.select([self.leader], [], [], seconds)
        if ready:
            self.output += os.read(self.leader, 1 << 16)
        return bool(ready)

    def send(self, keys):
        os.write(self.leader, keys.encode())

    def lines(self):
        """The screen, as far as our own drawing needs it: home, clear, lines, and text."""
        screen, row, column = [[" "] * self.columns for _ in range(self.rows)], 0, 0
        for token in TOKEN.finditer(self.output):
            arguments, command, back, down, text, _ = token.groups()
            if command == b"H":
                row = column = 0
            elif command == b"J" and arguments == b"2":
                screen = [[" "] * self.columns for _ in range(self.rows)]
            elif command == b"K":
                screen[row][column:] = [" "] * (self.columns - column)
            elif back:
                column = 0
            elif down:
                row = min(row + 1, self.rows - 1)
            elif text:
                for letter in text.decode(errors="replace"):
                    if column < self.columns:
                        screen[row][column] = letter
                    column = min(column + 1, self.columns)
        return ["".join(line).rstrip() for line in screen]

    def wait(self, *wanted, seconds=60):
        """Until all these texts are on the screen."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            # Only whole pictures count: the program has written all of one when nothing more comes.
            while self.read():
                pass
            shown = "\n".join(self.lines())
            if all(text in shown for text in wanted):
                return shown
            assert self.process.poll() is None, f"it ended:\n{shown}"
        raise AssertionError(f"{wanted} is not on the screen:\n{shown}")

    def end(self, seconds=60):
        """Waits for the end: exit code, and everything it wrote."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        while self.read(0.2):
            pass
        code = self.process.poll()
        assert code is not None, "it does not end"
        return code, self.output.decode(errors="replace")

    def restored(self):
        """Whether the modes are as before, and the screen and cursor were given back last."""
        text = self.output.decode(errors="replace")
        return (termios.tcgetattr(self.follower) == self.before and
                text.rfind("\x1b[?1049l") > text.rfind("\x1b[?1049h") and
                text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l") and text.rfind("\x1b[?7h") > text.rfind("\x1b[?7l"))

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.leader)
        os.close(self.follower)
