"""The Pareto pane: computed only when seen, with the point of the method and a caption."""

import numpy as np
import pytest
from tests.unit.viewer.conftest import WINDOW_US

import evcrisp
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.viewer.own_front import OwnFront, constants_of, costs_of

VIEW = "t=40000&front=true&points=5"


def fronts(screen):
    return [text for text in screen.posted if '"kind":"front"' in text]


@pytest.fixture
def watched(screen):
    """Return a page that records the bodies of its requests."""
    screen.posted = []
    screen.page.on("request", lambda request: screen.posted.append(request.post_data or ""))
    return screen


@pytest.mark.slow
def test_front_is_computed_only_when_its_pane_is_seen(watched, url):
    watched.open(f"{url}#{VIEW}&hidden=front")
    assert fronts(watched) == []
    watched.page.evaluate("evcrisp.hidePane('front', false)")
    watched.settled()
    watched.page.wait_for_function("() => Boolean(evcrisp.front.data)")
    assert len(fronts(watched)) == 1
    # Covered by a large pane, it is not computed for other windows.
    watched.page.evaluate("evcrisp.state.set({ large: 'raw' })")
    watched.settled()
    watched.page.keyboard.press("ArrowRight")
    watched.settled()
    assert len(fronts(watched)) == 1
    watched.page.keyboard.press("Escape")
    watched.page.wait_for_function("() => evcrisp.front.data?.start_us === evcrisp.state.get('t')")
    assert len(fronts(watched)) == 2


@pytest.mark.slow
def test_front_scrolled_away_is_not_computed(watched, url):
    watched.page.set_viewport_size({"width": 480, "height": 640})
    watched.open(f"{url}#{VIEW}")
    assert fronts(watched) == []
    watched.page.locator("[data-pane=front]").scroll_into_view_if_needed()
    watched.page.wait_for_function("() => Boolean(evcrisp.front.data)")
    assert len(fronts(watched)) == 1


@pytest.mark.slow
def test_pane_shows_the_point_of_the_method_and_says_what_it_shows(screen, url):
    screen.open(f"{url}#{VIEW}")
    own = screen.page.evaluate("evcrisp.front.data.own")
    assert own["method"] == "auto"
    marks, points = (
        screen.page.evaluate(f"evcrisp.front.{name}()") for name in ("marks", "places")
    )
    assert len(marks) == len(points) + 1
    caption = screen.page.inner_text("#front-caption")
    assert "a motion and its labels" in caption
    assert "auto; the front keeps as many events as auto" in caption
    image = screen.pixels("front").astype(int)
    x, y = (round(value) for value in marks[-1])
    assert np.abs(image[y, x] - (255, 180, 84)).sum() < 30  # the diamond
    screen.page.select_option("#method", "exact")
    screen.settled()
    assert "exact; the front has its constants" in screen.page.inner_text("#front-caption")


@pytest.fixture(scope="module")
def window(scene):
    t_start = int(scene.events.t[0]) + 40_000
    events = scene.events.between(t_start, t_start + WINDOW_US)
    return evcrisp.Window(events, t_start, t_start + WINDOW_US)


def test_point_of_exact_is_the_best_alignment_of_its_front(window, scene):
    result = evcrisp.estimate(window, "exact", scene.motion)
    own = OwnFront.of(result, scene.motion, 5)
    # With its own baselines, exact selects the best alignment; the front selects a compromise.
    best = own.front.points[0]
    assert own.front.regret_index > 0
    # W is read at the events, and so differs slightly from the map.
    spread = own.front.nadir[0] - own.front.ideal[0]
    assert own.cost_ea == pytest.approx(best.cost_ea, abs=0.05 * spread)


def test_costs_equal_those_of_the_front_for_its_own_map(window, scene):
    result = evcrisp.estimate(window, "exact", scene.motion)
    own = OwnFront.of(result, scene.motion, 5)
    problem = own.front.problem
    best = problem.solve(result.theta, 0.0)
    weighted = best.w_map() * best.iwe
    penalty = problem.terms.alpha * best.w_map().sum()
    penalty += problem.terms.beta * ((weighted - best.iwe) ** 2).sum()
    assert penalty == pytest.approx(best.penalty)
    assert own.cost_ea >= penalty - best.f_ea - 1e-6  # no W is better at lam = 0


def test_front_of_auto_keeps_as_many_events(window):
    result = evcrisp.estimate(window)
    front = OwnFront.of(result, result.motion, 5).front
    kept = front.points[0].signal.mean()
    assert kept == pytest.approx(result.signal.mean(), abs=0.05)


def test_labels_that_keep_all_or_nothing_take_the_default_constants(window):
    nothing = evcrisp.estimate(evcrisp.Events.empty((16, 12)))
    for result in (evcrisp.estimate(window, "cmax", "translation"), nothing):
        assert constants_of(result) == ExactRegret()


def test_costs_of_an_empty_window_are_finite():
    result = evcrisp.estimate(evcrisp.Events.empty((16, 12)), "auto", "translation")
    own = OwnFront.of(result, result.motion, 3)
    assert np.isfinite(costs_of(result, own.front)).all()
