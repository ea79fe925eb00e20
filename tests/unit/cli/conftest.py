"""A terminal that tests of progress and of signals share."""

import os
import subprocess
import sys

import pytest


class Terminal:
    """Starts the program with its messages on a terminal, and reads them."""

    def __init__(self):
        import pty

        self._master, self._slave = pty.openpty()
        self._seen = b""

    def start(self, *words, **options):
        """Return the program, started."""
        command = [sys.executable, "-m", "evcrisp", *map(str, words)]
        self.process = subprocess.Popen(command, stderr=self._slave, text=True, **options)
        os.close(self._slave)
        return self.process

    def read_until(self, text):
        """Read until a text appears."""
        while text.encode() not in self._seen:
            self._seen += os.read(self._master, 65_536)

    def read_all(self):
        """Read until the program closes its end, and return everything."""
        try:
            while block := os.read(self._master, 65_536):
                self._seen += block
        except OSError:  # the other end is closed
            pass
        os.close(self._master)
        return self._seen.decode()


@pytest.fixture
def terminal():
    if sys.platform == "win32":
        pytest.skip("needs a terminal of POSIX")
    made = Terminal()
    yield made
    made.process.kill()
    made.process.wait()
