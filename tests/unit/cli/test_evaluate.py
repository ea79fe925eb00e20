"""``evcrisp evaluate``: measures, labels, truth, wrong inputs."""

import functools
import json

import numpy as np
import pytest

import evcrisp
from evcrisp.metrics import aocc, block_entropy, confusion, esr, random_subset, rank_auc


@pytest.fixture
def run(run):
    return functools.partial(run, "evaluate")


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        resolution=(120, 90), theta=(250.0, -100.0), duration_us=60_000, noise_hz=20.0, seed=4
    ).events


@pytest.fixture(scope="module")
def labels(scene):
    return evcrisp.denoise(scene, "baf", tau_us=2000)


@pytest.fixture
def files(scene, labels, tmp_path):
    evcrisp.write(tmp_path / "raw.npz", scene)
    evcrisp.write(tmp_path / "clean.npz", scene[labels.signal])
    evcrisp.write(tmp_path / "raw.aedat4", scene.with_signal(None))
    np.savez(tmp_path / "labels.npz", signal=labels.signal, score=labels.score)
    np.save(tmp_path / "labels.npy", labels.signal)
    np.save(tmp_path / "truth.npy", scene.signal)
    return tmp_path


def test_evaluate_measures_one_recording(run, files, scene):
    facts = json.loads(run(files / "raw.npz", "--slice-events", 2000, "--json").stdout)
    assert list(facts["quality"]) == ["recording"]
    found = facts["quality"]["recording"]
    expected = esr(scene, slice_events=2000)
    assert found["n_events"] == len(scene)
    assert (found["esr"], found["esr_v2"]) == (expected.esr, expected.esr_v2)
    assert found["n_slices"] == expected.n_slices == len(scene) // 2000
    assert found["aocc"] == pytest.approx(aocc(scene).aocc)
    assert found["entropy_bits"] == block_entropy(scene)
    assert found["rate_hz"] == pytest.approx(len(scene) / (scene.duration_us / 1e6))
    assert facts["against_truth"] is None
    assert facts["slicing"] == "2000 events"


def test_evaluate_compares_labels_with_truth_in_recording(run, files, scene, labels):
    words = ("--labels", files / "labels.npz", "--slice-ms", 10, "--seed", 5, "--json")
    facts = json.loads(run(files / "raw.npz", *words).stdout)
    clean = scene[labels.signal]
    expected = esr(clean, raw=scene, slice_us=10_000, seed=5)
    found = facts["quality"]
    assert found["cleaned"]["esr"] == expected.esr
    assert found["raw"]["esr"] == expected.raw_esr
    assert found["random"]["esr"] == expected.random_esr
    assert found["random"]["n_events"] == found["cleaned"]["n_events"] == len(clean)
    assert facts["retention"] == expected.retention
    assert facts["entropy_reduction_bits"] == pytest.approx(
        block_entropy(scene) - block_entropy(clean)
    )
    rates = confusion(labels.signal, scene.signal).as_dict()
    assert facts["against_truth"] == pytest.approx(
        {**rates, "auc": rank_auc(labels.score, scene.signal)}
    )


def test_evaluate_compares_cleaned_with_raw_recording(run, files, scene, labels):
    words = ("--raw", files / "raw.npz", "--slice-events", 1000, "--json")
    facts = json.loads(run(files / "clean.npz", *words).stdout)
    clean = scene[labels.signal]
    control = random_subset(scene, len(clean))
    assert facts["quality"]["random"]["aocc"] == pytest.approx(aocc(control).aocc)
    assert facts["against_truth"] == pytest.approx(confusion(labels.signal, scene.signal).as_dict())
    # Files of different formats, without truth.
    facts = json.loads(run(files / "clean.npz", "--raw", files / "raw.aedat4", "--json").stdout)
    assert facts["against_truth"] is None
    assert facts["retention"] == len(clean) / len(scene)


def test_evaluate_reads_truth_from_file(run, files, scene, labels):
    words = ("--labels", files / "labels.npy", "--truth", files / "truth.npy", "--json")
    facts = json.loads(run(files / "raw.aedat4", *words).stdout)
    assert facts["against_truth"] == pytest.approx(confusion(labels.signal, scene.signal).as_dict())
    facts = json.loads(run(files / "raw.aedat4", "--labels", files / "labels.npy", "--json").stdout)
    assert facts["against_truth"] is None


def test_evaluate_table_has_column_per_stream_and_rates(run, files):
    page = run(files / "raw.npz", "--labels", files / "labels.npz", "--slice-events", "2000").stdout
    lines = page.splitlines()
    assert lines[0].split() == ["cleaned", "raw", "random"]
    rows = {line[:20].strip(): line[20:].split() for line in lines[1:]}
    for name in ("events", "ESR", "ESR V2", "AOCC", "entropy bits", "L_N"):
        assert len(rows[name]) == 3
    assert float(rows["ESR"][0]) > float(rows["ESR"][2])
    assert 0.5 < float(rows["auc"][0]) <= 1.0
    assert "ESR over slices of 2000 events. Kept " in page
    page = run(files / "raw.npz", "--slice-ms", "0.5", "--no-aocc").stdout
    assert "ESR over slices of 0.5 ms." in page


