"""What a bare import or a look at the help costs: nothing heavy."""

import builtins
import json
import subprocess
import sys

import pytest

HEAVY = {"numba", "torch", "matplotlib", "h5py", "rosbags", "scipy", "lz4", "rich"}


def modules_after(code):
    program = f"import sys, json\n{code}\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(json.loads(result.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import evcrisp",
        "import evcrisp; evcrisp.read, evcrisp.open, evcrisp.write",
        "import evcrisp.cli\ntry: evcrisp.cli.main(['--help'])\nexcept SystemExit as e: assert e.code == 0",
        "import evcrisp.cli\ntry: evcrisp.cli.main(['--version'])\nexcept SystemExit as e: assert e.code == 0",
    ],
)
def test_light_uses_load_nothing_heavy(code):
    loaded = modules_after(code)
    assert "evcrisp" in loaded
    assert not loaded & HEAVY


def test_every_public_name_exists_and_is_listed():
    import evcrisp

    for name in evcrisp.__all__:
        assert getattr(evcrisp, name) is not None
    assert set(evcrisp.__all__) <= set(dir(evcrisp))
    with pytest.raises(AttributeError, match="nothing"):
        _ = evcrisp.nothing


def test_importing_everything_replaces_nothing_of_python():
    import evcrisp

    assert not set(evcrisp.__all__) & set(dir(builtins))
    assert "open" in dir(evcrisp)
    assert evcrisp.open is not open
