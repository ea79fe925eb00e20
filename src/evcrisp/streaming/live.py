"""Clean events while they come: source, bounded queue, method, sinks."""

import logging
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from evcrisp.core.camera import Camera
from evcrisp.core.errors import EvError
from evcrisp.core.events import Events
from evcrisp.core.validation import check_number
from evcrisp.motion import MotionModel
from evcrisp.pipeline.windowing import Windowing
from evcrisp.streaming.aedat4_wire import load_kernels
from evcrisp.streaming.bounded_queue import BoundedQueue
from evcrisp.streaming.cleaning import Cleaning, LivePart, Method, cleaning_by
from evcrisp.streaming.endpoints import Sink, Source, make_sinks, make_source
from evcrisp.streaming.pace import Effort
from evcrisp.streaming.packet_stream import PacketStream
from evcrisp.streaming.protocol import LiveSink, LiveSource
from evcrisp.streaming.sensor_data import (
    NAMES,
    SINKS_THAT_KEEP,
    KeepsSensorData,
    SensorDataQueue,
    kind_of,
)
from evcrisp.streaming.summary import LiveSummary

logger = logging.getLogger(__name__)

#: Events that wait for the method, unless its windows are longer (13 MB), and the largest number (104 MB).
WAITING_EVENTS, MOST_WAITING_EVENTS = 1_000_000, 8_000_000

#: Packets whose latency is part of a state.
_NEWEST_PACKETS = 500

#: Time of the preparation after which a message tells what takes so long, s.
_ANNOUNCED_S = 3.0

#: Longest wait for a last read at the end of a session, s; a read of standard input may not end.
_LAST_READ_S = 1.0


def live(
    source: Source,
    sinks: Sink | Sequence[Sink] = (),
    method: Method = "auto",
    motion: str | MotionModel = "auto",
    camera: Camera | None = None,
    *,
    windowing: Windowing | None = None,
    speed: float | str = 1.0,
    resolution: tuple[int, int] | None = None,
    max_waiting_events: int | None = None,
    full_search: bool = False,
    reconnect: bool = False,
    bind: str | None = None,
    overwrite: bool = False,
    stdout_format: str = "aedat4",
    on_part: Callable[[LivePart], None] | None = None,
    on_state: Callable[[LiveSummary], None] | None = None,
    stop: threading.Event | None = None,
    **params: Any,
) -> LiveSummary:
    """Clean events while they come, until the source ends.

    Parameters
    ----------
    source : path, address, Recording or LiveSource
        A recording is played in real time. ``tcp://HOST:PORT`` and ``unix:///PATH`` are AEDAT4
        servers, such as dv-processing's ``NetworkWriter``; ``udp://HOST:PORT`` receives SPIF; "-" is
        AEDAT4 on standard input.
    sinks : path, address or LiveSink, or several
        Where the kept events go. Addresses start AEDAT4 servers, or send
        SPIF to ``udp://HOST:PORT``; "-" is standard output.
    method, motion, camera, **params
        An estimator, as for :func:`evcrisp.track`, or a filter, as for :func:`evcrisp.denoise`.
    windowing : Windowing, optional
        Windows of estimators; ``Windowing(max_latency_us=50_000)`` bounds their length.
    speed : float or "max"
        Speed of a recording; "max" is as fast as the method allows.
    resolution : (int, int), optional
        Sensor size, px, for sources that do not state it.
    max_waiting_events : int, optional
        Events that may wait for the method. When more arrive, the oldest are dropped. Default: a
        million, or those of two of its longest windows so far, at most eight million.
    full_search : bool
        Search the motion of every window, however late its labels come. By default, windows for
        which there is no time get the motions that were found last. Recordings
        at speed "max" and standard input wait: all their windows are searched.
    reconnect : bool
        Wait for a server that is absent, or that ends the connection.
    bind : str, optional
        Address of this machine for servers, such as "0.0.0.0" to admit other machines.
    overwrite : bool
        Replace existing files.
    stdout_format : {"aedat4", "csv"}
        Format of standard output.
    on_part : callable, optional
        Called with every `LivePart`: events, kept events, and the estimate of the window.
    on_state : callable, optional
        Called ten times per second, from another thread, with the summary so far; its latencies are
        those of the last packets.
    stop : threading.Event, optional
        Ends the session when it is set; what has arrived is still labeled.

    Examples
    --------
    >>> import evcrisp, tempfile
    >>> scene = evcrisp.simulate(theta=(300.0, -120.0), duration_us=60_000, noise_hz=3.0, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = evcrisp.write(f"{folder}/a.npz", scene.events)
    ...     summary = live(f"{folder}/a.npz", f"{folder}/b.npz", "baf", speed="max")
    ...     kept = len(evcrisp.read(f"{folder}/b.npz"))
    >>> summary.n_events == len(scene.events), summary.n_kept == kept, summary.n_dropped
    (True, True, 0)
    """
    if max_waiting_events is not None:
        check_number("max_waiting_events", max_waiting_events, 1, whole=True)
    cleaning = cleaning_by(method, motion, camera, windowing, full_search=full_search, **params)
    given = (sinks,) if isinstance(sinks, str) or not isinstance(sinks, Sequence) else sinks
    with ExitStack() as stack:
        incoming = make_source(
            source, stack, speed=speed, resolution=resolution, reconnect=reconnect, bind=bind
        )
        outputs = make_sinks(
            given, source, bind=bind, overwrite=overwrite, stdout_format=stdout_format
        )
        session = _Session(
            incoming, outputs, max_waiting_events, stop or threading.Event(), on_state
        )
        with session:
            stack.callback(cleaning.close)
            with _announced_if_long():
                load_kernels()
                cleaning.warm_up()
                if not incoming.can_wait:
                    cleaning.prepare()
            return session.run(cleaning, on_part)


