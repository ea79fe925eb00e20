import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, Events, FormatError
from evcrisp.filters import denoise
from evcrisp.kernels.filters.learned import mlpf
from evcrisp.metrics import rank_auc, sensitivity, specificity

ONE_UNIT = {
    "hidden_kernel": np.zeros((98, 1), np.float32),
    "hidden_bias": np.zeros(1, np.float32),
    "output_kernel": np.ones((1, 1), np.float32),
    "output_bias": np.zeros(1, np.float32),
}


def saved(path, **changes):
    arrays = {name: value for name, value in {**ONE_UNIT, **changes}.items() if value is not None}
    np.savez(path, **arrays)
    return path


def probe(position):
    """Return a hidden kernel that copies one input."""
    kernel = np.zeros((98, 1), np.float32)
    kernel[position] = 1.0
    return kernel


def logit(score):
    return np.log(score / (1 - score))


def toy(p=(1, 0, 1)):
    """Return three events: the second is right of the first, the third on the first."""
    return Events(x=[4, 5, 4], y=[4, 4, 4], t=[0, 40_000, 60_000], p=p, resolution=(10, 10))


@pytest.mark.parametrize(
    ("position", "event", "value"),
    [
        (24, 2, 0.4),  # center: age of the previous event of the pixel, 60 ms
        (24, 0, 0.0),  # center of a first event
        (24 + 7, 2, 0.8),  # one column to the right is one step of seven
        (24 - 7, 1, 0.6),  # one column to the left
        (49 + 24, 2, 1.0),  # center: the event's own polarity
        (49 + 24 - 7, 1, 1.0),  # polarity of the pixel to the left
        (24 + 1, 2, 0.0),  # one row down has not fired
    ],
)
def test_inputs_of_three_events(tmp_path, position, event, value):
    path = saved(tmp_path / "probe.npz", hidden_kernel=probe(position))
    score = denoise(toy(), "mlpf", weights=path).score
    assert logit(score[event]) == pytest.approx(value, abs=1e-5)


def test_polarity_of_off_event_is_negative(tmp_path):
    path = saved(tmp_path / "probe.npz", hidden_kernel=-probe(49 + 24 + 7))
    score = denoise(toy(), "mlpf", weights=path).score
    assert logit(score[2]) == pytest.approx(1.0, abs=1e-5)


def test_jaer_drops_first_event_of_each_pixel(tmp_path):
    path = saved(tmp_path / "one.npz")
    labels = denoise(toy(), "mlpf", "jaer", weights=path)
    assert labels.signal.tolist() == [False, False, True]
    assert labels.score[:2].tolist() == [0.0, 0.0]


def test_kugamas_gives_recent_pixels_the_polarity_of_the_event(tmp_path):
    path = saved(tmp_path / "probe.npz", hidden_kernel=probe(49 + 24 + 7))
    intended = denoise(toy(), "mlpf", weights=path).score
    kugamas = denoise(toy(), "mlpf", "kugamas", weights=path).score
    assert logit(intended[2]) == pytest.approx(0.0, abs=1e-5)  # an OFF event, cut off at zero
    assert logit(kugamas[2]) == pytest.approx(1.0, abs=1e-5)


def test_any_number_of_hidden_units_is_accepted(tmp_path):
    wide = {"hidden_kernel": np.zeros((98, 33)), "hidden_bias": np.zeros(33)}
    path = saved(tmp_path / "wide.npz", **wide, output_kernel=np.ones((33, 1)))
    np.testing.assert_allclose(denoise(toy(), "mlpf", weights=path).score, 0.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_bias": None}, "the weights 'hidden_bias' are missing"),
        ({"hidden_kernel": np.zeros((50, 20))}, r"must be \(98, 'any'\); got \(50, 20\)"),
        ({"hidden_kernel": np.zeros(98)}, r"must be \(98, 'any'\); got \(98,\)"),
        ({"hidden_bias": np.zeros(7)}, "hidden layer has several sizes"),
        ({"output_bias": np.array([np.nan])}, "'output_bias' are not finite"),
        ({"output_bias": np.array([1])}, "'output_bias' are not finite"),
    ],
)
def test_weights_of_another_network_raise(tmp_path, changes, message):
    with pytest.raises(FormatError, match=message):
        denoise(toy(), "mlpf", weights=saved(tmp_path / "bad.npz", **changes))


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut off"])
def test_file_that_is_not_an_archive_raises(tmp_path, content):
    path = tmp_path / "bad.npz"
    path.write_bytes(content)
    with pytest.raises(FormatError, match="not a file of weights"):
        denoise(toy(), "mlpf", weights=path)


