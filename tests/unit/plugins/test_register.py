"""Own parts: registered by a call, given as objects, refused with a reason."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, EventDataError, UnknownNameError
from evcrisp.estimators import ESTIMATORS, Cmax
from evcrisp.filters import FILTERS, Baf, Labels, denoise_chunks
from evcrisp.motion import MOTION_MODELS, Rotation, Translation
from evcrisp.plugins import registry_of

KINDS = (
    "estimator",
    "filter",
    "metric",
    "dataset",
    "reader",
    "writer",
    "motion",
    "objective",
    "solver",
)


@dataclass(frozen=True)
class KeepAll:
    """An estimator that finds a fixed motion."""

    name: ClassVar[str] = "keep_all"
    vx: float = 0.0

    def run(self, window, model, theta0=None):
        return Cmax().run(window, model, theta0)


@pytest.fixture
def keep_all():
    evcrisp.register("estimator", KeepAll)
    yield KeepAll
    ESTIMATORS.unregister("keep_all")


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        resolution=(96, 72), theta=(200.0, -80.0), duration_us=40_000, noise_hz=2.0, seed=2
    )


def test_registered_estimator_is_accepted_by_name_everywhere(keep_all, scene, run, tmp_path):
    by_name = evcrisp.estimate(scene.events, "keep_all")
    by_object = evcrisp.estimate(scene.events, KeepAll())
    np.testing.assert_array_equal(by_name.theta, by_object.theta)
    windowing = evcrisp.Windowing(window_us=30_000)
    assert len(list(evcrisp.track(scene.events, "keep_all", windowing=windowing))) == 2
    evcrisp.write(tmp_path / "a.npz", scene.events)
    run("run", tmp_path / "a.npz", "-o", tmp_path / "out", "--method", "keep_all")
    assert '"method": "keep_all"' in (tmp_path / "out" / "summary.json").read_text()
    assert "keep_all" in run("methods").output


def test_unregistered_name_is_unknown_again(scene):
    with pytest.raises(UnknownNameError, match="Unknown method 'keep_all'"):
        evcrisp.estimate(scene.events, "keep_all")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_registry_with_built_in_parts(kind):
    registry = registry_of(kind)
    assert len(registry) >= 3
    for name in registry:
        assert registry[name] is registry[name]


@pytest.mark.parametrize("kind", KINDS)
def test_part_without_the_protocol_is_refused(kind):
    class Nothing:
        name = "nothing"

    with pytest.raises(ConfigError, match=f"A {kind} needs `"):
        evcrisp.register(kind, Nothing)


def test_unknown_kind_is_refused_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="Did you mean 'filter'"):
        evcrisp.register("filters", Baf)


def test_taken_name_is_refused_unless_overwritten():
    class Other(Baf):
        pass

    with pytest.raises(ConfigError, match="There is a filter 'baf' already"):
        evcrisp.register("filter", Other)
    evcrisp.register("filter", Other, overwrite=True)
    try:
        assert FILTERS["baf"] is Other
    finally:
        FILTERS.unregister("baf")
    assert FILTERS["baf"] is Baf


def test_part_without_a_name_is_refused():
    class Nameless:
        def run(self, window, model, theta0=None):
            raise NotImplementedError

    with pytest.raises(ConfigError, match="needs a `name`"):
        evcrisp.register("estimator", Nameless)


def test_objects_take_no_further_options(scene):
    with pytest.raises(ConfigError, match=r"Give them to `Cmax\(\.\.\.\)`"):
        evcrisp.estimate(scene.events, Cmax(), objective="entropy")
    with pytest.raises(ConfigError, match="is a model already"):
        camera = evcrisp.Camera.ideal((96, 72))
        evcrisp.estimate(scene.events, motion=Rotation(camera), camera=camera)


@pytest.mark.parametrize("wrong", [3, None, ["auto"], {"auto"}])
def test_things_that_are_no_part_are_refused(scene, wrong):
    with pytest.raises(UnknownNameError, match="Known: auto"):
        evcrisp.estimate(scene.events, wrong)


def test_motion_models_are_accepted_as_objects(scene):
    by_name = evcrisp.estimate(scene.events, motion="translation")
    by_object = evcrisp.estimate(scene.events, motion=Translation())
    np.testing.assert_array_equal(by_name.theta, by_object.theta)
    assert by_object["vx"] == by_object.theta[0]
    with pytest.raises(UnknownNameError, match="has no parameter 'wz'"):
        by_object["wz"]


def test_wrong_motion_is_refused(scene):
    for wrong in (Translation, 5, "translations"):
        with pytest.raises(UnknownNameError, match="Unknown motion model"):
            evcrisp.estimate(scene.events, motion=wrong)
    assert "shear" not in MOTION_MODELS


@dataclass(frozen=True)
class Wrong:
    """An estimator whose result does not fit the window."""

    name: ClassVar[str] = "wrong"
    how: str = "dict"

    def run(self, window, model, theta0=None):
        if self.how == "dict":
            return {"theta": [0.0, 0.0]}
        base = Cmax().run(window, model, theta0)
        return replace(base, **{self.how: getattr(base, self.how)[:-1]})


@pytest.mark.parametrize("how", ["signal", "score", "confidence", "aligned_x", "theta"])
def test_results_of_the_wrong_shape_are_refused(scene, how):
    with pytest.raises(EventDataError, match=f"`{how}` of a window of .* from Cmax"):
        evcrisp.estimate(scene.events, Wrong(how))


def test_results_of_the_wrong_type_are_refused(scene):
    for call in (evcrisp.estimate, lambda *a: list(evcrisp.track(*a))):
        with pytest.raises(ConfigError, match=r"must return an `evcrisp.Estimate`; got dict"):
            call(scene.events, Wrong())


@dataclass(frozen=True)
class Lossy:
    """A filter that returns too few or too many labels."""

    name: ClassVar[str] = "lossy"
    extra: int = -1

    def start(self, resolution):
        return self

    def label(self, events):
        n = max(len(events) + self.extra, 0)
        return Labels(np.ones(n, bool), np.ones(n))

    def finish(self):
        return Labels.empty(0)


@pytest.mark.parametrize("extra", [-1, 1])
def test_filters_with_the_wrong_number_of_labels_are_refused(scene, extra, tmp_path):
    with pytest.raises(EventDataError, match="The filter Lossy returned"):
        evcrisp.denoise(scene.events, Lossy(extra))
    with pytest.raises(EventDataError, match="The filter Lossy returned"):
        list(denoise_chunks([scene.events[:500], scene.events[500:]], Lossy(extra)))
    evcrisp.write(tmp_path / "a.npz", scene.events)
    with pytest.raises(EventDataError, match="The filter Lossy returned"):
        evcrisp.filter_recording(tmp_path / "a.npz", tmp_path / "b.npz", Lossy(extra))
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
