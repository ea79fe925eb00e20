"""Files, folders and patterns that name recordings."""

import pytest

import evcrisp
from evcrisp import ConfigError
from evcrisp.pipeline.many.inputs import find_inputs


@pytest.fixture
def folder(make_events, tmp_path):
    data = tmp_path / "data"
    (data / "more").mkdir(parents=True)
    for name in ("b.npz", "a.csv", "more/c.es"):
        evcrisp.write(data / name, make_events(50))
    return data


def names(found, folder):
    return [path.relative_to(folder).as_posix() for path in found]


def test_folder_gives_its_recordings(folder, tmp_path):
    assert names(find_inputs([folder], tmp_path / "out"), folder) == ["a.csv", "b.npz", "more/c.es"]


def test_pattern_gives_files_and_each_recording_counts_once(folder, tmp_path):
    given = [folder / "b.npz", str(folder / "*.npz"), str(folder / "**" / "*.es")]
    assert names(find_inputs(given, tmp_path / "out"), folder) == ["b.npz", "more/c.es"]


def test_file_with_the_characters_of_a_pattern_is_a_file(folder, make_events, tmp_path):
    evcrisp.write(folder / "x[1].npz", make_events(5))
    assert names(find_inputs([folder / "x[1].npz"], tmp_path / "o"), folder) == ["x[1].npz"]


def test_output_results_and_notes_are_left_out(folder, make_events, caplog):
    evcrisp.run(folder / "b.npz", folder / "earlier", method="baf+cmax")
    (folder / "out").mkdir()
    evcrisp.write(folder / "out" / "clean.npz", make_events(5))
    (folder / "notes.txt").write_text("Recorded at night.\n")
    found = find_inputs([folder], folder / "out")
    assert names(found, folder) == ["a.csv", "b.npz", "more/c.es"]
    assert "notes.txt is skipped: it does not start with events." in caplog.text


def test_empty_recordings_are_named(folder, tmp_path, caplog):
    (folder / "lost.aedat4").touch()
    (folder / "image.png").touch()
    found = find_inputs([folder], tmp_path / "out")
    assert names(found, folder) == ["a.csv", "b.npz", "more/c.es"]
    texts = [record.getMessage() for record in caplog.records]
    assert texts == [f"{folder / 'lost.aedat4'} is skipped: it is empty, or cannot be opened."]


def test_folder_without_recordings_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="has no recording"):
        find_inputs([tmp_path], tmp_path / "out")


@pytest.mark.parametrize("given", ["missing.npz", "*.npz", ""])
def test_missing_files_are_an_error(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        find_inputs([given], tmp_path / "out")


def test_nothing_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="No recording was given"):
        find_inputs([], tmp_path / "out")
