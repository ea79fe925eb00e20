import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import evcrisp
from evcrisp import ConfigError, FormatError, UnknownNameError
from evcrisp.cli import main
from evcrisp.filters import denoise
from evcrisp.training import (
    LabeledRecordings,
    TrainingConfig,
    simulate_recordings,
    train,
)
from evcrisp.training.scenes import TEST_LEVELS_HZ, held_out_scene, training_scene

pytestmark = pytest.mark.slow


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch", reason="networks are trained in torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # small batches on cores that other tests use too
    yield torch
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def recordings():
    """Return four small training scenes and two held-out ones."""
    events = [
        evcrisp.simulate(
            resolution=(60, 45), duration_us=50_000, theta=(400.0, 50.0 * i), noise_hz=10.0, seed=i
        ).events
        for i in range(6)
    ]
    return LabeledRecordings(tuple(events), np.array([0.0, 0.0, 0.0, 0.0, 10.0, 10.0]), 0)


def quick(**changes):
    settings = {"epochs": 8, "samples": 4096, "device": "cpu", "test_events": 500}
    return TrainingConfig(**(settings | changes))


def test_scene_depends_on_seed_alone():
    assert training_scene(5) == training_scene(5)
    assert training_scene(5) != training_scene(6)
    assert held_out_scene(5, 10.0) != training_scene(5)


def test_held_out_scene_has_given_noise_level():
    for level in TEST_LEVELS_HZ:
        noise = held_out_scene(3, level).noise
        assert noise.uniform_hz + noise.shot_hz + noise.leak_hz == pytest.approx(level)


def test_recordings_survive_save_and_load(tmp_path, recordings):
    path = tmp_path / "data.npz"
    recordings.save(path)
    again = LabeledRecordings.load(path)
    assert all(a.equals(b) for a, b in zip(recordings.events, again.events, strict=True))
    assert again.level_hz.tolist() == recordings.level_hz.tolist()
    assert len(again.training) == 4
    assert len(again.held_out) == 2


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04"])
def test_other_file_raises(tmp_path, content):
    path = tmp_path / "data.npz"
    path.write_bytes(content)
    with pytest.raises(FormatError, match="not a file of training recordings"):
        LabeledRecordings.load(path)


def test_file_without_column_raises(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, x=np.zeros(3))
    with pytest.raises(FormatError, match="not a file of training recordings"):
        LabeledRecordings.load(path)


def test_simulated_recordings_have_labels_and_are_reproducible():
    calls = []
    found = simulate_recordings(1, n_test=1, on_scene=lambda i, n: calls.append((i, n)))
    assert calls[-1] == (8, 8)
    assert found.level_hz.tolist() == [0.0, *TEST_LEVELS_HZ]
    assert all(part.signal is not None for part in found.events)
    again = evcrisp.simulate(held_out_scene(6, TEST_LEVELS_HZ[6])).events
    assert found.events[-1].equals(again[: len(found.events[-1])])


@pytest.mark.parametrize("changes", [{"n_scenes": 0}, {"seed": -1}, {"n_test": 0}, {"workers": 0}])
def test_wrong_number_of_scenes_raises(changes):
    settings = {"n_scenes": 1, **changes}
    with pytest.raises(ConfigError, match=f"`{next(iter(changes))}` must be a number in"):
        simulate_recordings(settings.pop("n_scenes"), **settings)


def test_inputs_match_filters(torch, recordings):
    from evcrisp.filters.learned.encoding import LOG_FLOOR, MISSING_US, NEVER_US, TAU_US
    from evcrisp.kernels.filters.learned import edncnn, mlpf
    from evcrisp.training.lookup import EventTable, edncnn_inputs, mlpf_inputs

    events = recordings.events[1][:300].contiguous()
    columns = (events.x, events.y, events.t, events.p.view(np.uint8))
    # The events follow those of another recording, like in training.
    both = [recordings.events[0], events]
    index = torch.arange(300) + len(both[0])
    last = np.full((2, 2, 45 + 24, 60 + 24), NEVER_US, np.int64)
    expected = np.empty((300, 4, 25, 25), np.float32)
    edncnn.gather_patches(*columns, last, MISSING_US, LOG_FLOOR, expected)
    found = edncnn_inputs(EventTable.build(both, 12, 2), index)
    np.testing.assert_allclose(found.numpy(), expected, atol=2e-5)
    found = mlpf_inputs(EventTable.build(both, 3, 1), index, TAU_US).numpy()
    last = np.full((60 + 6, 45 + 6), mlpf.NEVER, np.int64)
    inputs = np.zeros((98, mlpf.ROW), np.float32)
    skip = np.zeros(mlpf.BLOCK, np.bool_)
    for first in range(0, 300, mlpf.BLOCK):
        part = [column[first : first + mlpf.BLOCK] for column in columns]
        mlpf.encode(*part, last, TAU_US, mlpf.INTENDED, inputs, skip)
        n = part[0].size
        np.testing.assert_allclose(inputs[:, :n].T, found[first : first + n], atol=1e-6)


