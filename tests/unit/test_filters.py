import numpy as np
import pytest

from evcrisp import ConfigError, EventDataError, Events, UnknownNameError
from evcrisp.filters import DENOISERS, denoise
from evcrisp.kernels import reference_activity
from evcrisp.kernels.activity import NEVER, support_age

# 24 events (t, x, y, p) on 8x6 pixels whose masks are known from independent implementations.
TOY = """0,2,2,1 300,2,3,1 600,3,2,1 900,3,3,1 1000,7,5,0 1200,3,4,1 1500,4,2,1 1500,4,3,0 2000,0,0,0
2300,2,2,1 2600,4,3,1 2600,4,2,1 3000,7,5,0 3500,5,3,1 3800,5,2,1 4200,6,4,0 5000,1,1,1 5000,5,3,1
5200,5,4,1 5500,6,3,1 7000,0,5,1 7000,1,5,1 9000,1,4,1 9001,0,4,1"""


def toy():
    t, x, y, p = np.array([row.split(",") for row in TOY.split()], np.int64).T
    return Events(x=x, y=y, t=t + 1_000_000, p=p, resolution=(8, 6))


@pytest.mark.parametrize(
    ("same_polarity", "mask"),
    [(True, "011101100111011101110111"), (False, "011101110111011101110111")],
)
def test_baf_gives_the_known_mask(same_polarity, mask):
    labels = denoise(toy(), "baf", tau_us=2000, same_polarity=same_polarity)
    assert "".join(str(int(keep)) for keep in labels.signal) == mask


@pytest.mark.parametrize(("tau_us", "kept"), [(1000, 213_082), (2000, 261_981), (10_000, 306_207)])
def test_baf_keeps_the_known_number_of_real_events(data_dir, tau_us, kept):
    from evcrisp import read

    events = read(data_dir / "emlb" / "demo-01.aedat4")
    assert denoise(events, "baf", tau_us=tau_us).signal.sum() == kept


@pytest.mark.parametrize("n", [0, 1, 800])
@pytest.mark.parametrize("planes", [1, 2])
def test_support_age_matches_reference(make_events, n, planes):
    events = make_events(n, resolution=(9, 7), seed=n)
    p = events.p.astype(np.uint8) % planes
    last = np.full((planes, 9, 11), NEVER, np.int64)
    age = np.empty(n, np.int64)
    support_age(events.x, events.y, events.t, p, last, age)
    np.testing.assert_array_equal(
        age, reference_activity.support_age(events.x, events.y, events.t, p)
    )


@pytest.mark.parametrize("name", DENOISERS)
def test_labels_do_not_depend_on_how_the_stream_is_cut(make_events, name):
    events = make_events(900, resolution=(20, 15))
    whole = denoise(events, name)
    stream = DENOISERS[name]().start(events.resolution)
    parts = [stream.label(events[a:b]) for a, b in ((0, 1), (1, 1), (1, 500), (500, 900))]
    np.testing.assert_array_equal(np.concatenate([part.signal for part in parts]), whole.signal)
    np.testing.assert_array_equal(np.concatenate([part.score for part in parts]), whole.score)


@pytest.mark.parametrize("name", DENOISERS)
def test_a_shift_of_time_changes_no_label(make_events, name):
    at_zero, late = make_events(500, t_start=0), make_events(500, t_start=10**15)
    np.testing.assert_array_equal(denoise(at_zero, name).signal, denoise(late, name).signal)


@pytest.mark.parametrize("name", DENOISERS)
def test_scores_are_finite_and_empty_input_is_normal(make_events, name):
    assert np.isfinite(denoise(make_events(300), name).score).all()
    assert len(denoise(Events.empty((5, 5)), name)) == 0


def test_a_hot_pixel_does_not_support_itself():
    events = Events(x=[4] * 50, y=[4] * 50, t=range(50), p=[1] * 50, resolution=(9, 9))
    assert denoise(events, "baf").signal.sum() == 0


def test_wrong_names_and_parameters_are_explained(make_events):
    with pytest.raises(UnknownNameError, match="Unknown denoiser 'bav'. Did you mean 'baf'"):
        denoise(make_events(3), "bav")
    with pytest.raises(ConfigError, match="no option 'tau'. Did you mean 'tau_us'"):
        denoise(make_events(3), "baf", tau=3)
    with pytest.raises(ConfigError, match="`tau_us` must be positive; got 0"):
        denoise(make_events(3), "baf", tau_us=0)


def test_events_of_another_sensor_are_refused(make_events):
    stream = DENOISERS["baf"]().start((10, 10))
    with pytest.raises(EventDataError, match="10x10; got 346x260"):
        stream.label(make_events(5))
