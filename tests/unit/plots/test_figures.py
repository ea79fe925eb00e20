"""Common rules of all figures, and the content of each."""

import re
import sys

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, EventDataError, Events, MissingExtraError, UnknownNameError
from evcrisp.core.palettes import PALETTES, rgb
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.metrics import roc_curve
from evcrisp.plots import FIGURES, draw_outcomes, draw_xyt, figure, save_figure
from evcrisp.plots.scatter import OUTCOMES, STRIP_PX
from evcrisp.plots.style import new_figure

pytestmark = pytest.mark.slow

kinds = pytest.mark.parametrize("kind", FIGURES)


@kinds
def test_fixture_has_data_for_every_figure(kind, figure_data):
    assert set(FIGURES[kind].needs) <= set(figure_data[kind])


@kinds
@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_same_data_give_the_same_bytes(kind, suffix, start, figure_data, tmp_path):
    paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in paths:
        save_figure(figure(kind, **figure_data[kind]), path, dpi=40)
    assert paths[0].read_bytes().startswith(start)
    assert paths[0].stat().st_size > 2000
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_figure_is_saved_as_svg(figure_data, tmp_path):
    save_figure(figure("levels", **figure_data["levels"]), tmp_path / "a.svg")
    assert "</svg>" in (tmp_path / "a.svg").read_text()


@kinds
def test_axis_labels_have_units(kind, figure_data):
    made = figure(kind, **figure_data[kind])
    labels = [text for axes in made.axes for text in (axes.get_xlabel(), axes.get_ylabel())]
    # "AUC" and "confidence, 0 to 1" have no unit; panels that share an axis label it once.
    named = [text for text in labels if text and not re.search(r"AUC|0 to 1|events per|λ", text)]
    assert len(named) >= (1 if kind == "levels" else 2)
    for text in named:
        assert re.search(r"\[.+\]", text), text


@kinds
def test_figures_do_not_change_matplotlib_state(kind, figure_data):
    import matplotlib

    before = dict(matplotlib.rcParams)
    figure(kind, **figure_data[kind])
    assert dict(matplotlib.rcParams) == before
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )


@kinds
def test_missing_data_raises_with_its_name(kind):
    with pytest.raises(ConfigError, match=f"The figure '{kind}' needs `{FIGURES[kind].needs[0]}`"):
        figure(kind)


def test_unknown_figure_raises_with_a_suggestion():
    with pytest.raises(UnknownNameError, match="Did you mean 'pareto'"):
        figure("paretto")


def test_missing_matplotlib_raises_with_the_extra(monkeypatch, scene):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="plot"):
        figure("xyt", events=scene.events)


def test_unsupported_suffix_and_dpi_raise(figure_data, tmp_path):
    made = figure("levels", **figure_data["levels"])
    with pytest.raises(ConfigError, match=r"must end in .png, .pdf, .svg; got 'a.jpg'"):
        save_figure(made, tmp_path / "a.jpg")
    with pytest.raises(ConfigError, match="`dpi` must be a number in 10..2400"):
        save_figure(made, tmp_path / "a.png", dpi=0)


@pytest.mark.parametrize("colors", PALETTES)
def test_scatter_shows_kept_events_of_each_method(colors, scene, estimate):
    labels = {"raw": np.ones(len(scene.events), bool), "auto": estimate.signal}
    made = figure("scatter", events=scene.events, labels=labels, colors=colors)
    assert [axes.get_title() for axes in made.axes] == ["raw", "auto"]
    palette = PALETTES[colors]
    for axes, signal in zip(made.axes, labels.values(), strict=True):
        kept = scene.events[signal]
        image = np.rint(255 * axes.images[0].get_array()).astype(int)
        on = kept[kept.p]
        assert (image[on.y, on.x] == rgb(palette.on)).all()
        empty = np.ones(kept.image_shape, bool)
        empty[kept.y, kept.x] = False
        assert (image[empty] == rgb(palette.ground)).all()


def test_outcomes_have_four_colors_and_counts():
    events = Events(x=[0, 1, 2, 3], y=[0] * 4, t=[0] * 4, p=[1] * 4, resolution=(8, 4))
    axes = draw_outcomes(new_figure(3, 3).subplots(), events, [1, 0, 0, 1], [1, 1, 0, 0])
    image = np.rint(255 * axes.images[0].get_array()).astype(int)
    for x, name in enumerate(("TP", "FN", "TN", "FP")):
        assert tuple(image[0, x]) == rgb(OUTCOMES[name][1])
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert sorted(text[:2] for text in texts) == ["FN", "FP", "TN", "TP"]
    assert all(text.endswith(", 1") for text in texts)
    assert axes.get_title() == "sensitivity 0.500, specificity 0.500"