def test_short_recording_suggests_shorter_slices_and_json_has_no_nan(run, files, scene, tmp_path):
    evcrisp.write(tmp_path / "short.npz", scene[:50])
    page = run(tmp_path / "short.npz").stdout
    assert "No slice is complete; choose shorter ones with --slice-events" in page
    text = run(tmp_path / "short.npz", "--json").stdout
    assert "NaN" not in text
    assert json.loads(text)["quality"]["recording"]["esr"] is None


def test_evaluate_accepts_empty_recording(run, tmp_path):
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((8, 4)))
    np.save(tmp_path / "none.npy", np.zeros(0, bool))
    facts = json.loads(
        run(tmp_path / "none.npz", "--labels", tmp_path / "none.npy", "--json").stdout
    )
    assert facts["quality"]["cleaned"]["n_events"] == 0
    assert facts["retention"] is None
    assert "events" in run(tmp_path / "none.npz").stdout


def test_no_aocc_leaves_other_measures_unchanged(run, files):
    words = (files / "raw.npz", "--slice-events", 2000, "--json")
    whole, part = (
        json.loads(run(*words, *more).stdout)["quality"]["recording"]
        for more in ((), ("--no-aocc",))
    )
    assert part == {**whole, "aocc": None}


def test_evaluate_writes_json_file_and_keeps_existing_file(run, files):
    output = files / "out.json"
    page = run(files / "raw.npz", "-o", output).stdout
    assert "AOCC" in page
    facts = json.loads(output.read_text())
    assert facts == json.loads(run(files / "raw.npz", "--json").stdout)
    assert "with --force" in run(files / "raw.npz", "-o", output, code=1).stderr
    run(files / "raw.npz", "-o", output, "--force")


@pytest.mark.parametrize("change", [-1, 1])
def test_wrong_number_of_labels_is_refused(run, files, labels, change):
    wrong = np.append(labels.signal, True) if change > 0 else labels.signal[:-1]
    np.save(files / "wrong.npy", wrong)
    message = run(files / "raw.npz", "--labels", files / "wrong.npy", code=1).stderr
    assert f"holds {wrong.size:,} labels, but the recording has" in message
    assert f"{labels.signal.size:,} events" in message


def test_invalid_label_files_are_explained(run, files):
    (files / "text.npy").write_text("hello")
    message = run(files / "raw.npz", "--labels", files / "text.npy", code=1).stderr
    assert "must be an .npy file of flags" in message
    np.savez(files / "other.npz", a=np.zeros(3))
    message = run(files / "raw.npz", "--labels", files / "other.npz", code=1).stderr
    assert "has no labels ('signal')" in message
    np.save(files / "floats.npy", np.zeros(100_000))
    message = run(files / "raw.npz", "--labels", files / "floats.npy", code=1).stderr
    assert "must be bool" in message
    np.save(files / "table.npy", np.zeros((3, 2), bool))
    message = run(files / "raw.npz", "--labels", files / "table.npy", code=1).stderr
    assert "must have one axis" in message
    whole = (files / "labels.npz").read_bytes()
    (files / "flipped.npz").write_bytes(whole[:2000] + b"\x55\x55\x55" + whole[2003:])
    message = run(files / "raw.npz", "--labels", files / "flipped.npz", code=1).stderr
    assert message.startswith("Error: ")


def test_inconsistent_raw_recording_is_refused(run, files, scene, tmp_path):
    message = run(files / "raw.npz", "--raw", files / "clean.npz", code=1).stderr
    assert "Give the recording that it was made from" in message
    words = ("--raw", files / "raw.npz")
    evcrisp.write(tmp_path / "noise.npz", scene[: scene.signal.sum() + 1].with_signal(None))
    wrong = evcrisp.read(tmp_path / "noise.npz")
    evcrisp.write(tmp_path / "wrong.npz", wrong.with_signal(np.ones(len(wrong), bool)))
    assert (
        "Both need the true labels of the same events"
        in run(tmp_path / "wrong.npz", *words, code=1).stderr
    )
    other = evcrisp.Events(x=[0], y=[0], t=[0], p=[1], resolution=(8, 4))
    evcrisp.write(tmp_path / "other.npz", other)
    assert "must be of one sensor" in run(tmp_path / "other.npz", *words, code=1).stderr