@pytest.mark.parametrize(("name", "n_channels", "side"), [("mlpf", 2, 7), ("edncnn", 4, 25)])
def test_augmentation_has_eight_variants_around_the_event(torch, name, n_channels, side):
    from evcrisp.training.networks import NETWORKS

    images = torch.rand(2, n_channels, side, side)
    inputs = images.reshape(2, -1) if name == "mlpf" else images
    variants = [NETWORKS[name].augment(inputs, torch.tensor(code)) for code in range(8)]
    assert torch.equal(variants[0], inputs)
    assert len({tuple(other.flatten().tolist()) for other in variants}) == 8
    for other in variants:
        other = other.reshape(images.shape)
        middle = side // 2
        assert torch.equal(other[:, :, middle, middle], images[:, :, middle, middle])
        for channel in range(n_channels):
            same = (other[:, channel].flatten().sort(), images[:, channel].flatten().sort())
            assert torch.equal(same[0].values, same[1].values)


def test_training_reduces_loss_and_is_reproducible(torch, recordings):
    before = torch.random.get_rng_state()
    first = train("mlpf", recordings, quick())
    assert torch.equal(before, torch.random.get_rng_state())
    assert first.losses[-1] < first.losses[0]
    second = train("mlpf", recordings, quick())
    other = train("mlpf", recordings, quick(seed=1))
    for name, array in first.arrays.items():
        np.testing.assert_array_equal(array, second.arrays[name])
    assert not np.array_equal(first.arrays["hidden_kernel"], other.arrays["hidden_kernel"])
    (level,) = first.card["held_out"]
    assert level["noise_hz"] == 10.0
    assert level["auc"] > 0.7


def test_few_steps_reduce_loss_of_edncnn(torch, recordings):
    calls = []
    config = quick(epochs=30, samples=64, test_events=200)
    trained = train("edncnn", recordings, config, lambda i, loss: calls.append(loss))
    assert calls == list(trained.losses)
    assert np.mean(trained.losses[-10:]) < 0.8 * np.mean(trained.losses[:10])
    assert trained.card["held_out"][0]["auc"] > 0.8
    assert trained.card["parameters"] == 614_546


def test_wrong_settings_raise(recordings):
    with pytest.raises(ConfigError, match="`epochs` must be a number, 1 or more; got 0"):
        TrainingConfig(epochs=0)
    with pytest.raises(
        ConfigError, match="`device` must be one of 'auto', 'cpu', 'cuda'; got 'tpu'"
    ):
        TrainingConfig(device="tpu")
    with pytest.raises(UnknownNameError, match="Unknown network 'mlp'. Did you mean 'mlpf'"):
        train("mlp", recordings)


def test_missing_gpu_raises_before_simulation(torch, tmp_path):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    words = ["train", "mlpf", "-o", str(tmp_path / "my.npz"), "--device", "cuda"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "--device must be auto, cpu or a device that torch finds; got 'cuda'" in result.output
    assert not list(tmp_path.iterdir())


def test_recordings_without_signal_raise(torch, recordings):
    events = recordings.events[0]
    noise = LabeledRecordings((events.with_signal(np.zeros(len(events), bool)),), np.zeros(1), 0)
    with pytest.raises(ConfigError, match="must have signal and noise"):
        train("mlpf", noise, quick())


def test_command_writes_weights_for_the_filter(torch, tmp_path, recordings, make_events):
    data, weights = tmp_path / "data.npz", tmp_path / "my.npz"
    recordings.save(data)
    words = ["train", "mlpf", "-o", str(weights), "--data", str(data)]
    words += ["--epochs", "1", "--samples", "4096", "--device", "cpu"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "balanced accuracy" in result.output
    card = json.loads((tmp_path / "my.json").read_text())
    n_events = sum(map(len, recordings.training.events))
    assert card["data"] == {"recordings": 4, "events": n_events, "seed": 0}
    assert len(denoise(make_events(20), "mlpf", weights=weights)) == 20
    again = CliRunner().invoke(main, words)
    assert again.exit_code == 1
    assert "Replace it with --force" in again.output
    wrong = CliRunner().invoke(main, ["train", "mlpf", "-o", str(tmp_path / "my.json")])
    assert wrong.exit_code == 2
    assert "ends in .npz" in wrong.output


def test_training_from_file_needs_only_numpy_and_torch(torch, tmp_path, recordings):
    path = tmp_path / "data.npz"
    recordings.save(path)
    program = (
        "import sys\n"
        "for name in ('numba', 'click', 'rich', 'lz4'): sys.modules[name] = None\n"
        "from pathlib import Path\n"
        "from evcrisp.training import LabeledRecordings, TrainingConfig, train\n"
        "recordings = LabeledRecordings.load(Path(sys.argv[1]))\n"
        "config = TrainingConfig(epochs=1, samples=64, device='cpu', test_events=10)\n"
        "assert train('mlpf', recordings, config).arrays['hidden_kernel'].shape == (98, 20)\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
