"""Save pictures and cleaned events; open other recordings of the start folder."""

import os

import numpy as np
import pytest
from click.testing import CliRunner
from tests.unit.viewer.conftest import Client, wait_until_read

import evcrisp
from evcrisp import ConfigError
from evcrisp.cli import main
from evcrisp.viewer import ViewOptions, serve
from evcrisp.viewer.start_folder import find_recording, list_recordings


def image_of(path):
    """Return the size of a PNG file, by its header."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


@pytest.mark.slow
def test_picture_of_all_panes_is_saved(screen, url, tmp_path):
    screen.open(f"{url}#t=40000")
    with screen.page.expect_download() as info:
        screen.page.keyboard.press("p")
    info.value.save_as(tmp_path / "panes.png")
    assert info.value.suggested_filename == "scene_-panes-40000us.png"
    width, height = image_of(tmp_path / "panes.png")
    assert width > 1000
    assert height > 300
    screen.wait_for_message("Saved a picture of")


@pytest.mark.slow
def test_picture_of_one_pane_is_saved(screen, url, tmp_path):
    screen.open(f"{url}#t=40000")
    with screen.page.expect_download() as info:
        screen.page.click("[data-pane=raw] [aria-label^='Save']")
    info.value.save_as(tmp_path / "raw.png")
    box = screen.page.locator("[data-pane=raw]").bounding_box()
    assert image_of(tmp_path / "raw.png")[0] == pytest.approx(box["width"] + 16, abs=2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["method", "filter"])
def test_cleaned_events_are_downloaded(screen, url, scene, tmp_path, kind):
    screen.open(f"{url}#t=40000&filter=baf&method=cmax")
    screen.page.click("#save-menu summary")
    with screen.page.expect_download() as info:
        screen.page.click("#save-events" if kind == "method" else "#save-filtered")
    path = tmp_path / info.value.suggested_filename
    info.value.save_as(path)
    saved = evcrisp.read(path)
    if kind == "filter":
        expected = scene.events[evcrisp.denoise(scene.events, "baf").signal]
    else:
        windowing = evcrisp.Windowing(window_us=20_000)
        results = evcrisp.track(scene.events, "cmax", windowing=windowing)
        expected = evcrisp.Events.concatenate([result.kept() for result in results])
    np.testing.assert_array_equal(saved.t, expected.t)
    np.testing.assert_array_equal(saved.x, expected.x)


@pytest.mark.slow
def test_file_of_a_job_is_not_found_without_one(client):
    assert client.ask("api/jobs/0123/file").status == 404
    answer = client.ask("api/jobs", "POST", {"kind": "estimate", "duration_us": 20_000})
    assert answer.status == 200


@pytest.fixture
def folder(tmp_path, scene):
    """Return a folder with two recordings, other files, and links that lead out of it."""
    folder = tmp_path / "start"
    (folder / "deep").mkdir(parents=True)
    evcrisp.write(folder / "first.npz", scene.events[:4_000])
    evcrisp.write(folder / "deep" / "second.npz", scene.events[:2_000])
    (folder / "notes.txt").write_text("0.1 3 4 1\n")
    (folder / ".hidden.npz").write_bytes((folder / "first.npz").read_bytes())
    evcrisp.write(tmp_path / "secret.npz", scene.events[:100])
    (folder / "link.npz").symlink_to(tmp_path / "secret.npz")
    (folder / "up").symlink_to(tmp_path, target_is_directory=True)
    return folder


def test_list_has_the_recordings_of_the_folder_only(folder):
    assert list(list_recordings(folder)) == ["deep/second.npz", "first.npz"]


@pytest.mark.parametrize(
    "name",
    [
        "../secret.npz",
        "deep/../../secret.npz",
        "/etc/passwd",
        "link.npz",
        "up/secret.npz",
        ".hidden.npz",
        "first.npz\0",
        "",
        "%2e%2e/secret.npz",
        "..\\secret.npz",
    ],
)
def test_no_other_file_can_be_opened(folder, name):
    with pytest.raises(ConfigError, match="has no recording"):
        find_recording(folder, name)
    with pytest.raises(ConfigError, match="No start folder"):
        find_recording(None, name)


def test_folder_must_exist(tmp_path):
    with pytest.raises(ConfigError, match="must be a folder"):
        ViewOptions(path=tmp_path / "a.npz", folder=tmp_path / "none")
    with pytest.raises(ConfigError, match="must be a folder"):
        list_recordings(tmp_path / "none")


def test_unreadable_folders_are_skipped(folder, monkeypatch):
    scandir = os.scandir

    def refusing(path):
        if path.name == "deep":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("evcrisp.viewer.start_folder.os.scandir", refusing)
    assert list(list_recordings(folder)) == ["first.npz"]


@pytest.mark.slow
def test_server_without_folder_lists_and_opens_nothing(client):
    assert client.ask("api/recordings").json == []
    answer = client.ask("api/open", "POST", {"name": "scene <&>.npz"})
    assert answer.status == 400
    assert "No start folder" in answer.json["error"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "body", [{}, [], {"name": 3}, {"name": "../secret.npz"}, {"name": "x" * 9000}]
)
def test_server_refuses_other_names(folder, body):
    with serve(ViewOptions(path=folder / "first.npz", folder=folder)) as address:
        client = Client(address)
        wait_until_read(client)
        assert client.ask("api/recordings").json == ["deep/second.npz", "first.npz"]
        assert client.ask("api/open", "POST", body).status == 400
        assert (
            client.ask("api/open", "POST", {"name": "first.npz"}, headers={"Origin": None}).status
            == 403
        )
        assert client.ask("api/facts").json["name"] == "first.npz"


@pytest.mark.slow
def test_page_opens_another_recording(screen, folder):
    with serve(ViewOptions(path=folder / "first.npz", folder=folder)) as address:
        screen.open(address)
        other = screen.page.context.new_page()
        other.goto(address)
        other.wait_for_selector("body[data-state=ready]")
        screen.page.click("#open")
        screen.page.click("#recordings-list button >> text=second.npz")
        screen.page.wait_for_selector("#name >> text=second.npz")
        screen.page.wait_for_selector("body[data-state=ready]")
        screen.settled()
        assert "2,000 events" in screen.page.inner_text("#facts")
        # A page of the recording before says so, instead of showing other events.
        other.evaluate("evcrisp.setWindow(3000)")
        other.wait_for_selector("#message.is-error")
        assert "Reload this page" in other.inner_text("#message")
        other.close()


@pytest.mark.slow
def test_page_without_folder_has_no_button(screen, url):
    screen.open(url)
    assert not screen.page.is_visible("#open")


def test_command_refuses_a_folder_that_does_not_exist(recording, tmp_path):
    result = CliRunner().invoke(main, ["view", str(recording), "--folder", str(tmp_path / "none")])
    assert result.exit_code == 2
    assert "--folder" in result.output
    page = str(tmp_path / "page.html")
    result = CliRunner().invoke(
        main, ["view", str(recording), "--export", page, "--folder", str(tmp_path)]
    )
    assert "--folder is not for --export." in result.output


@pytest.mark.slow
def test_hidden_key_has_no_text_in_pictures(screen, url):
    screen.open(url)
    texts = screen.page.evaluate(
        """async () => {
          const { Pane } = await import("evcrisp/panes/pane");
          const pane = new Pane("aligned");
          return ["3 0", ""].map((inputs) => { pane.key(inputs, "3 px/s", () => []); return pane.keyText; });
        }"""
    )
    assert texts == ["3 px/s", ""]