def test_pickled_weights_raise(tmp_path):
    path = tmp_path / "pickle.npz"
    np.savez(path, **{**ONE_UNIT, "hidden_bias": np.array([{}], object)})
    with pytest.raises(FormatError, match="not a file of weights"):
        denoise(toy(), "mlpf", weights=path)


def test_missing_file_raises(tmp_path):
    for name in ("none.npz", "none.pt"):
        with pytest.raises(ConfigError, match="`weights` must be an existing file; got"):
            denoise(toy(), "mlpf", weights=tmp_path / name)


def scripted(path, names):
    """Save a TorchScript module with tensors as attributes, like public files."""
    torch = pytest.importorskip("torch", reason="TorchScript needs torch")
    import warnings

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, array in names.items():
                setattr(self, name, torch.from_numpy(array))

        def forward(self, x):
            return x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchScript is deprecated
        torch.jit.save(torch.jit.script(Module()), str(path))
    return path


def test_public_file_gives_scores_of_equal_arrays(tmp_path, make_events):
    rng = np.random.default_rng(0)
    arrays = {
        "hidden_kernel": rng.standard_normal((98, 20)),
        "hidden_bias": rng.standard_normal(20),
        "output_kernel": rng.standard_normal((20, 1)),
        "output_bias": rng.standard_normal(1),
    }
    arrays = {name: 0.3 * array.astype(np.float32) for name, array in arrays.items()}
    public = {name.replace("hidden", "fc1") + "_read": array for name, array in arrays.items()}
    events = make_events(200, resolution=(12, 10))
    ours = denoise(events, "mlpf", weights=saved(tmp_path / "ours.npz", **arrays))
    theirs = denoise(events, "mlpf", weights=scripted(tmp_path / "public.pt", public))
    np.testing.assert_array_equal(ours.score, theirs.score)


def test_other_torchscript_files_raise(tmp_path):
    path = scripted(tmp_path / "other.pt", {"fc1_kernel_read": np.zeros((98, 20), np.float32)})
    with pytest.raises(FormatError, match="'hidden_bias' are missing"):
        denoise(toy(), "mlpf", weights=path)
    path.write_bytes(b"not a zip archive")
    with pytest.raises(FormatError, match="not a TorchScript file"):
        denoise(toy(), "mlpf", weights=path)


def test_changed_weights_are_read_again(tmp_path):
    import os

    path = saved(tmp_path / "w.npz")
    before = denoise(toy(), "mlpf", weights=path).score
    saved(path, output_bias=np.ones(1, np.float32))
    os.utime(path, ns=(1, 1))
    assert (denoise(toy(), "mlpf", weights=path).score > before).all()


def test_threshold_changes_labels_but_not_scores(make_events):
    events = make_events(500, resolution=(20, 20))
    low, high = (denoise(events, "mlpf", threshold=value) for value in (0.2, 0.8))
    np.testing.assert_array_equal(low.score, high.score)
    np.testing.assert_array_equal(high.signal, high.score >= 0.8)
    assert (low.signal >= high.signal).all()


def test_map_holds_times_up_to_2_to_the_60():
    assert 4 * 2**60 - mlpf.NEVER // 4 < 2**63


@pytest.mark.parametrize("noise_hz", [1.0, 10.0])
def test_weights_separate_signal_from_noise_in_new_scene(noise_hz):
    scene = evcrisp.simulate(
        resolution=(160, 120), duration_us=60_000, noise_hz=noise_hz, seed=77_000_001
    )
    truth = scene.events.signal
    labels = denoise(scene.events, "mlpf")
    assert rank_auc(labels.score, truth) > 0.93
    assert 0.5 * (sensitivity(labels.signal, truth) + specificity(labels.signal, truth)) > 0.85
    assert rank_auc(labels.score, truth) > rank_auc(denoise(scene.events, "stcf").score, truth)
