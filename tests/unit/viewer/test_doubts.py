"""Doubtful results are marked where their numbers stand; contrast is that of the method."""

import numpy as np
import pytest

import evcrisp
from evcrisp.contrast import ContrastMap
from evcrisp.estimators import Cmax
from evcrisp.estimators.baselines.eja import Eja
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.viewer import ViewOptions, serve
from evcrisp.viewer.contrast_facts import SEARCH_MAP, ContrastFacts, map_of_method

SIGN = "\N{WARNING SIGN}"
#: Color of doubt on the dark page.
DOUBT = "rgb(255, 180, 84)"


@pytest.fixture(scope="module")
def noise_url(tmp_path_factory):
    """Serve noise alone: every motion is doubtful."""
    rng = np.random.default_rng(1)
    n = 9_000
    events = evcrisp.Events(
        x=rng.integers(0, 128, n), y=rng.integers(0, 96, n), t=np.sort(rng.integers(0, 60_000, n)),
        p=rng.integers(0, 2, n), resolution=(128, 96),
    )  # fmt: skip
    path = tmp_path_factory.mktemp("noise") / "noise.npz"
    evcrisp.write(path, events)
    with serve(ViewOptions(path=path, window_us=20_000)) as address:
        yield address


def color_of(screen, selector):
    return screen.page.eval_on_selector(selector, "element => getComputedStyle(element).color")


@pytest.mark.slow
def test_doubtful_motion_has_sign_and_color_where_it_stands(screen, noise_url):
    screen.open(f"{noise_url}#t=20000")
    assert screen.info("aligned").startswith(f"{SIGN} ")
    assert color_of(screen, "[data-pane=aligned] .info") == DOUBT
    assert color_of(screen, "#message") == DOUBT
    assert screen.page.inner_text("#message").startswith(f"{SIGN} ")
    assert SIGN in screen.page.inner_text("[data-pane=layers] tbody")
    assert color_of(screen, "[data-pane=layers] td.is-doubtful") == DOUBT
    # The tooltip says what is wrong, and what to do.
    title = screen.page.get_attribute("[data-pane=aligned] .info", "title")
    assert "windows" in title


@pytest.mark.slow
def test_certain_motion_has_no_sign(screen, url):
    screen.open(f"{url}#t=40000")
    assert SIGN not in screen.page.inner_text("body")
    assert color_of(screen, "[data-pane=aligned] .info") != DOUBT


@pytest.mark.slow
def test_timeline_is_not_scaled_by_doubtful_windows(screen, url):
    screen.open(url)
    result = screen.page.evaluate(
        """async () => {
          const { rangeOf } = await import("evcrisp/panes/timeline");
          const window = (isReliable, ...theta) => ({ isReliable, isGood: true, theta });
          const some = [window(true, 10, -5), window(false, 9000, -8000)];
          return [rangeOf(some, [0, 1]), rangeOf(some.slice(1), [0, 1])];
        }"""
    )
    assert result == [[-5, 10], [-8000, 9000]]


