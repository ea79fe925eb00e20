"""Feed damaged bytes to what is no recording: streams, messages, requests, calibrations, settings."""

import asyncio
import io
import json
import logging
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.fuzz.mutations import damage
from tests.fuzz.recordings import Wrong, is_prefix
from tests.fuzz.samples import make_events

import evcrisp
from evcrisp.core.errors import EvError, FormatError
from evcrisp.core.sensor_data import Frame, Imu, Triggers


class DamagedTexts:
    """Damaged copies of byte strings; ``check`` takes one and returns what came of it."""

    def __init__(self, seeds: list[bytes], check: Callable[[bytes, int, bytes], str]) -> None:
        self.seeds = seeds
        self._check = check
        self._size = 0

    def prepare(self) -> None:
        """Use the intact copies, which compiles kernels."""
        for seed in self.seeds:
            self._check(seed, len(seed), seed)

    def file_bytes(self) -> int:
        """Return the size of the last damaged copy."""
        return self._size

    def run(self, rng: np.random.Generator) -> str:
        """Damage a copy and use it; return what came of it, or raise."""
        seed = self.seeds[int(rng.integers(len(self.seeds)))]
        change = damage(rng, seed, self.seeds)
        self._size = len(change.data)
        return self._check(change.data, change.first, seed)

    def close(self) -> None:
        """Do nothing."""


# ---------------------------------------------------------------- live sources


def _live_events(data: bytes) -> evcrisp.Events | None:
    from evcrisp.streaming.checked_stream import CheckedStream
    from evcrisp.streaming.protocol import SourceCounts
    from evcrisp.streaming.sources.byte_stream import read_events, read_sensor

    file = io.BytesIO(data)
    parts = []
    try:
        header, _ = read_sensor(file, None)
        sensor_data: list[object] = []
        checked = CheckedStream((34, 34), SourceCounts())
        for events in read_events(file, header, checked, sensor_data.append):
            parts.append(events)
    except FormatError:
        pass
    return evcrisp.Events.concatenate(parts) if parts else None