def test_outcomes_without_true_labels_raise(scene):
    events = scene.events.with_signal(None)
    with pytest.raises(ConfigError, match="true labels are missing"):
        figure("outcomes", events=events, labels={"all": np.ones(len(events), bool)})
    with pytest.raises(EventDataError, match="one per event"):
        figure("scatter", events=events, labels={"short": [True]})


def test_aligned_events_are_drawn_at_their_aligned_positions(estimate):
    made = figure("aligned", estimate=estimate)
    events, kept = estimate.window.events, estimate.signal
    off, on = (dots.get_offsets() for dots in made.axes[1].collections)
    chosen = kept & events.p
    assert np.allclose(on, np.stack((estimate.aligned_x, estimate.aligned_y), 1)[chosen])
    assert len(off) == (kept & ~events.p).sum()
    assert made.axes[0].get_ylim() == (47.5, -0.5)


def test_cloud_has_time_in_milliseconds_and_gray_noise(scene, estimate):
    axes = draw_xyt(new_figure(4, 4).add_subplot(projection="3d"), scene.events, estimate.signal)
    noise, off, on = (dots._offsets3d for dots in axes.collections)
    events = scene.events
    expected = events[estimate.signal & events.p]
    assert np.array_equal(on[0], expected.x)
    assert np.allclose(on[1], (expected.t - events.t[0]) / 1e3)
    assert np.array_equal(on[2], expected.y)
    assert len(noise[0]) == (~estimate.signal).sum()
    assert len(noise[0]) + len(off[0]) + len(on[0]) == len(events)


