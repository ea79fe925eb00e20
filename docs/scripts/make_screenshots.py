"""Write the screenshots of the viewer: python docs/scripts/make_screenshots.py.

Needs chromium and the package playwright. The scene is simulated with a fixed seed.
"""

import shutil
import tempfile
from pathlib import Path

import evcrisp
from evcrisp.viewer import serve

FOLDER = Path(__file__).parents[1] / "_static"

SIZE = {"width": 1440, "height": 860}

#: File, theme, and view as in the address.
SHOTS = (
    ("viewer.png", "dark", "t=10000&filter=baf&front=true"),
    ("viewer-light.png", "light", "t=10000&show=signal&colors=safe&front=true&point=2&map=after"),
)


def main() -> None:
    """Simulate a scene and take every screenshot."""
    from playwright.sync_api import sync_playwright

    scene = evcrisp.simulate(
        theta=(300.0, -120.0),
        trajectory="sine",
        period_us=300_000,
        duration_us=300_000,
        noise_hz=3.0,
        seed=1,
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "shapes.npz"
        evcrisp.write(path, scene.events)
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        with serve(path, window_us=20_000) as url:
            for name, theme, view in SHOTS:
                page = browser.new_page(viewport=SIZE, color_scheme=theme)
                page.goto(f"{url}#{view}")
                page.wait_for_selector("body[data-state=ready]")
                page.evaluate("evcrisp.settled()")
                page.click("#track")
                page.evaluate("evcrisp.settled()")
                page.mouse.move(0, 0)
                page.screenshot(path=FOLDER / name)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
