"""Fixtures of the command line tests: a recording, and a terminal."""

import os
import subprocess
import sys

import pytest

import evcrisp


class Terminal:
    """Runs the program with standard error on a terminal, and reads it."""

    def __init__(self):
        import pty

        self._master, self._slave = pty.openpty()
        self._read = b""

    def start(self, *words, **options):
        """Start the program and return its process."""
        command = [sys.executable, "-m", "evcrisp", *map(str, words)]
        self.process = subprocess.Popen(command, stderr=self._slave, text=True, **options)
        os.close(self._slave)
        return self.process

    def read_until(self, text):
        """Read until a text appears."""
        while text.encode() not in self._read:
            self._read += os.read(self._master, 65_536)

    def read_all(self):
        """Read until the program ends, and return all messages."""
        try:
            while block := os.read(self._master, 65_536):
                self._read += block
        except OSError:  # the other end is closed
            pass
        os.close(self._master)
        return self._read.decode()


@pytest.fixture
def terminal():
    if sys.platform == "win32":
        pytest.skip("needs a POSIX terminal")
    made = Terminal()
    yield made
    made.process.kill()
    made.process.wait()


@pytest.fixture
def sample(make_events, tmp_path):
    """Return a recording of 1000 random events."""
    path = tmp_path / "sample.npz"
    evcrisp.write(path, make_events(1000))
    return path


@pytest.fixture(scope="session")
def scene_file(tmp_path_factory):
    """Return a recording of a simulated scene with noise."""
    path = tmp_path_factory.mktemp("scene") / "scene.npz"
    scene = evcrisp.simulate(
        resolution=(80, 60), theta=(250.0, -100.0), duration_us=100_000, noise_hz=10.0, seed=4
    )
    evcrisp.write(path, scene.events)
    return path
