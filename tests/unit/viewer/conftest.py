"""Fixtures: a server with a simulated recording, and a real browser if available."""

import base64
import http.client
import json
import shutil
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
import pytest

import evcrisp
from evcrisp.core.windows import Window, end_at_last_event
from evcrisp.estimators import AutoRegret
from evcrisp.motion.open_motion import OpenMotion
from evcrisp.pipeline.tracking import Tracker
from evcrisp.viewer import ViewOptions, serve
from evcrisp.viewer.compute import LEAD_WINDOWS

WINDOW_US = 20_000

# Messages disappear after some seconds; on a busy machine a test can be later than that.
RECORD_MESSAGES = """
window.messagesShown = [];
document.addEventListener("DOMContentLoaded", () => {
  const element = document.getElementById("message");
  if (!element) return;
  const record = () => window.messagesShown.push(element.textContent);
  new MutationObserver(record).observe(element, { childList: true, characterData: true, subtree: true });
});
"""

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def scene():
    """Return shapes that move at (300, -120) px/s, with visible noise."""
    return evcrisp.simulate(
        texture="shapes",
        theta=(300.0, -120.0),
        resolution=(128, 96),
        duration_us=120_000,
        noise_hz=8.0,
        seed=3,
    )


@pytest.fixture(scope="session")
def recording(scene, tmp_path_factory):
    path = tmp_path_factory.mktemp("viewer") / "scene <&>.npz"
    evcrisp.write(path, scene.events)
    return path


@pytest.fixture(scope="session")
def url(recording):
    with serve(ViewOptions(path=recording, window_us=WINDOW_US)) as address:
        wait_until_read(Client(address))
        yield address


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    """HTTP client with free choice of token and headers."""

    def __init__(self, address):
        parts = urlsplit(address)
        self.host, self.token = parts.netloc, parts.path.strip("/")
        self.port = parts.port

    def ask(self, path, method="GET", body=None, *, token=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        sent = {"Host": self.host, **(headers or {})}
        if method != "GET" and "Origin" not in sent:
            sent["Origin"] = f"http://{self.host}"
        sent = {name: value for name, value in sent.items() if value is not None}
        token = self.token if token is None else token
        try:
            connection.putrequest(method, f"/{token}/{path}", skip_host=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            if body is not None and "Content-Length" not in sent:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def wait_for(self, job):
        """Return the final state of a job."""
        while job["state"] in ("waiting", "running"):
            job = self.ask(f"api/jobs/{job['id']}?after={job['version']}").json
        return job

    def computed(self, **request):
        answer = self.ask("api/jobs", "POST", request)
        assert answer.status == 200, answer.body
        if answer.headers["content-type"] == "application/octet-stream":
            return answer.body
        job = self.wait_for(answer.json)
        assert job["state"] == "done", job
        return self.ask(f"api/jobs/{job['id']}/result").body


def wait_until_read(client):
    facts = client.ask("api/facts").json
    while not facts["is_complete"]:
        facts = client.ask(f"api/facts?after={facts['version']}").json
    return facts


@pytest.fixture
def client(url):
    return Client(url)


@pytest.fixture
def connect():
    """Return a function that waits until a recording is read, and returns client and facts."""

    def connected(address):
        client = Client(address)
        return client, wait_until_read(client)

    return connected


@pytest.fixture(scope="session")
def browser():
    """Return chromium with a new profile, or skip."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="the package playwright is not installed"
    )
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed; on Debian: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield browser
        browser.close()


class Screen:
    """A page of the viewer in the browser."""

    def __init__(self, page):
        self.page = page
        self.requests = []
        self.errors = []
        page.add_init_script(RECORD_MESSAGES)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console", lambda line: self.errors.append(line.text) if line.type == "error" else None
        )

    def open(self, address):
        self.page.goto(address)
        self.page.wait_for_selector("body[data-state=ready]")
        return self.settled()

    def settled(self):
        self.page.evaluate("evcrisp.settled()")
        return self

    def state(self, name):
        return self.page.evaluate("name => evcrisp.state.get(name)", name)

    def wait_for_message(self, text):
        """Wait until a message with a text was shown, even if it has disappeared since."""
        self.page.wait_for_function(
            "text => window.messagesShown.some((message) => message.includes(text))", arg=text
        )

    def info(self, pane):
        return self.page.inner_text(f"[data-pane={pane}] .info")

    def pixels(self, pane):
        """Return the colors of a pane's canvas, shape (height, width, 3)."""
        width, height, values = self.page.evaluate(
            """pane => {
              const canvas = document.querySelector(`[data-pane=${pane}] canvas`);
              const image = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
              let text = "";
              for (let k = 0; k < image.data.length; k += 8192) {
                text += String.fromCharCode(...image.data.subarray(k, k + 8192));
              }
              return [canvas.width, canvas.height, btoa(text)];
            }""",
            pane,
        )
        return np.frombuffer(base64.b64decode(values), np.uint8).reshape(height, width, 4)[..., :3]

    def sensor(self, pane, resolution):
        """Return the color at the center of each sensor pixel, shape (h, w, 3)."""
        image = self.pixels(pane)
        width, height = resolution
        scale = min(image.shape[1] / width, image.shape[0] / height)
        x = image.shape[1] / 2 + (np.arange(width) + 0.5 - width / 2) * scale
        y = image.shape[0] / 2 + (np.arange(height) + 0.5 - height / 2) * scale
        return image[np.ix_(y.astype(int), x.astype(int))]


def open_screen(browser, **options):
    """Yield a page, and check at the end that it reported no error."""
    context = browser.new_context(
        viewport={"width": 1180, "height": 700},
        color_scheme="dark",
        reduced_motion="reduce",
        **options,
    )
    screen = Screen(context.new_page())
    yield screen
    context.close()
    assert screen.errors == []


@pytest.fixture
def screen(browser):
    yield from open_screen(browser)


@pytest.fixture
def fine_screen(browser):
    """Return a page on a screen with a device pixel ratio of 2."""
    yield from open_screen(browser, device_scale_factor=2)


@pytest.fixture
def tracked_window():
    """Return a function that estimates a window after the windows before it, as `track` does."""

    def tracked(events, start_us, duration_us):
        tracker = Tracker(AutoRegret(), OpenMotion(), events.resolution)
        n_before = min(LEAD_WINDOWS, start_us // duration_us)
        for k in range(n_before, -1, -1):
            t_start = int(events.t[0]) + start_us - k * duration_us
            inside = events.between(t_start, t_start + duration_us)
            index = int(np.searchsorted(events.t, t_start))
            window = Window(inside, t_start, t_start + duration_us, index)
            result = tracker.estimate(end_at_last_event(window, int(events.t[-1])), duration_us)
        return result

    return tracked