def test_unrelated_raw_recording_is_refused(run, files, scene, labels, tmp_path):
    """Only the events themselves differ: sensor and number of events fit."""
    clean = scene[labels.signal]
    other = evcrisp.simulate(
        resolution=(120, 90), theta=(250.0, -100.0), duration_us=60_000, noise_hz=20.0, seed=5
    ).events
    evcrisp.write(tmp_path / "other.npz", other)
    late = evcrisp.Events(
        x=scene.x, y=scene.y, t=scene.t + 10**7, p=scene.p, resolution=scene.resolution
    )
    evcrisp.write(tmp_path / "late.npz", late)
    evcrisp.write(tmp_path / "short.npz", scene[: len(clean) + 1])
    for name in ("other.npz", "late.npz", "short.npz"):
        message = run(files / "clean.npz", "--raw", tmp_path / name, "--no-aocc", code=1).stderr
        assert f"that {tmp_path / name} does not have. Give the recording that it was" in message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--raw", "raw.npz", "--labels", "labels.npz"), "--raw and --labels exclude each other."),
        (("--truth", "truth.npy"), "--truth needs labels to compare with."),
        (
            ("--slice-events", "5", "--slice-ms", "3"),
            "--slice-events and --slice-ms exclude each other.",
        ),
        (("--slice-events", "0"), "Invalid value for '--slice-events'"),
        (("--slice-ms", "nan"), "Invalid value for '--slice-ms'"),
    ],
)
def test_conflicting_options_are_wrong_usage(run, files, words, message, monkeypatch):
    monkeypatch.chdir(files)
    assert message in run("raw.npz", *words, code=2).stderr


@pytest.fixture(scope="module")
def turning(tmp_path_factory):
    """Return a recording of a turning camera with its gyroscope."""
    path = tmp_path_factory.mktemp("turning") / "turning.aedat4"
    made = evcrisp.simulate(
        motion="rotation",
        theta=(1.0, -1.5, 3.0),
        resolution=(160, 120),
        duration_us=120_000,
        seed=3,
    )
    evcrisp.write(path, made.events.with_signal(None), imu=made.imu)
    return path


def test_evaluate_compares_the_motion_with_the_gyroscope(run, turning):
    words = ("--motion", "rotation", "-m", "cmax", "--window-ms", 30, "--no-aocc")
    facts = json.loads(run(turning, *words, "--json").stdout)["motion"]
    assert facts["n_windows"] == facts["gyroscope"]["n"] == 4
    assert facts["fwl_mean"] > 1.0
    assert max(facts["gyroscope"]["rms"]) < 0.15  # at 3.5 rad/s
    page = run(turning, *words).stdout
    assert "motion rotation, method cmax: 4 windows, 4 with a motion" in page
    assert "RMS error rad/s" in page
    assert "The axes of the gyroscope are those of the file" in page


def test_left_out_numbers_of_the_gyroscope_are_explained(run, turning):
    words = ("--motion", "rotation", "-m", "cmax", "--window-ms", 30, "--no-aocc")
    page = run(turning, *words).stdout
    assert "varies by less than 0.02 rad/s" in " ".join(page.split())


def test_doubts_of_the_motion_are_counted_and_explained(run, tmp_path):
    rng = np.random.default_rng(0)
    x, y, p = (rng.integers(0, n, 3000) for n in (64, 48, 2))
    noise = evcrisp.Events(x=x, y=y, t=np.arange(3000) * 20, p=p, resolution=(64, 48))
    evcrisp.write(tmp_path / "noise.npz", noise)
    words = ("--motion", "translation", "--window-ms", 30, "--no-aocc")
    facts = json.loads(run(tmp_path / "noise.npz", *words, "--json").stdout)["motion"]
    assert (facts["n_reliable"], facts["doubts"]["chance"]) == (0, 2)
    page = run(tmp_path / "noise.npz", *words).stdout
    assert "chance in 2 of 2 windows: The motion may be chance" in page


def test_evaluate_measures_the_fwl_of_other_motions(run, files):
    words = ("--motion", "translation", "-m", "cmax", "--window-ms", 30, "--no-aocc")
    page = run(files / "raw.npz", *words).stdout
    assert "FWL median" in page
    assert "gyroscope std" not in page


@pytest.mark.parametrize(("word", "value"), [("-m", "cmax"), ("--window-ms", 20)])
def test_options_of_the_motion_need_it(run, files, word, value):
    assert "needs --motion." in run(files / "raw.npz", word, value, code=2).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--motion", "spin"), "Unknown motion 'spin'. Known: affine, auto"),
        (("--motion", "auto", "-m", "cmaxx"), "Unknown method 'cmaxx'. Did you mean 'cmax'?"),
    ],
)
def test_wrong_names_are_found_before_reading(run, files, words, message):
    # The file is damaged: reading it would be another error.
    path = files / "raw.aedat4"
    path.write_bytes(path.read_bytes()[:-50_000])
    assert message in " ".join(run(path, *words, code=2).stderr.split())


def test_means_over_recordings_have_the_names_of_one_recording(run, files, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name in ("a", "b"):
        (data / f"{name}.npz").write_bytes((files / "raw.npz").read_bytes())
    lines = run(data, "-o", tmp_path / "out", "--no-aocc", "--jobs", 0).stdout.splitlines()
    rows = {line[:16].strip(): line[16:] for line in lines}
    one = run(files / "raw.npz", "--no-aocc").stdout.splitlines()
    of_one = {line[:20].strip(): line[20:].strip() for line in one if line}
    for name in ("duration s", "rate /s", "entropy bits"):
        assert rows[name] == f"{of_one[name]} (mean)"
