"""The page of the viewer inside a report of experiments."""

import pytest

from evcrisp.experiments.page import (
    Figure,
    Provenance,
    facts_html,
    figure_html,
    provenance_html,
    write_page,
)
from evcrisp.experiments.report import write_report
from evcrisp.viewer import ExportOptions, export_html

pytestmark = pytest.mark.slow


@pytest.fixture
def report(scene, tmp_path):
    options = ExportOptions(
        window_us=20_000, n_windows=3, methods=("auto", "exact"), front_points=3
    )
    page = export_html(scene.events, options, name='a "quoted" <name> & more')
    path = tmp_path / "report.html"
    write_report(path, [], page=page)
    return path


def test_page_inside_a_report_works_without_requests(screen, report):
    address = report.as_uri()
    screen.page.goto(address)
    screen.page.locator("iframe").scroll_into_view_if_needed()
    inside = screen.page.frame_locator("iframe")
    inside.locator("body[data-state=ready]").wait_for()
    (frame,) = screen.page.main_frame.child_frames
    frame.evaluate("evcrisp.settled()")
    assert inside.locator("#name").inner_text() == 'a "quoted" <name> & more'
    raw = inside.locator("[data-pane=raw] .info").inner_text()
    # The state changes; the page has no address of its own that could change.
    inside.locator("#forward").click()
    inside.locator("#method").select_option("exact")
    frame.evaluate("evcrisp.settled()")
    frame.wait_for_timeout(300)
    assert inside.locator("[data-pane=raw] .info").inner_text() != raw
    assert frame.evaluate("evcrisp.shown.result.method") == "exact"
    assert inside.locator("#copy").is_hidden()
    inside.locator("#help-button").click()
    assert inside.locator("#help").is_visible()
    assert screen.page.url == address
    assert all(url == address or url.startswith(("data:", "blob:")) for url in screen.requests)


def test_wheel_scrolls_the_report_and_zooms_with_ctrl(screen, report):
    screen.page.goto(report.as_uri())
    screen.page.locator("iframe").scroll_into_view_if_needed()
    inside = screen.page.frame_locator("iframe")
    inside.locator("body[data-state=ready]").wait_for()
    (frame,) = screen.page.main_frame.child_frames
    frame.evaluate("evcrisp.settled()")
    screen.page.evaluate("scrollTo(0, 0)")
    for pane in ("raw", "cloud"):
        before = screen.page.evaluate("scrollY")
        inside.locator(f"[data-pane={pane}] canvas").hover()
        screen.page.mouse.wheel(0, -60 if before else 60)
        screen.page.wait_for_function("before => scrollY !== before", arg=before)
    shown = "[evcrisp.state.get('zoom'), evcrisp.state.get('distance')]"
    assert frame.evaluate(shown) == [1, 2.1]
    inside.locator("[data-pane=raw] canvas").hover()
    screen.page.wait_for_timeout(300)  # scrolling is smooth
    place = screen.page.evaluate("scrollY")
    screen.page.keyboard.down("Control")
    screen.page.mouse.wheel(0, -200)
    screen.page.keyboard.up("Control")
    frame.wait_for_function("evcrisp.state.get('zoom') > 1")
    assert screen.page.evaluate("scrollY") == place


def test_report_without_page_and_figures_explains_why(tmp_path):
    path = tmp_path / "report.html"
    write_report(path, [])
    page = path.read_text()
    assert "<iframe" not in page
    assert "None: they need the extra <code>plot</code>" in page


def test_pages_follow_the_colors_of_the_system_without_requests(screen, tmp_path):
    path, png = tmp_path / "page.html", b"\x89PNG\r\n\x1a\n"
    made = Provenance.now("evcrisp bench '<b>'")
    body = [provenance_html(made), figure_html(Figure("a <caption>", png)), facts_html({"<i>": 1})]
    write_page(path, "a <title>", body)
    colors = {}
    for scheme in ("light", "dark"):
        screen.page.emulate_media(color_scheme=scheme)
        screen.page.goto(path.as_uri())
        style = "getComputedStyle(document.body)"
        colors[scheme] = screen.page.evaluate(f"[{style}.color, {style}.backgroundColor]")
    assert colors["light"] == ["rgb(28, 28, 28)", "rgb(255, 255, 255)"]
    assert colors["dark"] == ["rgb(232, 232, 232)", "rgb(21, 21, 21)"]
    assert screen.page.title() == "a <title>"
    assert screen.page.locator("figcaption").inner_text() == "a <caption>"
    assert screen.page.locator("pre").first.inner_text() == "evcrisp bench '<b>'"
    assert made.date in screen.page.locator("body").inner_text()
    address = path.as_uri()
    assert all(url == address or url.startswith("data:") for url in screen.requests)
