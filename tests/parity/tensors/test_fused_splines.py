"""Triton kernels, run by its interpreter, give the numbers of the plain operations."""

import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec

import pytest

PROGRAM = """
    import torch
    from evcrisp.tensors import fused_splines, spline
    from evcrisp.tensors.maps import MapLayout
    from evcrisp.tensors.rows import Rows
    from evcrisp.tensors.scatter import Scatter

    torch.manual_seed(0)
    for kind, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        rows = Rows.of_lengths((700, 400), "cpu")
        layout = MapLayout.of(torch.tensor([23, 31]), torch.tensor([17, 12]))
        u, v = (torch.rand(1100, dtype=torch.float64) * 40 - 4 for _ in range(2))
        u[3] = torch.nan
        sides = (rows.spread(side) for side in (layout.width, layout.height, layout.starts))
        places = spline.locate(u, v, *sides, kind)
        weight = torch.rand(1100).to(kind)
        for weights in (None, weight):
            expected = spline.accumulate(places, layout.size, Scatter(), weights)
            found = fused_splines.accumulate(places, layout.size, weights)
            torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
        for one, other in zip(
            fused_splines.slopes(expected, places), spline.slopes(expected, places, Scatter()), strict=True
        ):
            torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)
    empty = spline.Places(*(column[:0] for column in places))
    assert not fused_splines.accumulate(empty, 5).any()
    import numpy as np
    from evcrisp import Events, Window
    from evcrisp.estimators.auto.on_device.auto_batch import AutoBatch, DeviceOptions
    from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
    from evcrisp.motion import Translation

    rng = np.random.default_rng(1)
    edge, t = rng.integers(0, 5, 900), np.sort(rng.integers(0, 20_000, 900))
    x, y = (12 * edge + 300 * t / 1e6).astype(int), rng.integers(0, 40, 900)
    events = Events(x=x, y=y, t=t, p=edge % 2 == 0, resolution=(60, 40))
    batch = WindowBatch.of([Window(events, 0, 20_000)], Translation(), "cpu")
    fused, plain = (AutoBatch(options=DeviceOptions(fused=f)).run(batch) for f in (True, False))
    torch.testing.assert_close(fused.motions.theta, plain.motions.theta, rtol=0, atol=1e-5)
    assert torch.equal(fused.labels.signal, plain.labels.signal)
    print(int(places.inside.sum()), "of", len(u), "inside")
"""


@pytest.mark.skipif(
    find_spec("triton") is None, reason="no triton, which CUDA builds of torch bring"
)
def test_fused_kernels_equal_the_plain_operations():
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        capture_output=True, text=True, check=False, env=environment, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    n_inside, n = (int(word) for word in done.stdout.split() if word.isdecimal())
    assert 200 < n_inside < n
