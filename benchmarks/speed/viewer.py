"""The viewer: time per step of the scrubber, and per frame.

Usage: python -m benchmarks.speed.viewer [--events 10000000] [--steps 40] [--shown 200000] [--draw webgl] [--gpu]

Steps go to random places of a recording of a million events per second, 30 ms each. They are
measured at the server (one request over loopback) and, where chromium and playwright are there, in
the page: until the events are drawn, and until motion, labels and maps are drawn too. A frame draws
all panes; while playing, each frame shows another window, and results come as fast as they are
computed. Without ``--gpu`` the browser has no graphics card: the page then draws with the processor,
or, with ``--draw webgl``, with WebGL that the browser imitates.
"""

import argparse
import http.client
import json
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.measure import edge_events, report

import evcrisp
from evcrisp.viewer import ViewOptions, serve

WINDOW_US = 30_000
FLAGS = ("--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-sync")

STEP = """async ([t, wholly]) => {
  const start = performance.now();
  evcrisp.goTo(t);
  while (evcrisp.shown.events?.start_us !== evcrisp.state.get("t") || evcrisp.isPainting) {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  if (wholly) {
    while (evcrisp.shown.result?.start_us !== evcrisp.state.get("t") || evcrisp.isPainting) {
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }
  return performance.now() - start;
}"""

FRAMES = """async (n) => {
  const times = [];
  let begin = 0;
  for (let k = 0; k < 20 + n; k++) {
    if (k === 20) begin = performance.now(); // before, code is compiled
    for (const [name, layer] of Object.entries(evcrisp.shown)) {
      if (layer) evcrisp.shown[name] = { ...layer }; // as if it were new, so that every pane is drawn again
    }
    evcrisp.state.values.yaw += 0.01;
    const start = performance.now();
    evcrisp.paintNow();
    evcrisp.renderer.finish();
    times.push(performance.now() - start);
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  return [times.slice(20), (1000 * n) / (performance.now() - begin)];
}"""

PLAY = """async (seconds) => {
  evcrisp.goTo(0);
  await evcrisp.settled();
  const [windows, results] = [new Set(), new Set()];
  let frames = 0;
  evcrisp.play(true);
  const start = performance.now();
  while (performance.now() - start < 1000 * seconds) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    frames += 1;
    windows.add(evcrisp.shown.events?.start_us);
    results.add(evcrisp.shown.result?.start_us);
  }
  const elapsed = (performance.now() - start) / 1000;
  evcrisp.play(false);
  return [frames, windows.size, results.size].map((count) => Math.round((10 * count) / elapsed) / 10);
}"""


def spread(times_ms):
    return {
        "median_ms": round(statistics.median(times_ms), 2),
        "p90_ms": round(statistics.quantiles(times_ms, n=10)[-1], 2),
    }


class Asker:
    """Asks over one connection."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.path = parts.path
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port)

    def __call__(self, address):
        """Return what stands at an address."""
        self.connection.request("GET", self.path + address)
        return self.connection.getresponse().read()


def read_fully(ask):
    start = time.perf_counter()
    facts = json.loads(ask("api/facts"))
    while not facts["is_complete"]:
        facts = json.loads(ask(f"api/facts?after={facts['version']}"))
    return time.perf_counter() - start, facts


def requests(ask, starts):
    times = []
    for start in starts:
        begin = time.perf_counter()
        ask(f"api/events?start={start}&duration={WINDOW_US}")
        times.append(1e3 * (time.perf_counter() - begin))
    return spread(times)


def in_browser(url, starts, shown_us, flags, draw):
    chromium = shutil.which("chromium")
    if chromium is None:
        return {"skipped": "no chromium"}
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        return {"skipped": "no playwright"}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(flags))
        page = browser.new_page(viewport={"width": 1500, "height": 900})
        page.goto(f"{url}#draw={draw}")
        page.wait_for_selector("body[data-state=ready]")
        page.evaluate("evcrisp.settled()")
        half = len(starts) // 2
        raw = [page.evaluate(STEP, [start, False]) for start in starts[:half]]
        whole = [page.evaluate(STEP, [start, True]) for start in starts[half:]]
        page.evaluate(f"evcrisp.setWindow({shown_us})")
        page.evaluate("evcrisp.settled()")
        times, per_second = page.evaluate(FRAMES, 120)
        results = {
            "renderer": page.evaluate("evcrisp.renderer.name"),
            "step, events drawn": spread(raw),
            "step, motion and labels drawn": spread(whole),
            "events in a frame": page.evaluate("evcrisp.shown.events.n_events"),
            "frame of all panes": {**spread(times), "per_second": round(per_second, 1)},
            "playing, per second": dict(
                zip(("frames", "windows", "results"), page.evaluate(PLAY, 5), strict=True)
            ),
        }
        browser.close()
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--shown", type=int, default=200_000, help="events in the frames")
    parser.add_argument("--draw", default="", choices=["", "webgl", "processor"])
    parser.add_argument("--gpu", action="store_true", help="let the browser use a graphics card")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "long.aedat4"
        evcrisp.write(path, edge_events(options.events))
        with serve(ViewOptions(path=path, window_us=WINDOW_US)) as url:
            ask = Asker(url)
            read_s, facts = read_fully(ask)
            rng = random.Random(0)
            last = facts["duration_us"] - WINDOW_US
            starts = [rng.randrange(last) for _ in range(options.steps)]
            results = {
                "read once, s": round(read_s, 2),
                "request": requests(ask, starts),
                "browser": in_browser(
                    url,
                    [rng.randrange(last) for _ in range(options.steps)],
                    options.shown,  # at one event per microsecond
                    FLAGS if options.gpu else (*FLAGS, "--disable-gpu"),
                    options.draw,
                ),
            }
    report(
        "viewer",
        results,
        events=options.events,
        steps=options.steps,
        shown=options.shown,
        draw=options.draw,
    )


if __name__ == "__main__":
    main()
