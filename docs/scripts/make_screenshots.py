"""Write the screenshots of the viewer: python docs/scripts/make_screenshots.py.

Needs chromium and the package playwright. The scenes are simulated with fixed seeds.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import evcrisp
from evcrisp.simulation import ObjectConfig
from evcrisp.viewer import serve

FOLDER = Path(__file__).parents[1] / "_static"

SIZE = {"width": 1440, "height": 860}

#: Scene, file, theme, and view as in the address.
SHOTS = (
    ("shapes", "viewer.png", "dark", "t=10000&filter=baf&front=true"),
    (
        "shapes",
        "viewer-light.png",
        "light",
        "t=10000&show=signal&colors=safe&front=true&point=2&map=after",
    ),
    ("objects", "viewer-layers.png", "dark", "t=60000&window=30000&flow=arrows&map=kept"),
    ("large", "viewer-large.png", "dark", "t=16000&window=16000&main=denoised"),
)


def _object(theta: tuple[float, ...], center: tuple[float, float]) -> ObjectConfig:
    return ObjectConfig(motion="similarity", theta=theta, center=center, size=(0.3, 0.38))


#: Settings of `evcrisp.simulate` by the name of the scene.
SCENES: dict[str, dict[str, Any]] = {
    "shapes": {
        "theta": (300.0, -120.0),
        "trajectory": "sine",
        "period_us": 300_000,
        "duration_us": 300_000,
        "noise_hz": 3.0,
        "seed": 1,
    },
    "large": {
        "resolution": (1280, 720),
        "theta": (400.0, -150.0),
        "duration_us": 48_000,
        "noise_hz": 1.0,
        "seed": 2,
    },
    "objects": {
        "theta": (-120.0, 40.0),
        "duration_us": 120_000,
        "noise_hz": 2.0,
        "contrast": 2.5,
        "seed": 4,
        "objects": (
            _object((300.0, 0.0, 3.0, 0.0), (0.22, 0.28)),
            _object((-300.0, 80.0, -2.0, 0.5), (0.78, 0.3)),
            _object((0.0, -280.0, 3.0, -0.5), (0.45, 0.76)),
        ),
    },
}


def main() -> None:
    """Simulate the scenes and take every screenshot."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for scene, settings in SCENES.items():
            path = Path(folder) / f"{scene}.npz"
            evcrisp.write(path, evcrisp.simulate(**settings).events)
            with serve(path, window_us=20_000) as url:
                for _, name, theme, view in (shot for shot in SHOTS if shot[0] == scene):
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
