"""Methods of tables and benches on a device: which run there, and that their numbers stay the same."""

import pytest

from evcrisp.core.errors import ConfigError
from evcrisp.experiments.bench.options import BenchOptions
from evcrisp.experiments.methods import AUTO, ZERO, device_name, method_for
from evcrisp.experiments.reproduction import reproduce
from evcrisp.experiments.tables import Options

pytest.importorskip("torch")

DEVICE = "torch-cpu"


def test_methods_with_a_parallel_form_run_on_the_device():
    keys = ("auto", "baf", "ebf", "dwf", "exact", "eja", "baf+cmax")
    rows = [method_for(key).on(DEVICE) for key in keys]
    assert [row.key for row in rows if row.device == DEVICE] == ["auto", "baf", "ebf"]
    assert ZERO.on(DEVICE).device is None
    assert AUTO.on(None) is AUTO


def test_the_device_is_part_of_the_configuration_of_a_row():
    assert AUTO.on(DEVICE).config() == {**AUTO.config(), "device": DEVICE}
    assert "device" not in BenchOptions(device=DEVICE).settings()


def test_names_of_devices_are_checked():
    assert device_name(None) is None
    assert device_name("cpu") is None
    assert device_name(DEVICE) == DEVICE
    with pytest.raises(ConfigError, match="must be one of 'cpu'"):
        device_name("gpu")


@pytest.mark.slow
def test_a_table_is_computed_on_a_device(tmp_path):
    values = {}
    for device in (None, DEVICE):
        options = Options(methods=("baf", "auto"), device=device)
        part = reproduce("table1", tmp_path / str(device), small=True, options=options)
        assert not part.outcome.failures
        values[device] = [numbers["esr"] for numbers in part.outcome.numbers()]
        notes = part.tables[0].notes
        assert (f"Computed on {DEVICE}: baf, auto." in notes) == (device is not None)
    assert values[DEVICE] == pytest.approx(values[None], rel=0.01)
