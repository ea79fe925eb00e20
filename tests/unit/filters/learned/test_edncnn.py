import sys

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, Events, FormatError, MissingExtraError
from evcrisp.filters import Labels, build_filter, denoise
from evcrisp.filters.learned.edncnn import CompiledHistory, Edncnn, TorchHistory
from evcrisp.metrics import rank_auc, sensitivity, specificity


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="the network runs in torch")


@pytest.fixture
def network(torch):
    """Return an untrained network with random normalization."""
    from evcrisp.filters.learned import edncnn_network

    torch.manual_seed(0)
    network = edncnn_network.layers()
    for layer in network:
        if isinstance(layer, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(layer.weight, 0.5, 1.5)
            torch.nn.init.normal_(layer.bias)
            torch.nn.init.normal_(layer.running_mean)
            torch.nn.init.uniform_(layer.running_var, 0.5, 1.5)
    return network.eval()


def test_layers_have_number_of_parameters_of_the_publication(network):
    assert sum(p.numel() for p in network.parameters()) == 614_546


def test_fold_gives_equivalent_function(torch, network):
    from evcrisp.filters.learned import edncnn_network

    patches = 10.0 * torch.rand(7, 4, 25, 25)
    mean, scale = patches.mean(0), 1.0 + torch.rand(4, 25, 25)
    arrays = edncnn_network.fold(network, mean, scale)
    assert {name: a.shape for name, a in arrays.items()} == edncnn_network.SHAPES
    tensors = {name: torch.from_numpy(a) for name, a in arrays.items()}
    with torch.inference_mode():
        expected = torch.softmax(network((patches - mean) / scale), 1)[:, 1]
    found = edncnn_network.score(tensors, patches)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-6)


def test_labels_come_in_full_batches(torch, make_events):
    stream = Edncnn(device="cpu").start((30, 20))
    events = make_events(stream.history.batch + 3, resolution=(30, 20))
    assert len(stream.label(events[:5])) == 0
    assert len(stream.label(events[5:])) == stream.history.batch
    assert len(stream.finish()) == 3
    assert len(stream.finish()) == 0


@pytest.mark.parametrize("batch", [1, 7, 64, 400])
def test_torch_history_matches_compiled_history(torch, make_events, batch):
    """With few pixels, batches hold several events of one pixel, and need the earlier history."""
    events = make_events(400, resolution=(6, 5), duration_us=9_000_000)
    plain = CompiledHistory(events.resolution, batch=400).patches(events).numpy()
    history = TorchHistory(events.resolution, "cpu", batch=batch)
    for first in range(0, 400, batch):
        part = events[first : first + batch]
        found = history.patches(part)[: len(part)].numpy()
        np.testing.assert_allclose(found, plain[first : first + batch], atol=2e-6)


def test_scores_with_torch_history_match(torch):
    scene = evcrisp.simulate(resolution=(64, 48), duration_us=20_000, noise_hz=10.0, seed=3)
    events = scene.events[:3000]
    config = Edncnn(device="cpu")
    stream = config.start(events.resolution)
    stream.history = TorchHistory(events.resolution, "cpu", batch=1024)
    found = Labels.concatenate([stream.label(events), stream.finish()])
    expected = denoise(events, "edncnn", device="cpu")
    np.testing.assert_allclose(found.score, expected.score, atol=1e-5)


def test_unknown_device_raises(torch):
    with pytest.raises(ConfigError, match="`device` must be auto, cpu or a device.*got 'abacus'"):
        denoise(Events.empty((9, 9)), "edncnn", device="abacus")


def test_scores_on_gpu_match_cpu(torch):
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    scene = evcrisp.simulate(resolution=(128, 96), duration_us=30_000, noise_hz=10.0, seed=3)
    on_gpu = denoise(scene.events, "edncnn", device="cuda")
    again = denoise(scene.events, "edncnn", device="cuda")
    np.testing.assert_array_equal(on_gpu.score, again.score)
    expected = denoise(scene.events, "edncnn", device="cpu")
    np.testing.assert_allclose(on_gpu.score, expected.score, atol=1e-4)


def test_number_of_torch_threads_is_restored(torch, make_events):
    before = torch.get_num_threads()
    denoise(make_events(10, resolution=(30, 20)), "edncnn")
    assert torch.get_num_threads() == before


def test_streams_are_independent(torch, make_events):
    one, other = (make_events(150, resolution=(30, 20), seed=seed) for seed in (1, 2))
    config = build_filter("edncnn")
    streams = [config.start((30, 20)), config.start((30, 20))]
    parts = [stream.label(part) for stream, part in zip(streams, (one, other), strict=True)]
    found = Labels.concatenate([parts[0], streams[0].finish()])
    np.testing.assert_array_equal(found.score, denoise(one, "edncnn").score)


def test_wrong_weights_raise(torch, tmp_path, make_events):
    events = make_events(3)
    path = tmp_path / "w.npz"
    with pytest.raises(ConfigError, match="`weights` must be an existing file"):
        denoise(events, "edncnn", weights=path)
    np.savez(path, mean=np.zeros((4, 25, 25)))
    with pytest.raises(FormatError, match="the weights 'scale' are missing"):
        denoise(events, "edncnn", weights=path)
    with pytest.raises(ConfigError, match="`threshold` must be a number in 0..1; got -1"):
        denoise(events, "edncnn", threshold=-1.0)


def test_missing_torch_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"need.*'torch'.*evcrisp\[torch\]"):
        denoise(Events.empty((9, 9)), "edncnn")


def test_weights_separate_signal_from_noise_in_new_scene(torch):
    scene = evcrisp.simulate(
        resolution=(100, 80), duration_us=60_000, noise_hz=10.0, seed=77_000_002
    )
    truth = scene.events.signal
    labels = denoise(scene.events, "edncnn")
    assert rank_auc(labels.score, truth) > 0.95
    assert 0.5 * (sensitivity(labels.signal, truth) + specificity(labels.signal, truth)) > 0.88
    assert rank_auc(labels.score, truth) > rank_auc(denoise(scene.events, "mlpf").score, truth)
