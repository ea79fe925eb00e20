"""The same input gives the same bytes, whatever the environment."""

import os
import subprocess
import sys

import pytest

import evcrisp

pytestmark = pytest.mark.slow

ENVIRONMENTS = {
    "hash seed": {"PYTHONHASHSEED": "12345"},
    "one thread": {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    "place": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati"},
}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "scene.npz"
    scene = evcrisp.simulate(resolution=(96, 72), duration_us=60_000, noise_hz=5.0, seed=4)
    evcrisp.write(path, scene.events)
    return path


def outputs(recording, folder, environment):
    """Return the bytes of all outputs of some commands."""
    for words in (
        f"run {recording} -o {folder}/run",
        f"filter {recording} {folder}/filtered.npz -m stcf --labels {folder}/labels.npz",
        f"convert {recording} {folder}/converted.raw",
    ):
        command = [sys.executable, "-m", "evcrisp", *words.split()]
        subprocess.run(
            command, check=True, capture_output=True, timeout=600, env={**os.environ, **environment}
        )
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def usual(recording, tmp_path_factory):
    return outputs(recording, tmp_path_factory.mktemp("usual"), {})


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_outputs_do_not_depend_on_the_environment(recording, usual, tmp_path, name):
    found = outputs(recording, tmp_path, ENVIRONMENTS[name])
    assert len(usual) == 8
    assert found == usual