def _wire_bytes(as_file: bool) -> bytes:
    from evcrisp.streaming import aedat4_wire

    events = make_events(60)
    data = aedat4_wire.stream_start((34, 34), ("imu", "triggers", "frames"), as_file=as_file)
    t, ones = np.arange(2), np.ones((2, 3))
    beside = (
        Imu(t=t, gyro_rad_s=ones, accel_m_s2=ones),
        Triggers(t=t, kind=np.ones(2, np.uint8), channel=np.zeros(2, np.uint8)),
        Frame(t=0, image=np.zeros((2, 3), np.uint8)),
    )
    for part in range(0, 60, 10):
        data += b"".join(packet for packet, _ in aedat4_wire.packets_of(events[part : part + 10]))
        if part < 10 * len(beside):
            data += b"".join(aedat4_wire.sensor_packets(beside[part // 10]))
    return data


def _check_wire(data: bytes, first: int, seed: bytes) -> str:
    found = _live_events(data)
    before = _live_events(seed[:first])
    if before is not None and (found is None or not is_prefix(before, found)):
        raise Wrong("packets before the damage are lost")
    return "refused" if found is None else "read"


def _check_spif(data: bytes, first: int, seed: bytes) -> str:
    from evcrisp.streaming.checked_stream import CheckedStream
    from evcrisp.streaming.protocol import SourceCounts
    from evcrisp.streaming.spif import SpifDecoder

    decoder, checked = SpifDecoder(), CheckedStream((34, 34), SourceCounts())
    n_events, t_last = 0, None
    for at in range(0, len(data), 160):
        try:
            events = checked.accept(decoder.decode(data[at : at + 160], at))
        except FormatError:
            continue
        if events is not None:
            n_events += len(events)
            if t_last is not None and events.t[0] < t_last:
                raise Wrong("time decreases")
            t_last = events.t[-1]
    return "read" if n_events else "refused"


# ---------------------------------------------------------------- ROS messages


def _messages() -> list[bytes]:
    from tests.fuzz.samples import make_sensor_data

    from evcrisp.io.ros import serialization as ros

    frame = make_sensor_data().images[0]
    words = np.arange(50, dtype=np.uint16)
    found = []
    for cdr in (False, True):
        found += [
            ros.event_packet(ros.MessageBuilder(cdr=cdr), 1_000_000, 3, (34, 34), 5, words),
            ros.imu_sample(ros.MessageBuilder(cdr=cdr), 1_000_000, 3, (1, 2, 3), (4, 5, 6)),
            ros.image(ros.MessageBuilder(cdr=cdr), 3, frame),
        ]
    return found


def _check_message(data: bytes, first: int, seed: bytes) -> str:
    from evcrisp.io.ros import messages as ros

    outcome = "refused"
    for cdr in (False, True):
        for parse in (ros.event_array, ros.event_packet, ros.imu_sample, ros.image):
            try:
                found = parse(ros.Cursor(memoryview(data), cdr=cdr))
                if isinstance(found, ros.Image):
                    ros.as_frame(found, 0)
                outcome = "read"
            except FormatError:
                pass
    return outcome


# ---------------------------------------------------------------- texts of users


def _check_calibration(data: bytes, first: int, seed: bytes) -> str:
    from evcrisp.core.calibration.calibration_file import parse_calibration

    try:
        parse_calibration(data.decode("utf-8", "replace"))
    except EvError:
        return "refused"
    return "read"


_CALIBRATIONS = [
    b"200 200 120 90 -0.1 0.01 0 0 0\n",
    b"cam0:\n  camera_model: pinhole\n  intrinsics: [200, 200.5, 120, 90]\n"
    b"  distortion_model: radtan\n  distortion_coeffs: [0.1, 0.2, 0, 0]\n  resolution: [240, 180]\n",
    b"image_width: 240\nimage_height: 180\ncamera_name: c\ncamera_matrix:\n  rows: 3\n  cols: 3\n"
    b"  data: [200, 0, 120, 0, 200, 90, 0, 0, 1]\ndistortion_model: plumb_bob\n"
    b"distortion_coefficients:\n  rows: 1\n  cols: 5\n  data: [0, 0, 0, 0, 0]\n",
    b"%YAML:1.0\n---\ncamera_matrix: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
    b"   data: [ 200., 0., 120., 0., 200., 90., 0., 0., 1. ]\n"
    b"distortion_coefficients: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n"
    b"   data: [ 0., 0., 0., 0., 0. ]\n",
]


def _check_labels(data: bytes, first: int, seed: bytes) -> str:
    from evcrisp.pipeline.labels_file import open_labels

    path = _scratch("labels.npz" if seed[:2] == b"PK" else "labels.npy")
    path.write_bytes(data)
    try:
        with open_labels(path) as labels:
            labels.take(40)
            labels.check_end()
    except EvError:
        return "refused"
    return "read"


def _labels() -> list[bytes]:
    plain, packed = io.BytesIO(), io.BytesIO()
    np.save(plain, np.arange(40) % 2 == 0)
    np.savez_compressed(packed, signal=np.arange(40) % 2 == 0, score=np.arange(40.0))
    return [plain.getvalue(), packed.getvalue()]


_FLOW_SUFFIXES = (".npz", ".flo", ".png")


def _flows() -> list[bytes]:
    from evcrisp.core.flow import Flow
    from evcrisp.io.flow import write_flow

    flow = Flow(np.full((5, 6, 2), 40.0), np.arange(30).reshape(5, 6) % 7 != 0, 0, 20_000)
    found = []
    for suffix in _FLOW_SUFFIXES:
        path = _scratch(f"seed{suffix}")
        write_flow(path, flow, overwrite=True)
        found.append(path.read_bytes())
    return found


def _check_flow(data: bytes, first: int, seed: bytes) -> str:
    from evcrisp.io.flow import read_flow

    suffix = {b"PK": ".npz", b"\x89P": ".png"}.get(seed[:2], ".flo")
    path = _scratch(f"a{suffix}")
    path.write_bytes(data)
    try:
        read_flow(path, t_start=0, t_end=20_000)
    except EvError:
        return "refused"
    return "read"


def _check_weights(data: bytes, first: int, seed: bytes) -> str:
    from evcrisp.filters import Mlpf

    path = _scratch("weights.npz")
    path.write_bytes(data)
    try:
        Mlpf(weights=path).start((34, 34))
    except EvError:
        return "refused"
    return "read"


def _weights() -> list[bytes]:
    path = Path(evcrisp.__file__).parent / "weights" / "mlpf.npz"
    return [path.read_bytes()]


# ---------------------------------------------------------------- viewer


_REQUESTS = [
    b'{"kind":"estimate","start_us":0,"duration_us":30000,"method":"auto","motion":"auto"}',
    b'{"kind":"filter","filter":"baf","filter_options":{"tau_us":1000}}',
    b'{"kind":"front","n_points":13,"method":"exact","method_options":{"lam":0.5}}',
    b'{"kind":"track","windows":"auto","index":3}',
]


def _check_request(data: bytes, first: int, seed: bytes) -> str:
    """Decode the body of a request as the server does; its handlers answer these errors with 400."""
    from evcrisp.viewer.requests import Request

    try:
        Request.from_json(json.loads(data))
    except (EvError, ValueError, RecursionError):
        return "refused"
    return "read"


def _check_bundle(data: bytes, first: int, seed: bytes) -> str:
    from evcrisp.viewer.bundle_format import read_bundle

    try:
        read_bundle(data)
    except EvError:
        return "refused"
    return "read"


def _bundles() -> list[bytes]:
    from evcrisp.viewer.bundle_format import write_bundle

    arrays = {"dt": np.arange(30, dtype=np.uint32), "x": np.arange(30, dtype=np.uint16)}
    return [write_bundle({"n": 30, "t": 1.5}, arrays), write_bundle({}, arrays, ("dt",))]


_HTTP = [
    b"GET /TOKEN/ HTTP/1.1\nhost: 127.0.0.1:8000\n\n",
    b"GET /TOKEN/static/main.js HTTP/1.1\nhost: 127.0.0.1:8000\n\n",
    b"GET /TOKEN/api/events?start=0&duration=5000 HTTP/1.1\nhost: localhost:8000\n\n",
    b"GET /TOKEN/api/frame?index=0 HTTP/1.1\nhost: localhost:8000\n\n",
    b"GET /TOKEN/api/jobs/abc HTTP/1.1\nhost: localhost:8000\n\n",
    b"POST /TOKEN/api/open HTTP/1.1\nhost: localhost:8000\norigin: http://localhost:8000\n"
    b'content-length: 17\n\n{"name":"a.npz"}',
    b"POST /TOKEN/api/jobs HTTP/1.1\nhost: localhost:8000\norigin: http://localhost:8000\n"
    b'content-length: 40\n\n{"kind":"none","start_us":0}',
]


class _Site:
    """The application of the viewer, called without a network."""

    def __init__(self) -> None:
        from evcrisp.viewer.app import make_app
        from evcrisp.viewer.session import Session, ViewOptions

        path = _scratch("a.npz")
        evcrisp.write(path, make_events(), overwrite=True)
        self._loop = asyncio.new_event_loop()
        session = Session(ViewOptions(path=path, folder=path.parent))
        self._app = make_app(session, token="TOKEN", port=8000)
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)

    def check(self, data: bytes, first: int, seed: bytes) -> str:
        head, _, body = data.partition(b"\n\n")
        lines = head.split(b"\n")
        words = [*lines[0].split(b" "), b"", b""][:2]
        path, _, query = words[1].decode("latin-1").partition("?")
        headers = [tuple(part.strip() for part in line.split(b":", 1)) for line in lines[1:]]
        scope = {
            "type": "http",
            "method": words[0].decode("latin-1"),
            "path": path,
            "raw_path": words[1],
            "query_string": query.encode("latin-1"),
            "headers": [pair for pair in headers if len(pair) == 2],
            "http_version": "1.1",
            "scheme": "http",
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
            "root_path": "",
            "extensions": {},
        }
        if b"after=" in data:
            return "refused"  # waits for changes
        status = self._loop.run_until_complete(self._status(scope, body))
        is_ours = path.startswith("/TOKEN")
        if status < 400 and not is_ours:
            raise Wrong(f"answered without the token: {status}")
        if status >= 500 and status != 503:
            raise Wrong(f"status {status}")
        return "read" if status < 400 else "refused"

    async def _status(self, scope: dict, body: bytes) -> int:
        sent: list[dict] = []
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict:
            return parts.pop() if parts else {"type": "http.disconnect"}

        async def send(message: dict) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        return int(sent[0]["status"])


_FOLDER: list[tempfile.TemporaryDirectory] = []


def _scratch(name: str) -> Path:
    if not _FOLDER:
        shared = Path("/dev/shm")
        _FOLDER.append(tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None))
    return Path(_FOLDER[0].name) / name


def _check_setting(data: bytes, first: int, seed: bytes) -> str:
    """Give an option of the command line to a part: a name and a value."""
    from evcrisp.cli.options import parse_settings

    name, _, text = data.decode("utf-8", "replace").partition(" ")
    try:
        options = parse_settings((text,))
        evcrisp.core.registry.build(evcrisp.filters.FILTERS, name, "filter", **options)
    except EvError:
        return "refused"
    return "read"


TEXTS: dict[str, Callable[[], DamagedTexts]] = {
    "live-aedat4": lambda: DamagedTexts([_wire_bytes(False), _wire_bytes(True)], _check_wire),
    "live-spif": lambda: DamagedTexts([_spif_bytes()], _check_spif),
    "ros-messages": lambda: DamagedTexts(_messages(), _check_message),
    "calibration": lambda: DamagedTexts(_CALIBRATIONS, _check_calibration),
    "labels": lambda: DamagedTexts(_labels(), _check_labels),
    "flow": lambda: DamagedTexts(_flows(), _check_flow),
    "weights": lambda: DamagedTexts(_weights(), _check_weights),
    "viewer-request": lambda: DamagedTexts(_REQUESTS, _check_request),
    "viewer-bundle": lambda: DamagedTexts(_bundles(), _check_bundle),
    "viewer-http": lambda: DamagedTexts(_HTTP, _Site().check),
}


def _spif_bytes() -> bytes:
    from evcrisp.streaming.spif import encode

    return encode(make_events(60))