@pytest.mark.slow
def test_timeline_marks_doubtful_windows(screen, noise_url, url):
    def doubtful_pixels(address):
        screen.page.goto("about:blank")
        screen.open(address)
        screen.page.click("#track")
        screen.settled()
        width, values = screen.page.evaluate(
            """() => {
              const canvas = document.getElementById("timeline");
              const image = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
              return [canvas.width, [...image.data]];
            }"""
        )
        image = np.array(values).reshape(-1, width, 4)[..., :3]
        lower = image[image.shape[0] // 2 :]
        return (np.abs(lower - (255, 180, 84)).sum(axis=-1) < 10).sum()

    assert doubtful_pixels(f"{noise_url}#t=0") > 20  # signs
    assert doubtful_pixels(f"{url}#t=0") == 0


def test_kernel_is_that_of_the_method():
    assert map_of_method(Cmax()) == Cmax().contrast
    own = ContrastMap(footprint="bilinear", sigma_px=2.0, scale=2)
    assert map_of_method(Eja(contrast=own)).sigma_px == 2.0
    assert map_of_method(evcrisp.estimators.Sequential()) == Cmax().contrast
    assert map_of_method(evcrisp.estimators.AutoRegret()) == SEARCH_MAP


def contrast_gain(result):
    events = result.window.events
    aligned = result.aligned_x, result.aligned_y
    recipe = map_of_method(result.config)
    variance = ContrastFacts.of(events, result.signal, aligned, recipe).facts["variance"]
    return variance["after"] / variance["before"]


@pytest.mark.parametrize("method", ["auto", "cmax", "exact"])
@pytest.mark.parametrize("speed", [0.5, 2.0, 20.0, 300.0])
def test_alignment_by_a_reliable_motion_does_not_lose_contrast(method, speed):
    scene = evcrisp.simulate(
        resolution=(120, 90), theta=(speed, -0.4 * speed), duration_us=90_000, noise_hz=3.0, seed=5
    )
    windowing = evcrisp.Windowing(window_us=30_000)
    for result in evcrisp.track(scene.events, method, "translation", windowing=windowing):
        assert contrast_gain(result) > 0.999 or not result.reliable


def test_narrow_kernel_would_lose_contrast():
    # The reason for the kernel of the method: whole pixels are sharper than shifted ones.
    scene = evcrisp.simulate(theta=(40.0, 25.0), duration_us=30_000, noise_hz=10.0, seed=5)
    result = evcrisp.estimate(scene.events, "cmax", "translation")
    x, y = (values.astype(float) for values in (scene.events.x, scene.events.y))
    narrow = ContrastMap(footprint="bilinear", sigma_px=0.5, padding_px=0)
    ones, size = np.ones(x.size), scene.events.resolution
    before = narrow.build(x, y, ones, size).var()
    after = narrow.build(result.aligned_x, result.aligned_y, ones, size).var()
    assert result.reliable
    assert after < 0.8 * before
    assert contrast_gain(result) > 1.0


def test_hot_pixels_take_no_part_in_the_contrast(scene):
    events = scene.events.between(0, 30_000)
    n = 3_000
    hot = {"x": [7] * n, "y": [9] * n, "t": np.arange(n) * 10, "p": [True] * n}
    columns = {name: np.r_[getattr(events, name), hot[name]] for name in "xytp"}
    order = np.argsort(columns["t"], kind="stable")
    columns = {name: column[order] for name, column in columns.items()}
    both = evcrisp.Events(**columns, resolution=events.resolution)
    assert hot_events(both).sum() >= n
    x, y = both.x.astype(float), both.y.astype(float)
    keep = np.ones(len(both), bool)
    facts = ContrastFacts.of(both, keep, (x, y), SEARCH_MAP).facts
    plain = ContrastFacts.of(
        events,
        np.ones(len(events), bool),
        (events.x.astype(float), events.y.astype(float)),
        SEARCH_MAP,
    ).facts
    assert facts["variance"]["before"] == pytest.approx(plain["variance"]["before"], rel=0.01)


@pytest.mark.slow
def test_page_shows_contrast_and_kernel(screen, url):
    screen.open(f"{url}#t=40000&map=after")
    variance = screen.page.evaluate("evcrisp.shown.result.variance")
    assert variance["after"] > variance["before"]
    assert "\N{MULTIPLICATION SIGN} not aligned" in screen.info("contrast")
    title = screen.page.get_attribute("[data-pane=contrast] .info", "title")
    assert "spline with a blur of 0.866 px" in title
    screen.page.evaluate(
        "evcrisp.shown.result.variance.after = 0.5 * evcrisp.shown.result.variance.before"
    )
    screen.page.evaluate("evcrisp.paintNow()")
    assert screen.info("contrast").startswith(f"{SIGN} alignment gains no contrast")