def test_large_clouds_are_subsampled(make_events):
    axes = draw_xyt(new_figure(4, 4).add_subplot(projection="3d"), make_events(50_000))
    assert sum(len(dots._offsets3d[0]) for dots in axes.collections) == -(-50_000 // 3)


def test_maps_share_one_scale_and_alignment_increases_the_variance(estimate):
    before, after = figure("maps", estimate=estimate).axes[:2]
    assert before.images[0].get_clim() == after.images[0].get_clim()
    n_kept = int(estimate.signal.sum())
    assert before.images[0].get_array().sum() == n_kept
    assert after.images[0].get_array().sum() <= n_kept
    variances = [float(re.search(r"variance ([\d.]+)", a.get_title())[1]) for a in (before, after)]
    assert variances[0] == pytest.approx(before.images[0].get_array().var(), rel=0.01)
    assert variances[1] == pytest.approx(after.images[0].get_array().var(), rel=0.01)
    assert variances[1] > 1.3 * variances[0]


def test_confidence_map_extends_beyond_the_sensor_by_its_padding(estimate):
    axes = figure("w", estimate=estimate).axes[0]
    left, right, bottom, top = axes.images[0].get_extent()
    border = (estimate.w_map.shape[1] - 64) / 2
    assert (left, right) == (-border - 0.5, 64 + border - 0.5)
    assert (bottom, top) == (48 + border - 0.5, -border - 0.5)
    assert axes.images[0].get_clim() == (0.0, 1.0)


def test_confidence_figure_without_a_map_raises(scene):
    with pytest.raises(ConfigError, match="'auto', 'exact' and 'paper' have one"):
        figure("w", estimate=evcrisp.estimate(scene.events, "cmax"))


def mean_count(counts):
    """Return the mean number of events in the column of an event."""
    return (counts**2).sum() / counts.sum()


def test_intro_counts_one_strip_and_alignment_increases_the_peak(estimate):
    made = figure("intro", estimate=estimate)
    before, after = (axes.patches[0].get_data().values for axes in made.axes[2:])
    assert after.max() > 1.3 * before.max()
    row = int(re.search(r"rows (\d+) to", made.axes[0].get_title())[1])
    gain = float(re.search(r"columns ([\d.]+) times", made.axes[1].get_title())[1])
    assert gain == pytest.approx(mean_count(after) / mean_count(before), abs=0.05)
    y = estimate.aligned_y[estimate.signal]
    inside = (y >= row) & (y < row + STRIP_PX)
    x = estimate.aligned_x[estimate.signal][inside]
    assert after.sum() == ((x >= -0.5) & (x <= 63.5)).sum()


def test_roc_draws_curves_with_areas():
    curve = roc_curve([0.1, 0.4, 0.4, 0.8], [False, False, True, True])
    axes = figure("roc", curves={"ours": curve}, points={"ours": (0.5, 1.0)}).axes[0]
    _, line, point = axes.lines
    assert np.array_equal(line.get_xydata(), np.stack((curve.fpr, curve.tpr), 1))
    assert line.get_label() == "ours (AUC 0.875)"
    assert point.get_xydata().tolist() == [[0.5, 1.0]]


def test_pareto_draws_all_points_and_the_regret_solution(front):
    axes = figure("pareto", front=front).axes[0]
    costs = np.stack((front.column("cost_ea"), front.column("cost_ed")), 1)
    assert np.allclose(axes.collections[0].get_offsets(), costs)
    marked = {line.get_label(): line.get_xydata()[0] for line in axes.lines[1:]}
    assert front.is_compromise
    assert np.allclose(marked["compromise: smallest larger regret"], costs[front.regret_index])
    regrets = "regrets {:.3g} (alignment), {:.3g} (denoising)".format(
        *front.regrets[front.regret_index]
    )
    corner = costs.min(axis=0)[0], costs[front.regret_index][1]
    path = {line.get_label(): line.get_xydata() for line in axes.lines}[regrets]
    assert np.allclose(path, [costs.min(axis=0), corner, costs[front.regret_index]])
    assert not axes.texts  # which would cover each other, and the front
    assert np.allclose(marked["ideal"], costs.min(axis=0))
    assert np.allclose(marked["nadir"], costs.max(axis=0))


def test_pareto_names_the_end_that_a_given_baseline_selects(scene):
    window = evcrisp.Window(scene.events, 0, 30_000)
    front = evcrisp.pareto_front(window, scene.motion, ExactRegret(b_hat=1000.0), n_points=3)
    axes = figure("pareto", front=front).axes[0]
    labels = [line.get_label() for line in axes.lines]
    assert "regret solution: the best alignment" in labels
    assert not any("regrets" in label for label in labels)


def test_tradeoff_draws_both_variances_and_the_kept_share(front):
    made = figure("tradeoff", front=front)
    mark, line = made.axes[0].lines
    assert np.allclose(line.get_ydata(), front.column("f_ea"))
    assert mark.get_xdata()[0] == front.regret_index + 1
    assert np.allclose(made.axes[1].lines[1].get_ydata(), front.column("f_ed"))
    kept = made.axes[2].lines[1].get_ydata()
    assert kept[0] == pytest.approx(100 * front.points[0].signal.mean())


def test_rotation_is_drawn_with_the_gyroscope(turning):
    scene, estimates = turning
    made = figure("motion", estimates=estimates, imu=scene.imu)
    assert len(made.axes) == 3
    for k, axes in enumerate(made.axes):
        gyro, ours = axes.lines[:2]
        assert (gyro.get_label(), ours.get_label()) == ("gyroscope", "estimated")
        first = estimates[0].window.t_start
        middles = [(result.window.t_ref - first) / 1e6 for result in estimates]
        assert ours.get_xdata().tolist() == middles == pytest.approx([0.01, 0.03, 0.05], abs=1e-3)
        assert np.allclose(ours.get_ydata(), [result.theta[k] for result in estimates])
        assert np.allclose(gyro.get_ydata(), scene.config.theta[k], atol=1e-6)
        assert "rad/s" in axes.get_ylabel()


def test_translation_is_drawn_without_the_gyroscope(estimate, turning):
    made = figure("motion", estimates=[estimate], imu=turning[0].imu)
    assert [axes.get_ylabel() for axes in made.axes] == ["vx [px/s]", "vy [px/s]"]
    assert "gyroscope" not in [line.get_label() for line in made.axes[0].lines]
    with pytest.raises(EventDataError, match="at least one window"):
        figure("motion", estimates=[])


def test_levels_can_be_numbers_or_names_with_bands():
    values, bands = {"auto": [0.9, 0.8]}, {"auto": ([0.85, 0.7], [0.95, 0.9])}
    axes = figure("levels", levels=["ND1", "ND64"], values=values, bands=bands).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["ND1", "ND64"]
    assert axes.lines[0].get_ydata().tolist() == [0.9, 0.8]
    assert axes.collections[0].get_datalim(axes.transData).y0 == pytest.approx(0.7)
    axes = figure("levels", levels=[1.0, 20.0], values=values, y_label="ESR [1]").axes[0]
    assert axes.lines[0].get_xdata().tolist() == [1.0, 20.0]
    with pytest.raises(EventDataError, match="one number per level, 3; got 2"):
        figure("levels", levels=[1, 2, 3], values=values)


@pytest.mark.parametrize("kind", ["scatter", "outcomes", "aligned", "xyt", "maps", "intro"])
def test_empty_windows_can_be_drawn(kind, tmp_path):
    events = Events.empty((16, 12)).with_signal(np.zeros(0, bool))
    result = evcrisp.estimate(events)
    data = {"events": events, "labels": {"auto": result.signal}, "estimate": result}
    made = figure(kind, **{name: data[name] for name in FIGURES[kind].needs})
    save_figure(made, tmp_path / "none.png", dpi=40)
