"""Commands whose clock differs, by libfaketime.

The command `faketime` is not used: it stays in between, and it fails when a process with its number was killed before, because
of what that left in shared memory.
"""
import os

LIBRARY = "/usr/$LIB/faketime/libfaketime.so.1"  # the loader knows what $LIB is


def clock(offset):
    """What to put in front of a command."""
    return ("env", f"FAKETIME={offset}", f"LD_PRELOAD={LIBRARY}")


def sweep(pid):
    """Removes what such a command leaves when it is killed."""
    for name in ("faketime_shm_", "sem.faketime_sem_"):
        try:
            os.unlink(f"/dev/shm/{name}{pid}")
        except FileNotFoundError:
            pass
