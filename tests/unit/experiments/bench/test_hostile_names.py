"""Names with HTML in recordings, cameras and folders: the page shows them as text."""

from html.parser import HTMLParser

import pytest

import evcrisp

pytestmark = pytest.mark.slow

SCRIPT = "<script>alert(1)<"
IMAGE = "<img src=x onerror=alert(2)>"


class Tags(HTMLParser):
    """Elements and attributes of a page, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def test_names_with_html_are_text_on_the_page(run, tmp_path):
    data, out = tmp_path / f"'\"{IMAGE}", tmp_path / f"out{SCRIPT}"
    data.mkdir()
    scene = evcrisp.simulate(resolution=(64, 48), duration_us=60_000, noise_hz=5.0, seed=1)
    events = scene.events
    plain = evcrisp.Events(
        x=events.x, y=events.y, t=events.t, p=events.p, resolution=events.resolution
    )
    evcrisp.write(data / f"{SCRIPT}.aedat4", plain, camera=f"{IMAGE}{SCRIPT}")
    damaged = data / f"{IMAGE}.aedat4"
    evcrisp.write(damaged, plain)
    damaged.write_bytes(damaged.read_bytes()[:500])
    run("bench", data, "-o", out, "--methods", "baf", "--workers", 0)
    page = Tags((out / "bench.html").read_text())
    assert "script" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not [value for name, value in page.attributes if name == "src" and value == "x"]
    assert SCRIPT in page.text
    assert IMAGE in page.text