@contextmanager
def _announced_if_long() -> Generator[None, None, None]:
    """Say what takes so long, before the source is opened."""
    text = "Kernels are loaded, or compiled at the first start. Then the source is opened."
    timer = threading.Timer(_ANNOUNCED_S, logger.info, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _Session:
    """Threads, sinks and counts of a session; a context manager that ends all of them."""

    def __init__(
        self,
        source: LiveSource,
        sinks: list[LiveSink],
        max_waiting: int | None,
        stop: threading.Event,
        on_state: Callable[[LiveSummary], None] | None = None,
    ) -> None:
        self._on_state, self._cleaning, self._start_s = on_state, None, 0.0
        self._source, self._sinks, self._stop = source, sinks, stop
        self._queue = BoundedQueue[tuple[Events, float]](
            WAITING_EVENTS if max_waiting is None else max_waiting,
            can_wait=source.can_wait,
            largest_size=MOST_WAITING_EVENTS if max_waiting is None else None,
        )
        self._packets = PacketStream(self._queue)
        self._n_events = self._n_labeled = self._n_kept = self._n_windows = 0
        self._n_searched = 0
        self._failure: BaseException | None = None
        self._failed_sink: LiveSink | None = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._is_over = threading.Event()
        self._beside = SensorDataQueue()
        self._left_out: set[str] = set()

    def __enter__(self) -> "_Session":
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._is_over.set()
        self._source.close()
        self._queue.end()
        if self._reader.is_alive():  # the recording is closed next, and must not be read then
            self._reader.join(_LAST_READ_S)
        for sink in self._sinks:
            # A pipe that is closed does not cost the file beside it: live events do not come again.
            is_good = isinstance(error, Exception) and self._failed_sink not in (None, sink)
            sink.close(is_complete=error is None or is_good)

    def run(self, cleaning: Cleaning, on_part: Callable[[LivePart], None] | None) -> LiveSummary:
        """Label what comes, and write it, until the source ends."""
        self._start_s, resolution = time.monotonic(), self._source.open()
        self._cleaning: Cleaning | None = cleaning
        kinds = tuple(getattr(self._source, "sensor_kinds", ()))
        if kinds and self._sinks:
            self._source.on_sensor_data = self._beside.put
        for sink in self._sinks:
            if isinstance(sink, KeepsSensorData):
                sink.expect(tuple(kind for kind in kinds if kind in sink.keeps))
            sink.open(resolution)
        logger.info("Live: %s, %dx%d px, %s.", self._source.name, *resolution, cleaning.name)
        self._reader.start()
        in_time, speed = not self._source.can_wait, getattr(self._source, "speed", 1.0)
        parts = cleaning.parts(self._packets, resolution, in_time=in_time, speed=speed)
        for part in parts:
            self._write(part)
            if on_part is not None:
                on_part(part)
        if self._failure is not None:
            raise self._failure
        self._pass_on(None)
        return self._summary(cleaning)

    def _pass_on(self, t_last: int | None) -> None:
        """Write sensor data up to a time, or all."""
        for data in self._beside.take(t_last):
            for sink in self._sinks:
                if isinstance(sink, KeepsSensorData) and kind_of(data) in sink.keeps:
                    self._failed_sink = sink
                    sink.write_sensor_data(data)
                elif (
                    loss := f"{sink.name} does not keep {NAMES[kind_of(data)]}"
                ) not in self._left_out:
                    self._left_out.add(loss)
                    logger.warning("%s of the source. %s do.", loss, SINKS_THAT_KEEP)
            self._failed_sink = None

    def _write(self, part: LivePart) -> None:
        if len(part.events):
            self._pass_on(int(part.events.t[0]) - 1)
        self._write_events(part)
        if len(part.events):
            self._pass_on(int(part.events.t[-1]))

    def _write_events(self, part: LivePart) -> None:
        if len(part.kept):
            for sink in self._sinks:
                self._failed_sink = sink
                sink.write(part.kept)
            self._failed_sink = None
        if len(part.events):
            self._packets.labeled(int(part.events.t[-1]))
        self._n_labeled += len(part.events)
        self._n_kept += len(part.kept)
        self._n_windows += part.estimate is not None
        self._n_searched += part.searched is not None

    def _read(self) -> None:
        """Move events from the source to the queue; the reader thread."""
        try:
            for events in self._source.chunks():
                if len(events):
                    self._n_events += len(events)
                    self._queue.put((events, time.monotonic()), len(events))
        except (EvError, OSError) as error:
            self._failure = error
        finally:
            self._queue.end()

    def _watch(self) -> None:
        """Report the state, and close the source when the session is stopped."""
        while not self._is_over.is_set():
            if self._on_state is not None and self._cleaning is not None:
                self._on_state(self._summary(self._cleaning, _NEWEST_PACKETS))
            if self._stop.wait(0.1):
                self._source.close()
                self._queue.end()
                return

    def _summary(self, cleaning: Cleaning, n_newest: int | None = None) -> LiveSummary:
        counts = self._source.counts
        return LiveSummary(
            source=self._source.name,
            method=cleaning.name,
            n_events=self._n_events,
            n_labeled=self._n_labeled,
            n_kept=self._n_kept,
            n_dropped=self._queue.dropped_size,
            n_windows=self._n_windows,
            n_reused=cleaning.n_by_effort[Effort.REUSED],
            n_searched=self._n_searched,
            n_damaged=counts.n_damaged,
            n_reconnects=counts.n_reconnects,
            n_clock_restarts=counts.n_clock_restarts,
            n_lost=counts.n_lost,
            n_sensor_data_dropped=self._beside.n_dropped,
            n_unsent={sink.name: sink.n_dropped for sink in self._sinks if sink.n_dropped},
            latency_p50_ms=self._packets.latency_ms(0.5, n_newest),
            latency_p95_ms=self._packets.latency_ms(0.95, n_newest),
            duration_s=time.monotonic() - self._start_s,
        )
